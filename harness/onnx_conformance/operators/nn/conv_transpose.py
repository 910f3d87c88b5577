# SPDX-License-Identifier: Apache-2.0
"""ConvTranspose: every pixel of the input times each filter, added where the filters overlap.

    Y = ConvTranspose(X, W, B=None, group=1, kernel_shape=..., strides=..., dilations=..., pads=...,
                      output_padding=..., output_shape=..., auto_pad="NOTSET")

Versions: 1 (output_padding on one side or the other; no SAME with strides), 11 (output_padding at the end; an odd pixel
of padding at the beginning), 22 (bfloat16).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, Tag, Version, bounded, ramp, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._filters import check, filter_cases, filters, with_bias
from onnx_conformance.operators.nn._sizes import OVERLAPPED, filtered, with_same
from onnx_conformance.operators.nn._windows import SAME, Windows, halves, layouts, padding, sentences, spread


def _products(windows: Windows, X: Array, W: Array, group: int) -> Array:
    """Return the sums (N, M, *output sizes). Each group of channels has separate filters."""
    rank, channels = len(windows.sizes), X.shape[1] // group
    sums = []
    for index in range(group):
        own = slice(index * channels, (index + 1) * channels)
        products = np.tensordot(X[:, own], W[own], ([1], [0]))  # (N, *sizes, M/group, *kernel)
        sums.append(windows.overlapped(np.moveaxis(products, 1 + rank, 1)))
    return np.concatenate(sums, 1)


def _rounding(
    X: Array,
    W: Array,
    B: Array | None,
    group: int,
    kernel_shape: Ints,  # noqa: ARG001 - the shape of W contains it
    **attributes: Any,  # noqa: ANN401 - see `_laid`
) -> list[Array]:
    """Return half a rounding of all magnitudes for each product that can be added to a pixel, each sum and the bias."""
    windows = _laid(Version(CONV.versions[-1]), X.shape[2:], W.shape[2:], **attributes)
    # Version 1 splits padding in the opposite way, and the bound does not know the version.
    begins = (windows.begin, windows.begin if attributes["output_shape"] is None else windows.end)
    with np.errstate(all="ignore"):
        both = (_products(windows.moved(begin), np.abs(X), np.abs(W), group) for begin in begins)
        sums = np.maximum(*both)
        terms = X.shape[1] // group * math.prod(W.shape[2:])
        return [with_bias(sums, None if B is None else np.abs(B)) * (terms + 2) / 2]


CONV = Op(
    "ConvTranspose",
    versions=(1, 11, 22),
    compare=bounded(_rounding, "each product and each sum, in any order, rounds by half an epsilon of all magnitudes"),
    rank="X",
)
CONV.example(
    X=waves(2, 4, 3, 5),
    W=waves(4, 3, 2, 3),
    B=waves(6),
    group=2,
    kernel_shape=[2, 3],
    strides=[2, 3],
    dilations=[1, 2],
    pads=[0, 1, 1, 2],
    output_padding=[0, 0],
    output_shape=[5, 15],
)

TRANSPOSED = CONV.clause(
    "The convolution transpose operator consumes an input tensor and a filter, and computes the output.",
    note="The text does not define a convolution transpose. It is the transpose of the linear map of Conv with the "
    "same filter, strides, dilations and pads.",
    see=("https://github.com/onnx/onnx/issues/1886",),
)
SHAPE = CONV.clause(
    "If the pads parameter is provided the shape of the output is calculated via the following equation: "
    "output_shape[i] = stride[i] * (input_size[i] - 1) + output_padding[i] + ((kernel_shape[i] - 1) * dilations[i] + 1)"
    " - pads[start_i] - pads[end_i]",
    note="The text does not define an output with a negative size.",
)
TOTAL = CONV.clause(
    "output_shape can also be explicitly specified in which case pads values are auto generated using these equations: "
    "total_padding[i] = stride[i] * (input_size[i] - 1) + output_padding[i] + ((kernel_shape[i] - 1) * dilations[i] + 1"
    ") - output_shape[i]",
    note="The text does not define a total below 0, because pads are 0 or more (the official case has a total of -1 "
    "and expects a row and a column of zeros at the end). It does not define VALID together with output_shape. "
    "onnx.reference rejects most shapes.",
    against=("test_convtranspose_output_shape",),
    see=("https://github.com/onnx/onnx/issues/1772",),
)
HALVES_TURNED = CONV.clause(
    "If (auto_pads != SAME_UPPER): pads[start_i] = total_padding[i]/2; pads[end_i] = total_padding[i] - "
    "(total_padding[i]/2) Else: pads[start_i] = total_padding[i] - (total_padding[i]/2); pads[end_i] = "
    "(total_padding[i]/2).",
    before=11,
    note="This contradicts the sentence of auto_pad on odd numbers, which applies to padding without output_shape. "
    "onnxruntime splits as in version 11.",
    contradicts="In case of odd number add the extra padding at the end for SAME_UPPER and at the beginning for "
    "SAME_LOWER.",
    see=("https://github.com/onnx/onnx/issues/1609", "https://github.com/onnx/onnx/pull/3440"),
)
HALVES = CONV.clause(
    "If (auto_pads == SAME_UPPER): pads[start_i] = total_padding[i]/2; pads[end_i] = total_padding[i] - "
    "(total_padding[i]/2) Else: pads[start_i] = total_padding[i] - (total_padding[i]/2); pads[end_i] = "
    "(total_padding[i]/2).",
    since=11,
)
WEIGHTS = CONV.clause("has size (C x M/group x kH x kW)")
MAPS = CONV.clause("The number of channels in the output should be equal to W.shape[1] * group", result=True)
ONE_SIDE = CONV.clause(
    "The zero-padding added to one side of the output.", before=11, note="The text does not define the side."
)
HIGHER = CONV.clause(
    "Additional elements added to the side with higher coordinate indices in the output.",
    since=11,
    note="Their values are those that the filters contribute there. If no filter contributes, the value is the bias.",
    see=("https://github.com/onnx/onnx/issues/4299",),
)
LESS = CONV.clause(
    'Each padding value in "output_padding" must be less than the corresponding stride/dilation dimension.',
    since=11,
    note="The sentence can mean the stride, or either of the two. A value below the stride is allowed, and a value "
    "below neither is forbidden. A value from the stride up to the dilation is left open. The sentence does not mean "
    "both: otherwise nothing could be added with a dilation of 1, as in the official cases.",
)
SELECTS = CONV.clause(
    "By default, this attribute is a zero vector. Note that this attribute doesn't directly affect the computed output "
    "values. It only controls the selection of the computed values, so changing this attribute only adds or removes "
    "output elements.",
    since=11,
)
NEEDED = CONV.clause(
    '"output_padding" does not contribute additional size to "output_shape" but participates in the computation of the '
    "needed padding amount.",
    since=11,
)
SET = CONV.clause("If output_shape is specified pads values are ignored.")
NO_BATCH = CONV.clause(
    "Note that the output_shape attribute value should not include dimensions for batch size and channels", since=11
)
SAME_SHAPE = CONV.clause(
    "SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = input_shape[i] * strides[i]` for each axis "
    "`i`.",
    since=11,
    see=("https://github.com/onnx/onnx/issues/3153", "https://github.com/onnx/onnx/pull/3188"),
)
STRIDE_DEFAULT = CONV.clause("If not present, the stride defaults to 1 along each spatial axis.", since=11)
DILATION_DEFAULT = CONV.clause("If not present, the dilation defaults to 1 along each spatial axis.", since=11)
FILTERS = filters(CONV, weights=WEIGHTS, dilation_default=DILATION_DEFAULT)
WINDOWS = sentences(
    CONV, dimensions=SHAPE, rounded=SHAPE, dilation=FILTERS.dilation, same=SAME_SHAPE, stride_default=STRIDE_DEFAULT
)


def _laid(
    v: Version,
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    *,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
    output_padding: Ints,
    output_shape: Ints,
) -> Windows:
    """Return the windows over the output that the pixels of the input fill."""
    rank = len(sizes)
    strides, dilations = spread(v, WINDOWS.stride, strides, rank), spread(v, WINDOWS.dilation, dilations, rank)
    explicit = padding(v, WINDOWS, rank, pads, auto_pad)
    added = (0,) * rank if output_padding is None else tuple(output_padding)
    v.require(LESS, len(added) == rank)
    v.permit(HIGHER, any(added))
    steps = zip(added, strides, np.maximum(strides, dilations), strict=True)
    v.require(LESS, all(more < either for more, _, either in steps))
    v.silent(LESS, any(more >= step for more, step in zip(added, strides, strict=True)))
    v.silent(LESS, min(added) < 0)
    parts = zip(strides, sizes, added, kernel, dilations, strict=True)
    full = [step * (size - 1) + more + (pixels - 1) * wide + 1 for step, size, more, pixels, wide in parts]
    if output_shape is None and auto_pad not in SAME:
        begin, end = explicit[:rank], explicit[rank:]
        output = (np.asarray(full) - begin - end).tolist()
    else:
        v.permit(SAME_SHAPE, output_shape is None and max(strides) > 1)
        v.require(NO_BATCH, output_shape is None or len(output_shape) == rank)
        shape = np.multiply(sizes, strides) if output_shape is None else output_shape
        output = [int(size) for size in shape]
        total = [unpadded - size for unpadded, size in zip(full, output, strict=True)]
        v.silent(TOTAL, min(total) < 0 or (auto_pad == "VALID" and max(total) > 0))
        turned = output_shape is not None and HALVES_TURNED.in_force(v.since)
        v.silent(HALVES_TURNED, turned and auto_pad in SAME and any(item % 2 for item in total))
        begin, end = halves(total, more_at_end=auto_pad == "SAME_UPPER" or turned)
    v.silent(SHAPE, min(output) < 0)
    return Windows(tuple(output), kernel, strides, dilations, begin, end, sizes)


@CONV.oracle()
def transposed(
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
    output_padding: Ints,
    output_shape: Ints,
) -> Array:
    """Return the sums of each pixel times each filter, placed over the output, plus the bias."""
    check(v, FILTERS, X, W, group, kernel_shape)
    v.require(WEIGHTS, X.shape[1] == W.shape[0])
    v.silent(FILTERS.groups, X.shape[1] % group != 0)
    v.require(FILTERS.bias, B is None or B.shape == (W.shape[1] * group,))
    windows = _laid(
        v,
        X.shape[2:],
        W.shape[2:],
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        output_padding=output_padding,
        output_shape=output_shape,
    )
    with np.errstate(all="ignore"):
        return with_bias(_products(windows, X, W, group), B)


case = CONV.case
STEPS: dict[str, Any] = {"X": waves(1, 2, 3, 4), "W": waves(2, 3, 2, 3), "strides": [2, 3]}
"""Without padding the output has 6 x 12 pixels."""

case("batch", X=waves(2, 3, 4, 5), W=waves(3, 5, 3, 2), cites=(TRANSPOSED, WEIGHTS, MAPS))
case("not_turned_plane", X=[[[[1, 0, 0], [0, 0, 2]]]], W=ramp(1, 1, 2, 3), cites=TRANSPOSED)
for layout in layouts(WINDOWS.renewed):
    if "rounded" not in layout.cites and not layout.name.startswith("strides_beyond"):  # Their outputs are large.
        case(
            layout.name,
            X=waves(1, 2, *layout.sizes),
            W=waves(2, 3, *layout.kernel),
            **layout.attributes,
            cites=WINDOWS.named(*layout.cites) or SHAPE,
        )
case("strides_beyond_kernel", X=waves(1, 2, 2, 3), W=waves(2, 3, 2, 1), strides=[3, 4], cites=SHAPE)
case("output_padding_both", **STEPS, output_padding=[1, 2], cites=(HIGHER, SELECTS))
case("output_padding_zero", **STEPS, output_padding=[0, 0], cites=SHAPE)
case("output_padding_pads", **STEPS, output_padding=[1, 2], pads=[1, 0, 0, 2], cites=(SHAPE, HIGHER))
case(
    "output_padding_dilations",
    X=waves(1, 2, 3, 4),
    W=waves(2, 3, 2, 3),
    strides=[1, 1],
    dilations=[3, 2],
    output_padding=[2, 1],
    since=11,
    unspecified=LESS,
)
case(
    "output_padding_of_a_stride",
    X=waves(1, 2, 3, 4),
    W=waves(2, 3, 2, 3),
    strides=[2, 1],
    dilations=[3, 2],
    output_padding=[2, 0],
    since=11,
    unspecified=LESS,
)
case(
    "output_padding_beyond_dilations",
    X=waves(1, 2, 3, 4),
    W=waves(2, 3, 2, 3),
    strides=[3, 1],
    dilations=[2, 3],
    output_padding=[2, 0],
    cites=(LESS, HIGHER),
)
case("output_padding_output_shape", **STEPS, output_padding=[1, 2], output_shape=[4, 10], cites=NEEDED)
case("output_padding_same_upper", **STEPS, output_padding=[1, 0], auto_pad="SAME_UPPER", cites=(SAME_SHAPE, HIGHER))
case("output_padding_bias", X=[[[1, 2, 4]]], W=[[[1, 10]]], strides=[4], output_padding=[3], B=[0.5], cites=HIGHER)
SHAPES = vary(odd=[3, 9], even=[4, 10], mixed=[5, 10])
case("output_shape_before_11", **STEPS, output_shape=SHAPES, cites=(TOTAL, HALVES_TURNED))
case("output_shape", **STEPS, output_shape=SHAPES, cites=(TOTAL, HALVES, SET))
for mode in SAME:
    name = mode.lower()
    case(f"output_shape_{name}", **STEPS, output_shape=[3, 10], auto_pad=mode, cites=(TOTAL, HALVES))
    case(
        f"output_shape_{name}_before_11",
        **STEPS,
        output_shape=[3, 10],
        auto_pad=mode,
        before=11,
        unspecified=HALVES_TURNED,
    )
    case(
        f"{name}_odd_strides",
        X=waves(1, 2, 3, 2),
        W=waves(2, 3, 3, 6),
        strides=[2, 3],
        auto_pad=mode,
        cites=(SAME_SHAPE, WINDOWS.odd),
    )
    case(f"{name}_strides_before_11", **STEPS, auto_pad=mode, before=11, unspecified=SAME_SHAPE)
    one_axis: dict[str, Any] = {**STEPS, "strides": [2, 1]}
    case(f"{name}_strides_height_before_11", **one_axis, auto_pad=mode, before=11, unspecified=SAME_SHAPE)
    case(f"output_shape_even_{name}_before_11", **STEPS, output_shape=[4, 10], auto_pad=mode, before=11, cites=TOTAL)
    case(
        f"{name}_takes_away",
        X=waves(1, 2, 3, 2),
        W=waves(2, 3, 1, 7),
        strides=[2, 3],
        auto_pad=mode,
        since=11,
        unspecified=TOTAL,
    )
case("output_shape_pads_ignored", **STEPS, output_shape=[4, 10], pads=[1, 3, 0, 2], cites=SET)
case(
    "every_attribute",
    **STEPS,
    B=[1, -2, 0.3],
    group=1,
    kernel_shape=[2, 3],
    dilations=[2, 1],
    pads=[0, 1, 1, 2],
    auto_pad="NOTSET",
    output_padding=[1, 2],
    cites=(SHAPE, HIGHER),
)
case(
    "line_every_attribute",
    X=waves(1, 2, 4),
    W=waves(2, 3, 5),
    strides=[3],
    B=[1, -2, 0.3],
    group=1,
    kernel_shape=[5],
    dilations=[2],
    pads=[1, 2],
    auto_pad="NOTSET",
    output_padding=[1],
    cites=(SHAPE, HIGHER),
)
case("group_three", X=waves(2, 6, 4), W=waves(6, 2, 3), group=3, B=[1, 2, 3, 4, 5, 6], cites=(FILTERS.groups, MAPS))
case("no_maps", Tag.EDGE, X=ramp(1, 2, 4), W=ramp(2, 0, 3), cites=WEIGHTS)
case("pads_take_all", Tag.EDGE, X=waves(1, 2, 3), W=waves(2, 3, 2), pads=[1, 3], cites=SHAPE)
case("pads_take_more", Tag.EDGE, X=waves(1, 2, 3), W=waves(2, 3, 2), pads=[2, 3], unspecified=SHAPE)
case("pads_take_more_rows", Tag.EDGE, X=waves(1, 2, 3, 4), W=waves(2, 3, 2, 3), pads=[2, 0, 3, 0], unspecified=SHAPE)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3, 4]]], W=[[[1, 2]]], pads=[1, 1], cites=TRANSPOSED)

BEYOND = vary(stride=[2, 0], both=[1, 5], none=[0], rank=[0, 0, 0])
case("output_padding_beyond", **STEPS, output_padding=BEYOND, rejects=LESS)
case("output_padding_negative", **STEPS, output_padding=[0, -1], since=11, unspecified=LESS)
case("output_padding_before_11", **STEPS, output_padding=[1, 0], cites=ONE_SIDE, unspecified=HIGHER)
case("output_shape_beyond", **STEPS, output_shape=[7, 12], unspecified=TOTAL)
case("output_shape_valid", **STEPS, output_shape=[4, 9], auto_pad="VALID", unspecified=TOTAL)
case("output_shape_valid_width", **STEPS, output_shape=[6, 11], auto_pad="VALID", unspecified=TOTAL)
case("output_shape_valid_whole", **STEPS, output_shape=[6, 12], auto_pad="VALID", cites=TOTAL)
case("output_shape_with_batch", **STEPS, output_shape=[1, 3, 4, 10], rejects=NO_BATCH)
case("channels_of_one_group", X=waves(1, 4, 3), W=waves(2, 3, 2), group=2, rejects=WEIGHTS)
case("channels_no_multiple", X=waves(1, 3, 4), W=waves(3, 2, 2), group=2, unspecified=FILTERS.groups)
filter_cases(CONV, FILTERS, WINDOWS, waves(2, 3, 2, 3))

for name, (data, weights, sizes) in OVERLAPPED.items():
    added = {"output_padding": lambda sizes: [sizes["added"]] * 2} if name == "added" else {}
    of_sizes: dict[str, Any] = {**filtered(data, weights), **added}
    CONV.sized(name, sizes, each="T", cites=(TRANSPOSED, SHAPE), arguments=of_sizes)
    if name == "groups":
        biased = [{**item, "m": item["maps"] * item["group"]} for item in sizes]
        CONV.sized("bias", biased, each="T", cites=FILTERS.bias, arguments={**of_sizes, "B": filled("m")})
    if name == "strides":
        for mode in SAME:
            padded = with_same(of_sizes, mode)
            CONV.sized(mode.lower(), sizes[::3], each="T", cites=(TRANSPOSED, SAME_SHAPE), arguments=padded)
