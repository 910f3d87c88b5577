# SPDX-License-Identifier: Apache-2.0
"""Counts how real models call ONNX, and writes the counts: `python -m tools.usage`, which `nox -s usage` runs.

The models are parts of packages (`packages.toml`), or exports of torch, scikit-learn and jax by this folder's modules.
They stay in a folder of your choice. Only counts are written, to `onnx_conformance/specification/usage/usage.tsv`.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
import onnx
from google.protobuf.message import DecodeError

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.specification.usage import pattern, table
from tools.usage import packages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_conformance.specification.usage.pattern import Pattern

EXPORTERS = ("torch_models", "sklearn_models", "jax_models")
"""The modules of this folder that write models; each runs with a folder as its argument."""


def export(folder: Path, python: str) -> None:
    """Write the models of the exporters to a folder.

    Args:
        folder: the folder.
        python: the interpreter whose environment contains the exporters.

    Raises:
        PackagesError: an exporter cannot run.
    """
    for name in EXPORTERS:
        words = [python, "-m", f"tools.usage.{name}", str(folder.absolute())]
        done = subprocess.run(words, cwd=Path(__file__).parents[2], check=False)  # noqa: S603 - a module of this folder
        if done.returncode:
            raise packages.PackagesError(
                "exporter-failed", f"{name} ended with status {done.returncode}; --python needs its packages"
            )


def counted(paths: Iterable[Path]) -> list[Counter[Pattern]]:
    """Return the patterns of each model. Models with the same patterns, equally often, are one model.

    Raises:
        PackagesError: a file is not a model.
    """
    distinct: dict[frozenset[tuple[Pattern, int]], Counter[Pattern]] = {}
    for path in paths:
        try:
            model = onnx.load(path, load_external_data=False)
        except (DecodeError, OSError) as error:
            raise packages.PackagesError("not-a-model-to-count", f"{path} is not an ONNX model; remove it") from error
        counts = Counter(pattern.of_model(pattern.inferred(model)))
        distinct.setdefault(frozenset(counts.items()), counts)
    return list(distinct.values())


@click.command()
@click.option(
    "--models",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports/runs/models"),
    show_default=True,
    help="the folder of the models; those that it has are not downloaded again",
)
@click.option("--python", default=sys.executable, help="the Python that has the packages of the exporters")
@click.option("--no-export", is_flag=True, help="count the models of the folder, without exporting any again")
def main(folder: Path, python: str, *, no_export: bool) -> None:
    """Download and export models, count how their nodes call ONNX, and write the counts."""
    printing.prepare()
    try:
        listed = packages.listed()
        for line in packages.collect(listed, folder):
            printing.note(line)
        if not no_export:
            export(folder, python)
            packages.write_index(listed, folder)
        models = counted(sorted(folder.glob("*.onnx")))
        table.write(models)
    except (HarnessError, OSError) as error:
        printing.note(f"usage: {error}")
        sys.exit(2)
    usage = table.read()
    printing.show(f"{usage.models} models, {len(usage.rows)} patterns of {len(usage.operators)} operators")


if __name__ == "__main__":
    main()
