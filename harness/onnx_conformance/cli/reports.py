# SPDX-License-Identifier: Apache-2.0
"""`report`, `compare`: reports about finished runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.analysis import explain
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.verdict import line
from onnx_conformance.cli import page_cases
from onnx_conformance.cli.options import available_cores, exit_with, suite_of
from onnx_conformance.gate import expectations
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.report import comparison, formats, report_data, terminal
from onnx_conformance.report.formats import FORMATS, Format
from onnx_conformance.report.html import page
from onnx_conformance.report.html.table import Table
from onnx_conformance.results.stream import Run
from onnx_conformance.run import progress
from onnx_conformance.run.reference_answers import reference_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_conformance.base.verdict import Result


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
def compare(before: Path, after: Path) -> None:
    """Compare two results files: fixed, broken, changed, new, missing cases.

    Exit status: 0 every case that passed before still passes, 1 one fails or is missing, 2 a file cannot be read.
    """
    old, new = Run(before), Run(after)
    changes = comparison.compare_runs(old, new)
    for text in comparison.lines(old, new, changes):
        printing.show(text)
    exit_with(1 if changes.broke or any(was == "pass" for _, was, _ in changes.went) else 0)


_ROWS = "\n".join(f"  {name:<12} {kind.about}" for name, kind in FORMATS.items())


@click.command(epilog=f"\b\nFormats:\n{_ROWS}")
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format", "names", type=click.Choice(list(FORMATS)), multiple=True,
    help="The format. Repeatable with --folder.  [default: markdown]",
)  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path),
    help="Write all formats, or those of --format, into this folder.",
)  # fmt: skip
@click.option(
    "--expectations", "expected", type=click.Path(dir_okay=False, path_type=Path),
    help="File of currently accepted failures: the reports mark them as expected.",
)  # fmt: skip
@click.option(
    "--groups", type=click.IntRange(0), default=0, show_default=True,
    help="Number of groups of failures shown per backend; 0: all.",
)  # fmt: skip
def report(
    files: tuple[Path, ...],
    names: tuple[str, ...],
    out: Path | None,
    folder: Path | None,
    expected: Path | None,
    groups: int,
) -> None:
    """Write a results file in another format: to standard output, a file, or a folder.

    The format html shows several files side by side; for two files that share a backend, it shows the changes. An
    incomplete run is marked as such. Exit status: 0 the reports are written, 2 a file cannot be read or written. For
    the exit status of the gate, use `gate`.
    """
    if folder is None and len(names) > 1:
        raise HarnessError("folder-missing", f"{len(names)} formats need --folder DIR; use it, or name one format")
    if folder is not None and out is not None:
        raise HarnessError(
            "out-and-folder", "--out is the file of one report, --folder is for several; use only one of them"
        )
    chosen = {name: FORMATS[name] for name in names or (tuple(FORMATS) if folder else ("markdown",))}
    alone = [name for name, kind in chosen.items() if len(files) > 1 and not kind.several_runs]
    if alone:
        raise HarnessError(
            "one-results-file-only",
            f"--format {alone[0]} accepts one results file; for several, use "
            f"{', '.join(name for name, kind in FORMATS.items() if kind.several_runs)}",
        )
    if "html" in chosen and out is None and folder is None:
        raise HarnessError("page-needs-a-file", "--format html needs --out FILE, to open it in a browser")
    runs = [Run(path) for path in files]
    data = _read(runs, tuple(chosen.values()), expectations.read(expected) if expected else None, groups)
    if folder is not None:
        formats.make(folder)
    for kind in chosen.values():
        path = folder / kind.file if folder is not None else out
        if path is None:
            printing.stream(kind.report(data), commands=kind.commands)
            continue
        formats.write(path, kind.report(data))
        if folder is not None:
            printing.show(path)


def _read(
    runs: Sequence[Run], chosen: Sequence[Format], expected: expectations.Expectations | None = None, groups: int = 0
) -> report_data.ReportData:
    """Return the report data of the first run, with the other runs and the data that the formats need.

    Each file is read once, for counts, explanation and page together. The cases are generated once, for explanation and
    page together.
    """
    collectors = [explain.Collector() for _ in runs]
    table = Table()
    shares, describes = any(kind.shows_statements for kind in chosen), any(kind.shows_cases for kind in chosen)
    of_runs: list[report_data.ReportData] = []
    for run, collector in zip(runs, collectors, strict=True):
        others: list[Callable[[Result], None]] = [collector.add] if shares else []
        with table.taking(run) as add:
            others += [add] if describes else []
            of_runs.append(report_data.read(run, None if of_runs else expected, others))
    data = dataclasses.replace(of_runs[0], groups=groups, other_runs=tuple(runs[1:]))
    cases = suite_of(data.run)
    if cases is None:
        name = line(data.run.header["suite"].get("name"))
        text = f"suite {name} is not available, so the reports do not contain the cases themselves"
        printing.warn(Note("suite-not-available", text))
    elif any(kind.shows_references for kind in chosen):
        examples = [group.example for group in terminal.visible(data.summary, data.groups)[0]]
        data = dataclasses.replace(data, references=reference_answers(examples, cases, Limits()))
    described = page_cases.of_page(runs, table) if describes else page_cases.PageCases()
    if shares or describes:
        with progress.steps(_working(shares=shares, describes=describes)) as advance:
            shared = [
                explain.explain(
                    run,
                    suite_of(run),
                    jobs=available_cores(),
                    on_operator=advance,
                    collected=collector,
                    watchers=described.watchers if run is data.run else None,
                )
                for run, collector in zip(runs, collectors, strict=True)
            ]
        statements = tuple(statement for item in shared for statement in item.statements)
        note = "; ".join(dict.fromkeys(item.note for item in shared if item.note))
        data = dataclasses.replace(data, statements=statements, note=note)
    if describes:
        blocks = tuple(block for of_operator in shared[0].seen.values() for block in of_operator)
        contents = page.Contents(table, blocks)
        data = dataclasses.replace(data, cases=described.cases, missing=described.missing, contents=contents)
    return data


def _working(*, shares: bool, describes: bool) -> str:
    """Return the activity for the progress line."""
    return " and ".join(["explaining failures"] * shares + ["describing cases"] * describes) + " by operator"
