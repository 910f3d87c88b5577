# SPDX-License-Identifier: Apache-2.0
"""The adapter of MNN: what the converter prints, and the types that MNN stores as others."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx.parser
import pytest

from onnx_conformance.backends import serve
from runtime_fakes import loaded

FLOAT, INT, INT64, UINT8, INT8 = MNN_TYPES = ("float", "int", "int64", "uint8", "int8")
DTYPES = dict(zip(MNN_TYPES, (np.float32, np.int32, np.int64, np.uint8, np.int8), strict=True))
NCHW, NC4HW4 = "NCHW", "NC4HW4"


class Var:
    """A value as MNN's: memory, a shape, and the layout of the memory."""

    valid = True

    def __init__(self, array: Any, data_format: str = NCHW) -> None:
        self.array, self.data_format = np.asarray(array), data_format
        self.shape = list(self.array.shape)
        self.dtype = next(name for name, dtype in DTYPES.items() if self.array.dtype == dtype)

    def read(self) -> Any:
        if not self.array.size:
            raise SystemError("returned a result with an exception set") from TypeError("call to readMap meet a error")
        return self.array.ravel()[::-1].reshape(self.array.shape) if self.data_format == NC4HW4 else self.array


class Module:
    """Returns what `answer` makes of its inputs."""

    answer: Any = staticmethod(lambda values: values)

    def forward(self, values: list[Var]) -> list[Var]:
        os.write(1, b"Compute Shape Error for y\ncode=3 in onForward, 666 \n")
        answer: list[Var] = self.answer(values)
        return answer


@pytest.fixture
def mnn(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the adapter with a converter that copies the model, and a module that returns its inputs."""

    def convert(words: list[str]) -> bool:
        options = dict(zip(words[1::2], words[2::2], strict=True))
        assert {"-f": "ONNX", "--bizCode": "MNN"}.items() <= options.items()
        if b"Hardmax" in Path(options["--modelFile"]).read_bytes():
            os.write(1, b"[02:10:46] :47: ONNX Model opset version: 21\n")
            os.write(1, f"[02:10:46] :220: These Op Not Support: ONNX::Hardmax in {options['--modelFile']}\n".encode())
        else:
            Path(options["--MNNModel"]).write_bytes(b"converted")
        return True

    def load(path: str, *_: list[str]) -> Module:
        assert Path(path).read_bytes() == b"converted"
        return Module()

    def const(value: bytes, shape: list[int], data_format: str, dtype: str) -> Var:
        return Var(np.frombuffer(value, DTYPES[dtype]).reshape(shape), data_format)

    expr = SimpleNamespace(**{name: name for name in (*MNN_TYPES, NCHW, NC4HW4)}, const=const)
    expr.convert = lambda value, data_format: Var(value.array, data_format)
    contents = {"expr": expr, "nn": SimpleNamespace(load_module_from_file=load)}
    return loaded(monkeypatch, "mnn", {"_tools": {"mnnconvert": convert}, "MNN": contents})


def identity(kind: str) -> bytes:
    """Return a model of Identity from an input to an output of a type."""
    text = f'<ir_version: 10, opset_import: ["" : 21]> g ({kind} x) => ({kind} y) {{ y = Identity(x) }}'
    return onnx.parser.parse_model(text).SerializeToString()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.int64, np.bool_])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1)])
def test_values_of_mnns_types_return_unchanged(mnn: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    x = np.ones(shape, dtype)
    kind = onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
    [y] = mnn.run(identity(onnx.TensorProto.DataType.Name(kind).lower()), {"x": x}, ["y"])
    assert (y.dtype, y.shape, y.tolist()) == (x.dtype, x.shape, x.tolist())


def test_an_int8_opts_out(mnn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(mnn.NoTypeError, match="int8"):
        mnn.run(identity("float"), {"x": np.ones(1, np.int8)}, ["y"])
    monkeypatch.setattr(Module, "answer", staticmethod(lambda _: [Var(np.array([-1], np.int8))]))
    [y] = mnn.run(identity("uint8"), {"x": np.ones(1, np.uint8)}, ["y"])
    assert y.dtype == np.int8, "where the graph declares another type, it is an answer"


def test_memory_that_is_not_contiguous_is_passed_in_order(mnn: Any) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3).T
    [y] = mnn.run(identity("float"), {"x": x}, ["y"])
    assert y.tolist() == x.tolist()


def test_a_packed_answer_is_converted(mnn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Module, "answer", staticmethod(lambda values: [Var(item.array, NC4HW4) for item in values]))
    x = np.arange(3, dtype=np.float32)
    [y] = mnn.run(identity("float"), {"x": x}, ["y"])
    assert y.tolist() == x.tolist()


def test_a_bool_that_is_neither_0_nor_1_stays_an_integer(mnn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Module, "answer", staticmethod(lambda _: [Var(np.array([1, -1], np.int32))]))
    [y] = mnn.run(identity("bool"), {"x": np.ones(2, np.bool_)}, ["y"])
    assert (y.dtype, y.tolist()) == (np.int32, [1, -1])


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**63 - 1])
def test_an_int64_beyond_int32_opts_out(mnn: Any, value: int) -> None:
    with pytest.raises(mnn.NoTypeError) as error:
        mnn.run(identity("int64"), {"x": np.array([value])}, ["y"])
    assert str(error.value) == "MNN stores int64 as int32, which lacks some of the values"
    assert serve.opt_out(mnn.OPT_OUTS, error.value) == "no such element type"


@pytest.mark.parametrize("kind", ["double", "float16", "int8", "int16", "uint32", "string"])
def test_outputs_of_other_types_opt_out(mnn: Any, kind: str) -> None:
    with pytest.raises(mnn.NoTypeError) as error:
        mnn.run(identity(kind), {"x": np.ones(1, np.float32)}, ["y"])
    assert str(error.value) == f"MNN has no tensors of {kind}: output y"
    assert serve.opt_out(mnn.OPT_OUTS, error.value) == "no such element type"


@pytest.mark.parametrize("value", [[np.ones(1, np.float32)], {}, None], ids=lambda value: type(value).__name__)
def test_values_that_are_no_tensors_opt_out(mnn: Any, value: Any) -> None:
    with pytest.raises(mnn.NoSequenceError):
        mnn.run(identity("float"), {"x": value}, ["y"])
    with pytest.raises(mnn.NoSequenceError) as error:
        mnn.run(identity("seq(float)"), {"x": np.ones(1, np.float32)}, ["y"])
    assert str(error.value) == "MNN has tensors only: output y"


def test_the_error_of_a_conversion_is_what_the_converter_printed(mnn: Any) -> None:
    model = identity("float").replace(b"Identity", b"Hardmax1")
    with pytest.raises(mnn.ConversionError) as error:
        mnn.run(model, {"x": np.ones(1, np.float32)}, ["y"])
    assert str(error.value) == "These Op Not Support: ONNX::Hardmax in model.onnx"
    assert serve.opt_out(mnn.OPT_OUTS, error.value) == "no such operator"


def test_a_module_that_returns_nothing_fails_with_its_message(mnn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Module, "answer", staticmethod(lambda _: []))
    with pytest.raises(mnn.RunError) as error:
        mnn.run(identity("float"), {"x": np.ones(1, np.float32)}, ["y"])
    assert str(error.value) == "Compute Shape Error for y\ncode=3 in onForward, 666"
    assert serve.opt_out(mnn.OPT_OUTS, error.value) is None
