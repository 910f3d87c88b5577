"""`check-model`: the findings of a runtime that concern a model."""

from __future__ import annotations

from pathlib import Path

import click

from onnx_conformance.base import printing, under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.case.model_file import load_nodes
from onnx_conformance.cli.options import exit_with
from onnx_conformance.findings import findings_file, model_use
from onnx_conformance.report import model_use as written
from onnx_conformance.specification.model_use import uses


@click.command("check-model")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--backend", required=True, help="The runtime for the model, as named in the findings.")
@click.option(
    "--findings", "folder", required=True, type=click.Path(file_okay=False, path_type=Path),
    help="The folder that `findings` wrote.",
)  # fmt: skip
def check_model(model: Path, backend: str, folder: Path) -> None:
    """List the operators of a model, and the findings of a runtime that concern its operator versions and types.

    Whether a fault affects the model also depends on its values and shapes: compare the conditions of the finding.

    Exit status: 0 no finding concerns the model, 1 some do, 2 the model or the findings cannot be read.
    """
    known = findings_file.read(folder)
    name = under_test.unversioned(backend)
    if name not in known.runtimes:
        there = ", ".join(sorted(known.runtimes)) or "none"
        raise HarnessError(
            "backend-without-findings", f"{folder} has no findings for {backend!r}; it has findings for {there}"
        )
    used = uses(load_nodes(model))
    concerns = model_use.concerns(used, known, name)
    for text in written.lines(used, concerns, known.runtimes[name], folder):
        printing.show(text)
    exit_with(1 if concerns else 0)
