# SPDX-License-Identifier: Apache-2.0
"""A worker in a separate process: its messages to and from the command, and its main function.

The command sends `Assigned` and `Stop`; a worker sends `Hello`, then `Wanted` and `Batch`, and at the end `Ended` or
`Failed`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import select
import signal
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.results.stream import encoded
from onnx_conformance.run import channel, cpu_time
from onnx_conformance.run.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.processes.case_times import Status
    from onnx_conformance.run.channel import Channel
    from onnx_conformance.run.worker import SliceReport, Work
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice
    from onnx_conformance.suites.suite import Suite

MOST_RESULTS, MOST_SECONDS = 64, 0.1
"""Maximum number of results that a worker sends at once, and maximum delay of a result in seconds."""
STATUS_SECONDS = 0.25
"""Seconds between two messages about the status of its backends."""


@dataclass(frozen=True)
class Assigned:
    """The next task of a worker.

    Attributes:
        slice: None: none before the results of the others have all been sent.
        more: whether the worker is to ask again then.
        idle: globs of the selection that have matched nothing so far.
        skipped: (backend name, case id) of results that a worker before had sent when it died.
    """

    slice: Slice | None
    more: bool = True
    idle: frozenset[tuple[str, str]] = frozenset()
    skipped: frozenset[tuple[str, str]] = frozenset()


class Stop:
    """Says to a worker that it is to end now."""


@dataclass(frozen=True)
class Hello:
    """A worker has started its adapters.

    Attributes:
        hellos: of the adapters, by backend.
    """

    hellos: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Wanted:
    """A worker has sent the last case of its slice, and wants the next one.

    Attributes:
        idle: whether the results of its previous slices are complete.
    """

    idle: bool


Sent = tuple["Result", bytes | None, "Slice | None"]
"""A result, its line of the results file (None where there is no such file), and its slice."""


@dataclass(frozen=True)
class Batch:
    """Results and reports of a worker.

    Attributes:
        results: each with its line and its slice.
        reports: of slices whose results have all been sent, with this batch or before.
        status: status of each backend, if it is due.
    """

    results: list[Sent]
    reports: list[SliceReport]
    status: Mapping[str, Status] | None


@dataclass(frozen=True)
class Failed:
    """A worker cannot go on.

    Attributes:
        error: the reason; None: a fault of the harness.
        traceback: of the fault.
    """

    error: HarnessError | None
    traceback: str = ""


@dataclass(frozen=True)
class Ended:
    """A worker has ended, and its adapters too.

    Attributes:
        faults, given_up: as in `Crew`.
        cost: its CPU time.
    """

    faults: list[str]
    given_up: set[str]
    cost: cpu_time.Cost


class _StoppedError(BaseException):
    """This worker must stop, or the command has ended."""


class _SkippedToo:
    """The cases that the run skips, and those that a previous worker completed."""

    def __init__(self, skipped: Container[tuple[str, str]]) -> None:
        self._skipped = skipped
        self._done: set[tuple[str, str]] = set()

    def add(self, done: frozenset[tuple[str, str]]) -> None:
        self._done |= done

    def __contains__(self, pair: object) -> bool:
        return pair in self._done or pair in self._skipped


class _Link:
    """A worker's end of the channel.

    Attributes:
        more: whether there may be further slices after the results of the current ones.
    """

    def __init__(self, end: Channel, worker: Worker, selection: Selection, *, encode: bool) -> None:
        self._end, self._worker, self._selection, self._encode = end, worker, selection, encode
        self._results: list[Sent] = []
        self._flushed = self._told = 0.0
        self._stopping = False
        self._idle = True
        self.more = True

    def slices(self, skipped: _SkippedToo) -> Iterator[tuple[Slice, Selection]]:
        """Yield the slices that are assigned to this worker."""
        while True:
            self.flush()
            self._end.send(Wanted(self._idle))
            self._idle = False
            for message in self._end.receive(None):
                if isinstance(message, Stop):
                    raise _StoppedError
                if message.slice is None:
                    self.more, self._idle = message.more, True  # It is, by the time that this is called again.
                    return
                skipped.add(message.skipped)
                selection = dataclasses.replace(self._selection)
                selection.idle = set(message.idle)
                yield message.slice, selection

    def add(self, result: Result, part: Slice | None) -> None:
        """Send a result soon."""
        self._results.append((result, encoded(result) if self._encode else None, part))
        if self._stopping:
            return
        if len(self._results) >= MOST_RESULTS:
            self.flush()
        else:
            self.look()

    def look(self) -> None:
        """Send results that have waited long enough; notice a request to stop."""
        now = time.monotonic()
        if now - self._flushed >= MOST_SECONDS:
            self.flush()
            if select.select([self._end], [], [], 0)[0]:  # Only Stop, or the end of the command, arrives unasked.
                raise _StoppedError

    def flush(self) -> None:
        """Send all waiting results and reports."""
        self._flushed = time.monotonic()
        status = None
        if self._flushed - self._told >= STATUS_SECONDS:
            status, self._told = self._worker.scheduler.status(), self._flushed
        reports, self._worker.reports = self._worker.reports, []
        if self._results or reports or status is not None:
            results, self._results = self._results, []
            self._end.send(Batch(results, reports, status))

    def stop(self) -> None:
        """Look at nothing any more: the rest of the results is to be sent."""
        self._stopping = True


def serve(
    end: Channel,
    work: Work,
    suite: Suite | None,
    skipped: Container[tuple[str, str]],
    release: Callable[[], None] | None,
    *,
    encode: bool,
) -> None:
    """Be a worker until there is no more to do; the main function of its process.

    Args:
        end: of the channel to the command.
        work: the work.
        suite: as opened before; None: it is opened by its name.
        skipped: (backend name, case id) of each case that is not to run.
        release: closes files that were inherited from the command; None: no file was inherited.
        encode: whether results are sent with their lines of the results file.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # It is for the command, which then stops its workers.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if release is not None:
        release()
    before = cpu_time.so_far()
    last: Ended | Failed
    try:
        with Worker(work, suite) as worker:
            end.send(Hello(worker.start()))
            _work(end, worker, work, skipped, encode=encode)
        last = Ended(worker.scheduler.faults, worker.scheduler.given_up, cpu_time.so_far() - before)
    except HarnessError as error:
        last = Failed(error.alone)
    except channel.ClosedError:
        return
    except BaseException:  # noqa: BLE001 - it is sent to the command, which raises it
        last = Failed(None, traceback.format_exc())
    with contextlib.suppress(channel.ClosedError):
        end.send(last)


def _work(end: Channel, worker: Worker, work: Work, skipped: Container[tuple[str, str]], *, encode: bool) -> None:
    done_too = _SkippedToo(skipped)
    link = _Link(end, worker, work.selection, encode=encode)
    try:
        while link.more and not worker.scheduler.over:
            for result, part in worker.run(link.slices(done_too), done_too, link.look):
                link.add(result, part)
    except _StoppedError:
        link.stop()
    for result in worker.rest():
        link.add(result, None)
    link.flush()
