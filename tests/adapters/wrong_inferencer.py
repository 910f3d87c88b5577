# SPDX-License-Identifier: Apache-2.0
"""A tool that infers types and shapes wrongly, in the way that its option says."""

from __future__ import annotations

import os

import onnx

from onnx_conformance.backends.option import VARIABLE

WRONG = os.environ.get(VARIABLE, "nothing")


def info() -> dict[str, str]:
    return {"runtime": "wrong", "version": "1", "repro": "pass\n"}


def infer(model: bytes) -> bytes:
    proto = onnx.load_from_string(model)
    if WRONG == "bytes":
        return b"no model"
    if WRONG == "raises":
        raise ValueError("a contradiction")
    LIES[WRONG](proto.graph, proto.graph.output[0])
    return proto.SerializeToString()


def _sequence(_graph: onnx.GraphProto, output: onnx.ValueInfoProto) -> None:
    output.type.Clear()
    output.type.sequence_type.elem_type.tensor_type.elem_type = onnx.TensorProto.FLOAT


LIES = {
    "nothing": lambda _, output: output,
    "type": lambda _, output: setattr(output.type.tensor_type, "elem_type", onnx.TensorProto.INT8),
    "size": lambda _, output: setattr(output.type.tensor_type.shape.dim[0], "dim_value", 77),
    "rank": lambda _, output: setattr(output.type.tensor_type.shape.dim.add(), "dim_value", 1),
    "kind": _sequence,
    "no_size": lambda _, output: output.type.tensor_type.shape.dim[0].Clear(),
    "no_rank": lambda _, output: output.type.tensor_type.ClearField("shape"),
    "no_type": lambda _, output: output.ClearField("type"),
    "no_output": lambda graph, _: graph.ClearField("output"),
}
