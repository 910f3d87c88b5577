# SPDX-License-Identifier: Apache-2.0
"""Find the smallest conjunctions of conditions that match failures and no passing case.

All single conditions and pairs are tried, and triples that extend a promising pair. A condition may list values
(`type is one of float16, bfloat16`): among the cases that meet the rest of the conjunction, every value that some
failure has and no passing case.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.analysis.conditions import Choice, Condition

MOST_CONDITIONS = 3
MOST_STATEMENTS = 5
LEAST = (1, 1, 3, 6)
"""How many failures a conjunction of 0, 1, 2 or 3 conditions must match, unless it matches all: three conditions for
one case would only describe that case."""
MOST_POOL, MOST_BASES = 160, 40
"""Number of conditions that are paired with one another, and of pairs that a third condition is added to."""
OVERHEAD = 0.75
"""The cost of a further statement, in addition to its conditions."""
NEARLY, INEXACT = 0.9, 0.5
"""The fit that one statement for all failures needs to replace several exact ones, and how much cheaper it must be."""
LEAST_FIT, LEAST_SHARE = 0.4, 1 / 3
"""The fit that a statement needs if passing cases match too: its F1 score (of precision and coverage), and the share of
failures among the cases that it matches."""


@dataclass(frozen=True)
class Conjunction:
    """Conditions that hold together, simple ones of the kernel's own first.

    Attributes:
        conditions: in the order of the statement.
        cases: the cases that meet all of them, a bit each.
        cost: the sum of their costs.
    """

    conditions: tuple[Condition, ...]
    cases: int
    cost: float

    @property
    def words(self) -> tuple[str, ...]:
        """The conditions in words."""
        return tuple(condition.words for condition in self.conditions)

    @property
    def order(self) -> tuple[float, tuple[str, ...]]:
        """Simple ones first, without duplicates."""
        return (self.cost, self.words)


def conjunction(*conditions: Condition) -> Conjunction:
    """Return the conjunction of at least one condition."""
    ordered = tuple(sorted(conditions, key=lambda condition: (condition.topic, condition.words)))
    cases = ordered[0].cases
    for condition in ordered[1:]:
        cases &= condition.cases
    return Conjunction(ordered, cases, round(sum(condition.cost for condition in ordered), 6))


@dataclass(frozen=True)
class Cover:
    """Conjunctions that together cover failures.

    Attributes:
        chosen: the conjunctions, in the order in which they were chosen.
        left: failures that none of them matches.
        cost: cost of all conditions, and of each further statement.
    """

    chosen: tuple[Conjunction, ...]
    left: int

    @property
    def cost(self) -> float:
        """The total cost of the conjunctions."""
        return sum(item.cost + OVERHEAD for item in self.chosen)


def cover(conditions: Sequence[Condition], choices: Sequence[Choice], failures: int, passes: int) -> Cover:
    """Return the fewest and simplest conjunctions that match these failures and no passing case.

    The remaining failures get one conjunction that matches passing cases too, if one fits well enough.
    """
    chosen: list[Conjunction] = []
    left = failures
    nearly: Conjunction | None = None
    while left and len(chosen) < MOST_STATEMENTS:
        search = Search(conditions, choices, left, passes, whole=left == failures)
        if left == failures:
            nearly = search.nearly
        picked = _pick(search.exact, left, MOST_STATEMENTS - len(chosen))
        for item in picked:
            chosen.append(item)
            left &= ~item.cases
        if not picked:
            if (loose := search.loose) is not None:
                chosen.append(loose)
                left &= ~loose.cases
            break
    exact_cover = Cover(tuple(chosen), left)
    if nearly is not None and (left or (len(chosen) > 1 and Cover((nearly,), 0).cost + INEXACT < exact_cover.cost)):
        return Cover((nearly,), 0)
    return exact_cover


def _pick(exact: Mapping[int, Conjunction], failures: int, most: int) -> list[Conjunction]:
    """Return exact conjunctions that match as many failures as possible at the least cost."""
    whole = exact.get(failures)
    picked: list[Conjunction] = []
    left = failures
    remaining = sorted(exact.items(), key=lambda item: (item[1].order, -item[0].bit_count()))
    while left and remaining and len(picked) < most:
        _, _, best = min(
            (-(failures_matched & left).bit_count() / (item.cost + OVERHEAD), item.order, item)
            for failures_matched, item in remaining
        )
        picked.append(best)
        left &= ~best.cases
        remaining = [
            (failures_matched, item)
            for failures_matched, item in remaining
            if (failures_matched & left).bit_count() >= _least(item.conditions) and failures_matched & left
        ]
    if whole is not None and whole.cost + OVERHEAD <= Cover(tuple(picked), left).cost + (1e9 if left else 0):
        return [whole]
    return _without_idle(picked, failures)


def _without_idle(picked: list[Conjunction], failures: int) -> list[Conjunction]:
    """Remove conjunctions that match no failure that the others do not match."""
    for item in sorted(picked, key=lambda item: ((item.cases & failures).bit_count(), item.order)):
        others = [other for other in picked if other is not item]
        union = 0
        for other in others:
            union |= other.cases
        if not item.cases & failures & ~union:
            picked = others
    return picked


def _least(conditions: Sequence[Condition]) -> int:
    return LEAST[min(len(conditions), MOST_CONDITIONS)]


class Search:
    """The conjunctions that separate failures from passing cases.

    Attributes:
        exact: failures -> the simplest conjunction that matches exactly these and no passing case.
        loose: the best fit among those that match passing cases too, if it fits well enough.
    """

    def __init__(
        self,
        conditions: Sequence[Condition],
        choices: Sequence[Choice],
        failures: int,
        passes: int,
        *,
        whole: bool = True,
    ) -> None:
        """Search at once."""
        self._failures, self._passes, self._choices = failures, passes, choices
        self._total = failures.bit_count()
        self._whole = failures if whole else 0
        self.exact: dict[int, Conjunction] = {}
        self._best: tuple[float, float, tuple[str, ...]] | None = None
        self.loose: Conjunction | None = None
        pool = list(self._pool(conditions))
        for condition in pool:
            if not condition.cases & passes:
                self._keep(condition)
        open_ = [condition for condition in pool if condition.cases & passes]
        for condition in self._lists(failures, passes):
            self._keep(condition)
        bases = self._pairs(open_)
        for condition in open_:
            for listed in self._lists(condition.cases & failures, condition.cases & passes):
                self._keep(condition, listed)
        if MOST_CONDITIONS > 2:  # noqa: PLR2004
            self._triples(open_, bases)
        self._fit(open_, bases)

    def _pool(self, conditions: Sequence[Condition]) -> Iterator[Condition]:
        """Yield the conditions that separate some cases, the simple ones first.

        A condition is skipped if a simpler one matches the same failures and no more passing cases.
        """
        alike: dict[int, list[int]] = {}
        fitting: list[tuple[float, Condition]] = []
        for condition in conditions:
            matched, wrongly = condition.cases & self._failures, condition.cases & self._passes
            if not matched or (matched == self._failures and wrongly == self._passes):
                continue
            simpler = alike.setdefault(matched, [])
            if any(other & ~wrongly == 0 for other in simpler):
                continue
            simpler.append(wrongly)
            hits = matched.bit_count()
            fitting.append((-hits / (hits + wrongly.bit_count()) * hits**0.5, condition))
        fitting.sort(key=lambda item: (item[0], item[1].order))
        yield from sorted((item for _, item in fitting[:MOST_POOL]), key=lambda item: item.order)

    def _lists(self, failures: int, passes: int) -> Iterator[Condition]:
        for choice in self._choices:
            wanted = [value for value, mask in choice.values.items() if mask & failures and not mask & passes]
            unwanted = [value for value, mask in choice.values.items() if mask & passes]
            if wanted and unwanted and (condition := choice.condition(wanted, unwanted)):
                yield condition

    def _keep(self, *conditions: Condition) -> None:
        cases = -1
        for condition in conditions:
            cases &= condition.cases
        matched = cases & self._failures
        if not matched or cases & self._passes or (matched != self._whole and matched.bit_count() < _least(conditions)):
            return
        known = self.exact.get(matched)
        cost = sum(condition.cost for condition in conditions)
        if known is None or cost <= known.cost:
            candidate = conjunction(*conditions)
            if known is None or candidate.order < known.order:
                self.exact[matched] = candidate

    def _pairs(self, pool: Sequence[Condition]) -> list[tuple[Condition, Condition]]:
        """Keep the pairs that match no passing case, and return the most promising of the others."""
        failures, passes = self._failures, self._passes
        rows = [(item, item.cases & failures, item.cases & passes) for item in pool]
        promising: list[tuple[float, int, int]] = []
        for i, (first, matched, wrongly) in enumerate(rows):
            for j in range(i + 1, len(rows)):
                second, also, also_wrongly = rows[j]
                both = matched & also
                if not both:
                    continue
                if wrongly & also_wrongly:
                    if both != matched or wrongly & also_wrongly != wrongly:
                        fit = self._score(both, wrongly & also_wrongly)
                        promising.append((-fit, i, j))
                else:
                    known = self.exact.get(both)
                    if known is None or first.cost + second.cost <= known.cost:
                        self._keep(first, second)
        promising.sort()
        return [(pool[i], pool[j]) for _, i, j in promising[:MOST_BASES]]

    def _triples(self, pool: Sequence[Condition], bases: Sequence[tuple[Condition, Condition]]) -> None:
        failures, passes = self._failures, self._passes
        for first, second in bases:
            both = first.cases & second.cases
            matched, wrongly = both & failures, both & passes
            for third in pool:
                if not wrongly & third.cases and matched & third.cases:
                    self._keep(first, second, third)
            for listed in self._lists(matched, wrongly):
                self._keep(first, second, listed)

    def _fit(self, pool: Sequence[Condition], bases: Sequence[tuple[Condition, Condition]]) -> None:
        """Find the conjunction that fits best, among those that passing cases may match."""
        for conditions in itertools.chain(((item,) for item in pool), bases):
            candidate = conjunction(*conditions)
            fit = self._fitness(candidate.cases)
            key = (-round(fit - 0.02 * len(conditions), 6), candidate.cost, candidate.words)
            matched = candidate.cases & self._failures
            enough = matched == self._whole or matched.bit_count() >= _least(conditions)
            share = matched.bit_count() / (candidate.cases & (self._failures | self._passes)).bit_count()
            if fit >= LEAST_FIT and share >= LEAST_SHARE and enough and (self._best is None or key < self._best):
                self._best, self.loose = key, candidate

    @property
    def nearly(self) -> Conjunction | None:
        """The best fit, if it matches all failures and hardly any passing case."""
        if self.loose is None or self._failures & ~self.loose.cases or self._fitness(self.loose.cases) < NEARLY:
            return None
        return self.loose

    def _fitness(self, cases: int) -> float:
        return self._score(cases & self._failures, cases & self._passes)

    def _score(self, matched: int, wrongly: int) -> float:
        hits = matched.bit_count()
        return 2 * hits / (hits + wrongly.bit_count() + self._total)
