"""`site`: a static web site of several runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.base import printing
from onnx_conformance.base.verdict import clean
from onnx_conformance.cli import page_cases
from onnx_conformance.findings import findings_file
from onnx_conformance.report import provenance
from onnx_conformance.report.site import site
from onnx_conformance.report.site.folder import SiteFolder
from onnx_conformance.report.site.results import Results
from onnx_conformance.results.stream import Run
from onnx_conformance.run import progress
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_conformance.case.case import Case


@click.command("site")
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--findings", "findings_folder", type=click.Path(file_okay=False, path_type=Path),
    help="A folder with findings.json and its scripts; the site gets a page for each finding.",
)  # fmt: skip
@click.option(
    "--out", required=True, type=click.Path(path_type=Path),
    help="The folder of the site. Files of an earlier site are replaced or removed; other files are not changed.",
)  # fmt: skip
def site_(files: tuple[Path, ...], findings_folder: Path | None, out: Path) -> None:
    """Write a static web site of results files: a ranking, and pages of operators, runtimes, findings and cases.

    Runtimes are ranked by passed of specified, on the cases that all complete runs of the suite have in common. The
    reference evaluator, samples and runs of other suites are shown separately. Older versions of a runtime are shown as
    its history. The site opens from disk and loads nothing from the network.

    Exit status: 0 the site is written, 2 a file cannot be read or written.
    """
    size = write(files, findings_folder, out)
    printing.show(f"{out / 'index.html'}: {size / 1e6:.1f} MB")


def write(files: Iterable[Path], findings_folder: Path | None, out: Path) -> int:
    """Write a site of results files, and return its size in bytes.

    Raises:
        HarnessError: a file cannot be read or written, or the folder contains another site.
    """
    folder = SiteFolder(out)
    read = findings_file.read(findings_folder) if findings_folder is not None else None
    found = sorted(read.findings, key=lambda item: item.rank) if read else None
    scripts = {item.id: clean(read.scripts[item.id]) for item in read.findings} if read else {}
    results = Results([Run(path) for path in files])
    differ = provenance.of_findings(read, results.shown) if read else {}
    cases, missing = _cases(results)
    with progress.steps("describing failing cases") as advance:
        return site.write(folder, results, found, scripts, cases, missing, advance, differ)


def _cases(results: Results) -> tuple[Iterable[Case], str]:
    """Return the cases of the suite that some runtime fails, or the reason why they are not available."""
    suite, missing = page_cases.suite_of_runs(results.runs)
    if suite is None:
        return (), missing
    wanted = frozenset(results.failing())
    return (suite.cases(Selection(ids=wanted)) if wanted else ()), ""
