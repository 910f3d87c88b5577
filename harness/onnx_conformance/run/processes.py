# SPDX-License-Identifier: Apache-2.0
"""Workers in separate processes on this machine, which take slices from one queue, longest first.

Only results pass through this process, with the lines of the results file already written. A worker that dies, by the
system's lack of memory or by somebody's hand, loses nothing: its results that have come count, and another worker runs
the rest of its slices.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import select
import sys
import time
import warnings
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.verdict import line
from onnx_conformance.processes.case_times import Status
from onnx_conformance.processes.process_tree import signal_name
from onnx_conformance.run import channel, cpu_time
from onnx_conformance.run.worker_process import Assigned, Batch, Ended, Failed, Hello, Stop, Wanted, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence
    from multiprocessing.process import BaseProcess

    from onnx_conformance.run.channel import Channel
    from onnx_conformance.run.crew import Arrived
    from onnx_conformance.run.worker import SliceReport, Work
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice
    from onnx_conformance.suites.suite import Suite

METHOD = "fork" if sys.platform == "linux" else "spawn"
"""How workers are started: a fork has everything imported, but only Linux's libraries allow that."""
POLL_SECONDS = 0.25
"""Seconds between two checks of everything except results."""
END_SECONDS = 15.0
"""Seconds for workers to end their adapters and send their results if a run ends early."""
MOST_DEATHS = 5
"""Workers that may die over one slice before it is not begun again."""


class WorkerFaultError(Exception):
    """A worker was ended by a fault of the harness; the text is its traceback."""


@dataclass(eq=False)
class _Member:
    """One worker, as the command sees it."""

    process: BaseProcess
    end: Channel
    started: bool = False
    ended: bool = False
    wants: bool = False
    status: Mapping[str, Status] = field(default_factory=dict)
    in_work: dict[Slice, set[tuple[str, str]]] = field(default_factory=dict)
    """Its slices that are not reported yet, and their received results."""


class Processes:
    """Workers in separate processes."""

    def __init__(
        self,
        work: Work,
        suite: Suite,
        skipped: Container[tuple[str, str]],
        count: int,
        release: Callable[[], None],
        *,
        encode: bool,
    ) -> None:
        """Prepare a run; nothing is started yet.

        Args:
            work: the work.
            suite: which workers inherit, where processes are forked.
            skipped: (backend name, case id) of each case that is not to run.
            count: how many workers.
            release: closes files that workers must not inherit.
            encode: whether workers write the lines of the results file.
        """
        self.faults: list[str] = []
        self.given_up: set[str] = set()
        self.unfinished: list[Slice] = []
        self._work, self._suite, self._skipped, self._count = work, suite, skipped, count
        self._release, self._encode = release, encode
        self._members: list[_Member] = []
        self._waiting: deque[Slice] = deque()
        self._done: dict[Slice, frozenset[tuple[str, str]]] = {}
        """The received results of slices that wait again."""
        self._deaths: Counter[Slice] = Counter()
        self._arrived: deque[Arrived] = deque()
        self._reports: list[SliceReport] = []
        self._hellos: Mapping[str, Mapping[str, Any]] = {}
        self._refusals: list[HarnessError] = []
        self._selection = work.selection
        self._begun = False
        self._before = cpu_time.so_far()
        self._of_workers = cpu_time.Cost(0.0, 0.0)

    def __enter__(self) -> Self:
        """Return the crew."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every worker."""
        for member in self._members:
            member.end.close()
            member.process.kill()  # Its adapters end when it has.
            member.process.join()

    def start(self) -> Mapping[str, Mapping[str, Any]]:
        """Start the workers; return the hellos of the first worker whose adapters have all started.

        Raises:
            HarnessError: no worker can start its adapters.
        """
        for _ in range(self._count):
            self._start_member()
        while not self._hellos:
            self._poll(POLL_SECONDS)
            if not self._hellos and not self._living:
                raise self._refusals[0]
        return self._hellos

    def _start_member(self) -> None:
        ours, theirs = channel.pair()
        suite, release = None, None
        if METHOD == "fork":
            inherited = [ours, *(member.end for member in self._members)]

            def release() -> None:
                self._release()
                for end in inherited:
                    end.close()

            suite = self._suite
        context: Any = multiprocessing.get_context(METHOD)
        process = context.Process(
            target=serve,
            args=(theirs, self._work, suite, self._skipped, release),
            kwargs={"encode": self._encode},
            daemon=True,
        )
        with warnings.catch_warnings():
            # Python 3.12 warns of forks with threads: those of numpy's algebra, which takes care of forks itself, and
            # that of the progress line, whose locks no worker takes.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        self._members.append(_Member(process, ours))

    @property
    def _living(self) -> list[_Member]:
        return [member for member in self._members if not member.ended]

    def run(self, slices: Sequence[Slice], selection: Selection, on_wait: Callable[[], None]) -> Iterator[Arrived]:
        """Yield results as soon as they are available."""
        self._selection = selection
        self._waiting.extend(slices)
        self._begun = True
        while self._living:
            self._give()
            if not self._arrived:
                on_wait()
                self._poll(POLL_SECONDS)
            while self._arrived:
                yield self._arrived.popleft()
        if not self.given_up:
            self.unfinished += self._waiting

    def rest(self) -> Iterator[Arrived]:
        """Stop the workers, and yield their remaining results."""
        for member in self._living:
            with contextlib.suppress(channel.ClosedError):
                member.end.send(Stop())
        self._waiting.clear()
        self._begun = False
        latest = time.monotonic() + END_SECONDS
        while self._living and time.monotonic() < latest:
            self._poll(POLL_SECONDS)
        while self._arrived:
            yield self._arrived.popleft()

    @property
    def cost(self) -> cpu_time.Cost:
        """CPU time of this process, and of the workers that have ended."""
        own, workers = (cpu_time.so_far() - self._before).harness, self._of_workers
        return cpu_time.Cost(round(own + workers.harness, 3), round(workers.adapters, 3))

    def take_reports(self) -> list[SliceReport]:
        """Return the reports of slices since the last call."""
        taken, self._reports = self._reports, []
        return taken

    def status(self) -> Mapping[str, Status]:
        """Return the current status of each backend in all workers, by name."""
        merged: dict[str, Status] = {}
        started = [member for member in self._members if member.started]
        for member in started:
            for name, each in member.status.items():
                known = merged.get(name, Status())
                waits = [wait for wait in (known.wait, None if member.ended else each.wait) if wait is not None]
                longest = max(waits, key=lambda wait: wait.seconds, default=None)
                stalled = known.stalled + each.stalled / len(started)
                merged[name] = Status(longest, stalled, known.restarts + each.restarts)
        return merged

    # Messages of workers

    def _poll(self, seconds: float) -> None:
        """Read the messages of workers, for at most some seconds."""
        members = {member.end.fileno(): member for member in self._living}
        for number in select.select(list(members), [], [], seconds)[0]:
            member = members[number]
            try:
                for message in member.end.receive():
                    self._take(member, message)
            except channel.ClosedError:
                self._bury(member)

    def _take(self, member: _Member, message: object) -> None:
        if isinstance(message, Batch):
            self._take_batch(member, message)
        elif isinstance(message, Wanted):
            member.wants = True
            if message.idle:
                member.in_work.clear()
            self._give()
        elif isinstance(message, Hello):
            member.started = True
            self._hellos = self._hellos or message.hellos
            self._tell_refusals()
        elif isinstance(message, Failed):
            self._end(member)
            if message.error is None:
                raise WorkerFaultError(message.traceback)
            if member.started:
                raise message.error
            self._refuse(message.error)
        elif isinstance(message, Ended):
            self.faults += [fault for fault in message.faults if fault not in self.faults]
            self.given_up |= message.given_up
            self._of_workers = self._of_workers + message.cost
            self._end(member)

    def _take_batch(self, member: _Member, batch: Batch) -> None:
        if batch.status is not None:
            member.status = batch.status
        for result, text, part in batch.results:
            if part in member.in_work:
                member.in_work[part].add((result.backend, result.case))
            self._arrived.append((result, text))
        for report in batch.reports:
            member.in_work.pop(report.slice, None)
            self._done.pop(report.slice, None)
            self._selection.idle &= report.idle
            self._reports.append(report)

    def _give(self) -> None:
        """Assign a slice to each worker that requests one, or report that no slice is left."""
        for member in self._living if self._begun else ():
            if not member.wants:
                continue
            member.wants = False
            part = self._next(member)
            idle = frozenset(self._selection.idle)
            if part is not None:
                member.in_work[part] = set()
                assigned = Assigned(part, idle=idle, skipped=self._done.get(part, frozenset()))
            else:
                assigned = Assigned(None, more=bool(self._waiting or member.in_work))
            with contextlib.suppress(channel.ClosedError):  # Its end is noticed where it is read.
                member.end.send(assigned)

    def _next(self, member: _Member) -> Slice | None:
        """Return the next slice for a worker; None: no slice is left, or it should finish its own slices first.

        A slice during which a worker has died runs alone from then on, so that other slices are not blamed.
        """
        if any(self._deaths[part] for part in member.in_work):
            return None
        for part in self._waiting:
            if not member.in_work or not self._deaths[part]:
                self._waiting.remove(part)
                return part
        return None

    def _refuse(self, error: HarnessError) -> None:
        """Go on with the other workers, if there are any, where one could not start its adapters."""
        self._refusals.append(error)
        if self._hellos:
            self._tell_refusals()

    def _tell_refusals(self) -> None:
        for error in self._refusals:
            text = f"continuing with one worker less, because its adapters did not start: {error}"
            printing.warn(Note("worker-not-started", text))
        self._refusals.clear()

    def _end(self, member: _Member) -> None:
        member.ended = True
        member.end.close()
        member.process.join(END_SECONDS)

    def _bury(self, member: _Member) -> None:
        """Put the slices of a worker that died back into the queue, and start another in its place."""
        self._end(member)
        code = member.process.exitcode or 0
        how = f"ended by {signal_name(code)}" if code < 0 else f"exited with status {code}"
        if not member.started:
            self._refuse(
                HarnessError("worker-died-at-start", f"a worker process was {how} before its adapters had started")
            )
            return
        if not self._begun:
            return
        again = []
        for part, done in member.in_work.items():
            self._deaths[part] += 1
            self._done[part] = self._done.get(part, frozenset()) | done
            if self._deaths[part] > MOST_DEATHS:
                self.unfinished.append(part)
                self.faults.append(
                    f"{part}: the worker that ran it died {self._deaths[part]} times, the last time {how}; the rest of "
                    "its cases is not run. The machine may have too little memory; reduce --jobs"
                )
            else:
                again.append(part)
        if again:
            names = ", ".join(map(str, again[:3])) + (", ..." if len(again) > 3 else "")  # noqa: PLR2004
            text = f"a worker process {how}; another one runs the rest of {line(names)}"
            printing.warn(Note("worker-lost", text))
        self._waiting.extendleft(reversed(again))
        if self._waiting:
            self._start_member()
