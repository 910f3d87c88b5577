# SPDX-License-Identifier: Apache-2.0
"""Elu: each element; elements below 0 become alpha times the exponential minus 1.

    Y = Elu(X)

Versions: 1, 6 (no consumed_inputs), 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, measured
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

ELU = Op("Elu", versions=(1, 6, 22), compare=measured("exponential, difference and product round"), rank="X")
ELU.example(X=[[1, -4, 2], [0, 3, -10]], alpha=0.5, consumed_inputs=[0])

LINEAR = ELU.clause(
    "where the function `f(x) = alpha * (exp(x) - 1.) for x < 0`, `f(x) = x for x >= 0`., is applied to the tensor "
    "elementwise.",
    note="Neither condition is true for NaN. Both formulas return NaN for it.",
)
DEFAULT = ELU.clause("Coefficient of ELU default to 1.0.", before=6)
COEFFICIENT = ELU.clause("Coefficient of ELU.", since=6)
TAKES = ELU.clause("Elu takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(ELU, LINEAR, bfloat16=22)


@ELU.oracle()
def unit(_: Version, X: Array, alpha: float) -> Array:
    """Return X, and alpha times the exponential minus 1 where X is below 0."""
    with np.errstate(all="ignore"):
        return np.where(X < 0, alpha * (np.exp(np.minimum(X, 0)) - 1), X)


case = ELU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -0.375]
UNARY.cases(MIXED, result=TAKES)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 7.3, -7.3],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, -0.25],
    "zeros": [0.0, -0.0],
    "far_below": [-20, -100, -30000, -1],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, -1],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL})
case("default_before_6", X=MIXED, cites=DEFAULT)
for name, alpha in {"half": 0.5, "zero": 0.0, "above_one": 2.5, "negative": -0.75, "large": 1000.0}.items():
    case(f"alpha_{name}", Tag.EDGE, X=MIXED, alpha=alpha, cites=LINEAR)
    case(f"alpha_{name}_since_6", Tag.EDGE, X=MIXED, alpha=alpha, cites=COEFFICIENT)
case("alpha_dtypes", Tag.DTYPE, each="T", X=MIXED, alpha=0.3, cites=LINEAR)
case("alpha_of_infinity", Tag.EDGE, X=[-np.inf, np.inf, -1], alpha=1.5, cites=LINEAR)
