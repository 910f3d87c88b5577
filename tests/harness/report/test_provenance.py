# SPDX-License-Identifier: Apache-2.0
"""Results and findings of different suites or versions are named wherever they are together."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.findings import collect, findings_file
from onnx_conformance.findings.finding import Findings
from onnx_conformance.report import findings_text, index, provenance, report_data
from onnx_conformance.report.badge import LEGEND, STEPS
from onnx_conformance.report.html import page
from onnx_conformance.report.index import COMPARISON
from onnx_conformance.report.provenance import Shown
from onnx_conformance.results.trend import TrendError, trend
from runs import TOOLS, result, results_of_tools, run_of
from site_runs import finding, write_findings

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.results.stream import Run

PASS, FAIL, OUT = Verdict.PASS, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED


def run_with(path: Path, backend: str, version: str, verdicts: list[Verdict], digest: str = "d1", **hello: str) -> Run:
    results = [result(str(number), verdict, backend=backend) for number, verdict in enumerate(verdicts)]
    return run_of(path, *results, hellos={backend: {"version": version, **hello}}, digest=digest)


def text_of(*runs: Run, found: Findings | None = None) -> str:
    return "".join(index.report([(report_data.read(run), "b.json") for run in runs], found))


def backends_of(text: str) -> list[str]:
    rows = [
        line.split("|")
        for line in text.splitlines()
        if "of the suite generated" in line.partition("|")[2].partition("|")[0]
    ]
    return [row[2].strip() for row in rows]


def test_a_sentence_names_the_runs_of_each_version_of_a_suite() -> None:
    rows = [("a==1", "1", "s", "x"), ("b", "2", "s", "y"), ("c", "", "s", "x"), ("d", "", "t", "z")]
    shown = [Shown(*row) for row in rows]
    (sentence,) = provenance.of_suites(shown)
    assert sentence == (
        "These results are of different versions of the suite s, so cases with the same name may differ: "
        "a 1 and c used version x; b 2 used version y."
    )
    assert provenance.of_suites(shown[::2]) == []


def test_a_very_long_list_is_shortened() -> None:
    assert provenance.listed([]) == ""
    assert provenance.listed("ab") == "a and b"
    assert provenance.listed(map(str, range(22))).endswith(", 18, 19 and 2 more")


# The index


def test_the_index_names_suites_and_versions_that_differ(tmp_path: Path) -> None:
    one = run_with(tmp_path / "1", "mine", "1.10", [PASS])
    other = run_with(tmp_path / "2", "mine==1.9", "1.9", [PASS], "d2")
    text = text_of(one, other)
    assert "may differ: mine 1.10 used version d1; mine 1.9 used version d2." in text
    assert "These results are of 2 versions of mine: 1.9 (suite generated), 1.10 (suite generated)." in text
    assert "These results are" not in text_of(one)


def test_the_index_names_findings_of_another_version_or_suite(tmp_path: Path) -> None:
    run = run_with(tmp_path / "1", "mine", "2", [PASS])
    known = {"mine": {"version": "1"}}
    found = findings_file.read(write_findings(tmp_path / "findings", [finding(backend="mine")], (), known))
    assert (
        "The findings of mine were not made from the results that are shown here: the findings are of version 1, the "
        "results of 2; the findings used suite generated x, the results used generated d1."
    ) in text_of(run, found=found)


def test_runtimes_in_the_index_are_ranked_by_passed_of_specified(tmp_path: Path) -> None:
    narrow = run_with(tmp_path / "1", "narrow", "1", [PASS, OUT, OUT])
    wide = run_with(tmp_path / "2", "wide", "1", [PASS, PASS, FAIL])
    older = run_with(tmp_path / "3", "narrow==0.9", "0.9", [PASS, PASS, PASS])
    part = run_with(tmp_path / "4", "part", "1", [PASS])
    part.header["arguments"]["samples"] = {"part": 8}
    text = text_of(part, older, narrow, wide)
    assert backends_of(text) == ["wide 1", "narrow 1", "narrow==0.9", "part 1"]
    assert "in the order of passed of specified" in text


def test_an_evaluator_has_a_table_of_its_own_in_the_index(tmp_path: Path) -> None:
    reference = run_with(tmp_path / "1", "onnx_reference", "1", [PASS], runtime="onnx.reference")
    mine = run_with(tmp_path / "2", "mine", "1", [FAIL])
    first, _, second = text_of(reference, mine).partition(f"## {COMPARISON}")
    assert (backends_of(first), backends_of(second)) == (["mine 1"], ["onnx_reference 1"])
    assert "## Runtimes" in first
    alone = text_of(reference)
    assert backends_of(alone) == ["onnx_reference 1"]
    tools = run_of(tmp_path / "3", *results_of_tools(), hellos=TOOLS)
    parts = [line for line in text_of(reference, tools).splitlines() if line.startswith("## ")]
    assert parts[:3] == ["## Runtimes", f"## {COMPARISON}", "## Tools that change models"]


def test_the_index_explains_the_colours_of_badges(tmp_path: Path) -> None:
    text = text_of(run_with(tmp_path / "1", "mine", "1", [PASS]))
    assert all(f"{color}: {meaning}" in text for color, meaning in LEGEND)
    assert {color for _, color in STEPS} < {color for color, _ in LEGEND}


# The one-page report


def notes_of_page(*runs: Run) -> list[str]:
    """Return the sentences above the matrix of the page of some runs."""
    header = page.report(runs).partition("<header>")[2].partition("</header>")[0]
    return [html.unescape(text) for text in re.findall(r'<p class="cut">(.*?)</p>', header)]


def test_the_page_names_the_runs_that_differ(tmp_path: Path) -> None:
    one = run_with(tmp_path / "1.ndjson", "mine", "1.10", [PASS])
    other = run_with(tmp_path / "2.ndjson", "mine==1.9", "1.9", [PASS], "d2")
    again = run_with(tmp_path / "3.ndjson", "mine", "1.10", [PASS], "d2")
    assert notes_of_page(one, other) == [
        (
            "These results are of different versions of the suite generated, so cases with the same name may differ: "
            "mine used version d1; mine==1.9 used version d2."
        ),
        "These results are of 2 versions of mine: 1.9 (mine==1.9), 1.10 (mine).",
    ]
    assert notes_of_page(one, again) == [
        (
            "These results are of different versions of the suite generated, so cases with the same name may differ: "
            "mine 1.10 (1.ndjson) used version d1; mine 1.10 (3.ndjson) used version d2."
        )
    ]
    assert notes_of_page(one) == []
    assert notes_of_page(one, run_with(tmp_path / "4.ndjson", "other", "2", [PASS])) == []


def test_the_page_names_the_runs_of_each_suite(tmp_path: Path) -> None:
    one = run_with(tmp_path / "1.ndjson", "mine", "1", [PASS])
    other = run_of(tmp_path / "2.ndjson", suite="<i>official", digest="d2", backends=("its",))
    assert notes_of_page(one, other) == [
        (
            "These results are of different suites, so a case of one suite has no results of the others: "
            "mine used generated; its used <i>official."
        )
    ]
    assert "<i>official" not in page.report((one, other))


# The trend


def test_a_trend_of_several_suites_names_the_versions_that_used_each(tmp_path: Path) -> None:
    runs = [run_with(tmp_path / f"{n}.ndjson", "mine", f"1.{n}", [PASS], f"d{n % 2}") for n in range(3)]
    with pytest.raises(TrendError, match=r"1\.0 \(0\.ndjson\), 1\.2 \(2\.ndjson\) used generated d0; 1\.1 \(1"):
        trend(runs)


# Findings


def test_runtimes_that_are_not_tested_again_keep_the_suite_of_their_findings(tmp_path: Path) -> None:
    known = {"a": {"version": "1"}, "b": {"version": "2"}, "c": {"version": "3", "suite": "w"}}
    before = findings_file.read(write_findings(tmp_path, [finding(backend="a")], (), known))
    kept = collect._kept(before, "new")
    assert {name: item["suite"] for name, item in kept.items()} == {"a": "x", "b": "x", "c": "w"}
    assert collect._kept(before, "x")["a"] == {"version": "1"}
    assert collect._kept(before, "w")["c"] == {"version": "3"}
    after = Findings({"name": "generated", "digest": "new"}, {**kept, "b": {"version": "2"}}, before.findings)
    for text in (findings_text.markdown(after), "".join(findings_text.lines(after, ()))):
        assert "different versions of the suite generated" in text
        for part in ("a 1 used version x", "b 2 used version new", "c 3 used version w"):
            assert part in text
    whole = Findings(before.suite, {"a": {"version": "1"}, "b": {"version": "2"}}, before.findings)
    assert "different versions" not in findings_text.markdown(whole)
