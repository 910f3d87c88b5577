"""One run from beginning to end: suite, processes, result stream, report."""

from __future__ import annotations

import array
import contextlib
import dataclasses
import os
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import printing
from harness.case.value_text import brief
from harness.errors import HarnessError
from harness.execution import backend_names, sandbox
from harness.execution.ask import Asker
from harness.execution.replies import Answered, Refused
from harness.gate import expectations
from harness.gate.gate import Gate
from harness.report import gate as gate_report
from harness.report import run_end, terminal
from harness.results import sampling
from harness.results.files import Streams
from harness.results.stream import header
from harness.results.summary import Summary
from harness.run import cpu_time, progress
from harness.run import scheduler as runners
from harness.run.signals import EndedError, in_order
from harness.spec.completeness import completeness, covers
from harness.suites.generated import Generated
from harness.suites.lookup import check_selection, open_suite
from harness.suites.official import Official
from harness.suites.selection import Selection
from harness.verdict import Result, Unreadable, Verdict, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from harness.case.case import Case
    from harness.execution.adapter_process import Limits
    from harness.execution.usual_time import Status
    from harness.suites.suite import Outlook, Suite

REFERENCE = "onnx_reference"
TABLES = ("operators", "full", "none")
"""What `run` shows at its end: a row an operator that fails, a row an operator version and backend, or neither."""
MOST_FAULTS = 1000
"""Results that are an adapter's fault, each told in the footer; of what comes after, only how many there are."""
EXIT_PASSED, EXIT_FAILED, EXIT_BROKEN = 0, 1, 2


class StoppedError(HarnessError):
    """The run ended before its end, on purpose."""


@dataclass(frozen=True)
class Options:
    """What `run` was asked for; see `onnx-conformance run --help`.

    Attributes:
        groups: faults shown of each backend; 0: all.
        table: one of TABLES.
        apart: `results` is a folder, in which each backend has a file of its own.
        overwrite: results that are there may be replaced.
        pythons: by backend, the interpreter of an environment that the user made; under "" that of all others.
        samples: by backend, n of the 1 case in n that it is asked; without one, it is asked all.
        passes: names of environment variables that adapters are given beside those that all are.
        isolate: adapters have neither a network nor a view of what they are held against.
    """

    backends: tuple[str, ...]
    suite: str
    selection: Selection
    limits: Limits
    jobs: int = 1
    repeat: int = 0
    reference: str | None = None
    pythons: Mapping[str, str] = field(default_factory=dict)
    results: Path | None = None
    apart: bool = False
    resume: bool = False
    overwrite: bool = False
    max_fail: int | None = None
    groups: int = 10
    table: str = TABLES[0]
    expectations: Path | None = None
    samples: Mapping[str, int] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    isolate: bool = False


class Done:
    """Which cases were asked of which backends before: eight bytes each, for there may be a million."""

    def __init__(self) -> None:
        """Start with none."""
        self._hashes = array.array("q")
        self._sorted: npt.NDArray[np.int64] | None = None

    def add(self, result: Result) -> None:
        """Take a result that is there."""
        self._hashes.append(hash((result.backend, result.case)))
        self._sorted = None

    def __contains__(self, asked: tuple[str, str]) -> bool:
        """Tell whether a backend was asked a case."""
        if self._sorted is None:
            self._sorted = np.sort(np.frombuffer(self._hashes, np.int64))
        place = int(np.searchsorted(self._sorted, wanted := hash(asked)))
        return place < len(self._sorted) and int(self._sorted[place]) == wanted


class Run:
    """A run in progress.

    Attributes:
        summary: the counts so far.
        faults: lines on what went wrong without being any case's result.
        gate: what the results are held against, once the run has begun.
        streams: the results files.
        cost: in CPU time, once the run has come to its end.
        versions: by backend, what it says of its version.
    """

    def __init__(self, options: Options, suite: Suite | None = None) -> None:
        """Take options; `suite` overrides the named one.

        Raises:
            HarnessError: a backend, the suite, an operator or the results file is not to be had.
        """
        self.options = options
        of_all = options.pythons.get("", "")
        self.targets = [
            backend_names.resolve(name, options.pythons.get(name, of_all), options.passes)
            for name in dict.fromkeys(options.backends)
        ]
        self.reference = backend_names.resolve(options.reference, passes=options.passes) if options.reference else None
        if options.isolate:
            isolation = sandbox.around(options.suite, options.results, apart=options.apart)
            self.targets = [isolation.of(target) for target in self.targets]
            self.reference = isolation.of(self.reference) if self.reference else None
        self.suite = suite or open_suite(options.suite)
        check_selection(self.suite, options.selection)
        self.expected = expectations.read(options.expectations) if options.expectations else None
        self.gate: Gate | None = None
        names = [target.name for target in self.targets]
        self.streams = Streams(
            options.results, names, options.reference or "", apart=options.apart, overwrite=options.overwrite
        )
        self.cost: cpu_time.Cost | None = None
        self.summary = Summary()
        self.faults: list[str] = []
        self._blamed: dict[str, str] = {}
        self._untold: Counter[str] = Counter()
        self.taken = 0
        self._made: Counter[str] = Counter()
        self._last = False
        self._unreadable: set[Unreadable] = set()
        self._outlook: Outlook | None = None
        self._looked = False
        self.without_outputs: list[str] = []
        self.versions: dict[str, str] = {}
        self._runner: runners.Runner | None = None

    def run(
        self, on_result: Callable[[Result], None] = lambda _: None, on_wait: Callable[[], None] = lambda: None
    ) -> None:
        """Run everything and write the stream; ends early only by an exception.

        Args:
            on_result: called with each result.
            on_wait: called from time to time where no result comes.

        Raises:
            HarnessError: a backend does not start, or the run was stopped by --max-fail.
        """
        started, before = time.monotonic(), cpu_time.so_far()
        source = {"name": self.suite.name, "digest": self.suite.digest()}
        complete = False
        try:
            if self.options.resume:
                self.streams.resume(source, self._arguments())
            self.streams.check()
            if self.expected is not None and (earlier := self.streams.header_of(self.expected.backend)):
                self._close_gate(earlier)
            done = self._replay()
            with runners.Runner(
                self.targets, self.options.limits, self.options.jobs, self.reference, self.options.repeat
            ) as runner:
                self._runner = runner
                hellos = runner.start()
                part = covers() if self.suite.name == Generated.name else None
                first = header(source, hellos, self._arguments(), part)
                if self.gate is None:
                    self._close_gate(first)
                self.versions = {name: str(item.get("version", "")) for name, item in first["backends"].items()}
                self.streams.begin(first, hellos)
                try:
                    for result in runner.run(self._cases(), self._sparing(done), on_wait):
                        self._add(result)
                        on_result(result)
                finally:
                    for result in runner.rest():
                        self._keep(result)
                    self.faults += runner.faults
                given_up = runner.given_up
            self._verify()
            self.cost = cpu_time.so_far() - before
            unread = {item.message for item in self._unreadable}  # The streams have records of their own for these.
            faults = [(self._whose(fault), fault) for fault in self.faults if fault not in unread]
            self.streams.finish(time.monotonic() - started, faults, given_up, self.cost.members)
            complete = not given_up
        finally:
            self.streams.close()
            if self.gate is not None:
                self.gate.finish(complete=complete, unreadable=self.suite.unreadable)

    def _sparing(self, done: Done) -> Callable[[str, str], bool]:
        """Return what tells whether a backend is not to be asked a case: it was already, or its sample lacks it."""

        def spares(backend: str, case: str) -> bool:
            return (backend, case) in done or not sampling.includes(self.options.samples, backend, case)

        return spares

    def _close_gate(self, first: Mapping[str, Any]) -> None:
        """Begin to hold results against what is expected of the run that has this header."""
        if self.expected is not None:
            self.gate = Gate(self.expected, first)

    def _arguments(self) -> dict[str, object]:
        options = self.options
        return {
            "selection": str(options.selection),
            **({"samples": dict(options.samples)} if options.samples else {}),
            "reference": options.reference or "",
            "jobs": options.jobs,
            "repeat": options.repeat,
            "timeout": options.limits.timeout,
            "memory": options.limits.memory,
            **({"isolate": True} if options.isolate else {}),
        }

    def _replay(self) -> Done:
        done = Done()
        for result in self.streams.results():
            self._take(result)
            self.taken += 1
            self._blame(result)
            done.add(result)
        return done

    def _cases(self) -> Iterator[Case]:
        for case in self.suite.cases(self.options.selection):
            self._note_unreadable()
            self.taken += 1
            self._made[case.operator] += 1
            if case.expected is None and case.outcome == "values" and self.reference is None:
                self.without_outputs.append(case.id)
                continue
            yield case
        self._note_unreadable()
        self._last = True

    def _note_unreadable(self) -> None:
        """Write down what of the suite could not be read since the last look."""
        for item in self.suite.unreadable[len(self._unreadable) :]:
            self._unreadable.add(item)
            self.faults.append(item.message)
            self.streams.add_unreadable(item)

    def watch(self) -> progress.Watch:
        """Return what tells how far the run has come."""
        part, widest = self.options.samples, self.options.selection.sample
        shares = {target.name: widest / part.get(target.name, 1) for target in self.targets}
        return progress.Watch(self.streams.counts, shares, self._total, status=self._status)

    def _status(self) -> Mapping[str, Status]:
        return self._runner.status() if self._runner is not None else {}

    def _total(self) -> progress.Total | None:
        if not self._looked and not self._last:  # Takes half a second, so only where somebody looks.
            self._outlook, self._looked = self.suite.outlook(self.options.selection), True
        return progress.total(self._outlook, self._made, last=self._last)

    def _keep(self, result: Result) -> None:
        self.streams.add(result)
        self._take(result)
        self._blame(result)

    def _add(self, result: Result) -> None:
        self._keep(result)
        most = self.options.max_fail
        if most is not None and self.summary.failed >= most:
            raise StoppedError(f"stopped after {self.summary.failed} failures, as --max-fail {most} asks")

    def _take(self, result: Result) -> None:
        self.summary.add(result)
        if self.gate is not None:
            self.gate.add(result)

    def _blame(self, result: Result) -> None:
        """Count a result that is the adapter's fault as a fault of the run."""
        if result.verdict is not Verdict.ADAPTER_ERROR:
            return
        if len(self._blamed) >= MOST_FAULTS:
            self._untold[result.backend] += 1
        else:
            self.faults.append(f"{result.case}: {result.message}")
            self._blamed[self.faults[-1]] = result.backend

    def _whose(self, fault: str) -> str:
        """Return the backend that a fault is of: the one that gave the result, or that the sentence begins with."""
        names = [target.name for target in [*self.targets, *([self.reference] if self.reference else [])]]
        return self._blamed.get(fault) or next((name for name in names if fault.startswith(f"{name}: ")), "")

    def _verify(self) -> None:
        """Add a fault for everything that was asked for and did not happen."""
        for backend, count in self._untold.items():
            self.faults.append(f"{backend}: {count} more results are adapter_error")
        if self.without_outputs:
            self.faults.append(
                f"{len(self.without_outputs)} cases of suite {self.suite.name} carry no outputs to expect, first "
                f"{self.without_outputs[0]}; take a backend's answers instead: --reference {REFERENCE}"
            )
        self.faults += [
            f"{option} {glob!r} matches no case of suite {self.suite.name}"
            for option, glob in sorted(self.options.selection.idle)
        ]
        # A part of a small selection may well be empty; that the others are not is seen where they run.
        if not self.taken and not self.faults and not self.options.selection.partial:
            chosen = f" ({self.options.selection})" if str(self.options.selection) else ""
            self.faults.append(f"suite {self.suite.name} has no case for this selection{chosen}")

    @property
    def idle(self) -> dict[str, int]:
        """How many cases there were for each backend that opted out of every one, but for those left open."""
        total: dict[str, Counter[Verdict]] = {}
        for (_, backend), counts in self.summary.counts.items():
            total.setdefault(backend, Counter()).update(counts)
        return {
            backend: counts[Verdict.UNSUPPORTED]
            for backend, counts in total.items()
            if set(counts) <= {Verdict.UNSUPPORTED, Verdict.UNSPECIFIED} and counts[Verdict.UNSUPPORTED]
        }

    def exit_status(self) -> int:
        """Return 0 if all scored verdicts pass, 1 if some do not or there are none, 2 if something else went wrong.

        With expectations: 0 if the gate is open, 1 if it is closed.
        """
        if self.faults:
            return EXIT_BROKEN
        if self.gate is not None:
            return EXIT_PASSED if self.gate.opened else EXIT_FAILED
        return EXIT_FAILED if self.summary.failed or self.idle else EXIT_PASSED


def execute(options: Options, suite: Suite | None = None, tell: Callable[[Run], None] | None = None) -> int:
    """Run, print the report, and return the exit status.

    Args:
        options: what is wanted.
        suite: instead of the one that they name.
        tell: prints another report than that of `run`.

    Raises:
        HarnessError: the run could not begin.
    """
    session = Run(options, suite)
    for text in session.suite.left_out(options.selection):
        printing.warn(f"{text}")
    stopped, ended = "", None
    try:
        with in_order(), progress.shown(session.watch()) as advance:
            session.run(lambda _: advance(), advance)
    except KeyboardInterrupt:
        stopped = "interrupted"
    except EndedError as error:
        stopped, ended = str(error), error.status
    except HarnessError as error:
        if not session.summary.counts:
            raise
        stopped = str(error)
    if stopped and not session.summary.counts:
        printing.warn(f"{stopped} before there was a result")
        return ended or EXIT_BROKEN
    if ended is not None:  # Whoever reads what we print may be gone, and with it the time for a report.
        with contextlib.suppress(OSError):
            printing.warn(f"{stopped}{_kept(options)}")
        return ended
    (tell or _report)(session)
    if stopped:
        printing.warn(f"{stopped}; what was measured is above{_kept(options)}")
        on_purpose = session.options.max_fail is not None and session.summary.failed >= session.options.max_fail
        return EXIT_FAILED if on_purpose and not session.faults else EXIT_BROKEN
    return session.exit_status()


def _kept(options: Options) -> str:
    return f"; go on with --resume --results {_place(options)}" if options.results else ""


def _report(session: Run) -> None:
    """Print the tables, the faults, and last of all what one screen has to say."""
    summary, options = session.summary, session.options
    width = shutil.get_terminal_size((terminal.WIDTH, 0)).columns
    if summary.counts and (session.gate is None or options.table == "full"):  # With a gate, only its news are news.
        if options.table == "full":
            printing.show(terminal.table(summary, "simple", options.samples) + "\n")
        elif options.table == "operators":
            for text in terminal.operators(summary, width):
                printing.show(text)
        _report_groups(session, width)
    elif not summary.counts and not session.faults:
        printing.show(f"no case of suite {session.suite.name} is in this {_part(options)}")
    asked = {backend for _, backend in summary.counts}
    for backend, count in options.samples.items():
        if summary.counts and backend not in asked and not session.faults:
            printing.show(f"{backend}: no case is in its sample (1/{count})")
    _report_end(session, width)
    if session.gate is not None and not session.faults:
        for text in gate_report.lines(session.gate):
            printing.show(text)
    tell_faults(session)


def _report_end(session: Run, width: int) -> None:
    """Print the last screen."""
    summary, options = session.summary, session.options
    if not summary.counts:
        return
    if session.cost is not None:
        printing.show(f"{_cost(session.cost, session.streams.busy)}\n")
    suite = f"suite {session.suite.name}"
    part = f"the core of {suite}" if options.selection.core else suite
    for text in run_end.lines(summary, session.versions, line(part), options.samples):
        printing.show(text)
    for backend, count in session.idle.items():
        printing.show(
            f"{line(terminal.clipped(backend))}: unsupported in all {count} cases, so that nothing was tested\n"
        )
    if session.suite.name == Generated.name:
        printing.show(f"Of ONNX: {completeness()}.\n")
    kept = _place(options) if options.results else ""
    files = [str(path) for path in session.streams.written] if options.apart else []
    folder = "" if session.suite.name in {Generated.name, Official.name} else session.suite.name
    if session.gate is None:  # What is next with one, its news say.
        for text in run_end.next_commands(summary, kept, files, width, folder):
            printing.show(text)
    if kept:
        printing.show("\n  ".join([f"results: {kept}", *files]))


def tell_faults(session: Run) -> None:
    """Print what went wrong without being any case's result."""
    for fault in session.faults[:20]:
        printing.warn(f"{fault}")
    if len(session.faults) > 20:  # noqa: PLR2004
        printing.warn(f"and {len(session.faults) - 20} more faults of this kind")


def _report_groups(session: Run, width: int) -> None:
    summary, options = session.summary, session.options
    if not summary.groups:
        return
    shown, _ = terminal.visible(summary, options.groups)
    references = reference_answers([group.example for group in shown], session.suite, options.limits)
    for block in terminal.groups(summary, references, options.groups, options.reference or "", width):
        printing.show(block + "\n")


def _cost(cost: cpu_time.Cost, busy: Mapping[str, float]) -> str:
    """Return what the run cost, and how long the cases of each backend took by its own clock."""
    each = ", ".join(f"{line(terminal.clipped(name))} {spent:.1f} s" for name, spent in busy.items())
    told = f"{cost.harness:.1f} s of CPU in the harness, {cost.adapters:.1f} s in adapter processes"
    return f"{told}; the cases themselves took: {each}" if each else told


def _part(options: Options) -> str:
    """Return what part of the cases was run, where it holds none."""
    shard = f"shard ({options.selection})" if options.selection.shard else ""
    sample = f"sample (1/{options.selection.sample})" if options.selection.sample > 1 else ""
    return " and ".join(filter(None, (shard, sample)))


def _place(options: Options) -> str:
    """Return --results as it was given."""
    return f"{options.results}{os.sep if options.apart else ''}"


def reference_answers(examples: list[Result], suite: Suite, limits: Limits) -> dict[str, str]:
    """Return what onnx.reference gives for some cases, by id, in short.

    The cases are read from the suite again, which costs less than keeping every case that fails.
    """
    wanted = {result.case for result in examples}
    operators = tuple({result.operator for result in examples})
    answers: dict[str, str] = {}
    if not wanted:
        return answers
    try:
        with Asker(backend_names.resolve(REFERENCE), dataclasses.replace(limits, memory=None)) as lane:
            for case in suite.cases(Selection(ops=operators, ids=frozenset(wanted))):
                answers[case.id] = told(lane.ask(case))
                if len(answers) == len(wanted):
                    break
    except HarnessError as error:
        return dict.fromkeys(wanted, f"(not to be had: {error})")
    return answers


def told(reply: object) -> str:
    """Return a reply in short."""
    if isinstance(reply, Answered):
        return brief(reply.outputs)
    if isinstance(reply, Refused):
        return f"{'unsupported' if reply.reason else 'refused'}: {reply.error}"
    return type(reply).__name__.lower()
