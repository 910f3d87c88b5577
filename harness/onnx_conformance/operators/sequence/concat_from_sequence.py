# SPDX-License-Identifier: Apache-2.0
"""ConcatFromSequence: join the tensors of a sequence along an existing or a new axis.

    concat_result = ConcatFromSequence(input_sequence, axis, new_axis=0)

Version: 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, held_by, ramp, vary
from onnx_conformance.declare.families.containers import of_types_not_held
from onnx_conformance.declare.sizes import filled, grid, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the first tensor, plus one with a new axis."""
    sequence = arguments.get("input_sequence")
    if not isinstance(sequence, list) or not sequence:
        return None
    return np.ndim(sequence[0]) + (arguments.get("new_axis") == 1)


CONCAT_FROM_SEQUENCE = Op(
    "ConcatFromSequence", versions=(11,), compare=EXACT, rank=_rank, derives={"T": held_by("seq", "S")}
)
CONCAT_FROM_SEQUENCE.example(
    input_sequence=[[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]], [[12, 13, 14], [15, 16, 17]]], axis=1, new_axis=1
)

CONCATENATE = CONCAT_FROM_SEQUENCE.clause(
    "Concatenate a sequence of tensors into a single tensor.",
    note="The text does not define the result for a sequence without tensors.",
)
SAME_SHAPE = CONCAT_FROM_SEQUENCE.clause(
    "All input tensors must have the same shape, except for the dimension size of the axis to concatenate on.",
    note="If the axis is new, no dimension is excepted.",
)
LIKE_CONCATENATE = CONCAT_FROM_SEQUENCE.clause(
    "By default 'new_axis' is 0, the behavior is similar to numpy.concatenate."
)
LIKE_STACK = CONCAT_FROM_SEQUENCE.clause("When 'new_axis' is 1, the behavior is similar to numpy.stack.")
NEW_AXIS = CONCAT_FROM_SEQUENCE.clause(
    "Insert and concatenate on a new axis or not, default 0 means do not insert new axis.",
    note="The text does not define values other than 0 and 1.",
)
AXIS = CONCAT_FROM_SEQUENCE.clause("Which axis to concat on.")
RANGE = CONCAT_FROM_SEQUENCE.clause("Accepted range in `[-r, r - 1]`, where `r` is the rank of input tensors.")
RANGE_NEW_AXIS = CONCAT_FROM_SEQUENCE.clause("When `new_axis` is 1, accepted range is `[-r - 1, r]`.")
ANY_TYPE = CONCAT_FROM_SEQUENCE.clause("Constrain input types to any tensor type.")


@CONCAT_FROM_SEQUENCE.oracle()
def joined(v: Version, input_sequence: list[Array], axis: int, new_axis: int) -> Array:
    """Return the tensors one after the other."""
    v.silent(CONCATENATE, not input_sequence)
    v.silent(NEW_AXIS, new_axis not in {0, 1})
    ranks = {item.ndim for item in input_sequence}
    v.require(SAME_SHAPE, len(ranks) == 1)
    (rank,) = ranks
    if new_axis:
        v.require(RANGE_NEW_AXIS, -rank - 1 <= axis <= rank)
        v.require(SAME_SHAPE, len({item.shape for item in input_sequence}) == 1)
        return np.stack(input_sequence, axis)
    v.require(RANGE, -rank <= axis < rank)
    v.require(SAME_SHAPE, len({tuple(np.delete(item.shape, axis)) for item in input_sequence}) == 1)
    return np.concatenate(input_sequence, axis)


case = CONCAT_FROM_SEQUENCE.case

ROWS = [ramp(1, 3), [[10, 11, 12], [13, 14, 15]]]
COLUMNS = [[[1], [2], [3]], ramp(3, 2), ramp(3, 4)]
ALIKE = [ramp(2, 3), [[20, 21, 22], [23, 24, 25]], ramp(2, 3), ramp(2, 3)]

case("rows", input_sequence=ROWS, axis=0, cites=(CONCATENATE, LIKE_CONCATENATE, AXIS))
case("columns", input_sequence=COLUMNS, axis=1, cites=(CONCATENATE, AXIS))
case("new_axis_zero", input_sequence=ROWS, axis=0, new_axis=0, cites=NEW_AXIS)
case("vectors", input_sequence=[ramp(2), [7], [8, 9, 10]], axis=0, cites=CONCATENATE)
case("many_alike", input_sequence=ALIKE, axis=-1, new_axis=1, cites=LIKE_STACK)
case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], axis=1, cites=CONCATENATE)
case("one_new", Tag.EDGE, input_sequence=[ramp(2, 3)], axis=1, new_axis=1, cites=LIKE_STACK)
case("scalars_new", Tag.EDGE, input_sequence=[5, 6, 7], axis=0, new_axis=1, cites=(LIKE_STACK, RANGE_NEW_AXIS))
case("scalars_new_from_back", Tag.EDGE, input_sequence=[5, 6, 7], axis=-1, new_axis=1, cites=RANGE_NEW_AXIS)
case("zero_size", Tag.EDGE, input_sequence=[ramp(0, 3), ramp(2, 3), ramp(0, 3)], axis=0, cites=SAME_SHAPE)
case("all_zero_size", Tag.EDGE, input_sequence=[ramp(2, 0), ramp(2, 0)], axis=1, cites=SAME_SHAPE)
case("beside_zero_size", Tag.EDGE, input_sequence=[ramp(2, 0), ramp(3, 0)], axis=0, cites=SAME_SHAPE)
case(
    "zero_size_new", Tag.EDGE, input_sequence=[ramp(2, 0), ramp(2, 0), ramp(2, 0)], axis=1, new_axis=1, cites=LIKE_STACK
)

BLOCKS = ([ramp(2, 3, 4), ramp(5, 3, 4)], [ramp(2, 3, 4), ramp(2, 5, 4)], [ramp(2, 3, 4), ramp(2, 3, 5)])
"""Blocks that can be joined along the first, the second and the third axis."""
SAME_BLOCKS = [ramp(2, 3, 4), np.arange(24)[::-1].reshape(2, 3, 4)]
for axis in range(-3, 3):
    name = f"axis_{axis}".replace("-", "minus_")
    case(name, Tag.AXIS, input_sequence=BLOCKS[axis], axis=axis, cites=(RANGE, SAME_SHAPE))
case("axis_3", Tag.AXIS, input_sequence=BLOCKS[0], axis=3, rejects=RANGE)
case("axis_minus_4", Tag.AXIS, input_sequence=BLOCKS[-1], axis=-4, rejects=RANGE)
for axis in range(-4, 4):
    name = f"new_axis_{axis}".replace("-", "minus_")
    case(name, Tag.AXIS, input_sequence=SAME_BLOCKS, axis=axis, new_axis=1, cites=(RANGE_NEW_AXIS, LIKE_STACK))
case("new_axis", Tag.AXIS, input_sequence=ALIKE, axis=vary(too_high=3, too_low=-4), new_axis=1, rejects=RANGE_NEW_AXIS)
case("scalars", Tag.EDGE, input_sequence=[5, 6], axis=0, rejects=RANGE)
case("scalars_new_too_high", Tag.EDGE, input_sequence=[5, 6], axis=1, new_axis=1, rejects=RANGE_NEW_AXIS)

case("none", Tag.EDGE, input_sequence=[], axis=0, unspecified=CONCATENATE)
case("none_new", Tag.EDGE, input_sequence=[], axis=0, new_axis=1, unspecified=CONCATENATE)
case("new_axis", Tag.EDGE, input_sequence=ALIKE, axis=0, new_axis=vary(two=2, minus_one=-1), unspecified=NEW_AXIS)

case("other_size", input_sequence=ROWS, axis=1, rejects=SAME_SHAPE)
case("other_size_new", input_sequence=ROWS, axis=0, new_axis=1, rejects=SAME_SHAPE)
case("other_size_of_third", input_sequence=[ramp(2, 3), ramp(1, 3), ramp(2, 4)], axis=0, rejects=SAME_SHAPE)
case("other_size_one", Tag.EDGE, input_sequence=[ramp(2, 3), ramp(2, 1)], axis=0, rejects=SAME_SHAPE)
case("other_rank", input_sequence=[ramp(2, 3), ramp(3)], axis=0, rejects=SAME_SHAPE)
case("other_rank_zero_size", Tag.EDGE, input_sequence=[ramp(2, 3), ramp(0)], axis=0, rejects=SAME_SHAPE)
case("other_rank_scalar", Tag.EDGE, input_sequence=[ramp(3), 4], axis=0, rejects=SAME_SHAPE)

case("dtypes", Tag.DTYPE, each="S", input_sequence=[ramp(2, 3), ramp(1, 3)], axis=0, cites=ANY_TYPE)
case("dtypes_new", Tag.DTYPE, each="S", input_sequence=[ramp(3), extremes(3)], axis=-1, new_axis=1, cites=ANY_TYPE)
case(
    "dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[ramp(2), extremes(12)], axis=0, cites=CONCATENATE
)
of_types_not_held(CONCAT_FROM_SEQUENCE, axis=0, rejects=ANY_TYPE)

CONCAT_FROM_SEQUENCE.sized(
    "rows",
    grid(count=(3, 33, 100), n=(7, 64, 700)),
    cites=(CONCATENATE, LIKE_CONCATENATE),
    arguments={"input_sequence": sequence("count", lambda index: filled(index % 5 + 1, "n")), "axis": 0},
)
CONCAT_FROM_SEQUENCE.sized(
    "columns",
    grid(count=(3, 33), m=(7,), n=(5,)),
    cites=(CONCATENATE, LIKE_CONCATENATE),
    arguments={"input_sequence": sequence("count", lambda index: filled("m", index % 5 + 1, "n")), "axis": -2},
)
CONCAT_FROM_SEQUENCE.sized(
    "stacked",
    grid(count=(3, 33, 100), n=(7, 64)),
    cites=(CONCATENATE, LIKE_STACK),
    arguments={"input_sequence": sequence("count", lambda _: filled(3, "n")), "axis": 1, "new_axis": 1},
)
