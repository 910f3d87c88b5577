# SPDX-License-Identifier: Apache-2.0
"""`pack`: cases in one file."""

from __future__ import annotations

from pathlib import Path

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.cli.options import JOBS, CaseOptions, with_case_options, with_part_options
from onnx_conformance.run import pack as packing
from onnx_conformance.run import progress
from onnx_conformance.suites.lookup import check_all_matched


@click.command()
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@with_case_options
@with_part_options
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@JOBS
def pack(
    out: Path,
    case_options: CaseOptions,
    shard: tuple[int, int] | None,
    sample: int,
    overwrite: bool,  # noqa: FBT001 - click's
    jobs: int,
) -> None:
    """Write cases to one file, for programs in any language.

    The file is a zip archive that has models, inputs, expected outputs and tolerances with an index. `run --suite FILE`
    runs its cases. Equal cases have equal bytes.
    """
    suite, selection = case_options.open(shard, sample)
    if out.exists() and not overwrite:
        raise HarnessError("file-exists", f"{out} exists; replace it with --overwrite, or name another file")
    if not out.parent.is_dir():
        raise HarnessError("no-such-folder", f"{out.parent} is not a folder; create it, or name another file")
    if not packing.usual_zlib():
        text = "the zlib of this Python compresses differently, so the file has the same cases but other bytes"
        printing.warn(Note("other-zlib", text))
    with progress.steps("packing the cases of operators") as advance:
        made = packing.write(suite, selection, out, jobs, advance)
    check_all_matched(suite, selection, empty=not made.cases)
    printing.show(f"{out}: {made.cases:,} cases, {made.size / 1e6:.1f} MB, content {made.content[:16]}")
