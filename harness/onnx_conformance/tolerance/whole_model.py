"""How far an answer to a whole model may lie from the oracle's, from the tolerances of its operators.

A model that was cut down has other outputs and other values than the one that it comes from, whose allowance says
nothing of them. One operator that may err, whose outputs are those of the model, has its own tolerance; where several
may err, or others take what one gives, see `onnx_conformance.tolerance.several_nodes`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.case.case import Allowance
from onnx_conformance.declare import Drawn
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.tolerance import allowance
from onnx_conformance.tolerance import several_nodes as composed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import onnx

    from onnx_conformance.declare import Call, Op
    from onnx_conformance.declare.data import Value
    from onnx_conformance.specification.evaluator import Answer
    from onnx_conformance.specification.schema import OperatorVersion

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
    try:
        return composed.of_model(model, inputs)
    except composed.UndecidedError:
        return None


def _of_outputs(erring: Erring, names: Sequence[str]) -> Allowance | None:
    """Return the allowance of a node for the outputs of a model; None where these are not all outputs of the node."""
    if not set(names) <= set(erring.outputs):
        return None
    bounds = erring.allowance.bounds
    if bounds is None:
        return erring.allowance
    return dataclasses.replace(erring.allowance, bounds=tuple(bounds[erring.outputs.index(name)] for name in names))
