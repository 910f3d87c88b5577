# SPDX-License-Identifier: Apache-2.0
"""How far an answer to a whole model may be from the oracle's, derived from the tolerances of its operators.

A reduced model has other outputs and other values than the original model, so the allowance of the original does not
apply to it. If only one operator may have an error, and its outputs are those of the model, its tolerance applies. If
several operators may have errors, or other nodes use an inexact output, see
`onnx_conformance.tolerance.several_nodes`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.values import Drawn
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.tolerance import allowance
from onnx_conformance.tolerance import several_nodes as composed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import onnx

    from onnx_conformance.base.values import Value
    from onnx_conformance.declare import Call, Op
    from onnx_conformance.specification.evaluator import Answer
    from onnx_conformance.specification.schema import OperatorVersion

EXACT = "its nodes only move data, or have exact results"


@dataclass(frozen=True)
class Erring:
    """A node whose result may have an error.

    Attributes:
        outputs: the names of its outputs.
        allowance: how far each of them may be from the oracle's.
    """

    outputs: tuple[str, ...]
    allowance: Allowance


class Noted(Evaluator):
    """An evaluator that records facts about the results of its nodes.

    Attributes:
        types: the types of the values, by name.
        erring: the nodes whose results may have an error.
        signed_zeros: whether every operator distinguishes +0 from -0.
        several: whether a value may differ from the oracle's: it is random, partly undefined, or one of several.
    """

    def __init__(self) -> None:
        """Start with empty records."""
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
        """Return the oracle's answer to one node, and record its facts."""
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
    """Return how far an answer to a model may be from the oracle's; None if that is not known.

    Args:
        model: a model whose operators are all declared.
        inputs: the inputs of the model.
        noted: the evaluator that evaluated this model.
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
    """Return the allowance of a node for the outputs of a model; None if the node does not produce all of them."""
    if not set(names) <= set(erring.outputs):
        return None
    bounds = erring.allowance.bounds
    if bounds is None:
        return erring.allowance
    return dataclasses.replace(erring.allowance, bounds=tuple(bounds[erring.outputs.index(name)] for name in names))
