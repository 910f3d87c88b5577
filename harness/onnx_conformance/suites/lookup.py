# SPDX-License-Identifier: Apache-2.0
"""Find suites, operators and cases by name; an error suggests similar names."""

from __future__ import annotations

import dataclasses
import difflib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base import globs
from onnx_conformance.base.errors import Note
from onnx_conformance.base.verdict import MOST_DIGITS, line
from onnx_conformance.generation import from_model, plans
from onnx_conformance.specification import packages, registry, schema
from onnx_conformance.specification.completeness import undeclared
from onnx_conformance.suites.case_pack import SUFFIX
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.kernels import Kernels
from onnx_conformance.suites.of_package import OfPackage
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.operator_versions import respelled, since_of
from onnx_conformance.suites.pack_file import PackFile
from onnx_conformance.suites.provisional import Provisional
from onnx_conformance.suites.ranking import most_important
from onnx_conformance.suites.selection import Selection, SelectionError
from onnx_conformance.suites.suite import Suite, SuiteError
from onnx_conformance.suites.transforms import Transforms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.declare.package import OperatorPackage
    from onnx_conformance.generation.deliveries import Plan

GLOBS = ("--op ", "--case ", "--tag ", "--form ")
"""The beginnings of options that select by globs."""


def open_suite(name: str) -> Suite:
    """Return the suite called `name`: generated, kernels, provisional, transforms, official, or that of a path.

    It may also be the name of an operator package, or of the domain of its operators. A path is that of a folder or of
    a pack.

    Raises:
        SuiteError: there is no such suite.
    """
    for known in (Generated, Provisional, Official, Transforms, Kernels):
        if name == known.name:
            return known()
    if (package := packages.find(name)) is not None:
        return suite_of(package)
    path = Path(name)
    return PackFile(path) if path.suffix == SUFFIX or zipfile.is_zipfile(path) else Folder(path)


def suite_of(package: OperatorPackage) -> Suite:
    """Return the suite of the cases that the operator files of a package declare."""
    return Generated() if package is packages.ONNX else OfPackage(package)


def check_readable(suite: Suite) -> None:
    """Raise SuiteError if a case could not be read, after the cases were requested."""
    if suite.unreadable:
        raise SuiteError("unreadable-cases", "\n".join(item.message for item in suite.unreadable))


def check_all_matched(suite: Suite, selection: Selection, *, empty: bool) -> None:
    """Raise an error if a case could not be read, a glob matched nothing, or no case was selected.

    Args:
        suite: the suite.
        selection: the selection, after its cases were requested.
        empty: whether there was no case.

    Raises:
        SuiteError, SelectionError: as described.
    """
    check_readable(suite)
    for text in without_match(suite, selection, empty=empty):
        if empty and not selection.idle:
            raise SelectionError("nothing-selected", text)
        raise SelectionError("nothing-matches", text)


def without_match(suite: Suite, selection: Selection, *, empty: bool) -> Iterator[str]:
    """Yield a sentence for each glob that matched nothing, or one that names the option that excludes all cases.

    Args:
        suite: the suite.
        selection: the selection, after its cases were requested.
        empty: whether there was no case.
    """
    others = " ".join(text for text, _ in selection.parts() if not text.startswith(GLOBS))
    beside = f" with {others}" if others else ""
    idle = [
        f"{option} {glob!r} matches no case of suite {suite.name}{beside}" for option, glob in sorted(selection.idle)
    ]
    if not empty or (idle and not others):
        yield from idle
    elif not selection.partial:
        yield _nothing_selected(suite, selection)


def _nothing_selected(suite: Suite, selection: Selection) -> str:
    """Return a sentence that names the option without which the selection has cases."""
    parts = list(selection.parts())
    for text, rest in _suspects(selection):
        if len(parts) > 1 and next(iter(suite.listed(rest)), None) is not None:
            return f"{text} excludes all cases of suite {suite.name} that {rest} selects; change or remove it"
    if len(parts) == 1:
        return f"{parts[0][0]} selects no case of suite {suite.name}; change or remove it"
    return f"suite {suite.name} has no cases for this selection: {str(selection) or 'all'}"


def _suspects(selection: Selection) -> list[tuple[str, Selection]]:
    """Return the parts of a selection: first the options that are no globs, then the globs from narrow to wide."""
    parts = list(selection.parts())
    of_globs = [part for part in parts if part[0].startswith(GLOBS)]
    return [*(part for part in parts if part not in of_globs), *reversed(of_globs)]


def notes(suite: Suite, selection: Selection) -> list[Note]:
    """Return notes on operators and operator versions that the selection names but that have no cases."""
    foreign = selection.narrowing.model.foreign if selection.narrowing.model else ()
    text = f"--model: ignoring operators that onnx {onnx.__version__} does not define: {', '.join(map(line, foreign))}"
    return [*([Note("foreign-operators-ignored", text)] if foreign else []), *suite.left_out(selection)]


def check_selection(suite: Suite, selection: Selection) -> None:
    """Settle a selection: correct upper and lower case in --op, and determine the cases of --at-most.

    Only facts that are known before any case is generated or read are checked.

    Raises:
        SelectionError: no operator of the suite matches an --op or the other options, or the suite has no core.
    """
    if selection.core and not suite.has_core:
        raise SelectionError(
            "suite-without-core", f"--core: suite {suite.name} has no core; remove it, or use --sample 1/20"
        )
    limited = selection.opsets is not None or selection.newest or selection.narrowing.names_operators
    known = suite.operators() if selection.ops or limited else []
    if known:
        _check_operators(suite, selection, known)
    if selection.at_most is not None:
        every = dataclasses.replace(selection, at_most=None, shard=None)
        selection.ids = most_important(suite.listed(every), selection.at_most)
        selection.idle &= every.idle
        check_all_matched(suite, every, empty=not selection.ids)


def _check_operators(suite: Suite, selection: Selection, known: list[str]) -> None:
    """Raise SelectionError if no operator of the suite is selected, or if an --op matches none."""
    selection.respell(known)
    taken = [operator for operator in known if selection.takes_operator(operator)]
    for option, glob in sorted(selection.idle):
        if option == "--op":
            raise SelectionError(
                "operator-not-in-suite",
                f"--op {glob!r} matches nothing in suite {suite.name}; {_similar_operators(glob, known)}",
            )
    if taken:
        return
    for text, rest in _suspects(selection):
        if any(map(rest.takes_operator, known)):
            raise SelectionError("nothing-selected", _no_operator(suite, selection, text, known))
    raise SelectionError("nothing-selected", f"suite {suite.name} has no operator version for {selection}")


def _no_operator(suite: Suite, selection: Selection, text: str, known: list[str]) -> str:
    """Return a sentence about an option that excludes all operator versions."""
    hint = ""
    if selection.opsets is not None and text.startswith("--opsets"):
        rest = dataclasses.replace(selection, opsets=None)
        numbers = [since_of(operator) or 0 for operator in known if rest.takes_operator(operator)]
        hint = f"; the opsets {', '.join(map(str, sorted(set(numbers))))} introduced them"
    return f"{text} excludes all selected operator versions of suite {suite.name}{hint}"


def _similar_operators(glob: str, known: list[str]) -> str:
    if spellings := [name for name in respelled(glob, known) if name != glob]:
        return f"did you mean {' or '.join(spellings)}?"
    words = glob.removeprefix("ai.onnx/").split("/")
    lacking = [f"{op}/{since}" for op in registry.load() if op.name == words[0] for since in registry.missing(op)]
    if named := [name for name in lacking if len(words) == 1 or name.endswith(f"/{words[-1]}")]:
        return f"onnx {onnx.__version__} does not define {', '.join(named)}; select another release with --onnx"
    versions = [item.split("/")[2] for item in known if item.split("/")[1] == words[0]]
    if versions and len(words) > 1:
        return f"{words[0]} has the versions {', '.join(versions)}"
    of_onnx = [version for op, every in schema.every().items() for version in every if words[0] == op.split("/")[1]]
    if of_onnx:
        return undeclared(of_onnx[0].rpartition("/")[0])
    names = sorted({item.split("/")[1] for item in known})
    lower = {name.lower(): name for name in [*(op.split("/")[1] for op in schema.every()), *names]}
    near = difflib.get_close_matches(words[0].lower(), lower, 3, 0.5)
    if near:
        return f"did you mean {' or '.join(lower[name] for name in near)}?"
    return f"it has {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"  # noqa: PLR2004


def find_operator(name: str) -> tuple[Op, int | None] | None:
    """Return the declared operator of a name (Split, ai.onnx/Split, Split/18), and its version if the name has one.

    None if the name is not that of an operator; it may be the id of a case.

    Raises:
        SelectionError: ONNX has the operator, but it is not declared here, or not in this version.
    """
    *words, last = name.split("/")
    since = int(last) if words and last.isdecimal() and len(last) < MOST_DIGITS else None
    path = "/".join(words) if since is not None else name
    if (op := registry.load().called(path)) is not None:
        known = [version.since for version in registry.versions(op)]
        if since is not None and since not in known:
            raise SelectionError(
                "version-not-in-suite", f"{op} has the versions {', '.join(map(str, known))}, not {since}"
            )
        return op, since
    for op_path in schema.every():
        if path in (op_path, op_path.split("/")[1]):
            raise SelectionError("operator-undeclared", undeclared(op_path))
    near = respelled(name, schema.every_version())
    return find_operator(near[0]) if len(near) == 1 else None


def find_case(name: str, suites: tuple[Suite, ...] = ()) -> Case:
    """Return the case with exactly this id.

    Args:
        name: the id.
        suites: where to look; by default the official suite for `official/...`, the generated one for all others.

    Raises:
        SelectionError: there is no such case; the text names similar ones.
        SuiteError: the case is there, but cannot be read.
    """
    sources = suites or (_suite_of(name),)
    for suite in sources:
        if (case := case_of(name, suite)) is not None:
            return case
        for item in suite.unreadable:
            if f"{name}/".startswith(f"{item.case}/"):
                raise SuiteError("case-unreadable", item.message)
    raise SelectionError("unknown-case", f"there is no case {name!r}; {_similar_cases(name, sources)}")


def case_of(name: str, suite: Suite) -> Case | None:
    """Return the case of a suite with exactly this id; None if the suite lacks it."""
    return next(iter(suite.cases(Selection(cases=(globs.literal(name),)))), None)


def _suite_of(name: str) -> Suite:
    """Return the suite that has a case of such a name."""
    if name.startswith("official/"):
        return Official()
    domain, _, rest = name.partition("/")
    return suite_of(packages.owner_of(domain, rest.partition("/")[0]))


def plan_of(case: Case) -> Plan:
    """Return the plan of a generated case, or a plan for a case of another suite.

    Raises:
        NotDeclarableError: the case is of another suite and cannot be written as a declared case.
    """
    op = registry.load().find(*case.operator.split("/")[:2]) if case.operator.count("/") == 2 else None  # noqa: PLR2004
    own = plans.origin(op, case) if op else None
    return own or from_model.plan_from_case(case)


def plan_if_declarable(case: Case) -> Plan | None:
    """Return the plan of a case; None where it cannot be written as a declared case."""
    try:
        return plan_of(case)
    except from_model.NotDeclarableError:
        return None


def _similar_cases(name: str, suites: tuple[Suite, ...]) -> str:
    """Return a clause that names similar ids: of the operator that the name begins with, if it names one."""
    domain, _, rest = name.partition("/")
    stem = f"{domain}/{rest.partition('/')[0]}/"
    near: list[str] = []
    for suite in suites:
        ids = [item.id for item in suite.listed(Selection())]
        of_operator = [case for case in ids if case.startswith(stem)]
        near += difflib.get_close_matches(name, of_operator or [case.partition("@")[0] for case in ids], 3, 0.5)
    if near:
        return f"similar cases: {', '.join(dict.fromkeys(near))}"
    operators = [op.split("/")[1] for op in schema.every()]
    alike = difflib.get_close_matches(name.rpartition("/")[2], operators, 1)
    hint = f"`onnx-conformance show {alike[0]}` shows that operator, " if alike else ""
    return f"{hint}`onnx-conformance list` shows all"
