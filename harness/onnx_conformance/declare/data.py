"""Data of cases: values for every element type to which a case is expanded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_conformance.base.values import Array


class Data:
    """Values for every element type to which a case is expanded."""

    def __init__(self, fill: Callable[[np.dtype[Any], int], Array], shape: tuple[int, ...]) -> None:
        """Store the shape, and a function that returns the elements for a dtype and a number of elements."""
        self.fill, self.shape = fill, shape

    def __repr__(self) -> str:
        """Return the name of the function that fills it, and its shape."""
        return f"Data({getattr(self.fill, '__qualname__', self.fill)}, {self.shape})"

    def of(self, dtype: np.dtype[Any]) -> Array:
        """Return the array for one element type."""
        return self.fill(dtype, int(np.prod(self.shape, dtype=np.int64))).astype(dtype).reshape(self.shape)


def ramp(*shape: int) -> Data:
    """Return 0, 1, 2, ... in row-major order. Neighbouring elements differ in every type."""
    return Data(_ramp, shape)


def extremes(*shape: int) -> Data:
    """Return the hardest values of each type in turn: limits, signed zeros, NaN, subnormals, odd strings."""
    return Data(_extremes, shape)


def every_pair(type_: str, has_answer: Callable[[Array, Array], Array] | None = None) -> tuple[Array, Array]:
    """Return all pairs of numbers of an 8-bit integer type that have an answer, as two vectors of that type.

    Args:
        type_: int8 or uint8.
        has_answer: a function of the vectors of all pairs, as 64-bit integers, that returns a mask of the pairs to
            keep; None to keep all.
    """
    numbers = np.arange(np.iinfo(type_).min, np.iinfo(type_).max + 1, dtype=np.int64)
    left, right = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    with np.errstate(all="ignore"):
        keep = has_answer(left, right) if has_answer else slice(None)
    return left[keep].astype(type_), right[keep].astype(type_)


def waves(*shape: int) -> Array:
    """Return distinct fractional values of both signs, from -3 to 3."""
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
"""Dimensions that are all different, so a wrong axis is detected."""


def axes() -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield a case name, a shape and an axis, for every axis of ranks 1 to 4, from the front and the back."""
    for rank in range(1, len(SIZES) + 1):
        for axis in range(-rank, rank):
            yield f"rank{rank}_axis{axis}".replace("-", "_minus"), SIZES[:rank], axis


def axes_outside() -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield a case name, a shape and an axis that is just out of range, on both sides, for ranks 0 to 4."""
    for rank in range(len(SIZES) + 1):
        yield f"rank{rank}_axis_too_high", SIZES[:rank], rank
        yield f"rank{rank}_axis_too_low", SIZES[:rank], -rank - 1


@dataclass(frozen=True)
class FloatLimits:
    """The limits of a floating type; the type represents each of them exactly.

    Attributes:
        largest: the greatest finite number.
        smallest_normal: the smallest positive normal number.
        smallest_subnormal: the smallest positive number.
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
"""The limits of IEEE 754's binary16, binary32 and binary64, and of bfloat16, by the names in ONNX's signatures."""
