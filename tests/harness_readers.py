# SPDX-License-Identifier: Apache-2.0
"""The rules of foreign readers, written from their sources: what is not as they need it is an AssertionError.

The docstrings of `onnx_conformance.layouts.known` name the files and commits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from onnx_conformance.layouts.known import tract

if TYPE_CHECKING:
    from pathlib import Path

Array = np.ndarray[Any, Any]
RUST = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
FLAG = re.compile(r"--(input|expected_output)=((?:\d+x)*)(\w+)=@(\w+\.bin)")
THRESHOLD = re.compile(r"--expected_(f16|f32|f64)_threshold=(\S+)")
IREE_TYPES = {
    "f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<u2", "i1": "u1", "i8": "u1", "i16": "<u2", "i32": "<u4",
    "i64": "<u8",
}  # fmt: skip
TRACT_TYPES = {
    TensorProto.BOOL, TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.INT8,
    TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE,
    TensorProto.STRING,
}  # fmt: skip


def tract_suite(folder: Path) -> dict[str, bool]:
    """Return the cases that suite-onnx finds, by name, and whether it runs them (False: it ignores them)."""
    lines = [line.split() for line in (folder / "node.txt").read_text().splitlines() if len(line.strip()) > 1]
    rows = [(re.compile(f"^{words[0]}$"), words[1:]) for words in lines if not words[0].startswith("#")]
    found: dict[str, bool] = {}
    for release, opset in tract.RELEASES.items():
        data = folder / "onnx" / f"onnx-{release.replace('.', '_')}" / "onnx" / "backend" / "test" / "data"
        for kind in ("node", "simple", "pytorch-operator", "pytorch-converted"):
            assert (data / kind).is_dir(), f"{data / kind} does not exist"
        for case in (data / "node").iterdir():
            assert RUST.fullmatch(case.name), f"{case.name} is no name of a function"
            words = next((words for pattern, words in rows if pattern.match(case.name)), None)
            ignored = words is None or any(int(word[6:]) > opset for word in words if word.startswith("since:"))
            found[case.name] = not ignored
            _tract_case(case)
    return found


def _tract_case(case: Path) -> None:
    graph = onnx.load(str(case / "model.onnx"), load_external_data=False).graph
    fixed = {item.name for item in graph.initializer}
    assert all(item.data_location != TensorProto.EXTERNAL for item in graph.initializer), f"{case}: external data"
    sets = [item for item in case.iterdir() if item.is_dir() and item.name.startswith("test_data_set_")]
    assert sets, f"{case}: no data set"
    for data in sets:
        wanted = len([item for item in graph.input if item.name not in fixed])
        for prefix, number in (("input", wanted), ("output", len(graph.output))):
            files = [item for item in data.iterdir() if item.name.startswith(prefix)]
            assert len(files) == number, f"{data}: {len(files)} files {prefix}, the model has {number}"
            for index in range(number):
                tensor = TensorProto.FromString((data / f"{prefix}_{index}.pb").read_bytes())
                assert tensor.data_type in TRACT_TYPES, f"{data}: element type {tensor.data_type}"
                size = int(np.prod(tensor.dims, dtype=int))
                assert tensor.raw_data or tensor.string_data or not size, f"{data}: {prefix}_{index} is no tensor"


def tensors(case: Path, prefix: str) -> list[Array]:
    """Return the tensors of a case in ONNX's layout."""
    data = case / "test_data_set_0"
    files = (data / f"{prefix}_{index}.pb" for index in range(len(list(data.glob(f"{prefix}_*.pb")))))
    return [numpy_helper.to_array(TensorProto.FromString(path.read_bytes())) for path in files]


def tract_accepts(actual: Array, expected: Array) -> bool:
    """Compare as `Tensor::close_enough` does with `Approximation::Approximate`."""
    absolute, relative = (1e-3, 5e-3) if actual.dtype == np.float16 else (1e-4, 5e-4)
    with np.errstate(all="ignore"):
        a, b = actual.astype(np.float32), expected.astype(np.float32)
        same = (np.isnan(a) & np.isnan(b)) | (np.isinf(a) & np.isinf(b) & (np.sign(a) == np.sign(b)))
        near = np.abs(a - b) <= np.float32(absolute) + np.float32(relative) * np.abs(b)
    return actual.shape == expected.shape and bool((same | near).all())


def opencv_accepts(actual: Array, expected: Array) -> bool:
    """Compare as `normAssert` does."""
    far = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    return bool(actual.shape == expected.shape and far.sum() / far.size <= 1e-5 and far.max() <= 1e-4)


def iree_flags(case: Path) -> tuple[dict[str, list[tuple[str, Array]]], dict[str, float]]:
    """Return the values by flag, each with its type, and the thresholds; check the folder as conftest.py does."""
    assert len(list(case.glob("*.mlir*"))) == 1, f"{case}: not one file in MLIR"
    values: dict[str, list[tuple[str, Array]]] = {"input": [], "expected_output": []}
    thresholds: dict[str, float] = {}
    for line in (case / "run_module_io_flags.txt").read_text().splitlines():
        if limit := THRESHOLD.fullmatch(line):
            thresholds[limit[1]] = float(limit[2])
            continue
        flag = FLAG.fullmatch(line)
        assert flag, f"{case}: {line!r} is no flag"
        kind, shape, type_, file = flag.groups()
        dims = [int(dim) for dim in shape.split("x")[:-1]]
        array = np.frombuffer((case / file).read_bytes(), IREE_TYPES[type_])
        assert array.size == np.prod(dims, dtype=int), f"{case}: {file} has {array.size} elements for {dims}"
        values[kind].append((type_, array.reshape(dims)))
    return values, thresholds


def iree_accepts(actual: Array, expected: Array, type_: str, thresholds: dict[str, float]) -> bool:
    """Compare as `iree_hal_buffer_view_match_equal` does."""
    if type_ not in {"f16", "f32", "f64"}:
        return actual.tobytes() == expected.tobytes()
    default = {"f16": 1e-3, "f32": 1e-4, "f64": 1e-4}[type_]
    wide, limit = (np.float64, float) if type_ == "f64" else (np.float32, np.float32)
    with np.errstate(all="ignore"):
        far = np.abs(expected.astype(wide) - actual.astype(wide))
    return actual.shape == expected.shape and not (far > limit(thresholds.get(type_, default))).any()
