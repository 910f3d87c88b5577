# SPDX-License-Identifier: Apache-2.0
"""Checks the first message of an adapter, `hello`, before anything uses it. backends/README.md describes its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.backends import protocol
from onnx_conformance.base.under_test import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class HelloError(Exception):
    """A field of a hello has the wrong type; the text names the field and the expected type."""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return type(value) is int  # JSON's true is an int to isinstance().


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_subject(value: object) -> bool:
    return isinstance(value, str) and value in list(Subject)


TEXT, INTEGER, FLAG, LIST = "a string", "an integer", "true or false", "an array of strings"
TABLES, TEXTS = "an array of objects", "an object of strings"
CHECKS: Mapping[str, Callable[[object], bool]] = {
    TEXT: _is_text, INTEGER: _is_integer, FLAG: _is_flag, LIST: _is_list, TABLES: _is_tables,
    TEXTS: _is_texts,
}  # fmt: skip
FIELDS: Mapping[str, str] = {
    "protocol": INTEGER, "name": TEXT, "runtime": TEXT, "version": TEXT, "python": TEXT, "node": TEXT,
    "repro": TEXT, "repro_wide": TEXT, "repro_earlier": TEXT, "repro_files": TEXT, "opset": INTEGER,
    "ir_version": INTEGER, "onnx": TEXT, "types": LIST, "subject": TEXT, "passes": LIST, "containers": LIST,
    "accepts": LIST, "fork": FLAG, "precision": TEXT, "promise": TEXT, "phases": LIST, "levels": LIST, "claims": TABLES,
    "provider": TEXTS,
}  # fmt: skip
"""The type of each field that the harness reads. All but `protocol` are optional."""


def checked(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a hello that the harness reads.

    Raises:
        HelloError: a field has the wrong type, or the wire format is another one.
    """
    if _is_integer(version := header.get("protocol")) and version != protocol.VERSION:
        raise HelloError(
            f"it uses wire format {version}, but this harness uses {protocol.VERSION}; update the older one"
        )
    for field, expected in FIELDS.items():
        value = header.get(field)  # Of an optional field, null means that it is absent.
        if (value is not None or field == "protocol") and not CHECKS[expected](value):
            raise HelloError(f'"{field}" in its hello is {protocol.clip(value)}, expected {expected}')
    subject = header.get("subject") or Subject.RUNTIME
    if not _is_subject(subject):
        raise HelloError(f"its subject is {protocol.clip(subject)}, expected one of {', '.join(Subject)}")
    return {field: header[field] for field in FIELDS if header.get(field) is not None}
