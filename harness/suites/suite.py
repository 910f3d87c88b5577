"""What a source of cases can do, and what is known of its cases before they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from harness.case.case import Case
    from harness.suites.selection import Selection
    from harness.verdict import Unreadable


class SuiteError(HarnessError):
    """A suite cannot be had; the text names it and says why."""


@dataclass(frozen=True)
class Listed:
    """What is known of a case before it is made.

    Attributes:
        id, operator, form, tags: as in Case.
        outcome: what the text expects.
    """

    id: str
    operator: str
    form: str
    outcome: str
    tags: frozenset[str]


def listed(cases: Iterable[Case]) -> Iterator[Listed]:
    """Yield what is known of cases that are made."""
    return (Listed(case.id, case.operator, case.form, str(case.outcome), case.tags) for case in cases)


@dataclass(frozen=True)
class Outlook:
    """About how many cases a selection has, known before any of them is made.

    Attributes:
        declared: by operator version in the suite's order, how many are declared, whatever their forms.
        forms: how many cases of the selection come of a declared one, on the average of the suite.
    """

    declared: Mapping[str, int]
    forms: float = 1.0


class Suite(Protocol):
    """A source of cases.

    Attributes:
        name: as it is written on the command line.
        unreadable: cases that could not be read so far, each once.
        makes: it makes the cases that are wanted and no others, by operator; other suites read all that they have.
    """

    name: str
    unreadable: list[Unreadable]
    makes: bool

    def digest(self) -> str:
        """Return what tells this suite from another version of it."""

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases in a fixed order."""

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield what is known of the selected cases, in the order of `cases`, and makes none where that can be."""

    def left_out(self, selection: Selection) -> list[str]:
        """Return lines on what a selection may be thought to hold and does not."""

    def operators(self) -> list[str]:
        """Return every operator version it has cases for, where that is known beforehand."""

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return about how many cases are selected; None where that is not known beforehand."""
