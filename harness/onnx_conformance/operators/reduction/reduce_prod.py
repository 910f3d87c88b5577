# SPDX-License-Identifier: Apache-2.0
"""ReduceProd: the product along some axes.

    reduced = ReduceProd(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes; does not define rank 0 and empty sets), 13 (bfloat16), 18 (axes as
input, noop_with_empty_axes).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.products import but_where_order_decides
from onnx_conformance.declare.families.reduction import Reduction, reduced_axes, reduced_rank, terms_of
from onnx_conformance.declare.families.sums import roundings


def _rounding(data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> list[Array]:
    """Return the error of the product: half an epsilon of it for each multiplication."""
    removed = reduced_axes(data, axes, noop_with_empty_axes)
    with np.errstate(all="ignore"):
        product = np.abs(data.astype(np.longdouble)).prod(removed, keepdims=bool(keepdims)).astype(np.float64)
    return [product * (roundings(max(terms_of(data, removed) - 1, 0)) / 2)]


REDUCE_PROD = Op(
    "ReduceProd",
    versions=(1, 11, 13, 18),
    compare=bounded(_rounding, "each multiplication, in any order, rounds by half an epsilon"),
    rank=reduced_rank,
)
REDUCE_PROD.example(data=[[2, 3, 7], [5, -1, 4]], axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_PROD.clause(
    "Computes the product of the input tensor's element",
    note="The text does not define the order of multiplication. Whether a partial product leaves the range of the type "
    "depends on that order. The text does not define the result of an integer overflow either.",
)
EMPTY = REDUCE_PROD.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields 1.",
    since=13,
    note="Version 11 does not define rank 0 or the empty set.",
).reworded(
    before=11,
    text="have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of "
    "values yields 1.",
)
REDUCTION = Reduction(REDUCE_PROD, empty=EMPTY, by_input=18)


@REDUCE_PROD.oracle()
def product(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Result:
    """Return the product of real numbers; products of integers are exact."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    if data.dtype.kind != "f":
        exact = np.asarray(data.astype(object).prod(removed, keepdims=keepdims == 1), object)
        return v.fitting(COMPUTES, exact, data.dtype)
    with np.errstate(all="ignore"):
        values = data.astype(np.longdouble).prod(removed, keepdims=keepdims == 1).astype(np.float64)

    def total(numbers: Array) -> Array:
        return np.asarray(numbers.sum(removed, keepdims=keepdims == 1))

    return but_where_order_decides(data, v.dtypes["T"], total, np.asarray(values))


case = REDUCE_PROD.case
INT64 = np.iinfo(np.int64)

REDUCTION.cases(COMPUTES)
case("dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=EMPTY)
case("dtypes_factors", Tag.DTYPE, each="T", data=[[2, 3, 5], [7, 1, 4]], axes=[1], cites=COMPUTES)
case("signs", data=[[-3, 2, -5], [4, -5, 6], [-1, -1, -1]], axes=[1], cites=COMPUTES)
case("zeros", Tag.EDGE, data=[[0, 3], [-0.0, 3], [-0.0, -2], [0, -2]], axes=[1], cites=COMPUTES)
case("infinities", Tag.EDGE, data=[[np.inf, 2], [-np.inf, 2], [np.inf, -np.inf], [np.inf, 0]], axes=[1], cites=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 0], [3, np.nan, np.inf], [5, 6, 7]], axes=[1], cites=COMPUTES)
for type_, since in float_types(13).items():
    tenths = typed(type_, [[0.1, 0.7, 1 / 3, 1.3, 1.1, -2.2, 0.9], [-0.6, -1.7, 10.1, -2 / 3, -0.4, 3.3, -0.8]])
    case(f"fractions_{type_}", Tag.EDGE, data=tenths, axes=[1], since=since, cites=COMPUTES)
case("factors_near_one", Tag.EDGE, data=1 + np.sin(np.arange(120.0)).reshape(2, 60) / 8, axes=[1], cites=COMPUTES)
case("one_factor", Tag.EDGE, data=[[-0.1], [-3.5], [7]], axes=[1], cites=COMPUTES)
case("overflow_to_infinity", Tag.EDGE, data=[[1e30, -1e30], [-1e20, -1e20]], axes=[1], cites=COMPUTES)
case("vanishes", Tag.EDGE, data=[[1e-30, -1e-30], [1e-40, 1e-40]], axes=[1], cites=COMPUTES)
case("subnormal", Tag.EDGE, data=[[2.0**-130, 4], [2.0**-100, -(2.0**-30)]], axes=[1], cites=COMPUTES)
case("order_decides", Tag.EDGE, data=[[1e30, 1e30, 1e-30], [1e-30, 1e-30, 1e30], [2, 3, 5]], axes=[1], cites=COMPUTES)
case("order_decides_beside_zero", Tag.EDGE, data=[[1e30, 1e30, 0], [2, 3, 0]], axes=[1], cites=COMPUTES)
case("order_decides_beside_infinity", Tag.EDGE, data=[[1e-30, 1e-30, np.inf], [2, 3, 5]], axes=[1], cites=COMPUTES)
case("overflow_beside_ones", Tag.EDGE, data=[[1e30, 1e30, 1], [1e30, 1e30, -1]], axes=[1], cites=COMPUTES)
case("vanishes_beside_nan", Tag.EDGE, data=[[1e-30, 1e-30, np.nan], [1e-30, 1e-30, 1]], axes=[1], cites=COMPUTES)
case("order_decides_a_little", Tag.EDGE, data=[[2.0**-100, 2.0**-30, 1.5], [2, 3, 5]], axes=[1], cites=COMPUTES)
TINY = 1.5 * 2.0**-126
"""A number slightly above the least normal number of float."""
case("near_limits", Tag.EDGE, data=[[2e38, 0], [TINY, np.inf], [2.0**-126, 2]], axes=[1], cites=COMPUTES)
case("near_limits_of_three", Tag.EDGE, data=[[TINY, 1, 2], [2.0**-100, 2.0**-26.5, 1.5]], axes=[1], cites=COMPUTES)
MOST = float(np.finfo(np.float32).max)
case("greatest", Tag.EDGE, data=[[MOST, 1], [MOST, -1]], axes=[1], cites=COMPUTES)
case("greatest_by_order", Tag.EDGE, data=[[MOST, 2, 0.5], [2, 3, 5]], axes=[1], cites=COMPUTES)
case("int32_overflow_in_one", Tag.EDGE, data=typed("int32", [[65536, 32768], [1, 2]]), axes=[1], unspecified=COMPUTES)
case("int32_limits", Tag.EDGE, data=typed("int32", [-65536, 32768, 1]), cites=COMPUTES)
case("int32_exact", Tag.EDGE, data=typed("int32", [46337, 46327]), cites=COMPUTES)
case("int32_overflow", Tag.EDGE, data=typed("int32", [65536, 32768]), unspecified=COMPUTES)
case("int32_overflow_with_zero", Tag.EDGE, data=typed("int32", [65536, 65536, 0, 7]), cites=COMPUTES)
case("int64_exact", Tag.EDGE, data=typed("int64", [INT64.max // 7, -7]), cites=COMPUTES)
case("uint64_exact", Tag.EDGE, data=typed("uint64", np.array([2**32 + 1, 2**32 - 1], np.uint64)), cites=COMPUTES)
