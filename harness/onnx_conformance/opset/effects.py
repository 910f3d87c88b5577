# SPDX-License-Identifier: Apache-2.0
"""The effects of a changed operator version on the cases: those that still apply, outdated ones, and missing ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.generation import coverage, expansion, plans, provisional
from onnx_conformance.specification import registry, schema
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.declare import Clause, Op
    from onnx_conformance.opset.changes import Change
    from onnx_conformance.specification.schema import OperatorVersion


@dataclass(frozen=True)
class Effects:
    """The effects of a change on the cases of this project.

    Attributes:
        declared: whether the operator file declares the version.
        fallen: clauses of the operator file that hold in the version before and do not stand in this one's text.
        clauses: how many hold in the version before.
        holding: cases of the version before, without forms, that hold on unchanged.
        former: how many it has.
        cases: how many declared and derived cases this version has, without forms; 0 where it is not declared.
        points: schema points that no case reaches.
        of_points: how many it has.
        sentences: binding sentences that no case cites.
        stale: clauses that the operator file has in this version, and that do not stand in its text.
        official: the official cases of the version.
    """

    declared: bool
    fallen: tuple[str, ...]
    clauses: int
    holding: int
    former: int
    cases: int
    points: tuple[str, ...]
    of_points: int
    sentences: tuple[str, ...]
    stale: tuple[str, ...]
    official: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every schema point and binding sentence has a case, and every clause in force is in the text."""
        return self.declared and not self.points and not self.sentences and not self.stale


def official_cases() -> Mapping[str, Sequence[str]]:
    """Return the names of the official cases of the installed onnx by operator version; takes seconds."""
    found: dict[str, list[str]] = {}
    for case in Official().cases(Selection()):
        found.setdefault(case.operator, []).append(case.id.removeprefix("official/"))
    return found


def of(change: Change, official: Mapping[str, Sequence[str]]) -> Effects:
    """Return the effects of a change on the declarations here.

    Args:
        change: to a version that the installed onnx has.
        official: as `official_cases` returns them.
    """
    domain, name = change.after.operator.split("/")
    op = registry.load().find(domain, name)
    version = next(item for item in schema.versions(domain, name) if item.since == change.after.since)
    declared = op is not None and version.since in op.versions
    measured = _coverage(op, version)
    former = _former(op, change)
    of_former = _in_force(op, former)
    fallen = tuple(item.text for item in of_former if item.text not in version.text)
    holding, cases_before = _holding(op, version, former) if op and former else (0, 0)
    return Effects(
        declared=declared,
        fallen=fallen,
        clauses=len(of_former),
        holding=holding,
        former=cases_before,
        cases=sum(1 for _ in expansion.stems(version, plans.specs_of(op, version))) if op and declared else 0,
        points=tuple(map(str, measured.missing)),
        of_points=measured.points,
        sentences=measured.uncited[: measured.binding],
        stale=tuple(item.text for item in _in_force(op, version.since) if item.text not in version.text),
        official=tuple(official.get(str(version), ())),
    )


def _in_force(op: Op | None, since: int) -> list[Clause]:
    """Return the clauses of a declared version."""
    return [item for item in op.clauses if item.in_force(since)] if op and since in op.versions else []


def _coverage(op: Op | None, version: OperatorVersion) -> coverage.Coverage:
    """Return the coverage of a version; of one that no file declares nothing is reached."""
    if op is not None and version.since in op.versions:
        return coverage.of_version(op, version, plans.cases(op, (version.since,)))
    every = coverage.undeclared(f"{version.domain}/{version.name}", op)
    return next(item for item in every if item.version.since == version.since)


def _former(op: Op | None, change: Change) -> int:
    """Return the declared version whose cases may hold on: the one before, or the same where it was reworded."""
    if op is None or change.before is None:
        return 0
    return max((since for since in op.versions if since <= change.before.since), default=0)


def _holding(op: Op, version: OperatorVersion, former: int) -> tuple[int, int]:
    """Return how many cases of a former version hold on in another one, and how many there are."""
    before = next((item for item in registry.versions(op) if item.since == former), None)
    if before is None:  # The installed onnx lacks it.
        return 0, 0
    specs = [spec for spec in plans.specs_of(op, before) if not spec.sized]  # These are only for the newest version.
    of_former = sum(1 for spec in specs for _ in expansion.bindings(before, spec))
    undeclared = provisional.Undeclared(op, provisional.with_meaning(version, former), before)
    return sum(1 for _ in provisional.holding(undeclared)), of_former
