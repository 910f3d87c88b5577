"""The plan of an undeclared case, from its model: one node of a declared operator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import onnx
import onnx.printer
from onnx import helper, numpy_helper

from harness.case.case import Outcome
from harness.declare import EMPTY, CaseSpec, Graph, Typed
from harness.errors import HarnessError
from harness.generation import plans
from harness.spec import registry, schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.case.case import Case
    from harness.generation.forms import Plan
    from harness.spec.schema import OperatorVersion

KIND = onnx.AttributeProto


class NotDeclarableError(HarnessError):
    """A case cannot be written as a declaration; the text says why."""


def plan_from_case(case: Case) -> Plan:
    """Return the plan of a case from a folder or from the onnx package, with expected values by the oracle.

    Raises:
        NotDeclarableError: its model is not a single node of a declared operator, or it does not expect values.
    """
    where = f"{case.id} cannot be written as a declared case"
    model = onnx.load_from_string(case.model)
    if len(model.graph.node) != 1 or model.functions:
        raise NotDeclarableError(f"{where}: its model is no single node")
    if case.outcome is not Outcome.VALUES:
        raise NotDeclarableError(f"{where}: the clause that makes it {case.outcome} is known of generated cases alone")
    node = model.graph.node[0]
    domain = node.domain or "ai.onnx"
    op = registry.load().find(domain, node.op_type)
    opset = next((item.version for item in model.opset_import if (item.domain or "ai.onnx") == domain), 0)
    if op is None or not schema.exists(domain, node.op_type, opset):
        raise NotDeclarableError(f"{where}: no operator file declares {domain}/{node.op_type}")
    version = schema.in_force(domain, node.op_type, opset)
    if version.since not in op.versions:
        raise NotDeclarableError(f"{where}: no operator file declares {version}")
    try:
        spec, types = _spec(case, model, version)
        return plans.plan(op, version, spec, types)
    except HarnessError as error:
        raise NotDeclarableError(f"{where}: {error}") from error
    except Exception as error:  # An oracle may raise anything on a model that it was not written for.
        raise NotDeclarableError(f"{where}: {type(error).__name__}: {error}") from error


def _spec(case: Case, model: onnx.ModelProto, version: OperatorVersion) -> tuple[CaseSpec, dict[str, str]]:
    node = model.graph.node[0]
    known = {info.name: schema.type_text(info.type) for info in model.graph.input}
    values: dict[str, Any] = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    known |= {tensor.name: schema.tensor_text(tensor.data_type) for tensor in model.graph.initializer}
    values |= case.inputs
    types: dict[str, str] = {}
    arguments: dict[str, Any] = {}
    names = list(node.input)
    for index, parameter in enumerate(version.inputs):
        own_names = names[index:] if parameter.variadic else names[index : index + 1]
        bound = parameter.type in version.types and parameter.homogeneous
        items = []
        for name in own_names:
            if name and name not in values:
                raise NotDeclarableError(f"its node takes {name!r}, which is neither an input nor an initializer")
            items.append(_argument(values[name], known[name], types, parameter.type if bound else "") if name else None)
        key = f"{parameter.name}_input" if parameter.name in version.attributes else parameter.name
        if items:
            arguments[key] = tuple(items) if parameter.variadic else items[0]
    arguments |= {item.name: _attribute(item) for item in node.attribute}
    outputs = plans.output_names(version, len(node.output))
    spec = CaseSpec(
        name="_".join(re.findall(r"[a-z0-9]+", case.id.rpartition("/")[2].lower())) or "case",
        arguments={name: value for name, value in arguments.items() if name in version.arguments},
        stray={name: value for name, value in arguments.items() if name not in version.arguments},
        tags=case.tags,
        n=len(node.output),
        omits=tuple(name for name, actual in zip(outputs, node.output, strict=True) if not actual),
    )
    return spec, types


def _argument(value: Any, type_: str, types: dict[str, str], variable: str) -> Any:  # noqa: ANN401 - any value
    """Return an input as an argument of a declaration; the first input of a type variable sets its type."""
    declared = EMPTY if value is None else value
    if variable and types.setdefault(variable, type_) == type_:
        return declared
    return Typed(type_, declared)


def _attribute(item: onnx.AttributeProto) -> Any:  # noqa: ANN401 - any attribute
    value = helper.get_attribute_value(item)
    convert: Mapping[int, Any] = {
        KIND.FLOAT: float,
        KIND.INT: int,
        KIND.STRING: lambda text: text.decode(errors="surrogateescape"),
        KIND.FLOATS: list,
        KIND.INTS: list,
        KIND.STRINGS: lambda texts: [text.decode(errors="surrogateescape") for text in texts],
        KIND.TENSOR: lambda tensor: Typed(schema.tensor_text(tensor.data_type), numpy_helper.to_array(tensor)),
        KIND.GRAPH: lambda graph: _graph(item.name, onnx.printer.to_text(graph)),
        KIND.TYPE_PROTO: schema.type_text,
    }
    if item.type not in convert:
        raise NotDeclarableError(f"attribute {item.name} is of a kind that declarations cannot express")
    return convert[item.type](value)


def _graph(name: str, text: str) -> Graph:
    if re.search(r"\{\w+\}", text):
        raise NotDeclarableError(
            f"attribute {name} is a subgraph with values in braces, which declarations read as types"
        )
    return Graph(text)
