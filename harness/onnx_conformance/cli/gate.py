# SPDX-License-Identifier: Apache-2.0
"""`gate`, `merge`, `expectations`: compare results with accepted failures, and merge results."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.cli.options import OVERWRITE, SAMPLE, exit_with
from onnx_conformance.gate import expectations
from onnx_conformance.gate import update as renewal
from onnx_conformance.gate.gate import Gate
from onnx_conformance.report import gate as gate_report
from onnx_conformance.results import merge
from onnx_conformance.results.stream import Run


@click.command("gate")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--expectations", "expected", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="The file of failures that the runtime's author currently accepts.",
)  # fmt: skip
def gate_(results: Path, expected: Path) -> None:
    """Compare a results file with expectations.

    Exit status: 0 the results are as expected, 1 they differ, 2 they cannot be compared.
    """
    run = Run(results)
    gate = Gate(expectations.read(expected), run.header)
    for result in run.results():
        gate.add(result)
    is_open = gate.finish(complete=run.complete, unreadable=run.unreadable)
    for line in gate_report.lines(gate):
        printing.show(line)
    exit_with(0 if is_open else 1)


@click.command("merge")
@click.argument("results", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@click.option(
    "--sample",
    type=SAMPLE,
    default="1/1",
    metavar="1/n",
    help="Keep only 1 case in n, which makes a page of many results smaller.",
)
@OVERWRITE
def merge_(results: tuple[Path, ...], out: Path, sample: tuple[str, int], overwrite: bool) -> None:  # noqa: FBT001 - click's
    """Merge the results files of shards, or of several backends, into one."""
    name, count = sample
    if name:
        raise HarnessError(
            "sample-of-one-backend",
            f"--sample {name}=1/{count}: merged results have one sample for all; write 1/{count}",
        )
    printing.show(f"{merge.merge(results, out, count, overwrite=overwrite)} results in {out}")


@click.group("expectations")
def expectations_() -> None:
    """Maintain the file of currently accepted failures."""


@expectations_.command("update")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--expectations", "path", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="The file to rewrite; created if it does not exist.",
)  # fmt: skip
@click.option("--backend", help="The backend of a new file, if the results have several.")
@click.option("--accept-new", is_flag=True, help="Accept failures that the file does not list yet; needs --reason.")
@click.option(
    "--accept-fewer", is_flag=True, help="Accept more unsupported or fewer cases than before; needs --reason."
)
@click.option("--reason", default="", help="Why they are accepted; written into the file.")
def update(
    results: Path, path: Path, backend: str | None, *, accept_new: bool, accept_fewer: bool, reason: str
) -> None:
    """Rewrite a file so that its gate passes for these results, and list the changes.

    Reasons, links, comments and order are kept. New failures need --accept-new, fewer attempted cases --accept-fewer.
    """
    why = reason.strip()
    if (accept_new or accept_fewer) != bool(why):
        raise HarnessError(
            "reason-missing",
            "--accept-new and --accept-fewer need --reason, and --reason needs one of them: each accepted "
            "failure has a "
            "reason",
        )
    run = Run(results)
    if backend is None and not path.exists() and len(run.header["backends"]) > 1:
        raise HarnessError(
            "several-backends",
            f"{results} has results of {', '.join(run.header['backends'])}; select one with --backend",
        )
    name = backend or next(iter(run.header["backends"]))
    text, changes = renewal.renew(
        path,
        run,
        name,
        dt.datetime.now(dt.UTC).date(),
        new=why if accept_new else "",
        fewer=why if accept_fewer else "",
    )
    renewal.write(path, text)
    for change in changes or ["nothing to change"]:
        printing.show(change)
