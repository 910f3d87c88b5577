# SPDX-License-Identifier: Apache-2.0
"""Expected outputs for a user's model: those of the oracle, or of a backend that the user names."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

import user_model
from commands import command
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.judging import references
from onnx_conformance.processes.replies import Answered, Refused

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '<ir_version: 8, opset_import: ["" : 13, "own" : 1]>'


def case_of(text: str, **inputs: Any) -> Case:
    """Return a case without expected outputs."""
    model = onnx.parser.parse_model(f"{HEAD} m {text}")
    names = tuple(item.name for item in model.graph.output)
    return Case("suite/m", "model", model.SerializeToString(), inputs, names, Outcome.VALUES, None, Allowance("", 1e-3))


X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_the_oracle_computes_outputs_and_their_tolerance() -> None:
    case = case_of("(float[2,3] x) => (float[2,3] y) { a = Exp (x) y = Tanh (a) }", x=X)
    assert references.lacks_outputs(case)
    made = references.by_oracle(case)
    assert not references.lacks_outputs(made)
    assert made.expected is not None
    right = np.tanh(np.exp(X.astype(float))).astype(np.float32)
    assert compare(made.expected, (right,), made.allowance) is None
    assert compare(made.expected, (right * np.float32(1.0001),), made.allowance) is not None, "no default tolerance"
    exact = references.by_oracle(case_of("(float[2,3] x) => (float[3,2] y) { y = Transpose (x) }", x=X))
    assert exact.allowance.rtol == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(float[2,3] x) => (float[2,3] y) { y = own.Foo (x) }", "own/Foo"),
        ("(float[2,3] x) => (float[3,3] y) { y = MatMul (x, x) }", "the oracle has no outputs"),
        ("(float[2,3] x) => (float[2,3] y) { y = RandomNormalLike (x) }", "how far"),
    ],
)
def test_without_an_oracle_the_case_says_why(text: str, reason: str) -> None:
    made = references.by_oracle(case_of(text, x=X))
    assert (made.outcome, made.expected) == (Outcome.UNSPECIFIED, None)
    assert reason in made.detail


def test_external_data_are_not_read() -> None:
    case = case_of("(float[2,3] x) => (float[2,3] y) { y = Tanh (x) }", x=X)
    made = references.by_oracle(dataclasses.replace(case, files={"model.onnx.data": b"1"}))
    assert "external data" in made.detail


def test_a_backend_computes_outputs_or_the_case_says_why_not() -> None:
    case = case_of("(float[2,3] x) => (float[2,3] y) { y = Tanh (x) }", x=X)
    made = references.by_backend(case, "theirs", Answered((X,), None))
    assert made.expected is not None
    assert np.array_equal(np.asarray(made.expected[0]), X)
    without = references.by_backend(case, "theirs", Refused("Error", "no such operator", None, None))
    assert "theirs has no outputs: refused no such operator" in without.detail


@pytest.mark.slow
def test_the_commands_compare_a_model_without_outputs_with_the_oracle(tmp_path: Path) -> None:
    """onnx.reference computes LRN wrongly; minimize shows that, and that ONNX Runtime is right."""
    pytest.importorskip("onnxruntime")
    suite = tmp_path / "suite"
    name = user_model.write(suite)
    done = command("run", "--suite", suite, "--backend", "onnxruntime", "--backend", "onnx_reference")
    assert done.status == 1, done.text
    assert "1 case contains no expected outputs; those of the oracle are used" in done.out
    assert "onnx_reference: wrong_value, model, 1 case" in done.out
    of_case = (name, "--suite", suite, "--backend", "onnx_reference")
    script = command("repro", *of_case)
    assert script.status == 0, script.text
    assert "expected = [" in script.out
    assert "These are the outputs" not in command("repro", *of_case, "--format", "markdown").out
    assert "unspecified" not in script.out
    small = command("minimize", *of_case)
    assert small.status == 0, small.text
    assert "LRN <" in small.out
    assert "Conv" not in small.out
    assert len(small.out) < 5000
    right = command("minimize", name, "--suite", suite, "--backend", "onnxruntime")
    assert right.refused("nothing-to-minimize"), right.text
    other = ("--backend", "onnxruntime", "--reference", "onnx_reference", "--format", "markdown")
    against = command("repro", name, "--suite", suite, *other)
    assert against.status == 0, against.text
    assert "These are the outputs of `onnx_reference`; the specification may expect others." in against.out
    assert "expected = [" in against.out


@pytest.mark.slow
def test_a_wrong_reference_is_named_where_the_oracle_agrees_with_the_backend(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    suite = tmp_path / "suite"
    name = user_model.write(suite)
    (suite / "network" / "data.json").write_text('{"rtol": 1e-3, "atol": 1e-3}')
    done = command("minimize", name, "--suite", suite, "--backend", "onnxruntime", "--reference", "onnx_reference")
    assert done.refused("right-by-the-oracle", "onnxruntime", "--backend"), done.text


@pytest.mark.slow
def test_a_model_with_an_unknown_operator_needs_a_reference(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    name = user_model.write(suite, domain="own")
    done = command("run", "--suite", suite, "--backend", "onnx_reference")
    assert done.status == 2, done.text
    assert "own/Neg" in done.text
    assert "--reference onnx_reference" in done.text
    for word in ("repro", "minimize"):
        done = command(word, name, "--suite", suite, "--backend", "onnx_reference")
        assert done.refused("case-without-outputs", "own/Neg", "--reference"), done.text
