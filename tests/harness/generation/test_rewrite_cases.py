# SPDX-License-Identifier: Apache-2.0
"""Surroundings of rewrites: what each of them does to a model, and that a wrong rewrite is noticed."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.case.external_data import loaded
from onnx_conformance.forms import constants, surroundings, table
from onnx_conformance.generation import rewrite_cases
from onnx_conformance.rewrites.rewrite import Model, Rewrite, integers, listed, numbers, scalar
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.tolerance.several_nodes import in_narrower

MODEL = Model(
    "model",
    "t = Transpose<perm = [1, 0]>(x)\na = Add(t, c)\ny = Relu(a)",
    {"x": numbers(3, 4, seed=1)},
    {"c": listed(1, -1, 0.5)},
)
REWRITE = Rewrite("rewrite", "Transpose", ("tool: pass",), (MODEL,))


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.form: case for case in rewrite_cases._cases(REWRITE, MODEL, "ai.onnx/Transpose/13")}


CHECKED = [form for form in table.names(table.Start.REWRITE) if form not in {"unranked", "external_data"}]
"""onnx.checker rejects inputs of a graph without a shape, which the text allows, and external data without a file."""


def _model(case: Case) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(case.model)


def test_each_surrounding_gives_a_case_with_values(cases: dict[str, Case]) -> None:
    assert tuple(cases) == table.names(table.Start.REWRITE)
    assert {case.outcome for case in cases.values()} == {Outcome.VALUES}
    assert cases["plain"].id == "ai.onnx/Transpose/13/rewrite_model"
    assert cases["tapped"].id == "ai.onnx/Transpose/13/rewrite_model@tapped"
    assert cases["plain"].notes == ("known rewrite of tool: pass",)


def test_each_model_is_valid(cases: dict[str, Case]) -> None:
    for form in CHECKED:
        onnx.checker.check_model(_model(cases[form]))


def test_constants_are_where_the_surrounding_says(cases: dict[str, Case]) -> None:
    assert [item.name for item in _model(cases["plain"]).graph.initializer] == ["c"]
    assert _model(cases["constant_nodes"]).graph.node[0].op_type == "Constant"
    assert not _model(cases["folded"]).graph.input
    assert list(cases["runtime"].inputs) == ["x", "c"]


def test_initializers_are_stored_in_other_ways(cases: dict[str, Case]) -> None:
    (typed,) = _model(cases["typed"]).graph.initializer
    assert (typed.float_data, typed.HasField("raw_data")) == ([1, -1, 0.5], False)
    (external,) = _model(cases["external_data"]).graph.initializer
    held = loaded(external, cases["external_data"].files)
    assert held is not None
    assert numpy_helper.to_array(held).tolist() == [1, -1, 0.5]
    assert loaded(external, {}) is None
    plain = cases["plain"]
    for case in (cases["typed"], cases["external_data"]):
        assert np.array_equal(case.expected[0], plain.expected[0])
        narrow, wide = (in_narrower(item, np.dtype(np.float16)).bounds for item in (case, plain))
        assert np.array_equal(narrow[0], wide[0])


def test_defaults_that_a_caller_overrides_are_other_numbers(cases: dict[str, Case]) -> None:
    graph = _model(cases["overridden"]).graph
    default = numpy_helper.to_array(graph.initializer[0])
    given = cases["overridden"].inputs["c"]
    assert graph.initializer[0].name == "c"
    assert (default != given).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_defaults_differ_in_every_element(dtype: str) -> None:
    values = np.array([-1, 0, 3, float("inf"), float("nan"), 6e4], dtype)
    assert (constants.different(values) != values).all()


def test_integers_are_not_overridden() -> None:
    model = Model("model", "y = Reshape(x, s)", {"x": numbers(2, 3)}, {"s": integers(3, 2)})
    assert constants.overridden(rewrite_cases.started(model, "name")) is None


def test_values_between_the_nodes_are_outputs(cases: dict[str, Case]) -> None:
    assert cases["tapped"].outputs == ("y", "t", "a")
    assert np.array_equal(cases["tapped"].expected[1], MODEL.inputs["x"].T)


def test_values_between_the_nodes_are_taken_by_others(cases: dict[str, Case]) -> None:
    assert cases["shared"].outputs == ("y", "t_twice", "a_twice")
    assert cases["shared"].expected[1].shape == (8, 3)


def test_both_copies_take_the_same_initializers(cases: dict[str, Case]) -> None:
    graph = _model(cases["doubled"]).graph
    assert [item.name for item in graph.initializer] == ["c"]
    assert sum("c" in node.input for node in graph.node) == 2
    assert not np.array_equal(cases["doubled"].inputs["x"], cases["doubled"].inputs["x_2"])


def test_a_branch_a_function_and_unknown_shapes(cases: dict[str, Case]) -> None:
    assert [node.op_type for node in _model(cases["if_branch"]).graph.node] == ["If"]
    assert [item.name for item in _model(cases["local_function"]).functions] == ["Pattern"]
    assert _model(cases["symbolic"]).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "x_0"
    assert _model(cases["unranked"]).graph.node[0].op_type == "Reshape"
    inferred = onnx.shape_inference.infer_shapes(_model(cases["unranked"])).graph.value_info
    assert not next(item for item in inferred if item.name == "x").type.tensor_type.HasField("shape")


def test_opsets(cases: dict[str, Case]) -> None:
    opsets = {form: _model(case).opset_import[0].version for form, case in cases.items()}
    assert opsets["oldest"] == 13
    assert opsets["plain"] == 18
    assert opsets["recent"] > 18


def test_operators_of_another_domain_are_imported() -> None:
    model = Model(
        "model", "y = ai.onnx.ml.LabelEncoder<keys_int64s = [1], values_int64s = [5]>(x)", {"x": integers(1, 2)}
    )
    rewrite = Rewrite("rewrite", "ai.onnx.ml/LabelEncoder", (), (model,))
    operator = rewrite_cases._slice(rewrite, model)
    assert operator == "ai.onnx.ml/LabelEncoder/4"
    found = list(rewrite_cases._cases(rewrite, model, operator))
    assert all("ai.onnx.ml" in {item.domain for item in _model(case).opset_import} for case in found)
    assert found[0].notes == ()


def test_the_branch_not_taken_has_texts_too() -> None:
    assert surroundings._other(np.array(["a", "b"], object), ones=False).tolist() == ["", ""]


def _without(model: onnx.ModelProto, op_type: str) -> onnx.ModelProto:
    """Return a model without a node: what takes its output takes its input instead."""
    dropped = next(node for node in model.graph.node if node.op_type == op_type)
    model.graph.node.remove(dropped)
    for node in model.graph.node:
        node.input[:] = [dropped.input[0] if name == dropped.output[0] else name for name in node.input]
    return model


@pytest.mark.parametrize("op_type", ["Transpose", "Add"])
def test_a_wrong_rewrite_is_noticed(op_type: str) -> None:
    square = Model("square", MODEL.nodes, {"x": numbers(3, 3, seed=1)}, MODEL.constants)
    case = next(rewrite_cases._cases(REWRITE, square, "ai.onnx/Transpose/13"))
    answers = Evaluator().model(_without(_model(case), op_type), case.inputs)
    assert compare(case.expected, [answers["y"]], case.allowance)


def test_a_right_rewrite_is_not() -> None:
    model = Model(
        "model", "r = Div(c, x)\ny = Mul(r, z)", {"x": numbers(3, 4) + 3, "z": numbers(3, 4, seed=2)}, {"c": scalar(1)}
    )
    case = next(rewrite_cases._cases(REWRITE, model, "ai.onnx/Div/14"))
    answer = (case.inputs["z"] / case.inputs["x"]).astype(np.float32)
    assert not compare(case.expected, [answer], case.allowance)


@pytest.mark.parametrize("index", range(0, 1000, 97))
def test_declared_models_are_valid(index: int) -> None:
    models = [(rewrite, model) for rewrite in rewrite_cases.declared() for model in rewrite.models]
    rewrite, model = models[index % len(models)]
    start = rewrite_cases.started(model, f"{rewrite.name}_{model.name}")
    for form, made in table.delivered(start, table.Start.REWRITE):
        if form in CHECKED:
            onnx.checker.check_model(made.model, full_check=True)


@pytest.mark.slow
def test_the_model_checker_takes_every_surrounding() -> None:
    for rewrite in rewrite_cases.declared()[::9]:
        operator = rewrite_cases._slice(rewrite, rewrite.models[0])
        for case in rewrite_cases._cases(rewrite, rewrite.models[0], operator):
            if not case.files:
                onnx.checker.check_model(onnx.load_from_string(case.model), full_check=True)
