# SPDX-License-Identifier: Apache-2.0
"""DequantizeLinear of com.microsoft: compute real numbers from quantized ones, with a scale and a zero point.

    y = DequantizeLinear(x, x_scale, x_zero_point=0, axis=None)

Versions: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Tag, Version, every_value, extremes, ramp, typed, ulp, vary
from onnx_conformance.operators_microsoft._axis_scales import INTEGERS, SHAPE, Granularity

DEQUANTIZE = Op(
    "DequantizeLinear",
    versions=(1,),
    compare=ulp(2, "x - zero point (or an int32), the scale and the product round by half a ULP of the output each"),
    domain="com.microsoft",
    rank="x",
)
DEQUANTIZE.example(x=[[1, 0, 0], [0, 1, 1]], x_scale=[0.5, 2, 0.25], x_zero_point=[0, 0, 0], axis=1)

FORMULA = DEQUANTIZE.clause(
    "The dequantization formula is y = (x - x_zero_point) * x_scale.",
    note="The formula has real numbers: the difference may exceed the range of the type of x.",
)
CONSUMES = DEQUANTIZE.clause(
    "It consumes a quantized data, a scale, a zero point and computes the full precision data."
)
MATCHES = DEQUANTIZE.clause("Shape must match x_scale.")
DEFAULT = DEQUANTIZE.clause("Zero point is 0 when it's not specified.")
PER_TENSOR = DEQUANTIZE.clause(
    "It can be a scalar, which means a per-tensor/layer dequantization, or a 1-D tensor for per-axis dequantization."
)
SAME_SHAPE = DEQUANTIZE.clause("It has same shape as input 'x'.", result=True)
QUANTIZED_TYPES = DEQUANTIZE.clause(
    "Constrain 'x' and 'x_zero_point' to 8-bit integer tensors, 16-bit integer tensors, or 32-bit signed integer "
    "tensors.",
    note="The list of types also has int4 and uint4.",
)
FLOATS = DEQUANTIZE.clause("Constrain 'y', 'x_scale' to float tensors.")
GRAINS = Granularity(DEQUANTIZE, "x_scale", MATCHES)


@DEQUANTIZE.oracle()
def dequantized(v: Version, x: Array, x_scale: Array, x_zero_point: Array | None, axis: Int) -> Result:
    """Return (x - x_zero_point) * x_scale."""
    scale, zero = GRAINS.spread(v, x.shape, x_scale, x_zero_point, axis)
    with np.errstate(all="ignore"):
        return np.asarray((x.astype(np.float64) - zero) * scale)


case = DEQUANTIZE.case
BYTES, MIDDLE = typed("uint8", [0, 3, 128, 255]), typed("uint8", 128)
case("zero_point", x=BYTES, x_scale=2, x_zero_point=MIDDLE, cites=(FORMULA, CONSUMES, PER_TENSOR))
case("zero_point_left_out", x=BYTES, x_scale=0.37, cites=(FORMULA, DEFAULT))
case("rank0", Tag.EDGE, x=7, x_scale=0.1, x_zero_point=2, cites=SAME_SHAPE)
case("rank4", Tag.EDGE, x=ramp(2, 1, 3, 4), x_scale=0.1, x_zero_point=2, cites=SAME_SHAPE)
case("zero_size", Tag.EDGE, x=ramp(2, 0, 3), x_scale=0.1, x_zero_point=2, cites=SAME_SHAPE)
SCALES = vary(negative=-0.5, zero=0, infinite=np.inf, nan=np.nan, large=3e36, tiny=2e-38, subnormal=2.0**-149)
SIGNED, LEAST = typed("int8", [-127, 2, 3, 127]), typed("int8", -128)
case("scale", Tag.EDGE, x=SIGNED, x_scale=SCALES, x_zero_point=LEAST, cites=FORMULA)
STEPS = {"int32": 2.0**-18, "int16": 0.25, "uint16": 0.25}
"""Scales of the types whose numbers exceed those of float16."""
for type_ in (*INTEGERS, "int32"):
    for scale_type in ("float16", "float"):
        step, name = typed(scale_type, STEPS.get(type_, 0.3)), f"{type_}_by_{scale_type}"
        ends = typed(type_, extremes(6))
        case(f"ends_of_{name}", Tag.EDGE, x=ends, x_scale=step, cites=(FORMULA, QUANTIZED_TYPES))
        case(f"zero_point_of_{name}", x=ends, x_scale=step, x_zero_point=typed(type_, 3), cites=(FORMULA, FLOATS))
for type_ in ("int8", "int16", "int4"):
    ends, below = typed(type_, extremes(6)), typed(type_, -8)
    case(f"difference_beyond_{type_}", Tag.EDGE, x=ends, x_scale=0.5, x_zero_point=below, cites=FORMULA)
INT32 = typed("int32", [-(2**31), -7, 0, 2**24 + 1, 2**31 - 1])
case("int32", x=INT32, x_scale=0.1, cites=FORMULA)
case("int32_zero_point_zero", x=INT32, x_scale=0.1, x_zero_point=typed("int32", 0), cites=FORMULA)
FAR, MOST = typed("int32", [2**31 - 1, 0, 5]), typed("int32", -(2**31))
case("int32_difference_beyond", Tag.EDGE, x=FAR, x_scale=0.5, x_zero_point=MOST, cites=FORMULA)
INTEGERS_OF_32_BITS, BY_COLUMN = typed("int32", [[-7, 8], [9, 10]]), typed("int32", [0, 3])
case("int32_by_axis", x=INTEGERS_OF_32_BITS, x_scale=[0.5, 2], x_zero_point=BY_COLUMN, axis=1, cites=FORMULA)
GRAINS.cases(np.arange(24).reshape(SHAPE), "uint8")
GRAINS.sized("T1", FORMULA, ("int32",))
DEQUANTIZE.every("every", each="T1", but="int32", cites=FORMULA, x=every_value(), x_scale=0.37, x_zero_point=1)
