# SPDX-License-Identifier: Apache-2.0
"""The matrices at the top of a page: operator versions by backend or option, with the shares of the verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib import parse

from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import options_table
from onnx_conformance.report.backend_kinds import KINDS
from onnx_conformance.report.html.table import versioned
from onnx_conformance.report.html.verdict_styles import ORDER, STYLES
from onnx_conformance.results import sampling
from onnx_conformance.results.summary import FEW_CASES, rate, rates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.under_test import Subject
    from onnx_conformance.report.html.table import Table

NARROWEST = 30
"""The minimum width of a part, in thousandths of a bar; narrower parts would be invisible."""


@dataclass(frozen=True)
class Cell:
    """The verdicts of a backend on an operator version.

    Attributes:
        short: the text below the bar.
        label: the full text, for screen readers and the tooltip.
        parts: family, start and width, in tenths of a percent of the bar.
        href: link to the list of the cases.
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


@dataclass(frozen=True)
class Matrix:
    """Operator versions by backends of one kind, or by the options of one tool.

    Attributes:
        title: title for the options of a tool; empty: the columns are backends.
        columns: head, runtime, and index in the table of results.
        rows: operator versions with results, in the order of the operators' names.
        sums: a cell with all cases for each column.
    """

    title: str
    columns: tuple[tuple[str, str, int], ...]
    rows: tuple[Row, ...]
    sums: tuple[Cell, ...]


@dataclass(frozen=True)
class Section:
    """The matrices of one kind of backend.

    Attributes:
        heading: the heading of the kind; empty if it is the only one.
        matrices: one for its backends, then one for each tool that ran with several options.
    """

    heading: str
    matrices: tuple[Matrix, ...]


def sections(table: Table) -> list[Section]:
    """Return the matrices by kind; without backends, one empty matrix."""
    by_kind: dict[Subject, list[int]] = {}
    for place, column in enumerate(table.columns):
        by_kind.setdefault(under_test.subject(column.hello), []).append(place)
    counts = table.counts()
    found = []
    for subject, kind in KINDS.items():
        places = by_kind.get(subject, [])
        if not places:
            continue
        columns = [table.columns[place] for place in places]
        by_option = [
            (it.title, tuple((f"{head}{_sample(table, places[place])}", places[place]) for head, place in it.columns))
            for it in options_table.tables((column.backend, column.hello) for column in columns)
        ]
        apart = {place for _, heads in by_option for _, place in heads}
        plain = tuple((table.columns[place].label, place) for place in places if place not in apart)
        shown = [("", plain)] if plain else []
        heading = kind.heading if len(by_kind) > 1 else ""
        found.append(Section(heading, tuple(_matrix(table, counts, *item) for item in [*shown, *by_option])))
    return found or [Section("", (_matrix(table, counts, "", ()),))]


def _sample(table: Table, place: int) -> str:
    """Return the suffix for the head of a column with a sample."""
    column = table.columns[place]
    count = sampling.from_header(table.runs[column.run].header).get(column.backend, 1)
    return f", {sampling.in_words(count)}" if count > 1 else ""


def _matrix(
    table: Table, counts: Mapping[tuple[int, int], Counter[int]], title: str, heads: Sequence[tuple[str, int]]
) -> Matrix:
    names = list(table.operators)
    order = dict.fromkeys(table.operator[case] for case in table.order())
    totals = {place: Counter[int]() for _, place in heads}
    matrix = []
    for number in order:
        own = {place: counts.get((number, place), Counter[int]()) for _, place in heads}
        if not any(own.values()):
            continue
        domain, name, version = _parts(names[number])
        cells = tuple(
            cell(counter, f"#/cases?op={quote(names[number])}&on={quote(table.columns[place].label)}", bool(title))
            for place, counter in own.items()
        )
        for place, counter in own.items():
            totals[place].update(counter)
        matrix.append(Row(number, domain, name, version, f"#/op/{quote(names[number])}", cells))
    return Matrix(
        title,
        tuple((head, versioned(table.columns[place]), place) for head, place in heads),
        tuple(matrix),
        tuple(
            cell(counter, f"#/cases?on={quote(table.columns[place].label)}", bool(title))
            for place, counter in totals.items()
        ),
    )


def quote(text: str) -> str:
    """Return a text quoted for the fragment of an address, like script/filter.js."""
    return parse.quote(text, safe="/@*")


def _parts(operator: str) -> tuple[str, str, str]:
    domain, _, rest = operator.partition("/")
    name, _, version = rest.rpartition("/")
    return (domain, name, version) if name else ("", operator or "?", "")


def cell(counts: Mapping[int, int], href: str, of_option: bool = False) -> Cell:  # noqa: FBT001, FBT002 - two kinds
    """Return the cell for the counts by number of the verdict; the cell of an option lists failures in its text."""
    named = {ORDER[number]: count for number, count in counts.items()}
    return Cell(options_table.cell(named) if of_option else short(named), sentence(named), tuple(shares(counts)), href)


def short(counts: Mapping[Verdict, int]) -> str:
    """Return passed of attempted, or the reason why there is no such rate."""
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
    """Return both rates and all counts as a sentence; script/bars.js does the same for filtered cases."""
    if not sum(counts.values()):
        return "no data"
    figures = rates(counts)
    others = [f"{counts[verdict]} {STYLES[verdict].words}" for verdict in ORDER[1:] if counts.get(verdict)]
    passed = (
        f"{figures.passed} passed of {figures.specified} specified{_in_brackets(figures.passed, figures.specified)}, "
        f"of {figures.attempted} attempted{_in_brackets(figures.passed, figures.attempted)}"
    )
    return "; ".join([passed, *others])


def _in_brackets(part: int, whole: int) -> str:
    return "" if 0 < whole < FEW_CASES else f" ({rate(part, whole)})"


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
