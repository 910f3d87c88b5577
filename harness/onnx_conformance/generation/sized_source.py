"""The source of an operator file without sized calls. They do not change its oracles and its other cases."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = "_sizes"
"""The name of a file with tables for sized calls, in a folder of operators."""


def without_sized_calls(tree: ast.Module) -> None:
    """Remove the sized calls from a file, and the tables, functions and imports that only calls of the module use."""
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            removed = [item for item in body if _is_sized(item)]
            if node is tree:
                used |= {name for item in removed for name in _loaded(item)}
            body[:] = [item for item in body if item not in removed] or [ast.Pass()]
    while names := {name for name in used if _only_defined(tree, name)}:
        for statement in list(tree.body):
            if names & {*_defined(statement)}:
                used |= {*_loaded(statement)}
                _remove(tree.body, statement, names)


def _is_sized(statement: ast.stmt) -> bool:
    """Return whether a statement only concerns sized calls, whose cases are in another suite."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "onnx_conformance.declare.sizes" or f"{statement.module}".endswith(f".{SIZES}")
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(statement, ast.FunctionDef):
        return statement.name == "sized"
    if isinstance(statement, ast.For | ast.If):
        return all(map(_is_sized, statement.body)) and not statement.orelse
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "sized"


def _loaded(statement: ast.AST) -> Iterator[str]:
    """Yield the names that a statement uses."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def _defined(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines and that can be removed with it."""
    if isinstance(statement, ast.FunctionDef) and not statement.decorator_list:
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    elif isinstance(statement, ast.If) and isinstance(statement.test, ast.Name):  # if TYPE_CHECKING
        yield from (name for item in statement.body for name in _defined(item))


def _only_defined(tree: ast.Module, name: str) -> bool:
    """Return whether a file defines a name but does not use it, except in its own definition."""
    defining = [statement for statement in tree.body if name in _defined(statement)]
    others = (statement for statement in tree.body if statement not in defining)
    return bool(defining) and all(name not in _loaded(statement) for statement in others)


def _remove(body: list[ast.stmt], statement: ast.stmt, names: set[str]) -> None:
    """Remove names from a statement; if it defines nothing else, remove it and the text below it."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        statement.names = [alias for alias in statement.names if (alias.asname or alias.name) not in names]
        left: object = statement.names
    elif isinstance(statement, ast.If):
        for item in list(statement.body):
            _remove(statement.body, item, names)
        left = statement.body
    else:
        left = {*_defined(statement)} - names
    if not left:
        place = body.index(statement)
        below = body[place + 1] if place + 1 < len(body) else None
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        del body[place : place + 1 + is_text]
