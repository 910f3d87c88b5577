"""How far an answer to a whole model may lie from the oracle's, from the tolerances of its operators.

A model that was cut down has other outputs and other values than the one that it comes from, whose allowance says
nothing of them. One operator that may err, whose outputs are those of the model, has its own tolerance. Where several
may err, or others take what one gives, the oracle evaluates the model again, with an error drawn at random in what each
of them gives, and the outputs may err as far as they do then; see `harness.spec.rounding_error`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from harness.case.case import Allowance
from harness.declare import Drawn
from harness.declare.rounding import is_float, nearest
from harness.generation import allowance
from harness.spec.evaluator import Evaluator
from harness.spec.rounding_error import FACTOR, RUNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import onnx

    from harness.declare import Call, Op
    from harness.declare.data import Value
    from harness.spec.evaluator import Answer
    from harness.spec.schema import OperatorVersion

Array = np.ndarray[Any, Any]
MEASURED = "several of its nodes may err, each by its tolerance: measured on these values"
EXACT = "its nodes only move data, or have exact results"


@dataclass(frozen=True)
class Erring:
    """A node that may err.

    Attributes:
        outputs: their names.
        allowance: how far each of them may lie from the oracle's.
    """

    outputs: tuple[str, ...]
    allowance: Allowance


class Noted(Evaluator):
    """An evaluator that notes what its nodes gave.

    Attributes:
        types: of the values, by name.
        erring: the nodes that may err.
        signed_zeros: whether every operator tells +0 from -0.
        several: whether a value may be another than the oracle's: it is drawn, partly open, or any of several.
    """

    def __init__(self) -> None:
        """Note nothing yet."""
        super().__init__()
        self.types: dict[str, str] = {}
        self.erring: list[Erring] = []
        self.signed_zeros = True
        self.several = False

    def applied(
        self,
        node: onnx.NodeProto,
        op: Op,
        version: OperatorVersion,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        nodes: Callable[[], Sequence[Call]],
    ) -> Answer:
        """Return the oracle's answer to one node, and note it."""
        answer = super().applied(node, op, version, inputs, attributes, nodes)
        self.types.update(zip(node.output, answer.types, strict=False))
        self.signed_zeros = self.signed_zeros and op.compare.signed_zero
        open_ = any(mask is not None for mask in answer.open)
        drawn = any(isinstance(value, Drawn) for value in answer.outputs)
        any_of = any(item is not None for item in answer.any_of)
        self.several = self.several or open_ or drawn or any_of or answer.any_order is not None
        if not op.compare.exact and not drawn:
            named = [index for index, name in enumerate(node.output) if name]
            operands = allowance.operand_types(op, version, inputs, attributes)
            of_node = allowance.of_answer(op.compare, answer, operands, named)
            self.erring.append(Erring(tuple(node.output[index] for index in named), of_node))
        return answer


class _Perturbed(Evaluator):
    """An evaluator whose nodes err at random, each within its tolerance."""

    def __init__(self, draw: np.random.Generator) -> None:
        super().__init__()
        self._draw = draw

    def applied(
        self,
        node: onnx.NodeProto,
        op: Op,
        version: OperatorVersion,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        nodes: Callable[[], Sequence[Call]],
    ) -> Answer:
        """Return the oracle's answer to one node, with errors."""
        answer = super().applied(node, op, version, inputs, attributes, nodes)
        if op.compare.exact:
            return answer
        named = [index for index, name in enumerate(node.output) if name]
        operands = allowance.operand_types(op, version, inputs, attributes)
        of_node = allowance.of_answer(op.compare, answer, operands, named)
        outputs = list(answer.outputs)
        for place, index in enumerate(named):
            outputs[index] = self._erring(outputs[index], of_node, of_node.bound(place))
        return dataclasses.replace(answer, outputs=outputs)

    def _erring(self, value: Value, of_node: Allowance, bound: Array | None) -> Value:
        if not isinstance(value, np.ndarray) or not is_float(value.dtype):
            return value
        wide = value.astype(np.float64)
        limits = ml_dtypes.finfo(value.dtype)  # type: ignore[no-untyped-call]
        size = np.abs(np.nan_to_num(wide, nan=0.0, posinf=0.0, neginf=0.0))
        error = of_node.ulp * np.maximum(size * float(limits.eps), float(limits.smallest_subnormal))
        error = error + of_node.atol + of_node.rtol * size + (0 if bound is None else bound)
        return nearest(np.asarray(wide + error * self._draw.uniform(-1, 1, value.shape)), value.dtype)


def of_model(model: onnx.ModelProto, inputs: Mapping[str, Value], noted: Noted) -> Allowance | None:
    """Return how far an answer to a model may lie from that of the oracle; None where that is not known.

    Args:
        model: whose operators are declared.
        inputs: of the model.
        noted: what an evaluation of this very model has noted.
    """
    if noted.several:
        return None
    if not noted.erring:
        return Allowance(EXACT, signed_zero=noted.signed_zeros)
    names = [item.name for item in model.graph.output]
    if len(noted.erring) == 1 and (of_node := _of_outputs(noted.erring[0], names)) is not None:
        return of_node
    return _measured(model, inputs, names)


def _of_outputs(erring: Erring, names: Sequence[str]) -> Allowance | None:
    """Return the allowance of a node for the outputs of a model; None where these are not all outputs of the node."""
    if not set(names) <= set(erring.outputs):
        return None
    bounds = erring.allowance.bounds
    if bounds is None:
        return erring.allowance
    return dataclasses.replace(erring.allowance, bounds=tuple(bounds[erring.outputs.index(name)] for name in names))


def _measured(model: onnx.ModelProto, inputs: Mapping[str, Value], names: Sequence[str]) -> Allowance | None:
    """Return the errors of the outputs that errors of the nodes lead to; None where they change what is no float."""
    exact = Evaluator().model(model, inputs)
    bounds = [np.zeros(np.shape(exact[name])) for name in names]  # type: ignore[arg-type]
    for run in range(RUNS):
        other = _Perturbed(np.random.default_rng(run)).model(model, inputs)
        for index, name in enumerate(names):
            errors = _errors(exact[name], other[name])
            if errors is None:
                return None
            bounds[index] = np.maximum(bounds[index], FACTOR * errors)
    return Allowance(MEASURED, bounds=tuple(bounds))


def _errors(exact: Value, other: Value) -> Array | None:
    """Return by how much two values differ, element by element; None where they are not of numbers alike."""
    if not isinstance(exact, np.ndarray) or not isinstance(other, np.ndarray) or exact.shape != other.shape:
        return None
    if not is_float(exact.dtype):
        return np.zeros(exact.shape) if np.array_equal(exact, other) else None
    one, two = exact.astype(np.float64), other.astype(np.float64)
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(two)) or not np.array_equal(one[~finite], two[~finite], equal_nan=True):
        return None
    return np.where(finite, np.abs(np.where(finite, one, 0) - np.where(finite, two, 0)), 0)
