# SPDX-License-Identifier: Apache-2.0
"""Schemas as a JSON file: a copy of those that a runtime lists, so that cases do not depend on the installed runtime.

Each line is the schema of an operator version. `tools.runtime_schemas` writes the file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import onnx
import onnx.defs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_SCHEMA = onnx.defs.OpSchema


def read(path: Path) -> list[onnx.defs.OpSchema]:
    """Return the schemas of a file."""
    with path.open(encoding="utf-8") as file:
        return [parsed(json.loads(text)) for text in file if text.strip()]


def parsed(item: dict[str, Any]) -> onnx.defs.OpSchema:
    """Return a schema from the members of its line."""
    return _SCHEMA(
        item["name"],
        item["domain"],
        item["since_version"],
        item["doc"],
        inputs=_parameters(item["inputs"], item["min_input"]),
        outputs=_parameters(item["outputs"], item["min_output"]),
        type_constraints=[(name, types, text) for name, types, text in item["type_constraints"]],
        attributes=list(map(_attribute, item["attributes"])),
    )


def _parameters(items: list[dict[str, Any]], least: int) -> list[onnx.defs.OpSchema.FormalParameter]:
    """Return inputs or outputs; the last one may be variadic, so it has the rest of the least number."""
    return [
        _SCHEMA.FormalParameter(
            item["name"],
            item["type"],
            item["description"],
            param_option=getattr(_SCHEMA.FormalParameterOption, item["option"]),
            is_homogeneous=item["homogeneous"],
            min_arity=max(least - place, 0) if item["option"] == "Variadic" else 1,
        )
        for place, item in enumerate(items)
    ]


def _attribute(item: dict[str, Any]) -> onnx.defs.OpSchema.Attribute:
    if item["default"]:
        return _SCHEMA.Attribute(
            item["name"], onnx.AttributeProto.FromString(bytes.fromhex(item["default"])), item["description"]
        )
    kind = getattr(_SCHEMA.AttrType, item["type"])
    return _SCHEMA.Attribute(item["name"], kind, item["description"], required=item["required"])


def lines(schemas: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of a file.

    Args:
        schemas: the schemas as ONNX Runtime lists them: onnxruntime.capi's get_all_operator_schema.
    """
    for schema in sorted(schemas, key=lambda item: (item.domain, item.name, item.since_version)):
        item = {
            "name": schema.name,
            "domain": schema.domain,
            "since_version": schema.since_version,
            "doc": schema.doc or "",
            "inputs": list(map(_described, schema.inputs)),
            "min_input": schema.min_input,
            "outputs": list(map(_described, schema.outputs)),
            "min_output": schema.min_output,
            "type_constraints": [
                [each.type_param_str, list(each.allowed_type_strs), each.description]
                for each in schema.type_constraints
            ],
            "attributes": [
                {
                    "name": each.name,
                    "type": each.type.name,
                    "required": each.required,
                    "description": each.description,
                    "default": each._default_value.hex(),  # noqa: SLF001 - onnxruntime has no public name
                }
                for _, each in sorted(schema.attributes.items())
            ],
        }
        yield json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n"


def differences(path: Path, source: str, listed: Iterable[Any], installed: str) -> Iterator[str]:
    """Yield a sentence for each operator version whose schema differs between a file and a runtime.

    Args:
        path: the file.
        source: the release that the file is of.
        listed: the schemas that the runtime lists, as in `lines`.
        installed: the release of the runtime.
    """
    of_runtime = {_key(text): text for text in lines(listed)}
    for text in path.read_text(encoding="utf-8").splitlines(keepends=True):
        key = _key(text)
        if key not in of_runtime:
            yield f"{key}: {installed} lacks it, and {source} has it"
        elif of_runtime[key] != text:
            yield f"{key}: its schema in {installed} differs from that in {source}; read the text again"


def _key(text: str) -> str:
    item = json.loads(text)
    return f"{item['domain'] or 'ai.onnx'}/{item['name']}/{item['since_version']}"


def _described(parameter: Any) -> dict[str, Any]:  # noqa: ANN401 - onnxruntime has no types
    return {
        "name": parameter.name,
        "type": parameter.typeStr,
        "description": parameter.description,
        "option": parameter.option.name,
        "homogeneous": parameter.isHomogeneous,
    }
