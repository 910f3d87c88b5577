# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's adapter: raw bytes there and back, and inputs that the compiled model has not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from onnx_conformance.backends import protocol, serve
from runtime_fakes import loaded


class Type:
    """An element type by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def to_string(self) -> str:
        return self.name


class Tensor:
    """Memory as OpenVINO shows it: bfloat16 as float16, 4-bit as bytes, strings as bytes of one length."""

    def __init__(self, kind: str, shape: list[int]) -> None:
        self.kind, self.shape = kind, shape
        storage: Any = {"bf16": np.float16, "f32": np.float32, "f8e4m3": np.uint8, "i4": np.int8, "i64": np.int64}
        if kind == "i4":
            shape = [(int(np.prod(shape)) + 1) // 2]
        self.data = None if kind == "string" else np.zeros(shape, storage[kind])
        self.bytes_data: Any = np.zeros(shape, "S1")

    @property
    def element_type(self) -> Type:
        return Type(self.kind)


class Port:
    """An input of a compiled model."""

    def __init__(self, *names: str) -> None:
        self.names = set(names)


class Core:
    """Compiles what the test says into what gives back its inputs."""

    inputs: tuple[Port, ...] = (Port("x"),)

    def read_model(self, model: bytes) -> bytes:
        return model

    def compile_model(self, model: bytes, device: str, config: dict[str, Any]) -> Any:
        assert (model, device) == (b"the model", "CPU")
        assert config["INFERENCE_NUM_THREADS"] == 1
        held: dict[str, Tensor] = {}

        def keep(port: Port, tensor: Tensor) -> None:
            held.update(dict.fromkeys(port.names, tensor))

        request = SimpleNamespace(set_tensor=keep, infer=lambda: None, get_tensor=held.__getitem__)
        return SimpleNamespace(inputs=self.inputs, create_infer_request=lambda: request)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    names = ("bf16", "f32", "f8e4m3", "i4", "i64", "string")
    contents = {"Core": Core, "Tensor": Tensor, "Type": SimpleNamespace(**{name: name for name in names})}
    return loaded(monkeypatch, "openvino", {"openvino": contents})


@pytest.mark.parametrize("name", ["bfloat16", "float8e4m3fn", "int4", "float", "int64"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0)], ids=str)
def test_tensors_keep_their_bits(adapter: Any, name: str, shape: tuple[int, ...]) -> None:
    dtype = protocol.numpy_dtype(protocol.element_type_named(name).number)
    x = np.resize(np.array([1, -2, 3]), shape).astype(dtype)
    [y] = adapter.run(b"the model", {"x": x}, ["x"])
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    assert y.tobytes() == x.tobytes()


def test_strings_keep_their_bytes(adapter: Any) -> None:
    x = np.array([["a", "", "ü\0b", "\udcff"]], object)
    [y] = adapter.run(b"the model", {"x": x}, ["x"])
    buffers: list[bytes] = []
    assert protocol.encode(y, buffers)["strings"] == x.reshape(-1).tolist()
    assert y.shape == (1, 4)


@pytest.mark.parametrize("value", [np.zeros(1, np.complex64), [], {}, None], ids=repr)
def test_values_that_are_no_tensors_opt_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(b"the model", {"x": value}, ["x"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_inputs_are_those_of_the_compiled_model(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, unused = np.float32([1, 2]), np.float32([3])
    [y] = adapter.run(b"the model", {"unused": unused, "x": x}, ["x"])
    assert y.tolist() == [1, 2]
    monkeypatch.setattr(Core, "inputs", (Port("x"), Port("made", "up")))
    with pytest.raises(adapter.InputError, match=r"an input \['made', 'up'\] that the graph does not have") as error:
        adapter.run(b"the model", {"x": x}, ["x"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) is None
