"""SequenceEmpty: a sequence of no tensors.

Version: 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.declare import EXACT, Array, Int, Op, Rule, Tag, Version, element_type

if TYPE_CHECKING:
    from collections.abc import Mapping

# In the order of TensorProto.DataType, from 1 on.
ALLOWED = ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double",
           "uint32", "uint64", "complex64", "complex128")  # fmt: skip
OTHERS = ("bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4")


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the sequence of the data type given, or of float."""
    number = attributes.get("dtype")
    return f"seq(tensor({(*ALLOWED, *OTHERS)[(1 if number is None else number) - 1]}))"


EMPTY = Op("SequenceEmpty", versions=(11,), compare=EXACT, derives={"S": _type})

CONSTRUCT = EMPTY.clause("Construct an empty tensor sequence, with given data type.")
GIVEN = EMPTY.clause("(Optional) The data type of the tensors in the output sequence.")
DEFAULT = EMPTY.clause("The default type is 'float'.")
ANY_TYPE = EMPTY.clause("Constrain output types to any tensor type.")


@EMPTY.oracle()
def empty(v: Version, dtype: Int) -> list[Array]:  # noqa: ARG001 - its type is that of the output
    """Return a sequence of no tensors."""
    return []


case = EMPTY.case

case("default", cites=(CONSTRUCT, DEFAULT))
for name in ALLOWED:
    case(f"dtype_{name}", Tag.DTYPE, dtype=element_type(name), cites=(CONSTRUCT, GIVEN))
for name in OTHERS:
    case(f"dtype_{name}", Tag.DTYPE, dtype=element_type(name), rejects=ANY_TYPE)
case("no_outputs", n=0, rejects=Rule.ARITY)
case("two_outputs", n=2, rejects=Rule.ARITY)
case("attribute_axis", stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
