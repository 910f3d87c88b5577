# SPDX-License-Identifier: Apache-2.0
"""The Python interface: cases and verdicts from Python, and cases as test items of pytest."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_conformance.testing.items import conformance

__all__ = ["conformance"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the module has
    """Return `conformance`, imported on demand: every pytest run of the environment imports this package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.items"), name)
