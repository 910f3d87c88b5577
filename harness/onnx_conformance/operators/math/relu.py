# SPDX-License-Identifier: Apache-2.0
"""Relu: each element, or 0 if the element is less than 0.

    Y = Relu(X)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16), 14 (signed integers).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, typed
from onnx_conformance.declare.families.elementwise import Unary

RELU = Op(
    "Relu",
    versions=(1, 6, 13, 14),
    compare=Tolerance("the result is one of two values; if both are zeros, either is allowed"),
    rank="X",
)
RELU.example(X=[[1, -4, 2], [0, 3, -10]], consumed_inputs=[0])

RECTIFIED = RELU.clause(
    "where the rectified linear function, y = max(0, x), is applied to the tensor elementwise.",
    note="The text does not define the greater of 0 and NaN, or of 0 and -0.",
)
TAKES = RELU.clause("Relu takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(RELU, RECTIFIED)


@RELU.oracle()
def rectified(v: Version, X: Array) -> Result:
    """Return the greater of 0 and X."""
    return v.unordered(RECTIFIED, np.isnan(X), np.maximum(X, X.dtype.type(0)))


UNARY.cases([1, -4, 2, 0, 3, -10, 7], result=TAKES)
UNARY.every_value(nan=False)
NUMBERS = {
    "fractions": [0.1, -0.2, 1 / 3, -2 / 3, 1.1, 1e-3, -1e-4],
    "zeros": [0.0, -0.0],
    "infinities": [np.inf, -np.inf],
    "subnormal_inputs": [1e-7, -1e-7, 1e-40, -1e-40, 5e-324],
}
UNARY.each_type(NUMBERS)
RELU.case("nan", Tag.EDGE, X=[np.nan, 4, -np.nan], unspecified=RECTIFIED)
for bits in (8, 16, 32, 64):
    type_, high = f"int{bits}", 2 ** (bits - 1) - 1
    RELU.case(f"limits_{type_}", Tag.EDGE, X=typed(type_, [high, -high - 1, 0, 1, -1]), since=14, cites=RECTIFIED)
