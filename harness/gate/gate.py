"""The gate: holds a run against what its runtime's author accepts for now.

A verdict is met, or it is news: worse than expected, another failure, better, or a pass where none was expected. All
news close the gate, for a file that does not say what is true protects nothing.
"""

from __future__ import annotations

import datetime as dt
import enum
import fnmatch
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.gate.expectations import ExpectationsError
from harness.globs import may_match
from harness.results.sampling import selected
from harness.verdict import Result, Verdict, line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from harness.gate.expectations import Entry, Expectations
    from harness.verdict import Unreadable


class Standing(enum.StrEnum):
    """How a verdict stands to the expected one."""

    MET = "met"
    REGRESSED = "regressed"
    DIFFERENT = "different"
    IMPROVED = "improved"
    FIXED = "fixed"
    BROKEN = "broken"
    """The adapter is at fault; nothing was measured."""


MOST_SHRUNK = 20
"""Operator versions of which a line each says that they have shrunk; the rest is one line."""

BADNESS: Mapping[Verdict, int] = {
    Verdict.PASS: 0,
    Verdict.UNSUPPORTED: 1,
    Verdict.ACCEPTED_INVALID: 2,
    Verdict.REFUSED: 3,
    Verdict.WRONG_VALUE: 4,
    Verdict.WRONG_SHAPE: 4,
    Verdict.WRONG_TYPE: 4,
    Verdict.WRONG_COUNT: 4,
    Verdict.FLAKY: 5,
    Verdict.TIMEOUT: 6,
    Verdict.CRASH: 7,
}
"""From what a user minds least to what takes the process along: an error is better than a wrong answer, and
a wrong answer that one can rely on better than one that comes and goes."""


def stand(expected: Verdict | None, actual: Verdict) -> Standing:
    """Return how a verdict stands to the expected one.

    Args:
        expected: None where no entry speaks of the case: it passes, or the runtime opts out of it.
        actual: what came of it. `unspecified` is always met, and `unsupported` unless a pass is asked for in so many
            words: that a runtime opts out of more than before is told by the number of attempted cases.
    """
    if actual is Verdict.ADAPTER_ERROR:
        return Standing.BROKEN
    if actual in {expected or Verdict.PASS, Verdict.UNSPECIFIED}:
        return Standing.MET
    if actual is Verdict.UNSUPPORTED and expected is not Verdict.PASS:
        return Standing.MET
    if actual is Verdict.PASS:
        return Standing.FIXED
    before, now = BADNESS[expected or Verdict.PASS], BADNESS[actual]
    if now == before:
        return Standing.DIFFERENT
    return Standing.REGRESSED if now > before else Standing.IMPROVED


def worst(result: Result) -> Verdict:
    """Return the verdict of a result, or of a flaky one the worst of its attempts."""
    return max(
        (Verdict(attempt["verdict"]) for attempt in result.attempts),
        key=lambda verdict: BADNESS.get(verdict, 0),
        default=result.verdict,
    )


def standing_of(entry: Entry | None, result: Result) -> Standing:
    """Return how a result stands to the entry that decides on it."""
    if entry is not None and entry.flaky and BADNESS.get(worst(result), math.inf) <= BADNESS[entry.verdict]:
        return Standing.MET
    return stand(entry.verdict if entry else None, result.verdict)


@dataclass
class News:
    """Cases of one operator version that stand alike.

    Attributes:
        example: the first of them.
        count: how many there are.
    """

    standing: Standing
    expected: Verdict
    actual: Verdict
    example: Result
    count: int = 0


class Gate:
    """One run held against one file.

    Attributes:
        hello: what the backend says of itself.
        standings: how many cases stand how.
        news: what closes the gate, case by case, by what it has in common.
        attempted: how many cases of each operator version the runtime does not opt out of.
        idle: of each entry, by its line, the globs over ids that have matched no case that is scored.
        problems: what closes it beside that; a line each.
        opened: whether nothing closes it, once the run is finished.
    """

    def __init__(self, expectations: Expectations, header: Mapping[str, Any], today: dt.date | None = None) -> None:
        """Take a file and the header of a run.

        Raises:
            ExpectationsError: the run is of another backend, suite or selection.
        """
        self.expectations = expectations
        _same(expectations, header)
        self.hello: Mapping[str, Any] = header["backends"][expectations.backend]
        self.entries = tuple(entry for entry in expectations.entries if entry.holds_for(header, expectations.backend))
        self.today = today or dt.datetime.now(dt.UTC).date()
        self.standings: Counter[Standing] = Counter()
        self.news: dict[tuple[object, ...], News] = {}
        self.problems: list[str] = []
        self.opened = False
        self.attempted: Counter[str] = Counter()
        self._opted_out: Counter[str] = Counter()
        self._unasked = 0
        self.idle = {entry.line: set(entry.case) for entry in self.entries}
        self._of_operator: dict[str, list[Entry]] = {}
        self._cases = 0

    def add(self, result: Result) -> Standing | None:
        """Take a result; return how it stands, or None for one of another backend.

        Raises:
            ExpectationsError: two entries contradict each other.
        """
        if result.backend != self.expectations.backend:
            return None
        self._cases += 1
        entry = self.entry(result)
        expected = entry.verdict if entry else None
        if result.verdict.scored:
            self.attempted[result.operator] += 1
        elif result.verdict is Verdict.UNSUPPORTED:
            self._opted_out[result.operator] += 1
            self._unasked += expected is not Verdict.UNSUPPORTED
        standing = standing_of(entry, result)
        self.standings[standing] += 1
        if standing is not Standing.MET:
            key = (standing, result.operator, expected, result.verdict)
            told = self.news.setdefault(key, News(standing, expected or Verdict.PASS, result.verdict, result))
            told.count += 1
        return standing

    def entry(self, result: Result) -> Entry | None:
        """Return the entry that decides on a result, and note which ones match."""
        if result.operator not in self._of_operator:
            own = result.case.startswith(f"{result.operator}/")
            near = [
                entry
                for entry in self.entries
                if not own or any(may_match(glob, result.operator) for glob in entry.case)
            ]
            self._of_operator[result.operator] = near
        found = [entry for entry in self._of_operator[result.operator] if entry.matches(result)]
        for entry in found:
            # An entry that only meets what the runtime opts out of says nothing any more.
            if (idle := self.idle[entry.line]) and (result.verdict.scored or result.verdict is entry.verdict):
                idle -= {glob for glob in idle if fnmatch.fnmatchcase(result.case, glob)}
        return self.expectations.choose(found, result.case)

    def finish(self, *, complete: bool, unreadable: Sequence[Unreadable] = ()) -> bool:
        """Look at what only the end of a run tells; return whether the gate is open.

        Args:
            complete: the run came to its end.
            unreadable: cases of the suite that no backend could be asked.
        """
        path = self.expectations.path
        self.problems = []
        if not complete:
            self.problems.append(
                f"the run was cut off after {self._cases} cases of {line(self.expectations.backend)}; go on with "
                "--resume"
            )
        if unreadable:
            count = f"{len(unreadable)} case{'s' if len(unreadable) > 1 else ''}"
            self.problems.append(f"{count} of the suite could not be read, first {unreadable[0].message}")
        if self._cases < self.expectations.minimum:
            self.problems.append(
                f"{self._cases} cases, where {path} asks for {self.expectations.minimum} at least: something has shrunk"
            )
        self.problems += self._shrunk()
        if self._unasked and not self.attempted:
            self.problems.append(
                f"{line(self.expectations.backend)} opts out of every case: nothing is held against {path}; an entry "
                'with verdict = "unsupported" would say that this is expected'
            )
        self.problems += self.expired()
        for entry in self.entries:
            if idle := self.idle[entry.line]:
                which = "matches" if len(idle) == len(entry.case) else _matching(idle)
                self.problems.append(
                    f"{path}, line {entry.line}: {which} no case that is scored and attempted; remove it"
                )
        self.opened = not self.problems and not self.news
        return self.opened

    def expired(self) -> Iterator[str]:
        """Yield a line for every entry whose last day is over."""
        for entry in self.entries:
            if entry.expired(self.today):
                where = f"{self.expectations.path}, line {entry.line}"
                yield f"{where}: expired on {entry.expires}: {line(entry.reason)}"

    def _shrunk(self) -> Iterator[str]:
        """Yield a line for every operator version of which fewer cases are attempted than the file asks for."""
        path, total = self.expectations.path, self.attempted.total()
        if total < self.expectations.attempted:
            yield (
                f"{total} attempted cases, where {path} asks for {self.expectations.attempted} at least: something has "
                "shrunk"
            )
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
                f"{line(operator)}: {now or 'no'} cases attempted, where {path} asks for {least} at least: "
                + (f"the runtime opts out of {opted_out}" if opted_out else "the run has no more of it")
            )
        if rest := worst_first[len(shown) :]:
            yield (
                f"and {len(rest)} more operator versions, of which {sum(lost[name] for name in rest)} cases are no "
                "longer attempted"
            )


def _matching(globs: Collection[str]) -> str:
    """Return that some of an entry's globs match, in short."""
    first, *rest = sorted(globs)
    return f"{line(first, 200)!r} " + (f"and {len(rest)} more of its globs match" if rest else "matches")


def _same(expectations: Expectations, header: Mapping[str, Any]) -> None:
    """Raise ExpectationsError if a run cannot be held against a file."""
    path, suite = expectations.path, header["suite"]
    if expectations.backend not in header["backends"]:
        own, there = line(expectations.backend), line(", ".join(header["backends"]))
        raise ExpectationsError(f"{path} speaks of {own}, the run is of {there}; name the other file")
    for what, wanted, found in (
        ("suite", expectations.suite, suite["name"]),
        ("suite digest", expectations.digest, suite.get("digest", "")),
        ("selection", expectations.selection, selected(header, expectations.backend)),
    ):
        if wanted != found and (wanted or what == "selection"):
            raise ExpectationsError(
                f"{path} was written for {what} {line(wanted) or 'everything'}, the run has "
                f"{line(found) or 'everything'}; run the same, or change the file's line"
            )
