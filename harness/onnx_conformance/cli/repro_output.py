# SPDX-License-Identifier: Apache-2.0
"""Writing of a failure to a Python file, a Markdown file, or a folder with both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.repro import bug_report
from onnx_conformance.results import stream
from onnx_conformance.suites import onnx_layout

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx_conformance.repro.bug_report import Issue

KINDS = ("python", "markdown", "folder")
REFERENCE = "onnx_reference"


class FilingError(HarnessError):
    """The output cannot be written. The message names the right options."""


def others(kind: str, backend: str, named: Sequence[str]) -> list[str]:
    """Return the names of the backends to run in addition to the failing one; for a Python file, an empty list."""
    names = [name for name in dict.fromkeys(named or (REFERENCE,)) if name != backend]
    return names if kind != "python" or named else []


def check(kind: str, out: Path | None, named: Sequence[str]) -> None:
    """Check the place of the output before anything runs.

    Raises:
        FilingError: the output cannot be written there.
        ResultsError: the file is a results file.
    """
    if kind == "python" and named:
        raise FilingError(
            "other-runtimes-not-run",
            "--other is for --format markdown and folder; the Python file runs only one runtime",
        )
    if kind == "folder" and out is None:
        raise FilingError(
            "case-folder-missing", "--format folder needs --out DIR, the folder to write the case's folder to"
        )
    if out is not None and kind == "folder" and out.exists() and not out.is_dir():
        raise FilingError(
            "out-not-a-folder", f"--out {out} is not a folder; --format folder writes the case's folder into one"
        )
    if out is not None and kind != "folder" and out.is_dir():
        raise FilingError("out-is-a-folder", f"--out {out} is a folder; --format {kind} writes one file")
    if out is not None and kind != "folder":
        stream.check_no_results(out)


def file(issue: Issue, kind: str, out: Path | None) -> tuple[str, Path | None]:
    """Write a failure, or return its text if no file is named.

    Args:
        issue: the content.
        kind: one of KINDS.
        out: the file; for the kind folder, the parent of the case's folder, as with `generate --out`.

    Returns:
        The text to print, empty if it was written, and the path written.

    Raises:
        HarnessError: the output cannot be written.
    """
    if kind == "folder":
        if out is None:
            raise FilingError(
                "case-folder-missing", "--format folder needs --out DIR, the folder to write the case's folder to"
            )
        beside = {"repro.py": bug_report.script_text(issue, shared=False), "README.md": bug_report.markdown(issue)}
        files = {name: text.encode("utf-8", "replace") for name, text in beside.items()}
        return "", onnx_layout.write(issue.case, out, replace=True, beside=files)
    text = bug_report.markdown(issue) if kind == "markdown" else bug_report.script_text(issue, shared=False)
    if out is None:
        return text, None
    _write(out, text)
    return "", out


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FilingError("script-not-writable", f"cannot write {path}: {error.strerror}") from error
