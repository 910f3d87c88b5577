"""Where implementations agree with one another and not with the text as the oracle reads it.

A reading that several made independently of each other is the best reason to read the sentence again. Backends that
are one implementation in several packages or versions have one voice.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.execution import backend_names
from harness.verdict import Result, Verdict, parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.results.stream import Run

ENOUGH = 3
"""Implementations that have to agree with one another."""
NEAR = 1e-4
"""Relative; a result keeps six digits of an answer, and two kernels seldom share the last ones."""

ANSWERS = frozenset(
    {Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_TYPE, Verdict.WRONG_COUNT, Verdict.ACCEPTED_INVALID}
)
NUMBER = re.compile(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|inf|nan)$")


class DissentError(HarnessError):
    """Results in which nobody can dissent; the text says why."""


@dataclass
class Dissent:
    """Cases of one name of which several implementations say the same, and the oracle something else.

    Attributes:
        operator: without its version.
        name: of the declared case.
        verdict: what the harness makes of it.
        said: what they all say, of the first case.
        voices: the implementations that say so.
        passing: those that say what the oracle says, in the first case.
        versions, types, forms: what it was seen with.
        count: how many cases.
        example: the first of them, as the first of the voices had it.
    """

    operator: str
    name: str
    verdict: Verdict
    said: str
    voices: tuple[str, ...]
    passing: tuple[str, ...]
    example: Result
    versions: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    forms: set[str] = field(default_factory=set)
    count: int = 0


@dataclass
class _Case:
    failed: list[Result] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)


def dissents(runs: Sequence[Run], enough: int = ENOUGH) -> list[Dissent]:
    """Return where at least `enough` implementations agree with one another and not with the oracle.

    Refusals of a valid case count only where no implementation passes it: each may have a reason of its own.

    The wrong answers come first, then refusals, then models that are run though the text forbids them.

    Args:
        runs: of one suite.
        enough: how many have to agree.

    Raises:
        DissentError: fewer implementations than that, or several suites.
    """
    suites = sorted({str(run.header["suite"].get("digest")) for run in runs})
    if len(suites) > 1:
        raise DissentError(f"these are runs of {len(suites)} suites; run every backend with the same one")
    there = {voice(name) for run in runs for name in run.header["backends"]}
    if len(there) < enough:
        raise DissentError(
            f"{enough} implementations have to agree, and the results have {len(there)}: {', '.join(sorted(there))}; "
            "give the results of more"
        )
    found: dict[tuple[str, str, Verdict, tuple[str, ...]], Dissent] = {}
    for case in _cases(runs).values():
        for agreeing in _agreements(case, enough):
            first = agreeing[0]
            operator, _, version = first.operator.rpartition("/")
            name, type_ = parts(first.case, first.operator)
            voices = tuple(sorted({voice(result.backend) for result in agreeing}))
            row = found.setdefault(
                (operator, name, first.verdict, voices),
                Dissent(
                    operator, name, first.verdict, _said(first), voices, tuple(sorted(case.passed - {*voices})), first
                ),
            )
            row.count += 1
            for kept, seen in ((row.versions, version), (row.types, type_), (row.forms, first.form)):
                kept.update({seen} - {""})
    return sorted(found.values(), key=lambda row: (_rank(row), row.operator, -len(row.voices), -row.count, row.name))


def _rank(row: Dissent) -> int:
    return {Verdict.REFUSED: 1, Verdict.ACCEPTED_INVALID: 2}.get(row.verdict, 0)


def voice(backend: str) -> str:
    """Return the implementation that a backend is: its versions and its bindings to other languages are one."""
    stem = backend.partition("==")[0]
    needed = backend_names.needs(stem) if stem.isidentifier() else None
    return (needed.implementation or needed.name) if needed else backend


def _cases(runs: Sequence[Run]) -> dict[str, _Case]:
    cases: dict[str, _Case] = {}
    for run in runs:
        for result in run.results():
            if result.verdict is Verdict.PASS:
                cases.setdefault(result.case, _Case()).passed.add(voice(result.backend))
            elif result.verdict in ANSWERS or result.verdict is Verdict.REFUSED:
                cases.setdefault(result.case, _Case()).failed.append(result)
    return {name: case for name, case in cases.items() if case.failed}


def _agreements(case: _Case, enough: int) -> Iterator[list[Result]]:
    """Yield the failures of a case that say the same, those that enough implementations share."""
    same: list[list[Result]] = []
    for result in case.failed:
        group = next((group for group in same if _agree(group[0], result)), None)
        if group is None:
            same.append([result])
        else:
            group.append(result)
    for group in same:
        many = len({voice(result.backend) for result in group}) >= enough
        if many and not (group[0].verdict is Verdict.REFUSED and case.passed):
            yield group


def _agree(one: Result, other: Result) -> bool:
    if one.verdict is Verdict.REFUSED or other.verdict is Verdict.REFUSED:
        return one.verdict is other.verdict
    return _alike(one.actual.split(), other.actual.split()) and (
        "..." not in one.actual or (_where(one) == _where(other) and _alike(_given(one), _given(other)))
    )


def _where(result: Result) -> tuple[object, ...]:
    """Return which elements of an answer differ from the expected ones; the answer itself is kept in part only."""
    return tuple(result.mismatch.get(key) for key in ("where", "differing", "first", "differs"))


def _given(result: Result) -> list[str]:
    """Return the elements that are kept around the first one that differs."""
    return [str(item) for item in result.mismatch.get("given", ())]


def _alike(mine: Sequence[str], yours: Sequence[str]) -> bool:
    return len(mine) == len(yours) and all(map(_near, mine, yours))


def _near(one: str, other: str) -> bool:
    if one == other:
        return True
    if not (NUMBER.match(one) and NUMBER.match(other)):
        return False
    return math.isclose(float(one), float(other), rel_tol=NEAR, abs_tol=1e-30)


def _said(result: Result) -> str:
    return "refused" if result.verdict is Verdict.REFUSED else result.actual
