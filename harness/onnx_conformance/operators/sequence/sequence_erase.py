# SPDX-License-Identifier: Apache-2.0
"""SequenceErase: remove the tensor at a position of a sequence.

    output_sequence = SequenceErase(input_sequence, position=None)

Version: 11.
"""

from __future__ import annotations

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp
from onnx_conformance.declare.families.containers import THREE, Position, of_types_not_held
from onnx_conformance.declare.sizes import filled, grid, sequence

SEQUENCE_ERASE = Op("SequenceErase", versions=(11,), compare=EXACT)
SEQUENCE_ERASE.example(input_sequence=[[0, 1, 2], [3, 4, 5]], position=0)

REMOVES = SEQUENCE_ERASE.clause(
    "Outputs a tensor sequence that removes the tensor at 'position' from 'input_sequence'."
)
ACCEPTED = SEQUENCE_ERASE.clause(
    "Accepted range for 'position' is in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'."
)
BACK = SEQUENCE_ERASE.clause("Negative value means counting positions from the back.")
LAST = SEQUENCE_ERASE.clause(
    "'position' is optional, by default it erases the last tensor from 'input_sequence'.",
    note="The text does not define the result for a sequence without tensors.",
)
ACCEPTED_INPUT = SEQUENCE_ERASE.clause(
    "Accepted range in `[-n, n - 1]`, where `n` is the number of tensors in 'input_sequence'."
)
BOUNDS = SEQUENCE_ERASE.clause("It is an error if any of the index values are out of bounds.")
SCALAR = SEQUENCE_ERASE.clause("It must be a scalar(tensor of empty shape).")
SCALAR_TYPE = SEQUENCE_ERASE.clause(
    "Constrain position to integral tensor. It must be a scalar(tensor of empty shape)."
)
REMOVED = SEQUENCE_ERASE.clause("Output sequence that has the tensor at the specified position removed.")
POSITION = Position(
    SEQUENCE_ERASE,
    accepted=ACCEPTED,
    accepted_input=ACCEPTED_INPUT,
    back=BACK,
    bounds=BOUNDS,
    scalar=SCALAR,
    scalar_type=SCALAR_TYPE,
)


@SEQUENCE_ERASE.oracle()
def erased(v: Version, input_sequence: list[Array], position: Array | None) -> list[Array]:
    """Return the sequence without the tensor at `position`, or without its last one."""
    n = len(input_sequence)
    if position is None:
        v.silent(LAST, n == 0)
        return input_sequence[:-1]
    place = POSITION.place(v, position, n, last=n - 1)
    return input_sequence[:place] + input_sequence[place + 1 :]


case = SEQUENCE_ERASE.case

case("last", input_sequence=THREE, cites=(REMOVES, LAST))
POSITION.inside(REMOVES, REMOVED, last=2)
POSITION.outside(last=2)
POSITION.no_scalars()
POSITION.of_each_type(-3)

case("one", Tag.EDGE, input_sequence=[ramp(2, 3)], position=0, cites=REMOVED)
case("one_from_back", Tag.EDGE, input_sequence=[ramp(2, 3)], position=-1, cites=BACK)
case("one_by_default", Tag.EDGE, input_sequence=[ramp(2, 3)], cites=LAST)
case("equal", Tag.EDGE, input_sequence=[[1, 2], [1, 2], [3, 4], [1, 2]], position=1, cites=REMOVED)
case("zero_sizes", Tag.EDGE, input_sequence=[ramp(2), ramp(0, 3), ramp(0)], position=1, cites=REMOVED)
case("empty", Tag.EDGE, input_sequence=[], unspecified=LAST)
case("empty_at_zero", Tag.EDGE, input_sequence=[], position=0, rejects=ACCEPTED)
case("empty_at_minus_one", Tag.EDGE, input_sequence=[], position=-1, rejects=ACCEPTED_INPUT)

case("dtypes_last", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[extremes(12), ramp(2)], cites=LAST)
of_types_not_held(SEQUENCE_ERASE, position=0)

for name, position in {"first": 0, "inner": 7, "from_back": -2}.items():
    SEQUENCE_ERASE.sized(
        name,
        grid(count=(9, 100), n=(64,)) + grid(count=(9,), n=(65_539,)),
        cites=(REMOVES, ACCEPTED),
        arguments={"input_sequence": sequence("count", lambda index: filled(index % 5 + 1, "n")), "position": position},
    )
