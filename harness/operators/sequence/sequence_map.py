"""SequenceMap: a subgraph for each tensor of a sequence.

Version: 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.declare import EXACT, Array, Op, Rule, Subgraph, Tag, Version, extremes, graph, ramp, typed
from harness.declare.families.containers import THREE

if TYPE_CHECKING:
    from collections.abc import Mapping


def _types(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return for each output of the body the sequence of it."""
    body = attributes.get("body")
    return [f"seq({type_})" for type_ in body.outputs] if body and body.outputs else "seq(tensor(float))"


MAP = Op("SequenceMap", versions=(17,), compare=EXACT, derives={"S": _types}, widens=False)

APPLIES = MAP.clause("Applies a sub-graph to each sample in the input sequence(s).")
FIRST = MAP.clause(
    "Inputs can be either tensors or sequences, with the exception of the first input which must be a sequence."
)
LENGTH = MAP.clause("The length of the first input sequence will determine the number of samples in the outputs.")
SAME_LENGTH = MAP.clause(
    "Any other sequence inputs should have the same number of samples.",
    note="onnxruntime takes longer ones, and onnx.reference stops with the shortest.",
)
MATCH = MAP.clause("The number of inputs and outputs, should match the one of the subgraph.")
EXTRACTED = MAP.clause(
    "For each i-th element in the output, a sample will be extracted from the input sequence(s) at the i-th position "
    "and the sub-graph will be applied to it."
)
IN_ORDER = MAP.clause(
    "The outputs will contain the outputs of the sub-graph for each sample, in the same order as in the input."
)
INDEPENDENT = MAP.clause("Users cannot expect any specific ordering in which each subgraph is computed.")
AS_MANY = MAP.clause("It should have as many inputs and outputs as inputs and outputs to the SequenceMap function.")
ANY_SEQUENCE = MAP.clause("Constrain input types to any sequence type.")
ANY_TYPE = MAP.clause("Constrain to any tensor or sequence type.")


@MAP.oracle()
def mapped(
    v: Version, n: int, input_sequence: list[Array], additional_inputs: list[Any], body: Subgraph
) -> tuple[list[Array], ...]:
    """Return for each output of the body what it gives for each sample; tensors are the same for all."""
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


case = MAP.case


def body(inputs: str, outputs: str, nodes: str) -> dict[str, Any]:
    """Return the subgraph."""
    return {"body": graph(f"body ({inputs}) => ({outputs}) {{ {nodes} }}")}


DOUBLE = body("float[] x", "float[] y", "y = Add(x, x)")
ADD = body("float[] x, float[] a", "float[] y", "y = Add(x, a)")
ALIKE = [ramp(2, 3), [[20, 21, 22], [23, 24, 25]], [[6, 5, 4], [3, 2, 1]]]
SEQUENCE = typed("seq(tensor(float))", [[10, 20], [[1, 2, 3]], 100])

case("alone", input_sequence=THREE, **DOUBLE, cites=(APPLIES, EXTRACTED, IN_ORDER, INDEPENDENT))
case("one_sample", Tag.EDGE, input_sequence=[ramp(2, 3)], **DOUBLE, cites=(LENGTH,))
case("no_samples", Tag.EDGE, input_sequence=[], **DOUBLE, cites=(LENGTH,))
case("zero_sizes", Tag.EDGE, input_sequence=[ramp(0), ramp(2, 0), ramp(1)], **DOUBLE, cites=(APPLIES,))
case("seven_samples", input_sequence=[ramp(size) for size in range(1, 8)], **DOUBLE, cites=(LENGTH, IN_ORDER))
case("tensor", input_sequence=ALIKE, additional_inputs=([1, 2, 3],), **ADD, cites=(FIRST, APPLIES))
case("sequence", input_sequence=THREE, additional_inputs=(SEQUENCE,), **ADD, cites=(FIRST, EXTRACTED))
NONE = typed("seq(tensor(float))", [])
case("no_samples_of_two", Tag.EDGE, input_sequence=[], additional_inputs=(NONE,), **ADD, cites=(LENGTH,))
case("no_samples_and_tensor", Tag.EDGE, input_sequence=[], additional_inputs=(ramp(3),), **ADD, cites=(LENGTH,))
FOUR = body("float[] x, float[] a, float[] b, int64[] c", "float[] y, int64[] z, float[] w",
            "s = Add(x, a) y = Add(s, b) z = Add(c, c) w = Identity(b)")  # fmt: skip
COUNTS = typed("seq(tensor(int64))", [ramp(4), 5, [[6]]])
MIXED = (SEQUENCE, typed("float", 1000), COUNTS)
case("sequences_and_tensor", input_sequence=THREE, additional_inputs=MIXED, n=3, **FOUR, cites=(FIRST, AS_MANY))
TWO = body("float[] x", "float[] y, float[] z", "z = Identity(x) y = Add(x, x)")
case("two_outputs", input_sequence=THREE, n=2, **TWO, cites=(IN_ORDER, AS_MANY))
case("no_samples_two_outputs", Tag.EDGE, input_sequence=[], n=2, **TWO, cites=(LENGTH,))
AROUND: dict[str, Any] = {"around": {"a": [30, 20, 10]}}
case("around", input_sequence=ALIKE, **AROUND, **body("float[] x", "float[] y", "y = Add(x, a)"), cites=(APPLIES,))
NESTED = "y = If(go) <then_branch = t () => (float[] p) { p = Add(x, x) }, else_branch = e () => (float[] q) "
NESTED += "{ q = Identity(x) }>"
case("nested", input_sequence=THREE, around={"go": typed("bool", 1)}, **body("float[] x", "float[] y", NESTED))
case("other_output_type", input_sequence=THREE, additional_inputs=(COUNTS,), cites=(APPLIES,),
     **body("float[] x, int64[] c", "int64[] y", "y = Identity(c)"))  # fmt: skip
case("only_around", input_sequence=THREE, **AROUND, **body("float[] x", "float[] y", "y = Identity(a)"))

TYPES = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]
for type_ in (*TYPES, "float16", "float", "double", "string", "bool", "complex64", "complex128"):
    samples = typed(f"seq(tensor({type_}))", [ramp(2), extremes(2, 6)])
    copies = body(f"{type_}[] x, {type_}[] a", f"{type_}[] y, {type_}[] z", "y = Identity(x) z = Identity(a)")
    given: dict[str, Any] = {"input_sequence": samples, "n": 2, **copies}
    case(f"tensor_{type_}", Tag.DTYPE, **given, additional_inputs=(typed(type_, extremes(3)),), cites=(ANY_TYPE,))
    case(f"sequence_{type_}", Tag.DTYPE, **given, additional_inputs=(samples,), cites=(ANY_SEQUENCE, ANY_TYPE))

case("first_a_tensor", Tag.DTYPE, input_sequence=typed("float", ramp(2, 3)), **DOUBLE, rejects=FIRST)
for name, others in {"fewer": [ramp(2), ramp(3)], "more": [ramp(2), 1, 2, 3], "none": [], "one": [3]}.items():
    shorter = (typed("seq(tensor(float))", others),)
    case(f"other_length_{name}", input_sequence=THREE, additional_inputs=shorter, **ADD, rejects=SAME_LENGTH)
case("other_length_of_none", Tag.EDGE, input_sequence=[], additional_inputs=(SEQUENCE,), **ADD, rejects=SAME_LENGTH)
case("body_takes_more", input_sequence=THREE, **ADD, rejects=MATCH)
case("body_takes_less", input_sequence=ALIKE, additional_inputs=([1, 2, 3],), **DOUBLE, rejects=MATCH)
case("body_gives_more", input_sequence=THREE, **TWO, rejects=AS_MANY)
case("body_gives_less", input_sequence=THREE, n=2, **DOUBLE, rejects=AS_MANY)
for name in ("bfloat16", "float8e4m3fn"):
    samples = typed(f"seq(tensor({name}))", [ramp(2)])
    copy = body(f"{name}[] x", f"{name}[] y", "y = Identity(x)")
    case(f"outside_{name}", Tag.DTYPE, input_sequence=samples, **copy, rejects=ANY_SEQUENCE)
OPTIONAL = typed("optional(tensor(float))", ramp(3))
case("additional_optional", Tag.DTYPE, input_sequence=ALIKE, additional_inputs=(OPTIONAL,), **ADD, rejects=ANY_TYPE)
case("no_sequence", additional_inputs=(ramp(2),), **ADD, rejects=Rule.ARITY)
case("no_body", input_sequence=THREE, rejects=Rule.ATTRIBUTES)
case("no_outputs", input_sequence=THREE, n=0, **DOUBLE, rejects=Rule.ARITY)
case("attribute_axis", input_sequence=THREE, **DOUBLE, stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
