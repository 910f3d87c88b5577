# SPDX-License-Identifier: Apache-2.0
"""ConvInteger: sums of the products of windows and filters, of 8-bit integers minus their zero points, in 32 bits.

    y = ConvInteger(x, w, x_zero_point=0, w_zero_point=0, group=1, kernel_shape=..., strides=..., dilations=...,
                    pads=..., auto_pad="NOTSET")

Versions: 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Ints, Op, Result, Tag, Version, ramp, typed
from onnx_conformance.declare.sizes import EVERY_BYTE, NEAR_THE_ENDS, PAIRS_OF_BYTES, filled
from onnx_conformance.operators.nn._integer_convolution import convolution, convolution_cases, whole
from onnx_conformance.operators.nn._sizes import OF_BYTES, filtered_bytes

CONV = Op("ConvInteger", versions=(10,), compare=EXACT, rank="x")
CONV.example(
    x=[[[[1, 2, 0, 3], [0, 1, 1, 2], [3, 1, 0, 2]]]],
    w=[[[[1, 2], [0, 1]]]],
    x_zero_point=1,
    w_zero_point=2,
    group=1,
    kernel_shape=[2, 2],
    strides=[1, 2],
    dilations=[1, 1],
    pads=[0, 1, 0, 1],
)

COMPUTES = CONV.clause(
    "The integer convolution operator consumes an input tensor, its zero-point, a filter, and its zero-point, and "
    "computes the output.",
    note="The official cases of Conv show that the filter is not flipped; the text does not define this. Padding "
    "contributes 0 after the zero point is subtracted, so padded pixels have the value of the zero point, as in the "
    "official case with padding.",
)
NEVER = CONV.clause("The production MUST never overflow.")
OVERFLOW = CONV.clause(
    "The accumulation may overflow if and only if in 32 bits.",
    note="The text does not define the result of a sum that exceeds 32 bits.",
)
ZERO_OF_X = CONV.clause("Zero point tensor for input 'x'. It's optional and default value is 0.")
SCALAR_OF_X = CONV.clause("It's a scalar, which means a per-tensor/layer quantization.")
ZERO_OF_W = CONV.clause("Zero point tensor for input 'w'. It's optional and default value is 0.")
EITHER_OF_W = CONV.clause(
    "It could be a scalar or a 1-D tensor, which means a per-tensor/layer or per output channel quantization."
)
LENGTH_OF_W = CONV.clause(
    "If it's a 1-D tensor, its number of elements should be equal to the number of output channels (M)",
    note="The text does not define whether a tensor with one element counts as a scalar if there are several output "
    "channels.",
)
INT32 = CONV.clause("Constrain output y data type to 32-bit integer tensor.")
SENTENCES = convolution(
    CONV,
    stride_default=CONV.clause("If not present, the stride defaults to 1 along each axis."),
    dilation_default=CONV.clause("If not present, the dilation defaults to 1 along each axis."),
    types=(
        CONV.clause("Constrain input x and its zero point data type to 8-bit integer tensor."),
        CONV.clause("Constrain input w and its zero point data type to 8-bit integer tensor."),
    ),
)


@CONV.oracle()
def convolved(
    v: Version,
    *,
    x: Array,
    w: Array,
    x_zero_point: Array | None,
    w_zero_point: Array | None,
    group: int,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
) -> Result:
    """Return the sums of the products of each window with each filter, both minus their zero points."""
    data, filters = x.astype(np.int64), w.astype(np.int64)
    if x_zero_point is not None:
        data = data - v.scalar(SCALAR_OF_X, x_zero_point)
    if w_zero_point is not None:
        v.require(EITHER_OF_W, w_zero_point.ndim <= 1)
        v.silent(LENGTH_OF_W, w_zero_point.shape == (1,) and w.shape[:1] != (1,))
        v.require(LENGTH_OF_W, w_zero_point.ndim == 0 or w_zero_point.shape == w.shape[:1])
        filters = filters - w_zero_point.reshape(w_zero_point.size, *[1] * (w.ndim - 1))
    total, magnitudes = SENTENCES.sums(
        v,
        data,
        filters,
        group=group,
        kernel_shape=kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
    )
    return v.leave_open(OVERFLOW, magnitudes >= 2**31, total)


def zero_points(x_type: str = "int8", w_type: str = "int8") -> dict[str, Any]:
    """Return zero points of these types."""
    return {"x_zero_point": typed(x_type, 3), "w_zero_point": typed(w_type, -2)}


case = CONV.case
X, W = whole(1, 2, 4, 5), whole(3, 2, 2, 3)
convolution_cases(CONV, SENTENCES, zero_points, {})
case("no_zero_points", x=X, w=W, cites=(COMPUTES, ZERO_OF_X, ZERO_OF_W))
case("zero_point_of_x", x=X, w=W, x_zero_point=7, cites=(ZERO_OF_X, SCALAR_OF_X))
case("zero_point_of_w", x=X, w=W, w_zero_point=7, cites=(ZERO_OF_W, EITHER_OF_W))
case("zero_points_by_map", x=X, w=W, w_zero_point=[7, -128, 127], cites=(EITHER_OF_W, LENGTH_OF_W))
GROUPED = whole(1, 4, 3), whole(6, 2, 2)
BY_MAP = [1, -2, 3, -4, 5, -6]
case("zero_points_by_map_of_groups", x=GROUPED[0], w=GROUPED[1], group=2, w_zero_point=BY_MAP, cites=LENGTH_OF_W)
case("zero_point_of_one_map", Tag.EDGE, x=X, w=W[:1], w_zero_point=[7], cites=LENGTH_OF_W)
case("zero_point_of_x_as_vector", Tag.EDGE, x=X, w=W, x_zero_point=[7], cites=SCALAR_OF_X)
case("padded_with_zero_point", x=X, w=W, x_zero_point=7, pads=[1, 2, 0, 1], cites=COMPUTES)
case("zero_points_by_channel_of_x", x=X, w=W, x_zero_point=[7, 8], rejects=SCALAR_OF_X)
case("no_zero_point_of_x", Tag.EDGE, x=X, w=W, x_zero_point=ramp(0), rejects=SCALAR_OF_X)
case("zero_point_of_x_as_matrix", x=X, w=W, x_zero_point=[[7]], rejects=SCALAR_OF_X)
case("zero_points_by_channel_of_w", x=X, w=W, w_zero_point=[7, 8], rejects=LENGTH_OF_W)
case("zero_points_as_matrix", x=X, w=W, w_zero_point=[[7], [8], [9]], rejects=EITHER_OF_W)
case("one_zero_point_of_maps", Tag.EDGE, x=X, w=W, w_zero_point=[7], unspecified=LENGTH_OF_W)
ENDS = {"int8": (-128, 127), "uint8": (0, 255)}
for x_type, (x_low, x_high) in ENDS.items():
    for w_type, (w_low, w_high) in ENDS.items():
        case(
            f"limits_{x_type}_by_{w_type}",
            Tag.DTYPE,
            x=typed(x_type, [[[x_low, x_high, 1]]]),
            w=typed(w_type, [[[w_low, w_high, 1]], [[w_high, w_low, 3]]]),
            x_zero_point=typed(x_type, x_low),
            w_zero_point=typed(w_type, w_high),
            cites=(NEVER, *SENTENCES.types, INT32),
        )
LOWEST = typed("int8", [[[-128, -128]]])
case("sum_beyond_16_bits", Tag.EDGE, x=LOWEST, w=LOWEST, cites=NEVER)
ODD = np.append(np.full(299, 255), 1).reshape(1, 1, 300)  # The sum is odd, and float32 does not contain it.
case("sum_beyond_24_bits", Tag.EDGE, x=typed("uint8", ODD), w=typed("uint8", ODD), cites=OVERFLOW)


def bytes_to_sum(*rest: int) -> dict[str, Any]:
    """Return a line and two filters. The product with the first is 33025 * 255**2 + 255 * rest + ..., 31 bits."""
    line = np.full((1, 1, 33025 + len(rest)), 255)
    filters = np.zeros((2, 1, 33025 + len(rest)))
    filters[0, 0] = [*[255] * 33025, *rest]
    line[0, 0, -1] = 128 if len(rest) > 1 else 255
    return {"x": typed("uint8", line), "w": typed("uint8", filters)}


case("sum_of_31_bits", Tag.EDGE, **bytes_to_sum(), cites=OVERFLOW)
case("sum_of_32_bits", Tag.EDGE, **bytes_to_sum(129, 1), unspecified=OVERFLOW)  # 2**31
OTHER_X, OTHER_W = typed("uint8", 1), typed("uint8", 1)
case("zero_point_of_x_of_other_type", Tag.DTYPE, x=X, w=W, x_zero_point=OTHER_X, rejects=SENTENCES.types[0])
case("zero_point_of_w_of_other_type", Tag.DTYPE, x=X, w=W, w_zero_point=OTHER_W, rejects=SENTENCES.types[1])

for name, (images, weights, sizes) in OF_BYTES.items():
    byte = filled(integers=EVERY_BYTE)
    of_sizes = {**filtered_bytes(images, weights, byte, byte), "x_zero_point": byte, "w_zero_point": byte}
    CONV.sized(name, sizes, each=("T1", "T2"), cites=(COMPUTES, ZERO_OF_X, ZERO_OF_W), arguments=of_sizes)
for x_type, w_type in PAIRS_OF_BYTES:
    images, weights, sizes = OF_BYTES["kernels"]
    near = [filled(integers=NEAR_THE_ENDS[type_], type_=type_) for type_ in (x_type, w_type)]
    of_sizes = {**filtered_bytes(images, weights, *near)}
    CONV.sized(f"near_the_ends_{x_type}_by_{w_type}", sizes[::2], cites=NEVER, arguments=of_sizes)
