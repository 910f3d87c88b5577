# SPDX-License-Identifier: Apache-2.0
"""Changes of verdicts between versions of a runtime."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.version import Version

from onnx_conformance.base import under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict, line, natural
from onnx_conformance.results import sampling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.results.stream import Run

VERDICTS = tuple(Verdict)
ABSENT = len(VERDICTS)
"""In a row of verdicts: this version did not run the case."""


class TrendError(HarnessError):
    """The results do not form a trend; the text contains the reason."""


@dataclass(frozen=True)
class Change:
    """Cases of one operator version whose verdict changes at one version of the runtime.

    Attributes:
        operator: the operator version.
        version: the first version of the runtime with the later verdict.
        was, now: the two verdicts.
        count: number of cases.
        example: the first case.
    """

    operator: str
    version: str
    was: Verdict
    now: Verdict
    count: int
    example: str

    @property
    def broke(self) -> bool:
        """Whether the cases passed before and fail now."""
        return self.was is Verdict.PASS and self.now.failed


@dataclass(frozen=True)
class Trend:
    """Verdicts of several versions of one runtime.

    Attributes:
        runtime: its name.
        suite: name and digest of the suite.
        versions: in ascending order.
        counts: (operator version, version of the runtime) -> verdict -> number of cases.
        changes: by operator version, then by version, most cases first.
        notes: warnings about runs that were cut off, and about samples.
    """

    runtime: str
    suite: str
    versions: tuple[str, ...]
    counts: Mapping[tuple[str, str], Counter[Verdict]]
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    @property
    def operators(self) -> list[str]:
        """The operator versions with any changed verdict."""
        return list(dict.fromkeys(change.operator for change in self.changes))

    @property
    def unchanged(self) -> int:
        """The number of operator versions without a changed verdict."""
        return len({operator for operator, _ in self.counts}) - len(self.operators)

    def broke(self, version: str) -> list[Change]:
        """Return the changes from a pass to a failure at a version."""
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
    """Return the changes from version to version, over all backends of some runs.

    A version that did not run a case is skipped: its neighbours are compared with each other.

    Raises:
        TrendError: fewer than two versions, the same version twice, several runtimes or suites, or a backend without a
            version that can be ordered.
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
        for name, hello in run.header["backends"].items():
            if name == reference:
                continue
            text = str(hello.get("version", ""))
            try:
                version = Version(text)
            except ValueError:
                why = f"its version {text!r} cannot be ordered" if text else "its adapter reports no version"
                raise TrendError(
                    "version-not-comparable", f"{run.path}: {line(name)} cannot be in a trend: {line(why)}"
                ) from None
            yield Column(run, name, str(hello.get("runtime") or under_test.unversioned(name)), version)


def check_options(names: Iterable[str]) -> None:
    """Check that no two backends are options of one tool: versions have an order, options do not.

    Raises:
        TrendError: two of them are.
    """
    by_stem: dict[str, set[str]] = {}
    for name in names:
        by_stem.setdefault(under_test.stem(name), set()).add(under_test.unversioned(name))
    for options in by_stem.values():
        if len(options) > 1:
            raise TrendError(
                "trend-of-options",
                f"a trend compares versions of one option, but these are {line(', '.join(sorted(options)))}; use "
                "`report` "
                "to compare options",
            )


def _check(columns: Sequence[Column]) -> None:
    check_options(column.backend for column in columns)
    runtimes = sorted({column.runtime for column in columns})
    if len(runtimes) > 1:
        raise TrendError(
            "trend-of-runtimes",
            f"a trend needs one runtime, but these are {line(', '.join(runtimes))}; use `report` to compare them",
        )
    by_suite: dict[str, list[str]] = {}
    for column in columns:
        by_suite.setdefault(_suite(column.run), []).append(f"{column.version} ({column.run.path.name})")
    if len(by_suite) > 1:
        used = "; ".join(f"{', '.join(versions)} used {suite}" for suite, versions in sorted(by_suite.items()))
        raise TrendError(
            "trend-of-suites",
            f"a trend needs one suite, but these are {line(', '.join(sorted(by_suite)))}: {line(used, 600)}; run all "
            "versions with the same suite",
        )
    versions = [column.version for column in columns]
    for one, other in itertools.pairwise(versions):
        if one == other:
            raise TrendError("version-twice", f"{line(runtimes[0])} {one} occurs twice; pass each version once")
    if len(versions) < 2:  # noqa: PLR2004 - from one version to another
        present = f"only {line(runtimes[0])} {versions[0]}" if versions else "no version"
        raise TrendError("trend-of-one-version", f"a trend needs at least two versions, but there is {present}")


def _notes(runs: Sequence[Run], columns: Sequence[Column]) -> Iterator[str]:
    for run in runs:
        if not run.complete:
            yield run.cut_off
    counts = {sampling.from_header(column.run.header).get(column.backend, 1) for column in columns}
    if counts == {1}:
        return
    if len(counts) == 1:
        part = sampling.in_words(*counts)
        yield f"Every version ran a sample of {part}; the other cases were not run."
        return
    for run in runs:
        yield from sampling.notes(run)


def _suite(run: Run) -> str:
    return " ".join(str(run.header["suite"].get(key, "")) for key in ("name", "digest"))


def _changes(cases: Mapping[str, _Case], versions: Sequence[str]) -> list[Change]:
    changes: dict[tuple[str, int, int, int], tuple[int, str]] = {}
    for name, case in cases.items():
        before = ABSENT
        for number, verdict in enumerate(case.verdicts):
            if verdict == ABSENT:
                continue
            if before not in {ABSENT, verdict}:
                key = (case.operator, number, before, verdict)
                count, example = changes.get(key, (0, name))
                changes[key] = (count + 1, min(example, name))
            before = verdict
    ordered = sorted(changes.items(), key=lambda item: (natural(item[0][0]), item[0][1], -item[1][0], item[1][1]))
    return [
        Change(operator, versions[number], VERDICTS[was], VERDICTS[now], count, example)
        for (operator, number, was, now), (count, example) in ordered
    ]
