# SPDX-License-Identifier: Apache-2.0
"""The plan of an undeclared case, derived from its model, which has one node of a declared operator."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import onnx
import onnx.printer
from onnx import helper

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.external_data import decoded
from onnx_conformance.declare import EMPTY, CaseSpec, Graph, Rejected, Typed, Unspecified
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.specification.schema import OperatorVersion

KIND = onnx.AttributeProto


class NotDeclarableError(HarnessError):
    """A case cannot be written as a declaration. The message contains the reason."""


def plan_from_case(case: Case) -> Plan:
    """Return the plan of a case from a folder or from the onnx package, with the oracle's expected values.

    Raises:
        NotDeclarableError: the model is not a single node of a declared operator, or the case does not expect values.
    """
    where = f"{case.id} cannot be written as a declared case"
    if case.outcome is not Outcome.VALUES:
        raise NotDeclarableError(
            "clause-unknown", f"{where}: only generated cases have the clause that makes them {case.outcome}"
        )
    op, version, spec, types = declaration(where, onnx.load_from_string(case.model), case.inputs, case.id, case.tags)
    return _planned(where, op, version, spec, types)


def declaration(
    where: str, model: onnx.ModelProto, inputs: Mapping[str, Value], name: str, tags: frozenset[str] = frozenset()
) -> tuple[Op, OperatorVersion, CaseSpec, dict[str, str]]:
    """Return a model of one node as a declaration: operator, version, case, and the types that it binds.

    Args:
        where: the beginning of error messages.
        model: a model with one node of a declared operator.
        inputs: the inputs of the graph, by name.
        name: the name of the case, or its id.
        tags: the tags of the case.

    Raises:
        NotDeclarableError: the model is not a single node of a declared operator, or an input has no values.
    """
    if len(model.graph.node) != 1 or model.functions:
        raise NotDeclarableError("not-one-node", f"{where}: expected a model with a single node, got {_parts(model)}")
    node = model.graph.node[0]
    domain = node.domain or "ai.onnx"
    op = registry.load().find(domain, node.op_type)
    opset = next((item.version for item in model.opset_import if (item.domain or "ai.onnx") == domain), 0)
    if op is None or not schema.exists(domain, node.op_type, opset):
        raise NotDeclarableError(
            "operator-not-declared", f"{where}: no operator file declares {domain}/{node.op_type} in opset {opset}"
        )
    version = schema.in_force(domain, node.op_type, opset)
    if version.since not in op.versions:
        raise NotDeclarableError("version-not-declared", f"{where}: no operator file declares {version}")
    try:
        spec, types = _spec(name, tags, model, inputs, version)
    except NotDeclarableError as error:
        raise NotDeclarableError("model-not-declarable", f"{where}: {error}") from error
    return op, version, spec, types


def _parts(model: onnx.ModelProto) -> str:
    functions = f" and {len(model.functions)} functions" if model.functions else ""
    return f"{len(model.graph.node)} nodes{functions}"


def plan_from_model(where: str, model: onnx.ModelProto, inputs: Mapping[str, Value], name: str) -> Plan:
    """Return the plan of a model with one node, with the oracle's outcome; see `declaration` for the arguments.

    Raises:
        NotDeclarableError: the model cannot be written as a declaration, or its oracle raises an error.
    """
    op, version, spec, types = declaration(where, model, inputs, name)
    try:
        Evaluator().model(model, inputs)
    except Rejected as rejected:
        spec = dataclasses.replace(spec, rejects=rejected.clause)
    except Unspecified as open_:
        spec = dataclasses.replace(spec, unspecified=open_.clause)
    except Exception as error:  # An oracle may raise anything on a model that it was not written for.
        raise NotDeclarableError("model-not-declarable", f"{where}: {type(error).__name__}: {error}") from error
    return _planned(where, op, version, spec, types)


def _planned(where: str, op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str]) -> Plan:
    try:
        return plans.plan(op, version, spec, types)
    except HarnessError as error:
        raise NotDeclarableError("model-not-declarable", f"{where}: {error}") from error
    except Exception as error:  # As above.
        raise NotDeclarableError("model-not-declarable", f"{where}: {type(error).__name__}: {error}") from error


def _decoded(tensor: onnx.TensorProto) -> np.ndarray[Any, Any]:
    """Return the array of a tensor.

    Raises:
        NotDeclarableError: its data are missing or do not fit its type and shape.
    """
    array = decoded(tensor)
    if array is None:
        raise NotDeclarableError(
            "tensor-data-misfit", f"the data of the tensor {line(tensor.name, 40)!r} do not fit its type and shape"
        )
    return array


def _spec(
    case: str, tags: frozenset[str], model: onnx.ModelProto, inputs: Mapping[str, Value], version: OperatorVersion
) -> tuple[CaseSpec, dict[str, str]]:
    node = model.graph.node[0]
    known = {info.name: schema.type_text(info.type) for info in model.graph.input}
    values: dict[str, Any] = {tensor.name: _decoded(tensor) for tensor in model.graph.initializer}
    known |= {tensor.name: str(schema.tensor_of(tensor.data_type)) for tensor in model.graph.initializer}
    values |= inputs
    types: dict[str, str] = {}
    arguments: dict[str, Any] = {}
    names = list(node.input)
    for index, parameter in enumerate(version.inputs):
        own_names = names[index:] if parameter.variadic else names[index : index + 1]
        bound = parameter.type in version.types and parameter.homogeneous
        items = []
        for name in own_names:
            if name and name not in values:
                raise NotDeclarableError(
                    "input-without-value", f"its node has the input {name!r}, which has no value in the graph"
                )
            items.append(_argument(values[name], known[name], types, parameter.type if bound else "") if name else None)
        key = f"{parameter.name}_input" if parameter.name in version.attributes else parameter.name
        if items:
            arguments[key] = tuple(items) if parameter.variadic else items[0]
    arguments |= {item.name: _attribute(item) for item in node.attribute}
    outputs = plans.output_names(version, len(node.output))
    spec = CaseSpec(
        name="_".join(re.findall(r"[a-z0-9]+", case.rpartition("/")[2].lower())) or "case",
        arguments={name: value for name, value in arguments.items() if name in version.arguments},
        stray={name: value for name, value in arguments.items() if name not in version.arguments},
        tags=tags,
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
        KIND.TENSOR: lambda tensor: Typed(str(schema.tensor_of(tensor.data_type)), _decoded(tensor)),
        KIND.GRAPH: lambda graph: _graph(item.name, onnx.printer.to_text(graph)),
        KIND.TYPE_PROTO: schema.type_text,
    }
    if item.type not in convert:
        raise NotDeclarableError(
            "attribute-not-expressible", f"declarations cannot express attribute {item.name}, because of its type"
        )
    return convert[item.type](value)


def _graph(name: str, text: str) -> Graph:
    if re.search(r"\{\w+\}", text):
        raise NotDeclarableError(
            "subgraph-not-expressible",
            f"attribute {name} is a subgraph with values in braces, which declarations read as types",
        )
    return Graph(text)
