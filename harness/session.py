"""One run from beginning to end: suite, processes, result stream, report."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness import expectations, targets
from harness import runner as runners
from harness import suite as suites
from harness.errors import HarnessError
from harness.gate import Gate
from harness.lane import Lane
from harness.render import brief
from harness.replies import Answered, Refused
from harness.report import gate as gate_report
from harness.report import terminal
from harness.report.summary import Summary
from harness.results import ResultsError, Run, Writer, begun, header, identity
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from harness.case import Case
    from harness.process import Limits
    from harness.suite import Selection, Suite

REFERENCE = "onnx_reference"
EXIT_PASSED, EXIT_FAILED, EXIT_BROKEN = 0, 1, 2


class StoppedError(HarnessError):
    """The run ended before its end, on purpose."""


@dataclass(frozen=True)
class Options:
    """What `run` was asked for; see `onnx-conformance run --help`."""

    backends: tuple[str, ...]
    suite: str
    selection: Selection
    limits: Limits
    jobs: int = 1
    repeat: int = 0
    reference: str | None = None
    python: str = ""
    results: Path | None = None
    resume: bool = False
    max_fail: int | None = None
    groups: int = 20
    expectations: Path | None = None


class Session:
    """A run in progress.

    Attributes:
        summary: the counts so far.
        faults: lines on what went wrong without being any case's result.
        gate: what the results are held against, once the run has begun.
    """

    def __init__(self, options: Options, suite: Suite | None = None) -> None:
        """Take options; `suite` overrides the named one.

        Raises:
            HarnessError: a backend, the suite, an operator or the results file is not to be had.
        """
        self.options = options
        self.targets = [targets.resolve(name, options.python) for name in dict.fromkeys(options.backends)]
        self.reference = targets.resolve(options.reference) if options.reference else None
        self.suite = suite or suites.open_suite(options.suite)
        suites.check_operators(self.suite, options.selection)
        self.expected = expectations.read(options.expectations) if options.expectations else None
        self.gate: Gate | None = None
        self.writer = Writer(options.results)
        self.summary = Summary()
        self.faults: list[str] = []
        self.taken = 0
        self.without_outputs: list[str] = []

    def run(self, on_result: Callable[[Result], None] = lambda _: None) -> None:
        """Run everything and write the stream; ends early only by an exception.

        Raises:
            HarnessError: a backend does not start, or the run was stopped by --max-fail.
        """
        started = time.monotonic()
        source = {"name": self.suite.name, "digest": self.suite.digest()}
        earlier = self._earlier(source)
        if earlier:
            self._close_gate(earlier.header)
        done = self._replay(earlier) if earlier else set[int]()
        complete = False
        try:
            with runners.Runner(
                self.targets, self.options.limits, self.options.jobs, self.reference, self.options.repeat
            ) as runner:
                hellos = runner.start()
                if earlier is None:
                    first = header(source, hellos, self._arguments())
                    self._close_gate(first)
                    self.writer.open(first)
                else:
                    _same_runtimes(earlier, hellos)
                    self.writer.go_on(earlier)
                try:
                    for result in runner.run(self._cases(), lambda backend, case: hash((backend, case)) in done):
                        self._add(result)
                        on_result(result)
                finally:
                    for result in runner.rest():
                        self._keep(result)
                    self.faults += runner.faults
                gave_up = runner.gave_up
            self._verify()
            self.writer.faults = self.faults
            if not gave_up:  # Without a footer the run counts as cut off, and can be resumed.
                self.writer.finish(time.monotonic() - started)
            complete = not gave_up
        finally:
            self.writer.close()
            if self.gate is not None:
                self.gate.finish(complete=complete)

    def _close_gate(self, first: Mapping[str, Any]) -> None:
        """Begin to hold results against what is expected of the run that has this header."""
        if self.expected is not None:
            self.gate = Gate(self.expected, first)

    def _arguments(self) -> dict[str, object]:
        options = self.options
        return {
            "selection": str(options.selection),
            "reference": options.reference or "",
            "jobs": options.jobs,
            "repeat": options.repeat,
            "timeout": options.limits.timeout,
            "memory": options.limits.memory,
        }

    def _earlier(self, source: dict[str, str]) -> Run | None:
        """Return the run to go on with, or None where a new one begins."""
        path = self.options.results
        if not self.options.resume:
            return None
        if path is None:
            raise ResultsError("--resume needs --results FILE, the file to go on with")
        if not begun(path):
            return None
        run = Run(path)
        for what, mine in (
            ("suite", source),
            ("backends", sorted(target.name for target in self.targets)),
            ("selection", str(self.options.selection)),
            ("reference", self.options.reference or ""),
            ("repeat", self.options.repeat),
        ):
            head = {"repeat": 0, **run.header["arguments"], "suite": run.header["suite"]}
            known = [target.name for target in [self.reference] if target]
            head["backends"] = sorted(set(run.header["backends"]) - (set(known) - {t.name for t in self.targets}))
            if head.get(what) != mine:
                raise ResultsError(
                    f"{path} cannot be resumed: its {what} is {_written(head.get(what))}, this run's {_written(mine)}; "
                    "ask for the same, or name another --results file"
                )
        if run.complete:
            raise ResultsError(f"{path} is complete; there is nothing to resume")
        return run

    def _replay(self, run: Run) -> set[int]:
        done = set()
        for result in run.results():
            self.writer.count(result)
            self._take(result)
            self.taken += 1
            self._blame(result)
            done.add(hash((result.backend, result.case)))
        return done

    def _cases(self) -> Iterator[Case]:
        for case in self.suite.cases(self.options.selection):
            self.taken += 1
            if case.expected is None and case.outcome == "values" and self.reference is None:
                self.without_outputs.append(case.id)
                continue
            yield case

    def _keep(self, result: Result) -> None:
        self.writer.add(result)
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
        if result.verdict is Verdict.ADAPTER_ERROR:
            self.faults.append(f"{result.case}: {result.message}")

    def _verify(self) -> None:
        """Add a fault for everything that was asked for and did not happen."""
        self.faults += self.suite.faults
        if self.without_outputs:
            self.faults.append(
                f"{len(self.without_outputs)} cases of suite {self.suite.name} carry no outputs to expect, first "
                f"{self.without_outputs[0]}; take a backend's answers instead: --reference {REFERENCE}"
            )
        self.faults += [
            f"{option} {glob!r} matches no case of suite {self.suite.name}"
            for option, glob in sorted(self.options.selection.idle)
        ]
        # One shard of a small selection may well be empty; that the others are not is seen where they run.
        if not self.taken and not self.faults and self.options.selection.shard is None:
            chosen = f" ({self.options.selection})" if str(self.options.selection) else ""
            self.faults.append(f"suite {self.suite.name} has no case for this selection{chosen}")

    def exit_status(self) -> int:
        """Return 0 if all scored verdicts pass, 1 if some do not, 2 if something else went wrong.

        With expectations: 0 if the gate is open, 1 if it is closed.
        """
        if self.faults:
            return EXIT_BROKEN
        if self.gate is not None:
            return EXIT_PASSED if self.gate.opened else EXIT_FAILED
        return EXIT_FAILED if self.summary.failed else EXIT_PASSED


def _written(value: object) -> str:
    """Return a value of the header as a person would write it."""
    if isinstance(value, dict):
        return " ".join(str(item) for item in value.values())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value) or "none"


def _same_runtimes(run: Run, hellos: Mapping[str, Mapping[str, object]]) -> None:
    """Raise ResultsError if a backend is another one than in the run to go on with, though its name is the same."""
    now = header({}, hellos, {})["backends"]
    for name, was in run.header["backends"].items():
        then, is_now = identity(was), identity(now.get(name, was))
        if then != is_now:
            raise ResultsError(
                f"{run.path} cannot be resumed: {name} was {_written(then)}, and is now {_written(is_now)}; "
                "restore it, or name another --results file"
            )


def execute(options: Options, suite: Suite | None = None, tell: Callable[[Session], None] | None = None) -> int:
    """Run, print the report, and return the exit status.

    Args:
        options: what is wanted.
        suite: instead of the one that they name.
        tell: prints another report than that of `run`.

    Raises:
        HarnessError: the run could not begin.
    """
    session = Session(options, suite)
    stopped = ""
    try:
        with _progress() as advance:
            session.run(advance)
    except KeyboardInterrupt:
        stopped = "interrupted"
    except HarnessError as error:
        if not session.summary.counts:
            raise
        stopped = str(error)
    (tell or _report)(session)
    if session.gate is not None and not session.faults:
        for told in gate_report.lines(session.gate):
            click.echo(told)
    if stopped:
        kept = f"; go on with --resume --results {options.results}" if options.results else ""
        click.echo(f"onnx-conformance: {stopped}; what was measured is above{kept}", err=True)
        on_purpose = session.options.max_fail is not None and session.summary.failed >= session.options.max_fail
        return EXIT_FAILED if on_purpose and not session.faults else EXIT_BROKEN
    return session.exit_status()


def _report(session: Session) -> None:
    if session.summary.counts:
        click.echo(terminal.table(session.summary))
        if session.summary.groups:
            click.echo()
            shown, _ = terminal.visible(session.summary, session.options.groups)
            references = reference_answers([group.example for group in shown], session.suite, session.options.limits)
            for block in terminal.groups(
                session.summary, references, session.options.groups, session.options.reference or ""
            ):
                click.echo(block + "\n")
            click.echo(
                "`onnx-conformance show CASE` has the whole case; `repro CASE --backend B` a script that shows it."
            )
            # Not done here: to make the cases of an operator again takes a quarter of the time that they ran.
            kept = session.options.results or "FILE` after `run --results FILE"
            click.echo(f"`onnx-conformance explain {kept}` says what the failures of an operator share.")
    elif not session.faults:
        click.echo(f"no case of suite {session.suite.name} is in this shard ({session.options.selection})")
    if session.options.results and session.summary.counts:
        click.echo(f"results: {session.options.results}")
    tell_faults(session)


def tell_faults(session: Session) -> None:
    """Print what went wrong without being any case's result."""
    for fault in session.faults[:20]:
        click.echo(f"onnx-conformance: {fault}", err=True)
    if len(session.faults) > 20:  # noqa: PLR2004
        click.echo(f"onnx-conformance: and {len(session.faults) - 20} more faults of this kind", err=True)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Result], None]]:
    """Show a progress line where a person looks on."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    # A suite is read as it is run, so nobody knows the total.
    columns = (SpinnerColumn(), TextColumn("{task.completed} results, {task.description}"), TimeElapsedColumn())
    failed = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("0 failed", total=None)

        def advance(result: Result) -> None:
            nonlocal failed
            failed += result.verdict.failed
            progress.update(task, advance=1, description=f"{failed} failed")

        yield advance


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
        with Lane(targets.resolve(REFERENCE), dataclasses.replace(limits, memory=None)) as lane:
            for case in suite.cases(suites.Selection(ops=operators)):
                if case.id in wanted:
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
