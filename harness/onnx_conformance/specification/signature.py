# SPDX-License-Identifier: Apache-2.0
"""Checks of a node against its signature: types of values, bindings of type variables, number of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onnx_conformance.backends.protocol import ElementTypeError, element_type, numpy_dtype
from onnx_conformance.declare import Rejected, Rule
from onnx_conformance.declare.op import Bindings
from onnx_conformance.declare.type import Kind, Type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion, Parameter


class TypedValue(NamedTuple):
    """An input of a node.

    Attributes:
        value: the value; None is an empty optional.
        type: the type that the model declares; empty if only the value determines it.
    """

    value: Value
    type: str = ""

    @property
    def is_tensor(self) -> bool:
        """Whether the declared type is a tensor."""
        return self.type != "" and Type.parse(self.type).is_tensor


def type_of(value: Value) -> str:
    """Return ONNX's name of a value's type: tensor(float), seq(tensor(float)); empty if the value does not show it."""
    return str(_type_of(value) or "")


def _type_of(value: Value) -> Type | None:
    if isinstance(value, np.ndarray):
        return Type.tensor(element_type(value.dtype).name)
    if isinstance(value, list) and value:
        inner = _type_of(value[0])
        return Type(Kind.SEQUENCE, inner=inner) if inner else None
    if isinstance(value, dict) and value:
        key, item = next(iter(value.items()))
        inner = _type_of(item)
        return Type(Kind.MAP, "string" if isinstance(key, str) else "int64", inner) if inner else None
    return None


def kind_of(argument: TypedValue) -> str:
    """Return the declared type of an input, or the type of its value."""
    return argument.type or type_of(argument.value)


def _several(argument: TypedValue | list[TypedValue | None] | None) -> Iterator[TypedValue]:
    if isinstance(argument, list):
        yield from (item for item in argument if item is not None)
    elif argument is not None:
        yield argument


def bind(version: OperatorVersion, inputs: Sequence[Any]) -> Bindings:
    """Return the type of each type variable, from the inputs in order, without checks."""
    bound: dict[str, list[str]] = {}
    for parameter, values in zip(version.inputs, inputs, strict=False):
        if parameter.type in version.types:
            for item in _several(values):
                if text := kind_of(item):
                    bound.setdefault(parameter.type, []).append(text)
    return Bindings({variable: version.default_type(variable) for variable in version.types}, bound)


def output_types(op: Op, version: OperatorVersion, known: Bindings, attributes: Mapping[str, Any], n: int) -> list[str]:
    """Return the types of the first n outputs.

    Args:
        op: the operator. It derives the output types from inputs and attributes if the signature does not.
        version: the version in force.
        known: the type of each type variable.
        attributes: the attributes; an unset attribute has its default, or None.
        n: the number of outputs.
    """
    derived = {variable: _texts(derive(known, attributes)) for variable, derive in op.derives.items()}
    types = []
    for index in range(n):
        parameter = version.outputs[min(index, len(version.outputs) - 1)]
        several = derived.get(parameter.type)
        if several is None:
            types.append(known.get(parameter.type, parameter.type))
        else:
            types.append(several[min(index, len(several) - 1)])
    return types


def _texts(derived: Any) -> list[str]:  # noqa: ANN401 - see Op.derives
    """Return the types of a derivation as text; see Op.derives for their forms."""
    if isinstance(derived, list | tuple):
        return [_texts(item)[0] for item in derived]
    if isinstance(derived, int):
        try:
            return [f"tensor({element_type(numpy_dtype(derived)).name})"]
        except ElementTypeError:  # No element type has this number: `check` reports it.
            return [f"tensor({derived})"]
    return [derived if isinstance(derived, str) else f"tensor({element_type(derived).name})"]


def check(version: OperatorVersion, inputs: Sequence[Any], attributes: Mapping[str, Any], n: int) -> None:
    """Raise Rejected if a node breaks its operator's signature, before the oracle runs."""
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
        argument = inputs[index] if index < len(inputs) else None
        values = argument if parameter.variadic and isinstance(argument, list) else [argument]
        if parameter.variadic and len(values) < parameter.least:
            raise Rejected(Rule.ARITY, f"{len(values)} of {parameter.name}")
        for value in values:
            _check_type(version, parameter, value, bound)


def check_outputs(version: OperatorVersion, types: Sequence[str]) -> None:
    """Raise Rejected if attributes demand an output type that the signature does not allow."""
    for index, text in enumerate(types):
        parameter = version.outputs[min(index, len(version.outputs) - 1)]
        if text and text not in version.allowed(parameter.type):
            raise Rejected(Rule.TYPES, f"{parameter.name} is {text}")


def _check_attributes(version: OperatorVersion, attributes: Mapping[str, Any]) -> None:
    for attribute in version.attributes.values():
        if attribute.required and attribute.name not in attributes:
            raise Rejected(Rule.ATTRIBUTES, f"{attribute.name} is required")
    for name in attributes:
        if name not in version.attributes:
            raise Rejected(Rule.ATTRIBUTES, f"there is no {name}")


def _check_type(
    version: OperatorVersion, parameter: Parameter, argument: TypedValue | None, bound: dict[str, str]
) -> None:
    if argument is None:
        if not parameter.optional and not parameter.variadic:
            raise Rejected(Rule.ARITY, f"{parameter.name} is required")
        return
    allowed, text = version.allowed(parameter.type), kind_of(argument)
    # A value does not show whether it is in an optional; the declared type does.
    in_optional = f"optional({text})" in allowed and not argument.type
    if text and text not in allowed and not in_optional:
        raise Rejected(Rule.TYPES, f"{parameter.name} is {text}")
    if text and parameter.type in version.types and parameter.homogeneous:
        first = bound.setdefault(parameter.type, text)
        if first != text:
            raise Rejected(Rule.TYPES, f"{parameter.type} is {first} and {text}")


def gather(version: OperatorVersion, inputs: list[TypedValue | None]) -> list[Any]:
    """Return positional inputs; those of a trailing variadic parameter are gathered into one list."""
    if not version.inputs or not version.inputs[-1].variadic:
        return [*inputs]
    fixed = len(version.inputs) - 1
    if len(inputs) < fixed:
        return [*inputs]  # `check` reports missing ones.
    return [*inputs[:fixed], inputs[fixed:]]
