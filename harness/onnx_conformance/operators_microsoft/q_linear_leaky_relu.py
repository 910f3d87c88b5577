# SPDX-License-Identifier: Apache-2.0
"""QLinearLeakyRelu: each element of a quantized tensor, quantized again; elements below 0 get a coefficient.

    Y = QLinearLeakyRelu(X, X_scale, X_zero_point=0, Y_scale, Y_zero_point=0, alpha=0.01)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, every_value, typed
from onnx_conformance.declare.families.elementwise import SHAPES
from onnx_conformance.declare.sizes import EVERY_BYTE, LARGE, LENGTHS, filled, grid
from onnx_conformance.operators_microsoft._scales import EPSILON, rounded, scale_cases, scaled, usable

LEAKY_RELU = Op(
    "QLinearLeakyRelu",
    versions=(1,),
    compare=Tolerance("if a few roundings of float32 can change an element, every element between is allowed"),
    domain="com.microsoft",
    rank="X",
)
PARAMETERS: dict[str, Any] = {"X_scale": 0.25, "X_zero_point": 100, "Y_scale": 0.125, "Y_zero_point": 93}
LEAKY_RELU.example(X=[[1, 90, 127], [120, 100, 60]], **PARAMETERS, alpha=0.25)

BELOW = LEAKY_RELU.clause(
    "`f(x) = quantize(alpha * dequantize(x)) for dequantize(x) < 0`",
    note="The text does not define `quantize` and `dequantize`. `dequantize` is the formula of DequantizeLinear of "
    "this domain. `quantize` divides by the scale, rounds to the nearest integer, adds the zero point and limits the "
    "result to the range of the type. At a tie, both neighbours are allowed. The text does not define a scale or an "
    "alpha that is infinite or NaN, or a Y_scale of 0.",
)
FROM_ZERO = LEAKY_RELU.clause(
    "`f(x) = quantize(dequantize(x)) for dequantize(x) >= 0`, is applied to the data tensor elementwise."
)
TAKES = LEAKY_RELU.clause(
    "QLinearLeakyRelu takes quantized input data (Tensor), an argument alpha, and quantize parameter for output, and "
    "produces one output data (Tensor<T>)"
)
COEFFICIENT = LEAKY_RELU.clause("Coefficient of leakage.")
BYTES = LEAKY_RELU.clause("Constrain input and output types to 8 bit tensors.")
OF_X = scaled(LEAKY_RELU, "Input X's scale.", "Input X's zero point.")
OF_Y = scaled(LEAKY_RELU, "Output Y's scale.", "Output Y's zero point.")
ERROR = 2 * EPSILON
"""Two products, the quotient and a reciprocal in its place round by half an epsilon each."""


@LEAKY_RELU.oracle()
def leaked(
    v: Version,
    X: Array,
    X_scale: Array,
    X_zero_point: Array | None,
    Y_scale: Array,
    Y_zero_point: Array | None,
    alpha: float,
) -> Result:
    """Return the quantized X, and alpha times X where the dequantized X is below 0."""
    x_scale, x_zero = OF_X.parameters(v, X_scale, X_zero_point)
    y_scale, y_zero = OF_Y.parameters(v, Y_scale, Y_zero_point)
    v.silent(BELOW, not usable(y_scale, x_scale * alpha))
    real = (X - x_zero) * x_scale
    factor = np.where(real < 0, alpha, 1)
    quotient = factor * real / y_scale
    return rounded(v, BELOW, quotient, ERROR * np.abs(quotient), y_zero, v.dtypes["T"])


case = LEAKY_RELU.case
MIXED = [100, 101, 255, 0, 90, 117]
case("plain", X=MIXED, **PARAMETERS, alpha=0.25, cites=(BELOW, FROM_ZERO, TAKES))
for name, shape in SHAPES.items():
    case(name, Tag.EDGE, X=np.resize(MIXED, shape), **PARAMETERS, cites=FROM_ZERO)
case("dtypes", Tag.DTYPE, each="T", X=[100, 127, 0, 90], **PARAMETERS, alpha=0.5, cites=BYTES)
SIGNED: dict[str, Any] = {"X": typed("int8", [-128, -9, -1, 0, 1, 127]), "X_scale": 0.5, "Y_scale": 0.25}
SIGNED["X_zero_point"] = typed("int8", 0)
case("signed", **SIGNED, Y_zero_point=typed("int8", -7), cites=(BELOW, FROM_ZERO))
for name, alpha in {"zero": 0.0, "one": 1.0, "above_one": 2.5, "negative": -0.5, "tenth": 0.1, "small": 1e-6}.items():
    case(f"alpha_{name}", Tag.EDGE, X=MIXED, **PARAMETERS, alpha=alpha, cites=(BELOW, COEFFICIENT))
for name, alpha in {"infinite": np.inf, "nan": np.nan}.items():
    case(f"alpha_{name}", Tag.EDGE, X=MIXED, **PARAMETERS, alpha=alpha, unspecified=BELOW)
LARGE_STEPS: dict[str, Any] = {"X_scale": 50, "X_zero_point": 100, "Y_scale": 0.5, "Y_zero_point": 128}
case("saturates", Tag.EDGE, X=[0, 99, 100, 101, 255], **LARGE_STEPS, alpha=1.0, cites=(BELOW, FROM_ZERO))
case(
    "saturates_int8",
    Tag.EDGE,
    **SIGNED | {"Y_scale": 2.0**-9, "Y_zero_point": typed("int8", 3)},
    alpha=1.0,
    cites=(BELOW, FROM_ZERO),
)
HALVES: dict[str, Any] = {"X": [0, 1, 2, 3, 4, 5, 7], "X_scale": 1, "X_zero_point": 4, "Y_scale": 2}
case("ties", Tag.EDGE, **HALVES, Y_zero_point=10, alpha=1.0, unspecified=BELOW)
case("ties_with_odd_zero_point", Tag.EDGE, **HALVES, Y_zero_point=9, alpha=0.5, unspecified=BELOW)
TENTH: dict[str, Any] = {"X_scale": 1, "X_zero_point": 5, "Y_scale": 1, "Y_zero_point": 9, "alpha": 0.1}
case("tie_of_inexact_alpha", Tag.EDGE, X=[0, 5], **TENTH, unspecified=BELOW)
case("scale_negative", Tag.EDGE, X=MIXED, **PARAMETERS | {"X_scale": -0.25}, alpha=0.25, cites=(BELOW, FROM_ZERO))
case("scale_of_result_negative", Tag.EDGE, X=MIXED, **PARAMETERS | {"Y_scale": -1}, alpha=0.25, cites=BELOW)


def near_a_tie(errors: float) -> dict[str, Any]:
    """Return scales with which the result for 5 differs from 0.5 by so many epsilons of it."""
    return {"X_scale": 0.5 * (1 + errors * EPSILON), "X_zero_point": 4, "Y_scale": 1, "Y_zero_point": 0}


case("one_rounding_above_a_tie", Tag.EDGE, X=[5, 0], **near_a_tie(1), unspecified=BELOW)
case("three_roundings_above_a_tie", Tag.EDGE, X=[5, 0], **near_a_tie(3), cites=FROM_ZERO)
TENSORS = ((OF_X, "X_scale", "X_zero_point"), (OF_Y, "Y_scale", "Y_zero_point"))
scale_cases(LEAKY_RELU, {"X": MIXED, **PARAMETERS, "alpha": 0.25}, TENSORS, BELOW)

LEAKY_RELU.sized(
    "length",
    grid(n=(*LENGTHS, *LARGE)),
    each="T",
    cites=(BELOW, FROM_ZERO),
    arguments={"X": filled("n", integers=EVERY_BYTE), **PARAMETERS},
)
LEAKY_RELU.every("every", each="T", cites=(BELOW, FROM_ZERO), X=every_value(), **PARAMETERS)
REAL: dict[str, Any] = {"X_scale": 0.0371, "X_zero_point": 77, "Y_scale": 0.0219, "Y_zero_point": 31}
LEAKY_RELU.every("every_real", each="T", cites=(BELOW, FROM_ZERO), X=every_value(), **REAL)
