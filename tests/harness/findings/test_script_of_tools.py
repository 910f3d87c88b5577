"""The script of a finding of a transformer: whatever is wrong with the model that it made, the script says so."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from composed import X, case_of

from harness.findings import script
from harness.findings.evidence import _title
from harness.findings.script import shows
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    from pathlib import Path

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


def said(change: str, path: Path) -> tuple[int, str]:
    hello = {"subject": "transformer", "runtime": "tool", "version": "1", "repro": f"{change}\n"}
    path.write_text(script.text(case_of(MODEL, {"x": X}), "tool", hello, "Neg: wrong"), encoding="utf-8")
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
