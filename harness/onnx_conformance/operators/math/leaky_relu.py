# SPDX-License-Identifier: Apache-2.0
"""LeakyRelu: each element; elements below 0 are multiplied by a coefficient.

    Y = LeakyRelu(X)

Versions: 1, 6 (no consumed_inputs), 16 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, ulp
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

LEAKY_RELU = Op(
    "LeakyRelu",
    versions=(1, 6, 16),
    compare=ulp(2, "the coefficient is rounded to the type, and so is the product"),
    rank="X",
)
LEAKY_RELU.example(X=[[1, -4, 2], [0, 3, -10]], alpha=0.25, consumed_inputs=[0])

LEAKING = LEAKY_RELU.clause(
    "where the function `f(x) = alpha * x for x < 0`, `f(x) = x for x >= 0`, is applied to the data tensor "
    "elementwise.",
    note="Neither condition is true for NaN. Both formulas return NaN for it.",
)
DEFAULT = LEAKY_RELU.clause("Coefficient of leakage default to 0.01.", before=6)
COEFFICIENT = LEAKY_RELU.clause("Coefficient of leakage.", since=6)
TAKES = LEAKY_RELU.clause("LeakyRelu takes input data (Tensor<T>) and an argument alpha, and produces one output data")
UNARY = Unary(LEAKY_RELU, LEAKING, bfloat16=16)


@LEAKY_RELU.oracle()
def leaked(_: Version, X: Array, alpha: float) -> Array:
    """Return X, and alpha times X where X is below 0."""
    factors = np.take([1.0, alpha], (X < 0).astype(np.intp), mode="clip")  # np.where takes longer for random signs.
    with np.errstate(all="ignore"):
        return np.asarray(factors * X)


case = LEAKY_RELU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -7]
UNARY.cases(MIXED, result=TAKES)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 1e-3, -1e-3],
    "zeros": [0.0, -0.0],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, -1],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL})
case("default_before_6", X=MIXED, cites=DEFAULT)
for name, alpha in {
    "quarter": 0.25,
    "zero": 0.0,
    "one": 1.0,
    "above_one": 2.5,
    "negative": -0.5,
    "small": 1e-6,
}.items():
    case(f"alpha_{name}", Tag.EDGE, X=MIXED, alpha=alpha, cites=LEAKING)
    case(f"alpha_{name}_since_6", Tag.EDGE, X=MIXED, alpha=alpha, cites=COEFFICIENT)
case("alpha_dtypes", Tag.DTYPE, each="T", X=MIXED, alpha=0.3, cites=LEAKING)
case("alpha_infinite", Tag.EDGE, X=[-3, 0, 0.5, 7], alpha=np.inf, cites=LEAKING)
case("alpha_minus_infinite", Tag.EDGE, X=[-3, 0, 0.5, 7], alpha=-np.inf, cites=LEAKING)
case("zero_of_infinity", Tag.EDGE, X=[-np.inf, -1, np.inf], alpha=0.0, cites=LEAKING)
