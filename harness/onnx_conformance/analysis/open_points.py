# SPDX-License-Identifier: Apache-2.0
"""The points that the specification leaves open or that changed its text, and the answers of runtimes to them."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import Verdict, parts
from onnx_conformance.declare.readings import READINGS
from onnx_conformance.generation import expansion, plans
from onnx_conformance.specification import registry, rewordings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.declare import Clause, Op
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Selection


class Kind(StrEnum):
    """The kinds of open points."""

    SILENCE = "silence"
    """No sentence decides some cases, so they are unspecified."""
    CONTRADICTION = "contradiction"
    """Two sentences, or a sentence and an official case or function body, decide differently."""
    READING = "reading"
    """A question of many operators that this project decided; see `readings`."""
    REWORDING = "rewording"
    """A release changed a sentence in versions that existed already."""


FUNCTION_BODY = "the function body of the operator"
"""The opponent of the text in a contradiction."""


@dataclass
class Votes:
    """The answers of one backend in the cases of an open point.

    Attributes:
        returns: the number of unspecified cases in which it returns values.
        refuses: the number of unspecified cases in which it does not, or reports missing support.
        agrees: the number of decided cases that pass.
        deviates: the number of decided cases that fail.
    """

    returns: int = 0
    refuses: int = 0
    agrees: int = 0
    deviates: int = 0


@dataclass
class CaseAnswers:
    """The answers of the backends in one case that the text leaves open.

    Attributes:
        case: the id of the case.
        returned: the backends that return values, by their values as text; the most common values first.
        refused: the backends that return none, or report missing support.
    """

    case: str
    returned: dict[str, list[str]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @property
    def voters(self) -> int:
        """The number of backends with an answer."""
        return sum(map(len, self.returned.values())) + len(self.refused)


@dataclass
class OpenPoint:
    """A point that the specification leaves open, or a sentence that it changed.

    Attributes:
        kind: see Kind.
        operator: such as ai.onnx/Split; empty for a reading that is not yet counted by operator.
        sentence: the sentence, in the wording of its newest version; of a reading, the question.
        note: the explanation of the operator file; of a reading, the answer and its reason. May be empty.
        see: links to discussions.
        against: of a contradiction, the other sentence, official cases, or FUNCTION_BODY; otherwise empty.
        reading: the number of a reading; otherwise empty.
        release: of a rewording, the release of onnx with the present wording; otherwise empty.
        later: the version that added the sentence, if the versions of the point have no such sentence; otherwise None.
        versions: the operator versions that it concerns.
        cases: the names of the declared cases, or globs over names; of readings and rewordings, those with results.
        votes: by backend, its answers; empty without results.
        agree: the number of unspecified cases for which several backends return values, and all of them the same ones.
        differ: the number of unspecified cases for which backends return different values.
        answers: the answers in each unspecified case with results, in the order of the results.
    """

    kind: Kind
    operator: str
    sentence: str
    note: str = ""
    see: tuple[str, ...] = ()
    against: str = ""
    reading: str = ""
    release: str = ""
    later: int | None = None
    versions: set[int] = field(default_factory=set)
    cases: list[str] = field(default_factory=list)
    votes: dict[str, Votes] = field(default_factory=dict)
    agree: int = 0
    differ: int = 0
    answers: list[CaseAnswers] = field(default_factory=list)

    @property
    def is_undecided(self) -> bool:
        """Whether its cases are unspecified."""
        return self.kind in {Kind.SILENCE, Kind.CONTRADICTION} and bool(self.cases) and self.against != FUNCTION_BODY


def of(ops: Iterable[Op], selection: Selection, kinds: Collection[Kind] = tuple(Kind)) -> list[OpenPoint]:
    """Return the open points of the selected operator versions, by operator; without a selection, the readings follow.

    The points of an operator have the order of Kind, and within a kind that of the declarations.
    """
    found: list[OpenPoint] = []
    for op in ops:
        versions = [item for item in registry.versions(op) if selection.takes_operator(str(item))]
        own = [*_undecided(op, versions), *_contradictions(op, versions), *_rewordings(op, versions)]
        found += sorted(own, key=lambda point: [*Kind].index(point.kind))
    found += () if selection.ops else _readings()
    return [point for point in found if point.kind in kinds]


def _undecided(op: Op, versions: Sequence[OperatorVersion]) -> Iterator[OpenPoint]:
    by_sentence: dict[str, OpenPoint] = {}
    for version in versions:
        for spec in plans.specs_of(op, version):
            if spec.unspecified is None or not expansion.fits(version, spec):
                continue
            clause = spec.unspecified.at(version.since)
            point = by_sentence.setdefault(clause.text, _of_clause(op, clause, clause.contradicts))
            if clause.since is not None and version.since < clause.since:
                point.later = clause.since
            point.versions.add(version.since)
            if spec.name not in point.cases:
                point.cases.append(spec.name)
    yield from by_sentence.values()


def _of_clause(op: Op, clause: Clause, against: str) -> OpenPoint:
    kind = Kind.CONTRADICTION if against else Kind.SILENCE
    return OpenPoint(kind, str(op), clause.text, clause.note, clause.see, against)


def _contradictions(op: Op, versions: Sequence[OperatorVersion]) -> Iterator[OpenPoint]:
    """Yield the points in which the text and an official case, or the function body, decide differently."""
    for clause in op.clauses:
        in_force = {version.since for version in versions if clause.in_force(version.since)}
        if clause.against and in_force:
            point = _of_clause(op, clause, f"official cases: {', '.join(clause.against)}")
            point.versions = in_force
            yield point
    by_reason: dict[str, list[str]] = {}
    for glob, reason in op.disputes.items():
        if not glob.startswith("test_"):
            by_reason.setdefault(reason, []).append(glob)
    for reason, globs in by_reason.items():
        since = {version.since for version in versions}
        if since:
            yield OpenPoint(Kind.CONTRADICTION, str(op), "", reason, against=FUNCTION_BODY, versions=since, cases=globs)


def _rewordings(op: Op, versions: Sequence[OperatorVersion]) -> Iterator[OpenPoint]:
    """Yield the quoted sentences that a release changed in versions that existed already."""
    known = rewordings.read()
    by_sentence: dict[tuple[str, str], OpenPoint] = {}
    for version in versions:
        releases = known.get(str(version), {})
        for clause in op.clauses:
            if clause.in_force(version.since) and (release := releases.get(clause.text)):
                point = by_sentence.setdefault(
                    (clause.text, release),
                    OpenPoint(Kind.REWORDING, str(op), clause.text, clause.note, clause.see, release=release),
                )
                point.versions.add(version.since)
    yield from by_sentence.values()


def _readings(operator: str = "") -> Iterator[OpenPoint]:
    for reading in READINGS.values():
        yield OpenPoint(
            Kind.READING, operator, reading.question, f"{reading.answer} {reading.reason}", reading.see,
            reading=reading.number,
        )  # fmt: skip


def count_votes(
    points: list[OpenPoint], results: Iterable[Result], selection: Selection, kinds: Collection[Kind] = tuple(Kind)
) -> None:
    """Add the answers of backends to points.

    Args:
        points: the points. Each reading becomes a point of each operator whose cases rest on it.
        results: the results of one or more runs.
        selection: the operator versions that are wanted.
        kinds: the kinds that are wanted.

    Raises:
        HarnessError: a results file cannot be read.
    """
    ballot = Ballot(points, selection, readings=Kind.READING in kinds)
    for _ in ballot.counted(results):
        pass
    ballot.finish()


class Ballot:
    """Counts results as votes on open points; see `count_votes`."""

    def __init__(self, points: list[OpenPoint], selection: Selection, *, readings: bool = True) -> None:
        """Group the points by the results that concern them."""
        self._points, self._selection = points, selection
        self._undecided = {
            (f"{point.operator}/{since}", name): point
            for point in points if point.is_undecided for since in point.versions for name in point.cases
        }  # fmt: skip
        self._bodies: dict[str, list[OpenPoint]] = {}
        self._reworded: dict[tuple[str, str], OpenPoint] = {}
        for point in points:
            for since in point.versions:
                if point.against == FUNCTION_BODY:
                    self._bodies.setdefault(f"{point.operator}/{since}", []).append(point)
                elif point.kind is Kind.REWORDING:
                    self._reworded[f"{point.operator}/{since}", point.sentence] = point
        self._general = {point.reading: point for point in _readings()} if readings else {}
        self._readings: dict[tuple[str, str], OpenPoint] = {}
        self._of_id: dict[str, CaseAnswers] = {}
        self._noted: set[tuple[int, str]] = set()
        """The points, by identity, with the names of the cases that they list."""

    def add(self, result: Result) -> None:
        """Count a result."""
        if result.verdict is Verdict.UNSPECIFIED:
            self._add_answer(result)
        elif result.verdict is Verdict.PASS or result.verdict.failed:
            for point in self._decided(result):
                votes = point.votes.setdefault(result.backend, Votes())
                if result.verdict is Verdict.PASS:
                    votes.agrees += 1
                else:
                    votes.deviates += 1

    def counted(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield results, each after it is counted."""
        for result in results:
            self.add(result)
            yield result

    def _add_answer(self, result: Result) -> None:
        point = self._undecided.get((result.operator, parts(result.case, result.operator)[0]))
        if point is None:
            return
        votes = point.votes.setdefault(result.backend, Votes())
        if (answers := self._of_id.get(result.case)) is None:
            answers = self._of_id[result.case] = CaseAnswers(result.case)
            point.answers.append(answers)
        if result.error or not result.actual:
            votes.refuses += 1
            answers.refused.append(result.backend)
        else:
            votes.returns += 1
            answers.returned.setdefault(result.actual, []).append(result.backend)

    def _decided(self, result: Result) -> Iterator[OpenPoint]:
        """Yield the points that a scored result concerns."""
        name = parts(result.case, result.operator)[0]
        for point in self._bodies.get(result.operator, ()):
            if any(fnmatch.fnmatchcase(name, glob) for glob in point.cases):
                yield point
        for sentence in result.clauses if result.reworded else ():
            if reworded := self._reworded.get((result.operator, sentence)):
                self._note_case(reworded, name)
                yield reworded
        operator, _, since = result.operator.rpartition("/")
        for number in result.readings:
            if number not in self._general or not self._selection.takes_operator(result.operator):
                continue
            if (operator, number) not in self._readings:
                general = self._general[number]
                self._readings[operator, number] = OpenPoint(
                    Kind.READING, operator, general.sentence, general.note, general.see, reading=number
                )
            point = self._readings[operator, number]
            point.versions |= {int(since)} if since.isdecimal() else set()
            self._note_case(point, name)
            yield point

    def _note_case(self, point: OpenPoint, name: str) -> None:
        if (id(point), name) not in self._noted:
            self._noted.add((id(point), name))
            point.cases.append(name)

    def finish(self) -> None:
        """Order the answers, and replace the readings by those of operators."""
        for point in self._points:
            for answers in point.answers:
                common = sorted(answers.returned.items(), key=lambda item: -len(item[1]))
                answers.returned = dict(common)
                if sum(map(len, answers.returned.values())) > 1:
                    point.agree += len(common) == 1
                    point.differ += len(common) > 1
        if self._readings:
            counted = {number for _, number in self._readings}
            self._points[:] = [point for point in self._points if point.reading not in counted]
            self._points += [self._readings[key] for key in sorted(self._readings)]
