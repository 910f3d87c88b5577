# SPDX-License-Identifier: Apache-2.0
"""Conversion of declared arguments to the values and attributes of a model, in the types of an expanded case."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
from onnx import helper, numpy_helper

from onnx_conformance.declare import Data, DeclarationError, ElementType, Empty, Graph, Sparse, Typed, ValueOf
from onnx_conformance.declare.rounding import converted
from onnx_conformance.declare.type import Kind, Type, TypeTextError
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import ElementTypeError, element_type_named
from onnx_conformance.specification.signature import TypedValue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.declare import CaseSpec
    from onnx_conformance.specification import evaluator
    from onnx_conformance.specification.schema import Attribute, OperatorVersion


def typed(argument: Any, type_: str, types: Mapping[str, str]) -> TypedValue:  # noqa: ANN401 - see below
    """Return a declared input in the type of its parameter, or in its own type.

    Args:
        argument: anything that numpy converts, Data, Typed or EMPTY; for a sequence, a list of these or its only
            element; for a map, a dict.
        type_: the type of the parameter.
        types: the type of each type variable.
    """
    if isinstance(argument, Typed):
        argument, type_ = argument.values, str(Type.parse_short(_named(argument.type, types)))
    return TypedValue(_value(argument, Type.parse(type_)), type_)


def _value(argument: Any, type_: Type) -> Value:  # noqa: ANN401 - see typed
    if isinstance(argument, Empty):
        return None
    if type_.inner is None:
        return _array(argument, schema.dtype_of(type_))
    if type_.kind is Kind.OPTIONAL:
        return _value(argument, type_.inner)
    if type_.kind is Kind.MAP:
        return {key: _value(item, type_.inner) for key, item in argument.items()}
    if not isinstance(argument, list):
        argument = [argument]  # One declaration covers a type and the sequence of this type.
    return [_value(item, type_.inner) for item in argument]


def _array(argument: object, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if isinstance(argument, Data):
        return argument.of(dtype)
    array = np.asarray(argument)
    if dtype.kind == "O":
        flat = np.array([str(item) for item in array.reshape(-1)], dtype=object)
        return flat.reshape(array.shape)
    with np.errstate(all="ignore"):
        return converted(array, dtype)


def attribute(name: str, argument: Any, known: Attribute | None, types: Mapping[str, str]) -> onnx.AttributeProto:  # noqa: ANN401
    """Return a declared attribute as a proto.

    Args:
        name: the name of the attribute.
        argument: a number, a text, a list of these, Typed for a tensor, ElementType (if the signature has a string: the
            name of its number), Graph or Sparse; for a type its text, in which {T} is the type of variable T.
        known: the attribute in the signature; None if it is not there.
        types: the type of each type variable.

    Raises:
        DeclarationError: a subgraph cannot be read.
    """
    kind = known.type if known else ""
    value = argument
    if isinstance(argument, Typed):
        value = _tensor(typed(argument, "", types).value)
    elif isinstance(argument, ElementType):
        number = _number(argument, types)
        value = onnx.TensorProto.DataType.Name(number) if kind == "STRING" else number
    elif isinstance(argument, Graph):
        value = _graph(name, argument.text, types)
    elif isinstance(argument, Sparse):
        values = typed(argument.values, "tensor(float)", types).value
        indices = _tensor(np.asarray(argument.indices, np.int64))
        value = helper.make_sparse_tensor(_tensor(values), indices, argument.shape)
    elif kind == "TYPE_PROTO":
        value = schema.type_proto(Type.parse(_named(argument, types)))
    # Only the signature determines the type of an empty list.
    type_ = onnx.AttributeProto.AttributeType.Value(kind) if known else None
    return helper.make_attribute(name, value, attr_type=type_)


def _tensor(value: Value) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value))


def _number(argument: ElementType, types: Mapping[str, str]) -> int:
    name = _named(argument.name, types)
    try:
        return element_type_named(Type.parse_short(name).element).number
    except (ElementTypeError, TypeTextError) as error:
        raise DeclarationError("inputs-not-bound", str(error)) from error


def _named(text: str, types: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: types[match[1]], text)


def _graph(name: str, text: str, types: Mapping[str, str]) -> onnx.GraphProto:
    in_syntax = {variable: _in_text_syntax(Type.parse(type_)) for variable, type_ in types.items()}
    named = _named(text, in_syntax)
    try:
        return _parsed(named)
    except onnx.parser.ParseError as error:
        raise DeclarationError(
            "attribute-not-a-graph", f"attribute {name}: its text is not a graph: {error}"
        ) from error


def _in_text_syntax(type_: Type) -> str:
    """Return a type as graphs in ONNX's text syntax write it: float[] for tensor(float), whose shape is unknown."""
    if type_.is_tensor:
        return f"{type_.element}[]"
    if type_.inner is None or type_.kind is Kind.MAP:
        return str(type_)
    return f"{type_.kind}({_in_text_syntax(type_.inner)})"


def nodes(text: str) -> Sequence[onnx.NodeProto]:
    """Return nodes written in ONNX's text syntax: `c = Add(a, b) d = Mul(c, a)`.

    Raises:
        DeclarationError: the text cannot be read.
    """
    try:
        return list(_parsed(f"beside () => () {{ {text} }}").node)
    except onnx.parser.ParseError as error:
        raise DeclarationError("neighbours-not-nodes", f"beside: its text is not a list of nodes: {error}") from error


@functools.lru_cache(maxsize=512)
def _parsed(text: str) -> onnx.GraphProto:
    """Return a graph. Callers copy it into attributes and must not change it."""
    return onnx.parser.parse_graph(text)


def arguments(
    version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str], around: evaluator.Local
) -> tuple[list[tuple[str, TypedValue | None]], dict[str, onnx.AttributeProto]]:
    """Return the inputs and attributes of a declared case.

    Args:
        version: the version of the operator.
        spec: the case.
        types: the type of each type variable.
        around: the values of the outer graph.
    """
    return _inputs(version, spec, types, around), _attributes(version, spec, types)


def _inputs(
    version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str], around: evaluator.Local
) -> list[tuple[str, TypedValue | None]]:
    """Return the inputs by name in the signature's order, up to the last one present."""

    def named(name: str, item: Any, type_: str) -> tuple[str, TypedValue | None]:  # noqa: ANN401 - see typed
        if isinstance(item, ValueOf):
            return item.name, around[item.name]
        return name, None if item is None else typed(item, type_, types)

    found: list[tuple[str, TypedValue | None]] = []
    for name, argument in version.arguments.items():
        if isinstance(argument, schema.Attribute):
            continue
        type_ = types.get(argument.type) or version.default_type(argument.type)
        argument_value = spec.arguments.get(name, () if argument.variadic else None)
        if argument.variadic:
            found += [named(f"{argument.name}_{index}", item, type_) for index, item in enumerate(argument_value)]
        else:
            found.append(named(argument.name, argument_value, type_))
    if spec.stray_inputs:
        stray = TypedValue(np.zeros(1, np.float32), "tensor(float)")
        return found + [(f"stray_{index}", stray) for index in range(spec.stray_inputs)]
    while found and found[-1][1] is None:
        found.pop()
    return found


def _attributes(version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str]) -> dict[str, onnx.AttributeProto]:
    """Return the attributes by name, also those that the version lacks."""
    declared = {name: value for name, value in spec.arguments.items() if name in version.attributes}
    return {
        name: attribute(name, value, version.attributes.get(name), types)
        for name, value in {**spec.stray, **declared}.items()
    }
