# SPDX-License-Identifier: Apache-2.0
"""The decisions that a second reader of long texts had to take: the text takes each, or our declaration marks it."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.declare.readings import READINGS
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry, schema
from paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "generated_cases" / "second_reading"
FILES = sorted(FOLDER.glob("*.toml"))
ABOUT = {"value", "shape", "type", "validity"}
NEEDS = {"decided": "by", "open": "case", "opened": "case", "reading": "reading", "untried": ""}
"""By status, the key that says where it is decided or marked.

`decided`: the text or what it refers to decides it. `open`, `opened`: a case of this name is left open, or passes with
each of the answers. `reading`: it rests on one. `untried`: no case depends on it.
"""


def version_of(path: Path) -> tuple[str, str, int]:
    """Return domain, name and version of ai.onnx.ml.LabelEncoder_4.toml, Split_18.toml."""
    operator, _, version = path.stem.rpartition("_")
    domain, _, name = operator.rpartition(".")
    return domain or "ai.onnx", name, int(version)


def faults(path: Path) -> list[str]:
    """Return what is wrong with a file, a line each."""
    domain, name, since = version_of(path)
    version = schema.in_force(domain, name, since)
    op = registry.load().find(domain, name)
    assert version.since == since
    assert op is not None
    names = {spec.name for spec in plans.specs_of(op, version)}
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text())["decision"]
    ids = [entry["id"] for entry in entries]
    lines = [f"{item}: twice" for item in set(ids) if ids.count(item) > 1]
    for entry in entries:
        need = NEEDS.get(entry["status"])
        checks = {
            "its sentence is not in the text": " ".join(entry["sentence"].split()) in version.text,
            "unknown status": need is not None,
            f"{entry['status']} needs {need}": not need or bool(entry.get(need)),
            "unknown about": entry["about"] in ABOUT,
            "no such case": entry.get("case", "") in {"", *names},
            "no such reading": entry.get("reading", "") in {"", *READINGS},
        }
        lines += [f"{entry['id']}: {what}" for what, holds in checks.items() if not holds]
    return lines


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_decision_of_a_second_reader_is_decided_or_marked(path: Path) -> None:
    assert faults(path) == []


def test_long_texts_have_a_second_reading() -> None:
    assert len(FILES) >= 40


def test_a_wrong_entry_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "Split_18.toml"
    keys = {"id": "a", "sentence": "no such", "status": "reading", "reading": "R99", "about": "value"}
    path.write_text("\n".join(["[[decision]]", *(f'{key} = "{value}"' for key, value in keys.items())]))
    assert faults(path) == ["a: its sentence is not in the text", "a: no such reading"]
