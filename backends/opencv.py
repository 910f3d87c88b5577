"""OpenCV's dnn module on the CPU, one thread, with the engine that it chooses itself."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from backends import protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

OPT_OUTS = (
    ("error", r"Can't create layer \"[^\"]*\" of type \"", "no such layer"),
    ("error", r"\(-213:The function/feature is not implemented\) unsupported datatype", "no such element type"),
    ("error", r"\(-213:The function/feature is not implemented\)", "not implemented"),
    ("error", r"ElementWiseLayer: unsupported input/output type", "no kernel for this element type"),
    ("error", r"past key and past value are not supported yet", "not implemented"),
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
"""Element types of which a Mat can be made in Python."""

cv2.setNumThreads(1)


class NoTypeError(Exception):
    """The Python interface has no way to pass a value of this type."""


def info() -> dict[str, Any]:
    """Return what the hello message says of this runtime."""
    return {
        "runtime": "opencv-python-headless",
        "version": version("opencv-python-headless"),
        "repro": REPRO,
        "types": list(TYPES),
        "containers": [],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8))
    for name, value in inputs.items():
        net.setInput(_to_mat(value), name)
    return [_from_mat(value) for value in net.forward(list(outputs))]


def _to_mat(value: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - any value
    if not isinstance(value, np.ndarray):
        what = "an optional that holds nothing" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"no Mat can be made of {what}")
    row = protocol.element_type(value.dtype)
    if row.name not in TYPES:
        raise NoTypeError(f"no Mat can be made of {row.name}")
    return value


def _from_mat(value: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any] | None:
    return None if value is None else value.copy()
