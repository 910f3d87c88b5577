"""The core of an operator's cases: as few as reach whatever all of them reach.

Of each operator version that is every schema point, every sentence and every form that some case has. Of each operator
it is also every declared case, in whichever version, type and form: without, a cover notices far fewer faults than all
cases do (`nox -s mutants` measures it). The cover is greedy, so it is the same whenever the cases are.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from harness.case.case import EXPANDED
from harness.generation import coverage
from harness.spec import registry

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from harness.case.case import Case
    from harness.declare import Op


def choose(op: Op, cases: Iterable[Case]) -> set[str]:
    """Return the ids of the core of an operator's cases.

    Args:
        op: the operator.
        cases: all that are generated of it, in their order; of equal ones the first is taken.
    """
    versions = {str(version): version for version in registry.versions(op)}
    ids: list[str] = []
    reached: list[frozenset[Hashable]] = []
    for case in cases:
        points: Iterable[object] = ()
        if case.expected is not None and case.form != EXPANDED:
            points = coverage.reached(versions[case.operator], case)
        ids.append(case.id)
        of_version = [(case.operator, item) for item in (*points, *case.clauses, case.form)]
        reached.append(frozenset([*of_version, case.name]))
    return {ids[index] for index in cover(reached)}


def cover(sets: list[frozenset[Hashable]]) -> list[int]:
    """Return the places of sets that have all elements together, the one with the most new elements first."""
    left = set().union(*sets)
    heap = [(-len(items), place) for place, items in enumerate(sets)]
    heapq.heapify(heap)
    chosen = []
    while left:
        gain, place = heapq.heappop(heap)
        now = -len(sets[place] & left)
        if now != gain:  # What it would add has become less since it was put there.
            heapq.heappush(heap, (now, place))
            continue
        chosen.append(place)
        left -= sets[place]
    return chosen
