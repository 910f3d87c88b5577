# SPDX-License-Identifier: Apache-2.0
"""Upsample: enlarge a tensor along its dimensions.

    Y = Upsample(X, scales, mode="nearest")
    Y = Upsample(X, height_scale=2.0, width_scale=3.0, mode="nearest")    # before version 7

Versions: 1 (height and width of 4-D tensors), 7 (all dimensions), 9 (scales as input), and 10, in which it is
deprecated in favour of Resize.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, Tag, Version, bounded, extremes, ramp, typed, vary
from onnx_conformance.operators.tensor._resampling import scaled_shape, settled


def _rounding(X: Array, mode: str, scales: Ints = None, height_scale: float = 1, width_scale: float = 1) -> list[Array]:
    """Return 0 for the nearest element, which is only moved, otherwise a rounding of each weight and sum."""
    shape = scaled_shape(X.shape, (1, 1, height_scale, width_scale) if scales is None else list(scales))
    if mode == "nearest" or X.size == 0:
        return [np.zeros(shape)]
    return [np.full(shape, 4 * X.ndim * np.nanmax(np.abs(X.astype(float))))]


UPSAMPLE = Op(
    "Upsample",
    versions=(1, 7, 9, 10),
    compare=bounded(
        _rounding, "the nearest element is only moved; the two weights of each dimension round by an epsilon each"
    ),
    rank="X",
)
UPSAMPLE.example(X=ramp(1, 2, 3, 4), scales=[1.0, 1.0, 2.0, 3.0], height_scale=2.0, width_scale=3.0, mode="nearest")

WIDTH = UPSAMPLE.clause("output_width = floor(input_width * width_scale)", before=7)
HEIGHT = UPSAMPLE.clause("output_height = floor(input_height * height_scale).", before=7)
DIMENSION = UPSAMPLE.clause("output_dimension = floor(input_dimension * scale).", since=7)
EXAMPLE = UPSAMPLE.clause("Upsample the input 4-D tensor in nearest mode", before=7)
MODES_OF_IMAGES = UPSAMPLE.clause(
    "Two interpolation modes: nearest(default), bilinear",
    before=7,
    note="The text does not define the input coordinate of an output element. Cases are specified only if it makes no "
    "difference: whole scales in nearest mode, equal elements, or no scaling.",
)
MODES = UPSAMPLE.clause(
    "Two interpolation modes: nearest (default), and linear (including bilinear, trilinear, etc)",
    since=7,
    note="The text does not define the input coordinate of an output element, linear interpolation of values that are "
    "not numbers, whether bilinear is a name of it, or how a weighted sum of integers becomes an integer. For equal "
    "integers the sum is that integer in real numbers. In floats it may be slightly less, and onnxruntime truncates it "
    "to the integer below. Cases are specified only if none of this makes a difference.",
)
HEIGHT_SCALE = UPSAMPLE.clause("The scale along height dimension. It takes value greater than or equal to 1.", before=7)
WIDTH_SCALE = UPSAMPLE.clause("The scale along width dimension. It takes value greater than or equal to 1.", before=7)
AT_LEAST_ONE = UPSAMPLE.clause(
    "The scale array along each dimension. It takes value greater than or equal to 1.", since=7
)
COUNT = UPSAMPLE.clause("The number of elements of 'scales' should be the same as the rank of input 'X'.", since=7)
FOUR_D = UPSAMPLE.clause("4-D tensor, [N,C,H,W]", before=7)
FOUR_D_AFTER = UPSAMPLE.clause("4-D tensor after resizing, [N,C,H,W]", before=7)
FEW_TYPES = UPSAMPLE.clause("Constrain output types to bool, int32, int64, float16, float, double tensors.", before=7)
ALL_TYPES = UPSAMPLE.clause("Constrain input and output types to all tensor types.", since=7, before=9)
X_TYPES = UPSAMPLE.clause("Constrain input 'X' and output 'Y' to all tensor types.", since=9)


def _upsampled(v: Version, x: Array, scales: list[float], mode: str) -> Array:
    modes = MODES if MODES.in_force(v.since) else MODES_OF_IMAGES
    v.silent(MODES, modes is MODES and mode in {"bilinear", "trilinear"})
    v.require(modes, mode in {"nearest", "linear" if modes is MODES else "bilinear"})
    v.silent(modes, mode != "nearest" and x.dtype.kind in "Ob")
    result = settled(x, scales, mode)
    v.silent(modes, result is None)
    return x if result is None else result


@UPSAMPLE.oracle(before=7)
def of_images(v: Version, X: Array, mode: str, height_scale: float, width_scale: float) -> Array:
    """Return X with height and width scaled."""
    v.require(FOUR_D, X.ndim == 4)  # noqa: PLR2004 - as in the sentence
    v.require(HEIGHT_SCALE, height_scale >= 1)
    v.require(WIDTH_SCALE, width_scale >= 1)
    return _upsampled(v, X, [1, 1, height_scale, width_scale], mode)


@UPSAMPLE.oracle(since=7, before=10)
def of_any_rank(v: Version, X: Array, mode: str, scales: Ints) -> Array:
    """Return X with every dimension scaled."""
    factors = np.asarray(scales, float)
    v.require(COUNT, factors.shape == (X.ndim,))
    v.require(AT_LEAST_ONE, bool((factors >= 1).all()))
    return _upsampled(v, X, [float(factor) for factor in factors], mode)


case = UPSAMPLE.case

IMAGE = ramp(1, 2, 3, 4)
SEVENS = np.full((1, 2, 3, 4), 7)

case("example", X=[[[[1, 2], [3, 4]]]], height_scale=2.0, width_scale=2.0, mode="nearest", cites=EXAMPLE)
case("example_scales", X=[[[[1, 2], [3, 4]]]], scales=[1.0, 1.0, 2.0, 2.0], mode="nearest", cites=MODES)
case("default_mode", X=IMAGE, height_scale=2.0, width_scale=3.0, cites=(MODES_OF_IMAGES, FOUR_D, FOUR_D_AFTER))
case("default_mode_scales", Tag.CHANGE, X=IMAGE, scales=[1.0, 1.0, 2.0, 3.0], cites=(MODES, DIMENSION))
for name, height, width in (("height", 3.0, 1.0), ("width", 1.0, 4.0), ("both", 4.0, 5.0), ("neither", 1.0, 1.0)):
    case(f"nearest_{name}", X=IMAGE, height_scale=height, width_scale=width, cites=(WIDTH, HEIGHT))
for shape in ((5,), (2, 3), (2, 3, 4), (2, 1, 3, 4), (1, 2, 3, 2, 2)):
    scales = [1.0 + (axis + 1) % 3 for axis in range(len(shape))]
    case(f"rank{len(shape)}", X=ramp(*shape), scales=scales, mode="nearest", cites=(DIMENSION, AT_LEAST_ONE, COUNT))
case("rank0", Tag.EDGE, X=ramp(), scales=[], cites=DIMENSION)
case("long", X=ramp(2, 40), scales=[1.0, 7.0], cites=DIMENSION)
for name, height, width in (("half", 1.5, 2.5), ("small", 1.25, 1.125), ("below_next", 1.96875, 1.3125)):
    for mode in ("nearest", "bilinear"):
        case(f"floor_{name}_{mode}", X=SEVENS, height_scale=height, width_scale=width, mode=mode, cites=(WIDTH, HEIGHT))
    for mode in ("nearest", "linear"):
        case(f"floor_{name}_{mode}_scales", X=SEVENS, scales=[1.0, 1.0, height, width], mode=mode, cites=DIMENSION)
case("linear_fraction", Tag.EDGE, X=ramp(2, 3), scales=[1.0, 1.5], mode="linear", unspecified=MODES)
case("linear_whole", X=ramp(2, 3), scales=[1.0, 2.0], mode="linear", unspecified=MODES)
case("nearest_fraction", Tag.EDGE, X=ramp(2, 3), scales=[1.0, 1.5], mode="nearest", unspecified=MODES)
case("bilinear_whole", X=IMAGE, height_scale=2.0, width_scale=3.0, mode="bilinear", unspecified=MODES_OF_IMAGES)
case("nearest_fraction_before_7", X=IMAGE, height_scale=1.5, width_scale=1.0, unspecified=MODES_OF_IMAGES)
case("linear_unscaled", Tag.EDGE, X=ramp(2, 3), scales=[1.0, 1.0], mode="linear", cites=MODES)
case("linear_one_element", Tag.EDGE, X=[[7.5]], scales=[2.0, 3.5], mode="linear", cites=MODES)
case("bilinear_unscaled", Tag.EDGE, X=IMAGE, height_scale=1.0, width_scale=1.0, mode="bilinear", cites=MODES_OF_IMAGES)
case("zero_size", Tag.EDGE, X=ramp(2, 0), scales=[2.0, 3.0], cites=DIMENSION)
case("zero_size_fraction", Tag.EDGE, X=ramp(2, 0), scales=[2.5, 3.0], cites=DIMENSION)
case("zero_size_batch", Tag.EDGE, X=ramp(0, 2, 3, 4), height_scale=2.0, width_scale=3.0, cites=WIDTH)
case("nan", Tag.EDGE, X=[np.nan, np.inf, -np.inf, -0.0], scales=[3.0], cites=DIMENSION)

NOT_ONE_OR_MORE = vary(below_one=[1.0, 0.5], zero=[0.0, 1.0], negative=[1.0, -2.0], nan=[1.0, np.nan])
BELOW_ONE = vary(below_one=0.5, zero=0.0, negative=-2.0, nan=np.nan)
case("scale", Tag.EDGE, X=ramp(2, 3), scales=NOT_ONE_OR_MORE, rejects=AT_LEAST_ONE)
case("height", Tag.EDGE, X=IMAGE, height_scale=BELOW_ONE, width_scale=2.0, rejects=HEIGHT_SCALE)
case("width", Tag.EDGE, X=IMAGE, height_scale=2.0, width_scale=BELOW_ONE, rejects=WIDTH_SCALE)
case("scales", X=ramp(2, 3), scales=vary(few=[2.0], many=[1.0, 2.0, 3.0], none=[]), rejects=COUNT)
case("scales_matrix", Tag.EDGE, X=ramp(2, 3), scales=[[2.0, 3.0]], since=9, rejects=COUNT)
case("rank3_before_7", X=ramp(2, 3, 4), height_scale=2.0, width_scale=3.0, rejects=FOUR_D)
case("rank5_before_7", X=ramp(1, 2, 3, 4, 5), height_scale=2.0, width_scale=3.0, rejects=FOUR_D)
case("mode_unknown", X=ramp(2, 3), scales=[2.0, 3.0], mode="cubic", rejects=MODES)
case("mode_bilinear", Tag.CHANGE, X=ramp(2, 3), scales=[2.0, 3.0], mode="bilinear", unspecified=MODES)
case(
    "mode_linear_before_7",
    Tag.CHANGE,
    X=IMAGE,
    height_scale=2.0,
    width_scale=3.0,
    mode="linear",
    rejects=MODES_OF_IMAGES,
)
case("mode_unknown_before_7", X=IMAGE, height_scale=2.0, width_scale=3.0, mode="cubic", rejects=MODES_OF_IMAGES)

case("extremes_before_9", Tag.DTYPE, Tag.EDGE, each="T", X=extremes(3, 4), scales=[2.0, 3.0], before=9, cites=ALL_TYPES)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", X=extremes(3, 4), scales=[2.0, 3.0], cites=X_TYPES)
case("outside_before_7", Tag.DTYPE, outside="T", X=IMAGE, height_scale=2.0, width_scale=3.0, rejects=FEW_TYPES)
for type_ in ("float16", "double"):
    hard = typed(type_, np.full((3, 2), 7))
    case(f"linear_equal_{type_}", Tag.DTYPE, X=hard, scales=[1.5, 2.75], mode="linear", cites=MODES)
for type_ in ("int32", "uint8"):
    hard, whole, none = typed(type_, np.full((3, 2), 7)), typed(type_, ramp(3, 2)), typed(type_, ramp(0, 2))
    case(f"linear_equal_{type_}", Tag.DTYPE, X=hard, scales=[1.5, 2.75], mode="linear", unspecified=MODES)
    case(f"nearest_equal_{type_}", Tag.DTYPE, X=hard, scales=[1.5, 2.75], mode="nearest", cites=MODES)
    case(f"linear_unscaled_{type_}", Tag.DTYPE, X=whole, scales=[1.0, 1.0], mode="linear", cites=MODES)
    case(f"linear_to_nothing_{type_}", Tag.EDGE, X=none, scales=[1.5, 2.0], mode="linear", cites=MODES)
for type_ in ("string", "bool"):
    odd = typed(type_, ramp(2, 3))
    case(f"linear_{type_}", Tag.DTYPE, X=odd, scales=[1.0, 2.0], mode="linear", unspecified=MODES)
    case(f"linear_unscaled_{type_}", Tag.DTYPE, X=odd, scales=[1.0, 1.0], mode="linear", unspecified=MODES)
