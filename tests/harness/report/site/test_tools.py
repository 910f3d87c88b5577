# SPDX-License-Identifier: Apache-2.0
"""Tools on the site: tables of their own, never among runtimes, a page each with a table of its options."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.report.site import site
from onnx_conformance.report.site.folder import SiteFolder
from onnx_conformance.report.site.results import Results
from onnx_conformance.results.stream import Run
from site_runs import REPRO, TOOLS, Written, results_of, verdict_of, write

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.usefixtures("few_operators")


def text_of(written: Written, name: str) -> str:
    return (written.folder / name).read_text(encoding="utf-8")


def plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def below(markup: str, heading: str) -> str:
    """Return the table below a heading."""
    after = markup[markup.index(f">{heading}</h") :]
    return after[after.index("<table") : after.index("</table>")]


def rows(table: str) -> dict[str, list[str]]:
    """Return the texts of the cells by the text of the row's head."""
    found = {}
    for row in re.findall(r"<tr.*?</tr>", table[table.index("<tbody") :], re.DOTALL):
        head = plain(re.search(r"<th.*?</th>", row, re.DOTALL)[0])  # type: ignore[index]
        found[head] = [plain(cell) for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
    return found


@pytest.mark.slow
def test_tools_are_neither_ranked_nor_in_the_heat_map_nor_in_the_list_of_operators(written: Written) -> None:
    assert {it.name for it in written.results.runtimes} == {"alpha", "beta", "gamma"}
    front = text_of(written, "index.html")
    for markup in (below(front, "Ranking"), front[front.index('id="heat"') : front.index('id="tools"')]):
        assert not [name for name in TOOLS if f">{name}<" in markup or f"{name} " in plain(markup)], markup
    assert "conv" not in plain(text_of(written, "operators.html").partition("<main")[2])


@pytest.mark.slow
def test_a_tool_does_not_change_who_is_ranked(cases: list[Case], tmp_path: Path) -> None:
    """A run of a tool with more operator versions than any runtime has is no measure for runtimes."""
    further = [Result(f"ai.onnx/Abs/{n}/a", f"ai.onnx/Abs/{n}", "check", Verdict.PASS, "values") for n in range(1, 9)]
    paths = [
        write(tmp_path / "a.ndjson", results_of("alpha", cases), {"alpha": {"version": "2.0", "repro": REPRO}}),
        write(tmp_path / "t.ndjson", [*results_of("check", cases), *further], {"check": TOOLS["check"]}),
    ]
    results = Results([Run(path) for path in paths])
    assert [(it.name, it.left_out) for it in results.ranked] == [("alpha", "")]
    assert int(results.common.sum()) == len(cases)


@pytest.mark.slow
def test_the_front_page_has_a_table_for_each_kind_with_its_columns(written: Written, cases: list[Case]) -> None:
    front = text_of(written, "index.html")
    kinds = ("Tools that change models", "Shape inference", "Checkers")
    assert sorted(kinds, key=lambda kind: front.index(f"<h3>{kind}<")) == list(kinds)
    own = {kind: re.findall(r"<th[^>]*>([^<]*)</th>", below(front, kind)) for kind in kinds}
    assert [heads[6:-1] for heads in own.values()] == [
        ["Invalid model"],
        ["Knows less"],
        ["Refused", "Accepted invalid"],
    ]
    converters = rows(below(front, kinds[0]))
    assert [head.split()[0] for head in converters] == ["conv", "conv"], "a name may break before its bracket"
    invalid = sum(verdict_of("conv[21]", n) is Verdict.INVALID_MODEL for n in range(len(cases)))
    assert [cells[5] for cells in converters.values()] == ["0", str(invalid)], "[9] comes before [21]"


def test_the_page_of_a_tool_has_its_operator_versions_by_option(written: Written, cases: list[Case]) -> None:
    markup = text_of(written, "tool/conv.html")
    table = rows(below(markup, "Operator version by target opset"))
    assert list(table) == ["ReduceSum 13", "Split 18", "Split 13", "SplitToSequence 11"]
    split = [n for n, case in enumerate(cases) if case.operator == "ai.onnx/Split/18"]
    for place, name in enumerate(("conv[9]", "conv[21]")):
        verdicts = [verdict_of(name, n) for n in split]
        passed = verdicts.count(Verdict.PASS)
        cell = table["Split 18"][place]
        assert f" {passed}/{len(split)}" in cell
        for verdict, letter in ((Verdict.INVALID_MODEL, "M"), (Verdict.UNSUPPORTED, "U")):
            assert (f"{letter}{verdicts.count(verdict)}" in cell) == (verdict in verdicts), cell
    assert "Passed of specified cases; M invalid model; C crash; U unsupported." in plain(markup)
    assert {'id="conv.9"', 'id="conv.21"'} <= set(re.findall(r'id="[^"]*"', markup)), "a section for each option"


@pytest.mark.slow
def test_a_tool_without_options_has_a_page_like_a_runtime(written: Written) -> None:
    markup = text_of(written, "tool/check.html")
    assert "Operator version by" not in markup
    assert "A model checker, not ranked with runtimes" in plain(markup)
    assert "By family" in markup


def test_findings_of_an_option_are_on_the_page_of_its_tool(written: Written) -> None:
    markup = text_of(written, "tool/conv.html")
    nine, both = markup.index('id="conv.9"'), markup.index('id="conv.21"')
    assert nine < both < markup.index("finding.html#conv-crash"), "in the section of [21]"
    assert markup.count("finding.html#conv-crash") == 1
    assert '<span class="badge b-crash" title="1 crash">C 1</span>' in below(
        text_of(written, "index.html"), "Tools that change models"
    )


def test_the_page_of_an_operator_has_tools_in_a_table_of_their_own(written: Written) -> None:
    markup = text_of(written, "operator/Split.html")
    assert "conv" not in plain(below(markup, "Versions"))
    assert [len(cells) for cells in rows(below(markup, "Tools")).values()] == [len(TOOLS)] * 2


@pytest.mark.slow
def test_tools_alone_are_a_site_without_a_ranking(cases: list[Case], tmp_path: Path) -> None:
    path = write(tmp_path / "t.ndjson", results_of("check", cases), {"check": TOOLS["check"]})
    results = Results([Run(path)])
    assert [(tool.name, tool.subject) for tool in results.tools] == [("check", Subject.CHECKER)]
    site.write(SiteFolder(tmp_path / "out"), results, None, {}, cases)
    front = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "nothing is ranked" not in front
    assert ">Checkers<" in front
