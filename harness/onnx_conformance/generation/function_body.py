"""Replacement of a node by the function body of its operator: the form @expanded.

The text of some operators defines them a second time, as a function of other operators. If the two definitions disagree
in a case, the operator file records the dispute.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import DeclarationError, Rejected, Unspecified
from onnx_conformance.specification.evaluator import UndeclaredError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.specification.evaluator import Evaluator


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


def agreed(case: Case, dispute: str | None, evaluator: Evaluator) -> Case | None:
    """Return an expanded case with the outcome of the function body; None if an operator of the body is undeclared.

    Args:
        case: the case, with the expected values of the whole operator.
        dispute: the reason why the body disagrees, or None.
        evaluator: an evaluator with the operators of the body.

    Raises:
        DeclarationError: the body disagrees with the operator, and there is no dispute.
    """
    try:
        answers = evaluator.model(onnx.load_from_string(case.model), case.inputs)
    except UndeclaredError:
        return None
    except Unspecified as open_:
        clauses = (*case.clauses, open_.clause.text)
        return dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None, clauses=clauses, detail=str(open_))
    except Rejected as rejected:
        difference = f"the body is not valid: {rejected}"
    else:
        mismatch = compare(case.expected or (), [answers[name] for name in case.outputs], case.allowance)
        if mismatch is None:
            of_parts = {reading.number for reading in evaluator.rests_on}
            return dataclasses.replace(case, readings=tuple(sorted({*case.readings, *of_parts})))
        difference = f"the body has another result: {mismatch}"
    if dispute is None:
        raise DeclarationError(f"{case.id}: {difference}; if the body is wrong, declare a dispute in the operator file")
    notes = (*case.notes, dispute)
    return dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None, notes=notes, detail=difference)
