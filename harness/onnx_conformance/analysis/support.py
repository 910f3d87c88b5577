# SPDX-License-Identifier: Apache-2.0
"""The support of a runtime for operator versions, types, attributes, ranks and optional inputs, from its results.

Cases with an invalid model, and cases whose result the text does not define, do not count: a model to deploy has
neither. Versions that share a meaning share the rows, because they take the same calls; each has its own counts.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_conformance.analysis.model_traits import Reader, of_plan
from onnx_conformance.analysis.traits import Topic, TraitKind
from onnx_conformance.base import under_test
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import VALID, Verdict, line, split_operator
from onnx_conformance.generation import plans
from onnx_conformance.specification import meanings, registry
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.traits import Trait, Traits
    from onnx_conformance.results.stream import Run
    from onnx_conformance.suites.suite import Suite

Word = tuple[str, str]
"""A property of a call and its value: `("size=", "4")`, `("type is ", "float16")`, `("B is ", "omitted")`."""
ABSENT = frozenset({"not set", "not asked for"})
"""Values of properties that are the usual ones: a call with them needs no case with them."""
SETTING = frozenset({"set", "not set"})
"""Values of properties that do not separate calls: the value of the attribute matters, not whether it is set."""
ENDS = (*sorted(ABSENT), "set", "given", "omitted", "asked for")
OTHER_FORMS = frozenset({"external_data", "expanded"})
"""Forms that do not count: few models store an axis or a shape in another file, or write out a function body."""
MOST_NUMBER = 16
"""Largest magnitude of an integer that is a separate property."""


class Outcome(enum.StrEnum):
    """How the cases with one property ended."""

    PASS = "p"  # noqa: S105 - not a password
    MIXED = "m"
    FAIL = "f"
    UNSUPPORTED = "u"
    ONCE = "o"
    """There is one case, and it does not pass; the property is a number, so another property may be the cause."""


PASSING = frozenset({Outcome.PASS, Outcome.MIXED})


class Counts(NamedTuple):
    """The numbers of cases that pass, fail, and are unsupported."""

    passed: int = 0
    failed: int = 0
    unsupported: int = 0

    @property
    def total(self) -> int:
        """The number of all of them."""
        return sum(self)

    @property
    def outcome(self) -> Outcome:
        """How they ended: MIXED if some pass and some fail; unsupported cases matter only if none passes."""
        if self.passed:
            return Outcome.MIXED if self.failed else Outcome.PASS
        return Outcome.FAIL if self.failed else Outcome.UNSUPPORTED

    def with_verdict(self, verdict: Verdict) -> Counts:
        """Return the counts with one more case."""
        if verdict is Verdict.UNSUPPORTED:
            return self._replace(unsupported=self.unsupported + 1)
        return self._replace(failed=self.failed + 1) if verdict.failed else self._replace(passed=self.passed + 1)


Rows = dict[str, dict[str, Outcome]]
"""By the first part of a property, and by its value, how the cases with it ended."""


@dataclass
class Meaning:
    """The cases of the versions of an operator that share a meaning.

    Attributes:
        versions: the counts of each version.
        rows: how the cases with each property ended.
        unexplained: the number of failing cases without a property that no passing case has.
        failing: the properties of these, each with the id of a case; None if they were not kept.
    """

    versions: dict[int, Counts] = field(default_factory=dict)
    rows: Rows = field(default_factory=dict)
    unexplained: int = 0
    failing: dict[frozenset[Word], str] | None = None


@dataclass(frozen=True)
class Support:
    """The calls that one backend supports.

    Attributes:
        backend: its name in the results.
        runtime, version: those of the tested runtime.
        suite: name and digest of the suite.
        meanings: by operator, such as ai.onnx/Split, and by the newest version of a meaning.
    """

    backend: str
    runtime: str
    version: str
    suite: Mapping[str, str]
    meanings: dict[str, dict[int, Meaning]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The runtime and its version, for people."""
        return line(f"{self.runtime or under_test.unversioned(self.backend)} {self.version}".strip(), 120)

    def of(self, operator: str, since: int) -> Meaning:
        """Return the cases of the meaning of an operator version; none if there are no results."""
        return self.meanings.get(operator, {}).get(newest(operator, since), Meaning())


def newest(operator: str, since: int) -> int:
    """Return the newest version with the meaning of an operator version; the version itself if none is declared."""
    return meanings.newest_of(operator).get(since, since)


def words(traits: Traits) -> frozenset[Word]:
    """Return the properties of a call that decide whether a runtime supports it."""
    return frozenset(word for trait, value in traits.items() if (word := _word(trait, value)) is not None)


def _word(trait: Trait, value: Any) -> Word | None:  # noqa: ANN401 - the value of a trait
    key = f"{trait.name}{trait.equals}"
    if trait.kind is TraitKind.FACT:
        end = next((text for text in ENDS if trait.name.endswith(f" is {text}")), "")
        return (trait.name.removesuffix(end), end) if end else None
    if trait.kind is TraitKind.CHOICE:
        return (key, str(value)) if trait.topic in {Topic.TYPE, Topic.ARGUMENT} else None
    if trait.topic not in {Topic.ARGUMENT, Topic.OUTPUT} or trait.name.startswith(
        ("value of ", "smallest of ", "length of ")
    ):
        return None
    if isinstance(value, float):
        return (key, "0" if not value else "a negative number" if value < 0 else "a positive number")
    return (key, str(value) if abs(value) <= MOST_NUMBER else "a large number")


def of_runs(
    runs: Sequence[Run],
    suite: Suite,
    wanted: Callable[[str], bool] = lambda _operator: True,
    on_operator: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Support]:
    """Return the support of each runtime of some runs.

    Args:
        runs: the results.
        suite: the suite of the runs, with the same cases.
        wanted: whether an operator, such as ai.onnx/Split, is wanted.
        on_operator: called after each operator, with the number of finished operators and of all.
    """
    made: dict[tuple[int, str], Support] = {}
    verdicts: dict[str, dict[tuple[int, str], dict[str, Verdict]]] = defaultdict(lambda: defaultdict(dict))
    versions: dict[str, dict[str, int]] = defaultdict(dict)
    for number, run in enumerate(runs):
        of_suite = {key: str(run.header["suite"].get(key, "")) for key in ("name", "digest")}
        for name, hello in run.header["backends"].items():
            if under_test.subject(hello) is Subject.RUNTIME:
                made[number, name] = Support(name, hello.get("runtime", ""), hello.get("version", ""), of_suite)
        for result in run.results():
            operator, since = split_operator(result.operator)
            rated = result.verdict in {Verdict.PASS, Verdict.UNSUPPORTED} or result.verdict.failed
            usual = result.outcome in VALID and result.form not in OTHER_FORMS and (number, result.backend) in made
            if rated and usual and since is not None and wanted(operator):
                verdicts[operator][number, result.backend][result.case] = result.verdict
                versions[operator][result.case] = since
    for done, (operator, by_backend) in enumerate(sorted(verdicts.items()), 1):
        known = dict(_words_of(suite, operator, versions[operator]))
        for key, of_backend in by_backend.items():
            made[key].meanings[operator] = _counted(operator, of_backend, versions[operator], known)
        on_operator(done, len(verdicts))
    return list(made.values())


def _words_of(suite: Suite, operator: str, versions: Mapping[str, int]) -> Iterator[tuple[str, frozenset[Word]]]:
    """Yield id and properties of the cases of an operator, from the version of each id."""
    ids = versions.keys()
    domain, _, name = operator.partition("/")
    op = registry.load().find(domain, name)
    if suite.planned and op is not None:
        for plan in plans.plans(op, tuple(set(versions.values())), None, ids.__contains__):
            yield from ((case, words(shared)) for case, (shared, _) in of_plan(plan, ids.__contains__))
    elif not suite.planned:
        reader = Reader()
        for case in suite.cases(Selection(ids=frozenset(ids))):
            if case.id in ids:
                yield case.id, words(reader.of_case(case)[0])


def _counted(
    operator: str, verdicts: Mapping[str, Verdict], versions: Mapping[str, int], known: Mapping[str, frozenset[Word]]
) -> dict[int, Meaning]:
    """Return the cases of an operator by meaning.

    If all cases of a version have types that the runtime supports in no version, the version is untested.
    """
    found: dict[int, Meaning] = {}
    for case, verdict in verdicts.items():
        since = versions[case]
        of_versions = found.setdefault(newest(operator, since), Meaning()).versions
        of_versions[since] = of_versions.get(since, Counts()).with_verdict(verdict)
    for last, meaning in found.items():
        # The cases of a version without any passing case do not count for the other versions.
        own = {
            case: verdict
            for case, verdict in verdicts.items()
            if newest(operator, versions[case]) == last and meaning.versions[versions[case]].passed
        }
        _add_rows(meaning, own, known)
        for since, counts in meaning.versions.items():
            if not counts.passed and meaning.rows:
                meaning.versions[since] = _count(
                    verdict
                    for case, verdict in verdicts.items()
                    if versions[case] == since and _is_usual(meaning, known.get(case, frozenset()))
                )
    return found


def _is_usual(meaning: Meaning, case: frozenset[Word]) -> bool:
    """Return whether cases with the types of a case pass in another version, and none of its properties prevents it."""
    outcomes = {(key, value): meaning.rows.get(key, {}).get(value) for key, value in case}
    of_types = {outcome for (key, _), outcome in outcomes.items() if key.startswith("type ")}
    return of_types <= PASSING and not {Outcome.FAIL, Outcome.UNSUPPORTED} & set(outcomes.values())


def _add_rows(meaning: Meaning, verdicts: Mapping[str, Verdict], known: Mapping[str, frozenset[Word]]) -> None:
    """Add the outcomes by property, and the failures that no property explains.

    If no case with a property passes, the property may be the cause. It is not if all these cases have another such
    property that more cases have: then the property is untested.
    """
    cases: dict[Word, set[str]] = defaultdict(set)
    for case in verdicts:
        for word in known.get(case, ()):
            cases[word].add(case)
    counts = {word: _count(verdicts[case] for case in own) for word, own in cases.items()}
    suspects = [word for word, of_word in counts.items() if not of_word.passed]
    causes: list[Word] = []
    covered: set[str] = set()
    for word in sorted(suspects, key=lambda word: (-len(cases[word]), word)):
        if not cases[word] <= covered or any(cases[word] == cases[other] for other in causes):
            causes.append(word)
            covered |= cases[word]
    for word in [word for word, of_word in counts.items() if not of_word.passed and word not in causes]:
        del counts[word]
    for (key, value), of_word in counts.items():
        once = of_word.total == 1 and not of_word.passed and _is_number(value)
        meaning.rows.setdefault(key, {})[value] = Outcome.ONCE if once else of_word.outcome
    left = [case for case, verdict in verdicts.items() if verdict.failed and case not in covered]
    meaning.unexplained = len(left)
    # The shortest id, as in other examples.
    left.sort(key=lambda case: (-len(case), case))
    meaning.failing = {known.get(case, frozenset()): case for case in left}


def _count(verdicts: Iterable[Verdict]) -> Counts:
    counts = Counts()
    for verdict in verdicts:
        counts = counts.with_verdict(verdict)
    return counts


class Standing(enum.StrEnum):
    """The verdict on one call of a model."""

    PASSES = "passes"
    MAY_FAIL = "may fail"
    FAILS = "fails"
    OPTS_OUT = "opts out"
    LACKS = "lacks"
    UNTESTED = "untested"
    UNKNOWN = "unknown operator"


WORST = (
    Standing.FAILS, Standing.LACKS, Standing.UNKNOWN, Standing.OPTS_OUT, Standing.MAY_FAIL, Standing.UNTESTED,
    Standing.PASSES,
)  # fmt: skip
"""The standings, the worst first."""


@dataclass(frozen=True)
class Judged:
    """The verdict on a call, and a sentence for each reason."""

    standing: Standing
    reasons: tuple[str, ...] = ()


def judged(support: Support, operator: str, since: int, call: frozenset[Word]) -> Judged:
    """Return the verdict on a call, from the results of a backend.

    Args:
        support: of the backend.
        operator: the operator, such as ai.onnx/Split.
        since: its version.
        call: the properties of the call, as far as the model decides them.
    """
    meaning = support.of(operator, since)
    counts = meaning.versions.get(since, Counts())
    running = [other for other, of_other in sorted(meaning.versions.items()) if of_other.passed and other != since]
    beside = f"; version {running[-1]}, which has the same meaning, runs" if running else ""
    if not counts.total:
        return Judged(Standing.UNTESTED, (f"the results have no suitable case of version {since}{beside}",))
    if not counts.passed:
        if counts.failed:
            return Judged(Standing.FAILS, (f"no case of version {since} passes, {counts.failed} fail{beside}",))
        return Judged(Standing.LACKS, (f"all {counts.unsupported} cases of version {since} are unsupported{beside}",))
    found: dict[Standing, list[str]] = defaultdict(list)
    for key, value in sorted(call):
        row = meaning.rows.get(key, {})
        match row.get(value):
            case Outcome.FAIL:
                found[Standing.FAILS].append(f"no case with {key}{value} passes")
            case Outcome.UNSUPPORTED:
                found[Standing.OPTS_OUT].append(f"{key}{value} is unsupported")
            case Outcome.ONCE:
                found[Standing.MAY_FAIL].append(f"the only case with {key}{value} does not pass")
            case None if reason := _untested(key, value, row):
                found[Standing.UNTESTED].append(reason)
    if not found and (failing := _failing(meaning, call)):
        found[Standing.MAY_FAIL].append(failing)
    standing = min(found, key=WORST.index, default=Standing.PASSES)
    return Judged(standing, tuple(found[standing]))


MOST_CHOICES = 12
"""An attribute with more different texts in the cases takes any text, such as the equation of Einsum."""


def _untested(key: str, value: str, row: Mapping[str, Outcome]) -> str:
    """Return why a property without a case is untested; empty if cases with other values are enough."""
    if value in ABSENT:
        return ""
    if not _is_number(value):
        return f"the results have no case with {key}{value}" if len(row) <= MOST_CHOICES else ""
    if len(row) == 1 and key.endswith("="):
        return f"the results have no case with {key}{value}, only with {key}{next(iter(row))}"
    bad = [other for other, outcome in row.items() if outcome in {Outcome.FAIL, Outcome.UNSUPPORTED}]
    if not bad:
        return ""
    listed = ", ".join(sorted(bad, key=lambda text: (len(text), text))[:6])
    return f"the results have no case with {key}{value}, and none with {key}{listed} passes"


def _failing(meaning: Meaning, call: frozenset[Word]) -> str:
    """Return a sentence on failing cases with all properties of a call that are known to pass; empty if none has."""
    if not meaning.unexplained:
        return ""
    own = {key: value for key, value in call if _separates(key, value)}
    proven = {key: value for key, value in own.items() if meaning.rows.get(key, {}).get(value) in PASSING}
    if meaning.failing is None:
        total = sum(item.total for item in meaning.versions.values() if item.passed)
        alone = any(meaning.rows[key][value] is Outcome.PASS for key, value in proven.items())
        return "" if alone else f"{meaning.unexplained} of {total} cases of this operator fail"
    alike = [
        name for case, name in meaning.failing.items() if all(proven.get(key, value) == value for key, value in case)
    ]
    shown = min(alike, key=lambda name: (len(name), name), default="")
    return f"cases that are called in the same way fail, such as {shown}" if alike else ""


def _separates(key: str, value: str) -> bool:
    """Return whether a property separates the calls with it from failures of others: types, ranks, modes, inputs.

    Numbers do not, because a failure is rarely one of a single number, if other cases with the number pass.
    """
    return value not in SETTING and (key.startswith("rank of ") or not _is_number(value))


def _is_number(value: str) -> bool:
    return value.lstrip("-").isdecimal() or value.endswith(" number")


def merged(supports: Sequence[Support]) -> Support:
    """Return the support of one backend from several results, such as those of two suites.

    If two of them have the same operator and meaning, the first one counts.
    """
    first, *others = supports
    known = {operator: dict(of_operator) for operator, of_operator in first.meanings.items()}
    for other in others:
        for operator, of_operator in other.meanings.items():
            for last, meaning in of_operator.items():
                known.setdefault(operator, {}).setdefault(last, meaning)
    return dataclasses.replace(first, meanings=known)
