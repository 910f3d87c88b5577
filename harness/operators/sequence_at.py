"""SequenceAt: one tensor of a sequence, by its position.

Version: 11.
"""

from __future__ import annotations

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, held_by, ramp, typed

AT = Op("SequenceAt", versions=(11,), compare=EXACT, derives={"T": held_by("seq", "S")})

COPY = AT.clause("Outputs a tensor copy from the tensor at 'position' in 'input_sequence'.")
RANGE = AT.clause(
    "Accepted range for 'position' is in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'.",
    note="A sequence of no tensors has no position.",
)
BACK = AT.clause("Negative value means counting positions from the back.")
RANGE_INPUT = AT.clause("Accepted range in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'.")
BOUNDS = AT.clause("It is an error if any of the index values are out of bounds.")
SCALAR = AT.clause("Constrain position to integral tensor. It must be a scalar(tensor of empty shape).")
SCALAR_INPUT = AT.clause("It must be a scalar(tensor of empty shape).")


@AT.oracle()
def at(v: Version, input_sequence: list[Array], position: Array) -> Array:
    """Return the tensor at `position`."""
    v.require(SCALAR_INPUT, position.ndim == 0)
    v.require(RANGE, int(position) < len(input_sequence))
    v.require(RANGE_INPUT, int(position) >= -len(input_sequence))
    return input_sequence[int(position)]


case = AT.case

THREE = [ramp(2), [[5, 6, 7]], 8]
"""No two of one shape."""

for place in range(-3, 3):
    name = f"position_{place}".replace("-", "minus_")
    cited = (COPY, RANGE_INPUT, *((BACK,) if place < 0 else ()))
    case(name, Tag.AXIS, input_sequence=THREE, position=place, cites=cited)
case("position_too_high", Tag.AXIS, input_sequence=THREE, position=3, rejects=RANGE, cites=(BOUNDS,))
case("position_too_low", Tag.AXIS, input_sequence=THREE, position=-4, rejects=RANGE_INPUT, cites=(BOUNDS,))
case("position_highest", Tag.EDGE, input_sequence=THREE, position=2**63 - 1, rejects=RANGE)
case("position_lowest", Tag.EDGE, input_sequence=THREE, position=-(2**63), rejects=RANGE_INPUT)
case("position_beyond_int32", Tag.EDGE, input_sequence=THREE, position=2**32 + 1, rejects=RANGE)
case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], position=0, cites=(COPY,))
case("one_from_back", Tag.EDGE, input_sequence=[ramp(2, 3)], position=-1, cites=(BACK,))
case("equal_shapes", input_sequence=[[1, 2], [3, 4], [5, 6]], position=1, cites=(COPY,))
case("zero_size", Tag.EDGE, input_sequence=[ramp(2), ramp(0, 3)], position=1, cites=(COPY,))
case("rank5", input_sequence=[8, ramp(2, 1, 3, 1, 2)], position=-1, cites=(COPY,))
case("empty_at_zero", Tag.EDGE, input_sequence=[], position=0, rejects=RANGE)
case("empty_at_minus_one", Tag.EDGE, input_sequence=[], position=-1, rejects=RANGE_INPUT)
case("position_vector", Tag.EDGE, input_sequence=THREE, position=[1], rejects=SCALAR_INPUT, cites=(SCALAR,))
case("position_matrix", Tag.EDGE, input_sequence=THREE, position=[[1]], rejects=SCALAR_INPUT)
case("position_none", Tag.EDGE, input_sequence=THREE, position=[], rejects=SCALAR_INPUT)

case("dtypes", Tag.DTYPE, each="S", input_sequence=[ramp(2), ramp(3, 2)], position=1, cites=(COPY,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[ramp(2), extremes(12)], position=-1)
case("position_dtypes", Tag.DTYPE, each="I", input_sequence=THREE, position=1, cites=(SCALAR,))
case("position_dtypes_from_back", Tag.DTYPE, each="I", input_sequence=THREE, position=-2, cites=(BACK,))
for name in ("bfloat16", "float8e4m3fn", "int4"):
    sequence = typed(f"seq(tensor({name}))", [ramp(2), ramp(3)])
    case(f"outside_{name}", Tag.DTYPE, input_sequence=sequence, position=0, rejects=Rule.TYPES)
case("position_outside", Tag.DTYPE, outside="I", input_sequence=THREE, position=1, rejects=Rule.TYPES)
case("of_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(3)), position=0, rejects=Rule.TYPES)
case("no_sequence", position=0, rejects=Rule.ARITY)
case("no_position", input_sequence=THREE, rejects=Rule.ARITY)
case("no_outputs", input_sequence=THREE, position=0, n=0, rejects=Rule.ARITY)
case("two_outputs", input_sequence=THREE, position=0, n=2, rejects=Rule.ARITY)
case("attribute_position", input_sequence=THREE, position=0, stray={"position": 1}, rejects=Rule.ATTRIBUTES)
