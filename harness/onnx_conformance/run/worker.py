# SPDX-License-Identifier: Apache-2.0
"""A worker: takes slices of a suite, makes or reads their cases, runs them, judges the answers.

It is the unit of work of every run: one worker in the process of the command, several in separate processes
(`processes`), or any number on other machines (`cluster`). Its adapters stay warm from one slice to the next.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from onnx_conformance.base.under_test import ORACLE
from onnx_conformance.case.case import Outcome
from onnx_conformance.judging import references
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.suites.lookup import open_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Result, Unreadable
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice
    from onnx_conformance.suites.suite import Suite


@dataclass(frozen=True)
class Work:
    """The common data of all workers of a run; it can be pickled.

    Attributes:
        targets: the backends.
        limits: of each adapter process.
        suite: by name.
        selection: of its cases.
        reference: a backend whose answers become the expected ones.
        repeat: how often a failed case runs again.
        without_readings: the numbers of readings whose cases are not scored.
    """

    targets: tuple[Target, ...]
    limits: Limits
    suite: str
    selection: Selection
    reference: Target | None = None
    repeat: int = 0
    without_readings: frozenset[str] = frozenset()


@dataclass
class SliceReport:
    """The report about a slice with complete results.

    Attributes:
        slice: which one.
        made: its cases by operator version.
        without_outputs: cases that have no outputs to compare with, each with the reason.
        by_oracle: the number of cases without stored outputs, which are compared with the oracle's.
        too_large: number of cases with more elements than the selection allows.
        unreadable: cases that could not be read.
        idle: globs of the selection without matches in this slice and in previously known slices.
        seconds: that the worker spent on it.
    """

    slice: Slice
    made: Counter[str] = field(default_factory=Counter)
    without_outputs: list[str] = field(default_factory=list)
    by_oracle: int = 0
    too_large: int = 0
    unreadable: tuple[Unreadable, ...] = ()
    idle: frozenset[tuple[str, str]] = frozenset()
    seconds: float = 0.0


class Progress:
    """The state of a running slice: its report so far, and the number of missing results."""

    def __init__(self, part: Slice) -> None:
        """Begin with no case."""
        self.report = SliceReport(part)
        self.due = 0
        self.exhausted = False


class Worker:
    """Runs slices, one after the other, on the adapter processes of each backend.

    Attributes:
        suite: that the slices are of.
        scheduler: has the adapter processes.
        reports: reports of slices with complete results; the reader removes them.
    """

    def __init__(self, work: Work, suite: Suite | None = None) -> None:
        """Open the suite by its name, unless it is open already; nothing is started yet.

        Raises:
            HarnessError: there is no such suite.
        """
        self._work = work
        self._reference = work.reference.name if work.reference is not None else ""
        self.suite = suite if suite is not None else open_suite(work.suite)
        self.scheduler = Scheduler(work.targets, work.limits, 1, work.reference, work.repeat)
        self.reports: list[SliceReport] = []
        self._in_work: list[Progress] = []
        self._slice_of: dict[str, Progress] = {}
        """By id of a case that has been sent, its slice."""
        self._due: Counter[str] = Counter()
        """By id of a case that was sent, the number of missing results."""
        self._since = 0.0

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End its adapter processes."""
        self.scheduler.close()

    def start(self) -> Mapping[str, Mapping[str, Any]]:
        """Start the adapters; return the hello of each backend, by name.

        Raises:
            StartError: one does not start.
        """
        return self.scheduler.start()

    def run(
        self,
        slices: Iterable[tuple[Slice, Selection]],
        skipped: Container[tuple[str, str]] = (),
        on_wait: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[Result, Slice]]:
        """Yield results as soon as they are available, each with its slice.

        The next slice begins while results of the previous one are missing.

        Args:
            slices: taken one by one, each with the selection that it is of.
            skipped: (backend name, case id) of each case that is not to run on a backend.
            on_wait: called where there is no result, a few times a second while cases run.
        """
        self._since = time.monotonic()
        for result in self.scheduler.run(self._cases(slices, skipped), skipped, on_wait):
            yield result, self._note(result)
        self._settle()
        self._in_work.clear()  # The rest belongs to backends that were given up.
        self._slice_of.clear()
        self._due.clear()

    def rest(self) -> Iterator[Result]:
        """End the adapters, and yield the results that `run` did not, where it ended early."""
        return self.scheduler.rest()

    def _cases(self, slices: Iterable[tuple[Slice, Selection]], skipped: Container[tuple[str, str]]) -> Iterator[Case]:
        names = [target.name for target in self._work.targets]
        for part, selection in slices:
            progress = Progress(part)
            report = progress.report
            self._in_work.append(progress)
            read_before = len(self.suite.unreadable)
            own = selection.within(part)
            for case in self.suite.cases(own):
                if own.is_too_large(case):
                    report.too_large += 1
                    continue
                report.made[case.operator] += 1
                if references.lacks_outputs(case) and self._reference in {"", ORACLE}:
                    case = references.by_oracle(case)  # noqa: PLW2901 - the same case, with expected outputs
                    if not self._reference and case.outcome is Outcome.UNSPECIFIED:
                        report.without_outputs.append(f"{case.id}: {case.detail}")
                        continue
                    report.by_oracle += 1
                due = sum((name, case.id) not in skipped for name in names)
                if due:
                    progress.due += due
                    self._slice_of[case.id] = progress
                    self._due[case.id] = due
                yield self._scored(case)
            report.unreadable = tuple(self.suite.unreadable[read_before:])
            report.idle = frozenset(own.idle)
            selection.idle &= own.idle
            progress.exhausted = True
            self._settle()

    def _scored(self, case: Case) -> Case:
        """Return the case; unspecified if it depends on a reading that this run does not use."""
        open_ = self._work.without_readings.intersection(case.readings)
        if not open_:
            return case
        detail = f"it depends on {', '.join(sorted(open_))}, which this run does not use"
        return dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None, force="", detail=detail)

    def _note(self, result: Result) -> Slice:
        """Count a result of its slice, and return that.

        The time since the result before is its slice's: of the slices in work, that is the one it was spent on.
        """
        now = time.monotonic()
        progress = self._slice_of[result.case]
        progress.report.seconds += now - self._since
        self._since = now
        progress.due -= 1
        self._due[result.case] -= 1
        if not self._due[result.case]:
            del self._due[result.case], self._slice_of[result.case]
        if progress.exhausted and not progress.due:
            self._settle()
        return progress.report.slice

    def _settle(self) -> None:
        """Report the slices with complete results."""
        for item in self._in_work:
            if item.exhausted and not item.due:
                self.suite.finished(item.report.slice)
                self.reports.append(item.report)
        self._in_work = [item for item in self._in_work if not item.exhausted or item.due]
