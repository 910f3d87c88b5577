# SPDX-License-Identifier: Apache-2.0
"""DeformConv: a convolution whose filters sample the input at positions with an offset.

    Y = DeformConv(X, W, offset, B=None, mask=None, group=1, offset_group=1, kernel_shape=..., strides=...,
                   dilations=..., pads=...)

Versions: 19, 22 (bfloat16).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, PartlyOpen, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._sizes import placed

if TYPE_CHECKING:
    from onnx_conformance.declare import Clause
    from onnx_conformance.declare.sizes import Sizes

PLANE = 2
EXACT_QUARTERS = 32
"""Below this limit, bfloat16 represents quarters."""


def _rounding(
    X: Array,
    W: Array,
    offset: Array,
    B: Array | None,
    mask: Array | None,
    group: int,
    offset_group: int,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    **_: object,
) -> list[Array]:
    """Return the errors of positions (which move samples along their slope), interpolation, products and sums.

    Positions at quarters of pixels have no error: every type represents them.
    """
    axes = X.ndim - 2
    layout = _layout(X.shape, W.shape, group, offset_group, strides, dilations, pads)
    wide = np.abs(X.astype(np.float64)), np.abs(W.astype(np.float64))
    factors = None if mask is None else np.abs(mask.astype(np.float64))
    magnitudes = _sums(layout, wide[0], wide[1], offset, factors)[0]
    places = np.abs(offset.astype(np.float64)).max(initial=0) + max(X.shape[2:], default=0) + 2
    moved = wide[1].sum(tuple(range(1, W.ndim))) * wide[0].max(initial=0)
    moved = moved * (1 if factors is None else factors.max(initial=0))
    slopes = moved.reshape(-1, *[1] * axes) * 2 * axes * places
    quarters = offset.astype(np.float64) * 4
    if (quarters == np.round(quarters)).all() and places < EXACT_QUARTERS:
        slopes = np.zeros_like(slopes)
    bias = 0 if B is None else np.abs(B.astype(np.float64)).reshape(-1, *[1] * axes)
    terms = math.prod(W.shape[1:])
    # The bias may be the first summand, so every addition may round it.
    of_sums = magnitudes * (roundings(terms) / 2 + axes) + bias * (roundings(terms) / 2 + 1)
    return [np.asarray(of_sums + slopes)]


class _Layout(NamedTuple):
    """The positions at which a convolution samples its input.

    Attributes:
        pads: pixels before and after each axis.
        steps: steps from one position of the kernel to the next, by axis.
        spreads: steps from one element of the kernel to the next, by axis.
        shape: number of positions of the kernel, by axis.
        inputs: number of channels of each group.
        filters: number of filters of each group.
        sharing: number of channels that share their offsets.
    """

    pads: list[tuple[int, int]]
    steps: list[int]
    spreads: list[int]
    shape: list[int]
    inputs: int
    filters: int
    sharing: int


def _layout(
    x: tuple[int, ...], w: tuple[int, ...], group: int, offset_group: int, strides: Ints, dilations: Ints, pads: Ints
) -> _Layout:
    """Return the layout for an input and filters of these shapes."""
    axes = len(x) - 2
    steps, spreads, around = list(strides or [1] * axes), list(dilations or [1] * axes), list(pads or [0] * 2 * axes)
    beside = list(zip(around[:axes], around[axes:], strict=True))
    spans = [rate * (size - 1) + 1 for rate, size in zip(spreads, w[2:], strict=True)]
    padded = [size + sum(pixels) for size, pixels in zip(x[2:], beside, strict=True)]
    shape = [(size - span) // by + 1 for size, span, by in zip(padded, spans, steps, strict=True)]
    return _Layout(beside, steps, spreads, shape, x[1] // group, w[0] // group, x[1] // offset_group)


DEFORM = Op(
    "DeformConv",
    versions=(19, 22),
    compare=bounded(_rounding, "positions, weights of the interpolation, products and sums round by an epsilon each"),
    rank="X",
)
DEFORM.example(
    X=1 + np.arange(80).reshape(1, 4, 4, 5) % 5,
    W=(1 + np.arange(16).reshape(2, 2, 2, 2) % 3) / 2,
    offset=np.round(waves(1, 16, 3, 4)) / 2,
    B=[0.5, 2.0],
    mask=1 + np.arange(96).reshape(1, 8, 3, 4) % 3 / 2,
    group=2,
    offset_group=2,
    kernel_shape=[2, 2],
    strides=[1, 1],
    dilations=[1, 1],
    pads=[0, 0, 0, 0],
)

DEFORMABLE = DEFORM.clause(
    "Performs deformable convolution as described in https://arxiv.org/abs/1703.06211 and "
    "https://arxiv.org/abs/1811.11168.",
    note="The offset is added to the position of a filter's element, and the mask multiplies the sampled value.",
)
GENERAL = DEFORM.clause("This operator specification supports the general N-D case.")
PADS_DEFAULT = DEFORM.clause("Default is 0 along each axis.")
STRIDES = DEFORM.clause("Stride along each spatial axis. Default is 1 along each axis.")
PADS = DEFORM.clause("Padding for the beginning and end along each spatial axis.")
PADS_FORMAT = DEFORM.clause(
    "The format should be as follows: [x1_begin, x2_begin, ..., x1_end, x2_end, ...], where xi_begin is the number of "
    "pixels added at the beginning of axis `i` and xi_end is the number of pixels added at the end of axis `i`."
)
OFFSET_GROUP = DEFORM.clause("Number of groups of offset. C must be divisible by offset_group. Default is 1.")
KERNEL = DEFORM.clause(
    "Shape of the convolution kernel. If not present, it is inferred from the shape of input W.",
    note="The text does not define a shape other than that of W.",
)
GROUP = DEFORM.clause(
    "Number of groups the input and output channels, C and oC, are divided into. C and oC must both be divisible by "
    "group. Default is 1."
)
DILATIONS = DEFORM.clause("Dilation value along each spatial axis of the kernel. Default is 1 along each axis.")
INPUT = DEFORM.clause("For 2D image data, it has shape (N, C, H, W)")
WEIGHTS = DEFORM.clause("It has shape (oC, C/group, kH, kW), where oC is the number of output channels")
OFFSETS = DEFORM.clause(
    "It has shape (N, offset_group * kH * kW * 2, oH, oW) for 2D data or (N, offset_group * k1 * k2 * ... * kn * n, "
    "o1, o2, ... , on) for nD data.",
    note="Therefore the offsets of all axes, in the order of the axes, are adjacent for each element of the kernel.",
)
LINEAR = DEFORM.clause("Use linear interpolationfor fractional offset values.")
OUTSIDE = DEFORM.clause(
    "Sampling locations outside of the padded input tensor gives zero.",
    note="The text does not define a location less than one pixel outside the outermost pixels: it could be outside, "
    "or interpolated between these pixels and zeros.",
)
BIAS = DEFORM.clause("Optional 1D bias of length oC to be added to the convolution. Default is a tensor of zeros.")
MASK = DEFORM.clause(
    "It has shape (N, offset_group * kH * kW, oH, oW) for 2D data or (N, offset_group * k1 * k2 * ... * kn * n, o1, "
    "o2, ... , on) for nD data. Default is a tensor of ones.",
    note="For three axes the two shapes contradict each other: each position has one factor, or one factor for each "
    "axis.",
    contradicts="It has shape (N, offset_group * kH * kW, oH, oW) for 2D data",
)
OUTPUT = DEFORM.clause("It has shape (N, oC, oH, oW) for 2D data")


def _samples(channel: Array, places: list[Array]) -> tuple[Array, Array]:
    """Return the interpolated elements of a padded channel, and which of them depend on positions outside.

    Args:
        channel: the elements of the channel.
        places: for each axis, the positions of all samples.
    """
    result = np.zeros(places[0].shape)
    for sides in itertools.product((0, 1), repeat=len(places)):
        corner = [np.floor(x).astype(np.int64) + side for x, side in zip(places, sides, strict=True)]
        inside = np.ones(result.shape, bool)
        for index, size in zip(corner, channel.shape, strict=True):
            inside &= (index >= 0) & (index < size)
        weight = np.prod([1 - np.abs(x - index) for x, index in zip(places, corner, strict=True)], axis=0)
        element = channel[tuple(np.where(inside, index, 0) for index in corner)]
        result += np.where(inside, weight * element, 0)
    outside = [(x < 0) | (x > size - 1) for x, size in zip(places, channel.shape, strict=True)]
    return result, (result != 0) & np.any(outside, axis=0)


def _sums(layout: _Layout, X: Array, W: Array, offset: Array, mask: Array | None) -> tuple[Array, Array]:
    """Return the sums of products, and which of them depend on positions outside."""
    kernel, shape = W.shape[2:], layout.shape
    count, groups = math.prod(kernel), X.shape[1] // layout.sharing
    padded = np.pad(X.astype(np.float64), [(0, 0), (0, 0), *layout.pads])
    moves = offset.astype(np.float64).reshape(len(X), groups, count, len(shape), *shape)
    factors = np.ones((len(X), groups, count, *shape)) if mask is None else mask.reshape(len(X), groups, count, *shape)
    output, is_open = np.zeros((len(X), len(W), *shape)), np.zeros((len(X), len(W), *shape), bool)
    windows = [at * by for at, by in zip(np.indices(shape), layout.steps, strict=True)]
    for n, channel in itertools.product(range(len(X)), range(X.shape[1])):
        own, of_group = channel // layout.sharing, channel // layout.inputs
        filters = slice(of_group * layout.filters, (of_group + 1) * layout.filters)
        for element, within in enumerate(np.ndindex(*kernel)):
            usual = [at + k * rate for at, k, rate in zip(windows, within, layout.spreads, strict=True)]
            places = [a + moves[n, own, element, axis] for axis, a in enumerate(usual)]
            values, unsure = _samples(padded[n, channel], places)
            weights = W[(filters, channel % layout.inputs, *within)].reshape(-1, *[1] * len(shape))
            output[n, filters] += weights * values * factors[n, own, element]
            is_open[n, filters] |= unsure
    return output, is_open


@DEFORM.oracle()
def deformed(
    v: Version,
    X: Array,
    W: Array,
    offset: Array,
    B: Array | None,
    mask: Array | None,
    group: int,
    offset_group: int,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
) -> Array | PartlyOpen:
    """Return the sums of the products of each filter with samples at the positions of its elements plus offsets."""
    axes = X.ndim - 2
    kernel, channels = W.shape[2:], X.shape[1]
    v.silent(GENERAL, axes < 1)
    v.require(GROUP, group > 0 and channels % group == 0 and len(W) % group == 0)
    v.require(OFFSET_GROUP, offset_group > 0 and channels % offset_group == 0)
    v.require(WEIGHTS, W.ndim == X.ndim and W.shape[1] * group == channels)
    v.silent(KERNEL, kernel_shape is not None and tuple(kernel_shape) != kernel)
    v.require(STRIDES, strides is None or len(strides) == axes)
    v.require(DILATIONS, dilations is None or len(dilations) == axes)
    v.require(PADS_FORMAT, pads is None or len(pads) == 2 * axes)
    layout = _layout(X.shape, W.shape, group, offset_group, strides, dilations, pads)
    count = math.prod(kernel)
    v.require(OFFSETS, offset.shape == (len(X), offset_group * count * axes, *layout.shape))
    v.silent(MASK, mask is not None and axes > PLANE)
    v.require(MASK, mask is None or mask.shape == (len(X), offset_group * count, *layout.shape))
    v.require(BIAS, B is None or B.shape == (len(W),))
    v.silent(LINEAR, not bool(np.isfinite(offset).all() and np.isfinite(X).all()))
    output, is_open = _sums(layout, X, W, offset, mask)
    if B is not None:
        output = output + B.reshape(-1, *[1] * axes)
    return PartlyOpen(output, is_open) if is_open.any() else output


case = DEFORM.case
X, W = waves(2, 4, 5, 6), waves(3, 4, 2, 3)
STILL = np.zeros((2, 12, 4, 4))
SHIFTS = np.round(np.sin(np.arange(384.0) * 1.3).reshape(2, 12, 4, 4) * 1.5) / 2
"""Halves and whole numbers, of both signs."""
INSIDE: dict[str, Any] = {"X": X, "W": W, "pads": [2, 2, 2, 2], "offset": np.resize(SHIFTS, (2, 12, 8, 8))}

case("no_offset", X=X, W=W, offset=STILL, cites=(DEFORMABLE, INPUT, WEIGHTS, OFFSETS, OUTPUT, PADS_DEFAULT))
case("halves", **INSIDE, cites=(LINEAR, PADS, OFFSETS))
rows, columns = STILL.copy(), STILL.copy()
rows[:, 0::2, :2] = 1
columns[:, 1::2, :, :2] = 1
case("one_row_on", X=X, W=W, offset=rows, cites=OFFSETS)
case("one_column_on", X=X, W=W, offset=columns, cites=OFFSETS)
first = STILL.copy()
first[:, 0, :2], first[:, 3, :, :2] = 1, 1
case("of_one_element", X=X, W=W, offset=first, cites=OFFSETS)
case("quarters", **{**INSIDE, "offset": INSIDE["offset"] / 2}, cites=LINEAR)
case("far_outside", Tag.EDGE, X=X, W=W, offset=STILL + 100, cites=OUTSIDE)
case("far_outside_with_bias", Tag.EDGE, X=X, W=W, offset=STILL - 50, B=[1.0, -2.0, 0.5], cites=(OUTSIDE, BIAS))
case("just_outside", Tag.EDGE, X=X, W=W, offset=STILL - 6, cites=OUTSIDE)
case("beside_the_border", Tag.EDGE, X=X, W=W, offset=STILL - 0.5, cites=OUTSIDE)
case("bias", X=X, W=W, offset=STILL, B=[1.0, -2.0, 0.5], cites=BIAS)
MASKS = np.resize([1, 0.5, 0, 2, -1, 0.25, 1.5], (2, 6, 4, 4))
case("mask", X=X, W=W, offset=STILL, mask=MASKS, cites=(MASK, DEFORMABLE))
case("mask_zero", Tag.EDGE, X=X, W=W, offset=STILL, mask=np.zeros((2, 6, 4, 4)), cites=MASK)
case("mask_and_bias", X=X, W=W, offset=rows, mask=MASKS, B=[1.0, -2.0, 0.5], cites=(MASK, BIAS))
case("mask_ones", X=X, W=W, offset=rows, mask=np.ones((2, 6, 4, 4)), cites=MASK)
case("strides", X=X, W=W, offset=np.zeros((2, 12, 2, 2)), strides=[3, 2], cites=STRIDES)
case("dilations", X=X, W=W, offset=np.zeros((2, 12, 3, 2)), dilations=[2, 2], cites=DILATIONS)
case("pads", X=X, W=W, offset=np.zeros((2, 12, 7, 7)), pads=[1, 3, 2, 0], cites=(PADS, PADS_FORMAT))
case("kernel_shape", X=X, W=W, offset=rows, kernel_shape=[2, 3], cites=KERNEL)
TWO_GROUPS: dict[str, Any] = {"X": X, "W": waves(6, 2, 2, 3), "group": 2}
case("groups", **TWO_GROUPS, offset=rows, cites=GROUP)
two_offsets = np.zeros((2, 24, 4, 4))
two_offsets[:, 12::2, :2] = 1
two_offsets[:, 1:12:2, :, :2] = 1
case("offset_groups", X=X, W=W, offset=two_offsets, offset_group=2, cites=OFFSET_GROUP)
case(
    "offset_groups_mask",
    X=X,
    W=W,
    offset=two_offsets,
    offset_group=2,
    mask=np.resize(MASKS, (2, 12, 4, 4)),
    cites=(OFFSET_GROUP, MASK),
)
case("both_groups", **TWO_GROUPS, offset=two_offsets, offset_group=2, cites=(GROUP, OFFSET_GROUP))
four_offsets = np.zeros((2, 48, 4, 4))
four_offsets[:, 24:36:2, :2] = 1
case("four_offset_groups", X=X, W=W, offset=four_offsets, offset_group=4, cites=OFFSET_GROUP)
case("by_channel", X=X, W=waves(4, 1, 2, 3), group=4, offset=rows, cites=GROUP)
case("one_axis", X=waves(1, 2, 7), W=waves(3, 2, 3), offset=np.round(waves(1, 3, 7)) / 2, pads=[1, 1], cites=GENERAL)
case(
    "one_axis_mask",
    X=waves(1, 2, 7),
    W=waves(3, 2, 3),
    offset=np.zeros((1, 3, 5)),
    mask=waves(1, 3, 5),
    cites=(GENERAL, MASK),
)
volume: dict[str, Any] = {"X": waves(1, 2, 3, 4, 3), "W": waves(2, 2, 2, 2, 1)}
shift = np.zeros((1, 12, 2, 3, 3))
shift[:, 1::3, :, :2] = 1
case("three_axes", **volume, offset=shift, cites=(GENERAL, OFFSETS))
case("three_axes_mask", Tag.EDGE, **volume, offset=shift, mask=np.ones((1, 4, 2, 3, 3)), unspecified=MASK)
case("one_by_one", X=X, W=waves(3, 4, 1, 1), offset=np.zeros((2, 2, 5, 6)), cites=WEIGHTS)
case("no_images", Tag.EDGE, X=ramp(0, 4, 5, 6), W=W, offset=ramp(0, 12, 4, 4), cites=OUTPUT)
FEW = 1 + np.arange(30).reshape(1, 1, 5, 6) % 7
"""Positive numbers. A filter of two elements makes sums that 16 bits represent almost exactly."""
for type_, since in float_types(22).items():
    call: dict[str, Any] = {"X": typed(type_, FEW), "W": typed(type_, [[[[0.75, 1.25]]]])}
    two = np.round(np.sin(np.arange(100.0)).reshape(1, 4, 5, 5)) / 2
    masks = typed(type_, np.resize([1, 0.5, 2], (1, 2, 5, 5)))
    case(f"type_{type_}", Tag.DTYPE, **call, offset=typed(type_, two), since=since, cites=DEFORMABLE)
    case(f"type_{type_}_mask", Tag.DTYPE, **call, offset=typed(type_, two * 0), mask=masks, since=since, cites=MASK)
OTHERS: dict[str, tuple[dict[str, Any], Clause]] = {
    "channels_not_of_groups": ({"group": 3}, GROUP),
    "filters_not_of_groups": ({"W": waves(3, 2, 2, 3), "group": 2}, GROUP),
    "no_groups": ({"group": 0}, GROUP),
    "no_offset_groups": ({"offset_group": 0}, OFFSET_GROUP),
    "channels_not_of_offset_groups": ({"offset_group": 3}, OFFSET_GROUP),
    "weights_of_other_channels": ({"W": waves(3, 3, 2, 3)}, WEIGHTS),
    "weights_of_other_rank": ({"W": waves(3, 4, 2)}, WEIGHTS),
    "one_stride": ({"strides": [1]}, STRIDES),
    "one_dilation": ({"dilations": [1]}, DILATIONS),
    "two_pads": ({"pads": [0, 0]}, PADS_FORMAT),
    "bias_of_one": ({"B": [1.0]}, BIAS),
    "bias_of_rank_2": ({"B": [[1.0, 2.0, 3.0]]}, BIAS),
    "mask_of_one": ({"mask": np.ones((2, 1, 4, 4))}, MASK),
    "mask_as_offset": ({"mask": np.ones((2, 12, 4, 4))}, MASK),
}
for name, (changed, clause) in OTHERS.items():
    case(name, Tag.EDGE, **{"X": X, "W": W, "offset": STILL, **changed}, rejects=clause)
case(
    "offset",
    Tag.EDGE,
    X=X,
    W=W,
    offset=vary(channels=np.zeros((2, 6, 4, 4)), rows=np.zeros((2, 12, 5, 4))),
    rejects=OFFSETS,
)
case("kernel_shape_other", Tag.EDGE, X=X, W=W, offset=STILL, kernel_shape=[3, 3], unspecified=KERNEL)
case("offset_nan", Tag.EDGE, X=X, W=W, offset=STILL * np.nan, unspecified=LINEAR)
case("no_axes", Tag.EDGE, X=ramp(2, 4), W=ramp(3, 4), offset=ramp(2, 0), unspecified=GENERAL)


def with_counts(sizes: dict[str, int]) -> dict[str, int]:
    """Return the sizes with the numbers of offsets and of factors of each position, and of positions on an axis."""
    span = sizes.get("dilation", 1) * (sizes["k"] - 1) + 1
    positions = (sizes["h"] + sizes["before"] + sizes["after"] - span) // sizes.get("stride", 1) + 1
    factors = sizes.get("sharing", 1) * sizes["k"] ** 2
    return {**sizes, "offsets": 2 * factors, "factors": factors, "positions": positions}


def quarters(sizes: Sizes) -> Array:
    """Return offsets from -1.5 to 1.5 in steps of a quarter, which every type represents."""
    return np.round(waves(sizes["b"], sizes["offsets"], sizes["positions"], sizes["positions"]) * 2) / 4


DEFORMED: dict[str, list[dict[str, int]]] = {
    "kernels": grid(b=(1,), c=(2, 3), m=(4, 9), h=(7, 9), k=(1, 3), before=(1,), after=(1,)),
    "strides": grid(b=(2,), c=(2,), m=(3,), h=(14, 17), k=(3,), stride=(2,), before=(1,), after=(1,)),
    "dilations": grid(b=(1,), c=(2,), m=(3,), h=(7, 9), k=(3,), dilation=(2,), before=(2,), after=(2,)),
    "sharing": grid(b=(1,), c=(4,), m=(2,), h=(7, 9), k=(3,), sharing=(2, 4), before=(1,), after=(1,)),
    "patches": grid(b=(1,), c=(1,), m=(2,), h=(257,), k=(3,), stride=(32,), before=(1,), after=(1,)),
}
"""The sizes; `sharing` is offset_group, and further names are attributes, as for convolutions.

They are small, or have few positions, because `onnx.reference` takes 0.1 ms for each product of a channel, a filter, a
position and an element of the kernel."""
for name, sizes in DEFORMED.items():
    of_sizes: dict[str, Any] = {
        "X": filled("b", "c", "h", "h"),
        "W": filled("m", "c", "k", "k", floats=(-0.5, 0.5)),
        "offset": quarters,
        "B": filled("m"),
        "mask": filled("b", "factors", "positions", "positions", floats=(0, 1)),
        "offset_group": lambda sizes: sizes.get("sharing", 1),
        **placed(2),
    }
    counted = list(map(with_counts, sizes))
    DEFORM.sized(name, counted, each="T", cites=(DEFORMABLE, LINEAR, MASK), arguments=of_sizes)
    between = {**of_sizes, "offset": filled("b", "offsets", "positions", "positions", floats=(-1, 1))}
    DEFORM.sized(f"{name}_between", counted[::3], cites=(DEFORMABLE, LINEAR), arguments=between)
