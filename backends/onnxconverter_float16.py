# SPDX-License-Identifier: Apache-2.0
"""onnxconverter_common's conversion of float models to float16, inputs and outputs kept as they are."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
from onnxconverter_common import float16

OPT_OUTS = (("ValueError", r"^The model is already converted to float16", "a model with float16"),)
REPRO = """\
from onnxconverter_common import float16

model = float16.convert_float_to_float16(model, keep_io_types=True)
"""
PROMISE = "keep_io_types: Whether model inputs/outputs should be left as float32."
"""From https://onnxruntime.ai/docs/performance/model-optimizations/float16.html"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnxconverter_common.float16",
        "version": metadata.version("onnxconverter-common"),
        "onnx": onnx.__version__,
        "repro": REPRO,
        "precision": "float16",
        "promise": PROMISE,
    }


def transform(model: bytes) -> bytes:
    """Return the converted model."""
    converted = float16.convert_float_to_float16(onnx.load_from_string(model), keep_io_types=True)
    return bytes(converted.SerializeToString())
