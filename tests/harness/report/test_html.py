# SPDX-License-Identifier: Apache-2.0
"""The HTML report: its data, and that it works in a real browser with any message of a runtime."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import html
import json
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from colours import contrast, palette
from commands import command
from onnx_conformance.analysis import explain
from onnx_conformance.analysis.statement import Statement
from onnx_conformance.backends import onnx_reference
from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.cli import page_cases
from onnx_conformance.declare import readings
from onnx_conformance.environments.backend_names import resolve
from onnx_conformance.generation import plans
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, Died, Late, Refused
from onnx_conformance.report import comparison
from onnx_conformance.report.html import blocks, case_data, matrix, page, verdict_styles
from onnx_conformance.report.html.table import Table
from onnx_conformance.repro import script as repro
from onnx_conformance.results import stream
from onnx_conformance.results.stream import Run, Writer, header
from onnx_conformance.specification import registry
from onnx_conformance.suites.generated import Generated
from runs import TOOLS, results_of_tools, run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from playwright.sync_api import Page

    from onnx_conformance.case.case import Case
    from windows import Windows

pytestmark = pytest.mark.usefixtures("few_operators")

SPLIT, SUM = "ai.onnx/Split/18", "ai.onnx/ReduceSum/13"
REFERENCE = {"runtime": "onnx.reference", "version": "1.2", "python": "3.11", "repro": onnx_reference.REPRO}
COMMAND = "cmd:./my runner --stdio"
BACKENDS = {
    "mine": {**REFERENCE, "repro_wide": "outputs = wide(model)\n"},
    "other": {"runtime": "o"},
    COMMAND: REFERENCE,
}
LABELS = under_test.labels(BACKENDS)
HOSTILE = (
    "<script>alert(1)</script> </script><script>alert(2)</script> <img src=x onerror=alert(3)> javascript:alert(4) "
    "]]> --> <!-- <svg onload=alert(5)> \u2028\u2029 \u202eright to left\u202c \u200f {{ 7*7 }} ' \" & &lt; \x00\x1b[2J"
)


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    by_id: dict[str, Case] = {}
    for name, version in (("Split", 13), ("Split", 18), ("ReduceSum", 13), ("Dropout", 22), ("Reshape", 21)):
        generated = list(plans.cases(registry.load().named(name), (version,)))
        of_each_kind = {(case.outcome, case.element_type): case for case in reversed(generated) if case.form == PLAIN}
        by_id |= {case.id: case for case in generated[:: max(1, len(generated) // 30)]}
        by_id |= {case.id: case for (_, type_), case in of_each_kind.items() if type_ in {"float", "float16"}}
        by_id |= {case.id: case for case in generated if case.outcome is Outcome.PROPERTY and case.form == PLAIN}
    assert {case.outcome for case in by_id.values()} == set(Outcome)
    return by_id


def shifted(case: Case, seed: int) -> Answered:
    """An answer whose first floating output is wrong in some elements."""
    values = list(case.expected or (np.zeros(2, np.float32),))
    for number, value in enumerate(values):
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "fiu":
            wrong = value.copy()
            wrong.reshape(-1)[seed % value.size :: 3] += np.asarray(1, value.dtype)
            values[number] = wrong
            break
    return Answered(tuple(getattr(value, "example", value) for value in values), 0.001)


def result_of(case: Case, number: int, shift: int) -> Result:
    """What a backend made of a case: of everything something, the same every time."""
    seed = sum(case.id.encode()) + 7 * number + shift
    right = tuple(getattr(value, "example", value) for value in case.expected or (np.zeros(2, np.float32),))
    replies = [
        Answered(right, 0.001), Answered(right, 0.002), shifted(case, seed), Refused("Fail", f"axis {seed}", None, 0.1),
        Refused("Lacks", "no kernel", "no kernel", 0.1), Died("SIGSEGV", -11, "the last words"), Late(2.0, ""),
        Answered((*right, np.zeros(1, np.float32)), 0.1), Answered(tuple(right)[:-1], 0.1),
    ]  # fmt: skip
    return judge(case, list(BACKENDS)[number], replies[seed % len(replies)])


def write(
    path: Path,
    results: Sequence[Result],
    backends: dict[str, Any] | None = None,
    *,
    finish: bool = True,
    suite: str = "x",
) -> Path:
    writer = Writer(path)
    writer.open(
        header({"name": "generated", "digest": suite}, backends or BACKENDS, {"selection": "", "reference": ""})
    )
    for result in results:
        writer.add(result)
    if finish:
        writer.finish(1.0)
    writer.close()
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("html")


@pytest.fixture(scope="module")
def all_results(cases: dict[str, Case]) -> list[Result]:
    return [result_of(case, number, 0) for case in cases.values() for number in range(len(BACKENDS))]


@pytest.fixture(scope="module")
def results(folder: Path, all_results: list[Result]) -> Path:
    return write(folder / "one.ndjson", all_results)


@pytest.fixture(scope="module")
def statements(all_results: list[Result]) -> list[Statement]:
    crashed = tuple(r.case for r in all_results if r.backend == "mine" and r.verdict is Verdict.CRASH)
    return [
        Statement("mine", "ai.onnx/Split", Verdict.CRASH, ("axis=1", HOSTILE), len(crashed), len(crashed), 0, crashed),
        Statement("nobody", "ai.onnx/Split", Verdict.CRASH, (), 0, 0, 0, ()),
    ]


@pytest.fixture(scope="module")
def file(folder: Path, results: Path, cases: dict[str, Case], statements: list[Statement]) -> Path:
    path = folder / "one.html"
    path.write_text(page.report([Run(results)], cases.values(), statements), encoding="utf-8")
    return path


# What is written


@pytest.mark.slow
def test_every_verdict_has_a_row_and_a_letter_of_its_own() -> None:
    assert {str(verdict) for verdict in Verdict} <= set(verdict_styles.STYLES)
    assert set(verdict_styles.ORDER) == set(Verdict)
    assert verdict_styles.ORDER[0] is Verdict.PASS
    letters = [style.letter for style in verdict_styles.STYLES.values()]
    assert len(set(letters)) == len(letters)
    assert len({style.words for style in verdict_styles.STYLES.values()}) == len(letters)


@pytest.mark.slow
def test_every_family_has_its_colours() -> None:
    style = page._own("style.css")
    for family in {style.family for style in verdict_styles.STYLES.values()}:
        for rule in (f".f-{family} {{", f".b-{family} {{", f"--{family}:", f"--{family}-wash:", f"--{family}-ink:"):
            assert rule in style, rule


@pytest.mark.slow
def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast(theme: int) -> None:
    colours = palette(page._own("style.css"), theme)
    assert len(colours) > 40
    texts = [(ink, ground) for ink in ("ink", "dim", "link") for ground in ("ground", "raised")]
    texts += [("mark-ink", "mark"), ("warn-ink", "warn")]
    texts += [(f"{style.family}-ink", f"{style.family}-wash") for style in verdict_styles.STYLES.values()]
    shapes = [(style.family, "ground") for style in verdict_styles.STYLES.values()] + [
        ("edge", "ground"),
        ("focus", "ground"),
    ]
    low = [pair for pair in texts if contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    low += [pair for pair in shapes if contrast(colours[pair[0]], colours[pair[1]]) < 3]
    assert not low


@pytest.mark.slow
def test_a_bar_shows_every_verdict_that_occurs() -> None:
    parts = matrix.shares({0: 100_000, verdict_styles.NUMBER[Verdict.CRASH]: 1})
    assert [family for family, _, _ in parts] == ["pass", "crash"]
    assert parts[1][2] > 20
    assert sum(width for _, _, width in parts) <= 1000
    assert matrix.shares({}) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "short", "sentence"),
    [
        ({}, "no data", "no data"),
        ({Verdict.UNSUPPORTED: 2}, "unsupported",
         "0 passed of 2 specified, of 0 attempted (no data); 2 unsupported"),
        ({Verdict.UNSPECIFIED: 2}, "unspecified",
         "0 passed of 0 specified (no data), of 0 attempted (no data); 2 unspecified"),
        ({Verdict.PASS: 1999, Verdict.CRASH: 1}, "1999/2000",
         "1999 passed of 2000 specified (99.9 %), of 2000 attempted (99.9 %); 1 crash"),
    ],
)  # fmt: skip
def test_a_cell_says_both_rates_or_why_there_is_none(counts: dict[Verdict, int], short: str, sentence: str) -> None:
    assert (matrix.short(counts), matrix.sentence(counts)) == (short, sentence)


@pytest.mark.slow
def test_the_columns_of_several_runs_have_names_of_their_own(tmp_path: Path) -> None:
    old = write(tmp_path / "old.ndjson", [], {"mine": {"version": "1"}, "same": {"version": "1"}, "alone": {}})
    new = write(tmp_path / "new.ndjson", [], {"mine": {"version": "2"}, "same": {"version": "1"}})
    table = Table([Run(old), Run(new)])
    labels = [column.label for column in table.columns]
    assert labels == ["mine 1", "same 1 (old.ndjson)", "alone", "mine 2", "same 1 (new.ndjson)"]
    assert table.pairs() == [(0, 3), (1, 4)]
    assert Table([Run(old)]).pairs() == []
    twice = Table([Run(old), Run(old)])
    assert len({column.label for column in twice.columns}) == 6


@pytest.mark.slow
def test_the_header_says_versions_and_dates(file: Path, results: Path) -> None:
    head = file.read_text(encoding="utf-8").partition("<header>")[2].partition("</header>")[0]
    header = Run(results).header
    for hello in header["backends"].values():
        assert html.escape(f"{hello['runtime']} {hello.get('version', '')}".strip()) in head
    assert header["started"][:10] in head
    assert f"onnx {header['onnx']}" in head


@pytest.mark.slow
def test_ids_that_look_the_same_have_different_names(tmp_path: Path) -> None:
    ids = ["a/b\x1b[2Jc", "a/bc", "a/bc (2)", "x" * 100_000]
    path = write(tmp_path / "r.ndjson", [Result(name, "a/b/1", "mine", Verdict.PASS, "values") for name in ids])
    table = Table([Run(path)])
    assert len(set(table.ids)) == 4
    assert max(map(len, table.ids)) < 1000
    assert [table.number_of(name) for name in ids] == [0, 1, 2, 3]


@pytest.mark.slow
def test_operators_are_in_the_order_a_person_expects(tmp_path: Path) -> None:
    names = ["ai.onnx.ml/A/1", "ai.onnx/B/13", "ai.onnx/B/2", "x", "ai.onnx/A/7", "ai.onnx/B/" + "9" * 5000]
    path = write(tmp_path / "r.ndjson", [Result(f"{name}/c", name, "mine", Verdict.PASS, "values") for name in names])
    shown = [f"{row.name} {row.version}"[:9].strip() for row in matrix.sections(Table([Run(path)]))[0].matrices[0].rows]
    assert shown == ["A 7", "B 9999999", "B 2", "B 13", "A 1", "x"]


@pytest.mark.slow
def test_each_kind_of_backend_has_matrices_of_its_own(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r.ndjson", *results_of_tools(), hellos=TOOLS)
    sections = matrix.sections(Table([run]))
    assert [(it.heading, [[head for head, _, _ in part.columns] for part in it.matrices]) for it in sections] == [
        ("Runtimes", [["mine"]]),
        ("Tools that change models", [["slim"], ["9", "21"]]),
        ("Shape inference", [["infer"]]),
        ("Checkers", [["check"]]),
    ]
    converter = sections[1].matrices[1]
    assert converter.title == "conv 2.0: operator version by target opset"
    rows = {f"{row.name} {row.version}": [cell.short for cell in row.cells] for row in converter.rows}
    assert rows == {"Split 2": ["0/1 U1", "0/1 C1"], "Split 18": ["1/2 U1", "1/2 M1"]}
    assert [cell.short for cell in converter.sums] == ["1/3 U2", "1/3 M1 C1"]
    assert converter.rows[0].cells[0].href.endswith("&on=conv%5B9%5D"), "the list of the cases of that option"


@pytest.mark.slow
def test_runtimes_alone_have_one_matrix_without_a_heading(file: Path, tmp_path: Path) -> None:
    run = run_of(tmp_path / "r.ndjson", *(item for item in results_of_tools() if item.backend == "mine"))
    (section,) = matrix.sections(Table([run]))
    assert (section.heading, len(section.matrices), section.matrices[0].title) == ("", 1, "")
    markup = file.read_text(encoding="utf-8")
    assert markup.count('<table class="matrix') == 1
    assert ">Runtimes</h2>" not in markup


@pytest.mark.slow
def test_a_sample_is_named_above_an_option(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r.ndjson", *results_of_tools(), hellos=TOOLS)
    run.header["arguments"]["samples"] = {"conv[9]": 20}
    heads = [head for head, _, _ in matrix.sections(Table([run]))[1].matrices[1].columns]
    assert heads == ["9, 1 case in 20", "21"]


@pytest.mark.slow
def test_scripts_are_not_markup() -> None:
    with pytest.raises(AssertionError, match="must not contain markup"):
        page._hashed('const x = "</script>";')
    page._hashed(page._script() + page._style(3, []))


# The command


@pytest.mark.slow
def test_the_command_writes_a_page(results: Path, tmp_path: Path) -> None:
    done = command("report", results, "--format", "html", "--out", tmp_path / "page.html")
    assert done.status == 0, done.text
    assert done.out == ""
    text = (tmp_path / "page.html").read_text()
    assert "suite generated has digest" in text
    assert "had x in the run" in text


@pytest.mark.slow
def test_models_are_there_where_the_suite_is_the_one_that_ran(all_results: list[Result], tmp_path: Path) -> None:
    path = write(tmp_path / "r.ndjson", all_results, suite=Generated().digest())
    done = command("report", path, "--format", "html", "--out", tmp_path / "page.html")
    assert done.status == 0, done.text
    text = (tmp_path / "page.html").read_text()
    assert "not at hand" not in text
    blocks = re.findall(r'id="described\d+">([^<]+)<', text)
    models = [case["model"] for block in blocks for case in json.loads(gzip.decompress(base64.b64decode(block)))]
    assert len(models) == len({result.case for result in all_results})
    assert any("Split (" in model for model in models)


@pytest.mark.slow
def test_with_very_many_cases_only_those_that_did_not_pass_have_models(
    all_results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = [result for result in all_results if result.backend == "mine"]
    path = write(tmp_path / "r.ndjson", mine, suite=Generated().digest())
    others = {result.case for result in mine if result.verdict is not Verdict.PASS}
    monkeypatch.setattr(page_cases, "MOST_CASES", 5)
    run = Run(path)
    watchers = page_cases.of_page([run], Table([run])).watchers.values()
    assert {case for watcher in watchers for case in watcher.ids} == others
    assert 0 < len(others) < len(mine)


@pytest.mark.slow
def test_the_file_is_read_once_beside_its_check_and_each_plan_is_made_once(
    all_results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "r.ndjson", all_results, suite=Generated().digest())
    opened: Counter[Path] = Counter()
    planned: Counter[str] = Counter()
    open_file, plan = stream._opened, plans.plan

    def counted(path: Path) -> Any:
        opened[path] += 1
        return open_file(path)

    def counted_plan(*arguments: Any) -> Any:
        planned_case = plan(*arguments)
        planned[planned_case.id] += 1
        return planned_case

    monkeypatch.setattr(stream, "_opened", counted)
    monkeypatch.setattr(plans, "plan", counted_plan)
    done = command("report", path, "--format", "html", "--out", tmp_path / "page.html")
    assert done.status == 0, done.text
    assert opened[path] == 3, "its header, its check, and all that the report needs"
    assert set(planned) == {result.case.partition("@")[0] for result in all_results}
    assert max(planned.values()) == 1


@pytest.mark.slow
def test_cases_are_described_alike_in_this_process_and_in_others(
    all_results: list[Result], cases: dict[str, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [result for result in all_results if result.operator in {SUM, "ai.onnx/Dropout/22"}]
    run = Run(write(tmp_path / "r.ndjson", some, suite=Generated().digest()))
    monkeypatch.setattr(explain, "FEW_CASES", 0)
    described_blocks = []
    for jobs in (1, 2):
        watchers = page_cases.of_page([run], Table([run])).watchers
        explained = explain.explain(run, Generated(), jobs=jobs, watchers=watchers)
        described_blocks.append([block for of_operator in explained.seen.values() for block in of_operator])
    assert described_blocks[0] == described_blocks[1]
    described = {
        case: unpacked
        for block in described_blocks[0]
        for case, unpacked in zip(block.ids, contents(block), strict=True)
    }
    assert described == {name: case_data.Describer().of(cases[name]) for name in {result.case for result in some}}
    assert {cases[name].outcome for name in described} >= {Outcome.VALUES, Outcome.PROPERTY, Outcome.REJECTS}


def contents(block: blocks.Block) -> list[dict[str, Any]]:
    return json.loads(gzip.decompress(base64.b64decode(block.packed)))  # type: ignore[no-any-return]


@pytest.mark.slow
def test_operators_without_failures_have_their_cases_described(cases: dict[str, Case], tmp_path: Path) -> None:
    right = [judge(case, "mine", Refused("Lacks", "no kernel", "no kernel", 0.1)) for case in cases.values()]
    run = Run(write(tmp_path / "r.ndjson", right, suite=Generated().digest()))
    assert not any(result.verdict.failed for result in run.results())
    explained = explain.explain(run, Generated(), watchers=page_cases.of_page([run], Table([run])).watchers)
    assert {case for blocks in explained.seen.values() for block in blocks for case in block.ids} == set(cases)
    assert not explained.explained


@pytest.mark.slow
def test_runs_of_different_suites_have_no_models(all_results: list[Result], results: Path, tmp_path: Path) -> None:
    other = tmp_path / "folder.ndjson"
    head, *rest = write(tmp_path / "r.ndjson", all_results[:1]).read_text().splitlines()
    other.write_text("\n".join([head.replace('"generated"', '"/no/such/suite"'), *rest, ""]))
    assert "different suites" in page_cases.suite_of_runs([Run(results), Run(other)])[1]
    assert "does not exist" in page_cases.suite_of_runs([Run(other)])[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--format", "html"], "needs --out FILE"),
        (["--format", "html", "--out", "/no/such/folder/x.html"], "cannot write /no/such/folder/x.html"),
        (["{results}", "--format", "markdown"], "--format markdown accepts one results file"),
        (["/no/such", "--format", "html", "--out", "x.html"], "cannot read /no/such"),
    ],
)
def test_bad_input_is_one_sentence(results: Path, words: list[str], why: str) -> None:
    done = command("report", results, *(word.format(results=results) for word in words))
    assert done.status == 2
    assert why in done.err
    assert len(done.err.splitlines()) == 1


# In a browser


@pytest.fixture
def opened(open_page: Callable[..., Page]) -> Callable[..., Page]:
    return lambda path, route="#/", **options: open_page(path, route, **options)


FILTERED = """async (filters) => {
  const shown = [];
  const count = () => document.getElementById("count").innerText;
  for (const [field, value] of filters) {
    const control = document.getElementById(`f-${field}`);
    control.value = value;
    for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
    await new Promise((done) => setTimeout(done, 30));
    shown.push([count(), control.matches(".set"), location.href]);
    document.getElementById("clear").click();
    shown.at(-1).push(count());
  }
  return shown;
}"""
"""Sets each filter and clears it again; returns the count, whether the field is marked, the address, and the count."""


def left(tab: Page) -> int:
    """How many cases the page says are left."""
    return left_in(tab.locator("#count").inner_text())


def left_in(text: str) -> int:
    return int(text.split(" ", maxsplit=1)[0].replace(",", ""))


def expected_left(all_results: list[Result], holds: Callable[[Result], bool]) -> int:
    return len({result.case for result in all_results if holds(result)})


def typed(result: Result) -> str:
    stem = result.case.partition("@")[0].removeprefix(f"{result.operator}/")
    return stem.partition("/")[2]


FILTERS: dict[str, tuple[str, str, Callable[[Result], bool]]] = {
    "operator": ("op", "ReduceSum", lambda r: r.operator == SUM),
    "operator version": ("op", SPLIT, lambda r: r.operator == SPLIT),
    "operator glob": ("op", "r*", lambda r: r.operator.split("/")[1] in {"ReduceSum", "Reshape"}),
    "part of an operator": ("op", "educes", lambda r: r.operator == SUM),
    "no operator": ("op", "Nothing", lambda _: False),
    "version": ("version", "13", lambda r: r.operator.endswith("/13")),
    "type": ("type", "float16", lambda r: typed(r) == "float16"),
    "no type": ("type", "none", lambda r: not typed(r)),
    "form": ("form", "initializer", lambda r: r.form == "initializer"),
    "tag": ("tag", "edge", lambda r: "edge" in r.tags),
    "verdict": ("verdict", "wrong_value", lambda r: r.verdict is Verdict.WRONG_VALUE),
    "any failure": ("verdict", "failed", lambda r: r.verdict.failed),
    "sentence": ("clause", "NUMBER of outputs", lambda r: any("number of outputs" in c.lower() for c in r.clauses)),
    "text in an id": ("q", "@INIT", lambda r: "@init" in r.case),
    "text in a message": ("q", "axis 1", lambda r: "axis 1" in r.message.lower() or "axis 1" in r.case),
    "an error": ("q", "Lacks: no", lambda r: "lacks: no" in f"{r.error}: {r.message}".lower()),
}


@pytest.mark.slow
@pytest.mark.parametrize("view", ["#/", "#/cases"])
def test_every_filter_leaves_what_it_should(view: str, file: Path, all_results: list[Result], opened: Any) -> None:
    tab = opened(file, view, viewport={"width": 1280, "height": 300})  # Fewer rows to paint.
    whole = len({result.case for result in all_results})
    assert left(tab) == whole
    tab.wait_for_timeout(300)
    shown = tab.evaluate(FILTERED, [[field, value] for field, value, _ in FILTERS.values()])
    for (name, (field, _, holds)), (count, is_set, address, cleared) in zip(FILTERS.items(), shown, strict=True):
        expected = expected_left(all_results, holds)
        assert left_in(count) == expected, name
        assert (expected < whole) == is_set or name == "any failure"
        assert f"{field}=" in address
        assert left_in(cleared) == whole, name
    assert any(0 < expected_left(all_results, holds) < whole for _, _, holds in FILTERS.values())


@pytest.mark.slow
def test_filters_together_with_a_backend_and_the_way_back(file: Path, all_results: list[Result], opened: Any) -> None:
    tab = opened(file)
    tab.locator("#f-on").select_option("other")
    tab.locator("#f-verdict").select_option("crash")
    crashed = expected_left(all_results, lambda r: r.backend == "other" and r.verdict is Verdict.CRASH)
    assert left(tab) == crashed > 0
    tab.locator("#f-op").fill("Split")
    both = expected_left(
        all_results,
        lambda r: r.backend == "other" and r.verdict is Verdict.CRASH and r.operator.startswith("ai.onnx/Split/"),
    )
    assert 0 < left(tab) == both < crashed
    address = tab.url
    tab.go_back()
    assert left(tab) == crashed
    again = opened(file, address.partition("#")[1] + address.partition("#")[2])
    assert left(again) == both
    assert again.locator("#f-verdict").input_value() == "crash"


@pytest.mark.slow
def test_backends_that_differ(file: Path, all_results: list[Result], opened: Any) -> None:
    verdicts: dict[str, set[Verdict]] = {}
    for result in all_results:
        verdicts.setdefault(result.case, set()).add(result.verdict)
    assert left(opened(file, "#/cases?verdict=differ")) == sum(len(kinds) > 1 for kinds in verdicts.values())


@pytest.mark.slow
def test_the_matrix_counts_what_the_filter_leaves(file: Path, all_results: list[Result], opened: Any) -> None:
    tab = opened(file)
    cell = tab.locator("#matrix tr:not([hidden])", has_text="ReduceSum").locator("td a").first
    some = next(typed(r) for r in all_results if r.backend == "mine" and r.operator == SUM and typed(r))
    for value in ("", some):
        tab.locator("#f-type").select_option(value)
        own = [r for r in all_results if r.backend == "mine" and r.operator == SUM and (not value or typed(r) == value)]
        counts = Counter(r.verdict for r in own)
        assert cell.get_attribute("aria-label") == matrix.sentence(counts)
        assert cell.locator("span").inner_text() == matrix.short(counts)
        shown = cell.locator("i").evaluate("(bar) => bar.style.background")
        numbered = {verdict_styles.NUMBER[verdict]: count for verdict, count in counts.items()}
        shares = [(family, width / 10) for family, _, width in matrix.shares(numbered)]
        assert [(name, float(width)) for name, width in re.findall(r"--i-(\w+)\) [^/]*/ ([\d.]+)%", shown)] == shares
    cell.hover()
    tip = tab.locator("#tip").inner_text()
    assert "ReduceSum 13 · mine" in tip
    assert "specified" in tip
    assert "attempted" in tip
    cell.click()
    assert left(tab) == len(own)


@pytest.mark.slow
def test_a_case_shows_what_the_stream_says(
    file: Path, all_results: list[Result], cases: dict[str, Case], opened: Any
) -> None:
    wrong = next(
        r
        for r in all_results
        if r.backend == "mine"
        and r.verdict is Verdict.WRONG_VALUE
        and 1 < r.mismatch["differing"] < r.mismatch["total"]
        and r.mismatch["start"] == 0
    )
    tab = opened(file, f"#/case/{wrong.case}")
    case = cases[wrong.case]
    article = tab.locator("article")
    text = article.inner_text()
    for part in (wrong.case, wrong.message, *case.clauses, *case.notes, "Tolerance: "):
        assert " ".join(part.split()) in " ".join(text.split()), part
    for result in all_results:
        if result.case == wrong.case:
            row = tab.locator(
                ".verdicts tbody tr", has=tab.get_by_role("rowheader", name=LABELS[result.backend], exact=True)
            ).first
            assert verdict_styles.STYLES[result.verdict].words in row.inner_text()
    mismatch = wrong.mismatch
    row = tab.locator(".elements tr.given", has=tab.get_by_role("rowheader", name="mine", exact=True)).locator("td")
    assert row.all_inner_texts()[: len(mismatch["given"])] == list(mismatch["given"])
    marked = [number for number in range(len(mismatch["given"])) if row.nth(number).locator("mark").count()]
    assert marked == [
        flat - mismatch["start"] for flat in mismatch["differs"] if flat - mismatch["start"] < len(mismatch["given"])
    ]
    assert 0 < len(marked) < len(mismatch["given"])
    assert tab.locator("#model").inner_text().split()[:3] == [
        "<",
        "ir_version:",
        tab.locator("#model").inner_text().split()[2],
    ]
    assert f"{mismatch['differing']} of {mismatch['total']} elements differ" in text


@pytest.mark.slow
def test_a_case_shows_its_readings_and_which_failures_are_errata(
    tmp_path: Path, cases: dict[str, Case], opened: Any
) -> None:
    valid = next(case for case in cases.values() if case.expected is not None)
    case = dataclasses.replace(valid, readings=("R4",), reworded="1.21")
    results = [
        dataclasses.replace(judge(case, name, Answered((), 0.1)), reworded="1.21") for name in ("older", "newer")
    ]
    backends = {"older": {"onnx": "1.20.1"}, "newer": {"onnx": "1.21.0"}}
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", results, backends))], [case]))
    tab = opened(path, f"#/case/{case.id}")
    assert f"Reading {readings.sentence('R4')}" in tab.locator("article").inner_text()
    heads = (tab.get_by_role("rowheader", name=name, exact=True) for name in backends)
    older, newer = (tab.locator(".verdicts tbody tr", has=head).first.inner_text() for head in heads)
    assert "Erratum: the sentence has this wording since onnx 1.21; the runtime was built with 1.20.1" in older
    assert "Erratum" not in newer


@pytest.mark.slow
def test_for_a_large_tensor_the_page_names_the_elements_not_shown(
    tmp_path: Path, cases: dict[str, Case], opened: Any
) -> None:
    base = next(iter(cases.values()))
    wide = np.arange(1000, dtype=np.int32).reshape(10, 100)
    case = dataclasses.replace(base, expected=(wide,), outcome=Outcome.VALUES)
    wrong = wide.copy()
    wrong.reshape(-1)[500::5] += 1
    result = judge(case, "mine", Answered((wrong,), 0.1))
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", [result], {"mine": {}}))], [case]))
    text = opened(path, f"#/case/{case.id}").locator("#differences").inner_text()
    assert "100 of 1,000 elements differ" in text
    assert "36 more at positions that the run did not store" in text
    assert "480 more" in text
    assert "[5,20]" in text


@pytest.mark.slow
def test_an_older_run_without_elements_has_a_note(tmp_path: Path, opened: Any) -> None:
    mismatch = {"where": "outputs[0]", "expected": "1", "actual": "2", "differing": 3, "total": 9}
    result = Result(
        "a/B/1/c", "a/B/1", "mine", Verdict.WRONG_VALUE, "values", mismatch=mismatch, expected="E", actual="A"
    )
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", [result]))], missing="The suite is another one."))
    tab = opened(path, "#/case/a/B/1/c")
    assert tab.locator(".wholes mark").all_inner_texts() == ["1", "2"]
    assert "this run did not store" in tab.locator("#differences").inner_text()
    assert "`onnx-conformance show`" in tab.locator("#absent").inner_text()
    assert "The suite is another one." in tab.locator("header").inner_text()


SCRIPTS = """async (ids) => {
  const shown = [];
  for (const id of ids) {
    location.hash = `#/case/${encodeURIComponent(id)}`;
    const titled = () => document.getElementById("case-title")?.textContent === id;
    for (let tries = 0; tries < 500 && !titled(); tries += 1) await new Promise((done) => setTimeout(done, 5));
    await new Promise((done) => setTimeout(done, 20));
    const boxes = [...document.querySelectorAll("details.scripts")];
    shown.push(titled() ? boxes.map((box) => box.querySelector("pre.script")?.textContent) : []);
  }
  return shown;
}"""
"""Opens cases one after the other, and returns the scripts of each."""


@pytest.mark.slow
def test_scripts_are_those_of_repro(file: Path, all_results: list[Result], cases: dict[str, Case], opened: Any) -> None:
    tab = opened(file)
    kinds: Counter[tuple[object, ...]] = Counter()
    parts_of = {name: repro.parts(case) for name, case in cases.items()}
    chosen = []
    for result in all_results:
        parts = parts_of[result.case]
        kind = (result.backend, parts.wide, parts.rejects, parts.checks, result.verdict is Verdict.REFUSED)
        long = len(parts.before) + len(parts.after) > case_data.MOST_TEXT
        if result.verdict is Verdict.PASS or result.backend == "other" or kinds[kind] or long:
            continue
        kinds[kind] += 1
        chosen.append(result)
    for result, shown in zip(chosen, tab.evaluate(SCRIPTS, [result.case for result in chosen]), strict=True):
        of_case = [r.backend for r in all_results if r.case == result.case and r.verdict is not Verdict.PASS]
        expected = repro.script(cases[result.case], result, BACKENDS[result.backend])
        assert shown[of_case.index(result.backend)] == expected, result.case
    assert {kind[1:3] for kind in kinds} >= {(False, False), (True, False), (False, True)}
    assert {name for kind in kinds for name in kind[3]} >= {"same", "check_drawn", "compare"}  # type: ignore[attr-defined]
    assert {kind[0] for kind in kinds} == {"mine", COMMAND}


@pytest.mark.slow
def test_scripts_of_tools_are_those_of_repro(tmp_path: Path, cases: dict[str, Case], opened: Any) -> None:
    tools = {
        name: {**REFERENCE, "subject": name, "repro": "pass\n"} for name in ("transformer", "inferencer", "checker")
    }
    kinds: dict[object, Case] = {}
    for case in cases.values():
        parts = repro.parts(case)
        if case.outcome is not Outcome.UNSPECIFIED and len(parts.before) + len(parts.after) <= case_data.MOST_TEXT:
            kinds.setdefault((case.outcome, parts.checks), case)
    asked = list(kinds.values())
    assert len(asked) > 3
    results = [
        Result(case.id, case.operator, name, Verdict.REFUSED, str(case.outcome), clauses=case.clauses)
        for case in asked
        for name in tools
    ]
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", results, tools))], asked), encoding="utf-8")
    tab = opened(path)
    for case, shown in zip(asked, tab.evaluate(SCRIPTS, [case.id for case in asked]), strict=True):
        own = [result for result in results if result.case == case.id]
        assert shown == [repro.script(case, result, tools[result.backend]) for result in own], case.id
        for text in shown:
            compile(text, case.id, "exec")


@pytest.mark.slow
def test_a_copied_script_runs_and_shows_the_mismatch(tmp_path: Path, opened: Any) -> None:
    case = next(
        case for case in plans.cases(registry.load().named("ReduceSum"), (13,)) if case.outcome is Outcome.VALUES
        and case.form == "plain"
    )  # fmt: skip
    with Asker(resolve("onnx_reference"), Limits()) as lane:
        hello = dict(lane.process.hello)
        result = judge(dataclasses.replace(case, expected=tuple(v + 1 for v in case.expected or ())), "onnx_reference",
                       lane.ask(case))  # fmt: skip
    case = dataclasses.replace(case, expected=tuple(v + 1 for v in case.expected or ()))
    assert result.verdict is Verdict.WRONG_VALUE
    path = tmp_path / "page.html"
    run = Run(write(tmp_path / "r.ndjson", [result], {"onnx_reference": hello}))
    path.write_text(page.report([run], [case]))
    tab = opened(path, f"#/case/{case.id}")
    tab.locator("details.scripts summary").click()
    tab.get_by_role("button", name="Copy script").click()
    tab.get_by_text("copied", exact=True).wait_for()
    script = tab.evaluate("navigator.clipboard.readText()")
    (tmp_path / "copied.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-I", tmp_path / "copied.py"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert f"{result.mismatch['differing']} of {result.mismatch['total']} elements differ" in done.stderr
    tab.get_by_role("button", name="Copy command").click()
    tab.wait_for_timeout(50)
    assert (
        tab.evaluate("navigator.clipboard.readText()") == f"onnx-conformance repro {case.id} --backend onnx_reference"
    )
    assert not tab.locator(".foreign").count(), "the code is that of the adapter"
    forged = {**hello, "repro": f"import os\n{hello['repro']}"}
    path.write_text(page.report([Run(write(tmp_path / "forged.ndjson", [result], {"onnx_reference": forged}))], [case]))
    tab = opened(path, f"#/case/{case.id}")
    tab.locator("details.scripts summary").click()
    assert "Read them before you run the script" in tab.locator(".foreign").inner_text()


@pytest.mark.slow
def test_a_command_is_quoted_for_a_shell(file: Path, all_results: list[Result], opened: Any) -> None:
    result = next(r for r in all_results if r.backend == COMMAND and r.verdict is Verdict.CRASH)
    tab = opened(file, f"#/case/{result.case}")
    shown = tab.locator("details.scripts", has_text=COMMAND).locator(".copy code").text_content()
    assert shown == f"onnx-conformance repro {result.case} --backend '{COMMAND}'"


# Hostile


@pytest.fixture(scope="module")
def hostile(folder: Path) -> Path:
    long = "<b>long</b>" * 10_000
    backend = f"evil {HOSTILE}"
    name = "ai.onnx/<img src=x onerror=alert(9)>/1"
    results = [
        Result(
            f"{name}/{HOSTILE}", name, backend, Verdict.WRONG_VALUE, "values", HOSTILE, message=HOSTILE, error=HOSTILE,
            signal=HOSTILE, expected=HOSTILE, actual=HOSTILE, clauses=(HOSTILE,), tags=(HOSTILE,), stderr=HOSTILE,
            mismatch={
                "where": HOSTILE, "expected": HOSTILE, "actual": HOSTILE, "wanted": [HOSTILE], "given": [HOSTILE],
                "differs": [0], "differing": 1, "total": 1, "shape": [1], "start": 0,
            },
        ),
        Result(f"{name}/long", name, backend, Verdict.CRASH, "values", message=long, stderr=long, actual=long,
               clauses=(long,)),
        Result(f"{name}/odd", name, backend, Verdict.CRASH, "values",
               mismatch={"where": HOSTILE, "expected": "", "actual": "", "differs": [2**39], "shape": [2**39]}),
    ]  # fmt: skip
    said_of = {"runtime": HOSTILE, "version": HOSTILE, "repro": f'x = """{HOSTILE}"""\n'}
    path = write(folder / "evil <b>.ndjson", results, {backend: said_of})
    page_path = folder / "hostile.html"
    statement = Statement(backend, name.rpartition("/")[0], Verdict.CRASH, (HOSTILE,), 1, 1, 0, (f"{name}/long",))
    page_path.write_text(page.report([Run(path)], [], [statement], missing=HOSTILE), encoding="utf-8")
    return page_path


@pytest.mark.slow
def test_hostile_texts_are_texts(hostile: Path, opened: Any) -> None:
    tab = opened(hostile)
    for route in ("#/", "#/cases", "#/groups", "#/changes"):
        tab.evaluate("(route) => { location.hash = route; }", route)
        tab.wait_for_timeout(200)
        assert tab.locator("img, iframe, b:has-text('long')").count() == 0
        assert "<script>alert(1)</script>" in tab.locator("body").inner_text()
    tab.evaluate("location.hash = '#/cases'")
    tab.locator("#list").press("Enter")
    article = tab.locator("article")
    article.wait_for()
    tab.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
    text = article.inner_text()
    assert text.count("<script>alert(1)</script>") >= 8
    assert text.count("<img src=x onerror=alert(3)>") >= 8
    assert "\u202e" not in text
    assert "\u2028" not in text
    assert tab.locator("img").count() == 0
    assert tab.evaluate("Object.keys(window).filter((key) => key.startsWith('alert')).length") <= 1
    for key in ("n", "n"):
        tab.keyboard.press(key)
        tab.wait_for_timeout(150)
    assert len(tab.locator("body").inner_text()) < 60_000


@pytest.mark.slow
def test_an_escape_that_failed_would_run_nothing(hostile: Path, tmp_path: Path, windows: Windows) -> None:
    text = hostile.read_text()
    broken = text.replace("<main ", '<img src=x onerror="window.ran = 1"><script>window.ran = 2</script><main ', 1)
    assert broken != text
    path = tmp_path / "broken.html"
    path.write_text(broken)
    tab = windows.open(path, "")
    assert tab.evaluate("window.ran") is None
    assert len([line for line in windows.looked() if "Content Security Policy" in line]) >= 2
    with pytest.raises(Exception, match="TrustedHTML"):
        tab.evaluate("() => { document.body.innerHTML = '<b>x</b>'; }")
    windows.looked()


@pytest.mark.slow
def test_the_filter_counts_in_every_matrix(tmp_path: Path, opened: Any) -> None:
    run = run_of(tmp_path / "r.ndjson", *results_of_tools(), hellos=TOOLS)
    (tmp_path / "r.html").write_text(page.report([run]), encoding="utf-8")
    tab = opened(tmp_path / "r.html")
    assert tab.locator("#v-matrix h2").all_inner_texts() == [
        "Runtimes", "Tools that change models", "Shape inference", "Checkers"
    ]  # fmt: skip
    converter = tab.locator("table.matrix[data-options]")
    assert converter.locator(".sum td a").all_inner_texts() == ["1/3 U2", "1/3 M1 C1"]
    tab.fill("#f-q", "uneven")
    tab.wait_for_function("document.querySelector('#count').textContent.startsWith('1 of')")
    assert converter.locator(".sum td a").all_inner_texts() == ["0/1 U1", "0/1 M1"]
    assert tab.locator("table.matrix").first.locator(".sum td a").all_inner_texts() == ["0/1"]
    converter.locator("tr:not([hidden]) td a").last.press("ArrowLeft")
    assert tab.evaluate("document.activeElement.getAttribute('href')").endswith("on=conv%5B9%5D")


@pytest.mark.slow
@pytest.mark.parametrize(
    "route", ["#/case/nothing", "#/case/%E0%A4%A", "#/nowhere?verdict=x&on=y&group=999&tag=z", "#%", "#/op/%"]
)
def test_addresses_that_mean_nothing_do_no_harm(route: str, file: Path, opened: Any) -> None:
    tab = opened(file, route)
    assert tab.locator("nav a[aria-current]").count() == 1


# Two runs


@pytest.mark.slow
def test_two_runs_are_compared(folder: Path, cases: dict[str, Case], all_results: list[Result], opened: Any) -> None:
    chosen = list(cases.values())
    old = write(
        folder / "old.ndjson",
        [r for r in all_results if r.backend == "mine" and r.case != chosen[0].id],
        {"mine": {"version": "1"}},
    )
    new = write(folder / "new.ndjson", [result_of(case, 0, 3) for case in chosen[:-2]], {"mine": {"version": "2"}})
    compared = comparison.compare_runs(Run(old), Run(new))
    path = folder / "two.html"
    path.write_text(page.report([Run(old), Run(new)], chosen))
    tab = opened(path, "#/changes")
    assert "mine 1 → mine 2" in tab.locator("#v-changes h2").first.inner_text()
    for kind, rows in compared.kinds.items():
        assert tab.locator(f"tr[data-kind={kind}] td").first.inner_text() == str(len(rows)), kind
    assert tab.locator("tr[data-kind=same] td").first.inner_text() == str(compared.same)
    assert compared.broke
    assert compared.came
    assert compared.went
    tab.get_by_role("link", name="broke", exact=True).click()
    assert left(tab) == len(compared.broke)
    assert tab.locator("#list .id:visible").first.inner_text() in {name for name, _, _ in compared.broke}


@pytest.mark.slow
def test_failures_that_say_the_same_are_not_put_down_to_a_sentence(tmp_path: Path, opened: Any) -> None:
    results = [
        Result("a/B/1/c", "a/B/1", "mine", Verdict.REFUSED, "values", message="", error="Odd", clauses=("One.",)),
        Result("a/B/1/d", "a/B/1", "mine", Verdict.REFUSED, "values", message="", error="Odd", clauses=("Two.",)),
        Result("a/B/1/e", "a/B/1", "mine", Verdict.CRASH, "values", message="ended by SIGBUS", signal="SIGBUS",
               clauses=("Three.",)),
    ]  # fmt: skip
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", results, {"mine": {}}))]))
    tab = opened(path, "#/groups")
    shown = [" ".join(text.split()) for text in tab.locator(".group").all_inner_texts()]
    assert shown == ["refused a/B Odd 2 cases", "crash a/B «Three.» ended by SIGBUS 1 case"]
    tab = opened(path, "#/case/a/B/1/e")
    assert tab.locator(".verdicts tbody td.message").inner_text() == "ended by SIGBUS"


@pytest.mark.slow
def test_one_run_has_nothing_to_compare(file: Path, opened: Any) -> None:
    assert opened(file).locator("nav a").all_inner_texts() == ["Matrix", "Cases", "Failure patterns"]


@pytest.mark.slow
def test_what_failures_share_leads_to_the_cases(file: Path, statements: list[Statement], opened: Any) -> None:
    tab = opened(file, "#/groups")
    group = tab.locator(".group").first
    assert "crash exactly when axis=1" in group.inner_text()
    group.get_by_role("link").click()
    assert left(tab) == len(statements[0].cases) > 0
    assert {*tab.locator("#list .id:visible").all_inner_texts()} <= set(statements[0].cases)


# By keyboard, in any light, in any width


@pytest.mark.slow
def test_the_page_can_be_walked_by_keyboard_alone(file: Path, opened: Any) -> None:
    tab = opened(file)
    active = "document.activeElement"
    tab.keyboard.press("Tab")
    assert tab.evaluate(f"{active}.id") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate(f"{active}.id") == "main"
    tab.keyboard.press("Tab")  # The frame of the matrix scrolls, or the matrix itself comes next.
    if tab.evaluate(f"{active}.id") == "frame":
        tab.keyboard.press("Tab")
    assert tab.evaluate(f"{active}.textContent") == "All"
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        tab.keyboard.press(key)
    assert tab.evaluate(f"{active}.closest('td').cellIndex") == 2
    assert tab.evaluate(f"getComputedStyle({active}).outlineStyle") == "solid"
    assert tab.locator("#tip").is_visible()
    before = left(tab)
    tab.keyboard.press("Enter")
    assert 0 < left(tab) < before
    assert "on=other" in tab.url
    tab.keyboard.press("g")
    tab.keyboard.press("c")
    tab.keyboard.press("/")
    assert tab.evaluate(f"{active}.id") == "f-q"
    tab.keyboard.type("a")
    tab.keyboard.press("Escape")
    assert tab.evaluate(f"{active}.tagName") == "BODY"
    tab.locator("#list").focus()
    tab.keyboard.press("ArrowDown")
    row = tab.locator("#list").get_attribute("aria-activedescendant")
    title = tab.locator(f"#{row} .id").inner_text()
    tab.keyboard.press("Enter")
    tab.locator("#case-title").wait_for()
    assert tab.locator("#case-title").inner_text() == title
    tab.keyboard.press("n")
    tab.locator("#case-title", has_not_text=re.compile(f"^{re.escape(title)}$")).wait_for()
    tab.wait_for_timeout(150)
    tab.keyboard.press("p")
    tab.locator("#case-title", has_text=re.compile(f"^{re.escape(title)}$")).wait_for()
    tab.keyboard.press("Escape")
    assert tab.evaluate(f"{active}.id") == "list"
    tab.keyboard.press("?")
    assert tab.locator("#keys").is_visible()
    tab.keyboard.press("Escape")
    assert not tab.locator("#keys").is_visible()


@pytest.mark.slow
def test_only_rows_in_sight_are_in_the_document(tmp_path: Path, opened: Any) -> None:
    results = [
        Result(f"a/Op{n // 10:03}/1/case{n}", f"a/Op{n // 10:03}/1", "mine", Verdict.PASS, "values")
        for n in range(3000)
    ]
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", results, {"mine": {}}))]))
    tab = opened(path, "#/cases")
    assert tab.locator("#list").get_attribute("aria-rowcount") == "3001"
    assert tab.locator("#list .body .row").count() < 80
    tab.locator("#list").press("End")
    assert tab.locator("#list .row.active .id").inner_text() == "a/Op299/1/case2999"
    tab.evaluate("location.hash = '#/'")
    assert tab.locator("#matrix").get_attribute("aria-rowcount") == "302"
    assert tab.locator("#matrix tbody tr").count() < 80
    tab.locator("#matrix a[tabindex='0']").press("Control+End")
    names = tab.locator("#matrix tbody tr:not([hidden]) th").all_inner_texts()
    assert "Op299 1 a" in names
    assert tab.evaluate("document.activeElement.closest('tr').cells[0].innerText") == "Op299 1 a"
    # In one task of the page, because the browser itself scrolls back after it.
    names = tab.evaluate("""() => {
        const filter = document.getElementById("f-op");
        filter.value = "Op017";
        filter.dispatchEvent(new Event("input", { bubbles: true }));
        return [...document.querySelectorAll("#matrix tbody tr:not([hidden]) th")].map((cell) => cell.innerText);
    }""")
    assert sorted(names) == ["All", "Op017 1 a"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_the_button(scheme: str, file: Path, opened: Any) -> None:
    tab = opened(file, color_scheme=scheme)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    chosen = "document.documentElement.dataset.theme"
    grounds = [palette(page._own("style.css"), theme)["ground"] for theme in (0, 1)]
    colours = [tuple(int(c[at : at + 2], 16) for at in (1, 3, 5)) for c in grounds]
    light, dark = (f"rgb({', '.join(map(str, colour))})" for colour in colours)
    assert tab.evaluate(ground) == (light if scheme == "light" else dark)
    tab.locator("#theme").click()
    assert tab.evaluate(ground) == light
    tab.locator("#theme").click()
    assert tab.evaluate(ground) == dark
    for _ in range(10):  # A busy browser can lose what the page of a file stores: then choose again.
        tab.reload()
        tab.locator("html[data-state=ready]").wait_for(state="attached")
        if tab.evaluate(chosen) == "dark":
            break
        while tab.evaluate(chosen) != "dark":
            tab.locator("#theme").click()
    else:
        pytest.fail("The page does not store the choice.")
    assert tab.evaluate(ground) == dark


def show(tab: Page, route: str) -> None:
    """Go to another place of the page, and wait until it is shown."""
    tab.evaluate("(route) => { location.hash = route; }", route)
    tab.wait_for_timeout(100)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_is_no_wider_than_the_window(width: int, file: Path, all_results: list[Result], opened: Any) -> None:
    wrong = next(r for r in all_results if r.verdict is Verdict.WRONG_VALUE)
    tab = opened(file, viewport={"width": width, "height": 800})
    for route, view in (
        ("#/", "matrix"),
        ("#/cases", "list"),
        ("#/groups", "v-groups"),
        (f"#/case/{wrong.case}", "case-title"),
    ):
        show(tab, route)
        tab.locator(f"#{view}").wait_for()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, route


@pytest.mark.slow
def test_thirteen_backends_fit_into_1280_pixels_and_the_matrix_scrolls_with_a_sign_on_a_phone(
    tmp_path: Path, opened: Any
) -> None:
    backends = {f"runtime_{number}": {} for number in range(13)}
    results = [Result("a/Op/1/case", "a/Op/1", name, Verdict.PASS, "values") for name in backends]
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", results, backends))]))
    tab = opened(path)
    assert tab.locator("#frame").evaluate("(frame) => frame.scrollWidth - frame.clientWidth") == 0
    tab.set_viewport_size({"width": 400, "height": 800})
    tab.locator("#frame.more").wait_for()
    tab.locator("#frame").evaluate("(frame) => { frame.scrollLeft = 10_000; }")
    tab.locator("#frame.scrolled:not(.more)").wait_for()


@pytest.mark.slow
def test_many_backends_leave_room_for_the_id_on_a_telephone(tmp_path: Path, opened: Any) -> None:
    backends = {f"runtime {number}": {} for number in range(12)}
    results = [
        Result(f"a/Op/1/case{n}", "a/Op/1", name, Verdict.PASS, "values") for n in range(99) for name in backends
    ]
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "r.ndjson", results, backends))]))
    tab = opened(path, "#/cases", viewport={"width": 400, "height": 800})
    for width, height in ((400, 50), (1280, 28), (400, 50)):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.wait_for_timeout(100)
        first, second = (tab.locator("#list .body .row:visible").nth(n) for n in (0, 1))
        boxes = first.bounding_box(), second.bounding_box(), first.locator(".id").bounding_box()
        assert all(boxes)
        assert abs(boxes[1]["y"] - boxes[0]["y"]) == height  # type: ignore[index]
        assert boxes[2]["width"] > 200  # type: ignore[index]
        badge = first.locator(".badge").last.bounding_box()
        assert badge["x"] + badge["width"] <= width


@pytest.mark.slow
def test_a_run_that_was_cut_off_says_so_on_top(tmp_path: Path, all_results: list[Result], opened: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "cut.ndjson", all_results[:9], finish=False))]))
    tab = opened(path)
    alert = tab.get_by_role("alert")
    assert "cut.ndjson was cut off" in alert.inner_text()
    box, first = alert.bounding_box(), tab.locator("#matrix").bounding_box()
    assert box is not None
    assert first is not None
    assert box["y"] < first["y"]


@pytest.mark.slow
def test_an_empty_run_is_a_page_too(tmp_path: Path, opened: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(page.report([Run(write(tmp_path / "empty.ndjson", []))]))
    tab = opened(path)
    assert "contain no results" in tab.locator("main").inner_text()
    for route in ("#/cases", "#/groups", "#/changes", "#/case/x"):
        tab.evaluate("(route) => { location.hash = route; }", route)
        tab.wait_for_timeout(100)
    assert left(tab) == 0


@pytest.mark.slow
def test_without_javascript_the_matrix_is_there(file: Path, opened: Any) -> None:
    tab = opened(file, "", ready=False, java_script_enabled=False)
    assert "ReduceSum 13" in tab.locator("#matrix").inner_text()
    assert "need JavaScript" in tab.locator("body").inner_text()


@pytest.mark.slow
def test_the_index_lists_every_result(file: Path, all_results: list[Result], opened: Any) -> None:
    tab = opened(file)
    index = tab.evaluate(
        """async () => {
          const text = document.getElementById("index0").textContent;
          const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
          const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
          return new Response(stream).text();
        }"""
    )
    assert set(json.loads(index)["ids"]) == {result.case for result in all_results}
