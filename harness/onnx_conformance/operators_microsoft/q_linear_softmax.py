# SPDX-License-Identifier: Apache-2.0
"""QLinearSoftmax: the normalized exponential of a quantized tensor, quantized.

    Y = QLinearSoftmax(X, X_scale, x_zero_point=0, y_scale, y_zero_point, axis=-1, opset)

Versions: 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, ramp, reshaped, typed
from onnx_conformance.declare.data import axes, axes_outside
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.sizes import EVERY_BYTE, filled
from onnx_conformance.operators.math._sizes import LANES
from onnx_conformance.operators_microsoft._scales import EPSILON, OF_ONE, Scaled, positive, rounded, scale_cases

SOFTMAX = Op(
    "QLinearSoftmax",
    versions=(1,),
    compare=Tolerance("if a few roundings of float32 can change an element, every element between is allowed"),
    domain="com.microsoft",
    rank="X",
)
PARAMETERS: dict[str, Any] = {"X_scale": 0.0625, "x_zero_point": 77, "y_scale": 2.0**-8, "y_zero_point": 3}
SOFTMAX.example(X=[[1, 90, 127], [120, 100, 60]], **PARAMETERS, axis=1, opset=13)

FORMULA = SOFTMAX.clause(
    "Softmax(input, axis) = Exp(input) / ReduceSum(Exp(input), axis=axis, keepdims=1)",
    note="The input of the formula is the dequantized X, and its result is quantized. Quantization rounds to the "
    "nearest integer and limits it to the range of the type. The text does not define the rounding of a tie, so both "
    "neighbours are allowed. It does not define a scale that is infinite, NaN, 0 or negative. The formula has real "
    "numbers, whose exponential does not overflow.",
)
COMPUTES = SOFTMAX.clause("QLinearSoftmax computes the normalized exponential values")
MANY_AXES = SOFTMAX.clause("The input does not need to explicitly be a 2D vector.")
ALONG = SOFTMAX.clause(
    'The "axis" attribute indicates the dimension along which QLinearSoftmax will be performed for onnx v.13+. or the '
    "dimension coerced to NxD Matrix for onnx v.12-.",
    note="Before opset 13, Softmax has one row of the matrix for each combination of the dimensions before `axis`.",
)
AXIS = SOFTMAX.clause(
    "apply softmax to elements for dimensions axis,or all dims along with axis according to op-version",
    note="A negative axis counts from the back, as the default of -1 does. The text does not define an axis that the "
    "input does not have, or a negative axis for an opset before 11, whose Softmax has none.",
)
OPSET = SOFTMAX.clause(
    "opset version of corresponding SoftMax.", note="The text does not define an opset before 1, which has no Softmax."
)
SAME_SHAPE = SOFTMAX.clause("The output tensor has the same shape.", result=True)
SAME_RANK = SOFTMAX.clause("The output tensor has the same rank as the input.", result=True)
BYTES = SOFTMAX.clause("Constrain input and output types to signed/unsigned int8 tensors.")
OF_X = Scaled(
    SOFTMAX.clause("Scale of quantized input 'X'. It must be a scalar.", note=OF_ONE),
    SOFTMAX.clause(
        "Zero point tensor for input 'X'.It must be a scalar.",
        note=f"{OF_ONE} It does not define an omitted zero point, but a zero point does not change the result of the "
        "formula.",
    ),
)
OF_Y = Scaled(
    SOFTMAX.clause("Scale of quantized output 'Y'. It must be a scalar.", note=OF_ONE),
    SOFTMAX.clause("Zero point tensor for output 'Y'. It must be a scalar.", note=OF_ONE),
)
ALONG_ONE_SINCE, NEGATIVE_SINCE = 13, 11
"""The opsets whose Softmax has one dimension instead of a matrix, and negative axes."""


ERROR = 4 * EPSILON
"""The exponential, whose argument rounds, and the quotients round by so much of 1, the greatest result."""


@SOFTMAX.oracle()
def softmaxed(
    v: Version,
    X: Array,
    X_scale: Array,
    x_zero_point: Array | None,
    y_scale: Array,
    y_zero_point: Array,
    axis: int,
    opset: int,
) -> Result:
    """Return the quantized normalized exponentials along an axis, or of each row of a matrix that begins there."""
    of_x, x_zero = OF_X.parameters(v, X_scale, x_zero_point)
    of_y, y_zero = OF_Y.parameters(v, y_scale, y_zero_point)
    v.silent(FORMULA, not positive((of_x, of_y)))
    v.silent(OPSET, opset < 1)
    v.silent(AXIS, not -X.ndim <= axis < X.ndim)
    v.silent(AXIS, axis < 0 and opset < NEGATIVE_SINCE)
    real, first = (X - x_zero) * of_x, axis % X.ndim
    if opset < ALONG_ONE_SINCE:
        real, first = real.reshape(math.prod(X.shape[:first]), math.prod(X.shape[first:])), 1
    exponential = np.exp(real - real.max(first, keepdims=True, initial=-np.inf))
    shares = exponential / exponential.sum(first, keepdims=True)
    error = (ERROR + EPSILON * roundings(real.shape[first])) / of_y
    return reshaped(rounded(v, FORMULA, shares / of_y, error, y_zero, v.dtypes["T"]), X.shape)


def spread(*shape: int) -> Array:
    """Return numbers from 0 to 126 in no order."""
    return (np.arange(math.prod(shape)) * 37 % 127).reshape(shape)


case = SOFTMAX.case
CUBE = spread(2, 3, 4)
case("plain", X=spread(4, 6), **PARAMETERS, axis=1, opset=13, cites=(FORMULA, COMPUTES))
for opset in (1, 9, 11, 12, 13, 22):
    for axis in (0, 1, 2):
        of_opset: dict[str, Any] = {"X": CUBE, **PARAMETERS, "opset": opset}
        case(f"axis_{axis}_opset_{opset}", Tag.AXIS, **of_opset, axis=axis, cites=(ALONG, AXIS, OPSET))
        words = {"unspecified": AXIS} if opset < NEGATIVE_SINCE else {"cites": (ALONG, AXIS)}
        case(f"axis_minus_{3 - axis}_opset_{opset}", Tag.AXIS, **of_opset, axis=axis - 3, **words)
    words = {"unspecified": AXIS} if opset < NEGATIVE_SINCE else {"cites": (AXIS, SAME_SHAPE)}
    case(f"default_axis_opset_{opset}", Tag.AXIS, X=CUBE, **PARAMETERS, opset=opset, **words)
for opset in (0, -1):
    name = f"opset_{opset}".replace("-", "minus_")
    case(name, Tag.EDGE, X=CUBE, **PARAMETERS, axis=1, opset=opset, unspecified=OPSET)
for name, shape, axis in axes():
    for opset in (12, 13):
        cites = (MANY_AXES, SAME_RANK)
        case(f"{name}_opset_{opset}", Tag.AXIS, X=spread(*shape), **PARAMETERS, axis=axis, opset=opset, cites=cites)
for name, shape, axis in axes_outside():
    for opset in (12, 13):
        outside: dict[str, Any] = {"X": spread(*shape), **PARAMETERS, "axis": axis, "opset": opset}
        case(f"{name}_opset_{opset}", Tag.AXIS, **outside, unspecified=AXIS)
for name, shape in {"axis": (3, 0), "batch": (0, 3), "axes_behind": (2, 3, 0)}.items():
    for opset in (12, 13):
        case(f"no_{name}_opset_{opset}", Tag.EDGE, X=ramp(*shape), **PARAMETERS, axis=1, opset=opset, cites=FORMULA)
ROW: dict[str, Any] = {**PARAMETERS, "axis": 1, "opset": 13}
case("dtypes", Tag.DTYPE, each="T", X=spread(3, 5), **ROW, cites=BYTES)
case("one_element", Tag.EDGE, X=[[7]], **ROW, cites=FORMULA)
case("one_in_a_row", Tag.EDGE, X=[[7], [99]], **ROW, cites=FORMULA)
case("equal", Tag.EDGE, X=[[7] * 5, [99] * 5], **ROW, cites=FORMULA)
case("far_apart", Tag.EDGE, X=[[0, 255, 254], [255, 0, 0]], **ROW | {"X_scale": 100}, cites=FORMULA)
case("far_below_zero", Tag.EDGE, X=[[0, 1, 2], [3, 3, 2]], **ROW | {"X_scale": 10, "x_zero_point": 255}, cites=FORMULA)
case("saturates", Tag.EDGE, X=spread(3, 5), **ROW | {"y_scale": 0.0005}, cites=FORMULA)
INT8: dict[str, Any] = {"x_zero_point": typed("int8", -5), "y_zero_point": typed("int8", -128)}
SIGNED = typed("int8", [[-128, 127, 100], [3, -4, 0]])
case("signed", X=SIGNED, **ROW | INT8, cites=FORMULA)
case("saturates_int8", Tag.EDGE, X=SIGNED, **ROW | INT8 | {"y_scale": 0.0005}, cites=FORMULA)
# One divided by such a scale is not close to an integer.
case("scale_of_two_thirds", X=[[7, 7]], **ROW | {"y_scale": 2 / 3}, cites=FORMULA)
case("scale_of_a_thirtieth", X=spread(3, 5), **ROW | {"y_scale": 0.029}, cites=FORMULA)
case("scale_of_232_parts", X=[[7], [99]], **ROW | {"y_scale": 1 / 232.7}, cites=FORMULA)
case("half_is_a_tie", Tag.EDGE, X=[[7, 7]], **ROW | {"y_scale": 1}, unspecified=FORMULA)


def near_a_tie(terms: int, errors: float) -> dict[str, Any]:
    """Return a call whose results, one divided by the number of terms, differ from half of y_scale by so many errors.

    Args:
        terms: a power of two.
        errors: the difference from half of y_scale, in epsilons of 1.
    """
    return {"X": [[7] * terms], **ROW | {"y_scale": 2 * (1 / terms - errors * EPSILON), "y_zero_point": 0}}


for terms, allowed in {2: 6, 16: 16}.items():
    case(f"near_a_tie_of_{terms}", Tag.EDGE, **near_a_tie(terms, allowed - 1), unspecified=FORMULA)
    case(f"away_from_a_tie_of_{terms}", Tag.EDGE, **near_a_tie(terms, 64 * allowed), cites=FORMULA)
TENSORS = ((OF_X, "X_scale", "x_zero_point"), (OF_Y, "y_scale", "y_zero_point"))
scale_cases(SOFTMAX, {"X": spread(3, 5), **ROW}, TENSORS, FORMULA, ("y_zero_point",), only_positive=True)

for name, (dims, axis, sizes) in LANES.items():
    of_lanes: dict[str, Any] = {"X": filled(*dims, integers=EVERY_BYTE), **PARAMETERS, "axis": axis, "opset": 13}
    SOFTMAX.sized(name, sizes, each="T", cites=(FORMULA, ALONG), arguments=of_lanes)
    of_real = of_lanes | {"y_scale": 0.00173, "X_scale": 0.0571}
    SOFTMAX.sized(f"{name}_real", sizes[::2], each="T", cites=(FORMULA, ALONG), arguments=of_real)
