# SPDX-License-Identifier: Apache-2.0
"""Sigmoid: the logistic function, element by element.

    Y = Sigmoid(X)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, measured
from onnx_conformance.declare.families.elementwise import Unary
from onnx_conformance.declare.rounding import saturated

SIGMOID = Op(
    "Sigmoid", versions=(1, 6, 13), compare=measured("exponential, sum and quotient round").limited(0, 1), rank="X"
)
SIGMOID.example(X=[[1, -1.25, 0.5], [3, -4, 2.75]], consumed_inputs=[0])

LOGISTIC = SIGMOID.clause(
    "where the sigmoid function, y = 1 / (1 + exp(-x)), is applied to the tensor elementwise.",
    note="For infinities the formula evaluated with IEEE 754 returns 1 and 0.",
)
TAKES = SIGMOID.clause("Sigmoid takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(SIGMOID, LOGISTIC)


@SIGMOID.oracle()
def logistic(_: Version, X: Array) -> Array:
    """Return 1 divided by 1 plus the exponential of minus X."""
    with np.errstate(all="ignore"):
        return saturated(1 / (1 + np.exp(-X)))


UNARY.cases([1, -1.25, 0.5, 3, -0.75, 2.75, 0], result=TAKES)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, -1.1, 2.3],
    "whole": [-3, -2, -1, 1, 2, 4, 7, 10],
    "zeros": [0.0, -0.0],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, 0.25],
    "far": [12, -12, 20, -20, 100, -100, 1],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
}
UNARY.each_type(NUMBERS)
