# SPDX-License-Identifier: Apache-2.0
"""JUnit XML: what readers of it find of each verdict, of the gate, and of a run that went wrong."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from junitparser import JUnitXml

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import junit
from runs import SPLIT, data_of, entry, result

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData


def tree(data: ReportData) -> ET.Element:
    return ET.fromstring("".join(junit.report(data)))


def case(root: ET.Element, name: str) -> ET.Element:
    (testcase,) = root.findall(f".//testcase[@name='{name}']")
    return testcase


@pytest.mark.parametrize("verdict", Verdict)
def test_each_verdict_is_named(verdict: Verdict, tmp_path: Path) -> None:
    testcase = case(tree(data_of(tmp_path / "r", result(verdict=verdict, message="why so"))), f"{SPLIT}/even")
    kinds = {
        Verdict.CRASH: "error", Verdict.TIMEOUT: "error", Verdict.ADAPTER_ERROR: "error",
        Verdict.UNSUPPORTED: "skipped", Verdict.UNSPECIFIED: "skipped", Verdict.LENIENT: "skipped",
        Verdict.KNOWS_LESS: "skipped",
    }  # fmt: skip
    if verdict is Verdict.PASS:
        assert not list(testcase)
        return
    (outcome,) = testcase
    assert outcome.tag == kinds.get(verdict, "failure")
    assert (outcome.get("type"), outcome.get("message")) == (str(verdict), "why so")


def test_a_suite_is_an_operator_version_on_a_backend_and_counts_its_cases(tmp_path: Path) -> None:
    results = [
        result("a", seconds=0.25), result("b", Verdict.CRASH, backend="other", seconds=0.5),
        result("c", Verdict.WRONG_VALUE, seconds=0.125), result("d", operator="ai.onnx/Split/2"),
        result("e", Verdict.UNSUPPORTED, seconds=float("inf")), result("f", backend="other"),
    ]  # fmt: skip
    data = data_of(tmp_path / "r", *results, backends=("mine", "other"))
    text = "".join(junit.report(data))
    root = ET.fromstring(text)
    heads = [[suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped", "time")] for suite in root]
    assert heads == [
        [f"{SPLIT} on mine", "3", "1", "0", "1", "0.375"],
        [f"{SPLIT} on other", "2", "0", "1", "0", "0.5"],
        ["ai.onnx/Split/2 on mine", "1", "0", "0", "0", "0.0"],
    ]
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["6", "1", "1", "1"]
    assert [item.get("name") for item in root[0].iter("testcase")] == [f"{SPLIT}/{name}" for name in "ace"]
    read = JUnitXml.fromstring(text.encode())
    assert [len(suite) for suite in read] == [3, 2, 1]
    assert {prop.name: prop.value for prop in next(iter(read)).properties()}["version"] == "1.0"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", root[0].get("timestamp") or "")


def test_a_suite_larger_than_a_piece_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "_PIECE", 7)
    results = [result(f"käse{i}", Verdict.REFUSED, message="straße\n" * 5) for i in range(5)]
    root = tree(data_of(tmp_path / "r", *results))
    assert [item.get("name") for item in root.iter("testcase")] == [item.case for item in results]


def test_a_failure_says_sentence_and_values(tmp_path: Path) -> None:
    wrong = result(verdict=Verdict.WRONG_VALUE, clauses=("A <sentence>.",), expected="float[1] 0", actual="float[1] 1")
    (outcome,) = case(tree(data_of(tmp_path / "r", wrong)), f"{SPLIT}/even")
    assert "«A <sentence>.»" in (outcome.text or "")
    assert "expected: float[1] 0\nactual: float[1] 1" in (outcome.text or "")
    attempts = ({"process": "first", "verdict": "wrong_value"}, {"process": "same", "verdict": "pass"})
    flaky = result(verdict=Verdict.FLAKY, attempts=attempts)
    (outcome,) = case(tree(data_of(tmp_path / "f", flaky)), f"{SPLIT}/even")
    assert "attempts: wrong_value (first), pass (same)" in (outcome.text or "")
    dead = result(verdict=Verdict.CRASH, stderr="Assertion failed")
    testcase = case(tree(data_of(tmp_path / "s", dead)), f"{SPLIT}/even")
    assert [item.tag for item in testcase] == ["error", "system-err"]


def test_an_expected_failure_is_skipped_and_says_why(tmp_path: Path) -> None:
    more = 'link = "https://example.org/1"'
    data = data_of(tmp_path / "r", result(verdict=Verdict.CRASH), expect=entry("*/even", "crash", "not yet", more))
    root = tree(data)
    (outcome,) = case(root, f"{SPLIT}/even")
    assert (outcome.tag, outcome.get("type")) == ("skipped", "expected")
    assert outcome.get("message") == "expected crash: not yet (https://example.org/1)"
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("0", "0", "1")


@pytest.mark.parametrize(
    ("expected", "actual", "tag", "kind", "says"),
    [
        ("crash", Verdict.PASS, "failure", "fixed", "fixed: expected crash, got pass"),
        ("crash", Verdict.REFUSED, "failure", "refused", "improved: expected crash, got refused"),
        ("refused", Verdict.CRASH, "error", "crash", "regressed: expected refused, got crash"),
        ("pass", Verdict.UNSUPPORTED, "failure", "regressed", "regressed: expected pass, got unsupported"),
    ],
)
def test_a_deviation_at_the_gate_is_a_failure(
    expected: str, actual: Verdict, tag: str, kind: str, says: str, tmp_path: Path
) -> None:
    root = tree(data_of(tmp_path / "r", result(verdict=actual), expect=entry("*/even", expected)))
    (outcome,) = case(root, f"{SPLIT}/even")
    assert (outcome.tag, outcome.get("type")) == (tag, kind)
    assert (outcome.get("message") or "").startswith(says)


def test_faults_and_problems_are_cases_of_their_own(tmp_path: Path) -> None:
    data = data_of(tmp_path / "r", result(), finish=False, expect=entry("*/gone", "crash"))
    root = tree(data)
    assert [suite.get("name") for suite in root] == ["the run", "the expectations", f"{SPLIT} on mine"]
    (fault,) = case(root, "fault 1")
    assert fault.tag == "error"
    assert "cut off" in (fault.get("message") or "")
    problems = [item[0].get("message") or "" for item in root[1].iter("testcase")]
    assert any("matches no scored, attempted case" in problem for problem in problems), problems
    assert root.get("errors") == "1"


def test_a_thousand_problems_are_cut_and_counted(tmp_path: Path) -> None:
    data = data_of(tmp_path / "r", result(), expect="".join(entry(f"*/gone{i}", "crash") for i in range(1000)))
    names = [item[0].get("message") for item in tree(data)[0].iter("testcase")]
    assert len(names) == junit.MOST_LISTED + 1
    assert names[-1] == "and 900 more"
