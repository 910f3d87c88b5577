"""Evaluates whole models with the oracles of the operator files: nodes, functions, subgraphs.

It is also a backend: `run` and `info` below are what `backends/serve.py` asks of an adapter.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

from backends.protocol import element_type
from harness import registry as registries
from harness import schema
from harness.declare import Rejected, Rule, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    from harness.case import Value
    from harness.declare import Op
    from harness.registry import Registry
    from harness.schema import OperatorVersion, Parameter

OPT_OUTS = (("UndeclaredError", r"", "no operator file"),)

MAX_DEPTH = 64
"""Functions that call functions, and subgraphs in subgraphs; deeper is taken for a circle."""


class UndeclaredError(Exception):
    """No operator file says what this operator means, and the text gives no function body."""


class OracleError(Exception):
    """An oracle broke its own declaration; a fault of the operator file."""


def type_of(value: Value) -> str:
    """Return ONNX's name of a value's type: tensor(float), seq(tensor(float)); empty if it cannot be told."""
    if isinstance(value, np.ndarray):
        return f"tensor({element_type(value.dtype).name})"
    if isinstance(value, list):
        inner = type_of(value[0]) if value else ""
        return f"seq({inner})" if inner else ""
    return ""


def bind(version: OperatorVersion, inputs: Sequence[Value | list[Value]]) -> dict[str, str]:
    """Return what each type variable stands for, taken from the inputs in order; nothing is checked."""
    bound: dict[str, str] = {}
    for parameter, given in zip(version.inputs, inputs, strict=False):
        if parameter.type in version.types:
            for value in given if parameter.variadic and isinstance(given, list) else [given]:
                if text := type_of(value):
                    bound.setdefault(parameter.type, text)
    return bound


def output_types(op: Op, version: OperatorVersion, bound: Mapping[str, str], n: int) -> list[str]:
    """Return the types of the first n outputs."""
    bound = {**{variable: version.default_type(variable) for variable in version.types}, **bound}
    types = []
    for index in range(n):
        parameter = version.outputs[min(index, len(version.outputs) - 1)]
        if parameter.type in op.derives:
            types.append(op.derives[parameter.type](bound))
        else:
            types.append(bound.get(parameter.type, parameter.type))
    return types


def check(version: OperatorVersion, inputs: Sequence[Any], attributes: Mapping[str, Any], n: int) -> None:
    """Raise Rejected where a node breaks its operator's signature, before any meaning is asked."""
    if version.deprecated:
        raise Rejected(Rule.DEPRECATED, f"since {version.since}")
    _check_attributes(version, attributes)
    most = len(version.outputs)
    if n < version.outputs_least or (n > most and not version.outputs[-1].variadic):
        raise Rejected(Rule.ARITY, f"{n} outputs")
    if len(inputs) > len(version.inputs):
        raise Rejected(Rule.ARITY, f"{len(inputs)} inputs")
    bound: dict[str, str] = {}
    for index, parameter in enumerate(version.inputs):
        given = inputs[index] if index < len(inputs) else None
        values = given if parameter.variadic and isinstance(given, list) else [given]
        if parameter.variadic and len(values) < parameter.least:
            raise Rejected(Rule.ARITY, f"{len(values)} of {parameter.name}")
        for value in values:
            _check_type(version, parameter, value, bound)


def _check_attributes(version: OperatorVersion, attributes: Mapping[str, Any]) -> None:
    for attribute in version.attributes.values():
        if attribute.required and attribute.name not in attributes:
            raise Rejected(Rule.ATTRIBUTES, f"{attribute.name} is required")
    for name in attributes:
        if name not in version.attributes:
            raise Rejected(Rule.ATTRIBUTES, f"there is no {name}")


def _check_type(version: OperatorVersion, parameter: Parameter, value: Value, bound: dict[str, str]) -> None:
    text = type_of(value)
    allowed = version.allowed(parameter.type)
    if value is None:
        if not parameter.optional and not any(type_.startswith("optional") for type_ in allowed):
            raise Rejected(Rule.ARITY, f"{parameter.name} is required")
        return
    if text and text not in allowed:
        raise Rejected(Rule.TYPES, f"{parameter.name} is {text}")
    if text and parameter.type in version.types and parameter.homogeneous:
        first = bound.setdefault(parameter.type, text)
        if first != text:
            raise Rejected(Rule.TYPES, f"{parameter.type} is {first} and {text}")


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)


def widen(value: Any) -> Any:  # noqa: ANN401 - any value, or a list of them
    """Return floating values as float64 and complex ones as complex128; all others as they are."""
    if isinstance(value, list):
        return [widen(item) for item in value]
    if isinstance(value, np.ndarray):
        if _is_float(value.dtype):
            with np.errstate(invalid="ignore"):  # A signalling NaN becomes a quiet one.
                return value.astype(np.float64)
        if value.dtype.kind == "c":
            return value.astype(np.complex128)
    return value


def _round(value: Any, type_: str) -> Any:  # noqa: ANN401
    """Round once, to the nearest value of the output's type."""
    if isinstance(value, list):
        inner = type_.removeprefix("seq(").removesuffix(")") if type_.startswith("seq(") else type_
        return [_round(item, inner) for item in value]
    dtype = schema.dtype_of(type_)
    array = np.asarray(value)
    if array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        return array.astype(dtype)


@dataclass(frozen=True)
class Answer:
    """What an oracle says: the values of the outputs, and the arguments it was asked with."""

    outputs: list[Value]
    arguments: Mapping[str, Any]


def apply(op: Op, version: OperatorVersion, inputs: Sequence[Any], attributes: Mapping[str, Any], n: int) -> Answer:
    """Return what one node means.

    Args:
        op: the declared operator.
        version: the version in force.
        inputs: in the signature's order; None for one left out, a list for a variadic one.
        attributes: those given.
        n: how many outputs the node declares.

    Raises:
        Rejected: the text forbids it.
        Unspecified: the text leaves it open.
        OracleError: the oracle gave too few outputs.
    """
    check(version, inputs, attributes, n)
    oracle = op.oracle_for(version.since)
    known = {name: attributes.get(name, item.default) for name, item in version.attributes.items()}
    for index, parameter in enumerate(version.inputs):
        name = f"{parameter.name}_input" if parameter.name in version.attributes else parameter.name
        known[name] = widen(inputs[index]) if index < len(inputs) else None
    arguments = {name: known.get(name) for name in oracle.parameters}  # One oracle may serve versions that lack some.
    counted = {"n": n} if oracle.takes_count else {}
    result = oracle.function(Version(version.since), **counted, **arguments)
    types = output_types(op, version, bind(version, inputs), n)
    outputs = list(result) if isinstance(result, tuple) or version.outputs[-1].variadic else [result]
    if len(outputs) < n:
        raise OracleError(f"{version}: the oracle gave {len(outputs)} outputs, the node has {n}")
    return Answer([_round(value, type_) for value, type_ in zip(outputs, types, strict=False)], arguments)


@dataclass(frozen=True)
class Scope:
    """What the nodes of one graph may see: the opsets, the model's own functions, the attributes of a call."""

    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str], onnx.FunctionProto]
    call: Mapping[str, onnx.AttributeProto]
    depth: int = 0


class Evaluator:
    """Evaluates models with the operators of one registry."""

    def __init__(self, registry: Registry | None = None) -> None:
        """Take a registry; without one, that of all operator files."""
        self.registry = registry or registries.load()

    def model(self, model: onnx.ModelProto, inputs: Mapping[str, Value]) -> dict[str, Value]:
        """Return the values of the graph's outputs by name.

        Raises:
            Rejected: the text forbids the model or the inputs.
            Unspecified: the text leaves open what they mean.
            UndeclaredError: an operator has neither a file nor a function body.
        """
        scope = Scope(
            opsets={item.domain or "ai.onnx": item.version for item in model.opset_import},
            functions={(item.domain or "ai.onnx", item.name): item for item in model.functions},
            call={},
        )
        return self.graph(model.graph, inputs, scope)

    def graph(self, graph: onnx.GraphProto, values: Mapping[str, Value], scope: Scope) -> dict[str, Value]:
        """Return the outputs of a graph; `values` holds its inputs, and for a subgraph what lies around it."""
        local: MutableMapping[str, Value] = ChainMap({}, dict(values))
        for tensor in graph.initializer:
            if tensor.name not in values:
                local[tensor.name] = numpy_helper.to_array(tensor)
        self._nodes(graph.node, local, scope)
        return {item.name: local[item.name] for item in graph.output}

    def _nodes(self, nodes: Sequence[onnx.NodeProto], local: MutableMapping[str, Value], scope: Scope) -> None:
        if scope.depth > MAX_DEPTH:
            raise Rejected(Rule.ARITY, f"calls nest deeper than {MAX_DEPTH}")
        for node in nodes:
            for name in node.input:
                if name and name not in local:
                    raise Rejected(Rule.ARITY, f"nothing gives {name}, which {node.op_type} takes")
            given = [local[name] if name else None for name in node.input]
            for name, value in zip(node.output, self._node(node, given, local, scope), strict=False):
                if name:
                    local[name] = value

    def _node(
        self, node: onnx.NodeProto, given: list[Value], local: Mapping[str, Value], scope: Scope
    ) -> Sequence[Value]:
        domain = node.domain or "ai.onnx"
        attributes = [self._resolved(item, scope) for item in node.attribute]
        present = {item.name: item for item in attributes if item is not None}
        function = scope.functions.get((domain, node.op_type))
        if function is not None:
            return self._call(function, given, present, scope)
        if domain not in scope.opsets:
            raise Rejected(Rule.ARITY, f"the model imports no opset of {domain}")
        opset = scope.opsets[domain]
        op = self.registry.find(domain, node.op_type)
        if op is None:
            known = schema.exists(domain, node.op_type, opset)
            body = schema.function_body(domain, node.op_type, opset) if known else None
            if body is None:
                raise UndeclaredError(f"no operator file says what {domain}/{node.op_type} means in opset {opset}")
            return self._call(body, given, {**_defaults(domain, node.op_type, opset), **present}, scope)
        version = schema.in_force(domain, node.op_type, opset)
        named = {name: self._attribute(item, local, scope) for name, item in present.items()}
        return apply(op, version, gather(version, given), named, len(node.output)).outputs

    @staticmethod
    def _resolved(item: onnx.AttributeProto, scope: Scope) -> onnx.AttributeProto | None:
        """Return the attribute itself, or what the call gave for the one that it refers to."""
        if not item.ref_attr_name:
            return item
        if item.ref_attr_name not in scope.call:
            return None
        named = onnx.AttributeProto()
        named.CopyFrom(scope.call[item.ref_attr_name])
        named.name = item.name
        return named

    def _attribute(self, item: onnx.AttributeProto, local: Mapping[str, Value], scope: Scope) -> Any:  # noqa: ANN401
        if item.type == onnx.AttributeProto.GRAPH:
            return self._subgraph(item.g, local, scope)
        value = onnx.helper.get_attribute_value(item)
        if item.type == onnx.AttributeProto.TENSOR:
            return numpy_helper.to_array(value)
        return value if isinstance(value, str | bytes | int | float) else list(value)

    def _subgraph(self, graph: onnx.GraphProto, local: Mapping[str, Value], scope: Scope) -> Callable[..., list[Value]]:
        inner = Scope(scope.opsets, scope.functions, scope.call, scope.depth + 1)

        def evaluate(*arguments: Value) -> list[Value]:
            named = dict(zip((item.name for item in graph.input), arguments, strict=True))
            return list(self.graph(graph, {**local, **named}, inner).values())

        return evaluate

    def _call(
        self,
        function: onnx.FunctionProto,
        given: list[Value],
        attributes: Mapping[str, onnx.AttributeProto],
        scope: Scope,
    ) -> list[Value]:
        defaults = {item.name: item for item in function.attribute_proto}
        opsets = {item.domain or "ai.onnx": item.version for item in function.opset_import}
        inner = Scope(opsets or scope.opsets, scope.functions, {**defaults, **attributes}, scope.depth + 1)
        if len(given) > len(function.input):
            raise Rejected(Rule.ARITY, f"{len(given)} inputs for the {len(function.input)} of {function.name}")
        absent = [None] * (len(function.input) - len(given))
        local: dict[str, Value] = dict(zip(function.input, [*given, *absent], strict=True))
        self._nodes(function.node, local, inner)
        return [local.get(name) for name in function.output]


def _defaults(domain: str, name: str, opset: int) -> dict[str, onnx.AttributeProto]:
    """Return the defaults of a schema's attributes, which the function body of the schema does not repeat."""
    return {
        item.name: onnx.helper.make_attribute(
            item.name, item.default, attr_type=onnx.AttributeProto.AttributeType.Value(item.type)
        )
        for item in schema.in_force(domain, name, opset).attributes.values()
        if item.default is not None
    }


def gather(version: OperatorVersion, given: list[Value]) -> list[Any]:
    """Return positional inputs with those of a trailing variadic parameter gathered into one list."""
    if not version.inputs or not version.inputs[-1].variadic:
        return given
    fixed = len(version.inputs) - 1
    return [*given[:fixed], given[fixed:]]


def info() -> dict[str, Any]:
    """Return what the hello message says of this backend."""
    return {"runtime": "oracle", "version": f"onnx {onnx.__version__}, ml_dtypes {ml_dtypes.__version__}"}


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    answers = Evaluator().model(onnx.load_from_string(model), inputs)
    return [answers[name] for name in outputs]
