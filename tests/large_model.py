# SPDX-License-Identifier: Apache-2.0
"""A model of sixty nodes of more than forty operators, for tests of `verify`."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class _Chain:
    """Nodes, of which each reads the result of the one before it."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.last = "x"
        self.random = np.random.default_rng(7)

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, *shape: int) -> str:
        return self.constant(self.random.uniform(-0.5, 0.5, shape).astype(np.float32))

    def positive(self, *shape: int) -> str:
        return self.constant(self.random.uniform(0.5, 1.5, shape).astype(np.float32))

    def add(
        self, operator: str, *more: str, first: tuple[str, ...] = (), outputs: int = 1, take: int = 0, **attributes: Any
    ) -> None:
        name = f"{operator}_{len(self.nodes)}"
        results = [f"v{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, [*first, self.last, *more], results, name=name, **attributes))
        self.last = results[take]


def build(count: int | None = None) -> onnx.ModelProto:  # noqa: PLR0915 - a statement for each node
    """Return the model, or its first `count` nodes; its input is x, float [1,3,16,16]."""
    c = _Chain()
    ints = lambda *values: c.constant(np.array(values, np.int64))  # noqa: E731 - short names for many nodes
    c.add("Conv", c.weights(4, 3, 3, 3), c.weights(4), pads=[1, 1, 1, 1])
    c.add("BatchNormalization", c.positive(4), c.weights(4), c.weights(4), c.positive(4))
    c.add("Relu")
    c.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    c.add("Conv", c.weights(4, 1, 3, 3), group=4, pads=[1, 1, 1, 1])
    c.add("LeakyRelu", alpha=0.1)
    c.add("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    c.add("InstanceNormalization", c.positive(4), c.weights(4))
    c.add("Sigmoid")
    c.add("Mul", c.weights(1, 4, 1, 1))
    c.add("Add", c.weights(1, 4, 8, 8))
    c.add("Pad", ints(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
    c.add("Slice", ints(1, 1), ints(9, 9), ints(2, 3))
    c.add("Resize", "", c.constant(np.array([1, 1, 2, 2], np.float32)), mode="linear")
    c.add("ConvTranspose", c.weights(4, 4, 2, 2), strides=[1, 1])
    c.add("Clip", c.constant(np.float32(-0.9)), c.constant(np.float32(0.9)))
    c.add("Elu")
    c.add("Sub", c.weights(1, 4, 1, 1))
    c.add("Div", c.positive(1, 4, 1, 1))
    c.add("Tanh")
    c.add("Abs")
    c.add("Add", c.positive(1))
    c.add("Sqrt")
    c.add("Exp")
    c.add("Log")
    c.add("Neg")
    c.add("PRelu", c.positive(4, 1, 1))
    c.add("Selu")
    c.add("Softplus")
    c.add("HardSigmoid")
    c.add("Erf")
    c.add("Gelu")
    c.add("Slice", ints(0, 0), ints(16, 16), ints(2, 3))
    c.add("SpaceToDepth", blocksize=2)
    c.add("DepthToSpace", blocksize=2)
    c.add("ReduceMean", ints(3), keepdims=0)
    c.add("Transpose", perm=[0, 2, 1])
    c.add("MatMul", c.weights(4, 8))
    c.add("LayerNormalization", c.positive(8), c.weights(8))
    c.add("Softmax", axis=-1)
    c.add("Transpose", perm=[1, 0, 2])
    c.add("LSTM", c.weights(1, 12, 8), c.weights(1, 12, 3), hidden_size=3, outputs=1)
    c.add("Squeeze", ints(1, 2))
    c.add("CumSum", c.constant(np.int64(0)))
    c.add("Unsqueeze", ints(0))
    c.add("Tile", ints(2, 1, 1))
    c.add("Concat", c.weights(1, 16, 3), axis=0)
    c.add("Gather", ints(2, 0, 1), axis=0)
    c.add("Split", axis=1, num_outputs=2, outputs=2, take=1)
    c.add("Pow", c.constant(np.float32(2)))
    c.add("Max", c.weights(3, 8, 3))
    c.add("Min", c.positive(3, 8, 3))
    c.add("Reshape", ints(3, 24))
    c.add("Gemm", c.weights(24, 10), c.weights(10))
    c.add("Einsum", c.weights(10, 10), equation="ij,jk->ik")
    c.add("TopK", ints(5), outputs=2)
    c.add("Expand", ints(2, 3, 5))
    c.add("ReduceSum", ints(0), keepdims=0)
    c.add("Floor")
    c.add("Cast", to=TensorProto.INT64)
    nodes = c.nodes[:count]
    output, kind, dims = c.last, TensorProto.INT64, ["rows", "columns"]
    if count is not None:
        output, kind, dims = nodes[-1].output[0], TensorProto.FLOAT, ["batch", "channels", "rows", "columns"]
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info(output, kind, dims)],
        c.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    onnx.checker.check_model(model)
    return model
