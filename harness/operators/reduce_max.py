"""ReduceMax: the largest element along some axes.

Versions: 1 (axes as attribute), 11 (range of axes), 12 (8 bit; silent on rank 0 and empty sets), 13 (says them again),
18 (axes as input, noop_with_empty_axes), 20 (Boolean).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Int, Ints, Op, Rule, Tag, Version, axes_outside, extremes, ramp, typed

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


MAX = Op("ReduceMax", versions=(1, 11, 12, 13, 18, 20), compare=EXACT, rank=_rank)

ALONG = MAX.clause("along the provided axes.", note="Says not what an axis named twice means.")
COMPUTES = MAX.clause(
    "Computes the max of the input tensor's element",
    note="Says not whether a NaN is larger than a number, nor which zero is the larger one.",
)
RANK_OLD = MAX.clause(
    "has the same rank as the input if keepdims equals 1. If keepdims equal 0, then the resulted tensor", before=13
)
RANK = MAX.clause(
    "has the same rank as the input if `keepdims` equals 1. If `keepdims` equals 0, then the resulting tensor", since=13
)
KEEP = MAX.clause("Keep the reduced dimension or not, default 1 means keep reduced dimension.")
EMPTY_FIRST = MAX.clause(
    "have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields minus infinity (if supported by the datatype) or the minimum value of the data type otherwise.",
    before=12,
)
EMPTY = MAX.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields minus infinity (if supported by the datatype) or the minimum value of the data type otherwise.",
    since=13,
    note="Version 12 says neither.",
)
LIST = MAX.clause(
    "A list of integers, along which to reduce. The default is to reduce over all the dimensions of the input tensor.",
    before=18,
    note="Says not whether an empty list is the default or names no dimension.",
)
EMPTY_AXES = MAX.clause(
    "Optional input list of integers, along which to reduce. The default is to reduce over empty axes. When axes is "
    "empty (either not provided or explicitly empty), behavior depends on 'noop_with_empty_axes': reduction over all "
    "axes if 'noop_with_empty_axes' is false, and reduction over the empty set of axes when 'noop_with_empty_axes' is "
    "true.",
    since=18,
)
NOOP = MAX.clause(
    "If false (default), reduction happens over all axes (similar to the case when `axis=None` in numpy). If true, "
    "reduction happens over an empty set of axes (similar to the case when `axis=()` in numpy). Note that reduction "
    "over an empty set of axes means that the reduction step behaves like a no-op (identity function)",
    since=18,
)
RANGE = MAX.clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)
BOOLEAN = MAX.clause(
    "If the input data type is Boolean, the comparison should consider `False < True`.", since=20, result=True
)


def _least(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a value of the type
    """Return minus infinity, or the minimum of a type that has none."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


@MAX.oracle()
def reduced(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Array:
    """Return the largest along `axes`; noop_with_empty_axes is None before version 18."""
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
    largest = np.asarray(data.max(gone, keepdims=keepdims == 1, initial=_least(data.dtype)))
    if gone and data.dtype.kind == "f":
        v.silent(COMPUTES, bool(np.isnan(largest).any()))
        zeros = np.signbit(data[data == 0])
        v.silent(COMPUTES, bool((largest == 0).any() and zeros.any() and not zeros.all()))
    return largest


case = MAX.case

WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
LONG = np.cos(np.arange(3000.0))

case("default_kept", Tag.CHANGE, data=WAVES, noop_with_empty_axes=0, cites=(EMPTY_AXES, NOOP, KEEP))
case("default_kept_old", Tag.CHANGE, data=WAVES, cites=(LIST, KEEP))
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
case("empty_axes_old", Tag.CHANGE, data=ramp(2, 3, 4), axes=[], before=18, unspecified=LIST)
case("keepdims_two", Tag.EDGE, data=ramp(2, 3), keepdims=2, unspecified=KEEP)
case("twice", Tag.EDGE, data=ramp(2, 3), axes=[1, 1], unspecified=ALONG)
case("twice_from_both_ends", Tag.EDGE, data=ramp(2, 3), axes=[1, -1], since=11, unspecified=ALONG)
case("axes_scalar", Tag.EDGE, data=ramp(2, 3), axes=1, since=18, unspecified=EMPTY_AXES)
case("axes_matrix", Tag.EDGE, data=ramp(2, 3), axes=[[0, 1]], since=18, unspecified=EMPTY_AXES)

for suffix, clause in (("", EMPTY), ("_first", EMPTY_FIRST)):
    case(f"scalar{suffix}", Tag.EDGE, data=3, cites=(clause,))
    case(f"empty_set{suffix}", Tag.EDGE, data=ramp(2, 0, 4), axes=[1], cites=(clause,))
    case(f"empty_set_pruned{suffix}", Tag.EDGE, data=ramp(2, 0, 4), axes=[1], keepdims=0, cites=(clause,))
    case(f"empty_set_all{suffix}", Tag.EDGE, data=ramp(0, 3), keepdims=0, cites=(clause,))
    case(f"dtypes_empty_set{suffix}", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=(clause,))
case("scalar_silent", Tag.CHANGE, data=3, since=12, before=13, unspecified=EMPTY)
case("empty_set_silent", Tag.CHANGE, data=ramp(2, 0), axes=[1], since=12, before=13, unspecified=EMPTY)
case("other_zero", Tag.EDGE, data=ramp(0, 3), axes=[1], cites=(ALONG,))
case("other_zero_pruned", Tag.EDGE, data=ramp(2, 3, 0), axes=[1], keepdims=0, cites=(ALONG,))
case("size_one", Tag.EDGE, data=WAVES[:, :1], axes=[1], cites=(ALONG,))
case("long", Tag.EDGE, data=LONG.reshape(3, 1000), axes=[1], cites=(COMPUTES,))
case("long_columns", Tag.EDGE, data=LONG.reshape(1000, 3), axes=[0], cites=(COMPUTES,))
case("negative", Tag.EDGE, data=[[-3, -1, -2], [-5, -7, -6]], axes=[1], cites=(COMPUTES,))
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [-np.inf, -np.inf]], axes=[1], cites=(COMPUTES,))
case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [-1e-40, -1e-45]], axes=[1], cites=(COMPUTES,))
case("minus_zeros", Tag.EDGE, data=[[-0.0, -0.0], [-1.0, -0.0]], axes=[1], cites=(COMPUTES,))
case("both_zeros", Tag.EDGE, data=[[-0.0, 0.0], [0.0, -0.0]], axes=[1], unspecified=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, np.nan, np.inf], [5, 6, np.nan]], axes=[1], unspecified=COMPUTES)
case("nan_all", Tag.EDGE, data=[np.nan, np.nan], unspecified=COMPUTES)
case("int64_neighbours", Tag.EDGE, data=typed("int64", [2**60, 2**60 + 1, 2**60 - 1]), cites=(COMPUTES,))
case("uint64_high", Tag.EDGE, data=typed("uint64", np.array([1, 2**63 + 1, 2**63], np.uint64)), cites=(COMPUTES,))
case("dtypes_extremes_noop", Tag.EDGE, each="T", data=extremes(12), noop_with_empty_axes=1, cites=(NOOP,))

BOOLS = typed("bool", [[False, True, False], [False, False, False], [True, True, True]])
case("boolean", Tag.CHANGE, data=BOOLS, axes=[1], cites=(BOOLEAN,))
case("boolean_columns", Tag.CHANGE, data=BOOLS, axes=[0], keepdims=0, cites=(BOOLEAN,))
case("boolean_all", Tag.CHANGE, data=BOOLS, keepdims=0, cites=(BOOLEAN,))

case("axis_from_back_old", Tag.AXIS, data=ramp(2, 3), axes=[-1], before=11, unspecified=RANGE)
case("axis_too_high_old", Tag.AXIS, data=ramp(2, 3), axes=[2], before=11, rejects=LIST)
case("rank0_old", Tag.AXIS, data=ramp(), axes=[0], before=11, rejects=LIST)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*shape), axes=[axis], rejects=RANGE)
case("noop_axis_too_high", Tag.AXIS, data=ramp(2, 3), axes=[2], noop_with_empty_axes=1, rejects=RANGE)

case("dtypes", Tag.DTYPE, each="T", data=ramp(2, 3), cites=(KEEP,))
case("dtypes_axes", Tag.DTYPE, each="T", data=ramp(2, 3), axes=[1], keepdims=0, cites=(ALONG,))
case("dtypes_noop", Tag.DTYPE, each="T", data=ramp(2, 3), noop_with_empty_axes=1, cites=(NOOP,))
case("outside", Tag.DTYPE, outside="T", data=ramp(2, 3), rejects=Rule.TYPES)
case("axes_int32", data=ramp(2, 3), axes=typed("int32", [1]), since=18, rejects=Rule.TYPES)
case("attribute_axes", Tag.CHANGE, data=ramp(2, 3), stray={"axes": [1]}, since=18, rejects=Rule.ATTRIBUTES)
case("attribute_noop", data=ramp(2, 3), stray={"noop_with_empty_axes": 1}, before=18, rejects=Rule.ATTRIBUTES)
case("no_data", keepdims=1, rejects=Rule.ARITY)
case("no_outputs", data=ramp(2, 3), n=0, rejects=Rule.ARITY)
case("two_outputs", data=ramp(2, 3), n=2, rejects=Rule.ARITY)
