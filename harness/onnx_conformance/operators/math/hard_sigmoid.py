# SPDX-License-Identifier: Apache-2.0
"""HardSigmoid: a line, cut off at 0 and 1.

    Y = HardSigmoid(X)

Versions: 1, 6 (no consumed_inputs), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, measured
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary

HARD_SIGMOID = Op(
    "HardSigmoid", versions=(1, 6, 22), compare=measured("coefficients, product and sum round").limited(0, 1), rank="X"
)
HARD_SIGMOID.example(X=[[1, -4, 2], [0, 3, -10]], alpha=0.5, beta=0.25, consumed_inputs=[0])

CUT = HARD_SIGMOID.clause(
    "where the HardSigmoid function, y = max(0, min(1, alpha * x + beta)), is applied to the tensor elementwise.",
    note="The text does not define the lesser of 1 and NaN.",
)
ALPHA = HARD_SIGMOID.clause("Value of alpha.").reworded(before=6, text="Value of alpha default to 0.2")
BETA = HARD_SIGMOID.clause("Value of beta.").reworded(before=6, text="Value of beta default to 0.5")
TAKES = HARD_SIGMOID.clause("HardSigmoid takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(HARD_SIGMOID, CUT, bfloat16=22)


@HARD_SIGMOID.oracle()
def cut(v: Version, X: Array, alpha: float, beta: float) -> Result:
    """Return alpha times X plus beta, limited to the range from 0 to 1."""
    with np.errstate(all="ignore"):
        line = np.asarray(alpha * X + beta)
    return v.unordered(CUT, np.isnan(line), np.asarray(np.maximum(0, np.minimum(1, line))))


case = HARD_SIGMOID.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.25, -0.375]
UNARY.cases(MIXED, result=TAKES)
UNARY.every_value(nan=False)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 1.9, -2.3],
    "zeros": [0.0, -0.0, 1],
    "ends": [2.5, -2.5, 2.4375, -2.4375, 2.5625, -2.5625],
    "infinities": [np.inf, -np.inf, 1],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL})
case("defaults_before_6", X=MIXED, before=6, cites=(ALPHA, BETA))
SET: dict[str, dict[str, Any]] = {
    "alpha": {"alpha": 0.5},
    "beta": {"beta": 0.25},
    "both": {"alpha": 0.125, "beta": 0.625},
    "alpha_zero": {"alpha": 0.0},
    "alpha_negative": {"alpha": -0.25},
    "beta_above_one": {"beta": 1.5},
    "beta_negative": {"beta": -0.125},
}
for name, coefficients in SET.items():
    case(f"set_{name}", Tag.EDGE, X=MIXED, **coefficients, cites=CUT)
    case(f"set_{name}_since_6", Tag.EDGE, X=MIXED, **coefficients, since=6, cites=(ALPHA, BETA))
case("set_dtypes", Tag.DTYPE, each="T", X=MIXED, alpha=0.3, beta=0.4, cites=CUT)
case("zero_of_infinity", Tag.EDGE, X=[np.inf, 1], alpha=0.0, unspecified=CUT)
case("nan", Tag.EDGE, X=[np.nan, 1, -1], unspecified=CUT)
