# SPDX-License-Identifier: Apache-2.0
"""`dissent`, `repro`, `minimize`, `explain`: analyse failures."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnx_conformance.analysis import dissent, explain
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.under_test import ORACLE
from onnx_conformance.base.verdict import line
from onnx_conformance.case.case import Outcome
from onnx_conformance.cli import repro_output
from onnx_conformance.cli.options import (
    REFERENCE,
    Seconds,
    available_cores,
    exit_with,
    load_case,
    suite_of,
    with_adapter_options,
    with_operator_options,
)
from onnx_conformance.environments import backend_names, sandbox
from onnx_conformance.judging import references
from onnx_conformance.judging.ask import LiveAnswer, ask_and_judge, ask_each
from onnx_conformance.minimize import reducer
from onnx_conformance.minimize.passes import Guilty, guilty_passes
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.report import dissent as dissent_report
from onnx_conformance.report import explanation
from onnx_conformance.report import minimized as minimized_report
from onnx_conformance.repro import stored
from onnx_conformance.repro.bug_report import Issue
from onnx_conformance.results.stream import Run
from onnx_conformance.run import progress
from onnx_conformance.specification import schema
from onnx_conformance.suites.lookup import plan_if_declarable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.suites.selection import Selection


def with_repro_options(command: Any) -> Any:  # noqa: ANN401 - click's decorators
    """Add the options of `repro` and `minimize`: interpreter, format, output and other backends."""
    for option in (
        REFERENCE,
        click.option(
            "--other", "others", multiple=True, metavar="BACKEND",
            help="Also show the outputs of this backend. Repeatable.  [default: onnx_reference]",
        ),
        click.option(
            "--out", type=click.Path(path_type=Path),
            help="Write to this file instead of printing; with --format folder, the parent folder.",
        ),
        click.option(
            "--format", "kind", type=click.Choice(repro_output.KINDS), default="python", show_default=True,
            help="A Python file, a bug report in Markdown, or a folder in ONNX's layout with both.",
        ),
        click.option(
            "--python", default="", metavar="PATH",
            help="A Python interpreter that has the runtime installed, as in `run`.",
        ),
        with_adapter_options,
    ):  # fmt: skip
        command = option(command)
    return command


def _targets(
    kind: str,
    backend: str,
    python: str,
    others: Sequence[str],
    passes: tuple[str, ...],
    suite: str | None,
    isolate: tuple[Path, ...] | None,
) -> tuple[Target, list[Target]]:
    """Return the failing backend, and the other backends whose outputs are shown."""
    target = backend_names.resolve(backend, python, passes)
    further = [backend_names.resolve(name, passes=passes) for name in repro_output.others(kind, backend, others)]
    isolated = functools.partial(sandbox.isolated, shown=isolate, suite=suite or "generated")
    return isolated(target), list(map(isolated, further))


def _case(
    case_id: str,
    suite: str | None,
    reference: str | None,
    passes: tuple[str, ...],
    isolate: tuple[Path, ...] | None,
    limits: Limits,
) -> Case:
    """Return a case with its expected outputs: those of the reference, the stored ones, or those of the oracle.

    Raises:
        HarnessError: the case or the reference cannot be used, or there are no expected outputs.
    """
    case = load_case(case_id, suite)
    if reference in {None, ORACLE}:
        if not references.lacks_outputs(case):
            return case
        made = references.by_oracle(case)
    else:
        target = sandbox.isolated(backend_names.resolve(str(reference), passes=passes), isolate, suite or "generated")
        with Asker(target, limits) as asker:
            made = references.by_backend(case, target.name, asker.ask(case))
    if made.outcome is Outcome.UNSPECIFIED:
        raise HarnessError(
            "case-without-outputs",
            f"{case.id} has no expected outputs: {line(made.detail, 400)}; name a backend that computes them with "
            "--reference",
        )
    return made


def _foreign(reference: str | None) -> str:
    """Return the name of a reference that is not the oracle; an empty text for the oracle, or without a reference."""
    return "" if reference in {None, ORACLE} else str(reference)


def _guilty(case: Case, answer: LiveAnswer, target: Target, limits: Limits) -> Guilty:
    """Return the optimizer passes that cause the failure, and print them on standard error."""
    assert answer.result is not None  # noqa: S101 - the case was run
    guilty = guilty_passes(case, answer.result, answer.hello, target, limits)
    if guilty.names:
        printing.note(printing.guilt(guilty.names))
    return guilty


def _write(issue: Issue, kind: str, out: Path | None) -> None:
    """Write or print a reproduction; large values are not printed to a terminal."""
    text, written = repro_output.file(issue, kind, out)
    if written is None and printing.is_terminal():
        text = stored.shortened(text, 0, "--out FILE writes the whole script")
    printing.show(text if written is None else f"{issue.result.verdict}: {written}\n", end="")


@click.command("dissent")
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--enough", type=click.IntRange(2), default=dissent.ENOUGH, show_default=True,
    help="Minimum number of implementations that agree with each other.",
)  # fmt: skip
def dissent_(files: tuple[Path, ...], enough: int) -> None:
    """List cases in which implementations agree with each other, but not with this project's oracle.

    In such a case, the oracle may be wrong. Versions of a runtime, and its bindings to other languages, count as one
    implementation. Exit status: 0 there are no such cases, 1 there are some, 2 a file cannot be read.
    """
    dissents = dissent.dissents([Run(path) for path in files], enough)
    for block in dissent_report.blocks(dissents, enough):
        printing.show(block)
    exit_with(1 if dissents else 0)


@click.command("repro")
@click.argument("case_id", metavar="CASE")
@click.option("--backend", required=True, help="The backend that fails the case, as in `run`.")
@click.option(
    "--suite", "suite_name", metavar="SUITE", help="The suite of the case, such as the folder that contains it."
)
@with_repro_options
def repro_(
    case_id: str, backend: str, python: str, suite_name: str | None, reference: str | None, kind: str, out: Path | None,
    others: Any, passes: tuple[str, ...], isolate: tuple[Path, ...] | None,  # noqa: ANN401 - click's
) -> None:  # fmt: skip
    """Write a reproduction of a case on a backend: a Python file, a bug report, or a folder."""
    repro_output.check(kind, out, others)
    target, beside = _targets(kind, backend, python, others, passes, suite_name, isolate)
    case = _case(case_id, suite_name, reference, passes, isolate, Limits())
    with Asker(target, Limits()) as asker:
        hello = dict(asker.process.hello)
        result, outputs, model = ask_and_judge(asker, case)
    answer = LiveAnswer(backend, hello, result, outputs, model=model)
    guilty = _guilty(case, answer, target, Limits())
    answer = dataclasses.replace(answer, hello=guilty.hello)
    issue = Issue(
        case, result, answer, ask_each(beside, case, Limits()), guilty=guilty.names, reference=_foreign(reference)
    )
    _write(issue, kind, out)


@click.command("minimize")
@click.argument("case_id", metavar="CASE")
@click.option("--backend", required=True, help="The backend that fails the case, as in `run`.")
@click.option(
    "--suite", "suite_name", metavar="SUITE", help="The suite of the case, such as the folder that contains it."
)
@click.option(
    "--steps",
    type=click.IntRange(2),
    default=500,
    show_default=True,
    help="Maximum number of cases that the backend runs.",
)
@click.option(
    "--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Time limit of one case, in seconds."
)
@with_repro_options
def minimize_(
    case_id: str, backend: str, python: str, suite_name: str | None, reference: str | None, steps: int,
    timeout: float, kind: str, out: Path | None, others: Any, passes: tuple[str, ...], isolate: tuple[Path, ...] | None,  # noqa: ANN401 - click's
) -> None:  # fmt: skip
    """Reduce a failing case to a smaller one that fails in the same way, and write a reproduction of it.

    The reductions are listed on standard error; the reproduction is the same as that of `repro`. Exit status: 0 the
    case cannot be reduced further, or --steps is reached; 2 it passes, fails differently each time, or does not exist.
    """
    repro_output.check(kind, out, others)
    target, beside = _targets(kind, backend, python, others, passes, suite_name, isolate)
    limits = Limits(timeout=timeout)
    case = _case(case_id, suite_name, reference, passes, isolate, limits)
    minimized = reducer.minimize(case, plan_if_declarable(case), target, limits, steps)
    for text in minimized_report.lines(minimized):
        printing.note(text)
    small = minimized.case
    guilty = _guilty(small, minimized.answer, target, limits)
    answer = dataclasses.replace(minimized.answer, hello=guilty.hello)
    issue = Issue(small, minimized.result, answer, ask_each(beside, small, limits), case.id, guilty.names)
    _write(issue, kind, out)


@click.command("explain")
@click.argument("results", type=click.Path(path_type=Path))
@with_operator_options()
@click.option(
    "--backend", "backends", multiple=True, metavar="NAME", help="Only this backend of the results file. Repeatable."
)
def explain_(results: Path, selection: Selection, backends: tuple[str, ...]) -> None:
    """Find conditions that the failures of each operator share and its passing cases do not."""
    run = Run(results)
    names = sorted(run.header["backends"])
    for name in backends:
        if name not in names:
            raise HarnessError(
                "backend-not-in-results", f"{results} has no backend {name!r}; it has {', '.join(names)}"
            )
    selection.respell(schema.every_version())
    with progress.steps("explaining failures by operator") as advance:
        shared = explain.explain(run, suite_of(run), selection, backends, jobs=available_cores(), on_operator=advance)
    for option, glob in sorted(selection.idle):
        raise HarnessError("no-operator-of-results", f"{option} {glob!r} matches no operator of {results}")
    selected = " ".join([str(selection), *(f"--backend {name}" for name in backends)]).strip()
    for text in explanation.lines(run, shared, selected):
        printing.show(text)
