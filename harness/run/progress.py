"""How far a run has come, for whoever waits for it: by backend what is done, how fast, and about what is left.

How many cases a suite has is not known before they are made, so the number is an estimate until the last one is; and a
pace is that of the last minutes, for some operators take a runtime much longer than others.

A hang is no pace: seconds in which a backend did nothing but take long over a case are left out of it. Instead, what is
left is taken to have as many of them in proportion as there were so far, but never more of them in all than there were:
hangs come in clusters, and one at the beginning does not mean one in every minute.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

from harness import printing
from harness.execution.case_times import Status
from harness.report.terminal import clipped
from harness.verdict import Verdict, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from harness.execution.case_times import Wait
    from harness.suites.suite import Outlook

WINDOW = 120.0
"""Seconds that a pace is taken over."""
EVERY_LOOK, EVERY_LINE = 0.5, 30.0
"""Seconds between two looks on a terminal, and between two lines where there is none."""
ENOUGH = 50
"""Declared cases that must be behind before their forms say more than the average of the whole suite."""
LEAST_TIME = 1.0
"""Seconds without a hang that it takes to tell a pace."""
LONG = 2.0
"""Seconds from which on it is told what a backend is waited for."""
WIDE, NAME, CASE = 110, 20, 40
"""Columns of a terminal that has room for a bar, and characters of a backend's name, and of a case's."""
MINUTE, HOUR, DAY = 60, 3600, 86400
FAILED = frozenset(str(verdict) for verdict in Verdict if verdict.failed)


@dataclass(frozen=True)
class Total:
    """How many cases there are.

    Attributes:
        cases: the number.
        exact: it is no estimate.
    """

    cases: float
    exact: bool = False


def total(outlook: Outlook | None, made: Mapping[str, int], *, last: bool) -> Total | None:
    """Return how many cases a selection has, as far as one can tell by now; None where one cannot.

    Args:
        outlook: what was known beforehand.
        made: by operator version, how many were made so far.
        last: no more will be.
    """
    so_far = sum(made.values())
    if last:
        return Total(so_far, exact=True)
    if outlook is None:
        return None
    order = list(outlook.declared)
    now = next((place for place in range(len(order) - 1, -1, -1) if order[place] in made), 0)
    behind = sum(outlook.declared[name] for name in order[:now])
    done = sum(made.get(name, 0) for name in order[:now])
    each = done / behind if behind >= ENOUGH and done else outlook.forms
    ahead = sum(outlook.declared[name] for name in order[now + 1 :]) * each
    here = max(outlook.declared[order[now]] * each, made.get(order[now], 0)) if order else 0
    return Total(max(done + here + ahead, so_far))


@dataclass
class Look:
    """What there is to say of one backend at one moment.

    Attributes:
        done: results.
        failed: of these; None where nothing is judged.
        total: that it is asked in all, if one can tell.
        pace: results a second, of the last minutes, hangs left out.
        hangs: seconds of hangs that are to be expected yet.
        wait: the case that it has been waited for the longest, if any.
        restarts: how often its processes were started again.
    """

    done: int
    failed: int | None
    total: Total | None
    pace: float
    hangs: float = 0.0
    wait: Wait | None = None
    restarts: int = 0

    @property
    def left(self) -> float | None:
        """Seconds that are left at this pace, or None where one cannot tell."""
        if self.total is None or not self.pace:
            return None
        return max(0.0, self.total.cases - self.done) / self.pace + self.hangs

    def __str__(self) -> str:
        """Return it in words, what a narrow terminal may cut off last."""
        words = [f"{self.done:,}"]
        if self.total is not None:
            words = [f"{self.done:,} of {'' if self.total.exact else 'about '}{_rounded(self.total):,}"]
        if self.wait is not None and self.wait.seconds >= LONG:
            words += [_named(self.wait.case), f"{self.wait.seconds:.0f} s of {self.wait.limit:g}"]
        words += [f"about {_spoken(self.left)} left"] if self.left is not None else []
        words += [f"{self.failed:,} failed"] if self.failed is not None else []
        words += [f"{self.restarts:,} restart{'s' if self.restarts > 1 else ''}"] if self.restarts else []
        words += [f"{self.pace:.3g}/s" if self.pace < 100 else f"{self.pace:.0f}/s"] if self.pace else []  # noqa: PLR2004
        return ", ".join(words)


def _rounded(found: Total) -> int:
    """Return an exact number as it is, and of an estimate the two digits that it is good for."""
    number = round(found.cases)
    digits = 0 if found.exact else max(0, len(str(number)) - 2)
    return round(number, -digits)


def _named(case: str) -> str:
    """Return the id of a case in short: without its domain or suite, and without its form."""
    return line(clipped(case.partition("@")[0].partition("/")[2] or case, CASE))


def _spoken(seconds: float) -> str:
    if seconds < MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < HOUR:
        return f"{round(seconds / MINUTE)} min"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h {round(seconds % HOUR / MINUTE)} min"
    return f"{seconds / DAY:.1f} days"


@dataclass
class Pace:
    """How fast the results of one backend come.

    Attributes:
        before: results that were there when it began.
    """

    before: int
    _seen: deque[tuple[float, int]] = field(default_factory=deque)
    _held: float = 0.0

    def see(self, now: float, done: int, held: float) -> None:
        """Take a look: how many results there are, and how many seconds so far were hangs."""
        self._held = max(held, self._held)
        moved = now - self._held
        while len(self._seen) > 1 and self._seen[-1][0] >= moved:  # Nothing but a hang since.
            self._seen.pop()
        while len(self._seen) > 1 and self._seen[1][0] <= moved - WINDOW:
            self._seen.popleft()
        self._seen.append((moved, done))

    @property
    def each_second(self) -> float:
        """Results a second without hangs; 0 where one cannot tell."""
        (then, before), (now, done) = self._seen[0], self._seen[-1]
        return (done - before) / (now - then) if now - then >= LEAST_TIME else 0.0

    def hangs(self, left: float) -> float:
        """Return the seconds of hangs to be expected of so many cases."""
        done = self._seen[-1][1] - self.before
        return min(self._held, self._held * left / done) if done else 0.0


@dataclass
class Watch:
    """Looks at a run from time to time.

    Attributes:
        counts: by backend and verdict, the results so far; the run goes on changing it. By operator version, where
            nothing is judged.
        shares: by backend, what part of the made cases it is asked.
        total: how many cases are made in all, if one can tell.
        clock: seconds.
        judged: whether what is counted has verdicts.
        status: by backend, what it is doing at the moment.
    """

    counts: Mapping[str, Mapping[str, int]]
    shares: Mapping[str, float]
    total: Callable[[], Total | None]
    clock: Callable[[], float] = time.monotonic
    judged: bool = True
    status: Callable[[], Mapping[str, Status]] = dict
    _paces: dict[str, Pace] = field(default_factory=dict, init=False)

    def _failed(self, name: str) -> int:
        return sum(count for verdict, count in self.counts.get(name, {}).items() if verdict in FAILED)

    def look(self) -> dict[str, Look]:
        """Return what there is to say of each backend."""
        now, every, status = self.clock(), self.total(), self.status()
        return {name: self._look(name, now, every, status.get(name, Status())) for name in self.shares}

    def _look(self, name: str, now: float, every: Total | None, status: Status) -> Look:
        share = self.shares[name]
        cases = None if every is None else Total(every.cases * share, every.exact and share == 1)
        done = sum(self.counts.get(name, {}).values())
        pace = self._paces.setdefault(name, Pace(done))
        pace.see(now, done, status.stalled)
        return Look(
            done,
            self._failed(name) if self.judged else None,
            cases,
            pace.each_second,
            0.0 if cases is None else pace.hangs(max(0.0, cases.cases - done)),
            status.wait,
            status.restarts,
        )


@contextlib.contextmanager
def shown(watch: Watch) -> Iterator[Callable[[], None]]:
    """Give what is to be called at each result: it shows how far the run is, where and when that is wanted.

    On a terminal there is a line for each backend while the run lasts. Elsewhere one line goes to standard error every
    30 seconds, and none of a run that is over before.
    """
    if printing.on_terminal():
        with _on_terminal(watch) as advance:
            yield advance
    else:
        yield _in_lines(watch)


@contextlib.contextmanager
def steps(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give what is to be called with how many steps are done and how many there are; it shows them as `shown` does.

    Args:
        what: is done, as in "explains the failures of operators".
    """
    if printing.on_terminal():
        with Progress(*_columns(Console(stderr=True)), console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(what, total=None, told="")
            yield lambda done, every: progress.update(task, completed=done, total=every, told=f"{done:,} of {every:,}")
        return
    latest = (0, 0)

    def show() -> None:
        printing.warn(f"{what}: {latest[0]:,} of {latest[1]:,}")

    act = _every(EVERY_LINE, time.monotonic, show)

    def advance(done: int, every: int) -> None:
        nonlocal latest
        latest = (done, every)
        act()

    yield advance


def _columns(console: Console) -> tuple[ProgressColumn, ...]:
    """Return the columns of a progress line: a bar where there is room for it."""
    bar = [BarColumn(16)] if console.width >= WIDE else []
    told = TextColumn("{task.fields[told]}", markup=False)
    return (TimeElapsedColumn(), TextColumn("{task.description}", markup=False), *bar, told)


@contextlib.contextmanager
def _on_terminal(watch: Watch) -> Iterator[Callable[[], None]]:
    console = Console(stderr=True)
    with Progress(*_columns(console), console=console, transient=True) as progress:
        tasks = {name: progress.add_task(line(clipped(name, NAME)), total=None, told="") for name in watch.shares}

        def show() -> None:
            for name, look in watch.look().items():
                cases = None if look.total is None else look.total.cases
                progress.update(tasks[name], completed=look.done, total=cases, told=str(look))

        show()
        yield _every(EVERY_LOOK, watch.clock, show)


def _in_lines(watch: Watch) -> Callable[[], None]:
    begun = watch.clock()

    def show() -> None:
        told = "; ".join(f"{line(clipped(name))}: {look}" for name, look in watch.look().items())
        printing.warn(f"after {_spoken(watch.clock() - begun)}: {told}")

    seen = _every(EVERY_LOOK * 10, watch.clock, watch.look)  # A pace needs looks that nobody sees.
    line_ = _every(EVERY_LINE, watch.clock, show)

    def advance() -> None:
        seen()
        line_()

    return advance


def _every(seconds: float, clock: Callable[[], float], act: Callable[[], object]) -> Callable[[], None]:
    """Return what acts when it is called, but not so often."""
    due = clock() + seconds

    def advance() -> None:
        nonlocal due
        now = clock()
        if now >= due:
            act()
            due = clock() + seconds

    return advance
