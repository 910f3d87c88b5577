# SPDX-License-Identifier: Apache-2.0
"""The members that a JSON schema of this project describes, as tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onnx_conformance.base import schemas
from onnx_conformance.base.errors import HarnessError
from tools.docs.markdown import prose, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

REFERENCE = "#/$defs/"


def members(name: str, page: Path) -> str:
    """Return the tables of the schema with a name.

    Raises:
        HarnessError: there is no such schema.
    """
    if name not in schemas.names():
        known = ", ".join(schemas.names())
        raise HarnessError("docs-schema-unknown", f"{page}: there is no schema {name!r}; there are {known}")
    return described(schemas.read(name))


def described(schema: Mapping[str, Any]) -> str:
    """Return the tables of a schema."""
    parts = [prose(schema.get("description", ""))]
    if "properties" in schema:
        parts.append(_table(schema))
    for name, inner in schema.get("$defs", {}).items():
        parts += [f"## {name}", _about(inner)]
        if "properties" in inner:
            parts.append(_table(inner))
        elif "enum" in inner:
            parts.append(f"One of {_codes(inner['enum'])}.")
        else:
            parts.append(f"Type: {_type(inner)}.")
    return "\n\n".join(filter(None, parts))


def _about(schema: Mapping[str, Any]) -> str:
    return prose(str(schema.get("description", "")))


def _table(schema: Mapping[str, Any]) -> str:
    return table(("member", "type", "content"), _rows(schema, ""))


def _rows(schema: Mapping[str, Any], before: str) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each member; those of an object in it follow, with its name and a dot before theirs."""
    required = set(schema.get("required", ()))
    for name, inner in schema.get("properties", {}).items():
        optional = "" if name in required else ", optional"
        yield f"`{before}{name}`", _type(inner) + optional, _about(inner)
        for mark, part in (("", inner), ("[]", inner.get("items"))):
            if isinstance(part, dict) and "properties" in part:
                yield from _rows(part, f"{before}{name}{mark}.")


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type of a value in words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(REFERENCE)
        return f"[{name}](#{name})"
    if "const" in schema:
        return _codes([schema["const"]])
    if "enum" in schema:
        return _codes(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[key])))
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(_of_kind(kind, schema) for kind in kinds)


def _of_kind(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"array of {_type(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return kind


def _codes(values: list[Any]) -> str:
    return ", ".join(f"`{json.dumps(value)}`" for value in values)
