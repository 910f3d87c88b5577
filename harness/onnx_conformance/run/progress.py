# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of a run: by backend, how many cases are done, how fast, and about how long the rest takes.

The number of cases of a suite is not known before they are generated, so it is an estimate until the last one is. The
rate is that of the last minutes, for some operators take a runtime much longer than others.

Seconds in which all that a backend did was run a slow case (it stalled) do not count for the rate. Instead, the rest is
estimated to stall in proportion as long as so far, but no longer than so far in all: slow cases come in clusters, and
one at the beginning does not mean one in every minute.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

from onnx_conformance.base import printing
from onnx_conformance.base.printing import clipped
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.processes.case_times import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_conformance.processes.case_times import Wait
    from onnx_conformance.suites.suite import Outlook

WINDOW = 120.0
"""Seconds over which the rate is computed."""
UPDATE_SECONDS, LINE_SECONDS = 0.5, 30.0
"""Seconds between two updates on a terminal, and between two lines elsewhere."""
LEAST_TIME = 1.0
"""Seconds, without stalls, before a rate is computed."""
LONG = 2.0
"""Seconds after which the case that a backend runs is shown."""
WIDE, NAME, CASE = 110, 20, 40
"""Columns of a terminal that is wide enough for a bar; characters of a backend's name; of a case's name."""
MINUTE, HOUR, DAY = 60, 3600, 86400
FAILED = frozenset(str(verdict) for verdict in Verdict if verdict.failed)


@dataclass(frozen=True)
class Total:
    """A number of cases.

    Attributes:
        cases: the number.
        exact: whether it is not an estimate.
    """

    cases: float
    exact: bool = False


def total(outlook: Outlook | None, made: Mapping[str, int], *, last: bool) -> Total | None:
    """Return the number of cases of a selection, or an estimate; None if there is no estimate yet.

    Args:
        outlook: the declared cases, known before the run.
        made: by operator version, how many cases were generated so far.
        last: whether all were.
    """
    so_far = sum(made.values())
    if last:
        return Total(so_far, exact=True)
    if outlook is None:
        return None
    known = sum(max(count * outlook.forms, made.get(name, 0)) for name, count in outlook.declared.items())
    return Total(max(known, so_far))


@dataclass
class Look:
    """The progress of one backend at one moment.

    Attributes:
        done: results.
        failed: of these; None where nothing is judged.
        total: cases that it runs, if known.
        pace: results a second in the last minutes, without stalls.
        hangs: seconds for which the rest is expected to stall.
        wait: the unanswered case that has run longest, if any.
        restarts: how often its processes were replaced.
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
        """Seconds until the end at this rate, or None where that is not known."""
        if self.total is None or not self.pace:
            return None
        return max(0.0, self.total.cases - self.done) / self.pace + self.hangs

    def __str__(self) -> str:
        """Return the progress in words; the least important ones last, because a narrow terminal cuts them off."""
        words = [f"{self.done:,}"]
        if self.total is not None:
            words = [f"{self.done:,} of {'' if self.total.exact else 'about '}{_rounded(self.total):,}"]
        if self.wait is not None and self.wait.seconds >= LONG:
            words += [_short_id(self.wait.case), f"{self.wait.seconds:.0f} s of {self.wait.limit:g}"]
        words += [f"about {_duration(self.left)} left"] if self.left is not None else []
        words += [f"{self.failed:,} failed"] if self.failed is not None else []
        words += [f"{self.restarts:,} restart{'s' if self.restarts > 1 else ''}"] if self.restarts else []
        words += [f"{self.pace:.3g}/s" if self.pace < 100 else f"{self.pace:.0f}/s"] if self.pace else []  # noqa: PLR2004
        return ", ".join(words)


def _rounded(total: Total) -> int:
    """Return an exact number unchanged, and an estimate rounded to two digits."""
    number = round(total.cases)
    digits = 0 if total.exact else max(0, len(str(number)) - 2)
    return round(number, -digits)


def _short_id(case: str) -> str:
    """Return the id of a case without its domain or suite, and without its form."""
    return line(clipped(case.partition("@")[0].partition("/")[2] or case, CASE))


def _duration(seconds: float) -> str:
    if seconds < MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < HOUR:
        return f"{round(seconds / MINUTE)} min"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h {round(seconds % HOUR / MINUTE)} min"
    return f"{seconds / DAY:.1f} days"


@dataclass
class Pace:
    """The rate of one backend's results.

    Attributes:
        before: results at the start.
    """

    before: int
    _samples: deque[tuple[float, int]] = field(default_factory=deque)
    _stalled: float = 0.0

    def see(self, now: float, done: int, stalled: float) -> None:
        """Add a sample: the number of results, and the seconds so far in which the backend stalled."""
        self._stalled = max(stalled, self._stalled)
        moved = now - self._stalled
        while len(self._samples) > 1 and self._samples[-1][0] >= moved:  # It has only stalled since.
            self._samples.pop()
        while len(self._samples) > 1 and self._samples[1][0] <= moved - WINDOW:
            self._samples.popleft()
        self._samples.append((moved, done))

    @property
    def each_second(self) -> float:
        """Results a second without stalls; 0 where that is not known yet."""
        (then, before), (now, done) = self._samples[0], self._samples[-1]
        return (done - before) / (now - then) if now - then >= LEAST_TIME else 0.0

    def hangs(self, left: float) -> float:
        """Return the seconds for which so many cases are expected to stall."""
        done = self._samples[-1][1] - self.before
        return min(self._stalled, self._stalled * left / done) if done else 0.0


@dataclass
class Watch:
    """Computes the progress of a run from its counts.

    Attributes:
        counts: by backend and verdict, the results so far; the run changes it. By operator version, where nothing is
            judged.
        shares: by backend, the part of the generated cases that it runs.
        total: returns how many cases are generated in all, if known.
        clock: returns seconds.
        judged: whether the counts are by verdict.
        status: returns the state of each backend by name.
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
        """Return the progress of each backend."""
        now, total_, status = self.clock(), self.total(), self.status()
        return {name: self._look(name, now, total_, status.get(name, Status())) for name in self.shares}

    def _look(self, name: str, now: float, total_: Total | None, status: Status) -> Look:
        share = self.shares[name]
        cases = None if total_ is None else Total(total_.cases * share, total_.exact and share == 1)
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
    """Provide a function to call at each result: it shows the progress of the run.

    On a terminal there is a line for each backend during the run. Elsewhere one line goes to standard error every 30
    seconds, so a shorter run prints none.
    """
    if printing.on_terminal():
        with _on_terminal(watch) as advance:
            yield advance
    else:
        yield _in_lines(watch)


@contextlib.contextmanager
def steps(activity: str) -> Iterator[Callable[[int, int], None]]:
    """Provide a function to call with the number of completed steps and the total number; it shows them like `shown`.

    Args:
        activity: in words, as in "explains the failures of operators".
    """
    if printing.on_terminal():
        with Progress(*_columns(Console(stderr=True)), console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(activity, total=None, text="")
            yield lambda done, every: progress.update(task, completed=done, total=every, text=f"{done:,} of {every:,}")
        return
    latest = (0, 0)

    def show() -> None:
        printing.warn(f"{activity}: {latest[0]:,} of {latest[1]:,}")

    act = _every(LINE_SECONDS, time.monotonic, show)

    def advance(done: int, every: int) -> None:
        nonlocal latest
        latest = (done, every)
        act()

    yield advance


@contextlib.contextmanager
def phases() -> Iterator[Callable[[str, int, int], None]]:
    """Provide a function to call with the current activity, the number of completed steps, and the total number."""
    with contextlib.ExitStack() as stack:
        current, advance = "", None

        def on_step(activity: str, done: int, every: int) -> None:
            nonlocal current, advance
            if activity != current or advance is None:
                stack.close()
                current, advance = activity, stack.enter_context(steps(activity))
            advance(done, every)

        yield on_step


def _columns(console: Console) -> tuple[ProgressColumn, ...]:
    """Return the columns of a progress line: a bar where there is room for it."""
    bar = [BarColumn(16)] if console.width >= WIDE else []
    text = TextColumn("{task.fields[text]}", markup=False)
    return (TimeElapsedColumn(), TextColumn("{task.description}", markup=False), *bar, text)


@contextlib.contextmanager
def _on_terminal(watch: Watch) -> Iterator[Callable[[], None]]:
    console = Console(stderr=True)
    with Progress(*_columns(console), console=console, transient=True) as progress:
        tasks = {name: progress.add_task(line(clipped(name, NAME)), total=None, text="") for name in watch.shares}

        def show() -> None:
            for name, look in watch.look().items():
                cases = None if look.total is None else look.total.cases
                progress.update(tasks[name], completed=look.done, total=cases, text=str(look))

        show()
        yield _every(UPDATE_SECONDS, watch.clock, show)


def _in_lines(watch: Watch) -> Callable[[], None]:
    started = watch.clock()

    def show() -> None:
        text = "; ".join(f"{line(clipped(name))}: {look}" for name, look in watch.look().items())
        printing.warn(f"after {_duration(watch.clock() - started)}: {text}")

    sample = _every(UPDATE_SECONDS * 10, watch.clock, watch.look)  # A rate needs more samples.
    line_ = _every(LINE_SECONDS, watch.clock, show)

    def advance() -> None:
        sample()
        line_()

    return advance


def _every(seconds: float, clock: Callable[[], float], act: Callable[[], object]) -> Callable[[], None]:
    """Return a function that calls `act`, but not more often than every so many seconds."""
    due = clock() + seconds

    def advance() -> None:
        nonlocal due
        now = clock()
        if now >= due:
            act()
            due = clock() + seconds

    return advance
