"""Runs one case at a time, in an adapter process of its own, on one or several backends."""

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
    from harness.execution.fork_server import ForkServer
    from harness.execution.replies import Reply
    from harness.verdict import Result


class Asker:
    """One adapter process that runs one case at a time, as the pytest plugin and `repro` need it.

    Attributes:
        process: the adapter process.
        selector: waits for it.
    """

    def __init__(self, target: Target, limits: Limits, fork_server: ForkServer | None = None) -> None:
        """Start the process and wait for its hello.

        Args:
            target: the backend.
            limits: of the process.
            fork_server: from which the process is forked, if it runs.

        Raises:
            StartError: it does not start.
        """
        self.selector = selectors.DefaultSelector()
        self.process = AdapterProcess(target, limits, self.selector, fork_server=fork_server)
        self.process.start()
        try:
            while not self.process.hello:
                poll(self.selector, [self.process])
        except BaseException:
            self.close()
            raise

    def ask(self, case: Case) -> Reply:
        """Return the reply to one case.

        Raises:
            AdapterProcessError: its process does not start again.
        """
        try:
            self.process.put(case)
            while not (received := self.process.take_replies()):
                poll(self.selector, [self.process])
        except BaseException:
            self.process.close()  # The next case must not get this one's answer.
            raise
        return received[0].reply

    def close(self) -> None:
        """End the process."""
        self.process.close()
        self.selector.close()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()


@dataclass(frozen=True)
class LiveAnswer:
    """The answer of one backend to one case.

    Attributes:
        backend: as the user named it.
        hello: the first message of its adapter; empty where it does not start.
        result: its reply, judged; None where there is no reply.
        outputs: the values that it returned, if any.
        problem: why there is no reply.
    """

    backend: str
    hello: Mapping[str, Any] = field(default_factory=dict)
    result: Result | None = None
    outputs: tuple[Value, ...] = ()
    problem: str = ""


def ask_and_judge(asker: Asker, case: Case) -> tuple[Result, tuple[Value, ...]]:
    """Run a case on a backend; return the result, and the values that it returned.

    Raises:
        AdapterProcessError: its process does not start again.
    """
    reply = asker.ask(case)
    return judge(case, asker.process.target.name, reply), reply.outputs if isinstance(reply, Answered) else ()


def ask_once(target: Target, case: Case, limits: Limits) -> LiveAnswer:
    """Run a case on a backend in a process of its own; what prevents that is the problem of the answer."""
    hello: Mapping[str, Any] = {}
    try:
        with Asker(target, limits) as asker:
            hello = dict(asker.process.hello)
            result, outputs = ask_and_judge(asker, case)
    except HarnessError as error:
        return LiveAnswer(target.name, hello, problem=str(error))
    return LiveAnswer(target.name, hello, result, outputs)


def ask_each(targets: Sequence[Target], case: Case, limits: Limits) -> list[LiveAnswer]:
    """Run a case on each backend; none of them affects the others."""
    return [ask_once(target, case, limits) for target in targets]
