# SPDX-License-Identifier: Apache-2.0
"""Forms that write the node itself in another way: with omitted inputs, or as the function body of its operator.

The text of some operators defines them a second time, as a function of other operators.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import onnx

from onnx_conformance.forms.delivered import ONNX, copied, in_place, opset_of, replace_all
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import schema
from onnx_conformance.specification.signature import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.forms.delivered import Delivered
    from onnx_conformance.specification.schema import OperatorVersion


def omitted(start: Delivered) -> Delivered | None:
    """Write the optional inputs after the last one present as ""."""
    if start.node is None:
        return None
    absent = _version(start, start.node).inputs[len(start.node.input) :]
    if not absent or not all(item.optional for item in absent):
        return None
    model = copied(start)
    model.graph.node[start.subject.start].input.extend([""] * len(absent))
    return dataclasses.replace(start, model=model)


def has_body(version: OperatorVersion) -> bool:
    """Return whether the text defines an operator version also by a function."""
    return schema.first_body(version) is not None


def expanded(start: Delivered) -> Delivered | None:
    """Replace the node by the function body of its operator."""
    node = start.node
    body = None if node is None or start.expected is None else _body(start, node)
    if node is None or body is None:
        return None
    version = _version(start, node)
    defaults = schema.default_attributes(version.domain, version.name, version.since)
    model = in_place(start, written_out(node, body, defaults))
    imports = {item.domain or ONNX: item.version for item in (*start.model.opset_import, *body.opset_import)}
    used = {item.domain or ONNX for item in of_model.of(model)}
    imports = {
        domain: imports.get(domain) or schema.newest_opset(domain)
        for domain in (*imports, *sorted(used - set(imports)))
        if domain in used
    }
    replace_all(
        model.opset_import,
        (onnx.OperatorSetIdProto(domain=schema.proto_domain(name), version=opset) for name, opset in imports.items()),
    )
    model.ir_version = max(start.least_ir, *(schema.lowest_ir(*item) for item in imports.items()))
    return dataclasses.replace(start, model=model)


def _version(start: Delivered, node: onnx.NodeProto) -> OperatorVersion:
    domain = node.domain or ONNX
    return schema.in_force(domain, node.op_type, opset_of(start.model, domain))


def _body(start: Delivered, node: onnx.NodeProto) -> onnx.FunctionProto | None:
    """Return the function body of a node; None if the text defines none."""
    version = _version(start, node)
    opset = schema.first_body(version)
    if opset is None:
        return None
    given = [start.read.get(name) for name in node.input]
    types = [kind_of(item) if item else "" for item in given]
    values = [item.value if item else None for item in given]
    shapes = [value.shape if isinstance(value, np.ndarray) else None for value in values]
    return schema.function_body(version.domain, version.name, opset, node, types, shapes)


def written_out(
    node: onnx.NodeProto, body: onnx.FunctionProto, defaults: Mapping[str, onnx.AttributeProto]
) -> list[onnx.NodeProto]:
    """Return the nodes of `body` with the names of the inputs and outputs of `node`.

    Args:
        node: the node that calls the function. Optional inputs and outputs may be missing, or named "".
        body: the function body of its operator.
        defaults: the defaults of the operator's attributes, for attributes that `node` does not set.
    """
    formal = [*zip(body.input, _padded(node.input, body.input), strict=True)]
    formal += [(name, actual) for name, actual in zip(body.output, node.output, strict=False) if actual]
    actual: dict[str, str] = dict(formal)
    own = set(_defined(body.node))
    attributes = {**defaults, **{item.name: item for item in node.attribute}}

    def named(name: str) -> str:
        # If the body does not define a name, it is a value outside a subgraph of the node.
        return actual.get(name, f"{node.name}_{name}" if name in own else name)

    nodes = [_copied(item, named, attributes) for item in body.node]
    for index, item in enumerate(nodes):
        item.name = f"{node.name}_{index}_{item.op_type}"  # Runtimes refuse two nodes with one name.
    return nodes


def _padded(names: Sequence[str], formal: Sequence[str]) -> list[str]:
    return [*names, *[""] * (len(formal) - len(names))]


def _defined(nodes: Sequence[onnx.NodeProto]) -> Iterator[str]:
    """Yield every name that nodes and their subgraphs define."""
    for node in nodes:
        yield from node.output
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from (item.name for item in (*attribute.g.input, *attribute.g.initializer))
                yield from _defined(attribute.g.node)


def _copied(
    node: onnx.NodeProto, named: Callable[[str], str], attributes: Mapping[str, onnx.AttributeProto]
) -> onnx.NodeProto:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.input[:] = map(named, node.input)
    copy.output[:] = map(named, node.output)
    del copy.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            copy.attribute.append(attribute)
        elif attribute.ref_attr_name in attributes:
            copy.attribute.append(attributes[attribute.ref_attr_name])
            copy.attribute[-1].name = attribute.name
        else:
            continue
        if copy.attribute[-1].type == onnx.AttributeProto.GRAPH:
            _rename(copy.attribute[-1].g, named, attributes)
    return copy


def _rename(graph: onnx.GraphProto, named: Callable[[str], str], attributes: Mapping[str, onnx.AttributeProto]) -> None:
    for item in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        item.name = named(item.name)
    nodes = [_copied(node, named, attributes) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
