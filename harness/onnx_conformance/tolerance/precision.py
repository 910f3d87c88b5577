"""The readings about the precision of numbers on which the expected values of a case rest."""

from __future__ import annotations

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
    if not is_float(array.dtype) or array.dtype.itemsize * 8 < ARITHMETIC_BITS or not array.size:
        return False
    with np.errstate(invalid="ignore"):  # Signalling NaNs cause a warning.
        size = np.abs(array.astype(np.float64))
    smallest = float(ml_dtypes.finfo(array.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    return bool(((size > 0) & (size < smallest)).any())
