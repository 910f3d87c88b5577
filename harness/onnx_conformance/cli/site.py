# SPDX-License-Identifier: Apache-2.0
"""`site`: a static web site of several runs, and `site collect`: of the results of several repositories."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnx_conformance.analysis import bounds, open_points
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.suite_names import MAIN
from onnx_conformance.base.verdict import clean
from onnx_conformance.cli import options, page_cases
from onnx_conformance.findings import findings_file
from onnx_conformance.report import provenance
from onnx_conformance.report.site import site
from onnx_conformance.report.site.folder import SiteFolder
from onnx_conformance.report.site.pages import More
from onnx_conformance.report.site.results import Results
from onnx_conformance.results import collection, sources
from onnx_conformance.results.fetching import MIB, Limits
from onnx_conformance.results.stream import Run
from onnx_conformance.run import progress
from onnx_conformance.specification import packages, registry
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.selection import Selection
from onnx_conformance.verification.accuracy import measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.analysis.bounds import Bound
    from onnx_conformance.analysis.open_points import OpenPoint
    from onnx_conformance.case.case import Case
    from onnx_conformance.verification.accuracy.measured import Accuracy

FINDINGS = click.option(
    "--findings", "findings_folder", type=click.Path(file_okay=False, path_type=Path),
    help="A folder with findings.json and its scripts; the site gets a page for each finding.",
)  # fmt: skip
ACCURACY = click.option(
    "--accuracy", "accuracy_files", multiple=True, type=click.Path(dir_okay=False, path_type=Path),
    help="A file of `accuracy --format json`; the site gets charts of the errors. Repeatable.",
)  # fmt: skip
OUT = click.option(
    "--out", required=True, type=click.Path(path_type=Path),
    help="The folder of the site. Files of an earlier site are replaced or removed; other files are not changed.",
)  # fmt: skip


@click.command()
@click.argument("listed", metavar="SOURCES.toml", type=click.Path(dir_okay=False, path_type=Path))
@FINDINGS
@OUT
@click.option(
    "--max-size", type=options.SIZE, default=Limits.content, metavar="SIZE",
    help=f"Refuse results that are larger after decompression.  [default: {Limits.content // MIB}M]",
)  # fmt: skip
def collect(listed: Path, findings_folder: Path | None, out: Path, max_size: int) -> None:
    """Write one web site of the results that several repositories publish.

    SOURCES.toml has a table [[source]] for each, with a `name` and its `results`: an https address or a path of a
    results file, which may be compressed with xz. The command refuses results that are cut off, too large, of another
    suite, without any answer, or of a version of a backend that an earlier source has. It prints one line for each, and
    writes the site of the others.

    Exit status: 0 the site has all sources, 1 some are refused, 2 no source is left, or a file cannot be read or
    written.
    """
    known = sources.read(listed)
    suite = {"name": MAIN, "digest": open_suite(MAIN).digest()}
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        found = collection.collect(known, suite, Path(folder), Limits(content=max_size))
        for reason in found.refused:
            printing.warn(f"refused: {reason.labelled}")
        if not found.runs:
            raise HarnessError(
                "no-source-left", f"all {len(known)} sources of {listed} are refused; correct one of them"
            )
        size = write_runs(found.runs, findings_folder, out)
    printing.show(f"{out / 'index.html'}: {size / 1e6:.1f} MB, {len(found.runs)} of {len(known)} sources")
    options.exit_with(1 if found.refused else 0)


collect.params.append(options.ONNX)


class _WithCollect(click.Command):
    """A command whose first argument may be the name of a second command; a file of that name is `./collect`."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - as in click
    ) -> click.Context:
        """Return the context of the command that the arguments name."""
        if args[:1] == [collect.name]:
            return collect.make_context(f"{info_name} {collect.name}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("site", cls=_WithCollect)
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@FINDINGS
@ACCURACY
@OUT
def site_(files: tuple[Path, ...], findings_folder: Path | None, accuracy_files: tuple[Path, ...], out: Path) -> None:
    """Write a static web site of results files: a ranking, and pages of operators, runtimes, findings and cases.

    Runtimes are ranked by passed of specified, on the cases that all complete runs of the suite have in common. The
    reference evaluator, samples and runs of other suites are shown separately. Older versions of a runtime are shown as
    its history. The site opens from disk and loads nothing from the network.

    `site collect SOURCES.toml` writes one site of the results that several repositories publish; see `site collect
    --help`.

    Exit status: 0 the site is written, 2 a file cannot be read or written.
    """
    size = write(files, findings_folder, out, accuracy_files)
    printing.show(f"{out / 'index.html'}: {size / 1e6:.1f} MB")


def write(files: Iterable[Path], findings_folder: Path | None, out: Path, accuracy_files: Iterable[Path] = ()) -> int:
    """Write a site of results files, and return its size in bytes.

    Raises:
        HarnessError: a file cannot be read or written, or the folder contains another site.
    """
    accuracy = [measured.read(path) for path in accuracy_files]
    return write_runs([Run(path) for path in files], findings_folder, out, accuracy)


def write_runs(runs: Sequence[Run], findings_folder: Path | None, out: Path, accuracy: Sequence[Accuracy] = ()) -> int:
    """Write a site of runs, and return its size in bytes.

    Raises:
        HarnessError: a file cannot be read or written, or the folder contains another site.
    """
    folder = SiteFolder(out)
    read = findings_file.read(findings_folder) if findings_folder is not None else None
    found = sorted(read.findings, key=lambda item: item.rank) if read else None
    scripts = {item.id: clean(read.scripts[item.id]) for item in read.findings} if read else {}
    results = Results(runs)
    differ = provenance.of_findings(read, results.shown) if read else {}
    cases, missing = _cases(results)
    more = More(*about_texts(results), accuracy)
    with progress.steps("describing failing cases") as advance:
        return site.write(folder, results, found, scripts, cases, missing, advance, differ, more)


def about_texts(results: Results) -> tuple[list[OpenPoint], list[Bound]]:
    """Return the open points and the allowed errors of the operators in the results, with the shown results."""
    wanted = {operator.name for operator in results.operators}
    every = Selection()
    ops = [
        op
        for package in packages.every()
        for op in registry.load(package).some(lambda name: name.rpartition("/")[0] in wanted)
    ]
    points, found = open_points.of(ops, every), list(bounds.of(ops, every))
    ballot = open_points.Ballot(points, every)
    bounds.measure(found, ballot.counted(results.shown_results()))  # Results files are large, so they are read once.
    ballot.finish()
    return points, found


def _cases(results: Results) -> tuple[Iterable[Case], str]:
    """Return the cases of the suite that some runtime fails, or the reason why they are not available."""
    suite, missing = page_cases.suite_of_runs(results.runs)
    if suite is None:
        return (), missing
    wanted = frozenset(results.failing())
    return (suite.cases(Selection(ids=wanted)) if wanted else ()), ""
