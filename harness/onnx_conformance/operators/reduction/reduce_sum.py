# SPDX-License-Identifier: Apache-2.0
"""ReduceSum: the sum along some axes.

    reduced = ReduceSum(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes; does not define rank 0 and empty sets), 13 (axes as input,
noop_with_empty_axes).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.reduction import Reduction, exact_sum, reduced_rank, summing
from onnx_conformance.declare.families.sums import roundings

REDUCE_SUM = Op(
    "ReduceSum",
    versions=(1, 11, 13),
    compare=bounded(
        summing(lambda terms: roundings(terms) / 2),
        "each addition, in any order, rounds by half an epsilon of all magnitudes",
    ),
    rank=reduced_rank,
)
REDUCE_SUM.example(data=ramp(2, 3, 4), axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_SUM.clause(
    "Computes the sum of the input tensor's element", note="The text does not define the result of an overflow."
)
EMPTY = REDUCE_SUM.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields 0.",
    since=13,
    note="Version 11 does not define rank 0 or the empty set.",
    see=("https://github.com/onnx/onnx/pull/5568",),
).reworded(
    before=11,
    text="have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of "
    "values yields 0.",
)
REDUCTION = Reduction(REDUCE_SUM, empty=EMPTY, by_input=13)


@REDUCE_SUM.oracle()
def summed(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Result:
    """Return the sum of real numbers; sums of integers are exact."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    total = exact_sum(data, removed, keepdims=keepdims == 1)
    return total.astype(data.dtype) if data.dtype.kind == "f" else v.fitting(COMPUTES, total, data.dtype)


case = REDUCE_SUM.case
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)

REDUCTION.cases(COMPUTES)
case("dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=EMPTY)
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [np.inf, -np.inf]], axes=[1], cites=COMPUTES)
for type_, since in float_types(13).items():
    tenths = typed(type_, [[0.1, 0.7, 1 / 3, 0.3, 1.1, -0.2, 0.9], [-0.6, -1.7, 0.1, -2 / 3, -0.4, 1e-3, -0.8]])
    case(f"fractions_{type_}", Tag.EDGE, data=tenths, axes=[1], since=since, cites=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, 4, np.inf], [5, 6, 7]], axes=[1], cites=COMPUTES)
case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [1e-40, -1e-40]], axes=[1], cites=COMPUTES)
case("overflow_to_infinity", Tag.EDGE, data=[[3e38, 3e38], [-3e38, -3e38]], axes=[1], cites=COMPUTES)
case("int32_limits", Tag.EDGE, data=typed("int32", [INT32.max, INT32.min, 0]), cites=COMPUTES)
case("int32_overflow", Tag.EDGE, data=typed("int32", [INT32.max, 1]), unspecified=COMPUTES)
case("int32_overflow_once", Tag.EDGE, data=typed("int32", [[INT32.max, 1], [1, 1]]), axes=[1], unspecified=COMPUTES)
case("int64_exact", Tag.EDGE, data=typed("int64", [INT64.max - 7, 3, 4]), cites=COMPUTES)
case("int64_overflow", Tag.EDGE, data=typed("int64", [INT64.min, -1]), unspecified=COMPUTES)
case("uint64_exact", Tag.EDGE, data=typed("uint64", np.array([2**63, 2**63 - 8, 7], np.uint64)), cites=COMPUTES)
