# SPDX-License-Identifier: Apache-2.0
"""The results of `verify`: of each node, of the outputs, and of each backend."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.judging.ask import LiveAnswer
    from onnx_conformance.verification.inputs import Inputs
    from onnx_conformance.verification.user_model import Step, UserModel


class Judgement(enum.StrEnum):
    """The judgement on a node, or on the outputs of the model.

    Attributes:
        RIGHT: within the allowed difference.
        ROUNDING: outside it, but by few units in the last place of the result or, for integers, of an input, or only in
            the sign of zeros, or because numbers below the smallest normal one are 0.
        HARMLESS: wrong integers, but the results of all nodes that read the values are also right for the correct
            values.
        WRONG: outside it.
        FAILED: the backend raises an error, or its process dies or does not answer.
        FORBIDDEN: the text forbids the call, but the backend runs it.
        OPEN: the text does not define the result.
        UNKNOWN: there is no oracle, or no value to compare.
    """

    RIGHT = "right"
    ROUNDING = "rounding"
    HARMLESS = "harmless"
    WRONG = "wrong"
    FAILED = "failed"
    FORBIDDEN = "forbidden"
    OPEN = "open"
    UNKNOWN = "unknown"

    @property
    def is_fault(self) -> bool:
        """Whether the backend is at fault."""
        return self in {Judgement.WRONG, Judgement.FAILED}


@dataclass(frozen=True)
class NodeResult:
    """The judgement on one node.

    Attributes:
        step: the node.
        judgement: the judgement.
        message: the reason, in one line; empty for a right node.
        times: the greatest difference as a multiple of the allowed one; None if there is no such number.
        case: the node as a case with the backend's own values as inputs; of nodes at fault only.
        result: the verdict on the backend's values, of nodes at fault only.
    """

    step: Step
    judgement: Judgement
    message: str = ""
    times: float | None = None
    case: Case | None = None
    result: Result | None = None

    @property
    def unsupported(self) -> bool:
        """Whether the backend refuses the node as not supported."""
        return self.result is not None and self.result.verdict is Verdict.UNSUPPORTED

    @property
    def sentence(self) -> str:
        """The sentence that a node at fault violates; empty if the backend only does not support the node."""
        if self.unsupported or self.case is None or not self.case.clauses:
            return ""
        return self.case.clauses[-1]


@dataclass(frozen=True)
class Outputs:
    """The judgement on the outputs of the unmodified model.

    Attributes:
        judgement: WRONG: farther from the oracle's than the errors of all nodes can add up to.
        message: the reason, in one line.
        times: as of a node.
        changed: whether the model with additional outputs returns other values than the unmodified one.
    """

    judgement: Judgement
    message: str = ""
    times: float | None = None
    changed: bool = False


@dataclass(frozen=True)
class Fusion:
    """A part of the model whose result is wrong although each of its nodes alone is right.

    Attributes:
        steps: the nodes of the part.
        case: the part as a case.
        result: the verdict on the backend's values.
        levels: by level of the backend's optimizer, whether the part is right with it.
    """

    steps: tuple[Step, ...]
    case: Case
    result: Result
    levels: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class OfBackend:
    """The results of one backend.

    Attributes:
        backend: as the user named it.
        hello: the first message of its adapter.
        nodes: the results of the nodes, in the order of the graph.
        outputs: the judgement on the outputs of the unmodified model; None if it does not run.
        problem: why the model does not run on it, in one line; empty if it runs.
        excused: whether it need not run it, because the text forbids the model with these inputs, or leaves it open.
        fusion: the part that is wrong only as a whole, if there is one.
        smallest: the first node at fault as the smallest case that fails in the same way; None if it was not reduced.
        reduced_by: how the case was reduced, or why it was not.
        seconds: the time of the unmodified model on the backend, in seconds; None if it is not known.
    """

    backend: str
    hello: Mapping[str, Any] = field(default_factory=dict)
    nodes: Sequence[NodeResult] = ()
    outputs: Outputs | None = None
    problem: str = ""
    excused: bool = False
    fusion: Fusion | None = None
    smallest: tuple[Case, Result, LiveAnswer] | None = None
    reduced_by: str = ""
    seconds: float | None = None

    @property
    def faults(self) -> list[NodeResult]:
        """The nodes at fault, in the order of the graph."""
        return [item for item in self.nodes if item.judgement.is_fault]

    @property
    def first(self) -> NodeResult | None:
        """The first node at fault."""
        return next(iter(self.faults), None)

    @property
    def ranked(self) -> list[NodeResult]:
        """The nodes at fault; those with the greatest excess come first."""
        return sorted(self.faults, key=lambda item: -(math.inf if item.times is None else item.times))

    @property
    def ok(self) -> bool:
        """Whether nothing is at fault. Nodes without an oracle do not count; `unknown` has them."""
        wrong = self.outputs is not None and self.outputs.judgement.is_fault
        return not ((self.problem and not self.excused) or self.faults or self.fusion or wrong)

    def of(self, judgement: Judgement) -> list[NodeResult]:
        """Return the nodes with a judgement."""
        return [item for item in self.nodes if item.judgement is judgement]


@dataclass(frozen=True)
class OfTool:
    """The result of one tool that changes models.

    Attributes:
        backend: the tool, as the user named it.
        nodes: the number of nodes of the original model.
        hello: the first message of its adapter.
        result: the verdict on the model that it returned; None if the oracle does not know the values of the original.
        nodes_made: the number of nodes of that model; None without one.
        problem: why the result is not known, in one line; empty if it is.
        guilty: the passes of an optimizer that are at fault.
    """

    backend: str
    nodes: int
    hello: Mapping[str, Any] = field(default_factory=dict)
    result: Result | None = None
    nodes_made: int | None = None
    problem: str = ""
    guilty: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the returned model is not known to be wrong."""
        return self.result is None or not self.result.verdict.failed


@dataclass(frozen=True)
class Verified:
    """The results of all backends and tools on one model.

    Attributes:
        model: the model.
        inputs: its inputs.
        backends: the result of each backend.
        tools: the result of each tool.
        notes: facts about the model, such as operators without an oracle.
        seconds: the time of the oracle for the whole model, in seconds; None if it has no result.
    """

    model: UserModel
    inputs: Inputs
    backends: Sequence[OfBackend] = ()
    tools: Sequence[OfTool] = ()
    notes: Sequence[str] = ()
    seconds: float | None = None

    @property
    def ok(self) -> bool:
        """Whether every backend runs the model, none has a node at fault, and no tool returns a wrong model."""
        return all(item.ok for item in self.backends) and all(item.ok for item in self.tools)
