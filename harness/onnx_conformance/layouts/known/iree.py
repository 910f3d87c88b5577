# SPDX-License-Identifier: Apache-2.0
"""The layout of iree-test-suites/onnx_ops: models in MLIR, raw tensors, and a file of flags for each case.

The rules of the reader:

- iree-org/iree-test-suites, commit 612f93663b32ea86ea442e87be549f1056a5de1c, onnx_ops/conftest.py: a folder with
  `run_module_io_flags.txt` and one `.mlir` file is a test. A configuration in JSON has the flags of iree-compile and
  iree-run-module, and the folders to skip, relative to the folder of conftest.py.
- iree-org/iree, commit 31d47e1d775ebe8f8116d9cf32b358a23d2aabb7, runtime/src/iree/tooling/comparison.cc:
  `--input=2x3xf32=@FILE` and `--expected_output=` name raw row-major values, and `--expected_f32_threshold=` and its
  like for f16 and f64 the absolute difference that is permitted. It is the same for all elements.
- buffer_view_matchers.c in that folder, commit 0eea5af599cfe5d46e14864dfe0abfa3af2e2391: every other type is compared
  byte by byte. A comparison with NaN is never a difference.

The importer of IREE writes the MLIR. It runs in the environment of the adapter `iree`, one process for all cases.
"""

from __future__ import annotations

import base64
import contextlib
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends import protocol
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.environments import python_environment
from onnx_conformance.layouts import expressible
from onnx_conformance.layouts.layout import Layout, Unwritable
from onnx_conformance.suites import case_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.layouts.layout import Files, Written

TYPES = {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "int8": "i8", "uint8": "i8",
    "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64",
}  # fmt: skip
"""By element type, its name in a flag. IREE's integers have no sign."""
THRESHOLDS: dict[str, tuple[str, Any]] = {
    "float16": ("f16", np.float32), "float": ("f32", np.float32), "double": ("f64", np.float64),
}  # fmt: skip
"""By element type, the part of the name of its threshold, and the type in which the reader stores it."""
FOLDER = "onnx/conformance"
FLAGS = "run_module_io_flags.txt"
CONFIG = "configs/onnx_conformance_cpu_llvm_sync.json"
ENDED = "the importer of IREE ends on the model"
REJECTED = "the importer of IREE rejects the model"


def _left_out(case: Case) -> str:
    if why := expressible.reason(case, TYPES):
        return why
    for index, value in enumerate(expressible.tensors(case) or ()):
        name = protocol.element_type(value.dtype).name
        if name in {*THRESHOLDS, "bfloat16"} and np.isnan(value.astype(np.float64)).any():
            return "an expected value is NaN, which the reader does not compare"
        if name not in THRESHOLDS and expressible.permitted(case, index).any():
            return "the reader compares this type byte by byte"
    return ""


def _folder(case: Case) -> str:
    return f"{FOLDER}/{expressible.identifier(case.id)}"


class _Importer:
    """The process that imports models; it is started again after it ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def text(self, model: bytes) -> str:
        """Return a model as MLIR.

        Raises:
            Unwritable: the importer rejects it, or ends.
            HarnessError: the importer cannot be started.
        """
        if self._process is None:
            self._process = self._started()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101 - a pipe
        assert stdout is not None  # noqa: S101 - a pipe
        line = b""
        with contextlib.suppress(OSError):  # It ended.
            stdin.write(base64.b64encode(model) + b"\n")
            stdin.flush()
            line = stdout.readline()
        if not line:
            self.close()
            raise Unwritable(ENDED)
        reply: dict[str, str] = json.loads(line)
        if "error" in reply:
            raise Unwritable(REJECTED)
        return reply["text"]

    @staticmethod
    def _started() -> subprocess.Popen[bytes]:
        needed = python_environment.needs("iree")
        assert needed is not None  # noqa: S101 - backends/iree.toml
        words = [python_environment.python_of(needed), str(Path(__file__).parents[1] / "import_mlir.py")]
        try:
            return subprocess.Popen(  # noqa: S603 - the Python of the environment
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise HarnessError("importer-not-started", f"{words[0]} cannot be started: {error.strerror}") from error

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None


_IMPORTER = _Importer()


def _files(case: Case) -> Files:
    files = {"model.mlir": _IMPORTER.text(case.model).encode(), "case.json": case_json.text(case)}
    lines: list[str] = []
    values = [np.asarray(value) for value in case.inputs.values()]
    for kind, flag, several in (
        ("input", "input", values),
        ("output", "expected_output", expressible.tensors(case) or ()),
    ):
        for index, value in enumerate(several):
            files[f"{kind}_{index}.bin"] = protocol.pack(value)
            type_ = TYPES[protocol.element_type(value.dtype).name]
            lines.append(f"--{flag}={'x'.join((*map(str, value.shape), type_))}=@{kind}_{index}.bin\n")
    files[FLAGS] = "".join([*lines, *_thresholds(case)]).encode()
    return files


def _thresholds(case: Case) -> list[str]:
    """Return the flags with the largest error that any element of a type may have."""
    largest: dict[str, float] = {}
    for index, value in enumerate(expressible.tensors(case) or ()):
        name = value.dtype.name
        key = {"float32": "float", "float64": "double"}.get(name, name)
        if key in THRESHOLDS:
            largest[key] = max(largest.get(key, 0.0), float(expressible.permitted(case, index).max(initial=0.0)))
    return [
        f"--expected_{THRESHOLDS[key][0]}_threshold={_above(key, error)}\n" for key, error in sorted(largest.items())
    ]


def _above(key: str, error: float) -> str:
    """Return a threshold as text, not below the error after the reader has rounded it; 0 if the value must be equal."""
    stored = THRESHOLDS[key][1](error)
    return repr(float(stored if stored >= error else np.nextafter(stored, type(stored)(np.inf))))


def _lists(written: Sequence[Written]) -> Files:
    """Return the configuration for one thread of the CPU; it skips the known failures."""
    config = {
        "config_name": "cpu_llvm_sync",
        "iree_compile_flags": ["--iree-hal-target-backends=llvm-cpu", "--iree-input-demote-f64-to-f32=false"],
        "iree_run_module_flags": ["--device=local-sync"],
        "skip_compile_tests": [f"{FOLDER}/{item.name}" for item in written if item.known_failure],
        "skip_run_tests": [],
        "expected_compile_failures": [],
        "expected_run_failures": [],
    }
    return {CONFIG: json.dumps(config, indent=2).encode() + b"\n"}


LAYOUT = Layout(
    "MLIR, raw tensors and flags, for iree-test-suites/onnx_ops",
    "iree",
    _left_out,
    _folder,
    _files,
    _lists,
    data_sets=(),
    close=_IMPORTER.close,
)
