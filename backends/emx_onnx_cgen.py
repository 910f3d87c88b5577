# SPDX-License-Identifier: Apache-2.0
"""emx-onnx-cgen, which writes C for a model, through its own `onnx.backend.base.Backend`.

Every case is a run of a C compiler, `CC` or the first of cc, gcc and clang that there is; where there is none this
adapter fails and says so. The compiler has to know `__bf16` for bfloat16 (gcc 13) and
`_BitInt` for types below a byte (gcc 14); with an older one these opt out.

Compiled programs are cached from one run to the next (cache.py), by their C source. The source itself is generated each
time, so that every message of the backend, and every use of onnx.reference, shows each time. Reading 170 templates took
nine tenths of that for each model, so they stay in memory once they are read.

The backend runs the program in a separate process: one that a signal ends, ends this process by the same signal
here, so that the case is reported as a crash.

For sequences whose elements have no known shape the backend cuts its answer to the shapes that onnx.reference gives,
and it takes some shapes that a graph computes from there as well. Such an answer is not that of emx-onnx-cgen, and opts
out.

Failures and their causes (each is the runtime's):

- SplitToSequence of strings ends in a SIGSEGV.
- Split-18 refuses a `num_outputs` that does not divide the dimension.
- Shapes of symbols: ReduceSum compares its output's -1 with a number, and refuses.
- BitShift by the width of the type or more, the inverse DFT and Attention in float16 return other values.
"""

from __future__ import annotations

import functools
import itertools
import os
import shutil
from importlib import metadata
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import jinja2
import onnx
import onnx.reference

from onnx_conformance.backends import cache, child, protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoCompilerError(Exception):
    """There is no C compiler."""


class NoTypeError(Exception):
    """The backend has no way to pass a value of this type."""


class BorrowedError(Exception):
    """The answer was computed with another implementation."""


class Noted(onnx.reference.ReferenceEvaluator):
    """onnx.reference, with a count of its calls."""

    calls = 0

    def __init__(self, *words: Any, **options: Any) -> None:  # noqa: ANN401 - as the base class
        """Count the call."""
        Noted.calls += 1
        super().__init__(*words, **options)


def watched(words: Sequence[str], **options: Any) -> CompletedProcess[Any]:  # noqa: ANN401 - as subprocess.run()
    """Run a command as subprocess.run() does; its messages name the C file without its folder.

    Raises:
        KilledError: a signal ended it.
    """
    source = next((Path(word) for word in words if word.endswith(".c")), None)
    entry = source and _entry(words, source)
    if entry and (program := cache.get(entry)) is not None:
        target = _target(words)
        target.write_bytes(program)
        target.chmod(0o755)
        return CompletedProcess(words, 0, "", "")
    done = child.run(words, **options)
    if entry and done.returncode == 0:
        cache.put(entry, _target(words).read_bytes())
    if source and done.stderr:  # The folder has a new name each time, and equal errors must have equal messages.
        done.stderr = done.stderr.replace(f"{source.parent}{os.sep}", "")
    return done


def _target(words: Sequence[str]) -> Path:
    return Path(words[words.index("-o") + 1])


def _entry(words: Sequence[str], source: Path) -> str | None:
    """Return the cache entry of a C file, or None where the program depends on other libraries (ImageDecoder)."""
    if "-o" not in words or any(word.startswith("-l") and word != "-lm" for word in words):
        return None
    options = [word.replace(f"{source.parent}{os.sep}", "") for word in words]
    files = [part for path in sorted(source.parent.iterdir()) for part in (path.name, path.read_bytes())]
    place = cache.processor() if any("native" in word for word in options) else cache.machine()
    compiler_version = _compiler_version(*itertools.takewhile(lambda word: not word.startswith("-"), words))
    version = metadata.version("emx-onnx-cgen")
    return cache.name("emx-onnx-cgen", version, compiler_version, place, "\0".join(options), *files)


@functools.cache
def _compiler_version(*words: str) -> str:
    return str(child.run([*words, "--version"], capture_output=True, text=True).stdout)


class Templates(jinja2.BytecodeCache):
    """Compiled templates, in memory."""

    def __init__(self) -> None:
        """Start without templates."""
        self._read: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Any) -> None:  # noqa: ANN401 - jinja2's
        """Load a template that was compiled from the same text."""
        bucket.code = self._read.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Any) -> None:  # noqa: ANN401
        """Keep a template that was just compiled."""
        self._read[bucket.key, bucket.checksum] = bucket.code


def compiler() -> str:
    """Return the path of the C compiler that the backend uses.

    Raises:
        NoCompilerError: there is no compiler.
    """
    names = [os.environ["CC"].split()[0]] if os.environ.get("CC", "").strip() else ["cc", "gcc", "clang"]
    for name in names:
        if path := shutil.which(name):
            return path
    raise NoCompilerError(
        f"emx-onnx-cgen writes C, and there is no compiler for it: {' or '.join(names)} is not on the PATH; install "
        "one, or name one with CC=PATH"
    )


compiler()
# Before the backend takes it from there.
onnx.reference.ReferenceEvaluator = Noted  # type: ignore[misc]

from emx_onnx_cgen.codegen import c_emitter  # noqa: E402
from emx_onnx_cgen.dtypes import ONNX_TO_SCALAR_TYPE  # noqa: E402
from emx_onnx_cgen.onnx_backend import backend  # noqa: E402

backend.subprocess = SimpleNamespace(run=watched)
c_emitter.Environment = functools.partial(c_emitter.Environment, bytecode_cache=Templates())

OLD_COMPILER = (
    r"^C compilation failed:\n\S+ error: "
    r"(unknown type name .(__bf16|_BitInt)|expected [^\n]* before numeric constant\n[^\n]*_BitInt\()"
)

FORK = True

OPT_OUTS = (
    ("UnsupportedOpError", r"^Unsupported (elem_type|dtype|ONNX dtype)", "no such element type"),
    ("UnsupportedOpError", r"^Code generation requires static shapes", "no shapes that are unknown"),
    ("ShapeInferenceError", r"^Missing shape for value|does not support dynamic dims", "no shapes that are unknown"),
    ("ShapeInferenceError", r"requires a static axis dimension", "no shapes that are unknown"),
    ("UnsupportedOpError", r"^Unsupported op ", "no kernel"),
    ("UnsupportedOpError", r"not support|unsupported|supports|only \S+ is supported", "no kernel"),
    ("ShapeInferenceError", r"not support", "no kernel"),
    ("RuntimeError", OLD_COMPILER, "no such type in this compiler"),
    (
        "RuntimeError",
        r"^C compilation failed:\n[^\n]*( fatal error: \S+: No such file or directory| cannot find -l)",
        "a library is missing on this machine",
    ),
    ("BorrowedError", r"", "takes it from onnx.reference"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
from emx_onnx_cgen import onnx_backend

outputs = onnx_backend.run_model(model, list(inputs.values()))
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "emx-onnx-cgen",
        "version": metadata.version("emx-onnx-cgen"),
        "repro": REPRO,
        "types": [row.name for row in protocol.ELEMENT_TYPES if row.number in ONNX_TO_SCALAR_TYPE],
        "containers": ["sequence", "optional"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    if any(isinstance(value, dict) for value in inputs.values()):
        raise NoTypeError("the backend does not support maps")
    before = Noted.calls
    try:
        answers = _answers(onnx.load_from_string(model), inputs)
    except child.KilledError as error:
        number = error.number  # The files of the case are removed before this process ends in the same way.
    else:
        if Noted.calls > before:
            raise BorrowedError("some outputs are computed by onnx.reference")
        return [answers[name] for name in outputs]
    raise child.end_by(number)


def _answers(proto: onnx.ModelProto, inputs: dict[str, Any]) -> dict[str, Any]:
    fed = [inputs[value.name] for value in proto.graph.input if value.name in inputs]
    answers = backend.run_model(proto, fed)
    return dict(zip((value.name for value in proto.graph.output), answers, strict=True))
