# SPDX-License-Identifier: Apache-2.0
"""MNN on the CPU, one thread: its converter, then the module that its Python interface loads.

The converter is the compiled module `_tools` of the wheel. Its command `mnnconvert` is never called, because it
installs a package for telemetry. The converter returns no errors: it prints them. Therefore, its standard output is
read, and also that of the module.

Limits that MNN documents, and how this adapter treats them:

- It has no int64, and no double: "int64 must be replaced by int32_t, double by float"
  (https://mnn-docs.readthedocs.io/en/latest/faq.html, translated from the section "运行问题"). The converter stores
  int64 and bool as int32, "for compatibility" (`convertDataType` in
  https://github.com/alibaba/MNN/blob/master/tools/converter/source/onnx/onnxOpConverter.cpp). An input of these types
  is passed as int32, and opts out if it has values beyond int32. An int32 answer whose output is declared as int64 or
  bool becomes that type, unless a bool has another value than 0 and 1.
- The same function stores double as float, and 16-bit and unsigned integers as int32. An input or an output of these
  types opts out, because the answer could not be exact.
- `Var` of the Python interface has the types double, float, int, int64 and uint8
  (https://mnn-docs.readthedocs.io/en/latest/pymnn/Var.html). So int8 and float16 opt out, although the converter keeps
  them: `Var.read` returns the memory of an int8, which has an offset of 128 on x86, and takes a float16 for a float.
- An answer without elements has no memory to read. Its shape and type are that of the `Var`.
- `Gelu` is an approximation by default, with an error of up to 4e-4
  (`--useGeluApproximation` in https://mnn-docs.readthedocs.io/en/latest/tools/convert.html).

Failures and their causes (3.6.1), each also with MNN's own interfaces in C++ or `MNN.expr`:

- Less and Greater compare negative floats by their bits on x86: -2 is below -3.
- Pools without the attribute `strides` divide by zero (SIGFPE). BatchNormalization needs constants as its parameters,
  prints so, and then ends by SIGSEGV.
- ConstantOfShape without `value` returns memory that was never written.
- Convolutions of one or three spatial dimensions return shapes of two.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import _tools
import MNN
import numpy as np
import onnx

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FORK = True

OPT_OUTS = (
    ("ConversionError", r"These Op Not Support: ", "no such operator"),
    ("RunError", r"Don't support type \[\w+\]", "no kernel"),
    ("RunError", r"CpuBinary: unsupported data type|Unary Op can not execute", "no kernel for this element type"),
    ("RunError", r"Unsupported data type! \d+\nDon't support cast form", "no kernel for this element type"),
    ("NoTypeError", r"", "no such element type"),
    ("NoSequenceError", r"", "no sequences, maps and empty optionals"),
)

REPRO = """\
import pathlib
import tempfile

import _tools
import MNN
import numpy

with tempfile.TemporaryDirectory() as folder:
    source, target = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "model.mnn"
    source.write_bytes(model.SerializeToString())
    _tools.mnnconvert(
        ["mnnconvert", "-f", "ONNX", "--modelFile", str(source), "--MNNModel", str(target), "--bizCode", "MNN"]
    )
    names = [value.name for value in model.graph.output]
    module = MNN.nn.load_module_from_file(str(target), list(inputs), names)
MNN_TYPES = {"float32": MNN.expr.float, "uint8": MNN.expr.uint8}  # Others are int.
fed = []
for array in inputs.values():
    if array.dtype.name not in MNN_TYPES:
        array = array.astype("int32")
    kind = MNN_TYPES.get(array.dtype.name, MNN.expr.int)
    fed.append(MNN.expr.const(array.tobytes(), list(array.shape), MNN.expr.NCHW, kind))
DTYPES = {MNN.expr.float: "float32", MNN.expr.int: "int32", MNN.expr.uint8: "uint8", MNN.expr.int8: "int8"}
outputs = []
for value, declared in zip(module.forward(fed), model.graph.output):
    array = numpy.array(value.read()) if value.size else numpy.zeros(value.shape, DTYPES[value.dtype])
    number = declared.type.tensor_type.elem_type
    if array.dtype == "int32" and number in (onnx.TensorProto.INT64, onnx.TensorProto.BOOL):
        array = array.astype(onnx.helper.tensor_dtype_to_np_dtype(number))
    outputs.append(array)
"""

MNN_TYPES = {"float": MNN.expr.float, "int32": MNN.expr.int, "uint8": MNN.expr.uint8}
"""Element types of ONNX that a `Var` can be made of, and MNN's own of that name."""
AS_INT32 = ("int64", "bool")
"""Element types that the converter stores as int32, and that a user passes as int32."""
ARRAYS = {
    MNN.expr.float: np.float32,
    MNN.expr.int: np.int32,
    MNN.expr.int64: np.int64,
    MNN.expr.uint8: np.uint8,
    MNN.expr.int8: np.int8,
}
ROUTINE = re.compile(
    r"^(Start to |inputTensors : |outputTensors: |Converted (Success|Failed)!|The device supports|Check it out ==> "
    r"|ONNX Model (ir|opset) version: )"
)
"""Lines that the converter prints for every model, or for valid ones."""
STAMP = re.compile(r"^\[\d+:\d+:\d+\] \S*?:\d+: ")
"""The time and the line of the source before a message."""


class NoTypeError(Exception):
    """MNN has no tensors of this type, or none with these values."""


class NoSequenceError(Exception):
    """MNN has no sequences, maps and empty optionals."""


class ConversionError(Exception):
    """The converter wrote no model."""


class LoadError(Exception):
    """The converted model could not be loaded."""


class RunError(Exception):
    """The module returned nothing, or a value that cannot be read."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "MNN",
        "version": version("MNN"),
        "repro": REPRO,
        "types": [*MNN_TYPES, *AS_INT32],
        "containers": ["optional"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Convert a model; return a function that runs it."""
    graph = onnx.load_from_string(model).graph
    with tempfile.TemporaryDirectory() as made:
        source = Path(folder or made) / "model.onnx"
        if folder is None:
            source.write_bytes(model)
        target = Path(made) / "model.mnn"
        with _printed() as printed:
            words = ["-f", "ONNX", "--modelFile", str(source), "--MNNModel", str(target), "--bizCode", "MNN"]
            _tools.mnnconvert(["mnnconvert", *words])
        if not target.exists():
            raise ConversionError(messages(printed, made))
        converted = target.read_bytes()
    return functools.partial(_run, converted, graph)


@contextlib.contextmanager
def _printed() -> Iterator[list[str]]:
    """Collect the lines that the runtime prints to standard output, and copy them to standard error afterwards."""
    lines: list[str] = []
    flushed = ctypes.CDLL(None).fflush  # The runtime's buffer is that of the C library, not Python's.
    sys.stdout.flush()
    flushed(None)
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            flushed(None)
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            printed = file.read()
            lines += printed.decode(errors="replace").splitlines()
            sys.stderr.buffer.write(printed)
            sys.stderr.flush()


def messages(printed: Sequence[str], folder: str = "") -> str:
    """Return the lines that the runtime printed about an error: without routine lines, times and folders."""
    lines = (STAMP.sub("", text).strip() for text in printed)
    text = "\n".join(line for line in lines if line and not ROUTINE.search(line))
    return text.replace(folder + os.sep, "") if folder else text


def _run(converted: bytes, graph: onnx.GraphProto, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    declared = {item.name: _declared(item) for item in graph.output}
    fed = [_to_mnn(value) for value in inputs.values()]
    with tempfile.TemporaryDirectory() as folder, _printed() as printed:
        path = Path(folder) / "model.mnn"
        path.write_bytes(converted)
        try:
            module = MNN.nn.load_module_from_file(str(path), list(inputs), list(outputs))
        except SystemError:  # Its binding returns a result together with an exception.
            module = None
        returned = module.forward(fed) if module is not None else []
    if module is None:
        raise LoadError(messages(printed, folder) or "load_module_from_file failed")
    if len(returned) != len(outputs):
        raise RunError(messages(printed, folder) or f"{len(returned)} of {len(outputs)} outputs returned")
    return [_from_mnn(value, declared[name]) for name, value in zip(outputs, returned, strict=True)]


def _declared(output: onnx.ValueInfoProto) -> int:
    """Return the number of the element type with which an output is declared, 0 without one.

    Raises:
        NoTypeError: MNN lacks this type.
        NoSequenceError: the output is a sequence or a map.
    """
    kind = output.type
    while kind.HasField("optional_type"):
        kind = kind.optional_type.elem_type
    if kind.HasField("sequence_type") or kind.HasField("map_type"):
        raise NoSequenceError(f"MNN has tensors only: output {output.name}")
    number = kind.tensor_type.elem_type
    row = next((row for row in protocol.ELEMENT_TYPES if row.number == number), None)
    if row is not None and row.name not in (*MNN_TYPES, *AS_INT32):
        raise NoTypeError(f"MNN has no tensors of {row.name}: output {output.name}")
    return int(number)


def _to_mnn(value: Any) -> Any:  # noqa: ANN401 - any value, and MNN declares no types
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoSequenceError(f"a module takes tensors, not {what}")
    name = protocol.element_type(value.dtype).name
    if name in AS_INT32:
        passed = value.astype(np.int32)
        if not np.array_equal(passed.astype(value.dtype), value):
            raise NoTypeError(f"MNN stores {name} as int32, which lacks some of the values")
        value, name = passed, "int32"
    if name not in MNN_TYPES:
        raise NoTypeError(f"MNN has no way to pass {name}")
    # As bytes, because `const` reads the memory of an array as if it were contiguous.
    return MNN.expr.const(value.tobytes(), list(value.shape), MNN.expr.NCHW, MNN_TYPES[name])


def _from_mnn(value: Any, number: int) -> np.ndarray[Any, Any]:  # noqa: ANN401 - MNN declares no types
    """Return a value as an array; an int32 becomes the declared int64 or bool."""
    if value.valid and 0 in value.shape:  # There is no memory to read.
        array = np.zeros(value.shape, ARRAYS[value.dtype])
    else:
        if value.valid and value.data_format == MNN.expr.NC4HW4:  # `read` does not change the layout.
            value = MNN.expr.convert(value, MNN.expr.NCHW)
        try:
            array = np.array(value.read())  # A copy: the memory is that of the value.
        except (SystemError, TypeError) as error:
            raise RunError(f"read: {error.__cause__ or error}") from None
    if array.dtype == np.int32 and number == onnx.TensorProto.INT64:
        return array.astype(np.int64)
    if array.dtype == np.int32 and number == onnx.TensorProto.BOOL and np.isin(array, (0, 1)).all():
        return array.astype(np.bool_)
    return array
