# SPDX-License-Identifier: Apache-2.0
"""`silences`: the sentences of the specification that leave something open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onnx_conformance.analysis import silences as analysis
from onnx_conformance.base import printing
from onnx_conformance.cli.options import with_list_options
from onnx_conformance.report import silences as report
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import packages, registry, schema

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.suites.selection import Selection


@click.command("silences")
@with_list_options(report.FORMATS)
def silences_(files: tuple[Path, ...], selection: Selection, package: str, kind: str) -> None:
    """List the sentences of the specification that leave something open, with the cases that show it.

    With results files, the list also shows the answers of the runtimes in these cases: how many return which values,
    and how many return none. It is a worklist for authors of the specification.
    """
    chosen = packages.named(package)
    selection.respell(schema.every_version(chosen))
    found = analysis.of(registry.load(chosen).some(selection.may_have), selection)
    analysis.count_votes(found, [Run(path) for path in files])
    printing.stream(f"{text}\n" for text in report.FORMATS[kind](found))
