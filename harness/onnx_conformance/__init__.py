# SPDX-License-Identifier: Apache-2.0
"""The executable meaning of ONNX operator versions, and a harness that tests any runtime against it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.package import VERSION

if TYPE_CHECKING:
    from onnx_conformance.testing.interface import (
        Case,
        Outcome,
        ReferenceEvaluator,
        Result,
        Verdict,
        Verified,
        cases,
        judge,
        verify,
    )

__version__ = VERSION
__all__ = [
    "Case", "Outcome", "ReferenceEvaluator", "Result", "Verdict", "Verified", "__version__", "cases", "judge", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever onnx_conformance.testing.interface has
    """Return a name of the Python interface, imported on demand: adapters and --help must not import onnx."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("onnx_conformance.testing.interface"), name)
