"""The formats of a report: one row each, and one file beside this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness import atomic_file
from harness.errors import HarnessError
from harness.report import as_json, badge, ctrf, github, junit, markdown, sarif
from harness.report.html import page
from harness.results import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from harness.report.subject import Subject


class ReportError(HarnessError):
    """A report cannot be written; the text says where, and why."""


@dataclass(frozen=True)
class Format:
    """How a run is told.

    Attributes:
        report: yields the text, piece by piece.
        file: what it is called in a folder of reports.
        about: one line, for people.
        asks: whether it shows what onnx.reference gives for the examples.
        shares: whether it says what failures share.
        describes: whether it shows the cases themselves.
        several: whether it shows several runs side by side.
        commands: whether its lines are commands of a CI service, and meant to be.
    """

    report: Callable[[Subject], Iterator[str]]
    file: str
    about: str
    asks: bool = False
    shares: bool = False
    describes: bool = False
    several: bool = False
    commands: bool = False


def _page(subject: Subject) -> Iterator[str]:
    yield page.report(
        (subject.run, *subject.beside), subject.cases, subject.statements, subject.missing, subject.contents
    )


FORMATS = {
    "markdown": Format(
        markdown.report, "report.md", "the table and the failures, to be published", asks=True, shares=True
    ),
    "json": Format(
        as_json.report, "report.json", "counts, groups of failures, the gate; has a JSON Schema", shares=True
    ),
    "html": Format(
        _page,
        "report.html",
        "one page with a matrix, filters and a page for each case; takes several results files",
        shares=True,
        describes=True,
        several=True,
    ),
    "junit": Format(
        junit.report, "junit.xml", "JUnit XML: a testsuite an operator version, a testcase a case", shares=True
    ),
    "ctrf": Format(ctrf.report, "ctrf.json", "Common Test Report Format, ctrf.io", shares=True),
    "sarif": Format(
        sarif.report, "report.sarif", "SARIF 2.1.0 for code scanning: a rule is a sentence of the text", shares=True
    ),
    "annotations": Format(github.annotate, "annotations.txt", "workflow commands of GitHub Actions", commands=True),
    "summary": Format(github.summary, "summary.md", "step summary of GitHub Actions", asks=True, shares=True),
    "badge": Format(badge.report, "badge.json", "what shields.io's endpoint badge reads"),
}
"""By the name that `report --format` takes."""


def make(folder: Path) -> None:
    """Make a folder for reports, where there is none yet.

    Raises:
        ReportError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(f"cannot make the folder {folder}: {error.strerror}; name another") from error


def write(path: Path, pieces: Iterable[str]) -> None:
    """Write a file, whole or not at all.

    A report that is there is replaced, for it can be made again; results are not.

    Raises:
        ReportError: it cannot be written.
        ResultsError: it holds results.
    """
    stream.check_no_results(path)
    try:
        atomic_file.write(path, pieces)
    except OSError as error:
        # A full disk is another matter than a folder that is not there, or not ours.
        hint = "" if path.parent.is_dir() else "; name a file in a folder that is there"
        raise ReportError(f"cannot write {path}: {error.strerror}{hint}") from error
