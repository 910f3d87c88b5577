# SPDX-License-Identifier: Apache-2.0
"""Gelu: each element times the share of a normal distribution below it.

    Y = Gelu(X)

Versions: 1.
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version
from onnx_conformance.declare.families.elementwise import Unary
from onnx_conformance.operators.math._error_function import erf

GELU = Op(
    "Gelu",
    versions=(1,),
    compare=Tolerance("function, sum and products round, each to the type of the tensor", measured=True, steps=True),
    domain="com.microsoft",
    rank="X",
)
GELU.example(X=[[1, -4, 2], [0, 3, -10]])

NAMED = GELU.clause("Gaussian Error Linear Unit.")
EXPECTED = GELU.clause(
    "The GELU nonlinearity is the expected transformation of a stochastic regularizer which randomly applies the "
    "identity or zero map to a neuron's input.",
    note="The text has no formula. It quotes the abstract of the paper that introduced GELU (Hendrycks and Gimpel, "
    "2016). In that paper the regularizer keeps x if a number of the standard normal distribution is at most x, and "
    "its expectation is x times the distribution function: 0.5 * x * (1 + erf(x / sqrt(2))). For minus infinity that "
    "product has no value in real numbers.",
)
WEIGHTS = GELU.clause(
    "The GELU nonlinearity weights inputs by their magnitude, rather than gates inputs by their sign as in ReLUs."
)
UNARY = Unary(GELU, EXPECTED, bfloat16=1)


@GELU.oracle()
def gelu(v: Version, X: Array) -> Result:
    """Return X times the share of a normal distribution below it."""
    with np.errstate(all="ignore"):
        result = np.asarray(0.5 * X * (1 + erf(X / math.sqrt(2))))
    return v.leave_open(EXPECTED, np.isneginf(X), result)


case = GELU.case
UNARY.cases([1, -1.25, 0.5, 3, -2.5, 2.75, -0.375], result=NAMED, consumed=False)
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
case("not_gated_by_sign", X=[-0.5, 0.5, -2, 2], cites=WEIGHTS)
case("differs_from_tanh", X=[1.5, -1.5, 2.25, -2.25], cites=EXPECTED)
case("vanishes_far_below", Tag.EDGE, X=[-20, -100, -30000, -1], cites=EXPECTED)
case("minus_infinity", Tag.EDGE, X=[-np.inf, 1], unspecified=EXPECTED)
