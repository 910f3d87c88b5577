# SPDX-License-Identifier: Apache-2.0
"""ONNX's text format, there and back: onnx.printer writes a model as text, and onnx.parser reads it."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.parser
import onnx.printer

FORK = True
REPRO = """\
import onnx.parser
import onnx.printer

model = onnx.parser.parse_model(onnx.printer.to_text(model))
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnx.printer and onnx.parser",
        "version": onnx.__version__,
        "onnx": onnx.__version__,
        "repro": REPRO,
    }


def transform(model: bytes) -> bytes:
    """Return the model that the parser reads from the text of a model."""
    text = onnx.printer.to_text(onnx.load_from_string(model))
    return bytes(onnx.parser.parse_model(text).SerializeToString())
