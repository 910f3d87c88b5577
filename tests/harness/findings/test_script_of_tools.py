"""The script of a finding of a transformer: whatever is wrong with the model that it made, the script says so."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import TYPE_CHECKING

import onnx
import pytest
from composed import X, case_of

from harness.findings import script
from harness.findings.candidates import Candidate
from harness.findings.evidence import _made, _title
from harness.findings.script import shows
from harness.findings.smallest import Smallest
from harness.spec.evaluator import Evaluator
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from harness.case.case import Case

MODEL = "agraph (float[2,3] x) => (float[2,3] y) { a = Neg(x)  y = Neg(a) }"
CHANGES = {
    "model.graph.node[1].op_type = 'Relu'": Verdict.WRONG_VALUE,
    "model.graph.node[1].op_type = 'Shape'": Verdict.INVALID_MODEL,
    "model.graph.node[1].output[0] = model.graph.output[0].name = 'z'": Verdict.INVALID_MODEL,
    "model.graph.output[0].type.tensor_type.elem_type = 11": Verdict.INVALID_MODEL,
    "model.graph.output[0].type.CopyFrom(onnx.helper.make_optional_type_proto(model.graph.output[0].type))":
        Verdict.INVALID_MODEL,
    "model.graph.input.append(onnx.helper.make_tensor_value_info('more', 1, [1]))": Verdict.INVALID_MODEL,
    "model.graph.node[0].op_type = 'NoSuch'": Verdict.INVALID_MODEL,
    "raise ValueError('not today')": Verdict.REFUSED,
    "import os; os.abort()": Verdict.CRASH,
}  # fmt: skip


def said(change: str, path: Path, case: Case | None = None) -> tuple[int, str]:
    hello = {"subject": "transformer", "runtime": "tool", "version": "1", "repro": f"{change}\n"}
    path.write_text(script.text(case or case_of(MODEL, {"x": X}), "tool", hello, "wrong"), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(("change", "kind"), CHANGES.items())
def test_a_fault_is_there(change: str, kind: Verdict, tmp_path: Path) -> None:
    status, text = said(change, tmp_path / "script.py")
    assert status == 1, text
    assert shows(text, kind), text


@pytest.mark.parametrize("change", ["pass", "model.doc_string = 'changed'", "model.graph.node[0].name = 'n'"])
def test_a_fault_is_gone(change: str, tmp_path: Path) -> None:
    status, text = said(change, tmp_path / "script.py")
    assert status == 0, text


def test_another_evaluator_sees_what_onnx_reference_takes_for_one(tmp_path: Path) -> None:
    """Before opset 13 Hardmax looks at all axes from its own, since then at one; onnx.reference does the latter."""
    first = case_of("agraph (float[2,3] x) => (float[2,3] y) { y = Hardmax <axis = 0> (x) }", {"x": X})
    older = onnx.load_from_string(first.model)
    older.opset_import[0].version = 11
    values = Evaluator().model(older, first.inputs)
    case = dataclasses.replace(first, model=older.SerializeToString(), expected=tuple(values.values()))
    change = "model.opset_import[0].version = 13"
    status, text = said(change, tmp_path / "script.py", case)
    assert status == 1, text
    assert shows(text, Verdict.WRONG_VALUE), text
    hidden = f"import sys; sys.modules['onnxruntime'] = None; {change}"
    assert said(hidden, tmp_path / "script.py", case)[0] == 0


def test_a_finding_is_of_the_operator_that_is_left() -> None:
    """The fault was met beside Split, which it does not need."""
    met = Result(
        case="ai.onnx/Split/18/uneven@before_identity", operator="ai.onnx/Split/18", backend="tool",
        verdict=Verdict.WRONG_VALUE, outcome="values", form="before_identity",
    )  # fmt: skip
    candidate = Candidate("tool", "1", "ai.onnx/Split", Verdict.WRONG_VALUE, ("axis=1",), (met,))
    case = dataclasses.replace(case_of(MODEL, {"x": X}), operator="ai.onnx/Neg/13")
    hello = {"subject": "transformer", "runtime": "tool", "version": "1", "repro": "pass\n"}
    made = {
        guilty: _made(candidate, Smallest(case, dataclasses.replace(met, case=case.id), (), hello, guilty)).finding
        for guilty in ((), ("fuse_negs",))
    }
    finding = made["fuse_negs",]
    assert (finding.operator, finding.versions, finding.conditions) == ("ai.onnx/Neg", (13,), ())
    assert finding.guilt == "guilty pass: fuse_negs"
    assert finding.title.startswith("Neg: ")
    assert finding.cause != made[()].cause, "who is guilty tells one cause from another"


def test_what_the_text_forbids_may_show_in_values() -> None:
    assert shows(f"{script.THERE}wrong\n", Verdict.INVALID_MODEL)
    assert not shows(f"{script.THERE}invalid\n", Verdict.WRONG_VALUE)
    assert not shows(f"{script.THERE}refused\n", Verdict.INVALID_MODEL)


def test_a_title_says_why_a_model_is_invalid() -> None:
    case = case_of(MODEL, {"x": X})
    result = Result(
        case=case.id,
        operator=case.operator,
        backend="tool",
        verdict=Verdict.INVALID_MODEL,
        outcome="values",
        message="no type",
    )
    title = _title("ai.onnx/Neg", Verdict.INVALID_MODEL, case, result, ())
    assert title.startswith("Neg: a model with float[2,3]")
    assert title.endswith("expected, an invalid one came (no type)")
