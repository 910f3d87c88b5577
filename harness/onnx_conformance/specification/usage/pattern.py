# SPDX-License-Identifier: Apache-2.0
"""Patterns: how nodes of a model call their operators, without any of the model's values.

A pattern contains the types, attributes and inputs of a node, and a class of their size. Two nodes with the same
pattern run the same code in most runtimes. The text of a pattern is a line of `usage.tsv`:

    operator          types     attributes              inputs        size
    ai.onnx/Conv/11   T=float   auto_pad=VALID group:1  X/4 W/4c B/1c 4

- types: the element types by type variable. A variable whose type is unknown is absent.
- attributes: the attributes that the node sets. The name of an enumeration follows `=`. The class of an integer follows
  `:`; it is -, 0, 1 or + for integers above 1. For an axis, the class is the sign: - or +.
- inputs: the inputs that the node has, each with its rank, or ? if the rank is unknown. `c` marks a constant. A
  variadic input with several values is written `inputs*/4`; if their ranks differ, they are joined: `inputs*/2,3`.
- size: the number of elements of the largest input, as the largest power of 16 that it reaches; ? if unknown.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx.inliner
import onnx.shape_inference

from onnx_conformance.specification import nodes, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_conformance.specification.schema import OperatorVersion, Parameter

UNKNOWN = "?"
_TYPES = frozenset({"to", "dtype", "output_dtype", "element_type"})
"""Attributes that name an element type; the types of the outputs contain it already."""
_LISTS = frozenset({"activations", "nodes_modes"})
"""Attributes that list names of enumerations; the order of the names and their number are left out."""
_AXES = frozenset({"axis", "batch_axis", "time_axis", "input_axis"})
_LARGEST_SHAPE = 1024
"""Shape inference reads the values of initializers up to this number of bytes: shapes, axes, sizes."""


@dataclass(frozen=True, order=True)
class Pattern:
    """How a node calls an operator; the module describes the texts.

    Attributes:
        operator: the operator version in force, such as ai.onnx/Conv/11.
        types: the words of the types, sorted.
        attributes: the words of the attributes, sorted.
        inputs: the words of the inputs, in the order of the signature.
        size: the class of the largest input.
    """

    operator: str
    types: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    size: str = UNKNOWN

    @property
    def name(self) -> str:
        """The operator without its version, such as ai.onnx/Conv."""
        return self.operator.rpartition("/")[0]

    def columns(self) -> list[str]:
        """Return the columns of its line in the table."""
        words = (" ".join(words) for words in (self.types, self.attributes, self.inputs))
        return [self.operator, *words, self.size]

    @classmethod
    def of_columns(cls, operator: str, types: str, attributes: str, inputs: str, size: str) -> Pattern:
        """Return the pattern of a line in the table."""
        return cls(operator, tuple(types.split()), tuple(attributes.split()), tuple(inputs.split()), size)


class Words:
    """The parts of the words of a pattern."""

    @staticmethod
    def of_input(word: str) -> tuple[str, str, str]:
        """Return the name, * if there are several values, and the ranks of the word of an input without a constant."""
        name, _, ranks = word.partition("/")
        return name.removesuffix("*"), "*" if name.endswith("*") else "", ranks


@dataclass(frozen=True)
class _Known:
    """The known properties of a value: its type, its rank, its number of elements, whether it is a constant."""

    type: str = ""  # as `Type.short` writes it, without spaces
    rank: int | None = None
    elements: int | None = None
    constant: bool = False


def inferred(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose values have the types and shapes that ONNX infers, and whose functions are written out.

    The model itself loses the data of its large initializers.
    """
    for graph in (model.graph, *nodes.subgraphs(model.graph.node)):
        for item in graph.initializer:
            if item.ByteSize() > _LARGEST_SHAPE:
                for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
                    item.ClearField(field)
    if model.functions and nodes.expanded(model) <= nodes.MOST_EXPANDED:
        model = onnx.inliner.inline_local_functions(model)
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # noqa: BLE001 - a model without inference still has patterns, with less known
        return model


def of_model(model: onnx.ModelProto) -> Iterator[Pattern]:
    """Yield the pattern of each node of a model, including subgraphs and functions.

    Args:
        model: the model, after `inferred`; without it, types and ranks are known only where the model declares them.
    """
    yield from _of_graph(model.graph, _opsets(model.opset_import), {})
    for function in model.functions:
        for node in nodes.within(function.node):
            yield _of_node(node, _opsets(function.opset_import), {})


def _opsets(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {item.domain or "ai.onnx": item.version for item in imports}


def _of_graph(graph: onnx.GraphProto, opsets: Mapping[str, int], outer: Mapping[str, _Known]) -> Iterator[Pattern]:
    known = dict(outer)
    for info in (*graph.value_info, *graph.output, *graph.input):
        known[info.name] = _of_type(info.type)
    for item in graph.initializer:
        known[item.name] = _of_tensor(item)
    for sparse in graph.sparse_initializer:
        known[sparse.values.name] = dataclasses.replace(
            _of_tensor(sparse.values), rank=len(sparse.dims), elements=math.prod(sparse.dims)
        )
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            known[node.output[0]] = _of_constant(node, known.get(node.output[0], _Known()))
    for node in graph.node:
        yield _of_node(node, opsets, known)
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from _of_graph(inner, opsets, known)


def _of_type(proto: onnx.TypeProto) -> _Known:
    try:
        type_ = schema.type_of_proto(proto)
    except KeyError:  # No element type, or none that this onnx knows.
        type_ = None
    text = type_.short.replace(" ", "") if type_ else ""
    tensor = proto.sparse_tensor_type if proto.HasField("sparse_tensor_type") else proto.tensor_type
    if not tensor.HasField("shape"):
        return _Known(text)
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
    fixed = [size for size in sizes if size is not None]
    return _Known(text, len(sizes), math.prod(fixed) if len(fixed) == len(sizes) else None)


def _of_tensor(item: onnx.TensorProto) -> _Known:
    try:
        text = schema.tensor_of(item.data_type).short
    except KeyError:
        text = ""
    return _Known(text, len(item.dims), math.prod(item.dims), constant=True)


def _of_constant(node: onnx.NodeProto, inferred_: _Known) -> _Known:
    for attribute in node.attribute:
        if attribute.name == "value":
            return _of_tensor(attribute.t)
    return dataclasses.replace(inferred_, constant=True)


def _of_node(node: onnx.NodeProto, opsets: Mapping[str, int], known: Mapping[str, _Known]) -> Pattern:
    domain = node.domain or "ai.onnx"
    opset = opsets.get(domain, 0)
    attributes = tuple(sorted(map(_attribute, node.attribute)))
    if not schema.exists(domain, node.op_type, opset):
        return Pattern(f"{domain}/{node.op_type}/{opset}", attributes=attributes)
    version = schema.in_force(domain, node.op_type, opset)
    values = [known.get(name, _Known()) for name in node.input if name]
    elements = [value.elements for value in values]
    size = UNKNOWN if None in elements else str(_size_class(max((item or 0 for item in elements), default=0)))
    return Pattern(str(version), _types(version, node, known), attributes, tuple(_inputs(version, node, known)), size)


def _size_class(elements: int) -> int:
    """Return the largest power of 16 that a number of elements reaches: 0 for 1 to 15, 1 for 16 to 255."""
    return (max(elements, 1).bit_length() - 1) // 4


def _attribute(item: onnx.AttributeProto) -> str:
    if item.type == onnx.AttributeProto.STRING and item.s.decode("utf-8", "replace").isidentifier():
        return f"{item.name}={item.s.decode()}"  # Other texts are no enumerations: equations, words of a model.
    if item.type == onnx.AttributeProto.STRINGS and item.name in _LISTS:
        return f"{item.name}={','.join(sorted({text.decode('utf-8', 'replace') for text in item.strings}))}"
    if item.type == onnx.AttributeProto.INT and item.name not in _TYPES:
        if item.name in _AXES:
            return f"{item.name}:{'-' if item.i < 0 else '+'}"
        return f"{item.name}:{item.i if item.i in {0, 1} else '-' if item.i < 0 else '+'}"
    return item.name


def _types(version: OperatorVersion, node: onnx.NodeProto, known: Mapping[str, _Known]) -> tuple[str, ...]:
    found: dict[str, dict[str, None]] = {}
    for parameters, names in ((version.inputs, node.input), (version.outputs, node.output)):
        for parameter, values in _arguments(parameters, names, known):
            if parameter.type in version.types:
                for value in values:
                    if value.type:
                        found.setdefault(parameter.type, {})[value.type] = None
    return tuple(sorted(f"{variable}={'+'.join(sorted(texts))}" for variable, texts in found.items()))


def _inputs(version: OperatorVersion, node: onnx.NodeProto, known: Mapping[str, _Known]) -> Iterator[str]:
    for parameter, values in _arguments(version.inputs, node.input, known):
        if values:
            ranks = {UNKNOWN if value.rank is None else str(value.rank) for value in values}
            several = "*" if len(values) > 1 else ""
            constant = "c" if any(value.constant for value in values) else ""
            yield f"{parameter.name}{several}/{','.join(sorted(ranks))}{constant}"


def _arguments(
    parameters: Iterable[Parameter], names: Iterable[str], known: Mapping[str, _Known]
) -> Iterator[tuple[Parameter, list[_Known]]]:
    """Yield each parameter of a signature with the values that a node has for it."""
    rest = list(names)
    for index, parameter in enumerate(parameters):
        chosen = rest[index:] if parameter.variadic else rest[index : index + 1]
        yield parameter, [known.get(name, _Known()) for name in chosen if name]
