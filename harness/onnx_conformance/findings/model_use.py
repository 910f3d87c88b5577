"""The operator versions, element types and attributes that a model uses, and the findings about them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import onnx.shape_inference

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.case.model_file import load_model
from onnx_conformance.findings.finding import FIXED
from onnx_conformance.specification import nodes as of_model
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import ELEMENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from onnx_conformance.findings.finding import Finding, Findings

TYPES = {row.number: row.name for row in ELEMENT_TYPES}


@dataclass
class Use:
    """The nodes of a model with one operator version.

    Attributes:
        operator: the operator, such as ai.onnx/Split.
        version: the version in force for the model; 0 if ONNX has no such operator in this opset.
        nodes: the number of nodes.
        types: the element types of their inputs and outputs that shape inference determines.
        attributes: the names of the attributes that are set.
    """

    operator: str
    version: int
    nodes: int = 0
    types: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Concern:
    """A finding that concerns nodes of a model.

    Attributes:
        finding: the finding of the runtime.
        use: the nodes.
    """

    finding: Finding
    use: Use


def read(path: Path) -> onnx.ModelProto:
    """Return a model without its external data.

    Raises:
        HarnessError: the file cannot be read, or is not a model.
    """
    model = load_model(path)
    if not model.graph.node and not model.functions:
        raise HarnessError(
            "not-a-model-with-nodes",
            f"{path} is not an ONNX model with nodes; expected a file that onnx.load() can read",
        )
    return model


def uses(model: onnx.ModelProto) -> list[Use]:
    """Return the operators that a model uses, including subgraphs and functions."""
    with contextlib.suppress(Exception):  # Without it, only the types that the model declares are known.
        if of_model.expanded(model) <= of_model.MOST_EXPANDED:  # It writes functions out in place of their calls.
            model = onnx.shape_inference.infer_shapes(model)
    found: dict[tuple[str, int], Use] = {}
    _walk(model.graph.node, _opsets(model.opset_import), _types(model.graph, {}), found)
    for function in model.functions:
        _walk(function.node, _opsets(function.opset_import), {}, found)
    own = {f"{function.domain or 'ai.onnx'}/{function.name}" for function in model.functions}
    return sorted(
        (use for use in found.values() if use.operator not in own), key=lambda use: (use.operator, use.version)
    )


def _opsets(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {item.domain or "ai.onnx": item.version for item in imports}


def _types(graph: onnx.GraphProto, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the element types of a graph's values by name, including those of the outer graphs."""
    types = dict(outer)
    for info in (*graph.input, *graph.value_info, *graph.output):
        if name := TYPES.get(info.type.tensor_type.elem_type, ""):
            types[info.name] = name
    types |= {item.name: TYPES.get(item.data_type, "") for item in graph.initializer}
    return types


def _walk(
    nodes: Iterable[onnx.NodeProto],
    opsets: Mapping[str, int],
    types: Mapping[str, str],
    found: dict[tuple[str, int], Use],
) -> None:
    for node in nodes:
        domain = node.domain or "ai.onnx"
        key = f"{domain}/{node.op_type}", _version(domain, node.op_type, opsets.get(domain, 0))
        use = found.setdefault(key, Use(*key))
        use.nodes += 1
        use.types |= {types[name] for name in (*node.input, *node.output) if types.get(name)}
        use.attributes |= {item.name for item in node.attribute}
        for graph in _graphs(node):
            _walk(graph.node, opsets, _types(graph, types), found)


def _graphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for item in node.attribute:
        yield from item.graphs
        if item.HasField("g"):
            yield item.g


def _version(domain: str, name: str, opset: int) -> int:
    try:
        return schema.in_force(domain, name, opset).since
    except schema.SchemaError:
        return 0


def concerns(used: Iterable[Use], findings: Findings, backend: str) -> list[Concern]:
    """Return the findings of a backend about the operators that a model uses, with the most severe first.

    Args:
        used: the operators that the model uses.
        findings: the findings of a folder.
        backend: the name of the backend in these findings.
    """
    by_operator: dict[str, list[Use]] = {}
    for use in used:
        by_operator.setdefault(use.operator, []).append(use)
    return [
        Concern(finding, use)
        for finding in findings.of(backend)
        if finding.history.state != FIXED
        for use in by_operator.get(finding.identity.operator, ())
        if use.version in finding.cases.versions
        and (not finding.cases.types or not use.types or use.types.intersection(finding.cases.types))
    ]
