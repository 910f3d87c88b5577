# SPDX-License-Identifier: Apache-2.0
"""Tries the faults of operators: `python -m tools.mutants`, which `nox -s mutants` runs."""

from __future__ import annotations

import fnmatch
import os
import sys
import textwrap
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tabulate import tabulate

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.generation import mutant_figures as figures
from onnx_conformance.results.summary import rate
from onnx_conformance.specification import packages, registry
from tools.mutants import core_share, equivalent
from tools.mutants.measure import Ledger, Measured, Settings, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from onnx_conformance.declare import Op
    from onnx_conformance.declare.package import OperatorPackage
    from tools.mutants.equivalent import Entry

RESULTS = Path("reports/runs/mutants.ndjson")
INTERRUPTED, BROKEN = 130, 2
_Found = TypeVar("_Found")


def report(results: Sequence[Measured], entries: Sequence[Entry], *, all_operators: bool) -> Iterator[str]:
    """Yield a table by operator, then the surviving faults, the untouched clauses, and the wrong entries.

    Args:
        results: the results by operator.
        entries: the list of equivalent faults.
        all_operators: whether every operator was measured. Only then is an entry that matches no fault wrong.
    """
    rows = [_row(str(item.op), [item]) for item in results]
    heads = ["operator", "faults", "tried", "noticed", "equivalent", "surviving", "noticed of those\nnot equivalent"]
    yield tabulate([*rows, _row("all", results)], heads, tablefmt="simple", disable_numparse=True, stralign="right")
    for item in results:
        for fault in item.survivors:
            yield f"\n{item.op}: no case detects: {fault.file}:{fault.line}: {fault.function}: {fault.words}"
            yield f"  - {fault.before}"
            yield f"  + {fault.after}"
    for item in results:
        for clause in item.untouched:
            text = f"{item.op}: cases cite this sentence, but none of them detects a fault in its code: «{clause.text}»"
            yield "\n" + textwrap.fill(text, 118, subsequent_indent="    ")
    yield from stale(results, entries, all_operators=all_operators)


def stale(results: Sequence[Measured], entries: Sequence[Entry], *, all_operators: bool) -> Iterator[str]:
    """Yield a line for every entry of the list of equivalent faults that a case detects, or that matches no fault."""
    for item in results:
        for entry, case in item.wrong:
            yield f"{equivalent.FILE.name}: not equivalent, because {case} detects it: {entry}"
    matched = frozenset().union(*(item.matched for item in results))
    measured = {str(item.op) for item in results}
    for entry in entries:
        if entry not in matched and _is_complete(entry, measured, all_operators=all_operators):
            yield f"{equivalent.FILE.name}: matches no fault any more: {entry}"


def _is_complete(entry: Entry, measured: Collection[str], *, all_operators: bool) -> bool:
    """Return whether every operator was measured that may have the fault of an entry.

    Args:
        entry: the entry.
        measured: the names of the measured operators.
        all_operators: whether these are all operators of their package.
    """
    if not entry.operator:
        return all_operators
    named = {str(op) for package in packages.every() for op in registry.load(package) if entry.is_of(str(op))}
    if all_operators:  # An entry may name operators of another package only.
        return not named or not named.isdisjoint(measured)
    return bool(named) and named <= set(measured)


def _row(name: str, results: Sequence[Measured]) -> list[str]:
    words = ("faults", "tried", "noticed", "equivalent", "surviving")
    counts = {word: sum(getattr(item.figures, word) for item in results) for word in words}
    return [name, *map(str, counts.values()), rate(counts["noticed"], counts["tried"] - counts["equivalent"])]


def _chosen(globs: Sequence[str], package: OperatorPackage) -> list[Op]:
    ops = _with_cases(package)
    for glob in globs:
        if not any(_matches(op, glob) for op in ops):
            registry.load(package).named(glob)  # The error names similar operators.
    return [op for op in ops if not globs or any(_matches(op, glob) for glob in globs)]


def _with_cases(package: OperatorPackage) -> list[Op]:
    """Return the operators of a package without those that the installed onnx lacks: they have no cases."""
    return [op for op in registry.load(package) if registry.versions(op)]


def _matches(op: Op, glob: str) -> bool:
    return fnmatch.fnmatchcase(str(op), glob) or fnmatch.fnmatchcase(op.name, glob)


@click.command()
@click.option("--op", "globs", multiple=True, metavar="GLOB", help="Only these operators, such as ai.onnx/Split.")
@click.option("--package", "name", default=packages.ONNX.name, show_default=True, help="The operator package.")
@click.option("--most", type=click.IntRange(1), help="Maximum number of faults per operator; default: all.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    help="Parallel processes; default: the number of cores.",
)
@click.option("--core", is_flag=True, help="Compare the core with all cases; no figures are written.")
@click.option("--add", is_flag=True,
              help="With --core: add the cases that the core lacks to generated_cases/core.toml.")  # fmt: skip
@click.option("--results", type=click.Path(path_type=Path, dir_okay=False), default=RESULTS, show_default=True,
              help="The file of results; a second run continues from it.")  # fmt: skip
@click.option(
    "--figures", "file", type=click.Path(path_type=Path, dir_okay=False),
    help="Default: generated_cases/mutants.toml, or mutants.toml in the folder of the package.",
)  # fmt: skip
def main(
    globs: tuple[str, ...],
    name: str,
    most: int | None,
    jobs: int,
    core: bool,  # noqa: FBT001 - click's
    add: bool,  # noqa: FBT001 - click's
    results: Path,
    file: Path | None,
) -> None:
    """Inject faults into the oracles, one token at a time, and list those that no generated case detects.

    With --core, list the cases that detect faults which the core does not detect.

    Exits with 1 if the list of equivalent faults is wrong, or if the core detects less than 99 % of the faults that all
    cases detect, and with 130 if it was interrupted. The results measured before the interrupt are kept.
    """
    warnings.simplefilter("ignore")  # From numpy in a changed oracle, and about processes with threads.
    printing.prepare()
    try:
        package = packages.named(name)
        chosen = _chosen(globs, package)
        settings = Settings(most, jobs)
        if add and not (core and package is packages.ONNX):
            raise click.UsageError("--add needs --core, and the operators of onnx")
        if core:
            status = _compare(chosen, settings, results, _with_cases(package) if add else ())
        else:
            status = _run(chosen, package, settings, results, file or figures.path(package), whole=not globs)
    except (HarnessError, OSError) as error:
        printing.note(f"mutants: {error}")
        status = BROKEN
    sys.exit(status)


def _run(
    ops: Sequence[Op], package: OperatorPackage, settings: Settings, results: Path, file: Path, *, whole: bool
) -> int:
    entries = equivalent.read()
    ledger = Ledger(results)

    def measured(op: Op, progress: Callable[[int, int], None]) -> Measured:
        found = measure(op, settings, ledger, entries, progress)
        figures.write_file(file, {str(op): found.figures}, map(str, _with_cases(package)))
        return found

    done, status = _each(ops, measured, results)
    all_operators = whole and len(done) == len(ops)
    for text in report(done, entries, all_operators=all_operators):
        printing.show(text)
    return status or int(any(stale(done, entries, all_operators=all_operators)))


def _compare(ops: Sequence[Op], settings: Settings, results: Path, every: Sequence[Op]) -> int:
    """Compare the core with all cases; if `every` has operators, add the cases that the core lacks."""
    ledger = Ledger(results)
    done, status = _each(ops, lambda op, progress: core_share.share(op, settings, ledger, progress), results)
    for text in core_share.report(done):
        printing.show(text)
    if every:
        file, added, left = core_share.add(done, every)
        printing.show(
            f"added {added:,} cases to {file}, without {left:,} for which the core has no room; "
            "`onnx-conformance manifest` marks them"
        )
    return status or int(not core_share.enough(done))


def _each(
    ops: Sequence[Op], measured: Callable[[Op, Callable[[int, int], None]], _Found], results: Path
) -> tuple[list[_Found], int]:
    """Measure operators one after another, and return the results and the exit status so far.

    Args:
        ops: the operators.
        measured: measures one of them; its second argument is called with the numbers of finished and of all faults.
        results: the file of results.
    """
    done: list[_Found] = []
    status = 0
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, transient=True, disable=not printing.on_terminal()) as bar:
            task = bar.add_task("", total=None)
            for number, op in enumerate(ops, 1):
                bar.reset(task, description=f"{op} ({number} of {len(ops)})", total=None)
                try:
                    done.append(measured(op, lambda n, all_: bar.update(task, completed=n, total=all_)))
                except HarnessError as error:
                    printing.note(f"mutants: {error}")
                    status = BROKEN
    except KeyboardInterrupt:
        printing.note(
            f"mutants: interrupted; {results} contains the results so far, and the same command continues from there"
        )
        status = INTERRUPTED
    return done, status


if __name__ == "__main__":
    main()
