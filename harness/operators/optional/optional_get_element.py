"""OptionalGetElement: what an optional holds.

Versions: 15, 18 (of a tensor or a sequence as well, itself) and 28 (types).
"""

from __future__ import annotations

from typing import Any

from harness.declare import EMPTY, EXACT, Op, Rule, Tag, Version, extremes, held_by, ramp, typed
from harness.declare.families.containers import NOT_HELD, THREE

GET = Op(
    "OptionalGetElement", versions=(15, 18, 28), compare=EXACT, derives={"V": held_by("optional", "O")}, widens=False
)

ELEMENT_OLD = GET.clause("Outputs the element in the optional-type input.", before=18)
ITSELF = GET.clause("If the input is a tensor or sequence type, it returns the input.", since=18)
ELEMENT = GET.clause("If the input is an optional type, it outputs the element in the input.", since=18)
UNDEFINED_OLD = GET.clause(
    "It is an error if the input value does not have an element and the behavior is undefined in this case.",
    before=18,
    note="An error that nobody is obliged to raise: what is undefined cannot be scored.",
)
UNDEFINED = GET.clause(
    "It is an error if the input is an empty optional-type (i.e. does not have an element) and the behavior is "
    "undefined in this case.",
    since=18,
    note="An error that nobody is obliged to raise: what is undefined cannot be scored.",
)
OUTPUT = GET.clause("Output element in the optional input.")
TYPES_OLD = GET.clause("Constrain input type to optional tensor and optional sequence types.", before=18)
TYPES = GET.clause("Constrain input type to optional, tensor and sequence types.", since=18)


@GET.oracle()
def element(v: Version, input: Any) -> Any:  # noqa: A002, ANN401 - the text's own name; whatever ONNX has
    """Return what the input holds, or is."""
    v.silent(UNDEFINED if UNDEFINED.in_force(v.since) else UNDEFINED_OLD, input is None)
    return input


case = GET.case

TENSOR, SEQUENCE = "optional(tensor(float))", "optional(seq(tensor(float)))"
VALUES: dict[str, tuple[str, Any]] = {
    "tensor": (TENSOR, ramp(2, 3)),
    "scalar": (TENSOR, 3),
    "zero_size": (TENSOR, ramp(2, 0, 3)),
    "sequence": (SEQUENCE, THREE),
    "sequence_of_none": (SEQUENCE, []),
    "sequence_of_zero_sizes": (SEQUENCE, [ramp(0), ramp(2, 0)]),
}
for name, (type_, value) in VALUES.items():
    bare = type_.removeprefix("optional(").removesuffix(")")
    case(f"{name}_old", input=typed(type_, value), cites=(ELEMENT_OLD, OUTPUT))
    case(f"{name}_held", input=typed(type_, value), cites=(ELEMENT, OUTPUT))
    case(f"{name}_itself", Tag.CHANGE, input=typed(bare, value), cites=(ITSELF,))
    case(f"{name}_itself_old", Tag.CHANGE, input=typed(bare, value), before=18, rejects=TYPES_OLD)
for name, type_ in {"tensor": TENSOR, "sequence": SEQUENCE}.items():
    case(f"empty_{name}_old", Tag.EDGE, input=typed(type_, EMPTY), before=18, unspecified=UNDEFINED_OLD)
    case(f"empty_{name}", Tag.EDGE, input=typed(type_, EMPTY), since=18, unspecified=UNDEFINED)
case("types", Tag.DTYPE, each="O", input=ramp(2, 3), cites=(OUTPUT,))
case("types_extremes", Tag.DTYPE, Tag.EDGE, each="O", input=extremes(12), cites=(OUTPUT,))

case("outside", Tag.DTYPE, outside="O", input=ramp(2, 3), since=18, rejects=TYPES)
for name in NOT_HELD:
    held = typed(f"optional(tensor({name}))", ramp(2))
    case(f"optional_{name}", Tag.CHANGE, input=held, before=28, rejects=Rule.TYPES)
case("no_input", rejects=Rule.ARITY)
case("no_outputs", input=typed(TENSOR, ramp(2)), n=0, rejects=Rule.ARITY)
case("two_outputs", input=typed(TENSOR, ramp(2)), n=2, rejects=Rule.ARITY)
case("attribute_type", input=typed(TENSOR, ramp(2)), stray={"type": 1}, rejects=Rule.ATTRIBUTES)
