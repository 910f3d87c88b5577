# SPDX-License-Identifier: Apache-2.0
"""Cos: the cosine, element by element.

    output = Cos(input)

Versions: 7, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

COS = Op(
    "Cos",
    versions=(7, 22),
    compare=ulp(
        8, "a careful cosine is within 2 ULP; vector code that reduces the angle in steps is within 8 ULP", narrow=2
    ).limited(-1, 1),
    rank="input",
)
COS.example(input=[1, -1.25, 0.5])

CALCULATES = COS.clause(
    "Calculates the cosine of the given input tensor, element-wise.",
    note="For zeros, infinities and NaN, the result is that of cos in IEEE 754, the function that the sentence names.",
)
COMPUTED = COS.clause("The cosine of the input tensor computed element-wise")
UNARY = Unary(COS, CALCULATES, bfloat16=22)


@COS.oracle()
def cosine(_: Version, input: Array) -> Array:
    """Return the cosine of each element, an angle in radians."""
    with np.errstate(all="ignore"):
        return np.asarray(np.cos(input))


UNARY.cases([1, -1.25, 0.5, 3, -4, 0.0625, 0], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 0.9, 1.1, -1.5, 2.3],
    "whole": [-9, -5, -3, -2, -1, 1, 2, 4, 7, 16],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-2, -1e-2, 2e-4, -6.2e-5],
    "many_turns": [100, -355, 1000.5, 6e4],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
}
LARGEST = {type_: [limits.largest, -limits.largest] for type_, limits in FLOATS.items()}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL, "largest": LARGEST})
