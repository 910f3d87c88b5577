"""ReduceSum: the sum along some axes.

Versions: 1 (axes as attribute), 11 (range of axes; silent on rank 0 and empty sets), 13 (axes as input,
noop_with_empty_axes).
"""

from __future__ import annotations

import numpy as np

from harness.declare import Array, Int, Ints, Op, Tag, Version, bounded, ramp, typed
from harness.declare.families.reduction import Reduction, exact_sum, reduced_rank, summing

SUM = Op(
    "ReduceSum",
    versions=(1, 11, 13),
    compare=bounded(
        summing(lambda terms: terms / 2), "each addition, in any order, rounds by half an epsilon of all magnitudes"
    ),
    rank=reduced_rank,
)

REDUCTION = Reduction(SUM, yields="yields 0.", silent=11, by_input=13)
COMPUTES = SUM.clause("Computes the sum of the input tensor's element", note="Says not what an overflow yields.")
PRECISE = SUM.clause("Constrain input and output types to high-precision numeric tensors.", before=13)
NUMERIC = SUM.clause("Constrain input and output types to numeric tensors.", since=13)


@SUM.oracle()
def summed(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Array:
    """Return the sum of real numbers, or exactly that of integers."""
    gone = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    total = exact_sum(data, gone, keepdims=keepdims == 1)
    if data.dtype.kind != "f":
        limits = np.iinfo(data.dtype)
        v.silent(COMPUTES, any(not limits.min <= number <= limits.max for number in total.ravel()))
    return total.astype(data.dtype)


case = SUM.case
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)

REDUCTION.cases(COMPUTES)
case("dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=(REDUCTION.empty,))
case("dtypes_empty_first", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=(REDUCTION.empty_first,))
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [np.inf, -np.inf]], axes=[1], cites=(COMPUTES,))
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, 4, np.inf], [5, 6, 7]], axes=[1], cites=(COMPUTES,))
case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [1e-40, -1e-40]], axes=[1], cites=(COMPUTES,))
case("overflow_to_infinity", Tag.EDGE, data=[[3e38, 3e38], [-3e38, -3e38]], axes=[1], cites=(COMPUTES,))
case("int32_limits", Tag.EDGE, data=typed("int32", [INT32.max, INT32.min, 0]), cites=(COMPUTES,))
case("int32_overflow", Tag.EDGE, data=typed("int32", [INT32.max, 1]), unspecified=COMPUTES)
case("int64_exact", Tag.EDGE, data=typed("int64", [INT64.max - 7, 3, 4]), cites=(COMPUTES,))
case("int64_overflow", Tag.EDGE, data=typed("int64", [INT64.min, -1]), unspecified=COMPUTES)
case("uint64_exact", Tag.EDGE, data=typed("uint64", np.array([2**63, 2**63 - 8, 7], np.uint64)), cites=(COMPUTES,))
case("dtypes_kept", Tag.DTYPE, each="T", data=ramp(2, 3), cites=(NUMERIC,))
case("dtypes_kept_old", Tag.DTYPE, each="T", data=ramp(2, 3), cites=(PRECISE,))
case("dtypes", Tag.DTYPE, each="T", data=ramp(2, 3), axes=[1], keepdims=0, cites=(REDUCTION.along,))
case("dtypes_noop", Tag.DTYPE, each="T", data=ramp(2, 3), noop_with_empty_axes=1, cites=(REDUCTION.noop,))
