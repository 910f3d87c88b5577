# SPDX-License-Identifier: Apache-2.0
"""IREE, compiled by llvm-cpu for a generic CPU of this architecture, run on its local-sync device, which is one thread.

A model is read as `iree-import-onnx` reads it: onnx's checker, onnx's shape inference, IREE's importer. Doubles stay
doubles (`--iree-input-demote-f64-to-f32=false`): the compiler would convert them to floats, also in the inputs and
outputs of the model.

Compiled programs are cached from one run to the next (cache.py). iree-compile is a separate process, for about a
second: one that a signal ends, ends this process by the same signal here, so that the case is reported as a
crash.

IREE's integers have no sign, so integer outputs are read with the signedness that the graph declares. Tensors are
passed as bytes with IREE's element types, because its Python interface supports only some of them.

An operation without a kernel "failed to legalize": this message is an opt-out.

Failures and their causes (3.13.0, each is the runtime's):

- The importer takes a tensor of unknown rank for a scalar ("'tensor.cast' op operand type ... are cast incompatible").
- Types below a byte need an even number of elements ("does not have integral number of total bytes").
- Shapes of symbols in Reshape ("expected collapsed rank to equal the number of reassociation maps").
- The compiler ends by SIGSEGV on Reshape to a rank that it cannot see, and on rotary embeddings that are written out;
  by SIGFPE on Reshape with `allowzero`.
- Split's attribute `split` is not heeded (Split-2 and Split-11), so that parts lie beyond the tensor: other memory's
  values, or "attempted to access an address outside of the valid buffer range".
- onnx's own shape inference, which it calls first, aborts on a Split of more outputs than `num_outputs` (SIGABRT).
- GridSample takes other neighbours; Add of 5x1 and 6 in shapes of symbols returns another shape.
"""

from __future__ import annotations

import functools
import os
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from iree import runtime
from iree.compiler import ir
from iree.compiler.extras import onnx_importer
from iree.compiler.tools import CompilerToolError, binaries, compile_str
from iree.runtime.array_interop import map_dtype_to_hal_element_type

from onnx_conformance.backends import cache, child, protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from subprocess import CompletedProcess


class NoTypeError(Exception):
    """The runtime has no way to pass a value of this type."""


OPT_OUTS = (
    ("ValidationError", r"^No Op registered for ", "no such operator"),
    # "The operator is not implemented, or the implementation is missing a case": iree.dev/guides/ml-frameworks/onnx.
    ("CompilerToolError", r"error: failed to legalize (unresolved )?operation '", "no kernel"),
    # The model imports only ai.onnx.ml. IREE has no kernel of that domain: if the model also imports ONNX's own domain,
    # IREE "failed to legalize" the operator.
    ("CompilerToolError", r"error: function is missing onnx opset version attribute\b", "no kernel"),
    ("CompilerToolError", r"error: unhandled torch type: '!torch\.(list|optional)<", "no sequences and optionals"),
    ("OnnxImportError", r"^Unknown ONNX tensor element type: \d+$", "no such element type"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
from iree import runtime
from iree.compiler import ir
from iree.compiler.extras import onnx_importer
from iree.compiler.tools import compile_str

graph = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
module = graph.create_module(context=ir.Context()).operation
onnx_importer.NodeImporter.define_function(graph.main_graph, module).import_all()
compiled = compile_str(
    module.get_asm(),
    target_backends=["llvm-cpu"],
    input_type="onnx",
    extra_args=["--iree-input-demote-f64-to-f32=false"],
)
loaded = runtime.load_vm_flatbuffer(compiled, driver="local-sync")
returned = loaded[model.graph.name](*inputs.values())
values = returned if isinstance(returned, tuple) else (returned,)
types = [onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in model.graph.output]
outputs = [value.to_host().view(dtype) for value, dtype in zip(values, types)]  # IREE's integers have no sign
"""

OPTIONS = (
    "--iree-input-demote-f64-to-f32=false",
    "--iree-llvmcpu-target-cpu=generic",  # also its default, but then with a warning
    "--mlir-disable-threading",
)
"""Arguments of iree-compile."""

HALF_BYTES = {"int4": runtime.HalElementType.INT_4, "uint4": runtime.HalElementType.INT_4}
"""Element types that are packed in IREE as they are in TensorProto.raw_data, and that its interface does not know."""

FOUR_BITS = {int(getattr(runtime.HalElementType, name)) for name in ("INT_4", "SINT_4", "UINT_4")}

CONFIG = runtime.Config("local-sync")
HAL = runtime.create_hal_module(CONFIG.vm_instance, CONFIG.device)


def watched(words: Sequence[str], **options: Any) -> CompletedProcess[bytes]:  # noqa: ANN401 - as subprocess.run()
    """Run iree-compile; its messages lose the folder of the program, which differs between environments.

    Raises:
        KilledError: a signal ended it.
    """
    done = child.run(words, **options)
    folder = f"{Path(words[0]).parent}{os.sep}"
    done.args = [word.replace(folder, "") for word in words]
    return done


binaries.subprocess = SimpleNamespace(run=watched)


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "iree-base-compiler",
        "version": metadata.version("iree-base-compiler"),
        "repro": REPRO,
        "types": [row.name for row in protocol.ELEMENT_TYPES if _hal_type(row) is not None],
        "containers": [],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    proto = onnx.load_from_string(model)
    fixed = {tensor.name for tensor in proto.graph.initializer}
    fed = [_to_iree(inputs[value.name]) for value in proto.graph.input if value.name not in fixed]
    try:
        program = cache.compiled(lambda: compiled(proto), model, *_cache_key())
    except child.KilledError as error:
        raise child.end_by(error.number) from None
    answers = dict(zip((value.name for value in proto.graph.output), _called(program, proto, fed), strict=True))
    return [answers[name] for name in outputs]


@functools.cache
def _cache_key() -> tuple[str, ...]:
    """Return the dependencies of a program except the model; onnx is one of them, because it infers the shapes."""
    return ("iree", metadata.version("iree-base-compiler"), onnx.__version__, *OPTIONS, cache.machine())


def compiled(proto: onnx.ModelProto) -> bytes:
    """Compile a model; return the program."""
    onnx.checker.check_model(proto)
    graph = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(proto, data_prop=True))
    module = graph.create_module(context=ir.Context()).operation
    onnx_importer.NodeImporter.define_function(graph.main_graph, module).import_all()
    module.verify()
    text = module.get_asm(assume_verified=True)
    try:
        program: bytes = compile_str(text, target_backends=["llvm-cpu"], input_type="onnx", extra_args=OPTIONS)
    except CompilerToolError as error:
        error.args = (errors(str(error)),)
        raise
    return program


def errors(text: str) -> str:
    """Return the errors in a message of iree-compile; the whole message if it has none.

    It also contains the operation at every error, the command line, and how to save the files of the compiler.
    """
    found = [line.strip() for line in text.splitlines() if "error: " in line]
    return "\n".join(found) or text


def _called(program: bytes, proto: onnx.ModelProto, fed: list[Any]) -> list[Any]:
    """Run a program; return the values of its outputs."""
    module = runtime.VmModule.copy_buffer(CONFIG.vm_instance, program)
    context = runtime.VmContext(CONFIG.vm_instance, modules=[HAL, module])
    arguments, results = runtime.VmVariantList(len(fed)), runtime.VmVariantList(len(proto.graph.output))
    for view in fed:
        arguments.push_ref(view)
    context.invoke(module.lookup_function(proto.graph.name), arguments, results)
    views = [results.get_as_object(place, runtime.HalBufferView) for place in range(len(results))]
    types = [value.type.tensor_type.elem_type for value in proto.graph.output]
    return [_from_iree(view, number) for view, number in zip(views, types, strict=True)]


def _hal_type(row: protocol.ElementType) -> Any:  # noqa: ANN401 - a number of the runtime's
    """Return IREE's element type for one of ONNX that its importer knows, or None."""
    if row.number not in onnx_importer.ELEM_TYPE_TO_IR_TYPE_CB:
        return None
    return HALF_BYTES.get(row.name) or map_dtype_to_hal_element_type(protocol.numpy_dtype(row.number))


def _to_iree(value: Any) -> Any:  # noqa: ANN401 - any value
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"cannot create a buffer from {what}")
    row = protocol.element_type(value.dtype)
    number = _hal_type(row)
    if number is None:
        raise NoTypeError(f"cannot create a buffer from {row.name}")
    buffer = CONFIG.device.allocator.allocate_buffer_copy(
        memory_type=runtime.MemoryType.DEVICE_LOCAL,
        allowed_usage=runtime.BufferUsage.DEFAULT,
        device=CONFIG.device,
        buffer=np.array(bytearray(protocol.pack(value)), np.uint8),
    )
    return runtime.HalBufferView(buffer, value.shape, int(number))


def _from_iree(view: Any, declared: int) -> np.ndarray[Any, Any]:  # noqa: ANN401
    """Return an output as an array of its element type, integers with the declared sign."""
    shape = tuple(view.shape)
    data = view.map().asarray((view.byte_length,), np.dtype(np.uint8)).tobytes()
    if view.element_type in FOUR_BITS:
        sign = declared if declared in _NARROW else _INT4
        return protocol.unpack(data, sign, shape)
    dtype = runtime.HalElementType.map_to_dtype(view.element_type)
    declared_dtype = protocol.numpy_dtype(declared)
    if dtype.kind in "iu" and declared_dtype.kind in "iu" and dtype.itemsize == declared_dtype.itemsize:
        dtype = declared_dtype
    return np.frombuffer(data, dtype).reshape(shape).copy()


_NARROW = {protocol.element_type_named(name).number for name in HALF_BYTES}
_INT4 = protocol.element_type_named("int4").number
