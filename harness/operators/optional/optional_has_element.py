"""OptionalHasElement: whether an optional holds something.

Versions: 15, 18 (a tensor or a sequence does; an input left out does not) and 28 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EMPTY, EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed
from harness.declare.families.containers import NOT_HELD

HAS = Op("OptionalHasElement", versions=(15, 18, 28), compare=EXACT, widens=False, rank=lambda _: 0)

TRUE_OLD = HAS.clause("Returns true if the optional-type input contains an element.", before=18)
FALSE_OLD = HAS.clause("If it is an empty optional-type, this op returns false.", before=18)
TRUE = HAS.clause(
    "Returns true if (1) the input is an optional-type and contains an element, or, (2) the input is a tensor or "
    "sequence type.",
    since=18,
)
FALSE = HAS.clause(
    "If the input is not provided or is an empty optional-type, this op returns false.",
    since=18,
    note="A sequence of no tensors is an element; an optional of it is not empty.",
)
SCALAR = HAS.clause("A scalar boolean tensor. If true, it indicates that optional-type input contains an element.")
TYPES_OLD = HAS.clause("Constrain input type to optional tensor and optional sequence types.", before=18)
TYPES = HAS.clause("Constrain input type to optional, tensor and sequence types.", since=18)


@HAS.oracle()
def has_element(v: Version, input: Any) -> Array:  # noqa: A002, ANN401, ARG001 - the text's own name; whatever ONNX has
    """Return whether there is anything."""
    return np.asarray(input is not None)


case = HAS.case

TENSOR, SEQUENCE = "optional(tensor(float))", "optional(seq(tensor(float)))"
VALUES: dict[str, tuple[str, Any]] = {
    "tensor": (TENSOR, ramp(2, 3)),
    "tensor_zero": (TENSOR, 0),
    "tensor_false": ("optional(tensor(bool))", [False, False]),
    "zero_size": (TENSOR, ramp(2, 0, 3)),
    "empty_string": ("optional(tensor(string))", ""),
    "sequence": (SEQUENCE, [ramp(2), [[5, 6, 7]], 8]),
    "sequence_of_none": (SEQUENCE, []),
    "sequence_of_zero_sizes": (SEQUENCE, [ramp(0), ramp(2, 0)]),
}
for name, (type_, value) in VALUES.items():
    bare = type_.removeprefix("optional(").removesuffix(")")
    case(f"{name}_old", input=typed(type_, value), cites=(TRUE_OLD, SCALAR))
    case(f"{name}_held", input=typed(type_, value), cites=(TRUE, SCALAR))
    case(f"{name}_itself", Tag.CHANGE, input=typed(bare, value), cites=(TRUE,))
    case(f"{name}_itself_old", Tag.CHANGE, input=typed(bare, value), before=18, rejects=TYPES_OLD)
for name, type_ in {"tensor": TENSOR, "sequence": SEQUENCE, "strings": "optional(tensor(string))"}.items():
    case(f"empty_{name}_old", Tag.EDGE, input=typed(type_, EMPTY), cites=(FALSE_OLD,))
    case(f"empty_{name}", Tag.EDGE, input=typed(type_, EMPTY), cites=(FALSE, SCALAR))
case("left_out_old", Tag.CHANGE, before=18, rejects=Rule.ARITY)
case("left_out", Tag.CHANGE, cites=(FALSE,))
case("types", Tag.DTYPE, each="O", input=ramp(2, 3), cites=(SCALAR,))
case("types_extremes", Tag.DTYPE, Tag.EDGE, each="O", input=extremes(12), cites=(SCALAR,))

case("outside", Tag.DTYPE, outside="O", input=ramp(2, 3), since=18, rejects=TYPES)
for name in NOT_HELD:
    held = typed(f"optional(tensor({name}))", ramp(2))
    case(f"optional_{name}", Tag.CHANGE, input=held, before=28, rejects=Rule.TYPES)
case("no_outputs", input=typed(TENSOR, ramp(2)), n=0, rejects=Rule.ARITY)
case("two_outputs", input=typed(TENSOR, ramp(2)), n=2, rejects=Rule.ARITY)
case("attribute_type", input=typed(TENSOR, ramp(2)), stray={"type": 1}, rejects=Rule.ATTRIBUTES)
