# SPDX-License-Identifier: Apache-2.0
"""`publish`: a folder of published reports."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.analysis import support as supporting
from onnx_conformance.analysis import support_file
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.suite_names import MAIN
from onnx_conformance.cli import page_cases, site
from onnx_conformance.findings import findings_file
from onnx_conformance.report import formats, index, report_data
from onnx_conformance.report.formats import FORMATS
from onnx_conformance.results.stream import Run
from onnx_conformance.run import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE, BADGES = "site", "badges"
"""Subfolders of the folder of reports."""


@click.command()
@click.argument("files", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder of published reports."
)
@click.option(
    "--findings", "findings_folder", type=click.Path(file_okay=False, path_type=Path),
    help="A folder written by `findings`.  [default: findings/ in the folder of the reports, if it exists]",
)  # fmt: skip
@site.ACCURACY
def publish(
    files: tuple[Path, ...], folder: Path, findings_folder: Path | None, accuracy_files: tuple[Path, ...]
) -> None:
    """Write results files into a folder of published reports: an index, the web site, and a badge of each file.

    support.json contains the support of each runtime by operator version, type and attribute, for `check-model`.

    Exit status: 0 the reports are written, 2 a file cannot be read or written.
    """
    doubled = {path.stem for path in files if [other.stem for other in files].count(path.stem) > 1}
    if doubled:
        raise HarnessError(
            "badges-with-one-name",
            f"two results files are called {min(doubled)}, so their badges would overwrite each other; rename one",
        )
    if findings_folder is None and (folder / "findings" / findings_file.FILE).is_file():
        findings_folder = folder / "findings"
    found = findings_file.read(findings_folder) if findings_folder is not None else None
    formats.make(folder / BADGES)
    published = []
    for path in files:
        data = dataclasses.replace(report_data.read(Run(path)), groups=0)
        badge = f"{BADGES}/{path.stem}.json"
        formats.write(folder / badge, FORMATS["badge"].report(data))
        published.append((data, badge))
    size = site.write(files, findings_folder, folder / SITE, accuracy_files)
    printing.show(f"{folder / SITE / 'index.html'}: {size / 1e6:.1f} MB")
    inside = findings_folder is not None and findings_folder.resolve().parent == folder.resolve()
    place = f"{findings_folder.name}/{findings_file.FILE}" if findings_folder is not None and inside else ""
    support = _write_support([data.run for data, _ in published], folder / support_file.FILE)
    formats.write(folder / "README.md", index.report(published, found, place, support))
    printing.show(folder / "README.md")


def _write_support(runs: Sequence[Run], path: Path) -> str:
    """Write the support of the runtimes of some runs; return the name of the file, or an empty text without one."""
    of_suite = [run for run in runs if run.header["suite"].get("name") == MAIN]
    if not of_suite:
        return ""
    suite, missing = page_cases.suite_of_runs(of_suite)
    if suite is None:
        printing.note(f"{path} is not written. {missing}")
        return ""
    with progress.steps("reading the calls of the cases") as advance:
        supports = supporting.of_runs(of_suite, suite, on_operator=advance)
    if not supports:
        return ""
    formats.write(path, support_file.text(supports))
    printing.show(path)
    return path.name
