# SPDX-License-Identifier: Apache-2.0
"""A whole model with its inputs, in which every value can be removed or simplified."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.declare.type import Type
from onnx_conformance.minimize.search_space import Leaf
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type
from onnx_conformance.specification.nodes import subgraphs
from onnx_conformance.tolerance.whole_model import Noted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.minimize.search_space import Array, Path

KIND = onnx.AttributeProto
NUMBERS = {KIND.INT: "i", KIND.FLOAT: "f", KIND.STRING: "s", KIND.INTS: "ints", KIND.FLOATS: "floats"}
"""The types of attributes with numbers or a word, and the field that contains the value."""


@dataclass(frozen=True)
class Evaluated:
    """The oracle's evaluation of a model.

    Attributes:
        values: the values of the inputs, of the initializers and of the nodes of the graph, by name.
        noted: the evaluator, with the facts that it recorded.
    """

    values: Mapping[str, Value]
    noted: Noted

    def declared(self, name: str) -> onnx.ValueInfoProto:
        """Return the declaration of a value: its type and, for a tensor, its shape."""
        value = self.values[name]
        if isinstance(value, np.ndarray):
            return helper.make_tensor_value_info(name, element_type(value.dtype).number, value.shape)
        return helper.make_value_info(name, schema.type_proto(Type.parse(self.noted.types[name])))


@dataclass(frozen=True)
class ModelCandidate:
    """A model that moves can change; it and its inputs are not changed in place."""

    model: onnx.ModelProto
    inputs: Mapping[str, Value]

    def copied(self) -> onnx.ModelProto:
        """Return a copy of the model."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        return model

    @functools.cached_property
    def evaluated(self) -> Evaluated:
        """The oracle's evaluation of it.

        Raises:
            NoAnswer: the text forbids the model, or does not define its result.
            UndeclaredError: an operator has no operator file and no function body.
        """
        whole, noted = self.copied(), Noted()
        graph = whole.graph
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in computed(graph))
        values = noted.model(whole, self.inputs)
        initializers = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
        return Evaluated({**initializers, **self.inputs, **values}, noted)

    def leaves(self) -> list[Leaf]:
        """Return all values.

        A path is "input" and the name, with the index in a sequence; "initializer" and the name; or "attribute", the
        name, and the number of the node.
        """
        found: list[Leaf] = []
        for name, value in self.inputs.items():
            if isinstance(value, np.ndarray):
                found.append(Leaf(("input", name), value, tensor=True))
            elif isinstance(value, list):
                items = [(index, item) for index, item in enumerate(value) if isinstance(item, np.ndarray)]
                found += [Leaf(("input", name, index), item, tensor=True) for index, item in items]
        for tensor in self.model.graph.initializer:
            if tensor.name not in self.inputs:
                found.append(Leaf(("initializer", tensor.name), _plain(numpy_helper.to_array(tensor)), tensor=True))
        for number, node in enumerate(self.model.graph.node):
            for item in node.attribute:
                if (array := _of_attribute(item)) is not None:
                    found.append(Leaf(("attribute", item.name, number), array, item.type == KIND.TENSOR))
        return found

    def with_values(self, changes: Mapping[Path, Any]) -> ModelCandidate:
        """Return a copy with other values at some paths."""
        model, inputs = self.copied(), dict(self.inputs)
        initializers = {item.name: item for item in model.graph.initializer}
        for (kind, name, *rest), value in changes.items():
            if kind == "input":
                old = inputs[str(name)]
                if rest and isinstance(old, list):
                    inputs[str(name)] = [
                        *old[: int(rest[0])],
                        _like(value, old[int(rest[0])]),
                        *old[int(rest[0]) + 1 :],
                    ]
                else:
                    inputs[str(name)] = _like(value, old)
            elif kind == "initializer":
                tensor = initializers[str(name)]
                tensor.CopyFrom(numpy_helper.from_array(_like(value, numpy_helper.to_array(tensor)), str(name)))
            else:
                item = next(item for item in model.graph.node[int(rest[0])].attribute if item.name == name)
                _set(item, np.asarray(value))
        return ModelCandidate(model, inputs)


def _plain(array: Array) -> Array:
    """Return texts as str, as in inputs."""
    if array.dtype.kind != "O":
        return array
    texts = [item.decode(errors="surrogateescape") if isinstance(item, bytes) else item for item in array.flat]
    return np.array(texts, object).reshape(array.shape)


def _like(value: Any, old: Any) -> Any:  # noqa: ANN401 - any value
    """Return an array in the type of another."""
    return np.asarray(value).astype(old.dtype) if isinstance(old, np.ndarray) else value


def _of_attribute(item: onnx.AttributeProto) -> Array | None:
    if item.ref_attr_name:
        return None
    if item.type == KIND.TENSOR:
        return _plain(numpy_helper.to_array(item.t))
    if item.type == KIND.STRING:
        return None  # A word from a list in the text; a shorter one is not in it.
    return np.asarray(helper.get_attribute_value(item)) if item.type in NUMBERS else None


def _set(item: onnx.AttributeProto, array: Array) -> None:
    name, type_ = item.name, item.type
    if type_ == KIND.TENSOR:
        item.t.CopyFrom(numpy_helper.from_array(_like(array, numpy_helper.to_array(item.t)), item.t.name))
        return
    item.CopyFrom(helper.make_attribute(name, array.tolist(), attr_type=type_))


def computed(graph: onnx.GraphProto) -> list[str]:
    """Return the names of the values that the nodes of a graph compute and that are not its outputs."""
    outputs = {item.name for item in graph.output}
    return [name for node in graph.node for name in node.output if name and name not in outputs]


def renamed(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Change names of values in a graph and its subgraphs."""

    def other(name: str) -> str:
        return names.get(name, name)

    for each in (graph, *subgraphs(graph.node)):
        for node in each.node:
            node.input[:] = map(other, node.input)
            node.output[:] = map(other, node.output)
        for item in (*each.input, *each.output, *each.value_info, *each.initializer):
            item.name = other(item.name)


def pruned(candidate: ModelCandidate) -> ModelCandidate:
    """Return a candidate without the nodes, initializers, inputs, functions and declarations that no output needs."""
    model = candidate.copied()
    graph = model.graph
    needed = {item.name for item in graph.output}
    kept: list[onnx.NodeProto] = []
    for node in reversed(graph.node):
        if needed.intersection(filter(None, node.output)):
            kept.append(node)
            needed.update(node.input)
            for inner in subgraphs([node]):
                needed.update(name for other in inner.node for name in other.input)
                needed.update(item.name for item in inner.output)
    _keep(graph.node, list(reversed(kept)))
    _keep(graph.initializer, [item for item in graph.initializer if item.name in needed])
    _keep(graph.input, [item for item in graph.input if item.name in needed])
    known = set(computed(graph))
    _keep(graph.value_info, [item for item in graph.value_info if item.name in known])
    _keep_functions(model)
    return ModelCandidate(model, {name: value for name, value in candidate.inputs.items() if name in needed})


def _keep_functions(model: onnx.ModelProto) -> None:
    """Remove the functions that are not called, and the opsets of domains that are not used."""
    by_key = {(item.domain, item.name): item for item in model.functions}
    called: set[tuple[str, str]] = set()
    nodes = list(model.graph.node)
    domains = {""}
    while nodes:
        node = nodes.pop()
        domains.add(node.domain)
        nodes += [other for graph in subgraphs([node]) for other in graph.node]
        key = (node.domain, node.op_type)
        if key in by_key and key not in called:
            called.add(key)
            nodes += by_key[key].node
    _keep(model.functions, [item for item in model.functions if (item.domain, item.name) in called])
    own = [item for item in model.opset_import if item.domain in domains or item.domain == "ai.onnx"]
    _keep(model.opset_import, own)


def _keep(field: Any, items: list[Any]) -> None:  # noqa: ANN401 - a repeated field
    copies = [type(item)() for item in items]
    for copy, item in zip(copies, items, strict=True):
        copy.CopyFrom(item)
    del field[:]
    field.extend(copies)


def each_declaration(model: onnx.ModelProto, change: Callable[[onnx.ValueInfoProto], None]) -> None:
    """Change every declaration of a value in a model."""
    functions = [graph for function in model.functions for graph in subgraphs(function.node)]
    for graph in (model.graph, *subgraphs(model.graph.node), *functions):
        for item in (*graph.input, *graph.output, *graph.value_info):
            change(item)
    for function in model.functions:
        for item in function.value_info:
            change(item)
