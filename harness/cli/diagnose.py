"""`explain`, `repro`, `minimize`: what failures share, and what one is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness import printing
from harness.analysis import dissent, explain
from harness.cli.options import Seconds, cores, end, find, source, surrounding
from harness.errors import HarnessError
from harness.execution import backend_names, sandbox
from harness.execution.adapter_process import Limits
from harness.execution.ask import Asker, LiveAnswer, ask_and_judge, ask_each
from harness.minimize import search
from harness.report import dissent as dissent_report
from harness.report import explanation
from harness.report import minimized as minimized_report
from harness.repro import write
from harness.repro.bug_report import Issue
from harness.results.stream import Run
from harness.run import progress
from harness.suites.lookup import plan_of
from harness.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.execution.backend_names import Target


def telling(command: Any) -> Any:  # noqa: ANN401 - click's decorators
    """Add the options that say what runs the backend, how a failure is told, and to whom."""
    for option in (
        click.option(
            "--other", "others", multiple=True, metavar="BACKEND",
            help="Say what this backend makes of it, too; onnx_reference, unless others are named. Repeatable.",
        ),
        click.option(
            "--out", type=click.Path(path_type=Path),
            help="Write here instead of printing: a file, or for a folder the one that it goes into.",
        ),
        click.option(
            "--format", "kind", type=click.Choice(write.KINDS), default="python", show_default=True,
            help="One Python file; Markdown for a bug report; or a folder in ONNX's layout that has both.",
        ),
        click.option(
            "--python", default="", metavar="PATH",
            help="The interpreter of an environment of yours that holds the runtime of --backend, as in `run`.",
        ),
        surrounding,
    ):  # fmt: skip
        command = option(command)
    return command


def _asked(
    kind: str, backend: str, python: str, others: Sequence[str], passes: tuple[str, ...], isolated_from: str | None
) -> tuple[Target, list[Target]]:
    """Return the backend that fails, and those to ask beside it."""
    target, beside = backend_names.resolve(backend, python, passes), write.others(kind, backend, others, passes)
    if isolated_from is None:
        return target, beside
    isolation = sandbox.around(isolated_from, None)
    return isolation.of(target), [isolation.of(other) for other in beside]


@click.command("dissent")
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--enough", type=click.IntRange(2), default=dissent.ENOUGH, show_default=True,
    help="How many implementations have to agree with one another.",
)  # fmt: skip
def dissent_(files: tuple[Path, ...], enough: int) -> None:
    """Say where implementations agree with one another, and not with the text as it is read here.

    Each is a reason to read the sentence again. Versions of a runtime, and its bindings to other languages, have one
    voice. Exit status: 0 nothing is found, 1 something is, 2 a file cannot be read.
    """
    found = dissent.dissents([Run(path) for path in files], enough)
    for block in dissent_report.blocks(found, enough):
        printing.show(block)
    end(1 if found else 0)


@click.command("repro")
@click.argument("case_id", metavar="CASE")
@click.option("--backend", required=True, help="As in `run`.")
@click.option("--suite", "suite_name", metavar="SUITE", help="The folder that the case is in.")
@telling
def repro_(
    case_id: str, backend: str, python: str, suite_name: str | None, kind: str, out: Path | None,
    others: Any, passes: tuple[str, ...], isolate: bool,  # noqa: ANN401, FBT001 - click's
) -> None:  # fmt: skip
    """Show what a backend makes of a case, without this project: as a file of Python, a bug report, a folder."""
    write.check(kind, out, others)
    target, beside = _asked(kind, backend, python, others, passes, (suite_name or "generated") if isolate else None)
    case = find(case_id, suite_name)
    with Asker(target, Limits()) as lane:
        hello = dict(lane.process.hello)
        result, outputs = ask_and_judge(lane, case)
    said = ask_each(beside, case, Limits())
    text, written = write.file(Issue(case, result, LiveAnswer(backend, hello, result, outputs), said), kind, out)
    printing.show(text if written is None else f"{result.verdict}: {written}\n", end="")


@click.command("minimize")
@click.argument("case_id", metavar="CASE")
@click.option("--backend", required=True, help="As in `run`.")
@click.option("--suite", "suite_name", metavar="SUITE", help="The folder that the case is in.")
@click.option(
    "--steps", type=click.IntRange(2), default=500, show_default=True, help="How often the backend may be asked."
)
@click.option("--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Seconds that one case may take.")
@telling
def minimize_(
    case_id: str, backend: str, python: str, suite_name: str | None, steps: int, timeout: float, kind: str,
    out: Path | None, others: Any, passes: tuple[str, ...], isolate: bool,  # noqa: ANN401, FBT001 - click's
) -> None:  # fmt: skip
    """Cut a failing case down to a smaller one that fails in the same way, and show that as `repro` does.

    What was taken away goes to standard error. Exit status: 0 it is as small as it gets, or as --steps allows; 2 it
    passes, does not fail the same way each time, or cannot be had.
    """
    write.check(kind, out, others)
    target, beside = _asked(kind, backend, python, others, passes, (suite_name or "generated") if isolate else None)
    case, limits = find(case_id, suite_name), Limits(timeout=timeout)
    found = search.minimize(case, plan_of(case), target, limits, steps)
    for line in minimized_report.lines(found):
        printing.note(line)
    small = found.case
    told = Issue(small, found.result, found.answer, ask_each(beside, small, limits), origin=case.id)
    text, written = write.file(told, kind, out)
    printing.show(text if written is None else f"{found.result.verdict}: {written}\n", end="")


@click.command("explain")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--op", "ops", multiple=True, metavar="GLOB", help="Only these operators: Split*, Split/18, ai.onnx/*.")
@click.option("--backend", "backends", multiple=True, metavar="NAME", help="Only this backend of the results.")
def explain_(results: Path, ops: tuple[str, ...], backends: tuple[str, ...]) -> None:
    """Say what the failures of each operator share that its passing cases do not."""
    run = Run(results)
    held = sorted(run.header["backends"])
    for name in backends:
        if name not in held:
            raise HarnessError(f"{results} has no backend {name!r}; it has {', '.join(held)}")
    selection = Selection(ops)
    with progress.steps("explains failures by operator") as advance:
        found = explain.explain(run, source(run), selection, backends, jobs=cores(), on_operator=advance)
    for option, glob in sorted(selection.idle):
        raise HarnessError(f"{option} {glob!r} matches no operator of {results}")
    chosen = " ".join([str(selection), *(f"--backend {name}" for name in backends)]).strip()
    for line in explanation.lines(run, found, chosen):
        printing.show(line)
