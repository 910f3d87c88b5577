# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime on the CPU, one thread or the number of --threads.

Its option has a level of the graph optimizer, an execution provider, or both: onnxruntime[none], onnxruntime[ep=nxrt],
onnxruntime[basic,ep=./my_ep.toml]. See execution_provider.py.

Element types that numpy lacks (bfloat16, float8, 4-bit) are passed through OrtValue memory, because
`OrtValue.numpy()` does not support them; below a byte they are packed there as in TensorProto.raw_data.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from onnx_conformance.backends import execution_provider, protocol
from onnx_conformance.backends.option import EP, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OVERRIDES = True
OPT_OUTS: tuple[tuple[str, str, str], ...] = (
    ("NotImplemented", r"Could not find an implementation|NOT_IMPLEMENTED", "no kernel"),
    ("Fail", r"Unsupported model IR version", "newer IR version than it knows"),
    ("Fail", r"is under development and support for this is limited", "newer opset than it knows"),
    # Up to 1.20 both are an InvalidArgument.
    ("InvalidArgument", r"Unsupported model IR version: \d+, max supported", "newer IR version than it knows"),
    ("InvalidArgument", r"is under development and support for this is limited", "newer opset than it knows"),
    ("InvalidGraph", r"No Op registered for", "no such operator in its schemas"),
    ("Fail", r"No Op registered for", "no such operator in its schemas"),
    ("Fail", r"is not a registered function/op", "no such operator in its schemas"),
    # It computes float16 by casts to float, which Cast of opsets below 6 does not take. Its documentation says "opset
    # version 7 and higher": onnxruntime.ai/docs/reference/compatibility.html.
    ("InvalidGraph", r'In Node, \("InsertedPrecisionFreeCast_', "float16 in an opset below those that it supports"),
    # Operators of com.microsoft with features that only the kernel for another device has.
    ("Fail", r"does not support \w+ > 0 \(CUDA EP only\)", "no such feature on the CPU"),
    ("RuntimeException", r"not implemented for CPU", "no such feature on the CPU"),
    (
        "Fail",
        r"CPU Q?MoE only supports|Shared CPU QMoE does not|CPU bfloat16 QMoE requires|MatMulNBits on CPU does not",
        "no such feature on the CPU",
    ),
    ("Fail", r"CPU GroupQueryAttention requires", "no such feature on the CPU"),
    ("Fail", r"Per-Channel is not supported yet", "no kernel"),
    ("InvalidArgument", r"Status Message: QLinear Pooling unsupported pooling size", "no kernel"),
    ("Fail", r"Unsupported value attribute datatype: \d+$", "no kernel"),
    (
        "Fail",
        r"Currently do not support dims higher than 2|Unsupported sparse tensor data type",
        "no such sparse tensor",
    ),
    ("RuntimeException", r"running If node.*Unsupported type proto value case:0", "no such sparse tensor"),
    ("Fail", r"MLDataType for: .* is not currently registered or supported", "no such element type"),
    ("InvalidArgument", r"Invalid tensor data type (2[4-9]|[3-9]\d)\.", "no such element type"),
    ("Fail", r"Batchwise recurrent operations \(layout == 1\) are not supported", "no kernel"),
    ("RuntimeException", r"(GRU|LSTM|RNN) operator does not support double yet", "no kernel"),
    ("RuntimeException", r"data type is not supported with \w+ opset \d+ when reduction is", "no kernel"),
    ("InvalidArgument", r"Status Message: Unsupported pooling size", "no kernel"),
    ("InvalidArgument", r"Dilation not supported for AutoPadType::", "no kernel"),
    ("Fail", r"The implementation does not support past_key provided and present_key being null", "no kernel"),
    ("Fail", r"Failed to construct locale with name", "a locale is missing on this machine"),
    ("NoTypeError", r"", "no way to pass this type"),
)

OPT_OUTS_OF_PROVIDERS = (
    ("NotOnProviderError", r"", "no node ran on the execution provider"),
    ("NotOfProviderError", r"", "onnxruntime refuses the model without the execution provider, too"),
    ("Fail", execution_provider.NO_FALLBACK.pattern, "the execution provider does not take every node"),
)
"""Further ones of execution providers, which may not use the CPU."""

REPRO = """\
import onnxruntime

session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
outputs = session.run(None, inputs)
"""

REPRO_EARLIER = """\
import contextlib

import onnxruntime

session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
with contextlib.suppress(Exception):
    session.run(None, earlier)
outputs = session.run(None, inputs)
"""

REPRO_FILES = """\
import onnxruntime

session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
outputs = session.run(None, inputs)
"""

REPRO_ORT_VALUES = """\
import ctypes

import numpy as np
import onnxruntime


def to_ort(array, number):
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(array.shape), number)
    data = onnx.numpy_helper.from_array(array).raw_data
    ctypes.memmove(value.data_ptr(), data, len(data))
    return value


def from_ort(value):
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.element_type())
    tensor = onnx.numpy_helper.from_array(np.zeros(value.shape(), dtype))
    tensor.raw_data = ctypes.string_at(value.data_ptr(), len(tensor.raw_data))
    return onnx.numpy_helper.to_array(tensor)


session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
fed = {name: to_ort(array, types[name]) for name, array in inputs.items()}
outputs = [from_ort(value) for value in session.run_with_ort_values(None, fed)]
"""

PLAIN = frozenset(range(1, 14))
"""Element types that session.run() takes and returns as numpy arrays: float to uint64."""

LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "extended": "ORT_ENABLE_EXTENDED",
    "basic": "ORT_ENABLE_BASIC",
    "none": "ORT_DISABLE_ALL",
}
"""The levels of the graph optimizer, by option; the first is its default."""


def _words() -> tuple[str, str]:
    """Return the level of the optimizer and the execution provider that the option names.

    Raises:
        ValueError: a word of the option is neither.
    """
    level, provider = next(iter(LEVELS)), ""
    for word in filter(None, os.environ.get(VARIABLE, "").split(",")):
        if word in LEVELS:
            level = word
        elif word.startswith(EP) and provider:
            raise ValueError(f"its option names two execution providers, {EP}{provider} and {word}; use one of them")
        elif word.startswith(EP):
            provider = word.removeprefix(EP)
        else:
            raise ValueError(f"there is no option {word!r}; there are {', '.join(LEVELS)} and {EP}PROVIDER")
    return LEVELS[level], provider or "cpu"


LEVEL, EP_NAME = _words()

NEWER = 9999
"""An opset and an IR version that no runtime knows."""


def _options() -> onnxruntime.SessionOptions:
    """Return the options of sessions, without a provider."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("ONNX_CONFORMANCE_THREADS", "1"))
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # It logs only errors that it also raises.
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVEL)
    return options


PROVIDER = execution_provider.load(EP_NAME)
OPTIONS = _options()
MORE = PROVIDER.prepare(OPTIONS)
WITH_CPU = _options()
"""Options with which the CPU may run the nodes that the provider does not take."""
MORE_WITH_CPU = PROVIDER.prepare(WITH_CPU, fallback=True)
WITHOUT = _options()
"""Options of sessions that have no other provider than the CPU."""
if PROVIDER.name != execution_provider.CPU:
    OPT_OUTS += (*OPT_OUTS_OF_PROVIDERS, *PROVIDER.unsupported)


class SparseAnswer(Exception):  # noqa: N818 - it is the runtime's, not an error of ours
    """The runtime returned a kind of value that the graph does not declare."""


class NotOfProviderError(Exception):
    """ONNX Runtime refuses a model with the same error where it does not have the provider."""


class NoTypeError(Exception):
    """The Python interface has no way to pass a value of this type."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    newest = {
        "opset": _newest(8, NEWER, "Current official support for domain ai.onnx is till opset"),
        "ir_version": _newest(NEWER, 13, "max supported IR version:"),
    }
    return {
        **_identity(),
        "repro": _as_here(REPRO),
        "repro_wide": _as_here(REPRO_ORT_VALUES),
        "repro_earlier": _as_here(REPRO_EARLIER),
        "repro_files": _as_here(REPRO_FILES),
        **{key: number for key, number in newest.items() if number is not None},
        "types": [row.name for row in protocol.ELEMENT_TYPES if row.number in PLAIN or _supports(row.number)],
        "containers": ["sequence", "optional", "map"],
        "levels": [*reversed(LEVELS)],
        "provider": PROVIDER.described,
        **({"claims": claims} if (claims := PROVIDER.claims()) else {}),
    }


def _identity() -> dict[str, str]:
    """Return the name and version of the runtime; of another provider, its own."""
    if PROVIDER.name == execution_provider.CPU:
        return {"runtime": "onnxruntime", "version": onnxruntime.__version__}
    version = PROVIDER.version or onnxruntime.__version__
    return {"runtime": f"{PROVIDER.name} (onnxruntime {onnxruntime.__version__})", "version": version}


def _as_here(repro: str) -> str:
    """Return a script whose session has the level of the graph optimizer and the provider, if they are no defaults."""
    level = (
        ""
        if LEVELS["all"] == LEVEL
        else f"""\
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{LEVEL}
"""
    )
    if PROVIDER.name != execution_provider.CPU:
        session = f"{PROVIDER.code()}\n{level}session = "
        return repro.replace("session = ", session).replace(
            f'providers=["{execution_provider.CPU}"]', "options, **more"
        )
    if not level:
        return repro
    session = f"options = onnxruntime.SessionOptions()\n{level}session = "
    return repro.replace("session = ", session).replace(", providers=", ", options, providers=")


def _newest(ir_version: int, opset: int, prefix: str) -> int | None:
    """Return the number after `prefix` in the error of this version for a model that is too new for it."""
    bytes_ = bytearray()
    for field, number in ((b"\x08", ir_version), (b"\x42\x03\x10", opset)):  # ModelProto.ir_version, opset_import
        bytes_ += field + bytes([number & 0x7F | 0x80, number >> 7])
    bytes_ += b"\x3a\x03\x12\x01g"  # and a graph of a name
    try:
        onnxruntime.InferenceSession(bytes(bytes_), OPTIONS, **MORE)
    except Exception as error:  # noqa: BLE001 - its type differs between versions
        match = re.search(rf"{prefix} (\d+)", str(error))
        return int(match[1]) if match else None
    return None


def _supports(number: int) -> bool:
    """Return whether this version supports an element type that numpy lacks."""
    try:
        onnxruntime.OrtValue.ortvalue_from_shape_and_type([1], number)
    except Exception:  # noqa: BLE001 - any error means that it has none
        return False
    return True


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Load a model, from `folder` if it has additional files; return a function that runs it."""
    loaded = _loaded(model if folder is None else str(Path(folder, "model.onnx")))
    run = functools.partial(_run, loaded)
    run.assigned = PROVIDER.assigned(loaded)  # type: ignore[attr-defined]
    return run


def _loaded(source: bytes | str) -> onnxruntime.InferenceSession:
    """Return the session of a model.

    If the provider takes only some of the nodes, the CPU runs the others, as far as the session reports the provider of
    each node: the harness knows which node is tested.
    """
    try:
        return onnxruntime.InferenceSession(source, OPTIONS, **MORE)
    except Exception as error:
        if not execution_provider.NO_FALLBACK.search(str(error)):
            _check_cause(source, error)
            raise
        if not PROVIDER.reports:
            raise
        try:
            loaded = onnxruntime.InferenceSession(source, WITH_CPU, **MORE_WITH_CPU)
        except Exception as other:
            _check_cause(source, other)
            raise
        if not PROVIDER.has_nodes(loaded):
            raise
        return loaded


def _check_cause(source: bytes | str, error: Exception) -> None:
    """Find out whether the provider is the cause of an error.

    Its sessions also raise the errors of ONNX Runtime's own checks, rewrites, and kernels for the CPU, which are
    created before the session notices that it may not use them.

    Raises:
        NotOfProviderError: without the provider, the error is the same.
    """
    if PROVIDER.name == execution_provider.CPU:
        return
    try:
        onnxruntime.InferenceSession(source, WITHOUT, providers=[execution_provider.CPU])
    except Exception as other:  # noqa: BLE001 - it is compared
        if str(other) == str(error):
            raise NotOfProviderError(str(error)) from error


def _run(session: onnxruntime.InferenceSession, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    declared = session.get_outputs()
    if any(isinstance(value, dict) and not _passes(value) for value in inputs.values()):
        raise NoTypeError("the Python interface only accepts non-empty maps of floats")
    if all(map(_plain, inputs.values())) and all(_plain_type(item.type) for item in declared):
        answers = session.run(list(outputs), inputs)
    else:
        fed = {name: _to_ort(value) for name, value in inputs.items()}
        answers = [_from_ort(value) for value in session.run_with_ort_values(list(outputs), fed)]
    types = {item.name: item.type for item in declared}
    if any(type(value).__name__ == "SparseTensor" for value in answers):
        raise SparseAnswer("returned a sparse tensor, but the graph declares a dense one")
    return [_typed(value, types.get(name, "")) for name, value in zip(outputs, answers, strict=True)]


def _passes(value: dict[Any, Any]) -> bool:
    """Return whether a map can be passed; the interface reads every other as one of floats."""
    return bool(value) and all(np.asarray(item).dtype == np.float32 for item in value.values())


def _plain(value: Any) -> bool:  # noqa: ANN401 - any value
    if isinstance(value, np.ndarray):
        return protocol.element_type(value.dtype).number in PLAIN
    return value is None or all(map(_plain, value.values() if isinstance(value, dict) else value))


_PLAIN_NAMES = frozenset(row.name for row in protocol.ELEMENT_TYPES if row.number in PLAIN)


def _plain_type(text: str) -> bool:
    """Return whether a type such as tensor(float) or seq(map(int64,tensor(float))) is made of plain ones."""
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return all(word in _PLAIN_NAMES for word in words if word not in {"tensor", "seq", "map", "optional"})


def _to_ort(value: Any) -> onnxruntime.OrtValue:  # noqa: ANN401
    if not isinstance(value, np.ndarray):
        raise NoTypeError(
            f"cannot create an OrtValue from a {type(value).__name__} together with tensors of narrow types"
        )
    row = protocol.element_type(value.dtype)
    if row.number == protocol.STRING:
        raise NoTypeError("cannot create an OrtValue from strings together with tensors of narrow types")
    if row.number in PLAIN:
        return onnxruntime.OrtValue.ortvalue_from_numpy(value)
    data = protocol.pack(value)
    try:
        held = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(value.shape), row.number)
    except Exception as error:
        raise NoTypeError(f"no OrtValue of {row.name}: {error}") from error
    if data:
        ctypes.memmove(held.data_ptr(), data, len(data))
    return held


def _from_ort(value: onnxruntime.OrtValue) -> Any:  # noqa: ANN401
    if not value.has_value():
        return None
    if not value.is_tensor():
        raise NoTypeError(f"the Python interface cannot read {value.data_type()}")
    number = value.element_type()
    if number in PLAIN:
        return value.numpy()
    shape = value.shape()
    size = protocol.packed_size(number, math.prod(shape))  # Up to 1.20 an OrtValue has no size.
    return protocol.unpack(ctypes.string_at(value.data_ptr(), size) if size else b"", number, shape)


def _typed(value: Any, text: str) -> Any:  # noqa: ANN401
    """Convert the values of maps, which are Python numbers, to the element type that the model declares."""
    if isinstance(value, list):
        inner = text.partition("(")[2].removesuffix(")")
        return [_typed(item, inner) for item in value]
    if isinstance(value, dict):
        name = text.rpartition("(")[2].rstrip(")")
        dtype = protocol.numpy_dtype(protocol.element_type_named(name).number)
        return {key: np.asarray(item, dtype) for key, item in value.items()}
    return value
