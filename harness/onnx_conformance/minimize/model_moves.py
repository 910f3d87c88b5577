# SPDX-License-Identifier: Apache-2.0
"""Moves from a model to smaller ones: without nodes, outputs, branches, functions or other parts of a graph.

The oracle computes the values within the graph. The output of a removed node becomes an input with the same value. The
oracle decides whether the result is a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.inliner
from onnx import numpy_helper

from onnx_conformance.minimize.model_candidate import KIND, ModelCandidate, computed, each_declaration, pruned, renamed
from onnx_conformance.minimize.moves import PLAIN_TYPES, type_distance
from onnx_conformance.minimize.search_space import Move
from onnx_conformance.specification.element_types import element_type, element_type_named, numpy_dtype
from onnx_conformance.specification.nodes import subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_conformance.base.values import Value
    from onnx_conformance.minimize.search_space import Array

NO_NUMBERS = frozenset({"string", "bool", "complex64", "complex128"})
"""Element types whose values no other type can represent."""
TYPE_ATTRIBUTES = frozenset({"to", "dtype", "output_dtype", "stash_type"})
"""Attributes whose value is the number of an element type."""


def fewer_nodes(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates with fewer nodes."""
    yield from _fewer_outputs(candidate)
    yield from _earlier_ends(candidate)
    yield from _later_beginnings(candidate)
    yield from _bypassed(candidate)
    yield from _inlined(candidate)


def _fewer_outputs(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    names = [item.name for item in candidate.model.graph.output]
    if len(names) < 2:  # noqa: PLR2004 - a model has an output
        return
    for name in names:
        yield Move(_with_outputs(candidate, [name]), f"without the outputs except {name}")
    for name in names:
        yield Move(_with_outputs(candidate, [other for other in names if other != name]), f"without the output {name}")


def _with_outputs(candidate: ModelCandidate, names: Iterable[str]) -> ModelCandidate:
    """Return a candidate with other outputs, and without the parts that they do not need."""
    model = candidate.copied()
    kept = {item.name: item for item in candidate.model.graph.output}
    del model.graph.output[:]
    model.graph.output.extend(kept.get(name) or candidate.evaluated.declared(name) for name in names)
    return pruned(ModelCandidate(model, candidate.inputs))


def _earlier_ends(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates that end with a value within the graph (the first values first), or without a last node."""
    graph = candidate.model.graph
    inner = computed(graph)
    for name in inner:
        yield Move(_with_outputs(candidate, [name]), f"without the nodes after {name}")
    outputs = [item.name for item in graph.output]
    taken = {name for node in graph.node for name in _takes(node)}
    for node in graph.node:
        given = set(filter(None, node.output))
        ends = given & set(outputs)
        before = [name for name in dict.fromkeys(_takes(node)) if name in inner]
        if not ends or given & taken or not before:
            continue
        new = [name for other in outputs for name in ([other] if other not in ends else before)]
        yield Move(_with_outputs(candidate, dict.fromkeys(new)), f"without the {node.op_type} at the end")


def _takes(node: onnx.NodeProto) -> list[str]:
    """Return the names of the inputs of a node, including those in its subgraphs."""
    inner = [name for graph in subgraphs([node]) for other in graph.node for name in other.input]
    return [*filter(None, node.input), *inner, *(item.name for graph in subgraphs([node]) for item in graph.output)]


def _later_beginnings(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates in which inputs or initializers replace the results of nodes at the beginning."""
    nodes = candidate.model.graph.node
    for count in range(len(nodes) - 1, 0, -1):
        names = {name for node in nodes[:count] for name in node.output if name}
        yield from _given(
            candidate,
            names,
            f"without the first {count} nodes" if count > 1 else f"without the first {nodes[0].op_type}",
        )
    for node in nodes:
        yield from _given(candidate, set(filter(None, node.output)), f"without the {node.op_type} of {node.output[0]}")


def _given(candidate: ModelCandidate, names: set[str], description: str) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates without the nodes that compute some values."""
    if names & {item.name for item in candidate.model.graph.output}:
        return
    evaluated = candidate.evaluated
    for as_input in (True, False):
        model, inputs = candidate.copied(), dict(candidate.inputs)
        graph = model.graph
        for node in [node for node in graph.node if names.issuperset(filter(None, node.output))]:
            graph.node.remove(node)
        taken = {name for node in graph.node for name in _takes(node)}
        for name in sorted(names & taken):
            value = evaluated.values[name]
            if as_input:
                graph.input.append(evaluated.declared(name))
                inputs[name] = value
            elif isinstance(value, np.ndarray):
                graph.initializer.append(numpy_helper.from_array(value, name))
            else:
                return
        yield Move(pruned(ModelCandidate(model, inputs)), description)


def _bypassed(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates in which an input of a node replaces its output."""
    graph = candidate.model.graph
    outputs, inner = {item.name for item in graph.output}, {name for node in graph.node for name in node.output}
    for number, node in enumerate(graph.node):
        given = list(filter(None, node.output))
        for taken in dict.fromkeys(filter(None, node.input)):
            if given[0] in outputs and (taken not in inner or taken in outputs):
                continue  # The output of a graph must not be one of its inputs.
            model = candidate.copied()
            del model.graph.node[number]
            renamed(model.graph, {taken: given[0]} if given[0] in outputs else {given[0]: taken})
            yield Move(pruned(ModelCandidate(model, candidate.inputs)), f"without the {node.op_type} of {given[0]}")


def _inlined(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates in which the nodes of a branch replace an If, or those of a function replace its calls."""
    for number, node in enumerate(candidate.model.graph.node):
        if node.op_type != "If" or node.domain not in {"", "ai.onnx"}:
            continue
        for item in node.attribute:
            if item.type == KIND.GRAPH:
                inlined = _with_branch(candidate, number, item.g)
                yield Move(inlined, f"{item.name} instead of the If of {node.output[0]}")
    for function in candidate.model.functions:
        model = onnx.inliner.inline_selected_functions(candidate.copied(), [(function.domain, function.name)])
        yield Move(pruned(ModelCandidate(model, candidate.inputs)), f"the function {function.name} inlined")


def _with_branch(candidate: ModelCandidate, number: int, branch: onnx.GraphProto) -> ModelCandidate:
    model, inner = candidate.copied(), onnx.GraphProto()
    inner.CopyFrom(branch)
    graph = model.graph
    own = {name for node in inner.node for name in node.output if name} | {item.name for item in inner.initializer}
    there = {name for node in graph.node for name in (*node.input, *node.output)} | {item.name for item in graph.input}
    names = {name: f"{name}_{number}" for name in own & there}
    more: list[onnx.NodeProto] = []
    for item, name in zip(branch.output, graph.node[number].output, strict=True):
        if item.name in {made for node in branch.node for made in node.output} and item.name not in names.values():
            names[item.name] = name
        else:
            more.append(onnx.helper.make_node("Identity", [names.get(item.name, item.name)], [name]))
    renamed(inner, names)
    nodes = [*graph.node[:number], *inner.node, *more, *graph.node[number + 1 :]]
    made = onnx.GraphProto()
    made.node.extend(nodes)
    del graph.node[:]
    graph.node.extend(made.node)
    graph.initializer.extend(inner.initializer)
    return pruned(ModelCandidate(model, candidate.inputs))


# Fewer parts other than nodes


def fewer_parts(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates without an attribute, an input of a node, or the parts that do not affect the result."""
    bare = candidate.copied()
    del bare.graph.value_info[:], bare.metadata_props[:], bare.graph.metadata_props[:]
    for text in ("doc_string", "producer_name", "producer_version"):
        bare.ClearField(text)
    bare.graph.ClearField("doc_string")
    yield Move(ModelCandidate(bare, candidate.inputs), "without the parts that do not affect the result")
    for number, node in enumerate(candidate.model.graph.node):
        for index in range(len(node.attribute)):
            model = candidate.copied()
            name = model.graph.node[number].attribute.pop(index).name
            yield Move(pruned(ModelCandidate(model, candidate.inputs)), f"without {name} of {node.op_type}")
        for index in range(len(node.input) - 1, -1, -1):
            model = candidate.copied()
            del model.graph.node[number].input[index]
            yield Move(pruned(ModelCandidate(model, candidate.inputs)), f"without input {index} of {node.op_type}")
            if index < len(node.input) - 1 and node.input[index]:
                model = candidate.copied()
                model.graph.node[number].input[index] = ""
                yield Move(pruned(ModelCandidate(model, candidate.inputs)), f"without input {index} of {node.op_type}")
        for index in range(len(node.output) - 1, 0, -1):
            model = candidate.copied()
            del model.graph.node[number].output[index]
            yield Move(pruned(ModelCandidate(model, candidate.inputs)), f"without output {index} of {node.op_type}")
    yield from _as_inputs(candidate)


def _as_inputs(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates in which an initializer becomes an input."""
    for index, tensor in enumerate(candidate.model.graph.initializer):
        if tensor.name in candidate.inputs or any(item.name == tensor.name for item in candidate.model.graph.input):
            continue
        model = candidate.copied()
        del model.graph.initializer[index]
        model.graph.input.append(candidate.evaluated.declared(tensor.name))
        inputs = {**candidate.inputs, tensor.name: candidate.evaluated.values[tensor.name]}
        yield Move(ModelCandidate(model, inputs), f"{tensor.name} as an input")


# More common types


def plainer_types(candidate: ModelCandidate) -> Iterator[Move[ModelCandidate]]:
    """Yield candidates in which every tensor of one type has a more common type."""
    names = {element_type(leaf.array.dtype).name for leaf in candidate.leaves() if leaf.tensor}
    for name in sorted(names - NO_NUMBERS, key=lambda item: -type_distance(item)):
        for other in PLAIN_TYPES[: type_distance(name)]:
            if other not in NO_NUMBERS:
                yield Move(_retyped(candidate, name, other), f"{other} instead of {name}")


def _retyped(candidate: ModelCandidate, name: str, other: str) -> ModelCandidate:
    before, after = element_type_named(name), element_type_named(other)
    dtype = numpy_dtype(after.number)

    def cast(array: Array) -> Array:
        with np.errstate(all="ignore"):
            return array.astype(dtype) if element_type(array.dtype).number == before.number else array

    def of_value(value: Value) -> Any:  # noqa: ANN401 - a value of the same kind
        if isinstance(value, list):
            return [of_value(item) for item in value]
        return cast(value) if isinstance(value, np.ndarray) else value

    model = candidate.copied()
    each_declaration(model, lambda item: _redeclare(item.type, before.number, after.number))
    functions = [graph for function in model.functions for graph in subgraphs(function.node)]
    graphs = (model.graph, *subgraphs(model.graph.node), *functions)
    for graph in graphs:
        for tensor in graph.initializer:
            tensor.CopyFrom(numpy_helper.from_array(cast(numpy_helper.to_array(tensor)), tensor.name))
    every = [node for part in (*graphs, *model.functions) for node in part.node]
    for item in (item for node in every for item in node.attribute):
        if item.type == KIND.TENSOR:
            item.t.CopyFrom(numpy_helper.from_array(cast(numpy_helper.to_array(item.t)), item.t.name))
        elif item.type == KIND.INT and item.name in TYPE_ATTRIBUTES and item.i == before.number:
            item.i = after.number
    return ModelCandidate(model, {key: of_value(value) for key, value in candidate.inputs.items()})


def _redeclare(type_: onnx.TypeProto, before: int, after: int) -> None:
    """Change the element type of a tensor, or of those in a sequence or an optional, if it is this one."""
    match type_.WhichOneof("value"):
        case "tensor_type" if type_.tensor_type.elem_type == before:
            type_.tensor_type.elem_type = after
        case "sequence_type":
            _redeclare(type_.sequence_type.elem_type, before, after)
        case "optional_type":
            _redeclare(type_.optional_type.elem_type, before, after)
