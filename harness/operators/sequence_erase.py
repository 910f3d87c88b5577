"""SequenceErase: a sequence with one tensor less.

Version: 11.
"""

from __future__ import annotations

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed

ERASE = Op("SequenceErase", versions=(11,), compare=EXACT)

REMOVES = ERASE.clause("Outputs a tensor sequence that removes the tensor at 'position' from 'input_sequence'.")
RANGE = ERASE.clause(
    "Accepted range for 'position' is in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'."
)
BACK = ERASE.clause("Negative value means counting positions from the back.")
LAST = ERASE.clause(
    "'position' is optional, by default it erases the last tensor from 'input_sequence'.",
    note="Says nothing of a sequence that has none.",
)
RANGE_INPUT = ERASE.clause("Accepted range in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'.")
BOUNDS = ERASE.clause("It is an error if any of the index values are out of bounds.")
SCALAR = ERASE.clause("Constrain position to integral tensor. It must be a scalar(tensor of empty shape).")
SCALAR_INPUT = ERASE.clause("It must be a scalar(tensor of empty shape).")
REMOVED = ERASE.clause("Output sequence that has the tensor at the specified position removed.")


@ERASE.oracle()
def erased(v: Version, input_sequence: list[Array], position: Array | None) -> list[Array]:
    """Return the sequence without the tensor at `position`."""
    n = len(input_sequence)
    if position is None:
        v.silent(LAST, n == 0)
        return input_sequence[:-1]
    v.require(SCALAR_INPUT, position.ndim == 0)
    v.require(RANGE, int(position) < n)
    v.require(RANGE_INPUT, int(position) >= -n)
    place = int(position) % n
    return [*input_sequence[:place], *input_sequence[place + 1 :]]


case = ERASE.case

THREE = [ramp(2), [[5, 6, 7]], 8]
"""No two of one shape."""

case("last", input_sequence=THREE, cites=(REMOVES, LAST))
for place in range(-3, 3):
    name = f"position_{place}".replace("-", "minus_")
    cited = (REMOVES, REMOVED, RANGE_INPUT, *((BACK,) if place < 0 else ()))
    case(name, Tag.AXIS, input_sequence=THREE, position=place, cites=cited)
case("position_too_high", Tag.AXIS, input_sequence=THREE, position=3, rejects=RANGE, cites=(BOUNDS,))
case("position_too_low", Tag.AXIS, input_sequence=THREE, position=-4, rejects=RANGE_INPUT, cites=(BOUNDS,))
case("position_highest", Tag.EDGE, input_sequence=THREE, position=2**63 - 1, rejects=RANGE)
case("position_lowest", Tag.EDGE, input_sequence=THREE, position=-(2**63), rejects=RANGE_INPUT)
case("position_beyond_int32", Tag.EDGE, input_sequence=THREE, position=2**32 + 1, rejects=RANGE)
case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], position=0, cites=(REMOVED,))
case("one_from_back", Tag.EDGE, input_sequence=[ramp(2, 3)], position=-1, cites=(BACK,))
case("one_by_default", Tag.EDGE, input_sequence=[ramp(2, 3)], cites=(LAST,))
case("equal", Tag.EDGE, input_sequence=[[1, 2], [1, 2], [3, 4], [1, 2]], position=1, cites=(REMOVED,))
case("zero_sizes", Tag.EDGE, input_sequence=[ramp(2), ramp(0, 3), ramp(0)], position=1, cites=(REMOVED,))
case("empty", Tag.EDGE, input_sequence=[], unspecified=LAST)
case("empty_at_zero", Tag.EDGE, input_sequence=[], position=0, rejects=RANGE)
case("empty_at_minus_one", Tag.EDGE, input_sequence=[], position=-1, rejects=RANGE_INPUT)
case("position_vector", Tag.EDGE, input_sequence=THREE, position=[1], rejects=SCALAR_INPUT, cites=(SCALAR,))
case("position_matrix", Tag.EDGE, input_sequence=THREE, position=[[1]], rejects=SCALAR_INPUT)
case("position_none", Tag.EDGE, input_sequence=THREE, position=[], rejects=SCALAR_INPUT)

case("dtypes", Tag.DTYPE, each="S", input_sequence=[ramp(2), ramp(3, 2), ramp(4)], position=1, cites=(REMOVES,))
case("dtypes_last", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[extremes(12), ramp(2)], cites=(LAST,))
case("position_dtypes", Tag.DTYPE, each="I", input_sequence=THREE, position=1, cites=(SCALAR,))
case("position_dtypes_from_back", Tag.DTYPE, each="I", input_sequence=THREE, position=-3, cites=(BACK,))
for name in ("bfloat16", "float8e4m3fn", "int4"):
    sequence = typed(f"seq(tensor({name}))", [ramp(2), ramp(3)])
    case(f"outside_{name}", Tag.DTYPE, input_sequence=sequence, position=0, rejects=Rule.TYPES)
case("position_outside", Tag.DTYPE, outside="I", input_sequence=THREE, position=1, rejects=Rule.TYPES)
case("of_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(3)), position=0, rejects=Rule.TYPES)
case("no_sequence", position=0, rejects=Rule.ARITY)
case("no_outputs", input_sequence=THREE, position=0, n=0, rejects=Rule.ARITY)
case("two_outputs", input_sequence=THREE, position=0, n=2, rejects=Rule.ARITY)
case("attribute_position", input_sequence=THREE, stray={"position": 1}, rejects=Rule.ATTRIBUTES)
