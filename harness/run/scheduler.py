"""Gives cases to the processes of several backends side by side, in bounded memory, and yields results as they come."""

from __future__ import annotations

import dataclasses
import selectors
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Self

from harness.case.case import Allowance, Outcome
from harness.execution.adapter_process import AdapterProcess, AdapterProcessError, Budget, Limits, poll
from harness.execution.judge import judge
from harness.execution.pool import EVERY_LOOK, Group
from harness.execution.replies import Answered, Reply
from harness.execution.retries import Repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from harness.case.case import Case
    from harness.execution.backend_names import Target
    from harness.execution.usual_time import Status
    from harness.verdict import Result

    React = Callable[[str, Case, Reply], None]

HANDFUL = 8
"""Cases that are taken before one looks for answers; to look costs little, but not nothing."""


class Runner:
    """Runs a stream of cases on several backends at once, in bounded memory.

    Attributes:
        faults: lines on what went wrong without being any case's result.
    """

    def __init__(
        self, targets: Iterable[Target], limits: Limits, jobs: int, reference: Target | None = None, repeat: int = 0
    ) -> None:
        """Take what to run.

        Args:
            targets: the backends.
            limits: what each process is held to.
            jobs: processes of each backend.
            reference: a backend whose answers become the expected ones.
            repeat: how often what failed runs again, in the same process and in a fresh one.
        """
        self.faults: list[str] = []
        self._limits = limits
        self._selector = selectors.DefaultSelector()
        self._results: deque[Result] = deque()
        self._spares: Callable[[str, str], bool] = lambda _b, _c: False
        self._groups = [self._group(target, jobs, repeat) for target in targets]
        self._reference = self._group(reference, jobs, 0, self._learn) if reference else None

    def _group(self, target: Target, jobs: int, repeat: int, react: React | None = None) -> Group:
        """Return the lanes of a backend; `react` takes its replies where they are not to be judged."""

        def reply_judged(case: Case, reply: Reply) -> Result:
            return judge(case, target.name, reply)

        repeats = Repeats(target, self._limits, self._selector, repeat, reply_judged, self._results.append)

        def session_of(group: Group, budget: Budget) -> AdapterProcess:
            def on_reply(case: Case, reply: Reply) -> None:
                group.replied(session)
                if react is not None:
                    react(target.name, case, reply)
                else:
                    repeats.take(session, case, reply)

            session = AdapterProcess(target, limits, self._selector, on_reply, budget, group.patience)
            return session

        # A case that ends the process is given the chance to do so again.
        limits = dataclasses.replace(self._limits, restarts=self._limits.restarts * (1 + repeat))
        return Group(target, limits, jobs, repeats, session_of)

    @property
    def _all(self) -> list[Group]:
        return [*self._groups, *([self._reference] if self._reference else [])]

    def start(self) -> dict[str, Mapping[str, Any]]:
        """Start every process; return what each backend says of itself, by name.

        Raises:
            StartError: one does not come up.
        """
        sessions = [session for group in self._all for session in group.lanes]
        for session in sessions:
            session.start()
        while not all(session.hello for session in sessions):
            poll(self._selector, sessions)
        return {group.target.name: group.lanes[0].hello for group in self._all}

    def close(self) -> None:
        """End every process."""
        for group in self._all:
            group.close()
        self._selector.close()

    def rest(self) -> Iterator[Result]:
        """Yield what was measured and not told yet, where a run ended early: failures that were to run again."""
        for group in self._all:
            group.close()
        while self._results:
            yield self._results.popleft()

    def __enter__(self) -> Self:
        """Return the runner."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every process."""
        self.close()

    def run(
        self,
        cases: Iterable[Case],
        spares: Callable[[str, str], bool] = lambda _b, _c: False,
        on_wait: Callable[[], None] = lambda: None,
    ) -> Iterator[Result]:
        """Yield results as they come, in no particular order.

        Args:
            cases: taken one by one, as the lanes have room.
            spares: whether a backend (by name) is not to be asked a case (by id): it was already, or the case is not
                in its sample.
            on_wait: called where there is no result, a few times a second while cases are waited for.
        """
        self._spares = spares
        source = iter(cases)
        exhausted = False
        while True:
            for _ in range(HANDFUL):
                if exhausted or not self._room:
                    break
                case = next(source, None)
                if case is None:
                    exhausted = True
                else:
                    self._take(case)
            self._step(exhausted)
            if not self._results:
                on_wait()
            while self._results:
                yield self._results.popleft()
            if exhausted and all(group.idle for group in self._all):
                break
            if all(group.failed for group in self._groups) or (self._reference and self._reference.failed):
                break
        for group in self._all:
            self.faults += group.faults

    def _wanted(self, case: Case) -> list[Group]:
        return [group for group in self._groups if not self._spares(group.target.name, case.id)]

    def _take(self, case: Case) -> None:
        wanted = self._wanted(case)
        if self._reference is not None:
            if wanted:
                self._reference.put(case)
        else:
            for group in wanted:
                group.put(case)
        self._feed(exhausted=False)

    def _feed(self, *, exhausted: bool) -> None:
        # While a reference has answers to give, more cases will come to the others.
        last = exhausted and (self._reference is None or self._reference.idle)
        for group in self._all:
            try:
                if not group.failed:
                    group.feed(last=last)
            except AdapterProcessError as error:
                self._give_up(error)

    def _step(self, exhausted: bool) -> None:  # noqa: FBT001 - one of two phases
        self._feed(exhausted=exhausted)
        groups = [group for group in self._all if not group.failed]
        sessions = [session for group in groups for session in group.all_sessions]
        busy = any(not session.idle for session in sessions) or any(group.aside for group in groups)
        try:
            if busy:
                now = poll(self._selector, sessions, EVERY_LOOK if exhausted or not self._room else 0.0)
                for group in groups:
                    group.look(now)
        except AdapterProcessError as error:
            self._give_up(error)

    def status(self) -> dict[str, Status]:
        """Return by name what each backend is doing that is judged."""
        now = time.monotonic()
        return {group.target.name: group.status(now) for group in self._groups if not group.failed}

    @property
    def given_up(self) -> set[str]:
        """The backends that could not go on, so that results are missing."""
        return {group.target.name for group in self._all if group.failed}

    @property
    def _room(self) -> bool:
        """Whether another case is to be taken from the suite."""
        return any(group.hungry for group in self._all) and not any(group.full for group in self._all)

    def _give_up(self, error: AdapterProcessError) -> None:
        """Drop the backend that cannot go on; the others do."""
        text = str(error)
        group = next(group for group in self._all if error.session in group.all_sessions)
        if not group.goes_on_without(error):
            group.give_up(text)
            self.faults.append(text)

    def _learn(self, backend: str, case: Case, reply: Reply) -> None:
        """Hand a case on with the reference's answer as what is expected."""
        if isinstance(reply, Answered):
            known = dataclasses.replace(case, outcome=Outcome.VALUES, expected=reply.outputs, detail="")
        else:
            why = judge(dataclasses.replace(case, outcome=Outcome.VALUES), backend, reply)
            known = dataclasses.replace(
                case,
                outcome=Outcome.UNSPECIFIED,
                expected=None,
                allowance=Allowance(case.allowance.reason),
                detail=f"the reference {backend} gave no answer: {why.verdict} {why.message}",
            )
        for group in self._wanted(case):
            group.put(known)
