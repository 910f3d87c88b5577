# SPDX-License-Identifier: Apache-2.0
"""Identity: return the input unchanged.

    output = Identity(input)

Versions: 1, 13 (bfloat16), 14 (sequences), 16 (optionals), 19, 21, 23, 24 and 25 (types).
"""

from __future__ import annotations

from typing import Any

from onnx_conformance.declare import EMPTY, EXACT, Op, Rule, Tag, Version, every_value, extremes, ramp, typed
from onnx_conformance.declare.families.containers import THREE
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.tensor._conversion_cases import FIRST

IDENTITY = Op("Identity", versions=(1, 13, 14, 16, 19, 21, 23, 24, 25), compare=EXACT, rank="input", widens=False)

SAME = IDENTITY.clause("Identity operator")
COPY = IDENTITY.clause("Tensor to copy input into.")
OPTIONALS = IDENTITY.clause("Constrain input and output types to all tensor, sequence, and optional types.", since=16)


@IDENTITY.oracle()
def same(v: Version, input: Any) -> Any:  # noqa: ANN401, ARG001 - any ONNX type
    """Return the input."""
    return input


case = IDENTITY.case

case("matrix", input=ramp(2, 3), cites=(SAME, COPY))
case("scalar", Tag.EDGE, input=3, cites=SAME)
case("size_one", Tag.EDGE, input=[3], cites=SAME)
case("zero_size", Tag.EDGE, input=ramp(2, 0, 3), cites=SAME)
case("rank6", Tag.EDGE, input=ramp(2, 1, 3, 1, 2, 1), cites=SAME)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(12), cites=COPY)
case("extremes_since_14", Tag.DTYPE, Tag.EDGE, each="V", input=extremes(12), since=14, cites=COPY)

SEQUENCE = typed("seq(tensor(float))", THREE)
case("sequence", Tag.CHANGE, input=SEQUENCE, since=14, cites=SAME)
case("sequence_empty", Tag.EDGE, input=typed("seq(tensor(int64))", []), since=14, cites=SAME)
case("sequence_of_zero_size", Tag.EDGE, input=typed("seq(tensor(float))", [ramp(0), ramp(2, 0)]), since=14)
case("sequence_before_14", Tag.CHANGE, input=SEQUENCE, before=14, rejects=Rule.TYPES)
for name, type_ in {"tensor": "optional(tensor(float))", "sequence": "optional(seq(tensor(float)))"}.items():
    case(f"optional_{name}", Tag.CHANGE, input=typed(type_, ramp(3)), since=16, cites=OPTIONALS)
    case(f"optional_{name}_empty", Tag.EDGE, input=typed(type_, EMPTY), since=16, cites=OPTIONALS)
    case(f"optional_{name}_before_16", Tag.CHANGE, input=typed(type_, ramp(3)), before=16, rejects=Rule.TYPES)

IDENTITY.sized(
    "matrix", grid(m=(3,), n=(16, 1025, 43_691)), each="V", cites=SAME, arguments={"input": filled("m", "n")}
)
for type_ in (name for name in FIRST if name not in {"string", "float6e2m3", "float6e3m2"}):
    IDENTITY.every(f"every_{type_}", cites=COPY, input=typed(type_, every_value()))
