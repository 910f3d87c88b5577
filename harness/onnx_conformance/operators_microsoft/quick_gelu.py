# SPDX-License-Identifier: Apache-2.0
"""QuickGelu: each element times the sigmoid of its multiple.

    Y = QuickGelu(X, alpha=1.702)

Versions: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version
from onnx_conformance.declare.families.elementwise import Unary
from onnx_conformance.declare.rounding import saturated

QUICK_GELU = Op(
    "QuickGelu",
    versions=(1,),
    compare=Tolerance(
        "exponential, sum, quotient and products round, each to the type of the tensor", measured=True, steps=True
    ),
    domain="com.microsoft",
    rank="X",
)
QUICK_GELU.example(X=[[1, -4, 2], [0, 3, -10]], alpha=0.5)

SIGMOIDAL = QUICK_GELU.clause(
    "Compute x * Sigmoid(alpha * x).",
    note="The product of an infinity and a sigmoid of 0 has no value in real numbers. It is NaN, or 0 if computed as a "
    "quotient.",
)
COEFFICIENT = QUICK_GELU.clause("Alpha value.", note="The default is in the schema: 1.702.")
OUTPUT = QUICK_GELU.clause("The output.")
UNARY = Unary(QUICK_GELU, SIGMOIDAL, bfloat16=1)


@QUICK_GELU.oracle()
def quick_gelu(v: Version, X: Array, alpha: float) -> Result:
    """Return X times the sigmoid of alpha times X."""
    with np.errstate(all="ignore"):
        result = np.asarray(X * saturated(1 / (1 + np.exp(-alpha * X))))
    return v.leave_open(SIGMOIDAL, np.isinf(X) & (np.sign(X) * alpha <= 0), result)


case = QUICK_GELU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -0.375]
UNARY.cases(MIXED, result=OUTPUT, consumed=False)
UNARY.every_value(up_to=1, subnormal=False)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 7.3, -7.3],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, -0.25],
    "zeros": [0.0, -0.0],
    "far_above": [20, 100, 30000, 1],
    "infinity": [np.inf, 1],
    "nan": [np.nan, 1, -1],
}
UNARY.each_type(NUMBERS)
case("vanishes_far_below", Tag.EDGE, X=[-20, -100, -30000, -1], cites=SIGMOIDAL)
case("default", X=MIXED, cites=(SIGMOIDAL, COEFFICIENT))
ALPHAS = {"one": 1.0, "half": 0.5, "zero": 0.0, "above_one": 2.5, "negative": -0.75, "large": 1000.0}
for name, alpha in ALPHAS.items():
    case(f"alpha_{name}", Tag.EDGE, X=MIXED, alpha=alpha, cites=COEFFICIENT)
case("alpha_dtypes", Tag.DTYPE, each="T", X=MIXED, alpha=0.3, cites=COEFFICIENT)
case("infinity_alpha_negative_minus", Tag.EDGE, X=[-np.inf, 1], alpha=-1.0, cites=SIGMOIDAL)
case("minus_infinity", Tag.EDGE, X=[-np.inf, 1], unspecified=SIGMOIDAL)
case("infinity_alpha_negative", Tag.EDGE, X=[np.inf, 1], alpha=-1.0, unspecified=SIGMOIDAL)
case("infinity_alpha_zero", Tag.EDGE, X=[np.inf, 1], alpha=0.0, unspecified=SIGMOIDAL)
