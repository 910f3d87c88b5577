# SPDX-License-Identifier: Apache-2.0
"""Polygraphy: folds the constants of a model, as its command polygraphy surgeon sanitize --fold-constants does."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import polygraphy.backend.onnx

FORK = True
REPRO = """\
import polygraphy.backend.onnx

model = polygraphy.backend.onnx.fold_constants(model)
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "polygraphy",
        "version": metadata.version("polygraphy"),
        "onnx": onnx.__version__,
        "repro": REPRO,
    }


def transform(model: bytes) -> bytes:
    """Return the model with folded constants."""
    return bytes(polygraphy.backend.onnx.fold_constants(onnx.load_from_string(model)).SerializeToString())
