# SPDX-License-Identifier: Apache-2.0
"""The nodes of models: in graphs, in subgraphs and in functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import onnx


def of(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield every node of a model: of its graph, of its functions, and of all their subgraphs."""
    yield from within(model.graph.node)
    for function in model.functions:
        yield from within(function.node)


MOST_EXPANDED = 1_000_000
"""Maximum number of nodes of a model after its functions are written out in place of their calls."""


def expanded(model: onnx.ModelProto, circle: int = MOST_EXPANDED + 1) -> int:
    """Return the number of nodes of a model after its functions are written out; at most MOST_EXPANDED + 1.

    A chain of 40 functions that each call the next one twice has 2**40 nodes.

    Args:
        model: the model.
        circle: the number to count for a function that calls itself, which cannot be written out.
    """
    functions = {(item.domain, item.name): item for item in model.functions}
    known: dict[tuple[str, str], int] = {}
    waiting: list[tuple[tuple[str, str], bool]] = [(key, False) for key in functions]
    open_: set[tuple[str, str]] = set()
    calls = {key: [(node.domain, node.op_type) for node in within(item.node)] for key, item in functions.items()}
    while waiting:
        key, inner_known = waiting.pop()
        if key in known:
            continue
        inner = [call for call in calls[key] if call in functions]
        if inner_known:
            open_.discard(key)
            size = len(calls[key]) + sum(known.get(call, circle) for call in inner)
            known[key] = min(size, MOST_EXPANDED + 1)
        elif key in open_:  # It calls itself.
            known[key] = circle
        else:
            open_.add(key)
            waiting.append((key, True))
            waiting += [(call, False) for call in dict.fromkeys(inner) if call not in known]
    total = sum(1 + known.get((node.domain, node.op_type), 0) for node in within(model.graph.node))
    return min(total, MOST_EXPANDED + 1)


def of_operator(model: onnx.ModelProto, domain: str, name: str) -> onnx.NodeProto | None:
    """Return the first node of an operator, or None. In a function, it has the attributes of the function's call."""
    for node in of(model):
        if (node.domain or "ai.onnx", node.op_type) == (domain, name):
            return _resolved(node, model) if any(item.ref_attr_name for item in node.attribute) else node
    return None


def _resolved(node: onnx.NodeProto, model: onnx.ModelProto) -> onnx.NodeProto:
    """Return a node of a function with the attributes of the first call that sets them."""
    functions = {(function.domain, function.name) for function in model.functions}
    calls = [call for call in within(model.graph.node) if (call.domain, call.op_type) in functions]
    own = type(node)()
    own.CopyFrom(node)
    del own.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            own.attribute.append(attribute)
            continue
        named = [item for call in calls for item in call.attribute if item.name == attribute.ref_attr_name]
        for item in named[:1]:
            own.attribute.append(item)
            own.attribute[-1].name = attribute.name
    return own


def within(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Yield nodes and the nodes of their subgraphs; each node precedes those in its subgraphs."""
    for node in nodes:
        yield node
        for graph in subgraphs([node]):
            yield from graph.node


def used(nodes: Collection[onnx.NodeProto]) -> set[str]:
    """Return every name that nodes and their subgraphs use."""
    names = {name for node in within(nodes) for name in node.input}
    return names | {item.name for graph in subgraphs(nodes) for item in graph.output}


def subgraphs(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs of nodes, and the subgraphs in them."""
    for node in nodes:
        for attribute in node.attribute:
            for graph in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield graph
                yield from subgraphs(graph.node)
