# SPDX-License-Identifier: Apache-2.0
"""Conditions on one trait of a case, and the cases that meet each.

The cases of an operator are numbered from 0; a set of cases is an int with a bit for each, so that the conjunction of
two conditions is one machine operation for 64 cases.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.analysis.traits import FORM, VERSION, Topic, TraitKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.traits import Trait, Traits

WEIGHTS = {
    Topic.ARGUMENT: 1.0,
    Topic.VALUES: 1.1,
    Topic.HINT: 1.3,
    Topic.OUTPUT: 1.1,
    Topic.TYPE: 1.0,
    Topic.VERSION: 0.95,
    Topic.OPSET: 1.2,
    Topic.FORM: 1.05,
    Topic.TAG: 1.8,
    Topic.CLAUSE: 2.1,
    Topic.OUTCOME: 1.0,
}
"""The cost of a condition: properties that a kernel can see are cheaper than the classification of this project."""
SIGN, THRESHOLD, INTERVAL, ASIDE, ANOTHER, LISTED = 0.03, 0.05, 0.3, 0.15, 0.12, 1.0
"""Additional costs: for a sign, for another bound, for two bounds, for a trait that is not the value itself, for each
further value, for a whole list."""
NOT_EXPANDED = 0.6
"""The cost of excluding the expanded form: a node and its function body are different programs."""
MOST_INTERVALS = 10
"""All intervals are tried for traits with at most this many numbers."""
MOST_NAMED = 6
"""Maximum number of values that one condition lists."""
ASIDES = ("rank of ", "length of ", "smallest of ", "largest of ", "number of ", "value of ")


@dataclass(frozen=True)
class Condition:
    """A condition that some cases meet.

    Attributes:
        words: the text for people: `keepdims=0`, `version >= 13`.
        cases: the cases that meet it, a bit each.
        cost: the complexity of the condition; less is simpler.
        topic: determines its position in a statement.
    """

    words: str
    cases: int
    cost: float
    topic: Topic

    @property
    def order(self) -> tuple[float, int, str]:
        """Simple ones first, without duplicates."""
        return (self.cost, self.topic, self.words)


@dataclass(frozen=True)
class Choice:
    """A trait with one of several values, and the cases that have each value."""

    trait: Trait
    values: Mapping[str, int]

    def condition(self, wanted: Iterable[str], unwanted: Iterable[str]) -> Condition | None:
        """Return the condition that matches the wanted values and none of the unwanted ones; None if it is too long."""
        inside, outside = sorted(wanted), sorted(unwanted)
        name, equals = self.trait.name, self.trait.equals
        if len(inside) <= max(len(outside), 1):
            words = f"{name} is one of {', '.join(inside)}" if len(inside) > 1 else f"{name}{equals}{inside[0]}"
            listed, cases = inside, sum(self.values[value] for value in inside)
        else:
            words = f"{name} is {'none of' if len(outside) > 1 else 'not'} {', '.join(outside)}"
            listed, cases = outside, sum(mask for value, mask in self.values.items() if value not in set(outside))
        if len(listed) > MOST_NAMED:
            return None
        cost = WEIGHTS[self.trait.topic] + ANOTHER * (len(listed) - (listed is inside))
        return Condition(words, cases, cost, self.trait.topic)


Table = dict["Trait", dict[object, int]]
"""For each trait and value the cases that have it."""


def table(cases: Sequence[tuple[Traits, ...]]) -> Table:
    """Return the table of some cases; the parts of one that is shared by several count for each of them."""
    holders: dict[int, int] = defaultdict(int)
    parts: dict[int, Traits] = {}
    for place, case in enumerate(cases):
        for part in case:
            holders[id(part)] |= 1 << place
            parts[id(part)] = part
    rows: Table = {}
    for key, part in parts.items():
        for trait, value in part.items():
            row = rows.setdefault(trait, {})
            row[value] = row.get(value, 0) | holders[key]
    return rows


def choices(rows: Table) -> list[Choice]:
    """Return the traits that have one of several values."""
    return [
        Choice(trait, {str(value): mask for value, mask in row.items()})
        for trait, row in sorted(rows.items())
        if trait.kind is TraitKind.CHOICE and len(row) > 1
    ]


def conditions(rows: Table) -> list[Condition]:
    """Return all conditions on one trait, except those that list several values."""
    made: list[Condition] = []
    for trait, row in sorted(rows.items()):
        cost = WEIGHTS[trait.topic] + ASIDE * trait.name.startswith(ASIDES)
        if trait.kind is TraitKind.FACT:
            extra = THRESHOLD * trait.name.endswith((" set", " given", " omitted")) + LISTED * trait.name.endswith("]")
            made.append(Condition(trait.name, row[True], cost + extra, trait.topic))
        elif trait.kind is TraitKind.CHOICE:
            made += [
                Condition(f"{trait.name}{trait.equals}{value}", mask, cost, trait.topic) for value, mask in row.items()
            ]
        else:
            made += _of_numbers(
                trait, {value: mask for value, mask in row.items() if isinstance(value, int | float)}, cost
            )
    expanded = rows.get(FORM, {})
    if "@expanded" in expanded and len(expanded) > 1:
        others = sum(mask for form, mask in expanded.items() if form != "@expanded")
        made.append(Condition("form is not @expanded", others, NOT_EXPANDED, Topic.FORM))
    return sorted(made, key=lambda condition: condition.order)


def _of_numbers(trait: Trait, row: Mapping[float, int], cost: float) -> Iterator[Condition]:
    """Yield equalities, bounds and intervals of the numbers that a trait has."""
    numbers = sorted(row)
    if not trait.name.startswith(("smallest of ", "largest of ")):
        for number in numbers:
            yield Condition(_equal(trait, number), row[number], cost, trait.topic)
    up_to = 0
    for index, (below, above) in enumerate(itertools.pairwise(numbers)):
        up_to |= row[below]
        beyond = sum(row[number] for number in numbers[index + 1 :])
        low, high = _bounds(trait, below, above)
        bound = cost + (SIGN if below < 0 <= above else THRESHOLD)
        yield Condition(low, up_to, bound, trait.topic)
        yield Condition(high, beyond, bound, trait.topic)
    if trait.name.startswith(("smallest of ", "largest of ", "value of ")) or len(numbers) > MOST_INTERVALS:
        return
    for first in range(1, len(numbers) - 2):
        for last in range(first + 1, len(numbers) - 1):
            inside = sum(row[number] for number in numbers[first : last + 1])
            end = f"< {_written(numbers[last + 1])}" if trait == VERSION else f"<= {_written(numbers[last])}"
            words = f"{_written(numbers[first])} <= {trait.name} {end}"
            yield Condition(words, inside, cost + INTERVAL, trait.topic)


def _written(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def _equal(trait: Trait, number: float) -> str:
    kind, _, name = trait.name.partition(" of ")
    if number == 0 and kind == "rank":
        return f"{name} is a scalar"
    if number == 0 and kind == "length":
        return f"{name} is empty"
    if kind == "value":
        return f"the value of {name} is {_written(number)}"
    return f"{trait.name}{trait.equals}{_written(number)}"


def _bounds(trait: Trait, below: float, above: float) -> tuple[str, str]:
    """Return the words for numbers up to `below` and for numbers from `above`; there are no numbers in between."""
    kind, _, name = trait.name.partition(" of ")
    signs = below < 0 <= above
    if kind in {"smallest", "largest"}:
        few, many = (f"a value of {name}", f"every value of {name}")
        low, high = (few, many) if kind == "smallest" else (many, few)
    else:
        low = high = f"the {trait.name}" if kind == "value" else trait.name
    if signs:
        return f"{low} is negative", f"{high} is not negative" if low == high else f"{high} is at least 0"
    if trait == VERSION:
        return f"version < {_written(above)}", f"version >= {_written(above)}"
    return f"{low} <= {_written(below)}", f"{high} >= {_written(above)}"
