# SPDX-License-Identifier: Apache-2.0
"""QuantizeLinear: compute quantized numbers from real ones, with a scale and a zero point.

    y = QuantizeLinear(x, y_scale, y_zero_point=0, axis=1, saturate=1, block_size=0, output_dtype=None, precision=None)

Versions: 10 (per tensor), 13 (per axis), 19 (float8; scales of the input's type), 21 (blocks; output_dtype; 4 and 16
bits), 23 (scales of any type, precision), 24, 25 and 28 (types).
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import (
    Array,
    Int,
    Op,
    Result,
    Rule,
    Tag,
    Tolerance,
    Version,
    attribute,
    element_type,
    every_value,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.families.quantization import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    ZERO_POINT,
    Granularity,
    by_axis,
    by_blocks,
    misfits,
    sized_calls,
)
from onnx_conformance.declare.families.quantization import quantized as quantized_as
from onnx_conformance.declare.sizes import filled

FLOAT8 = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
QUANTIZE = Op(
    "QuantizeLinear",
    versions=(10, 13, 19, 21, 23, 24, 25, 28),
    compare=Tolerance("if the precision of the division can change an element, both values are allowed"),
    rank="x",
    derives={name: attribute("output_dtype", name, "tensor(uint8)") for name in ("T2", "T3")},
    applies={"saturate": FLOAT8},
)
QUANTIZE.example(x=[[-4, 2, 6], [0, 8, 4]], y_scale=2, y_zero_point=1, axis=1, saturate=1, block_size=0)

FORMULA = QUANTIZE.clause(
    "y = saturate((x / y_scale) + y_zero_point)", note="The note on the formula before version 21 applies here too."
).reworded(
    before=21,
    text="y = saturate ((x / y_scale) + y_zero_point)",
    note="If the precision of x and a higher precision lead to different elements, either is allowed. Elements that "
    "are NaN or have a scale of 0 are left open.",
)
LIMITS = QUANTIZE.clause("- uint16: [0, 65535] - int16: [-32768, 32767] - uint8: [0, 255] - int8:", since=21)
TIES = QUANTIZE.clause("to the nearest even.")
SAME_FORMULA = QUANTIZE.clause(
    "but the quantization formula remains the same for consistency",
    since=19,
    note="Therefore the zero point of a float8 is added too. onnxruntime and onnx.reference omit it.",
)
SAME_TYPE = QUANTIZE.clause("`y_zero_point` and `y` must have the same type.", result=True).reworded(
    before=21, text="'y_zero_point' and 'y' must have same type."
)
SCALAR = QUANTIZE.clause("It's a scalar, which means a per-tensor/layer quantization.", before=13)
EITHER = QUANTIZE.clause(
    "must have same shape, and can be either a scalar for per-tensor / per layer quantization, or a 1-D tensor",
    since=13,
    before=21,
    note="The text does not define whether one element may apply to the whole axis.",
)
MATCH = QUANTIZE.clause("Shape must match `y_scale`.").reworded(before=21, text="Shape must match y_scale.", since=13)
DETERMINES = QUANTIZE.clause(
    "must have the same shape, determining the quantization granularity.",
    since=21,
    note="In the official cases, the scale is a scalar and the zero point has shape (1), which is another shape, and "
    "the expected output is that of a scalar.",
    against=("test_quantizelinear_e4m3fn", "test_quantizelinear_e5m2"),
)
ALL_CASES = QUANTIZE.clause("In all cases, `y_zero_point` must have the same shape as `y_scale`.", since=21)
THREE_KINDS = QUANTIZE.clause("There are three supported quantization granularities", since=21)
LENGTH = QUANTIZE.clause(
    "The scale must be a 1-D tensor, with the length of the quantization axis.",
    since=21,
    note="The text does not define whether one element is such a tensor with a wrong length, or the scalar for all "
    "elements.",
)
BLOCKS = QUANTIZE.clause("The scale's shape is identical to the input's shape, except for one dimension", since=21)
DEFAULT = QUANTIZE.clause("Default is uint8 with zero point of 0 if it's not specified.").reworded(
    before=13, text="Default value is uint8 typed 0 if it's not specified."
)
IGNORED = QUANTIZE.clause(
    "Ignored for per-tensor quantization.",
    since=13,
    before=21,
    see=("https://github.com/onnx/onnx/pull/3706", "https://github.com/onnx/onnx/pull/3754"),
)
AXIS_USE = QUANTIZE.clause("Used only for per-axis and blocked quantization.", since=21)
BACK = QUANTIZE.clause("Negative value means counting dimensions from the back.", since=13)
RANGE = QUANTIZE.clause(
    "Accepted range is `[-r, r-1]` where `r = rank(input)`.",
    note="The text does not define whether the range applies if the axis is not used. In that case the default of 1 is "
    "accepted for every rank.",
).reworded(before=21, text="Accepted range is [-r, r-1] where r = rank(input).", since=13)
RANK_ONE = QUANTIZE.clause(
    "When the rank of the input is 1, per-tensor quantization is applied",
    since=21,
    note="This contradicts a scale with one element for each element of the input. With more than one element, "
    "everything is left open.",
    contradicts="for per-axis quantization it is a 1-D Tensor",
)
ONLY_BLOCKED = QUANTIZE.clause(
    "Used only for blocked quantization.",
    since=21,
    note="The text does not define whether it may be set in other cases.",
)
BLOCK_SIZE = QUANTIZE.clause("the accepted range is `[ceil(Di/Si), ceil(Di/(Si-1))-1]`", since=21)
SATURATE = QUANTIZE.clause(
    "if an input value is out of range of the destination type. It only applies for float 8 quantization "
    "(float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz). It is true by default. All cases are fully described "
    "in two tables inserted in the operator description.",
    since=19,
    note="The tables are in the text of Cast. In version 19 of that text an infinity becomes NaN in the fnuz types, in "
    "later versions their limit. Therefore this is left open here.",
    see=("https://github.com/onnx/onnx/pull/8230",),
)
NO_EFFECT = QUANTIZE.clause("It has no effect for float4e2m1, float6e2m3, or float6e3m2", since=28)
BOTH_T2 = QUANTIZE.clause("are specified, `output_dtype` must be `T2`.", since=21, before=23)
BOTH_T3 = QUANTIZE.clause("are specified, `output_dtype` must be `T3`.", since=23)
PRECISION = QUANTIZE.clause(
    "The type of `y_scale` determines the precision of the division operation between `x` and `y_scale`, unless the "
    "`precision` attribute is specified.",
    since=23,
    note="The text does not define whether x is cast first. The precision may be an int32, which has no fractions, or "
    "a float8e8m0, which has no sign and no mantissa. If that type cannot represent x or the quotient, the element is "
    "left open.",
)
GRAINS = Granularity(
    scalar=(SCALAR,),
    same_shape=(MATCH,),
    ranks=(EITHER, THREE_KINDS),
    length=(EITHER, LENGTH),
    axis=(RANGE,),
    unused_axis=(RANGE.at(21),),
    rank_one=(RANK_ONE,),
    blocks=(BLOCKS,),
    block_size=(BLOCK_SIZE,),
    only_blocked=(ONLY_BLOCKED,),
)
FLOAT32 = np.dtype(np.float32)
PRECISIONS: dict[Int, np.dtype[Any]] = {1: FLOAT32, 10: np.dtype(np.float16), 16: np.dtype(ml_dtypes.bfloat16)}
"""The types of a division, by their numbers in TensorProto.DataType."""


def _cast(values: Array, dtype: np.dtype[Any]) -> Array:
    return values.astype(dtype).astype(np.float64)


@QUANTIZE.oracle()
def quantized(
    v: Version,
    x: Array,
    y_scale: Array,
    y_zero_point: Array | None,
    axis: Int,
    saturate: Int,
    block_size: Int,
    output_dtype: Int,
    precision: Int,
) -> Result:
    """Return saturate(round(x / y_scale) + y_zero_point).

    Attributes are None before the version that added them.
    """
    has_precision = PRECISION.in_force(v.since)
    target = v.dtypes["T3" if has_precision else "T2"]
    if y_zero_point is not None and DETERMINES.in_force(v.since):
        v.require(BOTH_T3 if has_precision else BOTH_T2, not output_dtype or NUMBERS[target.name] == output_dtype)
        other = y_zero_point.shape != y_scale.shape
        v.require(DETERMINES, not other or y_scale.ndim > 0)
        v.require(ALL_CASES, not other or y_zero_point.ndim > 0)
    scale, zero = GRAINS.spread(v, x.shape, y_scale, y_zero_point, axis, block_size)
    scaled_by = v.dtypes["T2" if has_precision else "T1"] if SATURATE.in_force(v.since) else FLOAT32
    divides = PRECISIONS.get(precision, scaled_by)
    with np.errstate(all="ignore"):
        wide, by = x.astype(np.float64), scale.astype(np.float64)
        zeros = 0.0 if zero is None else zero.astype(np.float64)
        quotient = wide / by
        inexact = np.zeros(x.shape, bool)
        if divides not in PRECISIONS.values():
            inexact = np.logical_or(*(_cast(numbers, divides) != numbers for numbers in (wide, quotient)))
            divides = np.dtype(np.float64)
        quotients = [_cast(_cast(wide, divides) / _cast(by, divides), divides), _cast(quotient, divides)]
        if not has_precision:  # The text does not define how x / y_scale is rounded: also as x times the reciprocal.
            product = _cast(_cast(wide, divides) * _cast(1 / by, divides), divides)
            quotients += [quotient, np.where(np.isfinite(product), product, quotient)]
        clips = bool(saturate) or "float8" not in target.name
        result = quantized_as(v, FORMULA, quotients, zeros, target, clips=clips)
    result = v.leave_open(FORMULA, np.broadcast_to(by == 0, x.shape), result)
    result = v.leave_open(PRECISION if has_precision else FORMULA, inexact, result)
    return v.leave_open(SATURATE, np.isinf(quotient) & ("fnuz" in target.name), result)


case = QUANTIZE.case
CUBE = np.arange(24).reshape(2, 3, 4) - 9
TIED = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 300, -300]
ZERO = typed("uint8", 0)
SIXTEEN_BITS = typed("int16", 0)

case("ties", x=TIED, y_scale=1, y_zero_point=0, cites=(FORMULA, TIES, SAME_TYPE))
case("ties_before_zero_point", Tag.EDGE, x=TIED, y_scale=1, y_zero_point=3, cites=TIES)
for type_, first in INTEGERS.items():
    case(
        f"limits_{type_}",
        Tag.EDGE,
        x=[-1e6, -9, -2, -1, 0, 1, 2, 5, 9, 1e6],
        y_scale=1,
        y_zero_point=typed(type_, 1),
        since=first,
        before=first + 1,
        cites=TIES,
    )
case("infinities", Tag.EDGE, x=[np.inf, -np.inf], y_scale=2, y_zero_point=1, cites=TIES)
ACROSS = [0, 1, -1, 127, -128, 254, -255, 300, -300]
ZERO_POINTS = vary(highest=typed("int8", 127), lowest=typed("int8", -128), highest_unsigned=typed("uint8", 255))
SCALED_BY_LEAST = [5 * 2.0**-149, -3 * 2.0**-149, 2.0**-143, 2.0**-130, -1, 0]
BEYOND_24_BITS = typed("int32", [2**24 + 1, 2**30 + 1, 2**31 - 1, -(2**31)])
case("limit_of_zero_point", Tag.EDGE, x=ACROSS, y_scale=1, y_zero_point=ZERO_POINTS, cites=FORMULA)
case("scale_negative", Tag.EDGE, x=[6, -3, 5, 500, -500], y_scale=-2, y_zero_point=1, cites=FORMULA)
# The reciprocal of such a scale is infinite.
case("scale_subnormal", Tag.EDGE, x=SCALED_BY_LEAST, y_scale=2.0**-149, y_zero_point=1, cites=FORMULA)
WIDE: dict[str, Any] = {"x": BEYOND_24_BITS, "y_scale": typed("float", 2.0**24), "y_zero_point": typed("int8", -1)}
case("int32_beyond_24_bits_before_19", Tag.EDGE, **WIDE, before=19, cites=FORMULA)
case("int32_beyond_24_bits", Tag.EDGE, **WIDE, since=23, cites=FORMULA)
# 64.5 in float32, 64.5000038 in real numbers.
HALFWAY: dict[str, Any] = {"x": typed("int32", [2**24 + 2**17 + 1]), "y_scale": typed("float", 2.0**18)}
case("int32_halfway_in_float_before_19", Tag.EDGE, **HALFWAY, before=19, unspecified=FORMULA)
case("int32_halfway_in_float", Tag.EDGE, **HALFWAY, since=23, cites=PRECISION)
case("zero_point_zero", x=TIED, y_scale=1, y_zero_point=ZERO, cites=DEFAULT)
case("no_zero_point", Tag.CHANGE, x=TIED, y_scale=1, cites=DEFAULT)
case("rank0", Tag.EDGE, x=7, y_scale=2, y_zero_point=1)
case("rank0_without_zero_point", Tag.EDGE, x=7, y_scale=0.5, cites=DEFAULT)
case("zero_size", Tag.EDGE, x=ramp(2, 0, 3), y_scale=2, y_zero_point=1)
case("nan", Tag.EDGE, x=[np.nan, 1], y_scale=2, y_zero_point=1, unspecified=FORMULA)
case("scale_zero", Tag.EDGE, x=[3, -2], y_scale=0, y_zero_point=1, unspecified=FORMULA)
case("one_scale_zero", Tag.EDGE, x=[[3, -2]], y_scale=[1, 0], y_zero_point=[1, 1], since=21, unspecified=FORMULA)
# 3.5 in float32, 3.4999999 in real numbers.
case("tie_of_float32_before_21", Tag.EDGE, x=[0.35], y_scale=0.1, before=21, unspecified=FORMULA)
case("tie_of_float32_before_23", Tag.EDGE, x=[0.35], y_scale=0.1, since=21, before=23, unspecified=FORMULA)
case("tie_of_float32", Tag.EDGE, x=[0.35], y_scale=0.1, cites=PRECISION)
# 15.4999995 in float32, 15.5 as a product with the reciprocal of 0.1 in float32.
case("tie_of_reciprocal_before_23", Tag.EDGE, x=[1.54999995], y_scale=0.1, since=21, before=23, unspecified=FORMULA)
case("tie_of_reciprocal", Tag.EDGE, x=[1.54999995], y_scale=0.1, cites=PRECISION)

# The first quotient is 30000 in float16, 30007.3 in real numbers.
BETWEEN: dict[str, Any] = {"x": typed("float16", [3000.0, 2]), "y_scale": typed("float16", 0.1)}
case("between_roundings", Tag.EDGE, **BETWEEN, y_zero_point=SIXTEEN_BITS, since=21, before=23, cites=FORMULA)

case("scale_of_rank1", Tag.EDGE, x=CUBE, y_scale=[2], y_zero_point=1, before=13, cites=SCALAR)
case("scale_for_each", x=CUBE, y_scale=[1, 2], y_zero_point=1, before=13, rejects=SCALAR)
case("scale_of_wrong_rank", x=CUBE, y_scale=[[2, 1]], y_zero_point=[[1, 2]], since=13, before=21, rejects=EITHER)
case("scalar_and_vector_before_21", x=CUBE, y_scale=2, y_zero_point=[1, 2, 3], before=21, rejects=MATCH)
case("scalar_and_vector", x=CUBE, y_scale=2, y_zero_point=[1, 2, 3], rejects=DETERMINES)
case("vector_and_scalar", x=CUBE, y_scale=[1, 2, 3], y_zero_point=1, rejects=ALL_CASES)
case("vectors_of_other_length", x=CUBE, y_scale=[1, 2, 3], y_zero_point=[1, 2], since=21, rejects=MATCH)
case("vector_and_matrix", x=CUBE, y_scale=[1, 2, 3], y_zero_point=[[1, 2, 3]], since=21, rejects=MATCH)
case("one_element_before_21", Tag.EDGE, x=CUBE, y_scale=2, y_zero_point=[1], before=21, rejects=MATCH)
case("one_element", Tag.EDGE, x=CUBE, y_scale=2, y_zero_point=[1], rejects=DETERMINES)
case("axis_size_one", Tag.EDGE, x=ramp(3, 1), y_scale=[2], y_zero_point=[1], axis=1, before=24, cites=BACK)
case("length_of_one_before_21", Tag.EDGE, x=CUBE, y_scale=[2], axis=2, since=13, before=21, unspecified=EITHER)
case("length_of_one", Tag.EDGE, x=CUBE, y_scale=[2], axis=2, since=21, unspecified=LENGTH)
for name, scales, axis in by_axis():
    zeros = np.arange(scales.size) * 3 - 2
    case(name, Tag.AXIS, x=CUBE, y_scale=scales, y_zero_point=zeros, axis=axis, before=24, cites=BACK)
for name, scales, axis, size in by_blocks():
    zeros = np.arange(scales.size).reshape(scales.shape) - 3
    case(
        name,
        Tag.CHANGE,
        x=CUBE,
        y_scale=scales,
        y_zero_point=zeros,
        axis=axis,
        block_size=size,
        before=24,
        cites=BLOCKS,
    )
case("blocks_of_one", Tag.EDGE, x=ramp(3, 1), y_scale=[[1], [2], [4]], block_size=1, cites=(BLOCKS, BLOCK_SIZE))
case("blocks_of_zero", Tag.EDGE, x=ramp(3, 0), y_scale=ramp(3, 0), block_size=1, unspecified=BLOCK_SIZE)
case("blocks_uneven", Tag.EDGE, x=ramp(2, 7), y_scale=[[1, 2, 4], [2, 4, 1]], block_size=3, cites=(BLOCKS, BLOCK_SIZE))
for misfit in misfits(GRAINS):
    case(
        misfit.name,
        Tag.EDGE,
        x=ramp(*misfit.shape),
        y_scale=misfit.scales,
        y_zero_point=np.zeros(misfit.scales.shape),
        **misfit.attributes,
        since=misfit.since,
        before=misfit.before,
        rejects=misfit.clause,
    )
case("axis_unused_before_21", Tag.AXIS, x=CUBE, y_scale=2, y_zero_point=1, axis=7, cites=IGNORED)
case("axis_unused", Tag.AXIS, x=CUBE, y_scale=2, y_zero_point=1, axis=-3, cites=AXIS_USE)
case("axis_unused_outside", Tag.AXIS, x=CUBE, y_scale=2, y_zero_point=1, axis=7, since=21, unspecified=RANGE)
case("block_size_unused", Tag.EDGE, x=CUBE, y_scale=2, y_zero_point=1, block_size=2, unspecified=ONLY_BLOCKED)
case("block_size_unused_axis", Tag.EDGE, x=ramp(2, 3), y_scale=[1, 2, 4], block_size=2, unspecified=ONLY_BLOCKED)
case("rank1_one_scale", Tag.EDGE, x=TIED, y_scale=[2], y_zero_point=[1], cites=RANK_ONE)
case("rank1_block_size", Tag.EDGE, x=TIED, y_scale=[2], y_zero_point=[1], block_size=2, unspecified=ONLY_BLOCKED)
case("rank1_scales", Tag.EDGE, x=[1, 2], y_scale=[2, 1], y_zero_point=[1, 2], since=21, unspecified=RANK_ONE)

FINITE = [0, 0.5, 1.3, -2.7, 17, 449, 1e5, -1e9, 2**-9, 2**-10, -(2**-20)]
for type_, first in FLOATS.items():
    numbers, zero = [*FINITE, np.nan] if "float8" in type_ else FINITE, typed(type_, 0)
    case(f"values_{type_}", Tag.DTYPE, x=numbers, y_scale=1, y_zero_point=zero, since=first, before=first + 1)
    # For narrower types, the text defines it only since version 28.
    for flag in (0, 1) if type_ in FLOAT8 or NO_EFFECT.in_force(first) else ():
        case(
            f"saturate_{flag}_{type_}",
            Tag.EDGE,
            x=[1e5, 3, -1e9, 500],
            y_scale=1,
            y_zero_point=zero,
            saturate=flag,
            since=first,
            before=first + 1,
            cites=SATURATE,
        )
MINUS_ZERO: dict[str, Any] = {"x": [-0.0, 0, 1, -1], "y_scale": 2}
for type_, first in FLOATS.items():  # A type without a sign of zero has NaN in its place.
    case(f"minus_zero_{type_}", Tag.EDGE, **MINUS_ZERO, y_zero_point=typed(type_, 0), since=first, cites=FORMULA)
for type_ in FLOAT8:
    half = typed(type_, -0.5)
    case(f"zero_point_{type_}", x=[1.5, -3, 0.25, 6], y_scale=1, y_zero_point=half, cites=SAME_FORMULA)
case(
    "sum_rounds_twice",  # 17 becomes 16 in the type if it is rounded before the zero point is added.
    Tag.EDGE,
    x=[17, 1],
    y_scale=1,
    y_zero_point=typed("float8e4m3fn", -16),
    since=21,
    unspecified=FORMULA,
)
case(
    "nan_of_a_type_without",
    Tag.EDGE,
    x=[np.nan, 1],
    y_scale=1,
    y_zero_point=typed("float4e2m1", 0),
    since=23,
    unspecified=FORMULA,
)
case("saturate_no_effect", x=[9, -9], y_scale=1, y_zero_point=typed("float4e2m1", 0), saturate=0, cites=NO_EFFECT)
case(
    "saturate_infinity",
    Tag.EDGE,
    x=[np.inf, 1],
    y_scale=1,
    y_zero_point=typed("float8e4m3fnuz", 0),
    since=19,
    unspecified=SATURATE,
)

SIGNED, UNSIGNED = element_type("int8"), element_type("uint8")
case("both_before_23", x=CUBE, y_scale=2, y_zero_point=1, output_dtype=SIGNED, cites=BOTH_T2)
case("both", x=CUBE, y_scale=2, y_zero_point=1, output_dtype=SIGNED, cites=BOTH_T3)
case("both_differ_before_23", x=CUBE, y_scale=2, y_zero_point=1, output_dtype=UNSIGNED, rejects=BOTH_T2)
case("both_differ", x=CUBE, y_scale=2, y_zero_point=1, output_dtype=UNSIGNED, rejects=BOTH_T3)
for type_, first in (INTEGERS | FLOATS).items():
    since = max(first, 21)
    case(
        f"output_{type_}",
        Tag.DTYPE,
        x=CUBE / 2,
        y_scale=2,
        output_dtype=element_type(type_),
        since=since,
        before=None if type_ == "uint8" else since + 2,
        cites=LIMITS,
    )
case("output_int32", x=CUBE, y_scale=2, output_dtype=element_type("int32"), rejects=Rule.TYPES)
case("dtypes_x", Tag.DTYPE, each="T1", x=CUBE * 2, y_scale=2, y_zero_point=1, cites=TIES)
case("dtypes_before_23", Tag.DTYPE, each="T2", x=CUBE, y_scale=2, y_zero_point=0, before=23)
case("dtypes", Tag.DTYPE, each="T3", x=CUBE, y_scale=2, y_zero_point=0, since=23)
case(
    "dtypes_scale",
    Tag.DTYPE,
    each="T2",
    x=CUBE,
    y_scale=2,
    y_zero_point=1,
    precision=element_type("float"),
    cites=PRECISION,
)
COARSE = [2051, 4099, 100.3]
for type_ in ("float", "float16", "bfloat16"):
    case(
        f"precision_of_{type_}",
        Tag.CHANGE,
        x=COARSE,
        y_scale=typed(type_, 1),
        y_zero_point=SIXTEEN_BITS,
        since=23,
        cites=PRECISION,
    )
    case(
        f"precision_{type_}",
        x=COARSE,
        y_scale=1,
        y_zero_point=SIXTEEN_BITS,
        precision=element_type(type_),
        cites=PRECISION,
    )
INTEGERS_OF_32_BITS, INT32_SCALE = typed("int32", [5, -4, 9]), typed("int32", 3)
case(
    "int32_by_int32_before_21",
    Tag.EDGE,
    x=INTEGERS_OF_32_BITS,
    y_scale=INT32_SCALE,
    y_zero_point=1,
    since=19,
    before=21,
    unspecified=FORMULA,
)
case(
    "int32_by_int32_before_23",
    Tag.EDGE,
    x=INTEGERS_OF_32_BITS,
    y_scale=INT32_SCALE,
    y_zero_point=1,
    since=21,
    before=23,
    unspecified=FORMULA,
)
EIGHT_BITS = typed("float8e8m0", 2)
case("scale_float8e8m0_exact", x=[8, 4, 16], y_scale=EIGHT_BITS, y_zero_point=1, since=24, cites=PRECISION)
for name, number in {"mantissa": 12, "sign": -8}.items():
    case(
        f"scale_float8e8m0_{name}",
        Tag.EDGE,
        x=[number, 4],
        y_scale=EIGHT_BITS,
        y_zero_point=1,
        since=24,
        unspecified=PRECISION,
    )
case("scale_int32_exact", x=[4, -6, 8], y_scale=typed("int32", 2), y_zero_point=1, since=23, cites=PRECISION)
case("precision_int32", Tag.EDGE, x=CUBE, y_scale=typed("int32", 2), y_zero_point=1, since=23, unspecified=PRECISION)

sized_calls(QUANTIZE, "x", "y_zero_point", "y_scale", "T3", by_axis=FORMULA, blocks=BLOCKS)
SIZED_ZERO = filled(floats=(0, 0), integers=ZERO_POINT)
for type_ in ("float16", "bfloat16", "float", "int32"):
    scale = typed("float" if type_ == "int32" else type_, 0.37)
    everything = typed(type_, every_value())
    QUANTIZE.every(f"every_{type_}", each="T3", cites=FORMULA, x=everything, y_scale=scale, y_zero_point=SIZED_ZERO)
for type_ in FLOAT8:
    QUANTIZE.every(
        f"every_float16_to_{type_}_unsaturated",
        cites=SATURATE,
        x=typed("float16", every_value()),
        y_scale=typed("float16", 1),
        y_zero_point=typed(type_, 0),
        saturate=0,
    )
