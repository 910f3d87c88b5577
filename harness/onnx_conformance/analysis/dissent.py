# SPDX-License-Identifier: Apache-2.0
"""Cases where implementations agree with one another, but not with the oracle's reading of the text.

A reading that several implementations share independently is the best reason to read the sentence again. Backends that
are one implementation in several packages or versions count once.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Result, Verdict, parts
from onnx_conformance.environments import backend_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_conformance.results.stream import Run

ENOUGH = 3
"""How many implementations must agree with one another."""
NEAR = 1e-4
"""Relative; a result keeps six digits of an answer, and two kernels seldom share the last ones."""

ANSWERS = frozenset(
    {
        Verdict.WRONG_VALUE,
        Verdict.WRONG_SHAPE,
        Verdict.WRONG_TYPE,
        Verdict.WRONG_COUNT,
        Verdict.ACCEPTED_INVALID,
        Verdict.LENIENT,
    }
)
NUMBER = re.compile(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|inf|nan)$")


class DissentError(HarnessError):
    """The results do not allow a comparison; the text contains the reason."""


@dataclass
class Dissent:
    """Cases with the same name for which several implementations agree, but not with the oracle.

    Attributes:
        operator: without its version.
        name: of the declared case.
        verdict: the verdict on that answer.
        answer: the answer that they share, in the first case.
        implementations: the implementations that agree.
        passing: those that pass the first case.
        versions, types, forms: those of the cases.
        count: how many cases.
        example: the result of the first case on the first implementation.
    """

    operator: str
    name: str
    verdict: Verdict
    answer: str
    implementations: tuple[str, ...]
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
    """Return the cases where at least `enough` implementations agree with one another, but not with the oracle.

    Refusals of a valid case only count if no implementation passes it: each may have a different reason.

    Wrong outputs are listed first, then refusals, then accepted invalid models.

    Args:
        runs: of one suite.
        enough: how many must agree.

    Raises:
        DissentError: fewer implementations than that, or several suites.
    """
    suites = sorted({str(run.header["suite"].get("digest")) for run in runs})
    if len(suites) > 1:
        raise DissentError(
            "suites-differ-in-dissent", f"these runs have {len(suites)} suites; run every backend with the same one"
        )
    available = {backend_names.implementation_of(name) for run in runs for name in run.header["backends"]}
    if len(available) < enough:
        raise DissentError(
            "too-few-implementations",
            f"{enough} implementations must agree, but the results have {len(available)}: "
            f"{', '.join(sorted(available))}; "
            "add results of more",
        )
    rows: dict[tuple[str, str, Verdict, tuple[str, ...]], Dissent] = {}
    for case in _cases(runs).values():
        for agreeing in _agreements(case, enough):
            first = agreeing[0]
            operator, _, version = first.operator.rpartition("/")
            name, type_ = parts(first.case, first.operator)
            implementations = tuple(sorted({backend_names.implementation_of(result.backend) for result in agreeing}))
            row = rows.setdefault(
                (operator, name, first.verdict, implementations),
                Dissent(
                    operator,
                    name,
                    first.verdict,
                    _answer(first),
                    implementations,
                    tuple(sorted(case.passed - {*implementations})),
                    first,
                ),
            )
            row.count += 1
            for values, value in ((row.versions, version), (row.types, type_), (row.forms, first.form)):
                values.update({value} - {""})
    return sorted(
        rows.values(), key=lambda row: (_rank(row), row.operator, -len(row.implementations), -row.count, row.name)
    )


def _rank(row: Dissent) -> int:
    return {Verdict.REFUSED: 1, Verdict.ACCEPTED_INVALID: 2, Verdict.LENIENT: 3}.get(row.verdict, 0)


def _cases(runs: Sequence[Run]) -> dict[str, _Case]:
    cases: dict[str, _Case] = {}
    for run in runs:
        for result in run.results():
            if result.verdict is Verdict.PASS:
                cases.setdefault(result.case, _Case()).passed.add(backend_names.implementation_of(result.backend))
            elif result.verdict in ANSWERS or result.verdict is Verdict.REFUSED:
                cases.setdefault(result.case, _Case()).failed.append(result)
    return {name: case for name, case in cases.items() if case.failed}


def _agreements(case: _Case, enough: int) -> Iterator[list[Result]]:
    """Yield groups of failures of a case with the same answer, if enough implementations share it."""
    same: list[list[Result]] = []
    for result in case.failed:
        group = next((group for group in same if _agree(group[0], result)), None)
        if group is None:
            same.append([result])
        else:
            group.append(result)
    for group in same:
        are_enough = len({backend_names.implementation_of(result.backend) for result in group}) >= enough
        if are_enough and not (group[0].verdict is Verdict.REFUSED and case.passed):
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


def _answer(result: Result) -> str:
    return "refused" if result.verdict is Verdict.REFUSED else result.actual
