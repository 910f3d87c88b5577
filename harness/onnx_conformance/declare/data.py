"""Data of cases: values for whichever element type a case is expanded to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Array = np.ndarray[Any, Any]
Value = Array | list["Value"] | dict[Any, "Value"] | None
"""A tensor, a sequence of values, a map, or an empty optional."""


class Data:
    """Values for whichever element type a case is expanded to."""

    def __init__(self, fill: Callable[[np.dtype[Any], int], Array], shape: tuple[int, ...]) -> None:
        """Take a function of dtype and element count, and the shape."""
        self.fill, self.shape = fill, shape

    def __repr__(self) -> str:
        """Return what fills it, and its shape."""
        return f"Data({getattr(self.fill, '__qualname__', self.fill)}, {self.shape})"

    def of(self, dtype: np.dtype[Any]) -> Array:
        """Return the array for one element type."""
        return self.fill(dtype, int(np.prod(self.shape, dtype=np.int64))).astype(dtype).reshape(self.shape)


def ramp(*shape: int) -> Data:
    """Return 0, 1, 2, ... in row-major order: neighbours differ in every type."""
    return Data(_ramp, shape)


def extremes(*shape: int) -> Data:
    """Return the hardest values of each type in turn: limits, signed zeros, NaN, subnormals, odd strings."""
    return Data(_extremes, shape)


def every_pair(type_: str, has_answer: Callable[[Array, Array], Array] | None = None) -> tuple[Array, Array]:
    """Return all pairs of numbers of an 8-bit integer type that have an answer, as two vectors of that type.

    Args:
        type_: int8 or uint8.
        has_answer: takes the vectors of all pairs as 64-bit integers, and returns a mask of those to keep; None: all.
    """
    numbers = np.arange(np.iinfo(type_).min, np.iinfo(type_).max + 1, dtype=np.int64)
    left, right = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    with np.errstate(all="ignore"):
        keep = has_answer(left, right) if has_answer else slice(None)
    return left[keep].astype(type_), right[keep].astype(type_)


def waves(*shape: int) -> Array:
    """Return values of both signs, no two alike, none of them a whole number: -3 to 3."""
    return np.asarray(np.sin(np.arange(1, math.prod(shape) + 1) * 1.7) * 3).reshape(shape)


def _ramp(dtype: np.dtype[Any], count: int) -> Array:
    index = np.arange(count)
    if dtype.kind == "O":
        return np.array([f"s{i}" for i in index], dtype=object)
    if dtype.kind == "b":
        return np.array(index % 3 == 0)
    if dtype.kind == "c":
        return np.array(index - 0.5j * index)
    if dtype.kind == "f" or "float" in dtype.name:
        with np.errstate(all="ignore"):
            return index.astype(np.float32).astype(dtype)
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return np.array(index % min(int(info.max) + 1, 1 << 30))


_STRINGS = ("", "a", "ä", "日本語", "𝄞", " \t\n", "A" * 64, "0")


def _extremes(dtype: np.dtype[Any], count: int) -> Array:
    values: Array
    if dtype.kind == "O":
        values = np.array(_STRINGS, dtype=object)
    elif dtype.kind == "b":
        values = np.array([True, False, False])
    elif dtype.kind == "c":
        part = _extremes(np.dtype(f"f{dtype.itemsize // 2}"), 11)
        values = part.astype(dtype)
        values.imag = part[::-1]
    elif dtype.kind in "iu" or "int" in dtype.name:
        info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        low, high = int(info.min), int(info.max)
        wide = np.uint64 if low == 0 else np.int64
        values = np.array([low, high, 0, 1, high - 1, low + 1], dtype=wide).astype(dtype)
    else:
        limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        small = [limits.smallest_subnormal, limits.tiny, limits.eps]
        values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, *small, limits.max, limits.min, 1], dtype=dtype)
    return np.resize(values, count)


SIZES = (3, 4, 5, 6)
"""Dimensions, no two of them equal, so that a wrong axis is noticed."""


def axes() -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield a case name, a shape and an axis, for every axis of ranks 1 to 4, from the front and the back."""
    for rank in range(1, len(SIZES) + 1):
        for axis in range(-rank, rank):
            yield f"rank{rank}_axis{axis}".replace("-", "_minus"), SIZES[:rank], axis


def axes_outside() -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield a case name, a shape and an axis just out of range on either side, for ranks 0 to 4."""
    for rank in range(len(SIZES) + 1):
        yield f"rank{rank}_axis_too_high", SIZES[:rank], rank
        yield f"rank{rank}_axis_too_low", SIZES[:rank], -rank - 1


@dataclass(frozen=True)
class FloatLimits:
    """The limits of a floating type, each of them exact in the type.

    Attributes:
        largest: its greatest finite number.
        smallest_normal: its least normal number above 0.
        smallest_subnormal: its least number above 0.
    """

    largest: float
    smallest_normal: float
    smallest_subnormal: float


FLOATS: Mapping[str, FloatLimits] = {
    "float16": FloatLimits(65504.0, 2.0**-14, 2.0**-24),
    "float": FloatLimits((2 - 2.0**-23) * 2.0**127, 2.0**-126, 2.0**-149),
    "bfloat16": FloatLimits((2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133),
    "double": FloatLimits((2 - 2.0**-52) * 2.0**1023, 2.0**-1022, 2.0**-1074),
}
"""IEEE 754's binary16, binary32 and binary64, and bfloat16, by the names that ONNX's signatures use."""
