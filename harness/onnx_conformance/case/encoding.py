# SPDX-License-Identifier: Apache-2.0
"""A case in the form in which packs contain it, and a digest of it that is the same on every processor.

The digest is of everything that a verdict depends on: the message to the adapter, the expected outcome and the
tolerance. It does not depend on any phrase of ours. The last bits of expected values differ between processors, because
numpy and the C library choose code for the processor; so values are rounded before they are hashed.
"""

from __future__ import annotations

import base64
import hashlib
import math
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from onnx_conformance.backends import protocol
from onnx_conformance.base.values import Drawn
from onnx_conformance.case import properties

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Array, Value
    from onnx_conformance.case.allowance import Allowance

_Described = TypeVar("_Described", bound="Mapping[str, Any]")
DIGEST = 11
"""Characters of a digest: 64 bits in base64."""
_BYTE = 8
_FLOATS = frozenset(
    row.number for row in protocol.ELEMENT_TYPES if row.bits >= _BYTE and row.dtype.startswith(("float", "bfloat", "c"))
)
"""Element types that are rounded. Floats below a byte have no NaN, and all their bits are the same everywhere."""
_HASHED = ("model", "outputs", "form", "needs", "expected", "any_of", "any_order")
"""The parts of a description that are hashed as text."""


def described_answer(
    expected: Sequence[Value | Drawn] | None, allowance: Allowance
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the description of the expected values and of the other permitted ones, and their bytes."""
    item = dict[str, Any]()
    buffers: list[bytes] = []
    if expected is not None:
        # In the order in which a reader takes the bytes.
        item["expected"] = [
            {"drawn": properties.describe(value)} if isinstance(value, Drawn) else protocol.encode(value, buffers)
            for value in expected
        ]
        if not any(isinstance(value, Drawn) for value in expected):
            item["bytes_expected"] = sum(map(len, buffers))
    if allowance.any_of:
        item["any_of"] = [
            None
            if each is None
            else {"values": [protocol.encode(value, buffers) for value in each.values], "elementwise": each.elementwise}
            for each in allowance.any_of
        ]
    if allowance.any_order is not None:
        item["any_order"] = {"axis": allowance.any_order.axis, "lanewise": allowance.any_order.lanewise}
    return item, buffers


def terms(operator: str, outcome: str, force: str, allowance: Allowance) -> str:
    """Return the text of a digest's parts that many cases have in common.

    Args:
        operator: the operator version.
        outcome: the expected outcome.
        force: that of the clause that forbids the case; empty if no clause forbids it.
        allowance: its tolerance; bounds and other values are not read.
    """
    return (
        ascii((operator, outcome, force, *(f"{item:g}" for item in (allowance.ulp, allowance.rtol, allowance.atol))))
        + ("signed zero" if allowance.signed_zero else "")
        + (f"{allowance.interval}" if allowance.interval else "")
        + (f"{allowance.sums!r}" if allowance.sums else "")
    )


def digest(
    item: Mapping[str, Any],
    of_many: str,
    allowance: Allowance,
    frame: bytes | memoryview,
    data: bytes | memoryview,
    *,
    bounded: bool,
) -> str:
    """Return a digest of a case that is described by `described`.

    Args:
        item: its description.
        of_many: its `terms`.
        allowance: its tolerance; bounds and other values are not read.
        frame: the message to the adapter.
        data: the bytes of its expected values; more bytes may follow.
        bounded: whether its elements have bounds, whose values are not part of the digest.
    """
    head = ascii((of_many, bounded, len(frame), [item.get(name) for name in _HASHED]))
    hashed = hashlib.sha256(head.encode())
    hashed.update(frame)
    for piece in portable(item, data, allowance, bounded=bounded):
        hashed.update(piece)
    return base64.urlsafe_b64encode(hashed.digest()[:8])[:DIGEST].decode()


def portable(
    item: Mapping[str, Any], data: bytes | memoryview, allowance: Allowance, *, bounded: bool
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of the expected values of a case without the bits that depend on the processor.

    These are the sign of NaN and, unless the value is exact, the bits below 2**-22. If an error is allowed for each
    element, the bits are relative to the largest element of the tensor, because terms that cancel each other leave
    noise.

    Args:
        item: the description of the case.
        data: the bytes of its expected values.
        allowance: its tolerance; bounds are not read.
        bounded: whether an error is allowed for each element.
    """
    exact = not (allowance.ulp or allowance.rtol or allowance.atol or bounded)
    data, place = memoryview(data), 0
    for tensor in tensors(_values(item)):
        number, count = tensor["type"], math.prod(tensor["shape"])
        size = protocol.packed_size(number, count)
        piece = data[place : place + size]
        place += size
        yield piece if number not in _FLOATS else _rounded(piece, number, count, exact=exact, bounded=bounded)


def _values(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the descriptions of the expected values and of the other permitted ones, in the order of their bytes."""
    yield from (value for value in item.get("expected") or () if "drawn" not in value)
    for each in item.get("any_of") or ():
        yield from each["values"] if each is not None else ()


def tensors(values: Iterable[_Described]) -> Iterator[_Described]:
    """Yield the description of each tensor in the descriptions of values, in the order of their bytes."""
    for value in values:
        kind = value["kind"]
        if kind == "tensor":
            yield value
        elif kind == "sequence":
            yield from tensors(value["items"])
        elif kind == "map":
            yield from tensors((value["keys"], *value["values"]))


def _rounded(piece: memoryview, number: int, count: int, *, exact: bool, bounded: bool) -> bytes | memoryview:
    array = protocol.unpack(piece, number, (count,))
    is_complex = array.dtype.kind == "c"
    if is_complex:
        array = array.view(array.real.dtype)
    if not bounded and (exact or array.dtype != np.float64):
        with np.errstate(invalid="ignore"):  # Signalling NaNs.
            nan = np.isnan(array)
        if not nan.any():
            return piece
        array[nan] = np.nan
        return protocol.pack(array)
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):  # Numbers may become infinity.
        return b"".join(map(_relative if bounded else _float32, (wide[0::2], wide[1::2]) if is_complex else (wide,)))


def _relative(wide: Array) -> bytes:
    """Return elements without the bits below those of the largest one."""
    sizes = np.abs(wide)
    largest = float(sizes.max(initial=0.0))
    if not math.isfinite(largest):
        largest = float(sizes.max(initial=0.0, where=np.isfinite(sizes)))
    if not largest:
        return _float32(wide)
    # Just above the largest element, because that may be 1 on one processor and a little less on another.
    # At least the smallest float64, because the unit of smaller elements would be 0.
    exponent = math.frexp(min(largest * (1 + 2.0**-30), sys.float_info.max))[1]
    unit = max(math.ldexp(1.0, exponent - 22), 2.0**-1074)
    return _float32(np.rint(wide / unit) * unit + 0.0)  # Makes every zero positive.


def _float32(wide: Array) -> bytes:
    narrow = wide.astype(np.float32)
    narrow[np.isnan(narrow)] = np.nan
    return protocol.pack(narrow)
