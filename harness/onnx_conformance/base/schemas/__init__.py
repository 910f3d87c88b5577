# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the files and messages that other programs read or write; docs/formats.md describes them.

Each has an `$id` with its name and version, such as `urn:onnx-conformance:schema:findings:2`. Within a version, members
may be added. If a member is removed or changes its meaning, the version increases.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

_FOLDER = resources.files("onnx_conformance.base.schemas")
_SUFFIX = ".json"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
"""The newest draft that fastjsonschema reads. The schemas have no keyword with another meaning in it."""


def names() -> list[str]:
    """Return the names of the schemas, sorted."""
    files = (item.name for item in _FOLDER.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def text(name: str) -> str:
    """Return the text of a schema.

    Raises:
        FileNotFoundError: there is no schema with this name.
    """
    return _FOLDER.joinpath(name + _SUFFIX).read_text(encoding="utf-8")


def read(name: str) -> dict[str, Any]:
    """Return a schema."""
    schema: dict[str, Any] = json.loads(text(name))
    return schema


def version(schema: dict[str, Any]) -> str:
    """Return the version that the `$id` of a schema has."""
    return str(schema["$id"]).rpartition(":")[2]


def as_draft_7(name: str) -> dict[str, Any]:
    """Return a schema as fastjsonschema compiles it."""
    schema = read(name)
    del schema["$id"]  # References would be looked up at that address.
    return {**schema, "$schema": DRAFT_7}
