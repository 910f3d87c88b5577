"""The published report of a run, as Markdown: the table, the failures, and how it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.report import explanation, terminal
from harness.report import gate as gate_report
from harness.report.markup import fenced, plain
from harness.report.subject import CUT_OFF
from harness.results import sampling
from harness.results.stream import completeness
from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.report.subject import Subject

MOST_UNREADABLE = 100
"""Cases that could not be read which are listed."""
MEASURED = """\
onnx {onnx}, numpy {numpy}, Python {python}, {machine[system]} {machine[processor]}; suite digest `{suite[digest]}`."""
LEGEND = """\
A case that the text leaves open is shown as `unspecified` and never scored. `accepted_invalid` is a column of its
own: ONNX obliges no runtime to refuse. Rates are floored."""


def report(subject: Subject) -> Iterator[str]:
    """Yield the report, with `subject.groups` groups of failures of each backend; 0: all."""
    head = subject.run.header
    yield f"# {plain(subject.title)}\n\n"
    if not subject.run.complete:
        yield f"**{CUT_OFF}**\n\n"
    if subject.run.unreadable:
        yield f"**{len(subject.run.unreadable)} cases of the suite could not be read, and are missing:**\n\n"
        yield f"{fenced(line(item.message, 1000) for item in subject.run.unreadable[:MOST_UNREADABLE])}\n\n"
    for note in sampling.notes(subject.run):
        yield f"**{plain(note)}**\n\n"
    yield f"{completeness(head)}\n\n" if completeness(head) else ""
    yield f"{MEASURED.format(**head)}\n\n{LEGEND}\n\n{terminal.table(subject.summary, 'github', subject.samples)}\n\n"
    if subject.gate is not None:
        yield f"## What is expected\n\n{fenced(gate_report.lines(subject.gate))}\n"
    yield from (f"{told}\n" for told in explanation.section(subject.statements, subject.note))
    yield "## Failures, by sentence and message\n\n"
    yield f"{subject.expected}\n\n" if subject.expected else ""
    for block in terminal.groups(
        subject.summary, subject.references, subject.groups, head["arguments"].get("reference", "")
    ):
        yield f"{fenced([block])}\n"
    if not subject.summary.groups:
        yield "None.\n"
