# SPDX-License-Identifier: Apache-2.0
"""Forms with other surroundings of the nodes: a branch of an If, or a function that the model defines."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.base.values import Drawn
from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.forms.delivered import ONNX, first_opset, has_type, in_place, replace_all, value_info
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.forms.delivered import Delivered

    Array = np.ndarray[Any, Any]

LOCAL_DOMAIN = "local"
"""The domain of functions that a model defines itself."""
FUNCTIONS_SINCE = 8
"""The IR version since which a model may have functions."""

SUBSTITUTES = {Kind.TENSOR: ("Constant", "T"), Kind.SEQUENCE: ("SequenceEmpty", "S"), Kind.OPTIONAL: ("Optional", "O")}
"""Kind of type -> the operator without inputs that returns such a value, and the type variable of its output."""


def if_branch(start: Delivered) -> Delivered | None:
    """Move the nodes into the then-branch of an If; they use values of the outer graph.

    The else-branch returns other values of the same types, so an answer shows which branch ran.
    """
    computed = {name for node in start.nodes for name in node.output}
    if start.expected is None or not start.movable or not computed.issuperset(start.outputs):
        return None
    types = [schema.type_text(item.type) for item in start.model.graph.output]
    found = first_opset(start, lambda opset: all(_has_branches(type_, opset) for type_ in types))
    if found is None:
        return None
    substitutes = [
        _substitute(type_, value, f"{name}_else", found)
        for name, type_, value in zip(start.outputs, types, start.expected, strict=True)
    ]
    convention, first = start.convention, start.nodes[0]
    renamed = {name: convention.in_then.format(name) for name in start.outputs}
    branches: dict[str, Any] = {
        f"{side}_branch": helper.make_graph(nodes, convention.branch.format(first.name, side), [], declared)
        for side, nodes, declared in (
            ("then", [_renamed(node, renamed) for node in start.nodes], _declared(start, renamed)),
            ("else", substitutes, _declared(start, {name: f"{name}_else" for name in start.outputs})),
        )
    }
    results = [convention.of_if.format(name) for name in start.outputs]
    name = convention.conditional.format(first.name)
    model = in_place(found, [helper.make_node("If", [convention.condition], results, name=name, **branches)])
    for item, result in zip(model.graph.output, results, strict=True):
        item.name = result
    condition = value_info(convention.condition, "tensor(bool)", ())
    given = {convention.condition: np.array(True)}  # noqa: FBT003 - a value
    if convention.condition_first:
        replace_all(model.graph.input, [condition, *start.model.graph.input])
        inputs = {**given, **start.inputs}
    else:
        model.graph.input.append(condition)
        inputs = {**start.inputs, **given}
    subject = range(start.subject.start, start.subject.start + 1)
    return dataclasses.replace(found, model=model, inputs=inputs, subject=subject)


def _has_branches(text: str, opset: int) -> bool:
    """Return whether an If and a node without inputs can return a value of a type in an opset."""
    operator, variable = SUBSTITUTES.get(Type.parse(text).kind, ("", ""))
    return bool(operator) and has_type(operator, variable, text, opset) and has_type("If", "V", text, opset)


def _renamed(node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    inner.input[:] = [names.get(name, name) for name in node.input]
    inner.output[:] = [names.get(name, name) for name in node.output]
    return inner


def _declared(start: Delivered, names: Mapping[str, str]) -> list[onnx.ValueInfoProto]:
    """Return the declarations of the outputs of a branch."""
    declared = []
    for item in start.model.graph.output:
        bare = schema.type_proto(Type.parse(schema.type_text(item.type)))
        type_ = item.type if start.convention.branch_shapes else bare
        declared.append(onnx.ValueInfoProto(name=names[item.name], type=type_))
    return declared


def _substitute(text: str, value: Value | Drawn, name: str, start: Delivered) -> onnx.NodeProto:
    """Return a node that returns another value of a type."""
    if isinstance(value, Drawn):
        value = value.example
    type_ = Type.parse(text)
    operator, _ = SUBSTITUTES[type_.kind]
    attribute: dict[str, Any]
    if type_.inner is None:
        other = _other(np.asarray(value), ones=start.convention.ones_for_zeros)
        attribute = {"value": numpy_helper.from_array(other)}
    elif type_.kind is Kind.SEQUENCE:
        attribute = {"dtype": element_type_named(type_.innermost.element).number}
    else:
        attribute = {"type": schema.type_proto(type_.inner)}
    return helper.make_node(operator, [], [name], name=f"{operator}_{name}", **attribute)


def _other(value: Array, *, ones: bool) -> Array:
    """Return zeros of the same type and shape; if asked, ones if all values are zeros."""
    if value.dtype == object:
        return np.full(value.shape, "else" if ones and (value == "").all() else "", object)
    zeros = ones and not np.any(value.astype(np.complex128) != 0)
    return np.full(value.shape, 1 if zeros else 0).astype(value.dtype)


def local_function(start: Delivered) -> Delivered | None:
    """Move the nodes into a function that the model defines, and call it.

    The function of a single node has the node's attributes, to which the node refers. A subgraph stays in the node.
    """
    if start.expected is None or not start.movable:
        return None
    first = start.nodes[0]
    taken = list(start.read)
    computed = {name for node in start.nodes for name in node.output}
    later = of_model.used(start.model.graph.node[start.subject.stop :])
    outputs = [name for name in dict.fromkeys([*start.outputs, *sorted(later)]) if name in computed]
    inner = start.nodes
    attributes: list[onnx.AttributeProto] = []
    if start.convention.attributes_of_call and start.node is not None:
        referring, attributes = _referring(start.node)
        inner = [referring]
    domains = {start.domain, *(node.domain or ONNX for node in of_model.within(start.nodes))}
    function = helper.make_function(
        LOCAL_DOMAIN,
        start.convention.function.format(first.op_type),
        taken,
        outputs,
        inner,
        [item for item in start.model.opset_import if (item.domain or ONNX) in domains],
        [item.name for item in attributes],
    )
    name = start.convention.call.format(first.name)
    call = helper.make_node(function.name, taken, outputs, name=name, domain=LOCAL_DOMAIN)
    call.attribute.extend(attributes)
    model = in_place(start, [call])
    model.functions.append(function)
    model.opset_import.add(domain=LOCAL_DOMAIN, version=1)
    model.ir_version = max(model.ir_version, FUNCTIONS_SINCE)
    return dataclasses.replace(start, model=model, subject=range(start.subject.start, start.subject.start + 1))


def _referring(node: onnx.NodeProto) -> tuple[onnx.NodeProto, list[onnx.AttributeProto]]:
    """Return a node that refers to the attributes of a call, and these attributes."""
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
    return inner, referred
