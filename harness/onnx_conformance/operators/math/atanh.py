# SPDX-License-Identifier: Apache-2.0
"""Atanh: the hyperbolic arctangent, element by element.

    output = Atanh(input)

Versions: 9, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

ATANH = Op(
    "Atanh",
    versions=(9, 22),
    compare=ulp(4, "a careful hyperbolic arctangent is within 2 ULP; float32 vector code is within 4 ULP", narrow=2),
    rank="input",
)
ATANH.example(input=[0.25, -0.75, 0.5])

CALCULATES = ATANH.clause(
    "Calculates the hyperbolic arctangent of the given input tensor element-wise.",
    note="For zeros, infinities and NaN, the result is that of atanh in IEEE 754, the function that the sentence "
    "names. Outside [-1, 1] there is no such number, so the result is NaN.",
)
COMPUTED = ATANH.clause("The hyperbolic arctangent values of the input tensor computed element-wise")
UNARY = Unary(ATANH, CALCULATES, bfloat16=22)


@ATANH.oracle()
def hyperbolic_arctangent(_: Version, input: Array) -> Array:
    """Return the number whose hyperbolic tangent is the element."""
    with np.errstate(all="ignore"):
        return np.asarray(np.arctanh(input))


UNARY.cases([0.25, -0.75, 0.5, 0.875, -0.125, 0.0625, 0], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 0.9, -0.95],
    "near_ends": [0.99951171875, -0.99951171875, 0.9921875, -0.96875],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-2, -1e-2, 2e-4, -6.2e-5],
    "ends": [1, -1, 0.5],
    "nan": [np.nan, 0.5, np.nan],
    "outside": [1.0078125, -1.0078125, 2, -100, 0.5],
    "infinities": [np.inf, -np.inf, 0.5],
}
LARGEST = {type_: [limits.largest, -limits.largest] for type_, limits in FLOATS.items()}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL, "largest": LARGEST})
