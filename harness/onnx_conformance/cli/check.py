# SPDX-License-Identifier: Apache-2.0
"""The command `check`: the faults of an operator file, as a list of sentences."""

from __future__ import annotations

import click

from onnx_conformance.base import printing
from onnx_conformance.cli.options import exit_with
from onnx_conformance.declare import Op
from onnx_conformance.generation import operator_checks
from onnx_conformance.specification import packages, registry


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
    found, ops = 0, list[Op]()
    for name in names:
        if (package := packages.find(name)) is None:
            ops.append(registry.load().named(name))
            continue
        ops += registry.load(package)
        for sentence in package.differences():
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
