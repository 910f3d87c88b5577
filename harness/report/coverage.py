"""`coverage`: how many schema points and sentences have a case, and which have none."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from harness.report.summary import rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.coverage import Coverage


def lines(found: Sequence[Coverage]) -> Iterator[str]:
    """Yield a table of all versions and the totals, then what has no case."""
    heads = [
        "operator version",
        "schema\npoints",
        "with a\ncase",
        "excused",
        "sentences",
        "cited",
        "binding,\nnot cited",
    ]
    rows: list[list[Any]] = [[str(item.version), *_figures(item)] for item in found]
    sums = [sum(column) for column in zip(*(_figures(item) for item in found), strict=True)]
    yield tabulate([*rows, ["all", *sums]], heads, tablefmt="simple")
    yield ""
    points, reached, _, sentences, cited, _ = sums
    yield f"{rate(reached, points)} of the schema points and {rate(cited, sentences)} of the sentences have a case."
    for item in found:
        for point in item.missing:
            yield f"{item.version}: no case reaches: {point}"
        for excused, reason in sorted(item.excused.items()):
            yield f"{item.version}: excused: {excused}: {reason}"
        for index, sentence in enumerate(item.uncited):
            word = "binding, not cited" if index < item.binding else "not cited"
            yield textwrap.fill(f"{item.version}: {word}: «{sentence}»", 118, subsequent_indent="    ")


def _figures(item: Coverage) -> list[int]:
    reached = item.points - len(item.missing) - len(item.excused)
    cited = item.sentences - len(item.uncited)
    return [item.points, reached, len(item.excused), item.sentences, cited, item.binding]


def record(found: Sequence[Coverage]) -> list[dict[str, Any]]:
    """Return the same as data for JSON."""
    return [
        {
            "operator": str(item.version),
            "points": item.points,
            "missing": [str(point) for point in item.missing],
            "excused": dict(item.excused),
            "sentences": item.sentences,
            "uncited": list(item.uncited),
            "binding_uncited": list(item.uncited[: item.binding]),
        }
        for item in found
    ]
