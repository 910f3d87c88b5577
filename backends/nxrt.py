# SPDX-License-Identifier: Apache-2.0
"""nxrt on the CPU, one thread.

The Python interface takes and returns tensors of the types in TYPES. An input or output of a sequence or optional type
opts out: the method that keeps them (`run_outputs`) is in the Rust interface only.

Failures and their causes (0.1.0.dev6):

- An output of a branch of If without a declared shape is taken for a scalar ("output element count 1 does not match
  produced 12").
- Reductions with noop_with_empty_axes and without axes reduce all axes.
- A value whose shape cannot be inferred before the run is refused ("no inferred shape for value").
- A bfloat16 of rank 0 gets rank 1 in the Python interface ("graph declares rank 0, got 1").
"""

from __future__ import annotations

import functools
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nxrt
import onnx

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

OPT_OUTS = (  # When a model is loaded, the error is a ValueError, and when it runs, a RuntimeError.
    ("Exception", r"unsupported operator \S+: no available execution provider has a kernel", "no kernel"),
    ("Exception", r"\bunsupported (element type|(target )?dtype)\b", "no kernel for this type"),
    ("Exception", r"only \S+ .*are supported, got \w+$", "no kernel for this type"),
    ("Exception", r"must share f32, f16, or bf16 dtype|only uint8 data with bits in ", "no kernel for this type"),
    ("Exception", r"\) is unsupported on the CPU execution provider", "no kernel for these types"),
    ("Exception", r"^failed to load ONNX model from <\d+ bytes>: unsupported ONNX model: operator ", "no kernel"),
    ("Exception", r"unsupported ONNX data_type \d+", "no such element type"),
    ("Exception", r"dtype (?!Undefined)\w+ has no fixed-width byte layout", "no such element type"),
    ("Exception", r"antialias=1 is not implemented|training(_mode=1| dropout) is unsupported", "no kernel"),
    ("Exception", r"is not yet supported$|\(packed QKV/KV is unsupported\)$|\(rank 5\) are unsupported$", "no kernel"),
    ("Exception", r"the tensor-only run API received a \w+ graph output", "no sequences and optionals"),
    ("Exception", r"binding cannot yet convert to a numpy array", "no way to return this type"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import nxrt

session = nxrt.InferenceSession(model.SerializeToString())
outputs = session.run(None, inputs)
"""

REPRO_EARLIER = """\
import contextlib

import nxrt

session = nxrt.InferenceSession(model.SerializeToString())
with contextlib.suppress(Exception):
    session.run(None, earlier)
outputs = session.run(None, inputs)
"""

REPRO_FILES = """\
import nxrt

session = nxrt.InferenceSession(path)
outputs = session.run(None, inputs)
"""

TYPES = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float",
    "double",
)  # fmt: skip
"""Element types that the Python interface accepts, by the message of its TypeError."""


class NoTypeError(Exception):
    """The Python interface has no way to pass or return a value of this type."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "nxrt",
        "version": version("nxrt"),
        "repro": REPRO,
        "repro_earlier": REPRO_EARLIER,
        "repro_files": REPRO_FILES,
        "types": list(TYPES),
        "containers": [],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Load a model; return a function that runs it.

    Raises:
        NoTypeError: an input or output of the graph is no tensor.
    """
    graph = onnx.load_from_string(model).graph
    for value in (*graph.input, *graph.output):
        if (kind := value.type.WhichOneof("value")) != "tensor_type":
            raise NoTypeError(f"the Python interface has tensors only, but {value.name} has a {kind}")
    loaded = nxrt.InferenceSession(
        model if folder is None else Path(folder, "model.onnx"), providers=["CPUExecutionProvider"]
    )
    return functools.partial(_run, loaded)


def _run(loaded: nxrt.InferenceSession, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    answers: list[Any] = loaded.run(list(outputs), {name: _passable(value) for name, value in inputs.items()})
    return answers


def _passable(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an input, if the Python interface accepts its type.

    Raises:
        NoTypeError: TYPES lacks its type.
    """
    if (name := protocol.element_type(value.dtype).name) not in TYPES:
        raise NoTypeError(f"the Python interface takes no {name}")
    return value
