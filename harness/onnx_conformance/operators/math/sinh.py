# SPDX-License-Identifier: Apache-2.0
"""Sinh: the hyperbolic sine, element by element.

    output = Sinh(input)

Versions: 9, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

SINH = Op(
    "Sinh",
    versions=(9, 22),
    compare=ulp(4, "a careful hyperbolic sine is within 2 ULP; float32 vector code is within 4 ULP", narrow=2),
    rank="input",
)
SINH.example(input=[1, -1.25, 0.5])

CALCULATES = SINH.clause(
    "Calculates the hyperbolic sine of the given input tensor element-wise.",
    note="For zeros, infinities and NaN, the result is that of sinh in IEEE 754, the function that the sentence names.",
)
COMPUTED = SINH.clause("The hyperbolic sine values of the input tensor computed element-wise")
UNARY = Unary(SINH, CALCULATES, bfloat16=22)


@SINH.oracle()
def hyperbolic_sine(_: Version, input: Array) -> Array:
    """Return the hyperbolic sine of each element."""
    with np.errstate(all="ignore"):
        return np.asarray(np.sinh(input))


UNARY.cases([1, -1.25, 0.5, 3, -4, 0.0625, 0], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 0.9, 1.1, -1.5, 2.3],
    "whole": [-9, -5, -3, -2, -1, 1, 2, 4, 7, 10],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-2, -1e-2, 2e-4, -6.2e-5],
    "beyond": [1000, -1000, 1],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
}
LARGEST = {type_: [limits.largest, -limits.largest] for type_, limits in FLOATS.items()}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL, "largest": LARGEST})
