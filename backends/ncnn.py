# SPDX-License-Identifier: Apache-2.0
"""ncnn on the CPU, one thread: pnnx converts the model, then a `Net` of ncnn's Python interface runs it.

pnnx is the documented way from ONNX to ncnn
(https://github.com/Tencent/ncnn/blob/master/docs/how-to-use-and-FAQ/use-ncnn-with-pytorch-or-onnx.md). It is a program
that takes about half a second, and its Python package imports torch only to export models of torch. Converted models
are cached from one run to the next (cache.py).

pnnx also writes a script, `model_ncnn.py`, which shows how to call the model
(https://github.com/pnnx/pnnx#----compare-inference-result). This adapter calls it in the same way. It reads from the
script which dimension of an input or output is the batch (`batch_index`; 233 means none).

Options, which are for precision:

- `fp16=0` of pnnx keeps constants in float32.
- `use_fp16_packed`, `use_fp16_storage` and `use_fp16_arithmetic` of the `Net` are off ("disable fp16" in
  https://github.com/Tencent/ncnn/blob/master/docs/how-to-use-and-FAQ/FAQ-ncnn-produce-wrong-result.md).

Limits that ncnn documents, and how this adapter treats them:

- A `Mat` has one to four dimensions (https://github.com/Tencent/ncnn/blob/master/docs/developer-guide/operators.md),
  and one more with a batch. A tensor of rank 0 opts out, and so does one without elements, which is an empty `Mat`. For
  more dimensions, the Python interface raises an error.
- A `Mat` has no element type. The script reads all outputs as float32, so a model with other outputs opts out.
- The script passes an int64 as int32 (https://github.com/Tencent/ncnn/pull/5457); values beyond int32 opt out. Inputs
  of other types than float32, int32 and int64 opt out: no layer in the documentation takes them.
- pnnx makes a model for the shapes of these inputs (`inputshape`). So this adapter runs a model once.

pnnx infers shapes and folds constants with ONNX Runtime. If an output is a folded constant, it is no answer of ncnn,
and opts out. pnnx prints "todo" for operators that it leaves as they are; if ncnn then cannot load the layer, the case
opts out. When ONNX Runtime fails, pnnx prints its message, and then nearly always ends by SIGSEGV. If ONNX Runtime
lacks the IR version, the operator set, the operator or a kernel, according to the message, the case opts out. Otherwise
it is a crash.

Failures and their causes (20261020, shown by scripts without this project):

- pnnx infers shapes by running the model with the number 7 in every integer input. It ends by SIGSEGV if such an input
  has to be an index, an axis or a size: Gather, ScatterND, Slice, Squeeze, Split, ReduceSum and others.
- pnnx removes an Identity or a Constant that is the whole graph, and ends by SIGSEGV.
- Softmax and LogSoftmax below version 13 normalize one axis, not all axes from it on.
- MaxPool with `ceil_mode` has one row and column too many; in windows of padding alone it returns -3.4e38.
- ReduceMin over all axes ignores `keepdims`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ncnn
import numpy as np
import onnx

from onnx_conformance.backends import cache, child, protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FORK = True

LACKS = (
    ("ConversionError", r"Unsupported model IR version: ", "newer IR version than it knows"),
    ("ConversionError", r"Current official support for domain \S+ is till opset ", "newer opset than it knows"),
    (
        "ConversionError",
        r"No Op registered for |is not a registered function/op|Could not find an implementation for ",
        "no such operator",
    ),
)
"""Opt-outs by messages of ONNX Runtime in pnnx, also if pnnx then ends by a signal."""

OPT_OUTS = (
    *LACKS,
    ("ConversionError", r"^[^:]*\bunsupported |\bnot supported\b", "no conversion"),
    ("LoadError", r"^layer \S+ not exists or registered", "no such layer"),
    ("LoadError", r"^layer load_param \d+ \S+ failed\n(.*\n)*todo ", "no conversion"),
    ("RuntimeError", r"^convert numpy\.ndarray to ncnn\.Mat (with batch )?only dims <=", "no tensors of this rank"),
    ("NoTypeError", r"", "no such element type"),
    ("NoMatError", r"", "no tensors of this rank"),
    ("BorrowedError", r"", "takes it from ONNX Runtime"),
)

REPRO = """\
import importlib.util
import os
import pathlib
import re
import subprocess
import tempfile

import ncnn

SUFFIXES = {"float32": "f32", "int32": "i32", "int64": "i64"}
program = pathlib.Path(importlib.util.find_spec("pnnx").origin).parent / "pnnx"
shapes = ",".join(f"{list(array.shape)}{SUFFIXES[array.dtype.name]}".replace(" ", "") for array in inputs.values())
os.chdir(tempfile.mkdtemp())
pathlib.Path("model.onnx").write_bytes(model.SerializeToString())
ended = subprocess.run([program, "model.onnx", "fp16=0", *([f"inputshape={shapes}"] if shapes else [])]).returncode
if ended < 0:
    os.kill(os.getpid(), -ended)  # A crash of pnnx counts as a crash of ncnn.
assert ended == 0, ended
script = pathlib.Path("model_ncnn.py").read_text()
net = ncnn.Net()
net.opt.num_threads = 1
net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
assert net.load_param("model.ncnn.param") == 0 and net.load_model("model.ncnn.bin") == 0
extractor = net.create_extractor()
arrays = [array.astype("int32") if array.dtype == "int64" else array for array in inputs.values()]
for place, batch in re.findall(r"ncnn\\.Mat\\(in(\\d+)\\.numpy\\(\\), batch_index=(\\d+)\\)", script):
    extractor.input(f"in{place}", ncnn.Mat(arrays[int(place)], batch_index=int(batch)).clone())
outputs = []
for place, batch in re.findall(r"\\(out(\\d+)\\.numpy\\(batch_index=(\\d+)\\)\\)", script):
    status, mat = extractor.extract(f"out{place}")
    assert status == 0, status
    outputs.append(mat.numpy(batch_index=int(batch)).copy())
"""

PASSED = {"float": ("f32", np.float32), "int32": ("i32", np.int32), "int64": ("i64", np.int32)}
"""Element types of inputs: each with its name in the words of pnnx, and the type in which the script passes it."""

OPTIONS = ("fp16=0",)
"""Words of pnnx in addition to the model and the shapes."""

FORMAT = "parameters, batches, todo; constants"
"""The content of an entry of the cache."""

NO_BATCH = 233
"""The number that means that no dimension is the batch, in pnnx and in ncnn."""

INPUT = re.compile(r"ncnn\.Mat\((in\d+)\.numpy\(\), batch_index=(\d+)\)")
OUTPUT = re.compile(r"\((out\d+)\.numpy\(batch_index=(\d+)\)\)")
"""Lines of the script that pnnx writes."""

SAYS_WHY = re.compile(r"^(?!ignore )(ort \w+ failed |input_shapes\[|.*(unsupported |not supported|\bfailed\b))")
"""Lines of pnnx about an error. Other lines are about its progress."""

STEP = re.compile(r"^(\w+) \.\.\. ", re.MULTILINE)
ORT_FAILED = re.compile(r"\bort \w+ failed ")
"""A step of pnnx, and an error of the ONNX Runtime in it."""

STAMP = re.compile(r"^\w+ \.\.\. +|\x1b\[[\d;]*m|\d+-\d+-\d+ [\d:.]+ \[[^\]]*\] ")
"""The step, the colour and the time before a message."""


class NoTypeError(Exception):
    """ncnn has no tensors of this type, or none with these values."""


class NoMatError(Exception):
    """No `Mat` has this rank, or no elements."""


class BorrowedError(Exception):
    """An output was computed by ONNX Runtime, in pnnx."""


class ConversionError(Exception):
    """pnnx reported an error, or wrote no model."""


class LoadError(Exception):
    """ncnn could not load the converted model."""


class RunError(Exception):
    """ncnn did not compute an output."""


def program() -> str:
    """Return the path of pnnx. Its package is not imported, because that would import torch."""
    found = importlib.util.find_spec("pnnx")
    if found is None:
        raise ModuleNotFoundError("pnnx converts the models for ncnn, and is not installed: pip install pnnx")
    return str(Path(*list(found.submodule_search_locations or ())[:1], "pnnx"))


PNNX = program()


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "ncnn", "version": version("ncnn"), "repro": REPRO, "types": [*PASSED], "containers": []}


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    graph = onnx.load_from_string(model).graph
    names = [value.name for value in graph.output]
    for value in graph.output:
        _check(value)
    fed = [_passable(value) for value in inputs.values()]
    shapes = ",".join(
        f"[{','.join(map(str, value.shape))}]{PASSED[protocol.element_type(value.dtype).name][0]}"
        for value in inputs.values()
    )
    key = ("ncnn", FORMAT, version("pnnx"), *OPTIONS, shapes, cache.machine())
    try:
        converted = cache.compiled(lambda: _converted(model, shapes), model, *key)
    except child.KilledError as error:
        raise child.end_by(error.number, error.place) from None
    head, _, weights = converted.partition(b"\n")
    parameters, batches, todo = json.loads(head)
    blobs = [f"out{place}" for place in range(len(names))]
    if any(words[0] == "MemoryData" and words[4] in blobs for words in map(str.split, parameters.splitlines()[2:])):
        raise BorrowedError("pnnx computed an output with ONNX Runtime")
    net = _loaded(parameters, weights, todo)
    answers = dict(zip(names, _run(net, batches, fed, len(names)), strict=True))
    return [answers[name] for name in outputs]


def _check(output: onnx.ValueInfoProto) -> None:
    """Check that a `Mat` can be an output, as the graph declares it.

    Raises:
        NoTypeError: it has another type than float32, or is no tensor.
        NoMatError: it has rank 0 or no elements.
    """
    kind = output.type.tensor_type
    if not output.type.HasField("tensor_type"):
        raise NoTypeError(f"ncnn has tensors only: output {output.name}")
    row = next((row for row in protocol.ELEMENT_TYPES if row.number == kind.elem_type), None)
    if row is not None and row.name != "float":
        raise NoTypeError(f"ncnn returns no tensors of {row.name}: output {output.name}")
    if kind.HasField("shape") and not kind.shape.dim:
        raise NoMatError(f"ncnn returns no tensors of rank 0: output {output.name}")
    if any(dim.HasField("dim_value") and not dim.dim_value for dim in kind.shape.dim):
        raise NoMatError(f"no Mat has no elements: output {output.name}")


def _passable(value: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - any value
    """Return an input as the script of pnnx passes it."""
    if not isinstance(value, np.ndarray):
        what = "an empty optional" if value is None else f"a {type(value).__name__}"
        raise NoTypeError(f"a Net takes tensors, not {what}")
    name = protocol.element_type(value.dtype).name
    if name not in PASSED:
        raise NoTypeError(f"no layer takes {name}")
    passed = np.ascontiguousarray(value.astype(PASSED[name][1]))
    if name == "int64" and not np.array_equal(passed, value):
        raise NoTypeError("int64 is passed as int32, which lacks some of the values")
    if not value.ndim or not value.size:
        raise NoMatError(f"no Mat has {'no elements' if value.ndim else 'rank 0'}")
    return passed


def _converted(model: bytes, shapes: str) -> bytes:
    """Convert a model for inputs of these shapes; return everything that is needed to run it.

    It is a line of JSON, and then the constants. The line has the parameters, the dimensions of the batch by the names
    of blobs, and the operators that pnnx reports as "todo".
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.onnx").write_bytes(model)
        words = [PNNX, "model.onnx", *OPTIONS, *([f"inputshape={shapes}"] if shapes else [])]
        with Path(folder, "printed").open("wb") as file:  # A file, because it also has the messages before a crash.
            killed: child.KilledError | None = None
            status = 0
            try:
                status = child.run(words, cwd=folder, stdout=file, stderr=file).returncode
            except child.KilledError as error:
                killed = error
        printed = Path(folder, "printed").read_bytes()
        text = printed.decode(errors="replace")
        reasons = messages(text)
        if killed is not None and not any(re.search(pattern, reasons) for _, pattern, _ in LACKS):
            sys.stderr.flush()
            os.write(2, printed[-8192:])
            killed.place = place(text)
            raise killed
        target = Path(folder, "model.ncnn.param")
        if reasons or status or not target.exists():
            raise ConversionError(reasons or f"pnnx wrote no model, and ended with status {status}")
        script = Path(folder, "model_ncnn.py").read_text(encoding="utf-8")
        batches = {name: int(batch) for name, batch in INPUT.findall(script) + OUTPUT.findall(script)}
        todo = [line for line in text.splitlines() if line.startswith("todo ")]
        head = json.dumps([target.read_text(encoding="utf-8"), batches, todo]).encode()
        return head + b"\n" + Path(folder, "model.ncnn.bin").read_bytes()


def place(printed: str) -> str:
    """Return where pnnx ended: in its last step, and whether ONNX Runtime had reported an error in it.

    The error itself is left out, because it names the operator, and all these crashes have one cause.
    """
    failed = ["after an error of ONNX Runtime"] if ORT_FAILED.search(printed) else []
    return ", ".join(["pnnx", *STEP.findall(printed)[-1:], *failed])


def messages(printed: str) -> str:
    """Return the lines of pnnx about errors: without its progress, times and colours."""
    lines = (STAMP.sub("", line).strip() for line in printed.splitlines())
    return "\n".join(dict.fromkeys(line for line in lines if SAYS_WHY.search(line)))


@contextlib.contextmanager
def _printed() -> Iterator[list[str]]:
    """Collect the lines that the runtime prints to standard error, and copy them there afterwards."""
    lines: list[str] = []
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            printed = file.read()
            lines += printed.decode(errors="replace").splitlines()
            os.write(2, printed)


def _run(
    net: Any,  # noqa: ANN401 - ncnn declares no types
    batches: dict[str, int],
    fed: Sequence[np.ndarray[Any, Any]],
    count: int,
) -> list[np.ndarray[Any, Any]]:
    """Run a converted model; return its outputs."""
    mats = {
        f"in{place}": ncnn.Mat(value, batch_index=batches[f"in{place}"]).clone()
        for place, value in enumerate(fed)
        if f"in{place}" in batches  # The others are not used.
    }
    returned = {}
    with _printed() as printed:
        extractor = net.create_extractor()
        status = next(filter(None, (extractor.input(name, mat) for name, mat in mats.items())), 0)
        for blob in (f"out{place}" for place in range(count)):
            if not status:
                status, returned[blob] = extractor.extract(blob)
    if status:
        raise RunError("\n".join([*printed, f"ncnn returned the status {status}"]))
    return [np.array(mat.numpy(batch_index=batches.get(blob, NO_BATCH))) for blob, mat in returned.items()]


def _loaded(parameters: str, weights: bytes, todo: Sequence[str]) -> Any:  # noqa: ANN401 - ncnn declares no types
    net = ncnn.Net()
    net.opt.num_threads = 1
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    with tempfile.TemporaryDirectory() as folder, _printed() as printed:
        param, binary = Path(folder, "model.ncnn.param"), Path(folder, "model.ncnn.bin")
        param.write_text(parameters, encoding="utf-8")
        binary.write_bytes(weights)
        failed = net.load_param(str(param)) or net.load_model(str(binary))
    if failed:
        printed = [line.replace(f"{folder}{os.sep}", "") for line in printed]
        raise LoadError("\n".join([*printed, *todo]) or f"ncnn returned the status {failed}")
    return net
