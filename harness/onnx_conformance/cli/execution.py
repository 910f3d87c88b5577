# SPDX-License-Identifier: Apache-2.0
"""Run cases, and print the events: notes and progress, then the tables, the groups of failures and the faults."""

from __future__ import annotations

import contextlib
import os
import shutil
import textwrap
from typing import TYPE_CHECKING

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.suite_names import OF_PROVISIONAL, PROVISIONAL
from onnx_conformance.base.verdict import line
from onnx_conformance.report import gate as gate_report
from onnx_conformance.report import run_end, terminal
from onnx_conformance.results import stream
from onnx_conformance.run import progress
from onnx_conformance.run.reference_answers import reference_answers
from onnx_conformance.run.run import EXIT_BROKEN, EXIT_FAILED, Run
from onnx_conformance.run.signals import EndedError, in_order
from onnx_conformance.specification import packages
from onnx_conformance.suites import of_package
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import notes
from onnx_conformance.suites.official import Official

MOST_LINES, OTHER_LINES = 40, 12
"""Maximum number of lines at the end of a run on a terminal, and how many of them are used for other things than the
results and the faults: the CPU time, the coverage, the next commands and the results file."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.run import cpu_time
    from onnx_conformance.run.options import Options
    from onnx_conformance.suites.suite import Suite


def execute(options: Options, suite: Suite | None = None, report: Callable[[Run], None] | None = None) -> int:
    """Run, print the report, and return the exit status.

    Args:
        options: of the run.
        suite: overrides the named one.
        report: prints the report, instead of that of `run`.

    Raises:
        HarnessError: the run could not begin.
    """
    run = Run(options, suite)
    for note in notes(run.suite, options.selection):
        printing.warn(note)
    stopped, ended = "", None
    try:
        with in_order(), progress.shown(run.watch()) as advance:
            run.run(lambda _: advance(), advance)
    except KeyboardInterrupt:
        stopped = "interrupted"
    except EndedError as error:
        stopped, ended = str(error), error.status
    except HarnessError as error:
        if not run.summary.counts:
            raise
        stopped = str(error)
    if stopped and not run.summary.counts:
        printing.warn(f"{stopped} before the first result")
        return ended or EXIT_BROKEN
    if ended is not None:  # The reader of our output may be gone, and there is no time for a report.
        with contextlib.suppress(OSError):
            printing.warn(f"{stopped}{_resume_hint(options)}")
        return ended
    (report or _report)(run)
    if stopped:
        printing.warn(f"{stopped}; the results so far are shown above{_resume_hint(options)}")
        on_purpose = run.options.max_fail is not None and run.summary.failed_openly >= run.options.max_fail
        return EXIT_FAILED if on_purpose and not run.faults else EXIT_BROKEN
    return run.exit_status()


def _resume_hint(options: Options) -> str:
    return f"; continue with --resume --results {_place(options)}" if options.results else ""


def _report(run: Run) -> None:
    """Print the tables, the groups of failures, the last screen and the faults."""
    summary, options = run.summary, run.options
    width = shutil.get_terminal_size((terminal.WIDTH, 0)).columns
    if summary.counts and options.table == "versions":
        for text in terminal.versions(summary, width, _subject(options)):
            printing.show(text)
    if summary.counts and not options.brief:
        _report_failures(run, width)
    elif not summary.counts and not run.faults:
        printing.show(f"suite {run.suite.name} has no cases in this {_part(options)}")
    with_results = {backend for _, backend in summary.counts}
    for backend, count in options.samples.items():
        if summary.counts and backend not in with_results and not run.faults:
            printing.show(f"{backend}: its sample (1/{count}) has no cases")
    _report_remarks(run)
    _report_end(run, width)
    _report_gate(run)
    print_faults(run)


def _report_gate(run: Run) -> None:
    """Print the report of the gate; without one, the exclusions of profiles that are no longer needed."""
    if run.gate is not None and not run.faults:
        for text in gate_report.lines(run.gate):
            printing.show(text)
    for text in run.problems:
        printing.show(f"problem: {text}")


def _subject(options: Options) -> str:
    """Return the operator versions of a run."""
    if options.selection.opsets is None:
        return "the selected operator versions"
    return f"the operator versions of --opsets {options.selection.opsets}"


def _report_failures(run: Run, width: int) -> None:
    """Print the table and the groups of failures; with a gate, the last screen has its news instead."""
    options = run.options
    if run.gate is not None and options.table != "full":
        return
    if options.table == "full":
        printing.show(terminal.table(run.summary, "simple", options.samples) + "\n")
    elif options.table == "operators":
        for text in terminal.operators(run.summary, width):
            printing.show(text)
    _report_groups(run, width)


def _report_end(run: Run, width: int) -> None:
    """Print the last screen."""
    summary, options = run.summary, run.options
    if not summary.counts:
        return
    if run.cost is not None:
        busy = {summary.label(name): spent for name, spent in run.streams.busy.items()}
        printing.show(textwrap.fill(_cost(run.cost, busy), width) + "\n")
    results = list(run_end.lines(summary, run.versions, run.scope, width))
    if options.brief and run.gate is None:
        used = sum(text.count("\n") + 1 for text in results) + OTHER_LINES
        for text in terminal.overview(summary, MOST_LINES - used):
            printing.show(text)
    if run.suite.name == PROVISIONAL:
        printing.show(textwrap.fill(OF_PROVISIONAL, width) + "\n")
    if (covers := of_package.covers(run.suite)) is not None:
        first = {"suite": {"name": run.suite.name}, "covers": covers}
        printing.show(textwrap.fill(stream.completeness(first), width) + "\n")
    _report_next(run, width)
    for text in results:
        printing.show(text)
    for backend, count in run.idle.items():
        name = line(printing.clipped(summary.label(backend)))
        printing.show(f"{name}: all {count} cases are unsupported, so nothing was tested\n")


def _report_next(run: Run, width: int) -> None:
    """Print the next commands and the names of the results files."""
    options = run.options
    place = _place(options) if options.results else ""
    files = [str(path) for path in run.streams.written] if options.apart else []
    folder = "" if run.suite.name in {Generated.name, Official.name} else run.suite.name
    commands = list(
        run_end.next_commands(run.summary, place, files, width, folder, options.reference or "", packages.folders())
    )
    if commands and run.gate is None:  # With a gate, its news name the next commands.
        printing.show("\n".join(commands) + "\n")
    if place:
        printing.show("\n  ".join([f"results: {place}", *files]) + "\n")


def print_faults(run: Run) -> None:
    """Print the faults that are no case's result."""
    for fault in run.faults[:20]:
        printing.warn(f"{fault}")
    if len(run.faults) > 20:  # noqa: PLR2004
        printing.warn(f"and {len(run.faults) - 20} more faults of this kind")


def _report_remarks(run: Run) -> None:
    """Print how many cases are compared with the oracle, and how many were left out."""
    if run.by_oracle:
        cases = "1 case contains" if run.by_oracle == 1 else f"{run.by_oracle:,} cases contain"
        printing.show(f"{cases} no expected outputs; those of the oracle are used\n")
    if run.too_large:
        limit = run.options.selection.max_elements or 0
        cases = "1 case was" if run.too_large == 1 else f"{run.too_large:,} cases were"
        printing.show(f"{cases} left out, because a tensor has more than {limit:,} elements (--max-elements)\n")


def _report_groups(run: Run, width: int) -> None:
    summary, options = run.summary, run.options
    if not summary.groups:
        return
    shown, _ = terminal.visible(summary, options.groups)
    references = reference_answers([group.example for group in shown], run.suite, options.limits, options.selection)
    for block in terminal.groups(summary, references, options.groups, options.reference or "", width):
        printing.show(block + "\n")


def _cost(cost: cpu_time.Cost, busy: Mapping[str, float]) -> str:
    """Return the CPU time of the run, and the seconds that each backend reports for its cases."""
    each = ", ".join(f"{line(printing.clipped(name))} {spent:.1f} s" for name, spent in busy.items())
    text = f"{cost.harness:.1f} s of CPU time in the harness, {cost.adapters:.1f} s in adapter processes"
    return f"{text}; duration of the cases: {each}" if each else text


def _part(options: Options) -> str:
    """Return the part of the cases that was run, where it is empty."""
    shard = f"shard ({options.selection})" if options.selection.shard else ""
    sample = f"sample (1/{options.selection.sample})" if options.selection.sample > 1 else ""
    return " and ".join(filter(None, (shard, sample)))


def _place(options: Options) -> str:
    """Return --results as the user wrote it."""
    return f"{options.results}{os.sep if options.apart else ''}"
