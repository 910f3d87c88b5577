# SPDX-License-Identifier: Apache-2.0
"""SequenceConstruct: make a sequence of tensors.

    output_sequence = SequenceConstruct(*inputs)

Version: 11.
"""

from __future__ import annotations

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, sequence_of, typed
from onnx_conformance.declare.families.containers import THREE
from onnx_conformance.declare.sizes import filled, grid, several

SEQUENCE_CONSTRUCT = Op("SequenceConstruct", versions=(11,), compare=EXACT, derives={"S": sequence_of("T")})
SEQUENCE_CONSTRUCT.example(inputs=(ramp(2), ramp(3, 2)))

CONSTRUCTS = SEQUENCE_CONSTRUCT.clause("Construct a tensor sequence containing 'inputs' tensors.")
SAME_TYPE = SEQUENCE_CONSTRUCT.clause(
    "All tensors in 'inputs' must have the same data type.",
    note="The text does not restrict their shapes, so they may differ.",
)
ENCLOSING = SEQUENCE_CONSTRUCT.clause("Sequence enclosing the input tensors.")


@SEQUENCE_CONSTRUCT.oracle()
def constructed(v: Version, inputs: list[Array]) -> list[Array]:  # noqa: ARG001 - an oracle takes its version
    """Return the inputs as a sequence."""
    return inputs


case = SEQUENCE_CONSTRUCT.case

case("three", inputs=tuple(THREE), cites=(CONSTRUCTS, ENCLOSING))
case("one", Tag.EDGE, inputs=(ramp(2, 3),), cites=CONSTRUCTS)
case("seven", inputs=tuple(ramp(size) for size in range(1, 8)), cites=CONSTRUCTS)
case("twice_the_same", Tag.EDGE, inputs=([1, 2], [1, 2]), cites=CONSTRUCTS)
case("scalars", Tag.EDGE, inputs=(3, 4), cites=CONSTRUCTS)
case("zero_sizes", Tag.EDGE, inputs=(ramp(0), ramp(2, 0)), cites=CONSTRUCTS)
case("ranks", inputs=(ramp(2, 3, 4), 1, ramp(2, 3)), cites=SAME_TYPE)
case("dtypes_one", Tag.DTYPE, Tag.EDGE, each="T", inputs=(extremes(12),), cites=CONSTRUCTS)
case("two_types", Tag.DTYPE, inputs=(ramp(2), typed("double", ramp(2))), rejects=SAME_TYPE)
case("third_type", Tag.DTYPE, inputs=(ramp(2), ramp(2), typed("int32", ramp(2))), rejects=SAME_TYPE)

SEQUENCE_CONSTRUCT.sized(
    "many",
    grid(count=(9, 33, 100), n=(7, 64)) + grid(count=(2,), n=(65_539,)),
    cites=CONSTRUCTS,
    arguments={"inputs": several("count", lambda index: filled(index % 5 + 1, "n"))},
)
