# SPDX-License-Identifier: Apache-2.0
"""`claims`: write the claims of a backend from a run."""

from __future__ import annotations

from pathlib import Path

import click

from onnx_conformance.base import atomic_file, printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.cli.options import suite_of
from onnx_conformance.gate import observed_claims, toml_blocks
from onnx_conformance.results.stream import Run
from onnx_conformance.suites.claims import TABLE, parse
from onnx_conformance.suites.profile_file import text_of


@click.command("claims")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--backend", help="The backend of the claims, if the results have several.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path),
    help="Write them into this file, such as a provider file, whose other tables stay.  [default: standard output]",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace the claims that the file already has.")
def claims_(results: Path, backend: str | None, out: Path | None, *, overwrite: bool) -> None:
    """Write the claims of a backend from a run: all cases that it passes, and none that it does not support.

    With these claims, a claimed case that is no longer supported is `declined`, and closes the gate.
    """
    run = Run(results)
    there = ", ".join(run.header["backends"])
    if backend is None and len(run.header["backends"]) > 1:
        raise HarnessError("claims-of-several-backends", f"{results} has results of {there}; select one with --backend")
    name = backend or next(iter(run.header["backends"]))
    if name not in run.header["backends"]:
        raise HarnessError(
            "claims-of-another-backend", f"{results} has no results of {line(name)}; it has results of {there}"
        )
    if (suite := suite_of(run)) is None:
        raise HarnessError("suite-gone", f"the suite of {results} is not available any more; run its cases again")
    found = observed_claims.observed(run, name, suite)
    text = observed_claims.text(found)
    if out is None:
        printing.show(text.rstrip("\n"))
        return
    kept = _kept(out, overwrite=overwrite) if out.exists() else ""
    atomic_file.write(out, [f"{kept}\n{text}" if kept else text])
    parse(text_of(out), out.name)
    printing.show(f"{len(found)} claims in {out}")


def _kept(path: Path, *, overwrite: bool) -> str:
    """Return the text of a file without its claims.

    Raises:
        HarnessError: it has claims that must not be replaced.
    """
    sections = toml_blocks.sections(text_of(path))
    if not overwrite and any(section.name == TABLE for section in sections):
        raise HarnessError("claims-exist", f"{line(path)} already has claims; replace them with --overwrite")
    return "".join(section.text for section in sections if section.name != TABLE).rstrip("\n") + "\n"
