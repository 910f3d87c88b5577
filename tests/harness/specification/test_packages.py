# SPDX-License-Identifier: Apache-2.0
"""Operator packages: what is wrong with one is told in a line, and the others work."""

from __future__ import annotations

import contextlib
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import vendor_package
from commands import command
from onnx_conformance.operators_microsoft import PACKAGE as MICROSOFT
from onnx_conformance.specification import packages, registry, schema, schema_file
from refusals import refuses
from vendor_package import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Forget packages in folders after each test."""
    with vendor_package.forgotten():
        yield


def folder(tmp_path: Path, name: str, text: str) -> Path:
    """Write an operator package, and return its folder."""
    path = tmp_path / name
    path.mkdir()
    (path / "__init__.py").write_text(textwrap.dedent(text))
    return path


def of(name: str, schemas: str = "lambda: []") -> str:
    return f"""
        import onnx.defs
        from onnx_conformance.declare.package import OperatorPackage
        PACKAGE = OperatorPackage(name={name!r}, module=__name__, source="a manual", schemas={schemas})
        """


def test_a_package_does_not_count_among_the_operators_of_onnx() -> None:
    before = schema.every()
    packages.add_folder(EXAMPLE)
    assert schema.every() == before
    example = packages.named("example")
    assert set(schema.every(example)) == {"com.example/Double", "com.example/Halve", "com.example/ScaledAdd"}
    assert {str(op) for op in registry.load(example)} == {"com.example/Halve", "com.example/ScaledAdd"}
    assert not [op for op in registry.load() if op.domain == "com.example"]


def test_both_registries_find_an_operator_of_the_other() -> None:
    packages.add_folder(EXAMPLE)
    found = registry.load().find("com.example", "Halve")
    assert found is not None
    assert registry.load(packages.named("example")).find("ai.onnx", "Split") is registry.load().find("ai.onnx", "Split")
    assert registry.load().named("Halve") is found


def test_a_domain_names_its_package() -> None:
    packages.add_folder(EXAMPLE)
    assert packages.find("com.example") is packages.named("example")
    assert packages.find("com.microsoft") is MICROSOFT
    assert packages.find("com.nobody") is None
    with refuses("unknown-package", "com.nobody", "microsoft"):
        packages.named("com.nobody")


BROKEN = [
    ("operators_raises", "raise RuntimeError('no licence')", "package-not-importable", "no licence"),
    ("operators_syntax", "def (:\n", "package-not-importable", "line 1"),
    ("operators_without", "X = 1", "no-operator-package", "PACKAGE"),
    ("operators_upper", of("Upper"), "package-name-invalid", "'Upper'"),
    ("operators_taken", of("generated"), "package-name-invalid", "'generated'"),
    ("operators_schemas", of("schemas", "lambda: 1 / 0"), "package-schemas-broken", "division by zero"),
    (
        "operators_split",
        of("split", "lambda: [item for item in onnx.defs.get_all_schemas() if item.name == 'Split']"),
        "operator-defined-twice",
        "ai.onnx/Split",
    ),
]


@pytest.mark.parametrize(("name", "text", "problem", "part"), BROKEN)
def test_a_broken_package_is_a_line_and_the_others_work(
    tmp_path: Path, name: str, text: str, problem: str, part: str
) -> None:
    path = folder(tmp_path, name, text)
    packages.add_folder(EXAMPLE)
    with contextlib.suppress(packages.PackageError):  # It is kept.
        packages.add_folder(path)
    assert [note.id for note in packages.problems()] == [problem]
    assert part in packages.problems()[0].text
    assert registry.load().find("com.example", "Halve") is not None
    assert registry.load().find("ai.onnx", "Split") is not None


def test_two_packages_with_one_operator_and_with_one_name(tmp_path: Path) -> None:
    again = folder(tmp_path, "operators_again", (EXAMPLE / "__init__.py").read_text().replace('"example"', '"again"'))
    packages.add_folder(EXAMPLE)
    packages.add_folder(again)
    assert {note.id for note in packages.problems()} == {"operator-defined-twice"}
    assert packages.owner_of("com.example", "Halve") is packages.named("example")
    same = folder(tmp_path, "operators_same", (EXAMPLE / "__init__.py").read_text())
    with refuses("package-name-taken", "example"):
        packages.add_folder(same)


def test_a_folder_without_a_package(tmp_path: Path) -> None:
    done = command("list", "--operators", tmp_path / "nothing")
    assert (done.status, done.err.count("\n")) == (2, 1), done.text
    assert "[no-operator-package]" in done.err


# The schemas of ONNX Runtime


def test_the_file_of_schemas_is_that_of_its_release(tmp_path: Path) -> None:
    listed = list(MICROSOFT.differences())
    assert not listed or "1.32.0" not in listed[0].partition("differs")[0]
    path = tmp_path / "schemas.json"
    texts = Path(sys.modules[MICROSOFT.module].__file__ or "").with_name("schemas.json").read_text().splitlines()
    changed = [json.loads(text) for text in texts[:3]]
    changed[1]["doc"] += " More."
    path.write_text("".join(f"{json.dumps(item, ensure_ascii=False, separators=(',', ':'))}\n" for item in changed))

    before = [json.loads(text) for text in texts[:2]]
    found = list(schema_file.differences(path, "example 1", map(as_listed, before), "example 2"))
    assert [text.partition(":")[0] for text in found] == [
        f"{item['domain'] or 'ai.onnx'}/{item['name']}/1" for item in changed[1:]
    ]
    assert "differs" in found[0]
    assert "lacks" in found[1]


def as_listed(item: dict[str, object]) -> object:
    """Return a schema with the members that onnxruntime gives it."""

    class Item:
        def __init__(self, **members: object) -> None:
            self.__dict__.update(members)

    def named(text: object) -> Item:
        return Item(name=text)

    def parameter(each: dict[str, object]) -> Item:
        return Item(
            name=each["name"], typeStr=each["type"], description=each["description"], option=named(each["option"]),
            isHomogeneous=each["homogeneous"],
        )  # fmt: skip

    attributes = {
        each["name"]: Item(
            name=each["name"], type=named(each["type"]), required=each["required"], description=each["description"],
            _default_value=bytes.fromhex(each["default"]),
        )
        for each in item["attributes"]  # type: ignore[attr-defined]
    }  # fmt: skip
    rest = {key: item[key] for key in ("name", "domain", "since_version", "doc", "min_input", "min_output")}
    return Item(
        **rest,
        inputs=list(map(parameter, item["inputs"])),  # type: ignore[call-overload]
        outputs=list(map(parameter, item["outputs"])),  # type: ignore[call-overload]
        type_constraints=[
            Item(type_param_str=name, allowed_type_strs=types, description=text)
            for name, types, text in item["type_constraints"]  # type: ignore[attr-defined]
        ],
        attributes=attributes,
    )
