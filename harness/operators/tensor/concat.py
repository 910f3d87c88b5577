"""Concat: tensors one behind the other along an axis.

Versions: 1 (axis 1 by default), 4 (axis required; all types), 11 (negative axis; shapes said), 13 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Int, Op, Rule, Tag, Version, axes, axes_outside, extremes, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(given: Mapping[str, Any]) -> int | None:
    """Return the rank of the first tensor."""
    return np.ndim(given["inputs_0"]) if "inputs_0" in given else None


CONCAT = Op("Concat", versions=(1, 4, 11, 13), compare=EXACT, rank=_rank, widens=False)

CONCATENATE = CONCAT.clause("Concatenate a list of tensors into a single tensor")
WHICH = CONCAT.clause(
    "Which axis to concat on", note="There is no axis of rank or more, and none of a scalar, to concat on."
)
DEFAULT = CONCAT.clause("Default value is 1.", before=4, note="Only the text says so; the schema has no default.")
SAME_SHAPE = CONCAT.clause(
    "All input tensors must have the same shape, except for the dimension size of the axis to concatenate on.",
    since=11,
    note="So an empty vector is nothing to pass over among tensors of another rank. Where shapes are not known before "
    "the run, onnxruntime passes over a tensor without elements whatever its other dimensions are, but counts its "
    "size along the axis: of (2, 3) and (2, 0) it makes (4, 3), the last two rows of which nobody wrote.",
)
BACK = CONCAT.clause("A negative value means counting dimensions from the back.", since=11)
RANGE = CONCAT.clause("Accepted range is [-r, r-1] where r = rank(inputs)..", since=11)
LIST = CONCAT.clause("List of tensors for concatenation")
RESULT = CONCAT.clause("Concatenated tensor")
FLOATS = CONCAT.clause("Constrain output types to float tensors.", before=4)
ANY_TYPE = CONCAT.clause("Constrain output types to any tensor type.", since=4)


@CONCAT.oracle()
def joined(v: Version, inputs: list[Array], axis: Int) -> Array:
    """Return the tensors one behind the other; axis is None where version 1 leaves it out."""
    along, rank = 1 if axis is None else axis, inputs[0].ndim
    v.permit(BACK, along < 0)
    v.require(RANGE if RANGE.in_force(v.since) else WHICH, -rank <= along < rank)
    v.require(SAME_SHAPE, all(item.ndim == rank for item in inputs))
    others = [[dim for index, dim in enumerate(item.shape) if index != along % rank] for item in inputs]
    v.require(SAME_SHAPE, all(dims == others[0] for dims in others))
    return np.concatenate(inputs, along)


case = CONCAT.case
FAR = [[10, 11, 12], [13, 14, 15]]

case("rows", inputs=(ramp(1, 3), FAR), axis=0, cites=(CONCATENATE, WHICH, LIST, RESULT))
case("columns", inputs=(ramp(2, 1), FAR, ramp(2, 4)), axis=1, cites=(CONCATENATE, WHICH))
case("default", Tag.CHANGE, inputs=(ramp(2, 1), FAR), before=4, cites=(DEFAULT,))
case("default_rank4", Tag.CHANGE, inputs=(ramp(2, 1, 3, 4), ramp(2, 5, 3, 4)), before=4, cites=(DEFAULT,))
case("default_vectors", Tag.CHANGE, inputs=(ramp(2), ramp(3)), before=4, rejects=WHICH)
case("no_axis", Tag.CHANGE, inputs=(ramp(2, 1), FAR), since=4, rejects=Rule.ATTRIBUTES)
case("vectors", inputs=(ramp(2), [7], [8, 9, 10]), axis=0, cites=(CONCATENATE,))
case("order", inputs=([9], [1], [5], [3]), axis=0, cites=(CONCATENATE,))
case("twice_the_same", inputs=([1, 2], [1, 2]), axis=0, cites=(CONCATENATE,))
case("many", inputs=tuple([[item]] * (item % 3 + 1) for item in range(20)), axis=0, cites=(LIST,))
case("one", Tag.EDGE, inputs=(ramp(2, 3),), axis=1, cites=(CONCATENATE,))
case("one_vector", Tag.EDGE, inputs=(ramp(3),), axis=0, cites=(CONCATENATE,))
case("one_zero_size", Tag.EDGE, inputs=(ramp(2, 0),), axis=0, cites=(CONCATENATE,))
case("one_axis_too_high_old", Tag.EDGE, inputs=(ramp(2, 3),), axis=2, before=11, rejects=WHICH)
case("one_axis_too_high", Tag.EDGE, inputs=(ramp(2, 3),), axis=2, rejects=RANGE)
case("size_one", Tag.EDGE, inputs=([[1]], [[2]], [[3]]), axis=1, cites=(CONCATENATE,))
case("first_empty", Tag.EDGE, inputs=(ramp(0, 3), FAR), axis=0, cites=(CONCATENATE,))
case("last_empty", Tag.EDGE, inputs=(FAR, ramp(2, 0)), axis=1, cites=(CONCATENATE,))
case("between_empty", Tag.EDGE, inputs=(FAR, ramp(2, 0), ramp(2, 2)), axis=1, cites=(CONCATENATE,))
case("all_empty", Tag.EDGE, inputs=(ramp(0), ramp(0)), axis=0, cites=(CONCATENATE,))
case("beside_zero_size", Tag.EDGE, inputs=(ramp(2, 0), ramp(3, 0)), axis=0, cites=(CONCATENATE,))
case("middle_of_rank5", inputs=(ramp(2, 1, 2, 1, 3), ramp(2, 1, 1, 1, 3)), axis=2, cites=(WHICH,))
for name, shape, axis in axes():
    other = list(shape)
    other[axis] = 2
    tried = (BACK, RANGE, SAME_SHAPE) if axis < 0 else (WHICH,)
    case(name, Tag.AXIS, inputs=(ramp(*shape), ramp(*other), ramp(*shape)), axis=axis, cites=tried)
for name, shape, axis in axes_outside():
    same = (ramp(*shape), ramp(*shape))
    old: dict[str, Any] = {"unspecified": BACK} if axis < 0 else {"rejects": WHICH}
    case(name, Tag.AXIS, inputs=same, axis=axis, rejects=RANGE)
    case(f"{name}_old", Tag.AXIS, inputs=same, axis=axis, before=11, **old)
case("axis_from_back_old", Tag.CHANGE, inputs=(ramp(2, 1), FAR), axis=-1, before=11, unspecified=BACK)
WRONG: dict[str, tuple[Any, ...]] = {
    "other_size": (ramp(1, 3), ramp(1, 4)),
    "other_size_one": (ramp(2, 3), ramp(2, 1)),
    "other_size_zero": (ramp(2, 3), ramp(2, 0)),
    "other_size_of_third": (ramp(2, 3), ramp(1, 3), ramp(2, 4)),
    "other_rank": (ramp(2, 3), ramp(3)),
    "other_rank_more": (ramp(3), ramp(2, 3)),
    "other_rank_empty": (ramp(2, 3), ramp(0)),
    "other_rank_empty_first": (ramp(0), ramp(2, 3)),
    "other_rank_scalar": (ramp(3), 4),
}
for name, wrong in WRONG.items():
    case(name, inputs=wrong, axis=0, rejects=SAME_SHAPE)
    case(f"{name}_old", inputs=wrong, axis=0, before=11, unspecified=SAME_SHAPE)
case("swapped", inputs=(ramp(2, 3), ramp(3, 2)), axis=1, rejects=SAME_SHAPE)

case("dtypes_float", Tag.DTYPE, each="T", inputs=(ramp(3, 2), ramp(3, 1)), axis=1, cites=(FLOATS,))
case("dtypes", Tag.DTYPE, each="T", inputs=(ramp(3, 2), ramp(3, 1)), axis=1, cites=(ANY_TYPE,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", inputs=(ramp(2), extremes(12)), axis=0, cites=(RESULT,))
case("outside", Tag.DTYPE, outside="T", inputs=(ramp(2), ramp(3)), axis=0, since=13, rejects=Rule.TYPES)
case("outside_old", Tag.DTYPE, outside="T", inputs=(ramp(2), ramp(3)), axis=0, before=4, rejects=FLOATS)
case("two_types", Tag.DTYPE, inputs=(ramp(2), typed("double", ramp(3))), axis=0, rejects=Rule.TYPES)
case("two_types_of_integers", Tag.DTYPE, inputs=(typed("int32", [2]), typed("int64", [3])), axis=0, since=4,
     rejects=Rule.TYPES)  # fmt: skip
case("attribute_new_axis", inputs=(ramp(2), ramp(3)), axis=0, stray={"new_axis": 0}, rejects=Rule.ATTRIBUTES)
case("no_inputs", axis=0, rejects=Rule.ARITY)
case("no_outputs", inputs=(ramp(2), ramp(3)), axis=0, n=0, rejects=Rule.ARITY)
case("two_outputs", inputs=(ramp(2), ramp(3)), axis=0, n=2, rejects=Rule.ARITY)
