"""`repro`: what a failure is."""

from __future__ import annotations

from pathlib import Path

import click

from harness import repro, targets
from harness.cli.options import find
from harness.errors import HarnessError
from harness.lane import Lane
from harness.process import Limits
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
