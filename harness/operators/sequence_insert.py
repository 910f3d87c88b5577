"""SequenceInsert: a sequence with one tensor more, at a position.

Version: 11.
"""

from __future__ import annotations

from typing import Any

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed

INSERT = Op("SequenceInsert", versions=(11,), compare=EXACT)

INSERTS = INSERT.clause("Outputs a tensor sequence that inserts 'tensor' into 'input_sequence' at 'position'.")
SAME_TYPE = INSERT.clause(
    "'tensor' must have the same data type as 'input_sequence'.",
    note="Says nothing of shapes: the tensors of a sequence may differ in theirs.",
)
RANGE = INSERT.clause(
    "Accepted range for 'position' is in `[-n, n]`, where `n` is the number of tensors in 'input_sequence'."
)
BACK = INSERT.clause(
    "Negative value means counting positions from the back.",
    note="Of the sequence that is given: -1 is the place of its last tensor, which goes behind the new one.",
)
DEFAULT = INSERT.clause("'position' is optional, by default it inserts 'tensor' to the back of 'input_sequence'.")
DEFAULT_INPUT = INSERT.clause("It is optional and default is to insert to the back of the sequence.")
RANGE_INPUT = INSERT.clause("Accepted range in `[-n, n]`, where `n` is the number of tensors in 'input_sequence'.")
BOUNDS = INSERT.clause("It is an error if any of the index values are out of bounds.")
SCALAR = INSERT.clause("Constrain position to integral tensor. It must be a scalar(tensor of empty shape).")
SCALAR_INPUT = INSERT.clause(
    "It must be a scalar(tensor of empty shape).",
    note="The official case gives a vector of one element as the position.",
    against=("test_sequence_insert_at_front",),
)


@INSERT.oracle()
def inserted(v: Version, input_sequence: list[Array], tensor: Array, position: Array | None) -> list[Array]:
    """Return the sequence with `tensor` in front of what stood at `position`."""
    n = len(input_sequence)
    v.require(SAME_TYPE, v.dtypes["T"] == v.dtypes["S"])
    if position is None:
        return [*input_sequence, tensor]
    v.require(SCALAR_INPUT, position.ndim == 0)
    v.require(RANGE, int(position) <= n)
    v.require(RANGE_INPUT, int(position) >= -n)
    place = int(position) % n if position < 0 else int(position)
    return [*input_sequence[:place], tensor, *input_sequence[place:]]


case = INSERT.case

THREE = [ramp(2), [[5, 6, 7]], 8]
"""No two of one shape."""

case("back", input_sequence=THREE, tensor=[9, 10, 11], cites=(INSERTS, DEFAULT, DEFAULT_INPUT))
for place in range(-3, 4):
    name = f"position_{place}".replace("-", "minus_")
    cited = (INSERTS, RANGE_INPUT, *((BACK,) if place < 0 else ()))
    case(name, Tag.AXIS, input_sequence=THREE, tensor=[9, 10, 11], position=place, cites=cited)
case("position_too_high", Tag.AXIS, input_sequence=THREE, tensor=[9], position=4, rejects=RANGE, cites=(BOUNDS,))
case("position_too_low", Tag.AXIS, input_sequence=THREE, tensor=[9], position=-4, rejects=RANGE_INPUT, cites=(BOUNDS,))
case("into_empty", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), cites=(DEFAULT,))
case("into_empty_at_zero", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=0, cites=(RANGE,))
case("into_empty_at_one", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=1, rejects=RANGE)
case("into_empty_at_minus_one", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=-1, rejects=RANGE_INPUT)
case("into_one", Tag.EDGE, input_sequence=[ramp(3)], tensor=ramp(2), position=-1, cites=(BACK,))
case("scalar_tensor", Tag.EDGE, input_sequence=THREE, tensor=4, position=1, cites=(INSERTS,))
case("zero_size_tensor", Tag.EDGE, input_sequence=THREE, tensor=ramp(0, 3), position=2, cites=(INSERTS,))
case("into_zero_sizes", Tag.EDGE, input_sequence=[ramp(0), ramp(2, 0)], tensor=ramp(2), position=1, cites=(INSERTS,))
case("position_vector", Tag.EDGE, input_sequence=THREE, tensor=[9], position=[1], rejects=SCALAR_INPUT, cites=(SCALAR,))
case("position_matrix", Tag.EDGE, input_sequence=THREE, tensor=[9], position=[[1]], rejects=SCALAR_INPUT)

SEQUENCE = typed("seq({T})", [ramp(2), ramp(3, 2)])
PAIR: dict[str, Any] = {"input_sequence": SEQUENCE, "tensor": ramp(1, 3)}
case("dtypes", Tag.DTYPE, each="T", **PAIR, position=1, cites=(SAME_TYPE,))
case("dtypes_back", Tag.DTYPE, each="T", **PAIR, cites=(DEFAULT,))
case("dtypes_empty", Tag.DTYPE, Tag.EDGE, each="T", input_sequence=typed("seq({T})", []), tensor=extremes(12))
case("position_dtypes", Tag.DTYPE, each="I", input_sequence=THREE, tensor=[9], position=1, cites=(SCALAR,))
case("outside", Tag.DTYPE, outside="T", **PAIR, rejects=Rule.TYPES)
case("position_outside", Tag.DTYPE, outside="I", input_sequence=THREE, tensor=[9], position=1, rejects=Rule.TYPES)
case("other_type", Tag.DTYPE, input_sequence=THREE, tensor=typed("double", [9]), rejects=SAME_TYPE)
case("other_type_into_empty", Tag.EDGE, input_sequence=[], tensor=typed("int64", [9]), rejects=SAME_TYPE)
case("into_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(3)), tensor=ramp(2), rejects=Rule.TYPES)
case("no_sequence", tensor=ramp(2), position=0, rejects=Rule.ARITY)
case("no_tensor", input_sequence=THREE, position=0, rejects=Rule.ARITY)
case("no_outputs", input_sequence=THREE, tensor=[9], n=0, rejects=Rule.ARITY)
case("two_outputs", input_sequence=THREE, tensor=[9], n=2, rejects=Rule.ARITY)
case("attribute_position", input_sequence=THREE, tensor=[9], stray={"position": 1}, rejects=Rule.ATTRIBUTES)
