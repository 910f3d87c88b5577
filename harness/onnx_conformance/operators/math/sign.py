# SPDX-License-Identifier: Apache-2.0
"""Sign: 1, 0 or -1 for each element.

    output = Sign(input)

Versions: 9, 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, ramp, typed
from onnx_conformance.declare.families.elementwise import LIMITS, Unary

SIGN = Op("Sign", versions=(9, 13), compare=Tolerance("every type has 1, 0 and -1"), rank="input")
SIGN.example(input=[[1, -4, 0], [-3, 10, -7]])

SIGNS = SIGN.clause(
    "If input > 0, output 1. if input < 0, output -1. if input == 0, output 0.",
    note="The text does not define the result for NaN.",
)
SAME_SHAPE = SIGN.clause("It has the same shape and type of the input.")
NUMERIC = SIGN.clause("Constrain input and output types to all numeric tensors.")
UNARY = Unary(SIGN, SIGNS)


@SIGN.oracle()
def sign(v: Version, input: Array) -> Result:
    """Return 1 for elements above 0, -1 for elements below 0, and 0 for 0."""
    return v.leave_open(SIGNS, np.isnan(input), np.where(input > 0, 1, np.where(input < 0, -1, 0)))


UNARY.cases([1, -4, 2, 0, -3, 10, -7], result=SAME_SHAPE)  # For every rank, and without elements.
UNARY.every_value(nan=False)
NUMBERS = {
    "fractions": [0.1, -0.2, 1 / 3, -2 / 3, -1.1, 1e-3, -1e-4],
    "zeros": [0.0, -0.0, 1],
    "infinities": [np.inf, -np.inf, 0],
}
UNARY.each_type(NUMBERS)
UNARY.each_type(LIMITS)  # The largest, the smallest normal and the subnormal numbers of each type.
SIGN.case("outside", Tag.DTYPE, outside="T", input=ramp(3), rejects=NUMERIC)
SIGN.case("nan", Tag.EDGE, input=[np.nan, 1], unspecified=SIGNS)
for bits in (8, 16, 32, 64):
    high = 2 ** (bits - 1) - 1
    SIGN.case(f"limits_int{bits}", Tag.EDGE, input=typed(f"int{bits}", [high, -high - 1, 0, 1, -1]), cites=SIGNS)
    unsigned = np.array([2 * high + 1, high + 1, high, 0, 1], f"uint{bits}")
    SIGN.case(f"limits_uint{bits}", Tag.EDGE, input=typed(f"uint{bits}", unsigned), cites=SIGNS)
