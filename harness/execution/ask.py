"""One case at a time: an adapter process of one's own, and what each of several backends answers to a case."""

from __future__ import annotations

import selectors
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from harness.errors import HarnessError
from harness.execution.adapter_process import AdapterProcess, Limits, poll
from harness.execution.judge import judge
from harness.execution.replies import Answered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.case.case import Case
    from harness.declare.data import Value
    from harness.execution.backend_names import Target
    from harness.execution.replies import Reply
    from harness.verdict import Result


class Asker:
    """One adapter process that is asked one case at a time, as the pytest plugin and `repro` do."""

    def __init__(self, target: Target, limits: Limits) -> None:
        """Start the process and wait for its hello.

        Raises:
            StartError: it does not come up.
        """
        self._replies: list[Reply] = []
        self._selector = selectors.DefaultSelector()
        self.session = AdapterProcess(target, limits, self._selector, lambda _, reply: self._replies.append(reply))
        self.session.start()
        try:
            while not self.session.hello:
                poll(self._selector, [self.session])
        except BaseException:
            self.close()
            raise

    def ask(self, case: Case) -> Reply:
        """Return the reply to one case.

        Raises:
            AdapterProcessError: its process does not come up again.
        """
        self._replies.clear()
        try:
            self.session.put(case)
            while not self._replies:
                poll(self._selector, [self.session])
        except BaseException:
            self.session.close()  # The next question must not be given this one's answer.
            raise
        return self._replies[0]

    def close(self) -> None:
        """End the process."""
        self.session.close()
        self._selector.close()

    def __enter__(self) -> Self:
        """Return the lane."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()


@dataclass(frozen=True)
class LiveAnswer:
    """What one backend said of one case.

    Attributes:
        backend: as the user named it.
        hello: what its adapter said of itself; empty where it does not start.
        result: what its reply makes of the case; None where there is no reply.
        outputs: the values it gave, if it gave any.
        problem: why there is no reply.
    """

    backend: str
    hello: Mapping[str, Any] = field(default_factory=dict)
    result: Result | None = None
    outputs: tuple[Value, ...] = ()
    problem: str = ""


def ask_and_judge(lane: Asker, case: Case) -> tuple[Result, tuple[Value, ...]]:
    """Return what a backend's reply makes of a case, and the values it gave.

    Raises:
        AdapterProcessError: its process does not come up again.
    """
    reply = lane.ask(case)
    return judge(case, lane.session.target.name, reply), reply.outputs if isinstance(reply, Answered) else ()


def ask_once(target: Target, case: Case, limits: Limits) -> LiveAnswer:
    """Return what a backend says of a case; one that cannot be asked says why instead."""
    hello: Mapping[str, Any] = {}
    try:
        with Asker(target, limits) as lane:
            hello = dict(lane.session.hello)
            result, outputs = ask_and_judge(lane, case)
    except HarnessError as error:
        return LiveAnswer(target.name, hello, problem=str(error))
    return LiveAnswer(target.name, hello, result, outputs)


def ask_each(targets: Sequence[Target], case: Case, limits: Limits) -> list[LiveAnswer]:
    """Return what each backend says of a case; none of them ends the others."""
    return [ask_once(target, case, limits) for target in targets]
