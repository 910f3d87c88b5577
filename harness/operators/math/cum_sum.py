"""CumSum: running sums along an axis.

Versions: 11, 14 (float16 and bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, axes, axes_outside, bounded, ramp, typed


def _running(x: Array, axis: int, exclusive: int, reverse: int) -> Array:
    """Return the sums of the first j elements along `axis`, or of the first j - 1; from the end where `reverse`."""
    turned = np.flip(x, axis) if reverse == 1 else x
    sums = np.cumsum(turned, axis, dtype=np.longdouble if x.dtype.kind == "f" else object)
    if exclusive == 1:
        first = np.zeros_like(np.take(sums, range(min(1, x.shape[axis])), axis))
        sums = np.concatenate([first, np.take(sums, range(x.shape[axis] - 1), axis)], axis)
    return np.flip(sums, axis) if reverse == 1 else sums


def _rounding(x: Array, axis: Array, exclusive: int, reverse: int) -> list[Array]:
    """Return half a rounding of all magnitudes so far for each term; none for a single term."""
    terms = _running(np.ones(x.shape), int(axis), exclusive, reverse)
    magnitudes = _running(np.abs(x.astype(np.float64)), int(axis), exclusive, reverse)
    return [np.where(terms > 1, magnitudes * terms / 2, 0)]


CUM_SUM = Op(
    "CumSum",
    versions=(11, 14),
    compare=bounded(_rounding, "each addition, in any order, rounds by half an epsilon of all magnitudes"),
    rank="x",
)

PERFORMS = CUM_SUM.clause(
    "Performs cumulative sum of the input elements along the given axis.", note="Says not what an overflow yields."
)
INCLUSIVE = CUM_SUM.clause(
    "By default, it will do the sum inclusively meaning the first element is copied as is.",
    note="The default of both attributes is 0.",
)
EXCLUDE = CUM_SUM.clause(
    "Through an `exclusive` attribute, this behavior can change to exclude the first element.",
    note="It is the last summed element that each sum then lacks, as the attribute's own text and the example say.",
)
OPPOSITE = CUM_SUM.clause("It can also perform summation in the opposite direction of the axis.")
SET_REVERSE = CUM_SUM.clause("For that, set `reverse` attribute to 1.")
EXAMPLE = CUM_SUM.clause(
    "input_x = [1, 2, 3] axis=0 output = [1, 3, 6] exclusive=1 output = [0, 1, 3] exclusive=0 reverse=1 "
    "output = [6, 5, 3] exclusive=1 reverse=1 output = [5, 3, 0]"
)
REVERSE = CUM_SUM.clause(
    "If set to 1 will perform the sums in reverse direction.", note="Says nothing of values other than 0 and 1."
)
NOT_INCLUDED = CUM_SUM.clause("If set to 1 will return exclusive sum in which the top element is not included.")
ONE_LESS = CUM_SUM.clause(
    "In other terms, if set to 1, the j-th output element would be the sum of the first (j-1) elements."
)
OTHERWISE = CUM_SUM.clause(
    "Otherwise, it would be the sum of the first j elements.",
    note="Any value but 1 is otherwise; onnx.reference takes it for 1, onnxruntime refuses it.",
)
ZERO_D = CUM_SUM.clause("A 0-D tensor.", note="onnxruntime takes one element of rank 1 as well.")
RANGE = CUM_SUM.clause("Must be in the range [-rank(x), rank(x)-1].", note="Which is empty for rank 0.")
BACK = CUM_SUM.clause("Negative value means counting dimensions from the back.")
SAME_TYPE = CUM_SUM.clause("Output tensor of the same type as 'x' with cumulative sums of the x's elements")
ANY_TYPE = CUM_SUM.clause(
    "Input can be of any tensor type.", before=14, note="The signature's list, which is shorter, binds."
)
NUMERIC = CUM_SUM.clause("Constrain input and output types to numeric tensors.", since=14)
AXIS_TYPE = CUM_SUM.clause("axis tensor can be int32 or int64 only")


@CUM_SUM.oracle()
def summed(v: Version, x: Array, axis: Array, exclusive: int, reverse: int) -> Array:
    """Return the running sums of real numbers, or exactly those of integers."""
    v.require(ZERO_D, axis.ndim == 0)
    v.require(RANGE, -x.ndim <= int(axis) < x.ndim)
    v.silent(REVERSE, reverse not in {0, 1})
    with np.errstate(invalid="ignore"):
        sums = _running(x, int(axis), exclusive, reverse)
    if x.dtype.kind == "f":
        return sums
    limits = np.iinfo(x.dtype)
    v.silent(PERFORMS, any(not limits.min <= total <= limits.max for total in sums.ravel()))
    return sums.astype(x.dtype)


case = CUM_SUM.case

WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "exclusive": {"exclusive": 1},
    "reverse": {"reverse": 1},
    "exclusive_reverse": {"exclusive": 1, "reverse": 1},
}
for way, given in WAYS.items():
    told = (PERFORMS, *((EXCLUDE, NOT_INCLUDED, ONE_LESS) if given.get("exclusive") else (INCLUSIVE, OTHERWISE)))
    told += (OPPOSITE, SET_REVERSE, REVERSE) if given.get("reverse") else ()
    case(f"{way}_example", x=[1, 2, 3], axis=0, cites=(EXAMPLE, *told), **given)
    for axis in range(3):
        case(f"{way}_axis_{axis}", Tag.AXIS, x=WAVES, axis=axis, cites=told, **given)
    case(f"{way}_integers", x=typed("int32", [[3, -1, 4], [-1, 5, -9]]), axis=1, cites=told, **given)
    case(f"{way}_one", Tag.EDGE, x=[7.5], axis=0, cites=told, **given)
    case(f"{way}_size_one", Tag.EDGE, x=[[7.5], [-3], [0.1]], axis=1, cites=told, **given)
    case(f"{way}_zero_size", Tag.EDGE, x=ramp(2, 0), axis=1, cites=told, **given)
    case(f"{way}_other_zero_size", Tag.EDGE, x=ramp(0, 3), axis=1, cites=told, **given)
    case(f"{way}_long", x=np.cos(np.arange(600.0)).reshape(2, 300), axis=1, cites=told, **given)
    case(f"{way}_columns", x=np.cos(np.arange(600.0)).reshape(300, 2), axis=0, cites=told, **given)
    case(f"{way}_infinity", Tag.EDGE, x=[1, np.inf, 2, 3], axis=0, cites=told, **given)
    case(f"{way}_infinities", Tag.EDGE, x=[1, np.inf, 2, -np.inf, 3], axis=0, cites=told, **given)
    case(f"{way}_nan", Tag.EDGE, x=[[1, np.nan, 2], [3, 4, 5]], axis=1, cites=told, **given)
    case(f"{way}_subnormals", Tag.EDGE, x=[1e-45, 3e-45, -1e-45, 1e-40], axis=0, cites=told, **given)
    case(f"{way}_to_infinity", Tag.EDGE, x=[3e38, 3e38, 3e38], axis=0, cites=told, **given)
    case(f"{way}_cancels", Tag.EDGE, x=[1e8, 1, -1e8, 0.5], axis=0, cites=told, **given)
    case(f"dtypes_{way}", Tag.DTYPE, each="T", x=ramp(2, 3), axis=1, cites=(SAME_TYPE, *told), **given)
    for bits in (32, 64):
        signed, unsigned = np.iinfo(f"int{bits}"), np.iinfo(f"uint{bits}")
        hard = np.array([int(signed.min), int(signed.max), -int(signed.max), int(signed.max)], signed.dtype)
        over = np.array([1, int(signed.max), 1], signed.dtype)
        exact = np.array([int(unsigned.max) - 7, 4, 3], unsigned.dtype)
        wraps = np.array([3, int(unsigned.max), 3], unsigned.dtype)
        case(f"{way}_int{bits}_limits", Tag.EDGE, x=typed(f"int{bits}", hard), axis=0, cites=told, **given)
        case(f"{way}_uint{bits}_exact", Tag.EDGE, x=typed(f"uint{bits}", exact), axis=0, cites=told, **given)
        case(f"{way}_int{bits}_over", Tag.EDGE, x=typed(f"int{bits}", over), axis=0, unspecified=PERFORMS, **given)
        case(f"{way}_uint{bits}_over", Tag.EDGE, x=typed(f"uint{bits}", wraps), axis=0, unspecified=PERFORMS, **given)
case("zeros", x=WAVES, axis=1, exclusive=0, reverse=0, cites=(INCLUSIVE, OTHERWISE))
case("exclusive_two", Tag.EDGE, x=[1, 2, 3], axis=0, exclusive=2, cites=(OTHERWISE,))
case("reverse_two", Tag.EDGE, x=[1, 2, 3], axis=0, reverse=2, unspecified=REVERSE)
case("reverse_zero_exclusive", x=WAVES, axis=1, exclusive=1, reverse=0, cites=(ONE_LESS,))
case("exclusive_zero_reverse", x=WAVES, axis=1, exclusive=0, reverse=1, cites=(OTHERWISE, REVERSE))

for name, shape, axis in axes():
    case(name, Tag.AXIS, x=ramp(*shape), axis=axis, cites=(BACK, RANGE) if axis < 0 else (RANGE,))
    if axis < 0:
        case(f"{name}_exclusive", Tag.AXIS, x=ramp(*shape), axis=axis, exclusive=1, cites=(BACK, ONE_LESS))
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, x=ramp(*shape), axis=axis, rejects=RANGE)
case("axis_vector", Tag.EDGE, x=ramp(2, 3), axis=[1], rejects=ZERO_D)
case("axis_two", Tag.EDGE, x=ramp(2, 3), axis=[0, 1], rejects=ZERO_D)
case("axis_none", Tag.EDGE, x=ramp(2, 3), axis=[], rejects=ZERO_D)
case("axis_dtypes", Tag.DTYPE, each="T2", x=ramp(2, 3), axis=1, cites=(AXIS_TYPE,))
case("axis_dtypes_back", Tag.DTYPE, each="T2", x=ramp(2, 3), axis=-2, cites=(AXIS_TYPE, BACK))
case("axis_outside", Tag.DTYPE, outside="T2", x=ramp(2, 3), axis=1, rejects=AXIS_TYPE)
case("dtypes_old", Tag.DTYPE, each="T", x=ramp(3, 2), axis=0, cites=(ANY_TYPE,))
case("dtypes_now", Tag.DTYPE, each="T", x=ramp(3, 2), axis=0, cites=(NUMERIC,))
case("outside", Tag.DTYPE, outside="T", x=ramp(3), axis=0, rejects=Rule.TYPES)
for type_, fractions in {"float16": (0.1, 2048, 1), "bfloat16": (0.1, 256, 1), "double": (0.1, 1e16, 1)}.items():
    terms: dict[str, Any] = {"x": typed(type_, fractions), "since": None if type_ == "double" else 14}
    case(f"fractions_{type_}", Tag.EDGE, **terms, axis=0, cites=(PERFORMS,))
    case(f"fractions_reverse_{type_}", Tag.EDGE, **terms, axis=0, reverse=1, cites=(PERFORMS,))
case("no_axis", x=ramp(3), rejects=Rule.ARITY)
case("no_outputs", x=ramp(3), axis=0, n=0, rejects=Rule.ARITY)
case("two_outputs", x=ramp(3), axis=0, n=2, rejects=Rule.ARITY)
case("attribute_axis", x=ramp(3), stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
