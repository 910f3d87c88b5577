# SPDX-License-Identifier: Apache-2.0
"""Evaluates whole models with the oracles of the operator files: nodes, functions, subgraphs.

It is also a backend: `run` and `info` below are the functions of an adapter that `backends/serve.py` calls.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.base.values import Drawn
from onnx_conformance.declare import AnyOf, AnyOrder, Call, NoAnswer, PartlyOpen, Rejected, Rule, Sparse, Version, dense
from onnx_conformance.declare.readings import SET
from onnx_conformance.declare.rounding import is_float, nearest
from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import registry as registries
from onnx_conformance.specification import schema
from onnx_conformance.specification.signature import (
    TypedValue,
    bind,
    check,
    check_outputs,
    gather,
    kind_of,
    output_types,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, MutableMapping, Sequence

    from onnx_conformance.base.values import Array, Value
    from onnx_conformance.declare import Clause, Op, Order
    from onnx_conformance.declare.readings import Reading
    from onnx_conformance.specification.registry import Registry
    from onnx_conformance.specification.schema import OperatorVersion

OPT_OUTS = (("UndeclaredError", r"", "no operator file"),)

MAX_DEPTH = 64
"""Depth of nested function calls and subgraphs; deeper nesting counts as infinite recursion."""


class UndeclaredError(Exception):
    """No operator file declares this operator, and its text has no function body."""


class OracleError(Exception):
    """An oracle contradicts its declaration, so the operator file has a fault."""


def widen(value: Any) -> Any:  # noqa: ANN401 - any value, or a list of them
    """Return floating values as float64, complex values as complex128, and all others unchanged."""
    if isinstance(value, list):
        return [widen(item) for item in value]
    if isinstance(value, dict):
        return {key: widen(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        if is_float(value.dtype):
            with np.errstate(invalid="ignore"):  # A product with a signalling NaN is a quiet one.
                wide = value.astype(np.float64)
                # Processors convert float32, and such a NaN is then a quiet one; numpy converts other types.
                return wide if value.dtype == np.float32 else np.multiply(wide, 1.0, out=wide)
        if value.dtype.kind == "c":
            return value.astype(np.complex128)
    return value


def _round(value: Any, type_: Type | None) -> Any:  # noqa: ANN401
    """Round once, to the nearest value of the output's type."""
    if value is None or type_ is None:
        return value
    if isinstance(value, Drawn):
        return dataclasses.replace(value, example=_round(value.example, type_))
    if type_.kind is Kind.OPTIONAL:
        return _round(value, type_.inner)
    if isinstance(value, list):
        return [_round(item, type_.inner or type_) for item in value]
    if isinstance(value, dict):
        return {key: _round(item, type_.inner or type_) for key, item in value.items()}
    dtype = schema.dtype_of(type_)
    array = np.asarray(value)
    if dtype.kind == "O" and not all(isinstance(item, str) for item in array.flat):
        kinds = ", ".join(sorted({type(item).__name__ for item in array.flat}))
        raise OracleError(f"the oracle returned a {type_} with elements of type {kinds}; each must be a str")
    return array if array.dtype == dtype else nearest(array, dtype)


@dataclass(frozen=True)
class Answer:
    """The result of an oracle.

    Attributes:
        outputs: the values of the outputs.
        types: their types.
        version: the version that the oracle was called for.
        arguments: the oracle's arguments.
        exact: the values before they were rounded to their types.
        open: for each output, a mask of the elements that may have any value; None if all are determined.
        any_of: for each output, the values that it may have; None if it has only one.
        any_order: the other permitted orders of the outputs, if there are any.
        evaluate: a function that returns the values for other arguments, without rounding.
        rests_on: the readings that the oracle named.
        open_by: the clauses that do not define some elements, or allow several values for them.
    """

    outputs: list[Any]
    types: list[str]
    version: Version
    arguments: Mapping[str, Any]
    exact: list[Any]
    open: list[Array | None]
    any_of: list[AnyOf | None]
    any_order: Order | None
    evaluate: Callable[[Mapping[str, Any]], list[Any]]
    rests_on: frozenset[Reading]
    open_by: frozenset[Clause]


def known(version: OperatorVersion, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return every attribute in the form for oracles: the default if unset, None without a default, text as str."""
    return {name: attributes.get(name, _text(item.default)) for name, item in version.attributes.items()}


def _text(value: Any) -> Any:  # noqa: ANN401 - any attribute
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    return [_text(item) for item in value] if isinstance(value, list) else value


def apply(
    op: Op,
    version: OperatorVersion,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    n: int,
    nodes: Callable[[], Sequence[Call]] = tuple,
    omits: Collection[str] = (),
) -> Answer:
    """Evaluate one node.

    Args:
        op: the declared operator.
        version: the version in force.
        inputs: TypedValues in the signature's order; None for an omitted input, a list for a variadic one.
        attributes: the attributes of the node.
        n: the number of outputs that the node declares, including those named "".
        nodes: a function that returns the nodes of the graph.
        omits: the outputs that the node names "".

    Raises:
        Rejected: the text forbids the node or its inputs.
        Unspecified: the text does not define the result.
        OracleError: the oracle returned too few outputs.
    """
    check(version, inputs, attributes, n)
    oracle = op.oracle_for(version.meaning)
    arguments, bound = known(version, attributes), bind(version, inputs)
    every = output_types(op, version, bound, arguments, max(n, len(version.outputs)))
    types = every[:n]
    check_outputs(version, types)
    of_inputs = {name: bound[name] for name in bound.bound_by_inputs}
    dtypes = _dtypes({**_variables(version, every), **of_inputs} if op.derives else of_inputs)
    for index, parameter in enumerate(version.inputs):
        name = f"{parameter.name}_input" if parameter.name in version.attributes else parameter.name
        arguments[name] = _value(inputs[index], wide=op.widens) if index < len(inputs) else None
    named = {name: arguments.get(name) for name in oracle.parameters}  # Some versions may lack an argument.
    of_any_node: Mapping[str, Callable[[], Any]] = {"n": lambda: n, "nodes": nodes, "omits": lambda: omits}
    of_node = {name: of_any_node[name]() for name in oracle.of_node}

    called = Version(version.meaning, dtypes)

    def call(arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any result of an oracle
        return oracle.function(called, **of_node, **arguments)

    def of_result(result: Any) -> list[Any]:  # noqa: ANN401
        if isinstance(result, AnyOrder):
            return list(result.outputs)
        return list(result) if isinstance(result, tuple) or version.outputs[-1].variadic else [result]

    try:
        result = call(named)
    except NoAnswer as no_answer:
        no_answer.rests_on = frozenset(called.rests_on)
        raise
    called.reads(SET, isinstance(result, AnyOrder))
    values = of_result(result)
    if len(values) < n:
        raise OracleError(f"{version}: the oracle returned {len(values)} outputs, but the node has {n}")
    exact = [determined(value) for value in values]
    masks = [value.open if isinstance(value, PartlyOpen) and value.open.any() else None for value in values]
    rounded_to = [Type.parse(text) if text else None for text in types]
    return Answer(
        outputs=[_round(value, type_) for value, type_ in zip(exact, rounded_to, strict=False)],
        types=types,
        version=called,
        arguments=named,
        exact=exact,
        open=masks,
        any_of=[_rounded(value, type_) for value, type_ in zip(values, rounded_to, strict=False)],
        any_order=result.order if isinstance(result, AnyOrder) else None,
        evaluate=lambda arguments: of_result(call(arguments)),
        rests_on=frozenset(called.rests_on),
        open_by=frozenset(called.open_by),
    )


def determined(value: Any) -> Any:  # noqa: ANN401 - any output
    """Return the value of an output: the first of several, and including the elements that may have any value."""
    if isinstance(value, PartlyOpen):
        value = value.value
    return value.values[0] if isinstance(value, AnyOf) else value


def _rounded(value: Any, type_: Type | None) -> AnyOf | None:  # noqa: ANN401 - any output
    """Return the values that an output may have, converted to its type; None if it has only one."""
    if isinstance(value, PartlyOpen):
        value = value.value
    if not isinstance(value, AnyOf) or len(value.values) == 1:
        return None
    return AnyOf(*(_round(item, type_) for item in value.values), elementwise=value.elementwise)


def _variables(version: OperatorVersion, types: Sequence[str]) -> dict[str, str]:
    """Return the types of the type variables of the outputs."""
    return {item.type: text for item, text in zip(version.outputs, types, strict=False)}


def _dtypes(types: Mapping[str, str]) -> dict[str, np.dtype[Any]]:
    """Return the element type of each type variable."""
    return {variable: schema.dtype_of(Type.parse(text)) for variable, text in types.items() if text}


def _value(argument: TypedValue | list[TypedValue] | None, *, wide: bool) -> Any:  # noqa: ANN401 - any ONNX value
    if isinstance(argument, list):
        return [_value(item, wide=wide) for item in argument]
    if argument is None:
        return None
    return widen(argument.value) if wide else argument.value


@dataclass(frozen=True)
class Scope:
    """The context of the nodes of one graph: opsets, the model's functions, the attributes of a call, all nodes."""

    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str], onnx.FunctionProto]
    call: Mapping[str, onnx.AttributeProto]
    depth: int = 0
    nodes: tuple[onnx.NodeProto, ...] = ()


Local = Mapping[str, TypedValue | None]
"""The values in scope, by name; None for an omitted input of a function call."""


class Evaluator:
    """Evaluates models with the operators of one registry."""

    def __init__(self, registry: Registry | None = None) -> None:
        """Store a registry; the default is that of all operator files.

        Attributes:
            rests_on: the readings that the oracles of the last model named.
            open_by: the clauses that left elements in it open, or allow several values for them.
        """
        self.registry = registry or registries.load()
        self.rests_on: set[Reading] = set()
        self.open_by: set[Clause] = set()

    def model(self, model: onnx.ModelProto, inputs: Mapping[str, Value]) -> dict[str, Value]:
        """Return the values of the graph's outputs by name.

        Raises:
            Rejected: the text forbids the model or the inputs.
            Unspecified: the text does not define the result.
            UndeclaredError: an operator has no operator file and no function body, or the model has too many nodes in
                functions.
        """
        self.rests_on.clear()
        self.open_by.clear()
        if model.functions and of_model.expanded(model, circle=0) > of_model.MOST_EXPANDED:
            raise UndeclaredError(f"the functions of the model have more than {of_model.MOST_EXPANDED:,} nodes")
        types = {info.name: schema.type_text(info.type) for info in model.graph.input}
        scope = Scope(
            opsets={item.domain or "ai.onnx": item.version for item in model.opset_import},
            functions={(item.domain or "ai.onnx", item.name): item for item in model.functions},
            call={},
        )
        values = {name: TypedValue(value, types.get(name, "")) for name, value in inputs.items()}
        answers = self._graph(model.graph, values, scope)
        return {info.name: item.value for info, item in zip(model.graph.output, answers, strict=True)}

    def _graph(self, graph: onnx.GraphProto, around: Local, scope: Scope) -> list[TypedValue]:
        """Return the outputs of a graph. Several of them may have one name.

        `around` has its inputs and, for a subgraph, the values of the outer graph.
        """
        local: MutableMapping[str, TypedValue | None] = ChainMap({}, dict(around))
        for tensor in graph.initializer:
            if tensor.name not in around:
                local[tensor.name] = TypedValue(numpy_helper.to_array(tensor))
        for sparse in graph.sparse_initializer:
            local[sparse.values.name] = TypedValue(dense(sparse_value(sparse)))
        self._nodes(graph.node, local, scope)
        return [local[item.name] or TypedValue(None) for item in graph.output]

    def _nodes(
        self, nodes: Sequence[onnx.NodeProto], local: MutableMapping[str, TypedValue | None], scope: Scope
    ) -> None:
        if scope.depth > MAX_DEPTH:
            raise Rejected(Rule.ARITY, f"calls nest deeper than {MAX_DEPTH}")
        scope = dataclasses.replace(scope, nodes=(*scope.nodes, *nodes))
        for node in nodes:
            for name in node.input:
                if name and name not in local:
                    raise Rejected(Rule.ARITY, f"{name}, an input of {node.op_type}, has no value")
            inputs = [local[name] if name else None for name in node.input]
            for name, value in zip(node.output, self._node(node, inputs, local, scope), strict=False):
                if name:
                    local[name] = value

    def _node(
        self, node: onnx.NodeProto, inputs: list[TypedValue | None], local: Local, scope: Scope
    ) -> Sequence[TypedValue | None]:
        domain = node.domain or "ai.onnx"
        attributes = [self._resolved(item, scope) for item in node.attribute]
        present = {item.name: item for item in attributes if item is not None}
        function = scope.functions.get((domain, node.op_type))
        if function is not None:
            return self._call(function, inputs, present, scope)
        if domain not in scope.opsets:
            raise Rejected(Rule.ARITY, f"the model imports no opset of {domain}")
        opset = scope.opsets[domain]
        op, exists = self.registry.find(domain, node.op_type), schema.exists(domain, node.op_type, opset)
        version = schema.in_force(domain, node.op_type, opset) if exists else None
        if op is None or version is None or version.since not in op.versions:
            types = [kind_of(item) if item else "" for item in inputs]
            body = schema.function_body(domain, node.op_type, opset, node, types) if exists else None
            if body is None:
                raise UndeclaredError(f"no operator file declares {domain}/{node.op_type} of opset {opset}")
            return self._call(
                body, inputs, {**schema.default_attributes(domain, node.op_type, opset), **present}, scope
            )
        named = {name: self.attribute(item, local, scope) for name, item in present.items()}
        around = functools.partial(self.calls, local, scope)
        answer = self.applied(node, op, version, gather(version, inputs), named, around)
        self.rests_on |= answer.rests_on
        self.open_by |= answer.open_by
        # If an output is random, the nodes that use it get the example.
        values = [value.example if isinstance(value, Drawn) else value for value in answer.outputs]
        return [TypedValue(value, type_) for value, type_ in zip(values, answer.types, strict=True)]

    def applied(
        self,
        node: onnx.NodeProto,
        op: Op,
        version: OperatorVersion,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        nodes: Callable[[], Sequence[Call]],
    ) -> Answer:
        """Return the oracle's answer to one node; see `apply`. A subclass may record or change it."""
        parameters = (item.name for item in version.outputs)
        omits = [parameter for parameter, name in zip(parameters, node.output, strict=False) if not name]
        return apply(op, version, inputs, attributes, len(node.output), nodes, omits)

    def calls(self, local: Local, scope: Scope) -> list[Call]:
        """Return the nodes of a graph in the form for oracles."""
        return [
            Call(
                f"{node.domain or 'ai.onnx'}/{node.op_type}",
                list(node.input),
                list(node.output),
                {item.name: self.attribute(item, local, scope) for item in node.attribute if not item.ref_attr_name},
            )
            for node in scope.nodes
        ]

    def evaluated(self, nodes: Sequence[onnx.NodeProto], inputs: Local, scope: Scope) -> dict[str, TypedValue | None]:
        """Return the inputs and the values that nodes compute from them."""
        local = dict(inputs)
        self._nodes(nodes, local, scope)
        return local

    @staticmethod
    def _resolved(item: onnx.AttributeProto, scope: Scope) -> onnx.AttributeProto | None:
        """Return the attribute itself, or the attribute of the call that it refers to."""
        if not item.ref_attr_name:
            return item
        if item.ref_attr_name not in scope.call:
            return None
        named = onnx.AttributeProto()
        named.CopyFrom(scope.call[item.ref_attr_name])
        named.name = item.name
        return named

    def attribute(self, item: onnx.AttributeProto, local: Local, scope: Scope) -> Any:  # noqa: ANN401
        """Return an attribute in the form for oracles: tensors as arrays, types by name, subgraphs as functions."""
        return _Subgraph(self, item.g, local, scope) if item.type == onnx.AttributeProto.GRAPH else value_of(item)

    def _call(
        self,
        function: onnx.FunctionProto,
        inputs: list[TypedValue | None],
        attributes: Mapping[str, onnx.AttributeProto],
        scope: Scope,
    ) -> list[TypedValue | None]:
        defaults = {item.name: item for item in function.attribute_proto}
        opsets = {item.domain or "ai.onnx": item.version for item in function.opset_import}
        inner = Scope(opsets or scope.opsets, scope.functions, {**defaults, **attributes}, scope.depth + 1)
        if len(inputs) > len(function.input):
            raise Rejected(Rule.ARITY, f"{len(inputs)} inputs for the {len(function.input)} of {function.name}")
        absent = [None] * (len(function.input) - len(inputs))
        local: dict[str, TypedValue | None] = dict(zip(function.input, [*inputs, *absent], strict=True))
        self._nodes(function.node, local, inner)
        return [local.get(name) for name in function.output]


def value_of(item: onnx.AttributeProto) -> Any:  # noqa: ANN401 - any attribute
    """Return an attribute in the form for oracles, if it is no subgraph."""
    kind = onnx.AttributeProto
    if item.type == kind.TYPE_PROTO:
        return schema.type_text(item.tp)
    if item.type == kind.SPARSE_TENSOR:
        return sparse_value(item.sparse_tensor)
    value = onnx.helper.get_attribute_value(item)
    if item.type == kind.TENSOR:
        return numpy_helper.to_array(value)
    return _text(value if isinstance(value, bytes | int | float) else list(value))


class _Subgraph:
    """A subgraph and the values of the outer graph; see declare.Subgraph."""

    def __init__(self, evaluator: Evaluator, graph: onnx.GraphProto, around: Local, scope: Scope) -> None:
        self._evaluator, self._graph, self._around = evaluator, graph, around
        self._scope = dataclasses.replace(scope, depth=scope.depth + 1)
        self.inputs = [item.name for item in graph.input]
        self.outputs = [schema.type_text(item.type) for item in graph.output]
        computed = [name for node in graph.node for name in node.output]
        own = [*self.inputs, *(item.name for item in graph.initializer), *computed]
        self.shadows = [name for name in own if name in around]

    def __call__(self, *values: Any) -> list[Any]:  # noqa: ANN401 - any ONNX value
        """Return the values of the outputs.

        Raises:
            Rejected: the number of values is wrong, or the text forbids one of its nodes.
        """
        if len(values) != len(self.inputs):
            raise Rejected(Rule.ARITY, f"{self._graph.name} takes {len(self.inputs)} values, not {len(values)}")
        types = {item.name: schema.type_text(item.type) for item in self._graph.input}
        named = {name: TypedValue(value, types[name]) for name, value in zip(self.inputs, values, strict=True)}
        answers = self._evaluator._graph(self._graph, {**self._around, **named}, self._scope)  # noqa: SLF001
        return [item.value for item in answers]


def sparse_value(proto: onnx.SparseTensorProto) -> Sparse:
    """Return a sparse tensor in the form for oracles."""
    return Sparse(numpy_helper.to_array(proto.values), numpy_helper.to_array(proto.indices), tuple(proto.dims))


OVERRIDES = True  # For the backend `oracle`, as in every adapter.


def info() -> dict[str, Any]:
    """Return the members of the hello message of this backend."""
    return {"runtime": "oracle", "version": f"onnx {onnx.__version__}, ml_dtypes {ml_dtypes.__version__}"}


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Return a function that runs a model; the model is read from `folder` if it has external data."""
    proto = onnx.load_from_string(model) if folder is None else onnx.load(Path(folder, "model.onnx"))

    def run(inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        answers = Evaluator().model(proto, inputs)
        return [answers[name] for name in outputs]

    return run
