# SPDX-License-Identifier: Apache-2.0
"""The adapter of OpenCV's dnn module: what a Mat can hold, and what an empty one becomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from onnx_conformance.backends import serve
from runtime_fakes import loaded


class Net:
    """Gives back its inputs; an array without elements as None, as the binding does."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}

    def setInput(self, value: Any, name: str) -> None:  # noqa: N802 - its name
        self.held[name] = value

    def forward(self, names: list[str]) -> tuple[Any, ...]:
        return tuple(self.held[name] if self.held[name].size else None for name in names)


def graph(shape: str) -> bytes:
    """Return a model whose output is declared with this shape."""
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> g (float{shape} x) => (float{shape} y) {{ y = Identity(x) }}'
    ).SerializeToString()


GRAPHS = {shape: graph(shape) for shape in ("", "[N]", "[2,0]", "[2,1]", "[]")}


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    def read(model: Any) -> Net:
        assert model.dtype == np.uint8
        assert model.tobytes() in {b"the model", *GRAPHS.values()}
        return Net()

    threads: list[int] = []
    contents = {"dnn": SimpleNamespace(readNetFromONNX=read), "setNumThreads": threads.append}
    adapter = loaded(monkeypatch, "opencv", {"cv2": contents})
    assert threads == [1]
    return adapter


def test_answers_equal_the_inputs(adapter: Any) -> None:
    x = np.array(1.5, np.float16)
    [y] = adapter.run(b"the model", {"x": x}, ["x"])
    assert (y.dtype, y.shape, float(y)) == (np.float16, (), 1.5)
    assert y is not x, "memory of the net does not outlive it"


@pytest.mark.parametrize("shape", ["[]", "[N]", "[2,0]"])
def test_an_array_without_elements_opts_out(adapter: Any, shape: str) -> None:
    with pytest.raises(adapter.NoTypeError, match="output y") as error:
        adapter.run(GRAPHS[shape], {"y": np.zeros((2, 0), np.float32)}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


@pytest.mark.parametrize("shape", ["[2,1]", ""])
def test_no_array_where_the_graph_declares_elements_is_an_answer(adapter: Any, shape: str) -> None:
    assert adapter.run(GRAPHS[shape], {"y": np.zeros((2, 0), np.float32)}, ["y"]) == [None]


@pytest.mark.parametrize(
    "value", [np.zeros(1, np.complex64), np.array(["a"], object), [], {}, None], ids=lambda value: type(value).__name__
)
def test_values_that_are_no_mat_opt_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(b"the model", {"x": value}, ["x"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_values_that_the_binding_would_change_opt_out(adapter: Any, dtype: Any) -> None:
    x = np.array([0, 2**31 - 1], dtype)
    [y] = adapter.run(b"the model", {"x": x}, ["x"])
    assert y.tolist() == x.tolist()
    for beyond in (2**31, 2**32 + 1, 2**63 - 1):
        with pytest.raises(adapter.NoTypeError, match=f"{np.dtype(dtype)} .*int32") as error:
            adapter.run(b"the model", {"x": np.array([beyond], dtype)}, ["x"])
        assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"
