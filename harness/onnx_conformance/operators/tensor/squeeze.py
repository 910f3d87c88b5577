# SPDX-License-Identifier: Apache-2.0
"""Squeeze: remove dimensions of size one.

    squeezed = Squeeze(data, axes=None)

Versions: 1 (axes as attribute, not negative), 11 (axes from the back), 13 (axes as input), 21 (types), 23 (axes is 1-D;
types), 24 and 25 (types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Ints, Op, Tag, Version, axes_outside, extremes, ramp, vary
from onnx_conformance.declare.families.axes_list import AxesList
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output.

    Models without an expected output must state one too.
    """
    data, axes = arguments.get("data"), arguments.get("axes")
    if data is None:
        return None
    return max(0, int(data.ndim) - (data.shape.count(1) if axes is None else np.size(axes)))


SQUEEZE = Op("Squeeze", versions=(1, 11, 13, 21, 23, 24, 25), compare=EXACT, rank=_rank)
SQUEEZE.example(data=ramp(1, 3, 1, 2), axes=[0])

REMOVE = SQUEEZE.clause("Remove single-dimensional entries from the shape of a tensor.")
PARAMETER = SQUEEZE.clause("Takes a parameter `axes` with a list of axes to squeeze.", before=13)
INPUT = SQUEEZE.clause("Takes an input `axes` with a list of axes to squeeze.", since=13)
ALL_SINGLE = SQUEEZE.clause(
    "If `axes` is not provided, all the single dimensions will be removed from the shape.",
    note="An empty list is present and contains no dimension, but onnxruntime, and onnx.reference up to version 11, "
    'treat it as omitted. An input named "" is omitted. The text does not define a dimension that is listed twice.',
)
NOT_ONE = SQUEEZE.clause("If an axis is selected with shape entry not equal to one, an error is raised.")
AT_LEAST = SQUEEZE.clause("Tensors with at least max(dims) dimensions.")
NOT_NEGATIVE = SQUEEZE.clause("List of non-negative integers, indicate the dimensions to squeeze", before=11)
LIST = SQUEEZE.clause(
    "List of integers indicating the dimensions to squeeze.",
    since=11,
    before=23,
    note="The text does not define the rank of the list.",
)
ONE_D = SQUEEZE.clause(
    "1D tensor of integers indicating the dimensions to squeeze.",
    since=23,
    see=("https://github.com/onnx/onnx/issues/6886", "https://github.com/onnx/onnx/pull/6888"),
)
FROM_BACK = SQUEEZE.clause("Negative value means counting dimensions from the back.", since=11)
IN_RANGE = SQUEEZE.clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)
SAME_DATA = SQUEEZE.clause("Reshaped tensor with same data as input.")
AXES = AxesList(SQUEEZE, one_d=ONE_D, any_list=LIST)


@SQUEEZE.oracle()
def squeezed(v: Version, data: Array, axes: Ints) -> Array:
    """Return `data` without the listed dimensions, or without all dimensions of size one."""
    if axes is None:
        return data.reshape([size for size in data.shape if size != 1])
    named = AXES.resolve(v, axes)
    if NOT_NEGATIVE.in_force(v.since):
        v.require(NOT_NEGATIVE, all(0 <= axis < data.ndim for axis in named))
    else:
        v.require(IN_RANGE, all(-data.ndim <= axis < data.ndim for axis in named))
    removed = {axis % data.ndim for axis in named}
    v.require(NOT_ONE, all(data.shape[axis] == 1 for axis in removed))
    v.silent(ALL_SINGLE, len(removed) != len(named))
    return data.reshape([size for axis, size in enumerate(data.shape) if axis not in removed])


case = SQUEEZE.case
AXES.cases(ramp(1, 3, 1))

case("default", data=ramp(1, 3, 1, 2), cites=(REMOVE, ALL_SINGLE, SAME_DATA))
case("default_nothing_single", data=ramp(2, 3, 4), cites=ALL_SINGLE)
case(
    "default",
    Tag.EDGE,
    data=vary(to_scalar=ramp(1, 1, 1), scalar=ramp(), vector_of_one=ramp(1), dim_zero=ramp(1, 0, 3, 1)),
    cites=ALL_SINGLE,
)
case("by_attribute", Tag.CHANGE, data=ramp(1, 3, 1, 2), axes=[2], cites=PARAMETER)
case("by_input", Tag.CHANGE, data=ramp(1, 3, 1, 2), axes=[2], cites=INPUT)
case("one", data=ramp(1, 3, 1, 2), axes=[0], cites=(REMOVE, AT_LEAST))
case("both", data=ramp(1, 3, 1, 2), axes=[0, 2], cites=REMOVE)
case("unordered", data=ramp(1, 3, 1, 1, 2), axes=[3, 0], cites=REMOVE)
case("neighbours", data=ramp(3, 1, 1, 1, 2), axes=[1, 2], cites=REMOVE)
case("all", Tag.EDGE, data=ramp(1, 1, 1), axes=[0, 1, 2], cites=REMOVE)
case("to_scalar", Tag.EDGE, data=ramp(1), axes=[0], cites=REMOVE)
case("beside_zero", Tag.EDGE, data=ramp(0, 1, 3), axes=[1], cites=REMOVE)
case("many_dimensions", data=ramp(1, 2, 1, 3, 1, 2, 1, 2), axes=[6, 0, 4], cites=REMOVE)
for axis, shape in enumerate([(1, 3, 4, 5), (3, 1, 4, 5), (3, 4, 1, 5), (3, 4, 5, 1)]):
    case(f"axis_{axis}", Tag.AXIS, data=ramp(*shape), axes=[axis], cites=REMOVE)
    case(f"axis_minus_{4 - axis}", Tag.AXIS, data=ramp(*shape), axes=[axis - 4], cites=(FROM_BACK, IN_RANGE))
case("axes_from_both_ends", Tag.AXIS, data=ramp(1, 3, 1, 2), axes=[-2, 0], cites=FROM_BACK)
case("axes_from_back", Tag.AXIS, data=ramp(1, 3, 1), axes=[-1, -3], cites=FROM_BACK)
case("empty_axes", Tag.EDGE, data=ramp(1, 3, 1), axes=[], cites=ALL_SINGLE)
case("empty_axes", Tag.EDGE, data=vary(nothing_single=ramp(2, 3), scalar=ramp()), axes=[], cites=REMOVE)

case("not_one", data=ramp(1, 3, 1, 2), axes=[1], rejects=NOT_ONE)
case("not_one_among_others", data=ramp(1, 3, 1, 2), axes=[0, 3], rejects=NOT_ONE)
case("not_one_from_back", data=ramp(1, 3, 1, 2), axes=[-1], since=11, rejects=NOT_ONE)
case("not_one_zero", Tag.EDGE, data=ramp(1, 0), axes=[1], rejects=NOT_ONE)
case("twice", Tag.EDGE, data=ramp(1, 3, 1), axes=[0, 0], unspecified=ALL_SINGLE)
case("twice_from_both_ends", Tag.EDGE, data=ramp(1, 3, 1), axes=[0, -3], since=11, unspecified=ALL_SINGLE)
case("axis_from_back_before_11", Tag.AXIS, data=ramp(3, 1), axes=[-1], rejects=NOT_NEGATIVE)
case("axis_too_high_before_11", Tag.AXIS, data=ramp(3, 1), axes=[2], rejects=NOT_NEGATIVE)
case("axis_beyond_before_11", Tag.AXIS, data=ramp(1, 1), axes=[0, 5], rejects=NOT_NEGATIVE)
case("rank0_before_11", Tag.AXIS, data=ramp(), axes=[0], rejects=NOT_NEGATIVE)
for name, sizes, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*(1 for _ in sizes)), axes=[axis], rejects=IN_RANGE)

case("extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(1, 12, 1), axes=[0], cites=SAME_DATA)

SQUEEZE.sized(
    "pooled",
    grid(b=(2,), c=(17, 1000)),
    each="T",
    cites=REMOVE,
    arguments={"data": filled("b", "c", 1, 1), "axes": [2, -1]},
)
SQUEEZE.sized("all", grid(b=(1,), n=(33, 4097, 65_537)), cites=ALL_SINGLE, arguments={"data": filled("b", 1, "n", 1)})
