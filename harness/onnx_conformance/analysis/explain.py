# SPDX-License-Identifier: Apache-2.0
"""Explain failures: find conditions that only the failures of an operator share, from results and traits of cases."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from onnx_conformance.analysis import rule_search
from onnx_conformance.analysis.conditions import choices, conditions, table
from onnx_conformance.analysis.model_traits import Reader, of_plan
from onnx_conformance.analysis.statement import Statement
from onnx_conformance.analysis.traits import ALLOWED, FORBIDDEN, TYPE, of_result
from onnx_conformance.base.signature import signature
from onnx_conformance.base.verdict import WITH_MESSAGE, Verdict, split_operator
from onnx_conformance.base.worker_pool import worker_pool
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.conditions import Choice, Condition
    from onnx_conformance.analysis.traits import Traits
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.results.stream import Run
    from onnx_conformance.suites.suite import Suite

MOST_CAUSES = 12
"""With more causes than this, the failures of one verdict are only explained together."""
FEW_CASES = 2000
"""Up to this many cases are explained faster than processes start."""
ONLY = "only data from the results is used: version, type, form, tags and sentences"
OUTCOMES = (ALLOWED, FORBIDDEN)
FAILED = frozenset(verdict for verdict in Verdict if verdict.failed)


@dataclass(frozen=True)
class FailurePattern:
    """A statement, with its sentence and an example.

    Attributes:
        statement: the conditions that failures share.
        clause: the sentence that most of its cases cite; empty if they cite none.
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
        failing: the number of failures.
        patterns: the conditions that they share, the largest group first.
        left: failures that no statement covers.
    """

    backend: str
    operator: str
    verdict: Verdict
    failing: int
    patterns: tuple[FailurePattern, ...]
    left: tuple[Result, ...]


@dataclass(frozen=True)
class Explanation:
    """The explanation of the failures of a run.

    Attributes:
        explained: by backend, operator and verdict.
        failures: the number of failures in the selected part of the run.
        note: why data on the cases is missing; empty if it is complete.
        seen: by operator, in the order of names, the data collected by its watcher.
    """

    explained: tuple[Explained, ...]
    failures: int
    note: str
    seen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def statements(self) -> list[Statement]:
        """The statements alone, for reports."""
        return [pattern.statement for item in self.explained for pattern in item.patterns]


class Watcher(Protocol):
    """Sees the plans of an operator's cases where they are made anyway: in another process, if it can be pickled."""

    @property
    def ids(self) -> Collection[str]:
        """The cases whose plans it is to see, at least."""

    @property
    def versions(self) -> Collection[int]:
        """The versions of the operator that those cases are of."""

    def add(self, plan: Plan) -> None:
        """See a plan.

        Plans are added in the order of versions and declarations.
        """

    def finish(self) -> Any:  # noqa: ANN401 - whatever it makes of what it saw
        """Return the collected data; called after the last plan."""


@dataclass
class _Operator:
    """The results of an operator in a run.

    Attributes:
        cases: id -> traits from the result, for cases that passed or failed.
        verdicts: backend -> case -> verdict, for these and all other cases.
        failures: backend -> failures.
        versions: of the operator that those cases are of.
    """

    cases: dict[str, Traits] = field(default_factory=dict)
    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    failures: dict[str, list[Result]] = field(default_factory=dict)
    versions: set[str] = field(default_factory=set)


class Collector:
    """Collects the data for an explanation from results, so other readers of the results can share one pass.

    Attributes:
        operators: the results of each operator, by name.
    """

    def __init__(self, selection: Selection | None = None, backends: Sequence[str] = ()) -> None:
        """Take results of these operators and backends only; without them, of all."""
        self.operators: dict[str, _Operator] = {}
        self._selection, self._backends = selection or Selection(), frozenset(backends)
        self._names: dict[str, str | None] = {}

    def add(self, result: Result) -> None:
        """Take a result."""
        written = result.operator
        if written not in self._names:
            taken = self._selection.takes_operator(written)
            self._names[written] = split_operator(written)[0] if taken else None
        name, failed = self._names[written], result.verdict in FAILED
        if name is None or not (failed or result.verdict is Verdict.PASS):
            return
        if self._backends and result.backend not in self._backends:
            return
        operator = self.operators.get(name)
        if operator is None:
            operator = self.operators[name] = _Operator()
        case = sys.intern(result.case)  # Each backend's results have a copy of it.
        operator.verdicts.setdefault(result.backend, {})[case] = result.verdict
        if case not in operator.cases:
            operator.cases[case] = of_result(result)
            operator.versions.add(written)
        if failed:
            operator.failures.setdefault(result.backend, []).append(result)


def explain(
    run: Run,
    source: Suite | None,
    selection: Selection | None = None,
    backends: Sequence[str] = (),
    *,
    jobs: int = 1,
    on_operator: Callable[[int, int], None] = lambda _done, _all: None,
    collected: Collector | None = None,
    watchers: Mapping[str, Watcher] | None = None,
) -> Explanation:
    """Return the conditions that the failures of a run share and its passes do not.

    Args:
        run: the results; may be cut off.
        source: the suite that they are of, None if it is not available; the models of another version are
            not looked at.
        selection: only these operators.
        backends: only these; empty: all.
        jobs: processes that look at operators; one where there is little to look at.
        on_operator: called after each operator, with how many are done and how many there are.
        collected: the results of the run, where they were read already; selection and backends are its own then.
        watchers: by operator, who sees the plans of its cases as well; of a suite that makes its cases.
    """
    if collected is None:
        collected = Collector(selection, backends)
        for result in run.results():
            collected.add(result)
    operators = collected.operators
    failures = sum(len(cases) for operator in operators.values() for cases in operator.failures.values())
    failing = {name: operator for name, operator in operators.items() if operator.failures}
    note = _other_suite(run, source)
    explained: list[Explained] = []
    missing = 0
    parts = _parts_of(None if note else source, failing, watchers or {})
    seen: dict[str, Any] = {}
    for done, part in enumerate(
        _explained_parts(parts, jobs if sum(part.size for part in parts) > FEW_CASES else 1), 1
    ):
        missing += 0 if note else part.missing
        explained += part.explained
        if part.name in (watchers or {}):
            seen[part.name] = part.seen
        on_operator(done, len(parts))
    if missing and source is not None:
        note = f"of {missing} cases that suite {source.name} does not have, {ONLY}"
    in_order = tuple(sorted(explained, key=lambda item: (item.backend, item.operator)))
    return Explanation(in_order, failures, note, dict(sorted(seen.items())))


def _other_suite(run: Run, source: Suite | None) -> str:
    """Return why the models of a run's cases are not available, or an empty text."""
    suite = run.header["suite"]
    if source is not None and source.name == suite.get("name") and source.digest() == suite.get("digest"):
        return ""
    return f"suite {suite.get('name')} is no longer the one that was run, {suite.get('digest')}; {ONLY}"


Known = dict[str, tuple["Traits", "Traits"]]
"""Traits from the models of cases, by id."""


@dataclass(frozen=True)
class _Part:
    """One operator to look at.

    Attributes:
        name: of the operator, `ai.onnx/Split`.
        operator: its results.
        planned: its cases are those of plans, which are to be made.
        known: traits from the models of its cases, if they were read already.
        watcher: who sees the plans of its cases as well.
    """

    name: str
    operator: _Operator
    planned: bool = False
    known: Known = field(default_factory=dict)
    watcher: Watcher | None = None

    @property
    def size(self) -> int:
        """How many cases there are to look at, about."""
        return max(len(self.operator.cases), len(self.watcher.ids) if self.watcher else 0)


@dataclass(frozen=True)
class _PartResult:
    """The collected data of one operator.

    Attributes:
        name: of the operator.
        explained: its failures.
        missing: how many of its cases the suite does not have.
        seen: by its watcher.
    """

    name: str
    explained: tuple[Explained, ...]
    missing: int
    seen: Any = None


def _parts_of(source: Suite | None, failing: Mapping[str, _Operator], watchers: Mapping[str, Watcher]) -> list[_Part]:
    """Return the operators to look at, those with the most cases first; a suite that is read is read once."""
    known: dict[str, Known] = {}
    if source is not None and not source.planned:
        reader = Reader()
        versions = {version for operator in failing.values() for version in operator.versions}
        selection = Selection(ops=tuple(sorted(versions))) if source.makes else Selection()
        for case in source.cases(selection) if failing else ():
            name = split_operator(case.operator)[0]
            if name in failing and case.id in failing[name].cases:
                known.setdefault(name, {})[case.id] = reader.of_case(case)
    planned = source is not None and source.planned
    parts = [
        _Part(
            name, failing.get(name, _Operator()), planned, known.get(name, {}), watchers.get(name) if planned else None
        )
        for name in sorted({*failing, *(watchers if planned else ())})
    ]
    return sorted(parts, key=lambda part: -part.size)


def _explained_parts(parts: Sequence[_Part], jobs: int) -> Iterator[_PartResult]:
    """Yield the collected data of each operator, in the order of the parts."""
    if jobs == 1:
        yield from map(_explain_part, parts)
        return
    with worker_pool(jobs) as pool:
        for future in as_completed([pool.submit(_explain_part, part) for part in parts]):
            yield future.result()


def _explain_part(part: _Part) -> _PartResult:
    """Explain the failures of one operator."""
    known = _generated_traits(part) if part.planned else part.known
    explained = tuple(_explained(part.name, part.operator, known))
    return _PartResult(
        part.name, explained, len(part.operator.cases.keys() - known.keys()), part.watcher and part.watcher.finish()
    )


def _generated_traits(part: _Part) -> Known:
    """Return the traits from the models of an operator's cases; only these and those for watchers are generated."""
    ids = part.operator.cases.keys()
    domain, _, name = part.name.partition("/")
    op = registry.load().find(domain, name)
    if op is None:  # A results file may name any.
        return {}
    versions = {version for operator in part.operator.versions if (version := split_operator(operator)[1]) is not None}
    watched: Collection[str] = ()
    if part.watcher:
        watched = part.watcher.ids
        versions.update(part.watcher.versions)
    known: Known = {}
    for plan in plans.plans(op, tuple(versions), None, lambda case: case in ids or case in watched):
        known.update(of_plan(plan, ids.__contains__))
        if part.watcher:
            part.watcher.add(plan)
    return known


def _explained(name: str, operator: _Operator, known: Known) -> Iterator[Explained]:
    ids = sorted(operator.cases)
    places = {case: place for place, case in enumerate(ids)}
    rest: dict[int, Traits] = {}
    made = table([_parts(operator.cases[case], known.get(case), rest) for case in ids])
    vocabulary = _Vocabulary(conditions(made), choices(made), *(made.get(fact, {}).get(True, 0) for fact in OUTCOMES))
    for backend, failures in operator.failures.items():
        verdicts = operator.verdicts[backend]
        passes = _bits(places[case] for case, verdict in verdicts.items() if verdict is Verdict.PASS)
        every = _bits(places[case] for case in verdicts)
        for verdict in sorted({result.verdict for result in failures}, key=list(Verdict).index):
            failed_so = sorted((r for r in failures if r.verdict is verdict), key=lambda result: places[result.case])
            failed = _bits(places[result.case] for result in failed_so)
            descriptions = vocabulary.describe(
                [(_cause(r), 1 << places[r.case]) for r in failed_so], passes or every & ~failed
            )
            patterns, left = [], failed
            for words, cases in descriptions:
                matched = [result for result in failed_so if cases >> places[result.case] & 1]
                statement = Statement(
                    backend, name, verdict, words, len(matched), len(failed_so), (cases & passes).bit_count(),
                    tuple(result.case for result in matched),
                )  # fmt: skip
                patterns.append(FailurePattern(statement, _cited(matched), matched[0]))
                left &= ~cases
            undescribed = tuple(result for result in failed_so if left >> places[result.case] & 1)
            yield Explained(backend, name, verdict, len(failed_so), tuple(patterns), undescribed)


def _parts(by_result: Traits, known: tuple[Traits, Traits] | None, rest: dict[int, Traits]) -> tuple[Traits, ...]:
    """Return the traits of a case; a known model contains its type more precisely than its id."""
    if known is None:
        return (by_result,)
    if TYPE in known[0] and TYPE in by_result:
        by_result = rest.setdefault(
            id(by_result), {trait: value for trait, value in by_result.items() if trait != TYPE}
        )
    return (by_result, *known)


def _bits(places: Iterable[int]) -> int:
    bits = bytearray()
    for place in places:
        if place >> 3 >= len(bits):
            bits.extend(bytes((place >> 3) + 1 - len(bits)))
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")


def _cause(result: Result) -> tuple[str, ...]:
    """Return a key that separates causes within one verdict, from the messages of the runtime."""
    if result.verdict in WITH_MESSAGE:
        return signature(result)
    # A runtime may reject an invalid model before it reaches the code that crashes.
    return (result.signal or result.message, result.outcome) if result.verdict is Verdict.CRASH else ()


def _cited(results: Sequence[Result]) -> str:
    """Return the sentence that most of the results cite; the first one on a tie."""
    cited = Counter(clause for result in results for clause in result.clauses)
    return max(cited, key=lambda clause: cited[clause], default="")


@dataclass(frozen=True)
class _Vocabulary:
    """The conditions that statements on the cases of an operator can use.

    Attributes:
        conditions, choices: see `onnx_conformance.analysis.conditions`.
        allowed, forbidden: the cases that the text allows, and those that it forbids, a bit each.
    """

    conditions: Sequence[Condition]
    choices: Sequence[Choice]
    allowed: int
    forbidden: int

    def describe(
        self, failures: Sequence[tuple[tuple[str, ...], int]], against: int
    ) -> list[tuple[tuple[str, ...], int]]:
        """Return descriptions that separate failures from other cases: words and matching cases, the widest first.

        Args:
            failures: the cause and the bit of each.
            against: the other cases; without any, the description is empty.
        """
        failed = 0
        by_cause: dict[tuple[str, ...], int] = {}
        for cause, bit in failures:
            failed |= bit
            by_cause[cause] = by_cause.get(cause, 0) | bit
        if not against:
            return [((), failed)]
        descriptions = [self._describe(failed, against)]
        if 1 < len(by_cause) <= MOST_CAUSES and (len(descriptions[0].statements) > 1 or descriptions[0].left):
            by_each_cause = [self._describe(part, against) for part in by_cause.values()]
            descriptions = min(
                descriptions, by_each_cause, key=lambda every: (sum(i.left for i in every), sum(i.cost for i in every))
            )
        statements = {words: cases for item in descriptions for words, cases in item.statements}
        ranked: list[tuple[tuple[str, ...], int]] = []
        for words, cases in sorted(statements.items(), key=lambda item: (-(item[1] & failed).bit_count(), item[0])):
            # Two causes may match the same failures; the wider statement is enough.
            if all(cases & failed & ~other for _, other in ranked):
                ranked.append((words, cases))
        return ranked[: rule_search.MOST_STATEMENTS]

    def _describe(self, failed: int, against: int) -> _Description:
        # Allowed cases are compared with allowed ones, and forbidden with forbidden, unless failures are of both kinds.
        kind, words = -1, ""
        if not failed & self.forbidden:
            kind, words = self.allowed, ALLOWED.name
        elif not failed & self.allowed:
            kind, words = self.forbidden, FORBIDDEN.name
        if not against & kind:
            return _Description([((words,), kind)], 0, 1)
        cover = rule_search.cover(self.conditions, self.choices, failed, against & kind)
        statements = []
        for item in cover.chosen:
            # Added only if needed: most conditions match no case of the other kind.
            aside = item.cases & against & ~kind
            statements.append(((*item.words, words), item.cases & kind) if aside else (item.words, item.cases))
        return _Description(statements, cover.left.bit_count(), cover.cost)


@dataclass(frozen=True)
class _Description:
    """Words with the cases that match them, the number of failures not covered, and the total cost."""

    statements: Sequence[tuple[tuple[str, ...], int]]
    left: int
    cost: float
