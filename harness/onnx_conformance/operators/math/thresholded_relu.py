# SPDX-License-Identifier: Apache-2.0
"""ThresholdedRelu: each element above a threshold, 0 for the others.

    Y = ThresholdedRelu(X)

Versions: 10, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, typed
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

THRESHOLDED_RELU = Op(
    "ThresholdedRelu",
    versions=(10, 22),
    compare=Tolerance("the result is an element or 0, which every type contains; if both are zeros, either is allowed"),
    rank="X",
)
THRESHOLDED_RELU.example(X=[[1, -4, 2], [0, 3, -10]], alpha=0.5)

RECTIFIED = THRESHOLDED_RELU.clause(
    "where the rectified linear function, y = x for x > alpha, y = 0 otherwise, is applied to the tensor elementwise.",
    note="NaN is not above the threshold.",
)
THRESHOLD = THRESHOLDED_RELU.clause("Threshold value")
TAKES = THRESHOLDED_RELU.clause(
    "ThresholdedRelu takes one input data (Tensor<T>) and produces one output data (Tensor<T>)"
)
UNARY = Unary(THRESHOLDED_RELU, RECTIFIED, bfloat16=22)


@THRESHOLDED_RELU.oracle()
def rectified(v: Version, X: Array, alpha: float) -> Result:
    """Return X where it is above alpha, otherwise 0.

    The text does not define whether alpha is rounded to the type of X.
    """
    rounded = float(np.asarray(alpha).astype(v.dtypes["T"]).astype(np.float64))
    above = v.compared(np.greater, X, np.asarray(alpha))
    return v.leave_open(RECTIFIED, above != (rounded < X), np.where(above, X, 0))


case = THRESHOLDED_RELU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, 1.5]
UNARY.cases(MIXED, result=TAKES)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, 1.1, -1.1, 7.3, 1 + 2**-7, 1 - 2**-7],
    "zeros": [0.0, -0.0, 2],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, 2],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL})
for name, alpha in {"half": 0.5, "zero": 0.0, "negative": -1.25, "large": 30000.0, "infinite": np.inf}.items():
    case(f"alpha_{name}", Tag.EDGE, X=MIXED, alpha=alpha, cites=THRESHOLD)
case("alpha_minus_infinity", Tag.EDGE, X=[*MIXED, -np.inf], alpha=-np.inf, cites=THRESHOLD)
case("alpha_dtypes", Tag.DTYPE, each="T", X=MIXED, alpha=1.5, cites=RECTIFIED)
case("alpha_subnormal", Tag.EDGE, X=[2**-140, 2**-141, 2**-139, 1], alpha=2**-140, cites=THRESHOLD)
case("alpha_between_numbers", Tag.EDGE, X=typed("float16", [1, 2, 0.5]), alpha=0.9999, unspecified=RECTIFIED)
