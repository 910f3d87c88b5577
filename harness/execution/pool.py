"""All processes of one backend: its lanes, and those in which a case takes long while the lanes go on.

A case that takes long keeps its process for itself, until its answer or its deadline; what was sent behind it goes to
another process, which takes the place of that one on its lane. So a hang costs a process and not a lane.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from typing import TYPE_CHECKING

from harness.execution import usual_time
from harness.execution.adapter_process import AdapterProcess, Budget, Limits, StartError
from harness.execution.usual_time import Patience, Status, Wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.case.case import Case
    from harness.execution.adapter_process import AdapterProcessError
    from harness.execution.backend_names import Target
    from harness.execution.retries import Repeats

    NewSession = Callable[["Group", Budget], AdapterProcess]

ENOUGH = 64
"""Cases that wait for the lanes of one backend before it needs no more from the suite."""
BACKLOG = 128 << 20
"""Bytes of cases that wait for the lanes of one backend before no more are taken, though others need some.

A backend may be some fifty thousand cases behind the quickest, as one is that hangs in every case of an operator, and
nobody waits for it; the cases in between are held only once."""
MOST_ASIDE = 4
"""Processes of one backend in which a case takes long, beside its lanes: each holds a whole runtime in memory."""
EVERY_LOOK = 0.25
"""Seconds between two looks for cases that take long."""
SPARE = 0.5
"""Processors by which processes may seem to keep more busy than there are; what is measured is never exact."""


class Group:
    """All processes of one backend, and the cases that wait for one of them.

    Attributes:
        lanes: what cases are sent to; as many as `--jobs` says.
        aside: processes that each take long over one case and are sent no other.
        waiting: cases that no process was sent yet.
        failed: why the backend was given up, if it was.
        noise: faults of processes that are gone, for which no case can be blamed.
    """

    def __init__(self, target: Target, limits: Limits, jobs: int, repeats: Repeats, new_session: NewSession) -> None:
        """Take what to start; `new_session` gives a session for a lane that has this budget."""
        self.target, self.repeats = target, repeats
        self.patience = Patience(limits.timeout)
        self.waiting: deque[Case] = deque()
        self.failed = ""
        self.noise: list[str] = []
        self._limits = limits
        self._new_session = new_session
        self._budgets = [Budget() for _ in range(jobs)]
        self.lanes = [new_session(self, budget) for budget in self._budgets]
        self.aside: list[AdapterProcess] = []
        self._alone = False
        """Whether a process did not come up beside others, so that none is started beside others any more."""
        self._held_bytes = 0
        self._next_look = 0.0
        self._held = 0.0
        self._latest = 0.0
        """When the latest reply came, or when others began to run beside a case that takes long."""

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        return bool(self.failed) or (self._done and self.repeats.idle)

    @property
    def _done(self) -> bool:
        return not self.waiting and all(session.idle for session in self.sessions)

    @property
    def hungry(self) -> bool:
        """Whether it may soon have nothing to do."""
        return not self.failed and len(self.waiting) < ENOUGH

    @property
    def full(self) -> bool:
        """Whether it must not be given more."""
        return self._held_bytes >= BACKLOG or self.repeats.full

    @property
    def sessions(self) -> list[AdapterProcess]:
        """Its lanes, and what is aside."""
        return [*self.lanes, *self.aside]

    @property
    def all_sessions(self) -> list[AdapterProcess]:
        """The same, and the fresh process in which failures run again."""
        return [*self.sessions, *([self.repeats.session] if self.repeats.session else [])]

    def put(self, case: Case) -> None:
        """Take a case on, unless the backend is given up."""
        if not self.failed:
            self.waiting.append(case)
            self._held_bytes += case.size

    def feed(self, *, last: bool) -> None:
        """Hand waiting cases to the lanes, the emptiest first; `last`: no more will come."""
        for session in () if self._alone and self.aside else self.lanes:
            while self.waiting and session.room:
                case = self.waiting.popleft()
                self._held_bytes -= case.size
                session.put(case)
        self.repeats.feed(last=last and self._done)

    def replied(self, session: AdapterProcess) -> None:
        """Take note of a reply that has come to a session."""
        now = time.monotonic()
        if session.took > usual_time.LEAST and session.took > self.patience.seconds:
            self._held += min(session.took, now - self._latest)
        self._latest = now

    # Cases that take long

    def look(self, now: float) -> None:
        """Let others run beside a case that takes long; call it after everything that could be read was read.

        Raises:
            AdapterProcessError: the process for the others cannot be run.
        """
        if self.failed or now < self._next_look:
            return
        self._next_look = now + EVERY_LOOK
        self._leave_what_is_done()
        after = self.patience.seconds
        slow = [session for session in self.lanes if session.waited(now) > after / 2]
        if not slow:
            return
        used = {session: session.cores_used(now) for session in [*slow, *self.aside]}
        for session in slow:
            if session.waited(now) > after and (session.behind or self.waiting) and self._may_step_aside(session, used):
                self._step_aside(session, now)

    def _may_step_aside(self, session: AdapterProcess, used: dict[AdapterProcess, float | None]) -> bool:
        """Whether there is another process to be had for what waits behind a case.

        A case that keeps a processor busy must not lose it to others, or it would be late only because of them. And if
        each of those that take long came to its deadline, the lane would have to be allowed as many restarts.
        """
        mine = used[session]
        if mine is None or self._alone or len(self.aside) >= MOST_ASIDE:
            return False
        beside = [other for other in self.aside if other.budget is session.budget and not other.idle]
        if session.budget.ends + len(beside) + 1 > session.limits.restarts:
            return False
        busy = sum(1.0 if (cores := used.get(other)) is None else cores for other in self.aside if not other.idle)
        return mine + busy + len(self.lanes) <= usual_time.cores() + SPARE or mine + busy < SPARE

    def _step_aside(self, session: AdapterProcess, now: float) -> None:
        """Leave a session with the case that takes long, and give its place on the lane to another one."""
        self._held += min(session.waited(now), now - self._latest)
        self._latest = now
        self._take_back(session.withdraw())
        self.aside.append(session)
        successor = self._new_session(self, session.budget)
        self.lanes[self.lanes.index(session)] = successor
        successor.start()

    def _take_back(self, cases: list[Case]) -> None:
        """Let cases wait that were sent already, before those that were not."""
        self.waiting.extendleft(reversed(cases))
        self._held_bytes += sum(case.size for case in cases)

    def _leave_what_is_done(self) -> None:
        for session in [session for session in self.aside if session.idle]:
            if session.has_process:
                session.retire()
            else:
                self.aside.remove(session)
                self.noise += session.noise

    def goes_on_without(self, error: AdapterProcessError) -> bool:
        """Whether it can do without a process that did not come up: one started beside others that still run.

        A device may be had by one process only, or the memory; then the lane goes on when the others are gone.
        """
        session = error.session
        if not isinstance(error, StartError) or session.hello or not self.aside or session not in self.lanes:
            return False
        self._alone = True
        self._take_back(session.withdraw(kept=0))
        session.close()
        self.lanes[self.lanes.index(session)] = self._new_session(self, session.budget)
        return True

    def status(self, now: float) -> Status:
        """Return what it is doing, for whoever waits for it."""
        waits = [
            Wait(session.due.id, session.waited(now), session.limits.timeout)
            for session in self.all_sessions
            if session.due is not None
        ]
        longest = max(waits, key=lambda wait: wait.seconds, default=None)
        lanes = max((session.waited(now) for session in self.lanes), default=0.0)
        held = min(lanes, now - self._latest) if lanes > self.patience.seconds else 0.0
        return Status(longest, self._held + held, sum(budget.ends for budget in self._budgets))

    # The end

    def give_up(self, why: str) -> None:
        """Do no more, and say why."""
        self.failed = why
        self.waiting.clear()
        self._held_bytes = 0
        self.close()

    def close(self) -> None:
        """End every process."""
        for session in self.sessions:
            session.close()
        self.repeats.give_up()

    @property
    def faults(self) -> list[str]:
        """Lines on what went wrong for which no case can be blamed."""
        return [*self.noise, *itertools.chain.from_iterable(session.noise for session in self.sessions)]
