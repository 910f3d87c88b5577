# SPDX-License-Identifier: Apache-2.0
"""The interface of a source of cases, and the data on cases that are not generated yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from onnx_conformance.base.errors import HarnessError, Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.base.verdict import Unreadable
    from onnx_conformance.case.case import Case
    from onnx_conformance.suites.selection import Listed, Selection
    from onnx_conformance.suites.slices import Slice


class SuiteError(HarnessError):
    """A suite cannot be used; the text contains its name and the reason."""


@dataclass(frozen=True)
class Outlook:
    """An estimate of the number of selected cases, before any is generated.

    Attributes:
        declared: the number of declared cases by operator version, in the order of the suite, without forms.
        forms: the average number of selected cases per declared one.
    """

    declared: Mapping[str, int]
    forms: float = 1.0


class Suite(Protocol):
    """A source of cases.

    Attributes:
        name: the name on the command line.
        unreadable: the cases that could not be read so far, each once.
        makes: whether it generates only the selected cases, by operator; other suites read all their cases.
        planned: whether its cases are plans of declared cases in some form, which can be generated one by one.
        has_core: whether some of its cases are its core.
    """

    name: str
    unreadable: list[Unreadable]
    makes: bool
    planned: bool
    has_core: bool

    def digest(self) -> str:
        """Return a digest that differs between versions of the suite."""

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases in a fixed order."""

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the parts that workers take; together they have the selected cases, each once."""

    def finished(self, part: Slice) -> None:
        """Store the data about a slice for later runs; called after all its results."""

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases in the order of `cases`, without generating them if possible."""

    def left_out(self, selection: Selection) -> list[Note]:
        """Return messages on operator versions that the selection names but that have no cases."""

    def operators(self) -> list[str]:
        """Return every operator version that it has cases for, if that is known beforehand."""

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return about how many cases are selected; None if that is not known beforehand."""
