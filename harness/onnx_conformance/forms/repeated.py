# SPDX-License-Identifier: Apache-2.0
"""Forms in which nodes occur twice, or values between nodes have other uses."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from onnx_conformance.base.values import Drawn
from onnx_conformance.forms.delivered import copied, info_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.forms.delivered import Delivered

    Array = np.ndarray[Any, Any]


def again(start: Delivered) -> Delivered | None:
    """Add a random node again; with one seed, both must draw the same values."""
    node, drawn = start.node, start.expected or ()
    if node is None or not any(isinstance(item, Drawn) for item in drawn):
        return None
    if not any(item.name == "seed" for item in node.attribute):
        return None
    model = copied(start)
    copy = model.graph.node.add()
    copy.CopyFrom(node)
    copy.name = f"{node.name}_again"
    copy.output[:] = [f"{name}_again" if name else "" for name in node.output]
    for info in start.model.graph.output:
        model.graph.output.add().CopyFrom(info)
        model.graph.output[-1].name = f"{info.name}_again"
    expected = (*drawn, *(_same(value, index) for index, value in enumerate(drawn)))
    return dataclasses.replace(start, model=model, expected=expected)


def _same(value: Value | Drawn, index: int) -> Value | Drawn:
    """Return the expected value of an output of the second node. Random values must equal those of the first node."""
    return Drawn(value.example, same_as=index) if isinstance(value, Drawn) else value


def doubled(start: Delivered) -> Delivered | None:
    """Add the nodes a second time, on other inputs, with the same initializers."""
    if not _has_one_answer(start):
        return None
    own = {*start.inputs, *(name for node in start.model.graph.node for name in node.output)} - {""}

    def other(name: str) -> str:
        return f"{name}_2" if name in own else name

    model = copied(start)
    for node in start.model.graph.node:
        copy = model.graph.node.add()
        copy.CopyFrom(node)
        copy.name = f"{node.name}_2" if node.name else ""
        _rename(copy, other)
    for declared in (model.graph.input, model.graph.output):
        for item in list(declared):
            declared.add().CopyFrom(item)
            declared[-1].name = other(item.name)
    inputs = {**start.inputs, **{other(name): _rolled(value) for name, value in start.inputs.items()}}
    return _measured(start, model, inputs)


def _rename(node: onnx.NodeProto, other: Callable[[str], str]) -> None:
    """Rename the values of a node and of its subgraphs. Subgraphs of these use the values of the first nodes."""
    graphs = [item.g for item in node.attribute if item.type == onnx.AttributeProto.GRAPH]
    for item in (node, *(inner for graph in graphs for inner in graph.node)):
        item.input[:] = map(other, item.input)
        item.output[:] = map(other, item.output)
    for info in (info for graph in graphs for info in (*graph.input, *graph.output)):
        info.name = other(info.name)


def _rolled(value: Value) -> Value:
    """Return a tensor with other numbers. Integers, which may be indices, stay the same."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.roll(value.reshape(-1), 1).reshape(value.shape)
    return value


def tapped(start: Delivered) -> Delivered | None:
    """Make the values between the nodes additional outputs of the graph."""
    if not start.between:
        return None
    model = copied(start)
    model.graph.output.extend(info_of(name, value) for name, value in start.between.items())
    return _measured(start, model, start.inputs)


def shared(start: Delivered) -> Delivered | None:
    """Let other nodes use the values between the nodes, too."""
    tensors = {name: value for name, value in start.between.items() if isinstance(value, np.ndarray)}
    if not tensors:
        return None
    model = copied(start)
    for name, value in tensors.items():
        result = f"{name}_twice"
        model.graph.node.append(
            helper.make_node("Concat", [name, name], [result], axis=0, name=f"Concat_{name}")
            if value.ndim
            else helper.make_node("Shape", [name], [result], name=f"Shape_{name}")
        )
        model.graph.output.append(
            info_of(result, np.concatenate([value, value]) if value.ndim else np.array([], np.int64))
        )
    return _measured(start, model, start.inputs)


def _has_one_answer(start: Delivered) -> bool:
    """Return whether each output may have only one value, except for rounding."""
    allowance = start.allowance
    several = allowance is not None and (any(allowance.any_of) or allowance.any_order is not None)
    return not several and not any(isinstance(item, Drawn) for item in start.expected or ())


def _measured(start: Delivered, model: onnx.ModelProto, inputs: Mapping[str, Value]) -> Delivered | None:
    """Return a delivered model with the values that the oracles compute for its additional outputs."""
    made = dataclasses.replace(start, model=model, inputs=inputs, allowance=None)
    if start.expected is None or made.answers is None:
        return None
    rest = made.outputs[len(start.expected) :]
    return dataclasses.replace(made, expected=(*start.expected, *(made.answers[name] for name in rest)))
