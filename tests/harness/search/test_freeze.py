# SPDX-License-Identifier: Apache-2.0
"""Cases that a search keeps: read back they fail again, nothing is overwritten, and the command says what it did."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import faulty
import pytest

from commands import Done, command
from onnx_conformance import backends
from onnx_conformance.results.stream import Run
from onnx_conformance.search import freeze
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.selection import Selection

# One worker has them all, so that the search which most of them begin with is made once.
pytestmark = [pytest.mark.usefixtures("few_operators"), pytest.mark.xdist_group("search_freeze")]
WORDS = ("--op", "ReduceSum/13", "--examples", "25", "--seed", "3", "--single")

SERVE = Path(backends.__file__).with_name("serve.py")


def adapter(fault: str) -> str:
    path = os.pathsep.join([str(Path(faulty.__file__).parent), str(SERVE.parents[2])])
    return "cmd:" + shlex.join(["env", f"PYTHONPATH={path}", sys.executable, str(SERVE), f"faulty.as_{fault}"])


def search(fault: str, *words: str | Path) -> Done:
    return command("search", "--backend", adapter(fault), *words)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def verdicts(results: Path) -> dict[str, str]:
    return {result.case.partition("/")[2]: str(result.verdict) for result in Run(results).results()}


@pytest.fixture(scope="session")  # A module's would be made again after a test of another module.
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """Return the folder that a search wrote, which no test changes, and what it said."""
    folder = tmp_path_factory.mktemp("search") / "found"
    return folder, search("size_three", *WORDS, "--folder", folder)


@pytest.fixture
def found(searched: tuple[Path, Done], tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return Path(shutil.copytree(searched[0], tmp_path / "found"))


@pytest.mark.slow
def test_what_is_kept_is_a_suite_that_fails_again(searched: tuple[Path, Done], tmp_path: Path) -> None:
    results = tmp_path / "results.ndjson"
    folder, done = searched
    assert done.status == 1, done.text
    assert "seed 3: 1 operator version" in done.err
    assert "(new)" in done.out
    assert f"onnx-conformance run --suite {folder}" in done.out
    kept = sorted(item.name for item in folder.iterdir())
    assert kept
    assert all(name.startswith("test_ai.onnx__ReduceSum__wrong_value__") for name in kept)

    again = command("run", "--suite", folder, "--backend", adapter("size_three"), "--results", results)
    assert again.status == 1, again.text
    assert verdicts(results) == dict.fromkeys(kept, "wrong_value")
    right = command("run", "--suite", folder, "--backend", "oracle")
    assert right.status == 0, right.text

    described = json.loads((folder / kept[0] / freeze.FILE).read_text())
    assert described["seed"] == 3
    assert described["verdict"] == "wrong_value"
    assert (described["runtime"], described["version"]) == ("faulty", "1")
    assert described["operators"] == ["ai.onnx/ReduceSum/13"]
    (case,) = [item for item in Folder(folder).cases(Selection()) if item.id.endswith(kept[0])]
    assert case.operator == "ai.onnx/ReduceSum/13"
    assert case.clauses
    shown = command("repro", f"found/{kept[0]}", "--suite", folder, "--backend", adapter("size_three"))
    assert shown.status == 0, shown.text


@pytest.mark.slow
def test_a_second_search_with_the_seed_keeps_what_is_there(found: Path) -> None:
    before = contents(found)
    assert before
    done = search("size_three", *WORDS, "--folder", found)
    assert done.status == 1, done.text
    assert "there already" in done.out
    assert "no new causes" in done.out
    assert contents(found) == before


@pytest.mark.slow
def test_another_case_of_a_cause_is_not_overwritten(found: Path) -> None:
    for path in found.glob("*/test_data_set_0/input_0.pb"):
        path.write_bytes(b"")
    before = contents(found)
    done = search("size_three", *WORDS, "--folder", found)
    assert "a case with this cause exists already and was kept" in done.out, done.text
    assert contents(found) == before


@pytest.mark.slow
def test_what_a_run_knows_already_is_left_out(tmp_path: Path) -> None:
    folder, results = tmp_path / "found", tmp_path / "results.ndjson"
    command("run", "--backend", adapter("size_three"), "--op", "ReduceSum/13", "--results", results)
    done = search("size_three", *WORDS, "--folder", folder, "--known", results)
    known = [line for line in done.out.splitlines() if line.startswith("failures with a known cause")]
    assert known, done.text
    assert not known[0].endswith(" 0")
    other = search("size_three", *WORDS, "--folder", folder, "--known", tmp_path / "none.ndjson")
    assert other.status == 2, other.text


@pytest.mark.slow
def test_a_right_backend_has_no_failures(tmp_path: Path) -> None:
    done = command("search", "--backend", "oracle", *WORDS, "--folder", tmp_path / "found")
    assert done.status == 0, done.text
    assert "no failures with a new cause" in done.out
    assert not (tmp_path / "found").exists()


@pytest.mark.slow
def test_bad_input_gets_a_sentence(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "notes.txt").write_text("mine")
    file = tmp_path / "file"
    file.write_text("")
    for words, sentence in {
        ("--minutes", "0"): "--minutes 0 is not a valid time",
        ("--minutes", "-1"): "--minutes -1 is not a valid time",
        ("--minutes", "nan"): "--minutes nan is not a valid time",
        ("--examples", "0"): "0 is not in the range",
        ("--op", "Nonesuch"): "matches nothing in suite generated",
        ("--folder", str(foreign)): "contains notes.txt, which no search wrote",
        ("--folder", str(file)): "is not a folder",
        ("--seed", "-1"): "-1 is not in the range",
    }.items():
        done = command("search", "--backend", "oracle", *words)
        assert done.status == 2, (words, done.text)
        assert sentence in done.err, (words, done.text)
    unknown = command("search", "--backend", "nonesuch", "--examples", "1")
    assert unknown.status == 2
    assert "nonesuch" in unknown.err
    assert (foreign / "notes.txt").read_text() == "mine"
