# SPDX-License-Identifier: Apache-2.0
"""What every format of a report holds: every verdict, hostile texts, runs cut off; and the `report` command."""

from __future__ import annotations

import dataclasses
import json
import re
import stat
import tomllib
import tracemalloc
import xml.etree.ElementTree as ET
from pathlib import PurePath
from typing import TYPE_CHECKING

import jsonschema
import pytest

from commands import command
from onnx_conformance.analysis.statement import Statement
from onnx_conformance.base import schemas
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import as_json, formats, report_data
from onnx_conformance.report.formats import FORMATS, ReportError
from paths import ROOT
from refusals import refuses
from runs import CONTROL, HOSTILE_TEXTS, data_of, entry, foreign, hostile, result, run_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData

pytestmark = pytest.mark.usefixtures("few_operators")

TEXTS = [name for name in FORMATS if name != "html"]
"""The page compresses its data, and has tests of its own, in a browser: test_html.py."""
SCHEMA = schemas.read("report")
STATEMENT = Statement("mine", "ai.onnx/Split", Verdict.CRASH, ("axis=0", "split | is a scalar"), 2, 2, 0, ("a", "b"))


def rendered(name: str, data: ReportData) -> str:
    return "".join(FORMATS[name].report(data))


def of_all_verdicts(path: Path, *, finish: bool = True) -> ReportData:
    return data_of(path, *(result(f"as_{verdict}", verdict) for verdict in Verdict), finish=finish)


def check_schema(document: object) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


# Every format


@pytest.mark.parametrize("name", FORMATS)
def test_every_verdict_has_its_row(name: str) -> None:
    table = FORMATS[name].verdicts
    assert table is None or set(table) == set(Verdict), f"{name}: add a row for the new verdict"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_own_file(name: str) -> None:
    assert [other for other, kind in FORMATS.items() if kind.file == FORMATS[name].file] == [name]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("finish", [True, False])
def test_a_run_that_was_cut_off_is_reported_and_marked(name: str, finish: bool, tmp_path: Path) -> None:  # noqa: FBT001
    text = rendered(name, of_all_verdicts(tmp_path / "r", finish=finish))
    assert ("cut off" in text) is not finish, text
    assert ("as_crash" in text) is FORMATS[name].lists_cases, text


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_run_is_no_data(name: str, tmp_path: Path) -> None:
    text = rendered(name, data_of(tmp_path / "r"))
    assert "0.0 %" not in text, text
    assert text or FORMATS[name].commands


def test_the_badge_of_no_data_is_not_a_bad_one(tmp_path: Path) -> None:
    for data in (data_of(tmp_path / "r"), data_of(tmp_path / "s", result(verdict=Verdict.UNSPECIFIED))):
        assert json.loads(rendered("badge", data))["message"] == "no data"
        assert json.loads(rendered("badge", data))["color"] == "lightgrey"


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", HOSTILE_TEXTS)
@pytest.mark.parametrize("verdict", [Verdict.WRONG_VALUE, Verdict.CRASH, Verdict.ADAPTER_ERROR])
def test_hostile_texts_stay_text(name: str, kind: str, verdict: Verdict, tmp_path: Path) -> None:
    text = HOSTILE_TEXTS[kind]
    run = foreign(tmp_path / "r", hostile(text, verdict), backends=("mine", text[:50]))
    data = dataclasses.replace(report_data.read(run), references={f"folder/{text}": text}, statements=(STATEMENT,))
    text_ = rendered(name, data)
    assert "evil" in text_
    assert not CONTROL.findall(text_), ascii(text_)
    text_.encode("utf-8")
    assert len(text_) < 60_000, f"{len(text_)} characters of an endless message"
    check_syntax(name, text_)


def _a_document(text: str) -> None:
    json.loads(text)


def _markdown(text: str) -> None:
    outside = re.sub(r"^```text\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "```" not in outside, outside
    for markup in ("<script", "@everyone", "](http", "~~~", "\n# head", "![i]"):
        assert markup not in outside, outside
    tables = re.findall(r"(?:^\|.*\n)+", outside, re.MULTILINE)
    for table in tables:
        assert len({row.count("|") for row in table.splitlines()}) == 1, table


def _xml(text: str) -> None:
    root = ET.fromstring(text)
    assert {element.tag for element in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "properties", "property", "failure", "error", "skipped", "system-err",
    }  # fmt: skip


def _commands(text: str) -> None:
    for line in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) title=([^:,]*)::(.*)", line)
        assert match, line
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", line), line
    assert "::stop-commands" not in text.splitlines()[0][:20]


SYNTAX = {".md": _markdown, ".json": _a_document, ".sarif": _a_document, ".xml": _xml}
"""By the end of a format's file name, a check of its text. Other formats are plain text."""


def check_syntax(name: str, text: str) -> None:
    """Check a report against the syntax of its format, and against its schema if it has one."""
    if FORMATS[name].commands:
        _commands(text)
    elif check := SYNTAX.get(PurePath(FORMATS[name].file).suffix):
        check(text)
    if name == "json":
        check_schema(json.loads(text))


def test_the_checks_of_hostile_texts_can_fail() -> None:
    for name, bad in (
        ("markdown", "text ```\n"),
        ("summary", "a <script>x</script>"),
        ("json", '{"kind": "report"}'),
        ("junit", "<testsuites><evil/></testsuites>"),
        ("ctrf", '{"a": "\x00"}'),
        ("annotations", "evil\n"),
        ("annotations", "::error title=a::100%\n"),
    ):
        with pytest.raises((AssertionError, ValueError, jsonschema.ValidationError)):
            check_syntax(name, bad)


def many(path: Path, count: int) -> ReportData:
    """Return a run of so many results, half of them failures, of a few operators and two backends."""
    results = (
        result(
            f"case{i}/float16", (Verdict.PASS, Verdict.WRONG_VALUE)[i // 2 % 2], clauses=("A sentence.",),
            operator=f"ai.onnx/Split/{i % 7}", backend=("mine", "other")[i % 2], message="off by one " * 5,
        )
        for i in range(count)
    )  # fmt: skip
    return report_data.read(run_of(path, *results, backends=("mine", "other")))


@pytest.fixture(scope="module")
def few_and_many(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReportData, ReportData]:
    path = tmp_path_factory.mktemp("runs")
    return many(path / "few", 400), many(path / "many", 4000)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TEXTS if name != "sarif"])  # That one holds up to its own limit.
def test_memory_does_not_grow_with_the_run(name: str, few_and_many: tuple[ReportData, ReportData]) -> None:
    def peak(data: ReportData) -> tuple[int, int]:
        tracemalloc.start()
        length = sum(map(len, FORMATS[name].report(data)))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most, length

    (few, short), (lots, long) = map(peak, few_and_many)
    assert lots < few + 200_000, (few, lots)
    assert long > 700_000 or name not in {"junit", "ctrf"}, (short, long)


def test_a_gate_marks_what_it_expects_in_every_format(tmp_path: Path) -> None:
    fail = (result("known", Verdict.CRASH), result("even"))
    data = data_of(tmp_path / "r", *fail, expect=entry("*/known", "crash", "divides by zero"))
    assert data.gate
    assert data.gate.opened
    assert rendered("annotations", data) == ""
    assert json.loads(rendered("json", data))["gate"]["open"] is True
    assert json.loads(rendered("json", data))["counts"][0]["expected"] == 1
    for name in ("junit", "ctrf", "sarif"):
        assert "expected crash: divides by zero" in rendered(name, data), name
    for name in ("markdown", "summary"):
        assert "1 of 1 failures are expected." in rendered(name, data), name
        assert "the gate is open" in rendered(name, data), name


def test_failures_without_an_entry_are_reported_unchanged(tmp_path: Path) -> None:
    other = result("known", Verdict.CRASH, backend="other")
    data = data_of(
        tmp_path / "r", other, result("known", Verdict.CRASH), expect=entry("*/known", "crash"),
        backends=("mine", "other"),
    )  # fmt: skip
    (line,) = rendered("annotations", data).splitlines()
    assert "other: 1 case" in line, line
    assert ET.fromstring(rendered("junit", data)).get("errors") == "1"


# Statements


@pytest.mark.parametrize("name", TEXTS)
def test_a_format_shows_statements_if_its_row_says_so(name: str, tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", result(verdict=Verdict.CRASH))
    text = rendered(name, dataclasses.replace(report_data.read(run), statements=(STATEMENT,)))
    shown = FORMATS[name].shows_statements
    assert ("crash exactly when axis=0 and split" in text) is shown, text
    assert ("(2 of 2; no passing case matches)" in text) is shown, text
    assert "exactly when" not in rendered(name, report_data.read(run))


@pytest.mark.parametrize("name", ["markdown", "json", "summary"])
def test_the_note_on_statements_is_in_the_report(name: str, tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", result(verdict=Verdict.CRASH))
    data = dataclasses.replace(report_data.read(run), statements=(STATEMENT,), note="only tags")
    assert "only tags" in rendered(name, data)


# JSON


def test_the_schema_of_the_report_is_one_and_is_published() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["$defs"]["verdict"]["enum"]) == set(Verdict)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "*.json" in project["tool"]["setuptools"]["package-data"]["onnx_conformance.base.schemas"]


def test_a_whole_report_keeps_to_the_schema(tmp_path: Path) -> None:
    fail = [result(f"as_{verdict}", verdict, clauses=("One.",)) for verdict in Verdict]
    data = data_of(tmp_path / "r", *fail, expect=entry("*/as_crash", "crash") + entry("*/as_pass", "timeout"))
    document = json.loads(rendered("json", dataclasses.replace(data, statements=(STATEMENT,))))
    check_schema(document)
    assert document["backends"]["mine"]["verdicts"] == dict.fromkeys(map(str, Verdict), 1)
    assert {news["standing"] for news in document["gate"]["news"]} == {"regressed", "fixed", "broken"}
    assert len(document["groups"]) == len(Verdict) - 5
    for part, wrong in (
        (document["backends"]["mine"]["verdicts"], {"maybe": 1}),
        (document["counts"][0], {"passed": -1}),
        (document["groups"][0], {"count": 0}),
        (document["gate"]["standings"], {"perhaps": 1}),
        (document["statements"][0], {"cases": [1]}),
    ):
        before = dict(part)
        part.update(wrong)
        with pytest.raises(jsonschema.ValidationError):
            check_schema(document)
        part.clear()
        part.update(before)
    check_schema(document)
    assert document["format"] == as_json.FORMAT


# Badge


@pytest.mark.parametrize(
    ("verdicts", "message", "color"),
    [
        ([Verdict.PASS] * 3, "3/3 of specified", "brightgreen"),
        ([Verdict.PASS, Verdict.WRONG_VALUE], "1/2 of specified", "yellow"),
        ([Verdict.PASS, Verdict.UNSUPPORTED], "1/2 of specified · 1 unsupported", "yellow"),
        ([Verdict.PASS, Verdict.CRASH, Verdict.TIMEOUT], "1/3 of specified · 1 crash · 1 timeout", "orange"),
        ([Verdict.PASS, Verdict.ADAPTER_ERROR], "1/2 of specified · 1 adapter_error", "lightgrey"),
        ([Verdict.PASS] * 19 + [Verdict.REFUSED], "19/20 of specified", "green"),
        ([Verdict.PASS] * 18 + [Verdict.REFUSED] * 2, "18/20 of specified", "yellowgreen"),
        ([Verdict.PASS] + [Verdict.REFUSED] * 2, "1/3 of specified", "orange"),
        ([Verdict.PASS] * 99 + [Verdict.CRASH], "99/100 of specified · 1 crash", "yellow"),
    ],
)
def test_a_badge_says_counts(verdicts: list[Verdict], message: str, color: str, tmp_path: Path) -> None:
    data = data_of(tmp_path / "r", *(result(str(i), verdict) for i, verdict in enumerate(verdicts)))
    badge = json.loads(rendered("badge", data))
    assert (badge["schemaVersion"], badge["message"], badge["color"]) == (1, message, color), badge
    assert badge["label"].startswith("ONNX ")
    assert badge["label"].endswith(" generated")
    assert "%" not in badge["message"]
    assert badge.get("isError", False) is (Verdict.ADAPTER_ERROR in verdicts)


@pytest.mark.parametrize(
    ("backend", "named"), [("mine", 1), ("cmd:./mine", 1), ("./mine.py", 1), ("onnxruntime==1.0", 0), ("oracle", 0)]
)
def test_an_adapter_of_somebody_else_is_named_if_it_was_not_isolated(backend: str, named: int, tmp_path: Path) -> None:
    for isolate in (True, False):
        results = [result("a", Verdict.PASS, backend=backend)]
        run = run_of(tmp_path / f"{isolate}.ndjson", *results, backends=(backend,), isolate=isolate)
        data = report_data.read(run)
        shown = bool(named) and not isolate
        assert ("not isolated" in json.loads(rendered("badge", data))["message"]) is shown
        assert ("Not isolated: " in rendered("markdown", data)) is shown


def test_the_header_of_a_results_file_is_no_markup(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>`</code>"
    run = foreign(
        tmp_path / "r.ndjson", result("a", Verdict.PASS), onnx=evil, numpy=evil, python=evil,
        machine={"system": evil, "processor": evil, "cores": 1}, suite={"name": evil, "digest": evil},
    )  # fmt: skip
    assert "<img" not in rendered("markdown", report_data.read(run))


def test_a_badge_of_two_backends_and_of_a_run_cut_off(tmp_path: Path) -> None:
    data = data_of(
        tmp_path / "r", result(), result(backend="other", verdict=Verdict.CRASH), backends=("mine", "other"),
        finish=False,
    )  # fmt: skip
    badge = json.loads(rendered("badge", data))
    assert badge["message"] == "mine 1/1 of specified | other 0/1 of specified · 1 crash · cut off"
    assert badge["isError"] is True


# Files


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    formats.write(path, ["first ", "text\n"])
    assert path.read_text() == "first text\n"
    assert stat.S_IMODE(path.stat().st_mode) & 0o400

    def stops() -> Iterator[str]:
        yield "half"
        raise ReportError("it-stopped", "stopped")

    with refuses("it-stopped"):
        formats.write(path, stops())
    assert path.read_text() == "first text\n"
    assert list(tmp_path.iterdir()) == [path]
    with refuses("report-not-writable", "No such file"):
        formats.write(tmp_path / "gone" / "x", ["a"])
    with refuses("report-folder-not-made", "below", "Not a directory"):
        formats.make(path / "below")


# The command


@pytest.fixture
def results(tmp_path: Path) -> Path:
    run_of(tmp_path / "results.ndjson", result(), result("uneven", Verdict.CRASH, clauses=("A sentence.",)))
    return tmp_path / "results.ndjson"


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_the_command_writes_a_format_to_a_file_or_to_standard_output(name: str, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    shown = command("report", results, "--format", name)
    assert shown.status == 0, shown.text
    done = command("report", results, "--format", name, "--out", out)
    assert (done.status, done.out) == (0, ""), done.text
    assert out.read_text(encoding="utf-8") == shown.out
    assert shown.out.endswith("\n")


def test_the_command_writes_a_folder(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    done = command("report", results, "--folder", folder)
    assert done.status == 0, done.text
    assert {path.name for path in folder.iterdir()} == {kind.file for kind in FORMATS.values()}
    assert done.out.splitlines() == [str(folder / kind.file) for kind in FORMATS.values()]
    some = command("report", results, "--folder", tmp_path / "c", "--format", "badge", "--format", "junit")
    assert {path.name for path in (tmp_path / "c").iterdir()} == {"badge.json", "junit.xml"}, some.text


def test_the_command_takes_expectations(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text('backend = "mine"\n' + entry("*/uneven", "crash", "not yet"))
    done = command("report", results, "--format", "junit", "--expectations", file)
    assert 'errors="0"' in done.out, done.text
    assert "expected crash: not yet" in done.out, done.text
    assert command("report", results, "--format", "annotations", "--expectations", file).out == ""
    assert "::error" in command("report", results, "--format", "annotations").out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--format", "pdf"), "'pdf' is not one of"),
        (("--format", "junit", "--format", "sarif"), "2 formats need --folder"),
        (("--folder", "x", "--out", "y"), "use only one of them"),
        (("--format", "junit", "--out", "/nowhere/at/all"), "cannot write /nowhere/at/all"),
        (("--format", "junit", "--expectations", "gone.toml"), "cannot read gone.toml"),
    ],
)
def test_the_command_reports_bad_input(words: tuple[str, ...], sentence: str, results: Path) -> None:
    done = command("report", results, *words)
    assert done.status == 2, done.text
    assert sentence in done.err, done.text


def test_a_suite_that_is_elsewhere_costs_no_report(tmp_path: Path) -> None:
    foreign(tmp_path / "r", result(verdict=Verdict.CRASH), suite={"name": str(tmp_path / "gone"), "digest": ""})
    done = command("report", tmp_path / "r", "--folder", tmp_path / "all")
    assert done.status == 0, done.text
    assert str(tmp_path / "gone") in done.err, done.text
    assert "(not run)" in (tmp_path / "all" / "report.md").read_text()


@pytest.mark.parametrize("name", FORMATS)
def test_the_help_names_every_format(name: str) -> None:
    text = command("report", "--help").out
    assert re.search(rf"^ +{name} +{re.escape(FORMATS[name].about)}$", text, re.MULTILINE), text
