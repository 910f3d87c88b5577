# SPDX-License-Identifier: Apache-2.0
"""The counts for all reports: verdicts by operator version and backend, and failures grouped by cause.

Memory does not grow with the number of results: it contains counts, and one example for each group.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base import under_test
from onnx_conformance.base.signature import operator_of, signature
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import UNRATED, WITH_MESSAGE, Result, Verdict
from onnx_conformance.results.errata import is_erratum
from onnx_conformance.results.profile_use import ProfileUse
from onnx_conformance.results.severity import LOWEST, Severity, most, of_result

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MOST_GROUPS = 5000
"""Maximum number of groups; failures of further groups are only counted in the table."""
FEW_CASES = 10
"""Below this number of cases, no percentage is shown: a single case would change it by more than a tenth."""
MOST_NAMES = 64
MOST_UNSTABLE = 5
"""Maximum number of cases that are named for each cause of different answers."""
FORCES = ("must", "should", "describes", "signature")
"""Kinds of rules that a model violates, strictest first; accepting a model that violates no `must` is lenient."""


@dataclass
class UnstableCases:
    """The failed cases of one backend whose answers differ for one cause.

    Attributes:
        count: their number.
        cases: the ids of at most MOST_UNSTABLE, the first in the order of the alphabet.
    """

    count: int = 0
    cases: list[str] = field(default_factory=list)

    def add(self, case: str) -> None:
        """Add a case."""
        self.count += 1
        self.cases = sorted([*self.cases, case])[:MOST_UNSTABLE]


@dataclass
class Group:
    """Failures of one backend that share operator, verdict and cause.

    Attributes:
        example: the simplest failure.
        count: number of failures.
        verdicts: number of failures with each verdict.
        versions, forms, types: those of the cases, at most MOST_NAMES each.
        severity: the highest severity of the failures.
    """

    example: Result
    count: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    severity: Severity = field(default_factory=lambda: LOWEST)
    versions: set[str] = field(default_factory=set)
    forms: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)

    @property
    def rank(self) -> tuple[int, int, str]:
        """The sort key of groups: most severe verdict first, then larger groups."""
        return _RANK.get(self.example.verdict, _WRONG_ANSWER), -self.count, self.example.case

    @property
    def interest(self) -> tuple[tuple[int, int, bool, int, int], bool, int, str]:
        """The sort key of the group that a user meets first: the most severe one, in a plain model."""
        example = self.example
        return self.severity.key(example.verdict), example.form != "plain", -self.count, example.case

    def add(self, result: Result) -> None:
        """Count another failure."""
        self.example = min(self.example, result, key=lambda item: item.as_example)
        self.count += 1
        self.verdicts[result.verdict] += 1
        self.severity = most((self.severity, of_result(result)), result.verdict)
        for names, name in (
            (self.versions, result.operator.rpartition("/")[2]), (self.forms, result.form),
            (self.types, result.element_type),
        ):  # fmt: skip
            if name and len(names) < MOST_NAMES:
                names.add(name)


class Summary:
    """Counts a stream of results.

    Attributes:
        built_with: backend -> the release of onnx that it was built with.
        counts: (operator version, backend) -> verdict -> number.
        errata: backend -> number of failures that depend on a sentence that was reworded after it was built.
        accepted: backend -> force of the violated sentence -> number of accepted invalid models.
        groups: failures by `signature`, without those that an exclusion accepts.
        unstable: (backend, Result.unstable) -> the cases.
        profiles: backend -> number of results that depend on its profile.
        left_out: failures beyond MOST_GROUPS groups.
    """

    def __init__(self, hellos: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Start empty.

        Args:
            hellos: backend -> its description in the header of the results.
        """
        self.built_with: dict[str, str] = {}
        self._subjects: dict[str, Subject] = {}
        self._labels: dict[str, str] = {}
        self.know(hellos or {})
        self.errata: Counter[str] = Counter()
        self.counts: dict[tuple[str, str], Counter[Verdict]] = {}
        self.accepted: dict[str, Counter[str]] = {}
        self.groups: dict[tuple[str, ...], Group] = {}
        self.unstable: dict[tuple[str, str], UnstableCases] = {}
        self.profiles: dict[str, ProfileUse] = {}
        self.left_out = 0

    def know(self, hellos: Mapping[str, Mapping[str, Any]]) -> None:
        """Use the descriptions of backends, which tables and errata depend on."""
        self.built_with |= {name: hello.get("onnx", "") for name, hello in hellos.items()}
        self._subjects |= {name: under_test.subject(hello) for name, hello in hellos.items()}
        self._labels |= under_test.labels(hellos)

    def subject(self, backend: str) -> Subject:
        """Return the kind of a backend; one without a description is a runtime."""
        return self._subjects.get(backend, Subject.RUNTIME)

    def label(self, backend: str) -> str:
        """Return the name of a backend that people read."""
        return self._labels.get(backend, backend)

    def of(self, backends: Collection[str]) -> Summary:
        """Return the counts of some backends, without groups of failures."""
        part = Summary()
        part.built_with, part._subjects, part.errata = self.built_with, self._subjects, self.errata
        part._labels = self._labels
        part.accepted, part.unstable = self.accepted, self.unstable
        part.profiles = self.profiles
        part.counts = {key: counts for key, counts in self.counts.items() if key[1] in backends}
        return part

    def add(self, result: Result) -> None:
        """Count a result."""
        key = result.operator, result.backend
        if key not in self.counts:
            self.counts[key] = Counter()
        self.counts[key][result.verdict] += 1
        self.errata[result.backend] += is_erratum(result, self.built_with.get(result.backend, ""))
        if result.excluded or result.override or result.exceeded:
            self.profiles.setdefault(result.backend, ProfileUse()).add(result)
        if result.unstable:
            self.unstable.setdefault((result.backend, result.unstable), UnstableCases()).add(result.case)
        if result.verdict in {Verdict.ACCEPTED_INVALID, Verdict.LENIENT}:
            self.accepted.setdefault(result.backend, Counter())[result.force] += 1
        if (result.verdict.failed and not result.excluded) or result.verdict is Verdict.ADAPTER_ERROR:
            shared = signature(result)
            if shared not in self.groups:
                if len(self.groups) >= MOST_GROUPS:
                    self.left_out += 1
                    return
                self.groups[shared] = Group(result)
            self.groups[shared].add(result)

    @property
    def total(self) -> Counter[Verdict]:
        """All verdicts."""
        total: Counter[Verdict] = Counter()
        for counter in self.counts.values():
            total += counter
        return total

    @property
    def failed(self) -> int:
        """Number of scored verdicts other than pass."""
        return sum(count for verdict, count in self.total.items() if verdict.failed)

    def profile(self, backend: str) -> ProfileUse:
        """Return the number of results of a backend that depend on its profile."""
        return self.profiles.get(backend, ProfileUse())

    @property
    def failed_openly(self) -> int:
        """Number of failures that no exclusion of a profile accepts."""
        return self.failed - sum(use.excluded.total() for use in self.profiles.values())

    def leniences(self, backend: str) -> str:
        """Return the number of models that a backend accepted leniently, by force of the sentence: should 3."""
        counts = self.accepted.get(backend, Counter())
        return ", ".join(f"{force} {counts[force]:,}" for force in FORCES[1:] if counts[force])

    def ordered_groups(self) -> list[Group]:
        """Return the groups by backend, most severe verdict first, then larger groups."""
        return sorted(self.groups.values(), key=lambda group: (group.example.backend, *group.rank))

    def faults(self) -> list[Group]:
        """Return the groups in the same order, after merging groups of the same fault with different verdicts.

        For example, wrong values in one form and a crash in another, in cases that cite the same sentence, are one
        fault. The example has the most severe verdict.
        """
        joined: dict[tuple[str, ...], Group] = {}
        for group in self.ordered_groups():
            key = (group.example.backend, operator_of(group.example), *_cause(group.example))
            if key not in joined:
                joined[key] = Group(group.example)
            fault = joined[key]
            fault.count += group.count
            fault.verdicts.update(group.verdicts)
            fault.severity = most((fault.severity, group.severity), fault.example.verdict)
            fault.versions |= group.versions
            fault.forms |= group.forms
            fault.types |= group.types
        return sorted(joined.values(), key=lambda group: (group.example.backend, *group.rank))


_RANK = {
    Verdict.ADAPTER_ERROR: 0, Verdict.CRASH: 1, Verdict.TIMEOUT: 2, Verdict.REFUSED: 4,
    Verdict.DECLINED: 4, Verdict.FALLBACK: 4, Verdict.ACCEPTED_INVALID: 5,
}  # fmt: skip
"""Verdicts that end the process come first, then wrong answers, then errors."""
_WRONG_ANSWER = 3


def _cause(result: Result) -> tuple[str, ...]:
    """Return the cause of a failure: the message of an error, the sentences of another failure."""
    if result.verdict not in WITH_MESSAGE and result.clauses:
        return result.clauses
    return signature(result)


@dataclass(frozen=True)
class Rates:
    """The two rates of a row of verdicts: never one percentage alone."""

    passed: int
    specified: int
    attempted: int

    def __str__(self) -> str:
        """Return both rates, rounded down."""
        return f"{rate(self.passed, self.specified)} / {rate(self.passed, self.attempted)}"


def rates(counts: Mapping[Verdict, int]) -> Rates:
    """Return passed, specified (all except UNRATED) and attempted (specified and not unsupported)."""
    specified = sum(counts.values()) - sum(counts.get(verdict, 0) for verdict in UNRATED)
    attempted = specified - counts.get(Verdict.UNSUPPORTED, 0) - counts.get(Verdict.ADAPTER_ERROR, 0)
    return Rates(counts.get(Verdict.PASS, 0), specified, attempted)


def rate(part: int, whole: int) -> str:
    """Return a percentage rounded down to one decimal, or only counts if there are few cases, or "no data"."""
    if not whole:
        return "no data"
    return f"{part} of {whole}" if whole < FEW_CASES else percentage(part, whole)


def counted_rate(part: int, whole: int) -> str:
    """Return counts with a percentage: 19/20 95.0 %; only the counts if there are few cases."""
    return f"{part}/{whole}" if 0 < whole < FEW_CASES else f"{part}/{whole} {rate(part, whole)}"


def percentage(part: int, whole: int) -> str:
    """Return a percentage rounded down to one decimal."""
    tenths = part * 1000 // whole
    return f"{tenths // 10}.{tenths % 10} %"
