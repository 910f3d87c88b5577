# SPDX-License-Identifier: Apache-2.0
"""The adapter of onnx2pytorch: the order of inputs and outputs, strings, sequences, and types beyond numpy's."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnx_conformance.backends import protocol, serve
from runtime_fakes import loaded

if TYPE_CHECKING:
    from pathlib import Path

BFLOAT16 = protocol.numpy_dtype(protocol.element_type_named("bfloat16").number)


class DType:
    """What torch.dtype is here."""

    def __init__(self, name: str) -> None:
        self.name = name


class Tensor:
    """As much of PyTorch's as the adapter touches."""

    def __init__(self, array: Any, dtype: Any = None) -> None:
        self.array, self.dtype = array, dtype

    def view(self, dtype: DType) -> Tensor:
        return Tensor(self.array, dtype)

    def contiguous(self) -> Tensor:
        return self

    resolve_conj = resolve_neg = contiguous

    def numpy(self) -> Any:
        assert getattr(self.dtype, "name", "") != "bfloat16", "numpy has none"
        return self.array


class ConvertModel:
    """A module that returns its inputs: one alone as it is, and more as a list."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.input_names = [value.name for value in model.graph.input]
        self.output_names = [value.name for value in model.graph.output]
        self.converted = 0

    def eval(self) -> ConvertModel:
        self.converted += 1
        return self

    def __call__(self, *inputs: Any) -> Any:
        assert self.converted == 1, "in training mode"
        return list(inputs) if len(self.output_names) > 1 else inputs[0]


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    types = {name: DType(name) for name in ("bfloat16", "float8_e5m2", "uint8", "uint16")}
    torch: dict[str, Any] = {
        **types,
        "dtype": DType,
        "Tensor": Tensor,
        "from_numpy": Tensor,
        "no_grad": contextlib.nullcontext,
        "set_num_threads": int,
        "set_num_interop_threads": int,
    }
    return loaded(monkeypatch, "onnx2pytorch", {"torch": torch, "onnx2pytorch": {"ConvertModel": ConvertModel}})


def model(text: str) -> bytes:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> {text}').SerializeToString()


ONE = model("g (float[2] x) => (float[2] y) { y = Neg(x) }")
TWO = model("g (float[2] a, float[2] b) => (float[2] c, float[2] d) { c = Neg(a)  d = Neg(b) }")


def test_inputs_are_passed_in_the_order_of_the_graph_and_outputs_are_found_by_name(adapter: Any) -> None:
    inputs = {"b": np.array([2.0]), "a": np.array([1.0])}
    d, c = adapter.run(TWO, inputs, ["d", "c"])
    assert (d.tolist(), c.tolist()) == ([2.0], [1.0])


def test_a_session_converts_once_and_runs_more_than_once(adapter: Any, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(ONE)
    run = adapter.session(b"", str(tmp_path))
    for x in (1.0, 3.0):
        assert [value.tolist() for value in run({"x": np.array([x])}, ["y"])] == [[x]]


def test_types_beyond_numpys_keep_their_bits(adapter: Any) -> None:
    x = np.array([1.5, -2]).astype(BFLOAT16)
    [y] = adapter.run(ONE, {"x": x}, ["y"])
    assert y.dtype == BFLOAT16
    assert y.tolist() == x.tolist()
    names = {*adapter.NATIVE, *adapter.VIEWED}
    assert {"float", "uint16", "complex64", "bfloat16", "float8e5m2"} <= names
    assert not {"string", "int4", "float8e4m3fn"} & names, "not numpy's, and not this torch's"


@pytest.mark.parametrize("value", [np.array(["a"], object), None, []], ids=["strings", "empty optional", "no tensors"])
def test_values_that_are_no_tensors_are_passed_as_they_are(adapter: Any, value: Any) -> None:
    [y] = adapter.run(ONE, {"x": value}, ["y"])
    assert y is value if value is None else list(y) == list(value)


def test_a_sequence_is_a_list_of_tensors(adapter: Any) -> None:
    [y] = adapter.run(ONE, {"x": [np.array([1.0]), np.array([2.0, 3.0])]}, ["y"])
    assert [item.tolist() for item in y] == [[1.0], [2.0, 3.0]]


@pytest.mark.parametrize("value", [{}, np.zeros(1, "i1").astype(protocol.numpy_dtype(22))], ids=["map", "int4"])
def test_values_of_other_types_opt_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(ONE, {"x": value}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"
