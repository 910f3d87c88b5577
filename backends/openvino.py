# SPDX-License-Identifier: Apache-2.0
"""OpenVINO on its CPU plugin, one thread, in float32 where it might compute in less.

Inputs that the compiled model lacks are not passed: the runtime removes inputs on which nothing depends. Each tensor
is passed as its raw bytes, because `Tensor.data` calls bfloat16 float16, and float8 and 4-bit uint8. Strings
are passed as numpy's bytes, which lose NUL characters at the end of a string.

Failures and their causes (2026.4.1):

- A model with a string tensor aborts when its request is freed ("free(): invalid pointer"), after a right answer.
- Optionals, sequences and maps are no inputs and outputs; a graph input of such a type is one of unknown rank to it.
- float64 is computed in float32 and comes back without infinities; int64 and uint64 are computed in int32.
- A model whose Split has no outputs ends it by SIGFPE, an If without a condition by SIGSEGV.
- Axes, shapes and rank that are known at run time only are "dynamic rank" to the CPU plugin, which then opts out, or
  "has to be static" to a converter, which is an error.
- A type that its protobuf does not know (float6) has no name in its message, as a wrong number has none: an error.
- Tile over a tensor of four dimensions with repeats known at run time returns uninitialized memory.
- In a stream of one thread, which is its default on one core, an error inside infer() is lost, the answer is empty, and
  a later infer() ends by SIGSEGV. Without a stream, as here, errors are errors, so that no case affects another.
"""

from __future__ import annotations

import functools
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import openvino

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OPT_OUTS = (
    (
        "RuntimeError",
        r"(?s)\A(?!.*Conversion is failed for: ).*-- No conversion rule found for operations: ",
        "no conversion rule",
    ),
    ("RuntimeError", r"Unsupported data type (?!UNDEFINED)[A-Z0-9_]+ expected: BOOL, ", "no such element type"),
    ("RuntimeError", r"Not Implemented:\ncpu_convert can't convert from: ", "no kernel for this element type"),
    ("RuntimeError", r"utils\.cpp:\d+:\nUnsupported activation function", "no kernel"),
    ("RuntimeError", r"CPU plug-in doesn't support \w+ operation with dynamic rank", "no kernel for an unknown rank"),
    ("RuntimeError", r"(tf_crop_and_resize|half_pixel_symmetric) - this type of coordinate", "no kernel"),
    ("RuntimeError", r"GridSample is only supported for 4D input tensors", "no kernel"),
    ("RuntimeError", r"Unsupported padding mode: \[wrap\]", "no kernel"),
    ("RuntimeError", r"Non-constant training_mode input is not supported", "no kernel"),
    ("RuntimeError", r"Node::evaluate\(\) is not implemented for op", "no kernel"),
    ("RuntimeError", r"has unsupported '?\w+'? input (precision|\w+ dimension)", "no kernel"),
    ("RuntimeError", r"unsupported src_prc: ", "no kernel for this element type"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import openvino

core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
request = compiled.create_infer_request()
names = {name for port in compiled.inputs for name in port.names}
request.infer({name: value for name, value in inputs.items() if name in names})
outputs = [request.get_tensor(value.name).data.copy() for value in model.graph.output]
"""

REPRO_RAW = """\
import numpy
import openvino

TYPES = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0fnu": "f8e8m0",
    "float4_e2m1fn": "f4e2m1",
    "int4": "i4",
    "uint4": "u4",
}


def to_openvino(array):
    if array.dtype.name not in TYPES:
        return openvino.Tensor(array)
    tensor = openvino.Tensor(getattr(openvino.Type, TYPES[array.dtype.name]), list(array.shape))
    raw = onnx.numpy_helper.from_array(array).raw_data
    tensor.data[...] = numpy.frombuffer(raw, tensor.data.dtype).reshape(tensor.data.shape)
    return tensor


def from_openvino(tensor, number):
    proto = onnx.TensorProto(data_type=number, dims=list(tensor.shape), raw_data=tensor.data.tobytes())
    return onnx.numpy_helper.to_array(proto)


core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
request = compiled.create_infer_request()
for port in compiled.inputs:
    request.set_tensor(port, to_openvino(next(inputs[name] for name in port.names if name in inputs)))
request.infer()
outputs = [
    from_openvino(request.get_tensor(value.name), value.type.tensor_type.elem_type) for value in model.graph.output
]
"""

TYPES = {
    "boolean": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "f32": "float",
    "f64": "double",
    "string": "string",
    "bf16": "bfloat16",
    "f8e4m3": "float8e4m3fn",
    "f8e5m2": "float8e5m2",
    "f8e8m0": "float8e8m0",
    "f4e2m1": "float4e2m1",
    "i4": "int4",
    "u4": "uint4",
}
"""Element types as OpenVINO names them, and as ONNX does."""

ONNX_TYPES = {onnx: own for own, onnx in TYPES.items()}

CORE = openvino.Core()
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 0}
"""Without streams it runs in the calling thread; see above."""


class NoTypeError(Exception):
    """The Python interface has no way to pass a value of this type."""


class InputError(Exception):
    """The compiled model needs an input that the graph does not have."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "openvino",
        "version": version("openvino"),
        "repro": REPRO,
        "repro_wide": REPRO_RAW,
        "types": list(ONNX_TYPES),
        "containers": [],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Compile a model, from `folder` if it has additional files; return a function that runs it."""
    source = model if folder is None else str(Path(folder, "model.onnx"))
    compiled = CORE.compile_model(CORE.read_model(source), "CPU", CONFIG)
    return functools.partial(_run, compiled, compiled.create_infer_request())


def _run(
    compiled: openvino.CompiledModel, request: openvino.InferRequest, inputs: dict[str, Any], outputs: Sequence[str]
) -> list[Any]:
    tensors = {name: _to_tensor(value) for name, value in inputs.items()}
    for port in compiled.inputs:
        name = next((name for name in port.names if name in tensors), None)
        if name is None:
            raise InputError(f"the compiled model has an input {sorted(port.names)} that the graph does not have")
        request.set_tensor(port, tensors[name])
    request.infer()
    return [_from_tensor(request.get_tensor(name)) for name in outputs]


def _to_tensor(value: Any) -> openvino.Tensor:  # noqa: ANN401 - any value
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"cannot create a tensor from {what}")
    row = protocol.element_type(value.dtype)
    if row.name not in ONNX_TYPES:
        raise NoTypeError(f"cannot create a tensor from {row.name}")
    tensor = openvino.Tensor(getattr(openvino.Type, ONNX_TYPES[row.name]), list(value.shape))
    if row.number == protocol.STRING:
        if value.size:
            tensor.bytes_data = np.array(
                [t.encode("utf-8", "surrogateescape") for t in value.reshape(-1).tolist()]
            ).reshape(value.shape)
        return tensor
    data = tensor.data
    data[...] = np.frombuffer(protocol.pack(value), data.dtype).reshape(data.shape)
    return tensor


def _from_tensor(tensor: openvino.Tensor) -> np.ndarray[Any, Any]:
    name = TYPES[tensor.element_type.to_string()]
    row = protocol.element_type_named(name)
    if row.number == protocol.STRING:
        return np.array(tensor.bytes_data).reshape(tuple(tensor.shape))
    return protocol.unpack(tensor.data.tobytes(), row.number, tuple(tensor.shape))
