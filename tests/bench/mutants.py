"""Faults put into our own oracles, one token at a time, and whether the cases notice them.

    python tests/bench/mutants.py [--op GLOB] [--most N] [--seed S] [--jobs N] [--out FILE]

A fault is noticed if some case comes out otherwise than before on oracles that have it, as on a runtime that has it.
Each fault is tried on the core of the cases first, and where that does not notice it, on all others; so the
table says what share of the faults the core notices, and what share of those all cases notice. What nobody notices is
listed: a case to write, or a fault that changes nothing.

A fault is a changed operator, number, comparison or call in a function that an oracle runs, be it in an operator
file or in `declare`. It is put in place by giving the function the code of the changed one, so nothing is imported
anew, and everything that calls it sees it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import fnmatch
import importlib
import inspect
import json
import multiprocessing
import random
import resource
import signal
import sys
import types
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from harness.declare import NoAnswer
from harness.execution.judge import judge
from harness.execution.replies import Answered, Refused
from harness.generation import core, plans
from harness.spec import evaluator, registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.case.case import Case
    from harness.declare import Op
    from harness.execution.replies import Reply
    from harness.verdict import Verdict

SECONDS = 10
"""That one case may take on a changed oracle; one that loops is noticed."""
ADDRESS_SPACE = 12 << 30

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
CALLS = {
    "floor": "ceil", "ceil": "floor", "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum",
    "argmin": "argmax", "argmax": "argmin", "all": "any", "any": "all", "sum": "max", "prod": "sum", "sin": "cos",
    "cos": "sin", "sort": "flip", "rint": "trunc", "trunc": "floor", "add": "subtract", "less": "less_equal",
}  # fmt: skip
"""What a function may be taken for; a name behind a dot, or alone."""


@dataclass(frozen=True)
class Fault:
    """One changed token.

    Attributes:
        module, function: where, the function by its qualified name.
        line: in the file.
        what: was changed, in words.
        code: of the changed function.
    """

    module: str
    function: str
    line: int
    what: str
    code: types.CodeType


Change = tuple[ast.AST, str, Any, str]
"""Node, field, its new value, and words."""


def places(tree: ast.AST) -> Iterator[Change]:
    """Yield everything that can be changed below a node."""
    for node in ast.walk(tree):
        yield from _operators(node)
        yield from _values(node)


def _operators(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPS:
        other = SWAPS[type(node.op)]
        yield node, "op", other(), f"{type(node.op).__name__} -> {other.__name__}"
    elif isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            other = SWAPS[type(op)]
            changed = [*node.ops[:index], other(), *node.ops[index + 1 :]]
            yield node, "ops", changed, f"{type(op).__name__} -> {other.__name__}"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        # +x for "not x": as true as x is, where it is a condition or a number.
        yield node, "op", ast.UAdd(), "sign or not left out"


def _values(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, "value", not node.value, f"{node.value} -> {not node.value}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node, "value", node.value + 1, f"{node.value} -> {node.value + 1}"
    elif isinstance(node, ast.Call):
        name = node.func
        if isinstance(name, ast.Attribute) and name.attr in CALLS:
            yield name, "attr", CALLS[name.attr], f"{name.attr} -> {CALLS[name.attr]}"
        elif isinstance(name, ast.Name) and CALLS.get(name.id) in {"min", "max", "all", "any"}:
            yield name, "id", CALLS[name.id], f"{name.id} -> {CALLS[name.id]}"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, "value", ast.Constant(None), f"left out: {ast.unparse(node)[:60]}"


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every function of a module and method of its classes, with its qualified name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{item.name}", item) for item in node.body if isinstance(item, ast.FunctionDef))


def faults(module: types.ModuleType, wanted: set[str]) -> Iterator[Fault]:
    """Yield every fault that can be put into the functions of a module that are wanted, by qualified name."""
    tree = ast.parse(inspect.getsource(module))
    for name, function in functions(tree):
        if name not in wanted:
            continue
        body = [
            item for item in function.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        ]
        for statement in body:
            for node, field, value, what in list(places(statement)):
                before = getattr(node, field)
                setattr(node, field, value)
                changed = ast.fix_missing_locations(copy.deepcopy(tree))
                setattr(node, field, before)
                code = compiled(compile(changed, module.__file__ or "", "exec"), name)
                yield Fault(module.__name__, name, getattr(node, "lineno", statement.lineno), what, code)


def compiled(code: types.CodeType, name: str) -> types.CodeType:
    """Return the code of a function of a compiled module, by its qualified name."""
    for part in name.split("."):
        code = next(item for item in code.co_consts if isinstance(item, types.CodeType) and item.co_name == part)
    return code


def function_of(module: types.ModuleType, name: str) -> types.FunctionType | None:
    """Return a function by its qualified name, whatever decorates it; None where its code cannot be changed."""
    target: Any = module
    for part in name.split("."):
        target = vars(target)[part] if isinstance(target, type) else getattr(target, part)
    target = getattr(target, "__func__", None) or getattr(target, "fget", None) or getattr(target, "func", target)
    target = inspect.unwrap(target)
    return target if isinstance(target, types.FunctionType) else None


def runs_through(cases: Sequence[Case]) -> set[tuple[str, str]]:
    """Return module and qualified name of every function of ours that the oracles run in some cases."""
    seen: set[types.CodeType] = set()

    def note(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        for case in cases:
            outcome(case)
    finally:
        sys.setprofile(None)
    named = set()
    for code in seen:
        path = Path(code.co_filename)
        if path.parent.name in {"operators", "declare"}:
            named.add((f"harness.{path.parent.name}.{path.stem}", code.co_qualname.split(".<locals>")[0]))
    return named


def outcome(case: Case) -> Verdict:
    """Return what becomes of a case on the oracles as they are now."""
    try:
        reply: Reply = Answered(tuple(evaluator.run(case.model, dict(case.inputs), case.outputs)), 0.0)
    except NoAnswer as no_answer:
        reply = Refused(type(no_answer).__name__, str(no_answer), None, None)
    return judge(case, "oracle", reply).verdict


def notices(case: Case) -> bool:
    """Tell whether a case comes out otherwise than it should."""

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        verdict = outcome(case)
    except Exception:  # noqa: BLE001 - whatever a changed oracle raises shows the fault
        return True
    finally:
        signal.alarm(0)
    return verdict.failed


@dataclass(frozen=True)
class Tried:
    """What became of a fault: noticed by the core, by other cases only, or by none."""

    where: str
    line: int
    what: str
    noticed: str
    case: str


def attempt(fault: Fault, operators: Sequence[str]) -> Tried | None:
    """Put a fault in place, run the cases of the operators that go through it, and take it away."""
    target = function_of(importlib.import_module(fault.module), fault.function)
    if target is None or len(target.__code__.co_freevars) != len(fault.code.co_freevars):
        return None
    before, target.__code__ = target.__code__, fault.code
    try:
        for part, chosen in (("core", CORE), ("all", REST)):
            for operator in operators:
                for case in chosen[operator]:
                    if notices(case):
                        return Tried(f"{fault.module}.{fault.function}", fault.line, fault.what, part, case.id)
    finally:
        target.__code__ = before
    return Tried(f"{fault.module}.{fault.function}", fault.line, fault.what, "none", "")


CORE: dict[str, list[Case]] = {}
REST: dict[str, list[Case]] = {}
WORK: list[tuple[Fault, list[str]]] = []


def prepare(ops: Sequence[Op]) -> dict[tuple[str, str], list[str]]:
    """Make the cases of some operators; return which of them go through which function."""
    through: dict[tuple[str, str], list[str]] = {}
    for op in ops:
        cases = [case for case in plans.cases(op) if case.outcome != "unspecified"]
        chosen = core.choose(op, cases)
        # A case that the oracles do not pass as they are (a disputed body, a draw) shows nothing.
        CORE[str(op)] = [case for case in cases if case.id in chosen and not notices(case)]
        REST[str(op)] = [case for case in cases if case.id not in chosen]
        for name in runs_through(CORE[str(op)]):
            through.setdefault(name, []).append(str(op))
    return through


def owners(fault: Fault, ops: Sequence[Op], through: dict[tuple[str, str], list[str]]) -> list[str]:
    """Return the operators whose cases are to notice a fault: its file's own, of what several share all that run it."""
    here = {id(item) for item in vars(importlib.import_module(fault.module)).values()}
    own = [str(op) for op in ops if id(op) in here]
    users = through[fault.module, fault.function]
    return [name for name in users if name in own] or users


def work(index: int) -> tuple[int, Tried | None]:
    """Try one fault; what a fault does to memory ends with the process."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    return index, attempt(*WORK[index])


def main() -> int:
    """Try faults, print the table and what nobody notices."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--op", default="*", help="glob over operators, ai.onnx/Split")
    parser.add_argument("--most", type=int, default=2000, help="faults to try, drawn evenly")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write a JSON line a fault here")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    ops = [op for op in registry.load() if fnmatch.fnmatchcase(str(op), asked.op)]
    through = prepare(ops)
    modules: dict[str, set[str]] = {}
    for module, name in through:
        modules.setdefault(module, set()).add(name)
    every = [fault for name in sorted(modules) for fault in faults(importlib.import_module(name), modules[name])]
    drawn = random.Random(asked.seed).sample(every, min(asked.most, len(every)))
    WORK.extend((fault, owners(fault, ops, through)) for fault in drawn)
    print(f"{len(every)} faults can be put into what {len(ops)} oracles run; {len(drawn)} are tried", flush=True)
    results: list[Tried] = []
    context = multiprocessing.get_context("fork")  # The cases are shared as they are.
    with context.Pool(asked.jobs, maxtasksperchild=200) as pool:
        for _, tried in pool.imap_unordered(work, range(len(WORK)), chunksize=4):
            if tried is not None:
                results.append(tried)
                if asked.out:
                    with asked.out.open("a") as file:
                        file.write(json.dumps(vars(tried)) + "\n")
    counts = Counter(tried.noticed for tried in results)
    noticed = counts["core"] + counts["all"]
    rows = [
        ["tried", len(results), ""],
        ["noticed by all cases", noticed, f"{noticed / max(1, len(results)):.1%} of those tried"],
        ["noticed by the core", counts["core"], f"{counts['core'] / max(1, noticed):.1%} of those that all notice"],
    ]
    print(tabulate(rows, ["faults", "", ""], tablefmt="simple"))
    for tried in sorted(results, key=lambda item: (item.where, item.line)):
        if tried.noticed != "core":
            only = f"only {tried.case}" if tried.noticed == "all" else "no case"
            print(f"{tried.where}:{tried.line}: {tried.what}: {only}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
