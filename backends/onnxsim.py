"""onnxsim.simplify, without its own check by a runtime."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxsim

REPRO = """\
import onnxsim

model, _ = onnxsim.simplify(model)
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "onnxsim", "version": metadata.version("onnxsim"), "onnx": onnx.__version__, "repro": REPRO}


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    return bytes(onnxsim.simplify(onnx.load_from_string(model))[0].SerializeToString())
