# SPDX-License-Identifier: Apache-2.0
"""Declared arguments become values and attributes of the types that a case is expanded to."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from generated import nothing_derived
from onnx_conformance.declare import (
    EMPTY,
    EXACT,
    DeclarationError,
    Op,
    Sparse,
    Subgraph,
    Version,
    attribute,
    dense,
    element_type,
    graph,
    ramp,
    typed,
)
from onnx_conformance.declare.op import Bindings
from onnx_conformance.declare.type import Type
from onnx_conformance.generation import binding, plans
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.signature import TypedValue, gather, type_of
from refusals import refuses

TYPES = {"T": "tensor(int8)", "S": "seq(tensor(float16))"}
IDENTITY = (1, 13, 14, 16, 19, 21, 23, 24, 25)


@pytest.mark.parametrize(
    ("argument", "type_", "expected", "own_type"),
    [
        ([1, 2], "tensor(int8)", np.array([1, 2], np.int8), "tensor(int8)"),
        (typed("double", [1]), "tensor(int8)", np.array([1.0]), "tensor(double)"),
        (typed("{T}", [1]), "tensor(float)", np.array([1], np.int8), "tensor(int8)"),
        (typed("tensor(string)", [1, "b"]), "", np.array(["1", "b"], object), "tensor(string)"),
        ([ramp(2), 7], "seq(tensor(float))", [np.array([0, 1], np.float32), np.float32(7)], "seq(tensor(float))"),
        (ramp(2), "seq(tensor(float))", [np.array([0, 1], np.float32)], "seq(tensor(float))"),
        (typed("seq({T})", []), "", [], "seq(tensor(int8))"),
        (EMPTY, "optional(tensor(float))", None, "optional(tensor(float))"),
        (3, "optional(seq(tensor(int64)))", [np.int64(3)], "optional(seq(tensor(int64)))"),
        ({"a": 1}, "map(string, float)", {"a": np.float32(1)}, "map(string, float)"),
        ([{4: 1.5}], "seq(map(int64, double))", [{4: np.float64(1.5)}], "seq(map(int64, double))"),
    ],
)
def test_values_take_the_type_of_their_place_or_their_own(
    argument: Any, type_: str, expected: Any, own_type: str
) -> None:
    bound = binding.typed(argument, type_, TYPES)
    assert bound.type == own_type
    if expected is not None:
        np.testing.assert_equal(bound.value, expected)
    else:
        assert bound.value is None
    assert type_of(bound.value) in {"", own_type, str(Type.parse(own_type).inner)}, "a value has its type, or none"


def attribute_of(name: str, argument: Any, operator: str, version: int = 0) -> onnx.AttributeProto:
    known = schema.versions("ai.onnx", operator)[version].attributes[name]
    return binding.attribute(name, argument, known, TYPES)


def test_attributes_take_the_kind_that_the_signature_says() -> None:
    assert list(attribute_of("axes", [], "Squeeze").ints) == []
    assert attribute_of("axes", [], "Squeeze").type == onnx.AttributeProto.INTS
    assert attribute_of("to", element_type("{T}"), "Cast", -1).i == onnx.TensorProto.INT8
    assert attribute_of("to", element_type("bfloat16"), "Cast", -1).i == onnx.TensorProto.BFLOAT16
    assert attribute_of("to", element_type("{T}"), "Cast", 0).s == b"INT8"
    value = attribute_of("value", typed("{T}", [3]), "ConstantOfShape").t
    np.testing.assert_equal(numpy_helper.to_array(value), np.array([3], np.int8))
    assert schema.type_text(attribute_of("type", "{S}", "Optional").tp) == "seq(tensor(float16))"
    body = attribute_of("then_branch", graph("b () => ({S} y) { y = Identity(x) }"), "If", -1).g
    assert schema.type_text(body.output[0].type) == "seq(tensor(float16))"


@pytest.mark.parametrize(
    ("name", "argument", "operator", "sentence"),
    [
        ("then_branch", graph("b () => (float y) {"), "If", "attribute then_branch: its text is not a graph"),
        ("to", element_type("float17"), "Cast", "'float17' is not an ONNX element type"),
    ],
)
def test_malformed_arguments_are_one_clear_line(name: str, argument: Any, operator: str, sentence: str) -> None:
    with pytest.raises(DeclarationError, match=sentence):
        attribute_of(name, argument, operator, -1)


def test_a_sparse_tensor_is_zeros_but_for_its_values() -> None:
    np.testing.assert_equal(dense(Sparse([5, 6], [1, 5], (2, 3))), [[0, 5, 0], [0, 0, 6]])
    np.testing.assert_equal(dense(Sparse([5, 6], [[0, 1], [1, 2]], (2, 3))), [[0, 5, 0], [0, 0, 6]])
    np.testing.assert_equal(dense(Sparse(np.array(["a"], object), [1], (2,))), np.array(["", "a"], object))


def test_a_type_comes_from_the_attribute_then_from_an_input_then_from_the_text() -> None:
    derive = attribute("to", "T2", "tensor(uint8)")
    unbound = Bindings({"T2": "tensor(float)"}, {})
    assert derive(unbound, {"to": 7}) == 7
    assert derive(unbound, {"to": 0}) == "tensor(uint8)"
    assert derive(Bindings({"T2": "tensor(float)"}, {"T2": ["tensor(int4)"]}), {"to": None}) == "tensor(int4)"


def test_variadic_inputs_are_gathered_and_missing_ones_are_not_misread() -> None:
    (loop,) = schema.versions("ai.onnx", "Loop")[-1:]
    some = [TypedValue(np.zeros(())), None, TypedValue(np.ones(2)), TypedValue(np.ones(3))]
    assert gather(loop, [*some]) == [some[0], None, some[2:]]
    assert gather(loop, [some[0]]) == [some[0]]


def wrapped() -> Op:
    """Return an operator that hands on what a subgraph or its input gives."""
    op = nothing_derived(Op("If", versions=(1, 11, 13, 16, 19, 21, 23, 24, 25), compare=EXACT, widens=False))

    @op.oracle()
    def conditional(v: Version, cond: Any, then_branch: Subgraph, else_branch: Subgraph) -> Any:  # noqa: ARG001
        assert then_branch.inputs == []
        return tuple((then_branch if cond else else_branch)())

    body = graph("b () => (float[] y) { y = Add(a, a) }")
    op.case("around", cond=True, around={"a": [1, 2]}, then_branch=body, else_branch=body, since=25)
    return op


def test_values_around_a_subgraph_are_inputs_of_the_graph_and_not_of_the_node() -> None:
    (plain,) = (case for case in plans.cases(wrapped()) if case.form == "plain")
    model = onnx.load_from_string(plain.model)
    assert list(plain.inputs) == ["cond", "a"]
    assert list(model.graph.node[0].input) == ["cond"]
    np.testing.assert_equal(plain.expected, [np.array([2, 4], np.float32)])


def test_a_subgraph_of_an_undeclared_operator_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry.load()._ops, ("ai.onnx", "Tan"))
    op = wrapped()
    body = graph("b () => (float[] y) { y = Tan(a) }")
    op.case("undeclared", cond=True, around={"a": [1]}, then_branch=body, else_branch=body, since=25)
    with refuses("plan-invalid", "If/25/undeclared", "ai.onnx/Tan", kind=DeclarationError):
        list(plans.plans(op))


def test_an_output_left_out_in_between_is_named_empty() -> None:
    op = registry.load().named("Dropout")
    (case,) = (case for case in plans.cases(op, (22,)) if case.id.endswith("/training_without_mask"))
    assert list(onnx.load_from_string(case.model).graph.node[0].output) == ["output", ""]
    assert case.outputs == ("output",)
    assert case.expected is not None
    assert len(case.expected) == 1


@pytest.mark.slow
def test_several_type_variables_are_expanded_over_all_pairs() -> None:
    op = nothing_derived(Op("CastLike", versions=(15, 19, 21, 23, 24, 25), compare=EXACT))

    @op.oracle()
    def cast(v: Version, input: Any) -> Any:  # noqa: A002 - the text's own name
        return np.zeros(input.shape, v.dtypes["T2"]) if v.dtypes["T2"].kind != "O" else np.full(input.shape, "", object)

    op.dispute("this oracle is not that of CastLike", "*")
    op.case("pairs", input=[0], target_type=[0], each=("T1", "T2"), before=19)
    ids = [case.id for case in plans.cases(op) if case.form == "plain"]
    (version,) = schema.versions("ai.onnx", "CastLike")[:1]
    assert len(ids) == len(set(ids)) == len(version.types["T1"]) * len(version.types["T2"])
    assert "ai.onnx/CastLike/15/pairs/float16-to-string" in ids
