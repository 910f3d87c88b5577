# SPDX-License-Identifier: Apache-2.0
"""Runs of models on a backend that have no expected outcome: only their values, or the error, are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import line
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.processes.replies import Answered, Broken, Died, Late, Oversized, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    from onnx_conformance.base.values import Value
    from onnx_conformance.processes.asker import Asker
    from onnx_conformance.processes.replies import Reply


class LargeCase(Case):
    """A case whose answer may be as large as all values of a model."""

    most_bytes: int = 0

    @property
    def size(self) -> int:
        """Size in memory, in bytes, with that of the answer."""
        return max(super().size, self.most_bytes)


@dataclass(frozen=True)
class Reached:
    """The answer of a backend to a model.

    Attributes:
        values: the outputs by name; None without an answer.
        problem: the reason why there are no values, in one line.
        reply: the reply.
    """

    values: dict[str, Value] | None
    problem: str
    reply: Reply

    @property
    def seconds(self) -> float | None:
        """The time of the model, in seconds."""
        return getattr(self.reply, "seconds", None)


def case_of(model: onnx.ModelProto, inputs: Mapping[str, Any], outputs: Sequence[str], most_bytes: int) -> Case:
    """Return a model without an expected outcome as a case."""
    case = LargeCase(
        id="verify",
        operator="",
        model=model.SerializeToString(),
        inputs=dict(inputs),
        outputs=tuple(outputs),
        outcome=Outcome.UNSPECIFIED,
        expected=None,
        allowance=Allowance(""),
    )
    object.__setattr__(case, "most_bytes", most_bytes)
    return case


def run(
    asker: Asker, model: onnx.ModelProto, inputs: Mapping[str, Any], outputs: Sequence[str], most_bytes: int
) -> Reached:
    """Run a model on a backend.

    Args:
        asker: the process of the backend.
        model: the model.
        inputs: its inputs by name.
        outputs: the names of the values that it must return.
        most_bytes: about how large the answer may be, in bytes.
    """
    reply = asker.ask(case_of(model, inputs, outputs, most_bytes))
    if isinstance(reply, Answered) and len(reply.outputs) == len(outputs):
        return Reached(dict(zip(outputs, reply.outputs, strict=True)), "", reply)
    return Reached(None, problem(reply, len(outputs)), reply)


def problem(reply: Reply, count: int) -> str:
    """Return why a reply has no values, in one line.

    Args:
        reply: the reply.
        count: the number of wanted outputs.
    """
    match reply:
        case Refused():
            kind = "error" if reply.reason is None else f"unsupported: {reply.reason}"
            text = f"{kind}: {reply.error}: {reply.message}"
        case Died():
            how = f"was ended by {reply.signal}" if reply.signal else f"exited with status {reply.status}"
            text = f"its process {how}"
        case Late():
            text = f"no answer within {reply.seconds:.1f} s; --timeout allows more"
        case Oversized():
            text = f"its answer has {reply.size:,} bytes, far more than the values of the model"
        case Broken():
            text = f"its adapter is at fault: {reply.message}"
        case Answered():
            text = f"it returned {len(reply.outputs)} outputs instead of {count}"
        case _:
            text = "it returns no values, as a tool does; verify runs only runtimes"
    return line(text, 400)
