# SPDX-License-Identifier: Apache-2.0
"""ONNX's own cases against the oracles: each passes, or a clause says which sentence speaks against it."""

from __future__ import annotations

import fnmatch
import functools
from typing import TYPE_CHECKING

import pytest

from generated import every_operator, on_the_oracles
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.specification import registry
from onnx_conformance.specification.evaluator import UndeclaredError
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op


@functools.cache
def failed() -> dict[str, tuple[Case, str]]:
    """Return the official cases that the oracles do not pass, and their results."""
    by_name = {}
    for case in Official().cases(Selection()):
        if declared(case) is None:
            continue
        try:
            result = on_the_oracles(case)
        except UndeclaredError:
            continue
        if result.verdict is not Verdict.PASS:
            by_name[case.id.partition("/")[2]] = (case, f"{result.verdict} {result.message}")
    return by_name


def declared(case: Case) -> Op | None:
    return registry.load().find(*case.operator.split("/")[:2])


def against(case: Case) -> Iterator[str]:
    """Yield the globs of a case's operator version that speak against it: of sentences, or of its function body."""
    op, since = declared(case), int(case.operator.rpartition("/")[2])
    assert op
    globs = [glob for clause in op.clauses if clause.in_force(since) for glob in clause.against]
    if case.form == EXPANDED:
        globs += [glob for glob in op.disputes if glob.startswith("test_")]
    yield from (glob for glob in globs if fnmatch.fnmatchcase(case.id.partition("/")[2], glob))


@pytest.mark.slow
def test_every_official_case_passes_or_a_sentence_speaks_against_it() -> None:
    open_ = [f"{name}: {message[:200]}" for name, (case, message) in failed().items() if not any(against(case))]
    assert not open_, "\n".join(open_)


@pytest.mark.slow
@every_operator
def test_official_cases_against_a_sentence_fail_and_have_a_note(op: Op) -> None:
    globs = {glob for clause in op.clauses for glob in clause.against}
    globs |= {glob for glob in op.disputes if glob.startswith("test_")}
    if not globs:
        return
    needed = {glob for case, _ in failed().values() for glob in against(case) if declared(case) is op}
    assert globs <= needed, globs - needed
    assert all(clause.note for clause in op.clauses if clause.against)
