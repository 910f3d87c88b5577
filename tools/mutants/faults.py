# SPDX-License-Identifier: Apache-2.0
"""The possible faults in the functions of a source file; each is a change of one token or statement."""

from __future__ import annotations

import ast
import contextlib
import copy
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import types
    from collections.abc import Container, Iterator

OTHER_CLAUSE = "__other_clause__"
"""The name of the function that returns another clause, for a version and a clause; see trial.py."""

BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
"""For each comparison its replacement: another boundary for an order, otherwise the opposite."""
FUNCTIONS = {
    "floor": "ceil", "ceil": "floor", "rint": "trunc", "trunc": "floor", "min": "max", "max": "min",
    "minimum": "maximum", "maximum": "minimum", "fmin": "fmax", "fmax": "fmin", "amin": "amax", "amax": "amin",
    "argmin": "argmax", "argmax": "argmin", "all": "any", "any": "all", "sum": "prod", "prod": "sum", "mean": "sum",
    "cumsum": "cumprod", "cumprod": "cumsum", "sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh",
    "arcsin": "arccos", "arccos": "arcsin", "arctan": "arctanh", "arctanh": "arctan", "arcsinh": "arccosh",
    "arccosh": "arcsinh",
    "tanh": "tan", "exp": "expm1", "expm1": "exp", "log": "log1p", "log1p": "log", "sqrt": "square", "square": "sqrt",
    "isnan": "isinf", "isinf": "isnan", "isfinite": "isnan", "zeros": "ones", "ones": "zeros",
    "zeros_like": "ones_like", "ones_like": "zeros_like", "triu": "tril", "tril": "triu", "add": "subtract",
    "subtract": "add", "multiply": "add", "divide": "multiply", "less": "less_equal", "less_equal": "less",
    "greater": "greater_equal", "greater_equal": "greater", "equal": "not_equal", "not_equal": "equal",
    "logical_and": "logical_or", "logical_or": "logical_and", "bitwise_and": "bitwise_or",
    "bitwise_or": "bitwise_and", "lower": "upper", "upper": "lower", "startswith": "endswith",
    "endswith": "startswith",
}  # fmt: skip
"""A function or method, and another one with the same arguments that may be confused with it."""
BUILTIN = frozenset({"min", "max", "all", "any"})
"""The built-in functions among them."""
SYMMETRIC = frozenset({
    "min", "max", "minimum", "maximum", "add", "multiply", "logical_and", "logical_or", "logical_xor", "equal",
    "not_equal", "gcd", "lcm", "hypot", "array_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "have_one_shape",
    "require_one_shape", "is_open",
})  # fmt: skip
"""Functions whose order of arguments does not matter."""
WITHOUT_MEANING = frozenset({"errstate", "cast"})
"""Calls that do not change any value: for warnings of numpy, and for the type checker."""
CHECKS_LENGTHS = "strict"
"""The argument of zip that fails only if the code is wrong already."""
REMOVED = "statement removed"
DEMANDS = {"require": True, "permit": False, "silent": False}
"""The methods of a Version that decide an outcome: the value of the condition that lets a case pass."""


class Place(NamedTuple):
    """The place of a node: a field of another node, and the index if the field is a list."""

    parent: ast.AST
    field: str
    at: int | None = None

    def get(self) -> object:
        """Return the value at the place."""
        value = getattr(self.parent, self.field)
        return value if self.at is None else value[self.at]

    def put(self, value: object) -> None:
        """Set the value at the place."""
        if self.at is None:
            setattr(self.parent, self.field, value)
        else:
            getattr(self.parent, self.field)[self.at] = value


class Change(NamedTuple):
    """A change of a tree: the place, the new value, and a description."""

    place: Place
    value: object
    words: str
    node: ast.AST
    """The node whose line is shown."""


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False)
class Fault:
    """One change of one function.

    Attributes:
        file: the path in the project's folder, such as harness/onnx_conformance/operators/tensor/split.py.
        function: the qualified name; for a lambda, the enclosing function and <lambda>.
        line: the line in the file, from 1.
        text: the text of that line, without surrounding white space.
        words: the description of the change, with a number if it is possible at several places of the line.
        before, after: the statement before and after the change.
        lines: the first and last line of the statement, without the body of a compound statement.
        change: the change of the tree of the file.
        owner: the function itself.
        copy: an unchanged copy of the statement.
    """

    file: str
    function: str
    line: int
    text: str
    words: str
    before: str
    after: str
    lines: tuple[int, int]
    change: Change
    owner: FunctionNode
    copy: ast.stmt | ast.expr

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return the identification of the fault, which does not depend on its line number."""
        return self.file, self.function, self.text, self.words

    @property
    def span(self) -> range:
        """Return the lines of the statement."""
        return range(self.lines[0], self.lines[1] + 1)

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Change the tree for as long as the context lasts."""
        before = self.change.place.get()
        self.change.place.put(self.change.value)
        ast.fix_missing_locations(self.owner)
        try:
            yield
        finally:
            self.change.place.put(before)

    @contextlib.contextmanager
    def naming_all(self) -> Iterator[None]:
        """Let the function refer to the same names as without the fault, in code that never runs.

        The code of a function object must have the same number of free variables.
        """
        if isinstance(self.owner, ast.Lambda) or isinstance(self.copy, ast.expr):
            yield
            return
        never = ast.fix_missing_locations(ast.If(ast.Constant(value=False), [self.copy], []))
        self.owner.body.insert(0, ast.copy_location(never, self.copy))
        try:
            yield
        finally:
            del self.owner.body[0]


@dataclass(frozen=True)
class Source:
    """A file with oracles.

    Attributes:
        path: the path, as in the code objects of its functions.
        name: the name that is shown.
        text: the text of the file.
        tree: the syntax tree of the text.
        code: the compiled text.
    """

    path: str
    name: str
    text: str
    tree: ast.Module
    code: types.CodeType

    @classmethod
    def of(cls, path: str, name: str, text: str) -> Source:
        """Parse and compile a file."""
        tree = ast.parse(text)
        return cls(path, name, text, tree, compile(tree, path, "exec", dont_inherit=True))

    def faults(self, functions: Container[tuple[str, int]]) -> list[Fault]:
        """Return the faults of some functions, in the order of the file.

        Args:
            functions: the name and first line of each, as in code objects, including the functions inside them.
        """
        rows = self.text.splitlines()
        counts: Counter[tuple[str, str, str]] = Counter()
        every = []
        for function, name in _functions(self.tree, functions):
            for statement, change in _changes(function):
                line = getattr(change.node, "lineno", statement.lineno)
                text = rows[line - 1].strip()
                before, copy_ = _header(statement), copy.deepcopy(statement)
                counts[name, text, change.words] += 1
                number = counts[name, text, change.words]
                words = change.words if number == 1 else f"{change.words} (#{number})"
                lines = _extent(statement)
                fault = Fault(self.name, name, line, text, words, before, "", lines, change, function, copy_)
                with fault.applied():
                    after = "pass" if change.words == REMOVED else _header(statement)
                every.append(replace(fault, after=after))
        return every


def _functions(tree: ast.Module, wanted: Container[tuple[str, int]]) -> Iterator[tuple[FunctionNode, str]]:
    """Yield the wanted functions, and all functions inside them, with their qualified names."""

    def walk(node: ast.AST, names: tuple[str, ...], *, inside: bool) -> Iterator[tuple[FunctionNode, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FunctionNode):
                name = "<lambda>" if isinstance(child, ast.Lambda) else child.name
                included = inside or (name, first_line(child)) in wanted
                if included:
                    yield child, ".".join([*names, name])
                yield from walk(child, (*names, name, "<locals>"), inside=included)
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, (*names, child.name), inside=inside)
            else:
                yield from walk(child, names, inside=inside)

    return walk(tree, (), inside=False)


def first_line(function: FunctionNode) -> int:
    """Return the line on which a function's code begins: that of its first decorator."""
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return min([function.lineno, *(item.lineno for item in decorators)])


def _header(node: ast.AST) -> str:
    """Return a statement without its body, in one line."""
    return ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]


def _extent(statement: ast.stmt | ast.expr) -> tuple[int, int]:
    bodies = (
        [item.lineno for item in getattr(statement, "body", []) if isinstance(item, ast.stmt)]
        if isinstance(statement, ast.stmt)
        else []
    )
    last = statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, min([last, *(line - 1 for line in bodies)]))


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, Place]]:
    for field, value in ast.iter_fields(node):
        for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(item, ast.AST):
                yield item, Place(node, field, index)


def _statements(node: ast.AST) -> Iterator[tuple[ast.stmt, Place]]:
    """Yield the statements of a function, without those of functions and classes inside it."""
    for child, place in _children(node):
        if isinstance(child, FunctionNode | ast.ClassDef):
            continue
        if isinstance(child, ast.stmt):
            yield child, place
        if not isinstance(child, ast.expr):
            yield from _statements(child)


def _expressions(node: ast.AST) -> Iterator[tuple[ast.AST, Place]]:
    """Yield the parts of a statement that can be changed, without the statements and functions inside it."""
    for child, place in _children(node):
        if isinstance(child, ast.stmt | ast.Lambda | ast.JoinedStr | ast.excepthandler | ast.match_case):
            continue
        if place.field == "annotation" or (isinstance(child, ast.keyword) and child.arg == CHECKS_LENGTHS):
            continue
        if isinstance(child, ast.Call) and _called(child) in WITHOUT_MEANING:
            continue
        yield child, place
        yield from _expressions(child)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _changes(function: FunctionNode) -> Iterator[tuple[ast.stmt | ast.expr, Change]]:
    """Yield every change of a function, with the changed statement."""
    if isinstance(function, ast.Lambda):
        place = Place(function, "body")
        for node, where in [(function.body, place), *_expressions(function.body)]:
            if not isinstance(node, ast.Lambda):
                yield from ((function, change) for change in _of_node(node, where, frozenset()))
        return
    versions = _versions(function)
    statements = list(_statements(function))
    returns = [item for item, _ in statements if isinstance(item, ast.Return) and item.value is not None]
    bound = {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}
    for statement, place in statements:
        if isinstance(statement, ast.Assert) or _is_text(statement):
            continue
        demand = _demand(statement, versions)
        if demand is not None:
            yield from ((statement, change) for change in _of_demand(demand))
        yield from ((statement, change) for change in _of_statement(statement, place, bound, returns))
        for node, where in _expressions(statement):
            if not (demand is not None and node is demand):
                yield from ((statement, change) for change in _of_node(node, where, versions))
        bound |= {item.id for item in ast.walk(statement) if isinstance(item, ast.Name) and _stored(item)}


def _stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _versions(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Return the names of the parameters that contain a Version: `v`, and those annotated as Version."""
    named = [item for item in ast.walk(function.args) if isinstance(item, ast.arg)]
    return frozenset(
        {"v", *(item.arg for item in named if item.annotation and ast.unparse(item.annotation) == "Version")}
    )


def _demand(statement: ast.stmt, versions: Container[str]) -> ast.Call | None:
    """Return the call if a statement is a call of require, permit or silent."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    named = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    if named and call.args and _called(call) in DEMANDS and call.func.value.id in versions:  # type: ignore[attr-defined]
        return call
    return None


def _of_demand(call: ast.Call) -> Iterator[Change]:
    """Yield the changes of `v.require(CLAUSE, holds)`: negated, omitted, and with another clause."""
    passing = DEMANDS[_called(call)]
    passes = ast.copy_location(ast.Constant(passing), call)
    if len(call.args) > 1 or call.keywords:
        positional = len(call.args) > 1
        condition = call.args[1] if positional else call.keywords[0].value
        place = Place(call, "args", 1) if positional else Place(call.keywords[0], "value")
        yield Change(place, _negated(condition), "condition negated", call)
        # The names in the condition stay, so the function still has the same free variables.
        operator = ast.Or() if passing else ast.And()
        forced = ast.copy_location(ast.BoolOp(operator, [passes, condition]), condition)
        yield Change(place, forced, f"condition {passing}", call)
    else:
        yield Change(Place(call, "args"), [*call.args, passes], f"condition {passing}", call)
    version = call.func.value  # type: ignore[attr-defined]
    other = ast.Call(ast.Name(OTHER_CLAUSE, ast.Load()), [version, call.args[0]], [])
    yield Change(Place(call, "args", 0), ast.copy_location(other, call.args[0]), "another clause", call)


def _negated(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), node), node)


def _of_statement(
    statement: ast.stmt, place: Place, bound: Container[str], returns: list[ast.Return]
) -> Iterator[Change]:
    if _can_go(statement, bound):
        # It is compiled but never runs, so the function still has the same free variables.
        gone = ast.copy_location(ast.If(ast.Constant(value=False), [statement], []), statement)
        yield Change(place, gone, REMOVED, statement)
    if isinstance(statement, ast.AugAssign):
        yield from _of_operator(statement, place)
    if isinstance(statement, ast.If | ast.While) and not _opposite(statement.test):
        yield Change(Place(statement, "test"), _negated(statement.test), "condition negated", statement.test)
    if statement in returns:
        other = returns[(returns.index(statement) + 1) % len(returns)]
        if ast.dump(other) != ast.dump(statement):
            yield Change(Place(statement, "value"), other.value, f"value of: {ast.unparse(other)[:60]}", statement)


def _can_go(statement: ast.stmt, bound: Container[str]) -> bool:
    """Return whether a function can run without a statement. Calls that decide an outcome belong to _of_demand."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and _called(statement.value) not in DEMANDS
    if isinstance(statement, ast.Assign):
        names = [target for target in statement.targets if isinstance(target, ast.Name)]
        return all(name.id in bound for name in names) and not any(
            isinstance(target, ast.Tuple | ast.List) for target in statement.targets
        )
    return isinstance(statement, ast.AugAssign | ast.Raise | ast.Continue | ast.Break)


def _opposite(test: ast.expr) -> bool:
    """Return whether another change already negates a condition."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _of_node(node: ast.AST, place: Place, versions: Container[str]) -> Iterator[Change]:
    if isinstance(node, ast.Call):
        yield from _of_call(node, versions)
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node, place)
    else:
        yield from _of_operator(node, place)


def _of_operator(node: ast.AST, place: Place) -> Iterator[Change]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in BINARY:
        other = BINARY[type(node.op)]
        yield Change(Place(node, "op"), other(), f"{type(node.op).__name__} -> {other.__name__}", node)
    elif isinstance(node, ast.BoolOp):
        changed = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield Change(Place(node, "op"), changed(), f"{type(node.op).__name__} -> {changed.__name__}", node)
    elif isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            opposite = COMPARED[type(op)]
            words = f"{type(op).__name__} -> {opposite.__name__}"
            yield Change(Place(node, "ops", index), opposite(), words, node)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield Change(place, node.operand, f"{type(node.op).__name__} removed", node)
    elif isinstance(node, ast.IfExp) and not _opposite(node.test):
        yield Change(Place(node, "test"), _negated(node.test), "condition negated", node.test)
    elif isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            if not _opposite(test):
                yield Change(Place(node, "ifs", index), _negated(test), "condition negated", test)


def _of_constant(node: ast.Constant, place: Place) -> Iterator[Change]:
    before = node.value
    values: list[bool | float] = []
    if isinstance(before, bool):
        values = [not before]
    elif isinstance(before, int | float):
        values = [before + 1, before - 1]
    for value in values:
        yield Change(place, ast.copy_location(ast.Constant(value), node), f"{before!r} -> {value!r}", node)


def _of_call(call: ast.Call, versions: Container[str]) -> Iterator[Change]:
    name = _called(call)
    other = FUNCTIONS.get(name, "")
    if isinstance(call.func, ast.Attribute) and other:
        yield Change(Place(call.func, "attr"), other, f"{name} -> {other}", call)
    elif isinstance(call.func, ast.Name) and name in BUILTIN:
        yield Change(Place(call.func, "id"), other, f"{name} -> {other}", call)
    for index, keyword in enumerate(call.keywords):
        if keyword.arg not in {None, CHECKS_LENGTHS}:
            rest = [*call.keywords[:index], *call.keywords[index + 1 :]]
            yield Change(Place(call, "keywords"), rest, f"argument {keyword.arg} removed", keyword.value)
    if name in SYMMETRIC:
        return
    for index in range(len(call.args) - 1):
        one, two = call.args[index : index + 2]
        plain = not any(
            isinstance(item, ast.Starred | ast.GeneratorExp) or _is_version(item, versions) for item in (one, two)
        )
        if plain and ast.dump(one) != ast.dump(two):
            swapped = [*call.args[:index], two, one, *call.args[index + 2 :]]
            yield Change(Place(call, "args"), swapped, f"arguments {index + 1} and {index + 2} swapped", one)


def _is_version(node: ast.expr, versions: Container[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in versions
