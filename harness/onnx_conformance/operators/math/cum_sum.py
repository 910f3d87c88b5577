# SPDX-License-Identifier: Apache-2.0
"""CumSum: running sums along an axis.

    y = CumSum(x, axis, exclusive=0, reverse=0)

Versions: 11, 14 (float16 and bfloat16).
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
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.math._cumulative import running
from onnx_conformance.operators.math._sizes import sized


def _rounding(x: Array, axis: Array, exclusive: int, reverse: int) -> list[Array]:
    """Return half a rounding of the sum of magnitudes so far for each term; 0 if there is only one term."""
    terms = running(np.ones(x.shape), np.add, int(axis), exclusive, reverse)
    magnitudes = running(np.abs(x.astype(np.float64)), np.add, int(axis), exclusive, reverse)
    return [np.where(terms > 1, magnitudes * terms / 2, 0)]


CUM_SUM = Op(
    "CumSum",
    versions=(11, 14),
    compare=bounded(_rounding, "each addition, in any order, rounds by half an epsilon of the sum of all magnitudes"),
    rank="x",
)
CUM_SUM.example(x=[[3, 1, 4], [2, 5, 9]], axis=1, exclusive=1, reverse=1)

PERFORMS = CUM_SUM.clause(
    "Performs cumulative sum of the input elements along the given axis.",
    note="The text does not define the result of an overflow.",
)
INCLUSIVE = CUM_SUM.clause(
    "By default, it will do the sum inclusively meaning the first element is copied as is.",
    note="Both attributes default to 0.",
)
EXCLUDE = CUM_SUM.clause(
    "Through an `exclusive` attribute, this behavior can change to exclude the first element.",
    note="The excluded element is the last summand of each sum, as the text of the attribute and the example show.",
)
OPPOSITE = CUM_SUM.clause("It can also perform summation in the opposite direction of the axis.")
SET_REVERSE = CUM_SUM.clause("For that, set `reverse` attribute to 1.")
EXAMPLE = CUM_SUM.clause(
    "input_x = [1, 2, 3] axis=0 output = [1, 3, 6] exclusive=1 output = [0, 1, 3] exclusive=0 reverse=1 "
    "output = [6, 5, 3] exclusive=1 reverse=1 output = [5, 3, 0]"
)
REVERSE = CUM_SUM.clause(
    "If set to 1 will perform the sums in reverse direction.",
    note="The text does not define values other than 0 and 1.",
)
NOT_INCLUDED = CUM_SUM.clause("If set to 1 will return exclusive sum in which the top element is not included.")
ONE_LESS = CUM_SUM.clause(
    "In other terms, if set to 1, the j-th output element would be the sum of the first (j-1) elements."
)
OTHERWISE = CUM_SUM.clause(
    "Otherwise, it would be the sum of the first j elements.",
    note='"Otherwise" means any value except 1. onnx.reference treats other values as 1; onnxruntime rejects them.',
)
ZERO_D = CUM_SUM.clause("A 0-D tensor.", note="onnxruntime also accepts a tensor of rank 1 with one element.")
RANGE = CUM_SUM.clause("Must be in the range [-rank(x), rank(x)-1].", note="For rank 0 this range is empty.")
BACK = CUM_SUM.clause("Negative value means counting dimensions from the back.")
SAME_TYPE = CUM_SUM.clause("Output tensor of the same type as 'x' with cumulative sums of the x's elements")
ANY_TYPE = CUM_SUM.clause(
    "Input can be of any tensor type.", before=14, note="The shorter list of types in the signature is binding."
)
AXIS_TYPE = CUM_SUM.clause("axis tensor can be int32 or int64 only")


@CUM_SUM.oracle()
def running_sums(v: Version, x: Array, axis: Array, exclusive: int, reverse: int) -> Result:
    """Return the running sums of real numbers; sums of integers are exact."""
    v.require(ZERO_D, axis.ndim == 0)
    v.require(RANGE, -x.ndim <= int(axis) < x.ndim)
    v.silent(REVERSE, reverse not in {0, 1})
    with np.errstate(invalid="ignore"):
        sums = running(x, np.add, int(axis), exclusive, reverse)
    return sums.astype(x.dtype) if x.dtype.kind == "f" else v.fitting(PERFORMS, sums, x.dtype)


case = CUM_SUM.case

WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
FROM_THE_FIRST = (PERFORMS, INCLUSIVE, OTHERWISE)
WITHOUT_ITSELF = (PERFORMS, EXCLUDE, NOT_INCLUDED, ONE_LESS)
FROM_THE_END = (OPPOSITE, SET_REVERSE, REVERSE)
WAYS: dict[str, tuple[dict[str, Any], tuple[Clause, ...]]] = {
    "plain": ({}, FROM_THE_FIRST),
    "exclusive": ({"exclusive": 1}, WITHOUT_ITSELF),
    "reverse": ({"reverse": 1}, FROM_THE_FIRST + FROM_THE_END),
    "exclusive_reverse": ({"exclusive": 1, "reverse": 1}, WITHOUT_ITSELF + FROM_THE_END),
}
"""By name: the attributes of each way of summing, and the clauses that describe it."""
for way, (attributes, cites) in WAYS.items():
    case(f"{way}_example", x=[1, 2, 3], axis=0, **attributes, cites=(EXAMPLE, *cites))
    for axis in range(3):
        case(f"{way}_axis_{axis}", Tag.AXIS, x=WAVES, axis=axis, **attributes, cites=cites)
    case(f"{way}_integers", x=typed("int32", [[3, -1, 4], [-1, 5, -9]]), axis=1, **attributes, cites=cites)
    case(f"{way}_one", Tag.EDGE, x=[7.5], axis=0, **attributes, cites=cites)
    case(f"{way}_size_one", Tag.EDGE, x=[[7.5], [-3], [0.1]], axis=1, **attributes, cites=cites)
    case(f"{way}_zero_size", Tag.EDGE, x=ramp(2, 0), axis=1, **attributes, cites=cites)
    case(f"{way}_other_zero_size", Tag.EDGE, x=ramp(0, 3), axis=1, **attributes, cites=cites)
    case(f"{way}_long", x=np.cos(np.arange(600.0)).reshape(2, 300), axis=1, **attributes, cites=cites)
    case(f"{way}_columns", x=np.cos(np.arange(600.0)).reshape(300, 2), axis=0, **attributes, cites=cites)
    case(f"{way}_infinity", Tag.EDGE, x=[1, np.inf, 2, 3], axis=0, **attributes, cites=cites)
    case(f"{way}_infinities", Tag.EDGE, x=[1, np.inf, 2, -np.inf, 3], axis=0, **attributes, cites=cites)
    case(f"{way}_nan", Tag.EDGE, x=[[1, np.nan, 2], [3, 4, 5]], axis=1, **attributes, cites=cites)
    case(f"{way}_subnormals", Tag.EDGE, x=[1e-45, 3e-45, -1e-45, 1e-40], axis=0, **attributes, cites=cites)
    case(f"{way}_to_infinity", Tag.EDGE, x=[3e38, 3e38, 3e38], axis=0, **attributes, cites=cites)
    case(f"{way}_cancels", Tag.EDGE, x=[1e8, 1, -1e8, 0.5], axis=0, **attributes, cites=cites)
    case(f"dtypes_{way}", Tag.DTYPE, each="T", x=ramp(2, 3), axis=1, **attributes, cites=(SAME_TYPE, *cites))
    for bits in (32, 64):
        signed, unsigned = np.iinfo(f"int{bits}"), np.iinfo(f"uint{bits}")
        low, high, highest = int(signed.min), int(signed.max), int(unsigned.max)
        limits = typed(f"int{bits}", np.array([low, high, -high, high], signed.dtype))
        over = typed(f"int{bits}", np.array([1, high, 1], signed.dtype))
        exact = typed(f"uint{bits}", np.array([highest - 7, 4, 3], unsigned.dtype))
        unsigned_over = typed(f"uint{bits}", np.array([3, highest, 3], unsigned.dtype))
        case(f"{way}_int{bits}_limits", Tag.EDGE, x=limits, axis=0, **attributes, cites=cites)
        case(f"{way}_uint{bits}_exact", Tag.EDGE, x=exact, axis=0, **attributes, cites=cites)
        case(f"{way}_int{bits}_over", Tag.EDGE, x=over, axis=0, **attributes, unspecified=PERFORMS)
        case(f"{way}_uint{bits}_over", Tag.EDGE, x=unsigned_over, axis=0, **attributes, unspecified=PERFORMS)
case("zeros", x=WAVES, axis=1, exclusive=0, reverse=0, cites=(INCLUSIVE, OTHERWISE))
case("exclusive_two", Tag.EDGE, x=[1, 2, 3], axis=0, exclusive=2, cites=OTHERWISE)
case("reverse_two", Tag.EDGE, x=[1, 2, 3], axis=0, reverse=2, unspecified=REVERSE)
case("reverse_zero_exclusive", x=WAVES, axis=1, exclusive=1, reverse=0, cites=ONE_LESS)
case("exclusive_zero_reverse", x=WAVES, axis=1, exclusive=0, reverse=1, cites=(OTHERWISE, REVERSE))

for name, shape, axis in axes():
    case(name, Tag.AXIS, x=ramp(*shape), axis=axis, cites=(BACK, RANGE) if axis < 0 else (RANGE,))
    if axis < 0:
        case(f"{name}_exclusive", Tag.AXIS, x=ramp(*shape), axis=axis, exclusive=1, cites=(BACK, ONE_LESS))
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, x=ramp(*shape), axis=axis, rejects=RANGE)
case("axis", Tag.EDGE, x=ramp(2, 3), axis=vary(vector=[1], two=[0, 1], none=[]), rejects=ZERO_D)
case("axis_dtypes_back", Tag.DTYPE, each="T2", x=ramp(2, 3), axis=-2, cites=(AXIS_TYPE, BACK))
case("axis_outside", Tag.DTYPE, outside="T2", x=ramp(2, 3), axis=1, rejects=AXIS_TYPE)
case("dtypes_before_14", Tag.DTYPE, each="T", x=ramp(3, 2), axis=0, cites=ANY_TYPE)
FRACTIONS = {"float16": [0.1, 2048, 1], "bfloat16": [0.1, 256, 1], "double": [0.1, 1e16, 1]}
"""Terms whose sum the type rounds up or down."""
for type_, fractions in FRACTIONS.items():
    since = None if type_ == "double" else 14
    case(f"fractions_{type_}", Tag.EDGE, x=typed(type_, fractions), axis=0, since=since, cites=PERFORMS)
    case(
        f"fractions_reverse_{type_}",
        Tag.EDGE,
        x=typed(type_, fractions),
        axis=0,
        reverse=1,
        since=since,
        cites=PERFORMS,
    )

sized(CUM_SUM, WAYS, integers=(0, 4))
CUM_SUM.sized("large", grid(m=(129,), n=(513,)), cites=FROM_THE_FIRST, arguments={"x": filled("m", "n"), "axis": 1})
