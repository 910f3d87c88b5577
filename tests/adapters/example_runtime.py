# SPDX-License-Identifier: Apache-2.0
"""A runtime of com.example with one fault: ScaledAdd scales the first tensor, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Sequence

OPT_OUTS = (("NotImplementedError", "", "no kernel"),)


def info() -> dict[str, Any]:
    return {"runtime": "example-runtime", "version": "1.0"}


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    graph = onnx.load_from_string(model).graph
    values = {item.name: numpy_helper.to_array(item) for item in graph.initializer} | inputs
    for node in graph.node:
        if node.domain != "com.example":
            raise NotImplementedError(node.op_type)
        values[node.output[0]] = np.asarray(_computed(node, [values[name] for name in node.input]))
    return [values[name] for name in outputs]


def _computed(node: onnx.NodeProto, given: list[Any]) -> Any:
    attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    types = {item.dtype for item in given}
    if len(types) != 1 or not types <= {np.dtype(np.float32), np.dtype(np.float64)}:
        raise TypeError(f"{node.op_type} of {types}")
    if node.op_type == "Halve" and len(given) == 1 and not attributes:
        return given[0] / given[0].dtype.type(2)
    if node.op_type == "ScaledAdd" and len(given) == 2 and attributes.keys() <= {"scale"}:
        if given[0].shape != given[1].shape:
            raise ValueError("ScaledAdd of different shapes")
        return (given[0] + given[1]) * given[0].dtype.type(attributes.get("scale", 1.0))
    raise ValueError(f"{node.op_type} is invalid")
