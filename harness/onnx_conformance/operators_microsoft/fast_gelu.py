# SPDX-License-Identifier: Apache-2.0
"""FastGelu: the approximation of Gelu by the hyperbolic tangent, of a tensor and an optional bias.

    Y = FastGelu(X, bias=None)

Versions: 1.
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp
from onnx_conformance.declare.families.elementwise import Unary
from onnx_conformance.declare.sizes import filled, grid


def _values(X: Array, linear: float, cubic: float) -> Array:
    """Return the formula with these coefficients."""
    with np.errstate(all="ignore"):
        return np.asarray(0.5 * X * (1 + np.tanh(linear * X + cubic * X**3)))


def _exact_values(X: Array) -> Array:
    """Return the formula with the coefficients that the text rounds to six digits."""
    return _values(X, math.sqrt(2 / math.pi), 0.044715 * math.sqrt(2 / math.pi))


def _rounding(v: Version, X: Array, bias: Array | None) -> list[Array]:
    """Return the allowed error: that of each operation, and the distance between both kinds of coefficients.

    The argument of tanh rounds a few times, and so does the bias. Libraries bound the absolute error of tanh, so its
    sum with 1 has an error of a few units of 1. Products below the normal numbers round to subnormal ones.
    """
    total, magnitude = X if bias is None else X + bias, np.abs(X) + (0 if bias is None else np.abs(bias))
    limits = ml_dtypes.finfo(v.dtypes["T"])  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        inner = LINEAR * total + CUBIC * total**3
        rounded = 4 * np.abs(inner) + (0 if bias is None else LINEAR + 3 * CUBIC * total**2) * magnitude
        slope = 1 / np.cosh(inner) ** 2
        share = np.where(slope > 0, slope * rounded, 0) + 3
        apart = np.abs(_exact_values(total) - _values(total, LINEAR, CUBIC))
        added = 0 if bias is None else magnitude
        absolute = np.where(np.isfinite(apart), apart, 0) + 2 * float(limits.smallest_subnormal)
        return [np.abs(total) / 2 * share + added + absolute / float(limits.eps)]


LINEAR, CUBIC = 0.797885, 0.035677
"""The coefficients of the text."""
FAST_GELU = Op(
    "FastGelu",
    versions=(1,),
    compare=bounded(
        _rounding,
        "sums, products and function round, each to the type of the tensor; coefficients may have six digits or all",
        steps=True,
    ),
    domain="com.microsoft",
    rank="X",
)
FAST_GELU.example(X=[[1, -4, 2], [0, 3, -10]], bias=[0.5, -1, 2])

FORMULA = FAST_GELU.clause(
    "GELU (Gaussian Error Linear Unit) approximation: Y=0.5*X*(1+tanh(0.797885*X+0.035677*X*X*X))",
    note="The numbers are sqrt(2/pi) and 0.044715 * sqrt(2/pi), rounded to six digits. The text does not define "
    "whether a runtime rounds them too, so the tolerance covers both. For minus infinity the product is 0 times "
    "infinity, which has no value in real numbers. The cube of a number may exceed the range of its type; the formula "
    "is one of real numbers, so its tanh is then 1 or -1.",
)
ADDED = FAST_GELU.clause(
    "with an optional input of bias that will be added to X before GELU.",
    note="The text does not define the shape of the bias. In networks, a bias is a vector with one number for each "
    "element of the last axis, and numpy adds such a vector in the same way. All other shapes are left open.",
)
UNARY = Unary(FAST_GELU, FORMULA, bfloat16=1)


@FAST_GELU.oracle()
def fast_gelu(v: Version, X: Array, bias: Array | None) -> Result:
    """Return the sum of X and the bias, times the approximate share of a normal distribution below it."""
    v.silent(ADDED, bias is not None and (X.ndim == 0 or bias.shape != X.shape[-1:]))
    total = X if bias is None else X + bias
    return v.leave_open(FORMULA, np.isneginf(total), _values(total, LINEAR, CUBIC))


case = FAST_GELU.case
MIXED = [1, -1.25, 0.5, 3, -2.5, 2.75, -0.375]
BIAS = [0.25, 1, -0.5, 0, -1, 2, 0.125]
OUTPUT = FAST_GELU.clause("output tensor")
UNARY.cases(MIXED, result=OUTPUT, consumed=False)
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
case("differs_from_the_error_function", X=[1.5, -1.5, 2.25, -2.25], cites=FORMULA)
case("vanishes_far_below", Tag.EDGE, X=[-20, -100, -30000, -1], cites=FORMULA)
case("minus_infinity", Tag.EDGE, X=[-np.inf, 1], unspecified=FORMULA)
case("bias_vector", X=MIXED, bias=BIAS, cites=ADDED)
case("bias_of_rows", X=ramp(4, 3), bias=[0.5, -2, 1], cites=ADDED)
case("bias_of_stack", Tag.EDGE, X=ramp(2, 4, 3), bias=[0.5, -2, 1], cites=ADDED)
case("bias_of_square", Tag.EDGE, X=ramp(3, 3), bias=[0.5, -2, 1], cites=ADDED)
case("bias_empty", Tag.EDGE, X=ramp(0, 3), bias=[0.5, -2, 1], cites=ADDED)
case("bias_without_elements", Tag.EDGE, X=ramp(2, 0), bias=[], cites=ADDED)
case("bias_zero", Tag.EDGE, X=MIXED, bias=[0] * 7, cites=ADDED)
case("bias_cancels", Tag.EDGE, X=[5, -3, 1024], bias=[-5, 3, -1024], cites=ADDED)
case("bias_infinity", Tag.EDGE, X=[np.inf, 1, 1], bias=[1, np.inf, np.nan], cites=ADDED)
case("bias_minus_infinity", Tag.EDGE, X=[1, 1], bias=[-np.inf, 2], unspecified=FORMULA)
case("bias_dtypes", Tag.DTYPE, each="T", X=MIXED, bias=BIAS, cites=ADDED)
case("bias_scalar", Tag.EDGE, X=ramp(4, 3), bias=0.5, unspecified=ADDED)
case("bias_of_scalar", Tag.EDGE, X=0.5, bias=0.5, unspecified=ADDED)
case("bias_of_one", Tag.EDGE, X=ramp(4, 3), bias=[0.5], unspecified=ADDED)
case("bias_of_the_whole_shape", Tag.EDGE, X=ramp(4, 3), bias=ramp(4, 3), unspecified=ADDED)
case("bias_of_two_axes", Tag.EDGE, X=ramp(4, 3), bias=ramp(1, 3), unspecified=ADDED)
case("bias_too_long", Tag.EDGE, X=ramp(4, 3), bias=[0.5, 1, 2, 3], unspecified=ADDED)
FAST_GELU.sized(
    "rows", grid(b=(3, 16), n=(1, 7, 64, 257, 1024, 3072)), each="T", cites=(FORMULA, ADDED),
    arguments={"X": filled("b", "n"), "bias": filled("n")},
)  # fmt: skip
