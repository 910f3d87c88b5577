# SPDX-License-Identifier: Apache-2.0
"""CTRF: the members that its schema allows, and the status of each verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import ctrf, report_data
from runs import SPLIT, data_of, entry, foreign, result

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData

STATUSES = {"passed", "failed", "skipped", "pending", "other"}
TEST = {
    "testId": str, "name": str, "status": str, "duration": int, "suite": list, "message": str, "trace": str,
    "rawStatus": str, "tags": list, "retries": int, "retryAttempts": list, "flaky": bool, "extra": dict,
}  # fmt: skip
SUMMARY = {
    **dict.fromkeys(("tests", *STATUSES, "flaky", "suites", "start", "stop"), int), "extra": dict,
}  # fmt: skip
ENVIRONMENT = {"reportName": str, "appName": str, "osPlatform": str, "healthy": bool, "extra": dict}
ATTEMPT = {"attempt": int, "status": str, "message": str, "extra": dict}


def check(document: Any) -> Any:
    """Hold a document against what the published schema asks for: no member beside these, and these types."""
    assert set(document) == {"reportFormat", "specVersion", "generatedBy", "results"}
    assert document["reportFormat"] == "CTRF"
    assert len(document["specVersion"].split(".")) == 3
    results = document["results"]
    assert set(results) == {"tool", "summary", "tests", "environment"}
    assert results["tool"]["name"]
    typed(results["summary"], SUMMARY, set(SUMMARY))
    typed(results["environment"], ENVIRONMENT, set())
    for test in results["tests"]:
        typed(test, TEST, {"name", "status", "duration"})
        assert test["status"] in STATUSES
        assert test["name"]
        assert test["suite"]
        assert all(isinstance(part, str) for part in test["suite"] + test["tags"])
        for attempt in test.get("retryAttempts", []):
            typed(attempt, ATTEMPT, {"attempt", "status"})
            assert attempt["status"] in STATUSES
    statuses = [test["status"] for test in results["tests"]]
    assert {name: statuses.count(name) for name in STATUSES} == {name: results["summary"][name] for name in STATUSES}
    assert results["summary"]["tests"] == len(statuses)
    return results


def typed(members: dict[str, Any], allowed: dict[str, type], required: set[str]) -> None:
    assert required <= set(members) <= set(allowed), members
    for name, value in members.items():
        assert type(value) is allowed[name], (name, value)


def checked(data: ReportData) -> Any:
    return check(json.loads("".join(ctrf.report(data))))


def test_the_check_can_fail(tmp_path: Path) -> None:
    text = "".join(ctrf.report(data_of(tmp_path / "r", result())))
    for before, after in (
        ('"passed":1', '"passed":2'),
        ('"status":"passed"', '"status":"fine"'),
        ('"duration":0', '"duration":0.5'),
        ('"rawStatus"', '"verdict"'),
        ('"CTRF"', '"CTR"'),
    ):
        assert before in text
        with pytest.raises(AssertionError):
            check(json.loads(text.replace(before, after)))


def test_every_verdict_has_a_status_and_keeps_its_name(tmp_path: Path) -> None:
    document = checked(data_of(tmp_path / "r", *(result(f"{verdict}", verdict) for verdict in Verdict)))
    assert {test["rawStatus"]: test["status"] for test in document["tests"]} == {
        **dict.fromkeys(map(str, Verdict), "failed"),
        "pass": "passed",
        "unsupported": "skipped",
        "unspecified": "other",
        "lenient": "other",
        "knows_less": "other",
    }


def test_a_test_says_where_it_belongs_and_how_long_it_took(tmp_path: Path) -> None:
    wrong = result(
        verdict=Verdict.CRASH, seconds=1.2344, tags=("change",), clauses=("A sentence.",), signal="SIGFPE",
        message="the process ended", stderr="divide error",
    )  # fmt: skip
    (test,) = checked(data_of(tmp_path / "r", wrong))["tests"]
    assert test == {
        "name": f"{SPLIT}/even",
        "testId": f"{SPLIT}/even on mine",
        "status": "failed",
        "duration": 1234,
        "suite": ["mine", SPLIT],
        "rawStatus": "crash",
        "tags": ["change"],
        "message": "the process ended",
        "trace": "A sentence.\ndivide error",
        "extra": {"form": "plain", "outcome": "values", "signal": "SIGFPE"},
    }


@pytest.mark.parametrize("seconds", [None, float("nan"), float("inf"), -1.0])
def test_a_time_that_is_none_is_zero(seconds: float | None, tmp_path: Path) -> None:
    run = foreign(tmp_path / "r", result(seconds=seconds))
    assert checked(report_data.read(run))["tests"][0]["duration"] == 0


def test_an_expected_failure_is_skipped_and_an_unexpected_pass_fails(tmp_path: Path) -> None:
    expect = entry("*/even", "crash", "not yet") + entry("*/fixed", "crash")
    document = checked(data_of(tmp_path / "r", result(verdict=Verdict.CRASH), result("fixed"), expect=expect))
    assert [(test["status"], test["message"]) for test in document["tests"]] == [
        ("skipped", "expected crash: not yet"),
        ("failed", "fixed: expected crash, got pass"),
    ]
    assert document["summary"]["extra"]["expected"] == 1


def test_attempts_are_reported_as_retries(tmp_path: Path) -> None:
    attempts = (
        {"process": "first", "verdict": "wrong_value", "message": "off\nby one"},
        {"process": "same", "verdict": "pass"},
        {"process": "fresh", "verdict": "pass"},
    )
    document = checked(data_of(tmp_path / "r", result(verdict=Verdict.FLAKY, attempts=attempts)))
    (test,) = document["tests"]
    assert (test["status"], test["rawStatus"], test["flaky"], test["retries"]) == ("failed", "flaky", True, 2)
    assert document["summary"]["flaky"] == 1
    assert test["retryAttempts"] == [
        {
            "attempt": 1, "status": "failed", "message": "off by one",
            "extra": {"verdict": "wrong_value", "process": "first"},
        },
        {"attempt": 2, "status": "passed", "extra": {"verdict": "pass", "process": "same"}},
    ]  # fmt: skip


def test_a_run_that_was_cut_off_is_not_healthy(tmp_path: Path) -> None:
    whole, cut = (checked(data_of(tmp_path / str(finish), result(), finish=finish)) for finish in (True, False))
    assert (whole["environment"]["healthy"], cut["environment"]["healthy"]) == (True, False)
    assert (whole["summary"]["extra"]["complete"], cut["summary"]["extra"]["complete"]) == (True, False)
    assert 0 < cut["summary"]["start"] <= cut["summary"]["stop"]
    assert whole["summary"]["start"] <= whole["summary"]["stop"]
