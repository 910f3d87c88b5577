# SPDX-License-Identifier: Apache-2.0
"""A run on GitHub Actions: annotations as workflow commands, and the step summary as Markdown.

GitHub silently drops text beyond its limits. The most important parts are written first, and a line lists the
omissions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.report import explanation, profile_rows, terminal
from onnx_conformance.report import gate as gate_report
from onnx_conformance.report.backend_kinds import KINDS
from onnx_conformance.report.markup import fenced, plain
from onnx_conformance.report.report_data import CUT_OFF
from onnx_conformance.results import sampling
from onnx_conformance.results.summary import counted_rate, rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.base.under_test import Subject
    from onnx_conformance.report.report_data import ReportData
    from onnx_conformance.results.summary import Group

ERROR, WARNING, NOTICE = "error", "warning", "notice"
LEVELS: Mapping[Verdict, str | None] = {
    Verdict.PASS: None,
    Verdict.WRONG_VALUE: ERROR,
    Verdict.WRONG_SHAPE: ERROR,
    Verdict.WRONG_TYPE: ERROR,
    Verdict.WRONG_COUNT: ERROR,
    Verdict.INVALID_MODEL: ERROR,
    Verdict.REFUSED: ERROR,
    Verdict.DECLINED: ERROR,
    Verdict.FALLBACK: ERROR,
    Verdict.ACCEPTED_INVALID: WARNING,
    Verdict.LENIENT: None,
    Verdict.KNOWS_LESS: None,
    Verdict.CRASH: ERROR,
    Verdict.TIMEOUT: ERROR,
    Verdict.FLAKY: ERROR,
    Verdict.UNSUPPORTED: None,
    Verdict.UNSPECIFIED: None,
    Verdict.ADAPTER_ERROR: ERROR,
}
MOST_OF_A_LEVEL = 10
"""Maximum number of annotations of one level that GitHub shows for a step; three levels stay below the 50 of a job."""
MOST_BYTES = 1 << 20
"""Maximum size of a step summary; GitHub rejects a larger one completely."""
MOST_TEXT = 1000


def annotate(data: ReportData) -> Iterator[str]:
    """Yield workflow commands, one on each line: deviations at the gate, and failures of backends without a gate."""
    annotations = list(_of_gate(data)) if data.gate else []
    annotations += _of_groups(data)
    counts: Counter[str] = Counter()
    annotations[:0] = [(ERROR, "onnx-conformance", fault) for fault in data.faults]
    for level, title, text in annotations:
        counts[level] += 1
        if counts[level] <= MOST_OF_A_LEVEL:
            yield _command(level, title, text)
    left = {level: count - MOST_OF_A_LEVEL for level, count in counts.items() if count > MOST_OF_A_LEVEL}
    if left:
        some = ", ".join(f"{count} of level {level}" for level, count in left.items())
        yield _command(
            NOTICE,
            "onnx-conformance",
            f"{some} are omitted, because GitHub shows {MOST_OF_A_LEVEL} of each level; the other reports contain all",
        )


def _of_gate(data: ReportData) -> Iterator[tuple[str, str, str]]:
    """Yield level, title and text of each reason why the gate is closed, in the order of its report."""
    gate = data.gate
    assert gate is not None  # noqa: S101 - called only if there is one
    for status in gate_report.MEANINGS:
        for item in gate.deviations.values():
            if item.status is status:
                yield ERROR, f"{status}: {item.example.operator}", gate_report.describe(item)
    yield from ((ERROR, "expectations", problem) for problem in gate.problems)


def _of_groups(data: ReportData) -> Iterator[tuple[str, str, str]]:
    """Yield level, title and text of the failures of backends without a gate."""
    judged = data.gate.expectations.backend if data.gate else None
    groups = [group for group in data.summary.ordered_groups() if group.example.backend != judged]
    rank = {ERROR: 0, WARNING: 1, NOTICE: 2, None: 3}
    for group in sorted(groups, key=lambda group: rank[LEVELS[group.example.verdict]]):
        level = LEVELS[group.example.verdict]
        if level is not None:
            yield level, f"{group.example.verdict}: {group.example.operator}", _group(group)
    if data.summary.left_out:
        yield WARNING, "onnx-conformance", f"{data.summary.left_out} more failures are counted but not grouped"


def _group(group: Group) -> str:
    example = group.example
    cases = "1 case" if group.count == 1 else f"{group.count} cases"
    message = f": {line(example.message, 300)}" if example.message else ""
    clauses = "".join(f"\n«{line(clause, 300)}»" for clause in example.clauses[:3])
    return f"{example.backend}: {cases}, for example {example.case}{message}{clauses}"


def _command(level: str, title: str, text: str) -> str:
    """Return a workflow command; characters that would end a property or the line are escaped."""
    escaped = "\n".join(line(part, MOST_TEXT) for part in text[: 4 * MOST_TEXT].split("\n"))
    return f"::{level} title={_property(line(title))}::{_data(escaped)}\n"


def _data(text: str) -> str:
    text = text.replace("##[", "## [")  # A command of Azure's runners, anywhere in a line.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(data: ReportData) -> Iterator[str]:
    """Yield the step summary: as many whole sections as fit."""
    reserve = 400
    room = MOST_BYTES - reserve
    left: Counter[str] = Counter()
    for kind, text in _sections(data):
        size = len(text.encode())
        if left or size > room:
            left[kind] += 1
            continue
        room -= size
        yield text
    if left:
        some = ", ".join(f"{count} {_several(kind) if count > 1 else kind}" for kind, count in left.items())
        yield f"\n**Omitted, because GitHub accepts {MOST_BYTES} bytes: {some}. The other reports contain all.**\n"


def _sections(data: ReportData) -> Iterator[tuple[str, str]]:
    """Yield the kind of each section and its Markdown, most important first."""
    yield "title", f"# {plain(data.title)}\n\n"
    if not data.run.complete:
        yield "warning", f"**{CUT_OFF}**\n\n"
    for note in sampling.notes(data.run):
        yield "warning", f"**{plain(note)}**\n\n"
    for fault in data.faults[not data.run.complete :]:
        yield "fault", f"- {plain(fault)}\n"
    if data.gate is not None:
        *deviations, last = gate_report.lines(data.gate)
        yield "verdict of the gate", f"**{plain(last, 400)}**\n\n"
        if deviations:
            yield "list of deviations", f"## Why the gate is closed\n\n{fenced(deviations)}\n"
    yield "table of backends", f"{_totals(data)}{_profiles(data)}"
    for shared in explanation.section(data.statements, data.note):
        yield "statement", f"{shared}\n"
    expected = f"{data.expected}\n\n" if data.expected else ""
    yield "heading", f"\n## Failures, by sentence and message\n\n{expected}"
    reference = data.run.header["arguments"].get("reference", "")
    blocks = list(terminal.groups(data.summary, data.references, data.groups, reference))
    for block in blocks:
        yield "group of failures", f"{fenced([block])}\n"
    if not blocks:
        yield "sentence", "None.\n"
    yield "table of operator versions", _operators(data)


def _profiles(data: ReportData) -> str:
    """Return paragraphs on the results that depend on a profile."""
    texts = ((name, text) for name, use in data.summary.profiles.items() for text in profile_rows.sentences(use))
    return "".join(f"{plain(name)}: {plain(text, 4000)}.\n\n" for name, text in texts)


def _several(kind: str) -> str:
    first, _, rest = kind.partition(" ")
    return f"{first}s {rest}".strip()


def _totals(data: ReportData) -> str:
    by_kind: dict[Subject, dict[str, Counter[Verdict]]] = {}
    for name, counter in data.counts.items():
        by_kind.setdefault(data.summary.subject(name), {})[name] = counter
    if len(by_kind) < 2:  # noqa: PLR2004 - one kind needs no heading
        return _totals_of(data, data.counts)
    return "".join(
        f"## {kind.heading}\n\n{_totals_of(data, by_kind[subject])}"
        for subject, kind in KINDS.items()
        if subject in by_kind
    )


def _totals_of(data: ReportData, counts: Mapping[str, Counter[Verdict]]) -> str:
    accepted: Counter[str] = Counter()
    for (_, backend), count in data.accepted.items():
        accepted[backend] += count
    shown = [verdict for verdict in Verdict if any(counter[verdict] for counter in counts.values())]
    heads = ["backend", *map(str, shown), *(["expected failures"] if data.gate else [])]
    heads += ["passed of specified", "passed of attempted"]
    rows = []
    for name, counter in counts.items():
        shares = rates(counter)
        row = [plain(name), *(str(counter[verdict] or "") for verdict in shown)]
        row += [str(accepted[name] or "")] if data.gate else []
        for whole in (shares.specified, shares.attempted):
            row.append(counted_rate(shares.passed, whole))
        rows.append(row)
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines) + "\n"


def _operators(data: ReportData) -> str:
    table = terminal.table(data.summary, "github", data.samples)
    return f"\n<details><summary>Operator versions</summary>\n\n{table}\n\n</details>\n"
