# SPDX-License-Identifier: Apache-2.0
"""QLinearAdd: the sum of two quantized tensors, quantized.

    C = QLinearAdd(A, A_scale, A_zero_point=0, B, B_scale, B_zero_point=0, C_scale, C_zero_point=0)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, typed
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.operators_microsoft._pairs import NEUTRAL, SCALES, Pair, signed
from onnx_conformance.operators_microsoft._scales import EPSILON, rounded, usable

ADD = Op(
    "QLinearAdd",
    versions=(1,),
    compare=Tolerance("if a few roundings of float32 can change an element, every element between is allowed"),
    domain="com.microsoft",
    rank=rank_of_two,
)
ADD.example(A=[[9, 1, 120], [3, 4, 5]], B=[2, 7, 4], **SCALES)

FORMULA = ADD.clause(
    "C = (A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point))/C_scale + C_zero_point",
    note="The text does not define how the result becomes an integer. Quantization rounds to the nearest integer and "
    "limits it to the range of the type. The text does not define the rounding of a tie, so both neighbours are "
    "allowed. It does not define a scale that is infinite or NaN, or a C_scale of 0.",
)
BROADCASTS = ADD.clause(
    "Performs element-wise binary addition on 8 bit data types (with Numpy-style broadcasting support)."
)
PAIR = Pair(ADD, FORMULA, BROADCASTS)
ERROR = 4 * EPSILON
"""Two products, the products with the zero points, three sums and the quotient round by half an epsilon each."""


@ADD.oracle()
def added(
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
    """Return the sum of the dequantized A and B, divided by the scale of C, plus its zero point."""
    a_scale, a_zero = PAIR.of_a.parameters(v, A_scale, A_zero_point)
    b_scale, b_zero = PAIR.of_b.parameters(v, B_scale, B_zero_point)
    c_scale, c_zero = PAIR.of_c.parameters(v, C_scale, C_zero_point)
    PAIR.numpy.require_one_shape(v, A, B)
    v.silent(FORMULA, not usable(c_scale, a_scale * b_scale))
    quotient = (a_scale * (A - a_zero) + b_scale * (B - b_zero)) / c_scale
    of_a, of_b = (np.abs(side.astype(np.float64)) + np.abs(zero) for side, zero in ((A, a_zero), (B, b_zero)))
    magnitudes = (np.abs(a_scale) * of_a + np.abs(b_scale) * of_b) / np.abs(c_scale)
    return rounded(v, FORMULA, quotient, ERROR * magnitudes, c_zero, v.dtypes["T"])


case = ADD.case
PAIR.cases()
HALVES: dict[str, Any] = NEUTRAL | {"A_scale": 0.5, "B_scale": 0.5}
case("tie", Tag.EDGE, A=[1, 3, 5], B=[0, 0, 0], **HALVES, unspecified=FORMULA)
case("tie_with_zero_point", Tag.EDGE, A=[1, 3, 4], B=[0, 0, 2], **HALVES | {"C_zero_point": 1}, unspecified=FORMULA)
for name, scale in {"above": 0.5001, "below": 0.4999}.items():
    for side in ("A", "B"):
        sides: dict[str, Any] = {"A": [0, 0, 0], "B": [0, 0, 0], side: [1, 3, 5]}
        case(f"{side.lower()}_{name}_a_tie", Tag.EDGE, **sides, **NEUTRAL | {f"{side}_scale": scale}, cites=FORMULA)


def near_a_tie(errors: float, zero_point: int = 0) -> dict[str, Any]:
    """Return a call whose result differs from 0.5 by so many epsilons of it."""
    points = NEUTRAL | {"A_scale": 0.5 * (1 + errors * EPSILON), "C_zero_point": zero_point}
    return {"A": [1, 0], "B": [0, 0], **points}


case("three_roundings_above_a_tie", Tag.EDGE, **near_a_tie(3), unspecified=FORMULA)
case("five_roundings_above_a_tie", Tag.EDGE, **near_a_tie(5), cites=FORMULA)
case("five_roundings_above_a_tie_with_one", Tag.EDGE, **near_a_tie(5, 1), unspecified=FORMULA)
case("rounds_with_the_zero_point", Tag.EDGE, **near_a_tie(350, 200), unspecified=FORMULA)
case("far_from_a_tie_with_zero_point", Tag.EDGE, **near_a_tie(450, 200), cites=FORMULA)
# Both terms are about 200. Their roundings are greater than those of the result, which is about 0.5.
LARGE_TERMS: dict[str, Any] = {"A": [200, 0], "B": [1, 0], **NEUTRAL}
case("rounds_with_large_terms", Tag.EDGE, **LARGE_TERMS | {"B_scale": 2.0**-14 - 199.5}, unspecified=FORMULA)
case("far_from_a_tie_with_large_terms", Tag.EDGE, **LARGE_TERMS | {"B_scale": 2.0**-10 - 199.5}, cites=FORMULA)
OPPOSITE: dict[str, Any] = NEUTRAL | {"B_scale": -1, "C_scale": 0.25}
case("cancels", Tag.EDGE, A=[7, 200, 5], B=[7, 200, 4], **OPPOSITE, cites=FORMULA)
case("sum_saturates", Tag.EDGE, A=[255, 250, 200], B=[1, 5, 50], **NEUTRAL, cites=FORMULA)
LEFT, RIGHT = typed("int8", [-128, 127, -100]), typed("int8", [-1, 1, -28])
case("sum_saturates_int8", Tag.EDGE, A=LEFT, B=RIGHT, **signed(NEUTRAL), cites=FORMULA)
PAIR.sized()
