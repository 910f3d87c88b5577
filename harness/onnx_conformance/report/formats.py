# SPDX-License-Identifier: Apache-2.0
"""The formats of a report: one row each in FORMATS, and one module each in this package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base import atomic_file
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.report import as_json, badge, ctrf, ep_conformance, github, junit, markdown, sarif
from onnx_conformance.report.html import page, verdict_styles
from onnx_conformance.results import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from onnx_conformance.base.verdict import Verdict
    from onnx_conformance.report.report_data import ReportData


class ReportError(HarnessError):
    """A report cannot be written; the text names the file and the reason."""


@dataclass(frozen=True)
class Format:
    """A format of a report.

    Attributes:
        report: yields the text, piece by piece.
        file: its name in a folder of reports.
        about: one line for the help.
        shows_references: whether it shows the outputs of onnx.reference for the examples.
        shows_statements: whether it shows conditions that failures share.
        shows_cases: whether it shows the cases themselves.
        several_runs: whether it shows several runs side by side.
        commands: whether its lines are commands for a CI service.
        lists_cases: whether the ids of failing cases are in it.
        verdicts: its own names for verdicts, with a row for each; None: it uses the verdicts' names.
    """

    report: Callable[[ReportData], Iterator[str]]
    file: str
    about: str
    shows_references: bool = False
    shows_statements: bool = False
    shows_cases: bool = False
    several_runs: bool = False
    commands: bool = False
    lists_cases: bool = True
    verdicts: Mapping[Verdict, object] | Mapping[str, object] | None = None


def _page(data: ReportData) -> Iterator[str]:
    yield page.report((data.run, *data.other_runs), data.cases, data.statements, data.missing, data.contents)


FORMATS = {
    "markdown": Format(
        markdown.report,
        "report.md",
        "the table and the failures, for publication",
        shows_references=True,
        shows_statements=True,
    ),
    "json": Format(
        as_json.report, "report.json", "counts, groups of failures, the gate; has a JSON Schema", shows_statements=True
    ),
    "html": Format(
        _page,
        "report.html",
        "one page with a matrix, filters and a page for each case; takes several results files",
        shows_statements=True,
        shows_cases=True,
        several_runs=True,
        verdicts=verdict_styles.STYLES,
    ),
    "ep-conformance": Format(
        ep_conformance.report,
        "ep-conformance.json",
        "JSON of ONNX Runtime's design for execution providers: PASS, UNSUPPORTED, FAIL, EXCLUDED, NOT_RUN",
        verdicts=ep_conformance.OUTCOMES,
    ),
    "junit": Format(
        junit.report,
        "junit.xml",
        "JUnit XML: a testsuite for each operator version, a testcase for each case",
        shows_statements=True,
        verdicts=junit.OUTCOMES,
    ),
    "ctrf": Format(
        ctrf.report, "ctrf.json", "Common Test Report Format, ctrf.io", shows_statements=True, verdicts=ctrf.STATUSES
    ),
    "sarif": Format(
        sarif.report,
        "report.sarif",
        "SARIF 2.1.0 for code scanning: a rule for each sentence of the specification",
        shows_statements=True,
        verdicts=sarif.LEVELS,
    ),
    "annotations": Format(
        github.annotate, "annotations.txt", "workflow commands of GitHub Actions", commands=True, verdicts=github.LEVELS
    ),
    "summary": Format(
        github.summary, "summary.md", "step summary of GitHub Actions", shows_references=True, shows_statements=True
    ),
    "badge": Format(
        badge.report, "badge.json", "JSON for shields.io's endpoint badge", lists_cases=False, verdicts=badge.NAMED
    ),
}
"""By the name for `report --format`."""


def make(folder: Path) -> None:
    """Create a folder for reports if it does not exist.

    Raises:
        ReportError: it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(
            "report-folder-not-made", f"cannot create the folder {folder}: {error.strerror}; name another one"
        ) from error


def write(path: Path, pieces: Iterable[str]) -> None:
    """Write a file atomically.

    An existing report is replaced, because it can be generated again; results are not replaced.

    Raises:
        ReportError: it cannot be written.
        ResultsError: it contains results.
    """
    stream.check_no_results(path)
    try:
        atomic_file.write(path, pieces)
    except OSError as error:
        # The hint would be wrong for a full disk, or a folder without write permission.
        hint = "" if path.parent.is_dir() else "; name a file in an existing folder"
        raise ReportError("report-not-writable", f"cannot write {path}: {error.strerror}{hint}") from error
