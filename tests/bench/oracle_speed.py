# SPDX-License-Identifier: Apache-2.0
"""How much longer the oracles take than ONNX Runtime for calls of usual sizes, on one thread.

    python tests/bench/oracle_speed.py [OPERATOR...] [--rounds N]

`onnx-conformance verify` evaluates every node of a model with the oracles, so their speed decides how long it takes.
Prints a table and exits with 1 if a ratio exceeds its limit. Needs onnxruntime. Nothing here is a test, because
machines are noisy.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # Read when numpy is imported.

import argparse
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
from onnx import helper
from tabulate import tabulate

from onnx_conformance.specification.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable

    import onnx

    Array = np.ndarray[Any, Any]

LIMIT = 20
"""How many times longer than ONNX Runtime an oracle may take."""
OTHER_LIMITS = {
    "Tanh": 60,  # Numpy's is exact in double; ONNX Runtime's is an approximation in float32.
    "Sigmoid": 30,  # Its exponential is in double.
    "Softmax": 30,
    "QuantizeLinear": 200,  # It computes the quotient in each type in which a runtime may round it: 33 ns an element.
}
OPSET = 23
RANDOM = np.random.default_rng(0)


def drawn(*shape: int) -> Array:
    """Return normally distributed numbers."""
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(*shape: int) -> Array:
    """Return unsigned integers of 8 bits."""
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


def scalar(number: float) -> Array:
    """Return a tensor of rank 0."""
    return np.array(number, np.float32)


MANY = 1 << 20
"""The number of elements of elementwise operators."""


@dataclass(frozen=True)
class Call:
    """One node.

    Attributes:
        operator: the name of the operator.
        note: what distinguishes the call from others of the operator.
        inputs: the inputs in their order; None for an omitted input.
        attributes: the attributes of the node.
        constant: the indices of inputs that are initializers.
        outputs: the number of outputs.
    """

    operator: str
    note: str
    inputs: tuple[Array | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    constant: tuple[int, ...] = ()
    outputs: int = 1

    def model(self) -> tuple[onnx.ModelProto, dict[str, Array]]:
        """Return a model of the node, and its inputs."""
        given = {f"x{index}": item for index, item in enumerate(self.inputs) if item is not None}
        constants = {f"x{index}" for index in self.constant}
        names = [f"x{index}" if item is not None else "" for index, item in enumerate(self.inputs)]
        outputs = [f"y{index}" for index in range(self.outputs)]
        graph = helper.make_graph(
            [helper.make_node(self.operator, names, outputs, **self.attributes)],
            "one_node",
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(item.dtype), item.shape)
                for name, item in given.items()
                if name not in constants
            ],
            [helper.make_empty_tensor_value_info(name) for name in outputs],
            [
                helper.make_tensor(
                    name, helper.np_dtype_to_tensor_dtype(item.dtype), item.shape, item.tobytes(), raw=True
                )
                for name, item in given.items()
                if name in constants
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        return model, {name: item for name, item in given.items() if name not in constants}


def calls() -> list[Call]:
    """Return the measured calls."""
    image, normal = drawn(1, 64, 56, 56), np.abs(drawn(64)) + 1
    pool = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    scales = np.array([1, 1, 2, 2], np.float32)
    return [
        Call("Conv", "3x3", (image, drawn(64, 64, 3, 3)), {"pads": [1, 1, 1, 1]}),
        Call("Conv", "1x1", (drawn(1, 256, 28, 28), drawn(256, 256, 1, 1))),
        Call("Conv", "depthwise", (drawn(1, 96, 56, 56), drawn(96, 1, 3, 3)), {"pads": [1] * 4, "group": 96}),
        Call("ConvTranspose", "2x2", (drawn(1, 64, 28, 28), drawn(64, 32, 2, 2)), {"strides": [2, 2]}),
        Call("MatMul", "512", (drawn(512, 512), drawn(512, 512))),
        Call("MatMul", "heads", (drawn(12, 128, 64), drawn(12, 64, 128))),
        Call("Gemm", "512", (drawn(512, 512), drawn(512, 512), drawn(512))),
        Call("LSTM", "256", (drawn(20, 1, 256), drawn(1, 1024, 256), drawn(1, 1024, 256)), {"hidden_size": 256}),
        Call("GRU", "256", (drawn(20, 1, 256), drawn(1, 768, 256), drawn(1, 768, 256)), {"hidden_size": 256}),
        Call("MaxPool", "strides", (drawn(1, 64, 112, 112),), {**pool, "strides": [2, 2]}),
        Call("AveragePool", "", (image,), pool),
        Call("GlobalAveragePool", "", (drawn(1, 1024, 7, 7),)),
        Call("Resize", "nearest", (image, None, scales), {"mode": "nearest"}, (2,)),
        Call("Resize", "linear", (image, None, scales), {"mode": "linear"}, (2,)),
        Call("Resize", "cubic", (image, None, scales), {"mode": "cubic"}, (2,)),
        Call("BatchNormalization", "", (image, drawn(64), drawn(64), drawn(64), normal)),
        Call("InstanceNormalization", "", (image, drawn(64), drawn(64))),
        Call("GroupNormalization", "", (image, drawn(64), drawn(64)), {"num_groups": 8}),
        Call("LayerNormalization", "", (drawn(128, 768), drawn(768), drawn(768))),
        Call("RMSNormalization", "", (drawn(128, 768), drawn(768))),
        Call("LRN", "", (image,), {"size": 5}),
        Call("Softmax", "", (drawn(128, 1000),)),
        Call("ReduceMean", "", (drawn(128, 768), np.array([1])), {}, (1,)),
        *(Call(name, "", (drawn(MANY),)) for name in ("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Gelu")),
        *(Call(name, "", (drawn(MANY),)) for name in ("HardSwish", "LeakyRelu", "Elu", "Mish", "Softplus")),
        Call("Clip", "", (drawn(MANY), scalar(-1), scalar(1)), {}, (1, 2)),
        Call("Clip", "0 to 6", (drawn(MANY), scalar(0), scalar(6)), {}, (1, 2)),
        *(Call(name, "", (drawn(MANY), np.abs(drawn(MANY)))) for name in ("Add", "Sub", "Mul", "Div", "Max")),
        Call("Sqrt", "", (np.abs(drawn(MANY)),)),
        Call("Pow", "", (np.abs(drawn(MANY)), scalar(2)), {}, (1,)),
        Call("Where", "", (drawn(MANY) > 0, drawn(MANY), drawn(MANY))),
        Call("Transpose", "", (image,), {"perm": [0, 2, 3, 1]}),
        Call("Concat", "", (image, image), {"axis": 1}),
        Call("Gather", "", (drawn(30000, 64), RANDOM.integers(0, 30000, 4096))),
        Call("QuantizeLinear", "", (drawn(MANY), scalar(0.1), np.array(128, np.uint8)), {}, (1, 2)),
        Call("DequantizeLinear", "", (integers(MANY), scalar(0.1), np.array(7, np.uint8)), {}, (1, 2)),
        Call("MatMulInteger", "", (integers(256, 256), integers(256, 256))),
    ]


def seconds(run: Callable[[], object], rounds: int) -> float:
    """Return the shortest CPU time of some runs; other load on the machine only adds to it."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return min(times)


def measured(call: Call, rounds: int) -> tuple[float, float]:
    """Return the seconds of ONNX Runtime and of the oracle, by turns."""
    model, inputs = call.model()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    evaluator = Evaluator()
    pairs = [
        (seconds(lambda: session.run(None, inputs), 3), seconds(lambda: evaluator.model(model, inputs), 1))
        for _ in range(rounds)
    ]
    theirs, ours = (min(column) for column in zip(*pairs, strict=True))
    return theirs, ours


def main() -> int:
    """Measure the calls; return 1 if an oracle takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*", help="measure only these operators")
    parser.add_argument("--rounds", type=int, default=5, help="how often each call is measured")
    options = parser.parse_args()
    rows, slow = [], 0
    for call in calls():
        if not options.operators or call.operator in options.operators:
            theirs, ours = measured(call, options.rounds)
            limit, ratio = OTHER_LIMITS.get(call.operator, LIMIT), ours / theirs
            slow += ratio > limit
            rows.append(
                [
                    f"{call.operator} {call.note}".strip(),
                    f"{theirs * 1000:.2f}",
                    f"{ours * 1000:.2f}",
                    f"{ratio:.1f}",
                    f"<= {limit}",
                    "met" if ratio <= limit else "MISSED",
                ]
            )
    head = ["call", "ONNX Runtime, ms", "oracle, ms", "ratio", "wanted", ""]
    print(tabulate(rows, head, tablefmt="simple", disable_numparse=True))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
