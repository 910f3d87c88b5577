# SPDX-License-Identifier: Apache-2.0
"""The texts of types: each is parsed, and written again as ONNX writes it."""

from __future__ import annotations

import onnx
import onnx.defs
import pytest

from onnx_conformance.declare.type import Kind, Type, TypeTextError
from refusals import refuses

SCHEMAS = onnx.defs.get_all_schemas_with_history()
CONSTRAINTS = {text for schema in SCHEMAS for item in schema.type_constraints for text in item.allowed_type_strs}
PARAMETERS = {text for schema in SCHEMAS for item in (*schema.inputs, *schema.outputs) for text in item.types}

FLOATS = Type(Kind.TENSOR, "float")
TYPES = {
    "tensor(float)": FLOATS,
    "sparse_tensor(float)": Type(Kind.SPARSE_TENSOR, "float"),
    "seq(tensor(float))": Type(Kind.SEQUENCE, inner=FLOATS),
    "optional(seq(tensor(float)))": Type(Kind.OPTIONAL, inner=Type(Kind.SEQUENCE, inner=FLOATS)),
    "map(string, float)": Type(Kind.MAP, "string", FLOATS),
    "map(int64, seq(tensor(float)))": Type(Kind.MAP, "int64", Type(Kind.SEQUENCE, inner=FLOATS)),
    "seq(map(int64, map(string, float)))": Type(
        Kind.SEQUENCE, inner=Type(Kind.MAP, "int64", Type(Kind.MAP, "string", FLOATS))
    ),
    "tensor(99)": Type(Kind.TENSOR, "99"),
}
MALFORMED = (
    "", "float", "tensor", "tensor()", "tensor(float", "tensor(float))", "tensor(float) ", "tensor(float, int64)",
    "tensor(seq(float))", "tensr(float)", "tensor_type", "seq()", "seq(float)", "seq(tensor(float)", "{T}", "seq({T})",
    "optional(float)", "map(float)", "map(int64, )", "map(, float)", "map(tensor(int64), float)", "map(int64, a b)",
)  # fmt: skip


def test_there_are_types_of_every_kind_in_signatures() -> None:
    assert len(CONSTRAINTS) > 50
    assert {Type.parse(text).kind for text in CONSTRAINTS} == {Kind.TENSOR, Kind.SEQUENCE, Kind.MAP, Kind.OPTIONAL}


@pytest.mark.parametrize("text", sorted(CONSTRAINTS))
def test_a_type_of_a_signature_is_written_as_it_was(text: str) -> None:
    assert str(Type.parse(text)) == text


def test_the_types_of_parameters_are_those_of_type_constraints() -> None:
    """For parameters, onnx.defs writes map(int64,tensor(float)) instead of map(int64, float)."""
    others = PARAMETERS - CONSTRAINTS
    assert others
    assert {str(Type.parse(text)) for text in others} <= CONSTRAINTS


@pytest.mark.parametrize("text", TYPES)
def test_a_type_has_a_kind_an_element_type_and_an_inner_type(text: str) -> None:
    assert Type.parse(text) == TYPES[text]
    assert str(TYPES[text]) == text


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_text_is_an_error_that_shows_it(text: str) -> None:
    with pytest.raises(TypeTextError) as caught:
        Type.parse(text)
    assert str(caught.value).startswith(f"{text!r} is not an ONNX type; expected a text such as tensor(float)")


@pytest.mark.parametrize(
    ("short", "text"),
    [
        ("float16", "tensor(float16)"),
        ("seq(tensor(float))", "seq(tensor(float))"),
        ("map(int64, float)", "map(int64, float)"),
        ("sparse_tensor(float)", "sparse_tensor(float)"),
    ],
)
def test_a_short_text_is_the_element_type_of_a_tensor(short: str, text: str) -> None:
    assert Type.parse(text).short == short
    assert Type.parse_short(short) == Type.parse_short(text) == Type.parse(text)


@pytest.mark.parametrize("text", ["", "seq(float)", "a b"])
def test_a_malformed_short_text_is_an_error(text: str) -> None:
    with refuses("not-a-type", kind=TypeTextError):
        Type.parse_short(text)


def test_the_innermost_type_is_that_of_the_tensors() -> None:
    assert Type.parse("optional(seq(tensor(int4)))").innermost == Type.parse("tensor(int4)")
    assert Type.parse("map(string, int64)").innermost == Type.parse("tensor(int64)")
    assert Type.parse("tensor(bool)").innermost == Type.parse("tensor(bool)")


def test_only_dense_tensors_are_tensors() -> None:
    assert [text for text, type_ in TYPES.items() if type_.is_tensor] == ["tensor(float)", "tensor(99)"]
