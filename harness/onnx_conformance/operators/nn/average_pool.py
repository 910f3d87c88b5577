# SPDX-License-Identifier: Apache-2.0
"""AveragePool: the average of each window.

    Y = AveragePool(X, kernel_shape, strides=..., pads=..., dilations=..., auto_pad="NOTSET", ceil_mode=0,
                    count_include_pad=0)

Versions: 1, 7 (count_include_pad), 10 (ceil_mode), 11 (formulas for auto_pad that contradict its text), 19 (dilations;
corrected formulas), 22 (bfloat16; windows in the right padding do not count).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Tag, Version, bounded
from onnx_conformance.declare.data import waves
from onnx_conformance.operators.nn._pooling import Pools, beginning_before_the_end, place, pool_cases
from onnx_conformance.operators.nn._sizes import POOLED, SAME_SIZES, pool_arguments, with_same
from onnx_conformance.operators.nn._windows import Layout, sentences

if TYPE_CHECKING:
    from onnx_conformance.operators.nn._windows import Windows


def _averages(windows: Windows, X: Array, count_include_pad: Int) -> tuple[Array, Array]:
    """Return the sums, and the number of elements of each sum."""
    kernel = tuple(range(-len(windows.sizes), 0))
    counted = windows.inside_padded() if count_include_pad == 1 else windows.inside()
    return windows.combined(np.add, windows.pixels(X)), counted.sum(kernel)


def _rounding(X: Array, count_include_pad: Int, **attributes: Any) -> list[Array]:  # noqa: ANN401 - see `place`
    """Return half a rounding of all magnitudes for each term and for the quotient.

    The bound is the maximum over all windows, because versions count different windows and the bound does not know the
    version.
    """
    windows = place(Version(POOL.versions[0]), POOLS, X.shape, **attributes)
    sums, counts = _averages(windows, np.abs(X), count_include_pad)
    errors = sums / np.maximum(counts, 1) * (counts + 2) / 2
    return [errors[np.isfinite(errors)].max(initial=0)]


POOL = Op(
    "AveragePool",
    versions=(1, 7, 10, 11, 19, 22),
    compare=bounded(_rounding, "each sum, in any order, and the quotient round by half an epsilon of all magnitudes"),
    rank="X",
)
POOL.example(
    X=waves(2, 3, 5, 7),
    kernel_shape=[2, 3],
    strides=[2, 1],
    pads=[1, 0, 0, 1],
    dilations=[1, 2],
    ceil_mode=1,
    count_include_pad=1,
)

AVERAGE = POOL.clause(
    "average pooling consisting of computing the average on all values of a subset of the input tensor according to "
    "the kernel size",
    note="This includes NaN. onnx.reference skips NaN.",
)
EXCLUDED = POOL.clause(
    "The output of each pooling window is divided by the number of elements exclude pad.",
    before=7,
    note="onnx.reference counts the padding.",
)
DIVIDED = POOL.clause(
    "The output of each pooling window is divided by the number of elements (exclude pad when attribute "
    "count_include_pad is zero).",
    since=7,
    note="A window without elements has no average. Elements that ceil_mode adds after the padding are not padding: "
    "pads defines the number of added pixels, and the official cases count this way. Before version 22 the formula can "
    "have a last window that contains only padding. onnxruntime and onnx.reference omit it, as version 22 requires.",
    see=("https://github.com/onnx/onnx/issues/1922",),
)
COUNT = POOL.clause(
    "Whether include pad pixels when calculating values for the edges. Default is 0, doesn't count include pad.",
    since=7,
    note="The text does not define values other than 0 and 1.",
    see=("https://github.com/onnx/onnx/issues/5276", "https://github.com/microsoft/onnxruntime/issues/16203"),
)
DILATION = POOL.clause(
    "Dilation value along each spatial axis of filter.",
    since=19,
    note="The text does not define a dilation below 1.",
    see=("https://github.com/onnx/onnx/issues/2290",),
)
DILATION_DEFAULT = POOL.clause("If not present, the dilation defaults to 1 along each spatial axis.", since=19)
FLOOR_SAME = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = floor(input_spatial_shape[i] / strides_spatial_shape[i])",
    since=11,
    before=19,
    note="This contradicts the sentence of auto_pad on the shape of the output if the division is not exact. Version "
    "19 corrected it. onnxruntime rounds up.",
    contradicts="SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] / "
    "strides[i])` for each axis `i`.",
)
FLOOR_VALID = POOL.clause(
    "VALID: output_spatial_shape[i] = floor((input_spatial_shape[i] - ((kernel_spatial_shape[i] - 1) * dilations[i] + 1"
    ") + 1) / strides_spatial_shape[i])",
    since=11,
    before=19,
    note="This contradicts the formula without padding if it omits a window that fits. Version 19 corrected it.",
    contradicts="output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - ((kernel_spatial_shape[i] - "
    "1) * dilations[i] + 1)) / strides_spatial_shape[i] + 1)",
)
IGNORED = POOL.clause(
    "Sliding windows that would start in the right padded region are ignored.",
    since=22,
    note="The region begins after the last pixel, whether or not pads has an end, as the official "
    "test_maxpool_2d_ceil_output_size_reduce_by_one shows. The text does not define this for sizes that are rounded "
    "down.",
    see=("https://github.com/onnx/onnx/issues/4958",),
)
FORM = POOL.clause("For non image case, the dimensions are in the form of (N x C x D1 x D2 ... Dn)")
KERNEL = POOL.clause("The size of the kernel along each axis.")
CEIL_MODE = POOL.clause(
    "Whether to use ceil or floor (default) to compute the output shape.",
    since=10,
    see=("https://github.com/onnx/onnx/issues/4958", "https://github.com/onnx/onnx/issues/3314"),
)
ROUNDED_DOWN = POOL.clause(
    "Floor value of the dimension is used", note="Version 10 added ceil_mode, which can change this."
)
FLOOR = (
    POOL.clause(
        "output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - dilation[i] * (kernel_shape[i] - 1) "
        "- 1) / strides_spatial_shape[i] + 1)"
    )
    .reworded(
        before=19,
        text="output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - ((kernel_spatial_shape[i] - 1) "
        "* dilations[i] + 1)) / strides_spatial_shape[i] + 1)",
    )
    .reworded(
        before=11,
        text="output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - kernel_spatial_shape[i]) / "
        "strides_spatial_shape[i] + 1)",
    )
)
CEIL = (
    POOL.clause(
        "output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - dilation[i] * (kernel_shape[i] - 1) "
        "- 1) / strides_spatial_shape[i] + 1)"
    )
    .reworded(
        before=19,
        text="output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - ((kernel_spatial_shape[i] - 1) * "
        "dilations[i] + 1)) / strides_spatial_shape[i] + 1)",
    )
    .reworded(
        before=11,
        text="output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - kernel_spatial_shape[i]) / "
        "strides_spatial_shape[i] + 1)",
        since=10,
    )
)
PAD_SHAPE = POOL.clause("sum of pads along axis")
IF_CEIL = POOL.clause("if ceil_mode is enabled", since=10)
SAME = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = ceil(input_spatial_shape[i] / strides_spatial_shape[i])"
)
SAME_EXPLICIT = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = floor((input_spatial_shape[i] - 1) / "
    "strides_spatial_shape[i]) + 1",
    since=19,
)
ADDED = POOL.clause(
    "pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + ((kernel_spatial_shape[i] - 1) * "
    "dilations[i] + 1) - input_spatial_shape[i]",
    note="The text does not define a negative result: padding is 0 or more.",
).reworded(
    before=11,
    text="pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + kernel_spatial_shape[i] - "
    "input_spatial_shape[i]",
)
VALID = POOL.clause(
    "VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - ((kernel_spatial_shape[i] - 1) * "
    "dilations[i] + 1) + 1) / strides_spatial_shape[i])"
).reworded(
    before=11,
    text="VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - kernel_spatial_shape[i] + 1) / "
    "strides_spatial_shape[i])",
)
VALID_EXPLICIT = POOL.clause(
    "VALID: output_spatial_shape[i] = floor((input_spatial_shape[i] - ((kernel_spatial_shape[i] - 1) * "
    "dilations[i] + 1)) / strides_spatial_shape[i]) + 1",
    since=19,
)
DEPRECATED = POOL.clause("`auto_pad` is a DEPRECATED attribute.")
SAME_SHAPE = POOL.clause(
    "SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] / strides[i])` "
    "for each axis `i`.",
    since=11,
    see=("https://github.com/onnx/onnx/issues/3153", "https://github.com/onnx/onnx/pull/3188"),
)
STRIDE_DEFAULT = POOL.clause("If not present, the stride defaults to 1 along each spatial axis.", since=11)
POOLS = Pools(
    windows=sentences(
        POOL,
        dimensions=ROUNDED_DOWN,
        rounded=ROUNDED_DOWN,
        dilation=DILATION,
        same=SAME_SHAPE,
        stride_default=STRIDE_DEFAULT,
        strided=SAME,
    ),
    form=FORM,
    kernel=KERNEL,
    amount=ADDED.at(11),
    ceil_mode=CEIL_MODE,
    sizes=(FLOOR, PAD_SHAPE),
    sizes_ceil=(CEIL, IF_CEIL),
    sizes_same=(SAME, SAME_EXPLICIT, ADDED, DEPRECATED),
    sizes_valid=(VALID, VALID_EXPLICIT),
)


@POOL.oracle()
def pooled(
    v: Version,
    *,
    X: Array,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
    ceil_mode: Int,
    count_include_pad: Int,
) -> Array:
    """Return the sum of each window divided by the number of its elements."""
    windows = place(
        v,
        POOLS,
        X.shape,
        kernel_shape=kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    windows = beginning_before_the_end(v, IGNORED, windows, ceil_mode)
    v.silent(COUNT, count_include_pad not in {0, 1, None})
    if FLOOR_SAME.in_force(v.since) and not ceil_mode and auto_pad != "NOTSET":
        shape = list(zip(windows.sizes, windows.kernel, windows.strides, strict=True))
        same = tuple(size // stride for size, _, stride in shape)
        v.silent(FLOOR_SAME, auto_pad != "VALID" and windows.counts != same)
        valid = tuple((size - pixels + 1) // stride for size, pixels, stride in shape)
        v.silent(FLOOR_VALID, auto_pad == "VALID" and windows.counts != valid)
    with np.errstate(all="ignore"):
        sums, counts = _averages(windows, X, count_include_pad)
        v.silent(DIVIDED, not counts.all())
        return sums / counts


case = POOL.case
UNEVEN = (
    Layout("same_upper_strides", (5, 7), (4, 3), {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    Layout("same_lower_strides", (5, 7), (4, 3), {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    Layout("same_upper_strides_line", (5,), (2,), {"strides": [3], "auto_pad": "SAME_UPPER"}),
    Layout("same_lower_strides_line", (5,), (2,), {"strides": [3], "auto_pad": "SAME_LOWER"}),
    Layout("valid_strides", (5, 7), (2, 3), {"strides": [3, 2], "auto_pad": "VALID"}),
)
"""Windows whose number differs between the formulas of versions 11 to 18 and auto_pad."""
pool_cases(
    POOL,
    POOLS,
    waves,
    but=(*(layout.name for layout in UNEVEN), "same_upper_strides_space", "same_lower_strides_space"),
)
for layout in UNEVEN:
    formula = FLOOR_VALID if layout.attributes["auto_pad"] == "VALID" else FLOOR_SAME
    call: dict[str, Any] = {"X": waves(1, 2, *layout.sizes), "kernel_shape": layout.kernel, **layout.attributes}
    case(f"{layout.name}_before_11", **call, before=11, cites=(SAME, POOLS.windows.either))
    case(f"{layout.name}_before_19", **call, cites=formula, unspecified=formula)
    case(f"{layout.name}_ceil_before_19", **call, ceil_mode=1, cites=formula)
    case(layout.name, **call, since=19, cites=(SAME, POOLS.windows.either))
case(
    "same_upper_even_floor_before_19",
    X=waves(1, 2, 4, 6),
    kernel_shape=[3, 5],
    strides=[2, 3],
    auto_pad="SAME_UPPER",
    cites=FLOOR_SAME,
)
case(
    "valid_even_floor_before_19",
    X=waves(1, 2, 5, 7),
    kernel_shape=[2, 3],
    strides=[2, 5],
    auto_pad="VALID",
    cites=FLOOR_VALID,
)

PADDED = (
    Layout("none", (4, 5), (2, 3), {}),
    Layout("all", (3, 4), (2, 3), {"pads": [1, 2, 0, 1]}),
    Layout("space", (2, 3, 4), (2, 3, 2), {"pads": [1, 0, 1, 0, 2, 1]}),
    Layout("strides", (4, 6), (3, 2), {"strides": [2, 3], "pads": [1, 1, 0, 1]}),
    Layout("same_upper", (3, 5), (2, 4), {"auto_pad": "SAME_UPPER"}),
    Layout("same_lower", (3, 5), (2, 4), {"auto_pad": "SAME_LOWER"}),
    Layout("dilations", (5, 6), (2, 3), {"dilations": [3, 2], "pads": [1, 2, 0, 1]}),
    Layout("ceil", (4, 6), (3, 3), {"strides": [3, 3], "pads": [1, 1, 0, 1], "ceil_mode": 1}),
    Layout("ceil_dilations", (7,), (3,), {"strides": [3], "dilations": [2], "pads": [1, 1], "ceil_mode": 1}),
)
for layout in PADDED:
    case(
        f"pad_counts_{layout.name}",
        X=waves(1, 2, *layout.sizes),
        kernel_shape=layout.kernel,
        **layout.attributes,
        count_include_pad=1,
        cites=(COUNT, DIVIDED),
    )
ALL_SIDES: dict[str, Any] = {"X": waves(1, 2, 3, 4), "kernel_shape": [2, 3], "pads": [1, 2, 0, 1]}
case("pad_counts_not", **ALL_SIDES, count_include_pad=0, cites=(COUNT, DIVIDED))
case("pad_counts_twice", **ALL_SIDES, count_include_pad=2, unspecified=COUNT)
case("divided_before_7", **ALL_SIDES, cites=(AVERAGE, EXCLUDED))
case("divided", **ALL_SIDES, cites=(AVERAGE, DIVIDED))
case("dilations_default", X=waves(1, 2, 4, 5), kernel_shape=[2, 3], cites=DILATION_DEFAULT)
case("infinities", Tag.EDGE, X=[[[1, np.inf, 2, -np.inf, -np.inf]]], kernel_shape=[2], cites=AVERAGE)
case("infinities_of_two_signs", Tag.EDGE, X=[[[1, 2, np.inf, -np.inf]]], kernel_shape=[2], cites=AVERAGE)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3]]], kernel_shape=[2], pads=[1, 1], cites=AVERAGE)
case("long", X=np.cos(np.arange(600.0)).reshape(1, 2, 300), kernel_shape=[299], cites=AVERAGE)

AT_THE_START: dict[str, Any] = {"X": [[[1, 2, 4]]], "kernel_shape": [2], "pads": [2, 0]}
AT_THE_END: dict[str, Any] = {"X": [[[1, 2, 4]]], "kernel_shape": [2], "pads": [0, 2]}
case(
    "no_pixels_but_padding",
    Tag.EDGE,
    X=np.zeros((1, 2, 0)),
    kernel_shape=[2],
    pads=[1, 1],
    count_include_pad=1,
    before=22,
    cites=DIVIDED,
)
case("padding_alone_at_the_start", Tag.EDGE, **AT_THE_START, unspecified=DIVIDED)
case("padding_alone_at_the_start_counts", Tag.EDGE, **AT_THE_START, count_include_pad=1, cites=DIVIDED)
case("padding_alone_at_the_end_before_22", Tag.EDGE, **AT_THE_END, before=22, unspecified=DIVIDED)
case("padding_alone_at_the_end_counts_before_22", Tag.EDGE, **AT_THE_END, count_include_pad=1, before=22, cites=DIVIDED)
case("padding_alone_at_the_end", Tag.EDGE, **AT_THE_END, count_include_pad=1, since=22, unspecified=IGNORED)
case(
    "padding_alone_at_the_right",
    Tag.EDGE,
    X=waves(1, 2, 3, 4),
    kernel_shape=[2, 3],
    pads=[0, 0, 0, 3],
    count_include_pad=1,
    since=22,
    unspecified=IGNORED,
)
LAST_WINDOWS = (
    Layout("behind", (6,), (2,), {"strides": [3]}),
    Layout("in_padding", (5,), (2,), {"strides": [3], "pads": [0, 2]}),
    Layout("in_little_padding", (4,), (3,), {"strides": [4], "pads": [0, 1]}),
)
for layout in LAST_WINDOWS:
    name, call = layout.name, {"X": waves(1, 2, *layout.sizes), "kernel_shape": layout.kernel, **layout.attributes}
    case(f"last_window_{name}", Tag.CHANGE, Tag.EDGE, **call, ceil_mode=1, cites=IGNORED)
    case(f"last_window_{name}_counts", Tag.CHANGE, Tag.EDGE, **call, ceil_mode=1, count_include_pad=1, cites=IGNORED)
    case(f"last_window_{name}_before_22", Tag.CHANGE, **call, ceil_mode=1, before=22, unspecified=DIVIDED)
    if "pads" in layout.attributes:
        case(
            f"last_window_{name}_counts_before_22",
            Tag.CHANGE,
            **call,
            ceil_mode=1,
            count_include_pad=1,
            before=22,
            cites=(CEIL_MODE, DIVIDED),
        )

for name, (dims, sizes) in POOLED.items():
    POOL.sized(name, sizes, each="T", cites=(AVERAGE, DIVIDED), arguments=pool_arguments(dims))
    if name == "pads":
        counted = {**pool_arguments(dims), "count_include_pad": 1}
        POOL.sized("pads_counted", sizes, each="T", cites=(DIVIDED, COUNT), arguments=counted)
for mode in ("SAME_UPPER", "SAME_LOWER"):
    padded = with_same(pool_arguments(POOLED["strides"][0]), mode)
    POOL.sized(mode.lower(), SAME_SIZES, each="T", cites=(AVERAGE, SAME_SHAPE), arguments=padded)
