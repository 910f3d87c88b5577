# SPDX-License-Identifier: Apache-2.0
"""Which sentence on models a model violates that a tool returned."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.findings import model_rules
from onnx_conformance.findings.failure_groups import FailureGroup, failure_groups
from onnx_conformance.findings.sentence import sentence
from onnx_conformance.specification.schema import fold
from onnx_conformance.suites.lookup import find_case
from onnx_conformance.suites.selection import Selection
from runs import result, run_of

CHECKER, INFERENCE = (
    "the model checker rejects the returned model: ",
    "strict shape inference rejects the returned model: ",
)
MESSAGES = [
    (CHECKER + "Field 'shape' of 'type' is required but missing.", "The main graph inputs and outputs are required to"),
    (CHECKER + "Field 'type' of 'value_info' is required but missing.", "Each main (top-level) graph MUST define"),
    (CHECKER + "B in initializer but not in graph input", "IR VERSION 4 published on Jan 22, 2019"),
    (
        CHECKER + "No opset import for domain '' ==> Context: Bad node spec for node.",
        "All ModelProtos MUST have at least",
    ),
    (CHECKER + "No Op registered for Gelu with domain_version of 18", "Each operator used within a graph MUST"),
    (CHECKER + "Graph must be in single static assignment (SSA) form, however 'y'", "The graph MUST adhere to single"),
    (CHECKER + "Nodes in a graph must be topologically sorted, however input 'x'", "The list of nodes defining the"),
    (CHECKER + "Graph output 'y' is not an output of any node in graph.", "When the name of a node output coincides"),
    (CHECKER + "Negative dimension value (tensor name: shape)", "Mathematically, a tensor can be defined as a pair"),
    (CHECKER + "Sparse tensor indices () must have INT64 type.", "The indices of the non-default values, which may"),
    (CHECKER + "Mismatched attribute type in 'Cast : to'. Expected: 'STRING', actual: 'INT'", model_rules.OF_SIGNATURE),
    (CHECKER + "Unrecognized attribute: round_mode for operator Cast", model_rules.OF_SIGNATURE),
    (
        CHECKER + "Node(a) with schema(::Reshape:1) has input size 2 not in range [min=1, max=1].",
        model_rules.OF_SIGNATURE,
    ),
    (INFERENCE + "[TypeInferenceError] Inferred elem type differs from existing elem type", model_rules.OF_SIGNATURE),
    (
        (
            "the specification forbids the returned model: «Either input 'split' or the attribute 'num_outputs' should "
            "be specified, but not both.»"
        ),
        "Either input 'split' or the attribute 'num_outputs' should be specified, but not both.",
    ),
    ("the specification forbids the returned model: «Signature: a rule.» (2 inputs for the 1)", "Signature: a rule."),
    ("its output Y is tensor(float16); in the original model it is tensor(float)", "It keeps outputs."),
    ("its outputs are y, y; those of the original model are y, b", "It keeps outputs."),
    ("it has the inputs C, which the original model does not have", "It keeps outputs."),
]


@pytest.mark.parametrize(("message", "begins"), MESSAGES)
def test_a_returned_model_violates_the_sentence_on_such_models(message: str, begins: str) -> None:
    assert model_rules.broken(message, "It keeps outputs.").startswith(begins)
    others = [rule for rule in model_rules.RULES if rule.message.search(message.partition(": ")[2])]
    assert len(others) <= 1, "one rule only"


@pytest.mark.parametrize("message", ["it is no ModelProto", CHECKER + "a new kind of error", "its outputs are none"])
def test_the_sentence_on_another_message_is_unknown(message: str) -> None:
    assert model_rules.broken(message) == ""


def test_the_tested_messages_include_every_rule() -> None:
    found = {model_rules.broken(message) for message, _ in MESSAGES}
    assert found >= {rule.text for rule in model_rules.RULES}


def test_onnx_contains_the_sentences_of_its_own_file() -> None:
    text = (Path(onnx.__file__).parent / "onnx.proto").read_text(encoding="utf-8")
    whole = fold(re.sub(r"^\s*//", "", text, flags=re.MULTILINE))
    there = [rule.text for rule in model_rules.RULES if fold(rule.text.rstrip(".")) in whole]
    assert [text[:16] for text in there] == ["IR VERSION 4 pub", "All ModelProtos ", "The indices of t"]


def test_a_finding_of_an_invalid_model_quotes_the_sentence_on_models_or_the_promise_of_the_tool() -> None:
    case = find_case("ai.onnx/Split/18/uneven_two")

    def of(message: str, promise: str = "") -> str:
        failure = result(case, Verdict.INVALID_MODEL, message=message)
        group = FailureGroup("tool", "1", "ai.onnx/Split", Verdict.INVALID_MODEL, (), (failure,), promise=promise)
        return sentence(case, failure, group)

    assert of(CHECKER + "B in initializer but not in graph input").startswith("IR VERSION 4")
    changed = "its outputs are y; those of the original model are y, b"
    assert of(changed, "It keeps outputs.") == "It keeps outputs."
    assert of(changed).startswith("Split a tensor into a list of tensors"), "the definition of the operator"


def test_the_results_contain_the_promise_of_a_tool(tmp_path: Path) -> None:
    hello = {"runtime": "tool", "version": "1", "subject": "transformer", "promise": "It keeps outputs. " + "x" * 999}
    failure = result("even", Verdict.INVALID_MODEL, backend="tool", message="its outputs are none")
    run = run_of(tmp_path / "x.ndjson", failure, hellos={"tool": hello})
    (group,), _ = failure_groups(run, None, Selection())
    assert group.promise.startswith("It keeps outputs. xx")
    assert len(group.promise) < len(hello["promise"]), "a tool may send any text"
    assert len(run.header["backends"]["tool"]["promise"]) < len(hello["promise"])
