"""ONNX's own cases against the oracles: each passes, or a clause says which sentence speaks against it."""

from __future__ import annotations

import fnmatch
import functools
from typing import TYPE_CHECKING

import pytest
from generated import every_operator

from harness import oracle, registry, suite
from harness.declare import NoAnswer
from harness.oracle import UndeclaredError
from harness.replies import Answered, Refused, Reply
from harness.runner import judge
from harness.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.case import Case
    from harness.declare import Clause, Op

pytestmark = pytest.mark.all_operators


@functools.cache
def failed() -> dict[str, tuple[Case, str]]:
    """Return the official cases that the oracles do not pass, and what becomes of them."""
    found = {}
    for case in suite.Official().cases(suite.Selection()):
        try:
            reply: Reply = Answered(tuple(oracle.run(case.model, dict(case.inputs), case.outputs)), 0.0)
        except UndeclaredError:
            continue
        except NoAnswer as no_answer:
            reply = Refused(type(no_answer).__name__, str(no_answer), None, None)
        result = judge(case, "oracle", reply)
        if result.verdict is not Verdict.PASS:
            found[case.id.partition("/")[2]] = (case, f"{result.verdict} {result.message}")
    return found


def against(case: Case) -> Iterator[tuple[Clause, str]]:
    """Yield the clauses of a case's operator version that speak against it, with the glob."""
    domain, name, since = case.operator.split("/")
    op = registry.load().find(domain, name)
    for clause in op.clauses if op else ():
        for glob in clause.against if clause.in_force(int(since)) else ():
            if fnmatch.fnmatchcase(case.id.partition("/")[2], glob):
                yield clause, glob


def test_every_official_case_passes_or_a_sentence_speaks_against_it() -> None:
    open_ = [f"{name}: {message[:200]}" for name, (case, message) in failed().items() if not any(against(case))]
    assert not open_, "\n".join(open_)


@every_operator
def test_what_a_sentence_speaks_against_fails_and_has_a_note(op: Op) -> None:
    wanted = {(clause.text, glob) for clause in op.clauses for glob in clause.against}
    if not wanted:
        return
    needed = {(clause.text, glob) for case, _ in failed().values() for clause, glob in against(case)}
    assert wanted <= needed, wanted - needed
    assert all(clause.note for clause in op.clauses if clause.against)
