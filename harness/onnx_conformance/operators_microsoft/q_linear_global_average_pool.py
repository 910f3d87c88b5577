# SPDX-License-Identifier: Apache-2.0
"""QLinearGlobalAveragePool: the average of each channel of a quantized tensor, quantized.

    Y = QLinearGlobalAveragePool(X, x_scale, x_zero_point, y_scale, y_zero_point, channels_last=0)

Versions: 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Tag, Tolerance, Version, ramp, typed
from onnx_conformance.declare.sizes import EVERY_BYTE, filled
from onnx_conformance.operators.nn._pooling import shuffled
from onnx_conformance.operators.nn._sizes import MAPS
from onnx_conformance.operators_microsoft._layouts import channels_behind, channels_second, moved
from onnx_conformance.operators_microsoft._scales import EPSILON, OF_ONE, Scaled, positive, rounded, scale_cases

POOL = Op(
    "QLinearGlobalAveragePool",
    versions=(1,),
    compare=Tolerance("if a few roundings of float32 can change an element, every element between is allowed"),
    domain="com.microsoft",
    rank="X",
)
PARAMETERS: dict[str, Any] = {"x_scale": 0.5, "x_zero_point": 20, "y_scale": 0.375, "y_zero_point": 3}
POOL.example(X=shuffled(2, 3, 5, 7), **PARAMETERS)

AVERAGE = POOL.clause(
    "QLinearGlobalAveragePool consumes an input tensor X and applies Average pooling across the values in the same "
    "channel.",
    note="The average is that of the dequantized X, and it is quantized. Quantization divides by the scale, rounds to "
    "the nearest integer, adds the zero point and limits the result to the range of the type. The text does not define "
    "the rounding of a tie, so both neighbours are allowed. It does not define a scale that is infinite, NaN, 0 or "
    "negative, or the average of no values.",
)
EQUIVALENT = POOL.clause(
    "This is equivalent to AveragePool with kernel size equal to the spatial dimension of input tensor."
)
BYTES = POOL.clause("Input is of type uint8_t or int8_t.")
TYPES = POOL.clause("Constrain input and output types to signed/unsigned int8 tensors.")
IMAGE = POOL.clause(
    "According to channels_last, dimensions for image case are (N x C x H x W), or (N x H x W x C)",
    note="With 1, the channels are last. The text does not define values other than 0 and 1.",
)
FORM = POOL.clause(
    "the dimensions are in the form of (N x C x D1 x D2 ... Dn), or (N x D1 X D2 ... Dn x C)",
    note="The text does not define an input without D1.",
)
RANK = POOL.clause("The output tensor has the same rank as the input.", result=True)
ONES = POOL.clause("with the N and C value keep it value, while the otherdimensions are all 1.", result=True)
OF_X = Scaled(
    POOL.clause("Scale of quantized input 'X'. It must be a scalar.", note=OF_ONE),
    POOL.clause("Zero point tensor for input 'X'. It must be a scalar.", note=OF_ONE),
)
OF_Y = Scaled(
    POOL.clause("Scale of quantized output 'Y'. It must be a scalar.", note=OF_ONE),
    POOL.clause("Zero point tensor for output 'Y'. It must be a scalar.", note=OF_ONE),
)
ERROR = 4 * EPSILON
"""The product with a scale, two quotients and their reciprocals round by half an epsilon each."""


@POOL.oracle()
def averaged(
    v: Version, X: Array, x_scale: Array, x_zero_point: Array, y_scale: Array, y_zero_point: Array, channels_last: Int
) -> Result:
    """Return the quantized sum of each channel of the dequantized X, divided by the number of its values."""
    of_x, x_zero = OF_X.parameters(v, x_scale, x_zero_point)
    of_y, y_zero = OF_Y.parameters(v, y_scale, y_zero_point)
    v.silent(AVERAGE, not positive((of_x, of_y)))
    v.silent(IMAGE, channels_last not in {0, 1})
    v.require(FORM, X.ndim > 1)
    data = channels_second(X) if channels_last else X
    v.silent(FORM, not data.shape[2:])
    count = math.prod(data.shape[2:])
    v.silent(AVERAGE, count == 0)
    spatial = tuple(range(2, X.ndim))
    quotient = (data - x_zero).sum(spatial, keepdims=True) * of_x / count / of_y
    result = rounded(v, AVERAGE, quotient, ERROR * np.abs(quotient), y_zero, v.dtypes["T"])
    return moved(result, channels_behind) if channels_last else result


case = POOL.case
case("image", X=shuffled(2, 3, 4, 5), **PARAMETERS, cites=(AVERAGE, EQUIVALENT, IMAGE))
SHAPES: dict[str, tuple[int, ...]] = {
    "line": (2, 3, 7),
    "one_image": (1, 2, 5, 3),
    "space": (3, 2, 2, 4, 3),
    "hyperspace": (2, 3, 1, 2, 4, 3),
    "one_pixel": (2, 3, 1, 1),
    "one_element": (1, 1, 1, 1),
    "one_row": (2, 3, 1, 4),
    "one_column": (2, 3, 4, 1),
    "one_channel": (2, 1, 3, 4),
    "many_channels": (1, 19, 2, 2),
    "very_many_channels": (2, 131, 3, 2),
    "many_pixels": (1, 2, 31, 33),
}
for name, shape in SHAPES.items():
    data, cites = shuffled(*shape), (FORM, RANK, ONES)
    case(name, Tag.EDGE, X=data, **PARAMETERS, cites=cites)
    case(f"{name}_channels_first", Tag.EDGE, X=data, **PARAMETERS, channels_last=0, cites=cites)
    case(f"{name}_channels_last", Tag.EDGE, X=channels_behind(data), **PARAMETERS, channels_last=1, cites=(FORM, IMAGE))
for flag, word in enumerate(("first", "last")):
    layout: dict[str, Any] = {**PARAMETERS, "channels_last": flag}
    case(f"no_batch_{word}", Tag.EDGE, X=ramp(0, 3, 4, 5), **layout, cites=FORM)
    case(f"no_batch_and_no_pixels_{word}", Tag.EDGE, X=ramp(0, 3, 0, 5), **layout, unspecified=AVERAGE)
    case(f"no_pixels_{word}", Tag.EDGE, X=ramp(2, 3, 0, 5), **layout, unspecified=AVERAGE)
    case(f"no_spatial_axes_{word}", Tag.EDGE, X=shuffled(2, 3), **layout, unspecified=FORM)
    case(f"rank0_{word}", Tag.EDGE, X=7, **layout, rejects=FORM)
    case(f"rank1_{word}", Tag.EDGE, X=shuffled(3), **layout, rejects=FORM)
    case(f"dtypes_{word}", Tag.DTYPE, each="T", X=shuffled(2, 3, 3, 2), **layout, cites=(BYTES, TYPES))
case("no_channels", Tag.EDGE, X=ramp(2, 0, 4, 5), **PARAMETERS, cites=FORM)
case("no_channels_last", Tag.EDGE, X=ramp(2, 4, 5, 0), **PARAMETERS, channels_last=1, cites=FORM)
case("channels_last_two", Tag.EDGE, X=shuffled(2, 3, 4, 5), **PARAMETERS, channels_last=2, unspecified=IMAGE)

INT8: dict[str, Any] = {"x_zero_point": typed("int8", -7), "y_zero_point": typed("int8", 5)}
SIGNED = typed("int8", [[[-128, -128, -127], [127, 127, 126], [0, -1, 3]]])
case("signed", X=SIGNED, **PARAMETERS | INT8, cites=AVERAGE)
case("saturates_int8", Tag.EDGE, X=SIGNED, **PARAMETERS | INT8 | {"y_scale": 0.125}, cites=AVERAGE)
case("saturates", Tag.EDGE, X=[[[0, 0, 0], [255, 254, 255]]], **PARAMETERS | {"y_scale": 0.125}, cites=AVERAGE)
TIED: dict[str, Any] = {"x_scale": 1, "x_zero_point": 0, "y_scale": 1, "y_zero_point": 0}
case("ties", Tag.EDGE, X=[[[1, 2], [3, 3]]], **TIED, unspecified=AVERAGE)
case("tie_with_zero_point", Tag.EDGE, X=[[[1, 2], [3, 3]]], **TIED | {"y_zero_point": 3}, unspecified=AVERAGE)


def near_a_tie(errors: float, zero_point: int = 0) -> dict[str, Any]:
    """Return a call whose first result differs from 0.5 by so many epsilons of it."""
    return {"X": [[[1, 0], [0, 0]]], **TIED | {"x_scale": 1 + errors * EPSILON, "y_zero_point": zero_point}}


case("three_roundings_above_a_tie", Tag.EDGE, **near_a_tie(3), unspecified=AVERAGE)
case("five_roundings_above_a_tie", Tag.EDGE, **near_a_tie(5), cites=AVERAGE)
case("rounds_with_the_zero_point", Tag.EDGE, **near_a_tie(350, 200), unspecified=AVERAGE)
case("far_from_a_tie_with_zero_point", Tag.EDGE, **near_a_tie(450, 200), cites=AVERAGE)
TENSORS = ((OF_X, "x_scale", "x_zero_point"), (OF_Y, "y_scale", "y_zero_point"))
ZERO_POINTS = ("x_zero_point", "y_zero_point")
scale_cases(POOL, {"X": shuffled(2, 3, 4, 5), **PARAMETERS}, TENSORS, AVERAGE, ZERO_POINTS, only_positive=True)

REAL: dict[str, Any] = {"x_scale": 0.0173, "x_zero_point": 77, "y_scale": 0.0121, "y_zero_point": 55}
for name, (dims, sizes) in MAPS.items():
    first, behind = filled(*dims, integers=EVERY_BYTE), filled(dims[0], *dims[2:], dims[1], integers=EVERY_BYTE)
    POOL.sized(name, sizes, each="T", cites=AVERAGE, arguments={"X": first, **REAL})
    of_last: dict[str, Any] = {"X": behind, **REAL, "channels_last": 1}
    POOL.sized(f"{name}_last", sizes, each="T", cites=IMAGE, arguments=of_last)
