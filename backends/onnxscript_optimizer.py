"""onnxscript.optimizer.optimize."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxscript.optimizer

REPRO = """\
import onnxscript.optimizer

model = onnxscript.optimizer.optimize(model)
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnxscript.optimizer",
        "version": metadata.version("onnxscript"),
        "onnx": onnx.__version__,
        "repro": REPRO,
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    return bytes(onnxscript.optimizer.optimize(onnx.load_from_string(model)).SerializeToString())
