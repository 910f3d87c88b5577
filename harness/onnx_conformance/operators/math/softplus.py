# SPDX-License-Identifier: Apache-2.0
"""Softplus: the logarithm of 1 plus the exponential of each element.

    Y = Softplus(X)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Version, measured
from onnx_conformance.declare.families.elementwise import Unary

SOFTPLUS = Op("Softplus", versions=(1, 22), compare=measured("exponential, sum and logarithm round"), rank="X")
SOFTPLUS.example(X=[[1, -1.25, 0.5], [3, -0.75, 2.75]])

LOGARITHM = SOFTPLUS.clause(
    "where the softplus function, y = ln(exp(x) + 1), is applied to the tensor elementwise.",
    note="For infinities the formula evaluated with IEEE 754 returns infinity and 0. If the exponential exceeds the "
    "type, the formula in real numbers returns x and the function body returns infinity, so this case is left open.",
)
TAKES = SOFTPLUS.clause("Softplus takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
EXPONENTIAL_ENDS = 700
"""Above this limit doubles cannot represent the exponential, and adding 1 to it makes no difference in any type."""
UNARY = Unary(SOFTPLUS, LOGARITHM, bfloat16=22)


@SOFTPLUS.oracle()
def softplus(v: Version, X: Array) -> Array | PartlyOpen:
    """Return the logarithm of the exponential plus 1. It is open if the type cannot represent the exponential."""
    with np.errstate(all="ignore"):
        result = np.log(np.exp(np.minimum(X, EXPONENTIAL_ENDS)) + 1)
    greatest = float(ml_dtypes.finfo(v.dtypes["T"]).max)  # type: ignore[no-untyped-call]
    overflows = np.isfinite(X) & (np.log(greatest) < X)
    result = np.where(X > EXPONENTIAL_ENDS, X, result)
    return PartlyOpen(result, overflows) if overflows.any() else result


case = SOFTPLUS.case
UNARY.cases([1, -1.25, 0.5, 3, -0.75, 2.75, 0], result=TAKES, consumed=False)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, -1.1, 2.3],
    "whole": [-3, -2, -1, 1, 2, 4, 7],
    "zeros": [0.0, -0.0],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
}
UNARY.each_type(NUMBERS)
UNARY.every_value(subnormal=False)
case("far", Tag.EDGE, X=[80, 10, -10, -80, 1], cites=LOGARITHM)
case("beyond_the_exponential", Tag.EDGE, X=[89, 1000, 30000, 3e38, -89, -1000], cites=LOGARITHM)
