# SPDX-License-Identifier: Apache-2.0
"""Softsign: each element divided by 1 plus its absolute value.

    output = Softsign(input)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, ulp
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

SOFTSIGN = Op(
    "Softsign", versions=(1, 22), compare=ulp(2, "sum and quotient round once each").limited(-1, 1), rank="input"
)
SOFTSIGN.example(input=[[1, -1.25, 0.5], [3, -4, 2.75]])

CALCULATES = SOFTSIGN.clause(
    "Calculates the softsign (x/(1+|x|)) of the given input tensor element-wise.",
    note="For an infinity the formula is infinity divided by infinity. In IEEE 754 this is NaN; as a limit it is 1.",
)
COMPUTED = SOFTSIGN.clause("The softsign (x/(1+|x|)) values of the input tensor computed element-wise")
UNARY = Unary(SOFTSIGN, CALCULATES, bfloat16=22)


@SOFTSIGN.oracle()
def softsign(v: Version, input: Array) -> Result:
    """Return the element divided by 1 plus its absolute value."""
    with np.errstate(invalid="ignore"):
        return v.leave_open(CALCULATES, np.isinf(input), np.asarray(input / (1 + np.abs(input))))


UNARY.cases([1, -1.25, 0.5, 3, -4, 2.75, 0], result=COMPUTED, consumed=False)
UNARY.every_value(up_to=1)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 1.1, -2.3],
    "whole": [-9, -5, -3, -2, -1, 1, 2, 4, 7, 10],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-2, -1e-2, 2e-4, -6.2e-5],
    "large": [1000, -1000, 30000, -30000],
    "nan": [np.nan, 1, np.nan],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL})
SOFTSIGN.case("infinity", Tag.EDGE, input=[np.inf, 1], unspecified=CALCULATES)
SOFTSIGN.case("minus_infinity", Tag.EDGE, input=[-np.inf, 1], unspecified=CALCULATES)
