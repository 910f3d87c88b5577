# SPDX-License-Identifier: Apache-2.0
"""Cases of several nodes: what they allow, and which no answer decides."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnx_conformance.case.compare import compare
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.tolerance.several_nodes import UndecidedError, composed, in_narrower

OPERATOR = "ai.onnx/Add/14"
CONV = """
    agraph (float[1,2,4,4] x, float[3,2,2,2] w, float[3] s) => (y) {
        c = Conv(x, w)
        y = BatchNormalization(c, s, s, s, s)
    }
"""
DRAW = np.random.default_rng(7)
CONV_INPUTS = {
    "x": DRAW.normal(size=(1, 2, 4, 4)).astype("float32"),
    "w": DRAW.normal(size=(3, 2, 2, 2)).astype("float32"),
    "s": np.array([0.5, 1, 2], "float32"),
}


def model(graph: str, opset: int = 18) -> onnx.ModelProto:
    text = graph.replace("=> (y)", "=> (float[1] y)")
    read = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')
    for item in read.graph.output:
        item.ClearField("type")
    return read


def case_of(graph: str, **inputs: Any) -> Any:
    return composed(f"{OPERATOR}/trial", OPERATOR, model(graph), inputs)


def test_what_only_moves_data_is_exact() -> None:
    case = case_of("g (float[2,3] x) => (y) { t = Transpose(x) y = Identity(t) }", x=np.zeros((2, 3), "float32"))
    assert case.allowance.bounds is None
    assert compare(case.expected, [-case.expected[0]], case.allowance)  # The sign of zero.


def test_outputs_are_declared_as_what_they_are() -> None:
    case = case_of("g (float[2,3] x) => (y) { t = Transpose(x) y = Identity(t) }", x=np.zeros((2, 3), "float32"))
    (output,) = onnx.load_from_string(case.model).graph.output
    assert [dim.dim_value for dim in output.type.tensor_type.shape.dim] == [3, 2]


def test_a_fused_computation_is_allowed_and_a_wrong_one_is_not() -> None:
    case = case_of(CONV, **CONV_INPUTS)
    x, w, s = (CONV_INPUTS[name] for name in "xws")
    factor = (s / np.sqrt(s + 1e-5)).astype("float32")
    fused = parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[1,2,4,4] x, float[3,2,2,2] w, float[3] b) => (float[1,3,3,3] y) { y = Conv(x, w, b) }""")

    def answer(offset: float, scale: np.ndarray[Any, Any]) -> Any:
        weights = {"x": x, "w": w * scale[:, None, None, None], "b": (s - s * factor + offset).astype("float32")}
        return [*Evaluator().model(fused, weights).values()]

    assert compare(case.expected, answer(0, factor), case.allowance) is None
    assert compare(case.expected, answer(1e-3, factor), case.allowance)
    assert compare(case.expected, answer(0, factor * np.float32(1.0001)), case.allowance)


def test_tensors_in_a_container_have_a_tolerance() -> None:
    case = case_of("g (float[2] x) => (y) { s = Sqrt(x) y = SequenceConstruct(s) }", x=np.array([2, 3], "float32"))
    (right,) = case.expected or ()
    assert isinstance(right, list)
    near, far = ([np.asarray(right[0]) + np.float32(offset)] for offset in (1.2e-7, 1e-5))
    assert compare(case.expected, [near], case.allowance) is None
    assert compare(case.expected, [far], case.allowance)


def test_every_sentence_is_one_of_an_operator_that_the_model_uses() -> None:
    case = case_of(CONV, **CONV_INPUTS)
    assert any("convolution" in text for text in case.clauses)
    assert any("normalization" in text for text in case.clauses)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ("g (float[2] x) => (y) { n = RandomNormal<shape=[2]>() y = Add(x, n) }", "draws at random"),
        ("g (float[2] x) => (y) { s = Sqrt(x) m = Mul(s, s) e = Sub(m, x) y = Sign(e) }", "depends on how"),
        ("g (float[2] x) => (y) { s = Sqrt(x) m = Mul(s, s) y = Sub(m, x) }", "depends on how"),
        (
            "g (float[2] x) => (y) { s = Sqrt(x) m = Mul(s, s) d = Sub(m, x) y = SequenceConstruct(d) }",
            "depends on how",
        ),
        ("g (float[2] x) => (y) { y = Reshape(x, x) }", "Reshape|shape|type"),
    ],
)
def test_what_rounding_or_chance_decides_is_no_case(graph: str, words: str) -> None:
    with pytest.raises(UndecidedError, match=words):
        case_of(graph, x=np.array([2, 3], "float32"))


def test_a_narrower_type_may_err_more_but_not_by_everything() -> None:
    case = case_of(CONV, **CONV_INPUTS)
    narrow = in_narrower(case, np.dtype(np.float16))
    rounded = [np.asarray(value).astype(np.float16).astype(np.float32) for value in case.expected]
    assert compare(case.expected, rounded, case.allowance)
    assert compare(case.expected, rounded, narrow) is None
    assert compare(case.expected, [value * np.float32(1.1) for value in case.expected], narrow)


@pytest.mark.parametrize("value", [20000.0, np.inf, np.nan])
def test_numbers_that_a_narrower_type_lacks_decide_nothing(value: float) -> None:
    case = case_of("g (float[1] x) => (y) { y = Relu(x) }", x=np.array([1], "float32"))
    beyond = dataclasses.replace(case, inputs={"x": np.array([value], "float32")})
    with pytest.raises(UndecidedError, match="float16 cannot represent all of its numbers"):
        in_narrower(beyond, np.dtype(np.float16))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_quotient_in_place_of_a_reciprocal_and_a_product_is_allowed(dtype: str) -> None:
    kind = {"float32": "float", "float64": "double"}[dtype]
    x = (np.arange(1, 200) * 0.37).astype(dtype)
    z = (np.arange(1, 200) * 1.91).astype(dtype)
    case = case_of(f"g ({kind}[199] x, {kind}[199] z) => (y) {{ r = Reciprocal(x) y = Mul(r, z) }}", x=x, z=z)
    assert compare(case.expected, [z / x], case.allowance) is None
    assert compare(case.expected, [z / x * np.asarray(1 + 16 * np.finfo(dtype).eps, dtype)], case.allowance)


def test_what_moves_and_what_is_exact_may_not_err() -> None:
    case = case_of("g (float[3] x) => (y) { n = Neg(x) y = Add(n, x) }", x=np.array([1, 2, 3], "float32"))
    assert compare(case.expected, [np.array([0, 0, 1e-45], "float32")], case.allowance)


def test_a_number_between_the_nodes_that_a_narrower_type_lacks_decides_nothing() -> None:
    case = case_of("g (float[1] x) => (y) { m = Mul(x, x) y = Sqrt(m) }", x=np.array([200], "float32"))
    with pytest.raises(UndecidedError, match="float16 cannot represent all of its numbers"):
        in_narrower(case, np.dtype(np.float16))
