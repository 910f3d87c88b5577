# SPDX-License-Identifier: Apache-2.0
"""OptionalHasElement: whether an optional has an element.

    output = OptionalHasElement(input)

Versions: 15, 18 (a tensor or a sequence is an element; the input may be omitted), 28 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EMPTY, EXACT, Array, Op, Rule, Tag, Version, extremes, ramp, typed
from onnx_conformance.declare.families.containers import NOT_HELD, THREE

OPTIONAL_HAS_ELEMENT = Op("OptionalHasElement", versions=(15, 18, 28), compare=EXACT, widens=False, rank=lambda _: 0)
OPTIONAL_HAS_ELEMENT.example(input=ramp(2, 3))

TRUE = OPTIONAL_HAS_ELEMENT.clause(
    "Returns true if (1) the input is an optional-type and contains an element, or, (2) the input is a tensor or "
    "sequence type."
).reworded(before=18, text="Returns true if the optional-type input contains an element.")
FALSE = OPTIONAL_HAS_ELEMENT.clause(
    "If the input is not provided or is an empty optional-type, this op returns false.",
    note="A sequence without tensors is an element, so an optional that contains it is not empty.",
).reworded(before=18, text="If it is an empty optional-type, this op returns false.")
SCALAR = OPTIONAL_HAS_ELEMENT.clause(
    "A scalar boolean tensor. If true, it indicates that optional-type input contains an element."
)
OPTIONAL_ONLY = OPTIONAL_HAS_ELEMENT.clause(
    "Constrain input type to optional tensor and optional sequence types.", before=18
)


@OPTIONAL_HAS_ELEMENT.oracle()
def has_element(v: Version, input: Any) -> Array:  # noqa: ANN401, ARG001 - any ONNX type
    """Return whether there is an element. None means an empty optional or an omitted input."""
    return np.asarray(input is not None)


case = OPTIONAL_HAS_ELEMENT.case

for name, element_type, value in (
    ("tensor", "tensor(float)", ramp(2, 3)),
    ("tensor_zero", "tensor(float)", 0),
    ("tensor_false", "tensor(bool)", [False, False]),
    ("zero_size", "tensor(float)", ramp(2, 0, 3)),
    ("empty_string", "tensor(string)", ""),
    ("sequence", "seq(tensor(float))", THREE),
    ("sequence_of_none", "seq(tensor(float))", []),
    ("sequence_of_zero_sizes", "seq(tensor(float))", [ramp(0), ramp(2, 0)]),
):
    optional = typed(f"optional({element_type})", value)
    bare = typed(element_type, value)
    case(f"{name}_before_18", input=optional, before=18, cites=(TRUE, SCALAR))
    case(f"{name}_since_18", input=optional, since=18, cites=(TRUE, SCALAR))
    case(f"{name}_itself", Tag.CHANGE, input=bare, since=18, cites=TRUE)
    case(f"{name}_itself_before_18", Tag.CHANGE, input=bare, rejects=OPTIONAL_ONLY)
for name, type_ in (
    ("tensor", "optional(tensor(float))"),
    ("sequence", "optional(seq(tensor(float)))"),
    ("strings", "optional(tensor(string))"),
):
    case(f"empty_{name}_before_18", Tag.EDGE, input=typed(type_, EMPTY), before=18, cites=FALSE)
    case(f"empty_{name}", Tag.EDGE, input=typed(type_, EMPTY), since=18, cites=(FALSE, SCALAR))
case("left_out_before_18", Tag.CHANGE, before=18, rejects=Rule.ARITY)
case("left_out", Tag.CHANGE, since=18, cites=FALSE)
case("types_extremes", Tag.DTYPE, Tag.EDGE, each="O", input=extremes(12), cites=SCALAR)
for name in NOT_HELD:
    optional = typed(f"optional(tensor({name}))", ramp(2))
    case(f"optional_{name}_before_28", Tag.CHANGE, input=optional, before=28, rejects=Rule.TYPES)
