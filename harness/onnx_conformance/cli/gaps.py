# SPDX-License-Identifier: Apache-2.0
"""`gaps`: operator versions that a runtime lacks, although it runs an earlier version with the same meaning."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.cli.options import exit_with
from onnx_conformance.findings.gap_findings import passing
from onnx_conformance.report import version_gaps as written
from onnx_conformance.results.stream import Run
from onnx_conformance.results.version_gaps import VersionGaps

if TYPE_CHECKING:
    from onnx_conformance.report.version_gaps import Shown


@click.command("gaps")
@click.argument("results", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--backend", "backends", multiple=True, help="Only this backend of the results. Repeatable.")
@click.option("--offline", is_flag=True, help="Use only the results, and do not run cases of earlier versions.")
@click.option(
    "--format", "format_", type=click.Choice(list(written.FORMATS)), default="text", show_default=True,
    help="The format of the output.",
)  # fmt: skip
def gaps_(results: tuple[Path, ...], backends: tuple[str, ...], *, offline: bool, format_: str) -> None:
    """List operator versions that a runtime lacks, although it runs an earlier version with the same meaning.

    A user meets such a gap after an upgrade of an exporter: the same call in a newer opset is no longer supported.
    Each gap is shown by two cases that differ only in the version. If the results do not have the case of the earlier
    version, the runtime is asked.

    Exit status: 0 no gap, 1 some gaps, 2 the results cannot be read, or the runtime does not start.
    """
    known: dict[str, Shown] = {}
    for path in results:
        run = Run(path)
        if not any(not backends or name in backends for name in run.header["backends"]):
            there = ", ".join(run.header["backends"])
            raise HarnessError(
                "gaps-of-another-backend", f"{path} has no results of {', '.join(backends)}; it has results of {there}"
            )
        for name, hello in run.header["backends"].items():
            if not backends or name in backends:
                gaps = VersionGaps.of(hello)
                for result in run.results():
                    if result.backend == name:
                        gaps.add(result)
                version = str(hello.get("version", ""))
                ask = None if offline else functools.partial(passing, name, version)
                known[_label(name, version)] = written.Shown(gaps.found(ask), gaps)
    for text in written.FORMATS[format_](known):
        printing.show(text.rstrip("\n") if format_ == "json" else text)
    exit_with(1 if any(shown.found for shown in known.values()) else 0)


def _label(backend: str, version: str) -> str:
    return backend if not version or f"=={version}" in backend else f"{backend} {version}"
