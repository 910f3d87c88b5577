"""SequenceAt: one tensor of a sequence, by its position.

Version: 11.
"""

from __future__ import annotations

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, held_by, ramp, typed
from harness.declare.families.containers import THREE, Position, of_types_not_held

AT = Op("SequenceAt", versions=(11,), compare=EXACT, derives={"T": held_by("seq", "S")})

COPY = AT.clause("Outputs a tensor copy from the tensor at 'position' in 'input_sequence'.")
POSITION = Position(AT, last="n - 1", notes={"range": "A sequence of no tensors has no position."})


@AT.oracle()
def at(v: Version, input_sequence: list[Array], position: Array) -> Array:
    """Return the tensor at `position`."""
    return input_sequence[POSITION.place(v, position, len(input_sequence))]


case = AT.case

POSITION.within((COPY,))
POSITION.beyond()
case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], position=0, cites=(COPY,))
case("one_from_back", Tag.EDGE, input_sequence=[ramp(2, 3)], position=-1, cites=(POSITION.back,))
case("equal_shapes", input_sequence=[[1, 2], [3, 4], [5, 6]], position=1, cites=(COPY,))
case("zero_size", Tag.EDGE, input_sequence=[ramp(2), ramp(0, 3)], position=1, cites=(COPY,))
case("rank5", input_sequence=[8, ramp(2, 1, 3, 1, 2)], position=-1, cites=(COPY,))
POSITION.of_none()
POSITION.no_scalars()

case("dtypes", Tag.DTYPE, each="S", input_sequence=[ramp(2), ramp(3, 2)], position=1, cites=(COPY,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[ramp(2), extremes(12)], position=-1)
POSITION.types(-2)
of_types_not_held(AT, position=0)
case("position_outside", Tag.DTYPE, outside="I", input_sequence=THREE, position=1, rejects=Rule.TYPES)
case("of_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(3)), position=0, rejects=Rule.TYPES)
case("no_sequence", position=0, rejects=Rule.ARITY)
case("no_position", input_sequence=THREE, rejects=Rule.ARITY)
case("no_outputs", input_sequence=THREE, position=0, n=0, rejects=Rule.ARITY)
case("two_outputs", input_sequence=THREE, position=0, n=2, rejects=Rule.ARITY)
case("attribute_position", input_sequence=THREE, position=0, stray={"position": 1}, rejects=Rule.ATTRIBUTES)
