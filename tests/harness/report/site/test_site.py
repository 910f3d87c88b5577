# SPDX-License-Identifier: Apache-2.0
"""The static web site: what its pages say, and what the command does with a folder and with bad input."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import html
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colours import contrast, palette
from commands import command
from onnx_conformance.base.package import REPOSITORY
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.findings import findings_file
from onnx_conformance.report.html import verdict_styles
from onnx_conformance.report.site import history, opt_outs, pages, runtimes, scores, site
from onnx_conformance.report.site.finding_data import shown
from onnx_conformance.report.site.folder import LIST, SiteFolder, SiteFolderError
from onnx_conformance.report.site.results import OTHER, Results
from onnx_conformance.report.site.scores import GRADES, Score
from onnx_conformance.results.stream import Run
from onnx_conformance.suites.generated import Generated
from onnx_conformance.verification.accuracy import measured
from onnx_conformance.verification.accuracy.measured import Accuracy, Elementwise, Errors, Place
from refusals import refuses
from site_runs import HOSTILE, Written, finding, results_of, write, write_findings

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case

pytestmark = [pytest.mark.usefixtures("few_operators"), pytest.mark.slow]

VERDICTS = {"P": Verdict.PASS, "R": Verdict.REFUSED, "U": Verdict.UNSUPPORTED}


def text_of(written: Written, name: str) -> str:
    return (written.folder / name).read_text(encoding="utf-8")


def plain(markup: str) -> str:
    """Return the text of HTML, white space as one blank."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def data_of(folder: Path, name: str) -> Any:
    """Return what a data file hands to the page."""
    match = re.fullmatch(
        r'onnxConformance\("([^"]+)","([A-Za-z0-9+/=]+)"\);\n', (folder / f"data/{name}.js").read_text()
    )
    assert match, name
    assert match[1] == name
    return json.loads(gzip.decompress(base64.b64decode(match[2])))


def ranked_rows(markup: str) -> list[str]:
    table = markup[markup.index('id="ranks"') :]
    return re.findall(r"<tr data-runtime.*?</tr>", table[: table.index("</table>")], re.DOTALL)


# Ranking


def test_runtimes_are_ranked_on_the_cases_that_all_whole_runs_have(written: Written, cases: list[Case]) -> None:
    results = written.results
    assert [runtime.name for runtime in results.ranked] == ["alpha", "beta"]
    assert int(results.common.sum()) == len(cases) - 1, "beta lacks one case"
    assert [score.total for score in results.totals()] == [len(cases) - 1] * 2
    rows = ranked_rows(text_of(written, "index.html"))
    passed = sum(number % 5 != 0 for number in range(len(cases) - 1))
    assert f"{passed} of {len(cases) - 1}" in plain(rows[0])
    assert f"ranked by passed of specified cases, on the {len(cases) - 1} cases" in plain(
        text_of(written, "index.html")
    )


def test_the_order_follows_passed_of_specified_not_of_attempted(tmp_path: Path) -> None:
    letters = {"narrow": "PPUUUU", "wide": "PPPPRR"}
    results = [
        Result(f"x/A/1/{n}", "x/A/1", name, VERDICTS[letter], "values")
        for name, text in letters.items()
        for n, letter in enumerate(text)
    ]
    ranked = Results([Run(write(tmp_path / "r.ndjson", results, {"narrow": {}, "wide": {}}))])
    assert [(item.name, score.of_attempted) for item, score in zip(ranked.ranked, ranked.totals(), strict=True)] == [
        ("wide", "4/6"),
        ("narrow", "2/2"),
    ]


EVALUATOR = {"runtime": "onnx.reference", "version": "1.23.2"}


@pytest.mark.parametrize(("name", "hello"), [("onnx_reference==1.23.2", EVALUATOR), ("oracle", {"runtime": "oracle"})])
def test_an_evaluator_of_the_specification_is_shown_for_comparison_and_not_ranked(
    name: str, hello: dict[str, Any], cases: list[Case], runs: list[Path], tmp_path: Path
) -> None:
    own = [dataclasses.replace(item, backend=name) for item in results_of("gamma", cases)]
    results = Results([Run(runs[0]), Run(write(tmp_path / "r.ndjson", own, {name: hello}))])
    assert [item.name for item in results.ranked] == ["alpha", "beta"], "it passes all cases, and is still not first"
    site.write(SiteFolder(tmp_path / "out"), results)
    markup = (tmp_path / "out/index.html").read_text()
    stem = name.partition("==")[0]
    assert not [row for row in ranked_rows(markup) if stem in row]
    compared = markup[markup.index("For comparison, not ranked") : markup.index('id="heat-title"')]
    assert f"{len(cases) - 1} of {len(cases) - 1}" in plain(compared)
    assert "Not ranked" not in markup
    heads = markup[markup.index('id="heat-rows"') :]
    assert plain(heads[: heads.index("</thead>")]).endswith(f"{stem.replace('_', '_ ')} for comparison")
    page = (tmp_path / f"out/runtime/{stem}.html").read_text()
    assert "not ranked: it evaluates the specification, and is shown for comparison" in page


def test_an_evaluator_alone_is_still_shown(cases: list[Case], tmp_path: Path) -> None:
    own = [dataclasses.replace(item, backend="onnx_reference") for item in results_of("gamma", cases)]
    results = Results([Run(write(tmp_path / "r.ndjson", own, {"onnx_reference": EVALUATOR}))])
    site.write(SiteFolder(tmp_path / "out"), results)
    text = plain((tmp_path / "out/index.html").read_text())
    assert "No complete run of a runtime is among these results." in text
    assert f"{len(cases)} of {len(cases)}" in text[text.index("For comparison, not ranked") :]


# Results of different suites and versions


@pytest.mark.slow
def test_runs_with_different_versions_of_the_suite_are_named_wherever_they_are_together(
    cases: list[Case], runs: list[Path], tmp_path: Path
) -> None:
    other = write(tmp_path / "o.ndjson", results_of("gamma", cases), {"gamma": {"version": "9"}}, digest="y")
    hello = {"alpha==1.0": {"runtime": "alpha", "version": "1.0"}}
    old = write(tmp_path / "old.ndjson", results_of("alpha==1.0", cases), hello, digest="y")
    site.write(SiteFolder(tmp_path / "out"), Results([Run(path) for path in (runs[0], other, old)]))
    sentence = (
        "These results are of different versions of the suite generated, so cases with the same name may differ: "
        "gamma 9 used version y; alpha 2.0 and beta 0.3 used version x."
    )
    front = plain((tmp_path / "out/index.html").read_text())
    assert front.count(sentence) == 2, "above the ranking, and above the heat map"
    history = "cases with the same name may differ: alpha 1.0 used version y; alpha 2.0 used version x."
    for page, sentences in {
        "operators.html": [sentence],
        "operator/Split.html": [sentence, history],
        "runtime/alpha.html": [history],
        "runtime/beta.html": [],
    }.items():
        text = plain((tmp_path / "out" / page).read_text())
        assert [item for item in (sentence, history) if item in text] == sentences, page


@pytest.mark.slow
def test_runs_with_one_version_of_the_suite_need_no_sentence(written: Written) -> None:
    for path in written.folder.rglob("*.html"):
        assert "different versions of the suite" not in path.read_text(encoding="utf-8"), path


def test_older_versions_are_named_below_the_ranking(written: Written) -> None:
    text = plain(text_of(written, "index.html"))
    assert "Only the newest version of each runtime is ranked." in text
    assert "on the page of the runtime: alpha (1.0)." in text


def test_two_backends_with_different_versions_of_one_runtime_are_named(cases: list[Case], tmp_path: Path) -> None:
    hellos = {"alpha": {"runtime": "rt", "version": "1.10"}, "gamma": {"runtime": "rt", "version": "1.9"}}
    path = write(tmp_path / "r.ndjson", [*results_of("alpha", cases), *results_of("gamma", cases)], hellos)
    front = pages.front(pages.Site(Results([Run(path)]), None, "", ""))
    assert "These results are of 2 versions of rt: 1.9 (gamma), 1.10 (alpha)." in plain(front)


def test_another_version_in_another_suite_is_named(runs: list[Path], tmp_path: Path) -> None:
    official = [Result("official/test", "ai.onnx/Split/18", "alpha", Verdict.PASS, "values")]
    other = write(tmp_path / "o.ndjson", official, {"alpha": {"version": "1.5"}}, suite="official", digest="y")
    front = plain(pages.front(pages.Site(Results([Run(runs[0]), Run(other)]), None, "", "")))
    assert (
        "of 2 versions of alpha: 1.5 (suite official), 2.0 (suite generated)." in front[front.index("Other suites") :]
    )


@pytest.mark.slow
def test_findings_of_another_version_or_suite_are_named(runs: list[Path], tmp_path: Path) -> None:
    listed = [finding(1), finding(2, id="beta", backend="beta", version="0.3"), finding(3, id="gone", backend="gone")]
    known = {
        "alpha": {"runtime": "alpha", "version": "1.5"},
        "beta": {"runtime": "beta", "version": "0.3", "suite": "older"},
    }
    source = write_findings(tmp_path / "findings", listed, runtimes=known)
    done = command("site", runs[0], "--findings", source, "--out", tmp_path / "out")
    assert done.status == 0, done.text
    start = "The findings of {} were not made from the results that are shown here: the findings "
    alpha = start.format("alpha") + "are of version 1.5, the results of 2.0."
    beta = start.format("beta") + "used suite generated older, the results used generated x."
    for page, sentences in {
        "index.html": [alpha, beta],
        "findings.html": [alpha, beta],
        "operator/Split.html": [alpha, beta],
        "runtime/alpha.html": [alpha],
        "runtime/beta.html": [beta],
        "operators.html": [],
    }.items():
        text = plain((tmp_path / "out" / page).read_text())
        assert [item for item in (alpha, beta) if item in text] == sentences, page
    shown = data_of(tmp_path / "out", "finding/Split-0")
    assert {name: item["notes"] for name, item in shown.items()} == {
        "alpha-split-1": [alpha], "beta": [beta], "gone": []
    }  # fmt: skip


@pytest.mark.slow
def test_the_page_of_a_runtime_begins_with_its_gravest_findings(runs: list[Path], tmp_path: Path) -> None:
    listed = [finding(number, operator=f"ai.onnx/Op{number}", clause=f"Sentence {number}.") for number in range(12)]
    listed.append(finding(12, id="beta", backend="beta", version="2.0"))
    source = write_findings(tmp_path / "findings", listed)
    done = command("site", runs[0], "--findings", source, "--out", tmp_path / "out")
    assert done.status == 0, done.text
    for name, title, last in (
        ("alpha", "The 10 that matter", "Op11"),
        ("beta", "The finding that matters", "Finding 12"),
    ):
        text = plain((tmp_path / "out" / f"runtime/{name}.html").read_text())
        assert text.index(title) < text.index("By family") < text.index("Findings", text.index("By family")), name
        assert last in text
    beta = plain((tmp_path / "out" / "runtime/beta.html").read_text())
    assert "All are listed above." in beta
    assert beta.count("Finding 12") == 1


def test_a_sample_is_shown_as_such_and_never_ranked(written: Written) -> None:
    gamma = next(runtime for runtime in written.results.runtimes if runtime.name == "gamma")
    assert gamma.left_out == "a sample of 1 case in 4"
    markup = text_of(written, "index.html")
    assert not [row for row in ranked_rows(markup) if "gamma" in row], (
        "it passes all that it ran, and is still not first"
    )
    heat = markup[markup.index('id="heat"') :]
    assert "gamma" not in heat[: heat.index("</table>")]
    assert "A sample of 1 case in 4." in plain(markup[markup.index("Not ranked") :])
    assert "sample of 1 case in 4" in plain(text_of(written, "runtime/gamma.html"))


@pytest.mark.parametrize(("every", "why"), [(1, "the run was cut off"), (1000, "the run has 1 of 4 operator versions")])
def test_a_run_that_is_not_whole_is_not_ranked(
    every: int, why: str, cases: list[Case], runs: list[Path], tmp_path: Path
) -> None:
    part = write(tmp_path / "part.ndjson", results_of("gamma", cases, every), {"gamma": {}}, finish=every > 1)
    results = Results([Run(runs[0]), Run(part)])
    left_out = {runtime.name: runtime.left_out for runtime in results.runtimes}
    assert left_out == {"alpha": "", "beta": "", "gamma": why}
    assert int(results.common.sum()) == len(cases) - 1


@pytest.mark.slow
def test_without_a_whole_run_nothing_is_ranked(runs: list[Path], tmp_path: Path) -> None:
    site.write(SiteFolder(tmp_path / "out"), Results([Run(runs[2])]))
    markup = (tmp_path / "out/index.html").read_text()
    assert "No run is complete" in markup
    assert 'id="ranks"' not in markup


def test_rates_are_floored_and_no_data_is_not_zero() -> None:
    nearly = Score({Verdict.PASS: 1999, Verdict.CRASH: 1})
    assert (nearly.of_specified, nearly.of_attempted, nearly.grade.name) == ("99.9 %", "99.9 %", "most")
    assert (Score({}).of_specified, Score({}).grade.name) == ("no data", "absent")
    assert Score({Verdict.UNSUPPORTED: 3}).grade.name == "out"
    assert Score({Verdict.UNSUPPORTED: 3, Verdict.ADAPTER_ERROR: 1}).grade.name == "broken", "not all are unsupported"
    assert Score({Verdict.UNSPECIFIED: 3}).grade.name == "open"
    one = Score({Verdict.PASS: 1, Verdict.REFUSED: 4999})
    assert (one.grade.name, one.of_specified) == ("few", "< 0.1 %"), "one pass is not none"
    assert Score({Verdict.PASS: 1, Verdict.REFUSED: 999}).of_specified == "0.1 %"
    assert Score({Verdict.REFUSED: 5}).grade.name == "none"
    assert Score({Verdict.PASS: 5}).grade.name == "all"


def test_every_number_in_a_cell_is_the_one_that_its_colour_shows(written: Written) -> None:
    """A rate, or passed/specified, is within the step of the legend that the cell's class names."""
    least = {grade.name: grade.least for grade in GRADES}
    steps = sorted((grade.least for grade in GRADES if grade.least >= 0), reverse=True)
    checked = Counter[str]()
    for page in ("index.html", "operators.html", "operator/Split.html", "operator/ReduceSum.html"):
        for grade, cell in re.findall(r'<td class="g-(\w+)"[^>]*>(.*?)</td>', text_of(written, page), re.DOTALL):
            if least[grade] < 0:
                continue
            text = plain(cell)
            counts = re.search(r"(\d+)(?:/| of )(\d+)", text)
            tenths = int(counts[1]) * 1000 // int(counts[2]) if counts else round(float(text.split()[0]) * 10)
            assert next(step for step in steps if tenths >= step) == least[grade], (page, text, grade)
            checked[page] += 1
    assert len(checked) == 4
    (of_split,) = [item for item in written.results.operators if item.short == "Split"]
    beta = text_of(written, "operator/Split.html").split("</tr>")[1].split("<td")[2]
    assert f"of {sum('/18/' in written.results.table.ids[case] for case in of_split.cases)}" in beta, "with unsupported"


@pytest.mark.parametrize(
    "page", ["index.html", "operators.html", "operator/Split.html", "runtime/alpha.html", "tool/conv.html"]
)
def test_every_page_with_coloured_cells_has_their_legend_before_them(page: str, written: Written) -> None:
    markup = text_of(written, page).partition("<main")[2]
    legend = markup.index("Colour: passed of specified cases.")
    assert markup.index('class="step g-') > legend
    assert all(f'class="step g-{grade.name}"' in markup for grade in GRADES)
    first = re.search(r'<td class="(?:g-|place"><span class="step g-)', markup)
    assert first is None or first.start() > legend


def test_unscored_verdicts_have_no_part_of_the_bar() -> None:
    assert [family for family, _, _ in Score({Verdict.PASS: 1, Verdict.UNSPECIFIED: 9}).parts] == ["pass"]


def test_the_better_runtime_comes_first_by_more_than_the_shown_digits() -> None:
    one, other = Score({Verdict.PASS: 19_990, Verdict.REFUSED: 10}), Score({Verdict.PASS: 19_991, Verdict.REFUSED: 9})
    assert one.of_specified == other.of_specified
    assert sorted([one, other], key=lambda score: score.rank) == [other, one]


@pytest.mark.slow
def test_what_a_runtime_says_is_cut_where_it_is_long(cases: list[Case], tmp_path: Path) -> None:
    long = Result(
        cases[0].id,
        cases[0].operator,
        "a",
        Verdict.CRASH,
        "values",
        message="m" * 1900,
        stderr="first" + "s" * 3000 + "end",
    )
    site.write(SiteFolder(tmp_path / "out"), Results([Run(write(tmp_path / "r.ndjson", [long], {"a": {}}))]))
    (name,) = [path.stem for path in (tmp_path / "out/data/case").glob("*.js")]
    texts = data_of(tmp_path / "out", f"case/{name}")["texts"]
    assert f"{'m' * 400}... (1900 characters)" in texts
    assert [text for text in texts if text.endswith("end")] == ["s" * 597 + "end"]


def test_what_a_runtime_is_good_for_follows_from_its_scores() -> None:
    families = {
        "math": Score({Verdict.PASS: 100}),
        "nn": Score({Verdict.PASS: 80, Verdict.WRONG_VALUE: 20, Verdict.CRASH: 0}),
        "rnn": Score({Verdict.PASS: 1, Verdict.UNSUPPORTED: 99}),
        "text": Score({Verdict.PASS: 95, Verdict.CRASH: 5}),
        "image": Score({}),
    }
    assert scores.good_for(families) == (
        "Good at math: at least 99 % of the attempted cases pass. Weak at nn (80.0 %). "
        "Does not support more than half of rnn. Crashes in 5 cases: text."
    )
    assert scores.good_for({"math": families["math"]}) == "In every family, at least 99 % of the attempted cases pass."
    assert scores.good_for({"text": families["text"]}).startswith("Best at text: 95.0 % of the attempted cases pass.")
    assert scores.good_for({}) == ""


@pytest.mark.slow
def test_findings_are_counted_by_kind_without_those_that_are_fixed_or_apart(written: Written) -> None:
    counted = {}
    for runtime in written.results.runtimes:
        counted[runtime.name] = pages.kinds(pages.Site(written.results, written.findings, "", ""), runtime)
    assert counted == {"alpha": (("wrong_value", 1),), "beta": (("crash", 1),), "gamma": ()}
    assert "Findings" not in pages.front(pages.Site(written.results, None, "", "")), "none were looked for"


def test_the_front_page_says_how_complete_the_suite_is(written: Written) -> None:
    assert "Coverage of ONNX: 2 of 4 operators and 3 of 12 operator versions have cases." in text_of(
        written, "index.html"
    )


def test_without_javascript_ranking_and_heat_map_are_in_the_page(written: Written) -> None:
    markup = text_of(written, "index.html")
    assert len(ranked_rows(markup)) == 2
    heat = markup[markup.index('id="heat"') :]
    heat = plain(heat[: heat.index("</table>")])
    assert "tensor 1" in heat
    assert "reduction 1" in heat


def test_the_heat_map_has_the_newest_versions_only(cases: list[Case], tmp_path: Path) -> None:
    split = [case for case in cases if case.operator.startswith("ai.onnx/Split/")]
    old = [
        Result(case.id, case.operator, "a", Verdict.REFUSED if "/13/" in case.id else Verdict.PASS, "values")
        for case in split
    ]
    results = Results([Run(write(tmp_path / "r.ndjson", old, {"a": {}}))])
    heat = pages.front(pages.Site(results, None, "", ""))
    assert "<b>100.0</b><small>100.0</small>" in heat[heat.index('id="heat"') :]
    assert "100.0 %" not in ranked_rows(heat)[0]


# Versions of one runtime


def test_the_newest_version_is_the_main_one_and_older_ones_are_its_history(written: Written) -> None:
    alpha = written.results.ranked[0]
    assert (alpha.main.version, [item.version for item in alpha.history]) == ("2.0", ["1.0", "2.0"])
    assert len(written.results.runtimes) == 3


def test_versions_are_ordered_as_numbers() -> None:
    assert sorted(["1.10", "1.9", "odd", "2.0rc1", "2.0"], key=runtimes.age) == ["odd", "1.9", "1.10", "2.0rc1", "2.0"]


def test_the_chart_shows_whole_runs_on_the_cases_that_they_share(written: Written, cases: list[Case]) -> None:
    chart = history.chart(written.results.table, written.results.ranked[0])
    assert chart is not None
    assert [point.version for point in chart.points] == ["1.0", "2.0"]
    assert chart.cases == len(cases)
    old, new = chart.points
    assert old.specified is not None
    assert new.specified is not None
    assert old.specified > new.specified, "the better version is higher up"
    assert history.chart(written.results.table, written.results.ranked[1]) is None, "one version is no line"
    assert "<polyline" in text_of(written, "runtime/alpha.html")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("PP", "PP", "≤ 1"), ("PR", "PP", "since 2"), ("PR", "PR", "≤ 1"), ("RP", "PR", "since 2"), ("RR", "RR", "")],
)
def test_since_which_version_a_runtime_works(old: str, new: str, expected: str, tmp_path: Path) -> None:
    streams = []
    for version, letters in (("1", old), ("2", new)):
        name = f"a=={version}"
        of = [Result(f"x/A/1/{n}", "x/A/1", name, VERDICTS[letter], "values") for n, letter in enumerate(letters)]
        streams.append(Run(write(tmp_path / f"{version}.ndjson", of, {name: {"version": version, "runtime": "a"}})))
    results = Results(streams)
    assert history.since(results.table, results.runtimes[0], [0, 1]) == expected


def test_losses_and_gains_between_versions_are_separate(tmp_path: Path) -> None:
    streams = []
    for version, letters in (("1", "PPRR"), ("2", "PRPR"), ("3", "PRPR")):
        name = f"a=={version}"
        of = [Result(f"x/A/1/{n}", "x/A/1", name, VERDICTS[letter], "values") for n, letter in enumerate(letters)]
        streams.append(Run(write(tmp_path / f"{version}.ndjson", of, {name: {"version": version, "runtime": "a"}})))
    results = Results(streams)
    (change,) = history.changes(results.table, results.runtimes[0], results.operators)
    assert (change.old, change.new) == ("1", "2"), "nothing changed between 2 and 3"
    assert [(title, count, [item.name for item, _ in items]) for title, count, items in change.parts] == [
        ("no longer pass", 1, ["x/A"]), ("pass now", 1, ["x/A"])
    ]  # fmt: skip
    folder = tmp_path / "site"
    site.write(SiteFolder(folder), results)
    assert "1 to 2</b>" in (folder / "runtime" / "a.html").read_text()


def test_of_two_runs_of_one_version_the_wider_is_shown(cases: list[Case], tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.ndjson", results_of("gamma", cases), {"gamma": {"version": "1"}})
    sample = write(
        tmp_path / "s.ndjson", results_of("gamma", cases, 4), {"gamma": {"version": "1"}}, samples={"gamma": 4},
        started="2026-12-01T00:00:00+00:00",
    )  # fmt: skip
    (runtime,) = Results([Run(whole), Run(sample)]).runtimes
    assert runtime.main.sample == 1
    assert runtime.doubled == ("s.ndjson",)


# Pages


def test_other_suites_are_counted_apart(written: Written) -> None:
    page = text_of(written, "runtime/alpha.html")
    assert "8/9" in plain(page[page.index("Suite official") :])
    assert "official/test_0" in page
    assert "official/test_1" not in page, "it passes"
    assert "official" not in plain(ranked_rows(text_of(written, "index.html"))[0])


def test_an_operators_page_has_a_cell_for_each_version_and_runtime(written: Written) -> None:
    page = text_of(written, "operator/Split.html")
    rows = re.findall(r"<tr[ >].*?</tr>", page[page.index("<tbody>") : page.index("</tbody>")], re.DOTALL)
    assert [re.findall(r"<b>(\d+)</b>", row)[0] for row in rows] == ["18", "13"]
    assert all(row.count("<td") == 3 for row in rows)
    assert "to opset 17" in plain(rows[1])
    assert "≤ 1.0" not in plain(rows[0])
    assert "since 2.0" in plain(rows[0])
    assert "Apart of alpha" in page[page.index("Not counted:") :]


def test_opt_outs_are_counted_by_reason_and_operator(written: Written, cases: list[Case]) -> None:
    results = written.results
    beta = next(runtime for runtime in results.runtimes if runtime.name == "beta")
    column = results.table.columns[beta.main.place]
    counted = opt_outs.of_column(results.table, column, results.operators, verdict_styles.ABSENT)
    assert [(reason.count, "no kernel for node #" in reason.text) for reason in counted.reasons] == [
        (sum(number % 3 == 0 for number in range(len(cases) - 1)), True)
    ]
    assert counted.whole == ()
    assert {operator.short for operator, _, _ in counted.partly} == {"Split", "SplitToSequence", "ReduceSum"}


def test_only_failing_cases_are_described(written: Written, cases: list[Case]) -> None:
    failing = set(written.results.failing())
    assert 0 < len(failing) < len(cases)
    described = {}
    for operator in written.results.operators:
        own = data_of(written.folder, f"operator/{operator.slug}")
        for number in range(-(-len(own["ids"]) // 128)):
            block = data_of(written.folder, f"case/{operator.slug}-{number}")
            described |= dict(zip(own["ids"][number * 128 :], block["described"], strict=False))
    assert {case for case, of in described.items() if of} == failing
    assert all(described[case]["model"] for case in failing)
    assert set(described) == {case.id for case in cases}


def test_the_letters_of_a_case_are_the_verdicts_of_runtimes_and_tools(written: Written, cases: list[Case]) -> None:
    own = data_of(written.folder, "operator/Split")
    at = own["ids"].index(cases[0].id)
    assert own["verdicts"][at] == "VUPPPKA", "alpha, beta, gamma, then conv[9], conv[21], infer, check"
    assert [own["clauses"][number] for number in own["clauseSets"][own["clause"][at]]] == list(cases[0].clauses)


def test_hostile_texts_are_no_markup(written: Written) -> None:
    files = list(written.folder.rglob("*.html"))
    assert len(files) > 8
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "<script>alert" not in text, path
        assert "<img" not in text, path
        assert 'href="javascript' not in text, path
        assert "\u202e" not in text, path
    assert "&lt;script&gt;alert(1)" in text_of(written, "runtime/alpha.html"), "it is shown"
    for path in written.folder.rglob("*.js"):
        if path.parent.name != written.folder.name and "data" in path.parts:
            assert re.fullmatch(r'onnxConformance\("[\w./-]+","[A-Za-z0-9+/=]+"\);\n', path.read_text()), path


@pytest.mark.slow
def test_names_of_files_are_plain_and_unique_whatever_operators_are_called(tmp_path: Path) -> None:
    names = ["../../x", "ai.onnx/Split", "ai.onnx/split", "Split", "", "a/b/c", "x" * 500, "."]
    by_name = runtimes.slugs(names)
    assert len({slug.lower() for slug in by_name.values()}) == len(names)
    assert all(re.fullmatch(r"[\w-][\w.-]{0,90}", slug) for slug in by_name.values()), by_name
    of = [Result(f"{name}/1/c", f"{name}/1", "a", Verdict.REFUSED, "values") for name in names]
    site.write(SiteFolder(tmp_path / "out"), Results([Run(write(tmp_path / "r.ndjson", of, {"a": {}}))]))
    outside = {path.name for path in tmp_path.iterdir()}
    assert outside == {"out", "r.ndjson"}
    assert {path.parent.name for path in (tmp_path / "out").rglob("*.html")} <= {"out", "operator", "runtime"}
    assert OTHER in (tmp_path / "out/operators.html").read_text()


def test_every_grade_and_family_has_its_colours() -> None:
    style = pages.style()
    assert all(f".g-{grade.name} {{" in style for grade in GRADES)
    assert all(f".f-{family} {{" in style for family, _ in pages.LEGEND)
    signs = [grade.sign for grade in GRADES]
    assert len(set(signs)) == len(signs), "never by colour alone"


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_rates_have_enough_contrast_with_their_ground(theme: int) -> None:
    colours = palette(pages.style(), theme)
    pairs = [(f"{grade.name}-ink", grade.name) for grade in GRADES if f"{grade.name}-ink" in colours]
    assert len(pairs) == 6
    assert not [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5]


def test_links_between_pages_lead_to_files(written: Written) -> None:
    checked = 0
    for path in written.folder.rglob("*.html"):
        for address in re.findall(r'(?:href|src)="([^"]*)"', path.read_text(encoding="utf-8")):
            target, _, place = html.unescape(address).partition("#")
            target = target.partition("?")[0]
            if target.startswith(("https://", "data:")):
                continue
            file = (path.parent / target) if target else path
            assert file.is_file(), f"{path}: {address}"
            if file.name == "operators.html" and place:
                assert f'id="{place}"' in file.read_text(), address
            checked += 1
    assert checked > 100


def test_every_page_names_the_repository(written: Written) -> None:
    pages_ = [*written.folder.rglob("*.html")]
    assert len(pages_) > 10
    assert not [path for path in pages_ if f'<a href="{REPOSITORY}">' not in path.read_text(encoding="utf-8")]


# Findings


def test_findings_come_the_gravest_first(written: Written) -> None:
    assert [item.id for item in written.findings] == [
        "alpha-apart", "alpha-split-1", "beta-crash", "conv-crash", "alpha-fixed"
    ]  # fmt: skip
    assert data_of(written.folder, "site")["findings"]["beta-crash"] == "finding/Split-0"
    shown = data_of(written.folder, "finding/Split-0")["alpha-split-1"]
    assert shown["script"].startswith("print(")
    assert shown["versions"] == [13, 18]


def test_an_address_that_is_not_of_the_web_is_no_link(tmp_path: Path) -> None:
    listed = [finding(1, issue="http://x", versions=[])]
    (item,) = findings_file.read(write_findings(tmp_path, listed)).findings
    assert not {"link", "issue"} & set(shown(item))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "bad"}, "kind must be one of"),
        ({"versions": ["x"]}, "versions[0] must be integer"),
        ({"example": {"inputs": {"a": 1}}}, "must be string"),
        ({"script": [3]}, "there is no piece 3 of scripts, only 0"),
        ({"script": ["x" * 200_001]}, "is longer than 200,000 characters"),
        ({"title": None}, "title must be string"),
    ],
)
def test_findings_of_another_form_are_one_sentence(
    change: dict[str, Any], why: str, runs: list[Path], tmp_path: Path
) -> None:
    source = write_findings(tmp_path / "findings", [finding(1, **change)])
    done = command("site", runs[0], "--findings", source, "--out", tmp_path / "out")
    assert done.status == 2, done.text
    assert why in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ('{"format": 1, "findings": []}', "format must be same as const definition: 2"),
        ("[" * 100_000, "is not JSON"),
        ('{"format": 2}', "must contain"),
    ],
)
def test_a_file_that_is_no_list_of_findings_is_one_sentence(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "findings.json").write_text(text)
    with pytest.raises(findings_file.FindingsError, match=re.escape(why)):
        findings_file.read(tmp_path)


def test_two_findings_of_one_name_are_refused(tmp_path: Path) -> None:
    with refuses("finding-id-doubled", kind=findings_file.FindingsError):
        findings_file.read(write_findings(tmp_path, [finding(1), finding(1)]))


# The folder


def test_a_second_site_replaces_the_first_and_leaves_foreign_files_alone(
    runs: list[Path], cases: list[Case], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    site.write(SiteFolder(out), Results([Run(path) for path in runs]), None, cases)
    (out / "README.md").write_text("mine")
    (out / "operator" / "notes.txt").write_text("mine")
    split = [case for case in cases if "SplitToSequence" in case.id]
    small = write(tmp_path / "small.ndjson", results_of("gamma", split), {"gamma": {}})
    site.write(SiteFolder(out), Results([Run(small)]), None, cases)
    left = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert "operator/Split.html" not in left
    assert not (out / "runtime/alpha.html").exists()
    assert {"README.md", "operator/notes.txt", "operator/SplitToSequence.html", "runtime/gamma.html"} <= left
    assert (out / "README.md").read_text() == "mine"
    assert left - {"README.md", "operator/notes.txt", LIST} == set((out / LIST).read_text().splitlines())


def test_a_site_that_was_interrupted_can_be_written_again(tmp_path: Path) -> None:
    folder = SiteFolder(tmp_path)
    folder.write("index.html", ["half"])
    again = SiteFolder(tmp_path)
    again.write("index.html", ["whole"])
    again.finish()
    assert (tmp_path / "index.html").read_text() == "whole"


@pytest.mark.parametrize("name", ["index.html", "site.css", "data/front.js"])
def test_a_foreign_file_in_the_way_is_not_replaced(name: str, runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("foreign")
    done = command("site", runs[0], "--out", tmp_path)
    assert done.status == 2, done.text
    assert str(tmp_path / name) in done.err
    assert (tmp_path / name).read_text() == "foreign"


def test_the_list_of_files_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / LIST).write_text(f"../mine.txt\n{tmp_path / 'mine.txt'}\n\n..\n")
    folder = SiteFolder(out)
    folder.write("index.html", ["x"])
    folder.finish()
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_out_is_a_folder(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with refuses("site-not-a-folder", kind=SiteFolderError):
        SiteFolder(tmp_path / "file")
    assert command("site", runs[0], "--out", tmp_path / "file").status == 2


# The command


@pytest.mark.slow
def test_the_command_writes_a_site_with_models(cases: list[Case], tmp_path: Path) -> None:
    path = write(tmp_path / "r.ndjson", results_of("alpha", cases), {"alpha": {}}, digest=Generated().digest())
    done = command("site", path, "--out", tmp_path / "out")
    assert done.status == 0, done.text
    assert done.out.startswith(f"{tmp_path / 'out' / 'index.html'}: ")
    own = data_of(tmp_path / "out", "operator/Split")
    described = Counter(own["described"])
    assert described[1] > 0
    assert described[1] == sum("V" in letters for letters in own["verdicts"])


@pytest.mark.slow
def test_the_command_says_why_models_are_missing(runs: list[Path], tmp_path: Path) -> None:
    done = command("site", *runs, "--out", tmp_path / "out")
    assert done.status == 0, done.text
    assert "suite generated has digest" in (tmp_path / "out/index.html").read_text()


@pytest.mark.slow
def test_the_page_of_an_operator_has_what_its_text_leaves_open(written: Written) -> None:
    split = (written.folder / "operator/Split.html").read_text()
    assert "What the text leaves open" in split
    assert "length of each output" in split
    listed = (written.folder / "open.html").read_text()
    assert 'href="operator/Split.html#open"' in listed
    assert re.search(r"\d+ silences, \d+ contradictions? and \d+ rewordings? of 3 operators", listed)


@pytest.mark.slow
def test_allowed_errors_are_a_page_and_a_data_file(written: Written) -> None:
    rows = json.loads((written.folder / "bounds.json").read_text())
    assert {row["operator"] for row in rows} == {
        "ai.onnx/Split/18",
        "ai.onnx/SplitToSequence/24",
        "ai.onnx/ReduceSum/13",
    }
    page = (written.folder / "bounds.html").read_text()
    assert "the operator only moves or selects data" in page
    assert "ai.onnx/ReduceSum/13" in page


@pytest.mark.slow
def test_accuracy_is_a_page_with_a_chart_of_each_function(cases: list[Case], tmp_path: Path) -> None:
    errors = Errors(3, 0.25, 0.5, Place(2.5, "1.5", "4.48", "4.49"))
    row = Elementwise(
        "ai.onnx/Exp/13", {}, "float", 3, False, 0, 0,  # noqa: FBT003 - as the class has it
        errors, None, 0, 0.625, "4 ULP", (), 0, (), 0,
        (("0.5", 0.25), ("1.5", 2.5), ("123.456789", 0.5)),
    )  # fmt: skip
    file = tmp_path / "accuracy.json"
    file.write_text(measured.as_json(Accuracy(HOSTILE, "alpha", "2", "1", (HOSTILE,), (row,), (), ())))
    path = write(tmp_path / "r.ndjson", results_of("alpha", cases[:2]), {"alpha": {}})
    done = command("site", path, "--accuracy", file, "--out", tmp_path / "out")
    assert done.status == 0, done.text
    text = (tmp_path / "out/accuracy.html").read_text()
    assert text.count("<polyline") == 1
    assert ">123.5</text>" in text
    assert "2.50 ULP at 1.5" in text
    assert "<script>alert" not in text
    assert 'href="accuracy.html" aria-current="page"' in text


@pytest.mark.slow
def test_different_answers_where_the_text_is_silent_come_first(tmp_path: Path) -> None:
    answers = {"alpha": "float[0]; float[0]", "beta": f"float[1] {HOSTILE}", "gamma": ""}
    name = "ai.onnx/Split/18"
    results = [
        Result(f"{name}/num_outputs_dim_zero", name, backend, Verdict.UNSPECIFIED, "unspecified", actual=actual)
        for backend, actual in answers.items()
    ]
    path = write(tmp_path / "r.ndjson", results, {backend: {"runtime": backend} for backend in answers})
    done = command("site", path, "--out", tmp_path / "out")
    assert done.status == 0, done.text
    for page in ("open.html", "operator/Split.html"):
        text = (tmp_path / "out" / page).read_text()
        assert "3 backends: different values in 1 case" in text
        assert "1 returns &#34;float[0]; float[0]&#34; (alpha)" in text
        assert "1 refuses (gamma)" in text
        assert "<script>alert" not in text


@pytest.mark.parametrize(
    ("words", "why"),
    [(["none.ndjson", "--out", "out"], "cannot read none.ndjson"), (["none.ndjson"], "Missing option '--out'")],
)
def test_bad_input_is_one_sentence(words: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("site", *words)
    assert done.status == 2, done.text
    assert why in done.err


@pytest.mark.slow
def test_an_empty_run_is_a_site_too(tmp_path: Path) -> None:
    site.write(SiteFolder(tmp_path / "out"), Results([Run(write(tmp_path / "r.ndjson", [], {"a": {}}))]))
    assert "No run is complete" in (tmp_path / "out/index.html").read_text()


def test_hostile_text_of_the_fixture_would_be_noticed() -> None:
    assert "<script>alert" in HOSTILE
    assert Path(LIST).suffix == ".txt"


def test_a_version_with_few_cases_of_the_core_names_the_one_that_stands_for_it(tmp_path: Path) -> None:
    counts = {18: 5, 13: 4, 11: 2, 2: 4}
    results = [
        Result(f"ai.onnx/Split/{since}/{n}", f"ai.onnx/Split/{since}", "mine", Verdict.PASS, "values")
        for since, count in counts.items()
        for n in range(count)
    ]

    def stands_for(selection: str) -> dict[int, int]:
        run = Run(write(tmp_path / f"{selection}.ndjson", results, {"mine": {}}))
        run.header["arguments"]["selection"] = selection
        made = Results([run])
        (of,) = made.operators
        return pages.stands_for(made, of, counts)

    assert stands_for("--core") == {11: 13}, "2, 11 and 13 have one meaning, but 2 has as many cases as 13"
    assert stands_for("") == {}, "all cases: each version has its own"
