# SPDX-License-Identifier: Apache-2.0
"""tinygrad's adapter: bfloat16 there and back, and the compiler that it needs."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_conformance.backends import protocol, serve
from runtime_fakes import loaded

if TYPE_CHECKING:
    from pathlib import Path

BFLOAT16 = protocol.numpy_dtype(protocol.element_type_named("bfloat16").number)


class Tensor:
    """As much of tinygrad's as the adapter touches."""

    def __init__(self, array: Any, dtype: str = "") -> None:
        self.array, self.dtype = array, dtype or str(array.dtype)

    @classmethod
    def zeros(cls, count: int) -> Tensor:
        return cls(np.zeros(count))

    def contiguous(self) -> Tensor:
        return self

    realize = contiguous

    def bitcast(self, dtype: str) -> Tensor:
        return Tensor(self.array, dtype)

    def numpy(self) -> Any:
        return self.array.astype(np.float32) if self.dtype == "bfloat16" else self.array


class Runner:
    """Returns its inputs, and a number and None."""

    def __init__(self, path: Path) -> None:
        self.model = path.read_bytes()

    def __call__(self, inputs: dict[str, Any]) -> dict[str, Any]:
        assert self.model == b"the model"
        return {**inputs, "size": 3, "nothing": None}


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("DEV", "PYTHON")
    types = enum.IntEnum("OnnxDataType", {"FLOAT": 1, "BFLOAT16": 16})
    dtypes = type("dtypes", (), {"bfloat16": "bfloat16", "uint16": "uint16"})
    modules: dict[str, dict[str, Any]] = {
        "tinygrad": {"Tensor": Tensor, "dtypes": dtypes},
        "tinygrad.nn": {},
        "tinygrad.nn.onnx": {"OnnxDataType": types, "OnnxRunner": Runner},
        "tinygrad.runtime": {},
        "tinygrad.runtime.support": {},
        "tinygrad.runtime.support.compiler_cpu": {},
    }
    return loaded(monkeypatch, "tinygrad", modules)


def test_bfloat16_keeps_its_bits_and_its_name(adapter: Any) -> None:
    x = np.array([1.5, -2, np.nan]).astype(BFLOAT16)
    outputs = adapter.run(b"the model", {"x": x, "s": [x], "y": np.zeros(2)}, ["s", "x", "y", "size", "nothing"])
    [[inner], outer, plain, size, nothing] = outputs
    for array in (inner, outer):
        assert array.dtype == BFLOAT16
        assert array.view(np.uint16).tolist() == x.view(np.uint16).tolist()
    assert plain.dtype == np.float64
    assert (size.dtype, size.shape, int(size)) == (np.int64, (), 3)
    assert nothing is None


def test_maps_opt_out(adapter: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(b"the model", {"x": {1: np.zeros(1)}}, ["x"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_the_message_of_clang_is_in_the_error(adapter: Any) -> None:
    message = (
        "<stdin>:2:10: error: __bf16 is not supported on this target\nvoid E_3(__bf16* data) {\n\n1 error generated."
    )
    words = [sys.executable, "-c", f"import sys; sys.exit({message!r})"]
    with pytest.raises(adapter.KernelError) as error:
        adapter.compiled(words, input=b"")
    assert str(error.value).endswith("<stdin>:2:10: error: __bf16 is not supported on this target"), error.value
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "this clang has no bfloat16"
    assert adapter.compiled([sys.executable, "-c", "print('an object', end='')"], input=b"") == b"an object"


def test_a_missing_compiler_is_reported(adapter: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(adapter.NoCompilerError, match=r"no clang on the PATH; install clang, .* DEV=PYTHON"):
        adapter.compiler()
    for name in ("clang-14", "clang-16"):
        tmp_path.joinpath(name).touch(0o755)
    assert adapter.compiler().endswith("clang-16")
    monkeypatch.setenv("CC", "clang-99")
    with pytest.raises(adapter.NoCompilerError, match=r"no clang-99 on the PATH"):
        adapter.compiler()
