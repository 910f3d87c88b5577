# SPDX-License-Identifier: Apache-2.0
"""The interface of the workers of a run, wherever they are; and the smallest crew, one worker in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from onnx_conformance.run import cpu_time
from onnx_conformance.run.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.processes.case_times import Status
    from onnx_conformance.run.worker import SliceReport, Work
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice
    from onnx_conformance.suites.suite import Suite

Arrived = tuple["Result", bytes | None]
"""A result, and its line of the results file where a worker has written it already."""


class Crew(Protocol):
    """The workers of a run.

    Attributes:
        faults: lines on faults that are no case's result.
        given_up: backends that could not go on, so that results are missing.
        unfinished: slices whose results are missing for another reason.
    """

    faults: list[str]
    given_up: set[str]
    unfinished: list[Slice]

    @property
    def cost(self) -> cpu_time.Cost:
        """CPU time of ended processes so far."""

    def __enter__(self) -> Self:
        """Return the crew."""

    def __exit__(self, *_: object) -> None:
        """End everything."""

    def start(self) -> Mapping[str, Mapping[str, Any]]:
        """Start; return the hello of each backend, by name.

        Raises:
            HarnessError: a backend does not start.
        """

    def run(self, slices: Sequence[Slice], selection: Selection, on_wait: Callable[[], None]) -> Iterator[Arrived]:
        """Yield results as soon as they are available.

        Args:
            slices: in the order in which they are begun.
            selection: that they are of; globs that match something are removed from its `idle`.
            on_wait: called where there is no result, a few times a second.
        """

    def rest(self) -> Iterator[Arrived]:
        """End everything, and yield the results that `run` did not, where it ended early."""

    def take_reports(self) -> list[SliceReport]:
        """Return the reports of slices since the last call."""

    def status(self) -> Mapping[str, Status]:
        """Return the current status of each backend, by name."""


class Alone:
    """One worker in this process."""

    def __init__(self, work: Work, suite: Suite, skipped: Container[tuple[str, str]]) -> None:
        """Use the arguments of `Worker`; nothing is started yet."""
        self.faults: list[str] = []
        self.given_up: set[str] = set()
        self.unfinished: list[Slice] = []
        self._before = cpu_time.so_far()
        self._worker = Worker(work, suite)
        self._skipped = skipped

    def __enter__(self) -> Self:
        """Return the crew."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the adapters."""
        self._worker.scheduler.close()

    @property
    def cost(self) -> cpu_time.Cost:
        """CPU time of this process, and of the adapters that have ended."""
        return cpu_time.so_far() - self._before

    def start(self) -> Mapping[str, Mapping[str, Any]]:
        """Start the adapters."""
        return self._worker.start()

    def run(self, slices: Sequence[Slice], selection: Selection, on_wait: Callable[[], None]) -> Iterator[Arrived]:
        """Yield results as soon as they are available."""
        for result, _ in self._worker.run(((part, selection) for part in slices), self._skipped, on_wait):
            yield result, None

    def rest(self) -> Iterator[Arrived]:
        """End the adapters, and yield the results that were to be repeated."""
        for result in self._worker.rest():
            yield result, None
        self.faults = self._worker.scheduler.faults
        self.given_up = self._worker.scheduler.given_up

    def take_reports(self) -> list[SliceReport]:
        """Return the reports of slices since the last call."""
        taken, self._worker.reports = self._worker.reports, []
        return taken

    def status(self) -> Mapping[str, Status]:
        """Return the current status of each backend, by name."""
        return self._worker.scheduler.status()
