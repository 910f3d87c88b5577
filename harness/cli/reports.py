"""`report`, `compare`: finished runs, for people and machines."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness import session, suite
from harness.cli import pages
from harness.cli.options import end
from harness.errors import HarnessError
from harness.process import Limits
from harness.report import comparison, markdown, terminal
from harness.report.summary import Summary
from harness.results import Run


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
def compare(before: Path, after: Path) -> None:
    """Compare two result files: what was fixed, broke, changed, came, went.

    Exit status: 0 nothing that passed before fails or is gone, 1 something does, 2 a file cannot be read.
    """
    old, new = Run(before), Run(after)
    found = comparison.compare_runs(old, new)
    for line in comparison.lines(old, new, found):
        click.echo(line)
    end(1 if found.broke or any(was == "pass" for _, was, _ in found.went) else 0)


@click.command()
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format", "kind", type=click.Choice(["markdown", "json", "html"]), default="markdown", show_default=True,
    help="html takes several files, side by side; of two that share a backend it shows what changed.",
)  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The file to write; html needs one.")
@click.option(
    "--groups", type=click.IntRange(0), default=0, show_default=True,
    help="Groups of failures shown for each backend; 0: all.",
)  # fmt: skip
def report(files: tuple[Path, ...], kind: str, out: Path | None, groups: int) -> None:
    """Write the report of a results file to standard output, or as a page of its own."""
    if kind == "html":
        if out is None:
            raise HarnessError("--format html needs --out FILE, the page to write")
        click.echo(pages.write(files, out))
        return
    if len(files) > 1 or out is not None:
        raise HarnessError(f"--format {kind} takes one results file and no --out; --format html takes several")
    found, summary = Run(files[0]), Summary()
    for result in found.results():
        summary.add(result)
    if kind == "json":
        rows = [
            {"operator": op, "backend": name, **{str(v): n for v, n in sorted(counter.items())}}
            for (op, name), counter in sorted(summary.counts.items())
        ]
        click.echo(json.dumps({"header": found.header, "complete": found.complete, "counts": rows}, indent=2))
        return
    examples = [group.example for group in terminal.visible(summary, groups)[0]]
    source = suite.open_suite(found.header["suite"]["name"])
    references = session.reference_answers(examples, source, Limits())
    click.echo(markdown.report(found, summary, references, groups), nl=False)
