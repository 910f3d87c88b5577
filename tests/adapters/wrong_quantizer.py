# SPDX-License-Identifier: Apache-2.0
"""Quantizers: one that is right, and wrong ones; the option selects the fault."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Sequence

OPTION = os.environ.get("ONNX_CONFORMANCE_OPTION", "right")
BLOCK = 2
REPRO = f"""\
import sys

sys.path.insert(0, {str(Path(__file__).parent)!r})
import wrong_quantizer

model = onnx.load_from_string(wrong_quantizer.quantize(model.SerializeToString(), inputs))
"""


def info() -> dict[str, Any]:
    return {"runtime": "quantizer", "version": OPTION, "repro": REPRO}


def quantize(model: bytes, inputs: dict[str, Any]) -> bytes:
    proto = onnx.load_from_string(model)
    if OPTION == "nothing":
        return model
    graph = proto.graph
    added: list[onnx.NodeProto] = []
    made: list[TensorProto] = []
    for tensor in list(graph.initializer):
        value = numpy_helper.to_array(tensor)
        if value.dtype == np.float32 and value.ndim:
            graph.initializer.remove(tensor)
            made += weight(tensor.name, value)
            added.append(dequantized(tensor.name, value))
    for item in graph.input:
        if item.type.tensor_type.elem_type == TensorProto.FLOAT:
            made += grid(item.name, inputs[item.name])
            added += around(item.name, graph.node)
    graph.initializer.extend(made)
    nodes = [*added, *graph.node]
    if OPTION == "drops_a_node":
        nodes.insert(-1, helper.make_node("Relu", [nodes[-1].input[0]], ["cut"]))
        nodes[-1].input[0] = "cut"
    del graph.node[:]
    graph.node.extend(nodes)
    if OPTION == "renames":
        graph.output[0].name += "_quantized"
    return bytes(proto.SerializeToString())


def tensors(name: str, quantized: Any, scale: Any, zero: Any) -> list[TensorProto]:
    return [
        numpy_helper.from_array(value, f"{name}_{kind}")
        for kind, value in (("quantized", quantized), ("scale", scale), ("zero_point", zero))
    ]


def weight(name: str, value: np.ndarray) -> list[TensorProto]:
    """Return a weight in int8, with a scale for each row or for blocks of two rows."""
    if OPTION.startswith("block"):
        rows = value.reshape(value.shape[0], -1)
        blocks = [np.abs(rows[start : start + BLOCK]).max(0) for start in range(0, len(rows), BLOCK)]
        scale = (np.stack(blocks) / 127).reshape(-1, *value.shape[1:]).astype(np.float32)
        each = np.repeat(scale, BLOCK, axis=0)[: len(value)]
    else:
        scale = (np.abs(value).reshape(len(value), -1).max(1) / 127).astype(np.float32)
        each = scale.reshape(-1, *[1] * (value.ndim - 1))
    quantized = np.round(value / each).astype(np.int8)
    if OPTION in {"block_off_by_one", "channel_off_by_one"}:
        scale = np.roll(scale, 1, axis=0)
    if OPTION == "multiplied":  # Perhaps on purpose: the results are near the original ones.
        scale *= np.float32(1.01)
    if OPTION == "clipped":  # As if the zero point were clipped to the range of another type.
        quantized = np.maximum(quantized, 0).astype(np.int8)
    return tensors(name, quantized, scale, np.zeros(scale.shape, np.int8))


def dequantized(name: str, value: np.ndarray) -> onnx.NodeProto:
    axis = 1 if OPTION == "wrong_axis" and value.ndim > 1 else 0
    attributes = {"axis": axis, **({"block_size": BLOCK} if OPTION.startswith("block") else {})}
    parts = [f"{name}_{kind}" for kind in ("quantized", "scale", "zero_point")]
    return helper.make_node("DequantizeLinear", parts, [name], **attributes)


def grid(name: str, value: np.ndarray) -> list[TensorProto]:
    low, high = min(0.0, float(value.min())), max(0.0, float(value.max()))
    scale = (high - low) / 255
    zero = np.uint8(np.clip(np.round(-low / scale), 0, 255))
    scale *= {"narrow": 0.5, "coarse": 20}.get(OPTION, 1)
    return tensors(name, np.zeros(0, np.float32), np.float32(scale), zero)[1:]


def around(name: str, nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Return the nodes that quantize an input and dequantize it; the other nodes get the result."""
    parts = [f"{name}_{kind}" for kind in ("scale", "zero_point")]
    for node in nodes:
        for place, used in enumerate(node.input):
            if used == name:
                node.input[place] = f"{name}_rounded"
    return [
        helper.make_node("QuantizeLinear", [name, *parts], [f"{name}_short"]),
        helper.make_node("DequantizeLinear", [f"{name}_short", *parts], [f"{name}_rounded"]),
    ]
