# SPDX-License-Identifier: Apache-2.0
"""Who imports whom: the layers of the project, read from its source."""

from __future__ import annotations

import ast
import functools
import graphlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import onnx_conformance

if TYPE_CHECKING:
    from collections.abc import Collection

NAME = onnx_conformance.__name__
FOLDER = Path(onnx_conformance.__file__ or "").parent


def modules() -> dict[str, Path]:
    """Return every module of the package by name, those of `backends/` included, which is a link."""
    paths = {}
    for path in [*FOLDER.rglob("*.py"), *(FOLDER / "backends").glob("*.py")]:
        parts = path.relative_to(FOLDER).with_suffix("").parts
        paths[".".join([NAME, *parts]).removesuffix(".__init__")] = path
    return paths


MODULES = modules()
ORDER = (
    "base", "backends", "declare", "operators", "specification", "case", "forms", "tolerance", "rewrites", "generation",
    "suites", "environments", "opset", "processes", "judging", "results", "gate",
    "analysis", "minimize", "repro", "findings", "search", "verification", "report", "run", "cli", "testing",
)  # fmt: skip
"""The packages of onnx_conformance, each of which may import those before it."""
MOST_PAIRS = 170
"""Number of pairs of packages of which one imports the other at run time."""


def package(module: str) -> str:
    """Return the package of a module that is in ORDER, or an empty text."""
    parts = module.split(".")
    return parts[1] if parts[0] == NAME and len(parts) > 1 and parts[1] in ORDER else ""


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
        name
        for name, path in MODULES.items()
        if name.startswith("onnx_conformance.operators.") and path.name != "__init__.py"
    ]


def test_imports_are_read_as_they_are_written() -> None:
    source = """
from __future__ import annotations
import onnx.defs, os as o
from onnx_conformance.case import case
from onnx_conformance import Thing
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from onnx_conformance.run import scheduler
def late():
    from onnx.defs import OpSchema
"""
    known = {"onnx_conformance.case.case", "onnx_conformance.run.scheduler"}
    at_run_time = {"onnx.defs", "os", "onnx_conformance.case.case", "onnx_conformance", "typing"}
    assert imports(ast.parse(source), known) == at_run_time
    assert imports(ast.parse(source), known, typing=True) == {*at_run_time, "onnx_conformance.run.scheduler"}


def test_there_is_something_to_read() -> None:
    assert {
        "onnx_conformance.declare.op",
        "onnx_conformance.report.terminal",
        "onnx_conformance.backends.serve",
    } <= set(MODULES)
    assert len(operator_files()) >= 2, operator_files()


@pytest.mark.slow
@pytest.mark.parametrize("name", operator_files())
def test_an_operator_file_imports_declare_numpy_and_what_lies_beside_it(name: str) -> None:
    beside = f"{name.rpartition('.')[0]}._"
    others = {part for part in imported(name, typing=True) if not part.startswith(("onnx_conformance.declare", beside))}
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
        assert under(imported(name), "onnx_conformance.declare"), name


@pytest.mark.slow
def test_only_packages_of_operators_import_onnx_defs() -> None:
    readers = {f"{NAME}.specification.{name}" for name in ("schema", "packages", "schema_file")}
    types = {f"{NAME}.declare.package"}
    importers = {name for name in MODULES if under(imported(name, typing=True), "onnx.defs")}
    assert importers == readers | types
    assert not {name for name in types if under(imported(name), "onnx.defs")}
    uses = {
        name
        for name in MODULES
        for node in ast.walk(parsed(name))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "onnx.defs"
    }
    assert uses <= readers | types, uses


@pytest.mark.parametrize("name", [name for name in MODULES if package(name) == "backends"])
def test_backends_import_nothing_of_the_harness(name: str) -> None:
    others = under(imported(name, typing=True), NAME) - under(imported(name, typing=True), f"{NAME}.backends") - {NAME}
    assert not others, others
    text = MODULES[name].read_text()
    assert f'import_module("{NAME}' not in text, name


@pytest.mark.slow
def test_declare_and_the_words_import_nothing_that_reads_or_writes() -> None:
    parts = [name for name in MODULES if under({name}, "onnx_conformance.declare")]
    assert len(parts) > 1, parts
    allowed = {*parts, "onnx_conformance.base.errors", "onnx_conformance.base.values", "onnx.defs"}  # For a type.
    for name in parts:
        assert not under(imported(name, typing=True), NAME, "onnx", "pathlib", "os") - allowed, name
    assert under(imported("onnx_conformance.base.verdict", typing=True), NAME) == set()


def test_the_base_imports_no_other_package() -> None:
    names = [name for name in MODULES if package(name) == "base"]
    assert len(names) > 1, names
    for name in names:
        assert not [module for module in imported(name, typing=True) if package(module) not in {"", "base"}], name


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_number_of_imports_between_packages_only_falls() -> None:
    """A package that needs many others is hard to understand alone."""
    pairs = {
        (package(name), package(module))
        for name in MODULES
        if package(name)
        for module in imported(name)
        if package(module) not in {"", package(name)}
    }
    assert len(pairs) == MOST_PAIRS, f"{len(pairs)} pairs; lower MOST_PAIRS if there are fewer: {sorted(pairs)}"


def test_every_folder_has_a_docstring() -> None:
    folders = [name for name, path in MODULES.items() if path.name == "__init__.py"]
    assert {path.parent for path in MODULES.values()} == {MODULES[name].parent for name in folders}
    for name in folders:
        assert ast.get_docstring(parsed(name)), name


def test_the_top_folder_is_small() -> None:
    files = [path.name for path in FOLDER.iterdir() if path.is_file()]
    assert len(files) <= 7, files


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("onnx_conformance.report")])
def test_reports_run_nothing(name: str) -> None:
    assert not under(imported(name), "onnx_conformance.judging", "onnx_conformance.run", "onnx_conformance.suites"), (
        name
    )


@pytest.mark.slow
def test_no_module_imports_the_command_line() -> None:
    importers = {
        name
        for name in MODULES
        if under(imported(name, typing=True), f"{NAME}.cli") and not under({name}, f"{NAME}.cli", f"{NAME}.__main__")
    }
    assert not importers, importers


def sort(graph: dict[str, set[str]]) -> None:
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.slow
def test_no_circle_of_imports() -> None:
    with pytest.raises(graphlib.CycleError):
        sort({"a": {"b"}, "b": {"a"}})
    graph = {name: under(imported(name), NAME) & set(MODULES) - {name, NAME} for name in MODULES}
    assert graph["onnx_conformance.generation.plans"] >= {
        "onnx_conformance.specification.evaluator",
        "onnx_conformance.specification.schema",
    }, graph["onnx_conformance.generation.plans"]
    try:
        sort(graph)
    except graphlib.CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")
