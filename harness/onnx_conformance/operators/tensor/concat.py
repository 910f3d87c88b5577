# SPDX-License-Identifier: Apache-2.0
"""Concat: join tensors along an axis.

    concat_result = Concat(*inputs, axis)

Versions: 1 (axis 1 by default), 4 (axis required; all types), 11 (axis from the back; shapes must agree),
13 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Tag, Version, axes, axes_outside, extremes, ramp, vary
from onnx_conformance.declare.sizes import filled, grid, several

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the first tensor."""
    return np.ndim(arguments["inputs_0"]) if "inputs_0" in arguments else None


def _dimensions(shapes: Mapping[str, tuple[int, ...]], attributes: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Name every dimension except those of the axis."""
    axis = attributes.get("axis", 1)
    return {
        name: ["" if place in {axis, axis + len(shape)} else f"size_{place}" for place in range(len(shape))]
        for name, shape in shapes.items()
    }


CONCAT = Op("Concat", versions=(1, 4, 11, 13), compare=EXACT, rank=_rank, dimensions=_dimensions, widens=False)
CONCAT.example(inputs=(ramp(2, 1, 3), ramp(2, 4, 3)), axis=1)

CONCATENATE = CONCAT.clause("Concatenate a list of tensors into a single tensor")
WHICH = CONCAT.clause(
    "Which axis to concat on", note="There is no axis at or above the rank, and a scalar has no axis to concatenate on."
)
DEFAULT = CONCAT.clause(
    "Default value is 1.", before=4, note="Only the text contains this default; the schema has none."
)
SAME_SHAPE = CONCAT.clause(
    "All input tensors must have the same shape, except for the dimension size of the axis to concatenate on.",
    since=11,
    note="Therefore an empty vector among tensors of another rank cannot be skipped. If shapes are not known before "
    "the run, onnxruntime skips a tensor without elements, whatever its other dimensions are, but counts its size "
    "along the axis: for (2, 3) and (2, 0) it returns (4, 3), and nothing writes the last two rows.",
)
BACK = CONCAT.clause("A negative value means counting dimensions from the back.", since=11)
RANGE = CONCAT.clause("Accepted range is [-r, r-1] where r = rank(inputs)..", since=11)
LIST = CONCAT.clause("List of tensors for concatenation")
RESULT = CONCAT.clause("Concatenated tensor")
FLOATS = CONCAT.clause("Constrain output types to float tensors.", before=4)


@CONCAT.oracle()
def joined(v: Version, inputs: list[Array], axis: Int) -> Array:
    """Return the tensors one after the other. axis is None if version 1 omits it."""
    along, rank = 1 if axis is None else axis, inputs[0].ndim
    v.permit(BACK, along < 0)
    v.require(RANGE if RANGE.in_force(v.since) else WHICH, -rank <= along < rank)
    v.require(SAME_SHAPE, all(item.ndim == rank for item in inputs))
    others = {tuple(np.delete(item.shape, along)) for item in inputs}
    v.require(SAME_SHAPE, len(others) == 1)
    return np.concatenate(inputs, along)


case = CONCAT.case
FAR = [[10, 11, 12], [13, 14, 15]]

case("rows", inputs=(ramp(1, 3), FAR), axis=0, cites=(CONCATENATE, WHICH, LIST, RESULT))
case("columns", inputs=(ramp(2, 1), FAR, ramp(2, 4)), axis=1, cites=(CONCATENATE, WHICH))
case("default", Tag.CHANGE, inputs=(ramp(2, 1), FAR), before=4, cites=DEFAULT)
case("default_rank4", Tag.CHANGE, inputs=(ramp(2, 1, 3, 4), ramp(2, 5, 3, 4)), before=4, cites=DEFAULT)
case("default_vectors", Tag.CHANGE, inputs=(ramp(2), ramp(3)), before=4, rejects=WHICH)
case("vectors", inputs=(ramp(2), [7], [8, 9, 10]), axis=0, cites=CONCATENATE)
case("order", inputs=([9], [1], [5], [3]), axis=0, cites=CONCATENATE)
case("twice_the_same", inputs=([1, 2], [1, 2]), axis=0, cites=CONCATENATE)
case("many", inputs=tuple([[item]] * (item % 3 + 1) for item in range(20)), axis=0, cites=LIST)
case("one", Tag.EDGE, inputs=(ramp(2, 3),), axis=1, cites=CONCATENATE)
case("one_vector", Tag.EDGE, inputs=(ramp(3),), axis=0, cites=CONCATENATE)
case("one_zero_size", Tag.EDGE, inputs=(ramp(2, 0),), axis=0, cites=CONCATENATE)
case("one_axis_too_high_before_11", Tag.EDGE, inputs=(ramp(2, 3),), axis=2, before=11, rejects=WHICH)
case("one_axis_too_high", Tag.EDGE, inputs=(ramp(2, 3),), axis=2, rejects=RANGE)
case("size_one", Tag.EDGE, inputs=([[1]], [[2]], [[3]]), axis=1, cites=CONCATENATE)
case("first_empty", Tag.EDGE, inputs=(ramp(0, 3), FAR), axis=0, cites=CONCATENATE)
case("last_empty", Tag.EDGE, inputs=(FAR, ramp(2, 0)), axis=1, cites=CONCATENATE)
case("between_empty", Tag.EDGE, inputs=(FAR, ramp(2, 0), ramp(2, 2)), axis=1, cites=CONCATENATE)
case("all_empty", Tag.EDGE, inputs=(ramp(0), ramp(0)), axis=0, cites=CONCATENATE)
case("beside_zero_size", Tag.EDGE, inputs=(ramp(2, 0), ramp(3, 0)), axis=0, cites=CONCATENATE)
case("middle_of_rank5", inputs=(ramp(2, 1, 2, 1, 3), ramp(2, 1, 1, 1, 3)), axis=2, cites=WHICH)
for name, shape, axis in axes():
    other = list(shape)
    other[axis] = 2
    tried = (BACK, RANGE, SAME_SHAPE) if axis < 0 else (WHICH,)
    case(name, Tag.AXIS, inputs=(ramp(*shape), ramp(*other), ramp(*shape)), axis=axis, cites=tried)
for name, shape, axis in axes_outside():
    same = (ramp(*shape), ramp(*shape))
    case(name, Tag.AXIS, inputs=same, axis=axis, rejects=RANGE)
    if axis < 0:
        case(f"{name}_before_11", Tag.AXIS, inputs=same, axis=axis, before=11, unspecified=BACK)
    else:
        case(f"{name}_before_11", Tag.AXIS, inputs=same, axis=axis, before=11, rejects=WHICH)
case("axis_from_back_before_11", Tag.CHANGE, inputs=(ramp(2, 1), FAR), axis=-1, before=11, unspecified=BACK)
OTHER_SHAPES = vary(
    size=(ramp(1, 3), ramp(1, 4)),
    size_one=(ramp(2, 3), ramp(2, 1)),
    size_zero=(ramp(2, 3), ramp(2, 0)),
    size_of_third=(ramp(2, 3), ramp(1, 3), ramp(2, 4)),
    rank=(ramp(2, 3), ramp(3)),
    rank_more=(ramp(3), ramp(2, 3)),
    rank_empty=(ramp(2, 3), ramp(0)),
    rank_empty_first=(ramp(0), ramp(2, 3)),
    rank_scalar=(ramp(3), 4),
)
case("other", inputs=OTHER_SHAPES, axis=0, rejects=SAME_SHAPE)
case("other_shape_before_11", inputs=OTHER_SHAPES, axis=0, before=11, unspecified=SAME_SHAPE)
case("swapped", inputs=(ramp(2, 3), ramp(3, 2)), axis=1, rejects=SAME_SHAPE)

case("extremes", Tag.DTYPE, Tag.EDGE, each="T", inputs=(ramp(2), extremes(12)), axis=0, cites=RESULT)
case("outside_before_4", Tag.DTYPE, outside="T", inputs=(ramp(2), ramp(3)), axis=0, before=4, rejects=FLOATS)

CONCAT.sized(
    "vectors",
    grid(m=(1, 17), n=(7, 16, 1025)),
    each="T",
    cites=CONCATENATE,
    arguments={"inputs": (filled("m"), filled("n")), "axis": 0},
)
CONCAT.sized(
    "last",
    grid(r=(17,), a=(1, 7, 16), b=(3, 8, 33), c=(64,)),
    each="T",
    cites=(CONCATENATE, BACK),
    arguments={"inputs": (filled("r", "a"), filled("r", "b"), filled("r", "c")), "axis": -1},
)
CONCAT.sized(
    "rows",
    grid(a=(1, 8), b=(5, 33), n=(3, 16, 65)),
    cites=CONCATENATE,
    arguments={"inputs": (filled("a", "n"), filled("b", "n")), "axis": 0},
)
CONCAT.sized(
    "channels",
    grid(b=(2,), c=(3, 16), d=(5, 8), h=(7,), w=(7, 16)),
    each="T",
    cites=CONCATENATE,
    arguments={"inputs": (filled("b", "c", "h", "w"), filled("b", "d", "h", "w")), "axis": 1},
)
CONCAT.sized(
    "cache",
    grid(b=(2,), h=(3,), past=(1, 15, 64, 129), new=(1,), d=(8, 64)),
    cites=(CONCATENATE, BACK),
    arguments={"inputs": (filled("b", "h", "past", "d"), filled("b", "h", "new", "d")), "axis": -2},
)
CONCAT.sized(
    "many",
    grid(count=(9, 33, 100), b=(3,), n=(3, 16)),
    each="T",
    cites=CONCATENATE,
    arguments={"inputs": several("count", lambda index: filled("b", index % 4 + 1, "n")), "axis": 1},
)
CONCAT.sized(
    "large",
    grid(m=(513,), n=(129, 200)),
    cites=CONCATENATE,
    arguments={"inputs": (filled("m", 3), filled("m", "n"), filled("m", "n")), "axis": 1},
)
