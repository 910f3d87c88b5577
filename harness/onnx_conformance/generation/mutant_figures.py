"""`generated_cases/mutants.toml`: how many faults of each operator's oracles its cases notice; `coverage` shows it.

A figure holds for the source of the oracles and the manifest of the cases that it was measured on; their digest
stands beside it.
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
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.atomic_file import write
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import GENERATED
from onnx_conformance.generation import manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx_conformance.declare import Op

NAME = "mutants.toml"
HEAD = """\
# Faults put into the oracles of each operator, one token at a time (nox -s mutants), and how many its cases notice.
# digest: of the oracles' source, the manifest of the cases and the version of onnx that were measured.
# faults: that can be put in; tried: as many of them; equivalent: change nothing that a case could notice.
# untouched: clauses that some case cites, while no fault in what they demand is noticed by such a case.
"""
PROSE = frozenset({"note", "reason", "see", "why"})
"""Arguments of declarations that readers see and no oracle reads."""
OPERATORS, FAMILIES = "onnx_conformance.operators.", "onnx_conformance.declare.families."


class FiguresError(HarnessError):
    """The file of figures cannot be read or written; the text says why."""


@dataclass(frozen=True)
class Figures:
    """The result of one operator.

    Attributes:
        digest: of what was measured.
        faults: that can be put into its oracles.
        tried: how many of them were.
        noticed: by some case.
        equivalent: of those that no case notices, how many are listed as changing nothing.
        surviving: the others that no case notices.
        untouched: clauses with a case that cites them, but no such case notices a fault in what they demand.
    """

    digest: str
    faults: int
    tried: int
    noticed: int
    equivalent: int
    surviving: int
    untouched: int


def oracle_function(function: Callable[..., object]) -> types.FunctionType:
    """Return the function itself, without what decorates it."""
    inner = inspect.unwrap(function)
    if not isinstance(inner, types.FunctionType):
        raise TypeError(f"{function!r} is no Python function")
    return inner


def modules(op: Op) -> list[types.ModuleType]:
    """Return the modules that hold an operator's oracles, and those of shared meaning that they name.

    Shared meaning stands in `_name.py` beside the operator files and in `declare/families`.
    """
    names = {oracle_function(oracle.function).__module__ for oracle in op.oracles}
    declaring = [name for name, module in sys.modules.items() if name.startswith(OPERATORS) and _names(module, op)]
    waiting = sorted({*names, *declaring})
    reached: dict[str, types.ModuleType] = {}
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached[name] = sys.modules[name]
        for value in vars(sys.modules[name]).values():
            home = value.__name__ if isinstance(value, types.ModuleType) else _home(value)
            if is_shared(home) and home not in reached:
                waiting.append(home)
    return [reached[name] for name in sorted(reached)]


def _names(module: types.ModuleType, op: Op) -> bool:
    return any(value is op for value in list(vars(module).values()))


def _home(value: object) -> str:
    """Return the module of a function or class, or of the class of any other object."""
    own = getattr(value, "__module__", None)
    return own if isinstance(own, str) else type(value).__module__


def is_shared(name: str) -> bool:
    """Tell whether a module holds meaning that several operators share."""
    return name.startswith(FAMILIES) or (name.startswith(OPERATORS) and name.rpartition(".")[2].startswith("_"))


def digest(op: Op) -> str:
    """Return a short digest of an operator's oracles, of the manifest of its cases, and of onnx's version.

    Comments, docstrings and notes make no difference.
    """
    texts = [onnx.__version__]
    for module in modules(op):
        texts += [module.__name__.rpartition(".")[2], _code(Path(module.__file__ or "").read_text("utf-8"))]
    file = GENERATED / manifest.file_name(op)
    # Which cases are of the core makes no difference to whether all of them notice a fault.
    texts += [file.read_text("utf-8").replace(manifest.CORE, "").partition("\n")[2]] if file.is_file() else []
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@functools.cache
def _code(source: str) -> str:
    """Return the syntax tree of a file as text, without its prose."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
        elif isinstance(node, ast.Call):
            node.keywords = [item for item in node.keywords if item.arg not in PROSE]
    return ast.dump(tree)


def path() -> Path:
    """Return where the file lies: in a checkout, or else in the installed package."""
    return GENERATED / NAME


def read(file: Path) -> dict[str, Figures]:
    """Return the figures by operator; none where there is no file.

    Raises:
        FiguresError: it cannot be read, or is not what `write_file` writes.
    """
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FiguresError(f"{file}: cannot be read: {error}") from None
    wanted = {item.name: str if item.name == "digest" else int for item in fields(Figures)}
    for name, table in tables.items():
        kinds = {key: type(value) for key, value in table.items()} if isinstance(table, dict) else {}
        if kinds != wanted:
            raise FiguresError(f"{file}: {name}: a line has {', '.join(wanted)}; `nox -s mutants` writes it anew")
    return {name: Figures(**table) for name, table in tables.items()}


@dataclass(frozen=True)
class Shown:
    """Figures, and whether they hold for the declarations as they are now."""

    figures: Figures
    current: bool


def of(ops: Iterable[Op], file: Path | None = None) -> dict[str, Shown]:
    """Return the figures of those operators that have some.

    Raises:
        FiguresError: the file cannot be read.
    """
    known = read(file or path())
    named = {str(op): op for op in ops if str(op) in known}
    return {name: Shown(known[name], known[name].digest == digest(op)) for name, op in named.items()}


def write_file(file: Path, measured: Mapping[str, Figures], known: Iterable[str]) -> None:
    """Write the figures of some operators, and keep those of others that are still declared.

    A figure of fewer faults never replaces one of more, of the same declarations.

    Args:
        file: to write.
        measured: by operator.
        known: every declared operator; others are removed.

    Raises:
        FiguresError: it cannot be read or written.
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
        raise FiguresError(f"{file}: cannot be written: {error.strerror}") from None


def _table(item: Figures) -> str:
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in asdict(item).items())
