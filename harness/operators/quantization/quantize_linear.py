"""QuantizeLinear: quantized numbers from real ones, by scale and zero point.

Versions: 10 (per tensor), 13 (per axis), 19 (float8; scales of the input's type), 21 (blocks; output_dtype; 4 and 16
bits), 23 (scales of any type, precision), 24, 25 and 28 (types).
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from harness.declare import Array, Int, Op, Rule, Tag, Tolerance, Version, attribute, element_type, ramp, typed
from harness.declare.families.quantization import FLOATS, INTEGERS, NUMBERS, Granularity, by_axis, by_blocks, saturated
from harness.declare.families.quantization import misfits_by_version as misfits

QUANTIZE = Op(
    "QuantizeLinear",
    versions=(10, 13, 19, 21, 23, 24, 25, 28),
    compare=Tolerance("what rounds to another number in the precision of the division is left open or not tried"),
    rank="x",
    derives={name: attribute("output_dtype", name, "tensor(uint8)") for name in ("T2", "T3")},
)

FORMULA_OLD = QUANTIZE.clause(
    "y = saturate ((x / y_scale) + y_zero_point)",
    before=21,
    note="What the precision of x and a higher one quantize differently is left open, as are NaN and a scale of 0.",
)
FORMULA = QUANTIZE.clause("y = saturate((x / y_scale) + y_zero_point)", since=21, note="As before version 21.")
LIMITS = QUANTIZE.clause("- uint16: [0, 65535] - int16: [-32768, 32767] - uint8: [0, 255] - int8:", since=21)
TIES = QUANTIZE.clause("to the nearest even.")
SAME_TYPE_OLD = QUANTIZE.clause("'y_zero_point' and 'y' must have same type.", before=21, result=True)
SAME_TYPE = QUANTIZE.clause("`y_zero_point` and `y` must have the same type.", since=21, result=True)
SCALAR = QUANTIZE.clause("It's a scalar, which means a per-tensor/layer quantization.", before=13)
EITHER = QUANTIZE.clause(
    "must have same shape, and can be either a scalar for per-tensor / per layer quantization, or a 1-D tensor",
    since=13,
    before=21,
    note="Says not whether one element may stand for the whole axis.",
)
MATCH_OLD = QUANTIZE.clause("Shape must match y_scale.", since=13, before=21)
MATCH = QUANTIZE.clause("Shape must match `y_scale`.", since=21)
DETERMINES = QUANTIZE.clause(
    "must have the same shape, determining the quantization granularity.",
    since=21,
    note="The official cases give a scalar scale a zero point of shape (1), which is another shape, and expect what a "
    "scalar gives.",
    against=("test_quantizelinear_e4m3fn", "test_quantizelinear_e5m2"),
)
ALL_CASES = QUANTIZE.clause("In all cases, `y_zero_point` must have the same shape as `y_scale`.", since=21)
THREE_KINDS = QUANTIZE.clause("There are three supported quantization granularities", since=21)
LENGTH = QUANTIZE.clause("The scale must be a 1-D tensor, with the length of the quantization axis.", since=21)
BLOCKS = QUANTIZE.clause("The scale's shape is identical to the input's shape, except for one dimension", since=21)
DEFAULT_OLD = QUANTIZE.clause("Default value is uint8 typed 0 if it's not specified.", before=13)
DEFAULT = QUANTIZE.clause("Default is uint8 with zero point of 0 if it's not specified.", since=13)
IGNORED = QUANTIZE.clause("Ignored for per-tensor quantization.", since=13, before=21)
AXIS_USE = QUANTIZE.clause("Used only for per-axis and blocked quantization.", since=21)
BACK = QUANTIZE.clause("Negative value means counting dimensions from the back.", since=13)
RANGE_OLD = QUANTIZE.clause("Accepted range is [-r, r-1] where r = rank(input).", since=13, before=21)
RANGE = QUANTIZE.clause("Accepted range is `[-r, r-1]` where `r = rank(input)`.", since=21)
RANK_ONE = QUANTIZE.clause(
    "When the rank of the input is 1, per-tensor quantization is applied",
    since=21,
    note="Against the length that a scale for each element would have; of more than one element it leaves all open.",
)
ONLY_BLOCKED = QUANTIZE.clause("Used only for blocked quantization.", since=21)
BLOCK_SIZE = QUANTIZE.clause("the accepted range is `[ceil(Di/Si), ceil(Di/(Si-1))-1]`", since=21)
SATURATE = QUANTIZE.clause(
    "if an input value is out of range of the destination type. It only applies for float 8 quantization "
    "(float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz). It is true by default. All cases are fully described "
    "in two tables inserted in the operator description.",
    since=19,
    note="The tables stand with Cast. There an infinity becomes NaN in the fnuz types in version 19, and later their "
    "limit, which leaves it open here.",
)
NO_EFFECT = QUANTIZE.clause("It has no effect for float4e2m1, float6e2m3, or float6e3m2", since=28)
BOTH_T2 = QUANTIZE.clause("are specified, `output_dtype` must be `T2`.", since=21, before=23)
BOTH_T3 = QUANTIZE.clause("are specified, `output_dtype` must be `T3`.", since=23)
PRECISION = QUANTIZE.clause(
    "The type of `y_scale` determines the precision of the division operation between `x` and `y_scale`, unless the "
    "`precision` attribute is specified.",
    since=23,
    note="Says not whether x is cast first, nor how an integer or a float8e8m0 divides what does not divide evenly.",
)
GRAINS = Granularity(
    scalar=(SCALAR,), same_shape=(MATCH_OLD, MATCH), ranks=(EITHER, THREE_KINDS), length=(EITHER, LENGTH),
    explicit=(LENGTH,), axis=(RANGE_OLD, RANGE), rank_one=(RANK_ONE,), blocks=(BLOCKS,), block_size=(BLOCK_SIZE,),
)  # fmt: skip
PRECISIONS = {1: np.dtype(np.float32), 10: np.dtype(np.float16), 16: np.dtype(ml_dtypes.bfloat16)}


def _cast(values: Array, dtype: np.dtype[Any]) -> Array:
    return values.astype(dtype).astype(np.float64)


@QUANTIZE.oracle()
def quantized(
    v: Version, x: Array, y_scale: Array, y_zero_point: Array | None, *, axis: Int, saturate: Int, block_size: Int,
    output_dtype: Int, precision: Int,
) -> Array:  # fmt: skip
    """Return saturate(round(x / y_scale) + y_zero_point); attributes are None before the version that brought them."""
    formula = FORMULA if FORMULA.in_force(v.since) else FORMULA_OLD
    says = PRECISION.in_force(v.since)
    target = v.dtypes["T3" if says else "T2"]
    if y_zero_point is not None and MATCH.in_force(v.since):
        v.require(BOTH_T3 if says else BOTH_T2, not output_dtype or NUMBERS[target.name] == output_dtype)
        other = y_zero_point.shape != y_scale.shape
        v.require(DETERMINES, not other or y_scale.ndim > 0)
        v.require(ALL_CASES, not other or y_zero_point.ndim > 0)
    scale, zero = GRAINS.spread(v, x.shape, y_scale, y_zero_point, axis, block_size)
    v.silent(formula, bool((y_scale == 0).any()))
    scaled_by = v.dtypes["T2" if says else "T1"] if SATURATE.in_force(v.since) else PRECISIONS[1]
    divides = PRECISIONS.get(precision or 0, scaled_by)
    with np.errstate(all="ignore"):
        wide, by = x.astype(np.float64), scale.astype(np.float64)
        zeros = 0.0 if zero is None else zero.astype(np.float64)
        quotient = wide / by
        if divides not in PRECISIONS.values():
            v.silent(PRECISION, says and bool((quotient != np.rint(quotient)).any()))
            divides = np.dtype(np.float64)
        v.silent(SATURATE, "fnuz" in target.name and bool(np.isinf(quotient).any()))
        quotients = [_cast(_cast(wide, divides) / _cast(by, divides), divides), _cast(quotient, divides)]
        quotients += [] if says else [quotient]
        clips = bool(saturate) or "float8" not in target.name
        answers = [saturated(v, formula, item, zeros, target, clips=clips) for item in quotients]
        first, *others = (item.astype(np.float64) for item in answers)
    v.silent(formula, not all(np.array_equal(first, item, equal_nan=True) for item in others))
    return answers[0]


case = QUANTIZE.case
CUBE = np.arange(24).reshape(2, 3, 4) - 9
TIED = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 300, -300]


def plain(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - as cases
    """Return arguments with a scale of 2 and a zero point of 1, or as given."""
    return {"x": CUBE, "y_scale": 2, "y_zero_point": 1, **given}


case("ties_old", x=TIED, y_scale=1, y_zero_point=0, cites=(FORMULA_OLD, TIES, SAME_TYPE_OLD))
case("ties", x=TIED, y_scale=1, y_zero_point=0, cites=(FORMULA, TIES, SAME_TYPE))
case("ties_before_zero_point", Tag.EDGE, x=TIED, y_scale=1, y_zero_point=3, cites=(TIES,))
for type_, first in INTEGERS.items():
    ends: dict[str, Any] = {"x": [-1e6, -9, -2, -1, 0, 1, 2, 5, 9, 1e6], "y_scale": 1, "since": first}
    case(f"limits_{type_}", Tag.EDGE, **ends, y_zero_point=typed(type_, 1), before=first + 1, cites=(TIES,))
case("infinities", Tag.EDGE, **plain(x=[np.inf, -np.inf]), cites=(TIES,))
for name, point in (("old", DEFAULT_OLD), ("now", DEFAULT)):
    case(f"uint8_{name}", x=TIED, y_scale=1, y_zero_point=typed("uint8", 0), cites=(point,))
    case(f"no_zero_point_{name}", Tag.CHANGE, x=TIED, y_scale=1, cites=(point,))
case("rank0", Tag.EDGE, **plain(x=7))
case("zero_size", Tag.EDGE, **plain(x=ramp(2, 0, 3)))
case("nan_old", Tag.EDGE, **plain(x=[np.nan, 1]), before=21, unspecified=FORMULA_OLD)
case("scale_zero_old", Tag.EDGE, **plain(y_scale=0), before=21, unspecified=FORMULA_OLD)

case("scale_of_rank1", Tag.EDGE, **plain(y_scale=[2]), before=13, unspecified=SCALAR)
case("scale_for_each", **plain(y_scale=[1, 2]), before=13, rejects=SCALAR)
case("scale_of_wrong_rank", **plain(y_scale=[[2, 1]], y_zero_point=[[1, 2]]), since=13, before=21, rejects=EITHER)
case("scalar_and_vector_old", **plain(y_zero_point=[1, 2, 3]), rejects=MATCH_OLD)
case("scalar_and_vector", **plain(y_zero_point=[1, 2, 3]), rejects=DETERMINES)
case("vector_and_scalar", **plain(y_scale=[1, 2, 3]), rejects=ALL_CASES)
case("vector_and_matrix", **plain(y_scale=[1, 2, 3], y_zero_point=[[1, 2, 3]]), rejects=MATCH)
case("one_element_old", Tag.EDGE, **plain(y_zero_point=[1]), rejects=MATCH_OLD)
case("one_element", Tag.EDGE, **plain(y_zero_point=[1]), rejects=DETERMINES)
for name, scales, axis in by_axis():
    zeros = np.arange(scales.size) * 3 - 2
    case(name, Tag.AXIS, **plain(y_scale=scales, y_zero_point=zeros, axis=axis), before=24, cites=(BACK,))
for name, scales, given in by_blocks():
    zeros = np.arange(scales.size).reshape(scales.shape) - 3
    case(name, Tag.CHANGE, **plain(y_scale=scales, y_zero_point=zeros, **given), before=24, cites=(BLOCKS,))
for name, shape, scales, given, kind in misfits():
    for suffix, clause in zip(("", "_now"), getattr(GRAINS, kind), strict=False):
        if "block_size" in given and not clause.in_force(21):  # There are no blocks before.
            continue
        wrong = plain(x=ramp(*shape), y_scale=scales, y_zero_point=np.zeros(scales.shape), **given)
        case(f"{name}{suffix}", Tag.EDGE, **wrong, rejects=clause)
for suffix, clause in (("old", IGNORED), ("now", AXIS_USE)):
    case(f"axis_unused_{suffix}", Tag.AXIS, **plain(axis=7), cites=(clause,))
case("block_size_unused", Tag.EDGE, **plain(block_size=2), cites=(ONLY_BLOCKED,))
case("rank1_one_scale", Tag.EDGE, **plain(x=TIED, y_scale=[2], y_zero_point=[1]), cites=(RANK_ONE,))
case("rank1_scales", Tag.EDGE, **plain(x=[1, 2], y_scale=[2, 1], y_zero_point=[1, 2]), since=21, unspecified=RANK_ONE)

HARD = [0, 0.5, 1.3, -2.7, 17, 449, 1e5, -1e9, np.nan, 2**-9, 2**-10, -(2**-20)]
for type_, first in FLOATS.items():
    real: dict[str, Any] = {"y_scale": 1, "y_zero_point": typed(type_, 0), "since": first, "before": first + 1}
    finite = HARD if "float8" in type_ else [item for item in HARD if item == item]  # noqa: PLR0124 - NaN
    case(f"values_{type_}", Tag.DTYPE, x=finite, **real)
    for flag in (0, 1):
        case(f"saturate_{flag}_{type_}", Tag.EDGE, x=[1e5, 3, -1e9, 500], saturate=flag, **real, cites=(SATURATE,))
case("saturate_set", **plain(), saturate=1, cites=(SATURATE,))
case("saturate_no_effect", x=[9, -9], y_scale=1, y_zero_point=typed("float4e2m1", 0), saturate=0, cites=(NO_EFFECT,))
UZ = typed("float8e4m3fnuz", 0)
case("saturate_infinity", Tag.EDGE, x=[np.inf], y_scale=1, y_zero_point=UZ, since=19, unspecified=SATURATE)

for suffix, clause in (("t2", BOTH_T2), ("t3", BOTH_T3)):
    case(f"both_{suffix}", **plain(), output_dtype=element_type("int8"), cites=(clause,))
    case(f"both_differ_{suffix}", **plain(), output_dtype=element_type("uint8"), rejects=clause)
for type_, first in (INTEGERS | FLOATS).items():
    ends = {"output_dtype": element_type(type_), "since": max(first, 21)}
    ends["before"] = None if type_ == "uint8" else max(first, 21) + 2
    case(f"output_{type_}", Tag.DTYPE, x=CUBE / 2, y_scale=2, **ends, cites=(LIMITS,))
case("output_int32", **plain(y_zero_point=None), output_dtype=element_type("int32"), rejects=Rule.TYPES)
case("dtypes_x", Tag.DTYPE, each="T1", **plain(x=CUBE * 2), cites=(TIES,))
case("dtypes_21", Tag.DTYPE, each="T2", x=CUBE, y_scale=2, y_zero_point=0, before=23)
case("dtypes", Tag.DTYPE, each="T3", x=CUBE, y_scale=2, y_zero_point=0, since=23)
case("dtypes_scale", Tag.DTYPE, each="T2", **plain(), precision=element_type("float"), cites=(PRECISION,))
for type_ in ("float", "float16", "bfloat16"):
    coarse: dict[str, Any] = {"x": [2051, 4099, 100.3], "y_scale": typed(type_, 1), "y_zero_point": typed("int16", 0)}
    case(f"precision_of_{type_}", Tag.CHANGE, **coarse, since=23, cites=(PRECISION,))
    case(f"precision_{type_}", **{**coarse, "y_scale": 1}, precision=element_type(type_), cites=(PRECISION,))
case("precision_int32", Tag.EDGE, **plain(y_scale=typed("int32", 2)), since=23, unspecified=PRECISION)

case("outside", Tag.DTYPE, outside="T1", **plain(), since=28, rejects=Rule.TYPES)
case("scale_double", **plain(y_scale=typed("double", 2)), rejects=Rule.TYPES)
for name, before in (("axis", 13), ("saturate", 19), ("block_size", 21), ("output_dtype", 21), ("precision", 23)):
    case(f"attribute_{name}", **plain(), stray={name: 0}, before=before, rejects=Rule.ATTRIBUTES)
case("no_scale", x=CUBE, rejects=Rule.ARITY)
case("no_outputs", **plain(), n=0, rejects=Rule.ARITY)
