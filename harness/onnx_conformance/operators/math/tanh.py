# SPDX-License-Identifier: Apache-2.0
"""Tanh: the hyperbolic tangent, element by element.

    output = Tanh(input)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import Unary

TANH = Op(
    "Tanh",
    versions=(1, 6, 13),
    compare=ulp(
        4, "a careful tanh is within 2 ULP; a rational function in float32 vector code is within 4 ULP", narrow=2
    ).limited(-1, 1),
    rank="input",
)
TANH.example(input=[1, -1.25, 0.5], consumed_inputs=[0])

TANGENT = TANH.clause(
    "Calculates the hyperbolic tangent of the given input tensor element-wise.",
    note="For infinities, zeros and NaN, the result is that of tanh in IEEE 754, the function that the sentence names. "
    "For subnormal numbers it is the number itself; the quotient of polynomials in onnxruntime loses bits of them.",
)
COMPUTED = TANH.clause("The hyperbolic tangent values of the input tensor computed element-wise")
ONE_D = TANH.clause(
    "1-D input tensor",
    before=6,
    note="The sentence does not forbid or define other ranks. The sentence on the operator names no rank, and no other "
    "operator with one tensor has this description.",
)
UNARY = Unary(TANH, TANGENT, flat=ONE_D)


@TANH.oracle()
def tangent(v: Version, input: Array) -> Array:
    """Return sinh divided by cosh for each element."""
    v.silent(ONE_D, ONE_D.in_force(v.since) and input.ndim != 1)
    return np.asarray(np.tanh(input))


UNARY.cases([1, -1.25, 0.5, 3, -4, 0.0625, 0], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 0.9, 1.1, -1.5, 2.3],
    "whole": [-9, -8, -7, -6, -5, -3, -2, -1, 1, 2, 4, 5, 6, 7],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-2, -1e-2, 3e-3, -1e-3, 2e-4, -6.2e-5],
    "around_polynomials": [0.0004, 0.054, 0.55, 0.61, 0.625, 0.626, -0.624, 0.65],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
    "saturated": [20, -20, 100, -88.5, 1000, -60000],
}
LAST = {  # Above these numbers the nearest value is 1.
    "float16": [4.1523438, -4.1601562, 4.5, -5],
    "float": [9.0109131, -9.0109177, 7.9, -8.32],
    "bfloat16": [3.453125, -3.46875, 3.25, -4],
    "double": [19.061547465398497, -19.1, 18.7, -18.02],
}
SUBNORMAL = {
    type_: [
        limits.smallest_normal / 2,
        -3 * limits.smallest_normal / 8,
        limits.smallest_subnormal,
        limits.smallest_normal,
    ]
    for type_, limits in FLOATS.items()
}
LARGEST = {type_: [limits.largest, -limits.largest] for type_, limits in FLOATS.items()}
UNARY.each_type(NUMBERS)
UNARY.each_type({"last_below_one": LAST, "subnormal_inputs": SUBNORMAL, "largest": LARGEST})
