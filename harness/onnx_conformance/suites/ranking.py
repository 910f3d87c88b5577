"""Which cases --at-most selects: the most important ones, spread over the selected operator versions."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.suites.operator_versions import is_newest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_conformance.suites.selection import Listed

_OUTCOMES = (Outcome.VALUES, Outcome.PROPERTY, Outcome.REJECTS, Outcome.UNSPECIFIED)


def importance(case: Listed) -> tuple[int, ...]:
    """Return a key that orders the cases of an operator version, the most important first.

    How often real models call the operator in this way would be the first number of the key.
    """
    return not case.core, _OUTCOMES.index(Outcome(case.outcome)), case.form != PLAIN


def operator_importance(operator: str) -> int:
    """Return a key that orders operator versions, the most important first.

    How often real models call the operator version would be the first number of the key.
    """
    return not is_newest(operator, None)


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
