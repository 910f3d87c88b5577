"""What the gate says: how many cases stand how, what is news, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.gate.gate import Standing
from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.gate.gate import Gate, News

MEANINGS = {
    Standing.BROKEN: "the adapter is at fault; nothing was measured",
    Standing.REGRESSED: "worse than expected",
    Standing.DIFFERENT: "another failure than expected",
    Standing.IMPROVED: "still a failure, but a better one",
    Standing.FIXED: "pass, where a failure was expected",
}
"""In the order of a report."""


def lines(gate: Gate) -> Iterator[str]:
    """Yield the report of a finished gate."""
    path = gate.expectations.path
    for standing, meaning in MEANINGS.items():
        news = [item for item in gate.news.values() if item.standing is standing]
        if news:
            yield f"{standing}: {gate.standings[standing]} cases: {meaning}"
            yield from (f"  {told(item)}" for item in sorted(news, key=lambda item: item.example.case))
    for problem in gate.problems:
        yield f"problem: {problem}"
    total = sum(gate.standings.values())
    if gate.opened:
        yield f"the gate is open: {total} cases of {line(gate.expectations.backend)} are what {path} says"
        return
    others = ", ".join(f"{gate.standings[name]} {name}" for name in MEANINGS if gate.standings[name])
    yield f"the gate is closed: of {total} cases {gate.standings[Standing.MET]} met{', ' if others else ''}{others}"


def told(news: News) -> str:
    """Return cases that stand alike as one line: the first of them, and how many there are."""
    example = news.example
    more = f" and {news.count - 1} more of {line(example.operator)}" if news.count > 1 else ""
    said = f": {line(example.message, 160)}" if example.message else ""
    return f"{line(example.case)}{more}: expected {news.expected}, got {news.actual}{said}"
