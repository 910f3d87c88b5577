# SPDX-License-Identifier: Apache-2.0
"""Runs of the core on runtimes that lack the newest versions: the cases of the versions that they have instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commands import command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.results.older_versions import OlderVersions
from onnx_conformance.results.stream import Run
from runtime_fakes import write_lacking

if TYPE_CHECKING:
    from pathlib import Path

TOO_NEW = "loaded.opset_import[0].version > 21"


def result(version: int, name: str, verdict: Verdict, **more: Any) -> Result:
    operator = f"ai.onnx/Mul/{version}"
    return Result(f"{operator}/{name}", operator, "old", verdict, **{"outcome": "values", **more})


def lacking(*names: str, version: int = 14, **more: Any) -> list[Result]:
    return [result(version, name, Verdict.UNSUPPORTED, **more) for name in names]


def rounds(*answers: tuple[int, Verdict], first: list[Result]) -> list[frozenset[str]]:
    """Return the cases of each round, if the versions answer in this way."""
    older = OlderVersions()
    for item in first:
        older.add(item)
    asked = []
    while ids := older.wanted():
        asked.append(ids)
        for case in sorted(ids):
            version, name = case.split("/", 3)[2:]
            if int(version) in dict(answers):
                older.add(result(int(version), name, dict(answers)[int(version)]))
    return asked


def test_all_cases_run_in_the_newest_version_that_answers_a_first_case() -> None:
    first = [*lacking("a/float", "b/float", "b/int8"), *lacking("c", outcome="rejects")]
    asked = rounds((13, Verdict.UNSUPPORTED), (7, Verdict.WRONG_VALUE), first=first)
    probes = ("a/float", "b/int8")  # Of different types.
    assert asked == [
        {f"ai.onnx/Mul/13/{name}" for name in probes},
        {f"ai.onnx/Mul/7/{name}" for name in probes},
        {"ai.onnx/Mul/7/b/float", "ai.onnx/Mul/7/c"},
    ]


@pytest.mark.parametrize(
    "first",
    [
        [*lacking("a"), result(14, "b", Verdict.CRASH)],  # It has the version.
        lacking("a", version=13),  # The core has few cases of a version that is not the newest of its meaning.
        lacking("a", outcome="rejects"),
        [result(14, "a", Verdict.PASS)],
    ],
)
def test_no_older_version_runs_if_the_runtime_has_the_newest_or_nothing_shows_that_it_lacks_it(
    first: list[Result],
) -> None:
    assert not rounds((13, Verdict.PASS), first=first)


def test_a_runtime_that_lacks_the_operator_is_asked_once_for_each_version() -> None:
    asked = rounds((13, Verdict.UNSUPPORTED), (7, Verdict.UNSUPPORTED), first=lacking("a"))
    assert [sorted(ids) for ids in asked] == [["ai.onnx/Mul/13/a"], ["ai.onnx/Mul/7/a"]]


def test_a_case_that_does_not_exist_in_a_version_is_looked_for_in_the_one_before() -> None:
    asked = rounds((7, Verdict.PASS), first=lacking("a"))
    assert [sorted(ids) for ids in asked] == [["ai.onnx/Mul/13/a"], ["ai.onnx/Mul/7/a"]]


WORKERS = [("--jobs", "1"), ("--jobs", "2"), ("--cluster", "local:1")]


@pytest.mark.parametrize("workers", WORKERS, ids=" ".join)
def test_a_run_of_the_core_has_the_cases_of_the_version_that_the_runtime_has(
    workers: tuple[str, str], tmp_path: Path
) -> None:
    adapter, results = tmp_path / "old.py", tmp_path / "r.ndjson"
    write_lacking(adapter, TOO_NEW)
    words = ("--op", "GlobalMaxPool", "--backend", adapter, "--backend", "onnx_reference", *workers)
    done = command("run", "--core", *words, "--results", results, "--table", "none")
    run = Run(results)
    by: dict[tuple[str, str], set[str]] = {}
    assert len({(item.backend, item.case) for item in run.results()}) == len(list(run.results()))
    for item in run.results():
        by.setdefault((item.backend, item.operator.rpartition("/")[2]), set()).add(item.case.split("/", 3)[3])
    own, other = str(adapter), "onnx_reference"
    assert by[other, "22"] == by[own, "22"]
    assert by[other, "1"] < by[own, "1"]
    assert len(by[own, "1"]) > 20
    assert f"{len(by[own, '1'] - by[other, '1'])} of them in older versions" in " ".join(done.out.split()), done.out
    assert run.footer is not None
    again = command("run", "--core", *words, "--results", results, "--resume", "--table", "none")
    assert len(list(Run(results).results())) == sum(map(len, by.values())), again.text


def test_only_a_run_of_the_whole_core_adds_older_versions(tmp_path: Path) -> None:
    adapter, results = tmp_path / "old.py", tmp_path / "r.ndjson"
    write_lacking(adapter, TOO_NEW)
    several = (("--opsets", "22"), ("--at-most", "6"), ("--op", "GlobalMaxPool/22"))
    for words in (*(("--core", *more) for more in several), ("--opsets", "22")):
        only = () if "--op" in words else ("--op", "GlobalMaxPool")
        command("run", *only, *words, "--backend", adapter, "--results", results, "--overwrite")
        every = list(Run(results).results())
        assert sum(item.operator == "ai.onnx/GlobalMaxPool/1" for item in every) == (3 if "--at-most" in words else 0)
