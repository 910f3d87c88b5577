# SPDX-License-Identifier: Apache-2.0
"""HardSwish: each element times a line, cut off at 0 and 1.

    Y = HardSwish(X)

Versions: 14, 22 (bfloat16).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary


def _errors(v: Version, X: Array) -> list[Array]:
    """Return the errors of products and sum. A sixth may be rounded to float, as in the function body."""
    epsilon = float(ml_dtypes.finfo(v.dtypes["T"]).eps)  # type: ignore[no-untyped-call]
    size = np.abs(X)
    of_line = size / 6 * (2 + 2.0**-25 / epsilon) + 1
    return [np.where(size <= BENDS, size * (of_line + 1), 0)]


BENDS = 3.5
"""Above this magnitude the line is always cut off, and the product with 0 or 1 is exact."""
HARD_SWISH = Op(
    "HardSwish",
    versions=(14, 22),
    compare=Tolerance("products and sum round, and 1/6 may be a float, as in the function body", ulp=1, bound=_errors),
    rank="X",
)
HARD_SWISH.example(X=[[1, -4, 2], [0, 3, -10]])

CUT = HARD_SWISH.clause(
    "where the HardSwish function, y = x * max(0, min(1, alpha * x + beta)) = x * HardSigmoid<alpha, beta>(x), where "
    "alpha = 1/6 and beta = 0.5, is applied to the tensor elementwise.",
    note="The text does not define the lesser of 1 and NaN, but NaN times anything is NaN. For minus infinity the "
    "product is 0 times infinity, which has no value in real numbers.",
)
TAKES = HARD_SWISH.clause("HardSwish takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(HARD_SWISH, CUT, bfloat16=22)


@HARD_SWISH.oracle()
def cut(v: Version, X: Array) -> Result:
    """Return X times (X / 6 + 1/2) limited to the range from 0 to 1."""
    line = np.asarray(X / 6)
    line += 0.5
    with np.errstate(invalid="ignore"):
        result = np.asarray(X * np.clip(line, 0, 1, out=line))
    return v.leave_open(CUT, np.isneginf(X), result)


case = HARD_SWISH.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -0.375]
UNARY.cases(MIXED, result=TAKES)
UNARY.every_value(up_to=1)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 7.3, -2.3],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, -0.25],
    "zeros": [0.0, -0.0],
    "ends": [3, -3, 2.9375, -2.9375, 3.0625, -3.0625],
    "far": [20, -20, 30000, -30000],
    "infinity": [np.inf, 1],
    "nan": [np.nan, 1, -1],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"subnormal_inputs": SUBNORMAL})
case("minus_infinity", Tag.EDGE, X=[-np.inf, 1], unspecified=CUT)
