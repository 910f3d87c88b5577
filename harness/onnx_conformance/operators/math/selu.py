# SPDX-License-Identifier: Apache-2.0
"""Selu: the scaled exponential linear unit.

    Y = Selu(X)

Versions: 1, 6 (other defaults, no consumed_inputs), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, measured
from onnx_conformance.declare.families.elementwise import Unary

SELU = Op("Selu", versions=(1, 6, 22), compare=measured("exponential, difference and products round"), rank="X")
SELU.example(X=[[1, -4, 2], [0, 3, -10]], alpha=0.5, gamma=2.0, consumed_inputs=[0])

LINEAR = SELU.clause(
    "where the scaled exponential linear unit function, `y = gamma * (alpha * e^x - alpha) for x <= 0`, `y = gamma * x "
    "for x > 0`, is applied to the tensor elementwise.",
    note="Neither condition is true for NaN. Both formulas return NaN for it.",
)
ALPHA = SELU.clause(
    "Coefficient of SELU default to 1.67326319217681884765625 (i.e., float32 approximation of "
    "1.6732632423543772848170429916717)."
).reworded(before=6, text="Coefficient of SELU default to 1.6732.")
GAMMA = SELU.clause(
    "Coefficient of SELU default to 1.05070102214813232421875 (i.e., float32 approximation of "
    "1.0507009873554804934193349852946)."
).reworded(before=6, text="Coefficient of SELU default to 1.0507.")
TAKES = SELU.clause("Selu takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(SELU, LINEAR, bfloat16=22)


@SELU.oracle()
def unit(_: Version, X: Array, alpha: float, gamma: float) -> Array:
    """Return gamma times X if X is above 0, otherwise gamma times (alpha * exp(X) - alpha)."""
    with np.errstate(all="ignore"):
        return np.where(X <= 0, gamma * (alpha * np.exp(np.minimum(X, 0)) - alpha), gamma * X)


case = SELU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -0.375]
UNARY.cases(MIXED, result=TAKES)
UNARY.every_value(up_to=0.75, subnormal=False)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 7.3, -7.3],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, -0.25],
    "zeros": [0.0, -0.0],
    "far_below": [-20, -100, -30000, -1],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, -1],
}
UNARY.each_type(NUMBERS)
case("defaults_before_6", Tag.CHANGE, X=MIXED, before=6, cites=(ALPHA, GAMMA))
case("defaults_since_6", Tag.CHANGE, X=MIXED, since=6, cites=(ALPHA, GAMMA))
SET: dict[str, dict[str, Any]] = {
    "alpha": {"alpha": 0.5},
    "gamma": {"gamma": 2.0},
    "both": {"alpha": 0.75, "gamma": 3.0},
    "alpha_zero": {"alpha": 0.0},
    "gamma_zero": {"gamma": 0.0},
    "negative": {"alpha": -0.5, "gamma": -2.0},
}
for name, coefficients in SET.items():
    case(f"set_{name}", Tag.EDGE, X=MIXED, **coefficients, cites=LINEAR)
case("set_dtypes", Tag.DTYPE, each="T", X=MIXED, alpha=0.3, gamma=1.7, cites=LINEAR)
