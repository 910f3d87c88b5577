"""The adapter of OpenCV's dnn module: what a Mat can hold, and what an empty one becomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from runtime_fakes import loaded

from backends import serve


class Net:
    """Gives back its inputs; an array without elements as None, as the binding does."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}

    def setInput(self, value: Any, name: str) -> None:  # noqa: N802 - its name
        self.held[name] = value

    def forward(self, names: list[str]) -> tuple[Any, ...]:
        return tuple(self.held[name] if self.held[name].size else None for name in names)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    def read(model: Any) -> Net:
        assert model.dtype == np.uint8
        assert model.tobytes() == b"the model"
        return Net()

    threads: list[int] = []
    contents = {"dnn": SimpleNamespace(readNetFromONNX=read), "setNumThreads": threads.append}
    adapter = loaded(monkeypatch, "opencv", {"cv2": contents})
    assert threads == [1]
    return adapter


def test_answers_equal_the_inputs(adapter: Any) -> None:
    x, empty = np.array(1.5, np.float16), np.zeros((0, 2), np.float32)
    y, nothing = adapter.run(b"the model", {"empty": empty, "x": x}, ["x", "empty"])
    assert (y.dtype, y.shape, float(y)) == (np.float16, (), 1.5)
    assert y is not x, "memory of the net does not outlive it"
    assert nothing is None


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
        with pytest.raises(adapter.NoTypeError, match="the values of int32") as error:
            adapter.run(b"the model", {"x": np.array([beyond], dtype)}, ["x"])
        assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"
