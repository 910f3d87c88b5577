# SPDX-License-Identifier: Apache-2.0
"""QLinearMul: the product of two quantized tensors, quantized.

    C = QLinearMul(A, A_scale, A_zero_point=0, B, B_scale, B_zero_point=0, C_scale, C_zero_point=0)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, typed
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.operators_microsoft._pairs import NEUTRAL, SCALES, Pair, signed
from onnx_conformance.operators_microsoft._scales import EPSILON, rounded, usable

MUL = Op(
    "QLinearMul",
    versions=(1,),
    compare=Tolerance("if a few roundings of float32 can change an element, every element between is allowed"),
    domain="com.microsoft",
    rank=rank_of_two,
)
MUL.example(A=[[9, 1, 120], [3, 4, 5]], B=[2, 7, 4], **SCALES)

FORMULA = MUL.clause(
    "C = ((A - A_zero_point) * (B - B_zero_point)) * (A_scale * B_scale)/C_scale + C_zero_point",
    note="The text does not define how the result becomes an integer. Quantization rounds to the nearest integer and "
    "limits it to the range of the type. The text does not define the rounding of a tie, so both neighbours are "
    "allowed. It does not define a scale that is infinite or NaN, or a C_scale of 0.",
)
BROADCASTS = MUL.clause(
    "Performs element-wise binary multiplication on 8 bit data types (with Numpy-style broadcasting support)."
)
PAIR = Pair(MUL, FORMULA, BROADCASTS)
ERROR = 3 * EPSILON
"""The product of the scales, its quotient and up to four more products round by half an epsilon each."""


@MUL.oracle()
def multiplied(
    v: Version,
    A: Array,
    A_scale: Array,
    A_zero_point: Array | None,
    B: Array,
    B_scale: Array,
    B_zero_point: Array | None,
    C_scale: Array,
    C_zero_point: Array | None,
) -> Result:
    """Return the product of the dequantized A and B, divided by the scale of C, plus its zero point."""
    a_scale, a_zero = PAIR.of_a.parameters(v, A_scale, A_zero_point)
    b_scale, b_zero = PAIR.of_b.parameters(v, B_scale, B_zero_point)
    c_scale, c_zero = PAIR.of_c.parameters(v, C_scale, C_zero_point)
    PAIR.numpy.require_one_shape(v, A, B)
    v.silent(FORMULA, not usable(c_scale, a_scale * b_scale))
    quotient = ((A - a_zero) * (B - b_zero)) * (a_scale * b_scale) / c_scale
    return rounded(v, FORMULA, quotient, ERROR * np.abs(quotient), c_zero, v.dtypes["T"])


case = MUL.case
PAIR.cases()
HALVES: dict[str, Any] = NEUTRAL | {"A_scale": 0.5}
case("tie", Tag.EDGE, A=[1, 3, 5], B=[1, 1, 1], **HALVES, unspecified=FORMULA)
case("tie_with_zero_point", Tag.EDGE, A=[1, 3, 4], B=[1, 1, 1], **HALVES | {"C_zero_point": 1}, unspecified=FORMULA)
for name, scale in {"above": 0.5001, "below": 0.4999}.items():
    case(f"{name}_a_tie", Tag.EDGE, A=[1, 3, 5], B=[1, 1, 1], **NEUTRAL | {"A_scale": scale}, cites=FORMULA)


def near_a_tie(errors: float, zero_point: int = 0) -> dict[str, Any]:
    """Return a call whose result differs from 0.5 by so many epsilons of it."""
    points = NEUTRAL | {"A_scale": 0.5 * (1 + errors * EPSILON), "C_zero_point": zero_point}
    return {"A": [1, 0], "B": [1, 1], **points}


case("two_roundings_above_a_tie", Tag.EDGE, **near_a_tie(2), unspecified=FORMULA)
case("four_roundings_above_a_tie", Tag.EDGE, **near_a_tie(4), cites=FORMULA)
case("rounds_with_the_zero_point", Tag.EDGE, **near_a_tie(350, 200), unspecified=FORMULA)
case("far_from_a_tie_with_zero_point", Tag.EDGE, **near_a_tie(450, 200), cites=FORMULA)
case("of_zero", Tag.EDGE, A=[7, 200, 5], B=[9, 9, 9], **NEUTRAL | {"B_scale": 3, "B_zero_point": 9}, cites=FORMULA)
case("product_saturates", Tag.EDGE, A=[255, 16, 15], B=[2, 16, 17], **NEUTRAL, cites=FORMULA)
LEFT, RIGHT = typed("int8", [-128, 16, -16, -127]), typed("int8", [-1, 8, 8, 2])
case("product_saturates_int8", Tag.EDGE, A=LEFT, B=RIGHT, **signed(NEUTRAL), cites=FORMULA)
PAIR.sized()
