"""SequenceErase: a sequence with one tensor less.

Version: 11.
"""

from __future__ import annotations

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed
from harness.declare.families.containers import THREE, Position, of_types_not_held

ERASE = Op("SequenceErase", versions=(11,), compare=EXACT)

REMOVES = ERASE.clause("Outputs a tensor sequence that removes the tensor at 'position' from 'input_sequence'.")
POSITION = Position(ERASE, last="n - 1")
LAST = ERASE.clause(
    "'position' is optional, by default it erases the last tensor from 'input_sequence'.",
    note="Says nothing of a sequence that has none.",
)
REMOVED = ERASE.clause("Output sequence that has the tensor at the specified position removed.")


@ERASE.oracle()
def erased(v: Version, input_sequence: list[Array], position: Array | None) -> list[Array]:
    """Return the sequence without the tensor at `position`."""
    n = len(input_sequence)
    if position is None:
        v.silent(LAST, n == 0)
        return input_sequence[:-1]
    place = POSITION.place(v, position, n)
    return [*input_sequence[:place], *input_sequence[place + 1 :]]


case = ERASE.case

case("last", input_sequence=THREE, cites=(REMOVES, LAST))
POSITION.within((REMOVES, REMOVED))
POSITION.beyond()
case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], position=0, cites=(REMOVED,))
case("one_from_back", Tag.EDGE, input_sequence=[ramp(2, 3)], position=-1, cites=(POSITION.back,))
case("one_by_default", Tag.EDGE, input_sequence=[ramp(2, 3)], cites=(LAST,))
case("equal", Tag.EDGE, input_sequence=[[1, 2], [1, 2], [3, 4], [1, 2]], position=1, cites=(REMOVED,))
case("zero_sizes", Tag.EDGE, input_sequence=[ramp(2), ramp(0, 3), ramp(0)], position=1, cites=(REMOVED,))
case("empty", Tag.EDGE, input_sequence=[], unspecified=LAST)
POSITION.of_none()
POSITION.no_scalars()

case("dtypes", Tag.DTYPE, each="S", input_sequence=[ramp(2), ramp(3, 2), ramp(4)], position=1, cites=(REMOVES,))
case("dtypes_last", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[extremes(12), ramp(2)], cites=(LAST,))
POSITION.types(-3)
of_types_not_held(ERASE, position=0)
case("position_outside", Tag.DTYPE, outside="I", input_sequence=THREE, position=1, rejects=Rule.TYPES)
case("of_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(3)), position=0, rejects=Rule.TYPES)
case("no_sequence", position=0, rejects=Rule.ARITY)
case("no_outputs", input_sequence=THREE, position=0, n=0, rejects=Rule.ARITY)
case("two_outputs", input_sequence=THREE, position=0, n=2, rejects=Rule.ARITY)
case("attribute_position", input_sequence=THREE, stray={"position": 1}, rejects=Rule.ATTRIBUTES)
