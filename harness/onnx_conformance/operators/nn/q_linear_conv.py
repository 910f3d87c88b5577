# SPDX-License-Identifier: Apache-2.0
"""QLinearConv: quantized sums of the products of windows and filters, both quantized.

    y = QLinearConv(x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B=0, group=1,
                    kernel_shape=..., strides=..., dilations=..., pads=..., auto_pad="NOTSET")

Versions: 10.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, Result, Tag, Tolerance, Version, typed
from onnx_conformance.declare.families.quantization import quantized as quantized_as
from onnx_conformance.declare.sizes import EVERY_BYTE, NEAR_THE_MIDDLE, filled
from onnx_conformance.operators.nn._filters import with_bias
from onnx_conformance.operators.nn._integer_convolution import convolution, convolution_cases, whole
from onnx_conformance.operators.nn._sizes import OF_BYTES, filtered_bytes, terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare.sizes import Dims, Sizes

CONV = Op(
    "QLinearConv",
    versions=(10,),
    compare=Tolerance("if a few roundings of the scales can change an element, every element between is allowed"),
    rank="x",
)
CONV.example(
    x=[[[[1, 2, 0, 3], [0, 1, 1, 2], [3, 1, 0, 2]]]],
    x_scale=0.5,
    x_zero_point=1,
    w=[[[[1, 2], [0, 1]]]],
    w_scale=0.25,
    w_zero_point=2,
    y_scale=0.137,
    y_zero_point=2,
    B=[5],
    group=1,
    kernel_shape=[2, 2],
    strides=[1, 2],
    dilations=[1, 1],
    pads=[0, 1, 0, 1],
)

COMPUTES = CONV.clause(
    "The convolution operator consumes a quantized input tensor, its scale and zero point, a quantized filter, its "
    "scale and zero point, and output's scale and zero point, and computes the quantized output.",
    note="The text of QuantizeLinear defines quantization: divide by the scale, round to the nearest, add the zero "
    "point, saturate. For a halfway value, and for a value that a few roundings of the scales can move there, either "
    "neighbour is allowed. Open are a scale that is infinite or NaN, a scale of 0 for y, and a sum that exceeds 32 "
    "bits. Padding contributes 0 after the zero point is subtracted, so padded pixels have the value of the zero "
    "point.",
)
SAME_SHAPE = CONV.clause("Each scale and zero-point pair must have same shape.")
EITHER = CONV.clause("It means they must be either scalars (per tensor) or 1-D tensors (per output channel).")
SAME_TYPE = CONV.clause("Each input or output and its related zero point must have same type.")
BIAS_SCALE = CONV.clause(
    "When bias is present it must be quantized using scale = input scale * weight scale and zero point as 0.",
    result=True,
    note="Therefore it is added to the sums without scaling.",
)
BIAS = CONV.clause("Optional 1D bias to be added to the convolution, has size of M.")
BIAS_SCALE_AGAIN = CONV.clause("Bias must be quantized using scale = x_scale * w_scale and zero_point = 0", result=True)
SCALE_OF_X = CONV.clause("Scale tensor for input 'x'. It's a scalar, which means a per-tensor/layer quantization.")
ZERO_OF_X = CONV.clause("Zero point tensor for input 'x'. It's a scalar, which means a per-tensor/layer quantization.")
SCALE_OF_Y = CONV.clause("Scale tensor for output 'y'. It's a scalar, which means a per-tensor/layer quantization.")
ZERO_OF_Y = CONV.clause("Zero point tensor for output 'y'. It's a scalar, which means a per-tensor/layer quantization.")
SCALE_OF_W = CONV.clause("Scale tensor for input 'w'. It could be a scalar or a 1-D tensor")
ZERO_OF_W = CONV.clause("Zero point tensor for input 'w'. It could be a scalar or a 1-D tensor")
LENGTH = CONV.clause(
    "If it's a 1-D tensor, its number of elements should be equal to the number of output channels (M).",
    note="The text does not define whether a tensor with one element counts as a scalar if there are several output "
    "channels.",
)
TYPES = (
    CONV.clause("Constrain input type to 8-bit integer tensor."),
    CONV.clause("Constrain filter type to 8-bit integer tensor."),
)
OUTPUT_TYPE = CONV.clause("Constrain output type to 8-bit integer tensor.")
BIAS_TYPE = CONV.clause("Constrain bias type to 32-bit integer tensor.")
SENTENCES = convolution(
    CONV,
    stride_default=CONV.clause("If not present, the stride defaults to 1 along each spatial axis."),
    dilation_default=CONV.clause("If not present, the dilation defaults to 1 along each spatial axis."),
    types=TYPES,
)

ROUNDINGS = 2 * float(np.finfo(np.float32).eps)
"""Upper limit of the roundings: the product of two scales, the quotient, a sum as float32 and its product."""


def _by_map(v: Version, values: Array, maps: tuple[int, ...]) -> Array:
    """Return the values of the filters: one value, or one for each map."""
    v.require(EITHER, values.ndim <= 1)
    v.silent(LENGTH, values.shape == (1,) != maps)
    v.require(LENGTH, values.ndim == 0 or values.shape == maps)
    return values.reshape(values.size)


@CONV.oracle()
def convolved(
    v: Version,
    *,
    x: Array,
    x_scale: Array,
    x_zero_point: Array,
    w: Array,
    w_scale: Array,
    w_zero_point: Array,
    y_scale: Array,
    y_zero_point: Array,
    B: Array | None,
    group: int,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
) -> Result:
    """Return the sums of the products of each window with each filter, plus the bias, in steps of y_scale."""
    maps = w.shape[:1]
    of_x, zero_of_x = v.scalar(SCALE_OF_X, x_scale), v.scalar(ZERO_OF_X, x_zero_point)
    of_y, zero_of_y = v.scalar(SCALE_OF_Y, y_scale), v.scalar(ZERO_OF_Y, y_zero_point)
    for scale, zero in ((x_scale, x_zero_point), (w_scale, w_zero_point), (y_scale, y_zero_point)):
        v.require(SAME_SHAPE, scale.shape == zero.shape)
    of_w, zeros_of_w = _by_map(v, w_scale, maps), _by_map(v, w_zero_point, maps)
    v.require(BIAS, B is None or B.shape == maps)
    total, magnitudes = SENTENCES.sums(
        v,
        x.astype(np.int64) - zero_of_x,
        w.astype(np.int64) - zeros_of_w.reshape(zeros_of_w.size, *[1] * (w.ndim - 1)),
        group=group,
        kernel_shape=kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
    )
    magnitudes = with_bias(magnitudes, None if B is None else np.abs(B.astype(np.int64)))
    v.silent(COMPUTES, of_y.item() == 0 or any(np.isinf(scale) for scale in (of_x, of_y)))
    by_map = (of_w.size, *[1] * (w.ndim - 2))
    with np.errstate(invalid="ignore"):
        quotient = with_bias(total, B) * (of_x * of_w / of_y).reshape(by_map)
    quotients = [quotient, quotient * (1 - ROUNDINGS), quotient * (1 + ROUNDINGS)]
    result = quantized_as(v, COMPUTES, quotients, zero_of_y.astype(np.float64), v.dtypes["T3"])
    result = v.leave_open(COMPUTES, np.broadcast_to(np.isinf(of_w).reshape(by_map), total.shape), result)
    return v.leave_open(COMPUTES, magnitudes >= 2**31, result)


def quantized(
    *,
    x_type: str = "int8",
    w_type: str = "int8",
    y_type: str = "int8",
    x_scale: object = 0.5,
    x_zero_point: object = 3,
    w_scale: object = 0.25,
    w_zero_point: object = -2,
    y_scale: object = 7.3,
    y_zero_point: object = 11,
) -> dict[str, Any]:
    """Return scales and zero points. The default y_scale keeps most sums in range."""
    return {
        "x_scale": x_scale,
        "x_zero_point": typed(x_type, x_zero_point),
        "w_scale": w_scale,
        "w_zero_point": typed(w_type, w_zero_point),
        "y_scale": y_scale,
        "y_zero_point": typed(y_type, y_zero_point),
    }


case = CONV.case
X, W = whole(1, 2, 4, 5), whole(3, 2, 2, 3)
convolution_cases(CONV, SENTENCES, quantized, quantized())
case("scales", x=X, w=W, **quantized(x_scale=0.0066, w_scale=0.0705, y_scale=0.0287), cites=COMPUTES)
case("bias", x=X, w=W, B=typed("int32", [1000, -2000, 3]), **quantized(), cites=(BIAS, BIAS_SCALE, BIAS_SCALE_AGAIN))
BY_MAP = quantized(w_scale=[0.25, 1.1, 0.03], w_zero_point=[7, -128, 127], y_scale=23)
case("by_map", x=X, w=W, **BY_MAP, cites=(SCALE_OF_W, ZERO_OF_W, EITHER, LENGTH))
BIAS_OF_MAPS = typed("int32", [500, -700, 9000])
case("by_map_with_bias", x=X, w=W, B=BIAS_OF_MAPS, **BY_MAP, cites=(BIAS, BIAS_SCALE, LENGTH))
OF_GROUPS = quantized(w_scale=[0.25, 1, 2, 0.5, 0.75, 1.5], w_zero_point=[1, -2, 3, -4, 5, -6], y_scale=31)
case("by_map_of_groups", x=whole(1, 4, 3), w=whole(6, 2, 2), group=2, **OF_GROUPS, cites=(SCALE_OF_W, ZERO_OF_W))
ONE_MAP = quantized(w_scale=[0.25], w_zero_point=[7])
case("one_map", Tag.EDGE, x=X, w=W[:1], B=typed("int32", [90]), **ONE_MAP, cites=LENGTH)
VECTORS: dict[str, Any] = {"x_scale": [0.5], "x_zero_point": [3], "y_scale": [7.3], "y_zero_point": [11]}
case("scalars_as_vectors", Tag.EDGE, x=X, w=W, **quantized(**VECTORS), cites=(SCALE_OF_X, ZERO_OF_X, SCALE_OF_Y))
ONE: dict[str, Any] = {"x_scale": 1, "x_zero_point": 0, "w_scale": 1, "w_zero_point": 0, "y_scale": 1}
PIXELS: dict[str, Any] = {"w": [[[1]]]}
UP_DOWN = quantized(**{**ONE, "y_scale": 4}, y_zero_point=1)
case("rounds_to_nearest", x=[[[5, 7, -5, -7, 9, -9]]], **PIXELS, **UP_DOWN, cites=COMPUTES)
case("half_way", Tag.EDGE, x=[[[2, 6, -2, -6]]], **PIXELS, **UP_DOWN, unspecified=COMPUTES)
for y_type, zeros in {"int8": (-100, 100), "uint8": (3, 250)}.items():
    for name, zero in zip(("low", "high"), zeros, strict=True):
        wide = quantized(**ONE, y_type=y_type, y_zero_point=zero)
        cites = (COMPUTES, ZERO_OF_Y, OUTPUT_TYPE)
        case(f"saturates_{y_type}_{name}", Tag.EDGE, x=[[[-128, 127, 0, 30, -30]]], w=[[[2]]], **wide, cites=cites)
ENDS = {"int8": (-128, 127), "uint8": (0, 255)}
for x_type, (x_low, x_high) in ENDS.items():
    for w_type, (w_low, w_high) in ENDS.items():
        case(
            f"limits_{x_type}_by_{w_type}",
            Tag.DTYPE,
            x=typed(x_type, [[[x_low, x_high, 1]]]),
            w=typed(w_type, [[[w_low, w_high, 1]], [[w_high, w_low, 3]]]),
            **quantized(x_type=x_type, x_zero_point=x_low, w_type=w_type, w_zero_point=w_high, y_scale=110.7),
            cites=TYPES,
        )
FAR = quantized(**{**ONE, "x_zero_point": -128, "w_zero_point": -128, "y_scale": 2.0**19})
LONG = np.full((1, 1, 600), 127)
case("sum_beyond_24_bits", Tag.EDGE, x=LONG, w=LONG, **FAR, cites=COMPUTES)
GREAT = quantized(**{**ONE, "y_scale": 2.0**25}, y_zero_point=0)
ON_EDGE: dict[str, Any] = {"x": [[[1, -1]]], "w": [[[1]], [[1]]], **GREAT}
case("sum_of_31_bits", Tag.EDGE, **ON_EDGE, B=typed("int32", np.array([2**31 - 2, 1000], "i4")), cites=BIAS_TYPE)
case("sum_of_32_bits", Tag.EDGE, **ON_EDGE, B=typed("int32", np.array([2**31 - 1, 1], "i4")), unspecified=COMPUTES)
STRANGE: dict[str, dict[str, Any]] = {
    "infinite_scale_of_x": {"x_scale": np.inf},
    "nan_scale_of_w": {"w_scale": np.nan},
    "infinite_scale_of_one_map": {"w_scale": [1, np.inf, 1], "w_zero_point": [0, 0, 0]},
    "zero_scale_of_y": {"y_scale": 0},
}
for name, strange in STRANGE.items():
    case(name, Tag.EDGE, x=X, w=W, **quantized(**strange), unspecified=COMPUTES)

THREE, ZEROS = [0.5, 1, 2], [1, 2, 3]
ALONE: dict[str, dict[str, Any]] = {
    "x_scale": {"x_scale": [0.5]},
    "w_zero_point": {"w_zero_point": ZEROS},
    "y_scale": {"y_scale": [0.5]},
}
for name, alone in ALONE.items():
    case(f"{name}_of_other_shape", x=X, w=W, **quantized(**alone), rejects=SAME_SHAPE)
case("x_by_channel", x=X, w=W, **quantized(x_scale=[1, 2], x_zero_point=[0, 1]), rejects=SCALE_OF_X)
case("y_by_map", x=X, w=W, **quantized(y_scale=THREE, y_zero_point=ZEROS), rejects=SCALE_OF_Y)
case("zero_point_of_x_by_channel", x=X, w=W, **quantized(x_zero_point=[0, 1]), rejects=ZERO_OF_X)
case("zero_point_of_y_by_map", x=X, w=W, **quantized(y_zero_point=ZEROS), rejects=ZERO_OF_Y)
case("w_by_channel", x=X, w=W, **quantized(w_scale=[1, 2], w_zero_point=[0, 1]), rejects=LENGTH)
MATRICES: dict[str, Any] = {"w_scale": [[1], [2], [3]], "w_zero_point": [[0], [1], [2]]}
case("w_as_matrix", x=X, w=W, **quantized(**MATRICES), rejects=EITHER)
case("w_of_one_element", Tag.EDGE, x=X, w=W, **quantized(w_scale=[0.25], w_zero_point=[7]), unspecified=LENGTH)
case("bias_of_channels", x=X, w=W, B=typed("int32", [1, 2]), **quantized(), rejects=BIAS)
case("bias_scalar", x=X, w=W, B=typed("int32", 1), **quantized(), rejects=BIAS)
case("bias_float", Tag.DTYPE, x=X, w=W, B=typed("float", [1, 2, 3]), **quantized(), rejects=BIAS_TYPE)
case("zero_point_of_x_of_other_type", Tag.DTYPE, x=X, w=W, **quantized(x_type="uint8"), rejects=SAME_TYPE)
OTHER = quantized(w_type="uint8", w_zero_point=2)
case("zero_point_of_w_of_other_type", Tag.DTYPE, x=X, w=W, **OTHER, rejects=SAME_TYPE)
case("wide_y", Tag.DTYPE, x=X, w=W, **quantized(y_type="int32"), rejects=OUTPUT_TYPE)


def step_of_y(weights: Dims, factor: int = 1) -> Callable[[Sizes], float]:
    """Return a function for the scale of y, an odd multiple of the product of the other scales.

    The sums divided by it are never close to a tie, and fill most of 8 bits. `factor` is the mean of the factors of the
    scale of the filters.
    """
    return lambda sizes: (2 * round(68 * factor * math.sqrt(terms(weights, sizes))) + 1) * 2.0**-13


for x_type, w_type in (("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")):
    types = {"x": x_type, "w": w_type, "y": x_type}
    points = {
        f"{name}_zero_point": filled(integers=NEAR_THE_MIDDLE[type_], type_=type_) for name, type_ in types.items()
    }
    bytes_ = [filled(integers=EVERY_BYTE, type_=type_) for type_ in (x_type, w_type)]
    for name, (images, weights, sizes) in OF_BYTES.items():
        of_sizes: dict[str, Any] = {
            **filtered_bytes(images, weights, *bytes_),
            **points,
            "x_scale": 2.0**-7,
            "w_scale": 2.0**-6,
            "y_scale": step_of_y(weights),
        }
        call = f"{name}_{x_type}_by_{w_type}"
        if name in ("plane", "depthwise", "pads"):  # One scale for each map, whole multiples of a power of two.
            of_maps = {
                "w_scale": lambda sizes: 2.0**-6 * (1 + np.arange(sizes["m"]) % 3),
                "y_scale": step_of_y(weights, 2),
                "w_zero_point": filled("m", integers=NEAR_THE_MIDDLE[w_type], type_=w_type),
                "B": filled("m", integers=(-4000, 4000)),
            }
            CONV.sized(f"{call}_by_map", sizes, cites=(COMPUTES, LENGTH, BIAS), arguments={**of_sizes, **of_maps})
        else:
            CONV.sized(call, sizes, cites=COMPUTES, arguments=of_sizes)
