"""AveragePool: the average of each window.

Versions: 1, 7 (count_include_pad), 10 (ceil_mode), 11 (formulas for auto_pad that contradict it), 19 (dilations;
formulas mended), 22 (bfloat16; windows in the right padding do not count).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import Array, Int, Ints, Op, Rule, Tag, Version, bounded
from harness.declare.data import waves
from harness.operators.nn._pooling import BEHIND, SLIDING, place, pool_cases, pools
from harness.operators.nn._windows import SAME

if TYPE_CHECKING:
    from harness.operators.nn._windows import Windows


def _averages(windows: Windows, X: Array, count_include_pad: Int) -> tuple[Array, Array]:  # noqa: N803 - the text's name
    """Return the sums, and how many elements each is of."""
    kernel = tuple(range(-len(windows.sizes), 0))
    return windows.taken(X).sum(kernel), windows.inside(padded=count_include_pad == 1).sum(kernel)


def _rounding(X: Array, count_include_pad: Int, **placing: Any) -> list[Array]:  # noqa: ANN401, N803 - what `place` takes
    """Return half a rounding of all magnitudes for each term, and for the quotient.

    The largest of all windows: which of them count differs between versions, and the bound is not told of which it is.
    """
    windows = place(Version(POOL.versions[0]), SAID, X.shape, **placing)
    sums, counts = _averages(windows, np.abs(X), count_include_pad)
    errors = sums / np.maximum(counts, 1) * (counts + 2) / 2
    return [errors[np.isfinite(errors)].max(initial=0)]


POOL = Op(
    "AveragePool",
    versions=(1, 7, 10, 11, 19, 22),
    compare=bounded(
        _rounding, "each sum, in any order, rounds by half an epsilon of all magnitudes, as the quotient does"
    ),
    rank="X",
)

AVERAGE = POOL.clause(
    "average pooling consisting of computing the average on all values of a subset of the input tensor according to "
    "the kernel size",
    note="Of NaN too: onnx.reference leaves it out.",
)
DIVIDED_FIRST = POOL.clause(
    "The output of each pooling window is divided by the number of elements exclude pad.",
    before=7,
    note="onnx.reference counts the pad.",
)
DIVIDED = POOL.clause(
    "The output of each pooling window is divided by the number of elements (exclude pad when attribute "
    "count_include_pad is zero).",
    since=7,
    note="A window without elements has no average. What ceil_mode adds behind the padding is no pad: pads says how "
    "many pixels are added, and the official cases count so. Up to version 19 the formula has a last window of "
    "padding alone, which onnxruntime and onnx.reference leave out as version 22 says.",
)
COUNT = POOL.clause(
    "Whether include pad pixels when calculating values for the edges. Default is 0, doesn't count include pad.",
    since=7,
    note="Says nothing of values other than 0 and 1.",
)
DILATION = POOL.clause(
    "Dilation value along each spatial axis of filter.", since=19, note="Says nothing of one below 1."
)
DILATION_DEFAULT = POOL.clause("If not present, the dilation defaults to 1 along each spatial axis.", since=19)
FLOOR_SAME = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = floor(input_spatial_shape[i] / strides_spatial_shape[i])",
    since=11,
    before=19,
    note="Contradicts what auto_pad says of the output's shape, where it is not the same as rounding up; version 19 "
    "mended it. onnxruntime rounds up.",
)
FLOOR_VALID = POOL.clause(
    "VALID: output_spatial_shape[i] = floor((input_spatial_shape[i] - ((kernel_spatial_shape[i] - 1) * dilations[i] + 1"
    ") + 1) / strides_spatial_shape[i])",
    since=11,
    before=19,
    note="Contradicts the formula without padding, where it leaves out a window that fits; version 19 mended it.",
)
FLOATS = POOL.clause("Constrain input and output types to float tensors.")
IGNORED = POOL.clause(SLIDING, since=22, note=BEHIND)
SAID = pools(POOL, dilated=11, renewed=19, wording=11, dilation=DILATION, ignored=IGNORED)


@POOL.oracle()
def pooled(
    v: Version, *, X: Array, kernel_shape: Ints, strides: Ints, dilations: Ints, pads: Ints,  # noqa: N803
    auto_pad: str, ceil_mode: Int, count_include_pad: Int,
) -> Array:  # fmt: skip
    """Return the sum of each window over the number of its elements."""
    windows = place(v, SAID, X.shape, kernel_shape=kernel_shape, strides=strides, dilations=dilations, pads=pads,
                    auto_pad=auto_pad, ceil_mode=ceil_mode)  # fmt: skip
    v.silent(COUNT, count_include_pad not in {0, 1, None})
    if FLOOR_SAME.in_force(v.since) and not ceil_mode and auto_pad != "NOTSET":
        shape = list(zip(windows.sizes, windows.kernel, windows.strides, strict=True))
        same = tuple(size // stride for size, _, stride in shape)
        v.silent(FLOOR_SAME, auto_pad in SAME and windows.counts != same)
        valid = tuple((size - pixels + 1) // stride for size, pixels, stride in shape)
        v.silent(FLOOR_VALID, auto_pad == "VALID" and windows.counts != valid)
    with np.errstate(all="ignore"):
        sums, counts = _averages(windows, X, count_include_pad)
        v.silent(DIVIDED, not counts.all())
        return sums / counts


case = POOL.case
PLANE: dict[str, Any] = {"X": waves(1, 2, 4, 5), "kernel_shape": [2, 3]}
UNEVEN = {f"{mode.lower()}_strides": ([4, 3], [2, 3], mode, FLOOR_SAME) for mode in SAME}
UNEVEN |= {f"{mode.lower()}_strides_line": ([2], [3], mode, FLOOR_SAME) for mode in SAME}
UNEVEN |= {"valid_strides": ([2, 3], [3, 2], "VALID", FLOOR_VALID)}
pool_cases(POOL, SAID, waves, but=(*UNEVEN, "same_upper_strides_space", "same_lower_strides_space"))
for name, (kernel, strides, mode, clause) in UNEVEN.items():
    given: dict[str, Any] = {"X": waves(1, 2, *[5, 7][: len(kernel)]), "kernel_shape": kernel, "strides": strides}
    case(f"{name}_first", **given, auto_pad=mode, before=11, cites=SAID.windows.named("strided", "either"))
    case(f"{name}_old", **given, auto_pad=mode, cites=(clause,), unspecified=clause)
    case(f"{name}_old_ceil", **given, auto_pad=mode, ceil_mode=1, cites=(clause,))
    case(name, **given, auto_pad=mode, since=19, cites=SAID.windows.named("strided", "either"))
even: dict[str, Any] = {"X": waves(1, 2, 4, 6), "kernel_shape": [3, 5], "strides": [2, 3]}
case("same_upper_even_old_floor", **even, auto_pad="SAME_UPPER", cites=(FLOOR_SAME,))
case("valid_even_old_floor", X=waves(1, 2, 5, 7), kernel_shape=[2, 3], strides=[2, 5], auto_pad="VALID",
     cites=(FLOOR_VALID,))  # fmt: skip

PADDED: dict[str, dict[str, Any]] = {
    "none": PLANE,
    "all": {"X": waves(1, 2, 3, 4), "kernel_shape": [2, 3], "pads": [1, 2, 0, 1]},
    "space": {"X": waves(1, 2, 2, 3, 4), "kernel_shape": [2, 3, 2], "pads": [1, 0, 1, 0, 2, 1]},
    "strides": {"X": waves(1, 2, 4, 6), "kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 1, 0, 1]},
    "same_upper": {"X": waves(1, 2, 3, 5), "kernel_shape": [2, 4], "auto_pad": "SAME_UPPER"},
    "same_lower": {"X": waves(1, 2, 3, 5), "kernel_shape": [2, 4], "auto_pad": "SAME_LOWER"},
    "dilations": {"X": waves(1, 2, 5, 6), "kernel_shape": [2, 3], "dilations": [3, 2], "pads": [1, 2, 0, 1]},
    "ceil": {**even, "strides": [3, 3], "pads": [1, 1, 0, 1], "ceil_mode": 1, "kernel_shape": [3, 3]},
    "ceil_dilations": {"X": waves(1, 2, 7), "kernel_shape": [3], "strides": [3], "dilations": [2], "pads": [1, 1],
                       "ceil_mode": 1},
}  # fmt: skip
for name, given in PADDED.items():
    case(f"pad_counts_{name}", **given, count_include_pad=1, cites=(COUNT, DIVIDED))
case("pad_counts_not", **PADDED["all"], count_include_pad=0, cites=(COUNT, DIVIDED))
case("pad_counts_twice", **PADDED["all"], count_include_pad=2, unspecified=COUNT)
case("divided", **PADDED["all"], cites=(AVERAGE, DIVIDED_FIRST))
case("divided_by_default", **PADDED["all"], cites=(AVERAGE, DIVIDED))
case("dilations_default", **PLANE, cites=(DILATION_DEFAULT,))
case("infinities", Tag.EDGE, X=[[[1, np.inf, 2, -np.inf, -np.inf]]], kernel_shape=[2], cites=(AVERAGE,))
case("infinities_of_two_signs", Tag.EDGE, X=[[[1, 2, np.inf, -np.inf]]], kernel_shape=[2], cites=(AVERAGE,))
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3]]], kernel_shape=[2], pads=[1, 1], cites=(AVERAGE,))
case("long", X=np.cos(np.arange(600.0)).reshape(1, 2, 300), kernel_shape=[299], cites=(AVERAGE,))

BEFORE: dict[str, Any] = {"X": [[[1, 2, 4]]], "kernel_shape": [2], "pads": [2, 0]}
case("padding_alone_before", Tag.EDGE, **BEFORE, unspecified=DIVIDED)
case("padding_alone_before_counts", Tag.EDGE, **BEFORE, count_include_pad=1, cites=(DIVIDED,))
AFTER: dict[str, Any] = {**BEFORE, "pads": [0, 2]}
case("padding_alone_after", Tag.EDGE, **AFTER, before=22, unspecified=DIVIDED)
case("padding_alone_after_counts", Tag.EDGE, **AFTER, count_include_pad=1, before=22, cites=(DIVIDED,))
case("padding_alone_after_now", Tag.EDGE, **AFTER, count_include_pad=1, since=22, unspecified=IGNORED)
LAST: dict[str, dict[str, Any]] = {
    "behind": {"X": waves(1, 2, 6), "kernel_shape": [2], "strides": [3]},
    "in_padding": {"X": waves(1, 2, 5), "kernel_shape": [2], "strides": [3], "pads": [0, 2]},
    "in_little_padding": {"X": waves(1, 2, 4), "kernel_shape": [3], "strides": [4], "pads": [0, 1]},
}
for name, given in LAST.items():
    case(f"last_window_{name}", Tag.CHANGE, **given, ceil_mode=1, cites=(IGNORED,))
    case(f"last_window_{name}_counts", Tag.CHANGE, **given, ceil_mode=1, count_include_pad=1, cites=(IGNORED,))
    case(f"last_window_{name}_old", Tag.CHANGE, **given, ceil_mode=1, before=22, unspecified=DIVIDED)
for name in ("in_padding", "in_little_padding"):
    case(f"last_window_{name}_counts_old", Tag.CHANGE, **LAST[name], ceil_mode=1, count_include_pad=1, before=22,
         cites=(DIVIDED,))  # fmt: skip

case("dtypes", Tag.DTYPE, each="T", **PADDED["all"], cites=(FLOATS,))
case("dtypes_counts", Tag.DTYPE, each="T", **PADDED["all"], count_include_pad=1, cites=(FLOATS,))
case("no_kernel", X=PLANE["X"], rejects=Rule.ATTRIBUTES)
case("two_outputs", **PLANE, n=2, rejects=Rule.ARITY)
for name, value, since in (("count_include_pad", 0, 7), ("ceil_mode", 0, 10), ("dilations", [1, 1], 19)):
    case(f"attribute_{name}", Tag.CHANGE, **PLANE, stray={name: value}, before=since, rejects=Rule.ATTRIBUTES)
case("attribute_storage_order", **PLANE, stray={"storage_order": 0}, rejects=Rule.ATTRIBUTES)
