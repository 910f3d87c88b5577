"""SequenceInsert: a sequence with one tensor more, at a position.

Version: 11.
"""

from __future__ import annotations

from typing import Any

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed
from harness.declare.families.containers import THREE, Position

INSERT = Op("SequenceInsert", versions=(11,), compare=EXACT)

INSERTS = INSERT.clause("Outputs a tensor sequence that inserts 'tensor' into 'input_sequence' at 'position'.")
SAME_TYPE = INSERT.clause(
    "'tensor' must have the same data type as 'input_sequence'.",
    note="Says nothing of shapes: the tensors of a sequence may differ in theirs.",
)
POSITION = Position(
    INSERT,
    last="n",
    notes={
        "back": "Of the sequence that is given: -1 is the place of its last tensor, which goes behind the new one.",
        "scalar_input": "The official case gives a vector of one element as the position.",
    },
    against=("test_sequence_insert_at_front",),
)
DEFAULT = INSERT.clause("'position' is optional, by default it inserts 'tensor' to the back of 'input_sequence'.")
DEFAULT_INPUT = INSERT.clause("It is optional and default is to insert to the back of the sequence.")


@INSERT.oracle()
def inserted(v: Version, input_sequence: list[Array], tensor: Array, position: Array | None) -> list[Array]:
    """Return the sequence with `tensor` in front of what stood at `position`."""
    v.require(SAME_TYPE, v.dtypes["T"] == v.dtypes["S"])
    if position is None:
        return [*input_sequence, tensor]
    place = POSITION.place(v, position, len(input_sequence))
    return [*input_sequence[:place], tensor, *input_sequence[place:]]


case = INSERT.case

case("back", input_sequence=THREE, tensor=[9, 10, 11], cites=(INSERTS, DEFAULT, DEFAULT_INPUT))
POSITION.within((INSERTS,), tensor=[9, 10, 11])
POSITION.beyond(tensor=[9])
case("into_empty", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), cites=(DEFAULT,))
case("into_empty_at_zero", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=0, cites=(POSITION.range,))
case("into_empty_at_one", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=1, rejects=POSITION.range)
case(
    "into_empty_at_minus_one", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=-1, rejects=POSITION.range_input
)
case("into_one", Tag.EDGE, input_sequence=[ramp(3)], tensor=ramp(2), position=-1, cites=(POSITION.back,))
case("scalar_tensor", Tag.EDGE, input_sequence=THREE, tensor=4, position=1, cites=(INSERTS,))
case("zero_size_tensor", Tag.EDGE, input_sequence=THREE, tensor=ramp(0, 3), position=2, cites=(INSERTS,))
case("into_zero_sizes", Tag.EDGE, input_sequence=[ramp(0), ramp(2, 0)], tensor=ramp(2), position=1, cites=(INSERTS,))
POSITION.no_scalars(tensor=[9])

SEQUENCE = typed("seq({T})", [ramp(2), ramp(3, 2)])
PAIR: dict[str, Any] = {"input_sequence": SEQUENCE, "tensor": ramp(1, 3)}
case("dtypes", Tag.DTYPE, each="T", **PAIR, position=1, cites=(SAME_TYPE,))
case("dtypes_back", Tag.DTYPE, each="T", **PAIR, cites=(DEFAULT,))
case("dtypes_empty", Tag.DTYPE, Tag.EDGE, each="T", input_sequence=typed("seq({T})", []), tensor=extremes(12))
POSITION.types(-2, tensor=[9])
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
