"""The core of an operator's cases: a small subset with the same coverage.

The core covers every sentence, and every outcome of each version. An operator has one or more meanings: the oracles of
its versions. For each meaning, the core covers every schema point and form that some case has. It also covers every
declared case that is scored, in one version and one type; a type may come from an expansion or be part of a name.
Without these cases, it would detect far fewer faults than all cases do (`nox -s mutants` measures this). Only their
plain form counts, because in other forms a runtime may fail before it runs the operator.

The newest version of a meaning represents it, because exporters write the newest version. Cases of older versions cover
only the rest: their outcomes, and types, sentences and forms that the newest version does not have. The cover is
greedy, so equal cases have an equal core.
"""

from __future__ import annotations

import heapq
import re
from typing import TYPE_CHECKING

from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.forms import table
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.generation import coverage, used
from onnx_conformance.specification import registry
from onnx_conformance.specification.element_types import ELEMENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.declare.op import Oracle
    from onnx_conformance.specification.schema import OperatorVersion

_TYPE = re.compile(rf"_(?:{'|'.join(row.name for row in ELEMENT_TYPES)})(?=_|$)")


def choose(op: Op, cases: Iterable[Case]) -> set[str]:
    """Return the ids of the core of an operator's cases.

    Args:
        op: the operator.
        cases: all its generated cases, in their order. The first of several equivalent cases is chosen.
    """
    of = meanings(op)
    newest = representatives(op)
    ids, sets, preferred = [], [], []
    usage = used.Matches(op)
    for case in cases:
        ids.append(case.id)
        sets.append(reached(case, of))
        preferred.append(case.operator in newest)
        usage.add(case)
    for call, places in usage.places().items():
        for place in places:
            sets[place] |= {call}
    return {ids[index] for index in cover(sets, preferred)}


def representatives(op: Op) -> frozenset[str]:
    """Return the names of the operator versions that represent a meaning: the newest version with each oracle."""
    newest = {op.oracle_for(item.since): str(item) for item in registry.versions(op) if not item.deprecated}
    return frozenset(newest.values())


def meanings(op: Op) -> dict[str, tuple[OperatorVersion, Oracle | None]]:
    """Return each version of an operator, by name, with its oracle; None if it is deprecated and has no oracle."""
    return {
        str(version): (version, None if version.deprecated else op.oracle_for(version.since))
        for version in registry.versions(op)
    }


def reached(case: Case, of: Mapping[str, tuple[OperatorVersion, Oracle | None]]) -> frozenset[Hashable]:
    """Return the elements of the coverage that a case reaches.

    Args:
        case: a case of an operator.
        of: the meanings of its versions.
    """
    version, oracle = of[case.operator]
    meaning = oracle and oracle.since
    elements: set[Hashable] = {(case.operator, case.outcome), *case.clauses}
    if case.expected is not None and case.form != EXPANDED:
        elements |= {(meaning, point) for point in coverage.reached(version, case)}
    if case.outcome is not Outcome.UNSPECIFIED and case.form == PLAIN:
        elements.add((meaning, in_any_type(case.name)))
    form = table.find(case.form)
    elements.add(case.form if form is not None and form.one_meaning else (meaning, case.form))
    return frozenset(elements)


def in_any_type(name: str) -> str:
    """Return the name of a declared case without the element types in it."""
    return _TYPE.sub("", name)


def cover(sets: Sequence[frozenset[Hashable]], preferred: Sequence[bool]) -> list[int]:
    """Return the indices of sets that together contain all elements. Each set adds the most new elements.

    Args:
        sets: the sets.
        preferred: for each set, whether it precedes the others, however many elements these would add.
    """
    left = set().union(*sets)
    heap = [(not first, -len(items), place) for place, (items, first) in enumerate(zip(sets, preferred, strict=True))]
    heapq.heapify(heap)
    chosen = []
    while left:
        later, gain, place = heapq.heappop(heap)
        now = -len(sets[place] & left)
        if now != gain:  # It would add fewer elements than at the time of its insertion.
            heapq.heappush(heap, (later, now, place))
        elif now:
            chosen.append(place)
            left -= sets[place]
    return chosen
