# SPDX-License-Identifier: Apache-2.0
"""Runs failed cases again: in the process in which they failed, and in a fresh one. Two verdicts make a case flaky.

Failed cases are collected in batches, so that a fresh process is started only once for each batch and round; in it they
run one after the other. At the end, they run in processes that find uninitialized memory; see `memory_fills`.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.processes import memory_fills
from onnx_conformance.processes.adapter_process import AdapterProcess, Limits, StartError

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
        answer: the fingerprint of the answer; empty without an answer.
    """

    process: str
    result: Result
    answer: str = ""


@dataclass
class FailedCase:
    """A case that failed, until its verdict is settled.

    Attributes:
        case: as it ran.
        attempts: its runs so far.
        process, number: where it failed first, and how many processes had ended there before; a crash ends another.
        left: how often it is to run there again.
        filled: by fill, the fingerprints of its answers in processes whose memory was filled.
    """

    case: Case
    attempts: list[Attempt]
    process: AdapterProcess
    number: int
    left: int
    filled: dict[int, list[str]] = field(default_factory=dict)

    @property
    def has_one_answer(self) -> bool:
        """Whether it was answered, and only one answer is right, so that all answers should be equal."""
        return self.case.outcome != Outcome.PROPERTY and any(attempt.answer for attempt in self.attempts)


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
        self._rounds: deque[int | None] = deque()
        """The next rounds of the batch: each is a fresh process, with a fill of its memory or without one."""
        self._fill: int | None = None
        """The fill of the current round."""
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
        failed, answer = self._failed.get(result.case), ""
        if self._times and (failed is not None or result.verdict.failed):
            answer = memory_fills.fingerprint(reply.reply)
        if failed is None:
            if not self._times or not result.verdict.failed:
                self.settled.append(result)
                return
            failed = FailedCase(
                reply.case, [Attempt(FIRST, result, answer)], process, reply.process_number, self._times
            )
            self._failed[result.case] = failed
        elif process is self.process:
            if self._fill is None:
                failed.attempts.append(Attempt(FRESH, result, answer))
            else:
                failed.filled.setdefault(self._fill, []).append(answer)
            return
        else:
            same = process is failed.process and reply.process_number == failed.number
            failed.attempts.append(Attempt(SAME if same else FRESH, result, answer))
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
        if self.process is None and self._batch and not self._rounds:
            self._settle(self._batch)
            self._batch = []
        if self.process is None and not self._batch and (len(self._ready) >= BATCH or (last and self._ready)):
            self._batch, self._ready = self._ready[:BATCH], self._ready[BATCH:]
            self._rounds.extend([*[None] * self._times, *memory_fills.FILLS * memory_fills.ROUNDS])
        while self.process is None and self._rounds:
            self._begin(self._rounds.popleft())
        while self.process is not None and self._unsent and self.process.room:
            self.process.put(self._unsent.popleft())

    def _begin(self, fill: int | None) -> None:
        """Start the fresh process of a round, unless the round has no case.

        Raises:
            AdapterProcessError: it does not start, and its memory is not filled.
        """
        self._fill, target = fill, self._target
        cases = [failed.case for failed in self._batch]
        if fill is not None:
            target = memory_fills.filled(target, fill)
            cases = [failed.case for failed in self._batch if failed.has_one_answer for _ in range(memory_fills.RUNS)]
        if not cases:
            return
        self._unsent.extend(cases)
        # Each of them may end the process, which is already known of the backend.
        limits = dataclasses.replace(self._limits, restarts=self._limits.restarts + len(cases))
        self.process = AdapterProcess(target, limits, self._selector)
        try:
            self.process.start()
        except StartError as error:
            if not self.forgo(error.process):
                raise

    def forgo(self, process: AdapterProcess) -> bool:
        """Return whether a process that cannot go on had its memory filled; the batch is then settled without it.

        The runtime may not work with such memory. The backend must not be abandoned for that.
        """
        if process is not self.process or self._fill is None:
            return False
        self.close()
        self._unsent.clear()
        self._rounds.clear()
        return True

    def give_up(self) -> None:
        """Settle every verdict by the attempts so far: the run ends early."""
        self.close()
        self._settle(list(self._failed.values()))
        self._ready, self._batch = [], []
        self._rounds.clear()
        self._unsent.clear()

    def close(self) -> None:
        """End the fresh process."""
        if self.process is not None:
            self.process.close()
            self.process = None

    def _settle(self, cases: list[FailedCase]) -> None:
        for failed in cases:
            del self._failed[failed.case.id]
            cause = ""
            if failed.has_one_answer:
                cause = memory_fills.cause([attempt.answer for attempt in failed.attempts], failed.filled)
            self.settled.append(combined(failed.attempts, cause))


def combined(attempts: list[Attempt], unstable: str = "") -> Result:
    """Return the one result of several attempts at a case.

    An adapter error in any attempt is the result, because it is no evidence about the case.

    Args:
        attempts: the runs of the case.
        unstable: why its answers differ, see `memory_fills.cause`.
    """
    first = attempts[0].result
    broken = [attempt.result for attempt in attempts if attempt.result.verdict is Verdict.ADAPTER_ERROR]
    if broken:
        return broken[0]
    if len({attempt.result.verdict for attempt in attempts}) == 1:
        if not unstable:
            return first
        message = "; ".join(filter(None, (first.message, memory_fills.CAUSES[unstable])))
        return dataclasses.replace(first, message=message, unstable=unstable)
    texts = [f"{PROCESS_TEXTS[attempt.process]}: {attempt.result.verdict}" for attempt in attempts]
    texts += [memory_fills.CAUSES[unstable]] if unstable else []
    fields = tuple(map(_fields, attempts))
    return dataclasses.replace(
        first, verdict=Verdict.FLAKY, message="; ".join(texts), attempts=fields, unstable=unstable
    )


def _fields(attempt: Attempt) -> Mapping[str, Any]:
    """Return an attempt as a result line contains it."""
    result = attempt.result
    texts = {"message": result.message, "actual": result.actual}
    return {
        "process": attempt.process,
        "verdict": str(result.verdict),
        **{key: text for key, text in texts.items() if text},
    }
