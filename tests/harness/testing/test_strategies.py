# SPDX-License-Identifier: Apache-2.0
"""The strategies: drawn calls and models are right, and a wrong implementation is caught with a small example."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from onnx_conformance import ReferenceEvaluator, strategies
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type
from onnx_conformance.strategies import Call, Model, calls, models, tensors
from refusals import refuses

QUICK = settings(
    database=None, derandomize=True, max_examples=20, deadline=None, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
SHRUNK = settings(database=None, derandomize=True, max_examples=300, deadline=None)


def right(drawn: Model) -> list[Any]:
    outputs = ReferenceEvaluator(drawn.model).run(None, drawn.feeds)
    assert isinstance(outputs, list)
    return outputs


def fails(drawn: Model, outputs: list[Any]) -> bool:
    try:
        drawn.check(outputs)
    except AssertionError:
        return True
    return False


def test_calls_are_valid_and_have_the_outputs_of_the_text() -> None:
    seen = set()

    @QUICK
    @given(calls("Split", version=18))
    def drawn(call: Call) -> None:
        onnx.checker.check_model(call.model)
        assert call.operator == "ai.onnx/Split/18"
        assert call.model.graph.node[0].op_type == "Split"
        assert {item.name for item in call.model.graph.node[0].attribute} == set(call.attributes)
        assert list(call.feeds) == [item.name for item in call.model.graph.input]
        call.check(right(call))
        call.check(call.expected)
        seen.add(tuple(value.shape for value in call.feeds.values() if isinstance(value, np.ndarray)))

    drawn()
    assert len(seen) > 3, seen


@pytest.mark.slow
def test_a_wrong_implementation_is_caught_and_shrunk() -> None:
    """It adds one to the last element of a sum over an axis of three or more elements."""

    def wrong(call: Call) -> list[Any]:
        (total,) = right(call)
        data = call.inputs["data"]
        if max(data.shape, default=0) >= 3 and total.size:
            total = total.copy()
            total.reshape(-1)[-1] += 1
        return [total]

    small = find(calls("ReduceSum", version=13), lambda call: fails(call, wrong(call)), settings=SHRUNK)
    assert max(small.inputs["data"].shape) >= 3
    assert small.inputs["data"].size <= 5, small
    assert not small.inputs["data"].any(), small
    with pytest.raises(AssertionError, match=r"ai\.onnx/ReduceSum/13: wrong_value: .*\nexpected .*\nactual "):
        small.check(wrong(small))


@pytest.mark.slow
def test_a_wrong_fusion_of_two_nodes_is_caught() -> None:
    """It drops a Transpose behind a Relu."""

    def wrong(drawn: Model) -> list[Any]:
        made = onnx.ModelProto()
        made.CopyFrom(drawn.model)
        for before, after in zip(made.graph.node, list(made.graph.node)[1:], strict=False):
            if (before.op_type, after.op_type) == ("Relu", "Transpose"):
                after.op_type = "Identity"
                del after.attribute[:]
        outputs = ReferenceEvaluator(made).run(None, drawn.feeds)
        assert isinstance(outputs, list)
        return outputs

    strategy = models(operators=["Relu", "Transpose"], nodes=2, opset=22)
    some = settings(QUICK, max_examples=100)  # It shrinks, too, but that takes 10 seconds.
    small = find(strategy, lambda drawn: fails(drawn, wrong(drawn)), settings=some)
    assert [name.split("/")[1] for name in small.operators] == ["Relu", "Transpose"]
    assert "Transpose" in repr(small)


def test_models_are_connected_and_have_the_outputs_of_the_reference_evaluator() -> None:
    @QUICK
    @given(models(operators=["Relu", "Split/18", "Transpose"], nodes=(2, 3)))
    def drawn(model: Model) -> None:
        onnx.checker.check_model(model.model)
        nodes = model.model.graph.node
        assert 2 <= len(nodes) == len(model.operators) <= 3
        assert {node.op_type for node in nodes} <= {"Relu", "Split", "Transpose"}
        for before, after in zip(nodes, list(nodes)[1:], strict=False):
            assert set(before.output) & set(after.input)
        for mine, other in zip(model.expected, model.case.expected or (), strict=True):
            np.testing.assert_array_equal(mine, other)
        model.check(right(model))

    drawn()


@pytest.mark.parametrize("name", ["float", "bfloat16", "string", "int4", "tensor(bool)", "complex64", "float8e4m3fn"])
def test_tensors_have_their_type_and_shape(name: str) -> None:
    for shape in ((2, 3), (), (0, 2)):
        for strategy in (tensors(name, shape), tensors(name, st.just(shape))):
            drawn = find(strategy, lambda _: True, settings=QUICK)
            assert drawn.shape == shape
            assert schema.tensor_of(element_type(drawn.dtype).number).element in name


def test_tensors_shrink_to_zeros() -> None:
    small = find(tensors("float", (2, 2)), lambda value: value.shape == (2, 2), settings=SHRUNK)
    assert small.tolist() == [[0, 0], [0, 0]]


def test_tensors_have_special_values() -> None:
    found = find(
        tensors("bfloat16", (3,)), lambda value: bool(np.isnan(value.astype(np.float32)).any()), settings=SHRUNK
    )
    assert found.dtype == ml_dtypes.bfloat16
    ones = find(tensors("int64", (300,), elements=st.just(1)), lambda _: True, settings=QUICK)
    assert ones.tolist() == [1] * 300


def test_a_call_has_the_form_that_was_named() -> None:
    call = find(
        calls("Split", version=18, forms=["initializer"]), lambda call: call.form == "initializer", settings=QUICK
    )
    assert [item.name for item in call.model.graph.initializer] == ["split"]
    assert find(calls("Relu", forms=["initializer"]), lambda _: True, settings=QUICK).form == "plain"


def test_bad_arguments_get_a_sentence() -> None:
    with refuses("unknown-operator", "Covn", "Conv"):
        calls("Covn")
    with refuses("version-not-drawn", "ai.onnx/Split", "12", "1, 2, 11, 13, 18"):
        calls("Split", version=12)
    with refuses("no-such-form", "frozen", "initializer"):
        calls("Split", forms=["frozen"])
    with refuses("no-such-form", "no form"):
        calls("Split", forms=[])
    with refuses("no-valid-call", "RandomNormal"):
        calls("RandomNormal")
    with refuses("deprecated-not-drawn", "Upsample"):
        calls("Upsample", version=10)
    with refuses("not-an-element-type", "float32", "float?"):
        tensors("float32", (2,))
    for shape in ((-1,), "23", 3, (2.5,), (True,)):
        with refuses("not-a-shape", repr(shape)):
            tensors("float", shape)  # type: ignore[arg-type]
    for nodes in (1, 0, (3, 2), (2, 3, 4), (2, 1 << 20), 2.5, True):
        with refuses("not-a-number-of-nodes", repr(nodes)):
            models(operators=["Relu"], nodes=nodes)  # type: ignore[arg-type]
    for operators in ("Relu", []):
        with refuses("not-operators", repr(operators)):
            models(operators=operators)
    with refuses("no-such-opset", "9", "13"):
        models(operators=["Relu"], opset=9)
    with refuses("operator-not-in-models", "ai.onnx.ml/Binarizer/1"):
        models(operators=["Binarizer"])
    with refuses("operators-not-in-opset", "Split/13", "Relu/14"):
        models(operators=["Split/13", "Relu/14"], opset=20)
    call = find(calls("Relu"), lambda _: True, settings=QUICK)
    with refuses("not-outputs", "ndarray"):
        call.check(call.expected[0])  # type: ignore[arg-type]


def test_without_hypothesis_there_is_one_sentence() -> None:
    script = """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "hypothesis" else found(name, *more)
import onnx_conformance.strategies
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        "ImportError: onnx_conformance.strategies needs the package hypothesis: pip install 'onnx-conformance[search]'"
    )
    assert strategies.__doc__
    assert "pip install 'onnx-conformance[search]'" in strategies.__doc__
