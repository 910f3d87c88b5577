# SPDX-License-Identifier: Apache-2.0
"""BiasGelu: Gelu of the sum of a tensor and a bias.

    C = BiasGelu(A, B)

Versions: 1.
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, measured, ramp
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.math._error_function import erf

BIAS_GELU = Op(
    "BiasGelu", versions=(1,), compare=measured("sums, function and product round"), domain="com.microsoft", rank="A"
)
BIAS_GELU.example(A=[[1, -4, 2], [0, 3, -10]], B=[0.5, -1, 2])

SUM = BIAS_GELU.clause(
    "It takes the sum of input A and bias input B as the input of Gelu activation.",
    note="The text does not define Gelu. It is the function of the operator Gelu of com.microsoft, which is the "
    "exact one, with the error function.",
)
BIAS = BIAS_GELU.clause(
    "The bias input data that is a 1D tensor.",
    note="The text does not define how it is added: a bias has one number for each element of the last axis.",
)


@BIAS_GELU.oracle()
def bias_gelu(v: Version, A: Array, B: Array) -> Result:
    """Return the sum times the share of a normal distribution below it."""
    v.require(BIAS, B.ndim == 1)
    v.silent(BIAS, A.ndim == 0 or A.shape[-1:] != B.shape)
    total = A + B
    with np.errstate(all="ignore"):
        result = np.asarray(0.5 * total * (1 + erf(total / math.sqrt(2))))
    return v.leave_open(SUM, np.isneginf(total), result)


case = BIAS_GELU.case
MIXED = [1, -1.25, 0.5, 3, -2.5, 2.75, -0.375]
case("vector", A=MIXED, B=[0.25, 1, -0.5, 0, -1, 2, 0.125], cites=SUM)
case("matrix", A=ramp(4, 3), B=[0.5, -2, 1], cites=(SUM, BIAS))
case("stack", Tag.EDGE, A=ramp(2, 4, 3), B=[0.5, -2, 1], cites=(SUM, BIAS))
case("empty", Tag.EDGE, A=ramp(0, 3), B=[0.5, -2, 1], cites=SUM)
case(
    "fractions",
    each="T",
    A=[0.1, -0.1, 1 / 3, -2 / 3, -1.1, 2.3, -2.3],
    B=[0.3, 0.7, -1 / 3, 2 / 3, 1.1, -2.3, 1.3],
    cites=SUM,
)
case("tiny", Tag.EDGE, each="T", A=[2e-5, -3e-5, 4e-6], B=[0, 0, 3e-6], cites=SUM)
case("far", Tag.EDGE, A=[20, -20, 100, -100, 30000], B=[1, -1, 5, -5, 0], cites=SUM)
case("cancels", Tag.EDGE, A=[5, -3, 1024], B=[-5, 3, -1024], cites=SUM)
case("infinity", Tag.EDGE, A=[np.inf, 1], B=[1, np.inf], cites=SUM)
case("minus_infinity", Tag.EDGE, A=[-np.inf, 1], B=[1, 2], unspecified=SUM)
case("nan", Tag.EDGE, A=[np.nan, 1, -1], B=[1, np.nan, 1], cites=SUM)
case("dtypes", Tag.DTYPE, each="T", A=MIXED, B=[0.25, 1, -0.5, 0, -1, 2, 0.125], cites=SUM)
case("bias_of_two_axes", Tag.EDGE, A=ramp(4, 3), B=ramp(1, 3), rejects=BIAS)
case("scalar", Tag.EDGE, A=0.5, B=[1], unspecified=BIAS)
case("bias_scalar", Tag.EDGE, A=ramp(4, 3), B=0.5, rejects=BIAS)
case("bias_of_one", Tag.EDGE, A=ramp(4, 3), B=[0.5], unspecified=BIAS)
case("bias_too_long", Tag.EDGE, A=ramp(4, 3), B=[0.5, 1, 2, 3], unspecified=BIAS)
BIAS_GELU.sized(
    "rows", grid(b=(3, 16), n=(1, 7, 64, 257, 1024)), each="T", cites=SUM,
    arguments={"A": filled("b", "n"), "B": filled("n")},
)  # fmt: skip
