"""Squeeze: the same elements under a shape without dimensions of one.

Versions: 1 (axes as attribute), 11 (negative axes), 13 (axes as input), 21 (types), 23 (axes is 1-D; types), 24 and
25 (types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Ints, Op, Rule, Tag, Version, axes_outside, extremes, ramp
from harness.declare.families.axes_list import Axes

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output, as far as a model that has no answer can have one."""
    data, axes = arguments.get("data"), arguments.get("axes")
    if data is None:
        return None
    return max(0, int(data.ndim) - (data.shape.count(1) if axes is None else np.size(axes)))


SQUEEZE = Op("Squeeze", versions=(1, 11, 13, 21, 23, 24, 25), compare=EXACT, rank=_rank)

REMOVE = SQUEEZE.clause("Remove single-dimensional entries from the shape of a tensor.")
PARAMETER = SQUEEZE.clause("Takes a parameter `axes` with a list of axes to squeeze.", before=13)
INPUT = SQUEEZE.clause("Takes an input `axes` with a list of axes to squeeze.", since=13)
ALL_SINGLE = SQUEEZE.clause(
    "If `axes` is not provided, all the single dimensions will be removed from the shape.",
    note="An empty list is provided and names no dimension, though onnxruntime, and onnx.reference up to version 11, "
    'take it for none; an input named "" is not provided. Says not what a dimension named twice means.',
)
NOT_ONE = SQUEEZE.clause("If an axis is selected with shape entry not equal to one, an error is raised.")
AT_LEAST = SQUEEZE.clause("Tensors with at least max(dims) dimensions.")
AXES = Axes(SQUEEZE, "squeeze", "data")


@SQUEEZE.oracle()
def squeezed(v: Version, data: Array, axes: Ints) -> Array:
    """Return `data` without the dimensions named, or without all of size one."""
    if axes is None:
        return data.reshape([dim for dim in data.shape if dim != 1])
    given = AXES.given(v, axes)
    if AXES.not_negative.in_force(v.since):
        v.require(AXES.not_negative, all(0 <= axis < data.ndim for axis in given))
    else:
        v.require(AXES.range, all(-data.ndim <= axis < data.ndim for axis in given))
    chosen = {axis % data.ndim for axis in given}
    v.require(NOT_ONE, all(data.shape[axis] == 1 for axis in chosen))
    v.silent(ALL_SINGLE, len(chosen) != len(given))
    return data.reshape([dim for axis, dim in enumerate(data.shape) if axis not in chosen])


case = SQUEEZE.case
AXES.cases(ramp(1, 3, 1))

case("default", data=ramp(1, 3, 1, 2), cites=(REMOVE, ALL_SINGLE, AXES.same_data))
case("default_nothing_single", data=ramp(2, 3, 4), cites=(ALL_SINGLE,))
case("default_to_scalar", Tag.EDGE, data=ramp(1, 1, 1), cites=(ALL_SINGLE,))
case("default_scalar", Tag.EDGE, data=ramp(), cites=(ALL_SINGLE,))
case("default_vector_of_one", Tag.EDGE, data=ramp(1), cites=(ALL_SINGLE,))
case("default_dim_zero", Tag.EDGE, data=ramp(1, 0, 3, 1), cites=(ALL_SINGLE,))
case("by_attribute", Tag.CHANGE, data=ramp(1, 3, 1, 2), axes=[2], cites=(PARAMETER,))
case("by_input", Tag.CHANGE, data=ramp(1, 3, 1, 2), axes=[2], cites=(INPUT,))
case("one", data=ramp(1, 3, 1, 2), axes=[0], cites=(REMOVE, AT_LEAST))
case("both", data=ramp(1, 3, 1, 2), axes=[0, 2], cites=(REMOVE,))
case("unordered", data=ramp(1, 3, 1, 1, 2), axes=[3, 0], cites=(REMOVE,))
case("neighbours", data=ramp(3, 1, 1, 1, 2), axes=[1, 2], cites=(REMOVE,))
case("all", Tag.EDGE, data=ramp(1, 1, 1), axes=[0, 1, 2], cites=(REMOVE,))
case("to_scalar", Tag.EDGE, data=ramp(1), axes=[0], cites=(REMOVE,))
case("beside_zero", Tag.EDGE, data=ramp(0, 1, 3), axes=[1], cites=(REMOVE,))
case("many_dimensions", data=ramp(1, 2, 1, 3, 1, 2, 1, 2), axes=[6, 0, 4], cites=(REMOVE,))
for axis in range(4):
    shape = [3, 4, 5]
    shape.insert(axis, 1)
    case(f"axis_{axis}", Tag.AXIS, data=ramp(*shape), axes=[axis], cites=(REMOVE,))
    case(f"axis_minus_{4 - axis}", Tag.AXIS, data=ramp(*shape), axes=[axis - 4], cites=(AXES.back, AXES.range))
case("axes_from_both_ends", Tag.AXIS, data=ramp(1, 3, 1, 2), axes=[-2, 0], cites=(AXES.back,))
case("axes_from_back", Tag.AXIS, data=ramp(1, 3, 1), axes=[-1, -3], cites=(AXES.back,))
case("empty_axes", Tag.EDGE, data=ramp(1, 3, 1), axes=[], cites=(ALL_SINGLE,))
case("empty_axes_nothing_single", Tag.EDGE, data=ramp(2, 3), axes=[], cites=(REMOVE,))
case("empty_axes_scalar", Tag.EDGE, data=ramp(), axes=[], cites=(REMOVE,))

case("not_one", data=ramp(1, 3, 1, 2), axes=[1], rejects=NOT_ONE)
case("not_one_among_others", data=ramp(1, 3, 1, 2), axes=[0, 3], rejects=NOT_ONE)
case("not_one_from_back", data=ramp(1, 3, 1, 2), axes=[-1], since=11, rejects=NOT_ONE)
case("not_one_zero", Tag.EDGE, data=ramp(1, 0), axes=[1], rejects=NOT_ONE)
case("twice", Tag.EDGE, data=ramp(1, 3, 1), axes=[0, 0], unspecified=ALL_SINGLE)
case("twice_from_both_ends", Tag.EDGE, data=ramp(1, 3, 1), axes=[0, -3], since=11, unspecified=ALL_SINGLE)
case("axis_from_back_old", Tag.AXIS, data=ramp(3, 1), axes=[-1], rejects=AXES.not_negative)
case("axis_too_high_old", Tag.AXIS, data=ramp(3, 1), axes=[2], rejects=AXES.not_negative)
case("axis_beyond_old", Tag.AXIS, data=ramp(1, 1), axes=[0, 5], rejects=AXES.not_negative)
case("rank0_old", Tag.AXIS, data=ramp(), axes=[0], rejects=AXES.not_negative)
for name, shape_, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*(1 for _ in shape_)), axes=[axis], rejects=AXES.range)

case("dtypes", Tag.DTYPE, each="T", data=ramp(1, 3, 1, 2), cites=(AXES.all_types,))
case("dtypes_axes", Tag.DTYPE, each="T", data=ramp(1, 3, 1, 2), axes=[2], cites=(AXES.all_types,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(1, 12, 1), axes=[0], cites=(AXES.same_data,))
case("outside", Tag.DTYPE, outside="T", data=ramp(1, 3, 1, 2), rejects=Rule.TYPES)
case("attribute_axes", Tag.CHANGE, data=ramp(1, 3, 1), stray={"axes": [0]}, since=13, rejects=Rule.ATTRIBUTES)
case("attribute_keepdims", data=ramp(1, 3, 1), stray={"keepdims": 0}, rejects=Rule.ATTRIBUTES)
case("no_data", axes=[0], rejects=Rule.ARITY)
case("no_outputs", data=ramp(1, 3, 1), n=0, rejects=Rule.ARITY)
case("two_outputs", data=ramp(1, 3, 1), n=2, rejects=Rule.ARITY)
