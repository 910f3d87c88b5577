# SPDX-License-Identifier: Apache-2.0
"""CumProd: running products along an axis.

    y = CumProd(x, axis, exclusive=0, reverse=0)

Version: 26.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    Array,
    Clause,
    Op,
    Result,
    Tag,
    Version,
    axes,
    axes_outside,
    bounded,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.families.products import but_where_order_decides
from onnx_conformance.operators.math._cumulative import running
from onnx_conformance.operators.math._sizes import sized


def _rounding(x: Array, axis: Array, exclusive: int, reverse: int) -> list[Array]:
    """Return half a rounding of the product for each multiplication, and after several ones for the expected value."""
    factors = running(np.ones(x.shape), np.add, int(axis), exclusive, reverse)
    with np.errstate(all="ignore"):
        products = np.abs(running(x.astype(np.float64), np.multiply, int(axis), exclusive, reverse))
        roundings = np.where(factors > 2, factors, np.maximum(factors - 1, 0))  # noqa: PLR2004 - one multiplication
        return [(products * roundings / 2).astype(np.float64)]


CUM_PROD = Op(
    "CumProd",
    versions=(26,),
    compare=bounded(_rounding, "each multiplication, in any order, rounds by half an epsilon"),
    rank="x",
)
CUM_PROD.example(x=[[3, 1, 4], [2, 5, 9]], axis=1, exclusive=1, reverse=1)

PERFORMS = CUM_PROD.clause(
    "Performs cumulative product of the input elements along the given axis.",
    note="The text does not define the order in which factors are multiplied. Whether a partial product leaves the "
    "range of the type depends on that order. The text does not define the result of an integer overflow either.",
)
INCLUSIVE = CUM_PROD.clause(
    "By default, it will do the product inclusively meaning the first element is copied as is.",
    note="Both attributes default to 0.",
)
EXCLUDE = CUM_PROD.clause(
    "Through an `exclusive` attribute, this behavior can change to exclude the first element.",
    note="The excluded element is the last factor of each product, as the text of the attribute and the example show.",
)
OPPOSITE = CUM_PROD.clause("It can also perform product in the opposite direction of the axis.")
SET_REVERSE = CUM_PROD.clause("For that, set `reverse` attribute to 1.")
EXAMPLE = CUM_PROD.clause(
    "input_x = [1, 2, 3] axis=0 output = [1, 2, 6] exclusive=1 output = [1, 1, 2] exclusive=0 reverse=1 "
    "output = [6, 6, 3] exclusive=1 reverse=1 output = [6, 3, 1]"
)
REVERSE = CUM_PROD.clause(
    "If set to 1 will perform the products in reverse direction.",
    note="The text does not define values other than 0 and 1.",
)
NOT_INCLUDED = CUM_PROD.clause("If set to 1 will return exclusive product in which the top element is not included.")
ONE_LESS = CUM_PROD.clause(
    "In other terms, if set to 1, the j-th output element would be the product of the first (j-1) elements.",
    note="The product of no elements is 1, as in the example.",
)
OTHERWISE = CUM_PROD.clause(
    "Otherwise, it would be the product of the first j elements.", note='"Otherwise" means any value except 1.'
)
ZERO_D = CUM_PROD.clause("A 0-D tensor.")
RANGE = CUM_PROD.clause("Must be in the range [-rank(x), rank(x)-1].", note="For rank 0 this range is empty.")
BACK = CUM_PROD.clause("Negative value means counting dimensions from the back.")
SAME_TYPE = CUM_PROD.clause("Output tensor of the same type as 'x' with cumulative products of the x's elements")
AXIS_TYPE = CUM_PROD.clause("axis tensor can be int32 or int64 only")


@CUM_PROD.oracle()
def running_products(v: Version, x: Array, axis: Array, exclusive: int, reverse: int) -> Result:
    """Return the running products of real numbers; products of integers are exact."""
    v.require(ZERO_D, axis.ndim == 0)
    v.require(RANGE, -x.ndim <= int(axis) < x.ndim)
    v.silent(REVERSE, reverse not in {0, 1})
    with np.errstate(all="ignore"):
        products = running(x, np.multiply, int(axis), exclusive, reverse)
    if x.dtype.kind != "f":
        return v.fitting(PERFORMS, products, x.dtype)

    def total(numbers: Array) -> Array:
        return running(numbers, np.add, int(axis), exclusive, reverse).astype(np.float64)

    return but_where_order_decides(x, v.dtypes["T"], total, products.astype(np.float64))


case = CUM_PROD.case

WAVES = 2 * np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
NEAR_ONE = 1 + np.cos(np.arange(600.0)) / 8
FACTORS = [[2, 3, 5], [7, 1, 4]]
FROM_THE_FIRST = (PERFORMS, INCLUSIVE, OTHERWISE)
WITHOUT_ITSELF = (PERFORMS, EXCLUDE, NOT_INCLUDED, ONE_LESS)
FROM_THE_END = (OPPOSITE, SET_REVERSE, REVERSE)
WAYS: dict[str, tuple[dict[str, Any], tuple[Clause, ...]]] = {
    "plain": ({}, FROM_THE_FIRST),
    "exclusive": ({"exclusive": 1}, WITHOUT_ITSELF),
    "reverse": ({"reverse": 1}, FROM_THE_FIRST + FROM_THE_END),
    "exclusive_reverse": ({"exclusive": 1, "reverse": 1}, WITHOUT_ITSELF + FROM_THE_END),
}
"""By name: the attributes of each way of multiplying, and the clauses that describe it."""
for way, (attributes, cites) in WAYS.items():
    case(f"{way}_example", x=[1, 2, 3], axis=0, **attributes, cites=(EXAMPLE, *cites))
    for axis in range(3):
        case(f"{way}_axis_{axis}", Tag.AXIS, x=WAVES, axis=axis, **attributes, cites=cites)
    case(f"{way}_integers", x=typed("int32", [[3, -1, 4], [-1, 5, -9]]), axis=1, **attributes, cites=cites)
    case(f"{way}_one", Tag.EDGE, x=[7.5], axis=0, **attributes, cites=cites)
    case(f"{way}_size_one", Tag.EDGE, x=[[7.5], [-3], [0.1]], axis=1, **attributes, cites=cites)
    case(f"{way}_zero_size", Tag.EDGE, x=ramp(2, 0), axis=1, **attributes, cites=cites)
    case(f"{way}_other_zero_size", Tag.EDGE, x=ramp(0, 3), axis=1, **attributes, cites=cites)
    case(f"{way}_long", x=NEAR_ONE.reshape(2, 300), axis=1, **attributes, cites=cites)
    case(f"{way}_columns", x=NEAR_ONE.reshape(300, 2), axis=0, **attributes, cites=cites)
    case(f"{way}_zeros", Tag.EDGE, x=[2, 0.0, 3, -0.0, -5], axis=0, **attributes, cites=cites)
    case(f"{way}_infinities", Tag.EDGE, x=[1, np.inf, 2, -np.inf, 3], axis=0, **attributes, cites=cites)
    case(f"{way}_nan", Tag.EDGE, x=[[1, np.nan, 0], [3, 4, 5]], axis=1, **attributes, cites=cites)
    case(f"{way}_to_infinity", Tag.EDGE, x=[1e30, -1e30, 1e30], axis=0, **attributes, cites=cites)
    case(f"{way}_to_zero", Tag.EDGE, x=[1e-30, -1e-30, 1e-30], axis=0, **attributes, cites=cites)
    case(f"{way}_order_decides", Tag.EDGE, x=[2, 1e30, 1e30, 1e-30, 3], axis=0, **attributes, cites=cites)
    case(
        f"dtypes_{way}", Tag.DTYPE, each="T", x=[[2, 3, 5], [7, 1, 4]], axis=1, **attributes, cites=(SAME_TYPE, *cites)
    )
    case(f"{way}_int32_over", Tag.EDGE, x=typed("int32", [65536] * 3), axis=0, **attributes, unspecified=PERFORMS)
    exact = typed("int64", np.array([2**20 + 1, -(2**22) - 1, 2**20 + 3], np.int64))
    case(f"{way}_int64_exact", Tag.EDGE, x=exact, axis=0, **attributes, cites=cites)
    high = typed("uint64", np.array([3, 5, (2**64 - 1) // 15], np.uint64))
    case(f"{way}_uint64_exact", Tag.EDGE, x=high, axis=0, **attributes, cites=cites)
ORDERS: dict[str, list[float]] = {
    "zero": [1e30, 1e30, 0, 2],
    "infinity": [1e-30, 1e-30, np.inf, 2],
    "ones": [1e30, 1e30, 1, -1],
    "nan": [1e-30, 1e-30, np.nan, 1],
    "a_little": [2.0**-100, 2.0**-30, 1.5, 1],
}
TINY = 1.5 * 2.0**-126
"""A number slightly above the least normal number of float."""
ORDERS |= {
    "near_most": [2e38, 0],
    "most": [float(np.finfo(np.float32).max), 1],
    "most_by_order": [float(np.finfo(np.float32).max), 2, 0.5],
    "near_least": [TINY, np.inf],
    "at_least": [2.0**-126, 2],
    "near_least_of_three": [TINY, 1, 2],
    "below_least_of_three": [2.0**-100, 2.0**-26.5, 1.5],
}
case("int32_limits", Tag.EDGE, x=typed("int32", [-65536, 32768]), axis=0, cites=PERFORMS)
for name, factors in ORDERS.items():
    case(f"order_decides_{name}", Tag.EDGE, x=factors, axis=0, cites=PERFORMS)
case("zeros", x=WAVES, axis=1, exclusive=0, reverse=0, cites=(INCLUSIVE, OTHERWISE))
case("exclusive_two", Tag.EDGE, x=[1, 2, 3], axis=0, exclusive=2, cites=OTHERWISE)
case("reverse_two", Tag.EDGE, x=[1, 2, 3], axis=0, reverse=2, unspecified=REVERSE)
case("reverse_zero_exclusive", x=WAVES, axis=1, exclusive=1, reverse=0, cites=ONE_LESS)
case("exclusive_zero_reverse", x=WAVES, axis=1, exclusive=0, reverse=1, cites=(OTHERWISE, REVERSE))

for name, shape, axis in axes():
    numbers = 1 + np.arange(np.prod(shape)).reshape(shape) % 5
    case(name, Tag.AXIS, x=numbers, axis=axis, cites=(BACK, RANGE) if axis < 0 else (RANGE,))
    if axis < 0:
        case(f"{name}_exclusive", Tag.AXIS, x=numbers, axis=axis, exclusive=1, cites=(BACK, ONE_LESS))
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, x=ramp(*shape), axis=axis, rejects=RANGE)
case("axis", Tag.EDGE, x=ramp(2, 3), axis=vary(vector=[1], two=[0, 1], none=[]), rejects=ZERO_D)
case("axis_dtypes_back", Tag.DTYPE, each="T2", x=ramp(2, 3), axis=-2, cites=(AXIS_TYPE, BACK))
case("axis_outside", Tag.DTYPE, outside="T2", x=ramp(2, 3), axis=1, rejects=AXIS_TYPE)
for type_ in ("float16", "bfloat16", "double"):
    fractions = typed(type_, [0.1, -1.7, 3.3, 1 / 3, 0.9, 1.1, 2.7])
    case(f"fractions_{type_}", Tag.EDGE, x=fractions, axis=0, cites=PERFORMS)
    case(f"fractions_reverse_{type_}", Tag.EDGE, x=fractions, axis=0, reverse=1, cites=PERFORMS)

sized(CUM_PROD, WAYS, floats=(0.9, 1.1), integers=(1, 1))
