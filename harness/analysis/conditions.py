"""Conditions: what can be said of cases by one of their traits, and of which cases each holds.

The cases of an operator have places 0, 1, 2, ...; a set of them is an int with a bit for each. That makes the
conjunction of two conditions one machine operation for 64 cases.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.analysis.traits import FORM, VERSION, Kind, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.analysis.traits import Trait, Traits

WEIGHTS = {
    Subject.ARGUMENT: 1.0,
    Subject.VALUES: 1.1,
    Subject.HINT: 1.3,
    Subject.OUTPUT: 1.1,
    Subject.TYPE: 1.0,
    Subject.VERSION: 0.95,
    Subject.OPSET: 1.2,
    Subject.FORM: 1.05,
    Subject.TAG: 1.8,
    Subject.CLAUSE: 2.1,
    Subject.OUTCOME: 1.0,
}
"""How much a condition costs: what a kernel can see comes before how this project sorts its cases."""
SIGN, THRESHOLD, INTERVAL, ASIDE, ANOTHER, LISTED = 0.03, 0.05, 0.3, 0.15, 0.12, 1.0
"""What comes on top: for a sign, for another bound, for two, for a trait that is not the value itself, for each further
value, for a whole list."""
NOT_EXPANDED = 0.6
"""An operator's node and its function body are different programs: to set one apart is hardly a condition."""
MOST_INTERVALS = 10
"""Up to how many numbers of a trait every interval of them is tried."""
MOST_NAMED = 6
"""How many values one condition lists."""
ASIDES = ("rank of ", "length of ", "smallest of ", "largest of ", "number of ", "value of ")


@dataclass(frozen=True)
class Condition:
    """Something that holds of some cases.

    Attributes:
        words: for a person: `keepdims=0`, `version >= 13`.
        cases: of which it holds, a bit each.
        cost: how much it takes to say so; less is simpler.
        subject: where in a statement it stands.
    """

    words: str
    cases: int
    cost: float
    subject: Subject

    @property
    def order(self) -> tuple[float, int, str]:
        """Simple ones first, and no two alike."""
        return (self.cost, self.subject, self.words)


@dataclass(frozen=True)
class Choice:
    """A trait that has one of some values, and of which cases each holds."""

    trait: Trait
    values: Mapping[str, int]

    def condition(self, wanted: Iterable[str], unwanted: Iterable[str]) -> Condition | None:
        """Return the condition that takes the wanted values and none of the unwanted, or None where it is too long."""
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
        cost = WEIGHTS[self.trait.subject] + ANOTHER * (len(listed) - (listed is inside))
        return Condition(words, cases, cost, self.trait.subject)


Table = dict["Trait", dict[object, int]]
"""Of which cases each value of each trait holds."""


def table(cases: Sequence[tuple[Traits, ...]]) -> Table:
    """Return the table of some cases; the parts of one that is shared by several count for each of them."""
    holders: dict[int, int] = defaultdict(int)
    parts: dict[int, Traits] = {}
    for place, case in enumerate(cases):
        for part in case:
            holders[id(part)] |= 1 << place
            parts[id(part)] = part
    found: Table = {}
    for key, part in parts.items():
        for trait, value in part.items():
            row = found.setdefault(trait, {})
            row[value] = row.get(value, 0) | holders[key]
    return found


def choices(found: Table) -> list[Choice]:
    """Return the traits that have one of several values."""
    return [
        Choice(trait, {str(value): mask for value, mask in row.items()})
        for trait, row in sorted(found.items())
        if trait.kind is Kind.CHOICE and len(row) > 1
    ]


def conditions(found: Table) -> list[Condition]:
    """Return every condition on one trait, but for those that list several of its values."""
    made: list[Condition] = []
    for trait, row in sorted(found.items()):
        cost = WEIGHTS[trait.subject] + ASIDE * trait.name.startswith(ASIDES)
        if trait.kind is Kind.FACT:
            extra = THRESHOLD * trait.name.endswith((" set", " given", " omitted")) + LISTED * trait.name.endswith("]")
            made.append(Condition(trait.name, row[True], cost + extra, trait.subject))
        elif trait.kind is Kind.CHOICE:
            made += [
                Condition(f"{trait.name}{trait.equals}{value}", mask, cost, trait.subject)
                for value, mask in row.items()
            ]
        else:
            made += _of_numbers(
                trait, {value: mask for value, mask in row.items() if isinstance(value, int | float)}, cost
            )
    expanded = found.get(FORM, {})
    if "@expanded" in expanded and len(expanded) > 1:
        others = sum(mask for form, mask in expanded.items() if form != "@expanded")
        made.append(Condition("form is not @expanded", others, NOT_EXPANDED, Subject.FORM))
    return sorted(made, key=lambda condition: condition.order)


def _of_numbers(trait: Trait, row: Mapping[float, int], cost: float) -> Iterator[Condition]:
    """Yield equalities, bounds and intervals of the numbers that a trait has."""
    numbers = sorted(row)
    if not trait.name.startswith(("smallest of ", "largest of ")):
        for number in numbers:
            yield Condition(_equal(trait, number), row[number], cost, trait.subject)
    up_to = 0
    for index, (below, above) in enumerate(itertools.pairwise(numbers)):
        up_to |= row[below]
        beyond = sum(row[number] for number in numbers[index + 1 :])
        low, high = _bounds(trait, below, above)
        bound = cost + (SIGN if below < 0 <= above else THRESHOLD)
        yield Condition(low, up_to, bound, trait.subject)
        yield Condition(high, beyond, bound, trait.subject)
    if trait.name.startswith(("smallest of ", "largest of ", "value of ")) or len(numbers) > MOST_INTERVALS:
        return
    for first in range(1, len(numbers) - 2):
        for last in range(first + 1, len(numbers) - 1):
            inside = sum(row[number] for number in numbers[first : last + 1])
            end = f"< {_written(numbers[last + 1])}" if trait == VERSION else f"<= {_written(numbers[last])}"
            words = f"{_written(numbers[first])} <= {trait.name} {end}"
            yield Condition(words, inside, cost + INTERVAL, trait.subject)


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
    """Return the words for numbers up to `below` and for those from `above`, between which there is none."""
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
