# SPDX-License-Identifier: Apache-2.0
"""Asin: the arcsine, element by element.

    output = Asin(input)

Versions: 7, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

ASIN = Op(
    "Asin",
    versions=(7, 22),
    compare=ulp(4, "a careful arcsine is within 2 ULP; float32 vector code is within 4 ULP", narrow=2).limited(
        -np.pi / 2, np.pi / 2
    ),
    rank="input",
)
ASIN.example(input=[1, -0.25, 0.5])

CALCULATES = ASIN.clause(
    "Calculates the arcsine (inverse of sine) of the given input tensor, element-wise.",
    note="For zeros, infinities and NaN, the result is that of asin in IEEE 754, the function that the sentence names. "
    "Outside [-1, 1] there is no such angle, so the result is NaN.",
)
COMPUTED = ASIN.clause("The arcsine of the input tensor computed element-wise")
UNARY = Unary(ASIN, CALCULATES, bfloat16=22)


@ASIN.oracle()
def arcsine(_: Version, input: Array) -> Array:
    """Return the angle from -pi / 2 to pi / 2 whose sine is the element."""
    with np.errstate(all="ignore"):
        return np.asarray(np.arcsin(input))


UNARY.cases([1, -0.25, 0.5, -1, 0.75, 0.0625, 0], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 0.9, -0.95],
    "ends": [1.0, -1.0, 0.99951171875, -0.99951171875, 0.9921875],
    "around_half": [0.5, -0.5, 0.498046875, 0.50390625, -0.50390625],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-2, -1e-2, 2e-4, -6.2e-5],
    "nan": [np.nan, 1, np.nan],
    "outside": [1.0078125, -1.0078125, 2, -100, 0.5],
    "infinities": [np.inf, -np.inf, 1],
}
LARGEST = {type_: [limits.largest, -limits.largest] for type_, limits in FLOATS.items()}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL, "largest": LARGEST})
