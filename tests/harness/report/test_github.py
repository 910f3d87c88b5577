# SPDX-License-Identifier: Apache-2.0
"""GitHub Actions: annotations and step summaries within their limits, the most important first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import github, report_data
from runs import HOSTILE_TEXTS, SPLIT, data_of, entry, foreign, hostile, result

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData


def unescape(text: str) -> str:
    """Undo what the runner undoes, in its order."""
    for code, mark in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, mark)
    return text


def commands(data: ReportData) -> list[tuple[str, str, str]]:
    """Return level, title and text of the annotations, read as the runner reads them."""
    parsed = []
    for line in "".join(github.annotate(data)).splitlines():
        match = re.fullmatch(r"::(\w+) title=([^:,]*)::(.*)", line)
        assert match, line
        parsed.append((match[1], unescape(match[2]), unescape(match[3])))
    return parsed


def summary(data: ReportData) -> str:
    return "".join(github.summary(data))


# Annotations


@pytest.mark.parametrize("verdict", Verdict)
def test_levels(verdict: Verdict, tmp_path: Path) -> None:
    annotations = commands(data_of(tmp_path / "r", result(verdict=verdict, message="why: 50 %, so")))
    if not (verdict.failed or verdict is Verdict.ADAPTER_ERROR):
        assert annotations == []
        return
    level = "warning" if verdict is Verdict.ACCEPTED_INVALID else "error"
    assert annotations == [(level, f"{verdict}: {SPLIT}", f"mine: 1 case, for example {SPLIT}/even: why: 50 %, so")]


def test_crashes_come_first_and_a_group_is_one_annotation(tmp_path: Path) -> None:
    results = [
        result("a", Verdict.ACCEPTED_INVALID, clauses=("A.",)), result("b", Verdict.WRONG_VALUE, clauses=("B.",)),
        result("c", Verdict.WRONG_VALUE, clauses=("B.",)), result("d", Verdict.CRASH),
    ]  # fmt: skip
    annotations = commands(data_of(tmp_path / "r", *results))
    assert [(level, title.partition(":")[0]) for level, title, _ in annotations] == [
        ("error", "crash"), ("error", "wrong_value"), ("warning", "accepted_invalid"),
    ]  # fmt: skip
    assert annotations[1][2] == f"mine: 2 cases, for example {SPLIT}/b\n«B.»"


def test_annotations_stop_at_githubs_limit_and_count_the_rest(tmp_path: Path) -> None:
    results = [result(f"e{i}", Verdict.WRONG_VALUE, clauses=(f"{i}",)) for i in range(13)]
    results += [result(f"w{i}", Verdict.ACCEPTED_INVALID, clauses=(f"{i}",)) for i in range(11)]
    annotations = commands(data_of(tmp_path / "r", *results, finish=False))
    levels = [level for level, _, _ in annotations]
    assert (levels.count("error"), levels.count("warning"), levels.count("notice")) == (10, 10, 1)
    assert "cut off" in annotations[0][2]
    assert annotations[-1][2].startswith("4 of level error, 1 of level warning are omitted")


def test_exactly_as_many_as_github_shows_leave_nothing_out(tmp_path: Path) -> None:
    results = [result(f"e{i}", Verdict.WRONG_VALUE, clauses=(f"{i}",)) for i in range(10)]
    assert [level for level, _, _ in commands(data_of(tmp_path / "r", *results))] == ["error"] * 10


def test_with_expectations_only_deviations_are_annotated(tmp_path: Path) -> None:
    expect = entry("*/known", "crash") + entry("*/fixed", "crash") + entry("*/gone", "crash")
    results = [result("known", Verdict.CRASH), result("fixed"), result("new", Verdict.TIMEOUT)]
    annotations = commands(data_of(tmp_path / "r", *results, expect=expect))
    assert [title for _, title, _ in annotations] == [f"regressed: {SPLIT}", f"fixed: {SPLIT}", "expectations"]
    assert annotations[0][2] == f"{SPLIT}/new: expected pass, got timeout"
    assert "matches no scored, attempted case" in annotations[2][2]
    assert not any("known" in text for _, _, text in annotations)


@pytest.mark.parametrize("kind", HOSTILE_TEXTS)
def test_hostile_texts_are_one_annotation(kind: str, tmp_path: Path) -> None:
    data = report_data.read(foreign(tmp_path / "r", hostile(HOSTILE_TEXTS[kind], Verdict.REFUSED)))
    (annotation,) = commands(data)
    assert annotation[0] == "error"
    assert "evil" in annotation[2]
    assert len("".join(github.annotate(data))) < 16_000


def test_percent_signs_come_back_as_they_were(tmp_path: Path) -> None:
    (annotation,) = commands(data_of(tmp_path / "r", result(verdict=Verdict.REFUSED, message="50%0A off: a,b%25")))
    assert annotation[2].endswith("50%0A off: a,b%25")


# Step summary


def test_a_summary_says_counts_and_both_rates(tmp_path: Path) -> None:
    text = summary(data_of(tmp_path / "r", result(), result("b", Verdict.CRASH), result("c", Verdict.UNSUPPORTED)))
    assert text.startswith("# mine 1.0: suite generated\n")
    assert "| mine | 1 | 1 | 1 | 1/3 | 1/2 |" in text
    assert "mine: crash, ai.onnx/Split, 1 case" in text


def test_a_summary_begins_with_the_gate(tmp_path: Path) -> None:
    text = summary(data_of(tmp_path / "r", result(verdict=Verdict.CRASH), expect=entry("*/even", "timeout")))
    assert text.index("**the gate is closed: of 1 cases, 0 as expected, 1 regressed**") < text.index("| backend |")
    assert "## Why the gate is closed" in text
    assert f"  {SPLIT}/even: expected timeout, got crash" in text


def large(path: Path, count: int) -> ReportData:
    wrong = [
        result(f"e{i}", Verdict.WRONG_VALUE, clauses=(f"{i} " + "wörd " * 80,), message="ü" * 400) for i in range(count)
    ]
    return data_of(path, *wrong)


@pytest.mark.slow
def test_a_summary_is_cut_at_whole_sections_and_says_so(tmp_path: Path) -> None:
    data = large(tmp_path / "r", 1200)
    text = summary(data)
    size = len(text.encode())
    assert 900_000 < size <= 1 << 20, size
    assert text.count("```text\n") * 2 == len(re.findall(r"^```", text, re.MULTILINE))
    last = text.splitlines()[-1]
    shown = text.count("mine: wrong_value")
    left = f"{1200 - shown} groups of failures, 1 table of operator versions"
    assert last == f"**Omitted, because GitHub accepts {1 << 20} bytes: {left}. The other reports contain all.**"


def test_a_summary_that_fits_leaves_nothing_out(tmp_path: Path) -> None:
    text = summary(large(tmp_path / "r", 20))
    assert "Omitted" not in text
    assert text.endswith("</details>\n")


def test_a_command_of_azure_is_no_part_of_an_annotation(tmp_path: Path) -> None:
    data = data_of(tmp_path / "r.ndjson", result("a", Verdict.REFUSED, message="##[error]evil ##[group]x"))
    text = "".join(github.annotate(data))
    assert "evil" in text
    assert "##[" not in text
