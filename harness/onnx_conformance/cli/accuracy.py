# SPDX-License-Identifier: Apache-2.0
"""`accuracy`: how far the results of a runtime are from the exact ones, and the comparison of two runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.cli import report_output
from onnx_conformance.cli.options import Seconds, exit_with, with_adapter_options
from onnx_conformance.environments import backend_names, sandbox
from onnx_conformance.report import accuracy as report
from onnx_conformance.report.html import accuracy_page
from onnx_conformance.run import progress
from onnx_conformance.specification import schema
from onnx_conformance.suites.chosen import selection_of
from onnx_conformance.verification.accuracy import measured, measuring, script, unary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.verification.accuracy.measured import Accuracy

FORMAT = click.option(
    "--format", "kind", type=click.Choice(("text", "json", "html")), default="text", show_default=True,
    help="html has a chart of each function, and needs --out.",
)  # fmt: skip
OUT = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead of printing."
)
ALL = click.option("--all", "everything", is_flag=True, help="Show all functions instead of the 20 least accurate.")


@click.group("accuracy", invoke_without_command=True)
@click.option("--backend", help="A runtime, named as in `run`.")
@click.option("--op", "operators", multiple=True, metavar="GLOB", help="Only these operators, as in `run`. Repeatable.")
@click.option(
    "--type", "types", multiple=True, type=click.Choice(unary.TYPES), help="Only this element type. Repeatable."
)
@click.option(
    "--points", type=click.IntRange(1, 4096), default=measuring.POINTS, show_default=True,
    help="Inputs of each exponent and sign of a float. Types of 16 bits always have all inputs.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the drawn inputs.")
@click.option(
    "--timeout", type=Seconds(0.01), default=measuring.TIMEOUT, show_default=True,
    help="Time limit of one model, in seconds.",
)  # fmt: skip
@click.option("--python", default="", metavar="PATH", help="A Python interpreter with the runtime, as in `run`.")
@FORMAT
@OUT
@ALL
@with_adapter_options
@click.pass_context
def accuracy_(
    ctx: click.Context, backend: str | None, operators: tuple[str, ...], types: tuple[str, ...],
    points: int, seed: int, timeout: float, python: str, kind: str, out: Path | None,
    everything: bool, passes: tuple[str, ...], isolate: tuple[Path, ...] | None,  # noqa: FBT001 - click's
) -> None:  # fmt: skip
    """Measure how far the results of a runtime are from the exact ones, and at which inputs.

    The newest version of each elementwise operator runs on all 65,536 numbers of float16 and bfloat16. For float and
    double, it runs on numbers of every exponent, and then around the inputs with the largest errors. Sums, products
    and normalizations run with up to 16,384 terms. The exact results are those of the oracle, with more digits than
    the type has.

    Exit status: 0 the accuracy was measured, 2 it could not be measured.
    """
    if ctx.invoked_subcommand is not None:
        return
    if backend is None:
        raise click.UsageError("name a runtime with --backend, such as --backend onnxruntime")
    report_output.check(kind, out)
    selection = selection_of({"op": operators})
    selection.respell(schema.every_version())
    target = backend_names.resolve(backend, python, passes)
    target = sandbox.isolated(target, isolate)
    with progress.steps("measures") as advance:
        found = measuring.accuracy(
            target, selection.may_have, types, points=points, seed=seed, timeout=timeout,
            progress=lambda _, done, every: advance(done, every),
        )  # fmt: skip
    _write([found], kind, out, everything=everything)


@accuracy_.command("show")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@FORMAT
@OUT
@ALL
def show(files: tuple[Path, ...], kind: str, out: Path | None, everything: bool) -> None:  # noqa: FBT001 - click's
    """Show files that `accuracy --format json` wrote; html shows several runtimes in one chart."""
    report_output.check(kind, out)
    if kind == "json" and len(files) > 1:
        raise HarnessError("accuracy-json-of-several", "--format json writes one runtime; name one file")
    _write([measured.read(path) for path in files], kind, out, everything=everything)


@accuracy_.command("compare")
@click.argument("old", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("new", type=click.Path(dir_okay=False, path_type=Path))
def compare(old: Path, new: Path) -> None:
    """Compare two files of `accuracy --format json`: two versions of a runtime, or two runtimes.

    Exit status: 0 no function became less accurate, 1 some did, 2 a file cannot be read.
    """
    before, after = measured.read(old), measured.read(new)
    for text in report.comparison(before, after):
        printing.show(text)
    exit_with(1 if any(item.worse for item in report.changes(before, after)) else 0)


@accuracy_.command("repro")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--op", "operator", required=True, metavar="NAME", help="The operator, such as Tanh or 'Gelu tanh'.")
@click.option("--type", "type_", required=True, type=click.Choice(unary.TYPES), help="The element type.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead of printing.")
def repro(file: Path, operator: str, type_: str, out: Path | None) -> None:
    """Write a script that shows the largest error of a function without this project.

    FILE is a file that `accuracy --format json` wrote.
    """
    found = measured.read(file)
    rows = [row for row in found.elementwise if row.type == type_]
    row = next(
        (row for row in rows if operator in {row.operator, measured.name_of(row.operator, row.attributes)}), None
    )
    if row is None:
        known = ", ".join(measured.name_of(row.operator, row.attributes) for row in rows) or "none"
        raise HarnessError(
            "accuracy-without-function", f"{file} has no elementwise function {operator} of {type_}; it has {known}"
        )
    text = script.script(found, row)
    if out is None:
        printing.show(text, end="")
    else:
        report_output.write(out, text)


def _write(found: Sequence[Accuracy], kind: str, out: Path | None, *, everything: bool) -> None:
    """Write results in a format, to a file or to standard output."""
    if kind == "html":
        text = accuracy_page.page(found)
    elif kind == "json":
        text = measured.as_json(found[0])
    else:
        text = "\n\n".join("\n".join(report.lines(item, everything=everything)).rstrip() for item in found)
    if out is None:
        printing.show(text)
        return
    report_output.write(out, text)
    if kind != "text":
        for item in found:
            for one in report.lines(item, everything=everything):
                printing.show(one)
