# SPDX-License-Identifier: Apache-2.0
"""Conv: sums of the products of each window of the input with each of some filters.

    Y = Conv(X, W, B=None, group=1, kernel_shape=..., strides=..., dilations=..., pads=..., auto_pad="NOTSET")

Versions: 1 (SAME is defined for strides of 1), 11 (SAME with strides, M a multiple of the groups), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, PartlyOpen, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import BEYOND_FLOAT16, but_where, largest, overflows, roundings
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._filters import check, filter_cases, filters, products, with_bias
from onnx_conformance.operators.nn._sizes import FILTERED, SAME_SIZES, filtered, with_same
from onnx_conformance.operators.nn._windows import SAME, Windows, lay, layouts, sentences


def _magnitudes(windows: Windows, X: Array, W: Array, B: Array | None, group: int) -> Array:
    """Return the sums of the absolute terms."""
    return with_bias(products(windows, np.abs(X), np.abs(W), group), None if B is None else np.abs(B))


def _largest_magnitude(X: Array, W: Array, B: Array | None) -> float:
    """Return a number that no sum of absolute terms exceeds; it may be NaN."""
    of_filters = np.abs(W).sum(tuple(range(1, W.ndim)))
    of_bias = 0 if B is None else np.max(np.abs(B), initial=0)
    return float(np.max(np.abs(X), initial=0) * np.max(of_filters, initial=0) + of_bias)


def _rounding(
    X: Array,
    W: Array,
    B: Array | None,
    group: int,
    kernel_shape: Ints,  # noqa: ARG001 - the shape of W contains it
    **attributes: Any,  # noqa: ANN401 - see `lay`
) -> list[Array]:
    """Return half a rounding of all magnitudes for each product, each sum and the bias."""
    windows = lay(Version(CONV.versions[-1]), WINDOWS, X.shape[2:], W.shape[2:], **attributes)
    with np.errstate(all="ignore"):
        return [_magnitudes(windows, X, W, B, group) * roundings(W[0:1].size + 2) / 2]


CONV = Op(
    "Conv",
    versions=(1, 11, 22),
    compare=bounded(_rounding, "each product and each sum, in any order, rounds by half an epsilon of all magnitudes"),
    rank="X",
)
CONV.example(
    X=waves(2, 4, 5, 6),
    W=waves(6, 2, 2, 3),
    B=waves(6),
    group=2,
    kernel_shape=[2, 3],
    strides=[2, 1],
    dilations=[1, 2],
    pads=[0, 1, 2, 1],
)

CONVOLUTION = CONV.clause(
    "The convolution operator consumes an input tensor and a filter, and computes the output.",
    note="The official cases show that the filter is not flipped; the text does not define this. It does not define "
    "the product of a weight that is not finite and a pixel of the padding.",
    see=("https://github.com/onnx/onnx/issues/1886",),
)
DIMENSIONS = CONV.clause(
    "The output dimensions are functions of the kernel size, stride size, and pad lengths.",
    note="The text has no formula. The number of windows is the number that fits. An input in which no window fits is "
    "left open.",
)
WEIGHTS = CONV.clause("has size (M x C/group x kH x kW)")
MORE = CONV.clause("For more than 2 dimensions, the kernel shape will be (M x C/group x k1 x k2 x ... x kn)")
CHANNELS = CONV.clause(
    "X.shape[1] == (W.shape[1] * group) == C and W.shape[0] mod G == 0. Or in other words FILTER_IN_CHANNEL "
    "multiplied by the number of groups should be equal to DATA_CHANNEL and"
).reworded(
    before=11,
    text="X.shape[1] == (W.shape[1] * group) == C (assuming zero based indices for the shape array). Or in other words "
    "FILTER_IN_CHANNEL should be equal to DATA_CHANNEL.",
    note='The "other words" are true only for one group; the formula decides.',
)
MULTIPLE = CONV.clause("the number of feature maps M should be a multiple of the number of groups G.", since=11)
SAME_SHAPE = CONV.clause(
    "SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] / strides[i])` for "
    "each axis `i`.",
    since=11,
    see=("https://github.com/onnx/onnx/issues/3153", "https://github.com/onnx/onnx/pull/3188"),
)
STRIDE_DEFAULT = CONV.clause("If not present, the stride defaults is 1 along each spatial axis.", since=11)
DILATION_DEFAULT = CONV.clause("If not present, the dilation defaults is 1 along each spatial axis.", since=11)
FILTERS = filters(CONV, weights=WEIGHTS, dilation_default=DILATION_DEFAULT)
WINDOWS = sentences(
    CONV,
    dimensions=DIMENSIONS,
    rounded=DIMENSIONS,
    dilation=FILTERS.dilation,
    same=SAME_SHAPE,
    stride_default=STRIDE_DEFAULT,
)


@CONV.oracle()
def convolved(
    v: Version,
    *,
    X: Array,
    W: Array,
    B: Array | None,
    group: int,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
) -> Array | PartlyOpen:
    """Return the sums of the products of each window with each filter, and the bias."""
    check(v, FILTERS, X, W, group, kernel_shape)
    v.require(CHANNELS, X.shape[1] == W.shape[1] * group)
    v.require(MULTIPLE, W.shape[0] % group == 0)
    v.require(FILTERS.bias, B is None or B.shape == W.shape[:1])
    windows = lay(v, WINDOWS, X.shape[2:], W.shape[2:], strides, dilations, pads, auto_pad)
    v.permit(SAME_SHAPE, auto_pad in SAME and max(windows.strides) > 1)
    v.silent(DIMENSIONS, min(windows.counts) < 1)
    v.silent(CONVOLUTION, not (windows.inside().all() or np.isfinite(W).all()))
    with np.errstate(all="ignore"):
        total = with_bias(products(windows, X, W, group), B)
        if _largest_magnitude(X, W, B) <= largest(v.dtypes["T"]):  # No sum of some of the terms overflows.
            return but_where(np.zeros(total.shape, bool), total)
        magnitudes = _magnitudes(windows, X, W, B, group)
    return but_where(overflows(total, magnitudes, v.dtypes["T"]), total)


case = CONV.case
LINE = [[[1, 2, 4, 8]]]

case("batch", X=waves(2, 3, 4, 5), W=waves(5, 3, 3, 2), cites=(CONVOLUTION, DIMENSIONS, WEIGHTS))
case("not_turned", X=LINE, W=[[[1, 10]]], cites=CONVOLUTION)
case("not_turned_plane", X=ramp(1, 1, 3, 4), W=[[[[1, 10, 100], [1000, 0, 5]]]], cites=CONVOLUTION)
case(
    "bias_every_attribute",
    X=waves(1, 2, 4, 5),
    W=waves(3, 2, 2, 3),
    B=[1, -2, 0.3],
    kernel_shape=[2, 3],
    strides=[1, 2],
    dilations=[2, 1],
    group=1,
    pads=[0, 1, 2, 1],
    auto_pad="NOTSET",
    cites=(FILTERS.bias, FILTERS.kernel, FILTERS.groups),
)
case(
    "line_every_attribute",
    X=waves(1, 2, 7),
    W=waves(3, 2, 2),
    B=[1, -2, 0.3],
    kernel_shape=[2],
    strides=[2],
    dilations=[3],
    group=1,
    pads=[1, 2],
    auto_pad="NOTSET",
    cites=(FILTERS.bias, FILTERS.kernel, FILTERS.groups),
)
for layout in layouts(WINDOWS.renewed):
    case(
        layout.name,
        X=waves(1, 2, *layout.sizes),
        W=waves(3, 2, *layout.kernel),
        **layout.attributes,
        cites=WINDOWS.named(*layout.cites) or MORE,
    )
case("same_upper_steps_over", X=waves(1, 2, 5), W=waves(3, 2, 1), strides=[3], auto_pad="SAME_UPPER", cites=SAME_SHAPE)
case("group_two", X=waves(1, 4, 3), W=waves(6, 2, 2), group=2, cites=(FILTERS.groups, FILTERS.data))
case("group_two_before_11", X=waves(1, 4, 3), W=waves(6, 2, 2), group=2, before=11, cites=CHANNELS)
case("group_three", X=waves(2, 6, 4), W=waves(3, 2, 3), group=3, B=[1, 2, 3], cites=(CHANNELS, MULTIPLE))
case("group_each_channel", X=waves(1, 3, 4, 5), W=waves(3, 1, 2, 3), group=3, pads=[1, 0, 0, 1], cites=FILTERS.groups)
case("group_each_channel_twice", X=waves(2, 3, 4), W=waves(6, 1, 2), group=3, pads=[1, 0], cites=FILTERS.groups)
case("no_maps", Tag.EDGE, X=ramp(1, 2, 4), W=ramp(0, 2, 3), cites=WEIGHTS)
case("no_channels", Tag.EDGE, X=ramp(1, 0, 4), W=ramp(3, 0, 2), B=[1, 2, 3], cites=FILTERS.bias)
case("no_pixels_but_padding", Tag.EDGE, X=ramp(1, 2, 0), W=waves(3, 2, 2), pads=[1, 2], cites=WINDOWS.pixels)
case("padding_alone", Tag.EDGE, X=waves(1, 1, 2), W=waves(1, 1, 2), pads=[3, 4], B=[0.5], cites=WINDOWS.pixels)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3, 4]]], W=[[[1, 2]]], pads=[1, 1], cites=CONVOLUTION)
case("infinities", Tag.EDGE, X=[[[1, np.inf, 2, -np.inf, 4]]], W=[[[1, 0, 2]]], cites=CONVOLUTION)
case("infinite_weight", Tag.EDGE, X=[[[1, 2, -3, 4]]], W=[[[1, np.inf]]], cites=CONVOLUTION)
case("infinite_weight_padded", Tag.EDGE, X=LINE, W=[[[1, np.inf]]], pads=[1, 0], unspecified=CONVOLUTION)
INFINITE: dict[str, Any] = {"X": [[[1, 2, 4]]], "W": [[[1, np.inf]]]}
case("infinite_weight_padded_after", Tag.EDGE, **INFINITE, pads=[0, 1], unspecified=CONVOLUTION)
case("infinite_weight_padded_one_window", Tag.EDGE, **INFINITE, pads=[1, 0], strides=[3], unspecified=CONVOLUTION)
case("long", X=np.cos(np.arange(240.0)).reshape(1, 3, 80), W=waves(2, 3, 75), cites=CONVOLUTION)
MANY = typed("float16", np.abs(waves(1, 32, 5, 4)) * [[1], [1], [2], [2], [4]])
FOR_MANY = typed("float16", np.abs(waves(2, 32, 4, 4)) / [[[[4]]], [[[8]]]])
case("many_terms_float16", Tag.EDGE, X=MANY, W=FOR_MANY, cites=CONVOLUTION)
TERMS_BEYOND, ADDED = typed("float16", BEYOND_FLOAT16[:, None]), typed("float16", np.ones((1, 1, 5)))
case("partial_sums_beyond_float16", Tag.EDGE, X=TERMS_BEYOND, W=ADDED, cites=CONVOLUTION)
BIASED: dict[str, Any] = {
    "X": typed("float16", [[[40000, -20000, 10000]]]),
    "W": typed("float16", [[[1, 1]], [[2, 2]]]),
}
case("partial_sums_beyond_float16_by_bias", **BIASED, B=typed("float16", [30000, 1]), cites=FILTERS.bias)
UP_AND_DOWN: dict[str, Any] = {"X": typed("float16", [[[30000, -30000]]]), "W": typed("float16", np.ones((2, 1, 2)))}
OF_CHANNELS: dict[str, Any] = {
    "X": typed("float16", [[[60000], [30000], [-60000]]]),
    "W": typed("float16", np.ones((1, 3, 1))),
}
OF_PRODUCTS: dict[str, Any] = {"X": typed("float16", [[[300, -300]]]), "W": typed("float16", [[[300, 300]]])}
case("bias_beyond_float16", Tag.EDGE, **UP_AND_DOWN, B=typed("float16", [40000, 1]), cites=FILTERS.bias)
case("sums_of_channels_beyond_float16", Tag.EDGE, **OF_CHANNELS, cites=CONVOLUTION)
case("products_beyond_float16", Tag.EDGE, **OF_PRODUCTS, cites=CONVOLUTION)

case("channels_too_few", X=waves(1, 3, 4), W=waves(3, 2, 2), rejects=CHANNELS)
case("channels_of_all_groups", X=waves(1, 4, 3), W=waves(6, 4, 2), group=2, rejects=CHANNELS)
case("maps_no_multiple", X=waves(1, 4, 3), W=waves(3, 2, 2), group=2, rejects=MULTIPLE)
case("maps_no_multiple_before_11", X=waves(1, 4, 3), W=waves(3, 2, 2), group=2, before=11, unspecified=MULTIPLE)
case("kernel_beyond_input", Tag.EDGE, X=waves(1, 2, 3), W=waves(3, 2, 4), unspecified=DIMENSIONS)
case("kernel_beyond_height", Tag.EDGE, X=waves(1, 2, 3, 5), W=waves(3, 2, 4, 2), unspecified=DIMENSIONS)
case("kernel_dilated_beyond_input", X=waves(1, 2, 3), W=waves(3, 2, 2), dilations=[3], unspecified=DIMENSIONS)
case("no_pixels", Tag.EDGE, X=ramp(1, 2, 0), W=waves(3, 2, 1), unspecified=DIMENSIONS)
for mode, stride in (("SAME_UPPER", 3), ("SAME_LOWER", 1)):
    case(
        f"{mode.lower()}_strides_before_11",
        X=waves(1, 2, 4, 5),
        W=waves(3, 2, 2, 3),
        auto_pad=mode,
        strides=[2, stride],
        before=11,
        unspecified=SAME_SHAPE,
    )
filter_cases(CONV, FILTERS, WINDOWS, waves(3, 2, 2, 3))

for name, (data, weights, sizes) in FILTERED.items():
    CONV.sized(name, sizes, each="T", cites=(CONVOLUTION, DIMENSIONS), arguments=filtered(data, weights))
    if name in ("plane", "depthwise"):
        biased = {**filtered(data, weights), "B": filled("m")}
        CONV.sized(f"{name}_bias", sizes[1::5], each="T", cites=(CONVOLUTION, FILTERS.bias), arguments=biased)
data, weights, _ = FILTERED["plane"]
for mode in SAME:
    padded = with_same(filtered(data, weights), mode)
    CONV.sized(mode.lower(), SAME_SIZES, each="T", cites=(CONVOLUTION, SAME_SHAPE), arguments=padded)
