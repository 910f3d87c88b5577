# SPDX-License-Identifier: Apache-2.0
"""Acosh: the hyperbolic arccosine, element by element.

    output = Acosh(input)

Versions: 9, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

ACOSH = Op(
    "Acosh",
    versions=(9, 22),
    compare=ulp(4, "a careful hyperbolic arccosine is within 2 ULP; float32 vector code is within 4 ULP", narrow=2),
    rank="input",
)
ACOSH.example(input=[1, 1.25, 3])

CALCULATES = ACOSH.clause(
    "Calculates the hyperbolic arccosine of the given input tensor element-wise.",
    note="For zeros, infinities and NaN, the result is that of acosh in IEEE 754, the function that the sentence "
    "names. Outside [1, inf] there is no such number, so the result is NaN.",
)
COMPUTED = ACOSH.clause("The hyperbolic arccosine values of the input tensor computed element-wise")
UNARY = Unary(ACOSH, CALCULATES, bfloat16=22)


@ACOSH.oracle()
def hyperbolic_arccosine(_: Version, input: Array) -> Array:
    """Return the number >= 0 whose hyperbolic cosine is the element."""
    with np.errstate(all="ignore"):
        return np.asarray(np.arccosh(input))


UNARY.cases([1, 1.25, 3, 10, 2, 1.0625, 100], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [1.1, 4 / 3, 1.5, 2.3, 7.7],
    "near_one": [1.0, 1.0078125, 1.03125, 1.001953125],
    "whole": [1, 2, 3, 4, 7, 16],
    "large": [100, 1000, 6e4],
    "nan": [np.nan, 1, np.nan],
    "infinity": [np.inf, 2],
    "outside": [0.9921875, 0.5, 0, -1, -100, 2],
    "minus_infinity": [-np.inf, 2],
}
UNARY.each_type(NUMBERS)
LARGEST = {type_: [limits.largest] for type_, limits in FLOATS.items()}
UNARY.each_type({"subnormal_inputs": SUBNORMAL, "largest": LARGEST})
