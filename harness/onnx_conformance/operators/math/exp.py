# SPDX-License-Identifier: Apache-2.0
"""Exp: the exponential, element by element.

    output = Exp(input)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.families.elementwise import Unary

EXP = Op(
    "Exp",
    versions=(1, 6, 13),
    compare=ulp(2, "a careful exp is within 1 ULP; so is the function that computes the expected value of a double"),
    rank="input",
)
EXP.example(input=[[1, -1.25, 0.5], [3, -4, 2.75]], consumed_inputs=[0])

EXPONENTIAL = EXP.clause(
    "Calculates the exponential of the given input tensor, element-wise.",
    note="For infinities and NaN, the result is that of exp in IEEE 754, the function that the sentence names.",
)
COMPUTED = EXP.clause("The exponential of the input tensor computed element-wise")
UNARY = Unary(EXP, EXPONENTIAL)


@EXP.oracle()
def exponential(_: Version, input: Array) -> Array:
    """Return e to the power of each element."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(input))


UNARY.cases([1, -1.25, 0.5, 3, -4, 2.75, 0], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, 1e-3, -1e-3, 5.5, -7.3],
    "whole": [-9, -8, -7, -6, -5, -3, -2, 2, 4, 5, 6, 7, 8, 9, 10, 11],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-3, -1e-4, 6e-5, -6e-5, 1e-7, -1e-7, 0.125],
    "subnormal_inputs": [1e-7, -1e-7, 1e-40, -1e-40, 1e-45, 5e-324],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
    "halves_of_log_2": [0.34657359, -0.34657359, 0.34667969, 1.0397208, -1.0397208],
}
LAST = {
    "float16": [11.0859375, -9.703125],
    "float": [88.72283, -87.33654],
    "bfloat16": [88.5, -87],
    "double": [709.782712893384, -708.3964185322641],
}
BEYOND = {
    "float16": [11.1, 65504, -18, -65504],
    "float": [88.73, 3.4e38, -105, -3.4e38],
    "bfloat16": [89, 3.3e38, -94, -3.3e38],
    "double": [709.79, 1e308, -746, -1e308],
}
SUBNORMAL = {"float16": [-10, -16.5], "float": [-88, -103.2], "bfloat16": [-88, -92.5], "double": [-709.5, -745]}
UNARY.each_type(NUMBERS)
UNARY.each_type({"last_of_normal_results": LAST, "beyond_results": BEYOND, "subnormal_results": SUBNORMAL})
