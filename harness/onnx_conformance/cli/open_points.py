# SPDX-License-Identifier: Apache-2.0
"""`open-points`: the points that the specification leaves open or that changed its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onnx_conformance.analysis import open_points as analysis
from onnx_conformance.analysis.open_points import Kind
from onnx_conformance.base import printing
from onnx_conformance.cli.options import with_list_options
from onnx_conformance.report import open_points as report
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import packages, registry, schema

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.suites.selection import Selection


@click.command("open-points")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice([str(kind) for kind in Kind]),
    help="Only points of this kind. Repeatable.",
)  # fmt: skip
@with_list_options(report.FORMATS)
def open_points(files: tuple[Path, ...], selection: Selection, package: str, kind: str, kinds: tuple[str, ...]) -> None:
    """List the points that the specification leaves open, by operator.

    The kinds of points are: silences, in which no sentence decides some cases; contradictions, in which two sentences,
    or a sentence and an official case or function body, decide differently; readings, which are questions of many
    operators that this project decided; and rewordings, in which a release changed a sentence in versions that existed
    already.

    With results files, the list also shows the answers of the runtimes: in silences, how many return which values, and
    how many return none; in the other points, how many cases agree with the present text, and how many deviate from it.
    It is a worklist for authors of the specification.
    """
    chosen = packages.named(package)
    selection.respell(schema.every_version(chosen))
    wanted = [Kind(name) for name in kinds or Kind]
    found = analysis.of(registry.load(chosen).some(selection.may_have), selection, wanted)
    results = (result for path in files for result in Run(path).results())
    analysis.count_votes(found, results, selection, wanted)
    printing.stream(f"{text}\n" for text in report.FORMATS[kind](found))
