# SPDX-License-Identifier: Apache-2.0
"""torch.onnx.export of PyTorch, with the exporter based on torch.export (dynamo=True).

The programs are the sample inputs that PyTorch has for the tests of each of its operators (OpInfo): NAME/N/TYPE is
sample N of an operator for an element type.
"""

from __future__ import annotations

import functools
import itertools
import logging
import os
import re
import warnings
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import torch
from torch.onnx._internal.exporter import _registration
from torch.testing._internal import common_methods_invocations
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import onnx

TYPES = ("float32", "float16", "int64", "bool")
"""The element types of the programs."""
WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
"""By element type, the one of the run in double precision."""
MOST_SAMPLES = 24
"""The samples of an operator and element type that are programs: some operators have thousands that differ little."""
NOT_DEFINED = ("empty", "new_empty")
"""The beginnings of the names of operators whose results are memory that was never written."""
SEED = 0

OPT_OUTS = (
    ("NotAProgramError", r"", "the framework does not run the program in the same way each time"),
    ("TorchExportError", r"", "torch.export does not support the program"),
    ("ConversionError", r"DispatchError|No ONNX function found", "no ONNX function of the operator"),
)


class NotAProgramError(Exception):
    """The framework raises an error for a sample, or its results differ from run to run."""


class Program(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """A call of an operator as a module, whose inputs are the tensors among the arguments."""

    def __init__(self, function: Callable[..., Any], leaves: Sequence[Any], spec: Any) -> None:  # noqa: ANN401 - torch's
        """Take the operator, and its arguments as torch flattens them."""
        super().__init__()
        self.function, self.spec = function, spec
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def forward(self, *tensors: torch.Tensor) -> Any:  # noqa: ANN401 - any result
        """Return the result of the operator."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return self.function(*args, **kwargs)


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    import onnx  # noqa: PLC0415 - torch imports it only to export
    from torch.onnx import _constants  # noqa: PLC0415 - as above

    opset = int(_constants.ONNX_DEFAULT_OPSET)
    return {"runtime": "torch.onnx", "version": torch.__version__, "onnx": onnx.__version__, "opset": opset}


@functools.cache
def _operators() -> dict[str, Any]:
    """Return the operators by name, whose results are defined."""
    listed = common_methods_invocations.op_db
    return {op.full_name: op for op in listed if not op.full_name.startswith(NOT_DEFINED)}


@functools.lru_cache(maxsize=1)
def _samples(name: str, type_: str) -> list[Any]:
    """Return the samples of an operator for an element type; empty if it does not support the type."""
    op, dtype = _operators()[name], getattr(torch, type_)
    if dtype not in op.supported_dtypes("cpu"):
        return []
    torch.manual_seed(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), MOST_SAMPLES))


def programs(globs: Sequence[str]) -> list[str]:
    """Return the names of the programs of all operators that globs may match."""
    return [
        f"{name}/{place}/{type_}"
        for name in _operators()
        if not globs or any(_may_match(name, glob) for glob in globs)
        for type_ in TYPES
        for place, sample in enumerate(_samples(name, type_))
        if _tensors(sample)
    ]


def _may_match(name: str, glob: str) -> bool:
    """Return whether a glob may match a program of an operator: their beginnings up to a wildcard are equal."""
    literal = re.split(r"[*?\[/]", glob, maxsplit=1)[0]
    return name.startswith(literal)


def _flattened(sample: Any) -> tuple[list[Any], Any]:  # noqa: ANN401 - torch's
    leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    return leaves, spec


def _tensors(sample: Any) -> list[torch.Tensor]:  # noqa: ANN401 - as above
    return [leaf for leaf in _flattened(sample)[0] if isinstance(leaf, torch.Tensor)]


def produce(program: str, opset: int, dynamic: bool) -> dict[str, Any]:  # noqa: FBT001 - of every producer
    """Return a program as a model, and its results in PyTorch."""
    name, place, type_ = program.split("/")
    sample = _samples(name, type_)[int(place)]
    leaves, spec = _flattened(sample)
    if any(leaf.layout is not torch.strided for leaf in leaves if isinstance(leaf, torch.Tensor)):
        raise NotAProgramError("ONNX has no inputs of this sparse layout")
    module = Program(_operators()[name].op, leaves, spec).eval()
    tensors = [leaf.detach().contiguous() for leaf in leaves if isinstance(leaf, torch.Tensor)]
    first = _results(module, tensors)
    model = _exported(module, tensors, opset, dynamic=dynamic)
    names = [item.name for item in model.graph.input]
    runs = [_run(module, leaves, spec, names, tensors, first)]
    if dynamic and (resized := _resized(model, tensors)) is not None:
        try:
            second = _results(module, resized)
        except NotAProgramError:  # The program does not run with these sizes.
            second = None
        if second is not None and len(second) == len(first):  # The number of outputs of a model is fixed.
            runs.append(_run(module, leaves, spec, names, resized, second))
    return {"model": model.SerializeToString(), "runs": runs}


def _results(module: Program, tensors: Sequence[torch.Tensor]) -> list[Any]:
    """Return the results of a program, each a value of the wire format.

    Raises:
        NotAProgramError: it raises an error, or its results differ from run to run.
    """
    found = []
    try:
        for seed in (SEED, SEED + 1):
            torch.manual_seed(seed)
            with torch.no_grad():
                results = module(*(tensor.clone() for tensor in tensors))
            found.append([_value(leaf) for leaf in pytree.tree_leaves(results) if leaf is not None])
    except Exception as error:  # noqa: BLE001 - an operator may raise any
        raise NotAProgramError(f"{type(error).__name__}: {error}") from None
    if not all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(*found, strict=True)):
        raise NotAProgramError("its results are random")
    return found[0]


def _value(leaf: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - a tensor, or a number of Python
    if not isinstance(leaf, torch.Tensor):
        return np.asarray(leaf)
    tensor = leaf.detach().resolve_conj().resolve_neg().contiguous()
    if tensor.is_complex():  # The exporter represents a complex number by two real ones, along one more axis.
        tensor = torch.view_as_real(tensor)
    if tensor.dtype is torch.bfloat16:
        return np.asarray(tensor.view(torch.int16).numpy()).view(ml_dtypes.bfloat16)
    return np.ascontiguousarray(tensor.numpy()).reshape(tuple(tensor.shape))


def _exported(module: Program, tensors: Sequence[torch.Tensor], opset: int, *, dynamic: bool) -> onnx.ModelProto:
    """Return the model of a program."""
    shapes = {"tensors": tuple(map(_open_axes, tensors))}
    logging.disable(logging.WARNING)  # It warns for each program that torchvision is not installed.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            done = torch.onnx.export(
                module,
                tuple(tensors),
                dynamo=True,
                opset_version=opset,
                dynamic_shapes=shapes if dynamic else None,
                verbose=False,
            )
        except torch.onnx.OnnxExporterError as error:  # The cause is behind 20 lines of advice.
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            if cause is error:
                raise
            raise type(error)(f"{type(cause).__name__}: {cause}") from None
    made: onnx.ModelProto = done.model_proto
    return made


def _open_axes(tensor: torch.Tensor) -> dict[int, Any]:
    """Return the axes whose sizes stay open: not those of sizes 0 and 1, which are special, as in broadcasting."""
    return {axis: torch.export.Dim.AUTO for axis, size in enumerate(tensor.shape) if size > 1}


def _run(
    module: Program,
    leaves: Sequence[Any],
    spec: Any,  # noqa: ANN401 - torch's
    names: Sequence[str],
    tensors: Sequence[torch.Tensor],
    results: Sequence[Any],
) -> dict[str, Any]:
    """Return one run of a program. A model lacks the inputs that its result does not depend on."""
    inputs = {name: _value(tensors[place]) for name in names if (place := _place(name)) is not None}
    return {"inputs": inputs, "outputs": list(results), "reference": _reference(module, leaves, spec, tensors)}


def _reference(
    module: Program,
    leaves: Sequence[Any],
    spec: Any,  # noqa: ANN401 - torch's
    tensors: Sequence[torch.Tensor],
) -> list[Any] | None:
    """Return the results of a program in double precision; None if it has none that are more precise."""
    types = {tensor.dtype for tensor in tensors}
    if not types & WIDER.keys():
        return None
    wide = Program(module.function, [_widened(leaf) for leaf in leaves], spec).eval()
    try:
        return _results(wide, [tensor.to(WIDER.get(tensor.dtype, tensor.dtype)) for tensor in tensors])
    except NotAProgramError:
        return None


def _widened(leaf: Any) -> Any:  # noqa: ANN401 - any argument
    return WIDER.get(leaf, leaf) if isinstance(leaf, torch.dtype) else leaf


def _place(name: str) -> int | None:
    """Return the place of the tensor that an input of a model is; the exporter names it by the argument of forward.

    It appends a word to the name if an output has the same name, because the program returns its input.
    """
    found = re.fullmatch(r"tensors_(\d+)(?:_orig)?", name)
    return int(found[1]) if found else None


def _resized(model: onnx.ModelProto, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
    """Return inputs of other sizes along the axes that a model leaves open; None if it leaves none open.

    The last elements are repeated. Integers are increased by one, because indices often have to differ.
    """
    found, changed = [], False
    dims = {_place(item.name): item.type.tensor_type.shape.dim for item in model.graph.input}
    for place, tensor in enumerate(tensors):
        for axis, dim in enumerate(dims.get(place, ())):
            if dim.dim_param.isidentifier() and tensor.ndim > axis and tensor.shape[axis]:
                last = tensor.narrow(axis, tensor.shape[axis] - 1, 1)
                more = last if tensor.dtype.is_floating_point or tensor.dtype is torch.bool else last + 1
                tensor, changed = torch.cat([tensor, more], axis), True  # noqa: PLW2901 - one axis after the other
        found.append(tensor.contiguous())
    return found if changed else None


@functools.cache
def _registry(**options: Any) -> Any:  # noqa: ANN401 - torch's
    return _FROM_TORCHLIB(**options)


# Every export reads the same functions of onnxscript, which takes three quarters of its time, and does not change them.
_FROM_TORCHLIB = _registration.ONNXRegistry.from_torchlib
_registration.ONNXRegistry.from_torchlib = staticmethod(_registry)
torch.set_num_threads(int(os.environ.get("ONNX_CONFORMANCE_THREADS", "1")))
