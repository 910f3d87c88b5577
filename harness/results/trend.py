"""What became of cases from one version of a runtime to the next."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from harness.errors import HarnessError
from harness.results import sampling
from harness.verdict import Verdict, line, natural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.results.stream import Run

VERDICTS = tuple(Verdict)
ABSENT = len(VERDICTS)
"""In a row of verdicts: this version did not run the case."""


class TrendError(HarnessError):
    """Results that no trend can be told of; the text says why."""


@dataclass(frozen=True)
class Change:
    """Cases of one operator version whose verdict is another one from some version of the runtime on.

    Attributes:
        operator: the operator version.
        version: the first version of the runtime with the later verdict.
        was, now: the two verdicts.
        count: how many cases.
        example: the first of them.
    """

    operator: str
    version: str
    was: Verdict
    now: Verdict
    count: int
    example: str

    @property
    def broke(self) -> bool:
        """Whether what passed fails from then on."""
        return self.was is Verdict.PASS and self.now.failed


@dataclass(frozen=True)
class Trend:
    """Verdicts of several versions of one runtime.

    Attributes:
        runtime: its name.
        suite: name and digest of the suite.
        versions: in their order, the oldest first.
        counts: (operator version, version of the runtime) -> verdict -> number of cases.
        changes: by operator version, then by version, the most cases first.
        notes: what must be said of runs that did not come to their end, and of those that are a sample.
    """

    runtime: str
    suite: str
    versions: tuple[str, ...]
    counts: Mapping[tuple[str, str], Counter[Verdict]]
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    @property
    def operators(self) -> list[str]:
        """The operator versions of which any verdict changed."""
        return list(dict.fromkeys(change.operator for change in self.changes))

    @property
    def unchanged(self) -> int:
        """How many operator versions came out the same throughout."""
        return len({operator for operator, _ in self.counts}) - len(self.operators)

    def broke(self, version: str) -> list[Change]:
        """Return what passed before a version and fails in it."""
        return [change for change in self.changes if change.version == version and change.broke]


@dataclass
class Column:
    """One version in one run."""

    run: Run
    backend: str
    runtime: str
    version: Version


@dataclass
class _Case:
    operator: str
    verdicts: bytearray = field(default_factory=bytearray)


def trend(runs: Sequence[Run]) -> Trend:
    """Return what changed from version to version over all backends of some runs.

    A version that did not run a case is passed over: its neighbours are compared with each other.

    Raises:
        TrendError: fewer than two versions, two of one number, several runtimes or suites, or no version at all.
    """
    columns = sorted(_columns(runs), key=lambda column: column.version)
    _check(columns)
    place = {(id(column.run), column.backend): number for number, column in enumerate(columns)}
    cases: dict[str, _Case] = {}
    counts: dict[tuple[str, str], Counter[Verdict]] = {}
    for run in runs:
        for result in run.results():
            number = place[id(run), result.backend]
            case = cases.setdefault(result.case, _Case(result.operator, bytearray([ABSENT] * len(columns))))
            case.verdicts[number] = VERDICTS.index(result.verdict)
            counts.setdefault((result.operator, str(columns[number].version)), Counter())[result.verdict] += 1
    return Trend(
        runtime=columns[0].runtime,
        suite=_suite(runs[0]),
        versions=tuple(str(column.version) for column in columns),
        counts=counts,
        changes=tuple(_changes(cases, [str(column.version) for column in columns])),
        notes=tuple(_notes(runs, columns)),
    )


def _columns(runs: Sequence[Run]) -> Iterator[Column]:
    for run in runs:
        reference = run.header["arguments"].get("reference")
        for name, said in run.header["backends"].items():
            if name == reference:
                continue
            told = str(said.get("version", ""))
            try:
                version = Version(told)
            except InvalidVersion:
                why = f"its version is {told!r}, which has no order" if told else "its adapter says no version"
                raise TrendError(f"{run.path}: {line(name)} cannot stand in a trend: {line(why)}") from None
            yield Column(run, name, str(said.get("runtime") or name.partition("==")[0]), version)


def _check(columns: Sequence[Column]) -> None:
    runtimes = sorted({column.runtime for column in columns})
    if len(runtimes) > 1:
        raise TrendError(
            f"a trend is of one runtime, and these are {line(', '.join(runtimes))}; `report` compares them"
        )
    suites = sorted({_suite(column.run) for column in columns})
    if len(suites) > 1:
        raise TrendError(f"a trend is of one suite, and these are {line(', '.join(suites))}; run all versions with one")
    versions = [column.version for column in columns]
    for one, other in itertools.pairwise(versions):
        if one == other:
            raise TrendError(f"{line(runtimes[0])} {one} is there twice; give each version once")
    if len(versions) < 2:  # noqa: PLR2004 - from one version to another
        there = f"only {line(runtimes[0])} {versions[0]}" if versions else "none"
        raise TrendError(f"a trend needs at least two versions, and there is {there}")


def _notes(runs: Sequence[Run], columns: Sequence[Column]) -> Iterator[str]:
    for run in runs:
        if not run.complete:
            yield run.cut_off
    counts = {sampling.of(column.run.header).get(column.backend, 1) for column in columns}
    if counts == {1}:
        return
    if len(counts) == 1:
        asked = sampling.said(*counts)
        yield f"Every version was asked {asked}: a sample, whose counts say nothing of the other cases."
        return
    for run in runs:
        yield from sampling.notes(run)


def _suite(run: Run) -> str:
    return " ".join(str(run.header["suite"].get(key, "")) for key in ("name", "digest"))


def _changes(cases: Mapping[str, _Case], versions: Sequence[str]) -> list[Change]:
    found: dict[tuple[str, int, int, int], tuple[int, str]] = {}
    for name, case in cases.items():
        before = ABSENT
        for number, verdict in enumerate(case.verdicts):
            if verdict == ABSENT:
                continue
            if before not in {ABSENT, verdict}:
                key = (case.operator, number, before, verdict)
                count, example = found.get(key, (0, name))
                found[key] = (count + 1, min(example, name))
            before = verdict
    ordered = sorted(found.items(), key=lambda item: (natural(item[0][0]), item[0][1], -item[1][0], item[1][1]))
    return [
        Change(operator, versions[number], VERDICTS[was], VERDICTS[now], count, example)
        for (operator, number, was, now), (count, example) in ordered
    ]
