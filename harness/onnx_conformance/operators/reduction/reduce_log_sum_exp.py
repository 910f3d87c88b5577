# SPDX-License-Identifier: Apache-2.0
"""ReduceLogSumExp: the logarithm of the sum of the exponentials along some axes.

    reduced = ReduceLogSumExp(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes; does not define rank 0 and empty sets), 13 (defines them again), 18
(axes as input, noop_with_empty_axes), 28 (no integers).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.reduction import Reduction, reduced_axes, reduced_rank, terms_of
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.rounding import exponential_leaves_range


def _rounding(data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> list[Array]:
    """Return the errors that exponentials, additions and the sum with max add to the logarithm."""
    removed = reduced_axes(data, axes, noop_with_empty_axes)
    terms = terms_of(data, removed)
    finite = np.where(np.isfinite(data), data, 0)
    greatest = finite.max(removed, keepdims=bool(keepdims), initial=0)
    least = finite.min(removed, keepdims=bool(keepdims), initial=0)
    largest = np.maximum(np.abs(greatest), np.abs(least))
    return [2 + roundings(terms) / 2 + np.minimum(greatest - least, 20) + 2 * largest]


REDUCE_LOG_SUM_EXP = Op(
    "ReduceLogSumExp",
    versions=(1, 11, 13, 18, 28),
    compare=bounded(
        _rounding, "exponentials and their sum have errors of some epsilons each, max + log rounds once more"
    ),
    rank=reduced_rank,
)
REDUCE_LOG_SUM_EXP.example(data=ramp(2, 3, 4), axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_LOG_SUM_EXP.clause(
    "Computes the log sum exponent of the input tensor's element",
    note="The formula is one of real numbers: exp(1000) must not overflow on the way, as the official cases of large "
    "numbers show. The text does not define the integer result for a logarithm that is not whole.",
)
REDUCE_LOG_SUM_EXP.dispute(
    "The function body of onnx computes the exponential of each element directly, which can overflow although the "
    "logarithm of the sum does not.",
    "large",
    "far_apart",
    "limits",
    "noop_is_identity",
    "one_term",
)
EMPTY = REDUCE_LOG_SUM_EXP.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields minus infinity (if supported by the datatype) or undefined otherwise.",
    since=13,
    note="Version 11 does not define rank 0 or the empty set.",
    see=("https://github.com/onnx/onnx/pull/5568",),
).reworded(
    before=11,
    text="have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of "
    "values yields minus infinity (if supported by the datatype) or undefined otherwise.",
)
STEPS = REDUCE_LOG_SUM_EXP.clause(
    "but composite-reduction operators will still perform the non-reduction steps as needed.", since=18
)
FLOATS = REDUCE_LOG_SUM_EXP.clause("Constrain input and output types to float tensors.", since=28)
REDUCTION = Reduction(REDUCE_LOG_SUM_EXP, empty=EMPTY, by_input=18)


@REDUCE_LOG_SUM_EXP.oracle()
def log_sum_exp(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Array:
    """Return max + log(sum(exp(data - max))), which equals log(sum(exp(data))) in real numbers."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    terms = terms_of(data, removed)
    if data.dtype.kind != "f":
        v.silent(EMPTY, terms == 0)
        v.silent(COMPUTES, terms > 1 and data.size > 0)
        return np.asarray(data.sum(removed, keepdims=keepdims == 1))  # For one term, log(exp(x)) is x.
    largest = data.max(removed, keepdims=True, initial=-np.inf)
    v.reads(REAL_NUMBERS, exponential_leaves_range(largest, v.dtypes["T"]))
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(all="ignore"):
        result = shift + np.log(np.exp(data - shift).sum(removed, keepdims=True))
    return np.asarray(result if keepdims else result.squeeze(removed))


case = REDUCE_LOG_SUM_EXP.case

REDUCTION.cases(COMPUTES)
case("large", Tag.EDGE, data=[[1000, 1001, 1002], [-1000, -1003, -1001]], axes=[1], cites=COMPUTES)
case("far_apart", Tag.EDGE, data=[[0, -1000, 1000, 500]], axes=[1], cites=COMPUTES)
case("limits", Tag.EDGE, data=[[3.4e38, -3.4e38, 1], [-3.4e38, -3.4e38, -3.4e38]], axes=[1], cites=COMPUTES)
case("equal", Tag.EDGE, data=[[0, 0, 0, 0], [-2, -2, -2, -2]], axes=[1], cites=COMPUTES)
for type_, since in float_types(13).items():
    # A 16-bit sum that adds one term after the other stays at 2048 (float16) or 256 (bfloat16).
    thousands = typed(type_, np.full((2, 4096), [[0.5], [3]]))
    case(f"thousands_equal_{type_}", Tag.EDGE, data=thousands, axes=[1], since=since, cites=COMPUTES)
case("near_zero", Tag.EDGE, data=[[-np.log(2), -np.log(1.75)], [-40, 0.0625]], axes=[1], cites=COMPUTES)
case("subnormal", Tag.EDGE, data=[[1e-45, -1e-45], [1e-40, 0]], axes=[1], cites=COMPUTES)
case("minus_infinity", Tag.EDGE, data=[[-np.inf, 1, 2], [0, -np.inf, -np.inf]], axes=[1], cites=COMPUTES)
case("minus_infinity_all", Tag.EDGE, data=[[-np.inf, -np.inf], [1, 2]], axes=[1], cites=COMPUTES)
case("infinity", Tag.EDGE, data=[[np.inf, 1], [np.inf, -np.inf], [np.inf, np.inf]], axes=[1], cites=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, np.nan, np.inf], [5, 6, 7]], axes=[1], cites=COMPUTES)
case("noop_is_identity", Tag.CHANGE, data=[[800, -800, 0.5]], noop_with_empty_axes=1, cites=STEPS)
case("one_term", Tag.EDGE, data=[[800], [-800], [0.5]], axes=[1], cites=COMPUTES)
case("one_term_of_each_type", Tag.DTYPE, each="T", data=ramp(3, 1), axes=[1], cites=COMPUTES)
case("integers_before_28", Tag.EDGE, data=typed("int32", [1, 2]), before=28, unspecified=COMPUTES)
case("integers_none_beside", Tag.EDGE, data=typed("int32", ramp(0, 3)), axes=[1], before=28, cites=COMPUTES)
case("integers_empty_set", Tag.EDGE, data=typed("int32", []), axes=[0], since=13, before=28, unspecified=EMPTY)
case("integers_since_28", Tag.CHANGE, data=typed("int32", [[1], [2]]), axes=[1], since=28, rejects=FLOATS)
