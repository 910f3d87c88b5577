# SPDX-License-Identifier: Apache-2.0
"""Optional: make an optional of a value, or an empty one.

    output = Optional(input=None, type=None)

Versions: 15, 28 (types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.declare import EMPTY, EXACT, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.families.containers import THREE

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(types: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the optional type of the type in the attribute, or of the type of the input."""
    return f"optional({attributes.get('type') or types['V']})"


OPTIONAL = Op("Optional", versions=(15, 28), compare=EXACT, derives={"O": _type}, widens=False)
OPTIONAL.example(input=ramp(2, 3))

EITHER = OPTIONAL.clause(
    "Constructs an optional-type value containing either an empty optional of a certain type specified by the "
    "attribute, or a non-empty value containing the input element.",
    note="The text does not define a node with both or neither of them. onnx.reference returns a sequence with one "
    "element.",
)
ENCLOSING = OPTIONAL.clause("The optional output enclosing the input element.")
ELEMENT = OPTIONAL.clause("Type of the element in the optional output")
INPUT_TYPES = OPTIONAL.clause("Constrain input type to all tensor and sequence types.")
OUTPUT_TYPES = OPTIONAL.clause("Constrain output type to all optional tensor or optional sequence types.")


@OPTIONAL.oracle()
def optional(v: Version, input: Any, type: str | None) -> Any:  # noqa: ANN401 - any type
    """Return the input, or None."""
    v.silent(EITHER, (input is None) is (type is None))
    return input


case = OPTIONAL.case

case("tensor", input=ramp(2, 3), cites=(EITHER, ENCLOSING))
case("scalar", Tag.EDGE, input=3, cites=ENCLOSING)
case("zero_size", Tag.EDGE, input=ramp(2, 0, 3), cites=ENCLOSING)
case("sequence", input=typed("seq(tensor(float))", THREE), cites=(EITHER, ENCLOSING))
case("sequence_of_one", Tag.EDGE, input=typed("seq(tensor(int64))", [ramp(2, 3)]), cites=ENCLOSING)
case("sequence_of_none", Tag.EDGE, input=typed("seq(tensor(float))", []), cites=ENCLOSING)
case("empty_of", type=vary(tensor="tensor(float)", sequence="seq(tensor(float))"), cites=(EITHER, ELEMENT))
case("types_extremes", Tag.DTYPE, Tag.EDGE, each="V", input=extremes(12), cites=OUTPUT_TYPES)
case("types_empty", Tag.DTYPE, each="V", type="{V}", cites=ELEMENT)

case("neither", Tag.EDGE, unspecified=EITHER)
case("both", Tag.EDGE, input=ramp(2, 3), type="tensor(float)", unspecified=EITHER)
case("both_of_other_type", Tag.EDGE, input=ramp(2, 3), type="tensor(int64)", unspecified=EITHER)

case("of_optional", Tag.DTYPE, input=typed("optional(tensor(float))", ramp(3)), rejects=INPUT_TYPES)
case("of_empty", Tag.DTYPE, input=typed("optional(tensor(float))", EMPTY), rejects=INPUT_TYPES)
case(
    "empty_of", Tag.DTYPE, type=vary(optional="optional(tensor(float))", map="map(int64, float)"), rejects=OUTPUT_TYPES
)
for name, type_ in (
    ("tensor_bfloat16", "tensor(bfloat16)"),
    ("tensor_float8e4m3fn", "tensor(float8e4m3fn)"),
    ("sequence_of_int4", "seq(tensor(int4))"),
):
    case(f"empty_of_{name}_before_28", Tag.CHANGE, type=type_, before=28, rejects=OUTPUT_TYPES)
