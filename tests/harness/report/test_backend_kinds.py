# SPDX-License-Identifier: Apache-2.0
"""Runtimes and tools side by side: a table a kind, in every report; runs of runtimes look as they always did."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import as_json, backend_kinds, github, index, markdown, report_data, run_end, terminal
from onnx_conformance.results.scope import Scope
from runs import SPLIT, TOOLS, results_of_tools, run_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData

HEADINGS = ["Runtimes", "Tools that change models", "Shape inference", "Checkers"]


def data(path: Path, *names: str) -> ReportData:
    """Return the data of a run of these backends, or of all."""
    chosen = {name: TOOLS[name] for name in names or TOOLS}
    results = [item for item in results_of_tools() if item.backend in chosen]
    return report_data.read(run_of(path / "r.ndjson", *results, hellos=chosen))


def heads(text: str, heading: str) -> list[str]:
    """Return the heads of the first Markdown table below a heading."""
    after = text[text.index(f"## {heading}\n") :]
    row = next(line for line in after.splitlines() if line.startswith("|"))
    return [cell.strip() for cell in row.strip("|").split("|")]


REPORTS: dict[str, Callable[[ReportData], str]] = {
    "markdown": lambda it: "".join(markdown.report(it)),
    "summary": lambda it: "".join(github.summary(it)),
    "index": lambda it: "".join(index.report([(it, "badge.json")])),
    "table": lambda it: terminal.table(it.summary),
    "operators": lambda it: "\n".join(terminal.operators(it.summary, 120)),
    "end": lambda it: "\n".join(run_end.lines(it.summary, {}, Scope("generated"))),
}


@pytest.mark.parametrize("name", REPORTS)
def test_each_kind_has_a_heading_of_its_own_in_one_order(name: str, tmp_path: Path) -> None:
    lines = [text.removeprefix("## ") for text in REPORTS[name](data(tmp_path)).splitlines()]
    first = [lines.index(heading) for heading in HEADINGS]
    assert first == sorted(first), lines


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("backends", [("mine",), ("slim",), ("check",)])
def test_one_kind_alone_has_no_heading(name: str, backends: tuple[str, ...], tmp_path: Path) -> None:
    lines = [text.removeprefix("## ") for text in REPORTS[name](data(tmp_path, *backends)).splitlines()]
    assert not set(lines) & set(HEADINGS), lines


@pytest.mark.parametrize("name", ["markdown", "index"])
def test_each_kind_has_the_columns_that_make_sense_for_it(name: str, tmp_path: Path) -> None:
    text = REPORTS[name](data(tmp_path))
    columns = {heading: set(heads(text, heading)) for heading in HEADINGS}
    own = {
        "Runtimes": {"accepted invalid"},
        "Tools that change models": {"invalid model"},
        "Shape inference": {"knows less"},
        "Checkers": {"refused", "accepted invalid"},
    }
    for heading, expected in own.items():
        assert expected <= columns[heading], columns
    assert "invalid model" not in columns["Runtimes"] | columns["Checkers"]
    assert "knows less" not in columns["Runtimes"] | columns["Tools that change models"]


def test_a_backend_is_in_the_table_of_its_kind_only(tmp_path: Path) -> None:
    text = REPORTS["table"](data(tmp_path))
    parts = dict(
        zip(
            HEADINGS,
            re.split("|".join(f"^{heading}$" for heading in HEADINGS), text, flags=re.MULTILINE)[1:],
            strict=True,
        )
    )
    assert {heading: {name for name in TOOLS if f" {name} " in part} for heading, part in parts.items()} == {
        "Runtimes": {"mine"},
        "Tools that change models": {"conv[21]", "conv[9]", "slim"},
        "Shape inference": {"infer"},
        "Checkers": {"check"},
    }
    _, found, absent = parts["Checkers"].partition("No case has the verdict")
    assert found
    assert "wrong_value" not in absent, "no checker can have it"


def test_an_accepted_model_is_a_checkers_fault_and_nobody_elses_duty(tmp_path: Path) -> None:
    text = REPORTS["end"](data(tmp_path))
    assert "which ONNX does not require to be rejected" in text.partition("Checkers")[0]
    assert "invalid models that a checker can recognize" in text.partition("Checkers")[2]


def test_json_says_what_a_tool_is(tmp_path: Path) -> None:
    backends = json.loads("".join(as_json.report(data(tmp_path))))["backends"]
    assert {name: item.get("subject") for name, item in backends.items()} == {
        name: hello.get("subject") for name, hello in TOOLS.items()
    }


def test_every_subject_has_a_kind_and_no_column_that_it_cannot_have() -> None:
    assert set(backend_kinds.KINDS) == set(Subject)
    for kind in backend_kinds.KINDS.values():
        assert not kind.impossible & {*kind.own, *kind.counted}, kind
        assert Verdict.PASS not in kind.impossible


# Options


def rows_of(text: str, title: str) -> dict[str, list[str]]:
    """Return the cells of the Markdown table below a title, by operator version."""
    after = text[text.index(title) :].partition("\n## ")[0]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in after.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in table if not row[0].startswith("-")}


def test_a_converter_has_a_row_an_operator_version_and_a_column_a_target_opset(tmp_path: Path) -> None:
    text = REPORTS["markdown"](data(tmp_path))
    assert rows_of(text, "## conv 2.0: operator version by target opset") == {
        "operator version": ["9", "21"],  # In the order of numbers.
        "ai.onnx/Split/2": ["0/1 U1", "0/1 C1"],
        SPLIT: ["1/2 U1", "1/2 M1"],
        "all": ["1/3 U2", "1/3 M1 C1"],
    }
    assert "Passed of specified cases; M invalid model; C crash; U unsupported." in text


def test_one_option_alone_and_a_runtime_with_options_have_no_table(tmp_path: Path) -> None:
    assert "operator version by" not in REPORTS["markdown"](data(tmp_path, "conv[21]", "slim", "mine"))


def test_the_index_has_the_options_of_a_converter_by_number(tmp_path: Path) -> None:
    text = REPORTS["index"](data(tmp_path))
    assert text.index("conv&#91;9&#93;") < text.index("conv&#91;21&#93;")
