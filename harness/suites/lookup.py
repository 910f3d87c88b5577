"""Suites, operators and cases by the names that a person writes; where there is none, what is near."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from harness import globs
from harness.generation import from_model, plans
from harness.spec import registry, schema
from harness.spec.completeness import undeclared
from harness.suites.folder import Folder
from harness.suites.generated import Generated
from harness.suites.official import Official
from harness.suites.selection import Selection, SelectionError
from harness.suites.suite import Suite, SuiteError
from harness.verdict import MOST_DIGITS

if TYPE_CHECKING:
    from harness.case.case import Case
    from harness.declare import Op
    from harness.generation.forms import Plan


def open_suite(name: str) -> Suite:
    """Return the suite called `name`: generated, official, or the path of a folder.

    Raises:
        SuiteError: there is none.
    """
    if name == Generated.name:
        return Generated()
    if name == Official.name:
        return Official()
    return Folder(Path(name))


def check_selection(suite: Suite, selection: Selection) -> None:
    """Raise SelectionError for a selection that the suite cannot have, if that is known beforehand.

    An --op that no operator of the suite fits, or a core of a suite that has none.
    """
    if selection.core and not isinstance(suite, Generated):
        raise SelectionError(f"--core: suite {suite.name} has no core; leave it out, or take --sample 1/20")
    known = suite.operators() if selection.ops else []
    if not known:
        return
    for operator in known:
        selection.takes_operator(operator)
    for option, glob in sorted(selection.idle):
        if option == "--op":
            raise SelectionError(f"--op {glob!r} matches nothing in suite {suite.name}; {_nearest(glob, known)}")


def _nearest(glob: str, known: list[str]) -> str:
    words = glob.removeprefix("ai.onnx/").split("/")
    versions = [item.split("/")[2] for item in known if item.split("/")[1] == words[0]]
    if versions and len(words) > 1:
        return f"{words[0]} has the versions {', '.join(versions)}"
    of_onnx = [version for op, every in schema.every().items() for version in every if words[0] == op.split("/")[1]]
    if of_onnx:
        return undeclared(of_onnx[0].rpartition("/")[0])
    names = sorted({item.split("/")[1] for item in known})
    near = difflib.get_close_matches(words[0], [*names, *(op.split("/")[1] for op in schema.every())], 3, 0.5)
    if near:
        return f"did you mean {' or '.join(dict.fromkeys(near))}?"
    return f"it has {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"  # noqa: PLR2004


def operator_named(name: str) -> tuple[Op, int | None] | None:
    """Return the declared operator that a name means (Split, ai.onnx/Split, Split/18), and the version it names.

    None where it is none, and may be a case.

    Raises:
        SelectionError: ONNX has it and nothing is declared of it, or not in this version.
    """
    *words, last = name.split("/")
    since = int(last) if words and last.isdecimal() and len(last) < MOST_DIGITS else None
    path = "/".join(words) if since is not None else name
    for op in registry.load():
        if path in (op.name, str(op)):
            known = [version.since for version in registry.versions(op)]
            if since is not None and since not in known:
                raise SelectionError(f"{op} has the versions {', '.join(map(str, known))}, not {since}")
            return op, since
    for op_path in schema.every():
        if path in (op_path, op_path.split("/")[1]):
            raise SelectionError(undeclared(op_path))
    return None


def find_case(name: str, suites: tuple[Suite, ...] = ()) -> Case:
    """Return the case with this very id, from the suite that the id begins with.

    Raises:
        SelectionError: there is none; the text names near ones.
    """
    sources = suites or ((Official(),) if name.startswith("official/") else (Generated(),))
    escaped = globs.literal(name)
    for suite in sources:
        for case in suite.cases(Selection(cases=(escaped,))):
            return case
        for item in suite.unreadable:
            if f"{name}/".startswith(f"{item.case}/"):
                raise SuiteError(item.message)
    raise SelectionError(f"no case is called {name!r}; {_near_case(name, sources)}")


def origin(case: Case) -> Plan:
    """Return the plan that a generated case was delivered from, or that would give a case of another suite.

    Raises:
        LiftError: it is of another suite, and no declaration would give it.
    """
    op = registry.load().find(*case.operator.split("/")[:2]) if case.operator.count("/") == 2 else None  # noqa: PLR2004
    own = plans.origin(op, case) if op else None
    return own or from_model.lift(case)


def _near_case(name: str, suites: tuple[Suite, ...]) -> str:
    """Return a sentence part on ids that look alike: of the operator that the name begins with, if there is one."""
    domain, _, rest = name.partition("/")
    stem = f"{domain}/{rest.partition('/')[0]}/"
    near: list[str] = []
    for suite in suites:
        ids = [item.id for item in suite.listed(Selection())]
        of_operator = [case for case in ids if case.startswith(stem)]
        near += difflib.get_close_matches(name, of_operator or [case.partition("@")[0] for case in ids], 3, 0.5)
    if near:
        return f"near it are {', '.join(dict.fromkeys(near))}"
    operators = [op.split("/")[1] for op in schema.every()]
    alike = difflib.get_close_matches(name.rpartition("/")[2], operators, 1)
    hint = f"`onnx-conformance show {alike[0]}` shows that operator, " if alike else ""
    return f"{hint}`onnx-conformance list` shows all"
