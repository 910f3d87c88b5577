# SPDX-License-Identifier: Apache-2.0
"""`run --expectations` and `gate` on the command line: what a runtime's author sees and what CI gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands import adapter, command
from onnx_conformance.base.verdict import Verdict
from runs import result, run_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.usefixtures("few_operators"), pytest.mark.slow]

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
    ("verdict", "status"), [("wrong_value", "regressed"), ("pass", "regressed"), ("timeout", "regressed")]
)
def test_another_verdict_closes_it(verdict: str, status: str, tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", verdict)
    for words in (("run", "--backend", DYING, *CASES), ("gate", results)):
        done = command(*words, "--expectations", file)
        assert done.status == 1, done.text
        assert f"{status}: 1 cases" in done.text, done.text
        assert f"  {FAULTY}: expected {verdict}, got crash: " in done.text, done.text


def test_an_unexpected_pass_closes_it(tmp_path: Path, results: Path) -> None:
    file = write(tmp_path / "e.toml", "crash", case="ai.onnx/Split/13/*")
    done = command("gate", results, "--expectations", file)
    assert done.status == 1, done.text
    assert "fixed: 1 cases: pass, although a failure was expected" in done.text, done.text


def test_a_run_that_was_cut_off_closes_it(tmp_path: Path, results: Path) -> None:
    cut = tmp_path / "cut.ndjson"
    lines = results.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:-1]))
    done = command("gate", cut, "--expectations", write(tmp_path / "e.toml", "crash"))
    assert done.status == 1, done.text
    assert "problem: the run was cut off after 2 cases" in done.text, done.text


def test_a_file_that_cannot_be_compared_is_reported_before_anything_runs(tmp_path: Path) -> None:
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


SELECTIONS = {
    ("--type", "float"): "--type float",
    ("--opsets", "13..18"): "--opsets 13..18",
    ("--version", "newest"): "--version newest",
    ("--no-containers",): "--no-containers",
    ("--at-most", "3"): "--at-most 3",
}


@pytest.mark.parametrize("words", SELECTIONS)
def test_another_selection_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    op = ("--op", "Split", "--form", "plain", "--tag", "basic")
    texts = "--op Split --tag basic --form plain"
    own = f"{texts} {SELECTIONS[words]}"
    done = command(
        "run", "--backend", DYING, *op, "--expectations", write(tmp_path / "own.toml", "crash", selection=own)
    )
    assert done.refused("expectations-of-another-run", own, texts), done.text
    done = command(
        "run", "--backend", DYING, *op, *words, "--expectations", write(tmp_path / "e.toml", "crash", selection=texts)
    )
    assert done.refused("expectations-of-another-run", own, texts), done.text
    file = write(tmp_path / "same.toml", "crash", selection=own)
    done = command("run", "--backend", DYING, *op, *words, "--max-fail", "1", "--expectations", file)
    assert "expectations-of-another-run" not in done.err, done.text


@pytest.mark.slow
def test_a_resumed_run_is_compared_as_a_whole(tmp_path: Path, results: Path) -> None:
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:2]))
    file = write(tmp_path / "e.toml", "crash")
    done = command("run", "--backend", DYING, *CASES, "--results", cut, "--resume", "--expectations", file)
    assert done.status == 0, done.text
    assert "the gate is open: 2 cases" in done.text, done.text


OPTED_OUT = "ai.onnx/Split/2/lengths"
GOOD = adapter("good")


def test_a_runtime_that_opts_out_of_everything_has_not_passed() -> None:
    done = command("run", "--backend", GOOD, "--case", OPTED_OUT, "--case", f"{OPTED_OUT}@top")
    assert done.status == 1, done.text
    (line,) = [text for text in done.out.splitlines() if "cases are unsupported" in text]
    assert line.endswith(": all 2 cases are unsupported, so nothing was tested"), line
    assert line.startswith("wrong: "), line


def test_a_runtime_that_opts_out_of_some_cases_may_have_passed() -> None:
    done = command("run", "--backend", GOOD, "--case", OPTED_OUT, "--case", "ai.onnx/Split/13/lengths")
    assert done.status == 0, done.text
    assert "cases are unsupported" not in done.text, done.text


def test_each_backend_of_a_run_has_to_attempt_something() -> None:
    done = command("run", "--backend", GOOD, "--backend", "oracle", "--case", OPTED_OUT)
    assert done.status == 1, done.text
    assert done.text.count("all 1 cases are unsupported") == 1, done.text


def test_fewer_attempted_cases_close_it_until_accepted(tmp_path: Path) -> None:
    before, after, file = tmp_path / "before.ndjson", tmp_path / "after.ndjson", tmp_path / "e.toml"
    selection = ["--case", "ai.onnx/Split/13/lengths", "--case", OPTED_OUT]
    assert command("run", "--backend", "oracle", *selection, "--results", before).status == 0
    assert command("expectations", "update", before, "--expectations", file).status == 0
    assert command("gate", before, "--expectations", file).status == 0
    text = before.read_text()
    record = next(line for line in text.splitlines() if f'"{OPTED_OUT}"' in line)
    after.write_text(text.replace(record, record.replace('"verdict":"pass"', '"verdict":"unsupported"')))
    closed = command("gate", after, "--expectations", file)
    assert closed.status == 1, closed.text
    assert (
        f"problem: ai.onnx/Split/2: no cases attempted, but {file} requires at least 1; 1 are unsupported"
    ) in closed.out, closed.text
    update = ("expectations", "update", after, "--expectations", file)
    for words in ((), ("--accept-new", "--reason", "x")):
        refused = command(*update, *words)
        assert refused.status == 2, refused.text
        assert refused.refused("changes-refused", "--accept-fewer --reason WHY"), refused.text
    done = command(*update, "--accept-fewer", "--reason", "the old kernel went")
    assert (done.status, done.out) == (0, "attempted: ai.onnx/Split/2 changed from 1 to 0\n"), done.text
    assert '"ai.onnx/Split/2" = 0  # 1 until ' in file.read_text()
    assert command("gate", after, "--expectations", file).status == 0


# The file kept by the command


@pytest.mark.slow
def test_the_first_day_takes_one_command(tmp_path: Path, results: Path) -> None:
    file = tmp_path / "e.toml"
    update = ("expectations", "update", results, "--expectations", file)
    refused = command(*update)
    assert refused.status == 2, refused.text
    assert FAULTY in refused.err, refused.text
    assert "--accept-new" in refused.err, refused.text
    assert not file.exists()
    done = command(*update, "--accept-new", "--reason", "known")
    assert done.status == 0, done.text
    assert f"accepted 1 crash, first {FAULTY}" in done.out, done.text
    assert command("gate", results, "--expectations", file).status == 0
    again = command(*update)
    assert (again.status, again.out) == (0, "nothing to change\n"), again.text


@pytest.mark.parametrize(
    "words", [("--accept-new",), ("--accept-fewer",), ("--reason", "known"), ("--accept-new", "--reason", " ")]
)
def test_accepting_needs_a_reason(words: tuple[str, ...], tmp_path: Path, results: Path) -> None:
    done = command("expectations", "update", results, "--expectations", tmp_path / "e.toml", *words)
    assert done.status == 2, done.text
    assert "[reason-missing]" in done.err, done.text


def test_shards_of_several_backends_are_merged_and_one_of_them_is_kept(tmp_path: Path) -> None:
    good = adapter("good")
    parts = []
    for backend in (DYING, good):
        for shard in ("1/2", "2/2"):
            parts.append(tmp_path / f"{len(parts)}.ndjson")
            command("run", "--backend", backend, *CASES, "--shard", shard, "--results", parts[-1])
    merged = tmp_path / "all.ndjson"
    lacking = command("merge", *parts[:3], "--out", merged)
    assert lacking.status == 2, lacking.text
    assert "[shards-missing]" in lacking.err, lacking.text
    done = command("merge", *parts, "--out", merged)
    assert (done.status, done.out) == (0, f"4 results in {merged}\n"), done.text
    update = ("expectations", "update", merged, "--expectations", tmp_path / "e.toml")
    unnamed = command(*update, "--accept-new", "--reason", "known")
    assert unnamed.status == 2, unnamed.text
    assert "[several-backends]" in unnamed.err, unnamed.text
    named = command(*update, "--backend", good)
    assert named.status == 0, named.text
    assert command("gate", merged, "--expectations", tmp_path / "e.toml").status == 0


def test_the_brackets_of_an_option_are_no_character_class(tmp_path: Path) -> None:
    """A file of tool[18] is for tool[18] alone: not for tool[21], nor for tool1, which a glob would match."""
    names = ("tool[18]", "tool[21]", "tool1", "tool[18]==1.2")
    rows = [result("a", Verdict.PASS if name == "tool[18]" else Verdict.CRASH, backend=name) for name in names]
    run = run_of(tmp_path / "r.ndjson", *rows, hellos={name: {"runtime": "tool"} for name in names})
    file = tmp_path / "tool[18].toml"
    update = ("expectations", "update", run.path, "--expectations", file, "--backend")
    done = command(*update, "tool[18]")
    assert done.status == 0, done.text
    assert 'backend = "tool[18]"' in file.read_text()
    assert "[[expect]]" not in file.read_text(), "the crashes are of others"
    opened = command("gate", run.path, "--expectations", file)
    assert opened.status == 0, opened.text
    for name in names[1:]:
        other = tmp_path / f"{name}.toml"
        other.write_text(file.read_text().replace('"tool[18]"', f'"{name}"'))
        closed = command("gate", run.path, "--expectations", other)
        assert (closed.status, "regressed" in closed.out) == (1, True), closed.text
    absent = tmp_path / "tool[1].toml"
    absent.write_text(file.read_text().replace('"tool[18]"', '"tool[1]"'))
    refused = command("gate", run.path, "--expectations", absent)
    assert refused.status == 2, refused.text
    assert "tool[1]" in refused.err, refused.text
