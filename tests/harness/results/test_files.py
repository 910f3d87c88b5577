# SPDX-License-Identifier: Apache-2.0
"""The results files of a run: one for each backend in a folder, and what a run says at its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from commands import adapter, command
from onnx_conformance.base import schemas
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import terminal
from onnx_conformance.results.files import file_names
from onnx_conformance.results.stream import Run
from onnx_conformance.results.summary import Summary
from onnx_conformance.run import cpu_time
from runs import result

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("ends", "few_operators")

VALIDATOR = jsonschema.Draft202012Validator(schemas.read("results"))
SPLIT = "ai.onnx/Split/13"
CASES = ("--case", f"{SPLIT}/lengths", "--case", f"{SPLIT}/lengths_sum", "--case", f"{SPLIT}/even")
GOOD, DYING, NONSENSE = adapter("good"), adapter("dies_by_segv"), adapter("sends_too_few_bytes")
THREE = ("--backend", GOOD, "--backend", DYING, "--backend", "oracle")


def files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by the one backend of each."""
    paths = {}
    for path in folder.iterdir():
        (name,) = Run(path).header["backends"]
        paths[name] = path
    return paths


def verdicts_in(path: Path) -> list[tuple[str, str, Verdict]]:
    return sorted((item.backend, item.case, item.verdict) for item in Run(path).results())


def test_file_names_are_readable_safe_and_unique() -> None:
    names = ["onnxruntime==1.20.1", "onnxruntime", "my_runtime.backend", "cmd:./x --stdio", "cmd:../x --stdio", "..",
             "/", "cmd:" + "y" * 300, "cmd:" + "y" * 301, "mine", "MINE", "ä\udc80\x00\n", "-x"]  # fmt: skip
    names_of = file_names(names)
    assert (names_of["onnxruntime==1.20.1"], names_of["my_runtime.backend"]) == (
        "onnxruntime==1.20.1.ndjson", "my_runtime.backend.ndjson"
    )  # fmt: skip
    assert names_of["cmd:./x --stdio"].startswith("cmd-.-x-stdio-"), names_of
    assert len({name.casefold() for name in names_of.values()}) == len(names), names_of
    for name in names_of.values():
        assert len(name) < 110, name
        assert not set(name) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=+-"), name
        assert not name.startswith((".", "-")), name
    assert file_names(["cmd:./x --stdio"]) == {"cmd:./x --stdio": names_of["cmd:./x --stdio"]}, "others change a name"


@pytest.mark.slow
@pytest.mark.parametrize("there", [True, False])
def test_a_folder_has_a_whole_stream_of_each_backend(tmp_path: Path, there: bool) -> None:  # noqa: FBT001
    one, folder = tmp_path / "one.ndjson", tmp_path / "deep" / "folder"
    if there:
        folder.mkdir(parents=True)
    sampled = ("--sample", "oracle=1/2")
    command("run", *THREE, *CASES, *sampled, "--results", one)
    done = command("run", *THREE, *CASES, *sampled, "--results", folder if there else f"{folder}/")
    paths = files(folder)
    assert set(paths) == {GOOD, DYING, "oracle"}, done.text
    assert sorted(row for path in paths.values() for row in verdicts_in(path)) == verdicts_in(one), done.text
    assert all(str(path) in done.out for path in paths.values()), done.text
    for name, path in paths.items():
        run = Run(path)
        assert (run.complete, set((run.footer or {})["counts"])) == (True, {name}), path.read_text()
        assert run.header["arguments"].get("samples", {}) == ({"oracle": 2} if name == "oracle" else {})
        for line in path.read_text().splitlines():
            VALIDATOR.validate(json.loads(line))
        assert command("report", path).status == 0
    assert command("gate", paths[GOOD], "--expectations", expect(tmp_path, GOOD)).status == 0
    merged = tmp_path / "merged"
    assert command("merge", *paths.values(), "--out", merged).status == 0
    assert verdicts_in(merged) == verdicts_in(one)


def expect(folder: Path, backend: str) -> Path:
    path = folder / "e.toml"
    path.write_text(f"backend = {json.dumps(backend)}\nselection = {json.dumps(' '.join(CASES))}\nminimum = 3\n")
    return path


@pytest.mark.slow
def test_every_file_of_a_folder_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    words = ("run", *THREE, *CASES, "--results", f"{folder}/")
    command(*words)
    paths = files(folder)
    whole = {name: verdicts_in(path) for name, path in paths.items()}
    complete = paths[GOOD].read_bytes()
    cut = paths[DYING].read_text().splitlines(keepends=True)[:2]
    paths[DYING].write_text("".join(cut))
    paths["oracle"].unlink()
    refused = command(*words)
    assert (refused.status, "[run-cut-off]" in refused.err) == (2, True), refused.text
    assert (paths[GOOD].read_bytes(), paths["oracle"].exists()) == (complete, False), (
        "a file was begun anew all the same"
    )
    done = command(*words, "--resume")
    assert done.status == 1, done.text
    assert {name: verdicts_in(path) for name, path in files(folder).items()} == whole
    assert paths[GOOD].read_bytes() == complete, "a whole file was touched"
    assert paths[DYING].read_text().startswith("".join(cut)), "what was measured is lost"
    assert all(Run(path).complete for path in paths.values())
    again = command(*words, "--resume")
    assert (again.status, "[nothing-to-resume]" in again.err) == (2, True), again.text
    paths[DYING].write_text("".join(cut))
    other = command(*words, "--op", "Split", "--resume")
    assert other.refused("another-run-to-resume", "selection"), other.text


@pytest.mark.slow
def test_a_fault_is_in_the_file_of_its_backend(tmp_path: Path) -> None:
    folder, ended = tmp_path / "folder", adapter("dies_on_every_case")
    backends = (word for name in (GOOD, NONSENSE, ended) for word in ("--backend", name))
    done = command("run", *backends, *CASES, "--restarts", "1", "--results", f"{folder}/")
    assert done.status == 2, done.text
    runs = {name: Run(path) for name, path in files(folder).items()}
    assert (runs[GOOD].complete, runs[NONSENSE].complete, runs[ended].complete) == (True, True, False)
    assert (runs[GOOD].footer or {})["faults"] == []
    [fault] = (runs[NONSENSE].footer or {})["faults"]
    assert "lengths_sum" in fault, fault


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path, parts in {f"{file}/": ("ends with a slash", "is a file"), f"{file}/deep/": ("Not a directory",)}.items():
        done = command("run", "--backend", GOOD, *CASES, "--results", path)
        assert (done.status, [part for part in parts if part not in done.err]) == (2, []), done.text


# What a run cost


@pytest.mark.slow
@pytest.mark.usefixtures("started_adapters")
def test_a_footer_says_what_the_run_cost(tmp_path: Path) -> None:
    file = tmp_path / "file"
    done = command("run", "--backend", adapter("is_slow"), "--backend", "oracle", *CASES, "--results", file)
    footer: Any = Run(file).footer
    assert footer["cpu"]["harness"] > 0, footer
    assert footer["cpu"]["adapters"] > 0.05, f"the oracle imports numpy and onnx, and has ended: {footer}"
    took = sum(item.seconds or 0 for item in Run(file).results() if item.backend == "oracle")
    assert footer["busy"]["oracle"] == pytest.approx(took, abs=0.001), footer
    assert "s of CPU time in the harness, " in done.out, done.text
    VALIDATOR.validate(footer)


def test_a_cost_counts_from_its_start() -> None:
    before = cpu_time.so_far()
    while (spent := (cpu_time.so_far() - before).harness) < 0.05:
        pass
    assert 0.05 <= spent < 1, spent
    assert cpu_time.Cost(3, 5) - cpu_time.Cost(1, 2) == cpu_time.Cost(2, 3)


# Many backends side by side


def many(count: int) -> Summary:
    summary = Summary()
    for number in range(count):
        name = f"cmd:/a/long/way/to/an/environment/bin/python -m runtime_{number} --stdio"
        for case in range(3):
            verdict = Verdict.CRASH if case < number % 3 else Verdict.PASS
            summary.add(result(f"c{case}", verdict if number else Verdict.UNSUPPORTED, backend=name))
    summary.add(result("alone", operator="ai.onnx/Mod/13", backend="cmd:/a/long/way/to/an/environment/bin/python"))
    return summary


def test_many_backends_have_a_column_each_as_many_as_fit_the_terminal() -> None:
    *tables, passing = terminal.operators(many(11), 120)
    assert len(tables) > 1, tables
    assert max(map(len, "\n".join(tables).splitlines())) <= 120, tables
    rows = [text.splitlines()[-1].split() for text in tables]
    assert {row[0] for row in rows} == {"ai.onnx/Split"}, "Mod fails nowhere"
    cells = [cell for row in rows for cell in row[1:]]
    assert sorted(cells) == sorted(["-", *["3"] * 3, *["2/3"] * 4, *["1/3"] * 3]), tables
    assert passing == "No failures in 1 other operator: Mod\n"
    assert all(f"runtime_{number} --stdio" in "".join(tables) for number in range(11)), tables


def test_a_run_without_failures_has_no_table() -> None:
    (only,) = terminal.operators(many(1), 120)
    assert only == "No failures in 2 operators: Mod, Split\n"
