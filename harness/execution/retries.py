"""Runs what failed again: in the process that it failed in, and in a fresh one. Two verdicts make a case flaky.

Failures wait in lots, so that a fresh process is started once a lot and round; within it they run one after the other.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.execution.adapter_process import AdapterProcess, Limits
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    import selectors
    from collections.abc import Callable, Mapping

    from harness.case.case import Case
    from harness.execution.backend_names import Target
    from harness.execution.replies import Reply

LOT = 128
"""Failures that share a fresh process."""
FIRST, SAME, FRESH = "first", "same", "fresh"


@dataclass
class Trial:
    """A case that failed, until its verdict is settled.

    Attributes:
        case: as it was run.
        attempts: what came of it so far, with the kind of process it ran in.
        process: the one it failed in first: its session, and its number there; a crash ends it.
        due: how often it is still to run on that lane.
    """

    case: Case
    attempts: list[tuple[str, Result]]
    process: tuple[AdapterProcess, int]
    due: int


@dataclass
class Repeats:
    """What failed on one backend, and is run again before it counts.

    Attributes:
        times: how often in the same process, and how often in a fresh one.
        settle: whom to tell the result that stands.
        judge: what a reply makes of a case.
        session: the fresh process, while there is one.
    """

    target: Target
    limits: Limits
    selector: selectors.BaseSelector
    times: int
    judge: Callable[[Case, Reply], Result]
    settle: Callable[[Result], None]
    session: AdapterProcess | None = None
    _trials: dict[str, Trial] = field(default_factory=dict)
    _ready: list[Trial] = field(default_factory=list)
    _rounds: int = 0
    _lot: list[Trial] = field(default_factory=list)
    _waiting: deque[Case] = field(default_factory=deque)

    def take(self, session: AdapterProcess, case: Case, reply: Reply) -> None:
        """Take a reply of one of the backend's own lanes.

        Raises:
            AdapterProcessError: the case is to run again, and there is no process for it.
        """
        result = self.judge(case, reply)
        process = (session, session.ends)
        trial = self._trials.get(case.id)
        if trial is None:
            if not self.times or not result.verdict.failed:
                self.settle(result)
                return
            trial = self._trials[case.id] = Trial(case, [(FIRST, result)], process, self.times)
        else:
            trial.attempts.append((SAME if process == trial.process else FRESH, result))
            trial.due -= 1
        if trial.due:
            session.put(case)
        else:
            self._ready.append(trial)

    @property
    def idle(self) -> bool:
        """Whether every verdict stands."""
        return not self._trials

    @property
    def full(self) -> bool:
        """Whether more failures wait than should; no more cases are begun meanwhile."""
        return len(self._trials) >= 4 * LOT

    def feed(self, *, last: bool) -> None:
        """Go on with the lot in hand, or begin the next.

        Args:
            last: nothing is running that could still fail, so a lot need not be full.

        Raises:
            AdapterProcessError: the fresh process does not come up.
        """
        if self.session is not None and self.session.idle and not self._waiting:
            self.close()
            if not self._rounds:
                self._settle(self._lot)
                self._lot = []
        if self.session is None and not self._lot and (len(self._ready) >= LOT or (last and self._ready)):
            self._lot, self._ready = self._ready[:LOT], self._ready[LOT:]
            self._rounds = self.times
        if self.session is None and self._rounds:
            self._rounds -= 1
            self._waiting.extend(trial.case for trial in self._lot)
            # Each of them may end the process, which says nothing new of the backend.
            limits = dataclasses.replace(self.limits, restarts=self.limits.restarts + len(self._lot))
            self.session = AdapterProcess(self.target, limits, self.selector, self._on_reply)
            self.session.start()
        while self.session is not None and self._waiting and self.session.room:
            self.session.put(self._waiting.popleft())

    def _on_reply(self, case: Case, reply: Reply) -> None:
        self._trials[case.id].attempts.append((FRESH, self.judge(case, reply)))

    def give_up(self) -> None:
        """Let every verdict stand as far as it was looked at: the run ends early."""
        self.close()
        self._settle(list(self._trials.values()))
        self._ready, self._lot, self._rounds = [], [], 0
        self._waiting.clear()

    def close(self) -> None:
        """End the fresh process."""
        if self.session is not None:
            self.session.close()
            self.session = None

    def _settle(self, trials: list[Trial]) -> None:
        for trial in trials:
            del self._trials[trial.case.id]
            self.settle(settled(trial.attempts))


def settled(attempts: list[tuple[str, Result]]) -> Result:
    """Return the result that several runs of a case amount to.

    What the adapter is at fault for says nothing of the case, and is told instead of it.
    """
    _, first = attempts[0]
    broken = [result for _, result in attempts if result.verdict is Verdict.ADAPTER_ERROR]
    if broken:
        return broken[0]
    if len({result.verdict for _, result in attempts}) == 1:
        return first
    message = "; ".join(f"{_where(process)}: {result.verdict}" for process, result in attempts)
    told = tuple(_told(process, result) for process, result in attempts)
    return dataclasses.replace(first, verdict=Verdict.FLAKY, message=message, attempts=told)


def _where(process: str) -> str:
    return {FIRST: "first", SAME: "again in the same process", FRESH: "in a fresh process"}[process]


def _told(process: str, result: Result) -> Mapping[str, Any]:
    said = {"message": result.message, "actual": result.actual}
    return {
        "process": process, "verdict": str(result.verdict), **{key: text for key, text in said.items() if text}
    }  # fmt: skip
