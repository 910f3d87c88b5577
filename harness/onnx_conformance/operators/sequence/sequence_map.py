# SPDX-License-Identifier: Apache-2.0
"""SequenceMap: apply a subgraph to each tensor of a sequence.

    out_sequence, ... = SequenceMap(input_sequence, *additional_inputs, body)

Version: 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.declare import EXACT, Array, Op, Subgraph, Tag, Version, extremes, graph, ramp, typed, vary
from onnx_conformance.declare.families.containers import THREE

if TYPE_CHECKING:
    from collections.abc import Mapping


def _types(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return for each output of the body a sequence type of its type."""
    body = attributes.get("body")
    return [f"seq({type_})" for type_ in body.outputs] if body and body.outputs else "seq(tensor(float))"


SEQUENCE_MAP = Op("SequenceMap", versions=(17,), compare=EXACT, derives={"S": _types}, widens=False)
SEQUENCE_MAP.example(
    input_sequence=typed("seq({V})", [ramp(2), ramp(3, 2)]),
    additional_inputs=(ramp(1, 4),),
    body=graph("body ({V} x, {V} a) => ({V} y, {V} z) { y = Identity(a) z = Identity(x) }"),
    n=2,
)

APPLIES = SEQUENCE_MAP.clause("Applies a sub-graph to each sample in the input sequence(s).")
FIRST = SEQUENCE_MAP.clause(
    "Inputs can be either tensors or sequences, with the exception of the first input which must be a sequence."
)
LENGTH = SEQUENCE_MAP.clause(
    "The length of the first input sequence will determine the number of samples in the outputs."
)
SAME_LENGTH = SEQUENCE_MAP.clause(
    "Any other sequence inputs should have the same number of samples.",
    note="onnxruntime accepts longer sequences, and onnx.reference stops at the end of the shortest.",
)
MATCH = SEQUENCE_MAP.clause("The number of inputs and outputs, should match the one of the subgraph.")
EXTRACTED = SEQUENCE_MAP.clause(
    "For each i-th element in the output, a sample will be extracted from the input sequence(s) at the i-th position "
    "and the sub-graph will be applied to it."
)
IN_ORDER = SEQUENCE_MAP.clause(
    "The outputs will contain the outputs of the sub-graph for each sample, in the same order as in the input."
)
INDEPENDENT = SEQUENCE_MAP.clause("Users cannot expect any specific ordering in which each subgraph is computed.")
AS_MANY = SEQUENCE_MAP.clause(
    "It should have as many inputs and outputs as inputs and outputs to the SequenceMap function."
)
ANY_SEQUENCE = SEQUENCE_MAP.clause("Constrain input types to any sequence type.")
ANY_TYPE = SEQUENCE_MAP.clause("Constrain to any tensor or sequence type.")


@SEQUENCE_MAP.oracle()
def mapped(
    v: Version, n: int, input_sequence: list[Array], additional_inputs: list[Any], body: Subgraph
) -> tuple[list[Array], ...]:
    """Return for each output of the body its values for all samples. A tensor is the same for every sample."""
    v.require(MATCH, len(body.inputs) == 1 + len(additional_inputs))
    v.require(AS_MANY, len(body.outputs) == n)
    sequences = [item for item in additional_inputs if isinstance(item, list)]
    v.require(SAME_LENGTH, all(len(item) == len(input_sequence) for item in sequences))
    outputs: list[list[Array]] = [[] for _ in body.outputs]
    for i, sample in enumerate(input_sequence):
        others = [item[i] if isinstance(item, list) else item for item in additional_inputs]
        for output, value in zip(outputs, body(sample, *others), strict=True):
            output.append(value)
    return tuple(outputs)


case = SEQUENCE_MAP.case

DOUBLE = graph("body (float[] x) => (float[] y) { y = Add(x, x) }")
ADD = graph("body (float[] x, float[] a) => (float[] y) { y = Add(x, a) }")
TWO_OUTPUTS = graph("body (float[] x) => (float[] y, float[] z) { z = Identity(x) y = Add(x, x) }")
ALIKE = [ramp(2, 3), [[20, 21, 22], [23, 24, 25]], [[6, 5, 4], [3, 2, 1]]]
SEQUENCE = typed("seq(tensor(float))", [[10, 20], [[1, 2, 3]], 100])
COUNTS = typed("seq(tensor(int64))", [ramp(4), 5, [[6]]])
NO_SAMPLES = typed("seq(tensor(float))", [])

case("alone", input_sequence=THREE, body=DOUBLE, cites=(APPLIES, EXTRACTED, IN_ORDER, INDEPENDENT))
case("one_sample", Tag.EDGE, input_sequence=[ramp(2, 3)], body=DOUBLE, cites=LENGTH)
case("no_samples", Tag.EDGE, input_sequence=[], body=DOUBLE, cites=LENGTH)
case("zero_sizes", Tag.EDGE, input_sequence=[ramp(0), ramp(2, 0), ramp(1)], body=DOUBLE, cites=APPLIES)
case("seven_samples", input_sequence=[ramp(size) for size in range(1, 8)], body=DOUBLE, cites=(LENGTH, IN_ORDER))
case("tensor", input_sequence=ALIKE, additional_inputs=([1, 2, 3],), body=ADD, cites=(FIRST, APPLIES))
case("sequence", input_sequence=THREE, additional_inputs=(SEQUENCE,), body=ADD, cites=(FIRST, EXTRACTED))
case("no_samples_of_two", Tag.EDGE, input_sequence=[], additional_inputs=(NO_SAMPLES,), body=ADD, cites=LENGTH)
case("no_samples_and_tensor", Tag.EDGE, input_sequence=[], additional_inputs=(ramp(3),), body=ADD, cites=LENGTH)
case(
    "sequences_and_tensor",
    input_sequence=THREE,
    additional_inputs=(SEQUENCE, typed("float", 1000), COUNTS),
    n=3,
    body=graph(
        "body (float[] x, float[] a, float[] b, int64[] c) => (float[] y, int64[] z, float[] w) "
        "{ s = Add(x, a) y = Add(s, b) z = Add(c, c) w = Identity(b) }"
    ),
    cites=(FIRST, AS_MANY),
)
case("two_outputs", input_sequence=THREE, n=2, body=TWO_OUTPUTS, cites=(IN_ORDER, AS_MANY))
case("no_samples_two_outputs", Tag.EDGE, input_sequence=[], n=2, body=TWO_OUTPUTS, cites=LENGTH)
case(
    "around",
    input_sequence=ALIKE,
    around={"a": [30, 20, 10]},
    body=graph("body (float[] x) => (float[] y) { y = Add(x, a) }"),
    cites=APPLIES,
)
case(
    "only_around",
    input_sequence=THREE,
    around={"a": [30, 20, 10]},
    body=graph("body (float[] x) => (float[] y) { y = Identity(a) }"),
    cites=LENGTH,
)
case(
    "nested",
    input_sequence=THREE,
    around={"go": typed("bool", 1)},
    body=graph(
        """body (float[] x) => (float[] y) {
            y = If(go) <
                then_branch = t () => (float[] p) { p = Add(x, x) },
                else_branch = e () => (float[] q) { q = Identity(x) }
            >
        }"""
    ),
    cites=APPLIES,
)
case(
    "other_output_type",
    input_sequence=THREE,
    additional_inputs=(COUNTS,),
    body=graph("body (float[] x, int64[] c) => (int64[] y) { y = Identity(c) }"),
    cites=APPLIES,
)

for type_ in (
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float",
    "double",
    "string",
    "bool",
    "complex64",
    "complex128",
):
    samples = typed(f"seq(tensor({type_}))", [ramp(2), extremes(2, 6)])
    copies = graph(
        f"body ({type_}[] x, {type_}[] a) => ({type_}[] y, {type_}[] z) {{ y = Identity(x) z = Identity(a) }}"
    )
    case(
        f"tensor_{type_}",
        Tag.DTYPE,
        input_sequence=samples,
        additional_inputs=(typed(type_, extremes(3)),),
        n=2,
        body=copies,
        cites=ANY_TYPE,
    )
    case(
        f"sequence_{type_}",
        Tag.DTYPE,
        input_sequence=samples,
        additional_inputs=(samples,),
        n=2,
        body=copies,
        cites=(ANY_SEQUENCE, ANY_TYPE),
    )

case("first_a_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(2, 3)), body=DOUBLE, rejects=FIRST)
case(
    "other_length",
    input_sequence=THREE,
    additional_inputs=vary(
        fewer=(typed("seq(tensor(float))", [ramp(2), ramp(3)]),),
        more=(typed("seq(tensor(float))", [ramp(2), 1, 2, 3]),),
        none=(NO_SAMPLES,),
        one=(typed("seq(tensor(float))", [3]),),
    ),
    body=ADD,
    rejects=SAME_LENGTH,
)
case("other_length_of_none", Tag.EDGE, input_sequence=[], additional_inputs=(SEQUENCE,), body=ADD, rejects=SAME_LENGTH)
case("body_takes_more", input_sequence=THREE, body=ADD, rejects=MATCH)
case("body_takes_less", input_sequence=ALIKE, additional_inputs=([1, 2, 3],), body=DOUBLE, rejects=MATCH)
case("body_gives_more", input_sequence=THREE, body=TWO_OUTPUTS, rejects=AS_MANY)
case("body_gives_less", input_sequence=THREE, n=2, body=DOUBLE, rejects=AS_MANY)
for type_ in ("bfloat16", "float8e4m3fn"):
    samples = typed(f"seq(tensor({type_}))", [ramp(2)])
    copy = graph(f"body ({type_}[] x) => ({type_}[] y) {{ y = Identity(x) }}")
    case(f"outside_{type_}", Tag.DTYPE, input_sequence=samples, body=copy, rejects=ANY_SEQUENCE)
case(
    "additional_optional",
    Tag.DTYPE,
    input_sequence=ALIKE,
    additional_inputs=(typed("optional(tensor(float))", ramp(3)),),
    body=ADD,
    rejects=ANY_TYPE,
)
