# SPDX-License-Identifier: Apache-2.0
"""SARIF: requirements of the standard and of GitHub's code scanning, rules that are sentences, and reported limits."""

from __future__ import annotations

import gzip
import json
import random
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

from generated import few
from onnx_conformance.base.verdict import WITH_MESSAGE, Verdict
from onnx_conformance.report import report_data, sarif
from onnx_conformance.specification import links
from runs import HOSTILE_TEXTS, SPLIT, data_of, entry, foreign, hostile, result, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData

LEVELS = {"none", "note", "warning", "error"}
ALLOWED = {
    "": {"version", "$schema", "runs"},
    "run": {"tool", "results", "invocations", "automationDetails"},
    "driver": {"name", "fullName", "version", "informationUri", "rules"},
    "rule": {"id", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration", "properties"},
    "result": {
        "ruleId", "level", "message", "locations", "partialFingerprints", "properties", "suppressions",
    },
    "invocation": {"executionSuccessful", "toolExecutionNotifications", "startTimeUtc", "endTimeUtc"},
    "suppression": {"kind", "status", "justification"},
}  # fmt: skip
"""Members that the standard has and that are written; it forbids others."""


def keys(members: dict[str, Any], what: str, *required: str) -> None:
    assert set(required) <= set(members) <= ALLOWED[what], (what, set(members))


def text(members: dict[str, Any]) -> str:
    assert list(members) == ["text"]
    assert isinstance(members["text"], str)
    assert 0 < len(members["text"]) <= 2048, len(members["text"])
    assert not re.search(r"\]\(|(?<!\{)\{(?:\{\{)*(?!\{)", members["text"]), "a link, or a placeholder"
    return str(members["text"])


def check(document: Any) -> list[Any]:
    """Hold a document against what the standard and code scanning ask for; return the runs."""
    keys(document, "", "version", "$schema", "runs")
    assert document["version"] == "2.1.0"
    assert len(document["runs"]) <= 20
    categories = [run["automationDetails"]["id"] for run in document["runs"]]
    assert len(set(categories)) == len(categories), "code scanning refuses two runs of one category"
    for run in document["runs"]:
        keys(run, "run", "tool")
        driver = run["tool"]["driver"]
        keys(driver, "driver", "name")
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(set(ids)) == len(ids)
        assert len(run["results"]) <= 25_000
        for rule in driver["rules"]:
            keys(rule, "rule", "id", "shortDescription", "fullDescription", "help", "helpUri")
            assert len(text(rule["shortDescription"])) <= 1024
            assert len(text(rule["fullDescription"])) <= 1024
            text(rule["help"])
            assert urlsplit(rule["helpUri"]).scheme == "https"
            assert rule["defaultConfiguration"]["level"] in LEVELS
            assert len(rule["properties"]["tags"]) <= 20
        for finding in run["results"]:
            check_result(finding, ids)
        (invocation,) = run["invocations"]
        keys(invocation, "invocation", "executionSuccessful")
        for note in invocation["toolExecutionNotifications"]:
            assert note["level"] in LEVELS
            text(note["message"])
        for name in ("startTimeUtc", "endTimeUtc"):
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", invocation.get(name, "2026-01-01T00:00:00Z"))
    return list(document["runs"])


def check_result(finding: dict[str, Any], ids: list[str]) -> None:
    keys(finding, "result", "ruleId", "level", "message", "locations", "partialFingerprints")
    assert finding["ruleId"] in ids
    assert finding["level"] in LEVELS
    text(finding["message"])
    (place,) = finding["locations"]
    uri = place["physicalLocation"]["artifactLocation"]["uri"]
    parts = urlsplit(uri)
    assert not parts.scheme, uri
    assert not parts.netloc, uri
    assert uri.isascii()
    assert uri
    assert not uri.startswith("/"), uri
    assert ".." not in unquote(uri).split("/"), uri
    assert place["physicalLocation"]["region"]["startLine"] >= 1
    assert place["logicalLocations"][0]["fullyQualifiedName"]
    assert re.fullmatch(r"[0-9a-f]{32}:1", finding["partialFingerprints"]["primaryLocationLineHash"])
    for suppression in finding.get("suppressions", []):
        keys(suppression, "suppression", "kind")
        assert suppression["kind"] in {"inSource", "external"}


def runs(data: ReportData) -> list[Any]:
    return check(json.loads("".join(sarif.report(data))))


def notes(run: Any) -> list[str]:
    return [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]


def test_the_check_can_fail(tmp_path: Path) -> None:
    text_ = "".join(sarif.report(data_of(tmp_path / "r", result(verdict=Verdict.CRASH, clauses=("One.",)))))
    for before, after in (
        ('"2.1.0"', '"2.0.0"'),
        ('"uri":"', '"uri":"/'),
        ('"uri":"', '"uri":"../'),
        ('"uri":"', '"uri":"http://x/'),
        ('"level":"error"', '"level":"fatal"'),
        ('"ruleId":"', '"ruleId":"x'),
        ('"text":"', '"text":"[a](1)'),
        ('"text":"', '"text":"{0}'),
        ('"ruleId"', '"rules":0,"ruleId"'),
    ):
        assert before in text_
        with pytest.raises(AssertionError):
            check(json.loads(text_.replace(before, after)))


def test_a_result_names_sentence_case_and_page(tmp_path: Path) -> None:
    wrong = result(
        verdict=Verdict.WRONG_VALUE, clauses=("The last chunk\n will be smaller.", "Equal."), message="off by one",
        expected="float[1] 0", actual="float[1] 1",
    )  # fmt: skip
    (run,) = runs(data_of(tmp_path / "r", wrong, result("fine")))
    (finding,) = run["results"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert re.fullmatch(r"ai\.onnx/Split/the-last-chunk-will-be-smaller-[0-9a-f]{8}", finding["ruleId"])
    assert rule["shortDescription"]["text"] == "The last chunk will be smaller."
    assert rule["helpUri"] == "https://onnx.ai/onnx/operators/onnx__Split.html"
    assert finding["message"]["text"] == (
        f"wrong_value on mine: {SPLIT}/even. off by one. expected float[1] 0, got float[1] 1"
    )
    assert finding["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": f"{SPLIT}/even", "kind": "case"}]
    assert finding["properties"]["clauses"] == ["The last chunk will be smaller.", "Equal."]


def test_a_rule_is_the_same_in_every_version_and_whitespace(tmp_path: Path) -> None:
    del tmp_path
    one = sarif.rule_id("ai.onnx/Split/13", "Equal  sized\nparts")
    assert one == sarif.rule_id("ai.onnx/Split/18", "Equal sized parts")
    assert one != sarif.rule_id("ai.onnx/Slice/18", "Equal sized parts")
    assert one != sarif.rule_id("ai.onnx/Split/18", "Equal sized parts.")


@pytest.mark.slow
def test_every_generated_sentence_has_a_rule_of_its_own() -> None:
    sentences = {
        (case.operator.rpartition("/")[0], " ".join(clause.split())) for case in few() for clause in case.clauses
    }
    assert len(sentences) > 50, len(sentences)
    assert len({sarif.rule_id(f"{operator}/1", sentence) for operator, sentence in sentences}) == len(sentences)


@pytest.mark.parametrize(
    ("operator", "page"),
    [
        ("ai.onnx/Split/18", "onnx__Split.html"),
        ("ai.onnx.ml/LabelEncoder/4", "onnx_aionnxml_LabelEncoder.html"),
        ("ai.onnx.preview.training/Adam/1", "onnx_aionnxpreviewtraining_Adam.html"),
        ("com.evil/Split/1", ""),
        ("ai.onnx/<script>/1", ""),
        ("ai.onnx.<b>/Split/1", ""),
        ("", ""),
    ],
)
def test_the_page_of_an_operator(operator: str, page: str) -> None:
    assert links.page(operator) == f"https://onnx.ai/onnx/operators/{page}"


@pytest.mark.parametrize("verdict", Verdict)
def test_levels(verdict: Verdict, tmp_path: Path) -> None:
    (run,) = runs(data_of(tmp_path / "r", result(verdict=verdict)))
    levels = [finding["level"] for finding in run["results"]]
    expected = {**{kind: ["warning"] for kind in WITH_MESSAGE}, Verdict.ACCEPTED_INVALID: ["note"]}
    assert levels == (expected.get(verdict, ["error"]) if verdict.failed else []), levels
    broken = verdict is Verdict.ADAPTER_ERROR
    assert run["invocations"][0]["executionSuccessful"] is not broken
    assert bool(notes(run)) is broken


def test_a_crash_without_a_sentence_has_the_rule_of_the_whole_text(tmp_path: Path) -> None:
    (run,) = runs(data_of(tmp_path / "r", result(verdict=Verdict.CRASH), result("b", Verdict.CRASH, operator="")))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["ai.onnx/Split/text", "operator/text"]


def test_an_expected_failure_is_suppressed_with_its_reason(tmp_path: Path) -> None:
    data = data_of(
        tmp_path / "r", result(verdict=Verdict.CRASH), result("b", Verdict.CRASH), expect=entry("*/even", "crash", "no")
    )
    (run,) = runs(data)
    news, known = run["results"]
    assert "suppressions" not in news
    assert (news["level"], known["level"]) == ("error", "note")
    assert known["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "expected crash: no"}]


def test_backends_are_runs_of_their_own_and_at_most_twenty(tmp_path: Path) -> None:
    names = tuple(f"backend {i}" for i in range(23))
    wrong = [result(verdict=Verdict.CRASH, backend=name) for name in names]
    runs_ = runs(report_data.read(run_of(tmp_path / "r", *wrong, backends=names)))
    assert [len(run["results"]) for run in runs_] == [1] * 20
    assert notes(runs_[0]) == ["omitted, because code scanning accepts 20 runs: backend 20, backend 21, backend 22"]
    assert runs_[1]["automationDetails"]["id"] == "onnx-conformance/backend%201/"


def test_the_worst_results_are_kept_and_the_rest_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST_RESULTS", 4)
    monkeypatch.setattr(sarif, "SHOWN_RESULTS", 3)
    verdicts = [Verdict.ACCEPTED_INVALID, Verdict.REFUSED, Verdict.CRASH, Verdict.TIMEOUT] * 2
    results = [result(str(i), verdict) for i, verdict in enumerate([Verdict.REFUSED, *verdicts])]
    (run,) = runs(data_of(tmp_path / "r", *results, expect=entry(f"{SPLIT}/3", "crash")))
    assert [one["properties"]["verdict"] for one in run["results"]] == ["timeout", "crash", "timeout", "refused"]
    assert notes(run)[0].startswith("omitted")
    assert notes(run)[0].endswith(": 1 expected, 2 note, 2 warning")
    assert notes(run)[1] == "of 4 results, GitHub shows 3"


def test_the_true_limits_are_github_s() -> None:
    assert (sarif.MOST_RUNS, sarif.MOST_RESULTS, sarif.SHOWN_RESULTS) == (20, 25_000, 5_000)
    assert sarif.MOST_BYTES <= 10 * 1000 * 1000


@pytest.mark.slow
def test_the_file_stays_below_the_limit_when_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST_BYTES", 400_000)
    words = random.Random(0)
    results = [
        result(str(i), Verdict.WRONG_VALUE, message=words.randbytes(190).hex(), clauses=(words.randbytes(200).hex(),))
        for i in range(1500)
    ]
    data = data_of(tmp_path / "r", *results)
    size = len(gzip.compress("".join(sarif.report(data)).encode(), 6))
    assert 150_000 < size < 400_000, size
    (run,) = runs(data)
    (note,) = notes(run)
    left = int(re.findall(r"(\d+) error", note)[0])
    assert left + len(run["results"]) == 1500
    assert len(run["tool"]["driver"]["rules"]) == len(run["results"])


@pytest.mark.parametrize("kind", HOSTILE_TEXTS)
def test_hostile_texts_keep_to_the_standard(kind: str, tmp_path: Path) -> None:
    runs(report_data.read(foreign(tmp_path / "r", hostile(HOSTILE_TEXTS[kind], Verdict.REFUSED))))


@pytest.mark.parametrize(
    "case", ["/etc/passwd", "../../x", "a/../../b", "http://evil/x", "//evil/x", "..", "C:\\x", "%2e%2e/x"]
)
def test_a_case_is_never_a_path_out_of_the_repository(case: str, tmp_path: Path) -> None:
    (run,) = runs(data_of(tmp_path / "r", result(verdict=Verdict.CRASH, case=case)))
    assert len(run["results"]) == 1


def test_faults_and_problems_are_notifications(tmp_path: Path) -> None:
    data = data_of(tmp_path / "r", result(), finish=False, expect="".join(entry(f"*/{i}x", "crash") for i in range(99)))
    (run,) = runs(data)
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "cut off" in notes(run)[0]
    assert len(notes(run)) == sarif.MOST_NOTIFICATIONS + 1
    assert notes(run)[-1] == "and 51 more notifications"
