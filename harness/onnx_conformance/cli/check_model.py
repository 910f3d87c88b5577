"""`check-model`: which findings of a runtime concern a model."""

from __future__ import annotations

from pathlib import Path

import click

from onnx_conformance.base import printing, under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.cli.options import exit_with
from onnx_conformance.findings import findings_file, model_use
from onnx_conformance.report import model_use as written


@click.command("check-model")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--backend", required=True, help="The runtime that is to run the model, as the findings name it.")
@click.option(
    "--findings", "folder", required=True, type=click.Path(file_okay=False, path_type=Path),
    help="The folder that `findings` wrote.",
)  # fmt: skip
def check_model(model: Path, backend: str, folder: Path) -> None:
    """List what a model uses, and which findings of a runtime concern its operator versions and types.

    Whether a fault shows in the model depends on its values and shapes, too: compare what the failing cases share.

    Exit status: 0 no finding concerns it, 1 some do, 2 the model or the findings cannot be read.
    """
    known = findings_file.read(folder)
    name = under_test.unversioned(backend)
    if name not in known.runtimes:
        there = ", ".join(sorted(known.runtimes)) or "none"
        raise HarnessError(f"{folder} has no findings of {backend!r}; it has those of {there}")
    used = model_use.uses(model_use.read(model))
    concerns = model_use.concerns(used, known, name)
    for text in written.lines(used, concerns, known.runtimes[name], folder):
        printing.show(text)
    exit_with(1 if concerns else 0)
