# SPDX-License-Identifier: Apache-2.0
"""SequenceInsert: add a tensor to a sequence, at a position or at the end.

    output_sequence = SequenceInsert(input_sequence, tensor, position=None)

Version: 11.
"""

from __future__ import annotations

from onnx_conformance.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed
from onnx_conformance.declare.families.containers import THREE, Position
from onnx_conformance.declare.sizes import filled, grid, sequence

SEQUENCE_INSERT = Op("SequenceInsert", versions=(11,), compare=EXACT)
SEQUENCE_INSERT.example(input_sequence=typed("seq({T})", [ramp(2), ramp(3, 2)]), tensor=ramp(1, 3), position=1)

INSERTS = SEQUENCE_INSERT.clause("Outputs a tensor sequence that inserts 'tensor' into 'input_sequence' at 'position'.")
SAME_TYPE = SEQUENCE_INSERT.clause(
    "'tensor' must have the same data type as 'input_sequence'.",
    note="The text does not restrict shapes: the tensors of a sequence may have different shapes.",
)
ACCEPTED = SEQUENCE_INSERT.clause(
    "Accepted range for 'position' is in `[-n, n]`, where `n` is the number of tensors in 'input_sequence'."
)
BACK = SEQUENCE_INSERT.clause(
    "Negative value means counting positions from the back.",
    note="Positions refer to the input sequence: -1 is the position of its last tensor, which is then after the new "
    "tensor.",
)
DEFAULT = SEQUENCE_INSERT.clause(
    "'position' is optional, by default it inserts 'tensor' to the back of 'input_sequence'."
)
DEFAULT_INPUT = SEQUENCE_INSERT.clause("It is optional and default is to insert to the back of the sequence.")
ACCEPTED_INPUT = SEQUENCE_INSERT.clause(
    "Accepted range in `[-n, n]`, where `n` is the number of tensors in 'input_sequence'."
)
BOUNDS = SEQUENCE_INSERT.clause("It is an error if any of the index values are out of bounds.")
SCALAR = SEQUENCE_INSERT.clause(
    "It must be a scalar(tensor of empty shape).",
    note="In the official case the position is a vector of one element.",
    against=("test_sequence_insert_at_front",),
)
SCALAR_TYPE = SEQUENCE_INSERT.clause(
    "Constrain position to integral tensor. It must be a scalar(tensor of empty shape)."
)
POSITION = Position(
    SEQUENCE_INSERT,
    accepted=ACCEPTED,
    accepted_input=ACCEPTED_INPUT,
    back=BACK,
    bounds=BOUNDS,
    scalar=SCALAR,
    scalar_type=SCALAR_TYPE,
)


@SEQUENCE_INSERT.oracle()
def inserted(v: Version, input_sequence: list[Array], tensor: Array, position: Array | None) -> list[Array]:
    """Return the sequence with `tensor` inserted before the tensor at `position`, or at the end."""
    v.require(SAME_TYPE, v.dtypes["T"] == v.dtypes["S"])
    if position is None:
        return [*input_sequence, tensor]
    n = len(input_sequence)
    place = POSITION.place(v, position, n, last=n)
    return [*input_sequence[:place], tensor, *input_sequence[place:]]


case = SEQUENCE_INSERT.case

case("back", input_sequence=THREE, tensor=[9, 10, 11], cites=(INSERTS, DEFAULT, DEFAULT_INPUT))
POSITION.inside(INSERTS, last=3, tensor=[9, 10, 11])
POSITION.outside(last=3, tensor=[9])
POSITION.no_scalars(tensor=[9])
POSITION.of_each_type(-2, tensor=[9])

case("into_empty", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), cites=DEFAULT)
case("into_empty_at_zero", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=0, cites=ACCEPTED)
case("into_empty_at_one", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=1, rejects=ACCEPTED)
case("into_empty_at_minus_one", Tag.EDGE, input_sequence=[], tensor=ramp(2, 3), position=-1, rejects=ACCEPTED_INPUT)
case("into_one", Tag.EDGE, input_sequence=[ramp(3)], tensor=ramp(2), position=-1, cites=BACK)
case("scalar_tensor", Tag.EDGE, input_sequence=THREE, tensor=4, position=1, cites=INSERTS)
case("zero_size_tensor", Tag.EDGE, input_sequence=THREE, tensor=ramp(0, 3), position=2, cites=INSERTS)
case("into_zero_sizes", Tag.EDGE, input_sequence=[ramp(0), ramp(2, 0)], tensor=ramp(2), position=1, cites=INSERTS)

case("dtypes_empty", Tag.DTYPE, Tag.EDGE, each="T", input_sequence=typed("seq({T})", []), tensor=extremes(12))
case("other_type", Tag.DTYPE, input_sequence=THREE, tensor=typed("double", [9]), rejects=SAME_TYPE)
case("other_type_into_empty", Tag.EDGE, input_sequence=[], tensor=typed("int64", [9]), rejects=SAME_TYPE)
case("into_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(3)), tensor=ramp(2), rejects=Rule.TYPES)

for name, position in {"first": 0, "inner": 7, "from_back": -2}.items():
    SEQUENCE_INSERT.sized(
        name,
        grid(count=(9, 100), n=(64,)) + grid(count=(9,), n=(65_539,)),
        cites=(INSERTS, ACCEPTED),
        arguments={
            "input_sequence": sequence("count", lambda index: filled(index % 5 + 1, "n")),
            "tensor": filled(7, "n"),
            "position": position,
        },
    )
