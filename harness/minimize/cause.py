"""The cause of a failure as far as a result shows it: what a smaller case must share with the first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.case.case import Outcome
from harness.results.summary import signature
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    from harness.case.case import Case

ROUNDING = 1e-2
"""Relative errors up to this count as rounding; a larger error is another fault."""
INDEX = re.compile(r"_\d+(?=_again$|$)")
"""The number that distinguishes the values of a variadic parameter."""


def cause(case: Case, result: Result) -> tuple[str, ...]:
    """Return a signature that two failures of one cause share: verdict, error and kind of difference."""
    shared = [masked(part) for part in signature(result)]
    if result.verdict is Verdict.WRONG_VALUE and case.outcome is Outcome.VALUES:
        shared += difference(result)
    return tuple(shared)


def difference(result: Result) -> list[str]:
    """Return the kinds of the values that differ: a NaN in place of a number is another fault than a wrong number."""
    mismatch = result.mismatch
    kinds = []
    for word in ("expected", "actual"):
        text = str(mismatch.get(word, "")).lower()
        kinds.append(next((kind for kind in ("nan", "inf") if kind in text), "value"))
    relative = mismatch.get("relative")
    return [*kinds, "rounding" if relative is not None and relative <= ROUNDING else "far"]


def masked(text: str) -> str:
    """Return a message with numbers, tensor types and quoted text masked, whatever their count."""
    return re.sub(r"#(?:[\s,x-]*#)*", "#", re.sub(r"-?\d+(?:\.\d+)?|tensor\(\w+\)|'[^']*'", "#", text))
