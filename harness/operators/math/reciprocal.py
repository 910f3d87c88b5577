"""Reciprocal: one over each element.

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from harness.declare import Array, Op, Version
from harness.declare.families.elementwise import Unary, rounded_once

RECIPROCAL = Op("Reciprocal", versions=(1, 6, 13), compare=rounded_once("quotient"), rank="X")

INVERSE = RECIPROCAL.clause(
    "where the reciprocal is, y = 1/x, is applied to the tensor elementwise.",
    note="Of zeros and infinities it is the division of IEEE 754, which the formula names.",
)
TAKES = RECIPROCAL.clause("Reciprocal takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(RECIPROCAL, INVERSE)


@RECIPROCAL.oracle()
def inverse(_: Version, X: Array) -> Array:  # noqa: N803 - the text's own name
    """Return 1 / X."""
    with np.errstate(all="ignore"):
        return np.asarray(1 / X)


UNARY.cases([1, -4, 2, 0.25, 3, -10, 0.7], result=(TAKES,))
NUMBERS = {
    "exact": [1, -2, 4, 0.5, -0.125, 1024],
    "fractions": [0.1, -0.2, 1 / 3, -2 / 3, 1.1, 1e-3, 1e-4],
    "whole": [3, 5, 6, 7, 9, 10, 11, 13, -17, 100, 2049, 257],
    "around_one": [0.9921875, 0.99951171875, 1.0078125, -1.0009765625],
    "infinities": [np.inf, -np.inf],
    "zeros": [0.0, -0.0],
    "nan": [np.nan, 4, np.nan],
}
LARGEST = {
    "float16": [65504, -65504],
    "float": [3.4028235e38],
    "bfloat16": [3.38e38],
    "double": [1.7976931348623157e308],
}
SMALLEST = {"float16": [2**-14], "float": [2**-126], "bfloat16": [2**-126], "double": [-(2**-1022)]}
SUBNORMAL = {
    "float16": [2**-15, -3 * 2**-17, 2**-24],
    "float": [2**-127, -3 * 2**-129, 2**-149],
    "bfloat16": [2**-127, -3 * 2**-129, 2**-133],
    "double": [2**-1023, -3 * 2**-1025, 2**-1074],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"largest": LARGEST, "smallest_normal": SMALLEST, "subnormal_inputs": SUBNORMAL})
