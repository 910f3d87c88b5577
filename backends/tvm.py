"""Apache TVM, its Relax reader of ONNX, compiled by LLVM for the CPU, one thread.

Every case is read, compiled and run by Relax's virtual machine. An answer that is a shape, in which TVM keeps what
Shape gives, becomes the int64 tensor of its dimensions. A model of one output gives its value, of several a tuple.

What the compiler made is kept from one run to the next (cache.py) as a shared library, where there is a C compiler to
link it. Linking takes longer than compiling, once: the run that fills the cache is slower than one without.

Its tensors of types below a byte cannot be made, but those of float4e2m1 can. Its reader takes a graph input that is a
sequence for a tensor, so that sequences and optionals cannot be passed.

What fails, and why (0.27.0, each is the runtime's):

- Operands that only the running model knows: where its reader says so they opt out, where it falls over they do not
  ("Node cannot handle ShapeExpr inputs", "Reshape requires the input new shape to be Shape", "must be a constant").
- Attributes with a default in the text are asked for ("'num_heads'"); a Constant has a value ("no value in Constant").
- NaN, infinities and what overflows become other numbers in float8; Cast of float4e2m1 and of 4-bit integers fails.
- LayerNormalization gives scalars for its second and third outputs, NonMaxSuppression as many rows as it may.
- ReduceSum over nothing gives what lay in memory; over float4e2m1 it ends in a SIGSEGV.
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

from backends import cache, protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoTypeError(Exception):
    """The reader or the Python interface has no way to pass a value of this type."""


CONSTANT = "no operand that is known at run time only"

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
given = machine["main"](*(tvm.runtime.tensor(array) for array in inputs.values()))
values = [given] if len(model.graph.output) == 1 else list(given)
outputs = [value.numpy() if hasattr(value, "numpy") else numpy.array(list(value)) for value in values]
"""

DEVICE = tvm.cpu()

TARGET = "llvm"
"""For a generic processor of this kind."""

LINKER = cc.get_cc() or ""
"""The C compiler that makes a library of a program; without one no program is kept."""


def info() -> dict[str, Any]:
    """Return what the hello message says of this runtime."""
    return {
        "runtime": "apache-tvm",
        "version": tvm.__version__,
        "repro": REPRO,
        "types": [row.name for row in protocol.ELEMENT_TYPES if _held(row.number)],
        "containers": [],
    }


def _held(number: int) -> bool:
    """Tell whether a tensor of an element type can be made and read; of 8 elements no size fits by chance."""
    try:
        array = np.zeros(8, protocol.numpy_dtype(number))
        return bool(tvm.runtime.tensor(array).numpy().dtype == array.dtype)
    except Exception:  # noqa: BLE001 - whatever it raises, it has none
        return False


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    proto = onnx.load_from_string(model)
    fixed = {tensor.name for tensor in proto.graph.initializer}
    fed = [_to_tvm(inputs[value.name]) for value in proto.graph.input if value.name not in fixed]
    machine = relax.VirtualMachine(_program(model, proto), DEVICE)
    given = machine["main"](*fed)
    names = [value.name for value in proto.graph.output]
    values = [given] if len(names) == 1 else list(given)
    answers = dict(zip(names, map(_from_tvm, values), strict=True))
    return [answers[name] for name in outputs]


def _program(model: bytes, proto: onnx.ModelProto) -> Any:  # noqa: ANN401 - a module or an executable of the runtime's
    """Return what TVM makes of a model, or made of it before."""
    entry = cache.name(model, "tvm", tvm.__version__, onnx.__version__, TARGET, LINKER, cache.machine())
    library = cache.get(entry)
    if library is not None:
        return _loaded(library)
    executable = tvm.compile(from_onnx(proto, keep_params_in_input=False), target=TARGET)
    if LINKER and cache.folder():
        cache.put(entry, _linked(executable))
    return executable


def _linked(executable: Any) -> bytes:  # noqa: ANN401
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.so")
        executable.export_library(str(path))
        return path.read_bytes()


def _loaded(library: bytes) -> Any:  # noqa: ANN401
    with tempfile.TemporaryDirectory() as folder:  # Another name each time: a loader takes equal names for one library.
        path = Path(folder, "program.so")
        path.write_bytes(library)
        return tvm.runtime.load_module(str(path))


def _to_tvm(value: Any) -> Any:  # noqa: ANN401 - any value
    if not isinstance(value, np.ndarray):
        what = "an optional that holds nothing" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"no tensor can be made of {what}")
    row = protocol.element_type(value.dtype)
    try:
        return tvm.runtime.tensor(value)
    except Exception as error:
        raise NoTypeError(f"no tensor can be made of {row.name}") from error


def _from_tvm(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, tvm.runtime.Tensor):
        return value.numpy()
    if isinstance(value, tvm.runtime.ShapeTuple):
        return np.array(list(value), np.int64)
    if value is None or isinstance(value, bool | int | float):
        return value if value is None else np.asarray(value)
    return [_from_tvm(item) for item in value]
