# SPDX-License-Identifier: Apache-2.0
"""OptionalGetElement: return the element of an optional.

    output = OptionalGetElement(input)

Versions: 15, 18 (a tensor or a sequence is returned unchanged), 28 (types).
"""

from __future__ import annotations

from typing import Any

from onnx_conformance.declare import EMPTY, EXACT, Op, Rule, Tag, Version, extremes, held_by, ramp, typed
from onnx_conformance.declare.families.containers import NOT_HELD, THREE

OPTIONAL_GET_ELEMENT = Op(
    "OptionalGetElement", versions=(15, 18, 28), compare=EXACT, derives={"V": held_by("optional", "O")}, widens=False
)
OPTIONAL_GET_ELEMENT.example(input=ramp(2, 3))

ITSELF = OPTIONAL_GET_ELEMENT.clause("If the input is a tensor or sequence type, it returns the input.", since=18)
ELEMENT = OPTIONAL_GET_ELEMENT.clause(
    "If the input is an optional type, it outputs the element in the input."
).reworded(before=18, text="Outputs the element in the optional-type input.")
UNDEFINED = OPTIONAL_GET_ELEMENT.clause(
    "It is an error if the input is an empty optional-type (i.e. does not have an element) and the behavior is "
    "undefined in this case.",
    note="The behavior is undefined, so a runtime does not have to raise the error. Undefined behavior is not scored.",
).reworded(
    before=18,
    text="It is an error if the input value does not have an element and the behavior is undefined in this case.",
    note="The behavior is undefined, so a runtime does not have to raise the error. Undefined behavior is not scored.",
)
OUTPUT = OPTIONAL_GET_ELEMENT.clause("Output element in the optional input.")
OPTIONAL_ONLY = OPTIONAL_GET_ELEMENT.clause(
    "Constrain input type to optional tensor and optional sequence types.", before=18
)


@OPTIONAL_GET_ELEMENT.oracle(before=18)
def element_before_18(v: Version, input: Any) -> Any:  # noqa: ANN401 - any ONNX type
    """Return the element of the optional. None means an empty optional."""
    v.silent(UNDEFINED, input is None)
    return input


@OPTIONAL_GET_ELEMENT.oracle(since=18)
def element(v: Version, input: Any) -> Any:  # noqa: ANN401 - any ONNX type
    """Return the element of the optional, or the input itself. None means an empty optional."""
    v.silent(UNDEFINED, input is None)
    return input


case = OPTIONAL_GET_ELEMENT.case

for name, element_type, value in (
    ("tensor", "tensor(float)", ramp(2, 3)),
    ("scalar", "tensor(float)", 3),
    ("zero_size", "tensor(float)", ramp(2, 0, 3)),
    ("sequence", "seq(tensor(float))", THREE),
    ("sequence_of_none", "seq(tensor(float))", []),
    ("sequence_of_zero_sizes", "seq(tensor(float))", [ramp(0), ramp(2, 0)]),
):
    optional = typed(f"optional({element_type})", value)
    bare = typed(element_type, value)
    case(f"{name}_before_18", input=optional, before=18, cites=(ELEMENT, OUTPUT))
    case(f"{name}_since_18", input=optional, since=18, cites=(ELEMENT, OUTPUT))
    case(f"{name}_itself", Tag.CHANGE, input=bare, cites=ITSELF)
    case(f"{name}_itself_before_18", Tag.CHANGE, input=bare, rejects=OPTIONAL_ONLY)
for name, type_ in (("tensor", "optional(tensor(float))"), ("sequence", "optional(seq(tensor(float)))")):
    case(f"empty_{name}", Tag.EDGE, input=typed(type_, EMPTY), unspecified=UNDEFINED)
case("types_extremes", Tag.DTYPE, Tag.EDGE, each="O", input=extremes(12), cites=OUTPUT)
for name in NOT_HELD:
    optional = typed(f"optional(tensor({name}))", ramp(2))
    case(f"optional_{name}_before_28", Tag.CHANGE, input=optional, before=28, rejects=Rule.TYPES)
