"""The matrix at the top of a page: operator versions by backends, with the shares of their verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib import parse

from harness.report.html.verdict_styles import ORDER, STYLES
from harness.results.summary import rate, rates
from harness.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.report.html.table import Table

NARROWEST = 30
"""The least width of a part, in thousandths of a bar, so that it is visible."""


@dataclass(frozen=True)
class Cell:
    """The verdicts of a backend on an operator version.

    Attributes:
        short: the text below the bar.
        label: the whole text, for screen readers and the tooltip.
        parts: family, start and width, in tenths of a percent of the bar.
        href: of the list of the cases.
    """

    short: str
    label: str
    parts: tuple[tuple[str, int, int], ...]
    href: str


@dataclass(frozen=True)
class Row:
    """An operator version, with a cell for each backend."""

    number: int
    domain: str
    name: str
    version: str
    href: str
    cells: tuple[Cell, ...]


def rows(table: Table) -> list[Row]:
    """Return the matrix, in the order of the operators' names."""
    counts = table.counts()
    names = list(table.operators)
    order = list(dict.fromkeys(table.operator[case] for case in table.order()))
    matrix = []
    for number in order:
        domain, name, version = _parts(names[number])
        cells = tuple(
            cell(counts.get((number, place), Counter()), f"#/cases?op={quote(names[number])}&on={quote(column.label)}")
            for place, column in enumerate(table.columns)
        )
        matrix.append(Row(number, domain, name, version, f"#/op/{quote(names[number])}", cells))
    return matrix


def sums(table: Table) -> list[Cell]:
    """Return a cell for all cases of each backend."""
    totals: list[Counter[int]] = [Counter() for _ in table.columns]
    for (_, place), counter in table.counts().items():
        totals[place].update(counter)
    return [
        cell(counter, f"#/cases?on={quote(column.label)}")
        for counter, column in zip(totals, table.columns, strict=True)
    ]


def quote(text: str) -> str:
    """Return a text quoted for the fragment of an address, as script/filter.js reads and writes it."""
    return parse.quote(text, safe="/@*")


def _parts(operator: str) -> tuple[str, str, str]:
    domain, _, rest = operator.partition("/")
    name, _, version = rest.rpartition("/")
    return (domain, name, version) if name else ("", operator or "?", "")


def cell(counts: Mapping[int, int], href: str) -> Cell:
    """Return the cell for the counts by number of the verdict."""
    named = {ORDER[number]: count for number, count in counts.items()}
    return Cell(short(named), sentence(named), tuple(shares(counts)), href)


def short(counts: Mapping[Verdict, int]) -> str:
    """Return passed of attempted, or why there is no such rate."""
    figures = rates(counts)
    if figures.attempted:
        return f"{figures.passed}/{figures.attempted}"
    if not sum(counts.values()):
        return "no data"
    if figures.specified:
        return "unsupported"
    return next(
        (STYLES[verdict].words for verdict in (Verdict.LENIENT, Verdict.KNOWS_LESS) if counts.get(verdict)),
        "unspecified",
    )


def sentence(counts: Mapping[Verdict, int]) -> str:
    """Return both rates and all counts as a sentence; script/matrix.js does the same for filtered cases."""
    if not sum(counts.values()):
        return "no data"
    figures = rates(counts)
    others = [f"{counts[verdict]} {STYLES[verdict].words}" for verdict in ORDER[1:] if counts.get(verdict)]
    passed = (
        f"{figures.passed} passed of {figures.specified} specified ({rate(figures.passed, figures.specified)}), "
        f"of {figures.attempted} attempted ({rate(figures.passed, figures.attempted)})"
    )
    return "; ".join([passed, *others])


def shares(counts: Mapping[int, int]) -> list[tuple[str, int, int]]:
    """Return the parts of a bar; narrow ones are widened to be visible, the others shrink."""
    total = sum(counts.values())
    families: Counter[str] = Counter()
    for number, verdict in enumerate(ORDER):
        if counts.get(number):
            families[STYLES[verdict].family] += counts[number]
    wide = {family: max(NARROWEST, count * 1000 // total) for family, count in families.items()}
    whole, first = sum(wide.values()), 0
    parts = []
    for family, width in wide.items():
        share = width * 1000 // whole
        parts.append((family, first, share))
        first += share
    return parts
