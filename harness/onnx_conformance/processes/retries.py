"""Runs failed cases again: in the process in which they failed, and in a fresh one. Two verdicts make a case flaky.

Failed cases are collected in batches, so that a fresh process is started only once for each batch and round; in it they
run one after the other.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.processes.adapter_process import AdapterProcess, Limits

if TYPE_CHECKING:
    import selectors
    from collections.abc import Mapping

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import CaseReply

BATCH = 128
"""Failed cases that share a fresh process."""
FIRST, SAME, FRESH = "first", "same", "fresh"
PROCESS_TEXTS = {FIRST: "first", SAME: "again in the same process", FRESH: "in a fresh process"}


@dataclass(frozen=True)
class Attempt:
    """One run of a case.

    Attributes:
        process: FIRST, SAME or FRESH.
        result: of this run.
    """

    process: str
    result: Result


@dataclass
class FailedCase:
    """A case that failed, until its verdict is settled.

    Attributes:
        case: as it ran.
        attempts: its runs so far.
        process, number: where it failed first, and how many processes had ended there before; a crash ends another.
        left: how often it is to run there again.
    """

    case: Case
    attempts: list[Attempt]
    process: AdapterProcess
    number: int
    left: int


class Retries:
    """The failed cases of one backend, which run again before their verdict is settled.

    Attributes:
        settled: final results; the reader removes them.
        process: the fresh process, while there is one.
    """

    def __init__(self, target: Target, limits: Limits, selector: selectors.BaseSelector, times: int) -> None:
        """Start with no failed case.

        Args:
            target: the backend.
            limits: of the fresh processes.
            selector: waits for the fresh processes.
            times: how often a failed case runs again in the same process, and how often in a fresh one.
        """
        self.settled: deque[Result] = deque()
        self.process: AdapterProcess | None = None
        self._target, self._limits, self._selector, self._times = target, limits, selector, times
        self._failed: dict[str, FailedCase] = {}
        self._ready: list[FailedCase] = []
        """Have run often enough where they failed, and wait for a batch."""
        self._batch: list[FailedCase] = []
        self._rounds_left = 0
        self._unsent: deque[Case] = deque()
        """Cases of the batch that the fresh process was not sent yet."""

    @property
    def idle(self) -> bool:
        """Whether every verdict is settled."""
        return not self._failed

    @property
    def full(self) -> bool:
        """Whether so many failed cases wait that no more cases are to be started meanwhile."""
        return len(self._failed) >= 4 * BATCH

    def add(self, process: AdapterProcess, reply: CaseReply, result: Result) -> None:
        """Add a result: it is settled now, or its case runs again.

        Args:
            process: where the case ran.
            reply: of the case.
            result: the reply, judged.

        Raises:
            AdapterProcessError: the case is to run again, and there is no process for it.
        """
        failed = self._failed.get(result.case)
        if failed is None:
            if not self._times or not result.verdict.failed:
                self.settled.append(result)
                return
            failed = FailedCase(reply.case, [Attempt(FIRST, result)], process, reply.process_number, self._times)
            self._failed[result.case] = failed
        elif process is self.process:
            failed.attempts.append(Attempt(FRESH, result))
            return
        else:
            same = process is failed.process and reply.process_number == failed.number
            failed.attempts.append(Attempt(SAME if same else FRESH, result))
            failed.left -= 1
        if failed.left:
            process.put(reply.case)
        else:
            self._ready.append(failed)

    def feed(self, *, last: bool) -> None:
        """Continue the current batch, or begin the next one.

        Args:
            last: nothing runs that could still fail, so a batch need not be full.

        Raises:
            AdapterProcessError: the fresh process does not start.
        """
        if self.process is not None and self.process.idle and not self._unsent:
            self.close()
            if not self._rounds_left:
                self._settle(self._batch)
                self._batch = []
        if self.process is None and not self._batch and (len(self._ready) >= BATCH or (last and self._ready)):
            self._batch, self._ready = self._ready[:BATCH], self._ready[BATCH:]
            self._rounds_left = self._times
        if self.process is None and self._rounds_left:
            self._rounds_left -= 1
            self._unsent.extend(failed.case for failed in self._batch)
            # Each of them may end the process, which is already known of the backend.
            limits = dataclasses.replace(self._limits, restarts=self._limits.restarts + len(self._batch))
            self.process = AdapterProcess(self._target, limits, self._selector)
            self.process.start()
        while self.process is not None and self._unsent and self.process.room:
            self.process.put(self._unsent.popleft())

    def give_up(self) -> None:
        """Settle every verdict by the attempts so far: the run ends early."""
        self.close()
        self._settle(list(self._failed.values()))
        self._ready, self._batch, self._rounds_left = [], [], 0
        self._unsent.clear()

    def close(self) -> None:
        """End the fresh process."""
        if self.process is not None:
            self.process.close()
            self.process = None

    def _settle(self, cases: list[FailedCase]) -> None:
        for failed in cases:
            del self._failed[failed.case.id]
            self.settled.append(combined(failed.attempts))


def combined(attempts: list[Attempt]) -> Result:
    """Return the one result of several attempts at a case.

    An adapter error in any attempt is the result, because it is no evidence about the case.
    """
    first = attempts[0].result
    broken = [attempt.result for attempt in attempts if attempt.result.verdict is Verdict.ADAPTER_ERROR]
    if broken:
        return broken[0]
    if len({attempt.result.verdict for attempt in attempts}) == 1:
        return first
    message = "; ".join(f"{PROCESS_TEXTS[attempt.process]}: {attempt.result.verdict}" for attempt in attempts)
    fields = tuple(map(_fields, attempts))
    return dataclasses.replace(first, verdict=Verdict.FLAKY, message=message, attempts=fields)


def _fields(attempt: Attempt) -> Mapping[str, Any]:
    """Return an attempt as a result line contains it."""
    result = attempt.result
    texts = {"message": result.message, "actual": result.actual}
    return {
        "process": attempt.process,
        "verdict": str(result.verdict),
        **{key: text for key, text in texts.items() if text},
    }
