# SPDX-License-Identifier: Apache-2.0
"""The command `check`: the faults of an operator file, as a list of sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onnx_conformance.base import printing
from onnx_conformance.cli.options import exit_with
from onnx_conformance.generation import operator_checks
from onnx_conformance.specification import packages, registry

if TYPE_CHECKING:
    from onnx_conformance.declare import Op


@click.command("check")
@click.argument("names", nargs=-1, required=True, metavar="OPERATOR...")
@click.option("--forms", is_flag=True, help="Also check all other forms than the plain one, and the manifest; slower.")
def check(names: tuple[str, ...], forms: bool) -> None:  # noqa: FBT001 - click's flag
    """Check operator files, and print a sentence for each fault.

    For example, `onnx-conformance check Split` checks the file of Split. The command checks the quotes, versions,
    types, outcomes, tolerances and models, and whether every binding sentence and every schema point has a case. The
    tests of this project run the same checks. The name of an operator package, such as microsoft, selects all its
    operators. The exit status is 1 if there is a fault.
    """
    found, ops = 0, [op for name in names for op in _named(name)]
    for name in names:
        for sentence in package.differences() if (package := packages.find(name)) is not None else ():
            found += 1
            printing.show(sentence)
    for op in ops:
        for sentence in operator_checks.faults(op, every_form=forms):
            found += 1
            printing.show(sentence)
    checked = ", ".join(op.name for op in ops)
    if found:
        printing.show(f"{checked}: {found} fault{'s' if found > 1 else ''}")
        exit_with(1)
    printing.show(f"{checked}: no faults found")


def _named(name: str) -> list[Op]:
    """Return the operator with a name, or the operators of the package with this name."""
    package = packages.find(name)
    return list(registry.load(package)) if package is not None else [registry.load().named(name)]
