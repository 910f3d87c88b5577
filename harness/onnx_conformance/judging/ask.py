# SPDX-License-Identifier: Apache-2.0
"""Runs one case at a time, in a separate adapter process, on one or several backends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.judging import profile
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, ReturnedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.values import Value
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.adapter_process import Limits


@dataclass(frozen=True)
class LiveAnswer:
    """The answer of one backend to one case.

    Attributes:
        backend: as the user named it.
        hello: the first message of its adapter; empty where it does not start.
        result: its reply, judged; None where there is no reply.
        outputs: the values that it returned, if any.
        problem: why there is no reply.
        model: that it returned, serialized, if it is a tool that returns one.
    """

    backend: str
    hello: Mapping[str, Any] = field(default_factory=dict)
    result: Result | None = None
    outputs: tuple[Value, ...] = ()
    problem: str = ""
    model: bytes | None = None


class Judged(NamedTuple):
    """A reply, judged.

    Attributes:
        result: with the verdict.
        outputs: the values that were returned, if any.
        model: that was returned, serialized, if any.
    """

    result: Result
    outputs: tuple[Value, ...]
    model: bytes | None


def ask_and_judge(asker: Asker, case: Case) -> Judged:
    """Run a case on a backend; return the result, and the returned values or model.

    Raises:
        AdapterProcessError: its process does not start again.
    """
    reply = asker.ask(case)
    return Judged(
        judge(case, asker.process.target.name, reply, profile.of(asker.process.target, asker.process.hello)),
        reply.outputs if isinstance(reply, Answered) else (),
        reply.model if isinstance(reply, ReturnedModel) else None,
    )


def ask_once(target: Target, case: Case, limits: Limits) -> LiveAnswer:
    """Run a case on a backend in a separate process; an error is stored as the problem of the answer."""
    hello: Mapping[str, Any] = {}
    try:
        with Asker(target, limits) as asker:
            hello = dict(asker.process.hello)
            judged = ask_and_judge(asker, case)
    except HarnessError as error:
        return LiveAnswer(target.name, hello, problem=str(error))
    return LiveAnswer(target.name, hello, judged.result, judged.outputs, model=judged.model)


def ask_each(targets: Sequence[Target], case: Case, limits: Limits) -> list[LiveAnswer]:
    """Run a case on each backend; none of them affects the others."""
    return [ask_once(target, case, limits) for target in targets]
