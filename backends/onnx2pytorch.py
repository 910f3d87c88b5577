# SPDX-License-Identifier: Apache-2.0
"""onnx2pytorch, which converts a graph to a PyTorch module, on the CPU, one thread.

`NAME==VERSION` and the name alone make an environment with PyPI's torch, which brings several GB of CUDA on Linux. An
environment without CUDA is named with `--python`:

    python -m venv here
    here/bin/pip install torch==2.13.0 torchvision==0.28.0 --index-url https://download.pytorch.org/whl/cpu
    here/bin/pip install onnx2pytorch==0.6.0 onnx==1.23.2 ml_dtypes
    onnx-conformance run --backend onnx2pytorch --python here/bin/python

A converted module is put into `eval()`, as PyTorch requires for inference. Its inputs are the graph inputs without an
initializer, in their order. It returns the value of a single output, or a list of all outputs. A tensor of strings is
an array of numpy, and a sequence is a list.

Limits that it documents, and how this adapter treats them:

- "Operators and attributes that cannot be expressed in PyTorch raise rather than returning a wrong tensor"
  (https://github.com/Talmaj/onnx2pytorch#operator-coverage). These errors opt out.
- Operators outside ai.onnx are "out of scope"
  (https://github.com/Talmaj/onnx2pytorch/blob/master/ONNX_OPERATOR_CHECKLIST.md). The error for a model that does not
  import ai.onnx opts out.
- "BatchNorm layers use inference mode" (https://github.com/Talmaj/onnx2pytorch#limitations).

Failures and their causes (0.6.0):

- Conv, ConvTranspose and Gemm read their weights from initializers only. For weights that are inputs or values of other
  nodes, the conversion raises "'kernel_size'" or "Unexpected number of parameters: 0".
- QuantizeLinear rounds to an integer also where the output is a float8, which has fractions.
- ReduceLogSum, ReduceLogSumExp, Erf and Shrink return floats for integers, as PyTorch's functions do.
- Range without elements, and ReduceMax and ReduceMin of no elements, raise the error of PyTorch's function.
- Comparisons and logical operators before opset 7 ignore the attribute `axis`.
- An operator without a converter becomes PyTorch's function of its name, such as `torch.gradient` for Gradient.
"""

from __future__ import annotations

import functools
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx2pytorch
import torch

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORK = True

OPT_OUTS = (
    ("NotImplementedError", r"^Conversion not implemented for op_type=", "no such operator"),
    ("NotImplementedError", r"[Nn]ot (yet )?implemented|not supported in|^Pytorch's interpolate |^$", "no kernel"),
    ("NotImplementedError", r"^Input Error: Only .* supported|^Padding size \d+ is not supported", "no kernel"),
    (
        "NotImplementedError",
        r"has to be a constant\.$|^(LSTM|GRU|RNN) |^BatchNormalization with spatial=0",
        "no kernel",
    ),
    ("ValueError", r"^Model does not import the default ONNX domain\. Imported domains: '", "no such operator domain"),
    ("ValueError", r" is not supported in pytorch\.$", "no such element type"),
    ("RuntimeError", r'^".*" not implemented for |^Promotion for \w+.* is not supported', "no kernel"),
    ("RuntimeError", r"Unsupported image file\. Only ", "no such image format"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import onnx2pytorch
import torch


def to_torch(value):
    if isinstance(value, list):
        return [to_torch(item) for item in value]
    return value if value is None or value.dtype == object else torch.from_numpy(value)


def from_torch(value):
    if isinstance(value, (list, tuple)):
        return [from_torch(item) for item in value]
    return value.numpy() if isinstance(value, torch.Tensor) else value


module = onnx2pytorch.ConvertModel(model).eval()
with torch.no_grad():
    returned = module(*(to_torch(value) for value in inputs.values()))
outputs = [from_torch(value) for value in (returned if len(model.graph.output) > 1 else [returned])]
"""

REPRO_BITS = """\
import ml_dtypes
import numpy
import onnx2pytorch
import torch


def to_torch(value):
    if isinstance(value, list):
        return [to_torch(item) for item in value]
    if value is None or value.dtype == object:
        return value
    if hasattr(numpy, value.dtype.name):
        return torch.from_numpy(value)
    bits = numpy.ascontiguousarray(value).view(f"uint{8 * value.itemsize}")
    return torch.from_numpy(bits).view(getattr(torch, value.dtype.name))


def from_torch(value):
    if isinstance(value, (list, tuple)):
        return [from_torch(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    name = str(value.dtype).removeprefix("torch.")
    if hasattr(numpy, name):
        return value.numpy()
    bits = value.contiguous().view(getattr(torch, f"uint{8 * value.itemsize}"))
    return bits.numpy().view(getattr(ml_dtypes, name))


module = onnx2pytorch.ConvertModel(model).eval()
with torch.no_grad():
    returned = module(*(to_torch(value) for value in inputs.values()))
outputs = [from_torch(value) for value in (returned if len(model.graph.output) > 1 else [returned])]
"""

torch.set_num_threads(1)
torch.set_num_interop_threads(1)

BITS = {8: (np.uint8, torch.uint8), 16: (np.uint16, torch.uint16)}
"""Types as which a tensor that numpy lacks passes through numpy, by the bits of one element."""

NATIVE = tuple(row.name for row in protocol.ELEMENT_TYPES if row.number != protocol.STRING and hasattr(np, row.dtype))
VIEWED = {
    row.name: dtype
    for row in protocol.ELEMENT_TYPES
    if row.name not in NATIVE and row.bits in BITS and isinstance(dtype := getattr(torch, row.dtype, None), torch.dtype)
}
"""PyTorch's types that numpy lacks."""


class NoTypeError(Exception):
    """PyTorch has no tensors of this type."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    types = [row.name for row in protocol.ELEMENT_TYPES if row.name in NATIVE or row.name in VIEWED]
    return {
        "runtime": "onnx2pytorch",
        "version": metadata.version("onnx2pytorch"),
        "repro": REPRO,
        "repro_wide": REPRO_BITS,
        "types": [*types, "string"],
        "containers": ["sequence", "optional"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Convert a model; return a function that runs it."""
    proto = onnx.load_from_string(model) if folder is None else onnx.load(Path(folder, "model.onnx"))
    return functools.partial(_run, onnx2pytorch.ConvertModel(proto).eval())


def _run(module: Any, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:  # noqa: ANN401 - a module
    fed = [_to_torch(inputs[name]) for name in module.input_names if name in inputs]
    with torch.no_grad():
        returned = module(*fed)
    names = module.output_names
    values = dict(zip(names, returned if len(names) > 1 else [returned], strict=True))
    return [_from_torch(values[name]) for name in outputs]


def _to_torch(value: Any) -> Any:  # noqa: ANN401 - any value
    if isinstance(value, list):
        return [_to_torch(item) for item in value]
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        raise NoTypeError(f"a converted module takes tensors and lists, not a {type(value).__name__}")
    row = protocol.element_type(value.dtype)
    if row.number == protocol.STRING:
        return value
    if row.name in NATIVE:
        return torch.from_numpy(value)
    if row.name in VIEWED:
        return torch.from_numpy(value.view(BITS[row.bits][0])).view(VIEWED[row.name])
    raise NoTypeError(f"PyTorch has no tensors of {row.name}")


def _from_torch(value: Any) -> Any:  # noqa: ANN401 - any value
    if isinstance(value, list | tuple):
        return [_from_torch(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value if value is None else np.asarray(value)
    for name, dtype in VIEWED.items():
        if value.dtype == dtype:
            row = protocol.element_type_named(name)
            bits = value.contiguous().view(BITS[row.bits][1]).numpy()
            return bits.view(protocol.numpy_dtype(row.number))
    return value.resolve_conj().resolve_neg().numpy()
