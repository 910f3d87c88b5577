# SPDX-License-Identifier: Apache-2.0
"""Runs cases on several backends in parallel, in bounded memory, and yields their results."""

from __future__ import annotations

import selectors
import time
from typing import TYPE_CHECKING, Any, Self

from onnx_conformance.judging import profile, references
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.adapter_process import AdapterProcessError, Limits, poll
from onnx_conformance.processes.pool import SLOW_CHECK_SECONDS, ProcessPool

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.case_times import Status

CASES_AT_ONCE = 8
"""Cases that are taken from the suite between two polls; a poll costs little, but not nothing."""


class Scheduler:
    """Runs a stream of cases on several backends at once, in bounded memory.

    The way of a case: `run` takes it from the suite, `_put` adds it to the pool of each backend, `_feed` has the pools
    send it to a process, `poll` reads the reply, `_collect` turns that into a result, and `run` yields the result.

    Attributes:
        faults: lines on faults that are no case's result.
    """

    def __init__(
        self, targets: Iterable[Target], limits: Limits, jobs: int, reference: Target | None = None, repeat: int = 0
    ) -> None:
        """Prepare the processes; none is started yet.

        Args:
            targets: the backends.
            limits: of each process.
            jobs: processes of each backend.
            reference: a backend whose answers become the expected ones.
            repeat: how often a failed case runs again, in the same process and in a fresh one.
        """
        self.faults: list[str] = []
        self._selector = selectors.DefaultSelector()
        self._skipped: Container[tuple[str, str]] = ()
        self._pools = [ProcessPool(target, limits, self._selector, jobs, repeat) for target in targets]
        self._reference = ProcessPool(reference, limits, self._selector, jobs) if reference else None
        self._all_pools = [*self._pools, *([self._reference] if self._reference else [])]
        self._profiles: dict[str, profile.Profile] = {}

    def start(self) -> dict[str, Mapping[str, Any]]:
        """Start every process; return the hello of each backend, by name.

        Raises:
            StartError: one does not start.
            ProfileError: the claims of an adapter are malformed.
        """
        processes = [process for pool in self._all_pools for process in pool.processes]
        for process in processes:
            process.start()
        while not all(process.hello for process in processes):
            poll(self._selector, processes)
        hellos = {pool.target.name: pool.processes[0].hello for pool in self._all_pools}
        self._profiles = {pool.target.name: profile.of(pool.target, hellos[pool.target.name]) for pool in self._pools}
        return hellos

    def close(self) -> None:
        """End every process."""
        for pool in self._all_pools:
            pool.close()
        self._selector.close()

    def __enter__(self) -> Self:
        """Return the scheduler."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every process."""
        self.close()

    def run(
        self,
        cases: Iterable[Case],
        skipped: Container[tuple[str, str]] = (),
        on_wait: Callable[[], None] = lambda: None,
    ) -> Iterator[Result]:
        """Yield results as soon as they are available, in no particular order.

        Args:
            cases: taken one by one, as the processes have room.
            skipped: (backend name, case id) of each case that is not to run on a backend.
            on_wait: called where there is no result, a few times a second while cases run.
        """
        self._skipped = skipped
        source = iter(cases)
        exhausted = False
        while True:
            for _ in range(CASES_AT_ONCE):
                if exhausted or not self._room:
                    break
                case = next(source, None)
                if case is None:
                    exhausted = True
                else:
                    self._put(case)
                    self._feed(exhausted=False)
            self._feed(exhausted=exhausted)
            self._poll(SLOW_CHECK_SECONDS if exhausted or not self._room else 0.0)
            if not any(pool.retries.settled for pool in self._pools):
                on_wait()
            yield from self._settled()
            if exhausted and all(pool.idle for pool in self._all_pools):
                break
            if self.over:
                break
        for pool in self._all_pools:
            self.faults += pool.faults

    def rest(self) -> Iterator[Result]:
        """End every process, and yield the results that `run` did not, where it ended early: failures to run again."""
        self._collect()
        for pool in self._all_pools:
            pool.close()
        yield from self._settled()

    # Cases go out

    @property
    def _room(self) -> bool:
        """Whether another case is to be taken from the suite."""
        return any(pool.needs_cases for pool in self._all_pools) and not any(pool.full for pool in self._all_pools)

    def _pools_for(self, case: Case) -> list[ProcessPool]:
        return [pool for pool in self._pools if (pool.target.name, case.id) not in self._skipped]

    def _put(self, case: Case) -> None:
        pools = self._pools_for(case)
        if self._reference is not None:
            pools = [self._reference] if pools else []
        for pool in pools:
            pool.put(case)

    def _feed(self, *, exhausted: bool) -> None:
        """Have the pools send their cases; `exhausted`: the suite has no more."""
        # While the reference has unanswered cases, the others will get more.
        last = exhausted and (self._reference is None or self._reference.idle)
        for pool in self._all_pools:
            try:
                if not pool.failed:
                    pool.feed(last=last)
            except AdapterProcessError as error:
                self._give_up(error)

    # Turning replies into results

    def _poll(self, seconds: float) -> None:
        """Read the messages of processes, for at most some seconds, and collect the replies."""
        pools = [pool for pool in self._all_pools if not pool.failed]
        processes = [process for pool in pools for process in pool.all_processes]
        if not any(pool.slow for pool in pools) and all(process.idle for process in processes):
            return
        try:
            now = poll(self._selector, processes, seconds)
        except AdapterProcessError as error:
            self._collect()  # The earlier replies count.
            self._give_up(error)
            return
        self._collect()
        for pool in pools:
            try:
                pool.check_slow_cases(now)
            except AdapterProcessError as error:
                self._give_up(error)

    def _collect(self) -> None:
        """Convert each reply into a result, or run its case again; replies of the reference become expected values."""
        errors: list[AdapterProcessError] = []
        for pool in self._all_pools:
            name = pool.target.name
            for process, reply in pool.take_replies():
                if pool is self._reference:
                    case = references.by_backend(reply.case, name, reply.reply)
                    for other in self._pools_for(case):
                        other.put(case)
                    continue
                result = judge(reply.case, name, reply.reply, self._profiles[name])
                try:
                    pool.retries.add(process, reply, result)
                except AdapterProcessError as error:
                    errors.append(error)
        for failure in errors:  # After all replies, because abandoning a backend settles its failed cases.
            self._give_up(failure)

    def _settled(self) -> Iterator[Result]:
        for pool in self._pools:
            while pool.retries.settled:
                yield pool.retries.settled.popleft()

    def _give_up(self, error: AdapterProcessError) -> None:
        """Give up the backend that cannot go on; the others do."""
        pool = next((pool for pool in self._all_pools if error.process in pool.all_processes), None)
        if pool is not None and not pool.failed and not pool.survives(error):
            pool.give_up(str(error))
            self.faults.append(str(error))

    # State

    def status(self) -> dict[str, Status]:
        """Return the current status of each backend except the reference, by name."""
        now = time.monotonic()
        return {pool.target.name: pool.status(now) for pool in self._pools if not pool.failed}

    @property
    def over(self) -> bool:
        """Whether no backend can go on."""
        return all(pool.failed for pool in self._pools) or bool(self._reference and self._reference.failed)

    @property
    def given_up(self) -> set[str]:
        """The backends that could not go on, so that results are missing."""
        return {pool.target.name for pool in self._all_pools if pool.failed}
