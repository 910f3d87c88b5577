# SPDX-License-Identifier: Apache-2.0
"""Forms that store the parameters, or all inputs, in another way."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.case.case import DATA_FILE
from onnx_conformance.forms.delivered import (
    INITIALIZERS_ALONE,
    copied,
    declares_tensor,
    first_opset,
    has_type,
    info_of,
    replace_all,
    with_nodes,
)
from onnx_conformance.specification.signature import type_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from onnx_conformance.forms.delivered import Delivered

    Array = np.ndarray[Any, Any]

_ALIGNED = 64
"""The alignment of external data, in bytes."""


def with_constants(start: Delivered) -> Delivered:
    """Store the inputs that the text requires to be constants as initializers without a graph input."""
    tensors = [
        numpy_helper.from_array(np.asarray(start.inputs[name]), name)
        for name in start.inputs
        if name in start.constants
    ]
    if not tensors:
        return start
    model = copied(start)
    model.ir_version = max(model.ir_version, INITIALIZERS_ALONE)
    least = max(start.least_ir, INITIALIZERS_ALONE)
    another = start.another
    if another is not None:
        another = {name: value for name, value in another.items() if name not in start.constants}
    return _stored(dataclasses.replace(start, model=model, least_ir=least, another=another), tensors)


def initializer(start: Delivered) -> Delivered | None:
    """Store the parameters as initializers. Runtimes fold constant inputs, which usually control the computation."""
    tensors = [numpy_helper.from_array(value, name) for name, value in start.parameters.items() if name in start.inputs]
    return _stored(start, tensors) if tensors else None


def typed(start: Delivered) -> Delivered | None:
    """Store the elements of the parameters in the field of their type; strings have no other field."""
    tensors = [_typed(value, name) for name, value in _numbers(start).items()]
    return _stored(start, tensors) if tensors else None


def external_data(start: Delivered) -> Delivered | None:
    """Store the bytes of the parameters in a file; strings have no bytes."""
    tensors = [numpy_helper.from_array(value, name) for name, value in _numbers(start).items()]
    if not tensors:
        return None
    files = _moved_out(tensors)
    return dataclasses.replace(_stored(start, tensors), files=files)


def constant_nodes(start: Delivered) -> Delivered | None:
    """Store the parameters in Constant nodes."""
    types = {type_of(value) for value in start.parameters.values()}
    if not types or start.expected is None:
        return None
    found = first_opset(start, lambda opset: all(has_type("Constant", "T", type_, opset) for type_ in types))
    if found is None:
        return None
    nodes = [
        helper.make_node("Constant", [], [name], name=f"Constant_{name}", value=numpy_helper.from_array(value))
        for name, value in start.parameters.items()
    ]
    model, subject = with_nodes(found, nodes)
    _without(model, start.parameters)
    inputs = {name: value for name, value in start.inputs.items() if name not in start.parameters}
    return dataclasses.replace(found, model=model, inputs=inputs, subject=subject, parameters={})


def folded(start: Delivered) -> Delivered | None:
    """Store all inputs as initializers, so a tool can compute the outputs."""
    if not start.inputs or not all(declares_tensor(start.model.graph.input, name) for name in start.inputs):
        return None
    model = copied(start)
    model.ir_version = max(model.ir_version, INITIALIZERS_ALONE)
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in start.inputs.items()]
    present = [item for item in start.model.graph.initializer if item.name not in start.inputs]
    replace_all(model.graph.initializer, [*tensors, *present])
    replace_all(model.graph.input, [item for item in start.model.graph.input if item.name not in start.inputs])
    return dataclasses.replace(start, model=model, inputs={})


def runtime(start: Delivered) -> Delivered | None:
    """Make the parameters inputs of the graph, so their values are unknown before the model runs."""
    given = {name: value for name, value in start.parameters.items() if name not in start.inputs}
    if not given:
        return None
    model = copied(start)
    _without(model, given)
    model.graph.input.extend(info_of(name, value) for name, value in given.items())
    return dataclasses.replace(start, model=model, inputs={**start.inputs, **given})


def overridden(start: Delivered) -> Delivered | None:
    """Make the parameters inputs of the graph that have other numbers as defaults, which the caller overrides.

    "When an initializer has the same name as a graph input, it specifies a default value for that input."
    """
    floats = {
        name: value
        for name, value in start.parameters.items()
        if name not in start.constants and value.dtype.kind == "f" and value.size
    }
    if not floats or start.expected is None:
        return None
    model = copied(start)
    # Up to IR version 3 every initializer was a graph input, so runtimes had reason to take all of them for constants.
    model.ir_version = max(model.ir_version, INITIALIZERS_ALONE)
    defaults = [numpy_helper.from_array(different(value), name) for name, value in floats.items()]
    kept = [item for item in start.model.graph.initializer if item.name not in floats]
    replace_all(model.graph.initializer, [*kept, *defaults])
    given = {name: value for name, value in floats.items() if name not in start.inputs}
    model.graph.input.extend(info_of(name, value) for name, value in given.items())
    return dataclasses.replace(start, model=model, inputs={**start.inputs, **given})


def different(value: Array) -> Array:
    """Return a tensor of floating-point numbers that differs from another in every element."""
    with np.errstate(over="ignore"):
        other = np.asarray(value * 2 + 1)
    return np.where(np.isfinite(other) & (other != value), other, 3).astype(value.dtype)


def _numbers(start: Delivered) -> dict[str, Array]:
    """Return the parameters that are no strings; none if there is no answer whose values they could change."""
    if start.expected is None:
        return {}
    return {name: value for name, value in start.parameters.items() if value.dtype != object}


def _stored(start: Delivered, tensors: Sequence[onnx.TensorProto]) -> Delivered:
    """Return a delivered model in which tensors are initializers, in place of inputs or initializers of their names."""
    model = copied(start)
    new = {item.name: item for item in tensors}
    present = [new.get(item.name, item) for item in start.model.graph.initializer]
    known = {item.name for item in present}
    replace_all(model.graph.initializer, [*present, *(item for item in tensors if item.name not in known)])
    # Up to IR version 3 an initializer is the default of a graph input.
    if model.ir_version >= INITIALIZERS_ALONE:
        replace_all(model.graph.input, [item for item in start.model.graph.input if item.name not in new])
    inputs = {name: value for name, value in start.inputs.items() if name not in new}
    return dataclasses.replace(start, model=model, inputs=inputs)


def _without(model: onnx.ModelProto, names: Collection[str]) -> None:
    """Remove inputs and initializers of the graph."""
    for items in (model.graph.input, model.graph.initializer):
        for place in reversed(range(len(items))):
            if items[place].name in names:
                del items[place]


def _typed(array: Array, name: str) -> onnx.TensorProto:
    """Return a tensor whose elements are in the field of their type."""
    packed = numpy_helper.from_array(array, name)
    values = array.reshape(-1)
    # onnx's helper rounds again: infinity becomes a number, and the least float8e8m0 becomes the next larger one.
    if onnx.TensorProto.DataType.Name(packed.data_type).startswith("FLOAT8"):
        bits = values.view(np.uint8).tolist()
        return onnx.TensorProto(name=name, data_type=packed.data_type, dims=array.shape, int32_data=bits)
    return helper.make_tensor(name, packed.data_type, array.shape, values)


def _moved_out(tensors: Sequence[onnx.TensorProto]) -> dict[str, bytes]:
    """Move the bytes of tensors to a file, none of them at its beginning; return its content by name."""
    data = b"\xff" * _ALIGNED
    for tensor in tensors:
        content = bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", DATA_FILE), ("offset", len(data)), ("length", len(content))):
            tensor.external_data.add(key=key, value=str(value))
        data += content + b"\xff" * (_ALIGNED - len(content) % _ALIGNED)
    return {DATA_FILE: data}
