# SPDX-License-Identifier: Apache-2.0
"""Resize: a tensor with more or fewer elements along its dimensions.

    Y = Resize(X, roi=None, scales=None, sizes=None, axes=None, mode="nearest", nearest_mode="round_prefer_floor",
               coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75, exclude_outside=0,
               extrapolation_value=0.0, antialias=0, keep_aspect_ratio_policy="stretch")
    Y = Resize(X, scales, mode="nearest")    # before version 11

Versions: 10 (scales), 11 (coordinates, cubic, roi, sizes), 13 (roi and scales may be omitted), 18 (axes, aspect ratio,
antialias), 19 (half_pixel_symmetric).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Clause, Ints, Op, Result, Tag, Version, bounded, extremes, ramp, typed, vary
from onnx_conformance.declare.readings import GIVEN_SCALE
from onnx_conformance.declare.rounding import is_float
from onnx_conformance.declare.sizes import filled, shape_of
from onnx_conformance.operators.tensor._resampling import scaled_shape, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _rounding(X: Array, mode: str, scales: Array, **others: Any) -> list[Array]:  # noqa: ANN401 - all arguments
    """Return 0 for the nearest element, otherwise the error of an average, in epsilons of the type of X.

    Coordinates and weights depend on lengths and scales, which are floats, and not on X. Their errors are epsilons of
    float, and so are those of products and sums.
    """
    part = X.real.dtype if X.dtype.kind == "c" else X.dtype
    if mode == "nearest" or X.size == 0 or not is_float(part):
        return [np.zeros(())]
    sizes = np.abs(_wide(X))
    if not others:  # Version 10: all elements are equal, or nothing is scaled.
        return [np.full(scaled_shape(X.shape, list(scales)), 4 * X.ndim * np.nanmax(sizes))]
    interpolation, axes = interpolation_of(mode, **others), axes_of(X.shape, scales, **others)
    rows = [np.abs(interpolation.matrix(axis)) for axis in axes]

    def weighted(matrices: Sequence[Array]) -> Array:
        """Return the sums of all magnitudes, weighted along each axis."""
        total = sizes
        for axis, matrix in zip(axes, matrices, strict=True):
            total = _averaged(total, matrix, axis)
        return total

    with np.errstate(all="ignore"):
        bound = weighted(rows) * sum((row > 0).sum(1).max(initial=0) + 1 for row in rows) / 2
        for index, axis in enumerate(axes):
            bound = bound + weighted([*rows[:index], interpolation.errors(axis), *rows[index + 1 :]])
    return [bound]


RESIZE = Op(
    "Resize",
    versions=(10, 11, 13, 18, 19),
    compare=bounded(
        _rounding, "coordinates and weights round, and so do products and sums; nearest only moves elements"
    ),
    rank="X",
)
RESIZE.example(
    X=ramp(4, 6),
    roi=[0.25, 0.0, 0.75, 0.5],
    scales=[2.0, 3.0],
    axes=[0, 1],
    mode="nearest",
    coordinate_transformation_mode="tf_crop_and_resize",
    nearest_mode="floor",
    cubic_coeff_a=-0.5,
    exclude_outside=1,
    extrapolation_value=7.5,
    antialias=1,
    keep_aspect_ratio_policy="stretch",
)

FLOOR_DIMENSION = RESIZE.clause("output_dimension = floor(input_dimension * scale).", before=11)
TWO_MODES = RESIZE.clause(
    "Two interpolation modes: nearest (default), and linear",
    before=11,
    note="The text does not define coordinates, or how an average becomes an integer.",
)
DIMENSION = RESIZE.clause(
    "floor(input_dimension * (roi_end - roi_start) * scale)", since=11, note="Runtimes ignore roi in this formula."
)
AVERAGE = RESIZE.clause(
    "as a weighted average of neighborhood",
    since=11,
    note="The average is one of numbers; official cases extend the edge. The text does not define the average of no "
    "elements, or how an average becomes an integer: a value slightly below 7 becomes 6 if it is truncated, and cubic "
    "averages can leave the range of the type. Averages are left open unless they are whole and floats represent their "
    "weights.",
)
POSITIVE = RESIZE.clause("It takes value greater than 0.")
COUNT = RESIZE.clause("The number of elements of 'scales' should be the same as the rank of input 'X'")
COUNT_SIZES = RESIZE.clause("The number of elements of 'sizes' should be the same as the rank of input 'X'", since=11)
EMPTY_SCALES = RESIZE.clause("If 'size' is needed, the user must set 'scales' to an empty tensor.", since=11, before=13)
EMPTY_ONLY = RESIZE.clause("May only be set if 'scales' is set to an empty tensor.", since=11, before=13)
ONE_OF = RESIZE.clause(
    "One of 'scales' and 'sizes' MUST be specified and it is an error if both are specified.", since=13
)
ONLY_ONE = RESIZE.clause("Only one of 'scales' and 'sizes' can be specified.", since=13)
ROI = RESIZE.clause("1-D tensor given as [start1, ..., startN, end1, ..., endN]", since=11)
ROI_EFFECT = RESIZE.clause('It only takes effect when coordinate_transformation_mode is "tf_crop_and_resize"', since=11)
SCALE = RESIZE.clause(
    "scale = length_resized / length_original",
    since=11,
    note="This contradicts an explicit scale if a length is rounded down: 4 elements scaled by 0.6 are 2, so the scale "
    "would be 0.5. By reading R9 it is 0.6. If a policy on the aspect ratio rounds the lengths, the result is left "
    "open.",
    contradicts="The scale array along each dimension.",
)
HALF_PIXEL = RESIZE.clause("x_original = (x_resized + 0.5) / scale - 0.5", since=11)
PYTORCH = RESIZE.clause("x_original = length_resized > 1 ? (x_resized + 0.5) / scale - 0.5 : 0", since=11)
ALIGN = RESIZE.clause(
    "x_resized * (length_original - 1) / (length_resized - 1)",
    since=11,
    note="Lengths are whole: 4 elements scaled by 0.6 are 2. The official cases continue with 2.4 as length_resized.",
    against=("test_resize_downsample_scales_*_align_corners",),
)
ASYMMETRIC = RESIZE.clause("x_original = x_resized / scale", since=11)
FOR_NN = RESIZE.clause(
    "x_original = (x_resized + 0.5) / scale, <br/>",
    since=11,
    before=13,
    see=("https://github.com/onnx/onnx/pull/3976",),
)
SYMMETRIC = RESIZE.clause("x_ori = offset + (x + 0.5) / scale - 0.5", since=19)
CROP = RESIZE.clause(
    "x_original = length_resized > 1 ? start_x * (length_original - 1) + x_resized * (end_x - start_x)", since=11
)
TRANSFORM = RESIZE.clause(
    "how to transform the coordinate in the resized tensor",
    since=11,
    note="The text defines some modes and does not define other modes. Since version 13 it does not define "
    "tf_half_pixel_for_nn, which onnxruntime still accepts.",
    see=("https://github.com/onnx/onnx/pull/2425",),
)
EXTRAPOLATION = RESIZE.clause("this value is used as the corresponding output value. Default is 0.0f.", since=11)
EXCLUDE = RESIZE.clause("the weight will be renormalized so that their sum is 1.0. The default value is 0.", since=11)
NEAREST_ONLY = RESIZE.clause(
    'Only used by nearest interpolation. It indicates how to get "nearest" pixel in input tensor from', since=11
)
NEAREST_FOUR = RESIZE.clause("Four modes: ", since=11)
CUBIC_ONLY = RESIZE.clause("This attribute is valid only if", since=11)
MODES = RESIZE.clause("Three interpolation modes: ", since=11)
APPLICABLE = RESIZE.clause(
    "and it is not applicable when the `scales` input is used.",
    since=18,
    note="The text does not define whether this is an error.",
)
STRETCH = RESIZE.clause(
    "the original aspect ratio is disregarded",
    since=18,
    note="The text does not define other policies. Each size is that of the output. 0 is a valid size, for which no "
    "coordinate is computed. The sentence that `scales` are above 0 applies only to that input.",
)
NOT_LARGER = RESIZE.clause("so that no extent of the output is larger than the specified size", since=18)
NOT_SMALLER = RESIZE.clause("so that no extent of the output is smaller than the specified size", since=18)
HALFWAY = RESIZE.clause(
    "`round_int` stands for computing the nearest integer value, rounding halfway cases up.",
    since=18,
    see=("https://github.com/onnx/onnx/pull/8007", "https://github.com/onnx/onnx/pull/7874"),
)
AXES = RESIZE.clause(
    "Given a set of `sizes`, associated with a subset of `axes` (explicitly provided or default)", since=18
)
BACK = RESIZE.clause(
    "Negative value means counting dimensions from the back.",
    since=18,
    note="onnx.reference does not count from the back.",
)
RANGE = RESIZE.clause("Accepted range is [-r, r-1], where r = rank(data).", since=18)
REPEATED = RESIZE.clause("Behavior is undefined if an axis is repeated.", since=18)
ANTIALIAS = RESIZE.clause(
    "by stretching the resampling filter by a factor max(1, 1 / scale)",
    since=18,
    note="The weights sum to 1.",
    see=("https://github.com/onnx/onnx/pull/8029",),
)
TRANSFORMS: Mapping[str, Clause] = {
    "half_pixel": HALF_PIXEL,
    "pytorch_half_pixel": PYTORCH,
    "align_corners": ALIGN,
    "asymmetric": ASYMMETRIC,
    "tf_half_pixel_for_nn": FOR_NN,
    "half_pixel_symmetric": SYMMETRIC,
    "tf_crop_and_resize": CROP,
}
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
POLICIES: Mapping[str, Clause] = {"stretch": STRETCH, "not_larger": NOT_LARGER, "not_smaller": NOT_SMALLER}
HALF = Fraction(1, 2)
EIGHT_BITS = 256


@dataclass(frozen=True)
class Axis:
    """An axis to resize. Lengths are whole and other numbers are fractions, so that floor and halfway are exact.

    Attributes:
        number: the number of the axis.
        length_original: its number of elements before.
        length_resized: its number of elements afterwards.
        scale: the element of `scales`, or the ratio of the lengths that the policy keeps.
        start: the start of the region of interest, in lengths.
        end: the end of that region.
        listed: whether the scale is an element of `scales`.
    """

    number: int
    length_original: int
    length_resized: int
    scale: Fraction
    start: Fraction
    end: Fraction
    listed: bool


@dataclass(frozen=True)
class Interpolation:
    """The positions of result elements in the input, and the input elements that contribute to their values.

    Attributes:
        mode: nearest, linear or cubic.
        transform: the transformation of coordinates; a name of TRANSFORMS.
        rounding: the rounding to the nearest element; one of ROUNDINGS.
        cubic_coeff_a: the coefficient of cubic convolution.
        exclude_outside: whether elements outside have no weight.
        antialias: whether the filter is stretched if the result is smaller.
    """

    mode: str
    transform: str
    rounding: str
    cubic_coeff_a: float
    exclude_outside: bool
    antialias: bool

    def originals(self, axis: Axis) -> tuple[Fraction, ...]:
        """Return x_original of each x_resized along an axis."""
        return _originals(self.transform, axis)

    def indices(self, axis: Axis) -> list[int]:
        """Return for each element along an axis the index of the nearest one."""
        return self._indices(axis, [0] * axis.length_resized)

    def _indices(self, axis: Axis, offsets: Sequence[Fraction | int]) -> list[int]:
        last, places = axis.length_original - 1, zip(self.originals(axis), offsets, strict=True)
        return [min(max(nearest(original + offset, self.rounding), 0), last) for original, offset in places]

    def matrix(self, axis: Axis) -> Array:
        """Return for each element along an axis the weights of all elements, (length_resized, length_original)."""
        return self._matrix(axis, weights)

    def errors(self, axis: Axis) -> Array:
        """Return the errors of these weights, in epsilons of the type that computes them."""
        return self._matrix(axis, weight_errors)

    def _matrix(self, axis: Axis, of: Callable[..., Sequence[float]]) -> Array:
        length, originals = axis.length_original, self.originals(axis)
        a = self.cubic_coeff_a if self.mode == "cubic" else None
        stretch = max(Fraction(1), 1 / axis.scale) if self.antialias and originals else Fraction(1)
        rows = [of(original, length, a, stretch, exclude=self.exclude_outside) for original in originals]
        return np.array(rows).reshape(len(rows), length)

    def is_exact(self, axis: Axis) -> bool:
        """Return whether scale and coordinates are multiples of 1/256, so that floats represent all weights."""
        return all(self._is_exact(axis, original) for original in self.originals(axis))

    @staticmethod
    def _is_exact(axis: Axis, original: Fraction) -> bool:
        return all(EIGHT_BITS % number.denominator == 0 for number in (axis.scale, original))

    def between(self, axis: Axis) -> Array:
        """Return for which elements along an axis the rounding of the coordinate decides which one is nearest."""
        if self.mode != "nearest" or not axis.listed or self.is_exact(axis):
            return np.zeros(axis.length_resized, bool)
        exact, error = (
            self.indices(axis),
            Fraction(2 * axis.length_original, 2**23),
        )  # Three roundings as float, and more.
        originals = [0 if self._is_exact(axis, x) else error for x in self.originals(axis)]
        limits = [self._indices(axis, [sign * off for off in originals]) for sign in (-1, 1)]
        return np.asarray(np.any([np.not_equal(limit, exact) for limit in limits], axis=0))

    def along(self, v: Version, x: Array, axis: Axis) -> Array:
        """Return x resized along one axis."""
        show = self.indices if self.mode == "nearest" else self.matrix
        rows = np.asarray(show(axis))
        if axis.length_original:
            ratio = Fraction(axis.length_resized, axis.length_original)
            differ = axis.scale != ratio and not np.array_equal(rows, show(replace(axis, scale=ratio)))
            v.reads(GIVEN_SCALE, differ and axis.listed)
            v.silent(SCALE, differ and not axis.listed)
        return np.take(x, rows.astype(np.int64), axis.number) if self.mode == "nearest" else _averaged(x, rows, axis)

    def outside(self, axis: Axis) -> Array:
        """Return which elements along a cropped axis are outside the input."""
        cropped = self.transform == "tf_crop_and_resize"
        return np.array([cropped and not 0 <= x <= axis.length_original - 1 for x in self.originals(axis)], bool)


@functools.lru_cache(maxsize=64)
def _originals(transform: str, axis: Axis) -> tuple[Fraction, ...]:
    """Return x_original of each x_resized along an axis, for a transformation of coordinates."""
    length, resized, scale = axis.length_original, axis.length_resized, axis.scale
    start, width, last = axis.start, axis.end - axis.start, length - 1
    formulas: dict[str, Callable[[int], Fraction]] = {
        "half_pixel": lambda x: (x + HALF) / scale - HALF,
        "half_pixel_symmetric": lambda x: length * HALF * (1 - resized / (length * scale)) + (x + HALF) / scale - HALF,
        "pytorch_half_pixel": lambda x: (x + HALF) / scale - HALF if resized > 1 else Fraction(0),
        "align_corners": lambda x: Fraction(x * last, max(1, resized - 1)),
        "asymmetric": lambda x: x / scale,
        "tf_half_pixel_for_nn": lambda x: (x + HALF) / scale,
        "tf_crop_and_resize": lambda x: (
            start * last + x * width * last / (resized - 1) if resized > 1 else HALF * (start + axis.end) * last
        ),
    }
    return tuple(formulas[transform](x) for x in range(resized))


def nearest(coordinate: Fraction, rounding: str) -> int:
    """Return the rounded coordinate. Halves are rounded down, or up for round_prefer_ceil."""
    if rounding in {"floor", "ceil"}:
        return math.floor(coordinate) if rounding == "floor" else math.ceil(coordinate)
    return math.ceil(coordinate - HALF) if rounding == "round_prefer_floor" else math.floor(coordinate + HALF)


def _kernel(distance: float, a: float | None) -> float:
    """Return the weight at a distance within reach: linear, or cubic convolution with a (Keys 1981, equation 4)."""
    d = abs(distance)
    if a is None:
        return 1 - d
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4)


def _averaged(x: Array, matrix: Array, axis: Axis) -> Array:
    """Return the sums of x along an axis, weighted by the rows of a matrix."""
    return np.moveaxis(np.tensordot(matrix, x, (1, axis.number)), 0, axis.number)


def _wide(x: Array) -> Array:
    """Return numbers to compute with: float64, or complex128."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _shares(
    coordinate: Fraction, length: int, stretch: Fraction, reach: int, share: Callable[[float], float], *, exclude: bool
) -> list[float]:
    """Return the sum of shares of each of `length` elements. A share depends on the distance to the coordinate."""
    row = [0.0] * length
    for place in range(math.floor(coordinate - reach * stretch) + 1, math.ceil(coordinate + reach * stretch)):
        if not exclude or 0 <= place < length:
            row[min(max(place, 0), length - 1)] += share(float((place - coordinate) / stretch))
    return row


@functools.cache
def weights(coordinate: Fraction, length: int, a: float | None, stretch: Fraction, *, exclude: bool) -> Sequence[float]:
    """Return the weight of each of `length` elements in the average around a coordinate; their sum is 1.

    Args:
        coordinate: the centre of the average.
        length: the number of elements.
        a: the coefficient of cubic convolution; None means linear.
        stretch: the factor of the filter, 1 or more.
        exclude: whether positions outside have no weight. Otherwise they have the value of the element at the edge.
    """
    row = _shares(coordinate, length, stretch, 1 if a is None else 2, lambda d: _kernel(d, a), exclude=exclude)
    return tuple(weight / sum(row) for weight in row)


@functools.cache
def weight_errors(
    coordinate: Fraction, length: int, a: float | None, stretch: Fraction, *, exclude: bool
) -> Sequence[float]:
    """Return the errors of these weights, in epsilons of the type that computes them.

    A coordinate is rounded three times and is at most the length. A linear weight has a slope of at most 1, a cubic
    weight of at most 1.5. In addition, a linear weight rounds twice, and a cubic weight rounds in sums of up to 4.
    """
    reach, own, slope = (1, 1.0, 1.0) if a is None else (2, 4.0, 1.5)
    row = _shares(coordinate, length, stretch, reach, lambda d: _kernel(d, a), exclude=exclude)
    off = own + slope * 1.5 * length
    # At a whole coordinate, a rounded coordinate has one more neighbour on one side.
    errors = _shares(coordinate, length, stretch + Fraction(1, 2**20), reach, lambda _: off, exclude=exclude)
    return tuple(error / abs(sum(row)) for error in errors)


def _fractions(numbers: Array) -> list[Fraction]:
    return [Fraction(float(number)) for number in numbers]


def _axes(v: Version, rank: int, axes: Ints) -> list[int]:
    """Return the axes to resize, counted from the front."""
    listed = [int(axis) for axis in (range(rank) if axes is None else axes)]
    v.require(RANGE, all(-rank <= axis < rank for axis in listed))
    resolved = [axis % rank for axis in listed]
    v.silent(REPEATED, len(set(resolved)) < len(resolved))
    return resolved


def _kept_ratio(sizes: Array, lengths: list[int], policy: str) -> list[tuple[int, Fraction]]:
    """Return the length and the scale of each axis: those of `sizes`, or the least or greatest scale for all axes."""
    if policy == "stretch":  # Without elements there is no coordinate, so any scale works.
        pairs = zip(sizes, lengths, strict=True)
        return [(int(size), Fraction(int(size), length) if length else Fraction(1)) for size, length in pairs]
    ratios = [Fraction(int(size), length) for size, length in zip(sizes, lengths, strict=True)]
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [(math.floor(ratio * length + HALF), ratio) for length in lengths]


def interpolation_of(
    mode: str,
    *,
    coordinate_transformation_mode: str,
    nearest_mode: str,
    cubic_coeff_a: float,
    exclude_outside: int,
    antialias: int | None,
    **_: object,
) -> Interpolation:
    """Return the interpolation that the attributes describe."""
    return Interpolation(
        mode,
        coordinate_transformation_mode,
        nearest_mode,
        cubic_coeff_a,
        exclude_outside=exclude_outside == 1,
        antialias=antialias == 1,
    )


def axes_of(
    shape: Sequence[int],
    scales: Ints,
    *,
    sizes: Ints,
    roi: Ints,
    axes: Ints,
    coordinate_transformation_mode: str,
    keep_aspect_ratio_policy: str | None,
    **_: object,
) -> list[Axis]:
    """Return the axes to resize, for valid arguments."""
    numbers = [int(axis) % len(shape) for axis in (range(len(shape)) if axes is None else axes)]
    lengths, count = [shape[number] for number in numbers], len(numbers)
    bounds = np.asarray(roi if coordinate_transformation_mode == "tf_crop_and_resize" else [0] * count + [1] * count)
    starts, ends = _fractions(bounds[:count]), _fractions(bounds[count:])
    listed = sizes is None or not np.size(sizes)
    if not listed:
        resized_to = _kept_ratio(np.asarray(sizes), lengths, keep_aspect_ratio_policy or "stretch")
    else:
        parts = zip(lengths, starts, ends, _fractions(np.asarray(scales)), strict=True)
        resized_to = [(math.floor(length * (end - start) * scale), scale) for length, start, end, scale in parts]
    return [
        Axis(number, length, to, scale, start, end, listed)
        for number, length, (to, scale), start, end in zip(numbers, lengths, resized_to, starts, ends, strict=True)
    ]


@RESIZE.oracle(before=11)
def resized_before_11(v: Version, X: Array, mode: str, scales: Array) -> Array:
    """Return X with every dimension scaled.

    Raise Unspecified unless all mappings of coordinates lead to the same result.
    """
    v.require(COUNT, scales.shape == (X.ndim,))
    v.require(POSITIVE, bool((scales > 0).all()))
    v.require(TWO_MODES, mode in {"nearest", "linear"})
    v.silent(TWO_MODES, mode != "nearest" and X.dtype.kind in "Ob")
    result = settled(X, list(scales), mode)
    v.silent(TWO_MODES, result is None)
    return X if result is None else result


@RESIZE.oracle(since=11)
def resized(
    v: Version,
    *,
    X: Array,
    roi: Ints,
    scales: Ints,
    sizes: Ints,
    axes: Ints,
    mode: str,
    coordinate_transformation_mode: str,
    nearest_mode: str,
    cubic_coeff_a: float,
    exclude_outside: int,
    extrapolation_value: float,
    antialias: int | None,
    keep_aspect_ratio_policy: str | None,
) -> Result:
    """Return X resized axis by axis. axes, antialias and the policy are None before version 18."""
    transform, policy = coordinate_transformation_mode, keep_aspect_ratio_policy or "stretch"
    v.require(MODES, mode in {"nearest", "linear", "cubic"})
    v.silent(TRANSFORM, transform not in TRANSFORMS or not TRANSFORMS[transform].in_force(v.since))
    v.require(NEAREST_FOUR, nearest_mode in ROUNDINGS)
    v.silent(AVERAGE, mode != "nearest" and X.dtype.kind in "Ob")
    numbers = _axes(v, X.ndim, axes)
    lengths, count = [X.shape[number] for number in numbers], len(numbers)
    factors, targets = (np.asarray([] if items is None else items) for items in (scales, sizes))
    if ONE_OF.in_force(v.since):
        v.require(ONE_OF, (factors.size > 0) is not (targets.size > 0))
    else:
        v.require(EMPTY_SCALES, not (factors.size and targets.size))
    v.require(ROI, transform != "tf_crop_and_resize" or (roi is not None and np.shape(roi) == (2 * count,)))
    if targets.size:
        v.require(COUNT_SIZES, targets.shape == (count,))
        v.silent(STRETCH, policy not in POLICIES)
        v.silent(POLICIES[policy], policy != "stretch" and 0 in lengths)
    else:
        v.require(COUNT, factors.shape == (count,))
        v.require(POSITIVE, bool((factors > 0).all()))
        v.silent(APPLICABLE, policy != "stretch")
    words: dict[str, Any] = {
        "roi": roi,
        "sizes": sizes,
        "axes": axes,
        "coordinate_transformation_mode": transform,
        "nearest_mode": nearest_mode,
        "cubic_coeff_a": cubic_coeff_a,
        "exclude_outside": exclude_outside,
        "antialias": antialias,
        "keep_aspect_ratio_policy": policy,
    }
    interpolation, along = interpolation_of(mode, **words), axes_of(X.shape, scales, **words)
    v.silent(AVERAGE, any(axis.length_original == 0 < axis.length_resized for axis in along))
    v.silent(
        ALIGN, transform == "align_corners" and any(axis.length_original > axis.length_resized == 1 for axis in along)
    )
    whole = X.dtype.kind in "iu" and mode != "nearest"
    v.silent(AVERAGE, whole and not all(interpolation.is_exact(axis) for axis in along))
    result = X if mode == "nearest" else _wide(X)
    outside, between = (np.zeros((1,) * X.ndim, bool) for _ in range(2))
    for axis in along:
        result = interpolation.along(v, result, axis)
        others = [at for at in range(X.ndim) if at != axis.number]
        outside = outside | np.expand_dims(interpolation.outside(axis), others)
        between = between | np.expand_dims(interpolation.between(axis), others)
    if outside.any():
        result = np.where(outside, np.asarray(extrapolation_value, result.dtype), result)
    answer = v.leave_open(NEAREST_ONLY, np.broadcast_to(between & ~outside, result.shape), result)
    if whole:
        limits = np.iinfo(X.dtype)
        is_open = (result % 1 != 0) | (result < limits.min) | (result > limits.max)
        return v.leave_open(AVERAGE, is_open, answer)
    return answer


case = RESIZE.case


def each_signature(name: str, *tags: Tag, X: Any, **words: Any) -> None:  # noqa: ANN401 - see `case`
    """Declare a case for the versions in which roi and scales may be omitted, and one for version 11."""
    case(name, *tags, X=X, **words, since=13)
    whole = [0.0] * len(X.shape) + [1.0] * len(X.shape)
    case(f"{name}_before_13", *tags, X=X, **{"roi": whole, "scales": [], **words}, since=11, before=13)


GRID = np.sin(np.arange(1, 25) * 1.7).reshape(4, 6)
TARGETS = {"larger": [8, 12], "smaller": [2, 3], "mixed": [8, 3], "odd": [7, 5], "same": [4, 6]}
QUARTER = [0.25, 0.0, 0.75, 0.5]

# Version 10 defines no coordinates, so a result is specified only if all mappings lead to it.
SEVENS = np.full((4, 6), 7)
SCALED: dict[str, Any] = {"scales": [0.5625, 1.3125], "before": 11}
BOTH_MODES = vary(nearest="nearest", linear="linear")
case("floor_before_11", X=SEVENS, **SCALED, mode=BOTH_MODES, cites=(FLOOR_DIMENSION, POSITIVE))
INTEGERS = typed("int32", SEVENS)
case("floor_int32_before_11", X=INTEGERS, **SCALED, mode="nearest", cites=FLOOR_DIMENSION)
case("average_int32_before_11", X=INTEGERS, **SCALED, mode="linear", unspecified=TWO_MODES)
case("fraction_before_11", Tag.EDGE, X=GRID, **SCALED, mode=BOTH_MODES, unspecified=TWO_MODES)
case(
    "fraction_beside_whole_before_11",
    Tag.EDGE,
    X=GRID,
    scales=[2.0, 1.5],
    mode="nearest",
    before=11,
    unspecified=TWO_MODES,
)
case("fraction_beside_one_before_11", Tag.EDGE, X=GRID, scales=[1.0, 1.5], before=11, unspecified=TWO_MODES)
case("doubled_before_11", X=GRID, scales=[2.0, 2.0], before=11, cites=FLOOR_DIMENSION)
case("unscaled_before_11", X=GRID, scales=[1.0, 1.0], mode="linear", before=11, cites=FLOOR_DIMENSION)
EQUAL_TEXTS = typed("string", [["a", "a"]])
case("linear_string_before_11", X=EQUAL_TEXTS, scales=[1.0, 2.0], mode="linear", before=11, unspecified=TWO_MODES)
case("to_nothing_before_11", Tag.EDGE, X=GRID, scales=[0.2, 2.0], before=11, cites=FLOOR_DIMENSION)
case("to_one_before_11", Tag.EDGE, X=GRID[0, :2], scales=[0.5], before=11, unspecified=TWO_MODES)
case("scale_zero_before_11", Tag.EDGE, X=SEVENS, scales=[2.0, 0.0], mode=BOTH_MODES, before=11, rejects=POSITIVE)
case("scales_few_before_11", X=SEVENS, scales=[2.0], mode=BOTH_MODES, before=11, rejects=COUNT)
case("mode_before_11", X=GRID, scales=[2.0, 3.0], mode="cubic", before=11, rejects=TWO_MODES)
case("dtypes_before_11", Tag.DTYPE, each="T", X=extremes(3, 4), scales=[2.0, 3.0], before=11, cites=TWO_MODES)

for name in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
    transform: dict[str, Any] = {"coordinate_transformation_mode": name, "cites": TRANSFORMS[name]}
    each_signature(f"{name}_nearest", Tag.CHANGE, X=GRID, sizes=[8, 3], **transform)
    each_signature(f"{name}_linear", Tag.CHANGE, X=GRID, scales=[2.0, 0.5], mode="linear", **transform)
transform = {"coordinate_transformation_mode": "half_pixel_symmetric", "cites": SYMMETRIC}
case("half_pixel_symmetric_nearest", Tag.CHANGE, X=GRID, sizes=[8, 3], **transform)
case("half_pixel_symmetric_linear", Tag.CHANGE, X=GRID, scales=[2.0, 0.5], mode="linear", **transform)
# The result has two elements, whether computed from the scale or from the ratio of the lengths.
case("half_pixel_symmetric_cut", Tag.EDGE, **transform, X=GRID, scales=[0.6, 1.0], nearest_mode="floor")
for name in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
    for size, sizes in TARGETS.items():
        transform = {"X": GRID, "sizes": sizes, "coordinate_transformation_mode": name, "since": 19}
        case(f"{name}_linear_{size}", **transform, mode="linear", cites=AVERAGE)
        case(f"{name}_cubic_{size}", **transform, mode="cubic", cites=AVERAGE)
        case(f"{name}_excluded_{size}", **transform, mode="cubic", exclude_outside=1, cites=EXCLUDE)
        for rounding in ROUNDINGS:
            case(f"{name}_{rounding}_{size}", **transform, nearest_mode=rounding, cites=NEAREST_ONLY)
for size, sizes in TARGETS.items():
    for mode in ("linear", "cubic"):
        stretched: dict[str, Any] = {"X": GRID, "sizes": sizes, "mode": mode, "antialias": 1}
        case(f"antialias_{mode}_{size}", **stretched, cites=ANTIALIAS)
        case(f"antialias_{mode}_excluded_{size}", **stretched, exclude_outside=1, cites=(ANTIALIAS, EXCLUDE))
    other = {"X": GRID, "sizes": sizes, "mode": "cubic", "antialias": 1, "cubic_coeff_a": -0.5}
    case(f"antialias_coefficient_{size}", **other, cites=(ANTIALIAS, CUBIC_ONLY))
case("antialias_nearest", X=GRID, sizes=[8, 3], antialias=1, cites=ANTIALIAS)
case(
    "for_nn_before_13",
    X=GRID,
    roi=[],
    scales=[],
    sizes=[8, 3],
    coordinate_transformation_mode="tf_half_pixel_for_nn",
    cites=FOR_NN,
)
each_signature("default", X=GRID, sizes=[8, 3], cites=MODES)
each_signature("ceil", X=GRID, sizes=[8, 3], nearest_mode="ceil", cites=NEAREST_ONLY)
each_signature("cubic_a", X=GRID, sizes=[8, 3], mode="cubic", cubic_coeff_a=-0.5, cites=CUBIC_ONLY)
each_signature("excluded", X=GRID, sizes=[8, 3], mode="linear", exclude_outside=1, cites=EXCLUDE)
IMAGE = GRID.reshape(1, 2, 3, 4)
each_signature("rank4", X=IMAGE, sizes=[1, 2, 6, 7], mode="cubic", cites=AVERAGE)
case("rank4_no_roi", X=IMAGE, roi=[], scales=[1.0, 1.0, 2.0, 3.0], nearest_mode="floor", since=13, cites=DIMENSION)
WRITTEN_OUT: dict[str, Any] = {
    "coordinate_transformation_mode": "half_pixel",
    "cubic_coeff_a": -0.75,
    "exclude_outside": 0,
    "extrapolation_value": 0.0,
    "nearest_mode": "floor",
}
WRITTEN_OUT_SINCE_18 = {**WRITTEN_OUT, "antialias": 0, "keep_aspect_ratio_policy": "stretch"}
for mode in ("nearest", "linear", "cubic"):
    shown: dict[str, Any] = {"X": IMAGE, "mode": mode, "cites": MODES}
    case(f"written_out_{mode}", **shown, **WRITTEN_OUT, scales=[1.0, 1.0, 2.0, 3.0], since=13)
    case(f"written_out_{mode}_sizes", **shown, **WRITTEN_OUT_SINCE_18, sizes=[1, 2, 6, 7])
    case(f"written_out_{mode}_since_18", **shown, **WRITTEN_OUT_SINCE_18, scales=[1.0, 1.0, 2.0, 3.0])
each_signature(
    "scales_whole",
    X=GRID,
    scales=[0.6, 1.2],
    mode="linear",
    coordinate_transformation_mode="align_corners",
    cites=ALIGN,
)
each_signature(
    "align_corners_one", X=GRID[:1], sizes=[1, 12], coordinate_transformation_mode="align_corners", cites=ALIGN
)
each_signature(
    "pytorch_one",
    X=GRID,
    sizes=[1, 1],
    mode="linear",
    coordinate_transformation_mode="pytorch_half_pixel",
    cites=PYTORCH,
)
case(
    "pytorch_one_excluded",
    X=GRID,
    sizes=[1, 1],
    mode="cubic",
    exclude_outside=1,
    coordinate_transformation_mode="pytorch_half_pixel",
    since=13,
    cites=PYTORCH,
)
case("zero_size", Tag.EDGE, X=ramp(0, 6), scales=[2.0, 0.5], since=13, cites=DIMENSION)
case("zero_size_linear", Tag.EDGE, X=ramp(0, 6), scales=[2.0, 0.5], mode="linear", since=13, cites=DIMENSION)
case("zero_size_stays", Tag.EDGE, X=ramp(0, 6), sizes=[0, 3], mode="cubic", cites=STRETCH)
case("zero_size_beside_axes", Tag.EDGE, X=ramp(0, 6), sizes=[9], axes=[1], mode="linear", cites=AXES)
each_signature("zero_size_filled", Tag.EDGE, X=ramp(0, 6), sizes=[2, 3], unspecified=AVERAGE)
each_signature("zero_size_filled_linear", Tag.EDGE, X=ramp(0, 6), sizes=[2, 3], mode="linear", unspecified=AVERAGE)
EACH_MODE = vary(nearest="nearest", linear="linear", cubic="cubic")
case("to_nothing", Tag.EDGE, X=GRID, sizes=[0, 3], mode=EACH_MODE, cites=STRETCH)
case("to_nothing_scales", Tag.EDGE, X=GRID, scales=[0.125, 2.0], mode=EACH_MODE, since=13, cites=DIMENSION)
case(
    "to_nothing",
    Tag.EDGE,
    X=GRID,
    sizes=[3, 0],
    mode="linear",
    keep_aspect_ratio_policy=vary(not_larger="not_larger"),
    cites=NOT_LARGER,
)
case(
    "zero_size_kept_ratio",
    Tag.EDGE,
    X=ramp(0, 6),
    sizes=[2, 3],
    keep_aspect_ratio_policy="not_larger",
    unspecified=NOT_LARGER,
)
each_signature("dtypes", Tag.DTYPE, X=extremes(12), sizes=[24], each="T1", cites=MODES)
case("integers_whole", X=typed("int32", [[0, 8, 40]]), sizes=[1, 6], mode="linear", since=19, cites=AVERAGE)

# The average of equal integers is that integer, or slightly less if floats represent weights of fifths.
case("integers_equal", X=typed("int32", [[8, 8]]), sizes=[1, 10], mode="linear", since=19, unspecified=AVERAGE)
BEYOND_INT8 = vary(above=typed("int8", [[-128, 96, 96, -128]]), below=typed("int8", [[96, -128, -128, 96]]))
case(
    "integers_cubic",
    Tag.EDGE,
    X=BEYOND_INT8,
    scales=[1.0, 2.0],
    mode="cubic",
    coordinate_transformation_mode="asymmetric",
    since=19,
    unspecified=AVERAGE,
)
case("integers_fifths", X=typed("int32", [[0, 15]]), sizes=[1, 10], mode="linear", since=19, unspecified=AVERAGE)
# Halves and quarters: every type represents their coordinates, and floats represent their weights.
NARROW = {"float16": 11, "double": 11, "bfloat16": 13}
for mode in ("linear", "cubic"):
    for type_, since in NARROW.items():
        shared: dict[str, Any] = {"X": typed(type_, GRID), "mode": mode, "cites": AVERAGE}
        case(f"{mode}_{type_}", Tag.DTYPE, **shared, sizes=[8, 3], since=max(13, since))
        if since < 13:  # noqa: PLR2004 - since then roi and scales may be omitted
            case(f"{mode}_{type_}_before_13", Tag.DTYPE, **shared, roi=[], scales=[], sizes=[8, 3], before=13)
        case(f"{mode}_{type_}_scales", Tag.DTYPE, **shared, scales=[0.5, 2.0], since=19)
    bytes_: dict[str, Any] = {
        "X": typed("int8", [[-128, 0, 96, -64], [64, 32, -96, 0]]),
        "mode": mode,
        "cites": AVERAGE,
    }
    between: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "exclude_outside": 0}
    limits = typed("int8", [[127, 127], [-128, -128]])
    case(f"{mode}_int8_limits", Tag.EDGE, **{**bytes_, "X": limits}, **between, scales=[1.0, 2.0], since=19)
    case(f"{mode}_int8", Tag.DTYPE, **bytes_, **between, scales=[1.0, 2.0], since=13)
    case(f"{mode}_int8_before_13", Tag.DTYPE, **bytes_, **between, roi=[], scales=[1.0, 2.0], before=13)

CROPPED: dict[str, Any] = {"X": GRID, "coordinate_transformation_mode": "tf_crop_and_resize"}
each_signature("crop", **CROPPED, roi=QUARTER, sizes=[8, 3], mode="linear", each="T2", cites=ROI)
each_signature("crop_scales", **CROPPED, roi=QUARTER, scales=[1.5, 2.0], cites=DIMENSION)
OUTSIDE: dict[str, Any] = {"roi": [0.0, 0.0, 1.0, 3.0], "scales": [1.0, 1.0], "extrapolation_value": 7.0}
each_signature("crop_scales_beyond", **CROPPED, **OUTSIDE, mode="linear", cites=DIMENSION)
each_signature("crop_to_one", **CROPPED, roi=QUARTER, sizes=[1, 1], mode="linear", cites=CROP)
each_signature(
    "crop_value", **CROPPED, roi=[0.0, -1.0, 1.0, 1.5], sizes=[8, 3], extrapolation_value=7.5, cites=EXTRAPOLATION
)
case("crop_to_two", **CROPPED, roi=QUARTER, sizes=[2, 2], mode="linear", since=13, cites=CROP)
case(
    "crop_just_beyond",
    **CROPPED,
    roi=[-0.125, 0.0, 1.125, 1.0],
    sizes=[4, 6],
    extrapolation_value=7.5,
    since=13,
    cites=EXTRAPOLATION,
)
each_signature("roi_unused", X=GRID, roi=QUARTER, sizes=[8, 3], cites=ROI_EFFECT)
for name, roi in {"in": QUARTER, "beyond": [-0.5, 0.25, 1.5, 1.0], "turned": [1.0, 0.0, 0.0, 1.0]}.items():
    for mode in ("nearest", "linear", "cubic"):
        case(
            f"crop_{name}_{mode}",
            **CROPPED,
            roi=roi,
            sizes=[3, 4],
            mode=mode,
            extrapolation_value=7.5,
            since=19,
            cites=EXTRAPOLATION,
        )

for policy, clause in POLICIES.items():
    case(
        f"{policy}_whole",
        Tag.CHANGE,
        X=GRID,
        sizes=[8, 18],
        mode="linear",
        keep_aspect_ratio_policy=policy,
        cites=clause,
    )
    case(
        f"{policy}_halfway",
        X=GRID,
        sizes=[9, 5],
        axes=[1, 0],
        coordinate_transformation_mode="align_corners",
        keep_aspect_ratio_policy=policy,
        cites=(clause, HALFWAY),
    )
case("axes", X=GRID, sizes=[9, 2], axes=[1, 0], mode="linear", cites=AXES)
case("axes_scales", X=GRID, scales=[1.5], axes=[1], mode="linear", cites=AXES)
case("axes_scales_first", X=GRID, scales=[2.0], axes=[0], coordinate_transformation_mode="asymmetric", cites=AXES)
case("axes_back", X=GRID, sizes=[9], axes=[-1], cites=BACK)
case("axes_back_first", X=GRID, sizes=[9], axes=[-2], cites=(BACK, RANGE))
case("axes_roi", **CROPPED, roi=[0.25, 0.75], sizes=[5], axes=[1], cites=AXES)

each_signature("scales_of_rounded_lengths", X=GRID, scales=[0.6, 1.7], mode="linear", cites=DIMENSION)
each_signature("scales_of_rounded_lengths_cubic", X=GRID, scales=[1.3, 0.7], mode="cubic", cites=DIMENSION)
each_signature("scales_of_rounded_lengths_nearest", X=GRID, scales=[0.6, 1.7], mode="nearest", cites=DIMENSION)
case(
    "open_scale_of_policy",
    X=GRID,
    sizes=[3, 5],
    mode="linear",
    keep_aspect_ratio_policy="not_larger",
    unspecified=SCALE,
)
each_signature("open_align", X=GRID, sizes=[1, 1], coordinate_transformation_mode="align_corners", unspecified=ALIGN)
each_signature(
    "open_align_one", X=GRID, sizes=[1, 12], coordinate_transformation_mode="align_corners", unspecified=ALIGN
)
case("open_policy", X=GRID, scales=[2.0, 2.0], keep_aspect_ratio_policy="not_larger", unspecified=APPLICABLE)
case("open_policy_unknown", X=GRID, sizes=[8, 3], keep_aspect_ratio_policy="fit", unspecified=STRETCH)
each_signature("open_way", X=GRID, sizes=[8, 3], coordinate_transformation_mode="corners", unspecified=TRANSFORM)
FOR_NN_CALL: dict[str, Any] = {"sizes": [8, 3], "coordinate_transformation_mode": "tf_half_pixel_for_nn"}
case("open_for_nn", Tag.CHANGE, X=GRID, **FOR_NN_CALL, since=13, unspecified=TRANSFORM)
SYMMETRIC_CALL: dict[str, Any] = {"sizes": [8, 3], "coordinate_transformation_mode": "half_pixel_symmetric"}
case("open_symmetric", Tag.CHANGE, X=GRID, **SYMMETRIC_CALL, since=13, before=19, unspecified=TRANSFORM)
case("open_repeated", X=GRID, sizes=[8, 3], axes=[1, -1], unspecified=REPEATED)
case("open_integers", X=typed("int32", [[0, 1]]), sizes=[1, 4], mode="linear", since=19, unspecified=AVERAGE)
case("open_string", X=typed("string", [["a"]]), sizes=[1, 4], mode="linear", since=19, unspecified=AVERAGE)

each_signature("wrong_mode", X=GRID, sizes=[8, 3], mode="area", rejects=MODES)
each_signature("wrong_rounding", X=GRID, sizes=[8, 3], nearest_mode="round", rejects=NEAREST_FOUR)
each_signature("wrong_roi", **CROPPED, roi=[0.0, 1.0], sizes=[8, 3], rejects=ROI)
each_signature("wrong_scale", X=GRID, scales=[2.0, 0.0], rejects=POSITIVE)
each_signature("wrong_scales", X=GRID, scales=[2.0], rejects=COUNT)
each_signature("wrong_sizes", X=GRID, sizes=[8], rejects=COUNT_SIZES)
case("wrong_both", X=GRID, scales=[2.0, 2.0], sizes=[8, 3], cites=ONLY_ONE, rejects=ONE_OF)
case("wrong_both_before_13", X=GRID, roi=[], scales=[2.0, 2.0], sizes=[8, 3], cites=EMPTY_ONLY, rejects=EMPTY_SCALES)
case("wrong_neither", X=GRID, since=13, rejects=ONE_OF)
case("wrong_axis_high", X=GRID, sizes=[9], axes=[2], rejects=RANGE)
case("wrong_axis_among_others", X=GRID, sizes=[9, 9], axes=[0, 2], rejects=RANGE)
case("wrong_axis_low", X=GRID, sizes=[9], axes=[-3], rejects=RANGE)

SCALED_BY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nearest_floor": ({"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}, {"each": "T1"}),
    "nearest_half_pixel": ({}, {}),
    "linear_half_pixel": ({"mode": "linear"}, {"each": "T1"}),
    "linear_pytorch": ({"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, {}),
    "linear_align_corners": ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, {}),
    "linear_asymmetric": ({"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, {}),
    "linear_antialias": ({"mode": "linear", "antialias": 1}, {}),
    "cubic_half_pixel": ({"mode": "cubic"}, {}),
    "cubic_pytorch": (
        {"mode": "cubic", "cubic_coeff_a": -0.5, "coordinate_transformation_mode": "pytorch_half_pixel"},
        {},
    ),
    "cubic_antialias": ({"mode": "cubic", "antialias": 1, "cubic_coeff_a": -0.5}, {}),
}
"""By name: the attributes, and the types."""
IMAGES = [
    {"b": b, "c": c, "h": h, "w": w, "height": height, "width": width}
    for b, c, h, w, height, width in (
        (1, 3, 14, 14, 28, 28),
        (2, 3, 7, 9, 21, 27),
        (1, 16, 28, 33, 14, 16),
        (1, 3, 33, 64, 50, 48),
        (1, 17, 64, 64, 16, 32),
    )
]
"""The sizes of images before and afterwards."""
for name, (attributes, types) in SCALED_BY.items():
    RESIZE.sized(
        name,
        IMAGES,
        **types,
        but=("bool", "string"),
        cites=(AVERAGE, MODES) if "mode" in attributes else (NEAREST_ONLY, MODES),
        arguments={"X": filled("b", "c", "h", "w"), "sizes": shape_of("b", "c", "height", "width"), **attributes},
    )
for mode in ("nearest", "linear"):
    RESIZE.sized(
        f"{mode}_by_scales",
        [{"b": 1, "c": c, "h": h, "w": w} for c, h, w in ((3, 13, 26), (8, 7, 40), (17, 20, 20))],
        cites=(SCALE, MODES),
        arguments={
            "X": filled("b", "c", "h", "w"),
            "scales": [1.0, 1.0, 2.0, 2.0],
            "mode": mode,
            **({"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else {}),
        },
    )
    RESIZE.sized(
        f"{mode}_channels_last",
        [{"b": 2, "h": h, "w": 9, "c": c, "height": 17, "width": 18} for h in (7, 20) for c in (3, 16)],
        cites=(AXES, MODES),
        arguments={"X": filled("b", "h", "w", "c"), "sizes": shape_of("height", "width"), "axes": [1, 2], "mode": mode},
    )
RESIZE.sized(
    "linear_volume",
    [{"b": 1, "c": 3, "d": 5, "h": 7, "w": w, "depth": 10, "height": 9, "width": 16} for w in (8, 12)],
    cites=(AVERAGE, MODES),
    arguments={
        "X": filled("b", "c", "d", "h", "w"),
        "sizes": shape_of("b", "c", "depth", "height", "width"),
        "mode": "linear",
    },
)
RESIZE.sized(
    "linear_line",
    [{"b": 2, "c": 5, "w": w, "width": width} for w, width in ((33, 64), (64, 33), (100, 150))],
    cites=(AVERAGE, MODES),
    arguments={"X": filled("b", "c", "w"), "sizes": shape_of("b", "c", "width"), "mode": "linear"},
)
for mode in ("nearest", "linear"):
    RESIZE.sized(
        f"{mode}_large",
        [{"b": 1, "c": 3, "h": 64, "w": 64, "height": 256, "width": 256}],
        cites=(SCALE, MODES),
        arguments={"X": filled("b", "c", "h", "w"), "sizes": shape_of("b", "c", "height", "width"), "mode": mode},
    )
