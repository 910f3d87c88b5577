# SPDX-License-Identifier: Apache-2.0
"""SequenceAt: return the tensor at a position of a sequence.

    tensor = SequenceAt(input_sequence, position)

Version: 11.
"""

from __future__ import annotations

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, held_by, ramp
from onnx_conformance.declare.families.containers import Position, of_types_not_held
from onnx_conformance.declare.sizes import filled, grid, sequence

SEQUENCE_AT = Op("SequenceAt", versions=(11,), compare=EXACT, derives={"T": held_by("seq", "S")})
SEQUENCE_AT.example(input_sequence=[[0, 1, 2], [3, 4, 5]], position=1)

COPY = SEQUENCE_AT.clause("Outputs a tensor copy from the tensor at 'position' in 'input_sequence'.")
ACCEPTED = SEQUENCE_AT.clause(
    "Accepted range for 'position' is in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'.",
    note="A sequence without tensors has no position.",
)
BACK = SEQUENCE_AT.clause("Negative value means counting positions from the back.")
ACCEPTED_INPUT = SEQUENCE_AT.clause(
    "Accepted range in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'."
)
BOUNDS = SEQUENCE_AT.clause("It is an error if any of the index values are out of bounds.")
SCALAR = SEQUENCE_AT.clause("It must be a scalar(tensor of empty shape).")
SCALAR_TYPE = SEQUENCE_AT.clause("Constrain position to integral tensor. It must be a scalar(tensor of empty shape).")
POSITION = Position(
    SEQUENCE_AT,
    accepted=ACCEPTED,
    accepted_input=ACCEPTED_INPUT,
    back=BACK,
    bounds=BOUNDS,
    scalar=SCALAR,
    scalar_type=SCALAR_TYPE,
)


@SEQUENCE_AT.oracle()
def tensor_at(v: Version, input_sequence: list[Array], position: Array) -> Array:
    """Return the tensor at `position`."""
    n = len(input_sequence)
    return input_sequence[POSITION.place(v, position, n, last=n - 1)]


case = SEQUENCE_AT.case

POSITION.inside(COPY, last=2)
POSITION.outside(last=2)
POSITION.no_scalars()
POSITION.of_each_type(-2)

case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], position=0, cites=COPY)
case("one_from_back", Tag.EDGE, input_sequence=[ramp(2, 3)], position=-1, cites=BACK)
case("equal_shapes", input_sequence=[[1, 2], [3, 4], [5, 6]], position=1, cites=COPY)
case("zero_size", Tag.EDGE, input_sequence=[ramp(2), ramp(0, 3)], position=1, cites=COPY)
case("rank5", input_sequence=[8, ramp(2, 1, 3, 1, 2)], position=-1, cites=COPY)
case("empty_at_zero", Tag.EDGE, input_sequence=[], position=0, rejects=ACCEPTED)
case("empty_at_minus_one", Tag.EDGE, input_sequence=[], position=-1, rejects=ACCEPTED_INPUT)

case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[ramp(2), extremes(12)], position=-1, cites=COPY)
of_types_not_held(SEQUENCE_AT, position=0)

for name, position in {"first": 0, "inner": 7, "from_back": -2}.items():
    SEQUENCE_AT.sized(
        name,
        grid(count=(9, 100), n=(64,)) + grid(count=(9,), n=(65_539,)),
        cites=(COPY, ACCEPTED),
        arguments={"input_sequence": sequence("count", lambda index: filled(index % 5 + 1, "n")), "position": position},
    )
