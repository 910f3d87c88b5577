# SPDX-License-Identifier: Apache-2.0
"""Which cases --at-most selects: the most important ones, spread over the selected operator versions."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import split_operator
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.declare import Tag
from onnx_conformance.specification.usage import table as usage
from onnx_conformance.suites.operator_versions import is_newest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_conformance.suites.selection import Listed

_OUTCOMES = (Outcome.VALUES, Outcome.PROPERTY, Outcome.REJECTS, Outcome.UNSPECIFIED)


def importance(case: Listed) -> tuple[int, ...]:
    """Return a key that orders the cases of an operator version, the most important first.

    Calls of the collected models are first, then ordinary calls, then edges.
    """
    usual = (Tag.USAGE not in case.tags) + (Tag.EDGE in case.tags)
    return not case.core, _OUTCOMES.index(Outcome(case.outcome)), case.form != PLAIN, usual


def operator_importance(operator: str) -> tuple[int, ...]:
    """Return a key that orders operator versions: the newest first, of them those that most collected models have."""
    name, _ = split_operator(operator)
    return not is_newest(operator, None), -usage.read().operators.get(name, 0)


def most_important(cases: Iterable[Listed], most: int) -> frozenset[str]:
    """Return the ids of at most this number of cases.

    Operator versions take turns, so each has about the same number of cases. Cases of equal importance keep the order
    of the suite.
    """
    by_operator: dict[str, list[Listed]] = {}
    for case in cases:
        by_operator.setdefault(case.operator, []).append(case)
    ranked = [
        sorted(by_operator[operator], key=importance) for operator in sorted(by_operator, key=operator_importance)
    ]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*ranked))
    return frozenset(case.id for case in itertools.islice(filter(None, turns), most))
