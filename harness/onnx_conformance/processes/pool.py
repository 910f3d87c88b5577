# SPDX-License-Identifier: Apache-2.0
"""The processes of one backend: those that cases are sent to, and those that each run one slow case.

A slow case keeps its process to itself until its answer or its deadline; the cases that were sent after it go to
another process, which takes the place of the first. So a hang costs a process, and the other cases go on.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import deque
from typing import TYPE_CHECKING

from onnx_conformance.processes import case_times
from onnx_conformance.processes.adapter_process import AdapterProcess, Budget, Limits, StartError
from onnx_conformance.processes.case_times import CaseTimes, Status, Wait
from onnx_conformance.processes.fork_server import ForkServer
from onnx_conformance.processes.retries import Retries

if TYPE_CHECKING:
    import selectors

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import AdapterProcessError, CaseReply

ENOUGH_WAITING = 64
"""Cases that wait for the processes of one backend before it needs no more from the suite."""
MOST_WAITING_BYTES = 128 << 20
"""Bytes of cases that wait for the processes of one backend before no more are taken, though other backends need some.

A backend may be some fifty thousand cases behind the fastest one, as one is that hangs in every case of an operator,
and no other waits for it; the cases in between are in memory only once."""
MOST_SLOW = 4
"""Maximum number of additional processes of a backend for slow cases: each has a complete runtime in memory."""
SLOW_CHECK_SECONDS = 0.25
"""Seconds between two checks for slow cases."""
SPARE_CORES = 0.5
"""Processors by which processes may seem to use more than there are; the measurement is never exact."""


class ProcessPool:
    """The processes of one backend, and the cases that wait for one of them.

    Attributes:
        target: the backend.
        retries: its failed cases.
        case_times: how long its cases take.
        processes: the processes that cases are sent to; their number is that of `--jobs`.
        slow: processes that each run one slow case and are sent no other.
        waiting: cases that no process was sent yet.
        failed: why the backend was dropped; empty: it was not.
    """

    def __init__(
        self, target: Target, limits: Limits, selector: selectors.BaseSelector, jobs: int, repeat: int = 0
    ) -> None:
        """Prepare the processes; none is started yet.

        Args:
            target: the backend.
            limits: of each process.
            selector: waits for the processes.
            jobs: how many processes cases are sent to.
            repeat: how often a failed case runs again, in the same process and in a fresh one.
        """
        self.target = target
        self.retries = Retries(target, limits, selector, repeat)
        self.case_times = CaseTimes(limits.timeout)
        self.waiting: deque[Case] = deque()
        self.failed = ""
        # A case that ends the process may do so again each time it runs.
        self._limits = dataclasses.replace(limits, restarts=limits.restarts * (1 + repeat))
        self._selector = selector
        self._fork_server = ForkServer(target, limits.memory)
        self._budgets = [Budget() for _ in range(jobs)]
        self.processes = [self._new_process(budget) for budget in self._budgets]
        self.slow: list[AdapterProcess] = []
        self._one_at_a_time = False
        """Whether an additional process did not start; then no further one is started."""
        self._earlier_faults: list[str] = []
        """Faults of processes that are no longer here."""
        self._waiting_bytes = 0
        self._next_check = 0.0
        self._stalled = 0.0
        self._latest = 0.0
        """Time of the latest reply, or of the start of other cases during a slow one."""

    def _new_process(self, budget: Budget) -> AdapterProcess:
        times, server = self.case_times, self._fork_server
        return AdapterProcess(self.target, self._limits, self._selector, budget, times, server)

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        return bool(self.failed) or (self._all_answered and self.retries.idle)

    @property
    def _all_answered(self) -> bool:
        return not self.waiting and all(process.idle for process in (*self.processes, *self.slow))

    @property
    def needs_cases(self) -> bool:
        """Whether it may soon have nothing to do."""
        return not self.failed and len(self.waiting) < ENOUGH_WAITING

    @property
    def full(self) -> bool:
        """Whether it must not get more cases."""
        return self._waiting_bytes >= MOST_WAITING_BYTES or self.retries.full

    @property
    def all_processes(self) -> list[AdapterProcess]:
        """Its processes, the slow ones, and the fresh one in which failed cases run again."""
        return [*self.processes, *self.slow, *([self.retries.process] if self.retries.process else [])]

    # Sending cases and receiving replies

    def put(self, case: Case) -> None:
        """Add a waiting case, unless the backend is dropped."""
        if not self.failed:
            self.waiting.append(case)
            self._waiting_bytes += case.size

    def feed(self, *, last: bool) -> None:
        """Send waiting cases to the processes that have room; `last`: there are no more cases.

        Raises:
            AdapterProcessError: a process that is needed does not start.
        """
        for process in () if self._one_at_a_time and self.slow else self.processes:
            while self.waiting and process.room:
                case = self.waiting.popleft()
                self._waiting_bytes -= case.size
                process.put(case)
        self.retries.feed(last=last and self._all_answered)

    def take_replies(self) -> list[tuple[AdapterProcess, CaseReply]]:
        """Return the replies since the last call, oldest first, each with its process."""
        replies = [(process, reply) for process in self.all_processes for reply in process.take_replies()]
        replies.sort(key=lambda pair: pair[1].time)
        for process, reply in replies:
            if process is not self.retries.process:
                if reply.slow:
                    self._stalled += min(reply.seconds, reply.time - self._latest)
                self._latest = reply.time
        return replies

    # Slow cases

    def check_slow_cases(self, now: float) -> None:
        """Let other cases run during a slow one; to be called after all available messages were read.

        Raises:
            AdapterProcessError: the process for the other cases cannot be run.
        """
        if self.failed or now < self._next_check:
            return
        self._next_check = now + SLOW_CHECK_SECONDS
        self._end_answered()
        slow_after = self.case_times.slow_after
        candidates = [process for process in self.processes if process.waited(now) > slow_after / 2]
        if not candidates:
            return
        cores_used = {process: process.cores_used(now) for process in [*candidates, *self.slow]}
        for process in candidates:
            others_wait = process.behind or self.waiting
            if process.waited(now) > slow_after and others_wait and self._may_replace(process, cores_used):
                self._replace_slow(process, now)

    def _may_replace(self, process: AdapterProcess, cores_used: dict[AdapterProcess, float | None]) -> bool:
        """Whether another process may be started for the cases that wait behind a slow one.

        A case that keeps a processor busy must not lose it to others, or it would be late only because of them. And if
        every slow case reached its deadline, their budget would have to allow as many restarts.
        """
        own = cores_used[process]
        if own is None or self._one_at_a_time or len(self.slow) >= MOST_SLOW:
            return False
        same_budget = [other for other in self.slow if other.budget is process.budget and not other.idle]
        if process.budget.ends + len(same_budget) + 1 > process.limits.restarts:
            return False
        busy = sum(1.0 if (cores := cores_used.get(other)) is None else cores for other in self.slow if not other.idle)
        every = own + busy + len(self.processes)
        return every <= (self._limits.cores or case_times.cores()) + SPARE_CORES or own + busy < SPARE_CORES

    def _replace_slow(self, process: AdapterProcess, now: float) -> None:
        """Leave a process with its slow case, and put another in its place."""
        self._stalled += min(process.waited(now), now - self._latest)
        self._latest = now
        self._take_back(process.withdraw())
        self.slow.append(process)
        replacement = self._new_process(process.budget)
        self.processes[self.processes.index(process)] = replacement
        replacement.start()

    def _take_back(self, cases: list[Case]) -> None:
        """Put cases that were sent already before those that wait."""
        self.waiting.extendleft(reversed(cases))
        self._waiting_bytes += sum(case.size for case in cases)

    def _end_answered(self) -> None:
        """End the processes whose slow case is answered, and drop those that have ended."""
        for process in [process for process in self.slow if process.idle]:
            if process.has_process:
                process.retire()
            else:
                self.slow.remove(process)
                process.close()
                self._earlier_faults += process.faults

    def survives(self, error: AdapterProcessError) -> bool:
        """Whether it can continue without a process that did not start, because others still run.

        A device, or the memory, may suffice for one process only; then the next is started when the others have ended.
        """
        process = error.process
        if self.retries.forgo(process):
            return True
        if not isinstance(error, StartError) or process.hello or not self.slow or process not in self.processes:
            return False
        self._one_at_a_time = True
        self._take_back(process.withdraw(kept=0))
        process.close()
        self.processes[self.processes.index(process)] = self._new_process(process.budget)
        return True

    def status(self, now: float) -> Status:
        """Return its status at the time.monotonic() `now`."""
        waits = [
            Wait(process.current_case.id, process.waited(now), process.limits.timeout)
            for process in self.all_processes
            if process.current_case is not None
        ]
        longest = max(waits, key=lambda wait: wait.seconds, default=None)
        waited = max((process.waited(now) for process in self.processes), default=0.0)
        stalled = min(waited, now - self._latest) if waited > self.case_times.slow_after else 0.0
        return Status(longest, self._stalled + stalled, sum(budget.ends for budget in self._budgets))

    # The end

    def give_up(self, reason: str) -> None:
        """Run no more cases."""
        self.failed = reason
        self.waiting.clear()
        self._waiting_bytes = 0
        self.close()

    def close(self) -> None:
        """End every process, and settle the failed cases by their attempts so far."""
        for process in (*self.processes, *self.slow):
            process.close()
        self._fork_server.close()
        self.retries.give_up()

    @property
    def faults(self) -> list[str]:
        """Lines on faults for which no case can be blamed."""
        processes = (*self.processes, *self.slow)
        return [*self._earlier_faults, *itertools.chain.from_iterable(process.faults for process in processes)]
