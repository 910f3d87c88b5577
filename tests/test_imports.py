"""Who imports whom: the layers of the project, read from its source."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

import pytest

import backends
import harness

PACKAGES = {package.__name__: Path(package.__file__ or "").parent for package in (harness, backends)}


def modules() -> dict[str, Path]:
    """Return every module of the project by name."""
    found = {}
    for name, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join([name, *parts]).removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imports(source: str, known: set[str], *, typing: bool = False) -> set[str]:
    """Return the modules that a source imports; those under TYPE_CHECKING only if asked.

    `from package import name` counts for package.name where that is a module.
    """
    tree = ast.parse(source)
    skipped: set[ast.AST] = set()
    if not typing:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                skipped.update(inner for statement in node.body for inner in ast.walk(statement))
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"a relative import: {ast.unparse(node)}"
            base = node.module or ""
            for alias in node.names:
                found.add(f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base)
    return found - {"__future__"}


def imported(name: str, *, typing: bool = False) -> set[str]:
    return imports(MODULES[name].read_text(), set(MODULES), typing=typing)


def under(found: set[str], *tops: str) -> set[str]:
    """Return the imports that are of these packages, or below them."""
    return {name for name in found if any(name == top or name.startswith(f"{top}.") for top in tops)}


def operator_files() -> list[str]:
    return [name for name in MODULES if name.startswith("harness.operators.")]


def test_imports_are_read_as_they_are_written() -> None:
    source = """
from __future__ import annotations
import onnx.defs, os as o
from harness import case, Thing
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from harness import runner
def late():
    from onnx.defs import OpSchema
"""
    known = {"harness.case", "harness.runner"}
    at_run_time = {"onnx.defs", "os", "harness.case", "harness", "typing"}
    assert imports(source, known) == at_run_time
    assert imports(source, known, typing=True) == {*at_run_time, "harness.runner"}


def test_there_is_something_to_read() -> None:
    assert {"harness.declare", "harness.report.terminal", "backends.serve"} <= set(MODULES)
    assert len(operator_files()) >= 2, operator_files()


@pytest.mark.parametrize("name", operator_files())
def test_an_operator_file_imports_declare_and_numpy_only(name: str) -> None:
    found = {part for part in imported(name, typing=True) if not part.startswith("harness.declare.")}
    pure = {
        "collections",
        "collections.abc",
        "fractions",
        "functools",
        "itertools",
        "math",
        "re",
        "struct",
        "typing",
        "zlib",
    }
    assert found <= {"harness.declare", "numpy", "ml_dtypes", *pure}, found  # ml_dtypes: what numpy lacks
    assert under(imported(name), "harness.declare"), name


def test_only_schema_imports_onnx_defs() -> None:
    importers = {name for name in MODULES if under(imported(name, typing=True), "onnx.defs")}
    assert importers == {"harness.schema"}
    uses = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "onnx.defs"
    }
    assert uses == {"harness.schema"}, uses


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


@pytest.mark.parametrize(
    ("name", "forbidden"),
    [
        ("harness.schema", ("harness.registry", "harness.generate", "harness.operators")),
        ("harness.registry", ("harness.generate", "harness.oracle", "harness.suite")),
        ("harness.generate", ("harness.suite", "harness.process", "harness.runner")),
        ("harness.compare", ("harness.generate", "harness.process", "harness.suite")),
        ("harness.process", ("harness.generate", "harness.registry", "harness.suite", "harness.compare")),
        ("harness.results", ("harness.runner", "harness.process", "harness.suite")),
    ],
)
def test_lower_layers_do_not_know_higher_ones(name: str, forbidden: tuple[str, ...]) -> None:
    found = under(imported(name), *forbidden)
    assert not found, f"{name} imports {found}"


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("harness.report")])
def test_reports_run_nothing(name: str) -> None:
    found = under(
        imported(name), "harness.process", "harness.runner", "harness.session", "harness.lane", "harness.suite"
    )
    assert not found, f"{name} imports {found}"


def test_nobody_imports_the_command_line() -> None:
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
    assert graph["harness.generate"] >= {"harness.oracle", "harness.schema"}, graph["harness.generate"]
    try:
        sort(graph)
    except graphlib.CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")
