# SPDX-License-Identifier: Apache-2.0
"""Apache TVM, its Relax reader of ONNX, compiled by LLVM for the CPU, one thread.

Every case is read, compiled and run by Relax's virtual machine. An answer that is a shape, as TVM represents the
output of Shape, becomes the int64 tensor of its dimensions. A model with one output returns its value, else a tuple.

Compiled programs are cached from one run to the next (cache.py) as shared libraries, where there is a C compiler to
link them. Linking takes longer than compiling, once: the run that fills the cache is slower than one without.

Of the types below a byte, it has tensors of float4e2m1 only. Its reader treats a graph input that is a sequence as a
tensor, so sequences and optionals cannot be passed.

Failures and their causes (0.27.0, each is the runtime's):

- Operands that only the running model knows: where its reader says so they opt out, other failures do not
  ("Node cannot handle ShapeExpr inputs", "Reshape requires the input new shape to be Shape", "must be a constant").
- Attributes with a default in the text are required ("'num_heads'"); a Constant has a value ("no value in Constant").
- NaN, infinities and overflowing numbers change in float8; Cast of float4e2m1 and of 4-bit integers fails.
- LayerNormalization returns scalars for its second and third outputs, NonMaxSuppression as many rows as it may.
- ReduceSum over nothing returns uninitialized memory; over float4e2m1 it ends in a SIGSEGV.
- IsInf heeds no sign, Mod by infinity is NaN, and a BitShift by the type's width is the processor's.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
from tvm.support import cc

from onnx_conformance.backends import cache, protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoTypeError(Exception):
    """The reader or the Python interface has no way to pass a value of this type."""


CONSTANT = "no operand that is known at run time only"

FORK = True

OPT_OUTS = (
    ("OpNotImplemented", r"^The following operators are not supported for frontend ONNX", "no such operator"),
    ("NotImplementedError", r"^Operator \w+ not implemented\.$", "no such operator"),
    ("ValueError", r"^unknown dtype `\w+`", "no such element type"),
    ("ValueError", r"^Model IR version \d+ not supported", "older IR version than it knows"),
    ("AssertionError", r"^Only constant \w+ (currently )?supported", CONSTANT),
    ("ValueError", r"^Only constant split supported|^Dynamic \w+ (are )?not (yet )?supported", CONSTANT),
    (
        "ValueError",
        r"with non-constant axis input is not supported yet|for (scale|size) is currently unsupported",
        CONSTANT,
    ),
    ("NotImplementedError", r"(is|are) not supported|not supported for|only supports", "no kernel"),
    ("NotImplementedError", r"with symbolic axes not supported$", "no kernel"),
    ("ValueError", r"is not supported yet|is unsupported\b|only supports", "no kernel"),
    ("TypeError", r"^Unsupported (input|output) datatype .*for operation", "no kernel"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import numpy
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

executable = tvm.compile(from_onnx(model, keep_params_in_input=False), target="llvm")
machine = relax.VirtualMachine(executable, tvm.cpu())
returned = machine["main"](*(tvm.runtime.tensor(array) for array in inputs.values()))
values = [returned] if len(model.graph.output) == 1 else list(returned)
outputs = [value.numpy() if hasattr(value, "numpy") else numpy.array(list(value)) for value in values]
"""

DEVICE = tvm.cpu()

TARGET = "llvm"
"""Code for a generic processor of this architecture."""

LINKER = cc.get_cc() or ""
"""The C compiler that links a program to a library; without one no program is cached."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "apache-tvm",
        "version": tvm.__version__,
        "repro": REPRO,
        "types": [row.name for row in protocol.ELEMENT_TYPES if _supports(row.number)],
        "containers": [],
    }


def _supports(number: int) -> bool:
    """Return whether a tensor of an element type can be made and read; of 8 elements no size fits by chance."""
    try:
        array = np.zeros(8, protocol.numpy_dtype(number))
        return bool(tvm.runtime.tensor(array).numpy().dtype == array.dtype)
    except Exception:  # noqa: BLE001 - any error means that it has none
        return False


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    proto = onnx.load_from_string(model)
    fixed = {tensor.name for tensor in proto.graph.initializer}
    fed = [_to_tvm(inputs[value.name]) for value in proto.graph.input if value.name not in fixed]
    machine = relax.VirtualMachine(_program(model, proto), DEVICE)
    returned = machine["main"](*fed)
    names = [value.name for value in proto.graph.output]
    values = [returned] if len(names) == 1 else list(returned)
    answers = dict(zip(names, map(_from_tvm, values), strict=True))
    return [answers[name] for name in outputs]


def _program(model: bytes, proto: onnx.ModelProto) -> Any:  # noqa: ANN401 - a module or an executable of the runtime's
    """Return the program of a model, from the cache or compiled now."""
    entry = cache.name(model, "tvm", tvm.__version__, onnx.__version__, TARGET, LINKER, cache.machine())
    library = cache.get(entry)
    if library is not None:
        return _loaded(library)
    executable = tvm.compile(from_onnx(proto, keep_params_in_input=False), target=TARGET)
    if LINKER and cache.programs():
        cache.put(entry, _linked(executable))
    return executable


def _linked(executable: Any) -> bytes:  # noqa: ANN401
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.so")
        executable.export_library(str(path))
        return path.read_bytes()


def _loaded(library: bytes) -> Any:  # noqa: ANN401
    with tempfile.TemporaryDirectory() as folder:  # A new name each time: a loader treats equal names as one library.
        path = Path(folder, "program.so")
        path.write_bytes(library)
        return tvm.runtime.load_module(str(path))


def _to_tvm(value: Any) -> Any:  # noqa: ANN401 - any value
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"cannot create a tensor from {what}")
    row = protocol.element_type(value.dtype)
    try:
        return tvm.runtime.tensor(value)
    except Exception as error:
        raise NoTypeError(f"cannot create a tensor from {row.name}") from error


def _from_tvm(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, tvm.runtime.Tensor):
        return value.numpy()
    if isinstance(value, tvm.runtime.ShapeTuple):
        return np.array(list(value), np.int64)
    if value is None or isinstance(value, bool | int | float):
        return value if value is None else np.asarray(value)
    return [_from_tvm(item) for item in value]
