# SPDX-License-Identifier: Apache-2.0
"""The published report of a run, as Markdown: the table, the failures, and the versions used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from onnx_conformance.base import under_test
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Verdict, line, natural
from onnx_conformance.report import explanation, options_table, profile_rows, terminal, unstable_cases
from onnx_conformance.report import gate as gate_report
from onnx_conformance.report.markup import fenced, plain
from onnx_conformance.report.report_data import CUT_OFF
from onnx_conformance.results import sampling
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.stream import completeness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.report.report_data import ReportData

MOST_UNREADABLE = 100
"""Maximum number of unreadable cases that are listed."""
MEASURED = """\
onnx {onnx}, numpy {numpy}, Python {python}, {system} {processor}; suite digest `{digest}`."""
NOT_ISOLATED = """\
Not isolated: {names}. This adapter could read the expected values; with `--isolate`, it cannot."""
LEGEND = """\
`unspecified`: the specification does not decide the case; not scored. `accepted_invalid`: an invalid model was
accepted; counted separately, because ONNX does not require runtimes to reject invalid models. `lenient`: a model that
violates no `must`, only a weaker rule, was accepted; not scored. Rates are rounded down."""
OF_TOOLS = """\
For tools: `invalid_model`: the returned model is invalid in ONNX, or its outputs have other names or types.
`knows_less`: types or shapes that could be inferred are missing; not scored. For a checker, `accepted_invalid` is a
failure: only rules that its phase can check are counted."""
LENIENT = """\
Lenient results by the kind of rule that the model violates: {counts}. (A model checker verifies the signature.)"""


def report(data: ReportData) -> Iterator[str]:
    """Yield the report, with at most `data.groups` groups of failures for each backend; 0: all."""
    head = data.run.header
    yield f"# {plain(data.title)}\n\n"
    if not data.run.complete:
        yield f"**{CUT_OFF}**\n\n"
    if data.run.unreadable:
        yield f"**{len(data.run.unreadable)} cases of the suite could not be read, and are missing:**\n\n"
        yield f"{fenced(line(item.message, 1000) for item in data.run.unreadable[:MOST_UNREADABLE])}\n\n"
    for note in sampling.notes(data.run):
        yield f"**{plain(note)}**\n\n"
    scope = Scope.of(head)
    for backend, counts in data.counts.items():
        yield f"{plain(data.summary.label(backend))}, {plain(scope.text(counts.total(), backend), 500)}.\n\n"
    yield f"{completeness(head)}\n\n" if completeness(head) else ""
    yield f"{_measured(head)}\n\n{LEGEND}\n\n"
    if names := data.not_isolated:
        yield f"{NOT_ISOLATED.format(names=', '.join(map(plain, names)))}\n\n"
    if any(under_test.subject(hello) is not Subject.RUNTIME for hello in head["backends"].values()):
        yield f"{OF_TOOLS}\n\n"
    yield f"{terminal.table(data.summary, 'github', data.samples)}\n\n"
    yield from _options(data)
    yield from _notes(data)
    if data.gate is not None:
        yield f"## Comparison with the expectations\n\n{fenced(gate_report.lines(data.gate))}\n"
    yield from (f"{text}\n" for text in explanation.section(data.statements, data.note))
    yield "## Failures, by sentence and message\n\n"
    yield f"{data.expected}\n\n" if data.expected else ""
    for block in terminal.groups(data.summary, data.references, data.groups, head["arguments"].get("reference", "")):
        yield f"{fenced([block])}\n"
    if not data.summary.groups:
        yield "None.\n"


def _notes(data: ReportData) -> Iterator[str]:
    """Yield paragraphs that explain some of the numbers in the table."""
    forces = {name: data.summary.leniences(name) for name in sorted(data.summary.accepted)}
    if any(forces.values()):
        counts = "; ".join(f"{plain(name)} {text}" for name, text in forces.items() if text)
        yield f"{LENIENT.format(counts=counts)}\n\n"
    for name in data.run.header["backends"]:
        for text in profile_rows.sentences(data.summary.profile(name)):
            yield f"{plain(name)}: {plain(text, 4000)}.\n\n"
        for _, count, text in unstable_cases.rows(data.summary, name):
            yield f"{plain(name)}: {count} {plain(text)}.\n\n"


def _measured(head: Mapping[str, Any]) -> str:
    """Return the versions and the machine of a run. A results file from outside may contain any text."""
    parts = {name: plain(head.get(name, ""), 80) for name in ("onnx", "numpy", "python")}
    machine, suite = head.get("machine", {}), head.get("suite", {})
    system, processor = (plain(machine.get(name, ""), 80) for name in ("system", "processor"))
    digest = "".join(filter(str.isalnum, str(suite.get("digest", ""))))[:80]
    return MEASURED.format(**parts, system=system, processor=processor, digest=digest)


def _options(data: ReportData) -> Iterator[str]:
    """Yield a table for each tool that ran with several options: rows are operator versions, columns are options."""
    backends = list(data.run.header["backends"].items())
    for table in options_table.tables(backends):
        names = [backends[place][0] for place in table.places]
        counts = {key: counter for key, counter in data.summary.counts.items() if key[1] in names}
        operators = sorted({operator for operator, _ in counts}, key=natural)
        if not operators:
            continue
        rows = [[counts.get((operator, name), Counter[Verdict]()) for name in names] for operator in operators]
        rows.append([data.counts[name] for name in names])
        cells = [
            [plain(line(operator)), *map(options_table.cell, row)]
            for operator, row in zip([*operators, "all"], rows, strict=True)
        ]
        heads = ["operator version", *(plain(head) for head, _ in table.columns)]
        align = ["left", *["right"] * len(names)]
        yield f"## {plain(table.title)}\n\n{plain(options_table.legend([c for row in rows for c in row]))}\n\n"
        yield f"{tabulate(cells, heads, tablefmt='github', disable_numparse=True, colalign=align)}\n\n"
