# SPDX-License-Identifier: Apache-2.0
"""Reciprocal: 1 divided by each element.

    Y = Reciprocal(X)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Version
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.families.elementwise import Unary, rounded_once

RECIPROCAL = Op("Reciprocal", versions=(1, 6, 13), compare=rounded_once("quotient"), rank="X")
RECIPROCAL.example(X=[[1, -4, 2], [0.25, 3, -10]], consumed_inputs=[0])

INVERSE = RECIPROCAL.clause(
    "where the reciprocal is, y = 1/x, is applied to the tensor elementwise.",
    note="For zeros and infinities the result is that of division in IEEE 754, the operation in the formula.",
)
TAKES = RECIPROCAL.clause("Reciprocal takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(RECIPROCAL, INVERSE)


@RECIPROCAL.oracle()
def inverse(_: Version, X: Array) -> Array:
    """Return 1 / X."""
    with np.errstate(all="ignore"):
        return np.asarray(1 / X)


UNARY.cases([1, -4, 2, 0.25, 3, -10, 0.7], result=TAKES)
UNARY.every_value()
NUMBERS = {
    "exact": [1, -2, 4, 0.5, -0.125, 1024],
    "fractions": [0.1, -0.2, 1 / 3, -2 / 3, 1.1, 1e-3, 1e-4],
    "whole": [3, 5, 6, 7, 9, 10, 11, 13, -17, 100, 2049, 257],
    "around_one": [0.9921875, 0.99951171875, 1.0078125, -1.0009765625],
    "infinities": [np.inf, -np.inf],
    "zeros": [0.0, -0.0],
    "nan": [np.nan, 4, np.nan],
}
LIMITS = {
    "largest": {type_: [limits.largest, -limits.largest] for type_, limits in FLOATS.items()},
    "smallest_normal": {type_: [limits.smallest_normal, -limits.smallest_normal] for type_, limits in FLOATS.items()},
    "subnormal_inputs": {
        type_: [limits.smallest_normal / 2, -3 * limits.smallest_normal / 8, limits.smallest_subnormal]
        for type_, limits in FLOATS.items()
    },
}
UNARY.each_type(NUMBERS)
UNARY.each_type(LIMITS)
