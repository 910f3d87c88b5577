# SPDX-License-Identifier: Apache-2.0
"""Write the report of a command to standard output, or to the file of --out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError

if TYPE_CHECKING:
    from pathlib import Path


def check(kind: str, out: Path | None) -> None:
    """Check before any work that a report in HTML has a file.

    Args:
        kind: the format.
        out: the file; None for standard output.

    Raises:
        HarnessError: it has none.
    """
    if kind == "html" and out is None:
        raise HarnessError("html-without-out", "--format html writes one page; name it with --out report.html")


def write(out: Path, text: str) -> None:
    """Write a report to a file, with a line break at its end.

    Raises:
        HarnessError: the file cannot be written.
    """
    try:
        out.write_text(text + ("" if text.endswith("\n") else "\n"), encoding="utf-8")
    except OSError as error:
        raise HarnessError("out-not-writable", f"cannot write {out}: {error.strerror}") from None
