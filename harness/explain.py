"""What the failures of an operator share that its passes do not: from results and traits to statements."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness import covering
from harness.conditions import choices, conditions, table
from harness.report.summary import signature
from harness.statement import Statement
from harness.suite import Selection
from harness.traits import ALLOWED, FORBIDDEN, TYPE, Reader, of_result, split_operator
from harness.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.conditions import Choice, Condition
    from harness.covering import Conjunction, Cover
    from harness.results import Run
    from harness.suite import Suite
    from harness.traits import Traits
    from harness.verdict import Result

MOST_CAUSES = 12
"""Failures of one verdict with more kinds of messages than this are looked at together only."""
OUTCOMES = (ALLOWED, FORBIDDEN)


@dataclass(frozen=True)
class Finding:
    """A statement, with what shows it.

    Attributes:
        statement: what failures share.
        clause: the sentence that the most of its cases cite; empty where they cite none.
        example: the result of its first case.
    """

    statement: Statement
    clause: str
    example: Result


@dataclass(frozen=True)
class Explained:
    """The failures of one operator on one backend with one verdict.

    Attributes:
        backend, operator, verdict: as in Statement.
        failing: how many failures there are.
        findings: what they share, the largest first.
        left: results of failures that no statement takes.
    """

    backend: str
    operator: str
    verdict: Verdict
    failing: int
    findings: tuple[Finding, ...]
    left: tuple[Result, ...]


@dataclass(frozen=True)
class Explanation:
    """What was found of a run.

    Attributes:
        found: by backend, operator and verdict.
        failures: how many failures the chosen part of the run has.
        note: why less is known of cases than could be; empty where all is.
    """

    found: tuple[Explained, ...]
    failures: int
    note: str

    @property
    def statements(self) -> list[Statement]:
        """The statements alone, for reports."""
        return [finding.statement for explained in self.found for finding in explained.findings]


def statements(run: Run, source: Suite | None, selection: Selection | None = None) -> list[Statement]:
    """Return what failures of a run share; see `explain`."""
    return explain(run, source, selection).statements


@dataclass
class _Operator:
    """What a run holds of an operator.

    Attributes:
        cases: id -> what its result says, of cases that passed or failed.
        verdicts: backend -> case -> verdict, of those and of cases that came out otherwise.
        failures: backend -> failures.
    """

    cases: dict[str, Traits] = field(default_factory=dict)
    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    failures: dict[str, list[Result]] = field(default_factory=dict)


def explain(
    run: Run, source: Suite | None, selection: Selection | None = None, backends: Sequence[str] = ()
) -> Explanation:
    """Return what the failures of a run share that its passes do not.

    Args:
        run: the results; what there is of a run that was cut off.
        source: the suite that they are of, None where it is not to be had; the models of another version of it are
            not looked at.
        selection: only these operators.
        backends: only these; empty: all.
    """
    chosen = selection or Selection()
    operators = _collected(run, chosen, set(backends))
    failures = sum(len(found) for operator in operators.values() for found in operator.failures.values())
    failing = {name: operator for name, operator in operators.items() if operator.failures}
    known, note = _known(run, source, failing)
    found = [
        explained
        for name, operator in sorted(failing.items())
        for explained in _explained(name, operator, known.get(name, {}))
    ]
    return Explanation(tuple(sorted(found, key=lambda item: (item.backend, item.operator))), failures, note)


def _collected(run: Run, chosen: Selection, backends: set[str]) -> dict[str, _Operator]:
    operators: dict[str, _Operator] = {}
    said: dict[tuple[object, ...], Traits] = {}
    takes: dict[str, bool] = {}
    for result in run.results():
        if result.operator not in takes:
            takes[result.operator] = chosen.takes_operator(result.operator)
        attempted = result.verdict.failed or result.verdict is Verdict.PASS
        if not attempted or not takes[result.operator] or (backends and result.backend not in backends):
            continue
        operator = operators.setdefault(split_operator(result.operator)[0], _Operator())
        operator.verdicts.setdefault(result.backend, {})[result.case] = result.verdict
        if result.case not in operator.cases:
            traits = of_result(result)
            operator.cases[result.case] = said.setdefault(tuple(traits.items()), traits)
        if result.verdict.failed:
            operator.failures.setdefault(result.backend, []).append(result)
    return operators


def _known(
    run: Run, source: Suite | None, failing: Mapping[str, _Operator]
) -> tuple[dict[str, dict[str, tuple[Traits, Traits]]], str]:
    """Return what the models of cases say, by operator and case, and why some say nothing."""
    suite = run.header["suite"]
    only = "only what the results say of cases is used: version, type, form, tags and sentences"
    if source is None or source.name != suite.get("name") or source.digest() != suite.get("digest"):
        return {}, f"suite {suite.get('name')} is not the one that was run ({suite.get('digest')}); {only}"
    known: dict[str, dict[str, tuple[Traits, Traits]]] = {}
    wanted = Selection(ops=tuple(f"{name}/*" if "/" in name else name for name in failing))
    reader = Reader()
    for case in source.cases(wanted) if failing else ():
        name = split_operator(case.operator)[0]
        traits = reader.of_case(case)  # Whatever was run of it: the forms beside share what it says.
        if name in failing and case.id in failing[name].cases:
            known.setdefault(name, {})[case.id] = traits
    missing = sum(len(operator.cases.keys() - known.get(name, {}).keys()) for name, operator in failing.items())
    return known, f"of {missing} cases that suite {source.name} does not have, {only}" if missing else ""


def _explained(name: str, operator: _Operator, known: Mapping[str, tuple[Traits, Traits]]) -> Iterator[Explained]:
    ids = sorted(operator.cases)
    places = {case: place for place, case in enumerate(ids)}
    rest: dict[int, Traits] = {}
    made = table([_parts(operator.cases[case], known.get(case), rest) for case in ids])
    sayable = _Sayable(conditions(made), choices(made), *(made.get(fact, {}).get(True, 0) for fact in OUTCOMES))
    for backend, failures in operator.failures.items():
        verdicts = operator.verdicts[backend]
        passes = _bits(places[case] for case, verdict in verdicts.items() if verdict is Verdict.PASS)
        every = _bits(places[case] for case in verdicts)
        for verdict in sorted({result.verdict for result in failures}, key=list(Verdict).index):
            mine = sorted((r for r in failures if r.verdict is verdict), key=lambda result: places[result.case])
            failed = _bits(places[result.case] for result in mine)
            said = sayable.of([(_cause(r), 1 << places[r.case]) for r in mine], passes or every & ~failed)
            findings, left = [], failed
            for words, cases in said:
                taken = [result for result in mine if cases >> places[result.case] & 1]
                statement = Statement(
                    backend, name, verdict, words, len(taken), len(mine), (cases & passes).bit_count(),
                    tuple(result.case for result in taken),
                )  # fmt: skip
                findings.append(Finding(statement, _cited(taken), taken[0]))
                left &= ~cases
            unsaid = tuple(result for result in mine if left >> places[result.case] & 1)
            yield Explained(backend, name, verdict, len(mine), tuple(findings), unsaid)


def _parts(said: Traits, known: tuple[Traits, Traits] | None, rest: dict[int, Traits]) -> tuple[Traits, ...]:
    """Return the traits of a case; where its model is known, that tells its type better than its id."""
    if known is None:
        return (said,)
    if TYPE in known[0] and TYPE in said:
        said = rest.setdefault(id(said), {trait: value for trait, value in said.items() if trait != TYPE})
    return (said, *known)


def _bits(places: Iterable[int]) -> int:
    found = bytearray()
    for place in places:
        if place >> 3 >= len(found):
            found.extend(bytes((place >> 3) + 1 - len(found)))
        found[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(found, "little")


def _cause(result: Result) -> tuple[str, ...]:
    """Return what tells causes apart that have one verdict, by what the runtime said."""
    if result.verdict is Verdict.REFUSED:
        return signature(result)
    return (result.signal or result.message,) if result.verdict is Verdict.CRASH else ()


def _cited(results: Sequence[Result]) -> str:
    """Return the sentence that the most of some results cite, the first of those."""
    cited = Counter(clause for result in results for clause in result.clauses)
    return max(cited, key=lambda clause: cited[clause], default="")


@dataclass(frozen=True)
class _Sayable:
    """Everything that can be said of the cases of an operator.

    Attributes:
        conditions, choices: see `harness.conditions`.
        allowed, forbidden: of which cases the text allows, and forbids, what they do.
    """

    conditions: Sequence[Condition]
    choices: Sequence[Choice]
    allowed: int
    forbidden: int

    def of(self, failures: Sequence[tuple[tuple[str, ...], int]], against: int) -> list[tuple[tuple[str, ...], int]]:
        """Return what tells failures from other cases: words, and of which cases they hold; the most telling first.

        Args:
            failures: the cause of each, and its bit.
            against: the other cases; none: nothing need be said.
        """
        failed = 0
        by_cause: dict[tuple[str, ...], int] = {}
        for cause, bit in failures:
            failed |= bit
            by_cause[cause] = by_cause.get(cause, 0) | bit
        if not against:
            return [((), failed)]
        # What the text allows is not compared with what it forbids, unless failures of both are of one kind.
        kind, words = -1, ""
        if not failed & self.forbidden:
            kind, words = self.allowed, ALLOWED.name
        elif not failed & self.allowed:
            kind, words = self.forbidden, FORBIDDEN.name
        if not against & kind:
            return [((words,), kind)]
        found = self._cover(failed, against & kind, by_cause)
        said: dict[tuple[str, ...], int] = {}
        for item in found:
            # Said only where it must be: most conditions hold of nothing else anyway.
            aside = item.cases & against & ~kind
            said[(*item.words, words) if aside else item.words] = item.cases & kind if aside else item.cases
        ranked = sorted(said.items(), key=lambda item: (-(item[1] & failed).bit_count(), item[0]))
        return ranked[: covering.MOST_STATEMENTS]

    def _cover(self, failed: int, against: int, by_cause: Mapping[tuple[str, ...], int]) -> tuple[Conjunction, ...]:
        together = covering.cover(self.conditions, self.choices, failed, against)
        if not 1 < len(by_cause) <= MOST_CAUSES or (len(together.chosen) == 1 and not together.left):
            return together.chosen
        apart = [covering.cover(self.conditions, self.choices, part, against) for part in by_cause.values()]

        def effort(covers: Sequence[Cover]) -> tuple[int, float]:
            return sum(item.left.bit_count() for item in covers), sum(item.cost for item in covers)

        return (
            together.chosen
            if effort([together]) <= effort(apart)
            else tuple(item for cover in apart for item in cover.chosen)
        )
