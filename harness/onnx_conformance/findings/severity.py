# SPDX-License-Identifier: Apache-2.0
"""The severity of a group of failures: that of its most ordinary case, whose model is looked up in the usage table."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np
import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import Verdict, split_operator
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import Tag
from onnx_conformance.results.severity import Nature, Severity, is_imprecise, is_newest, most, of_call, of_result
from onnx_conformance.specification import meanings, schema
from onnx_conformance.specification.usage import calls, pattern
from onnx_conformance.specification.usage.pattern import UNKNOWN, Words
from onnx_conformance.suites.lookup import find_case

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.specification.usage.pattern import Pattern
    from onnx_conformance.suites.suite import Suite

MOST_CASES = 40
"""The number of cases of a group that are looked up, those first that are like calls of real models."""


def of_cases(
    results: Sequence[Result], kind: Verdict, versions: Iterable[int], source: Suite, lacks: Collection[int] = ()
) -> Severity:
    """Return the highest severity of some failures with one verdict.

    Args:
        results: the failures.
        kind: their verdict.
        versions: the versions of the operator that fail.
        source: the suite of their cases.
        lacks: the versions of the operator that the runtime lacks.
    """
    ordered = sorted(results, key=lambda result: (Tag.USAGE not in result.tags, Tag.BASIC not in result.tags))
    found = []
    for result in ordered[:MOST_CASES]:
        try:
            found.append(of_case(find_case(result.case, (source,)), kind))
        except HarnessError:  # The suite does not have the case any more.
            continue
        if found[-1].nature is Nature.TYPICAL and Tag.USAGE in result.tags:
            break
    best = most(found or map(of_result, results), kind)
    operator = split_operator(results[0].operator)[0] if results else ""
    imprecise = bool(results) and all(map(is_imprecise, results))
    return dataclasses.replace(best, newest=is_newest(operator, versions, lacks), imprecise=imprecise)


def of_case(case: Case, kind: Verdict) -> Severity:
    """Return the severity of the failure of one case."""
    arrays = list(_arrays([*case.inputs.values(), *(() if case.expected is None else case.expected)]))
    return of_call(
        case.operator,
        case.form,
        lambda: callers(case),
        invalid=case.outcome is Outcome.REJECTS or kind is Verdict.ACCEPTED_INVALID,
        empty=any(array.size == 0 for array in arrays),
        special=case.outcome is Outcome.UNSPECIFIED or Tag.EDGE in case.tags or not all(map(_is_finite, arrays)),
    )


def _arrays(values: Iterable[object]) -> Iterator[np.ndarray]:
    for value in values:
        item = value.example if isinstance(value, Drawn) else value
        if isinstance(item, np.ndarray):
            yield item
        elif isinstance(item, list):
            yield from _arrays(item)


def _is_finite(array: np.ndarray) -> bool:
    """Return whether all numbers of an array are finite."""
    return not np.issubdtype(array.dtype, np.inexact) or bool(np.isfinite(array).all())


def callers(case: Case) -> int:
    """Return how many of the collected models make the call of a case: with its types, attributes and ranks."""
    operator, since = split_operator(case.operator)
    made = [
        calls.of_pattern(item)
        for item in pattern.of_model(onnx.load_from_string(case.model))
        if item.operator == case.operator
    ]
    if not made or since is None:
        return 0
    known = _known(operator, since)
    matching = calls.matching(known, made)
    return max(
        (known[call] for call, places in matching.items() if any(_same_scalars(call, made[place]) for place in places)),
        default=0,
    )


def _same_scalars(call: Pattern, case: Pattern) -> bool:
    """Return whether the same inputs of a call and of a matching case are scalars: `matching` caps ranks, also to 0."""
    pairs = zip(map(Words.of_input, call.inputs), map(Words.of_input, case.inputs), strict=True)
    return all(UNKNOWN in wanted or (wanted == "0") == (actual == "0") for (_, _, wanted), (_, _, actual) in pairs)


@functools.cache
def _known(operator: str, since: int) -> dict[Pattern, int]:
    """Return the calls of real models, written as those of a version -> the least number of models.

    Calls of other versions with the same meaning count, too, if this version is the newest one: exporters of today
    write it. For a superseded version, only its own calls count.
    """
    newest = meanings.newest_of(operator)
    domain, _, name = operator.partition("/")
    alike = [since]
    if newest.get(since) == since:
        alike = [other for other, last in newest.items() if last == since]
    target = schema.in_force(domain, name, since)
    represented = {f"{operator}/{other}": (schema.in_force(domain, name, other), target) for other in alike}
    return calls.wanted(operator, represented)
