# SPDX-License-Identifier: Apache-2.0
"""Celu: the exponential linear unit whose slope has no step at 0.

    Y = Celu(X)

Versions: 12 (only float), 28 (every floating type).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, typed
from onnx_conformance.declare.families.elementwise import Unary

CELU = Op(
    "Celu",
    versions=(12, 28),
    compare=Tolerance(
        "quotient, exponential, difference and product round; in the function body, also for elements above 0",
        ulp=4,
        narrow=2,
        measured=True,
    ),
    rank="X",
)
CELU.example(X=[[1, -4, 2], [0, 3, -10]], alpha=0.5)

FORMULA = CELU.clause(
    "max(0,x) + min(0,alpha*(exp(x/alpha)-1))",
    note="The text does not define the greater of 0 and NaN, or division by an alpha of 0. For an alpha below 0 the "
    "function body (a scaled Elu) and the formula return different values. Both cases are left open.",
)
PERFORMED = CELU.clause("Perform the linear unit element-wise on the input tensor X using formula:")
DEFAULT = CELU.clause("The default value is 1.0.")
SHAPES = CELU.clause("The Alpha value in Celu formula which control the shape of the unit.")
SINGLE = CELU.clause("Constrain input and output types to float32 tensors.", before=28)
UNARY = Unary(CELU, FORMULA, bfloat16=28)
UNARY.types = {type_: None if type_ == "float" else 28 for type_ in UNARY.types}
CELU.dispute("in the function body, a scalar becomes shape [1], because the constants have that shape", "scalar")


@CELU.oracle()
def unit(v: Version, X: Array, alpha: float) -> Result:
    """Return X if it is above 0, otherwise the exponential minus 1, with input and result scaled by alpha."""
    v.silent(FORMULA, alpha <= 0)
    with np.errstate(all="ignore"):
        bent = alpha * (np.exp(X / alpha) - 1)
    # With alpha above 0, one term of the formula is 0.
    return v.unordered(FORMULA, np.isnan(bent), np.where(X > 0, X, bent))


case = CELU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -0.375]
UNARY.cases(MIXED, result=PERFORMED)
UNARY.every_value(nan=False, subnormal=False)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 7.3, -7.3],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, -0.25],
    "zeros": [0.0, -0.0],
    "far_below": [-20, -100, -30000, -1],
    "infinities": [np.inf, -np.inf, 1],
}
UNARY.each_type(NUMBERS)
case("default", X=MIXED, cites=DEFAULT)
for name, alpha in {"half": 0.5, "above_one": 2.5, "large": 1000.0, "small": 0.01}.items():
    case(f"alpha_{name}", Tag.EDGE, X=MIXED, alpha=alpha, cites=(FORMULA, SHAPES))
case("alpha_dtypes", Tag.DTYPE, each="T", X=MIXED, alpha=0.3, cites=FORMULA)
case("alpha_zero", Tag.EDGE, X=MIXED, alpha=0.0, unspecified=FORMULA)
case("alpha_negative", Tag.EDGE, X=MIXED, alpha=-0.75, unspecified=FORMULA)
case("nan", Tag.EDGE, X=[np.nan, 1, -1], unspecified=FORMULA)
case("double_before_28", Tag.DTYPE, X=typed("double", MIXED), rejects=SINGLE)
