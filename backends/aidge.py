# SPDX-License-Identifier: Apache-2.0
"""Eclipse Aidge on the CPU: the importer of aidge_onnx, and the kernels of aidge_backend_cpu, one thread.

The calls are those of Aidge's own comparison with ONNX Runtime (`run_aidge_outputwise_benchmark` in
`aidge_core.benchmark`): the backend, the types, then the shapes and the kernels. That function accepts one input, so
the inputs are passed as `data` of the scheduler, matched by their names, which
`aidge_onnx.utils.onnx_to_aidge_name` changes.

Limits that Aidge documents, and how this adapter treats them:

- "If an operator is unknown, a generic operator is used" (https://eclipse.dev/aidge/source/UserGuide/loadStoreModel.html).
  The importer does the same if it knows the operator, but not an attribute. A generic operator has no kernel, and its
  error opts out. If the importer uses one because its converter raised an error, it asks in its log to report the
  error. That is a failure.
- The kernels and their types are listed (https://eclipse.dev/aidge/source/API/BackendCPU/index.html). The error for a
  missing one opts out.
- After `forward_dtype`, sums and products of integers of 8 and 16 bits have the type of an accumulator, of 32 bits.
  Without this call, all tensors between two nodes would be floats.
- `Tensor` has no strings, no bfloat16 and no types of 8 or fewer bits other than int8, uint8 and bool. It has no
  sequences and maps either.
- A tensor without elements is "undefined", which means that its dimensions are not known (`isUndefined` in
  https://gitlab.eclipse.org/eclipse/aidge/aidge_core/-/blob/main/include/aidge/data/Tensor.hpp). An input without
  elements is therefore missing, and nothing is computed. Aidge writes that in its log and raises no error. The adapter
  raises one if an output is undefined, unless its shape contains a 0.

Failures and their causes (0.10.1):

- Converters of LSTM, GRU, QuantizeLinear, QLinearMatMul and others read `input_nodes[i][0]`, which is None unless the
  input is an initializer. Those of BitShift and QLinearConv call attributes that do not exist.
- A model of constants only raises `map::at`. NonMaxSuppression ends by SIGSEGV if `max_output_boxes_per_class` is a
  scalar, and many operators do if an axis is out of range, or if one of two inputs has no elements.
- Dropout since opset 7 is always in training mode, because only the older attribute `is_test` ends it.
- Softmax, LogSoftmax and Hardmax before opset 13 compute along one axis, not on the flattened matrix.
- Sqrt of doubles is computed in single precision. Reductions to a scalar return the shape [1].
"""

from __future__ import annotations

import contextlib
import functools
import re
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aidge_backend_cpu  # noqa: F401 - registers the kernels
import aidge_core
import aidge_onnx
import numpy as np
from aidge_onnx.utils import onnx_to_aidge_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FORK = True

OPT_OUTS = (
    ("RuntimeError", r"^forward\(\) not implemented yet for operator of type ", "no such operator"),
    ("RuntimeError", r"it is possible that the object is not yet supported", "no kernel for these types"),
    (
        "RuntimeError",
        r"unsupported src data type: |input type unsupported \(|only supports integer types",
        "no kernel for these types",
    ),
    ("ValueError", r"^ONNX DataType \d+ has no Aidge equivalent", "no such element type"),
    ("ValueError", r"^Unsupported python type passed to Tensor constructor$", "no such element type"),
    ("ConversionError", r"^Unsupported python type passed to Tensor constructor$", "no such element type"),
    ("ConversionError", r"is not supported yet\.$", "no such operator"),
    ("NoSequenceError", r"", "no sequences, maps and empty optionals"),
)

REPRO = """\
import aidge_backend_cpu
import aidge_core
import aidge_onnx
import numpy
from aidge_onnx.utils import onnx_to_aidge_name

graph = aidge_onnx.load_onnx(model.SerializeToString())
graph.set_backend("cpu")
graph.forward_dtype()
tensors = {onnx_to_aidge_name(name): aidge_core.Tensor(array) for name, array in inputs.items()}
names = [node.input_name(index) for node, index in graph.get_ordered_inputs()]
scheduler = aidge_core.SequentialScheduler(graph)
scheduler.forward(data=[tensors[name] for name in names if name in tensors])
computed = {node.output_name(index): (node, index) for node, index in graph.get_ordered_outputs()}
outputs = []
for value in model.graph.output:
    node, index = computed[onnx_to_aidge_name(value.name)]
    outputs.append(numpy.array(node.get_operator().get_output(index)))
"""

TYPES = ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "bool", "float16", "double", "uint32", "uint64")
"""Element types that both `aidge_onnx.dtype_converter` and `Tensor` know."""
STYLE = re.compile(r"\x1b\[[\d;]*m")
"""Escape sequences for bold and coloured text."""
LEVEL = re.compile(r"^(?:WARNING|ERROR|FATAL): ", re.MULTILINE)
"""The level before a message."""
CONTINUED = re.compile(r"\n(?:WARNING|ERROR|FATAL) *")
"""A line break in a message, and the level before the next line."""
CONVERTER_ERROR = re.compile(r'"ONNX_NODE_CONVERTER_ returned: (.*)"$', re.DOTALL)
"""The error of a converter, in the message that asks to report it."""


class ConversionError(Exception):
    """A converter of the importer raised an error, and a generic operator replaces the node."""


class UndefinedError(Exception):
    """Aidge returned without an error, and did not compute an output."""


class NoSequenceError(Exception):
    """Aidge has no sequences, maps and empty optionals."""


aidge_core.Log.set_console_level(aidge_core.Level.Fatal)
aidge_core.Log.set_file_level(aidge_core.Level.Warn)


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "aidge-onnx",
        "version": version("aidge_onnx"),
        "repro": REPRO,
        "types": list(TYPES),
        "containers": ["optional"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Import a model; return a function that runs it."""
    with _logged() as log:
        graph = aidge_onnx.load_onnx(model if folder is None else str(Path(folder, "model.onnx")))
    if errors := [found[1] for text in log if (found := CONVERTER_ERROR.search(text))]:
        raise ConversionError("; ".join(errors))
    graph.set_backend("cpu")
    graph.forward_dtype()
    return functools.partial(_run, graph, aidge_core.SequentialScheduler(graph))


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    """Collect the warnings and errors that Aidge logs."""
    log: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        aidge_core.Log.set_file_name(str(path))
        try:
            yield log
        finally:
            aidge_core.Log.set_file_name("")  # Closes the file.
            log += messages(path.read_text(encoding="utf-8", errors="replace") if path.exists() else "")


def messages(text: str) -> list[str]:
    """Return the messages of a log, without styles. Aidge breaks long lines."""
    return [CONTINUED.sub(" ", part).strip() for part in LEVEL.split(STYLE.sub("", text)) if part.strip()]


def _run(graph: Any, scheduler: Any, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:  # noqa: ANN401
    tensors = {onnx_to_aidge_name(name): _to_aidge(name, value) for name, value in inputs.items()}
    names = [node.input_name(index) for node, index in graph.get_ordered_inputs()]
    with _logged() as log:
        scheduler.forward(data=[tensors[name] for name in names if name in tensors])
    computed = {
        node.output_name(index): node.get_operator().get_output(index) for node, index in graph.get_ordered_outputs()
    }
    found = [(name, computed.get(onnx_to_aidge_name(name))) for name in outputs]
    return [_from_aidge(name, tensor, log) for name, tensor in found]


def _to_aidge(name: str, value: Any) -> Any:  # noqa: ANN401 - any value, and Aidge declares no types
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoSequenceError(f"a graph takes tensors, not {what}: input {name}")
    return aidge_core.Tensor(value)


def _from_aidge(name: str, tensor: Any, log: Sequence[str]) -> np.ndarray[Any, Any]:  # noqa: ANN401
    if tensor is None or (tensor.is_undefined() and 0 not in tensor.dims):
        raise UndefinedError("\n".join((f"output {name} is undefined", *log)))
    return np.array(tensor)
