# SPDX-License-Identifier: Apache-2.0
"""The readings about the precision of numbers on which the expected values of a case rest."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.readings import DOUBLE, SUBNORMAL
from onnx_conformance.declare.rounding import is_float

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.declare import Tolerance
    from onnx_conformance.declare.readings import Reading
    from onnx_conformance.specification.signature import TypedValue

WIDE = frozenset("dD")
"""The type codes of doubles, and of complex numbers that consist of two doubles."""
ARITHMETIC_BITS = 16
"""Types with fewer bits have no arithmetic; calculations with their subnormal numbers use wider types."""


def readings(tolerance: Tolerance, inputs: Iterable[TypedValue | None], expected: Sequence[Any]) -> frozenset[Reading]:
    """Return the readings that expected values rest on.

    Args:
        tolerance: the tolerance of the operator. If it is exact, the operator only moves or selects numbers, so their
            precision does not matter.
        inputs: the inputs of the node.
        expected: the values of its outputs.
    """
    outputs = list(_arrays(expected))
    operands = list(_arrays(item.value for item in inputs if item is not None))
    found = {DOUBLE} if not tolerance.exact and any(array.dtype.char in WIDE for array in outputs) else set()
    if any(map(_has_subnormal, (*operands, *outputs))):
        found.add(SUBNORMAL)
    return frozenset(found)


def _arrays(values: Iterable[Any]) -> Iterator[np.ndarray[Any, Any]]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, list | tuple):
            yield from _arrays(value)
        elif isinstance(value, dict):
            yield from _arrays(value.values())


def _has_subnormal(array: np.ndarray[Any, Any]) -> bool:
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    return any(_subnormal(part) for part in parts)


def _subnormal(array: np.ndarray[Any, Any]) -> bool:
    codes = _codes(array.dtype)
    if codes is None:
        return False
    kind, of_size, largest = codes
    size = array.view(kind) & of_size
    return bool(((size > 0) & (size <= largest)).any())


@functools.cache
def _codes(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], np.integer[Any], np.integer[Any]] | None:
    """Return how the bits of a type represent its subnormal numbers; None if their precision does not matter.

    Returns:
        The integer type of the same width, a mask of all bits except the sign, and the largest subnormal number.
    """
    if not is_float(dtype) or dtype.itemsize * 8 < ARITHMETIC_BITS:
        return None
    kind = np.dtype(f"u{dtype.itemsize}").newbyteorder(dtype.byteorder)
    fraction = int(ml_dtypes.finfo(dtype).nmant)  # type: ignore[no-untyped-call]
    return kind, kind.type(2 ** (dtype.itemsize * 8 - 1) - 1), kind.type(2**fraction - 1)
