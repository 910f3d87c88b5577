# SPDX-License-Identifier: Apache-2.0
"""tract on the CPU, one thread.

It reads files only: the model is in a file in memory, or, on systems other than Linux, in a temporary folder until it
is loaded. An answer of its own type TDim, which it uses for possible dimensions (Shape, Size, Cast to int64), becomes
int64 by its own conversion. Where an output has lost its name, as every output of a node but the first does, the
outputs are identified by their order.

Failures and their causes (0.23.9):

- Shapes, axes, pads, scales and splits must be constants ("shape input is variable", "expected axes as a constant").
- A TDim with a symbol in it ("Undetermined symbol"): a graph input had a symbolic dimension.
- Some models that are not valid, and a few that are, end it by SIGABRT: a panic in Rust cannot leave its C interface.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tract

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FORK = True

OPT_OUTS = (
    ("TractError", r"\bUnimplemented\(", "no such operator"),
    ("TractError", r"Unknown DatumType (?!Undefined)\w+", "no such element type"),
    ("TractError", r"unknown ONNX TensorProto\.DataType \(2[4-8]\)", "no such element type"),
    ("TractError", r"Attention: \w+(?: input)? is not supported", "no kernel"),
    ("TractError", r"blocked quantization is not supported", "no kernel"),
    ("TractError", r"Dropout in training mode with a non-zero ratio is not supported", "no kernel"),
    ("TractError", r"Non constant seq_len is not supported", "no kernel"),
    ("TractError", r"Non uniform seq_len is not supported", "no kernel"),
    # "Notable missing parts are operators dealing with Tensor Sequences and Optional Tensors": README of tract.
    ("TractError", r"^graph input `[^`]*` has no type value$", "no sequences and optionals"),
    ("TractError", r"Unsupported operator set for \w+ operator", "no such operator version"),
    ("TractError", r"Building node [^\n]*\n\nCaused by:\n +Unsupported mode wrap", "no kernel"),
    ("TractError", r"attribute 'spatial' is not supported", "no kernel"),
    ("TractError", r"\w+ does not support F64|Unsupported input datum type for \w+", "no kernel"),
    ("TractError", r"Unsupported DatumType in the public API", "no way to pass this type"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import pathlib
import tempfile

import tract

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.onnx"
    path.write_bytes(model.SerializeToString())
    loaded = tract.onnx().load(path)
    names = [loaded.input_name(place) for place in range(loaded.input_count())]
    runnable = loaded.into_model().into_runnable()
facts = [fact.dump() for fact in runnable.output_facts()]
answers = runnable.run([inputs[name] for name in names])
outputs = [
    (answer.convert_to(tract.DatumType.I64) if fact.endswith("tdim") else answer).to_numpy()
    for fact, answer in zip(facts, answers)
]
"""

TYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float", "double")
"""Element types that the Python interface accepts and returns."""


class NoTypeError(Exception):
    """The Python interface has no way to pass a value of this type."""


class InputError(Exception):
    """The loaded model needs other inputs than the graph."""


class OutputError(Exception):
    """The loaded model returns more or fewer outputs than the graph."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "tract", "version": version("tract"), "repro": REPRO, "types": list(TYPES), "containers": []}


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    with _written(model) as path:
        loaded = tract.onnx().load(path)
        # Read before the model is typed, which removes an Identity together with the name of its output.
        names = [loaded.input_name(place) for place in range(loaded.input_count())]
        names_of_outputs = [loaded.output_name(place) for place in range(loaded.output_count())]
        runnable = loaded.into_model().into_runnable()
    if missing := [name for name in names if name not in inputs]:  # It would read from nowhere.
        raise InputError(f"the loaded model has inputs {missing} that the graph does not have")
    if not set(outputs) <= set(names_of_outputs):
        if len(outputs) != len(names_of_outputs):
            raise OutputError(f"the loaded model has {len(names_of_outputs)} outputs, the graph {len(outputs)}")
        names_of_outputs = list(outputs)
    facts = [fact.dump() for fact in runnable.output_facts()]
    answers = runnable.run([_to_tract(inputs[name]) for name in names])
    values = {
        name: _from_tract(answer, fact) for name, answer, fact in zip(names_of_outputs, answers, facts, strict=True)
    }
    return [values[name] for name in outputs]


@contextlib.contextmanager
def _written(model: bytes) -> Iterator[Path]:
    """Provide a file with the model that always disappears, even if the process ends here."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("model"), "wb") as file:
            file.write(model)
            file.flush()
            yield Path(f"/proc/self/fd/{file.fileno()}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(model)
            yield path


def _to_tract(value: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - any value
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"cannot create a tensor from {what}")
    row = protocol.element_type(value.dtype)
    if row.name not in TYPES:
        raise NoTypeError(f"cannot create a tensor from {row.name}")
    return value


def _from_tract(answer: tract.Tensor, fact: str) -> np.ndarray[Any, Any]:
    """Return an answer as an array; a TDim, which is tract's int64 of dimensions, by tract's own conversion."""
    if fact.endswith("tdim"):
        answer = answer.convert_to(tract.DatumType.I64)
    array: np.ndarray[Any, Any] = answer.to_numpy()
    return array
