# SPDX-License-Identifier: Apache-2.0
"""The sentences of the specification that leave declared cases open, and the answers of runtimes in these cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import Verdict, parts
from onnx_conformance.generation import expansion, plans
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.declare import Op
    from onnx_conformance.results.stream import Run
    from onnx_conformance.suites.selection import Selection


@dataclass
class Votes:
    """The answers of one backend in the cases of a silence.

    Attributes:
        returns: the number of cases in which it returns values.
        refuses: the number of cases in which it does not, or reports missing support.
    """

    returns: int = 0
    refuses: int = 0


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
class Silence:
    """A sentence that does not decide some cases.

    Attributes:
        operator: such as ai.onnx/Split.
        sentence: the sentence, in the wording of its newest version.
        note: the explanation of the operator file; may be empty.
        see: links to discussions.
        versions: the operator versions in which it leaves cases open.
        cases: the names of the declared cases.
        votes: by backend, its answers in them; empty without results.
        agree: the number of cases for which several backends return values, and all of them the same ones.
        differ: the number of cases for which backends return different values.
        answers: the answers of the backends in each case with results, in the order of the results.
    """

    operator: str
    sentence: str
    note: str
    see: tuple[str, ...]
    versions: set[int] = field(default_factory=set)
    cases: list[str] = field(default_factory=list)
    votes: dict[str, Votes] = field(default_factory=dict)
    agree: int = 0
    differ: int = 0
    answers: list[CaseAnswers] = field(default_factory=list)


def of(ops: Iterable[Op], selection: Selection) -> list[Silence]:
    """Return the silences of the selected operator versions, by operator and in the order of the declarations."""
    found: list[Silence] = []
    for op in ops:
        found += _of_operator(op, selection)
    return found


def _of_operator(op: Op, selection: Selection) -> Iterator[Silence]:
    by_sentence: dict[str, Silence] = {}
    versions = [item for item in registry.versions(op) if selection.takes_operator(str(item))]
    for version in versions:
        for spec in plans.specs_of(op, version):
            if spec.unspecified is None or not expansion.fits(version, spec):
                continue
            clause = spec.unspecified.at(version.since)
            silence = by_sentence.setdefault(clause.text, Silence(str(op), clause.text, clause.note, clause.see))
            silence.versions.add(version.since)
            if spec.name not in silence.cases:
                silence.cases.append(spec.name)
    yield from by_sentence.values()


def count_votes(silences: Sequence[Silence], runs: Iterable[Run]) -> None:
    """Add the answers of the backends of some runs in the cases of silences.

    Raises:
        HarnessError: a results file cannot be read.
    """
    of_case = {
        (f"{item.operator}/{since}", name): item for item in silences for since in item.versions for name in item.cases
    }
    of_id: dict[str, CaseAnswers] = {}
    for run in runs:
        for result in run.results():
            if result.verdict is not Verdict.UNSPECIFIED:
                continue
            silence = of_case.get((result.operator, parts(result.case, result.operator)[0]))
            if silence is None:
                continue
            votes = silence.votes.setdefault(result.backend, Votes())
            if (answers := of_id.get(result.case)) is None:
                answers = of_id[result.case] = CaseAnswers(result.case)
                silence.answers.append(answers)
            if result.error or not result.actual:
                votes.refuses += 1
                answers.refused.append(result.backend)
            else:
                votes.returns += 1
                answers.returned.setdefault(result.actual, []).append(result.backend)
    for silence in silences:
        for answers in silence.answers:
            common = sorted(answers.returned.items(), key=lambda item: -len(item[1]))
            answers.returned = dict(common)
            if sum(map(len, answers.returned.values())) > 1:
                silence.agree += len(common) == 1
                silence.differ += len(common) > 1
