# SPDX-License-Identifier: Apache-2.0
"""QLinearSigmoid: the logistic function of each element of a quantized tensor, quantized.

    Y = QLinearSigmoid(X, X_scale, X_zero_point=0, Y_scale, Y_zero_point=0)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, every_value, typed
from onnx_conformance.declare.families.elementwise import SHAPES
from onnx_conformance.declare.sizes import EVERY_BYTE, LARGE, LENGTHS, filled, grid
from onnx_conformance.operators_microsoft._scales import EPSILON, rounded, scale_cases, scaled, usable

SIGMOID = Op(
    "QLinearSigmoid",
    versions=(1,),
    compare=Tolerance("if a few roundings of float32 can change an element, every element between is allowed"),
    domain="com.microsoft",
    rank="X",
)
PARAMETERS: dict[str, Any] = {"X_scale": 0.03125, "X_zero_point": 100, "Y_scale": 0.00390625, "Y_zero_point": 3}
SIGMOID.example(X=[[1, 90, 127], [120, 100, 60]], **PARAMETERS)

COMPUTES = SIGMOID.clause(
    "where the function `f(x) = quantize(Sigmoid(dequantize(x)))`, is applied to the data tensor elementwise.",
    note="The text does not define `quantize` and `dequantize`. `dequantize` is the formula of DequantizeLinear of "
    "this domain. `quantize` divides by the scale, rounds to the nearest integer, adds the zero point and limits the "
    "result to the range of the type. At a tie, both neighbours are allowed. The text does not define a scale that is "
    "infinite or NaN, or a Y_scale of 0.",
)
LOGISTIC = SIGMOID.clause("Wwhere the function `Sigmoid(x) = 1 / (1 + exp(-x))`")
TAKES = SIGMOID.clause(
    "QLinearSigmoid takes quantized input data (Tensor), and quantize parameter for output, and produces one output "
    "data (Tensor<T>)"
)
BYTES = SIGMOID.clause("Constrain input and output types to 8 bit tensors.")
OF_X = scaled(SIGMOID, "Input X's scale.", "Input X's zero point.")
OF_Y = scaled(SIGMOID, "Output Y's scale.", "Output Y's zero point.")
ERROR = 4 * EPSILON
"""Libraries approximate the function with an error of some units of 1. The quotient rounds, too."""


@SIGMOID.oracle()
def logistic(
    v: Version, X: Array, X_scale: Array, X_zero_point: Array | None, Y_scale: Array, Y_zero_point: Array | None
) -> Result:
    """Return the quantized logistic function of the dequantized X."""
    x_scale, x_zero = OF_X.parameters(v, X_scale, X_zero_point)
    y_scale, y_zero = OF_Y.parameters(v, Y_scale, Y_zero_point)
    v.silent(COMPUTES, not usable(y_scale, x_scale))
    real = (X - x_zero) * x_scale
    with np.errstate(over="ignore"):
        quotient = 1 / (1 + np.exp(-real)) / y_scale
    return rounded(v, COMPUTES, quotient, ERROR / np.abs(y_scale), y_zero, v.dtypes["T"])


case = SIGMOID.case
MIXED = [100, 101, 255, 0, 90, 117]
case("plain", X=MIXED, **PARAMETERS, cites=(COMPUTES, LOGISTIC, TAKES))
for name, shape in SHAPES.items():
    case(name, Tag.EDGE, X=np.resize(MIXED, shape), **PARAMETERS, cites=COMPUTES)
case("dtypes", Tag.DTYPE, each="T", X=[100, 127, 0, 90], **PARAMETERS, cites=BYTES)
INT8: dict[str, Any] = {"X": typed("int8", [-128, -1, 0, 1, 127]), "X_zero_point": typed("int8", 0)}
ZERO, LEAST, MOST = typed("int8", 0), typed("int8", -128), typed("int8", 120)
case("signed", **INT8, X_scale=0.0625, Y_scale=0.00390625, Y_zero_point=LEAST, cites=COMPUTES)
case("saturates", Tag.EDGE, X=MIXED, **PARAMETERS | {"Y_scale": 0.001}, cites=COMPUTES)
case("saturates_int8", Tag.EDGE, **INT8, X_scale=0.125, Y_scale=0.0001, Y_zero_point=MOST, cites=COMPUTES)
case("far", Tag.EDGE, X=MIXED, **PARAMETERS | {"X_scale": 1000}, cites=LOGISTIC)
case("far_int8", Tag.EDGE, **INT8, X_scale=10, Y_scale=0.01, Y_zero_point=ZERO, cites=LOGISTIC)
# The logistic function of -12, -8 and -4 is about 6e-6, 3e-4 and 0.02.
case("tiny_results", Tag.EDGE, X=[97, 98, 99], **PARAMETERS | {"X_scale": 4, "Y_scale": 1e-6}, cites=LOGISTIC)
case("scale_negative", Tag.EDGE, X=MIXED, **PARAMETERS | {"X_scale": -0.03125}, cites=COMPUTES)
DOWN: dict[str, Any] = {"Y_scale": -1, "Y_zero_point": 255}
case("scale_of_result_negative", Tag.EDGE, X=MIXED, **PARAMETERS | DOWN, cites=COMPUTES)
case("half_is_a_tie", Tag.EDGE, X=[100, 255], **PARAMETERS | {"Y_scale": 1}, unspecified=COMPUTES)

NEAR_A_TIE = PARAMETERS | {"Y_scale": 1 - 7 * EPSILON, "Y_zero_point": 0}
case("seven_roundings_above_a_tie", Tag.EDGE, X=[100, 255], **NEAR_A_TIE, unspecified=COMPUTES)
WITH_THREE = NEAR_A_TIE | {"Y_scale": 1 - 10 * EPSILON, "Y_zero_point": 3}
case("ten_roundings_above_a_tie_with_three", Tag.EDGE, X=[100, 255], **WITH_THREE, unspecified=COMPUTES)
FARTHER = NEAR_A_TIE | {"Y_scale": 1 - 9 * EPSILON}
case("nine_roundings_above_a_tie", Tag.EDGE, X=[100, 255], **FARTHER, cites=COMPUTES)
TENSORS = ((OF_X, "X_scale", "X_zero_point"), (OF_Y, "Y_scale", "Y_zero_point"))
scale_cases(SIGMOID, {"X": MIXED, **PARAMETERS}, TENSORS, COMPUTES)

SIGMOID.sized(
    "length",
    grid(n=(*LENGTHS, *LARGE)),
    each="T",
    cites=COMPUTES,
    arguments={"X": filled("n", integers=EVERY_BYTE), **PARAMETERS},
)
SIGMOID.every("every", each="T", cites=COMPUTES, X=every_value(), **PARAMETERS)
SIGMOID.every("every_wide", each="T", cites=COMPUTES, X=every_value(), **PARAMETERS | {"X_scale": 0.37})
SIGMOID.every("every_fine", each="T", cites=COMPUTES, X=every_value(), **PARAMETERS | {"Y_scale": 0.00173})
