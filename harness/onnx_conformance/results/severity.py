# SPDX-License-Identifier: Apache-2.0
"""Severity: which failures a user meets first.

Failures of ordinary calls precede others. Among them, wrong results without an error are first, because users notice
them only after they did harm. Numbers that are only imprecise follow the errors. A call is ordinary if a collected
model makes it: the table of usage (`specification.usage`) decides that. Invalid models are last.

The end of a run, the reports, the site and the findings order failures by `Severity.key`.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import EMPTY, WITH_MESSAGE, WRONG, Verdict, split_operator
from onnx_conformance.declare import Tag
from onnx_conformance.forms import table as forms
from onnx_conformance.specification import meanings, schema
from onnx_conformance.specification.usage import table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from onnx_conformance.base.verdict import Result

KINDS = (
    frozenset({*WRONG, Verdict.INVALID_MODEL}),
    frozenset({Verdict.CRASH, Verdict.TIMEOUT}),
    frozenset({*WITH_MESSAGE, Verdict.FLAKY, Verdict.UNSUPPORTED}),
    frozenset({Verdict.ACCEPTED_INVALID}),
)
"""Kinds of verdicts, the most severe first: a wrong result without an error, the end of the process, an error."""
IMPRECISE = 1e-2
"""The greatest relative error of an imprecise number; beyond it, the number is another one."""
_SPECIAL = re.compile(r"(?i)(?<![a-z])-?(?:nan|inf)(?![a-z])")


class Nature(enum.StrEnum):
    """How natural the failing calls are; the most natural one counts.

    Attributes:
        TYPICAL: a collected model calls the operator in this way.
        UNCOMMON: a valid call with ordinary values that no collected model makes.
        EDGE: a valid call with NaN, infinity or the limits of a range, or in a form that exporters do not write.
        DEGENERATE: a valid call with an empty tensor.
        INVALID: the text forbids the model.
    """

    TYPICAL = "typical"
    UNCOMMON = "uncommon"
    EDGE = "edge"
    DEGENERATE = "degenerate"
    INVALID = "invalid"


_ORDER = tuple(Nature)


@dataclass(frozen=True)
class Severity:
    """How likely users meet a failure, and how much harm it does.

    Attributes:
        nature: how natural the call is.
        models: how many of the collected models call the operator in this way.
        having: how many of them have the operator, in any version.
        newest: whether the newest version of the operator fails, and not only superseded versions.
        imprecise: whether the results are numbers close to the right ones.
    """

    nature: Nature = Nature.UNCOMMON
    models: int = 0
    newest: bool = True
    having: int = 0
    imprecise: bool = False

    def key(self, kind: Verdict) -> tuple[int, int, bool, int, int]:
        """Return the sort key of a failure with a verdict, the most severe first."""
        place = len(KINDS) if self.imprecise else _place(kind)
        return _ORDER.index(self.nature), place, not self.newest, -self.models, -self.having

    def sentence(self) -> str:
        """Return the severity in words."""
        natures = {
            Nature.TYPICAL: f"{self.models} of {table.read().models} collected models make such a call",
            Nature.UNCOMMON: f"no collected model makes such a call; {self.having} have the operator",
            Nature.EDGE: f"an edge of an operator that {self.having} of {table.read().models} collected models have",
            Nature.DEGENERATE: "a tensor is empty",
            Nature.INVALID: "the model is invalid",
        }
        return natures[self.nature] + ("" if self.newest else "; only superseded versions fail")


LOWEST = Severity(Nature.INVALID, 0, newest=False)
"""The lowest severity."""


def _place(kind: Verdict) -> int:
    return next((place for place, kinds in enumerate(KINDS) if kind in kinds), len(KINDS))


def is_newest(operator: str, versions: Iterable[int], lacks: Collection[int] = ()) -> bool:
    """Return whether one of some versions of an operator, such as ai.onnx/Split, is the newest that a runtime has.

    Args:
        operator: the operator.
        versions: the versions.
        lacks: the versions that the runtime lacks.
    """
    known = [since for since in _versions().get(operator, ()) if since not in lacks]
    return not known or max(known) in versions


@functools.cache
def _versions() -> dict[str, list[int]]:
    """Return the versions of each operator."""
    known: dict[str, list[int]] = {}
    for name, since in map(split_operator, schema.every_version()):
        known.setdefault(name, []).append(since or 0)
    return known


def most(severities: Iterable[Severity], kind: Verdict) -> Severity:
    """Return the highest of some severities of failures with one verdict."""
    return min(severities, key=lambda item: item.key(kind), default=Severity())


@functools.lru_cache(4096)
def callers(operator: str, type_: str) -> int:
    """Return how many of the collected models call an operator version with a type, at least.

    Args:
        operator: the operator version, such as ai.onnx/Conv/22. Versions with the same meaning count as well: exporters
            of today write the newest one.
        type_: the element type; empty for any.
    """
    name, since = split_operator(operator)
    newest = meanings.newest_of(name)
    counts = [
        count.models
        for pattern, count in table.read().patterns(name).items()
        if newest.get(split_operator(pattern.operator)[1] or 0) == newest.get(since or 0)
        and (not type_ or any(type_ in word.partition("=")[2].split("+") for word in pattern.types))
    ]
    return max(counts, default=0)


def of_call(
    operator: str, form: str, callers_of: Callable[[], int], *, invalid: bool, empty: bool, special: bool
) -> Severity:
    """Return the severity of the failure of one call.

    Args:
        operator: the operator version.
        form: the form of the model.
        callers_of: returns how many of the collected models make the call; called only for ordinary calls.
        invalid: whether the text forbids the model.
        empty: whether a tensor is empty.
        special: whether the call is at an edge: values that are not finite, or an undefined result.
    """
    name, since = split_operator(operator)
    row = forms.find(form)
    nature, models = Nature.UNCOMMON, 0
    if invalid:
        nature = Nature.INVALID
    elif empty:
        nature = Nature.DEGENERATE
    elif special or row is None or not row.exported:
        nature = Nature.EDGE
    elif models := callers_of():
        nature = Nature.TYPICAL
    return Severity(nature, models, is_newest(name, (since or 0,)), table.read().operators.get(name, 0))


def is_imprecise(result: Result) -> bool:
    """Return whether a failure is a wrong number that is close to the right one."""
    relative = result.mismatch.get("relative")
    return result.verdict is Verdict.WRONG_VALUE and isinstance(relative, int | float) and relative <= IMPRECISE


def of_result(result: Result) -> Severity:
    """Return the severity of a failure, as far as its result shows it: the result does not contain the model."""
    severity = of_call(
        result.operator,
        result.form,
        lambda: callers(result.operator, result.element_type),
        invalid=result.outcome == "rejects" or result.verdict is Verdict.ACCEPTED_INVALID,
        empty=EMPTY.search(f"{result.expected} {result.actual}") is not None,
        special=result.outcome == "unspecified" or Tag.EDGE in result.tags or bool(_SPECIAL.search(result.expected)),
    )
    return dataclasses.replace(severity, imprecise=is_imprecise(result))
