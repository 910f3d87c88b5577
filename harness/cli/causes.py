"""`explain`, `repro`: what failures share, and what one is."""

from __future__ import annotations

from pathlib import Path

import click

from harness import explain, repro, suite, targets
from harness.cli.options import find
from harness.errors import HarnessError
from harness.lane import Lane
from harness.process import Limits
from harness.report import explanation
from harness.results import Run
from harness.runner import judge


@click.command("repro")
@click.argument("case_id", metavar="CASE")
@click.option("--backend", required=True, help="As in `run`.")
@click.option("--suite", "suite_name", metavar="SUITE", help="The folder that the case is in.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the file here instead of printing it."
)
def repro_(case_id: str, backend: str, suite_name: str | None, out: Path | None) -> None:
    """Write one Python file that shows what a backend makes of a case, without this project."""
    case = find(case_id, suite_name)
    with Lane(targets.resolve(backend), Limits()) as lane:
        hello = dict(lane.session.hello)
        result = judge(case, backend, lane.ask(case))
    text = repro.script(case, result, hello)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text)
    except OSError as error:
        raise HarnessError(f"cannot write {out}: {error.strerror}") from error
    click.echo(f"{result.verdict}: {out}")


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
    selection = suite.Selection(ops)
    found = explain.explain(run, source(run), selection, backends)
    for option, glob in sorted(selection.idle):
        raise HarnessError(f"{option} {glob!r} matches no operator of {results}")
    chosen = " ".join([str(selection), *(f"--backend {name}" for name in backends)]).strip()
    for line in explanation.lines(run, found, chosen):
        click.echo(line)


def source(run: Run) -> suite.Suite | None:
    """Return the suite that a run is of, or None where it is not to be had any more."""
    try:
        return suite.open_suite(str(run.header["suite"].get("name")))
    except suite.SuiteError:
        return None
