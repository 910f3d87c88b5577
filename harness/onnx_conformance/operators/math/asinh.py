# SPDX-License-Identifier: Apache-2.0
"""Asinh: the hyperbolic arcsine, element by element.

    output = Asinh(input)

Versions: 9, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

ASINH = Op(
    "Asinh",
    versions=(9, 22),
    compare=ulp(4, "a careful hyperbolic arcsine is within 2 ULP; float32 vector code is within 4 ULP", narrow=2),
    rank="input",
)
ASINH.example(input=[1, -1.25, 0.5])

CALCULATES = ASINH.clause(
    "Calculates the hyperbolic arcsine of the given input tensor element-wise.",
    note="For zeros, infinities and NaN, the result is that of asinh in IEEE 754, the function that the sentence "
    "names.",
)
COMPUTED = ASINH.clause("The hyperbolic arcsine values of the input tensor computed element-wise")
UNARY = Unary(ASINH, CALCULATES, bfloat16=22)


@ASINH.oracle()
def hyperbolic_arcsine(_: Version, input: Array) -> Array:
    """Return the number whose hyperbolic sine is the element."""
    with np.errstate(all="ignore"):
        return np.asarray(np.arcsinh(input))


UNARY.cases([1, -1.25, 0.5, 3, -4, 0.0625, 0], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 0.9, 1.1, -1.5, 2.3],
    "whole": [-9, -5, -3, -2, -1, 1, 2, 4, 7, 16],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-2, -1e-2, 2e-4, -6.2e-5],
    "large": [100, -1000, 6e4, -6e4],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
}
LARGEST = {type_: [limits.largest, -limits.largest] for type_, limits in FLOATS.items()}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL, "largest": LARGEST})
