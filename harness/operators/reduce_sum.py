"""ReduceSum: the sum along some axes.

Versions: 1 (axes as attribute), 11 (range of axes; silent on rank 0 and empty sets), 13 (axes as input,
noop_with_empty_axes).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import Array, Int, Ints, Op, Rule, Tag, Version, axes_outside, bounded, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _chosen(data: Array, axes: Ints, noop_with_empty_axes: Int) -> tuple[int, ...]:
    """Return the axes to reduce, counted from the front; axes that do not exist are left out."""
    given = [] if axes is None else [int(axis) for axis in np.ravel(axes)]
    if not given:
        return () if noop_with_empty_axes else tuple(range(data.ndim))
    return tuple(sorted({axis % data.ndim for axis in given if -data.ndim <= axis < data.ndim}))


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output, as far as a model that has no answer can have one."""
    data = arguments.get("data")
    if data is None:
        return None
    gone = _chosen(data, arguments.get("axes"), arguments.get("noop_with_empty_axes"))
    return int(data.ndim) - (0 if arguments.get("keepdims", 1) else len(gone))


def _rounding(data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> list[Array]:
    """Return half a rounding of all magnitudes for each term; none for a single term."""
    gone = _chosen(data, axes, noop_with_empty_axes)
    terms = math.prod(data.shape[axis] for axis in gone)
    if terms <= 1:
        return [np.zeros_like(data.sum(gone, keepdims=bool(keepdims)), np.float64)]
    return [np.abs(data.astype(np.float64)).sum(gone, keepdims=bool(keepdims)) * terms / 2]


SUM = Op(
    "ReduceSum",
    versions=(1, 11, 13),
    compare=bounded(_rounding, "each addition, in any order, rounds by half an epsilon of all magnitudes"),
    rank=_rank,
)

ALONG = SUM.clause("along the provided axes.", note="Says not what an axis named twice means.")
COMPUTES = SUM.clause("Computes the sum of the input tensor's element", note="Says not what an overflow yields.")
RANK_OLD = SUM.clause(
    "has the same rank as the input if keepdims equals 1. If keepdims equal 0, then the resulted tensor", before=13
)
RANK = SUM.clause(
    "has the same rank as the input if `keepdims` equals 1. If `keepdims` equals 0, then the resulting tensor", since=13
)
KEEP = SUM.clause("Keep the reduced dimension or not, default 1 means keep reduced dimension.")
EMPTY_FIRST = SUM.clause(
    "have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields 0.",
    before=11,
)
EMPTY = SUM.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields 0.",
    since=13,
    note="Version 11 says neither.",
)
LIST = SUM.clause(
    "A list of integers, along which to reduce. The default is to reduce over all the dimensions of the input tensor.",
    before=13,
    note="Says not whether an empty list is the default or names no dimension.",
)
EMPTY_AXES = SUM.clause(
    "Optional input list of integers, along which to reduce. The default is to reduce over empty axes. When axes is "
    "empty (either not provided or explicitly empty), behavior depends on 'noop_with_empty_axes': reduction over all "
    "axes if 'noop_with_empty_axes' is false, and reduction over the empty set of axes when 'noop_with_empty_axes' is "
    "true.",
    since=13,
)
NOOP = SUM.clause(
    "If false (default), reduction happens over all axes (similar to the case when `axis=None` in numpy). If true, "
    "reduction happens over an empty set of axes (similar to the case when `axis=()` in numpy). Note that reduction "
    "over an empty set of axes means that the reduction step behaves like a no-op (identity function)",
    since=13,
)
RANGE = SUM.clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)
PRECISE = SUM.clause("Constrain input and output types to high-precision numeric tensors.", before=13)
NUMERIC = SUM.clause("Constrain input and output types to numeric tensors.", since=13)


def _total(v: Version, data: Array, gone: tuple[int, ...], keepdims: bool) -> Array:  # noqa: FBT001 - the text's own name
    """Return the sum of real numbers, or exactly that of integers."""
    if data.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.asarray(data.sum(gone, keepdims=keepdims))
    exact = np.asarray(data.astype(object).sum(gone, keepdims=keepdims), object)
    limits = np.iinfo(data.dtype)
    v.silent(COMPUTES, any(not limits.min <= total <= limits.max for total in exact.ravel()))
    return exact.astype(data.dtype)


@SUM.oracle()
def reduced(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Array:
    """Return the sum along `axes`; noop_with_empty_axes is None before version 13."""
    given = np.asarray([] if axes is None else axes)
    v.silent(EMPTY_AXES, given.ndim != 1)
    v.permit(RANGE, bool((given < 0).any()))
    v.require(RANGE if RANGE.in_force(v.since) else LIST, bool(((given >= -data.ndim) & (given < data.ndim)).all()))
    v.silent(LIST, LIST.in_force(v.since) and axes is not None and given.size == 0)
    gone = _chosen(data, axes, noop_with_empty_axes)
    v.silent(ALONG, given.size > len(gone))
    v.silent(KEEP, keepdims not in {0, 1})
    v.silent(NOOP, noop_with_empty_axes not in {0, 1, None})
    terms = math.prod(data.shape[axis] for axis in gone)
    v.silent(EMPTY, not (EMPTY.in_force(v.since) or EMPTY_FIRST.in_force(v.since)) and (data.ndim == 0 or terms == 0))
    return _total(v, data, gone, keepdims == 1)


case = SUM.case

WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
LONG = np.cos(np.arange(3000.0))
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)

case("default_kept", Tag.CHANGE, data=WAVES, noop_with_empty_axes=0, cites=(EMPTY_AXES, NOOP, KEEP))
case("default_kept_old", Tag.CHANGE, data=WAVES, cites=(LIST, RANK_OLD, KEEP))
case("default_pruned", Tag.CHANGE, data=ramp(2, 3, 4), keepdims=0, cites=(RANK, EMPTY_AXES))
case("by_attribute", Tag.CHANGE, data=ramp(2, 3, 4), axes=[1], cites=(LIST,))
case("by_input", Tag.CHANGE, data=ramp(2, 3, 4), axes=[1], cites=(EMPTY_AXES,))
for chosen in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2), (1, 2, 0)):
    named = "_".join(map(str, chosen))
    case(f"axes_{named}_kept", Tag.AXIS, data=ramp(2, 3, 4), axes=chosen, keepdims=1, cites=(ALONG, KEEP))
    case(f"axes_{named}_pruned", Tag.AXIS, data=WAVES, axes=chosen, keepdims=0, cites=(ALONG, KEEP))
    back = [axis - 3 for axis in chosen]
    case(f"axes_{named}_from_back", Tag.AXIS, data=ramp(2, 3, 4), axes=back, keepdims=0, cites=(RANGE,))
case("axes_from_both_ends", Tag.AXIS, data=ramp(2, 3, 4), axes=[-1, 0], cites=(RANGE, RANK))
case("axes_from_both_ends_old", Tag.AXIS, data=ramp(2, 3, 4), axes=[-1, 0], since=11, cites=(RANK_OLD,))
case("rank5", Tag.AXIS, data=ramp(2, 3, 1, 4, 5), axes=[0, 2, 3], keepdims=0, cites=(ALONG,))

case("noop", Tag.CHANGE, data=WAVES, noop_with_empty_axes=1, cites=(NOOP, EMPTY_AXES))
case("noop_pruned", Tag.CHANGE, data=WAVES, noop_with_empty_axes=1, keepdims=0, cites=(NOOP,))
case("noop_empty_axes", Tag.CHANGE, data=WAVES, axes=[], noop_with_empty_axes=1, cites=(NOOP, EMPTY_AXES))
case("noop_with_axes", data=ramp(2, 3, 4), axes=[1], noop_with_empty_axes=1, cites=(EMPTY_AXES,))
case("noop_dim_zero", Tag.EDGE, data=ramp(2, 0), noop_with_empty_axes=1, cites=(NOOP,))
case("noop_two", Tag.EDGE, data=ramp(2, 3), noop_with_empty_axes=2, unspecified=NOOP)
case("empty_axes", Tag.CHANGE, data=ramp(2, 3, 4), axes=[], cites=(EMPTY_AXES, NOOP))
case("empty_axes_old", Tag.CHANGE, data=ramp(2, 3, 4), axes=[], before=13, unspecified=LIST)
case("keepdims_two", Tag.EDGE, data=ramp(2, 3), keepdims=2, unspecified=KEEP)
case("twice", Tag.EDGE, data=ramp(2, 3), axes=[1, 1], unspecified=ALONG)
case("twice_from_both_ends", Tag.EDGE, data=ramp(2, 3), axes=[1, -1], since=11, unspecified=ALONG)
case("axes_scalar", Tag.EDGE, data=ramp(2, 3), axes=1, since=13, unspecified=EMPTY_AXES)
case("axes_matrix", Tag.EDGE, data=ramp(2, 3), axes=[[0, 1]], since=13, unspecified=EMPTY_AXES)

for suffix, clause in (("", EMPTY), ("_first", EMPTY_FIRST)):
    case(f"scalar{suffix}", Tag.EDGE, data=3, cites=(clause,))
    case(f"empty_set{suffix}", Tag.EDGE, data=ramp(2, 0, 4), axes=[1], cites=(clause,))
    case(f"empty_set_pruned{suffix}", Tag.EDGE, data=ramp(2, 0, 4), axes=[1], keepdims=0, cites=(clause,))
    case(f"empty_set_all{suffix}", Tag.EDGE, data=ramp(0, 3), keepdims=0, cites=(clause,))
    case(f"dtypes_empty_set{suffix}", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=(clause,))
case("scalar_silent", Tag.CHANGE, data=3, since=11, before=13, unspecified=EMPTY)
case("empty_set_silent", Tag.CHANGE, data=ramp(2, 0), axes=[1], since=11, before=13, unspecified=EMPTY)
case("other_zero", Tag.EDGE, data=ramp(0, 3), axes=[1], cites=(ALONG,))
case("other_zero_pruned", Tag.EDGE, data=ramp(2, 3, 0), axes=[1], keepdims=0, cites=(ALONG,))
case("size_one", Tag.EDGE, data=WAVES[:, :1], axes=[1], cites=(ALONG,))
case("long", Tag.EDGE, data=LONG.reshape(3, 1000), axes=[1], cites=(COMPUTES,))
case("long_columns", Tag.EDGE, data=LONG.reshape(1000, 3), axes=[0], cites=(COMPUTES,))
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [np.inf, -np.inf]], axes=[1], cites=(COMPUTES,))
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, 4, np.inf], [5, 6, 7]], axes=[1], cites=(COMPUTES,))
case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [1e-40, -1e-40]], axes=[1], cites=(COMPUTES,))
case("overflow_to_infinity", Tag.EDGE, data=[[3e38, 3e38], [-3e38, -3e38]], axes=[1], cites=(COMPUTES,))
case("int32_limits", Tag.EDGE, data=typed("int32", [INT32.max, INT32.min, 0]), cites=(COMPUTES,))
case("int32_overflow", Tag.EDGE, data=typed("int32", [INT32.max, 1]), unspecified=COMPUTES)
case("int64_exact", Tag.EDGE, data=typed("int64", [INT64.max - 7, 3, 4]), cites=(COMPUTES,))
case("int64_overflow", Tag.EDGE, data=typed("int64", [INT64.min, -1]), unspecified=COMPUTES)
case("uint64_exact", Tag.EDGE, data=typed("uint64", np.array([2**63, 2**63 - 8, 7], np.uint64)), cites=(COMPUTES,))

case("axis_from_back_old", Tag.AXIS, data=ramp(2, 3), axes=[-1], before=11, unspecified=RANGE)
case("axis_too_high_old", Tag.AXIS, data=ramp(2, 3), axes=[2], before=11, rejects=LIST)
case("rank0_old", Tag.AXIS, data=ramp(), axes=[0], before=11, rejects=LIST)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*shape), axes=[axis], rejects=RANGE)
case("noop_axis_too_high", Tag.AXIS, data=ramp(2, 3), axes=[2], noop_with_empty_axes=1, rejects=RANGE)

case("dtypes", Tag.DTYPE, each="T", data=ramp(2, 3), cites=(NUMERIC,))
case("dtypes_old", Tag.DTYPE, each="T", data=ramp(2, 3), cites=(PRECISE,))
case("dtypes_axes", Tag.DTYPE, each="T", data=ramp(2, 3), axes=[1], keepdims=0, cites=(ALONG,))
case("dtypes_noop", Tag.DTYPE, each="T", data=ramp(2, 3), noop_with_empty_axes=1, cites=(NOOP,))
case("outside", Tag.DTYPE, outside="T", data=ramp(2, 3), rejects=Rule.TYPES)
case("axes_int32", data=ramp(2, 3), axes=typed("int32", [1]), since=13, rejects=Rule.TYPES)
case("attribute_axes", Tag.CHANGE, data=ramp(2, 3), stray={"axes": [1]}, since=13, rejects=Rule.ATTRIBUTES)
case("attribute_noop", data=ramp(2, 3), stray={"noop_with_empty_axes": 1}, before=13, rejects=Rule.ATTRIBUTES)
case("no_data", keepdims=1, rejects=Rule.ARITY)
case("no_outputs", data=ramp(2, 3), n=0, rejects=Rule.ARITY)
case("two_outputs", data=ramp(2, 3), n=2, rejects=Rule.ARITY)
