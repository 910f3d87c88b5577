"""ConvTranspose: every pixel of the input times each filter, added up where the filters overlap.

Versions: 1 (output_padding on one side or the other; no SAME with strides), 11 (output_padding at the end; what is
left of odd padding at the beginning), 22 (bfloat16).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.declare import Array, Clause, Ints, Op, Rule, Tag, Version, bounded, ramp
from harness.declare.data import waves
from harness.operators.nn._filters import check, filter_cases, filters, with_bias
from harness.operators.nn._windows import SAME, Windows, halves, layouts, padding, sentences, spread


def _products(windows: Windows, X: Array, W: Array, group: int) -> Array:  # noqa: N803 - the text's own names
    """Return the sums (N, M, *output sizes): each group of channels has its own filters."""
    rank, channels = len(windows.sizes), X.shape[1] // group
    sums = []
    for index in range(group):
        mine = slice(index * channels, (index + 1) * channels)
        products = np.tensordot(X[:, mine], W[mine], ([1], [0]))  # (N, *sizes, M/group, *kernel)
        sums.append(windows.given(np.moveaxis(products, 1 + rank, 1)))
    return np.concatenate(sums, 1)


def _rounding(
    X: Array, W: Array, B: Array | None, group: int,  # noqa: N803
    kernel_shape: Ints, **placing: Any,  # noqa: ANN401, ARG001 - what `_laid` takes; W says what the kernel is
) -> list[Array]:  # fmt: skip
    """Return half a rounding of all magnitudes for each product that may meet in a pixel, each sum and the bias."""
    windows = _laid(Version(CONV.versions[-1]), X.shape[2:], W.shape[2:], **placing)
    # Version 1 splits padding the other way round, and the bound is not told of which version it is.
    begins = (windows.begin, windows.begin if placing["output_shape"] is None else windows.end)
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

TRANSPOSED = CONV.clause(
    "The convolution transpose operator consumes an input tensor and a filter, and computes the output.",
    note="Does not say what a convolution transpose is: the transpose of the linear map that Conv is for the same "
    "filter, strides, dilations and pads.",
)
SHAPE = CONV.clause(
    "If the pads parameter is provided the shape of the output is calculated via the following equation: "
    "output_shape[i] = stride[i] * (input_size[i] - 1) + output_padding[i] + ((kernel_shape[i] - 1) * dilations[i] + 1)"
    " - pads[start_i] - pads[end_i]",
    note="Leaves open what an output of less than no pixels is.",
)
TOTAL = CONV.clause(
    "output_shape can also be explicitly specified in which case pads values are auto generated using these equations: "
    "total_padding[i] = stride[i] * (input_size[i] - 1) + output_padding[i] + ((kernel_shape[i] - 1) * dilations[i] + 1"
    ") - output_shape[i]",
    note="Leaves open what a total below 0 is, since pads are 0 or more (the official case has one of -1 and expects "
    "a row and a column of zeros at the end), and what VALID is beside it. onnx.reference refuses most shapes.",
    against=("test_convtranspose_output_shape",),
)
SIDES = (
    "SAME_UPPER): pads[start_i] = total_padding[i]/2; pads[end_i] = total_padding[i] - (total_padding[i]/2) Else: "
    "pads[start_i] = total_padding[i] - (total_padding[i]/2); pads[end_i] = (total_padding[i]/2)."
)
HALVES_OLD = CONV.clause(
    f"If (auto_pads != {SIDES}",
    before=11,
    note="Contradicts what auto_pad says of an odd number, which is of padding that no output_shape asks for. "
    "onnxruntime splits as version 11 says.",
)
HALVES = CONV.clause(f"If (auto_pads == {SIDES}", since=11)
WEIGHTS = CONV.clause("has size (C x M/group x kH x kW)")
MAPS = CONV.clause("The number of channels in the output should be equal to W.shape[1] * group", result=True)
FILTERS = filters(
    CONV, weights=WEIGHTS, dilation_default="If not present, the dilation defaults to 1 along each spatial axis."
)
ONE_SIDE = CONV.clause("The zero-padding added to one side of the output.", before=11, note="Does not say which side.")
HIGHER = CONV.clause(
    "Additional elements added to the side with higher coordinate indices in the output.",
    since=11,
    note="They are what the filters reach there, and the bias alone where none does.",
)
LESS = CONV.clause(
    'Each padding value in "output_padding" must be less than the corresponding stride/dilation dimension.',
    since=11,
    note="Less than one of the two: most uses have a dilation of 1, and so has the official case. onnxruntime and "
    "onnx.reference take none that is not less than the stride.",
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
SAID = sentences(
    CONV, dimensions=SHAPE, rounded=SHAPE, dilation=FILTERS.dilation, renewed=11, same="input_shape[i] * strides[i]"
)


def _laid(
    v: Version, sizes: tuple[int, ...], kernel: tuple[int, ...], *, strides: Ints, dilations: Ints, pads: Ints,
    auto_pad: str, output_padding: Ints, output_shape: Ints,
) -> Windows:  # fmt: skip
    """Return the windows over the output that the input's pixels fill."""
    rank, mode = len(sizes), auto_pad
    strides, dilations = spread(v, SAID.stride, strides, rank), spread(v, SAID.dilation, dilations, rank)
    explicit = padding(v, SAID, rank, pads, auto_pad)
    added = (0,) * rank if output_padding is None else tuple(output_padding)
    least = [max(pair) for pair in zip(strides, dilations, strict=True)]
    v.require(LESS, len(added) == rank)
    v.permit(HIGHER, any(added))
    v.require(LESS, all(more < step for more, step in zip(added, least, strict=True)))
    v.silent(LESS, min(added) < 0)
    parts = zip(strides, sizes, added, kernel, dilations, strict=True)
    full = [step * (size - 1) + more + (pixels - 1) * wide + 1 for step, size, more, pixels, wide in parts]
    if output_shape is None and mode not in SAME:
        begin, end = explicit[:rank], explicit[rank:]
        output = [size - low - high for size, low, high in zip(full, begin, end, strict=True)]
    else:
        v.permit(SAID.same, output_shape is None and max(strides) > 1)
        v.require(NO_BATCH, output_shape is None or len(output_shape) == rank)
        asked = [size * step for size, step in zip(sizes, strides, strict=True)]
        output = asked if output_shape is None else [int(size) for size in output_shape]
        total = [size - wanted for size, wanted in zip(full, output, strict=True)]
        v.silent(TOTAL, min(total) < 0 or (mode == "VALID" and max(total) > 0))
        turned = output_shape is not None and HALVES_OLD.in_force(v.since)
        v.silent(HALVES_OLD, turned and mode in SAME and any(item % 2 for item in total))
        begin, end = halves(total, more_at_end=mode == "SAME_UPPER" or turned)
    v.silent(SHAPE, min(output) < 0)
    return Windows(tuple(output), kernel, strides, dilations, begin, end, sizes)


@CONV.oracle()
def transposed(
    v: Version, *, X: Array, W: Array, B: Array | None, group: int, kernel_shape: Ints,  # noqa: N803
    strides: Ints, dilations: Ints, pads: Ints, auto_pad: str, output_padding: Ints, output_shape: Ints,
) -> Array:  # fmt: skip
    """Return the sums of each pixel times each filter, laid over the output, and the bias."""
    check(v, FILTERS, X, W, group, kernel_shape)
    v.require(WEIGHTS, X.shape[1] == W.shape[0])
    v.silent(FILTERS.groups, X.shape[1] % group != 0)
    v.require(FILTERS.bias, B is None or B.shape == (W.shape[1] * group,))
    windows = _laid(v, X.shape[2:], W.shape[2:], strides=strides, dilations=dilations, pads=pads, auto_pad=auto_pad,
                    output_padding=output_padding, output_shape=output_shape)  # fmt: skip
    with np.errstate(all="ignore"):
        return with_bias(_products(windows, X, W, group), B)


case = CONV.case
PLANE: dict[str, Any] = {"X": waves(1, 2, 3, 4), "W": waves(2, 3, 2, 3)}
STEPS: dict[str, Any] = {**PLANE, "strides": [2, 3]}  # Without padding they give 6 x 12 pixels.

case("batch", X=waves(2, 3, 4, 5), W=waves(3, 5, 3, 2), cites=(TRANSPOSED, WEIGHTS, MAPS))
case("not_turned_plane", X=[[[[1, 0, 0], [0, 0, 2]]]], W=ramp(1, 1, 2, 3), cites=(TRANSPOSED,))
for layout in layouts():
    planes: dict[str, Any] = {"X": waves(1, 2, *layout.sizes), "W": waves(2, 3, *layout.kernel)}
    if "rounded" not in layout.cites and not layout.name.startswith("strides_beyond"):  # Their outputs are large.
        case(layout.name, **planes, **layout.given, cites=SAID.named(*layout.cites) or (SHAPE,))
case("strides_beyond_kernel", X=waves(1, 2, 2, 3), W=waves(2, 3, 2, 1), strides=[3, 4], cites=(SHAPE,))
TO_STEPS: list[tuple[str, dict[str, Any], tuple[Clause, ...]]] = [
    ("both", {"output_padding": [1, 2]}, (HIGHER, SELECTS)),
    ("zero", {"output_padding": [0, 0]}, (SHAPE,)),
    ("pads", {"output_padding": [1, 2], "pads": [1, 0, 0, 2]}, (SHAPE, HIGHER)),
    ("dilations", {"output_padding": [2, 1], "dilations": [3, 2], "strides": [1, 1]}, (LESS,)),
    ("output_shape", {"output_padding": [1, 2], "output_shape": [4, 10]}, (NEEDED,)),
    ("same_upper", {"output_padding": [1, 0], "auto_pad": "SAME_UPPER"}, (SAID.same, HIGHER)),
]
for name, given, cited in TO_STEPS:
    case(f"output_padding_{name}", **{**STEPS, **given}, cites=cited)
case("output_padding_bias", X=[[[1, 2, 4]]], W=[[[1, 10]]], strides=[4], output_padding=[3], B=[0.5], cites=(HIGHER,))
for name, shape in (("odd", [3, 9]), ("even", [4, 10]), ("mixed", [5, 10])):
    case(f"output_shape_{name}_old", **STEPS, output_shape=shape, cites=(TOTAL, HALVES_OLD))
    case(f"output_shape_{name}", **STEPS, output_shape=shape, cites=(TOTAL, HALVES, SET))
for mode in SAME:
    asked: dict[str, Any] = {**STEPS, "output_shape": [3, 10], "auto_pad": mode}
    case(f"output_shape_{mode.lower()}", **asked, cites=(TOTAL, HALVES))
    case(f"output_shape_{mode.lower()}_old", **asked, before=11, unspecified=HALVES_OLD)
    asked = {"X": waves(1, 2, 3, 2), "W": waves(2, 3, 3, 6), "strides": [2, 3], "auto_pad": mode}
    case(f"{mode.lower()}_odd_strides", **asked, cites=(SAID.same, SAID.odd))
    case(f"{mode.lower()}_strides_old", **STEPS, auto_pad=mode, before=11, unspecified=SAID.same)
    case(f"{mode.lower()}_takes_away", **{**asked, "W": waves(2, 3, 1, 7)}, since=11, unspecified=TOTAL)
case("output_shape_pads_ignored", **STEPS, output_shape=[4, 10], pads=[1, 3, 0, 2], cites=(SET,))
case("every_attribute", **STEPS, B=[1, -2, 0.3], group=1, kernel_shape=[2, 3], dilations=[2, 1], pads=[0, 1, 1, 2],
     auto_pad="NOTSET", output_padding=[1, 2], cites=(SHAPE, HIGHER))  # fmt: skip
case("group_three", X=waves(2, 6, 4), W=waves(6, 2, 3), group=3, B=[1, 2, 3, 4, 5, 6], cites=(FILTERS.groups, MAPS))
case("no_maps", Tag.EDGE, X=ramp(1, 2, 4), W=ramp(2, 0, 3), cites=(WEIGHTS,))
case("pads_take_all", Tag.EDGE, X=waves(1, 2, 3), W=waves(2, 3, 2), pads=[1, 3], cites=(SHAPE,))
case("pads_take_more", Tag.EDGE, X=waves(1, 2, 3), W=waves(2, 3, 2), pads=[2, 3], unspecified=SHAPE)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3, 4]]], W=[[[1, 2]]], pads=[1, 1], cites=(TRANSPOSED,))

for name, more in (("stride", [2, 0]), ("both", [1, 5]), ("none", [0]), ("rank", [0, 0, 0])):
    case(f"output_padding_beyond_{name}", **STEPS, output_padding=more, rejects=LESS)
case("output_padding_negative", **STEPS, output_padding=[0, -1], since=11, unspecified=LESS)
case("output_padding_old", **STEPS, output_padding=[1, 0], cites=(ONE_SIDE,), unspecified=HIGHER)
case("output_shape_beyond", **STEPS, output_shape=[7, 12], unspecified=TOTAL)
case("output_shape_valid", **STEPS, output_shape=[4, 9], auto_pad="VALID", unspecified=TOTAL)
case("output_shape_with_batch", **STEPS, output_shape=[1, 3, 4, 10], rejects=NO_BATCH)
case("channels_of_one_group", X=waves(1, 4, 3), W=waves(2, 3, 2), group=2, rejects=WEIGHTS)
case("channels_no_multiple", X=waves(1, 3, 4), W=waves(3, 2, 2), group=2, unspecified=FILTERS.groups)
filter_cases(CONV, FILTERS, SAID, waves(2, 3, 2, 3))
case("attribute_storage_order", **PLANE, stray={"storage_order": 0}, rejects=Rule.ATTRIBUTES)
