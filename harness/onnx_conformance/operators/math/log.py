# SPDX-License-Identifier: Apache-2.0
"""Log: the natural logarithm, element by element.

    output = Log(input)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version, ulp
from onnx_conformance.declare.families.elementwise import LIMITS, Unary

LOG = Op(
    "Log",
    versions=(1, 6, 13),
    compare=ulp(2, "a careful log is within 1 ULP; so is the function that computes the expected value of a double"),
    rank="input",
)
LOG.example(input=[[1, 0.5, 2.5], [3, 10, 0.125]], consumed_inputs=[0])

LOGARITHM = LOG.clause(
    "Calculates the natural log of the given input tensor, element-wise.",
    note="For 0 the result is minus infinity, below 0 it is NaN. Both are those of log in IEEE 754, the function that "
    "the sentence names.",
)
COMPUTED = LOG.clause("The natural log of the input tensor computed element-wise")
UNARY = Unary(LOG, LOGARITHM)


@LOG.oracle()
def logarithm(_: Version, input: Array) -> Array:
    """Return the power to which e must be raised to equal each element."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(input))


UNARY.cases([1, 0.5, 2.5, 3, 10, 0.125, 7], result=COMPUTED)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, 0.2, 1 / 3, 2 / 3, 0.9, 1.1, 1.5, 2.718281828459045],
    "powers": [1e-4, 1e-3, 1e-2, 10, 100, 1000, 10000, 2**-14, 2**15],
    "whole": [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 17, 100],
    "around_one": [0.9921875, 0.99951171875, 1.0078125, 1.0009765625, 1],
    "root_of_two": [1.41421356, 0.70710678, 1.4140625, 0.7070312],
    "infinities": [np.inf, 1],
    "zeros": [0.0, -0.0, 1],
    "nan": [np.nan, 1, np.nan],
    "below_zero": [-1, -0.5, -1000, -np.inf, 1],
}
UNARY.each_type(NUMBERS)
UNARY.each_type(LIMITS)
