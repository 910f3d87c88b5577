# SPDX-License-Identifier: Apache-2.0
"""`generated_cases/mutants.toml`: the share of faults in each operator's oracles that its cases detect.

`coverage` shows these figures. A figure is valid for one state of the oracles' source and of the manifest; it is stored
with their digest.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import sys
import tomllib
import types
from collections import Counter
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.atomic_file import write
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import GENERATED
from onnx_conformance.generation import manifest
from onnx_conformance.specification import packages, registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx_conformance.declare import Op
    from onnx_conformance.declare.package import OperatorPackage

NAME = "mutants.toml"
HEAD = """\
# Faults that change one token of the oracles of an operator (nox -s mutants), and how many of them its cases detect.
# digest: of the oracles' source, the manifest of the cases and the version of onnx at the time of the measurement.
# faults: all possible faults; tried: the measured ones; equivalent: undetected faults that change no possible answer.
# untouched: cited clauses for which no citing case detects a fault in the code that implements them.
"""
PROSE = frozenset({"contradicts", "note", "reason", "see", "why"})
"""Arguments of declarations that are only shown to readers, and that no oracle uses."""
FAMILIES = "onnx_conformance.declare.families."
SIZES = "_sizes"
"""The name of modules that only sized calls use."""


class FiguresError(HarnessError):
    """The file of figures cannot be read or written; the text has the reason."""


@dataclass(frozen=True)
class Figures:
    """The result of one operator.

    Attributes:
        digest: a digest of the measured sources.
        faults: the number of possible faults in its oracles.
        tried: the number of measured faults.
        noticed: the number of faults that some case detects.
        equivalent: the number of undetected faults that are listed as changing no answer.
        surviving: the number of all other undetected faults.
        untouched: the number of clauses that cases cite, but whose faults no citing case detects.
    """

    digest: str
    faults: int
    tried: int
    noticed: int
    equivalent: int
    surviving: int
    untouched: int


def oracle_function(function: Callable[..., object]) -> types.FunctionType:
    """Return the function itself, without its decorators."""
    inner = inspect.unwrap(function)
    if not isinstance(inner, types.FunctionType):
        raise TypeError(f"{function!r} is not a Python function")
    return inner


def modules(op: Op) -> list[types.ModuleType]:
    """Return the modules that contain an operator's oracles, and the shared modules that they use.

    Shared modules are `_name.py` in the folders of operator files, and those in `declare/families`.
    """
    names = {oracle_function(oracle.function).__module__ for oracle in op.oracles}
    loaded = [*sys.modules.items()]  # The first look at the packages imports them, which adds modules.
    declaring = [name for name, module in loaded if _is_of_package(name) and _names(module, op)]
    waiting = sorted({*names, *declaring})
    reached: dict[str, types.ModuleType] = {}
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached[name] = sys.modules[name]
        for value in vars(sys.modules[name]).values():
            home = value.__name__ if isinstance(value, types.ModuleType) else _home(value)
            if is_shared(home) and home not in reached and home.rpartition(".")[2] != SIZES:
                waiting.append(home)
    return [reached[name] for name in sorted(reached)]


def _names(module: types.ModuleType, op: Op) -> bool:
    return any(value is op for value in list(vars(module).values()))


def _home(value: object) -> str:
    """Return the module of a function or class, or of the class of any other object."""
    own = getattr(value, "__module__", None)
    return own if isinstance(own, str) else type(value).__module__


def is_shared(name: str) -> bool:
    """Return whether a module contains code of oracles that several operators share."""
    return name.startswith(FAMILIES) or (_is_of_package(name) and name.rpartition(".")[2].startswith("_"))


def _is_of_package(name: str) -> bool:
    """Return whether a module is one of an operator package."""
    return name.startswith(tuple(f"{package.module}." for package in packages.every()))


def digest(op: Op) -> str:
    """Return a short digest of an operator's oracles, of the manifest of its cases, and of onnx's version.

    Comments, docstrings, notes and sized calls do not affect it.
    """
    texts = [onnx.__version__]
    for module in modules(op):
        code = _code(Path(module.__file__ or "").read_text("utf-8"), alone=not is_shared(module.__name__))
        texts += [module.__name__.rpartition(".")[2], code]
    file = GENERATED / manifest.file_name(op)
    # The choice of the core does not affect the faults that all cases detect.
    texts += [file.read_text("utf-8").replace(manifest.CORE, "").partition("\n")[2]] if file.is_file() else []
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _of_sizes(statement: ast.stmt) -> bool:
    """Return whether a statement only concerns sized calls, whose cases are in another suite."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "onnx_conformance.declare.sizes"
    if isinstance(statement, ast.FunctionDef):
        return statement.name == "sized"
    if isinstance(statement, ast.For | ast.If):
        parts = [*statement.body, *statement.orelse]
        calls = [item for item in parts if not isinstance(item, ast.Assign | ast.AnnAssign)]
        return bool(calls) and all(map(_of_sizes, calls))
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    function = call.func
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)) == "sized"


@functools.cache
def _code(source: str, *, alone: bool = True) -> str:
    """Return the syntax tree of a file as text, without its prose and its sized calls.

    Args:
        source: the text of the file.
        alone: whether no other file uses its names. Then names that only sized calls use are left out, too.
    """
    tree = ast.parse(source)
    removed: list[ast.stmt] = []
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            removed += filter(_of_sizes, body)
            body[:] = [item for item in body if not _of_sizes(item)] or [ast.Pass()]
    if alone:
        _remove_unused(tree, removed)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
        elif isinstance(node, ast.Call):
            node.keywords = [item for item in node.keywords if item.arg not in PROSE]
    return _text(tree)


def _text(part: object) -> str:
    """Return a syntax tree as text that is the same in every version of Python, unlike that of `ast.dump`."""
    if isinstance(part, list):
        return f"[{', '.join(map(_text, part))}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = [(name, value) for name, value in ast.iter_fields(part) if value is not None and value != []]
    return f"{type(part).__name__}({', '.join(f'{name}={_text(value)}' for name, value in fields)})"


def _remove_unused(tree: ast.Module, removed: list[ast.stmt]) -> None:
    """Remove the statements of a file that bind names which only removed statements use, and their docstrings."""
    users = Counter(name for statement in tree.body for name in _used(statement))
    wanted = set().union(*map(_used, removed))
    before = -1
    while before < len(removed):
        before = len(removed)
        for body in (tree.body, *(item.body for item in tree.body if isinstance(item, ast.If))):
            for place in reversed(range(len(body))):
                own = _used(body[place])
                if _unused(body[place], {name for name in wanted if users[name] == (name in own)}):
                    removed.append(body.pop(place))
                    if body[place : place + 1] and _is_docstring(body[place]):
                        del body[place]
                    users -= Counter(own)
                    wanted |= own


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _unused(statement: ast.stmt, names: set[str]) -> bool:
    """Return whether all names that a statement binds are among some names. Remove such names from an import."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        statement.names = [item for item in statement.names if (item.asname or item.name) not in names]
        return not statement.names
    if isinstance(statement, ast.If):
        return all(isinstance(item, ast.Pass) for item in statement.body)
    bound = _bound(statement)
    return bool(bound) and bound <= names


def _used(statement: ast.stmt) -> set[str]:
    """Return the names that a statement uses; an assignment does not use its target."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that an assignment or a function definition binds."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def path(package: OperatorPackage = packages.ONNX) -> Path:
    """Return the path of the file: in a checkout or, without one, in the installed package."""
    return GENERATED / NAME if package is packages.ONNX else registry.folder_of(package) / NAME


def read(file: Path) -> dict[str, Figures]:
    """Return the figures by operator; empty if there is no file.

    Raises:
        FiguresError: the file cannot be read, or does not have the format of `write_file`.
    """
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FiguresError("figures-not-readable", f"{file}: cannot be read: {error}") from None
    wanted = {item.name: str if item.name == "digest" else int for item in fields(Figures)}
    for name, table in tables.items():
        kinds = {key: type(value) for key, value in table.items()} if isinstance(table, dict) else {}
        if kinds != wanted:
            raise FiguresError(
                "figures-incomplete", f"{file}: {name}: expected the members {', '.join(wanted)}; run `nox -s mutants`"
            )
    return {name: Figures(**table) for name, table in tables.items()}


@dataclass(frozen=True)
class Shown:
    """Figures, and whether they are valid for the present declarations."""

    figures: Figures
    current: bool


def of(ops: Iterable[Op], file: Path | None = None) -> dict[str, Shown]:
    """Return the figures of the operators that have figures.

    Raises:
        FiguresError: the file cannot be read.
    """
    known = read(file or path())
    named = {str(op): op for op in ops if str(op) in known}
    return {name: Shown(known[name], known[name].digest == digest(op)) for name, op in named.items()}


def write_file(file: Path, measured: Mapping[str, Figures], known: Iterable[str]) -> None:
    """Write the figures of some operators, and keep those of others that are still declared.

    For the same declarations, figures of fewer faults never replace figures of more faults.

    Args:
        file: the file to write.
        measured: the new figures by operator.
        known: every declared operator; others are removed.

    Raises:
        FiguresError: the file cannot be read or written.
    """
    stored = read(file)
    for name, new in measured.items():
        old = stored.get(name)
        if old is None or old.digest != new.digest or old.tried <= new.tried:
            stored[name] = new
    every = set(known)
    lines = [f"{json.dumps(name)} = {{ {_table(item)} }}\n" for name, item in sorted(stored.items()) if name in every]
    try:
        write(file, [HEAD, *lines])
    except OSError as error:
        raise FiguresError("figures-not-writable", f"{file}: cannot be written: {error.strerror}") from None


def _table(item: Figures) -> str:
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in asdict(item).items())
