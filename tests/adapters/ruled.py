# SPDX-License-Identifier: Apache-2.0
"""Backends that are the oracle but for one rule: what `explain` must find, word for word.

Each is an object with `info` and `run`, named by a dotted path; the process must find this folder and the harness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.specification import evaluator, nodes, registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


LOAD = registry.load
"""Tests may let it give few operators, of which models have others beside."""


class Ruled:
    """The oracle, whose answers are one off where a rule holds of a node."""

    def __init__(self, rule: Callable[[onnx.NodeProto, dict[str, Any]], bool]) -> None:
        self._rule = rule

    def info(self) -> dict[str, Any]:
        return {"runtime": "ruled", "version": "1"}

    def run(self, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        proto = onnx.ModelProto.FromString(model)
        graph = proto.graph
        known = {**inputs, **{item.name: onnx.numpy_helper.to_array(item) for item in graph.initializer}}
        constants = [node for node in graph.node if node.op_type == "Constant" and attribute(node, "value") is not None]
        known |= {node.output[0]: onnx.numpy_helper.to_array(attribute(node, "value")) for node in constants}
        known |= {node.output[0]: shaped(node, known) for node in graph.node if node.op_type == "Reshape"}
        values = evaluator.Evaluator(LOAD()).model(proto, inputs)
        answers = [values[name] for name in outputs]
        placed = [nodes.of_operator(proto, node.domain or "ai.onnx", node.op_type) for node in nodes.of(proto)]
        if any(self._rule(node, known) for node in placed if node is not None):
            return [spoilt(answer) for answer in answers]
        return answers


def shaped(node: onnx.NodeProto, known: dict[str, Any]) -> Any:
    data, shape = (known.get(name) for name in node.input)
    return None if data is None or shape is None or data.size != np.prod(shape) else data.reshape(shape)


def spoilt(answer: Any) -> Any:
    if isinstance(answer, list):
        return [spoilt(item) for item in answer]
    return np.expand_dims(answer, 0)


def attribute(node: onnx.NodeProto, name: str, default: Any = None) -> Any:
    return next((onnx.helper.get_attribute_value(item) for item in node.attribute if item.name == name), default)


def known_input(node: onnx.NodeProto, place: int, known: dict[str, Any]) -> Any:
    return known.get(node.input[place]) if place < len(node.input) else None


@Ruled
def keepdims_zero(node: onnx.NodeProto, _: dict[str, Any]) -> bool:
    return node.op_type == "ReduceSum" and attribute(node, "keepdims", 1) == 0


@Ruled
def keepdims_zero_of_a_scalar(node: onnx.NodeProto, known: dict[str, Any]) -> bool:
    split = known_input(node, 1, known) if node.op_type == "SplitToSequence" else None
    return split is not None and split.ndim == 0 and attribute(node, "keepdims", 1) == 0


@Ruled
def negative_axis(node: onnx.NodeProto, _: dict[str, Any]) -> bool:
    return node.op_type == "SplitToSequence" and attribute(node, "axis", 0) < 0


@Ruled
def two_types(node: onnx.NodeProto, known: dict[str, Any]) -> bool:
    data = known_input(node, 0, known) if node.op_type == "ReduceSum" else None
    return data is not None and data.dtype in (np.float16, np.int64)


@Ruled
def keepdims_zero_of_float16(node: onnx.NodeProto, known: dict[str, Any]) -> bool:
    data = known_input(node, 0, known) if node.op_type == "ReduceSum" else None
    return data is not None and data.dtype == np.float16 and attribute(node, "keepdims", 1) == 0


@Ruled
def negative_axis_of_float16(node: onnx.NodeProto, known: dict[str, Any]) -> bool:
    data = known_input(node, 0, known) if node.op_type == "LayerNormalization" else None
    return data is not None and data.dtype == np.float16 and attribute(node, "axis", -1) < 0
