"""What holds for the types in the models of every operator."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from generated import cases, every_operator, model, operator_node
from onnx_conformance.backends.protocol import ELEMENT_TYPES
from onnx_conformance.forms.table import PLAIN
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    import onnx

    from onnx_conformance.declare import Op


def written(type_: onnx.TypeProto) -> str:
    """Return a type as signatures write it."""
    names = {row.number: row.name for row in ELEMENT_TYPES}
    if type_.HasField("sequence_type"):
        return f"seq({written(type_.sequence_type.elem_type)})"
    if type_.HasField("optional_type"):
        return f"optional({written(type_.optional_type.elem_type)})"
    if type_.HasField("map_type"):
        value = names[type_.map_type.value_type.tensor_type.elem_type]
        return f"map({names[type_.map_type.key_type]}, {value})"
    return f"tensor({names[type_.tensor_type.elem_type]})"


@every_operator
def test_every_allowed_type_occurs_in_a_model_of_every_version(op: Op) -> None:
    occurring: dict[tuple[str, str], set[str]] = defaultdict(set)
    versions = {str(version): version for version in schema.versions(op.domain, op.name)}
    for case in cases(op):
        if case.expected is None or case.form != PLAIN:
            continue
        version, node, graph = versions[case.operator], operator_node(case), model(case).graph
        types = {info.name: written(info.type) for info in (*graph.input, *graph.output)}
        computed = {name for other in graph.node if other.name != node.name for name in other.output}
        for parameters, names in ((version.inputs, node.input), (version.outputs, node.output)):
            for index, name in enumerate(names):
                if name and name not in computed:
                    parameter = parameters[min(index, len(parameters) - 1)]
                    occurring[case.operator, parameter.type].add(types[name])
    for version in (item for item in versions.values() if not item.deprecated):
        for variable, allowed in version.types.items():
            excused = {type_ for type_ in allowed if f"type {variable} {type_}" in op.excuses}
            missing = set(allowed) - occurring[str(version), variable] - excused
            strange = occurring[str(version), variable] - set(allowed)
            assert not missing, f"{version}: no case has {variable} = {sorted(missing)}"
            assert not strange, f"{version}: {variable} = {sorted(strange)} is expected to give values"
