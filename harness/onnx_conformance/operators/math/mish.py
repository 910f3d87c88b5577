# SPDX-License-Identifier: Apache-2.0
"""Mish: each element times the hyperbolic tangent of its softplus.

    Y = Mish(X)

Versions: 18, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, measured
from onnx_conformance.declare.families.elementwise import Unary

MISH = Op("Mish", versions=(18, 22), compare=measured("exponential, logarithm, tangent and product round"), rank="X")
MISH.example(X=[[1, -4, 2], [0, 3, -10]])

FORMULA = MISH.clause(
    "mish(x) = x * tanh(softplus(x)) = x * tanh(ln(1 + e^{x}))",
    note="For minus infinity the product is 0 times infinity, which has no value in real numbers.",
)
PERFORMED = MISH.clause("Perform the linear unit element-wise on the input tensor X using formula:")
UNARY = Unary(MISH, FORMULA, bfloat16=22)


@MISH.oracle()
def mish(v: Version, X: Array) -> Result:
    """Return X times the hyperbolic tangent of the logarithm of 1 plus its exponential."""
    with np.errstate(all="ignore"):
        return v.leave_open(FORMULA, np.isneginf(X), np.asarray(X * np.tanh(np.logaddexp(0, X))))


case = MISH.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -0.375]
UNARY.cases(MIXED, result=PERFORMED)
UNARY.every_value(up_to=1)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 7.3, -7.3],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, -0.25],
    "zeros": [0.0, -0.0],
    "far_above": [20, 100, 30000, 1],
}
UNARY.each_type(NUMBERS)
case("infinity", Tag.EDGE, X=[np.inf, 1], cites=FORMULA)
case("nan", Tag.EDGE, X=[np.nan, 1, -1], cites=FORMULA)
case("far_below", Tag.EDGE, X=[-20, -100, -30000, -1], cites=FORMULA)
case("minus_infinity", Tag.EDGE, X=[-np.inf, 1], unspecified=FORMULA)
