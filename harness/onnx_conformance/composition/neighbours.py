"""Cases with an additional node or with constant inputs, which tools that change models rewrite.

The node only moves or copies data, so the expected values follow from the case, without any runtime or evaluator.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.backends.protocol import element_type, element_type_named, numpy_dtype
from onnx_conformance.case.case import Outcome, by_itself
from onnx_conformance.declare import NoAnswer
from onnx_conformance.forms.table import PLAIN
from onnx_conformance.specification.evaluator import Evaluator, UndeclaredError
from onnx_conformance.tolerance.several_nodes import declares_tensor, first_tensor, tensor_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare.data import Value

    Array = np.ndarray[Any, Any]

INITIALIZERS_ALONE = 4
"""The IR version since which an initializer does not have to be a graph input."""
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


def neighbours(case: Case) -> Iterator[Case]:
    """Yield a case in each of the forms that it can have."""
    if case.form != PLAIN or case.outcome is not Outcome.VALUES or case.files or case.earlier is not None:
        return
    made: list[Case | None] = [_folded(case)]
    for node in NODES:
        made += [_behind(case, node), _before(case, node)]
    yield from (item for item in made if item is not None and _is_valid(item))


def _is_valid(case: Case) -> bool:
    """Return whether the text allows the model. The additional operator may not support this type in this opset."""
    try:
        Evaluator().model(onnx.load_from_string(case.model), case.inputs)
    except (NoAnswer, UndeclaredError):
        return False
    return True


def _changed(case: Case, form: str, model: onnx.ModelProto, **fields: Any) -> Case:  # noqa: ANN401 - fields of Case
    """Return a case with another model, under the name of a form."""
    name = f"{case.id}@{form}"
    return dataclasses.replace(by_itself(case), id=name, form=form, model=model.SerializeToString(), **fields)


def _folded(case: Case) -> Case | None:
    """Return a case whose inputs are all initializers, so a tool can compute the outputs."""
    model = onnx.load_from_string(case.model)
    if not case.inputs or not all(declares_tensor(model.graph.input, name) for name in case.inputs):
        return None
    model.ir_version = max(model.ir_version, INITIALIZERS_ALONE)
    for name, value in case.inputs.items():
        assert isinstance(value, np.ndarray)  # noqa: S101 - see above
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    kept = [item for item in model.graph.input if item.name not in case.inputs]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return _changed(case, "folded", model, inputs={})


def _behind(case: Case, node: Node) -> Case | None:
    """Return a case in which a node that moves data computes the first input."""
    name, value = next(iter(case.inputs.items()), ("", None))
    model = onnx.load_from_string(case.model)
    if not declares_tensor(model.graph.input, name) or _opset(model) < node.since:
        return None
    assert isinstance(value, np.ndarray)  # noqa: S101 - it is declared as a tensor
    moved = node.there(value)
    if moved is None:
        return None
    (place,) = [number for number, item in enumerate(model.graph.input) if item.name == name]
    first = f"{name}_{FIRST}"
    model.graph.input[place].CopyFrom(tensor_info(first, moved))
    model.graph.node.insert(0, _node(model, node, first, name, moved, value))
    inputs: dict[str, Value] = {first if other == name else other: item for other, item in case.inputs.items()}
    return _changed(case, f"behind_{node.name}", model, inputs={**inputs, first: moved})


def _before(case: Case, node: Node) -> Case | None:
    """Return a case whose first output goes through a node that moves data."""
    model = onnx.load_from_string(case.model)
    value = first_tensor(case, model)
    if value is None or _opset(model) < node.since or not _can_be_moved(case, node):
        return None
    moved = node.back(value)
    if moved is None:
        return None
    name = case.outputs[0]
    inner = f"{name}_{LAST}"
    for other in model.graph.node:
        other.output[:] = [inner if text == name else text for text in other.output]
        other.input[:] = [inner if text == name else text for text in other.input]
    next(item for item in model.graph.output if item.name == name).CopyFrom(tensor_info(name, moved))
    model.graph.node.append(_node(model, node, inner, name, value, moved))
    assert case.expected is not None  # noqa: S101 - see above
    alone = by_itself(case)
    allowance = alone.allowance
    if allowance.bounds is not None:
        first = np.asarray(allowance.bounds[0])
        bounds = (node.back(first), *allowance.bounds[1:])
        allowance = dataclasses.replace(allowance, bounds=tuple(first if item is None else item for item in bounds))
    expected = (moved, *case.expected[1:])
    alone = dataclasses.replace(alone, allowance=allowance)
    return _changed(alone, f"before_{node.name}", model, expected=expected)


def _can_be_moved(case: Case, node: Node) -> bool:
    """Return whether the tolerance of an output applies after its elements are moved; ULP depend on the type."""
    allowance = case.allowance
    if any(item is not None for item in allowance.any_of) or allowance.any_order is not None:
        return False
    exact = not (allowance.ulp or allowance.rtol or allowance.atol) and allowance.bounds is None
    return exact or node.operator != "Cast"


def _opset(model: onnx.ModelProto) -> int:
    return next((item.version for item in model.opset_import if item.domain in {"", "ai.onnx"}), 0)


def _node(model: onnx.ModelProto, node: Node, taken: str, made: str, before: Array, after: Array) -> onnx.NodeProto:
    """Return the node, and add the initializer that it needs to the model."""
    attributes, sizes = node.parameters(before, after)
    names = [taken]
    if sizes is not None:
        names.append(f"{made}_sizes")
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(sizes, np.int64), names[-1]))
        model.ir_version = max(model.ir_version, INITIALIZERS_ALONE)
    return helper.make_node(node.operator, names, [made], name=f"{node.operator}_{made}", **attributes)
