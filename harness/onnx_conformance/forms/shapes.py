# SPDX-License-Identifier: Apache-2.0
"""Forms that do not declare every shape."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from onnx_conformance.forms.delivered import (
    ONNX,
    copied,
    has_type,
    in_opset,
    opset_of,
    replace_all,
    value_info,
    with_nodes,
)
from onnx_conformance.specification.signature import type_of

if TYPE_CHECKING:
    from onnx_conformance.base.values import Value
    from onnx_conformance.forms.delivered import Convention, Delivered

    Array = np.ndarray[Any, Any]

_RESHAPE_BY_INPUT = 5
"""The opset since which the target shape of Reshape is an input."""
_RESHAPE_ALLOWZERO = 14
"""The opset since which Reshape can return a dimension of zero."""


def symbolic(start: Delivered) -> Delivered | None:
    """Make every dimension of inputs and outputs a symbol, except those whose size is stated.

    Dimensions that the text calls by one name have one symbol.
    """
    return _with_symbols(start) if any(value.ndim for value in start.tensors.values()) else None


def twice(start: Delivered) -> Delivered | None:
    """Let the same session first run with the inputs of another case; the model has symbols for all sizes."""
    if start.another is None or start.expected is None:
        return None
    return dataclasses.replace(_with_symbols(start), earlier=start.another)


def unranked(start: Delivered) -> Delivered | None:
    """Hide the ranks of tensors: a Reshape, whose target shape is known only at run time, computes each of them."""
    opset = max(opset_of(start.model), _RESHAPE_BY_INPUT)
    tensors = start.tensors
    if not tensors or start.domain != ONNX or opset not in start.opsets:
        return None
    zeros = start.convention.allows_zero and opset >= _RESHAPE_ALLOWZERO
    # The case must not fail because of Reshape.
    if not all(has_type("Reshape", "T", type_of(value), opset) for value in tensors.values()):
        return None
    if not zeros and any(_loses_zeros(value, start.convention) for value in tensors.values()):
        return None
    hidden = {name: value for name, value in tensors.items() if name in start.inputs}
    symbols = _with_symbols(in_opset(start, ONNX, opset))
    attributes: dict[str, Any] = {"allowzero": 1} if zeros else {}
    convention = start.convention
    nodes = [
        helper.make_node(
            "Reshape", [convention.data.format(name), f"{name}_shape"], [name], name=f"Reshape_{name}", **attributes
        )
        for name in start.inputs
        if name in hidden
    ]
    model, subject = with_nodes(symbols, nodes)
    declared: list[onnx.ValueInfoProto] = []
    inputs: dict[str, Value] = {}
    for item in symbols.model.graph.input:
        value = hidden.get(item.name)
        if value is None:
            declared.append(item)
            inputs[item.name] = start.inputs[item.name]
            continue
        data, shape = convention.data.format(item.name), f"{item.name}_shape"
        inputs |= {data: value.reshape(-1), shape: np.array(value.shape, np.int64)}
        size: int | str = convention.data_size.format(item.name) or value.size
        declared.append(value_info(data, type_of(value), [size]))
        declared.append(value_info(shape, "tensor(int64)", [convention.shape_size.format(item.name)]))
    replace_all(model.graph.input, declared)
    return dataclasses.replace(symbols, model=model, inputs=inputs, subject=subject)


def _loses_zeros(value: Array, convention: Convention) -> bool:
    """Return whether a Reshape without allowzero cannot return an empty tensor.

    A 0 in the target shape then copies a size of the data, which has one axis only.
    """
    return value.size == 0 and (convention.allows_zero or 0 in value.shape[1:])


def _with_symbols(start: Delivered) -> Delivered:
    model = copied(start)
    shared = _shared(start)
    for item in (*model.graph.input, *model.graph.output):
        stated = start.stated.get(item.name, frozenset())
        for axis, dim in enumerate(item.type.tensor_type.shape.dim):
            if axis not in stated:
                dim.dim_param = shared.get((item.name, axis), f"{item.name}_{axis}")
    return dataclasses.replace(start, model=model)


def _shared(start: Delivered) -> dict[tuple[str, int], str]:
    """Return the names of dimensions of inputs and outputs in the text, by the input or output and the axis.

    The first dimension of a name determines its sizes: here, and in the earlier call of the session. Another dimension
    of this name with other sizes has a different meaning, or is broadcast.
    """
    first: dict[str, tuple[int, ...]] = {}
    shared: dict[tuple[str, int], str] = {}
    for item in (*start.model.graph.input, *start.model.graph.output):
        dims = item.type.tensor_type.shape.dim
        names = start.dimensions.get(item.name, ())
        earlier = (start.another or {}).get(item.name)
        for axis, (name, dim) in enumerate(zip(names, dims, strict=False)):
            sizes = (dim.dim_value, *(earlier.shape[axis : axis + 1] if isinstance(earlier, np.ndarray) else ()))
            if name and dim.HasField("dim_value") and first.setdefault(name, sizes)[: len(sizes)] == sizes:
                shared[item.name, axis] = name
    return shared
