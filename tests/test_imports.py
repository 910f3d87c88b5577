"""Who imports whom: the layers of the project, read from its source."""

from __future__ import annotations

import ast
import functools
import graphlib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import backends
import harness

if TYPE_CHECKING:
    from collections.abc import Collection

PACKAGES = {package.__name__: Path(package.__file__ or "").parent for package in (harness, backends)}


def modules() -> dict[str, Path]:
    """Return every module of the project by name."""
    paths = {}
    for name, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            paths[".".join([name, *parts]).removesuffix(".__init__")] = path
    return paths


MODULES = modules()
ORDER = (
    "declare", "operators", "spec", "case", "generation", "rewrites", "composition", "suites", "execution",
    "results", "mutants", "gate", "analysis", "minimize", "repro", "findings", "search", "report", "run",
    "cli",
)  # fmt: skip
"""The packages of harness, each of which may import those before it."""
BASE = tuple(f"harness.{name}" for name in ("errors", "globs", "verdict", "under_test", "atomic_file", "printing"))
"""What every package may import."""


def package(module: str) -> str:
    """Return the package of a module that is in ORDER, or an empty text."""
    parts = module.split(".")
    return parts[1] if parts[0] == "harness" and len(parts) > 1 and parts[1] in ORDER else ""


def imports(tree: ast.Module, known: set[str], *, typing: bool = False) -> set[str]:
    """Return the modules that a parsed source imports; those under TYPE_CHECKING only if asked.

    `from package import name` counts for package.name where that is a module.
    """
    skipped: set[ast.AST] = set()
    if not typing:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                skipped.update(inner for statement in node.body for inner in ast.walk(statement))
    names: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"a relative import: {ast.unparse(node)}"
            base = node.module or ""
            for alias in node.names:
                names.add(f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base)
    return names - {"__future__"}


@functools.cache
def parsed(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text())


@functools.cache
def imported(name: str, *, typing: bool = False) -> frozenset[str]:
    return frozenset(imports(parsed(name), set(MODULES), typing=typing))


def under(names: Collection[str], *tops: str) -> set[str]:
    """Return the imports that are of these packages, or below them."""
    return {name for name in names if any(name == top or name.startswith(f"{top}.") for top in tops)}


def operator_files() -> list[str]:
    return [
        name for name, path in MODULES.items() if name.startswith("harness.operators.") and path.name != "__init__.py"
    ]


def test_imports_are_read_as_they_are_written() -> None:
    source = """
from __future__ import annotations
import onnx.defs, os as o
from harness.case import case
from harness import Thing
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from harness.run import scheduler
def late():
    from onnx.defs import OpSchema
"""
    known = {"harness.case.case", "harness.run.scheduler"}
    at_run_time = {"onnx.defs", "os", "harness.case.case", "harness", "typing"}
    assert imports(ast.parse(source), known) == at_run_time
    assert imports(ast.parse(source), known, typing=True) == {*at_run_time, "harness.run.scheduler"}


def test_there_is_something_to_read() -> None:
    assert {"harness.declare.op", "harness.report.terminal", "backends.serve"} <= set(MODULES)
    assert len(operator_files()) >= 2, operator_files()


@pytest.mark.parametrize("name", operator_files())
def test_an_operator_file_imports_declare_numpy_and_what_lies_beside_it(name: str) -> None:
    beside = f"{name.rpartition('.')[0]}._"
    others = {part for part in imported(name, typing=True) if not part.startswith(("harness.declare", beside))}
    pure = {
        "collections",
        "collections.abc",
        "dataclasses",
        "decimal",
        "fractions",
        "functools",
        "itertools",
        "math",
        "re",
        "struct",
        "typing",
        "zlib",
    }
    assert others <= {"numpy", "ml_dtypes", *pure}, others  # ml_dtypes: what numpy lacks
    if not name.rpartition(".")[2].startswith("_"):
        assert under(imported(name), "harness.declare"), name


def test_only_schema_imports_onnx_defs() -> None:
    importers = {name for name in MODULES if under(imported(name, typing=True), "onnx.defs")}
    assert importers == {"harness.spec.schema"}
    uses = {
        name
        for name in MODULES
        for node in ast.walk(parsed(name))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "onnx.defs"
    }
    assert uses == {"harness.spec.schema"}, uses


@pytest.mark.parametrize("name", [name for name in MODULES if name.partition(".")[0] == "backends"])
def test_backends_import_nothing_of_the_harness(name: str) -> None:
    assert not under(imported(name, typing=True), "harness"), name
    text = MODULES[name].read_text()
    assert 'import_module("harness' not in text, name


def test_declare_and_the_words_import_nothing_that_reads_or_writes() -> None:
    parts = [name for name in MODULES if under({name}, "harness.declare")]
    assert len(parts) > 1, parts
    allowed = {*parts, "harness.errors"}
    for name in parts:
        assert not under(imported(name, typing=True), "harness", "onnx", "pathlib", "os") - allowed, name
    assert under(imported("harness.verdict", typing=True), "harness", "backends") == set()


def test_shared_modules_import_no_package() -> None:
    for name in BASE:
        assert not [module for module in imported(name, typing=True) if package(module) in ORDER], name


def test_packages_import_only_those_before_them() -> None:
    """What a type checker alone reads may point at a package of the same level, never up."""
    up = [
        f"{name} imports {module}"
        for name in MODULES
        if package(name) in ORDER
        for module in imported(name, typing=True)
        if module in MODULES and package(module) in ORDER and ORDER.index(package(module)) > ORDER.index(package(name))
    ]
    assert not up, "\n".join(up)


def test_every_folder_has_a_docstring() -> None:
    folders = [name for name, path in MODULES.items() if path.name == "__init__.py"]
    assert {path.parent for path in MODULES.values()} == {MODULES[name].parent for name in folders}
    for name in folders:
        assert ast.get_docstring(parsed(name)), name


def test_an_installed_copy_has_every_package() -> None:
    """An operator folder that is left out would be missing without a word: operators are looked for, not named."""
    project = tomllib.loads((PACKAGES["harness"].parent / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    assert set(project["tool"]["setuptools"]["packages"]) == {*packages, "harness.generated_cases"}


def test_the_top_folder_is_small() -> None:
    files = [path.name for path in PACKAGES["harness"].iterdir() if path.is_file()]
    assert len(files) <= 11, files


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("harness.report")])
def test_reports_run_nothing(name: str) -> None:
    assert not under(imported(name), "harness.execution", "harness.run", "harness.suites"), name


def test_no_module_imports_the_command_line() -> None:
    importers = {
        name
        for name in MODULES
        if under(imported(name, typing=True), "harness.cli") and not under({name}, "harness.cli")
    }
    assert not importers, importers


def sort(graph: dict[str, set[str]]) -> None:
    graphlib.TopologicalSorter(graph).prepare()


def test_no_circle_of_imports() -> None:
    with pytest.raises(graphlib.CycleError):
        sort({"a": {"b"}, "b": {"a"}})
    graph = {name: under(imported(name), *PACKAGES) & set(MODULES) - {name, *PACKAGES} for name in MODULES}
    assert graph["harness.generation.plans"] >= {"harness.spec.evaluator", "harness.spec.schema"}, graph[
        "harness.generation.plans"
    ]
    try:
        sort(graph)
    except graphlib.CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")
