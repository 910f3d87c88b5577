"""The published report of a run, as Markdown: the table, the failures, and the versions it was measured with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.report import explanation, terminal
from harness.report import gate as gate_report
from harness.report.markup import fenced, plain
from harness.report.report_data import CUT_OFF
from harness.results import sampling
from harness.results.stream import completeness
from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.report.report_data import ReportData

MOST_UNREADABLE = 100
"""The most unreadable cases that are listed."""
MEASURED = """\
onnx {onnx}, numpy {numpy}, Python {python}, {machine[system]} {machine[processor]}; suite digest `{suite[digest]}`."""
LEGEND = """\
A case that the text leaves open is shown as `unspecified` and never scored. `accepted_invalid` is a column of its
own: ONNX obliges no runtime to refuse. `lenient` is an answer to a model that no `must` forbids, and never scored.
Rates are floored."""
LENIENT = """\
Lenient answers by how the text forbids the model; the signature is the business of a model checker: {counts}."""


def report(data: ReportData) -> Iterator[str]:
    """Yield the report, with `data.groups` groups of failures of each backend; 0: all."""
    head = data.run.header
    yield f"# {plain(data.title)}\n\n"
    if not data.run.complete:
        yield f"**{CUT_OFF}**\n\n"
    if data.run.unreadable:
        yield f"**{len(data.run.unreadable)} cases of the suite could not be read, and are missing:**\n\n"
        yield f"{fenced(line(item.message, 1000) for item in data.run.unreadable[:MOST_UNREADABLE])}\n\n"
    for note in sampling.notes(data.run):
        yield f"**{plain(note)}**\n\n"
    yield f"{completeness(head)}\n\n" if completeness(head) else ""
    yield f"{MEASURED.format(**head)}\n\n{LEGEND}\n\n{terminal.table(data.summary, 'github', data.samples)}\n\n"
    forces = {name: data.summary.leniences(name) for name in sorted(data.summary.accepted)}
    if any(forces.values()):
        counts = "; ".join(f"{plain(name)} {text}" for name, text in forces.items() if text)
        yield f"{LENIENT.format(counts=counts)}\n\n"
    if data.gate is not None:
        yield f"## What is expected\n\n{fenced(gate_report.lines(data.gate))}\n"
    yield from (f"{text}\n" for text in explanation.section(data.statements, data.note))
    yield "## Failures, by sentence and message\n\n"
    yield f"{data.expected}\n\n" if data.expected else ""
    for block in terminal.groups(data.summary, data.references, data.groups, head["arguments"].get("reference", "")):
        yield f"{fenced([block])}\n"
    if not data.summary.groups:
        yield "None.\n"
