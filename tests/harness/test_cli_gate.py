"""`run --expectations` and `gate` on the command line: what a runtime's author sees and what CI gets."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = Path(__file__).parents[1] / "adapters" / "wrong.py"
FAULTY = "ai.onnx/Split/13/lengths_sum"
CASES = ["--case", "ai.onnx/Split/13/lengths", "--case", FAULTY]
DYING = "cmd:" + shlex.join([sys.executable, "-S", str(WRONG), "dies_by_segv"])


def command(*words: str | Path) -> tuple[int, str]:
    """Run the command as a user does; return its status and what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stdout, done.stdout
    return done.returncode, done.stdout


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
    status, said = command("run", "--backend", DYING, *CASES, "--results", path)
    assert status == 1, said
    return path


def test_a_failure_that_is_expected_leaves_the_gate_open(tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", "crash")
    status, said = command("run", "--backend", DYING, *CASES, "--expectations", file)
    assert status == 0, said
    assert said.splitlines()[-1].startswith("the gate is open: 2 cases of cmd:"), said
    status, said = command("gate", results, "--expectations", file)
    assert (status, said.splitlines()[-1][:16]) == (0, "the gate is open"), said


@pytest.mark.parametrize(
    ("verdict", "standing"), [("wrong_value", "regressed"), ("pass", "regressed"), ("timeout", "regressed")]
)
def test_another_verdict_closes_it(verdict: str, standing: str, tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", verdict)
    for words in (("run", "--backend", DYING, *CASES), ("gate", results)):
        status, said = command(*words, "--expectations", file)
        assert status == 1, said
        assert f"{standing}: 1 cases" in said, said
        assert f"  {FAULTY}: expected {verdict}, got crash: " in said, said


def test_a_pass_that_nobody_expected_closes_it(tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", "crash", case="ai.onnx/Split/13/*")
    status, said = command("gate", results, "--expectations", file)
    assert status == 1, said
    assert "fixed: 1 cases: pass, where a failure was expected" in said, said


def test_a_run_that_was_cut_off_closes_it(tmp_path: Path, results: Path) -> None:
    cut = tmp_path / "cut.ndjson"
    lines = results.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:-1]))
    status, said = command("gate", cut, "--expectations", write(tmp_path / "e.toml", "crash"))
    assert status == 1, said
    assert "problem: the run was cut off after 2 cases" in said, said


def test_what_cannot_be_compared_is_said_before_anything_runs(tmp_path: Path) -> None:
    results = tmp_path / "results.ndjson"
    run = ("run", "--backend", DYING, *CASES, "--results", results, "--expectations")
    for file, sentence in (
        (tmp_path / "gone.toml", "cannot read"),
        (write(tmp_path / "verdict.toml", "fails"), "line 6: 'verdict' is 'fails'; expected one of pass"),
        (write(tmp_path / "selection.toml", "crash", selection="--op Split"), "was written for selection --op Split"),
    ):
        status, said = command(*run, file)
        assert status == 2, said
        assert sentence in said, said
        assert not results.exists()


def test_a_resumed_run_is_held_as_a_whole(tmp_path: Path, results: Path) -> None:
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:2]))
    file = write(tmp_path / "e.toml", "crash")
    status, said = command("run", "--backend", DYING, *CASES, "--results", cut, "--resume", "--expectations", file)
    assert status == 0, said
    assert "the gate is open: 2 cases" in said, said
