# SPDX-License-Identifier: Apache-2.0
"""onnx2torch's adapter: assignment of outputs, types beyond numpy's, and the stub of torchvision."""

from __future__ import annotations

import contextlib
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnx_conformance.backends import protocol, serve
from runtime_fakes import loaded

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


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    def module(*inputs: Tensor) -> Any:
        return inputs if len(inputs) > 1 else inputs[0]

    for name in ("torchvision", "torchvision.ops"):
        monkeypatch.setitem(sys.modules, name, None)  # As long as the test lasts.
        monkeypatch.delitem(sys.modules, name)
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
    convert = lambda proto: SimpleNamespace(eval=lambda: module)  # noqa: ARG005, E731 - what it makes is called above
    return loaded(monkeypatch, "onnx2torch", {"torch": torch, "onnx2torch": {"convert": convert}})


def graph(text: str) -> onnx.GraphProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> {text}').graph


TWO = graph("g (float[4] x) => (float[2] b, float[4] c, float[2] a) { a, b = Split(x)  c = Neg(x) }")
ONE = graph("g (float[4] x) => (float[2] a, float[2] b) { a, b = Split(x) }")
FIRST = graph("g (float[4] x) => (float[4] y) { y, mask = Dropout(x) }")


@pytest.mark.parametrize(
    ("model", "result", "outputs", "arranged"),
    [
        (TWO, [("a", "b"), "c"], ["a", "b", "c"], ["a", "b", "c"]),
        (TWO, [("a", "b"), "c"], ["c", "b"], ["c", "b"]),
        (ONE, ("a", "b"), ["b", "a"], ["b", "a"]),
        (ONE, ("a", "b", "more"), ["a", "b"], ["a", "b", "more"]),
        (ONE, "a", ["a", "b"], ["a"]),
        (FIRST, "y", ["y"], ["y"]),
        (FIRST, ("y", "mask"), ["y"], ["y"]),
        (TWO, ["a", ("c", "more")], ["a", "c"], ["a", "c", "more"]),
    ],
)
def test_a_result_is_assigned_to_the_outputs(
    adapter: Any, model: Any, result: Any, outputs: list[str], arranged: list[str]
) -> None:
    assert adapter.arranged(result, model, outputs) == arranged


def test_types_beyond_numpys_keep_their_bits(adapter: Any) -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> g (bfloat16[2] x, float[2] z) => (bfloat16[2] y) { y = Identity(x) }'
    )
    x = np.array([1.5, -2]).astype(BFLOAT16)
    [y] = adapter.run(model.SerializeToString(), {"x": x}, ["y"])
    assert y.dtype == BFLOAT16
    assert y.tolist() == x.tolist()
    names = [row.name for row in protocol.ELEMENT_TYPES if row.name in (*adapter.NATIVE, *adapter.VIEWED)]
    assert {"float", "uint16", "complex64", "bfloat16", "float8e5m2"} <= set(names)
    assert not {"string", "int4", "float8e4m3fn"} & set(names), "not numpy's, and not this torch's"


@pytest.mark.parametrize(
    "value", [np.array(["a"], object), np.zeros(1, "i1").view("i1").astype("O"), [], {}, None], ids=repr
)
def test_values_that_are_no_tensors_opt_out(adapter: Any, value: Any) -> None:
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) { y = Neg(x) }')
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(model.SerializeToString(), {"x": value}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_the_stub_of_torchvision_can_be_imported_but_not_called(adapter: Any) -> None:
    import torchvision  # noqa: PLC0415 - the adapter puts it there
    from torchvision.ops import roi_align  # noqa: PLC0415

    for function in (roi_align, torchvision.ops.nms, torchvision.ops.box_convert):
        with pytest.raises(adapter.NoTorchvisionError) as error:
            function(1, boxes=2)
        assert serve.opt_out(adapter.OPT_OUTS, error.value) == "torchvision is missing"
