# SPDX-License-Identifier: Apache-2.0
"""tinygrad's ONNX reader on the CPU, one thread.

Its CPU device compiles every kernel with clang. `CC` names the compiler, or `clang` or `clang-14` and the like are
searched on the PATH; where there is none this adapter fails with a message. tinygrad's interpreter of kernels in Python
needs no compiler, but is another program with other answers, so it is used only on request: `DEV=PYTHON` with
`--env DEV`, for adapters inherit only the variables that every runtime needs.

clang 14 has no bfloat16 on x86-64: kernels that keep it in memory opt out there. A newer clang is better.

bfloat16 travels as a bit cast from and to uint16, because numpy has no such type for `Tensor.numpy()`.
An answer that is a Python number, as of Size, becomes a numpy array.

Failures and their causes (each is the runtime's):

- Softmax below opset 13 works along one axis, where the text makes a matrix of the tensor.
- Split-18 returns parts that differ by one at most, where the text makes the last one smaller.
- An input whose type has no shape is taken for a scalar, so that an optional one is refused ("zip() argument 2").
- Elements of a sequence must have one shape.
- If with branches of one shape broadcasts the condition into the answer, whose rank grows with it.
- An attribute that its functions lack is a TypeError ("unexpected keyword argument"), which is no clear opt-out.
- Cast-1, whose `to` is a name, is refused; Range returns float for float16 and bfloat16; Mod by an infinity is
  NaN; Attention, Resize and DynamicQuantizeLinear return other values.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoCompilerError(Exception):
    """There is no clang."""


class NoTypeError(Exception):
    """The Python interface has no way to pass a value of this type."""


def compiler() -> str:
    """Return the path of clang, the newest where several have a number.

    Raises:
        NoCompilerError: there is no compiler.
    """
    compiler = os.environ.get("CC", "clang")
    numbered = [f"clang-{number}" for number in range(30, 10, -1)]
    for name in (compiler, *([] if "CC" in os.environ else numbered)):
        if path := shutil.which(name):
            return path
    raise NoCompilerError(
        f"tinygrad compiles its kernels with clang, and there is no {compiler} on the PATH; install clang, name one "
        "with CC=PATH, or set DEV=PYTHON and pass it on with --env DEV: that interprets them and is slower"
    )


DEVICE = os.environ.setdefault("DEV", "CPU")
if DEVICE == "CPU":
    os.environ["CC"] = compiler()

from tinygrad import Tensor, dtypes  # noqa: E402 - it reads the variables when it is imported
from tinygrad.nn.onnx import OnnxDataType, OnnxRunner  # noqa: E402
from tinygrad.runtime.support import compiler_cpu  # noqa: E402


class KernelError(subprocess.CalledProcessError):
    """clang refused a kernel; the text is from clang, where tinygrad's own error has the command only."""

    def __str__(self) -> str:
        """Return the errors without the lines of C below each."""
        lines = self.stderr.decode("utf-8", "replace").splitlines()
        return "clang refuses a kernel: " + "; ".join(line for line in lines if " error: " in line)


def compiled(words: Sequence[str], **options: Any) -> bytes:  # noqa: ANN401 - as subprocess.check_output()
    """Return the output of a command, as subprocess.check_output() does.

    Raises:
        KernelError: it fails.
    """
    done = subprocess.run(words, capture_output=True, check=False, **options)  # noqa: S603 - tinygrad's own command
    if done.returncode:
        raise KernelError(done.returncode, words, done.stdout, done.stderr)
    return bytes(done.stdout)


compiler_cpu.subprocess = SimpleNamespace(check_output=compiled)

FORK = True

OPT_OUTS = (
    ("NotImplementedError", r"^op='.*' is not supported", "no kernel"),
    ("NotImplementedError", r"is not (implemented|supported)$|not implemented for", "no kernel"),
    ("ValueError", r"^(8|1[4-9]|2\d) is not a valid OnnxDataType$", "no such element type"),
    ("ValueError", r"^(9|1[0-4]) is not a valid AttributeType$", "no such kind of attribute"),
    ("ValueError", r"^'.*' is not a valid Domain$", "no such domain"),
    ("ImportError", r"must be installed", "an optional package is missing"),
    ("KernelError", r"__bf16 is not supported on this target", "this clang has no bfloat16"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import os
from pathlib import Path

os.environ.setdefault("DEV", "CPU")  # compiles with clang, or what CC names

from tinygrad.nn.onnx import OnnxRunner

Path("model.onnx").write_bytes(model.SerializeToString())
answers = OnnxRunner("model.onnx")(inputs)
outputs = [answer.numpy() if hasattr(answer, "numpy") else answer for answer in answers.values()]
"""

REPRO_BITS = """\
import os
from pathlib import Path

import ml_dtypes
import numpy

os.environ.setdefault("DEV", "CPU")  # compiles with clang, or what CC names

from tinygrad import Tensor, dtypes
from tinygrad.nn.onnx import OnnxRunner


def to_tensor(array):
    if array.dtype != ml_dtypes.bfloat16:
        return array
    return Tensor(array.view(numpy.uint16)).bitcast(dtypes.bfloat16)


def from_tensor(tensor):
    if getattr(tensor, "dtype", None) != dtypes.bfloat16:
        return tensor.numpy() if hasattr(tensor, "numpy") else tensor
    return tensor.bitcast(dtypes.uint16).numpy().view(ml_dtypes.bfloat16)


Path("model.onnx").write_bytes(model.SerializeToString())
answers = OnnxRunner("model.onnx")({name: to_tensor(array) for name, array in inputs.items()})
outputs = [from_tensor(answer) for answer in answers.values()]
"""

Tensor.zeros(1).contiguous().realize()  # The device is opened here, so that this takes no time of a case.


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    known = {int(number) for number in OnnxDataType}
    return {
        "runtime": "tinygrad",
        "version": metadata.version("tinygrad"),
        "repro": REPRO,
        "repro_wide": REPRO_BITS,
        "types": [row.name for row in protocol.ELEMENT_TYPES if row.number in known],
        "containers": ["sequence", "optional"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")  # Its reader reads parts of a file when it needs them.
        path.write_bytes(model)
        answers = OnnxRunner(path)({name: _to_tensor(value) for name, value in inputs.items()})
        return [_from_tensor(answers[name]) for name in outputs]


def _to_tensor(value: Any) -> Any:  # noqa: ANN401 - any value
    if isinstance(value, list):
        return [_to_tensor(item) for item in value]
    if isinstance(value, dict):
        raise NoTypeError("its reader has no maps")
    if value is None or protocol.element_type(value.dtype).name != "bfloat16":
        return value
    return Tensor(value.view(np.uint16)).bitcast(dtypes.bfloat16)


def _from_tensor(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list | tuple):
        return [_from_tensor(item) for item in value]
    if isinstance(value, Tensor):
        if value.dtype != dtypes.bfloat16:
            return value.numpy()
        bits = value.bitcast(dtypes.uint16).numpy()
        return bits.view(protocol.numpy_dtype(protocol.element_type_named("bfloat16").number))
    return value if value is None else np.asarray(value)
