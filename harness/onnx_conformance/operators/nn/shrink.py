# SPDX-License-Identifier: Apache-2.0
"""Shrink: move each element closer to 0 by a bias. Elements near 0 become 0.

    output = Shrink(input)

Versions: 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, every_value, extremes, ramp, typed, ulp, vary
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.sizes import LARGE, LENGTHS, filled, grid

SHRINK = Op("Shrink", versions=(9,), compare=ulp(2, "bias and sum round once each"), rank="input")
SHRINK.example(input=[[2, -3, 1], [4, -5, 6]], lambd=1.5, bias=0.5)

FORMULA = SHRINK.clause(
    "The formula of this operator is: If x < -lambd, y = x + bias; If x > lambd, y = x - bias; Otherwise, y = 0.",
    note="For NaN neither condition is true. The text does not define the sum of an integer and a bias that is not "
    "whole, or a sum outside the range of the type. If lambd is below 0, both conditions can be true, and the text "
    "does not define which applies.",
)
SAME = SHRINK.clause("having same datatype and shape with input.")
BIAS = SHRINK.clause("The bias value added to output. Default is 0.")
LAMBD = SHRINK.clause("The lambd value for the Shrink formulation. Default is 0.5.")
NUMERIC = SHRINK.clause("Constrain input to only numeric types.")
SHRINK.dispute(
    "the body negates lambd in the type of the input, and Neg does not support unsigned integers", "limits_uint*"
)


@SHRINK.oracle()
def shrunk(v: Version, input: Array, bias: float, lambd: float) -> Result:
    """Return elements below -lambd plus bias, elements above lambd minus bias, and 0 for other elements."""
    below, above = v.compared(np.less, input, np.asarray(-lambd)), v.compared(np.greater, input, np.asarray(lambd))
    with np.errstate(all="ignore"):
        wide = input.astype(object) if input.dtype.kind in "iu" else input
        whole = int(bias) if float(bias).is_integer() else bias
        shifted = np.where(below, wide + whole, np.where(above, wide - whole, 0))
    is_open = below & above
    if input.dtype.kind in "iu":
        limits = np.iinfo(input.dtype)
        is_open = is_open | np.asarray((shifted % 1 != 0) | (shifted < limits.min) | (shifted > limits.max), bool)
        shifted = np.where(is_open, 0, shifted).astype(input.dtype)
    return v.leave_open(FORMULA, is_open, shifted)


case = SHRINK.case
MIXED = [-2, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 2, -3.5, 4.25]
case("defaults", input=MIXED, cites=(FORMULA, BIAS, LAMBD))
case("bias", input=MIXED, bias=0.25, cites=(FORMULA, BIAS))
case("lambd", input=MIXED, lambd=1.5, cites=(FORMULA, LAMBD))
case("both", input=MIXED, lambd=1.5, bias=1.5, cites=(FORMULA, SAME))
case("bias_negative", Tag.EDGE, input=MIXED, lambd=0.5, bias=-2.0, cites=FORMULA)
case("bias_above_lambd", Tag.EDGE, input=MIXED, lambd=0.5, bias=5.0, cites=FORMULA)
case("lambd_zero", Tag.EDGE, input=MIXED, lambd=0.0, bias=0.125, cites=FORMULA)
case("lambd_large", Tag.EDGE, input=MIXED, lambd=100.0, bias=1.0, cites=FORMULA)
case("lambd_negative_both", Tag.EDGE, input=[0.5, -0.5], lambd=-1.0, bias=1.0, unspecified=FORMULA)
SHAPES = {
    "scalar": 2.5,
    "scalar_near": 0.25,
    "zero_size": ramp(2, 0, 3),
    "rank4": np.arange(-60, 60).reshape(2, 3, 4, 5),
}
case("shape", Tag.EDGE, input=vary(**SHAPES), lambd=1.5, bias=0.5, cites=SAME)
case("dtypes", Tag.DTYPE, each="T", input=[3, 0, 7, 2, 1], lambd=1.5, bias=1.0, cites=(FORMULA, NUMERIC))
case("dtypes_extremes_far", Tag.EDGE, each="T", input=extremes(12), lambd=0.5, cites=FORMULA)
inf, nan = np.inf, np.nan
for type_ in ("float16", "float", "double"):
    numbers: dict[str, Any] = {
        "fractions": [0.1, -0.7, 1 / 3, 1.1, -2 / 3, 2.3],
        "infinities": [inf, -inf, 1],
        "nan": [nan, 1, -nan],
        "zeros": [0.0, -0.0, 3],
        "ends": [0.75, -0.75, 0.5, -0.5, 1],
        "largest": [FLOATS[type_].largest, -FLOATS[type_].largest],
    }
    for name, values in numbers.items():
        case(f"{name}_{type_}", Tag.EDGE, input=typed(type_, values), lambd=0.625, bias=0.375, cites=FORMULA)
for bits in (8, 16, 32, 64):
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    signed = typed(f"int{bits}", np.array([low, high, 0, 3, -3, 2, -2], f"int{bits}"))
    case(f"limits_int{bits}", Tag.EDGE, input=signed, lambd=2.0, bias=1.0, cites=FORMULA)
    case(f"beyond_int{bits}", Tag.EDGE, input=signed, lambd=2.0, bias=-1.0, unspecified=FORMULA)
    unsigned = typed(f"uint{bits}", np.array([0, 1, 2, 3, 2 * high + 1], f"uint{bits}"))
    case(f"limits_uint{bits}", Tag.EDGE, input=unsigned, lambd=2.0, bias=1.0, cites=FORMULA)
case("fraction_of_integer", Tag.EDGE, input=typed("int32", [3, -4]), lambd=1.5, bias=0.5, unspecified=FORMULA)

SHRINK.sized(
    "length",
    grid(n=(*LENGTHS[::2], *LARGE)),
    each="T",
    cites=FORMULA,
    arguments={"input": filled("n"), "lambd": 1.5, "bias": 1.0},
)
SHRINK.every("every", each="T", cites=FORMULA, input=every_value(), lambd=1.5, bias=1.0)
