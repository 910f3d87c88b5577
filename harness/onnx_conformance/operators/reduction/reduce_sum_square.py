# SPDX-License-Identifier: Apache-2.0
"""ReduceSumSquare: the sum of squares along some axes.

    reduced = ReduceSumSquare(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes; does not define rank 0 and empty sets), 13 (bfloat16), 18 (axes as
input, noop_with_empty_axes).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.reduction import Reduction, exact_sum, reduced_rank, summing
from onnx_conformance.declare.families.sums import roundings


def _errors(data: Array, axes: Ints, keepdims: int, noop_with_empty_axes: int | None) -> list[Array]:
    """Return the error of the sum: half an epsilon of all magnitudes for each addition and each square."""
    of_sum = summing(lambda terms: roundings(terms) / 2 + 0.5)
    return of_sum(np.square(data.astype(np.float64)), axes, keepdims, noop_with_empty_axes)


REDUCE_SUM_SQUARE = Op(
    "ReduceSumSquare",
    versions=(1, 11, 13, 18),
    compare=bounded(
        _errors, "each square and each addition, in any order, rounds by half an epsilon of all magnitudes"
    ),
    rank=reduced_rank,
)
REDUCE_SUM_SQUARE.example(data=ramp(2, 3, 4), axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_SUM_SQUARE.clause(
    "Computes the sum square of the input tensor's element",
    note="The text does not define the result of an integer overflow.",
)
EMPTY = REDUCE_SUM_SQUARE.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields 0.",
    since=13,
    note="Version 11 does not define rank 0 or the empty set.",
).reworded(
    before=11,
    text="have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of "
    "values yields 0.",
)
COMPOSITE = REDUCE_SUM_SQUARE.clause(
    "composite-reduction operators will still perform the non-reduction steps as needed.", since=18
)
REDUCTION = Reduction(REDUCE_SUM_SQUARE, empty=EMPTY, by_input=18)


@REDUCE_SUM_SQUARE.oracle()
def sum_of_squares(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Result:
    """Return the sum of squares of real numbers; sums of integers are exact."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    wide = data if data.dtype.kind == "f" else data.astype(object)
    with np.errstate(all="ignore"):
        total = exact_sum(wide * wide, removed, keepdims=keepdims == 1)
    return total.astype(data.dtype) if data.dtype.kind == "f" else v.fitting(COMPUTES, total, data.dtype)


case = REDUCE_SUM_SQUARE.case
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)

REDUCTION.cases(COMPUTES)
case("dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=EMPTY)
case("noop_of_signs", Tag.CHANGE, data=[[-3, 2], [-1, 5]], noop_with_empty_axes=1, cites=COMPOSITE)
case("noop_empty_list_of_signs", Tag.CHANGE, data=[[-3, 2], [-1, 5]], axes=[], noop_with_empty_axes=1, cites=COMPOSITE)
case("signs", data=[[-3, 2, -1], [4, -5, -6]], axes=[1], cites=COMPUTES)
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [np.inf, -np.inf]], axes=[1], cites=COMPUTES)
for type_, since in float_types(13).items():
    tenths = typed(type_, [[0.1, 0.7, 1 / 3, 0.3, 1.1, -0.2, 0.9], [-0.6, -1.7, 0.1, -2 / 3, -0.4, 1e-3, -0.8]])
    case(f"fractions_{type_}", Tag.EDGE, data=tenths, axes=[1], since=since, cites=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, 4, np.inf], [5, 6, 7]], axes=[1], cites=COMPUTES)
case("minus_zero", Tag.EDGE, data=[[-0.0, -0.0], [0.0, -0.0], [-1, 2]], axes=[1], cites=COMPUTES)
case("one_term", Tag.EDGE, data=[[-0.1], [-3.5], [7]], axes=[1], cites=COMPUTES)
case("overflow_to_infinity", Tag.EDGE, data=[[3e38, -3e38], [-3e38, -3e38]], axes=[1], cites=COMPUTES)
case("int32_limits", Tag.EDGE, data=typed("int32", [-46340, 200, 5]), cites=COMPUTES)
case("int32_overflow", Tag.EDGE, data=typed("int32", [46341, 0]), unspecified=COMPUTES)
case("int64_exact", Tag.EDGE, data=typed("int64", [-(2**31) - 1, 3, 4]), cites=COMPUTES)
case("uint64_exact", Tag.EDGE, data=typed("uint64", np.array([2**32 - 1, 3, 7], np.uint64)), cites=COMPUTES)
