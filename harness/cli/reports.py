"""`report`, `compare`: finished runs, for people and machines."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from harness import expectations, explain, session
from harness.cli.options import end, source
from harness.errors import HarnessError
from harness.process import Limits
from harness.report import comparison, formats, subject, terminal
from harness.report.formats import FORMATS
from harness.results import Run
from harness.verdict import line


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
def compare(before: Path, after: Path) -> None:
    """Compare two result files: what was fixed, broke, changed, came, went.

    Exit status: 0 nothing that passed before fails or is gone, 1 something does, 2 a file cannot be read.
    """
    old, new = Run(before), Run(after)
    found = comparison.compare_runs(old, new)
    for told in comparison.lines(old, new, found):
        click.echo(told)
    end(1 if found.broke or any(was == "pass" for _, was, _ in found.went) else 0)


_ROWS = "\n".join(f"  {name:<12} {kind.about}" for name, kind in FORMATS.items())


@click.command(epilog=f"\b\nFormats:\n{_ROWS}")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--format", "names", type=click.Choice(list(FORMATS)), multiple=True,
    help="Markdown, if nothing is named. Repeatable with --folder.",
)  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file, whole or not at all.")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path),
    help="Write every format, or those named, into this folder, each by its usual name.",
)  # fmt: skip
@click.option(
    "--expectations", "expected", type=click.Path(dir_okay=False, path_type=Path),
    help="What the runtime's author accepts for now: such failures are marked, and are red nowhere.",
)  # fmt: skip
@click.option(
    "--groups", type=click.IntRange(0), default=0, show_default=True,
    help="Groups of failures shown for each backend; 0: all.",
)  # fmt: skip
def report(
    results: Path, names: tuple[str, ...], out: Path | None, folder: Path | None, expected: Path | None, groups: int
) -> None:
    """Tell a results file in another format: to standard output, a file, or a folder.

    A run that was cut off is told as such. Exit status: 0 the reports are written, 2 something cannot be read or
    written; whether the gate is open is what `gate` tells.
    """
    if folder is None and len(names) > 1:
        raise HarnessError(f"{len(names)} formats need --folder DIR to stand beside one another; or name one")
    if folder is not None and out is not None:
        raise HarnessError("--out names the file of one report, --folder the place of several; give one of them")
    chosen = names or (tuple(FORMATS) if folder else ("markdown",))
    found = subject.read(Run(results), expectations.read(expected) if expected else None)
    found = dataclasses.replace(found, groups=groups)
    cases = source(found.run)
    if cases is None:
        name = line(found.run.header["suite"].get("name"))
        click.echo(f"onnx-conformance: suite {name} is not here; the reports do without the cases themselves", err=True)
    if any(FORMATS[name].asks for name in chosen) and cases is not None:
        examples = [group.example for group in terminal.visible(found.summary, found.groups)[0]]
        found = dataclasses.replace(found, references=session.reference_answers(examples, cases, Limits()))
    if any(FORMATS[name].shares for name in chosen):
        shared = explain.explain(found.run, cases)
        found = dataclasses.replace(found, statements=shared.statements, note=shared.note)
    if folder is not None:
        formats.make(folder)
        for name in dict.fromkeys(chosen):
            formats.write(folder / FORMATS[name].file, FORMATS[name].report(found))
            click.echo(folder / FORMATS[name].file)
    elif out is not None:
        formats.write(out, FORMATS[chosen[0]].report(found))
    else:
        for piece in FORMATS[chosen[0]].report(found):
            click.echo(piece, nl=False)
