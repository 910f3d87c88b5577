"""Resampling: which elements of the input, and how much of each, an element of the result shows."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.declare.data import Array


def scaled_shape(shape: Sequence[int], scales: Sequence[float]) -> tuple[int, ...]:
    """Return floor(input_dimension * scale) of each dimension."""
    return tuple(math.floor(dim * float(scale)) for dim, scale in zip(shape, scales, strict=True))


def settled(x: Array, scales: Sequence[float], mode: str) -> Array | None:
    """Return what every mapping of coordinates gives; None where mappings differ.

    They agree where all elements are equal; where the nearest one is taken and each is repeated a whole number of
    times; and where nothing is scaled.
    """
    shape = scaled_shape(x.shape, scales)
    if x.size == 0 or math.prod(shape) == 0:
        return np.zeros(shape, x.dtype)
    if (x == x.flat[0]).all():
        return np.full(shape, x.flat[0], x.dtype)
    if all(scale == 1 for scale in scales):
        return x
    if mode != "nearest" or any(scale < 1 or scale != int(scale) for scale in scales):
        return None
    for axis, scale in enumerate(scales):
        x = np.repeat(x, int(scale), axis)
    return x


def nearest(coordinate: Fraction, mode: str) -> int:
    """Return the whole number that a coordinate is rounded to; half goes down, or up for round_prefer_ceil."""
    shift = {"floor": 0, "ceil": 0, "round_prefer_floor": -1, "round_prefer_ceil": 1}[mode] * Fraction(1, 2)
    up = mode in {"ceil", "round_prefer_floor"}
    return math.ceil(coordinate + shift) if up else math.floor(coordinate + shift)


def _kernel(distance: float, a: float | None) -> float:
    """Return the weight at a distance: linear, or cubic convolution with a (Keys 1981, equation 4)."""
    d = abs(distance)
    if a is None:
        return max(0.0, 1 - d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0  # noqa: PLR2004 - where the kernel ends


@functools.cache
def weights(coordinate: Fraction, length: int, a: float | None, stretch: Fraction, *, exclude: bool) -> Sequence[float]:
    """Return the weight of each of `length` elements in the average around a coordinate; their sum is 1.

    Args:
        coordinate: where.
        length: how many elements there are.
        a: of cubic convolution; None: linear.
        stretch: of the kernel; 1 or more.
        exclude: what lies outside has no weight; otherwise it shows the element at the edge.
    """
    row = [0.0] * length
    span = (1 if a is None else 2) * stretch
    for place in range(math.floor(coordinate - span) + 1, math.ceil(coordinate + span)):
        if not exclude or 0 <= place < length:
            row[min(max(place, 0), length - 1)] += _kernel(float((place - coordinate) / stretch), a)
    return tuple(weight / sum(row) for weight in row)


def originals(transform: str, length: int, resized: int, scale: Fraction, crop: Sequence[Fraction]) -> list[Fraction]:
    """Return x_original of each x_resized along an axis, by the formulas of Resize."""
    half, (start, end), last = Fraction(1, 2), crop, length - 1
    formulas: dict[str, Callable[[int], Fraction]] = {
        "half_pixel": lambda x: (x + half) / scale - half,
        "half_pixel_symmetric": lambda x: length * half * (1 - resized / (length * scale)) + (x + half) / scale - half,
        "pytorch_half_pixel": lambda x: (x + half) / scale - half if resized > 1 else Fraction(0),
        "align_corners": lambda x: Fraction(x * last, max(1, resized - 1)),
        "asymmetric": lambda x: x / scale,
        "tf_half_pixel_for_nn": lambda x: (x + half) / scale,
        "tf_crop_and_resize": lambda x: (
            start * last + x * (end - start) * last / (resized - 1) if resized > 1 else half * (start + end) * last
        ),
    }
    return [formulas[transform](x) for x in range(resized)]


@dataclass(frozen=True)
class Resampling:
    """How to resample: the attributes of Resize.

    Attributes:
        mode: nearest, linear or cubic.
        transform: of coordinates; a name of `originals`.
        rounding: to the nearest element; a name of `nearest`.
        a: of cubic convolution.
        exclude: what lies outside has no weight.
        antialias: the kernel is stretched where the result is smaller.
    """

    mode: str
    transform: str
    rounding: str
    a: float
    exclude: bool
    antialias: bool

    def rows(self, length: int, resized: int, scale: Fraction, crop: Sequence[Fraction]) -> list[Any]:
        """Return for each element along an axis the index it shows, or the weights of all."""
        places = originals(self.transform, length, resized, scale, crop)
        if self.mode == "nearest":
            return [min(max(nearest(place, self.rounding), 0), length - 1) for place in places]
        a = self.a if self.mode == "cubic" else None
        stretch = max(Fraction(1), 1 / scale) if self.antialias else Fraction(1)
        return [weights(place, length, a, stretch, exclude=self.exclude) for place in places]

    def along(self, x: Array, axis: int, resized: int, scale: Fraction, crop: Sequence[Fraction]) -> Array | None:
        """Return x resampled along an axis; None where scale and the ratio of the lengths give different results."""
        length = x.shape[axis]
        rows = self.rows(length, resized, scale, crop)
        if scale * length != resized and rows != self.rows(length, resized, Fraction(resized, length), crop):
            return None
        if self.mode == "nearest":
            return np.take(x, np.array(rows, np.int64), axis)
        return np.moveaxis(np.tensordot(np.array(rows), x, (1, axis)), 0, axis)

    def outside(self, length: int, resized: int, crop: Sequence[Fraction]) -> Array:
        """Return which elements along a cropped axis lie outside the input."""
        places = originals(self.transform, length, resized, Fraction(1), crop)
        return np.array([self.transform == "tf_crop_and_resize" and not 0 <= at <= length - 1 for at in places], bool)

    def all(
        self,
        x: Array,
        axes: Sequence[int],
        targets: Sequence[tuple[int, Fraction]],
        crops: Sequence[Sequence[Fraction]],
        value: float,
    ) -> tuple[Array, bool]:
        """Return x resampled along several axes, with `value` where a crop lies outside, and whether `along` did."""
        outside = np.zeros((1,) * x.ndim, bool)
        for axis, (resized, scale), crop in zip(axes, targets, crops, strict=True):
            shape = [-1 if at == axis else 1 for at in range(x.ndim)]
            outside = outside | self.outside(x.shape[axis], resized, crop).reshape(shape)
            done = self.along(x, axis, resized, scale, crop)
            if done is None:
                return x, False
            x = done
        return np.where(outside, np.asarray(value, x.dtype), x) if outside.any() else x, True


def exact(values: Sequence[float]) -> list[Fraction]:
    """Return numbers as fractions, so that floor and half mean what they say."""
    return [Fraction(float(value)) for value in values]


def kept_ratio(sizes: Sequence[int], lengths: Sequence[int], policy: str) -> list[tuple[int, Fraction]]:
    """Return the length and the scale of each axis: as asked, or the least or greatest scale for all."""
    ratios = [Fraction(int(size), length) for size, length in zip(sizes, lengths, strict=True)]
    if policy != "stretch":
        ratios = [min(ratios) if policy == "not_larger" else max(ratios)] * len(ratios)
    return [(math.floor(ratio * n + Fraction(1, 2)), ratio) for ratio, n in zip(ratios, lengths, strict=True)]
