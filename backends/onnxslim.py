"""onnxslim.slim."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxslim

OPT_OUTS = (("OldOpsetError", r"", "opset below 7"),)
OLDEST = 7
REPRO = """\
import onnxslim

model = onnxslim.slim(model)
"""


class OldOpsetError(Exception):
    """It warns that it takes models of opset 7 and newer ones only, and fails."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "onnxslim", "version": metadata.version("onnxslim"), "onnx": onnx.__version__, "repro": REPRO}


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    proto = onnx.load_from_string(model)
    try:
        return bytes(onnxslim.slim(proto).SerializeToString())
    except AttributeError:
        if all(item.version < OLDEST for item in proto.opset_import if item.domain in {"", "ai.onnx"}):
            raise OldOpsetError from None
        raise
