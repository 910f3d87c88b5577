"""The surroundings of the operator's node: the forms @if_branch and @local_function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.backends.protocol import element_type_named
from onnx_conformance.declare import Drawn
from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.declare.data import Value

CONDITION = "takes_then"
"""The graph input that decides which branch of the If runs."""
LOCAL_DOMAIN = "local"
"""The domain of functions that a model defines itself."""
FUNCTIONS_SINCE = 8
"""The IR version since which a model may have functions."""

SUBSTITUTES = {Kind.TENSOR: ("Constant", "T"), Kind.SEQUENCE: ("SequenceEmpty", "S"), Kind.OPTIONAL: ("Optional", "O")}
"""Kind of type -> the operator without inputs that returns such a value, and the type variable of its output."""


def branch(
    node: onnx.NodeProto, outputs: Sequence[tuple[str, str]], expected: Sequence[Value | Drawn], opset: int
) -> onnx.NodeProto | None:
    """Return an If whose then-branch contains the node; the node uses values of the outer graph.

    The else-branch returns other values of the same types, so an answer shows which branch ran.

    Args:
        node: the operator's node.
        outputs: name and type of each output that the node names.
        expected: the values of these outputs.
        opset: the opset of ai.onnx.

    Returns:
        The If; None if the If of this opset does not support these types.
    """
    conditional = schema.in_force("ai.onnx", "If", opset)
    substitutes = [
        other
        for (name, type_), value in zip(outputs, expected, strict=True)
        if (other := _substitute(type_, value, f"{name}_else", opset)) is not None
    ]
    if not all(type_ in conditional.types["V"] for _, type_ in outputs) or len(substitutes) < len(outputs):
        return None
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    inner.output[:] = [f"{name}_then" if name else "" for name in node.output]
    branches: dict[str, Any] = {
        f"{side}_branch": helper.make_graph(nodes, f"{node.name}_{side}", [], _declared(outputs, side))
        for side, nodes in (("then", [inner]), ("else", substitutes))
    }
    return helper.make_node("If", [CONDITION], [name for name, _ in outputs], name=f"If_{node.name}", **branches)


def _declared(outputs: Sequence[tuple[str, str]], side: str) -> list[onnx.ValueInfoProto]:
    types = [(name, schema.type_proto(Type.parse(type_))) for name, type_ in outputs]
    return [onnx.ValueInfoProto(name=f"{name}_{side}", type=type_) for name, type_ in types]


def _substitute(text: str, value: Value | Drawn, name: str, opset: int) -> onnx.NodeProto | None:
    """Return a node that returns another value of a type; None if the opset has no such operator."""
    if isinstance(value, Drawn):
        value = value.example
    type_ = Type.parse(text)
    operator, output = SUBSTITUTES.get(type_.kind, ("", ""))
    if not operator or not schema.exists("ai.onnx", operator, opset):
        return None
    if text not in schema.in_force("ai.onnx", operator, opset).types[output]:
        return None
    attribute: dict[str, Any]
    if type_.inner is None:
        attribute = {"value": numpy_helper.from_array(_other(np.asarray(value)))}
    elif type_.kind is Kind.SEQUENCE:
        attribute = {"dtype": element_type_named(type_.innermost.element).number}
    else:
        attribute = {"type": schema.type_proto(type_.inner)}
    return helper.make_node(operator, [], [name], name=f"{operator}_{name}", **attribute)


def _other(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return zeros of the same type and shape, or ones if all values are zeros."""
    if value.dtype == object:
        return np.full(value.shape, "else" if (value == "").all() else "", object)
    return np.full(value.shape, 0 if np.any(value.astype(np.complex128) != 0) else 1).astype(value.dtype)


def call(
    node: onnx.NodeProto, opsets: Mapping[str, int], own: Sequence[str]
) -> tuple[onnx.NodeProto, onnx.FunctionProto]:
    """Return a call of a function that the model defines, and the function, which contains the node.

    The function has the node's attributes, to which the node refers. A subgraph stays in the node.

    Args:
        node: the operator's node.
        opsets: the opsets of the node by domain, as models import them.
        own: the names of the main graph, which subgraphs of the node may use.
    """
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    del inner.attribute[:]
    referred = []
    for item in node.attribute:
        if item.type in {onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS}:
            inner.attribute.append(item)
        else:
            referred.append(item)
            inner.attribute.add(name=item.name, type=item.type, ref_attr_name=item.name)
    used = {name for deeper in of_model.within([inner]) for name in deeper.input}
    used |= {item.name for graph in of_model.subgraphs([inner]) for item in graph.output}
    taken = list(dict.fromkeys([name for name in node.input if name] + [name for name in own if name in used]))
    outputs = [name for name in node.output if name]
    function = helper.make_function(
        LOCAL_DOMAIN,
        f"Local{node.op_type}",
        taken,
        outputs,
        [inner],
        [helper.make_operatorsetid(schema.proto_domain(domain), opset) for domain, opset in opsets.items()],
        [item.name for item in referred],
    )
    calls = helper.make_node(function.name, taken, outputs, name=f"Call_{node.name}", domain=LOCAL_DOMAIN)
    calls.attribute.extend(referred)
    return calls, function
