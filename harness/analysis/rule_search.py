"""The smallest conjunctions of conditions that take failures and no passing case.

Single conditions and pairs are tried all; of triples those that go on from a promising pair. Where a condition may
list values (`type is one of float16, bfloat16`), the list is what the rest of the conjunction leaves open: every value
that some failure has and no passing case.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.analysis.conditions import Choice, Condition

MOST_CONDITIONS = 3
MOST_STATEMENTS = 5
LEAST = (1, 1, 3, 6)
"""How many failures a conjunction of so many conditions must take, unless it takes all: three conditions for one case
would only describe that case."""
MOST_POOL, MOST_BASES = 160, 40
"""Conditions that are paired with one another, and pairs that a third one is sought for."""
OVERHEAD = 0.75
"""What another statement costs beside its conditions."""
NEARLY, INEXACT = 0.9, 0.5
"""How well one statement for all failures must fit to stand for several exact ones, and how much shorter it must be."""
LEAST_FIT, LEAST_SHARE = 0.4, 1 / 3
"""How well a statement must fit that passing cases match too: its F1 score (of precision and coverage), and how many of
the cases that it takes must be failures."""


@dataclass(frozen=True)
class Conjunction:
    """Conditions that hold together, simple ones of the kernel's own first.

    Attributes:
        conditions: in the order in which they are said.
        cases: of which all hold, a bit each.
        cost: of all of them.
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
        """Simple ones first, and no two alike."""
        return (self.cost, self.words)


def conjunction(*conditions: Condition) -> Conjunction:
    """Return the conjunction of at least one condition."""
    said = tuple(sorted(conditions, key=lambda condition: (condition.subject, condition.words)))
    cases = said[0].cases
    for condition in said[1:]:
        cases &= condition.cases
    return Conjunction(said, cases, round(sum(condition.cost for condition in said), 6))


@dataclass(frozen=True)
class Cover:
    """Conjunctions that take failures together.

    Attributes:
        chosen: the conjunctions, in the order in which they were chosen.
        left: failures that none of them takes.
        cost: of all, with what each further statement costs.
    """

    chosen: tuple[Conjunction, ...]
    left: int

    @property
    def cost(self) -> float:
        """How much there is to read."""
        return sum(item.cost + OVERHEAD for item in self.chosen)


def cover(conditions: Sequence[Condition], choices: Sequence[Choice], failures: int, passes: int) -> Cover:
    """Return as few and as simple conjunctions as take these failures and none of the passing cases.

    What is left over is given one conjunction that takes passing cases too, where one fits well enough.
    """
    chosen: list[Conjunction] = []
    left = failures
    nearly: Conjunction | None = None
    while left and len(chosen) < MOST_STATEMENTS:
        found = Search(conditions, choices, left, passes, whole=left == failures)
        if left == failures:
            nearly = found.nearly
        picked = _pick(found.exact, left, MOST_STATEMENTS - len(chosen))
        for item in picked:
            chosen.append(item)
            left &= ~item.cases
        if not picked:
            if (loose := found.loose) is not None:
                chosen.append(loose)
                left &= ~loose.cases
            break
    made = Cover(tuple(chosen), left)
    if nearly is not None and (left or (len(chosen) > 1 and Cover((nearly,), 0).cost + INEXACT < made.cost)):
        return Cover((nearly,), 0)
    return made


def _pick(exact: Mapping[int, Conjunction], failures: int, most: int) -> list[Conjunction]:
    """Return exact conjunctions that take as many failures as they can at the least cost."""
    whole = exact.get(failures)
    found: list[Conjunction] = []
    left = failures
    remaining = sorted(exact.items(), key=lambda item: (item[1].order, -item[0].bit_count()))
    while left and remaining and len(found) < most:
        _, _, best = min(
            (-(taken & left).bit_count() / (item.cost + OVERHEAD), item.order, item) for taken, item in remaining
        )
        found.append(best)
        left &= ~best.cases
        remaining = [
            (taken, item)
            for taken, item in remaining
            if (taken & left).bit_count() >= _least(item.conditions) and taken & left
        ]
    if whole is not None and whole.cost + OVERHEAD <= Cover(tuple(found), left).cost + (1e9 if left else 0):
        return [whole]
    return _without_idle(found, failures)


def _without_idle(found: list[Conjunction], failures: int) -> list[Conjunction]:
    """Leave out what takes nothing that the others do not."""
    for item in sorted(found, key=lambda item: ((item.cases & failures).bit_count(), item.order)):
        others = [other for other in found if other is not item]
        union = 0
        for other in others:
            union |= other.cases
        if not item.cases & failures & ~union:
            found = others
    return found


def _least(conditions: Sequence[Condition]) -> int:
    return LEAST[min(len(conditions), MOST_CONDITIONS)]


class Search:
    """What can be said of some failures against some passing cases.

    Attributes:
        exact: the failures that a conjunction takes -> the simplest one that takes them and no passing case.
        loose: the one that fits best among those that take passing cases too, where it fits well enough.
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
        """Yield the conditions that tell anything apart, the simple ones first.

        Of those that take the same failures, one that takes no passing case less than a simpler one is worth nothing.
        """
        alike: dict[int, list[int]] = {}
        fitting: list[tuple[float, Condition]] = []
        for condition in conditions:
            taken, wrongly = condition.cases & self._failures, condition.cases & self._passes
            if not taken or (taken == self._failures and wrongly == self._passes):
                continue
            simpler = alike.setdefault(taken, [])
            if any(other & ~wrongly == 0 for other in simpler):
                continue
            simpler.append(wrongly)
            hits = taken.bit_count()
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
        taken = cases & self._failures
        if not taken or cases & self._passes or (taken != self._whole and taken.bit_count() < _least(conditions)):
            return
        known = self.exact.get(taken)
        cost = sum(condition.cost for condition in conditions)
        if known is None or cost <= known.cost:
            made = conjunction(*conditions)
            if known is None or made.order < known.order:
                self.exact[taken] = made

    def _pairs(self, pool: Sequence[Condition]) -> list[tuple[Condition, Condition]]:
        """Keep the pairs that take no passing case, and return the most promising of the others."""
        failures, passes = self._failures, self._passes
        rows = [(item, item.cases & failures, item.cases & passes) for item in pool]
        promising: list[tuple[float, int, int]] = []
        for i, (first, taken, wrongly) in enumerate(rows):
            for j in range(i + 1, len(rows)):
                second, also, also_wrongly = rows[j]
                both = taken & also
                if not both:
                    continue
                if wrongly & also_wrongly:
                    if both != taken or wrongly & also_wrongly != wrongly:
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
            taken, wrongly = both & failures, both & passes
            for third in pool:
                if not wrongly & third.cases and taken & third.cases:
                    self._keep(first, second, third)
            for listed in self._lists(taken, wrongly):
                self._keep(first, second, listed)

    def _fit(self, pool: Sequence[Condition], bases: Sequence[tuple[Condition, Condition]]) -> None:
        """Find the conjunction that fits best though passing cases match."""
        for conditions in itertools.chain(((item,) for item in pool), bases):
            made = conjunction(*conditions)
            fit = self._fitness(made.cases)
            key = (-round(fit - 0.02 * len(conditions), 6), made.cost, made.words)
            taken = made.cases & self._failures
            enough = taken == self._whole or taken.bit_count() >= _least(conditions)
            share = taken.bit_count() / (made.cases & (self._failures | self._passes)).bit_count()
            if fit >= LEAST_FIT and share >= LEAST_SHARE and enough and (self._best is None or key < self._best):
                self._best, self.loose = key, made

    @property
    def nearly(self) -> Conjunction | None:
        """The one that fits best, where it takes all failures and hardly a passing case."""
        if self.loose is None or self._failures & ~self.loose.cases or self._fitness(self.loose.cases) < NEARLY:
            return None
        return self.loose

    def _fitness(self, cases: int) -> float:
        return self._score(cases & self._failures, cases & self._passes)

    def _score(self, taken: int, wrongly: int) -> float:
        hits = taken.bit_count()
        return 2 * hits / (hits + wrongly.bit_count() + self._total)
