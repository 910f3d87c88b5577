# SPDX-License-Identifier: Apache-2.0
"""Exclusions at the gate and in reports: they accept failures, and a stale one fails a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.gate import expectations
from onnx_conformance.gate.excluded import Excluded
from onnx_conformance.generation import plans
from onnx_conformance.report import comparison, report_data
from onnx_conformance.report.formats import FORMATS
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import registry
from onnx_conformance.testing import items as testing
from runs import SPLIT, entry, result, run_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.report.report_data import ReportData

pytestmark = pytest.mark.usefixtures("few_operators")

WHY = "the device has no padding"
OVERRIDE = "ai.onnx/Split (float), rtol 0.001: 10 bits"
GLOB = f"{SPLIT}/uneven*"


def members(*globs: str) -> dict[str, object]:
    return {"runtime": "mine", "version": "1.0", "exclusions": [{"case": list(globs), "reason": WHY}]}


def failing(name: str = "uneven", verdict: Verdict = Verdict.CRASH) -> Result:
    return result(name, verdict, excluded=WHY)


STALE = [
    ([failing()], "", 0),
    ([failing(), result("uneven_two")], "", 0),
    ([result("uneven"), result("uneven_two")], "", 1),
    ([result("uneven"), result("uneven_two")], "--op Split", 1),
    ([result("uneven", Verdict.UNSUPPORTED)], "--op Split", 1),
    ([result("uneven")], "--sample 1/8", 0),
    ([result("uneven")], "--op Split --shard 1/2", 0),
    ([result("uneven")], "--at-most 10", 0),
    ([result("even")], "", 1),
    ([result("even")], "--op Split", 0),
    ([result("uneven", Verdict.ADAPTER_ERROR)], "--op Split", 0),
]


@pytest.mark.parametrize(("results", "selection", "count"), STALE)
def test_an_exclusion_that_no_failing_case_needs_is_stale(
    results: Sequence[Result], selection: str, count: int
) -> None:
    excluded = Excluded(members(GLOB))
    for item in results:
        excluded.add(item)
    lines = [*excluded.stale(selection, complete=True)]
    assert len(lines) == count, lines
    assert all(GLOB in text for text in lines)


def test_the_exclusion_of_one_case_is_stale_in_every_sample_that_has_the_case() -> None:
    excluded = Excluded(members(f"{SPLIT}/uneven", f"{SPLIT}/other"))
    excluded.add(result("uneven"))
    (text,) = excluded.stale("--sample 1/8", complete=True)
    assert f"{SPLIT}/uneven matches no failing case (it passes)" in text


def test_a_run_that_was_cut_off_may_lack_the_cases_of_an_exclusion() -> None:
    assert [*Excluded(members(GLOB)).stale("", complete=False)] == []


def gate_data(path: Path, *results: Result, expect: str = "") -> ReportData:
    run = run_of(path / "r", *results, hellos={"mine": members(GLOB)})
    return report_data.read(run, expectations.parse(f'backend = "mine"\n{expect}', path / "e.toml"))


def test_the_gate_is_open_with_an_excluded_failure_and_closed_by_a_stale_exclusion(tmp_path: Path) -> None:
    data = gate_data(tmp_path, failing(), result())
    assert data.gate is not None
    assert data.gate.opened, data.gate.problems
    (tmp_path / "b").mkdir()
    stale = gate_data(tmp_path / "b", result("uneven"), result())
    assert stale.gate is not None
    assert not stale.gate.opened
    assert any(GLOB in problem for problem in stale.gate.problems)


def test_an_entry_of_the_expectations_comes_before_an_exclusion(tmp_path: Path) -> None:
    data = gate_data(tmp_path, failing(), expect=entry(f"{SPLIT}/uneven", "refused"))
    assert data.gate is not None
    assert not data.gate.opened
    (checked,) = data.checked_results()
    assert checked.status_text.startswith("regressed")


def test_an_update_of_the_expectations_adds_no_excluded_failure(tmp_path: Path) -> None:
    run_of(tmp_path / "r", failing(), result(), hellos={"mine": members(GLOB)})
    done = command("expectations", "update", tmp_path / "r", "--expectations", tmp_path / "e.toml")
    assert done.status == 0, done.text
    assert "[[expect]]" not in (tmp_path / "e.toml").read_text(encoding="utf-8")


# Reports


def profiled(path: Path) -> ReportData:
    passed = result("near", override=OVERRIDE, message="0.1 off")
    return report_data.read(run_of(path, failing(), passed, result(), hellos={"mine": members(GLOB)}))


@pytest.mark.parametrize("name", [name for name, kind in FORMATS.items() if not kind.commands])
def test_every_report_has_the_numbers_of_excluded_failures_and_of_overrides(name: str, tmp_path: Path) -> None:
    text = "".join(FORMATS[name].report(profiled(tmp_path / "r")))
    if name == "json":
        assert {key: json.loads(text)["backends"]["mine"][key] for key in ("excluded", "overridden")} == {
            "excluded": 1, "overridden": 1,
        }  # fmt: skip
        return
    if name == "ep-conformance":
        (provider,) = json.loads(text)["providers"]
        assert provider["summary"]["results"]["EXCLUDED"] == provider["summary"]["passed_within_an_override"] == 1
        assert [item["reason"] for item in provider["results"] if item["result"] == "EXCLUDED"] == [WHY]
        return
    assert "failed, but excluded: 1" in text
    assert "passed within an override: 1" in text
    assert name == "badge" or (WHY in text and "10 bits" in text)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "html"])  # The page has scripts about both.
def test_a_report_without_a_profile_does_not_mention_it(name: str, tmp_path: Path) -> None:
    text = "".join(FORMATS[name].report(report_data.read(run_of(tmp_path / "r", result()))))
    assert "excluded" not in text
    assert "override" not in text


def test_an_excluded_failure_counts_as_a_failure_but_is_accepted(tmp_path: Path) -> None:
    data = profiled(tmp_path / "r")
    assert (data.summary.failed, data.summary.failed_openly) == (1, 0)
    assert "".join(FORMATS["annotations"].report(data)) == ""
    document = json.loads("".join(FORMATS["json"].report(data)))
    assert (document["backends"]["mine"]["passed"], document["backends"]["mine"]["specified"]) == (2, 3)
    assert document["groups"] == []
    assert 'failures="0"' in (text := "".join(FORMATS["junit"].report(data)))
    assert f"excluded crash: {WHY}" in text
    tests = json.loads("".join(FORMATS["ctrf"].report(data)))["results"]["tests"]
    assert {test["name"].rpartition("/")[2]: test["status"] for test in tests} == {
        "uneven": "skipped", "near": "passed", "even": "passed",
    }  # fmt: skip
    (sarif,) = json.loads("".join(FORMATS["sarif"].report(data)))["runs"]
    assert [item["suppressions"][0]["justification"] for item in sarif["results"]] == [f"excluded crash: {WHY}"]


def test_a_comparison_lists_newly_excluded_failures(tmp_path: Path) -> None:
    open_, excluded = result("uneven", Verdict.CRASH), failing()
    for name, before, after in (("changed", open_, excluded), ("broke", result("uneven"), excluded)):
        runs = [run_of(tmp_path / f"{name}{number}", item) for number, item in enumerate((before, after))]
        rows = comparison.compare_runs(*runs).kinds[name]
        assert [(was, now) for _, was, now in rows] == [(str(before.verdict), "crash, excluded")]


def test_pytest_expects_an_excluded_failure() -> None:
    case = next(plans.cases(registry.load().named("Split"), (18,)))
    with pytest.raises(testing.ExpectedFailure, match=WHY):
        testing.Answer(case, failing()).end()


# The command

ADAPTER = """
import onnx
import onnx.reference


def info():
    return {"runtime": "mine", "version": "1"}


def run(model, inputs, outputs):
    values = onnx.reference.ReferenceEvaluator(onnx.load_from_string(model)).run(outputs, inputs)
    return [value * value.dtype.type(FACTOR) if value.dtype == "float32" else value for value in values]
"""
CASES = "ai.onnx/Reshape/13/inferred_[0-2]"
RUN = ("run", "--case", CASES, "--table", "none", "--groups", "1")
EXCLUDES = f'[[exclusions]]\ncase = "{CASES}"\nreason = "{WHY}"\n'
OVERRIDES = '[[overrides]]\noperator = "Reshape"\ntype = "float"\nrtol = 0.001\nreason = "10 bits"\n'


@pytest.mark.parametrize(
    ("factor", "profile", "status", "words"),
    [
        ("1.0005", "", 1, "wrong_value"),
        ("1.0005", EXCLUDES, 0, "failed, but excluded"),
        ("1.0005", OVERRIDES, 0, "passed within an override"),
        ("1.1", OVERRIDES, 1, "wrong_value"),
        ("1", EXCLUDES, 1, "remove it from the profile"),
        ("1", OVERRIDES.replace("0.001", "0.5"), 2, "[override-too-wide]"),
    ],
    ids=["no profile", "excluded", "within an override", "beyond an override", "stale exclusion", "override too wide"],
)
def test_a_profile_decides_the_exit_status(factor: str, profile: str, status: int, words: str, tmp_path: Path) -> None:
    adapter, file = tmp_path / "mine.py", tmp_path / "profile.toml"
    adapter.write_text(ADAPTER.replace("FACTOR", factor))
    file.write_text(profile)
    done = command(*RUN, "--backend", adapter, "--profile", file, "--results", tmp_path / "r.ndjson")
    assert done.status == status, done.text
    assert words in done.text, done.text
    if status != 2:
        described = Run(tmp_path / "r.ndjson").header["backends"][str(adapter)]
        assert ("exclusions" in described, "overrides" in described) == (profile == EXCLUDES, profile == OVERRIDES)


def test_another_profile_cannot_resume_a_run(tmp_path: Path) -> None:
    first = {"runtime": "mine", "version": "1.0", "profile": "a" * 64}
    run_of(tmp_path / "a", result(), hellos={"mine": first})
    run_of(tmp_path / "b", result("uneven"), hellos={"mine": {**first, "profile": "b" * 64}})
    done = command("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "c")
    assert done.status == 2, done.text
    assert "[backends-differ]" in done.err, done.text
