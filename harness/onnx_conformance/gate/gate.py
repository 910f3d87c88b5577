# SPDX-License-Identifier: Apache-2.0
"""The gate: compares a run with the verdicts that the runtime's author currently accepts.

A verdict is as expected, or it deviates: it is worse, a different failure, better, or an unexpected pass. Every
deviation closes the gate, because an outdated file does not protect against regressions.
"""

from __future__ import annotations

import datetime as dt
import enum
import fnmatch
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.globs import may_match
from onnx_conformance.base.suite_names import PROVISIONAL
from onnx_conformance.base.verdict import Result, Verdict, line
from onnx_conformance.gate.expectations import ExpectationsError
from onnx_conformance.gate.profile_checks import ProfileChecks
from onnx_conformance.results.sampling import selected
from onnx_conformance.results.version_gaps import VersionGaps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from onnx_conformance.base.verdict import Unreadable
    from onnx_conformance.gate.expectations import Entry, Expectations


class GateStatus(enum.StrEnum):
    """The comparison of a verdict with the expected one."""

    MET = "met"
    REGRESSED = "regressed"
    DIFFERENT = "different"
    IMPROVED = "improved"
    FIXED = "fixed"
    BROKEN = "broken"
    """The adapter failed; nothing was measured."""


MOST_SHRUNK = 20
"""Maximum number of lines for operator versions with fewer attempted cases; the others share one line."""

BADNESS: Mapping[Verdict, int] = {
    Verdict.PASS: 0,
    Verdict.UNSUPPORTED: 1,
    Verdict.LENIENT: 2,
    Verdict.KNOWS_LESS: 2,
    Verdict.ACCEPTED_INVALID: 3,
    Verdict.REFUSED: 4,
    Verdict.DECLINED: 4,
    Verdict.FALLBACK: 4,
    Verdict.WRONG_VALUE: 5,
    Verdict.WRONG_SHAPE: 5,
    Verdict.WRONG_TYPE: 5,
    Verdict.WRONG_COUNT: 5,
    Verdict.INVALID_MODEL: 5,
    Verdict.FLAKY: 6,
    Verdict.TIMEOUT: 7,
    Verdict.CRASH: 8,
}
"""Severity of verdicts for a user: an error is less severe than wrong outputs, and reproducible wrong outputs are less
severe than flaky ones."""


def status_of_verdict(expected: Verdict | None, actual: Verdict) -> GateStatus:
    """Compare a verdict with the expected one.

    Args:
        expected: verdict of the entry that applies to the case; None: no entry matches, so the case should pass or be
            unsupported.
        actual: verdict of the run. `unspecified` is always as expected. So are `lenient`, `knows_less` and
            `unsupported`, unless an entry explicitly expects a pass: if a runtime supports less, the number of
            attempted cases decreases.
    """
    if actual is Verdict.ADAPTER_ERROR:
        return GateStatus.BROKEN
    if actual in {expected or Verdict.PASS, Verdict.UNSPECIFIED}:
        return GateStatus.MET
    if actual in {Verdict.UNSUPPORTED, Verdict.LENIENT, Verdict.KNOWS_LESS} and expected is not Verdict.PASS:
        return GateStatus.MET
    if actual is Verdict.PASS:
        return GateStatus.FIXED
    before, now = BADNESS[expected or Verdict.PASS], BADNESS[actual]
    if now == before:
        return GateStatus.DIFFERENT
    return GateStatus.REGRESSED if now > before else GateStatus.IMPROVED


def worst(result: Result) -> Verdict:
    """Return the verdict of a result; for a flaky one, the worst verdict of its attempts."""
    return max(
        (Verdict(attempt["verdict"]) for attempt in result.attempts),
        key=lambda verdict: BADNESS.get(verdict, 0),
        default=result.verdict,
    )


def status_of(entry: Entry | None, result: Result) -> GateStatus:
    """Compare a result with the entry that applies to it.

    Without an entry, an exclusion of the profile accepts a failure.
    """
    if entry is None and result.excluded:
        return GateStatus.MET
    if entry is not None and entry.flaky and BADNESS.get(worst(result), math.inf) <= BADNESS[entry.verdict]:
        return GateStatus.MET
    return status_of_verdict(entry.verdict if entry else None, result.verdict)


@dataclass
class Deviation:
    """Cases of one operator version with the same status, expected verdict and actual verdict.

    Attributes:
        example: the simplest case.
        count: number of cases.
    """

    status: GateStatus
    expected: Verdict
    actual: Verdict
    example: Result
    count: int = 0


class Gate:
    """The comparison of one run with one expectations file.

    Attributes:
        hello: the backend's description of itself.
        statuses: number of cases with each status.
        deviations: cases that close the gate, grouped by status, operator version and verdicts.
        attempted: number of cases of each operator version that the runtime supports.
        unmatched: by the line of an entry, its globs over ids that have matched no scored case.
        support: the support of operator versions, which shows version gaps.
        problems: other reasons why the gate is closed; one line each.
        opened: whether the gate is open, once the run is finished.
    """

    def __init__(self, expectations: Expectations, header: Mapping[str, Any], today: dt.date | None = None) -> None:
        """Compare a file with the header of a run.

        Raises:
            ExpectationsError: the run has another backend, suite or selection.
        """
        self.expectations = expectations
        _check_same_run(expectations, header)
        self.hello: Mapping[str, Any] = header["backends"][expectations.backend]
        self.entries = tuple(entry for entry in expectations.entries if entry.applies_to(header, expectations.backend))
        self.today = today or dt.datetime.now(dt.UTC).date()
        self.statuses: Counter[GateStatus] = Counter()
        self.deviations: dict[tuple[object, ...], Deviation] = {}
        self.problems: list[str] = []
        self.opened = False
        self.attempted: Counter[str] = Counter()
        self._opted_out: Counter[str] = Counter()
        self._unexpected_opt_outs = 0
        self.unmatched = {entry.line: set(entry.case) for entry in self.entries}
        self._entries_of: dict[str, list[Entry]] = {}
        self._cases = 0
        self.support = VersionGaps.of(self.hello)
        self._profile, self._selection = ProfileChecks(self.hello), selected(header, expectations.backend)

    def add(self, result: Result) -> GateStatus | None:
        """Count a result; return its status, or None for a result of another backend.

        Raises:
            ExpectationsError: two entries contradict each other.
        """
        if result.backend != self.expectations.backend:
            return None
        self._cases += 1
        self.support.add(result)
        self._profile.add(result)
        entry = self.entry(result)
        expected = entry.verdict if entry else None
        if result.verdict.scored or result.verdict in {Verdict.LENIENT, Verdict.KNOWS_LESS}:
            self.attempted[result.operator] += 1
        elif result.verdict is Verdict.UNSUPPORTED:
            self._opted_out[result.operator] += 1
            self._unexpected_opt_outs += expected is not Verdict.UNSUPPORTED
        status = status_of(entry, result)
        self.statuses[status] += 1
        if status is not GateStatus.MET:
            key = (status, result.operator, expected, result.verdict)
            group = self.deviations.setdefault(key, Deviation(status, expected or Verdict.PASS, result.verdict, result))
            group.example = min(group.example, result, key=lambda item: item.as_example)
            group.count += 1
        return status

    def entry(self, result: Result) -> Entry | None:
        """Return the entry that applies to a result, and record which globs match."""
        if result.operator not in self._entries_of:
            own = result.case.startswith(f"{result.operator}/")
            self._entries_of[result.operator] = [
                entry
                for entry in self.entries
                if not own or any(may_match(glob, result.operator) for glob in entry.case)
            ]
        matching = [entry for entry in self._entries_of[result.operator] if entry.matches(result)]
        for entry in matching:
            # An entry is outdated if all its cases are unsupported.
            if (unmatched := self.unmatched[entry.line]) and (result.verdict.scored or result.verdict is entry.verdict):
                unmatched -= {glob for glob in unmatched if fnmatch.fnmatchcase(result.case, glob)}
        return self.expectations.choose(matching, result.case)

    def finish(self, *, complete: bool, unreadable: Sequence[Unreadable] = ()) -> bool:
        """Perform the checks at the end of a run; return whether the gate is open.

        Args:
            complete: the run was not cut off.
            unreadable: cases of the suite that could not be read.
        """
        path = self.expectations.path
        self.problems = []
        if not complete:
            self.problems.append(
                f"the run was cut off after {self._cases} cases of {line(self.expectations.backend)}; continue it with "
                "--resume"
            )
        if unreadable:
            count = f"{len(unreadable)} case{'s' if len(unreadable) > 1 else ''}"
            self.problems.append(f"{count} of the suite could not be read, the first: {unreadable[0].message}")
        if self._cases < self.expectations.minimum:
            self.problems.append(f"{self._cases} cases, but {path} requires at least {self.expectations.minimum}")
        self.problems += self._shrunk()
        self.problems += self._changed_gaps()
        if self._unexpected_opt_outs and not self.attempted:
            self.problems.append(
                f"{line(self.expectations.backend)} supports no case, so nothing is compared with {path}; if this is "
                'expected, add an entry with verdict = "unsupported"'
            )
        self.problems += self.expired()
        self.problems += self._profile.problems(self._selection, complete=complete)
        for entry in self.entries:
            if unmatched := self.unmatched[entry.line]:
                which = "matches" if len(unmatched) == len(entry.case) else _matching(unmatched)
                self.problems.append(f"{path}, line {entry.line}: {which} no scored, attempted case; remove it")
        self.opened = not self.problems and not self.deviations
        return self.opened

    def expired(self) -> Iterator[str]:
        """Yield a line for every entry whose last day is over."""
        for entry in self.entries:
            if entry.expired(self.today):
                where = f"{self.expectations.path}, line {entry.line}"
                yield f"{where}: expired on {entry.expires}: {line(entry.reason)}"

    def _changed_gaps(self) -> Iterator[str]:
        """Yield a line for every version gap that the file does not list, and for every listed one that is closed."""
        path, accepted = self.expectations.path, self.expectations.gaps
        found = {gap.name: gap for gap in self.support.found()}
        for name, gap in found.items():
            if name not in accepted:
                yield (
                    f"{line(name)} is a new version gap: version {gap.runs} has the same meaning and is supported; if "
                    f"this is accepted, add it to `gaps` in {path}"
                )
        for name in accepted:
            if name not in found:
                yield f"{line(name, 100)} is no version gap any more; remove it from `gaps` in {path}"

    def _shrunk(self) -> Iterator[str]:
        """Yield a line for every operator version with fewer attempted cases than the file requires."""
        path, total = self.expectations.path, self.attempted.total()
        if total < self.expectations.attempted:
            yield (f"{total} attempted cases, but {path} requires at least {self.expectations.attempted}")
        lost = {
            operator: least - self.attempted[operator]
            for operator, least in self.expectations.attempted_of.items()
            if self.attempted[operator] < least
        }
        worst_first = sorted(lost, key=lambda operator: (-lost[operator], operator))
        shown = worst_first if len(lost) <= MOST_SHRUNK else worst_first[: MOST_SHRUNK - 1]
        for operator in shown:
            now, least = self.attempted[operator], self.expectations.attempted_of[operator]
            opted_out = self._opted_out[operator]
            yield (
                f"{line(operator)}: {now or 'no'} cases attempted, but {path} requires at least {least}; "
                + (f"{opted_out} are unsupported" if opted_out else "the run has no other cases")
            )
        if rest := worst_first[len(shown) :]:
            yield (
                f"and {len(rest)} more operator versions, with {sum(lost[name] for name in rest)} fewer attempted cases"
            )


def _matching(globs: Collection[str]) -> str:
    """Return the subject and verb for some of an entry's globs, such as `'a*' and 2 more of its globs match`."""
    first, *rest = sorted(globs)
    return f"{line(first, 200)!r} " + (f"and {len(rest)} more of its globs match" if rest else "matches")


def check_gated(header: Mapping[str, Any]) -> None:
    """Raise ExpectationsError if a run has provisional cases."""
    if header["suite"]["name"] == PROVISIONAL:
        raise ExpectationsError(
            "gate-of-provisional",
            "the run has provisional cases, which a gate does not accept: they prove nothing until an operator file "
            "declares their versions",
        )


def _check_same_run(expectations: Expectations, header: Mapping[str, Any]) -> None:
    """Raise ExpectationsError if a run cannot be compared with a file."""
    path, suite = expectations.path, header["suite"]
    check_gated(header)
    if expectations.backend not in header["backends"]:
        own, names = line(expectations.backend), line(", ".join(header["backends"]))
        raise ExpectationsError(
            "expectations-of-another-backend", f"{path} is for {own}, but the run is of {names}; name another file"
        )
    for what, expected, actual in (
        ("suite", expectations.suite, suite["name"]),
        ("suite digest", expectations.digest, suite.get("digest", "")),
        ("selection", expectations.selection, selected(header, expectations.backend)),
    ):
        if expected != actual and (expected or what == "selection"):
            raise ExpectationsError(
                "expectations-of-another-run",
                f"{path} was written for {what} {line(expected) or 'everything'}, but the run has "
                f"{line(actual) or 'everything'}; run the same, or change this line of the file",
            )
