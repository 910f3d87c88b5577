"""SequenceLength: how many tensors a sequence holds.

Version: 11.
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed
from harness.declare.families.containers import of_types_not_held

LENGTH = Op("SequenceLength", versions=(11,), compare=EXACT, rank=lambda _: 0)

NUMBER = LENGTH.clause("Produces a scalar(tensor of empty shape) containing the number of tensors in 'input_sequence'.")
SCALAR = LENGTH.clause("Length of input sequence. It must be a scalar(tensor of empty shape).", result=True)
INTEGRAL = LENGTH.clause(
    "Constrain output to integral tensor. It must be a scalar(tensor of empty shape).", result=True
)


@LENGTH.oracle()
def length(_: Version, input_sequence: list[Array]) -> Array:
    """Return the number of tensors."""
    return np.array(len(input_sequence), np.int64)


case = LENGTH.case

case("three", input_sequence=[ramp(2), [[5, 6, 7]], 8], cites=(NUMBER, SCALAR, INTEGRAL))
case("empty", Tag.EDGE, input_sequence=[], cites=(NUMBER,))
case("one", Tag.EDGE, input_sequence=[ramp(5, 2)], cites=(NUMBER,))
case("one_scalar", Tag.EDGE, input_sequence=[7], cites=(NUMBER,))
case("one_zero_size", Tag.EDGE, input_sequence=[ramp(0)], cites=(NUMBER,))
case("zero_sizes", Tag.EDGE, input_sequence=[ramp(0, 3), ramp(2, 0)], cites=(NUMBER,))
case("twice_the_same", input_sequence=[[1, 2], [1, 2]], cites=(NUMBER,))
case("equal_shapes", input_sequence=[[1, 2, 5], [3, 4, 6], [5, 6, 7], [0, 0, 0]], cites=(NUMBER,))
case("many", input_sequence=list(range(40)), cites=(NUMBER,))
case("dtypes", Tag.DTYPE, each="S", input_sequence=[ramp(2), ramp(3, 2)], cites=(NUMBER,))
case("dtypes_empty", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[], cites=(NUMBER,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="S", input_sequence=[extremes(12), ramp(), ramp(1)], cites=(NUMBER,))
of_types_not_held(LENGTH)
case("of_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(3)), rejects=Rule.TYPES)
case("no_sequence", rejects=Rule.ARITY)
case("no_outputs", input_sequence=[ramp(2)], n=0, rejects=Rule.ARITY)
case("two_outputs", input_sequence=[ramp(2)], n=2, rejects=Rule.ARITY)
case("attribute_axis", input_sequence=[ramp(2)], stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
