# SPDX-License-Identifier: Apache-2.0
"""A trend as text and as Markdown: verdicts by version, and the changes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.report.markup import fenced, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.results.trend import Change, Trend


def text(trend: Trend) -> Iterator[str]:
    """Yield the trend as blocks for a terminal."""
    yield line(f"{trend.runtime} {trend.versions[0]} to {trend.versions[-1]}, suite {trend.suite}")
    yield from map(line, trend.notes)
    yield ""
    yield _table(_totals(trend), ["verdict", *trend.versions], "simple")
    yield ""
    if not trend.changes:
        yield f"No verdict changed in {trend.unchanged} operator versions."
        return
    yield _table(_rows(trend), ["passed of attempted", *trend.versions], "simple")
    yield f"\n{_unchanged(trend)}"
    for operator in trend.operators:
        yield f"\n{line(operator)}"
        rows = [_change(change) for change in trend.changes if change.operator == operator]
        yield "  " + tabulate(rows, tablefmt="plain", disable_numparse=True).replace("\n", "\n  ")


def markdown(trend: Trend) -> Iterator[str]:
    """Yield the trend as pieces of a Markdown page."""
    first, last = trend.versions[0], trend.versions[-1]
    yield f"# {plain(trend.runtime)} {plain(first)} to {plain(last)}\n\nSuite {plain(trend.suite)}.\n"
    if trend.notes:
        yield "\n" + fenced(map(line, trend.notes))
    yield "\n## Verdicts\n\n" + _table(_totals(trend), ["verdict", *trend.versions], "github") + "\n"
    if not trend.changes:
        yield f"\nNo verdict changed in {trend.unchanged} operator versions.\n"
        return
    yield "\n## Operator versions whose verdicts changed\n\nPassed of attempted. " + _unchanged(trend) + "\n\n"
    yield _table(_rows(trend), ["operator version", *trend.versions], "github") + "\n\n## Changes\n\n"
    rows = [[line(change.operator), *_change(change)] for change in trend.changes]
    heads = ["operator version", "since", "cases", "was", "now", "for example"]
    yield _table([[row[0], row[1], row[2], *row[3].split(" -> "), row[4]] for row in rows], heads, "github") + "\n"


def _unchanged(trend: Trend) -> str:
    count = trend.unchanged
    return f"{count} other operator version{'' if count == 1 else 's'} have the same verdicts in every version."


def _table(rows: list[list[str]], heads: list[str], style: str) -> str:
    if style == "github":
        rows = [[plain(cell) for cell in row] for row in rows]
    align = ("left", *["right"] * (len(heads) - 1)) if heads[1] != "since" else None
    return tabulate(rows, heads, tablefmt=style, disable_numparse=True, colalign=align)


def _totals(trend: Trend) -> list[list[str]]:
    """Return a row for each verdict that occurs, and rows for the changes since the previous version."""
    sums = {version: Counter[Verdict]() for version in trend.versions}
    for (_, version), counts in trend.counts.items():
        sums[version].update(counts)
    rows = [
        [str(verdict), *(str(sums[version][verdict]) for version in trend.versions)]
        for verdict in Verdict
        if any(sums[version][verdict] for version in trend.versions)
    ]
    for head, counts_as in (("newly passing", _fixed), ("no longer passing", _lost)):
        moved = Counter[str]()
        for change in trend.changes:
            moved[change.version] += change.count if counts_as(change) else 0
        rows.append([head, "", *(str(moved[version]) for version in trend.versions[1:])])
    return rows


def _fixed(change: Change) -> bool:
    return change.now is Verdict.PASS


def _lost(change: Change) -> bool:
    return change.was is Verdict.PASS


def _rows(trend: Trend) -> list[list[str]]:
    return [
        [line(operator), *(_cell(trend.counts.get((operator, version), Counter())) for version in trend.versions)]
        for operator in trend.operators
    ]


def _cell(counts: Counter[Verdict]) -> str:
    attempted = sum(count for verdict, count in counts.items() if verdict.scored)
    return f"{counts[Verdict.PASS]}/{attempted}" if counts else "-"


def _change(change: Change) -> list[str]:
    return [change.version, str(change.count), f"{change.was} -> {change.now}", line(change.example)]
