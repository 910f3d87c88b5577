# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's symbolic shape inference, a Python tool in the same package."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import onnx
import onnxruntime
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

OPT_OUTS = (("NoAnswerError", r"", "opset below 7"),)
REPRO = """\
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

for output in model.graph.output:
    output.ClearField("type")
model = SymbolicShapeInference.infer_shapes(model)
"""


class NoAnswerError(Exception):
    """It returned nothing, as it does with a warning for opsets below 7."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "onnxruntime's symbolic shape inference", "version": onnxruntime.__version__, "repro": REPRO}


def infer(model: bytes) -> bytes:
    """Return the model with the inferred types and shapes of its outputs, which are removed before."""
    proto = onnx.load_from_string(model)
    for output in proto.graph.output:
        output.ClearField("type")
    # If it cannot infer a shape, it writes the model into a file of the current folder, which may be the user's.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        made = SymbolicShapeInference.infer_shapes(proto)
    if made is None:
        raise NoAnswerError
    return bytes(made.SerializeToString())
