# SPDX-License-Identifier: Apache-2.0
"""Errata: failures that depend on a sentence that ONNX reworded in place after the runtime was built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx

from onnx_conformance.base.verdict import line
from onnx_conformance.specification.rewordings import release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.verdict import Result


def built_with(hello: Mapping[str, Any]) -> str:
    """Return the release of onnx that a runtime was built with; empty if it is unknown.

    Args:
        hello: the description by its adapter. If it does not contain the release, the release is the one that
            introduced the newest opset that the runtime supports.
    """
    named, opset = hello.get("onnx"), hello.get("opset")
    if isinstance(named, str) and release(named):
        return named
    return next((row[0] for row in onnx.helper.VERSION_TABLE if row[2] == opset), "")


def erratum(result: Result, built: str) -> str:
    """Return why a failure is an erratum; empty if it is not one. The arguments are those of `is_erratum`."""
    if not is_erratum(result, built):
        return ""
    return f"has this wording since onnx {line(result.reworded)}; the runtime was built with {line(built)}"


def is_erratum(result: Result, built: str) -> bool:
    """Return whether a failure depends on a sentence whose wording is newer than the runtime.

    Args:
        result: a result of the runtime.
        built: the release of onnx that it was built with; empty if it is unknown.
    """
    failed = bool(result.reworded) and result.verdict.failed
    return failed and bool(release(built)) and release(built) < release(result.reworded)
