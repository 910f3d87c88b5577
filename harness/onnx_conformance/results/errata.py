"""Errata: failures by a sentence that ONNX reworded in place after the runtime was built, which met another text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx

from onnx_conformance.base.verdict import line
from onnx_conformance.specification.rewordings import release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.verdict import Result


def built_with(hello: Mapping[str, Any]) -> str:
    """Return the release of onnx that a runtime was built with; empty where that is not known.

    Args:
        hello: of its adapter. Where that does not name the release itself, it is the one that brought the newest opset
            that the runtime says it supports.
    """
    named, opset = hello.get("onnx"), hello.get("opset")
    if isinstance(named, str) and release(named):
        return named
    return next((row[0] for row in onnx.helper.VERSION_TABLE if row[2] == opset), "")


def erratum(result: Result, built: str) -> str:
    """Return in words why a failure is an erratum; empty where it is none. Takes what `is_erratum` takes."""
    if not is_erratum(result, built):
        return ""
    return f"reads so since onnx {line(result.reworded)}, and the runtime was built with {line(built)}"


def is_erratum(result: Result, built: str) -> bool:
    """Return whether a failure rests on a sentence that reads so only since a release after the runtime's.

    Args:
        result: of the runtime.
        built: the release of onnx that it was built with; empty where that is not known.
    """
    failed = result.verdict.failed and bool(result.reworded)
    return failed and bool(release(built)) and release(built) < release(result.reworded)
