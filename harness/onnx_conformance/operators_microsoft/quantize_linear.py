# SPDX-License-Identifier: Apache-2.0
"""QuantizeLinear of com.microsoft: compute quantized numbers from real ones, with a scale and a zero point.

    y = QuantizeLinear(x, y_scale, y_zero_point=0, axis=None)

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Tag, Tolerance, Version, every_value, ramp, typed, vary
from onnx_conformance.declare.families.quantization import quantized as quantized_as
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators_microsoft._axis_scales import INTEGERS, SHAPE, Granularity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare.op import Bindings


def _type_of_result(types: Bindings, _: Mapping[str, Any]) -> str:
    """Return the type of the zero point; uint8 without one."""
    return types["T2"] if "T2" in types.bound_by_inputs else "tensor(uint8)"


QUANTIZE = Op(
    "QuantizeLinear",
    versions=(1,),
    compare=Tolerance("if the precision of the division can change an element, both values are allowed"),
    domain="com.microsoft",
    rank="x",
    derives={"T2": _type_of_result},
)
QUANTIZE.example(x=[[-4, 2, 6], [0, 8, 4]], y_scale=[2, 1, 4], y_zero_point=[1, 2, 3], axis=1)

FORMULA = QUANTIZE.clause(
    "The quantization formula is y = saturate ((x / y_scale) + y_zero_point).",
    note="The text does not define the precision of the quotient, so x may also be multiplied by the reciprocal of the "
    "scale. It does not define NaN or a scale of 0.",
)
SATURATES = QUANTIZE.clause(
    "For saturation, it saturates to [0, 255] if it's uint8, [-128, 127] if it's int8, [0, 65,535] if it's uint16, and "
    "[-32,768, 32,767] if it's int16.",
    note="The text names no range for int4 and uint4. Saturation limits a number to the range of its type.",
)
TIES = QUANTIZE.clause(
    "For (x / y_scale), it's rounding to nearest ties to even.",
    note="The quotient is rounded before the zero point is added.",
)
CONSUMES = QUANTIZE.clause(
    "It consumes a full precision data, a scale, a zero point to compute the low precision / quantized tensor."
)
MATCHES = QUANTIZE.clause("Shape must match y_scale.")
DEFAULT = QUANTIZE.clause("Default is uint8 with zero point of 0 if it's not specified.")
PER_TENSOR = QUANTIZE.clause(
    "It can be a scalar, which means per-tensor/layer quantization, or a 1-D tensor for per-axis quantization."
)
SAME_SHAPE = QUANTIZE.clause("It has same shape as input 'x'.", result=True)
FLOATS = QUANTIZE.clause("Constrain 'x', 'y_scale' to float tensors.")
QUANTIZED_TYPES = QUANTIZE.clause(
    "Constrain 'y_zero_point' and 'y' to 8-bit and 16-bit integer tensors.",
    note="The list of types also has int4 and uint4.",
)
GRAINS = Granularity(QUANTIZE, "y_scale", MATCHES)


@QUANTIZE.oracle()
def quantized(v: Version, x: Array, y_scale: Array, y_zero_point: Array | None, axis: Int) -> Result:
    """Return saturate(round(x / y_scale) + y_zero_point)."""
    scale, zero = GRAINS.spread(v, x.shape, y_scale, y_zero_point, axis)
    divides = v.dtypes["T1"]

    def cast(numbers: Array) -> Array:
        return numbers.astype(divides).astype(np.float64)

    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        quotient = wide / scale
        product = cast(wide * cast(1 / scale))
        quotients = [cast(quotient), quotient, np.where(np.isfinite(product), product, quotient)]
        result = quantized_as(v, FORMULA, quotients, zero, v.dtypes["T2"])
    return v.leave_open(FORMULA, np.broadcast_to(scale == 0, x.shape), result)


case = QUANTIZE.case
TIED = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 300, -300]
ZERO, THREE = typed("int8", 0), typed("int8", 3)
case("ties", x=TIED, y_scale=1, y_zero_point=ZERO, cites=(FORMULA, TIES, CONSUMES, PER_TENSOR))
case("ties_before_zero_point", Tag.EDGE, x=TIED, y_scale=1, y_zero_point=THREE, cites=TIES)
case("zero_point_left_out", x=TIED, y_scale=1, cites=(DEFAULT, SATURATES))
case("rank0", Tag.EDGE, x=7, y_scale=2, y_zero_point=1, cites=SAME_SHAPE)
case("rank0_without_zero_point", Tag.EDGE, x=7, y_scale=0.5, cites=DEFAULT)
case("rank4", Tag.EDGE, x=ramp(2, 1, 3, 4), y_scale=0.3, y_zero_point=2, cites=SAME_SHAPE)
case("zero_size", Tag.EDGE, x=ramp(2, 0, 3), y_scale=2, y_zero_point=1, cites=SAME_SHAPE)
for type_ in INTEGERS:
    for float_type in ("float16", "float"):
        around = typed(float_type, [-6e4, -300, -9, -2, -1, 0, 1, 2, 5, 9, 300, 6e4])
        one, zero = typed(float_type, 1), typed(type_, 1)
        cites = (SATURATES, QUANTIZED_TYPES, FLOATS)
        case(f"limits_{type_}_of_{float_type}", Tag.EDGE, x=around, y_scale=one, y_zero_point=zero, cites=cites)
    beyond = [1e6, -1e6, np.inf, -np.inf]
    case(f"beyond_{type_}", Tag.EDGE, x=beyond, y_scale=0.5, y_zero_point=typed(type_, 1), cites=SATURATES)
ACROSS = [0, 1, -1, 127, -128, 254, -255, 300, -300]
ZERO_POINTS = vary(highest=typed("int8", 127), lowest=typed("int8", -128), highest_unsigned=typed("uint8", 255))
case("limit_of_zero_point", Tag.EDGE, x=ACROSS, y_scale=1, y_zero_point=ZERO_POINTS, cites=FORMULA)
case("scale_negative", Tag.EDGE, x=[6, -3, 5, 500, -500], y_scale=-2, y_zero_point=ZERO, cites=FORMULA)
case("scale_infinite", Tag.EDGE, x=[6, -3, 0], y_scale=np.inf, y_zero_point=THREE, cites=FORMULA)
# The reciprocal of such a scale is infinite.
SCALED_BY_LEAST = [5 * 2.0**-149, -3 * 2.0**-149, 2.0**-143, 2.0**-130, -1, 0]
case("scale_subnormal", Tag.EDGE, x=SCALED_BY_LEAST, y_scale=2.0**-149, y_zero_point=THREE, cites=FORMULA)
case("scale_nan", Tag.EDGE, x=[6, -3, 0], y_scale=np.nan, y_zero_point=THREE, unspecified=FORMULA)
case("scale_zero", Tag.EDGE, x=[3, -2], y_scale=0, y_zero_point=THREE, unspecified=FORMULA)
case("one_scale_zero", Tag.EDGE, x=[[3, -2]], y_scale=[1, 0], y_zero_point=[1, 1], axis=1, unspecified=FORMULA)
case("nan", Tag.EDGE, x=[np.nan, 1], y_scale=2, y_zero_point=THREE, unspecified=FORMULA)
# 3.5 in float32, 3.4999999 in real numbers.
case("tie_of_float32", Tag.EDGE, x=[0.35], y_scale=0.1, y_zero_point=THREE, unspecified=FORMULA)
# 15.4999995 in float32, 15.5 as a product with the reciprocal of 0.1 in float32.
case("tie_of_reciprocal", Tag.EDGE, x=[1.54999995], y_scale=0.1, y_zero_point=THREE, unspecified=FORMULA)
# 30000 in float16, 30007.3 in real numbers.
COARSE: dict[str, Any] = {"x": typed("float16", [3000.0, 2]), "y_scale": typed("float16", 0.1)}
case("quotient_of_float16", Tag.EDGE, **COARSE, y_zero_point=typed("int16", 0), unspecified=FORMULA)
GRAINS.cases(np.arange(24).reshape(SHAPE) / 4, "float")

GRAINS.sized("T2", FORMULA, ())
for type_ in ("float16", "float"):
    everything, step = typed(type_, every_value()), typed(type_, 0.37)
    zeros = filled(integers=(0, 3))
    QUANTIZE.every(f"every_{type_}", each="T2", cites=FORMULA, x=everything, y_scale=step, y_zero_point=zeros)
