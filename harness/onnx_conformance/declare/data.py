# SPDX-License-Identifier: Apache-2.0
"""Data of cases: values for every element type to which a case is expanded."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.rounding import converted

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
        with np.errstate(all="ignore"):
            return converted(self.fill(dtype, int(np.prod(self.shape, dtype=np.int64))), dtype).reshape(self.shape)


class Domain(Data):
    """Values of every element type to which a case is expanded. Their number depends on the type."""

    def __init__(self, values: Callable[[np.dtype[Any]], Array]) -> None:
        """Store a function that returns a vector of the values of a dtype."""
        super().__init__(lambda dtype, _: values(dtype), ())

    def of(self, dtype: np.dtype[Any]) -> Array:
        """Return the vector for one element type."""
        return self.fill(dtype, 0).astype(dtype)


def every_value() -> Domain:
    """Return every value of a type of at most 16 bits, with all NaNs; of a wider type, a sweep over its range.

    The sweep of a floating type has every exponent with SWEPT fractions and both signs. It includes zeros, subnormal
    numbers, infinities and NaN. The sweep of an integer type has SWEPT numbers for each number of bits, and both signs.
    """
    return Domain(_every_value)


def every_two(*, divided: bool = False) -> tuple[Domain, Domain]:
    """Return the first and the second numbers of all pairs of two values of a type; it has at most 8 bits.

    Args:
        divided: whether the second numbers are divisors, which are not 0.
    """

    def side(repeated: Callable[[Array, int], Array], dtype: np.dtype[Any]) -> Array:
        values = _every_value(dtype)
        kept = np.tile(values, len(values)) != 0 if divided else slice(None)
        return np.asarray(repeated(values, len(values))[kept])

    return Domain(functools.partial(side, np.repeat)), Domain(functools.partial(side, np.tile))


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


SWEPT = 64
"""The number of fractions for each exponent in a sweep of a wide type."""
WIDEST_LISTED = 16
"""Bits of the widest types whose values are all listed."""


def _every_value(dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "b":
        return np.array([False, True])
    is_float = "float" in dtype.name
    bits = int((ml_dtypes.finfo if is_float else ml_dtypes.iinfo)(dtype).bits)
    if bits > WIDEST_LISTED:
        return _swept_floats(dtype) if is_float else _swept_integers(dtype)
    if is_float:
        return np.arange(1 << bits, dtype=f"u{dtype.itemsize}").view(dtype)
    limits = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return np.arange(int(limits.min), int(limits.max) + 1).astype(dtype)


def _swept_floats(dtype: np.dtype[Any]) -> Array:
    unsigned = np.dtype(f"u{dtype.itemsize}")
    width = int(ml_dtypes.finfo(dtype).nmant)  # type: ignore[no-untyped-call]
    upper = np.arange(1 << (8 * dtype.itemsize - width), dtype=unsigned) << np.asarray(width, unsigned)
    return np.asarray((upper[:, None] | _spread(width, unsigned)).ravel().view(dtype))


def _swept_integers(dtype: np.dtype[Any]) -> Array:
    unsigned, limits = np.dtype(f"u{dtype.itemsize}"), np.iinfo(dtype)
    magnitudes = [_spread(width, unsigned) | np.asarray(1 << width, unsigned) for width in range(limits.bits)]
    values = np.unique(np.concatenate([np.zeros(1, unsigned), *magnitudes]))
    return values if limits.min == 0 else np.unique(np.concatenate([values, -values]).view(dtype))


def _spread(width: int, unsigned: np.dtype[Any]) -> Array:
    """Return at most SWEPT numbers of so many bits: the ends, and between them numbers whose lower bits vary."""
    count, most = min(SWEPT, 1 << width), (1 << width) - 1
    step = most / max(count - 1, 1)
    return np.array([min(most, round(index * step)) for index in range(count)], unsigned)


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
