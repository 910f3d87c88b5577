"""ArgMax: where the greatest element along an axis stands.

    reduced = ArgMax(data, axis=0, keepdims=1, select_last_index=0)

Versions: 1 (any of equals), 11 (negative axes; nothing empty), 12 (first or last of equals), 13 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, AnyOf, Array, Int, Op, Tag, Version, any_place, axes, axes_outside, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output, as far as a model that has no answer can have one."""
    data = arguments.get("data")
    return None if data is None else max(0, int(data.ndim) - (0 if arguments.get("keepdims", 1) else 1))


ARG_MAX = Op("ArgMax", versions=(1, 11, 12, 13), compare=EXACT, rank=_rank)
ARG_MAX.example(data=[[1, 3, 2], [5, 4, 0]], axis=1, keepdims=0, select_last_index=1)

COMPUTES = ARG_MAX.clause(
    "Computes the indices of the max elements of the input tensor's element along the provided axis.",
    note="Of no elements there is no greatest, nor is NaN spoken of; +0 and -0 are equal. Each of several that are the "
    "greatest is one of the max elements; before version 12 the index of any does.",
    see=(
        "https://github.com/onnx/onnx/issues/4716",
        "https://github.com/microsoft/onnxruntime/issues/10514",
        "https://github.com/apache/tvm/issues/19572",
    ),
)
SAME_RANK = ARG_MAX.clause("The resulting tensor has the same rank as the input if keepdims equals 1.")
PRUNED_BEFORE_11 = ARG_MAX.clause(
    "If keepdims equal 0, then the resulted tensor have the reduced dimension pruned.", before=11
)
PRUNED_BEFORE_13 = ARG_MAX.clause(
    "If keepdims equal 0, then the resulting tensor has the reduced dimension pruned.", since=11, before=13
)
PRUNED = ARG_MAX.clause("If keepdims equals 0, then the resulting tensor has the reduced dimension pruned.", since=13)
KEEP = ARG_MAX.clause(
    "Keep the reduced dimension or not, default 1 means keep reduced dimension.",
    note="Says nothing of values other than 0 and 1.",
)
NOT_EMPTY = ARG_MAX.clause(
    "The input tensor must not be empty.", since=11, before=12, note="Not even where nothing is asked of it."
)
LAST = ARG_MAX.clause(
    "If select_last_index is True (default False), the index of the last occurrence of the max is selected if the max "
    "appears more than once in the input.",
    since=12,
)
FIRST = ARG_MAX.clause("Otherwise the index of the first occurrence is selected.", since=12)
WHETHER = ARG_MAX.clause(
    "Whether to select the last index or the first index if the {name} appears in multiple indices, default is False "
    "(first index).",
    since=12,
    note="Says nothing of values other than 0 and 1.",
)
WHICH_AXIS = ARG_MAX.clause("The axis in which to compute the arg indices.")
RANGE = ARG_MAX.clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)
INTEGER = ARG_MAX.clause("The type of the output tensor is integer.")
INTEGER_OUTPUT = ARG_MAX.clause("Reduced output tensor with integer data type.")


@ARG_MAX.oracle()
def indices(v: Version, data: Array, axis: int, keepdims: int, select_last_index: Int) -> Array | AnyOf:
    """Return the index of the greatest along `axis`; select_last_index is None before version 12."""
    v.permit(RANGE, axis < 0)
    v.require(RANGE if RANGE.in_force(v.since) else WHICH_AXIS, -data.ndim <= axis < data.ndim)
    if NOT_EMPTY.in_force(v.since):
        v.require(NOT_EMPTY, data.size > 0)
    v.silent(COMPUTES, data.shape[axis] == 0)
    v.ordered(COMPUTES, data)
    v.silent(KEEP, keepdims not in {0, 1})
    v.silent(WHETHER, select_last_index not in {None, 0, 1})
    greatest = data == data.max(axis, keepdims=True)
    place = np.indices(data.shape)[axis]
    if select_last_index is None:
        any_index = any_place(np.moveaxis(place, axis, -1), np.moveaxis(greatest, axis, -1))
        kept = (np.expand_dims(index, axis) if keepdims == 1 else index for index in any_index.values)
        return AnyOf(*kept, elementwise=True)
    if select_last_index == 1:
        return np.asarray(place.max(axis, keepdims=keepdims == 1, where=greatest, initial=0))
    return np.asarray(place.min(axis, keepdims=keepdims == 1, where=greatest, initial=data.shape[axis]))


case = ARG_MAX.case

CUBE = (np.arange(60) * 23 % 60).reshape(3, 4, 5)
"""All different, in no order along any axis."""
TIES = [[2, 5, 5, 1, 5], [7, 7, 0, 7, 3], [4, 4, 4, 4, 4]]

case("default", data=CUBE, cites=(COMPUTES, SAME_RANK, INTEGER))
case("kept", data=CUBE, axis=1, keepdims=1, cites=(SAME_RANK, KEEP, INTEGER_OUTPUT))
for suffix, clause in (("_before_11", PRUNED_BEFORE_11), ("_before_13", PRUNED_BEFORE_13), ("", PRUNED)):
    case(f"pruned{suffix}", data=CUBE, axis=1, keepdims=0, cites=(clause, KEEP))
    case(f"pruned_default_axis{suffix}", data=CUBE, keepdims=0, cites=clause)
case("to_scalar", Tag.EDGE, data=[3, 8, 1], keepdims=0, cites=COMPUTES)
case("keepdims_two", Tag.EDGE, data=CUBE, keepdims=2, unspecified=KEEP)
case("first_is_greatest", data=[9, 8, 1], cites=COMPUTES)
case("last_is_greatest", data=[1, 8, 9], cites=COMPUTES)
case("negative", data=[[-3, -1, -2], [-9, -8, -7]], axis=1, cites=COMPUTES)
case("size_one", Tag.EDGE, data=[[7], [3]], axis=1, cites=COMPUTES)
case("one_element", Tag.EDGE, data=[7], cites=COMPUTES)
case("long", data=np.arange(600).reshape(2, 300) * 7 % 601, axis=1, cites=COMPUTES)
case("long_columns", data=np.arange(600).reshape(300, 2) * 7 % 601, axis=0, cites=COMPUTES)
case("infinities", Tag.EDGE, data=[[-np.inf, 3e38, 1], [1, np.inf, 3e38]], axis=1, cites=COMPUTES)
case("subnormals", Tag.EDGE, data=[0, 1e-45, -1e-45, 3e-45], cites=COMPUTES)
case("all_minus_infinity_but_one", Tag.EDGE, data=[-np.inf, -3e38], cites=COMPUTES)
case("nan", Tag.EDGE, data=[1, np.nan, 3], unspecified=COMPUTES)
case("nan_last", Tag.EDGE, data=[1, 3, np.nan], keepdims=0, unspecified=COMPUTES)

WITH_TIES: dict[str, tuple[Tag, dict[str, Any]]] = {
    "rows": (Tag.CHANGE, {"data": TIES, "axis": 1}),
    "pruned": (Tag.CHANGE, {"data": TIES, "axis": -1, "keepdims": 0}),
    "columns": (Tag.CHANGE, {"data": np.array(TIES).T, "axis": 0}),
    "middle": (Tag.CHANGE, {"data": CUBE % 4, "axis": 1}),
    "zeros": (Tag.EDGE, {"data": [[-0.0, 0.0], [0.0, -0.0]], "axis": 1}),
    "infinity": (Tag.EDGE, {"data": [1, np.inf, np.inf, 2]}),
    "minus_infinity": (Tag.EDGE, {"data": [-np.inf, -np.inf, -np.inf]}),
    "long": (Tag.EDGE, {"data": np.arange(200) * 7 % 5}),
    "none": (Tag.BASIC, {"data": CUBE, "axis": 2}),
}
ONES = [[1, 0, 1], [0, 1, 1]]
for name, (tag, call) in WITH_TIES.items():
    case(f"ties_first_unset_{name}", tag, **call, cites=(FIRST, WHETHER))
    case(f"ties_first_{name}", tag, **call, select_last_index=0, cites=(FIRST, WHETHER))
    case(f"ties_last_{name}", tag, **call, select_last_index=1, cites=(LAST, WHETHER))
case("ties_first_unset_dtypes", Tag.DTYPE, each="T", data=ONES, axis=1, cites=(FIRST, WHETHER))
case("ties_first_dtypes", Tag.DTYPE, each="T", data=ONES, axis=1, select_last_index=0, cites=(FIRST, WHETHER))
case("ties_last_dtypes", Tag.DTYPE, each="T", data=ONES, axis=1, select_last_index=1, cites=(LAST, WHETHER))
for name in ("rows", "columns", "middle", "zeros", "infinity", "minus_infinity", "long"):
    tag, call = WITH_TIES[name]
    case(f"ties_any_{name}", tag, **call, before=12, cites=COMPUTES)
case("ties_any_pruned", Tag.CHANGE, data=TIES, axis=1, keepdims=0, before=12, cites=COMPUTES)
case("ties_any_dtypes", Tag.DTYPE, each="T", data=ONES, axis=1, before=12, cites=COMPUTES)
case("select_two", Tag.EDGE, data=TIES, axis=1, select_last_index=2, unspecified=WHETHER)

case("empty", Tag.EDGE, data=ramp(0, 3), axis=0, rejects=NOT_EMPTY)
case("empty_elsewhere", Tag.EDGE, data=ramp(0, 3), axis=1, rejects=NOT_EMPTY)
for suffix, span in (("_before_11", {"before": 11}), ("_since_12", {"since": 12})):
    limits: dict[str, Any] = span
    case(f"empty{suffix}", Tag.EDGE, data=ramp(0, 3), axis=0, **limits, unspecified=COMPUTES)
    case(f"empty_elsewhere{suffix}", Tag.EDGE, data=ramp(0, 3), axis=1, **limits, cites=COMPUTES)
    case(f"empty_pruned{suffix}", Tag.EDGE, data=ramp(2, 3, 0), axis=1, keepdims=0, **limits, cites=SAME_RANK)

for name, shape, axis in axes():
    turned = (np.arange(np.prod(shape)) * 7 % np.prod(shape)).reshape(shape)
    case(name, Tag.AXIS, data=turned, axis=axis, cites=RANGE if axis < 0 else WHICH_AXIS)
    if axis < 0:
        case(f"{name}_pruned", Tag.AXIS, data=turned, axis=axis, keepdims=0, cites=RANGE)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*shape), axis=axis, rejects=RANGE)
case("axis_from_back_before_11", Tag.AXIS, data=CUBE, axis=-1, before=11, unspecified=RANGE)
case("axis_too_high_before_11", Tag.AXIS, data=CUBE, axis=3, before=11, rejects=WHICH_AXIS)
case("rank0_before_11", Tag.AXIS, data=ramp(), axis=0, before=11, rejects=WHICH_AXIS)
case("rank0_default", Tag.AXIS, data=ramp(), since=11, rejects=RANGE)

for type_ in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)):
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    hard = typed(type_, np.array([[high - 1, low, high], [low + 1, low, 0], [low, 1, 0]], type_))
    case(f"limits_{type_}", Tag.EDGE, data=hard, axis=1, cites=COMPUTES)
