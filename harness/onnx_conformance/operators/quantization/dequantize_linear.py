# SPDX-License-Identifier: Apache-2.0
"""DequantizeLinear: compute real numbers from quantized ones, with a scale and a zero point.

    y = DequantizeLinear(x, x_scale, x_zero_point=0, axis=1, block_size=0, output_dtype=None)

Versions: 10 (per tensor), 13 (per axis), 19 (float8; the output has the type of the scale), 21 (blocks; 4 and 16 bits),
23 (output_dtype), 24, 25 and 28 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    Array,
    Int,
    Op,
    Tag,
    Version,
    attribute,
    element_type,
    every_value,
    extremes,
    ramp,
    typed,
    ulp,
    vary,
)
from onnx_conformance.declare.families.quantization import (
    FLOATS,
    INTEGERS,
    ZERO_POINT,
    Granularity,
    by_axis,
    by_blocks,
    misfits,
    sized_calls,
)
from onnx_conformance.declare.sizes import filled

DEQUANTIZE = Op(
    "DequantizeLinear",
    versions=(10, 13, 19, 21, 23, 24, 25, 28),
    compare=ulp(2, "x - zero point (or an int32), the scale and the product round by half a ULP of the output each"),
    rank="x",
    derives={"T3": attribute("output_dtype", "T2")},
)
DEQUANTIZE.example(
    x=[[1, 0, 0], [0, 1, 1]], x_scale=0.5, x_zero_point=0, axis=1, block_size=0, output_dtype=element_type("{T3}")
)

FORMULA = DEQUANTIZE.clause("y = (x - x_zero_point) * x_scale")
SCALARS = DEQUANTIZE.clause(
    "'x_scale' and 'x_zero_point' are both scalars.",
    before=13,
    note="The text does not define whether a tensor of rank 1 with one element counts as a scalar.",
)
EITHER = DEQUANTIZE.clause(
    "`x_scale` and `x_zero_point` must have same shape, and can be either a scalar for per-tensor / per layer "
    "quantization, or a 1-D tensor for per-axis quantization.",
    since=13,
    before=21,
    note="The text does not define whether one element may apply to the whole axis, as in onnxruntime.",
)
RANKS = DEQUANTIZE.clause(
    "must have the same shape, determining the quantization's granularity: a scalar for per-tensor/per-layer "
    "quantization, a 1-D tensor for per-axis quantization, or have a rank identical to the input for blocked "
    "quantization.",
    since=21,
)
MATCH = DEQUANTIZE.clause(
    "Shape must match x_scale.",
    since=13,
    note="The description also requires the same shape. In the official cases, the scale is a scalar and the zero "
    "point has shape (1), which is another shape, and the expected output is that of a scalar.",
    against=(
        "test_dequantizelinear_e4m3fn_zero_point",
        "test_dequantizelinear_*int[24]",
        "test_dequantizelinear_float4e2m1",
    ),
)
DEFAULT = DEQUANTIZE.clause("Zero point is 0 when it's not specified.").reworded(
    before=13, text="0 is the default value when it's not specified."
)
LENGTH = DEQUANTIZE.clause(
    "See QuantizeLinear for details on quantization granularity.",
    since=21,
    note="The details require the length of the quantization axis for a 1-D scale. The text does not define whether a "
    "tensor with one element is a scalar.",
)
BLOCKS = DEQUANTIZE.clause(
    "for blocked dequantization it has the same shape as the input, except for one dimension in which blocking is "
    "performed.",
    since=21,
)
ONLY_BLOCKED = DEQUANTIZE.clause(
    "Used only for blocked quantization.",
    since=21,
    note="The text does not define whether it may be set in other cases.",
)
BLOCK_SIZE = DEQUANTIZE.clause(
    "The block size is a positive integer. Given `x` shape `(D0, ..., Di, ..., Dn)`, `y_scale` shape `(S0, ... Si, "
    "...Sn)` and `axis=i`, the accepted range is `[ceil(Di/Si), ceil(Di/(Si-1))-1]`",
    since=21,
    note="If Si is 1 there is no upper limit. The text does not define a dimension of zero.",
)
SAME_TYPE = DEQUANTIZE.clause("must have the same type.").reworded(before=21, text="must have same type.")
RESULT = DEQUANTIZE.clause("`x` and `y` must have the same shape.", result=True).reworded(
    before=21, text="must have same shape. In the case of dequantizing"
)
INT32 = DEQUANTIZE.clause("there's no zero point (zero point is supposed to be 0).")
IGNORED = DEQUANTIZE.clause(
    "Ignored for per-tensor quantization.",
    since=13,
    before=19,
    see=("https://github.com/onnx/onnx/pull/3706", "https://github.com/onnx/onnx/pull/3754"),
)
ONLY_AXIS = DEQUANTIZE.clause("Used only for per-axis quantization.", since=19, before=21)
AXIS_USE = DEQUANTIZE.clause("Used for per-axis and blocked quantization.", since=21)
BACK = DEQUANTIZE.clause("Negative value means counting dimensions from the back.", since=13)
RANGE = DEQUANTIZE.clause(
    "Accepted range is `[-r, r-1]` where `r = rank(input)`.",
    note="The text does not define whether the range applies if the axis is not used. In that case the default of 1 is "
    "accepted for every rank.",
).reworded(before=19, text="Accepted range is [-r, r-1] where r = rank(input).", since=13)
RANK_ONE = DEQUANTIZE.clause(
    "When the rank of the input is 1, per-tensor quantization is applied, rendering the axis unnecessary in this "
    "scenario.",
    since=19,
    before=21,
    note="This contradicts a scale with one element for each element of the input. With more than one element, "
    "everything is left open.",
    contradicts="or a 1-D tensor for per-axis dequantization",
    see=("https://github.com/onnx/onnx/issues/6067", "https://github.com/onnx/onnx/pull/6095"),
)
FLOAT8 = DEQUANTIZE.clause(
    "but the dequantization formula remains the same for consistency",
    since=19,
    note="The formula includes the zero point. onnx.reference omits it for float8, and onnxruntime rejects it.",
)
SCALE_TELLS = DEQUANTIZE.clause("'x_scale' determines the output type.", since=19, before=23)
DTYPE = DEQUANTIZE.clause(
    "If `output_dtype` is not supplied then the output type is the same as `x_scale`. The output type also determines "
    "the precision of the multiplication operation.",
    since=23,
    note="The difference has no separate precision: for integers it is exact.",
)

GRAINS = Granularity(
    scalar=(SCALARS,),
    same_shape=(MATCH,),
    ranks=(EITHER, RANKS),
    length=(EITHER, LENGTH),
    axis=(RANGE,),
    unused_axis=(RANGE.at(19),),
    rank_one=(RANK_ONE,),
    blocks=(BLOCKS,),
    block_size=(BLOCK_SIZE,),
    only_blocked=(ONLY_BLOCKED,),
)


@DEQUANTIZE.oracle()
def dequantized(v: Version, x: Array, x_scale: Array, x_zero_point: Array | None, axis: Int, block_size: Int) -> Array:
    """Return (x - x_zero_point) * x_scale. axis is None before version 13, block_size is None before 21."""
    if x.dtype == np.int32:
        v.require(INT32, x_zero_point is None or not x_zero_point.any())
    scale, zero = GRAINS.spread(v, x.shape, x_scale, x_zero_point, axis, block_size)
    with np.errstate(all="ignore"):
        difference = x.astype(np.float64) - (0 if zero is None else zero.astype(np.float64))
        return np.asarray(difference * scale)


case = DEQUANTIZE.case
CUBE = np.arange(24).reshape(2, 3, 4)
BYTES = typed("uint8", [0, 3, 128, 255])
THREE, FOUR = [0.5, 2, 0.25], [1, 0.5, 2, 3]

case("zero_point", x=BYTES, x_scale=2, x_zero_point=typed("uint8", 128), cites=FORMULA)
case("zero_point_left_out", x=BYTES, x_scale=2, cites=(FORMULA, DEFAULT))
case("rank0", Tag.EDGE, x=7, x_scale=0.1, x_zero_point=2)
case("rank3", x=CUBE, x_scale=0.1, cites=RESULT)
case("zero_size", Tag.EDGE, x=ramp(2, 0, 3), x_scale=0.1, before=25)
SCALES = vary(negative=-0.5, zero=0, infinite=np.inf, nan=np.nan, large=3e38, tiny=2e-38)
case("scale", Tag.EDGE, x=[-128, 2, 3, 127], x_scale=SCALES, x_zero_point=-128, before=19)
case("int32", x=typed("int32", [-(2**31), -7, 0, 2**24 + 1, 2**31 - 1]), x_scale=0.1)
NUMBERS_OF_32_BITS, ZERO_OF_32_BITS = typed("int32", [[-7, 0, 9]]), typed("int32", 0)
case("int32_zero_point_zero", Tag.EDGE, x=NUMBERS_OF_32_BITS, x_scale=0.5, x_zero_point=ZERO_OF_32_BITS, cites=INT32)
case(
    "int32_zero_point_three", Tag.EDGE, x=NUMBERS_OF_32_BITS, x_scale=0.5, x_zero_point=typed("int32", 3), rejects=INT32
)

case(
    "int32_zero_points",
    Tag.EDGE,
    x=typed("int32", [[-7], [9]]),
    x_scale=[0.5, 2],
    x_zero_point=typed("int32", [0, 3]),
    axis=0,
    rejects=INT32,
)

case("scalars", x=[1, 2, 3], x_scale=0.5, x_zero_point=7, cites=SCALARS)
case("scalar_of_rank1", Tag.EDGE, x=[1, 2, 3], x_scale=[0.5], before=13, cites=SCALARS)
case("scale_for_each", x=[1, 2, 3], x_scale=THREE, rejects=SCALARS)
case("zero_point_for_each", x=[1, 2, 3], x_scale=0.5, x_zero_point=[1, 2, 3], before=13, rejects=SCALARS)

case("axis_default", Tag.CHANGE, x=CUBE, x_scale=THREE, x_zero_point=[1, 5, 9], cites=MATCH)
case("axis_no_zero_point", x=CUBE, x_scale=FOUR, axis=2, cites=MATCH)
for name, scales, axis in by_axis():
    zeros = np.arange(scales.size) * 3 - 2
    case(name, Tag.AXIS, x=CUBE, x_scale=scales, x_zero_point=zeros, axis=axis, before=24, cites=BACK)
case("axis_size_one", Tag.EDGE, x=ramp(3, 1), x_scale=[0.5], x_zero_point=[1], axis=1, before=24, cites=MATCH)
case("scalar_and_vector", x=ramp(3, 2), x_scale=0.5, x_zero_point=[1, 2], rejects=MATCH)
case("vector_and_scalar", x=ramp(3, 2), x_scale=[1, 2], x_zero_point=1, before=24, rejects=MATCH)
case("one_element_zero_point", Tag.EDGE, x=ramp(3, 2), x_scale=2, x_zero_point=[0], rejects=MATCH)
case("matrix_without_blocks", x=ramp(2, 3), x_scale=np.ones((2, 3)), axis=0, before=21, rejects=EITHER)
case("length_of_one_before_21", Tag.EDGE, x=CUBE, x_scale=[0.5], axis=2, since=13, before=21, unspecified=EITHER)
case("length_of_one", Tag.EDGE, x=CUBE, x_scale=[0.5], axis=2, since=21, unspecified=LENGTH)

for name, scales, axis, size in by_blocks():
    zeros = np.arange(scales.size).reshape(scales.shape) - 3
    case(
        name,
        Tag.CHANGE,
        x=CUBE,
        x_scale=scales,
        x_zero_point=zeros,
        axis=axis,
        block_size=size,
        before=24,
        cites=BLOCKS,
    )
case("blocks_no_zero_point", x=CUBE, x_scale=np.ones((2, 2, 4)) / 8, block_size=2, cites=BLOCKS)
case("blocks_rank1", Tag.EDGE, x=ramp(7), x_scale=THREE, axis=0, block_size=3, cites=BLOCKS)
case("blocks_uneven", Tag.EDGE, x=ramp(2, 7), x_scale=[[1, 2, 4], [2, 4, 1]], block_size=3, cites=(BLOCKS, BLOCK_SIZE))
case("blocks_of_zero", Tag.EDGE, x=ramp(3, 0), x_scale=ramp(3, 0), block_size=1, unspecified=BLOCK_SIZE)
case("block_size_unused", Tag.EDGE, x=CUBE, x_scale=0.5, block_size=2, unspecified=ONLY_BLOCKED)
case("block_size_unused_axis", Tag.EDGE, x=CUBE, x_scale=THREE, block_size=2, unspecified=ONLY_BLOCKED)
for misfit in misfits(GRAINS):
    case(
        misfit.name,
        Tag.EDGE,
        x=ramp(*misfit.shape),
        x_scale=misfit.scales,
        **misfit.attributes,
        since=misfit.since,
        before=misfit.before,
        rejects=misfit.clause,
    )

for name, axis in {"1": 1, "minus_2": -2}.items():
    case(f"rank1_axis_{name}_before_19", Tag.AXIS, x=ramp(4), x_scale=FOUR, axis=axis, before=19, rejects=RANGE)
    case(f"rank1_axis_{name}", Tag.AXIS, x=ramp(4), x_scale=FOUR, axis=axis, since=21, rejects=RANGE)
    case(f"rank1_axis_{name}_unused_before_19", Tag.AXIS, x=ramp(4), x_scale=0.5, axis=axis, cites=IGNORED)
case("rank1_axis_1_unused_before_21", Tag.AXIS, x=ramp(4), x_scale=0.5, axis=1, cites=ONLY_AXIS)
case("rank1_axis_1_unused", Tag.AXIS, x=ramp(4), x_scale=0.5, axis=1, cites=AXIS_USE)
case("rank1_axis_minus_2_unused", Tag.AXIS, x=ramp(4), x_scale=0.5, axis=-2, since=19, unspecified=RANGE)
case("rank1_axis_0", x=ramp(4), x_scale=FOUR, axis=0, x_zero_point=[1, 0, 2, 3], since=21, cites=RANGE)
OF_32_BITS: dict[str, Any] = {"x": typed("int32", [-7, 0, 9, 2**20]), "x_zero_point": typed("int32", [0, 0, 0, 0])}
case("rank1_axis_0_int32", **OF_32_BITS, x_scale=FOUR, axis=0, since=21, cites=RANGE)
case("rank1_one_scale", Tag.EDGE, x=ramp(4), x_scale=[0.5], axis=0, x_zero_point=[1], cites=RANK_ONE)
case("rank1_scales", Tag.EDGE, x=ramp(4), x_scale=FOUR, axis=0, since=19, before=21, unspecified=RANK_ONE)

for type_, first in INTEGERS.items():
    limits, one = typed(type_, extremes(3, 2)), typed(type_, 1)
    case(f"limits_{type_}", Tag.EDGE, x=limits, x_scale=0.1, x_zero_point=one, since=first, before=first + 3)
for type_, first in FLOATS.items():
    numbers, half = typed(type_, [[0.5, -1.5], [1, 4]]), typed(type_, 0.5)
    case(f"zero_point_{type_}", x=numbers, x_scale=0.1, x_zero_point=half, since=first, before=first + 1, cites=FLOAT8)
    case(f"extremes_{type_}", Tag.EDGE, x=typed(type_, extremes(11)), x_scale=0.1, since=first, before=first + 1)
LOW = CUBE % 2  # Fits in every type, even with two bits.
case("dtypes_axis", Tag.DTYPE, each="T1", x=LOW, x_scale=THREE, axis=1, since=28, cites=FORMULA)
case("scale_dtypes_before_23", Tag.DTYPE, each="T2", x=CUBE, x_scale=0.3, x_zero_point=7, cites=SCALE_TELLS)
case("scale_dtypes", Tag.DTYPE, each="T2", x=CUBE, x_scale=2, output_dtype=element_type("float"), cites=DTYPE)
for type_ in ("float", "float16", "bfloat16"):
    thirds, powers = typed(type_, [0.3, 7, -1 / 3]), typed("float8e8m0", [0.5, 2, 2**-20])
    case(f"scale_{type_}", Tag.CHANGE, x=CUBE, x_scale=thirds, x_zero_point=[1, 2, 9], axis=1, since=23, cites=DTYPE)
    case(
        f"scale_{type_}_output",
        Tag.CHANGE,
        each="T3",
        x=CUBE,
        x_scale=thirds,
        axis=1,
        output_dtype=element_type("{T3}"),
        since=28,
        cites=DTYPE,
    )
    case(f"scale_float8e8m0_{type_}", x=CUBE, x_scale=powers, output_dtype=element_type(type_), since=24, cites=DTYPE)
case("output_dtype_zero", x=CUBE, x_scale=0.5, output_dtype=0, cites=DTYPE)
case("overflow", Tag.EDGE, x=[127, 1, -127], x_scale=3e4, output_dtype=element_type("float16"), cites=DTYPE)
case("underflow", Tag.EDGE, x=[127, 1, -3], x_scale=typed("float16", 6e-8), since=19, cites=FLOAT8)
case("output_as_scale", x=CUBE, x_scale=typed("float8e8m0", 2), since=24, rejects=DTYPE)

# Forbidden by sentences of the text, not only by the signature.
SIGNED, UNSIGNED = typed("int8", [1]), typed("uint8", 0)
case("two_types", Tag.DTYPE, x=SIGNED, x_scale=2, x_zero_point=UNSIGNED, rejects=SAME_TYPE)

sized_calls(DEQUANTIZE, "x", "x_zero_point", "x_scale", "T1", by_axis=FORMULA, blocks=BLOCKS)
for type_ in ("float16", "bfloat16", "float"):
    DEQUANTIZE.every(f"every_to_{type_}", each="T1", cites=FORMULA, x=every_value(), x_scale=typed(type_, 0.37))
DEQUANTIZE.every(
    "every_with_zero_point",
    each="T1",
    but="int32",
    cites=FORMULA,
    x=every_value(),
    x_scale=0.37,
    x_zero_point=filled(floats=(0, 0), integers=ZERO_POINT),
)
