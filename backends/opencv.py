# SPDX-License-Identifier: Apache-2.0
"""OpenCV's dnn module on the CPU, one thread, with the engine that it chooses itself.

It loads a model with the classic engine if the new one cannot, and the error is that of the classic one. A layer that
cannot be created is an opt-out: both engines create layers in the same place. An unsupported attribute is not, because
the new engine may support it and have failed for another reason.

Its binding converts int64 and uint64 to int32 for a Mat: an input with a larger value opts out, so that the runtime is
not blamed for values that it did not get. Answers of these types come back whole.

Failures and their causes (5.0.0):

- float16 is computed in float32, and comes back as that.
- bfloat16 is not accepted, and outputs of it are uint16: numpy has no name for the depth of such a Mat.
- An answer without elements is None: `forward()` has no array for an empty Mat. That opts out, unless the graph
  declares an output with elements: then None is wrong whatever the interface can give.
- Many scalars come back with the shape (1,).
- A graph input that is a sequence or an optional, or has no shape, fails an assertion.
- Celu's function body ends it by SIGSEGV, an integer division by zero by SIGFPE (Mod of floats, Reshape to nothing).
"""

from __future__ import annotations

import functools
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import onnx

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORK = True

OPT_OUTS = (
    ("error", r"Can't create layer \"[^\"]*\" of type \"", "no such layer"),
    ("error", r"unsupported datatype '(STRING|<unknown_type #(1[7-9]|2[0-8])>)'", "no such element type"),
    ("error", r"ElementWiseLayer: unsupported input/output type", "no kernel for this element type"),
    ("error", r"DNN/Reduce: Unsupported type\.", "no kernel for this element type"),
    ("error", r"/layers/\w+\.cpp:\d+: error: \(-213:The function/feature is not implemented\)", "no kernel"),
    ("error", r"past key and past value are not supported yet", "no kernel"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import cv2
import numpy

net = cv2.dnn.readNetFromONNX(numpy.frombuffer(model.SerializeToString(), numpy.uint8))
for name, value in inputs.items():
    net.setInput(value, name)
outputs = list(net.forward([value.name for value in model.graph.output]))
"""

TYPES = ("float", "double", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
"""Element types that a Mat can be created from in Python."""

cv2.setNumThreads(1)


class NoTypeError(Exception):
    """The Python interface has no way to pass a value of this type."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "opencv-python-headless",
        "version": version("opencv-python-headless"),
        "repro": REPRO,
        "types": list(TYPES),
        "containers": [],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Load a model; return a function that runs it."""
    return functools.partial(_run, cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8)), model)


def _run(net: cv2.dnn.Net, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    for name, value in inputs.items():
        net.setInput(_to_mat(value), name)
    values = net.forward(list(outputs))
    for name, value in zip(outputs, values, strict=False):
        if value is None and not _declares_elements(model, name):
            raise NoTypeError(f"cannot convert an empty Mat to an array: output {name}")
    return [None if value is None else value.copy() for value in values]


def _declares_elements(model: bytes, output: str) -> bool:
    """Return whether an output has elements according to the graph: each of its dimensions is known and not zero."""
    [declared] = [item.type.tensor_type for item in onnx.load_from_string(model).graph.output if item.name == output]
    return declared.HasField("shape") and all(dim.dim_value > 0 for dim in declared.shape.dim)


def _to_mat(value: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - any value
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"cannot create a Mat from {what}")
    row = protocol.element_type(value.dtype)
    if row.name not in TYPES:
        raise NoTypeError(f"cannot create a Mat from {row.name}")
    if row.name in {"int64", "uint64"} and not np.array_equal(value, value.astype(np.int32).astype(value.dtype)):
        raise NoTypeError(f"a Mat of {row.name} only stores values of int32")
    return value
