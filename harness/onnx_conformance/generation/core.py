# SPDX-License-Identifier: Apache-2.0
"""The core of an operator's cases: a small subset with the same coverage.

The core covers every sentence, and every outcome of each version. An operator has one or more meanings: the
oracles of its versions. For each meaning, the core covers every schema point and form that some scored case has; only
element types are covered once for all meanings, because each version repeats most types of the previous one. It also
covers every declared case that is scored, in one version and one type; a type may be that of an expansion or be
part of a name. Without these cases, it would detect far fewer faults than all cases do (`nox -s mutants` measures
this). Only their plain form counts, because in other forms a runtime may fail before it runs the operator.

Unspecified cases are covered one by one in the newest version, and in other meanings once for each set of sentences: a
changed condition in an oracle shows only in the cases at its limit. Cases that are derived from the
signature count by their schema points and sentences only. The core contains all sized cases of the generated suite, in
the plain form, and the cases of `kept`.

The newest version of a meaning represents it, because exporters write the newest version. Cases of older versions cover
only the rest: their outcomes, and types, sentences and forms that the newest version does not have. The cover is
greedy, so equal cases have an equal core.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.declare import Tag
from onnx_conformance.declare.op import DERIVED
from onnx_conformance.forms import table
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.generation import coverage, kept, used
from onnx_conformance.generation.cover import cover
from onnx_conformance.specification import registry
from onnx_conformance.specification.element_types import ELEMENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.declare.op import Oracle
    from onnx_conformance.specification.schema import OperatorVersion

MOST = 22_000
"""Maximum number of cases of the core: everyone runs them first."""
_TYPE = re.compile(rf"_(?:{'|'.join(row.name for row in ELEMENT_TYPES)})(?=_|$)")


def choose(op: Op, cases: Iterable[Case]) -> set[str]:
    """Return the ids of the core of an operator's cases.

    Args:
        op: the operator.
        cases: all its generated cases, in their order. The first of several equivalent cases is chosen.
    """
    of = meanings(op)
    newest = representatives(op)
    ids, sets, turns = [], [], []
    usage = used.Matches(op)
    for case in cases:
        ids.append(case.id)
        sets.append(reached(case, of))
        turns.append((case.operator not in newest) + (of[case.operator][0] is not last(of)))
        usage.add(case)
    for call, places in usage.places().items():
        for place in places:
            sets[place] |= {call}
    # Kept cases do not affect the choice, because each other case of the core may detect faults, too.
    return {ids[index] for index in cover(sets, turns)} | kept.ids(str(op)).intersection(ids)


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


def last(of: Mapping[str, tuple[OperatorVersion, Oracle | None]]) -> OperatorVersion | None:
    """Return the newest version that has an oracle, or None."""
    versions = [version for version, oracle in of.values() if oracle is not None]
    return max(versions, key=lambda version: version.since, default=None)


def reached(case: Case, of: Mapping[str, tuple[OperatorVersion, Oracle | None]]) -> frozenset[Hashable]:
    """Return the elements of the coverage that a case reaches.

    Args:
        case: a case of an operator.
        of: the meanings of its versions.
    """
    version, oracle = of[case.operator]
    meaning = oracle and oracle.since
    if Tag.SIZE in case.tags:  # Its values are ordinary ones, so small cases still test every type and attribute.
        return frozenset({case.id} if case.form == PLAIN else ())
    elements: set[Hashable] = {(case.operator, case.outcome), *case.clauses}
    if case.expected is not None and case.form != EXPANDED:
        points = coverage.reached(version, case)
        elements |= {point if point.kind == "type" else (meaning, point) for point in points}
    if case.form == PLAIN and not case.name.startswith(DERIVED):
        left_open = case.outcome is Outcome.UNSPECIFIED
        if left_open:
            elements.add((meaning, case.outcome, case.clauses))
        if not left_open or version is last(of):
            elements.add((meaning, in_any_type(case.name)))
    if case.outcome is Outcome.UNSPECIFIED:
        return frozenset(elements)
    form = table.find(case.form)
    elements.add(case.form if form is not None and form.one_meaning else (meaning, case.form))
    return frozenset(elements)


def in_any_type(name: str) -> str:
    """Return the name of a declared case without the element types in it."""
    return _TYPE.sub("", name)
