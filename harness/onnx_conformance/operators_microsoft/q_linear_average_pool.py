# SPDX-License-Identifier: Apache-2.0
"""QLinearAveragePool: the average of each window of a quantized tensor, quantized.

    Y = QLinearAveragePool(X, x_scale, x_zero_point=0, y_scale, y_zero_point=0, kernel_shape, strides=..., pads=...,
                           auto_pad="NOTSET", ceil_mode=0, count_include_pad=0, channels_last=0)

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Result, Tag, Tolerance, Version, ramp, typed
from onnx_conformance.declare.sizes import EVERY_BYTE, filled
from onnx_conformance.operators.nn._pooling import Pools, place, shuffled
from onnx_conformance.operators.nn._sizes import POOLED, SAME_SIZES, pool_arguments, with_same
from onnx_conformance.operators.nn._windows import SAME, Layout, Sentences, forbidden, layouts, left_open
from onnx_conformance.operators_microsoft._layouts import channels_behind, channels_second, moved
from onnx_conformance.operators_microsoft._scales import EPSILON, rounded, scale_cases, scaled, usable

if TYPE_CHECKING:
    from collections.abc import Mapping

POOL = Op(
    "QLinearAveragePool",
    versions=(1,),
    compare=Tolerance("if a few roundings of float32 can change an element, every element between is allowed"),
    domain="com.microsoft",
    rank="X",
)
PARAMETERS: dict[str, Any] = {"x_scale": 0.5, "x_zero_point": 20, "y_scale": 0.25, "y_zero_point": 3}
POOL.example(
    X=shuffled(2, 3, 5, 7),
    **PARAMETERS,
    kernel_shape=[2, 3],
    strides=[2, 1],
    pads=[1, 0, 0, 1],
    ceil_mode=1,
    count_include_pad=1,
)

AVERAGE = POOL.clause(
    "average pooling consisting of computing the average on all values of a subset of the input tensor according to "
    "the kernel size"
)
STEPS = POOL.clause(
    "Output = Dequantize(Input) -> AveragePool on fp32 data -> Quantize(output)",
    note="Dequantize is the formula of DequantizeLinear of this domain. Quantize divides by the scale, rounds to the "
    "nearest integer, adds the zero point and limits the result to the range of the type. The text does not define the "
    "rounding of a tie, so both neighbours are allowed. It does not define a scale that is infinite or NaN, or a "
    "y_scale of 0. A pixel of padding is 0 in the real numbers, so it has the value of the zero point.",
)
CONVERTS = POOL.clause(
    "Input and output scales and zero points are used to convert the output to a new quantization range."
)
DIVIDED = POOL.clause(
    "The output of each pooling window is divided by the number of elements (exclude pad when attribute "
    "count_include_pad is zero).",
    note="A window without elements has no average. Elements that ceil_mode adds after the padding are not padding: "
    "pads defines the number of added pixels.",
)
COUNT = POOL.clause(
    "Whether include pad pixels when calculating values for the edges. Default is 0, doesn't count include pad.",
    note="The text does not define values other than 0 and 1.",
)
CHANNELS_LAST = POOL.clause(
    "Works on NHWC layout or not? Default not.",
    note="With 1, the dimensions are (N x D1 x ... x Dn x C). The text does not define values other than 0 and 1.",
)
IMAGE = POOL.clause("dimensions for image case are (N x C x H x W)")
FORM = POOL.clause(
    "For non image case, the dimensions are in the form of (N x C x D1 x D2 ... Dn)",
    note="The text does not define an input without D1.",
)
KERNEL = POOL.clause("The size of the kernel along each axis.", note="The text does not define a size below 1.")
CEIL_MODE = POOL.clause(
    "Whether to use ceil or floor (default) to compute the output shape.",
    note="The text does not define values other than 0 and 1.",
)
ROUNDED_DOWN = POOL.clause(
    "Dimensions will vary based on various kernel, stride, and pad sizes. Floor value of the dimension is used",
    note="The attribute ceil_mode can change this. The text does not define a negative number of windows.",
)
FLOOR = POOL.clause(
    "output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - kernel_spatial_shape[i]) / "
    "strides_spatial_shape[i] + 1)"
)
CEIL = POOL.clause(
    "output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - kernel_spatial_shape[i]) / "
    "strides_spatial_shape[i] + 1)",
    note="By the formula, a window may start in the padding at the end. AveragePool of ONNX, to which this text "
    "refers, ignores such windows since version 22. The text does not decide between them.",
)
PAD_SHAPE = POOL.clause("* pad_shape[i] is sum of pads along axis i")
IF_CEIL = POOL.clause("if ceil_mode is enabled")
DEPRECATED = POOL.clause("`auto_pad` is a DEPRECATED attribute.")
OF_VALID = POOL.clause(
    "VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - kernel_spatial_shape[i] + 1) / "
    "strides_spatial_shape[i])"
)
OF_SAME = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = ceil(input_spatial_shape[i] / strides_spatial_shape[i])"
)
ADDED = POOL.clause(
    "pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + kernel_spatial_shape[i] - "
    "input_spatial_shape[i]",
    note="The text does not define a negative result.",
)
EITHER = POOL.clause("auto_pad must be either NOTSET, SAME_UPPER, SAME_LOWER or VALID.")
EXPLICIT = POOL.clause("default value is NOTSET, which means explicit padding is used.")
MATCH = POOL.clause(
    "SAME_UPPER or SAME_LOWER mean pad the input so that the output spatial size match the input.",
    note="This is meant for strides of 1. With other strides, the output has the size of the formula.",
)
ODD = POOL.clause(
    "In case of odd number add the extra padding at the end for SAME_UPPER and at the beginning for SAME_LOWER.",
    note="The rest is the same on both sides.",
)
NO_PADDING = POOL.clause("VALID mean no padding.")
AT_LEAST_ZERO = POOL.clause(
    "Padding for the beginning and ending along each spatial axis, it can take any value greater than or equal to 0."
)
PIXELS = POOL.clause(
    "The value represent the number of pixels added to the beginning and end part of the corresponding axis."
)
FORMAT = POOL.clause(
    "`pads` format should be as follow [x1_begin, x2_begin...x1_end, x2_end,...], where xi_begin the number of pixels "
    "added at the beginning of axis `i` and xi_end, the number of pixels added at the end of axis `i`."
)
ALONE = POOL.clause(
    "This attribute cannot be used simultaneously with auto_pad attribute.",
    note="NOTSET means that pads is used, so the two are allowed together.",
)
NO_PADS = POOL.clause("If not present, the padding defaults to 0 along start and end of each spatial axis.")
STRIDE = POOL.clause("Stride along each spatial axis.", note="The text does not define a stride below 1.")
STRIDE_DEFAULT = POOL.clause("If not present, the stride defaults to 1 along each spatial axis.")
BYTES = POOL.clause("Constrain input and output types to 8 bit tensors.")
OF_X = scaled(POOL, "Input scale.", "Input zero point.")
OF_Y = scaled(POOL, "Output scale.", "Output zero point.")
POOLS = Pools(
    windows=Sentences(
        renewed=1,
        dimensions=ROUNDED_DOWN,
        rounded=ROUNDED_DOWN,
        strided=OF_SAME,
        either=EITHER,
        explicit=EXPLICIT,
        match_before=MATCH,
        odd_before=ODD,
        valid_before=NO_PADDING,
        same=MATCH,
        split=ODD,
        odd=ODD,
        at_least_zero=AT_LEAST_ZERO,
        pixels=PIXELS,
        format=FORMAT,
        alone=ALONE,
        no_pads=NO_PADS,
        stride=STRIDE,
        stride_default=STRIDE_DEFAULT,
        dilation=STRIDE,
    ),
    form=FORM,
    kernel=KERNEL,
    amount=ADDED,
    ceil_mode=CEIL_MODE,
    sizes=(FLOOR, PAD_SHAPE),
    sizes_ceil=(CEIL, IF_CEIL),
    sizes_same=(OF_SAME, ADDED, DEPRECATED),
    sizes_valid=(OF_VALID, DEPRECATED),
)
"""This operator has no dilations, so the sentence on them is never used."""
ROUNDINGS = 3
"""The product with a scale, two quotients and their reciprocals round by half an epsilon each."""


@POOL.oracle()
def pooled(
    v: Version,
    *,
    X: Array,
    x_scale: Array,
    x_zero_point: Array | None,
    y_scale: Array,
    y_zero_point: Array | None,
    kernel_shape: Ints,
    strides: Ints,
    pads: Ints,
    auto_pad: str,
    ceil_mode: Int,
    count_include_pad: Int,
    channels_last: Int,
) -> Result:
    """Return the quantized sum of each window of the dequantized X, divided by the number of its elements."""
    of_x, x_zero = OF_X.parameters(v, x_scale, x_zero_point)
    of_y, y_zero = OF_Y.parameters(v, y_scale, y_zero_point)
    v.silent(STEPS, not usable(of_y, of_x))
    v.silent(CHANNELS_LAST, channels_last not in {0, 1})
    v.silent(COUNT, count_include_pad not in {0, 1})
    v.require(FORM, X.ndim > 1)
    data = channels_second(X) if channels_last else X
    windows = place(
        v,
        POOLS,
        data.shape,
        kernel_shape=kernel_shape,
        strides=strides,
        dilations=None,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    starts = np.subtract(windows.counts, 1) * windows.strides - windows.begin
    v.silent(CEIL, bool((starts >= windows.sizes).any()))
    counted = windows.inside_padded() if count_include_pad else windows.inside()
    counts = counted.sum(tuple(range(-len(windows.sizes), 0)))
    v.silent(DIVIDED, not counts.all())
    centred = data - x_zero
    sums, magnitudes = (windows.combined(np.add, windows.pixels(item)) for item in (centred, np.abs(centred)))
    ratio = of_x / counts / of_y
    error = EPSILON * (ROUNDINGS + counts) * magnitudes * np.abs(ratio)
    result = rounded(v, STEPS, sums * ratio, error, y_zero, v.dtypes["T"])
    return moved(result, channels_behind) if channels_last else result


def case(name: str, *tags: Tag, X: object, **words: Any) -> None:  # noqa: ANN401 - see `Op.case`
    """Declare a case, with PARAMETERS unless it has its own."""
    POOL.case(name, *tags, **PARAMETERS | {"X": X} | words)


def last(images: Array) -> Array:
    """Return images with their channels last."""
    return channels_behind(np.asarray(images))


case("batch", X=shuffled(2, 3, 4, 5), kernel_shape=[3, 2], cites=(AVERAGE, STEPS, CONVERTS, IMAGE, KERNEL))
for layout in layouts(1):
    if "before" not in layout.name and "dilations" not in layout.attributes:
        data, cites = shuffled(1, 2, *layout.sizes), POOLS.windows.named(*layout.cites) or KERNEL
        call: dict[str, Any] = {"kernel_shape": layout.kernel, **layout.attributes}
        case(layout.name, X=data, **call, cites=cites)
        case(f"{layout.name}_channels_last", X=last(data), **call, channels_last=1, cites=CHANNELS_LAST)
case("no_padding", X=shuffled(1, 2, 4, 5), kernel_shape=[2, 3], auto_pad="VALID", cites=(NO_PADDING, OF_VALID, EITHER))
SIZES = (
    ("sizes", POOLS.sizes, Layout("", (6, 9), (3, 2), {"strides": [2, 4], "pads": [1, 0, 0, 0]})),
    ("sizes_ceil", POOLS.sizes_ceil, Layout("", (6, 9), (3, 2), {"strides": [2, 4], "ceil_mode": 1})),
    ("sizes_same", POOLS.sizes_same, Layout("", (4, 6), (3, 5), {"strides": [2, 3], "auto_pad": "SAME_UPPER"})),
    ("sizes_valid", POOLS.sizes_valid, Layout("", (5, 7), (2, 3), {"strides": [2, 5], "auto_pad": "VALID"})),
    ("floor", (ROUNDED_DOWN, FLOOR), Layout("", (6, 9), (3, 2), {"strides": [2, 4], "ceil_mode": 0})),
    ("ceil_exact", (CEIL, CEIL_MODE), Layout("", (5, 7), (2, 3), {"strides": [3, 2], "ceil_mode": 1})),
    ("ceil_one_axis", (CEIL, CEIL_MODE), Layout("", (5, 6), (2, 3), {"strides": [2, 3], "ceil_mode": 1})),
    ("ceil_space", (CEIL, CEIL_MODE), Layout("", (3, 4, 5), (2, 2, 2), {"strides": [2, 3, 2], "ceil_mode": 1})),
    ("ceil_valid", (OF_VALID,), Layout("", (6, 9), (3, 2), {"strides": [3, 6], "auto_pad": "VALID", "ceil_mode": 1})),
)
for name, clauses, layout in SIZES:
    case(name, X=shuffled(1, 2, *layout.sizes), kernel_shape=layout.kernel, **layout.attributes, cites=clauses)
case("ceil_two", X=shuffled(1, 2, 6, 9), kernel_shape=[3, 2], ceil_mode=2, unspecified=CEIL_MODE)
for mode in SAME:
    steps: dict[str, Any] = {"kernel_shape": [1, 2], "strides": [2, 1], "auto_pad": mode}
    case(f"{mode.lower()}_steps_over", X=shuffled(1, 2, 4, 3), **steps, unspecified=ADDED)
for name, attributes, sentence in forbidden():
    if "dilations" not in attributes:
        case(name, X=shuffled(1, 2, 4, 5), kernel_shape=[2, 3], **attributes, rejects=getattr(POOLS.windows, sentence))
for name, attributes, sentence in left_open():
    if "dilations" not in attributes:
        clause = getattr(POOLS.windows, sentence)
        case(name, X=shuffled(1, 2, 4, 5), kernel_shape=[2, 3], **attributes, unspecified=clause)

PADDED: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "none": ((4, 5), {"kernel_shape": [2, 3]}),
    "all": ((3, 4), {"kernel_shape": [2, 3], "pads": [1, 2, 0, 1]}),
    "space": ((2, 3, 4), {"kernel_shape": [2, 3, 2], "pads": [1, 0, 1, 0, 2, 1]}),
    "strides": ((4, 6), {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 1, 0, 1]}),
    "same_upper": ((3, 5), {"kernel_shape": [2, 4], "auto_pad": "SAME_UPPER"}),
    "same_lower": ((3, 5), {"kernel_shape": [2, 4], "auto_pad": "SAME_LOWER"}),
    "ceil": ((4, 6), {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 0, 1], "ceil_mode": 1}),
    "ceil_at_the_end": ((8,), {"kernel_shape": [3], "strides": [3], "ceil_mode": 1}),
}
for name, (sizes, attributes) in PADDED.items():
    for flag, word in enumerate(("not", "counts")):
        padded: dict[str, Any] = {"X": shuffled(1, 2, *sizes), **attributes, "count_include_pad": flag}
        case(f"pad_{word}_{name}", **padded, cites=(COUNT, DIVIDED))
        in_front = {**padded, "X": last(padded["X"]), "channels_last": 1}
        case(f"pad_{word}_{name}_channels_last", **in_front, cites=(COUNT, CHANNELS_LAST))
THREE = [[[1, 2, 4]]]
case("pad_counts_twice", X=THREE, kernel_shape=[2], pads=[1, 0], count_include_pad=2, unspecified=COUNT)
case("padding_alone_at_the_start", Tag.EDGE, X=THREE, kernel_shape=[2], pads=[2, 0], unspecified=DIVIDED)
ALONE_AT_THE_START: dict[str, Any] = {"X": THREE, "kernel_shape": [2], "pads": [2, 0], "count_include_pad": 1}
case("padding_alone_at_the_start_counts", Tag.EDGE, **ALONE_AT_THE_START, cites=DIVIDED)
case("padding_alone_at_the_end", Tag.EDGE, X=THREE, kernel_shape=[2], pads=[0, 2], unspecified=CEIL)
ALONE_AT_THE_END: dict[str, Any] = {"X": THREE, "kernel_shape": [2], "pads": [0, 2], "count_include_pad": 1}
case("padding_alone_at_the_end_counts", Tag.EDGE, **ALONE_AT_THE_END, unspecified=CEIL)
BEHIND: dict[str, Any] = {"X": shuffled(1, 2, 6), "kernel_shape": [2], "strides": [3], "ceil_mode": 1}
case("last_window_behind", Tag.EDGE, **BEHIND, unspecified=CEIL)
OF_ONE_AXIS = BEHIND | {"X": shuffled(1, 2, 4, 6), "kernel_shape": [2, 2], "strides": [1, 3]}
case("last_window_behind_one_axis", Tag.EDGE, **OF_ONE_AXIS, unspecified=CEIL)
case("last_window_in_padding", Tag.EDGE, **BEHIND | {"X": shuffled(1, 2, 5), "pads": [0, 2]}, unspecified=CEIL)

case("channels_last_two", X=shuffled(1, 4, 5, 2), kernel_shape=[2, 3], channels_last=2, unspecified=CHANNELS_LAST)
case("channels_last_off", X=shuffled(1, 2, 4, 5), kernel_shape=[2, 3], channels_last=0, cites=CHANNELS_LAST)
case("channels_last_batch", X=shuffled(2, 4, 5, 3), kernel_shape=[3, 2], channels_last=1, cites=CHANNELS_LAST)
case("channels_last_many", X=shuffled(2, 4, 5, 67), kernel_shape=[3, 2], channels_last=1, cites=CHANNELS_LAST)
case("no_batch", Tag.EDGE, X=ramp(0, 2, 4), kernel_shape=[3], cites=FORM)
case("no_channels", Tag.EDGE, X=ramp(2, 0, 4), kernel_shape=[3], cites=FORM)
case("no_pixels", Tag.EDGE, X=ramp(1, 2, 0), kernel_shape=[1], cites=ROUNDED_DOWN)
case("kernel_beyond_input", Tag.EDGE, X=shuffled(1, 2, 3), kernel_shape=[4], cites=ROUNDED_DOWN)
case("kernel_far_beyond_input", Tag.EDGE, X=shuffled(1, 2, 3), kernel_shape=[5], unspecified=ROUNDED_DOWN)
case("kernel_of_no_pixels", Tag.EDGE, X=shuffled(1, 2, 3), kernel_shape=[0], unspecified=KERNEL)
case("no_spatial_axes", Tag.EDGE, X=shuffled(2, 3), kernel_shape=[], unspecified=FORM)
for flag in (0, 1):
    case(f"rank0_channels_last_{flag}", Tag.EDGE, X=7, kernel_shape=[1], channels_last=flag, rejects=FORM)
    case(f"rank1_channels_last_{flag}", Tag.EDGE, X=shuffled(3), kernel_shape=[1], channels_last=flag, rejects=FORM)
case("kernel_too_short", X=shuffled(1, 2, 4, 5), kernel_shape=[2], rejects=KERNEL)
case("kernel_too_long", X=shuffled(1, 2, 4, 5), kernel_shape=[1, 2, 3], rejects=KERNEL)

case("dtypes", Tag.DTYPE, each="T", X=shuffled(1, 2, 4, 5), kernel_shape=[2, 3], pads=[1, 0, 0, 1], cites=BYTES)
INT8: dict[str, Any] = {"x_zero_point": typed("int8", -7), "y_zero_point": typed("int8", 5)}
SIGNED: dict[str, Any] = {"X": typed("int8", [[[-128, -128, 127, 127, 0, -1]]]), "kernel_shape": [2], **INT8}
case("signed", **SIGNED, cites=STEPS)
case("signed_padded", **SIGNED, pads=[1, 1], count_include_pad=1, cites=(STEPS, COUNT))
case("saturates_int8", Tag.EDGE, **SIGNED, x_scale=2, cites=STEPS)
case("saturates", Tag.EDGE, X=[[[0, 0, 255, 255]]], kernel_shape=[2], y_scale=0.125, cites=STEPS)
TIED: dict[str, Any] = {"X": [[[20, 21, 22, 23, 24, 21]]], "kernel_shape": [2], "x_scale": 1, "y_scale": 1}
case("ties", Tag.EDGE, **TIED, unspecified=STEPS)
THIRDS: dict[str, Any] = {"X": [[[7, 6, 5, 0]]], "kernel_shape": [3], "x_zero_point": 0, "x_scale": 1, "y_scale": 4}
case("tie_of_thirds", Tag.EDGE, **THIRDS, unspecified=STEPS)


def near_a_tie(errors: float) -> dict[str, Any]:
    """Return a call whose first result differs from 0.5 by so many epsilons of it; its terms are 3 and -2."""
    scale = 0.5 * (1 + errors * EPSILON)
    return {"X": [[[23, 18]]], "kernel_shape": [2], "x_scale": 2 * scale, "y_scale": 1, "y_zero_point": 0}


# The magnitudes of both terms add up to 5 times the result, and 5 roundings are allowed: 25 epsilons of the result.
case("twenty_roundings_above_a_tie", Tag.EDGE, **near_a_tie(20), unspecified=STEPS)
case("thirty_roundings_above_a_tie", Tag.EDGE, **near_a_tie(30), cites=STEPS)
case("scale_negative", X=shuffled(1, 2, 4, 5), kernel_shape=[2, 3], x_scale=-1, cites=STEPS)
case("scale_of_result_negative", X=shuffled(1, 2, 4, 5), kernel_shape=[2, 3], y_scale=-1, y_zero_point=90, cites=STEPS)
case("long", X=shuffled(1, 2, 300), kernel_shape=[299], x_scale=0.37, y_scale=0.0173, cites=AVERAGE)
TENSORS = ((OF_X, "x_scale", "x_zero_point"), (OF_Y, "y_scale", "y_zero_point"))
scale_cases(POOL, {"X": shuffled(1, 2, 4, 5), "kernel_shape": [2, 3], **PARAMETERS}, TENSORS, STEPS)

REAL: dict[str, Any] = {"x_scale": 0.0173, "x_zero_point": 77, "y_scale": 0.0121, "y_zero_point": 55}


def quantized(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a pool with scales; this operator has no dilations."""
    return {name: value for name, value in arguments.items() if name != "dilations"} | REAL


for name, (dims, choice) in POOLED.items():
    if name != "dilations":
        POOL.sized(name, choice, each="T", cites=(STEPS, DIVIDED), arguments=quantized(pool_arguments(dims)))
    if name in {"line", "channels", "pads"}:
        behind = quantized(pool_arguments(dims))
        behind |= {"X": filled(dims[0], *dims[2:], dims[1], integers=EVERY_BYTE), "channels_last": 1}
        POOL.sized(f"{name}_last", choice, each="T", cites=(STEPS, CHANNELS_LAST), arguments=behind)
    if name == "pads":
        counted = quantized(pool_arguments(dims)) | {"count_include_pad": 1}
        POOL.sized("pads_counted", choice, each="T", cites=(DIVIDED, COUNT), arguments=counted)
for mode in SAME:
    arguments = quantized(with_same(pool_arguments(POOLED["strides"][0]), mode))
    POOL.sized(mode.lower(), SAME_SIZES, each="T", cites=(STEPS, OF_SAME), arguments=arguments)
