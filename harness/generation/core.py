"""The core of an operator's cases: a small subset with the same coverage as all of them.

For each operator version, it covers every schema point, sentence and form that some case has; a form that is about what
surrounds the operator, for each operator. For each operator, it also covers every declared case, in any one version,
type and form: otherwise it would notice far fewer faults than all cases do (`nox -s mutants` measures it). The cover is
greedy, so equal cases have an equal core.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from harness.case.case import EXPANDED, EXTERNAL_DATA, IF_BRANCH, LOCAL_FUNCTION, TWICE, TYPED
from harness.generation import coverage
from harness.spec import registry

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from harness.case.case import Case
    from harness.declare import Op

SURROUNDING = frozenset({IF_BRANCH, LOCAL_FUNCTION, TWICE, TYPED, EXTERNAL_DATA})
"""Forms about the graph, the file or the session around the operator: its version makes no difference there."""


def choose(op: Op, cases: Iterable[Case]) -> set[str]:
    """Return the ids of the core of an operator's cases.

    Args:
        op: the operator.
        cases: all its generated cases, in their order; of equal ones the first is chosen.
    """
    versions = {str(version): version for version in registry.versions(op)}
    ids: list[str] = []
    reached: list[frozenset[Hashable]] = []
    for case in cases:
        points: Iterable[object] = ()
        if case.expected is not None and case.form != EXPANDED:
            points = coverage.reached(versions[case.operator], case)
        ids.append(case.id)
        form = case.form if case.form in SURROUNDING else (case.operator, case.form)
        of_version = [(case.operator, item) for item in (*points, *case.clauses)]
        reached.append(frozenset([*of_version, form, case.name]))
    return {ids[index] for index in cover(reached)}


def cover(sets: list[frozenset[Hashable]]) -> list[int]:
    """Return the indices of sets that together have all elements, the one with the most new elements first."""
    left = set().union(*sets)
    heap = [(-len(items), place) for place, items in enumerate(sets)]
    heapq.heapify(heap)
    chosen = []
    while left:
        gain, place = heapq.heappop(heap)
        now = -len(sets[place] & left)
        if now != gain:  # It would add fewer elements than when it was put there.
            heapq.heappush(heap, (now, place))
            continue
        chosen.append(place)
        left -= sets[place]
    return chosen
