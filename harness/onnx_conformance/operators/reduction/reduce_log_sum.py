# SPDX-License-Identifier: Apache-2.0
"""ReduceLogSum: the logarithm of the sum along some axes.

    reduced = ReduceLogSum(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes; does not define rank 0 and empty sets), 13 (bfloat16), 18 (axes as
input, noop_with_empty_axes), 28 (no integers).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.reduction import Reduction, exact_sum, reduced_axes, reduced_rank, terms_of
from onnx_conformance.declare.families.sums import largest, roundings


def _rounding(data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> list[Array]:
    """Return the error of the logarithm: the relative error of the sum, plus two epsilons.

    For a sum of about 1 the logarithm is small compared to the error of the sum.
    """
    removed = reduced_axes(data, axes, noop_with_empty_axes)
    terms = roundings(terms_of(data, removed)) / 2 if terms_of(data, removed) > 1 else 0
    wide = data.astype(np.float64)
    with np.errstate(all="ignore"):
        magnitudes = np.abs(wide).sum(removed, keepdims=bool(keepdims))
        total = wide.sum(removed, keepdims=bool(keepdims))
        logarithm = np.where(total > 0, np.abs(np.log(total)), 0)
        return [np.where(total > 0, magnitudes / total, 0) * terms + 2 * logarithm]


REDUCE_LOG_SUM = Op(
    "ReduceLogSum",
    versions=(1, 11, 13, 18, 28),
    compare=bounded(
        _rounding, "each addition rounds by half an epsilon of all magnitudes, the logarithm adds two epsilons"
    ),
    rank=reduced_rank,
)
REDUCE_LOG_SUM.example(data=[[2, 3, 7], [5, 1, 4]], axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_LOG_SUM.clause(
    "Computes the log sum of the input tensor's element",
    note="It is the logarithm of the sum, not of each element. The text does not define the integer result for a "
    "logarithm that is not whole, or the type of the sum: in the function body it can overflow although the logarithm "
    "does not.",
)
REDUCE_LOG_SUM.dispute(
    "The function body of onnx computes the logarithm in the type of the sum. Log does not allow integers, but "
    "versions before 28 do.",
    "one_term_of_each_type",
    "integers_of_one",
    "integers_none_beside",
)
EMPTY = REDUCE_LOG_SUM.clause(
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
STEPS = REDUCE_LOG_SUM.clause(
    "but composite-reduction operators will still perform the non-reduction steps as needed.", since=18
)
RETURNS = REDUCE_LOG_SUM.clause("Thus, ReduceLogSum returns the Log of input tensor", since=18)
FLOATS = REDUCE_LOG_SUM.clause("Constrain input and output types to float tensors.", since=28)
REDUCTION = Reduction(REDUCE_LOG_SUM, empty=EMPTY, by_input=18)


@REDUCE_LOG_SUM.oracle()
def log_sum(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Result:
    """Return the logarithm of the sum of real numbers. For integers the sum must be 1."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    total = exact_sum(data, removed, keepdims=keepdims == 1)
    if data.dtype.kind != "f":
        v.silent(EMPTY, terms_of(data, removed) == 0)
        return v.leave_open(COMPUTES, total != 1, np.zeros(total.shape, data.dtype))
    with np.errstate(all="ignore"):
        overflows = np.isfinite(total) & (np.abs(total) > largest(v.dtypes["T"]))
        return v.leave_open(COMPUTES, overflows, np.asarray(np.log(total)))


case = REDUCE_LOG_SUM.case
POSITIVE = 1.0 + np.arange(24.0).reshape(2, 3, 4)

REDUCTION.cases(COMPUTES)
case("all_positive", data=POSITIVE, axes=[1], cites=COMPUTES)
case("all_positive_pruned", data=POSITIVE, axes=[0, 2], keepdims=0, cites=COMPUTES)
case("below_one", data=[[0.1, 0.2, 0.05], [1e-3, 1e-5, 3e-4]], axes=[1], cites=COMPUTES)
case("signs", data=[[-3, 2, 5], [4, -5, 6]], axes=[1], cites=COMPUTES)
case("near_one", Tag.EDGE, data=[[0.5, 0.5], [0.75, 0.25], [0.5, 0.625]], axes=[1], cites=COMPUTES)
case("negative_sum", Tag.EDGE, data=[[-3, 2], [-1, -5], [2, 7]], axes=[1], cites=COMPUTES)
case("zero_sum", Tag.EDGE, data=[[-3, 3], [0, 0], [-0.0, -0.0]], axes=[1], cites=COMPUTES)
for type_, since in float_types(13).items():
    tenths = typed(type_, [[0.1, 0.7, 1 / 3, 0.3, 1.1, 0.2, 0.9], [0.6, 1.7, 0.1, 2 / 3, 30, 1e-3, 0.8]])
    case(f"fractions_{type_}", Tag.EDGE, data=tenths, axes=[1], since=since, cites=COMPUTES)
    thousands = typed(type_, np.full((2, 4096), [[0.5], [3]]))
    case(f"thousands_equal_{type_}", Tag.EDGE, data=thousands, axes=[1], since=since, cites=COMPUTES)
case("overflow", Tag.EDGE, data=[[3e38, 3e38, 1e38], [2e38, 2e38, 0]], axes=[1], unspecified=COMPUTES)
case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [1e-40, 0]], axes=[1], cites=COMPUTES)
case("infinity", Tag.EDGE, data=[[np.inf, 1], [np.inf, np.inf], [3, 4]], axes=[1], cites=COMPUTES)
case("minus_infinity", Tag.EDGE, data=[[-np.inf, 1], [np.inf, -np.inf], [3, 4]], axes=[1], cites=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, np.nan, np.inf], [5, 6, 7]], axes=[1], cites=COMPUTES)
case("one_term", Tag.EDGE, data=[[800], [1e-3], [0.5]], axes=[1], cites=COMPUTES)
case("one_term_of_each_type", Tag.DTYPE, each="T", data=[[1], [1], [1]], axes=[1], cites=COMPUTES)
case("noop_is_logarithm", Tag.CHANGE, data=[[800, 0.25, 1]], noop_with_empty_axes=1, cites=(STEPS, RETURNS))
case("noop_empty_list", Tag.CHANGE, data=[[800, 0.25, 1]], axes=[], noop_with_empty_axes=1, cites=(STEPS, RETURNS))
case("integers_before_28", Tag.EDGE, data=typed("int32", [1, 2]), before=28, unspecified=COMPUTES)
case("integers_of_one", Tag.EDGE, data=typed("int32", [[2, -1], [1, 0]]), axes=[1], before=28, cites=COMPUTES)
case("integers_none_beside", Tag.EDGE, data=typed("int32", ramp(0, 3)), axes=[1], before=28, cites=COMPUTES)
case("integers_empty_set", Tag.EDGE, data=typed("int32", []), axes=[0], since=13, before=28, unspecified=EMPTY)
case("integers_since_28", Tag.CHANGE, data=typed("int32", [[1], [2]]), axes=[1], since=28, rejects=FLOATS)
