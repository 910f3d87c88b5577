# SPDX-License-Identifier: Apache-2.0
"""`bounds`: how far from the expected value an answer may be, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onnx_conformance.analysis import bounds as analysis
from onnx_conformance.base import printing
from onnx_conformance.cli.options import with_list_options
from onnx_conformance.report import bounds as report
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import packages, registry, schema

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.suites.selection import Selection


@click.command("bounds")
@with_list_options(report.FORMATS)
def bounds_(files: tuple[Path, ...], selection: Selection, package: str, kind: str) -> None:
    """List how far from the expected value an answer may be, by operator, with the reason.

    The list has the newest selected version of each operator with outputs of a floating type. With results files, it
    also has the largest error of each runtime, in units in the last place (ULP), and a case that shows it.
    """
    chosen = packages.named(package)
    selection.respell(schema.every_version(chosen))
    found = list(analysis.of(registry.load(chosen).some(selection.may_have), selection))
    analysis.measure(found, (result for path in files for result in Run(path).results()))
    printing.stream(f"{text}\n" for text in report.FORMATS[kind](found))
