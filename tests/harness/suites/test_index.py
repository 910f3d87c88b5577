# SPDX-License-Identifier: Apache-2.0
"""The index: what the operator files declare, read from the cache in later commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.generation import manifest
from onnx_conformance.generation.suite_digest import of_code
from onnx_conformance.specification import registry
from onnx_conformance.suites import index, packs
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "packs"


@pytest.mark.slow
def test_a_second_command_loads_no_operator_file(monkeypatch: pytest.MonkeyPatch) -> None:
    first, selection = Generated(), Selection(ops=("Split*",), core=True)
    slices, said = first.slices(selection), first.left_out(Selection())
    assert slices
    monkeypatch.setattr(index, "_declared", lambda: pytest.fail("it loads them again"))
    second = Generated()
    assert second.slices(selection) == slices
    assert second.left_out(Selection()) == said
    assert second.operators() == first.operators()
    assert second.index == first.index


@pytest.mark.slow
def test_it_counts_what_the_manifest_has() -> None:
    made = index.index(of_code())
    split = registry.load().named("Split")
    for counts, of_core in ((made.cases, False), (made.core, True)):
        expected = manifest.counts(split, of_core=of_core, wanted=lambda _: True)
        assert {name: n for name, n in counts.items() if "/Split/" in name} == dict(expected)
    assert list(made.cases) == [str(version) for op in registry.load() for version in registry.versions(op)]


@pytest.mark.slow
def test_another_registry_has_an_index_of_its_own(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    whole = Generated().operators()
    one = registry.Registry([registry.load().named("Split")])
    monkeypatch.setattr(registry, "load", lambda *_: one)
    assert {name.rpartition("/")[0] for name in Generated().operators()} == {"ai.onnx/Split"}
    assert len(list(cache.glob("*.json"))) == 1
    monkeypatch.undo()
    assert len(whole) > 600


@pytest.mark.slow
def test_a_damaged_index_is_made_again(cache: Path) -> None:
    right = Generated().operators()
    [file] = cache.glob("*.json")
    file.write_bytes(file.read_bytes()[:-5])
    assert Generated().operators() == right


def without_split(known: dict[str, Any]) -> None:
    known["names"] = [name for name in known["names"] if "/Split/" not in name]


def split_is_gone(known: dict[str, Any]) -> None:
    without_split(known)
    known["gone"] += ["ai.onnx/Split/18", "ai.onnx/Split/13"]


def an_undeclared_name(known: dict[str, Any]) -> None:
    known["names"].append("ai.onnx/Split/12")


def an_unknown_name(known: dict[str, Any]) -> None:
    known["names"].append("ai.onnx/Another/1")


def a_strange_name(known: dict[str, Any]) -> None:
    known["names"].append(["ai.onnx/Split/18"])


def another_field(known: dict[str, Any]) -> None:
    known["cases"] = {"ai.onnx/Split/18": 1}


def reworded(known: dict[str, Any]) -> None:
    known["reworded"].append("ai.onnx/Another/1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "forge",
    [without_split, split_is_gone, an_undeclared_name, an_unknown_name, a_strange_name, another_field, reworded],
)
def test_a_forged_index_is_made_again(forge: Callable[[dict[str, Any]], None]) -> None:
    """As a program that has the user's key can write it."""
    right, key = index.index(of_code()), packs.key("index", of_code())
    known: Any = packs.read_json(key)
    forge(known)
    packs.write_json(key, known)
    assert index.index(of_code()) == right
    assert packs.read_json(key) != known
