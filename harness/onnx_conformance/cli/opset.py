# SPDX-License-Identifier: Apache-2.0
"""`opset`: the changes between two opsets or two onnx packages."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import click

from onnx_conformance.base import printing
from onnx_conformance.cli.options import exit_with
from onnx_conformance.environments import onnx_environment
from onnx_conformance.opset import comparison, description
from onnx_conformance.opset.comparison import INSTALLED, Opsets, Packages
from onnx_conformance.report import opset as opset_report
from onnx_conformance.report import terminal
from onnx_conformance.specification import schema

FORMATS = ("text", "markdown", "json")


@click.command("opset")
@click.argument("between", default="", metavar="[FROM..TO]")
@click.option("--domain", default="ai.onnx", show_default=True, help="The domain of the opsets.")
@click.option("--format", "form", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True)
@click.option("--check", is_flag=True, help="Exit with status 1 if a schema point or a binding sentence has no case.")
@click.option("--before", type=click.Path(dir_okay=False, path_type=Path), hidden=True)
def opset_(between: str, domain: str, form: str, check: bool, before: Path | None) -> None:  # noqa: FBT001 - click's flags
    """Show the changes between two opsets or two onnx packages, and the parts without a case.

    The range has opsets, such as 27..28, or packages, such as 1.22.0..onnx-weekly. An omitted side is the newest opset
    or the installed onnx. Without a range, the changes of the newest opset are shown.

    For each new or reworded operator version, the output lists: added, removed and changed types, attributes, inputs,
    outputs and sentences (word by word); clauses and cases of the previous version that still apply; schema points and
    binding sentences without a case; the cases of the official suite.
    """
    domains = sorted({path.split("/")[0] for path in schema.every()})
    if domain not in domains:
        raise comparison.RangeError("unknown-domain", f"--domain {domain}: onnx has {', '.join(domains)}")
    asked = comparison.parse(between, domain)
    if isinstance(asked, Opsets):
        _show(comparison.of_opsets(asked, domain, _progress), form, check=check)
    else:
        _of_packages(asked, before, form, check=check)


def _of_packages(asked: Packages, before: Path | None, form: str, *, check: bool) -> None:
    """Compare with the installed onnx, or in a process with the newer one."""
    here = asked.after == INSTALLED or onnx_environment.is_running(asked.after)
    if before is not None:
        text = before.read_text("utf-8")
    elif asked.before == INSTALLED or onnx_environment.is_running(asked.before):
        text = description.printed()
    else:
        text = onnx_environment.output(asked.before, ["onnx_conformance.opset.description"])
    if here:
        _show(comparison.of_packages(text, _progress), form, check=check)
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
        file.write(text)
        file.flush()
        exit_with(onnx_environment.run(asked.after, [*sys.argv[1:], "--before", file.name]))


def _progress(name: str) -> None:
    if printing.on_terminal():
        printing.note(name)


def _show(compared: comparison.Comparison, form: str, *, check: bool) -> None:
    if form == "json":
        printing.show(json.dumps(opset_report.record(compared), indent=2, ensure_ascii=False))
    else:
        width = shutil.get_terminal_size((terminal.WIDTH, 0)).columns
        for text in opset_report.lines(compared, width) if form == "text" else opset_report.markdown(compared):
            printing.show(text)
    if check and compared.incomplete:
        exit_with(1)
