"""`gate`, `merge`, `expectations`: what a runtime's author accepts for now."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import click

from harness import printing
from harness.cli.options import OVERWRITE, SAMPLE, end
from harness.errors import HarnessError
from harness.gate import expectations
from harness.gate import update as renewal
from harness.gate.gate import Gate
from harness.report import gate as gate_report
from harness.results import merge
from harness.results.stream import Run


@click.command("gate")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--expectations", "expected", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="What the runtime's author accepts for now.",
)  # fmt: skip
def gate_(results: Path, expected: Path) -> None:
    """Hold a results file against expectations.

    Exit status: 0 everything is as the file says, 1 it is not, 2 they cannot be compared.
    """
    found = Run(results)
    gate = Gate(expectations.read(expected), found.header)
    for result in found.results():
        gate.add(result)
    opened = gate.finish(complete=found.complete, unreadable=found.unreadable)
    for line in gate_report.lines(gate):
        printing.show(line)
    end(0 if opened else 1)


@click.command("merge")
@click.argument("results", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@click.option(
    "--sample", type=SAMPLE, default="1/1", metavar="1/n", help="Keep 1 case in n, for a page of results that are many."
)
@OVERWRITE
def merge_(results: tuple[Path, ...], out: Path, sample: tuple[str, int], overwrite: bool) -> None:  # noqa: FBT001 - click's
    """Join the results files of shards, or of several backends, into one."""
    name, count = sample
    if name:
        raise HarnessError(f"--sample {name}=1/{count}: what is merged has one sample for all; write 1/{count}")
    printing.show(f"{merge.merge(results, out, count, overwrite=overwrite)} results in {out}")


@click.group("expectations")
def expectations_() -> None:
    """Keep the file of what a runtime's author accepts for now."""


@expectations_.command("update")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--expectations", "path", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="The file to rewrite; it is made where it is missing.",
)  # fmt: skip
@click.option("--backend", help="That a new file is to speak of, where the results are of several.")
@click.option("--accept-new", is_flag=True, help="Accept failures that the file does not have yet; needs --reason.")
@click.option(
    "--accept-fewer",
    is_flag=True,
    help="Accept that the runtime opts out of more than before, or that there are fewer cases; needs --reason.",
)
@click.option("--reason", default="", help="Why they are accepted for now.")
def update(
    results: Path, path: Path, backend: str | None, *, accept_new: bool, accept_fewer: bool, reason: str
) -> None:
    """Rewrite a file so that its gate opens for these results, and say what was done.

    Reasons, links, comments and order stay; new failures are refused without --accept-new, and fewer attempted cases
    without --accept-fewer.
    """
    why = reason.strip()
    if (accept_new or accept_fewer) != bool(why):
        raise HarnessError(
            "--accept-new and --reason go together, and so do --accept-fewer and --reason: what is accepted for now "
            "has a reason"
        )
    found = Run(results)
    if backend is None and not path.exists() and len(found.header["backends"]) > 1:
        raise HarnessError(f"{results} is of {', '.join(found.header['backends'])}; name one with --backend")
    name = backend or next(iter(found.header["backends"]))
    text, said = renewal.renew(
        path,
        found,
        name,
        dt.datetime.now(dt.UTC).date(),
        new=why if accept_new else "",
        fewer=why if accept_fewer else "",
    )
    renewal.write(path, text)
    for done in said or ["nothing to change"]:
        printing.show(done)
