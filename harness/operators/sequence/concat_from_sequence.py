"""ConcatFromSequence: the tensors of a sequence as one, along an axis that is there or a new one.

Version: 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, held_by, ramp, typed
from harness.declare.families.containers import NOT_HELD

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(given: Mapping[str, Any]) -> int | None:
    """Return the rank of the first tensor, and one more with a new axis."""
    sequence = given.get("input_sequence")
    return np.ndim(sequence[0]) + (given.get("new_axis") == 1) if isinstance(sequence, list) and sequence else None


CFS = Op("ConcatFromSequence", versions=(11,), compare=EXACT, rank=_rank, derives={"T": held_by("seq", "S")})

CONCATENATE = CFS.clause(
    "Concatenate a sequence of tensors into a single tensor.", note="Says nothing of a sequence that has none."
)
SAME_SHAPE = CFS.clause(
    "All input tensors must have the same shape, except for the dimension size of the axis to concatenate on.",
    note="Where the axis is new, no dimension is excepted.",
)
LIKE_CONCATENATE = CFS.clause("By default 'new_axis' is 0, the behavior is similar to numpy.concatenate.")
LIKE_STACK = CFS.clause("When 'new_axis' is 1, the behavior is similar to numpy.stack.")
NEW_AXIS = CFS.clause(
    "Insert and concatenate on a new axis or not, default 0 means do not insert new axis.",
    note="Says nothing of values other than 0 and 1.",
)
WHICH = CFS.clause("Which axis to concat on.")
RANGE = CFS.clause("Accepted range in `[-r, r - 1]`, where `r` is the rank of input tensors.")
RANGE_NEW = CFS.clause("When `new_axis` is 1, accepted range is `[-r - 1, r]`.")
ANY_TYPE = CFS.clause("Constrain input types to any tensor type.")


@CFS.oracle()
def joined(v: Version, input_sequence: list[Array], axis: int, new_axis: int) -> Array:
    """Return the tensors one behind the other."""
    v.silent(CONCATENATE, not input_sequence)
    v.silent(NEW_AXIS, new_axis not in {0, 1})
    rank = input_sequence[0].ndim
    v.require(SAME_SHAPE, all(item.ndim == rank for item in input_sequence))
    if new_axis:
        v.require(RANGE_NEW, -rank - 1 <= axis <= rank)
        v.require(SAME_SHAPE, all(item.shape == input_sequence[0].shape for item in input_sequence))
        return np.stack(input_sequence, axis)
    v.require(RANGE, -rank <= axis < rank)
    others = [[dim for index, dim in enumerate(item.shape) if index != axis % rank] for item in input_sequence]
    v.require(SAME_SHAPE, all(dims == others[0] for dims in others))
    return np.concatenate(input_sequence, axis)


case = CFS.case

ROWS = [ramp(1, 3), [[10, 11, 12], [13, 14, 15]]]
COLUMNS = [[[1], [2], [3]], ramp(3, 2), ramp(3, 4)]
ALIKE = [ramp(2, 3), [[20, 21, 22], [23, 24, 25]], ramp(2, 3), ramp(2, 3)]

case("rows", input_sequence=ROWS, axis=0, cites=(CONCATENATE, LIKE_CONCATENATE, WHICH))
case("columns", input_sequence=COLUMNS, axis=1, cites=(CONCATENATE, WHICH))
case("new_axis_zero", input_sequence=ROWS, axis=0, new_axis=0, cites=(NEW_AXIS,))
case("vectors", input_sequence=[ramp(2), [7], [8, 9, 10]], axis=0, cites=(CONCATENATE,))
case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], axis=1, cites=(CONCATENATE,))
case("one_new", Tag.EDGE, input_sequence=[ramp(2, 3)], axis=1, new_axis=1, cites=(LIKE_STACK,))
case("scalars_new", Tag.EDGE, input_sequence=[5, 6, 7], axis=0, new_axis=1, cites=(LIKE_STACK, RANGE_NEW))
case("scalars_new_from_back", Tag.EDGE, input_sequence=[5, 6, 7], axis=-1, new_axis=1, cites=(RANGE_NEW,))
case("zero_size", Tag.EDGE, input_sequence=[ramp(0, 3), ramp(2, 3), ramp(0, 3)], axis=0, cites=(SAME_SHAPE,))
case("all_zero_size", Tag.EDGE, input_sequence=[ramp(2, 0), ramp(2, 0)], axis=1, cites=(SAME_SHAPE,))
case("beside_zero_size", Tag.EDGE, input_sequence=[ramp(2, 0), ramp(3, 0)], axis=0, cites=(SAME_SHAPE,))
case("zero_size_new", Tag.EDGE, input_sequence=[ramp(2, 0), ramp(2, 0), ramp(2, 0)], axis=1, new_axis=1)
for axis in range(-4, 4):
    name = f"{axis}".replace("-", "minus_")
    sizes = [[2, 3, 4], [2, 3, 4]]
    sizes[1][axis % 3] = 5
    blocks = [ramp(*size) for size in sizes]
    same = [ramp(2, 3, 4), np.arange(24)[::-1].reshape(2, 3, 4)]
    decided: dict[str, Any] = {"rejects": RANGE} if axis in {-4, 3} else {"cites": (RANGE, SAME_SHAPE)}
    case(f"axis_{name}", Tag.AXIS, input_sequence=blocks, axis=axis, **decided)
    case(f"new_axis_{name}", Tag.AXIS, input_sequence=same, axis=axis, new_axis=1, cites=(RANGE_NEW, LIKE_STACK))
case("new_axis_too_high", Tag.AXIS, input_sequence=ALIKE, axis=3, new_axis=1, rejects=RANGE_NEW)
case("new_axis_too_low", Tag.AXIS, input_sequence=ALIKE, axis=-4, new_axis=1, rejects=RANGE_NEW)
case("scalars", Tag.EDGE, input_sequence=[5, 6], axis=0, rejects=RANGE)
case("scalars_new_too_high", Tag.EDGE, input_sequence=[5, 6], axis=1, new_axis=1, rejects=RANGE_NEW)
case("many_alike", input_sequence=ALIKE, axis=-1, new_axis=1, cites=(LIKE_STACK,))
case("none", Tag.EDGE, input_sequence=[], axis=0, unspecified=CONCATENATE)
case("none_new", Tag.EDGE, input_sequence=[], axis=0, new_axis=1, unspecified=CONCATENATE)
case("new_axis_two", Tag.EDGE, input_sequence=ALIKE, axis=0, new_axis=2, unspecified=NEW_AXIS)
case("new_axis_minus_one", Tag.EDGE, input_sequence=ALIKE, axis=0, new_axis=-1, unspecified=NEW_AXIS)
case("other_size", input_sequence=ROWS, axis=1, rejects=SAME_SHAPE)
case("other_size_new", input_sequence=ROWS, axis=0, new_axis=1, rejects=SAME_SHAPE)
case("other_size_of_third", input_sequence=[ramp(2, 3), ramp(1, 3), ramp(2, 4)], axis=0, rejects=SAME_SHAPE)
case("other_size_one", Tag.EDGE, input_sequence=[ramp(2, 3), ramp(2, 1)], axis=0, rejects=SAME_SHAPE)
case("other_rank", input_sequence=[ramp(2, 3), ramp(3)], axis=0, rejects=SAME_SHAPE)
case("other_rank_zero_size", Tag.EDGE, input_sequence=[ramp(2, 3), ramp(0)], axis=0, rejects=SAME_SHAPE)
case("other_rank_scalar", Tag.EDGE, input_sequence=[ramp(3), 4], axis=0, rejects=SAME_SHAPE)

PAIR = [ramp(2, 3), ramp(1, 3)]
case("dtypes", Tag.DTYPE, each="S", input_sequence=PAIR, axis=0, cites=(ANY_TYPE,))
case("dtypes_new", Tag.DTYPE, each="S", input_sequence=[ramp(3), extremes(3)], axis=-1, new_axis=1, cites=(ANY_TYPE,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[ramp(2), extremes(12)], axis=0)
for name in NOT_HELD:
    sequence = typed(f"seq(tensor({name}))", PAIR)
    case(f"outside_{name}", Tag.DTYPE, input_sequence=sequence, axis=0, rejects=ANY_TYPE)
case("of_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(2, 3)), axis=0, rejects=Rule.TYPES)
case("no_sequence", axis=0, rejects=Rule.ARITY)
case("no_axis", input_sequence=ROWS, rejects=Rule.ATTRIBUTES)
case("no_outputs", input_sequence=ROWS, axis=0, n=0, rejects=Rule.ARITY)
case("two_outputs", input_sequence=ROWS, axis=0, n=2, rejects=Rule.ARITY)
case("attribute_keepdims", input_sequence=ROWS, axis=0, stray={"keepdims": 1}, rejects=Rule.ATTRIBUTES)
