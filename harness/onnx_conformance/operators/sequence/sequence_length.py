# SPDX-License-Identifier: Apache-2.0
"""SequenceLength: count the tensors of a sequence.

    length = SequenceLength(input_sequence)

Version: 11.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp
from onnx_conformance.declare.families.containers import THREE, of_types_not_held
from onnx_conformance.declare.sizes import filled, grid, sequence

SEQUENCE_LENGTH = Op("SequenceLength", versions=(11,), compare=EXACT, rank=lambda _: 0)
SEQUENCE_LENGTH.example(input_sequence=[[0, 1, 2], [3, 4, 5]])

NUMBER = SEQUENCE_LENGTH.clause(
    "Produces a scalar(tensor of empty shape) containing the number of tensors in 'input_sequence'."
)
SCALAR = SEQUENCE_LENGTH.clause("Length of input sequence. It must be a scalar(tensor of empty shape).", result=True)
INTEGRAL = SEQUENCE_LENGTH.clause(
    "Constrain output to integral tensor. It must be a scalar(tensor of empty shape).", result=True
)


@SEQUENCE_LENGTH.oracle()
def length(_: Version, input_sequence: list[Array]) -> Array:
    """Return the number of tensors."""
    return np.array(len(input_sequence), np.int64)


case = SEQUENCE_LENGTH.case

case("three", input_sequence=THREE, cites=(NUMBER, SCALAR, INTEGRAL))
case("empty", Tag.EDGE, input_sequence=[], cites=NUMBER)
case("one", Tag.EDGE, input_sequence=[ramp(5, 2)], cites=NUMBER)
case("one_scalar", Tag.EDGE, input_sequence=[7], cites=NUMBER)
case("one_zero_size", Tag.EDGE, input_sequence=[ramp(0)], cites=NUMBER)
case("zero_sizes", Tag.EDGE, input_sequence=[ramp(0, 3), ramp(2, 0)], cites=NUMBER)
case("twice_the_same", input_sequence=[[1, 2], [1, 2]], cites=NUMBER)
case("equal_shapes", input_sequence=[[1, 2, 5], [3, 4, 6], [5, 6, 7], [0, 0, 0]], cites=NUMBER)
case("many", input_sequence=list(range(40)), cites=NUMBER)
case("dtypes_empty", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[], cites=NUMBER)
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[extremes(12), ramp(), ramp(1)], cites=NUMBER)
of_types_not_held(SEQUENCE_LENGTH)

SEQUENCE_LENGTH.sized(
    "many",
    grid(count=(9, 33, 300)),
    cites=NUMBER,
    arguments={"input_sequence": sequence("count", lambda index: filled(index % 5 + 1))},
)
