"""The matrix that a page begins with: operator versions by backends, with the shares of their verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib import parse

from harness.report.html.looks import LOOKS, ORDER
from harness.results.summary import rate, rates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.report.html.table import Table
    from harness.verdict import Verdict

NARROWEST = 30
"""Of a thousand parts of a bar: what is there at all can be seen."""


@dataclass(frozen=True)
class Cell:
    """What a backend made of the cases of an operator version.

    Attributes:
        short: what stands below the bar.
        told: the same in full, for those who hear it.
        parts: family, where it begins and how wide it is, in tenths of a percent of the bar.
        href: the cases.
    """

    short: str
    told: str
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
    found = []
    for number in order:
        domain, name, version = _parts(names[number])
        cells = tuple(
            cell(counts.get((number, place), Counter()), f"#/cases?op={quote(names[number])}&on={quote(column.label)}")
            for place, column in enumerate(table.columns)
        )
        found.append(Row(number, domain, name, version, f"#/op/{quote(names[number])}", cells))
    return found


def sums(table: Table) -> list[Cell]:
    """Return a cell for all that each backend did."""
    found: list[Counter[int]] = [Counter() for _ in table.columns]
    for (_, place), counter in table.counts().items():
        found[place].update(counter)
    return [
        cell(counter, f"#/cases?on={quote(column.label)}") for counter, column in zip(found, table.columns, strict=True)
    ]


def quote(text: str) -> str:
    """Return a text as it stands in the fragment of an address; script/filter.js reads and writes it so."""
    return parse.quote(text, safe="/@*")


def _parts(operator: str) -> tuple[str, str, str]:
    domain, _, rest = operator.partition("/")
    name, _, version = rest.rpartition("/")
    return (domain, name, version) if name else ("", operator or "?", "")


def cell(counts: Mapping[int, int], href: str) -> Cell:
    """Return what is shown of so many verdicts, by number."""
    named = {ORDER[number]: count for number, count in counts.items()}
    return Cell(short(named), told(named), tuple(shares(counts)), href)


def short(counts: Mapping[Verdict, int]) -> str:
    """Return passed of attempted, or why there is nothing to say."""
    found = rates(counts)
    if found.attempted:
        return f"{found.passed}/{found.attempted}"
    if not sum(counts.values()):
        return "no data"
    return "unspecified" if not found.specified else "unsupported"


def told(counts: Mapping[Verdict, int]) -> str:
    """Return the whole of it as a sentence; script/matrix.js says the same of what a filter leaves."""
    if not sum(counts.values()):
        return "no data"
    found = rates(counts)
    others = [f"{counts[verdict]} {LOOKS[verdict].words}" for verdict in ORDER[1:] if counts.get(verdict)]
    said = (
        f"{found.passed} passed of {found.specified} specified ({rate(found.passed, found.specified)}), "
        f"of {found.attempted} attempted ({rate(found.passed, found.attempted)})"
    )
    return "; ".join([said, *others])


def shares(counts: Mapping[int, int]) -> list[tuple[str, int, int]]:
    """Return the parts of a bar; narrow ones are widened so that they can be seen, and the others give way."""
    total = sum(counts.values())
    families: Counter[str] = Counter()
    for number, verdict in enumerate(ORDER):
        if counts.get(number):
            families[LOOKS[verdict].family] += counts[number]
    wide = {family: max(NARROWEST, count * 1000 // total) for family, count in families.items()}
    whole, first = sum(wide.values()), 0
    found = []
    for family, width in wide.items():
        share = width * 1000 // whole
        found.append((family, first, share))
        first += share
    return found
