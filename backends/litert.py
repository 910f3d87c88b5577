# SPDX-License-Identifier: Apache-2.0
"""onnx2tf and LiteRT on the CPU, one thread: onnx2tf converts the model with TensorFlow, LiteRT's interpreter runs it.

LiteRT has no converter for ONNX. So the tested subject is onnx2tf together with LiteRT: a `ConversionError`
is one of onnx2tf, and a `LiteRTError` is one of LiteRT. A conversion takes seconds, because onnx2tf runs onnxsim three
times in separate processes. Converted models are cached from one run to the next (cache.py).

Options of onnx2tf (https://github.com/PINTO0309/onnx2tf#cli-parameter), which a user would set for such models:

- `keep_shape_absolutely_input_names` (`-kat`) has all inputs. Without it, onnx2tf expects the channels of inputs last.
- `overwrite_input_shape` (`-ois`) has the shapes of inputs with symbolic dimensions. It accepts no dimensions of 0.
- `not_use_onnxsim` is not set, because its documentation advises against it ("the probability of a conversion error is
  very high").

Limits that onnx2tf documents, and how this adapter treats them:

- It moves the channels last, from NCHW to NHWC, "therefore, the conversion will inevitably break down at some point",
  and a user has to correct the transpositions in a file
  (https://github.com/PINTO0309/onnx2tf#parameter-replacement). No option keeps the layout of outputs. If an output has
  the declared shape with its channels last, the case opts out. So does an output of rank 3 or more whose shape does not
  show the layout: all dimensions after the batch are equal, or one is symbolic.
- The names of outputs are kept only with `copy_onnx_input_output_names_to_tflite` (`-coion`), which needs the program
  flatc, and their order may differ. Without it, an operator with several outputs loses their names. Such a case opts
  out. A model with fewer outputs is a failure.
- A model of float16 becomes one of float32, also its inputs and outputs
  (https://github.com/PINTO0309/onnx2tf/pull/427). Such a case opts out.
- LiteRT has no sequences and optionals, and its Python interface only has types of numpy.

onnx2tf compares operators with ONNX Runtime to find transpositions. If all inputs look like images, it downloads images
for that, unless there is a file with that name. This adapter writes such a file, so that no conversion needs a network.

Failures and their causes (1.29.24; the first and third also without this project):

- Conv, and others with weights, fail with "IndexError: list index out of range" if the weights are an input.
- Softmax and LogSoftmax below version 13 normalize one axis, not all axes from it on.
- MaxPool with `ceil_mode` and `auto_pad` returns another shape.
- A tensor without elements fails.

The versions of ai-edge-litert and TensorFlow are those that this version of onnx2tf requires.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx2tf
from ai_edge_litert.interpreter import Interpreter

from onnx_conformance.backends import cache, protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FORK = True

OPT_OUTS = (
    ("ConversionError", r"\bOP is not yet implemented\.", "no such operator"),
    (
        "ConversionError",
        r"(^NotImplementedError: |\n)[^\n]*\b((is|are) not supported|not yet implemented)\b",
        "no conversion",
    ),
    ("ConversionError", r"\nerror: 'tf\.\w+' op is neither a custom op ", "no kernel"),
    ("NoTypeError", r"", "no such element type"),
    ("NoSequenceError", r"", "no sequences, maps and optionals"),
    ("LayoutError", r"", "channels last"),
    ("NamesError", r"", "outputs without their names"),
)

REPRO = """\
import os
import pathlib
import sys
import tempfile

import numpy
import onnx2tf
from ai_edge_litert.interpreter import Interpreter

os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # has onnxsim
os.chdir(tempfile.mkdtemp())
IMAGES = "calibration_image_sample_data_20x128x128x3_float32.npy"  # otherwise onnx2tf downloads it
numpy.save(IMAGES, numpy.linspace(0, 1, 20 * 128 * 128 * 3, dtype="float32").reshape(20, 128, 128, 3))
onnx.save(model, "model.onnx")
symbolic = [
    f"{item.name}:{','.join(map(str, inputs[item.name].shape))}"
    for item in model.graph.input
    if item.name in inputs and any(not dim.HasField("dim_value") for dim in item.type.tensor_type.shape.dim)
]
onnx2tf.convert(
    input_onnx_file_path="model.onnx",
    output_folder_path="saved",
    keep_shape_absolutely_input_names=list(inputs),
    overwrite_input_shape=symbolic or None,
    verbosity="error",
)
runner = Interpreter("saved/model_float32.tflite", num_threads=1).get_signature_runner()
returned = runner(**{name: inputs[name] for name in runner.get_input_details()})
outputs = [returned[item.name] for item in model.graph.output]
"""

TYPES = (
    *("float", "double", "bool", "string", "complex64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
"""Element types of the tensors of a converted model: those of numpy, without float16, which onnx2tf makes float32."""

PACKAGES = ("onnx2tf", "tensorflow", "onnx", "onnxsim", "onnxruntime")
"""Packages on which a converted model depends."""

CHANNELS_MOVE = 3
"""The lowest rank at which onnx2tf may move the channels of a tensor."""

IMAGES = "calibration_image_sample_data_20x128x128x3_float32.npy"
"""The name of the file with images that onnx2tf would download."""

COMPILER = re.compile(r"(/\S*|<unknown>):\d+(:\d+)?: ")
"""A place in a Python file, or none, before a message of TensorFlow's compiler."""

STYLE = re.compile(r"\x1b\[[\d;]*m(ERROR:\x1b\[0m\s*)?")
"""Colours and marks of a message."""

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # has onnxsim


class NoTypeError(Exception):
    """A converted model has no tensors of this element type."""


class NoSequenceError(Exception):
    """LiteRT has no sequences, maps and optionals."""


class ConversionError(Exception):
    """onnx2tf did not convert the model."""


class LiteRTError(Exception):
    """LiteRT did not load or run the converted model."""


class NamesError(Exception):
    """onnx2tf changed the names of outputs, and their order is not documented."""


class LayoutError(Exception):
    """onnx2tf moved the channels of an output, or its shape does not show the layout."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "ai-edge-litert",
        "version": version("ai-edge-litert"),
        "repro": REPRO,
        "types": [*TYPES],
        "containers": [],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    graph = onnx.load_from_string(model).graph
    declared = {value.name: value for value in graph.output}
    for value in graph.output:
        _check_type(value)
    for name, array in inputs.items():
        if not isinstance(array, np.ndarray):
            raise NoSequenceError(f"LiteRT has tensors only: input {name}")
        if (kind := protocol.element_type(array.dtype).name) not in TYPES:
            raise NoTypeError(f"a converted model has no tensors of {kind}: input {name}")
    symbolic = tuple(
        f"{value.name}:{','.join(map(str, inputs[value.name].shape))}"
        for value in graph.input
        if value.name in inputs and None in (_shape(value) or ())
    )
    key = (*_versions(), *inputs, *symbolic, cache.machine())
    program = cache.compiled(lambda: _converted(model, list(inputs), list(symbolic)), model, *key)
    returned = _called(program, inputs)
    if len(returned) == len(declared) and returned.keys() != declared.keys():
        raise NamesError(f"onnx2tf named the outputs {', '.join(sorted(returned))}")
    for name in outputs:
        if name not in returned:
            raise ConversionError(f"the converted model has no output {name}")
        _check_layout(declared[name], returned[name].shape)
    return [returned[name] for name in outputs]


@functools.cache
def _versions() -> tuple[str, ...]:
    return ("litert", *(f"{name} {version(name)}" for name in PACKAGES))


def _check_type(output: onnx.ValueInfoProto) -> None:
    """Check that a converted model can return tensors of the type of an output.

    Raises:
        NoTypeError: it has no tensors of this element type.
        NoSequenceError: the output is no tensor.
    """
    if not output.type.HasField("tensor_type"):
        raise NoSequenceError(f"LiteRT has tensors only: output {output.name}")
    number = output.type.tensor_type.elem_type
    row = next((row for row in protocol.ELEMENT_TYPES if row.number == number), None)
    if row is not None and row.name not in TYPES:
        raise NoTypeError(f"a converted model has no tensors of {row.name}: output {output.name}")


def _shape(value: onnx.ValueInfoProto) -> tuple[int | None, ...] | None:
    """Return the declared shape, with None for a symbolic dimension; None without a shape."""
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim)


def _check_layout(output: onnx.ValueInfoProto, returned: tuple[int, ...]) -> None:
    """Check that an output is not in the layout of onnx2tf, which has the channels last.

    Raises:
        LayoutError: it is, or its shape does not show the layout.
    """
    shape = _shape(output)
    if len(returned) < CHANNELS_MOVE or returned[1:] == (1,) * (len(returned) - 1):
        return
    if shape is None or None in shape:
        raise LayoutError(f"the declared shape does not show the layout: output {output.name}")
    last = (*shape[:1], *shape[2:], *shape[1:2])
    if returned == last:
        what = "does not show the layout" if shape == last else "has the channels last"
        raise LayoutError(f"the returned shape {what}: output {output.name}")


def _converted(model: bytes, names: list[str], symbolic: list[str]) -> bytes:
    """Convert a model; return the file of LiteRT."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, _printed() as printed:
        os.chdir(folder)
        try:
            np.save(IMAGES, np.linspace(0, 1, 20 * 128 * 128 * 3, dtype=np.float32).reshape(20, 128, 128, 3))
            Path("model.onnx").write_bytes(model)
            onnx2tf.convert(
                input_onnx_file_path="model.onnx",
                output_folder_path="saved",
                keep_shape_absolutely_input_names=names,
                overwrite_input_shape=symbolic or None,
                verbosity="error",
            )
            return Path("saved", "model_float32.tflite").read_bytes()
        except SystemExit as error:
            reason = f"exit status {error.code}"
        except Exception as error:  # noqa: BLE001 - onnx2tf raises errors of every kind
            reason = f"{type(error).__name__}: {without_places(str(error))}".replace(folder, "")
        finally:
            os.chdir(before)
    reason = STYLE.sub("", reason).strip()
    raise ConversionError("\n".join([reason, *(line for line in messages(printed) if line not in reason)]))


def without_places(text: str) -> str:
    """Return a message of TensorFlow's compiler without places in Python files, which differ between machines."""
    if not COMPILER.search(text):
        return text
    lines = [COMPILER.sub("\n", line).strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line.startswith(("error: ", "Custom ops: ")) or "\nerror: " in line)


def messages(printed: Sequence[str]) -> list[str]:
    """Return the messages of onnx2tf about missing features."""
    lines = (STYLE.sub("", line).strip() for line in printed)
    lacking = (line for line in lines if re.search(r"not supported|not yet implemented", line))
    return [line for line in dict.fromkeys(lacking) if not line.startswith("NotImplementedError")]  # a traceback's


@contextlib.contextmanager
def _printed() -> Iterator[list[str]]:
    """Collect the lines that Python code prints to standard output, and copy them to standard error afterwards."""
    lines: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        try:
            with contextlib.redirect_stdout(file):
                yield lines
        finally:
            file.seek(0)
            text = file.read()
            lines += text.splitlines()
            sys.stderr.write(text[-8192:])


def _called(program: bytes, inputs: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Run a converted model; return its outputs by name."""
    try:
        runner = Interpreter(model_content=program, num_threads=1).get_signature_runner()
        fed = {name: inputs[name] for name in runner.get_input_details()}  # Unused inputs may be missing.
        return {name: np.array(value) for name, value in runner(**fed).items()}
    except Exception as error:
        raise LiteRTError(f"{type(error).__name__}: {error}") from error
