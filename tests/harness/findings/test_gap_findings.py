# SPDX-License-Identifier: Apache-2.0
"""Version gaps as findings: the script runs both versions, and a gap that it does not show is no finding."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.findings import confirm, findings_file, gap_findings, script
from onnx_conformance.findings.confirm import Place
from onnx_conformance.results.stream import Run, Writer, header
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

RUNTIME = """
class Failed(Exception):
    pass


def run(model, inputs):
    data = next(iter(inputs.values()))
    later = model.opset_import[0].version == 14
    BODY
    return [data.copy()]
"""
REPRO = "import faulty_runtime\n\noutputs = faulty_runtime.run(model, inputs)\n"


def identity(since: int) -> Case:
    name = f"ai.onnx/Identity/{since}/matrix"
    (case,) = Generated().cases(Selection(ops=(f"Identity/{since}",), ids=frozenset({name})))
    return case


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("if later: raise Failed('no kernel')", 1, "unsupported"),
        ("pass", 0, "the version is supported"),
        ("if later: data = data + 1", 0, "the version is supported"),
        ("raise Failed('no kernel')", 2, "does not run in the earlier version"),
        ("if later: raise ImportError('no library')", 2, "does not run in the earlier version"),
    ],
)
def test_a_script_runs_both_versions(
    body: str, status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "faulty_runtime.py").write_text(RUNTIME.replace("BODY", body))
    hello = {"runtime": "faulty", "version": "1", "repro": REPRO}
    text = script.of_gap(identity(14), identity(13), "faulty", hello, "Identity: version 14 is not supported")
    answer = confirm.run(Place(sys.executable, None), text)
    assert answer.status == status, answer
    assert said in answer.text, answer
    assert script.shows(answer.text, Verdict.UNSUPPORTED) is (status == 1)


@pytest.fixture
def lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return results in which onnxruntime does not support Identity 14, which is not true."""
    path = tmp_path / "results.ndjson"
    operator = "ai.onnx/Identity/14"
    later = Result(f"{operator}/matrix", operator, "onnxruntime", Verdict.UNSUPPORTED, "values", message="no kernel")
    hello = {"name": "onnxruntime", "runtime": "onnxruntime", "version": "1", "repro": REPRO}
    writer = Writer(path)
    suite = {"name": "generated", "digest": Generated().digest()}
    writer.open(header(suite, {"onnxruntime": hello}, {"selection": ""}))
    writer.add(later)
    writer.close()
    monkeypatch.setattr(gap_findings, "passing", lambda _backend, _version, ids: dict.fromkeys(ids, True))
    return path


def test_a_gap_has_a_title_with_both_versions(lacking: Path) -> None:
    (made,) = gap_findings.of_run(Run(lacking), Selection())
    finding = made.finding
    assert finding.title == "Identity: version 14 is not supported, although version 13, which has the same meaning, is"
    assert (finding.identity.kind, finding.cases.versions) == (Verdict.UNSUPPORTED, (14,))
    assert finding.counted
    assert not list(gap_findings.of_run(Run(lacking), Selection(("Split",))))


@pytest.mark.slow
def test_a_gap_that_the_script_does_not_show_is_no_finding(
    lacking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
    done = command("findings", lacking, "--folder", tmp_path / "new", "--jobs", "1")
    assert done.status == 0, done.text
    assert "its script does not show the fault" in done.text
    assert not findings_file.read(tmp_path / "new").findings
