"""ReduceLogSumExp: the logarithm of the sum of the exponentials along some axes.

Versions: 1 (axes as attribute), 11 (range of axes; silent on rank 0 and empty sets), 13 (says them again), 18 (axes as
input, noop_with_empty_axes), 28 (no integers).
"""

from __future__ import annotations

import numpy as np

from harness.declare import Array, Int, Ints, Op, Tag, Version, bounded, ramp, typed
from harness.declare.families.reduction import Reduction, reduced_axes, reduced_rank, terms_of


def _rounding(data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> list[Array]:
    """Return what each term's exponential and its addition add to the logarithm, and the sum with max."""
    gone = reduced_axes(data, axes, noop_with_empty_axes)
    terms = terms_of(data, gone)
    finite = np.where(np.isfinite(data), data, 0)
    largest = np.abs(finite).max(gone, keepdims=bool(keepdims), initial=0)
    spread = finite.max(gone, keepdims=bool(keepdims), initial=0) - finite.min(gone, keepdims=bool(keepdims), initial=0)
    return [2 + terms / 2 + np.minimum(spread, 20) + 2 * largest]


LSE = Op(
    "ReduceLogSumExp",
    versions=(1, 11, 13, 18, 28),
    compare=bounded(_rounding, "exponentials and their sum err by some epsilons each, max + log rounds once more"),
    rank=reduced_rank,
)

REDUCTION = Reduction(
    LSE, yields="yields minus infinity (if supported by the datatype) or undefined otherwise.", silent=11, by_input=18
)
COMPUTES = LSE.clause(
    "Computes the log sum exponent of the input tensor's element",
    note="Of real numbers: exp(1000) may not overflow on the way, as the official cases of large numbers show. Says "
    "not what integer stands for a logarithm that is none.",
)
LSE.dispute(
    "The function body of onnx takes the exponential of each element as it is, which overflows where the logarithm of "
    "the sum does not.",
    "large", "far_apart", "limits", "noop_is_identity", "one_term",
)  # fmt: skip
STEPS = LSE.clause("but composite-reduction operators will still perform the non-reduction steps as needed.", since=18)
PRECISE = LSE.clause("Constrain input and output types to high-precision numeric tensors.", before=13)
NUMERIC = LSE.clause("Constrain input and output types to numeric tensors.", since=13, before=28)
FLOATS = LSE.clause("Constrain input and output types to float tensors.", since=28)


@LSE.oracle()
def log_sum_exp(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Array:
    """Return max + log(sum(exp(data - max))), which is log(sum(exp(data))) of real numbers."""
    gone = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    terms = terms_of(data, gone)
    if data.dtype.kind != "f":
        v.silent(REDUCTION.empty, terms == 0)
        v.silent(COMPUTES, terms > 1 and data.size > 0)
        return np.asarray(data.sum(gone, keepdims=keepdims == 1, dtype=data.dtype))  # log(exp(x)) is x.
    largest = data.max(gone, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(all="ignore"):
        found = shift + np.log(np.exp(data - shift).sum(gone, keepdims=True))
    return np.asarray(found if keepdims else found.reshape(found.sum(gone, keepdims=False).shape))


case = LSE.case

REDUCTION.cases(COMPUTES)
case("large", Tag.EDGE, data=[[1000, 1001, 1002], [-1000, -1003, -1001]], axes=[1], cites=(COMPUTES,))
case("far_apart", Tag.EDGE, data=[[0, -1000, 1000, 500]], axes=[1], cites=(COMPUTES,))
case("limits", Tag.EDGE, data=[[3.4e38, -3.4e38, 1], [-3.4e38, -3.4e38, -3.4e38]], axes=[1], cites=(COMPUTES,))
case("equal", Tag.EDGE, data=[[0, 0, 0, 0], [-2, -2, -2, -2]], axes=[1], cites=(COMPUTES,))
case("near_zero", Tag.EDGE, data=[[-np.log(2), -np.log(2)], [-40, 0]], axes=[1], cites=(COMPUTES,))
case("subnormal", Tag.EDGE, data=[[1e-45, -1e-45], [1e-40, 0]], axes=[1], cites=(COMPUTES,))
case("minus_infinity", Tag.EDGE, data=[[-np.inf, 1, 2], [0, -np.inf, -np.inf]], axes=[1], cites=(COMPUTES,))
case("minus_infinity_all", Tag.EDGE, data=[[-np.inf, -np.inf], [1, 2]], axes=[1], cites=(COMPUTES,))
case("infinity", Tag.EDGE, data=[[np.inf, 1], [np.inf, -np.inf], [np.inf, np.inf]], axes=[1], cites=(COMPUTES,))
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, np.nan, np.inf], [5, 6, 7]], axes=[1], cites=(COMPUTES,))
case("noop_is_identity", Tag.CHANGE, data=[[800, -800, 0.5]], noop_with_empty_axes=1, cites=(STEPS,))
case("one_term", Tag.EDGE, data=[[800], [-800], [0.5]], axes=[1], cites=(COMPUTES,))
case("float_dtypes", Tag.DTYPE, each="T", data=ramp(3, 2), axes=[0], cites=(FLOATS,))
case("dtypes_noop", Tag.DTYPE, each="T", data=ramp(2, 3), noop_with_empty_axes=1, cites=(REDUCTION.noop,))
for name, clause in {"precise": PRECISE, "numeric": NUMERIC}.items():
    case(f"one_term_{name}", Tag.DTYPE, each="T", data=ramp(3, 1), axes=[1], cites=(clause,))
case("integers_old", Tag.EDGE, data=typed("int32", [1, 2]), before=28, unspecified=COMPUTES)
case(
    "integers_empty_set", Tag.EDGE, data=typed("int32", []), axes=[0], since=13, before=28, unspecified=REDUCTION.empty
)
case("integers_now", Tag.CHANGE, data=typed("int32", [[1], [2]]), axes=[1], since=28, rejects=FLOATS)
