# SPDX-License-Identifier: Apache-2.0
"""Gelu: each element times the share of a normal distribution below it, or an approximation of this product.

    Y = Gelu(X)

Versions: 20.
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, measured, typed
from onnx_conformance.declare.families.elementwise import Unary
from onnx_conformance.operators.math._error_function import erf

GELU = Op("Gelu", versions=(20,), compare=measured("function, sum and products round"), rank="X")
GELU.example(X=[[1, -4, 2], [0, 3, -10]], approximate="none")

GAUSSIAN = GELU.clause(
    "where the gaussian error linear units function, $y = 0.5 * x * (1 + erf(x/sqrt(2)))$ is applied to the tensor "
    "elementwise.",
    note="For minus infinity the product is 0 times infinity, which has no value in real numbers.",
)
ESTIMATION = GELU.clause(
    'If the attribute "approximate" is set to "tanh", the function estimation, '
    "$y = 0.5 * x * (1 + Tanh(sqrt(2/\\pi) * (x + 0.044715 * x^3)))$ is used and applied to the tensor elementwise.",
    note="Minus infinity is as for the exact formula. The cube of a number may exceed the range of its type; the "
    "formula is one of real numbers, so its tanh is then 1 or -1. The function body has both factors as floats, which "
    "are too coarse for doubles, so doubles are left open.",
)
NONE = GELU.clause('`"none"`: do not use approximation.')
TANH = GELU.clause('`"tanh"`: use tanh approximation.')
ALGORITHM = GELU.clause('Gelu approximation algorithm: `"tanh"`, `"none"`(default).')
TAKES = GELU.clause("Gelu takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(GELU, GAUSSIAN)


@GELU.oracle()
def gelu(v: Version, X: Array, approximate: str) -> Result:
    """Return X times half of 1 plus the error function, or plus the hyperbolic tangent that approximates it."""
    v.silent(ALGORITHM, approximate not in {"none", "tanh"})
    v.silent(ESTIMATION, approximate == "tanh" and v.dtypes["T"] == np.float64)
    with np.errstate(all="ignore"):
        if approximate == "tanh":
            share = np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3))
        else:
            share = erf(X / math.sqrt(2))
        share += 1
        result = np.asarray(0.5 * X * share)
    return v.leave_open(ESTIMATION if approximate == "tanh" else GAUSSIAN, np.isneginf(X), result)


case = GELU.case
MIXED = [1, -1.25, 0.5, 3, -2.5, 2.75, -0.375]
UNARY.cases(MIXED, result=TAKES)
UNARY.every_value(up_to=1)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 2.3, -2.3],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, -0.25],
    "zeros": [0.0, -0.0],
    "far_above": [5.5, 20, 100, 30000],
    "far_below": [-5.5, -4, -1],
    "infinity": [np.inf, 1],
    "nan": [np.nan, 1, -1],
}
UNARY.each_type(NUMBERS)
case("approximate_none", X=MIXED, approximate="none", cites=(NONE, ALGORITHM))
for name, numbers in {**NUMBERS, "mixed": MIXED}.items():
    case(f"tanh_{name}", Tag.EDGE, X=numbers, approximate="tanh", cites=(ESTIMATION, TANH))
case("tanh_dtypes", Tag.DTYPE, each="T", but="double", X=MIXED, approximate="tanh", cites=ESTIMATION)
case("tanh_double", Tag.DTYPE, X=typed("double", MIXED), approximate="tanh", unspecified=ESTIMATION)
case("far_below", Tag.EDGE, X=[-20, -100, -30000, -1], cites=GAUSSIAN)
case("differing", X=[1.5, -1.5, 2.25, -2.25], cites=GAUSSIAN)
case("tanh_differing", X=[1.5, -1.5, 2.25, -2.25], approximate="tanh", cites=ESTIMATION)
for name, approximate in {"": "none", "tanh_": "tanh"}.items():
    says = ESTIMATION if name else GAUSSIAN
    case(f"{name}minus_infinity", Tag.EDGE, X=[-np.inf, 1], approximate=approximate, unspecified=says)
case("approximate_unknown", Tag.EDGE, X=MIXED, approximate="sigmoid", unspecified=ALGORITHM)
case("approximate_upper_case", Tag.EDGE, X=MIXED, approximate="TANH", unspecified=ALGORITHM)
