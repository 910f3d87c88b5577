# SPDX-License-Identifier: Apache-2.0
"""onnx-tool's shape inference. It infers the types and shapes of tensors whose inputs have fixed shapes."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np
import onnx
import onnx_tool
from onnx import helper

OPT_OUTS = (
    ("NotImplementedError", r"", "no inference for this operator"),
    ("ValueError", r"is not valid, Please set it to a valid shape", "no symbolic dimensions"),
)
REPRO = """\
import numpy as np
import onnx.helper
import onnx_tool


def number(dtype):
    if dtype is None:  # It does not know the type.
        return onnx.TensorProto.UNDEFINED
    own = np.dtype(dtype)
    return onnx.TensorProto.STRING if own.kind in "SU" else onnx.helper.np_dtype_to_tensor_dtype(own)


for output in model.graph.output:
    output.ClearField("type")
graph = onnx_tool.Model(model).graph
graph.shape_infer(None)
for output in model.graph.output:
    found = graph.tensormap[output.name]
    type_ = number(found.dtype)
    output.CopyFrom(onnx.helper.make_tensor_value_info(output.name, type_, found.get_shape()))
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "onnx-tool", "version": metadata.version("onnx-tool"), "onnx": onnx.__version__, "repro": REPRO}


def _number(dtype: Any) -> int:  # noqa: ANN401 - any dtype of numpy
    """Return the number of an element type; UNDEFINED if the tool does not know the type."""
    if dtype is None:
        return onnx.TensorProto.UNDEFINED
    own = np.dtype(dtype)
    return onnx.TensorProto.STRING if own.kind in "SU" else helper.np_dtype_to_tensor_dtype(own)


def infer(model: bytes) -> bytes:
    """Return the model with the inferred types and shapes of its outputs, which are removed before."""
    proto = onnx.load_from_string(model)
    for output in proto.graph.output:
        output.ClearField("type")
    graph = onnx_tool.Model(proto).graph
    graph.shape_infer(None)
    for output in proto.graph.output:
        found = graph.tensormap[output.name]
        type_ = _number(found.dtype)
        output.CopyFrom(helper.make_tensor_value_info(output.name, type_, found.get_shape()))
    return bytes(proto.SerializeToString())
