# SPDX-License-Identifier: Apache-2.0
"""Data about verdicts and backends for the script of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import clean, line
from onnx_conformance.report.html.verdict_styles import ORDER, STYLES
from onnx_conformance.report.options_table import MARKED
from onnx_conformance.repro import own_calls, script

if TYPE_CHECKING:
    from onnx_conformance.report.html.table import Column, Table


def styles() -> list[dict[str, Any]]:
    """Return the style of each verdict, by its number."""
    return [
        {
            "name": str(verdict),
            "letter": STYLES[verdict].letter,
            "words": STYLES[verdict].words,
            "family": STYLES[verdict].family,
            "failed": verdict.failed,
            "marked": verdict in MARKED,
        }
        for verdict in ORDER
    ]


def column(table: Table, of: Column) -> dict[str, Any]:
    """Return a backend of a run: its names, and the code that calls it from a script."""
    return {
        "label": of.label,
        "backend": clean(of.backend, 300),
        "unversioned": clean(under_test.unversioned(of.backend), 300),
        "runtime": clean(script.runtime(of.backend, of.hello), 300),
        "subject": under_test.subject(of.hello),
        "needs": clean(script.needs(of.backend, of.hello), 300),
        "foreign": [
            way for way in script.WAYS if not own_calls.is_own(of.backend, of.hello, script.field_of(of.hello, way))
        ],
        "calls": {way: _code(of.backend, of.hello, way) for way in script.WAYS},
        "suite": line(table.runs[of.run].header["suite"].get("name", ""), 300),
    }


def _code(backend: str, hello: Any, way: str) -> str:  # noqa: ANN401 - of a file
    """Return the code that calls a runtime; empty if the run did not store it."""
    known = backend.startswith("cmd:") or isinstance(hello.get("repro"), str)
    try:
        return clean(script.call(backend, hello, way), 20_000) if known else ""
    except ValueError:  # A command with unbalanced quotes.
        return ""
