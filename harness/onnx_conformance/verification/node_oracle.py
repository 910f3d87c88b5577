# SPDX-License-Identifier: Apache-2.0
"""The result that the text requires of one node of a model, for the backend's own values.

An earlier error must not excuse or accuse a later node. Therefore the inputs are the backend's own values.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import line
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.declare import NoAnswer, Rejected
from onnx_conformance.specification.evaluator import Evaluator, Scope, UndeclaredError
from onnx_conformance.tolerance import several_nodes
from onnx_conformance.tolerance.allowance import of_answer, operand_types
from onnx_conformance.verification import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import onnx

    from onnx_conformance.declare import Call, Op
    from onnx_conformance.specification.evaluator import Answer, Local
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.specification.signature import TypedValue
    from onnx_conformance.verification.user_model import Step, UserModel


class NoOracleError(Exception):
    """The oracle has no result for a node; the message has the reason."""


@dataclass
class _Kept:
    """The call of an oracle for one node of the main graph, and its answer."""

    op: Op
    version: OperatorVersion
    answer: Answer
    operands: list[np.dtype[Any]] = field(default_factory=list)


class _OfNode(Evaluator):
    """Evaluates single nodes, and keeps the answer of the oracle that was asked for the node itself."""

    def __init__(self, model: UserModel) -> None:
        super().__init__()
        self.scope = Scope(
            opsets=model.opsets,
            functions={(item.domain or "ai.onnx", item.name): item for item in model.proto.functions},
            call={},
            nodes=tuple(model.proto.graph.node),
        )
        self.wanted: onnx.NodeProto | None = None
        self.kept: _Kept | None = None

    def of(self, node: onnx.NodeProto, local: Local) -> list[TypedValue | None]:
        """Return the values of a node's outputs."""
        self.wanted, self.kept = node, None
        inputs = [local[name] if name else None for name in node.input]
        return list(self._node(node, inputs, local, self.scope))

    def applied(
        self,
        node: onnx.NodeProto,
        op: Op,
        version: OperatorVersion,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        nodes: Callable[[], Sequence[Call]],
    ) -> Answer:
        """Return the oracle's answer; keep it for the node that is asked for."""
        answer = super().applied(node, op, version, inputs, attributes, nodes)
        if node is self.wanted:
            self.kept = _Kept(op, version, answer, operand_types(op, version, inputs, attributes))
        return answer


class NodeOracle:
    """The oracle of the nodes of one model.

    Attributes:
        types: the types of the values that it computed so far, by name.
    """

    def __init__(self, model: UserModel) -> None:
        """Take the model."""
        self.model = model
        self.types: dict[str, str] = {}
        self._evaluator = _OfNode(model)

    def values(self, step: Step, local: Mapping[str, TypedValue]) -> dict[str, TypedValue]:
        """Return the values of a node's outputs by name, without their allowed differences.

        Raises:
            NoOracleError: the oracle does not know the operator.
            NoAnswer: the text forbids the call, or does not define its result.
        """
        with quiet():
            found = self._computed(step, local)
        named = {name: item for name, item in zip(step.node.output, found, strict=False) if name and item is not None}
        self.types.update({name: item.type for name, item in named.items() if item.type})
        return named

    def case(self, step: Step, local: Mapping[str, TypedValue]) -> Case:
        """Return a node as a case, with the values that the text requires.

        Args:
            step: the node.
            local: the values that it reads.

        Raises:
            NoOracleError: the oracle does not know the operator, or has several possible results.
        """
        outcome, expected, detail = Outcome.VALUES, None, ""
        clauses: tuple[str, ...] = ()
        allowance = Allowance("")
        self._evaluator.rests_on.clear()
        model, given = parts.of_steps(self.model, [step], local, step.outputs, self.types)
        inputs = {name: item.value for name, item in given.items()}
        try:
            with quiet():
                found = self._computed(step, local)
                expected, allowance = self._demanded(step, found, (model, inputs))
            self._declare(model, expected)
            if any(isinstance(value, Drawn) for value in expected):
                outcome = Outcome.PROPERTY
            if self._evaluator.kept is not None:
                clauses = several_nodes.sentences([(self._evaluator.kept.op, self._evaluator.kept.version)])
        except NoAnswer as no_answer:
            outcome = Outcome.REJECTS if isinstance(no_answer, Rejected) else Outcome.UNSPECIFIED
            detail, clauses = no_answer.detail, (no_answer.clause.text,)
        return Case(
            id=f"{self.model.name}/{step.label}",
            operator=step.operator,
            model=model.SerializeToString(),
            inputs=inputs,
            outputs=step.outputs,
            outcome=outcome,
            expected=expected,
            allowance=allowance,
            clauses=clauses,
            detail=detail,
            readings=tuple(sorted(reading.number for reading in self._evaluator.rests_on)),
        )

    def _declare(self, model: onnx.ModelProto, expected: Sequence[Any]) -> None:
        """Declare the shapes of the outputs, without which the model checker rejects a model."""
        for item, value in zip(model.graph.output, expected, strict=True):
            example = value.example if isinstance(value, Drawn) else value
            if isinstance(example, np.ndarray) and item.type.HasField("tensor_type"):
                several_nodes.declare(item, example)

    def _computed(self, step: Step, local: Mapping[str, TypedValue]) -> list[TypedValue | None]:
        if missing := [name for name in step.reads if name not in local]:
            raise NoOracleError(f"its input {line(missing[0], 60)} is not known")
        if not step.has_oracle:
            raise NoOracleError(f"the oracle does not know {step.operator}")
        try:
            return self._evaluator.of(step.node, local)
        except UndeclaredError as error:
            raise NoOracleError(line(error, 200)) from None
        except NoAnswer:
            raise
        except Exception as error:  # An oracle may assume properties of declared calls, such as a rank.
            raise NoOracleError(f"the oracle fails: {type(error).__name__}: {line(error, 200)}") from error

    def _demanded(
        self, step: Step, found: Sequence[TypedValue | None], alone: tuple[onnx.ModelProto, Mapping[str, Any]]
    ) -> tuple[tuple[Any, ...], Allowance]:
        """Return the values of the named outputs, and how far an answer may be from them.

        `alone` is the model of the node alone, with its inputs. The nodes of a subgraph or a function may each err.
        """
        named = [index for index, name in enumerate(step.node.output) if name]
        kept = self._evaluator.kept
        if kept is not None and not any(item.HasField("g") for item in step.node.attribute):
            try:
                allowance = of_answer(kept.op.compare, kept.answer, kept.operands, named)
            except Exception as error:  # A bound may assume properties of declared calls.
                raise NoOracleError(f"its tolerance is not known: {line(error, 200)}") from error
            values = (kept.answer.outputs[index] for index in named)
            return tuple(value.among(named) if isinstance(value, Drawn) else value for value in values), allowance
        try:
            allowance = several_nodes.of_model(*alone)
        except several_nodes.UndecidedError as error:
            raise NoOracleError(f"there is more than one right result: {line(error, 200)}") from None
        return tuple(item.value for item in (found[index] for index in named) if item is not None), allowance


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Evaluate without the warnings of numpy about infinities and NaN."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
