# SPDX-License-Identifier: Apache-2.0
"""The key by which failures are grouped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import WRONG, Verdict

if TYPE_CHECKING:
    from onnx_conformance.base.verdict import Result


def signature(result: Result) -> tuple[str, ...]:
    """Return the key by which failures are grouped: backend, operator, verdict and cause."""
    shared = (result.backend, operator_of(result), str(result.verdict))
    if result.verdict is Verdict.ACCEPTED_INVALID or (result.verdict in WRONG and result.clauses):
        return (*shared, *result.clauses)
    if result.verdict in WRONG:
        return (*shared, str(result.mismatch.get("where", "")))
    if result.verdict is Verdict.CRASH:
        return (*shared, result.message, *result.clauses)
    return (*shared, result.error, masked(result.message))


_PLACES = (
    re.compile(r"^ended at: ([^\n]+)", re.MULTILINE),  # By child.end_by() of an adapter.
    re.compile(r"panicked at (?!/rustc)(\S+?\.rs:\d+)"),
    re.compile(r"(?:^|[\s'\"/])([\w.-]+\.(?:cc|cpp|cxx|c|h|hpp):\d+)\b[^\n]*(?i:assert|check|failed|abort)"),
    re.compile(r"what\(\):\s*([^\n]+)"),
)
"""The last words before a process ends: those of the adapter, the line of a Rust panic or assertion, an exception."""


def place_of(result: Result) -> str:
    """Return the line of the source, or the exception, with which a process ended; empty if it printed neither."""
    if result.verdict is not Verdict.CRASH:
        return ""
    matches = (pattern.search(result.stderr) for pattern in _PLACES)
    return next((" ".join(match[1].split())[:160] for match in matches if match), "")


def operator_of(result: Result) -> str:
    """Return the operator of a result, without its version."""
    return result.operator.rpartition("/")[0] or result.operator


def masked(message: str) -> str:
    """Return a message without the parts that differ from case to case: numbers, types, quoted names."""
    text = re.sub(r"\d+|tensor\(\w+\)|'[^']*'|\"[^\"]*\"", "#", message)
    return " ".join(text.split())[:160]
