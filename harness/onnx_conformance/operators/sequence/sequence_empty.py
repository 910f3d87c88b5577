# SPDX-License-Identifier: Apache-2.0
"""SequenceEmpty: make a sequence without tensors.

    output = SequenceEmpty(dtype=1)

Version: 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.declare import EXACT, Array, Int, Op, Tag, Version, element_type

if TYPE_CHECKING:
    from collections.abc import Mapping


HELD = (
    "float",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "int64",
    "string",
    "bool",
    "float16",
    "double",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
)
"""The element types of tensors allowed in a sequence, in the order of TensorProto.DataType, starting at 1."""
NOT_HELD = ("bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4")
"""The element types that follow in that order, which are not allowed in a sequence."""


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the sequence type with the tensor type that `dtype` identifies, or with float."""
    names = dict(enumerate((*HELD, *NOT_HELD), start=1))
    dtype = attributes.get("dtype")
    return f"seq(tensor({'float' if dtype is None else names.get(dtype, dtype)}))"


SEQUENCE_EMPTY = Op("SequenceEmpty", versions=(11,), compare=EXACT, derives={"S": _type})
SEQUENCE_EMPTY.example(dtype=element_type("int64"))

CONSTRUCT = SEQUENCE_EMPTY.clause("Construct an empty tensor sequence, with given data type.")
DTYPE = SEQUENCE_EMPTY.clause("(Optional) The data type of the tensors in the output sequence.")
DEFAULT = SEQUENCE_EMPTY.clause("The default type is 'float'.")
EMPTY_SEQUENCE = SEQUENCE_EMPTY.clause("Empty sequence.")
ANY_TYPE = SEQUENCE_EMPTY.clause("Constrain output types to any tensor type.")


@SEQUENCE_EMPTY.oracle()
def empty(v: Version, dtype: Int) -> list[Array]:  # noqa: ARG001 - it determines the type of the output
    """Return a sequence without tensors."""
    return []


case = SEQUENCE_EMPTY.case

case("default", cites=(CONSTRUCT, DEFAULT, EMPTY_SEQUENCE))
for name in HELD:
    case(f"dtype_{name}", Tag.DTYPE, dtype=element_type(name), cites=(CONSTRUCT, DTYPE))
for name in NOT_HELD:
    case(f"dtype_{name}", Tag.DTYPE, dtype=element_type(name), rejects=ANY_TYPE)
