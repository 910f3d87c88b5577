"""What a backend makes of one case, asked live: the one that fails, and the others beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.lane import Lane
from harness.replies import Answered
from harness.runner import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.case import Case, Value
    from harness.process import Limits
    from harness.targets import Target
    from harness.verdict import Result


@dataclass(frozen=True)
class Witness:
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


def hear(lane: Lane, case: Case) -> tuple[Result, tuple[Value, ...]]:
    """Return what a backend's reply makes of a case, and the values it gave.

    Raises:
        SessionError: its process does not come up again.
    """
    reply = lane.ask(case)
    return judge(case, lane.session.target.name, reply), reply.outputs if isinstance(reply, Answered) else ()


def witness(target: Target, case: Case, limits: Limits) -> Witness:
    """Return what a backend says of a case; one that cannot be asked says why instead."""
    hello: Mapping[str, Any] = {}
    try:
        with Lane(target, limits) as lane:
            hello = dict(lane.session.hello)
            result, outputs = hear(lane, case)
    except HarnessError as error:
        return Witness(target.name, hello, problem=str(error))
    return Witness(target.name, hello, result, outputs)


def witnesses(targets: Sequence[Target], case: Case, limits: Limits) -> list[Witness]:
    """Return what each backend says of a case; none of them ends the others."""
    return [witness(target, case, limits) for target in targets]
