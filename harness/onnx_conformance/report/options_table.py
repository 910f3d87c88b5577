# SPDX-License-Identifier: Apache-2.0
"""A tool with several options, such as the target opsets of a version converter: operator versions by option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base import under_test
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import UNRATED, Verdict, line
from onnx_conformance.report.html.verdict_styles import ORDER, STYLES
from onnx_conformance.results.summary import rates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

WITHOUT = "default"
"""The head of the column without an option."""
MARKED = tuple(
    verdict for verdict in ORDER if verdict is not Verdict.PASS and verdict not in UNRATED - {Verdict.KNOWS_LESS}
)
"""The verdicts that a cell counts by letter: all that are not a pass and are rated, and `knows_less`."""


@dataclass(frozen=True)
class OptionsTable:
    """The columns of one tool.

    Attributes:
        tool: its name and version.
        columns: head of each column, and its index among the backends.
    """

    tool: str
    columns: tuple[tuple[str, int], ...]

    @property
    def places(self) -> tuple[int, ...]:
        """The indices of the columns among the backends."""
        return tuple(place for _, place in self.columns)

    @property
    def by(self) -> str:
        """The meaning of the columns: the options of a converter are opsets."""
        opsets = all(head.isdecimal() for head, _ in self.columns if head != WITHOUT)
        return "target opset" if opsets else "option"

    @property
    def title(self) -> str:
        """The tool, and the meaning of its columns."""
        return f"{self.tool}: operator version by {self.by}"


def tables(backends: Iterable[tuple[str, Mapping[str, Any]]]) -> list[OptionsTable]:
    """Return a table for each tool that ran with several options: numbers in order, then others in order of appearance.

    Args:
        backends: name and hello of each; two versions of a tool get separate tables.
    """
    groups: dict[tuple[str, str], dict[str, int]] = {}
    for place, (name, hello) in enumerate(backends):
        if under_test.subject(hello) is not Subject.RUNTIME:
            key = line(under_test.stem(name), 80), line(hello.get("version", ""), 40)
            groups.setdefault(key, {})[line(under_test.parts(name).option, 40) or WITHOUT] = place
    return [
        OptionsTable(" ".join(filter(None, key)), tuple(sorted(columns.items(), key=_order)))
        for key, columns in groups.items()
        if len(columns) > 1
    ]


def _order(column: tuple[str, int]) -> tuple[bool, int]:
    """Return the sort key of a column: the one without an option first, then numbers, then other options."""
    head, place = column
    if head == WITHOUT:
        return False, -1
    return (False, int(head)) if head.isdecimal() else (True, place)


def marks(counts: Mapping[Verdict, int]) -> list[tuple[Verdict, int]]:
    """Return the marked verdicts that occur, with their numbers."""
    return [(verdict, counts[verdict]) for verdict in MARKED if counts.get(verdict)]


def cell(counts: Mapping[Verdict, int]) -> str:
    """Return the text of a cell: passed/specified, then letter and count of each marked verdict."""
    if not any(counts.values()):
        return ""
    shares = rates(counts)
    share = f"{shares.passed}/{shares.specified}" if shares.specified else "-"
    return " ".join([share, *(f"{STYLES[verdict].letter}{count}" for verdict, count in marks(counts))])


def legend(cells: Sequence[Mapping[Verdict, int]]) -> str:
    """Return a sentence that explains the cells and the letters in them."""
    there = dict.fromkeys(verdict for verdict in MARKED for counts in cells if counts.get(verdict))
    letters = "".join(f"; {STYLES[verdict].letter} {STYLES[verdict].words}" for verdict in there)
    return f"Passed of specified cases{letters}."
