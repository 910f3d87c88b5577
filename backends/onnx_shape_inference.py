# SPDX-License-Identifier: Apache-2.0
"""onnx.shape_inference.infer_shapes; onnx_shape_inference[data_prop] computes with the values of shapes, too."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.shape_inference

from onnx_conformance.backends.option import option

FORK = True
OPTIONS = ("plain", "data_prop")
REPRO = """\
import onnx.shape_inference

for output in model.graph.output:
    output.ClearField("type")
model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop={data_prop})
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    data_prop = option(OPTIONS) == "data_prop"
    return {
        "runtime": "onnx.shape_inference, data_prop" if data_prop else "onnx.shape_inference",
        "version": onnx.__version__,
        "onnx": onnx.__version__,
        "repro": REPRO.format(data_prop=data_prop),
    }


def infer(model: bytes) -> bytes:
    """Return the model with the inferred types and shapes of its outputs, which are removed before."""
    proto = onnx.load_from_string(model)
    for output in proto.graph.output:
        output.ClearField("type")
    data_prop = option(OPTIONS) == "data_prop"
    made = onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=data_prop)
    return bytes(made.SerializeToString())
