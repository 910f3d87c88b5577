# SPDX-License-Identifier: Apache-2.0
"""A user's model in ONNX's layout: a small network with weights, without expected outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import helper, numpy_helper

if TYPE_CHECKING:
    from pathlib import Path

FLOAT = onnx.TensorProto.FLOAT
WEIGHTS = (24, 24, 3, 3)
"""The shape of the largest weights, of 20 KB."""


def network(*, domain: str = "") -> onnx.ModelProto:
    """Return a network with two convolutions; `domain` is that of its last node."""
    generator = np.random.default_rng(0)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((generator.standard_normal(shape) / 4).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("LRN", ["b"], ["c"], size=5, alpha=1.0),
        helper.make_node("Conv", ["c", "w1"], ["d"], pads=[1, 1, 1, 1]),
        helper.make_node("Neg", ["d"], ["y"], domain=domain),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", FLOAT, [1, 24, 8, 8])],
        [weights("w0", 24, 3, 3, 3), weights("b0", 24), weights("w1", *WEIGHTS)],
    )
    opsets = [helper.make_opsetid("", 13), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def write(folder: Path, *, domain: str = "") -> str:
    """Write the network as the only case of a suite; return its id."""
    data = folder / "network" / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(network(domain=domain), data.parent / "model.onnx")
    x = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    return f"{folder.name}/network"
