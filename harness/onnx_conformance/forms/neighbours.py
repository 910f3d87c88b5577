# SPDX-License-Identifier: Apache-2.0
"""Forms with another node, which tools that change models rewrite.

The node only moves or copies data, so the expected values follow from the case, without any runtime or evaluator.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper, numpy_helper

from onnx_conformance.forms.delivered import (
    INITIALIZERS_ALONE,
    copied,
    declares_tensor,
    info_of,
    opset_of,
    replace_all,
    with_nodes,
)
from onnx_conformance.specification.element_types import element_type, element_type_named, numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import onnx

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.allowance import Allowance
    from onnx_conformance.forms.delivered import Delivered

    Array = np.ndarray[Any, Any]

WIDER = {"float16": "float", "float": "double", "int8": "int32", "uint8": "int32", "int32": "int64"}
"""A type that represents all values of another type, so a Cast there and back does not change any value."""
FIRST, LAST = "given", "inner"
"""The ends of the names of new values at a node."""


@dataclass(frozen=True)
class Node:
    """A node that moves data.

    Attributes:
        name: the name of the form.
        operator: an operator of ai.onnx.
        since: the first opset in which it has this syntax.
        there: a function that returns the node's output for an input; None for an unsuitable input.
        back: the inverse function, which returns the input for an output.
        parameters: a function that returns the attributes of the node, and a list of integers as its second input.
    """

    name: str
    operator: str
    since: int
    there: Callable[[Array], Array | None]
    back: Callable[[Array], Array | None]
    parameters: Callable[[Array, Array], tuple[Mapping[str, Any], list[int] | None]]


def _reversed(array: Array) -> Array | None:
    return np.ascontiguousarray(array.transpose()) if array.ndim > 1 else None


def _flat(array: Array) -> Array | None:
    return array.reshape(-1) if array.ndim > 1 else None


def _wider(array: Array) -> Array | None:
    name = WIDER.get(element_type(array.dtype).name)
    if name is None:
        return None
    with np.errstate(invalid="ignore"):  # A signalling NaN becomes a quiet one.
        return array.astype(numpy_dtype(element_type_named(name).number))


def _same(array: Array) -> Array:
    return array


NODES = (
    Node("identity", "Identity", 1, _same, _same, lambda _taken, _made: ({}, None)),
    Node("transpose", "Transpose", 1, _reversed, _reversed, lambda _taken, made: (_perm(made), None)),
    Node("reshape", "Reshape", 5, _flat, _flat, lambda _taken, made: ({}, list(made.shape))),
    Node("cast", "Cast", 6, _wider, _wider, lambda _taken, made: ({"to": element_type(made.dtype).number}, None)),
)
"""The nodes that compute an input or receive an output."""


def _perm(made: Array) -> dict[str, Any]:
    return {"perm": list(reversed(range(made.ndim)))}


def behind(node: Node, start: Delivered) -> Delivered | None:
    """Let a node that moves data compute the first input."""
    name, value = next(iter(start.inputs.items()), ("", None))
    if not declares_tensor(start.model.graph.input, name) or opset_of(start.model) < node.since:
        return None
    assert isinstance(value, np.ndarray)  # noqa: S101 - it is declared as a tensor
    moved = node.there(value)
    if moved is None:
        return None
    first = f"{name}_{FIRST}"
    moving, sizes = _node(node, first, name, moved, value)
    model, subject = with_nodes(start, [moving])
    declared = [info_of(first, moved) if item.name == name else item for item in start.model.graph.input]
    replace_all(model.graph.input, declared)
    _add(model, sizes)
    inputs: dict[str, Value] = {first if other == name else other: item for other, item in start.inputs.items()}
    return dataclasses.replace(start, model=model, subject=subject, inputs={**inputs, first: moved})


def before(node: Node, start: Delivered) -> Delivered | None:
    """Let the first output go through a node that moves data."""
    value = start.expected[0] if start.expected else None
    if not isinstance(value, np.ndarray) or not declares_tensor(start.model.graph.output, start.outputs[0]):
        return None
    if opset_of(start.model) < node.since or not _can_be_moved(start.allowance, node):
        return None
    moved = node.back(value)
    if moved is None:
        return None
    model, name = copied(start), start.outputs[0]
    inner = f"{name}_{LAST}"
    for other in model.graph.node:
        other.output[:] = [inner if text == name else text for text in other.output]
        other.input[:] = [inner if text == name else text for text in other.input]
    next(item for item in model.graph.output if item.name == name).CopyFrom(info_of(name, moved))
    moving, sizes = _node(node, inner, name, value, moved)
    model.graph.node.append(moving)
    _add(model, sizes)
    assert start.expected is not None  # noqa: S101 - see above
    expected, allowance = (moved, *start.expected[1:]), _moved(start.allowance, node)
    return dataclasses.replace(start, model=model, expected=expected, allowance=allowance)


def _can_be_moved(allowance: Allowance | None, node: Node) -> bool:
    """Return whether the tolerance of an output applies after its elements are moved; ULP depend on the type."""
    if allowance is None:
        return True
    if any(item is not None for item in allowance.any_of) or allowance.any_order is not None:
        return False
    exact = not (allowance.ulp or allowance.rtol or allowance.atol) and allowance.bounds is None
    return exact or node.operator != "Cast"


def _moved(allowance: Allowance | None, node: Node) -> Allowance | None:
    """Return how far the outputs may be from the expected ones after the elements of the first are moved."""
    if allowance is None:
        return None
    allowance = dataclasses.replace(allowance, sums=None)  # The elements of a lane have other places.
    if allowance.bounds is None:
        return allowance
    first = np.asarray(allowance.bounds[0])
    bounds = (node.back(first), *allowance.bounds[1:])
    return dataclasses.replace(allowance, bounds=tuple(first if item is None else item for item in bounds))


def _node(
    node: Node, taken: str, made: str, given: Array, result: Array
) -> tuple[onnx.NodeProto, onnx.TensorProto | None]:
    """Return the node, and the initializer that it needs."""
    attributes, sizes = node.parameters(given, result)
    names = [taken] if sizes is None else [taken, f"{made}_sizes"]
    moving = helper.make_node(node.operator, names, [made], name=f"{node.operator}_{made}", **attributes)
    return moving, None if sizes is None else numpy_helper.from_array(np.asarray(sizes, np.int64), names[-1])


def _add(model: onnx.ModelProto, tensor: onnx.TensorProto | None) -> None:
    if tensor is not None:
        model.graph.initializer.append(tensor)
        model.ir_version = max(model.ir_version, INITIALIZERS_ALONE)
