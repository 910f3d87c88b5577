"""`run --expectations` and `gate` on the command line: what a runtime's author sees and what CI gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commands import adapter, command

if TYPE_CHECKING:
    from pathlib import Path

FAULTY = "ai.onnx/Split/13/lengths_sum"
CASES = ["--case", "ai.onnx/Split/13/lengths", "--case", FAULTY]
DYING = adapter("dies_by_segv")


def write(path: Path, verdict: str, *, selection: str = " ".join(CASES), case: str = FAULTY) -> Path:
    path.write_text(
        f"backend = {DYING!r}\nselection = {selection!r}\nminimum = 2\n"
        f'[[expect]]\ncase = "{case}"\nverdict = "{verdict}"\nreason = "known"\n'
    )
    return path


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of a run of a runtime that dies of one case of two."""
    path = tmp_path_factory.mktemp("gate") / "results.ndjson"
    done = command("run", "--backend", DYING, *CASES, "--results", path)
    assert done.status == 1, done.text
    return path


def test_a_failure_that_is_expected_leaves_the_gate_open(tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", "crash")
    done = command("run", "--backend", DYING, *CASES, "--expectations", file)
    assert done.status == 0, done.text
    assert done.out.splitlines()[-1].startswith("the gate is open: 2 cases of cmd:"), done.text
    done = command("gate", results, "--expectations", file)
    assert (done.status, done.out.splitlines()[-1][:16]) == (0, "the gate is open"), done.text


@pytest.mark.parametrize(
    ("verdict", "standing"), [("wrong_value", "regressed"), ("pass", "regressed"), ("timeout", "regressed")]
)
def test_another_verdict_closes_it(verdict: str, standing: str, tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", verdict)
    for words in (("run", "--backend", DYING, *CASES), ("gate", results)):
        done = command(*words, "--expectations", file)
        assert done.status == 1, done.text
        assert f"{standing}: 1 cases" in done.text, done.text
        assert f"  {FAULTY}: expected {verdict}, got crash: " in done.text, done.text


def test_a_pass_that_nobody_expected_closes_it(tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", "crash", case="ai.onnx/Split/13/*")
    done = command("gate", results, "--expectations", file)
    assert done.status == 1, done.text
    assert "fixed: 1 cases: pass, where a failure was expected" in done.text, done.text


def test_a_run_that_was_cut_off_closes_it(tmp_path: Path, results: Path) -> None:
    cut = tmp_path / "cut.ndjson"
    lines = results.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:-1]))
    done = command("gate", cut, "--expectations", write(tmp_path / "e.toml", "crash"))
    assert done.status == 1, done.text
    assert "problem: the run was cut off after 2 cases" in done.text, done.text


def test_what_cannot_be_compared_is_said_before_anything_runs(tmp_path: Path) -> None:
    results = tmp_path / "results.ndjson"
    run = ("run", "--backend", DYING, *CASES, "--results", results, "--expectations")
    for file, sentence in (
        (tmp_path / "gone.toml", "cannot read"),
        (write(tmp_path / "verdict.toml", "fails"), "line 6: 'verdict' is 'fails'; expected one of pass"),
        (write(tmp_path / "selection.toml", "crash", selection="--op Split"), "was written for selection --op Split"),
    ):
        done = command(*run, file)
        assert done.status == 2, done.text
        assert sentence in done.text, done.text
        assert not results.exists()


def test_a_resumed_run_is_held_as_a_whole(tmp_path: Path, results: Path) -> None:
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:2]))
    file = write(tmp_path / "e.toml", "crash")
    done = command("run", "--backend", DYING, *CASES, "--results", cut, "--resume", "--expectations", file)
    assert done.status == 0, done.text
    assert "the gate is open: 2 cases" in done.text, done.text
