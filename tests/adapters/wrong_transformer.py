# SPDX-License-Identifier: Apache-2.0
"""A tool that changes models wrongly, in the way that its option says."""

from __future__ import annotations

import os
import sys
import time

import onnx
from onnx import helper

from onnx_conformance.backends.option import VARIABLE

WRONG = os.environ.get(VARIABLE, "nothing")


class ToolError(Exception):
    """The tool says no."""


def info() -> dict[str, str]:
    precision = {"precision": "float16"} if WRONG.startswith("half") else {}
    return {"runtime": "wrong", "version": "1", "repro": "pass\n", **precision}


def transform(model: bytes) -> object:
    if WRONG in INSTEAD:
        return INSTEAD[WRONG]()
    proto = onnx.load_from_string(model)
    CHANGES[WRONG](proto, proto.graph)
    return proto.SerializeToString()


def _raise() -> None:
    raise ToolError("I cannot")


INSTEAD = {
    "bytes": lambda: b"no model",
    "empty": lambda: b"",
    "large": lambda: bytes(64 << 20),
    "none": lambda: None,
    "raises": _raise,
    "hangs": lambda: time.sleep(100),
    "dies": os.abort,
    "exits": lambda: sys.exit(3),
}
"""What it does instead of changing the model."""


def _bake_shape(_proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    """Make a model that is right for the shape that the tool saw, and wrong for all others."""
    graph.initializer.append(helper.make_tensor("baked", onnx.TensorProto.INT64, [2], [2, 3]))
    graph.node[0].output[0] = "before"
    graph.node.append(helper.make_node("Expand", ["before", "baked"], [graph.output[0].name]))


def _untype(_proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.UNDEFINED


def _retype(_proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    graph.output[0].type.tensor_type.elem_type = 99


def _halve(_proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    """Compute the last step in float16."""
    node = graph.node[-1]
    name = node.output[0]
    node.output[0] = "wide"
    graph.node.append(helper.make_node("Cast", ["wide"], ["narrow"], to=onnx.TensorProto.FLOAT16))
    graph.node.append(helper.make_node("Cast", ["narrow"], [name], to=onnx.TensorProto.FLOAT))


def _halve_and_scale(proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    """Compute the last step in float16, with another factor."""
    _halve(proto, graph)
    graph.initializer.append(helper.make_tensor("factor", onnx.TensorProto.FLOAT16, [], [1.25]))
    graph.node[-1].input[0] = "scaled"
    graph.node.insert(len(graph.node) - 1, helper.make_node("Mul", ["narrow", "factor"], ["scaled"]))


def _rename(_proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    graph.output[0].name = graph.node[0].output[0] = "renamed"


def _take_text(_proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    graph.initializer.append(helper.make_tensor("word", onnx.TensorProto.STRING, [1], [b"a"]))
    graph.node[0].input[0] = "word"


def _name_unknown_domain(proto: onnx.ModelProto, graph: onnx.GraphProto) -> None:
    graph.node[0].domain = "com.example"
    proto.opset_import.append(helper.make_opsetid("com.example", 1))


def _print(_proto: onnx.ModelProto, _graph: onnx.GraphProto) -> None:
    print("hello")
    os.write(1, b"hello\n")


CHANGES = {
    "nothing": lambda proto, _: proto,
    "value": lambda _, graph: setattr(graph.node[0], "op_type", "Neg"),
    "shape": _bake_shape,
    "half": _halve,
    "untyped": _untype,
    "no_type": _retype,
    "half_scaled": _halve_and_scale,
    "name": _rename,
    "type": lambda _, graph: setattr(graph.output[0].type.tensor_type, "elem_type", onnx.TensorProto.DOUBLE),
    "input": lambda _, graph: graph.input.append(helper.make_tensor_value_info("more", onnx.TensorProto.FLOAT, [1])),
    "attribute": lambda _, graph: graph.node[0].attribute.append(helper.make_attribute("no_such", 1)),
    "text": _take_text,
    "unknown": _name_unknown_domain,
    "prints": _print,
}
