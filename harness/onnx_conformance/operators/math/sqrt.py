# SPDX-License-Identifier: Apache-2.0
"""Sqrt: the square root, element by element.

    Y = Sqrt(X)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.families.elementwise import LIMITS, SUBNORMAL, Unary

SQRT = Op(
    "Sqrt",
    versions=(1, 6, 13),
    compare=ulp(1, "IEEE 754 rounds a square root once, but the x^0.5 of the text may be computed as a careful power"),
    rank="X",
)
SQRT.example(X=[[1, 4, 2], [0.25, 3, 10]], consumed_inputs=[0])

ROOT = SQRT.clause(
    "where the square root is, y = x^0.5, is applied to the tensor elementwise.",
    note="For -0 the square root of IEEE 754 is -0, and the power 0.5 is 0. The sign is left open.",
)
TAKES = SQRT.clause("Square root takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
NEGATIVE = SQRT.clause("If x is negative, then it will return NaN.")
UNARY = Unary(SQRT, ROOT)


@SQRT.oracle()
def root(_: Version, X: Array) -> Array:
    """Return the number whose square is the element; NaN for elements below 0."""
    return np.where(X < 0, np.nan, np.sqrt(np.abs(X)))


UNARY.cases([1, 4, 2, 0.25, 3, 10, 0], result=TAKES)
UNARY.every_value()
NUMBERS = {
    "squares": [1, 4, 9, 16, 25, 144, 1.5625, 0.015625],
    "fractions": [0.1, 0.2, 1 / 3, 2 / 3, 0.5, 1.1, 2, 3, 7, 1e-3, 1e-4],
    "around_one": [0.9921875, 0.99951171875, 1.0078125, 1.0009765625, 1, 1.25],
    "infinity": [np.inf, 1],
    "zeros": [0.0, -0.0],
    "nan": [np.nan, 4, np.nan],
}
BELOW = {"below_zero": [-1, -4, -0.25, 9], "minus_infinity": [-np.inf, 9]}
UNARY.each_type(NUMBERS)
UNARY.each_type(BELOW, cites=(NEGATIVE,))
UNARY.each_type({"below_zero_subnormal": {type_: [-number for number in SUBNORMAL[type_]] for type_ in SUBNORMAL}})
UNARY.each_type(LIMITS)
