# SPDX-License-Identifier: Apache-2.0
"""The operator versions, types and attributes that a model uses."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import onnx.shape_inference
from onnx import helper

from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_conformance.specification.schema import OperatorVersion

CONTAINERS = frozenset({Kind.SEQUENCE, Kind.OPTIONAL, Kind.MAP})
MOST_CALLS = 10_000
"""Maximum number of calls of functions whose types are examined; the others count without types."""


AttributeValue = int | float | str | tuple[int | float | str, ...]
"""The value of an attribute that can be compared."""


def attribute_value(attribute: onnx.AttributeProto) -> AttributeValue | None:
    """Return the value of an attribute; None if it is a tensor, a graph or a type."""
    return comparable(None if attribute.ref_attr_name else helper.get_attribute_value(attribute))


def comparable(value: object) -> AttributeValue | None:
    """Return a value of an attribute, or a default of a schema, in the form of AttributeValue; None if it has none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, list | tuple):
        items = [comparable(item) for item in value]
        return tuple(item for item in items if isinstance(item, int | float | str)) if None not in items else None
    return None


@dataclass
class Use:
    """The nodes of a model with one operator version.

    Attributes:
        operator: the operator, such as ai.onnx/Split.
        version: the version in force for the model; 0 if ONNX has no such operator in this opset.
        nodes: the number of nodes.
        types: the element types of their inputs and outputs that shape inference determines.
        attributes: the names of the attributes that are set.
        bound: by type variable, or by the type of a parameter without a variable, the types of the inputs and outputs.
        unknown: the type variables of inputs and outputs whose type is not determined.
        contains: whether a value in a container is an input or output.
        values: by name, the values of attributes that are numbers, texts or lists of them, if they are read.
        ranks: by the name of an input, the ranks of its tensors, if they are read.
    """

    operator: str
    version: int
    nodes: int = 0
    types: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    bound: dict[str, set[Type]] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    contains: bool = False
    values: dict[str, set[AttributeValue]] = field(default_factory=dict)
    ranks: dict[str, set[int]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the operator version, such as ai.onnx/Split/18."""
        return f"{self.operator}/{self.version}"


@dataclass(frozen=True)
class Scope:
    """The values of a graph and of the graphs around it, by name.

    Attributes:
        types: the types that are known.
        shapes: the shapes of tensors whose rank is known; None for a dimension without a number.
        constants: the tensors of initializers and Constant nodes.
    """

    types: dict[str, Type] = field(default_factory=dict)
    shapes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A node of a model, and the known facts about its values.

    Attributes:
        operator: the operator, such as ai.onnx/Split.
        version: the version in force for the model; None if ONNX has no such operator in this opset.
        opset: the opset that the model imports; 0: none.
        node: the node.
        scope: the values that it can use.
    """

    operator: str
    version: OperatorVersion | None
    opset: int
    node: onnx.NodeProto
    scope: Scope


def calls(model: onnx.ModelProto) -> list[Call]:
    """Return the nodes of a model, including those of subgraphs and functions, except the calls of its functions.

    A node of a function occurs once for each different list of types of the function's inputs.
    """
    reader = _Reader(model, infer=True)
    own = {use.operator for use in reader.read()}
    return [call for call in reader.calls if call.operator in own]


def uses(model: onnx.ModelProto, *, infer: bool = True) -> list[Use]:
    """Return the operators that a model uses, including subgraphs and functions.

    Args:
        model: the model.
        infer: whether onnx's shape inference determines types, in addition to the signatures. It may end the process if
            the model is invalid.
    """
    reader = _Reader(model, infer=infer)
    return sorted(reader.read(), key=lambda use: (use.operator, use.version))


@functools.cache
def only_contains(types: tuple[str, ...]) -> bool:
    """Return whether a parameter with these types has only values in containers."""
    return bool(types) and all(Type.parse(text).kind in CONTAINERS for text in types)


class _Reader:
    """Collects the uses of one model."""

    def __init__(self, model: onnx.ModelProto, *, infer: bool) -> None:
        self._model = model
        self._functions = {(item.domain, item.name): item for item in model.functions}
        self._found: dict[tuple[str, int], Use] = {}
        self._calls: set[tuple[tuple[str, str], tuple[str, ...]]] = set()
        self._counted: set[tuple[str, str]] = set()
        self.calls: list[Call] = []
        # Shape inference writes functions out in place of their calls.
        self._infers = infer and of_model.expanded(model) <= of_model.MOST_EXPANDED

    def read(self) -> Iterable[Use]:
        """Return the operators that the model uses, except its own functions."""
        model = self._inferred(self._model)
        self._walk(model.graph.node, _opsets(model.opset_import), _scope(model.graph, Scope()), count=True)
        for key, function in self._functions.items():
            if key not in self._counted:  # No call of it, or too many calls.
                self._counted.add(key)
                self._walk(function.node, _opsets(function.opset_import), Scope(), count=True)
        own = {f"{domain or 'ai.onnx'}/{name}" for domain, name in self._functions}
        return (use for use in self._found.values() if use.operator not in own)

    def _inferred(self, model: onnx.ModelProto) -> onnx.ModelProto:
        with contextlib.suppress(Exception):  # Without it, only the types that the model declares are known.
            if self._infers:
                return onnx.shape_inference.infer_shapes(model)
        return model

    def _walk(self, nodes: Iterable[onnx.NodeProto], opsets: Mapping[str, int], scope: Scope, *, count: bool) -> None:
        types = scope.types
        for node in nodes:
            domain = node.domain or "ai.onnx"
            version = _version(domain, node.op_type, opsets.get(domain, 0))
            key = f"{domain}/{node.op_type}", version.since if version else 0
            use = self._found.setdefault(key, Use(*key))
            use.nodes += count
            self.calls.append(Call(key[0], version, opsets.get(domain, 0), node, scope))
            if use.operator == "ai.onnx/Constant":
                tensors = [item.t for item in node.attribute if item.name == "value"]
                scope.constants.update(zip(node.output, tensors, strict=False))
            of_node = [types[name] for name in (*node.input, *node.output) if name in types]
            use.types |= {item.element for item in of_node if item.is_tensor}
            use.attributes |= {item.name for item in node.attribute}
            if version is not None:
                _bind(use, version, node, types)
            function = self._functions.get((node.domain, node.op_type))
            if function is not None:
                self._call(function, node, types)
            for graph in _graphs(node):
                self._walk(graph.node, opsets, _scope(graph, scope), count=count)

    def _call(self, function: onnx.FunctionProto, node: onnx.NodeProto, types: Mapping[str, Type]) -> None:
        """Read the nodes of a function with the types of one of its calls."""
        named = (function.domain, function.name)
        texts = tuple(str(types.get(name, "")) for name in node.input)
        if (named, texts) in self._calls or len(self._calls) >= MOST_CALLS:
            return
        self._calls.add((named, texts))
        first = named not in self._counted
        self._counted.add(named)
        known = dict(zip(function.input, (types.get(name) for name in node.input), strict=False))
        declared = [helper.make_value_info(name, schema.type_proto(item)) for name, item in known.items() if item]
        # A model with the nodes of the function; its outputs are not declared.
        model = onnx.ModelProto(ir_version=self._model.ir_version, opset_import=function.opset_import)
        if any((item.domain, item.op_type) in self._functions for item in of_model.within(function.node)):
            model.functions.extend(self._model.functions)
        model.graph.CopyFrom(helper.make_graph(function.node, "function", declared, []))
        model = self._inferred(model)
        self._walk(model.graph.node, _opsets(function.opset_import), _scope(model.graph, Scope()), count=first)


def _bind(use: Use, version: OperatorVersion, node: onnx.NodeProto, types: dict[str, Type]) -> None:
    """Add the types of the inputs and outputs of a node to a use, and those of the outputs to `types`."""
    of_inputs: dict[str, Type] = {}
    for names, parameters in ((node.input, version.inputs), (node.output, version.outputs)):
        for index, name in enumerate(names):
            if not name or not parameters or (index >= len(parameters) and not parameters[-1].variadic):
                continue
            parameter = parameters[min(index, len(parameters) - 1)]
            allowed = version.allowed(parameter.type)
            known = types.get(name)
            if known is None and parameter.homogeneous:
                known = Type.parse(allowed[0]) if len(allowed) == 1 else of_inputs.get(parameter.type)
            if known is None:
                use.unknown.add(parameter.type)
                use.contains |= only_contains(allowed)
                continue
            types.setdefault(name, known)
            of_inputs.setdefault(parameter.type, known)
            use.bound.setdefault(parameter.type, set()).add(known)
            use.contains |= known.kind in CONTAINERS


def _opsets(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {item.domain or "ai.onnx": item.version for item in imports}


def _scope(graph: onnx.GraphProto, outer: Scope) -> Scope:
    """Return the values of a graph by name, including those of the outer graphs."""
    types, shapes, constants = dict(outer.types), dict(outer.shapes), dict(outer.constants)
    for info in (*graph.input, *graph.value_info, *graph.output):
        with contextlib.suppress(KeyError):  # An element type that ONNX does not have.
            if known := schema.type_of_proto(info.type):
                types[info.name] = known
        if info.type.tensor_type.HasField("shape"):
            shapes[info.name] = tuple(
                item.dim_value if item.HasField("dim_value") else None for item in info.type.tensor_type.shape.dim
            )
    inputs = {info.name for info in graph.input}
    for item in graph.initializer:
        with contextlib.suppress(KeyError):
            types[item.name] = schema.tensor_of(item.data_type)
        shapes[item.name] = tuple(item.dims)
        if item.name not in inputs:  # Otherwise it is a default, which the caller may replace.
            constants[item.name] = item
    return Scope(types, shapes, constants)


def _graphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for item in node.attribute:
        yield from item.graphs
        if item.HasField("g"):
            yield item.g


def _version(domain: str, name: str, opset: int) -> OperatorVersion | None:
    try:
        return schema.in_force(domain, name, opset)
    except schema.SchemaError:
        return None


def by_position(model: onnx.ModelProto, operator: str) -> Use:
    """Return the use of an operator version by a model without its node, such as its expanded function body.

    The inputs and outputs of the graph are those of the node, in the same order. If ONNX does not have the operator
    version, their types have no variables.
    """
    graph = model.graph
    path, _, since = operator.rpartition("/")
    use = Use(path or operator, int(since) if path and since.isdecimal() else 0)
    inputs, outputs = [item.name for item in graph.input], [item.name for item in graph.output]
    types = _scope(graph, Scope()).types
    domain, _, name = use.operator.partition("/")
    if operator in schema.every().get(use.operator, ()):
        _bind(use, schema.in_force(domain, name, use.version), helper.make_node(name, inputs, outputs), types)
        return use
    known = {types[item] for item in (*inputs, *outputs) if item in types}
    use.bound = {"": known} if known else {}
    use.contains = any(item.kind in CONTAINERS for item in known)
    return use
