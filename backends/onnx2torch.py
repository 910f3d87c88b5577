# SPDX-License-Identifier: Apache-2.0
"""onnx2torch, which converts a graph to a PyTorch module, on the CPU, one thread.

`NAME==VERSION` and the name alone make an environment with PyPI's torch, which brings several GB of CUDA on Linux.
`--no-verify-hashes` takes the torch and torchvision of the package index that uv is configured for, which may be builds
without CUDA. Otherwise, an environment without CUDA is made in one of two ways, and named with `--python`:

    python -m venv here
    here/bin/pip install torch==2.13.0 torchvision==0.28.0 --index-url https://download.pytorch.org/whl/cpu
    here/bin/pip install onnx2torch==1.5.15 onnx==1.23.2 ml_dtypes
    onnx-conformance run --backend onnx2torch --python here/bin/python

or without torchvision, `pip install --no-deps onnx2torch==1.5.15`: only NonMaxSuppression and RoiAlign call it, and
where it is missing a stub of this file lets onnx2torch be imported, and those two opt out.

A converted module is in training mode, so that it is put into `eval()`. It returns the outputs of a node together;
they are identified here by their place among the node's outputs, and returned unchanged where the numbers differ.

Failures and their causes (each is the runtime's):

- LayerNormalization returns one of its three outputs; Split by size returns the parts that fit, not the declared ones.
- ReduceSum and CumSum widen integers as PyTorch's do; CumSum starts at the end; Pow of an integer to a float is a
  float; NonZero is transposed; GatherElements takes no index from the back.
- bfloat16 initializers are refused: it reads them through numpy, which PyTorch takes no such array from.
- onnx's own shape inference, which it calls first, aborts on a Split of more outputs than `num_outputs` (SIGABRT).
"""

from __future__ import annotations

import importlib.util
import sys
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import onnx
import torch

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoTorchvisionError(Exception):
    """torchvision, which the operator needs, is not installed."""


class NoTypeError(Exception):
    """PyTorch has no tensors of this type."""


def stub() -> tuple[ModuleType, ModuleType]:
    """Return a stub of torchvision: it can be imported, but not called."""

    def missing(*_: object, **__: object) -> NoReturn:
        raise NoTorchvisionError("torchvision is not installed")

    package, ops = ModuleType("torchvision"), ModuleType("torchvision.ops")
    for name in ("box_convert", "nms", "roi_align"):
        setattr(ops, name, missing)
    package.ops = ops  # type: ignore[attr-defined]
    return package, ops


if importlib.util.find_spec("torchvision") is None:
    sys.modules["torchvision"], sys.modules["torchvision.ops"] = stub()

import onnx2torch  # noqa: E402 - after torchvision can be imported

FORK = True

OPT_OUTS = (
    ("NotImplementedError", r"^Converter is not implemented \(OperationDescription", "no such operator version"),
    ("NotImplementedError", r"^Onnx IR is too old", "older IR version than it knows"),
    ("NotImplementedError", r"(is|are) not (implemented|supported)|not supported yet|is supported\.$", "no kernel"),
    ("NotImplementedError", r"Pytorch's interpolate cannot", "no kernel"),
    ("NotImplementedError", r'^".*" not implemented for ', "no kernel"),
    ("RuntimeError", r'^"\w+" not implemented for ', "no kernel"),
    ("ValueError", r"^dtype=\d+ is not supported$", "no such element type"),
    ("NoTorchvisionError", r"", "torchvision is missing"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import onnx2torch
import torch

module = onnx2torch.convert(model).eval()
with torch.no_grad():
    returned = module(*(torch.from_numpy(array) for array in inputs.values()))
outputs = [tensor.numpy() for tensor in (returned if isinstance(returned, (list, tuple)) else [returned])]
"""

REPRO_BITS = """\
import ml_dtypes
import numpy
import onnx2torch
import torch


def to_torch(array):
    if hasattr(numpy, array.dtype.name):
        return torch.from_numpy(array)
    bits = numpy.ascontiguousarray(array).view(f"uint{8 * array.itemsize}")
    return torch.from_numpy(bits).view(getattr(torch, array.dtype.name))


def from_torch(tensor):
    name = str(tensor.dtype).removeprefix("torch.")
    if hasattr(numpy, name):
        return tensor.numpy()
    bits = tensor.contiguous().view(getattr(torch, f"uint{8 * tensor.itemsize}"))
    return bits.numpy().view(getattr(ml_dtypes, name))


module = onnx2torch.convert(model).eval()
with torch.no_grad():
    returned = module(*(to_torch(array) for array in inputs.values()))
outputs = [from_torch(tensor) for tensor in (returned if isinstance(returned, (list, tuple)) else [returned])]
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


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnx2torch",
        "version": metadata.version("onnx2torch"),
        "repro": REPRO,
        "repro_wide": REPRO_BITS,
        "types": [row.name for row in protocol.ELEMENT_TYPES if row.name in NATIVE or row.name in VIEWED],
        "containers": ["optional"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    proto = onnx.load_from_string(model)
    fed = [_to_torch(inputs[value.name]) for value in proto.graph.input if value.name in inputs]
    module = onnx2torch.convert(proto).eval()
    with torch.no_grad():
        returned = module(*fed)
    return [_from_torch(value) for value in arranged(returned, proto.graph, outputs)]


def arranged(returned: Any, graph: onnx.GraphProto, outputs: Sequence[str]) -> list[Any]:  # noqa: ANN401 - any value
    """Return the values of `outputs` from those of a module: a value for each node that computes a graph output.

    The value of a node with several outputs is a tuple of all of them. If it is not, or has another length, all
    values are returned, for they cannot be identified.
    """
    makers = {name: index for index, node in enumerate(graph.node) for name in node.output if name}
    nodes = list(dict.fromkeys(makers[value.name] for value in graph.output))
    values = dict(zip(nodes, returned if len(nodes) > 1 else [returned], strict=True))
    for index, value in values.items():
        names = graph.node[index].output
        if isinstance(value, list | tuple) is (len(names) == 1) or (len(names) > 1 and len(value) != len(names)):
            return flat(returned)
    return [
        values[node][list(graph.node[node].output).index(name)] if len(graph.node[node].output) > 1 else values[node]
        for name in outputs
        for node in (makers[name],)
    ]


def flat(value: Any) -> list[Any]:  # noqa: ANN401
    """Return the tensors of a tuple of tuples."""
    return [inner for item in value for inner in flat(item)] if isinstance(value, list | tuple) else [value]


def _to_torch(value: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, np.ndarray):
        raise NoTypeError(f"a converted module takes tensors, not a {type(value).__name__}")
    row = protocol.element_type(value.dtype)
    if row.name in NATIVE:
        return torch.from_numpy(value)
    if row.name in VIEWED:
        return torch.from_numpy(value.view(BITS[row.bits][0])).view(VIEWED[row.name])
    raise NoTypeError(f"PyTorch has no tensors of {row.name}")


def _from_torch(value: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, torch.Tensor):
        return value if value is None else np.asarray(value)
    for name, dtype in VIEWED.items():
        if value.dtype == dtype:
            row = protocol.element_type_named(name)
            bits = value.contiguous().view(BITS[row.bits][1]).numpy()
            return bits.view(protocol.numpy_dtype(row.number))
    return value.resolve_conj().resolve_neg().numpy()
