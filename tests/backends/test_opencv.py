"""The adapter of OpenCV's dnn module: what opts out, what a Mat can hold, and what an empty one becomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from runtime_fakes import REAL, loaded, raised, real

from backends import serve

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "OpenCV(5.0.0) /io/opencv/modules/dnn/src"
NODE = f"{SOURCE}/onnx/onnx_importer.cpp:1114: error: (-2:Unspecified error) in function 'handleNode'\n> Node"

# As version 5.0.0 said it.
SAID = {
    "not implemented": (
        (
            f"{SOURCE}/layers/gridsample_layer.cpp:61: error: (-213:The function/feature is not implemented) "
            "Unsupported input depth for GridSample in function 'forward'"
        ),
        "no kernel",
    ),
    "operator": (
        (
            f"{NODE} [Nope@ai.onnx]:(onnx_node_output_0!y) parse error: {SOURCE}/net_impl.hpp:187: error: "
            '(-2:Unspecified error) Can\'t create layer "onnx_node_output_0!y" of type "Nope" in function'
        ),
        "no such layer",
    ),
    "type": (
        (
            f"{SOURCE}/onnx/onnx_importer2.cpp:751: error: (-213:The function/feature is not implemented) "
            "unsupported datatype '<unknown_type #17>' in function 'parseValueInfo'"
        ),
        "no such element type",
    ),
    "string": ("unsupported datatype 'STRING' in function 'parseValueInfo'", "no such element type"),
    "elementwise": (
        (
            f"{SOURCE}/layers/elementwise_layers.cpp:296: error: (-210:Unsupported format or combination of formats) "
            "ElementWiseLayer: unsupported input/output type; expected CV_32F or CV_64F. in function 'forward'"
        ),
        "no kernel for this element type",
    ),
    "reduce": (
        (
            f"{SOURCE}/layers/reduce2_layer.cpp:620: error: (-17:Input image depth is not supported by function) "
            "DNN/Reduce: Unsupported type. in function 'typeDispatch'"
        ),
        "no kernel for this element type",
    ),
    "past": ("> past key and past value are not supported yet:\n>     'inputs.size() < 5' must be 'true'", "no kernel"),
    "no such type": ("unsupported datatype '<unknown_type #99>' in function 'parseValueInfo'", None),
    "graph": (
        (
            f"{NODE} [If@ai.onnx]:(onnx_node!If) parse error: {SOURCE}/onnx/onnx_importer.cpp:578: error: "
            "(-213:The function/feature is not implemented) DNN/ONNX/Attribute[else_branch]: 'Graph' is not supported"
        ),
        None,
    ),
    "assertion": (
        f"{SOURCE}/onnx/onnx_importer2.cpp:1: error: (-215:Assertion failed) typeProto.has_tensor_type()",
        None,
    ),
}


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
    found = loaded(monkeypatch, "opencv", {"cv2": contents})
    assert threads == [1]
    return found


@pytest.mark.parametrize(("text", "reason"), SAID.values(), ids=list(SAID))
def test_what_opts_out(adapter: Any, text: str, reason: str | None) -> None:
    assert serve.opt_out(adapter.OPT_OUTS, raised("error", text)) == reason


def test_every_row_has_a_message(adapter: Any) -> None:
    passed = {"no way to pass this type"}  # By the test of what is no Mat.
    assert {reason for *_, reason in adapter.OPT_OUTS} == {reason for _, reason in SAID.values() if reason} | passed


def test_answers_are_what_was_given(adapter: Any) -> None:
    x, empty = np.array(1.5, np.float16), np.zeros((0, 2), np.float32)
    y, nothing = adapter.run(b"the model", {"empty": empty, "x": x}, ["x", "empty"])
    assert (y.dtype, y.shape, float(y)) == (np.float16, (), 1.5)
    assert y is not x, "memory of the net does not outlive it"
    assert nothing is None


@pytest.mark.parametrize(
    "value", [np.zeros(1, np.complex64), np.array(["a"], object), [], {}, None], ids=lambda value: type(value).__name__
)
def test_what_is_no_mat_opts_out(adapter: Any, value: Any) -> None:
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


@REAL
def test_the_real_one(tmp_path: Path) -> None:
    wanted = {
        "ai.onnx/Split/13/lengths": "pass",
        "ai.onnx/Split/13/dtypes/bfloat16": "unsupported",
        "ai.onnx/Split/13/dtypes/string": "unsupported",
        "ai.onnx/Split/13/dtypes/float16": "wrong_type",
        "ai.onnx/Split/13/dtypes_extremes/int64": "unsupported",
        "ai.onnx/ReduceSum/1/dtypes/uint32": "refused",
        "ai.onnx/Reshape/14/allowzero_and_inferred": "crash",
    }
    assert real(tmp_path, "opencv", wanted, signal="SIGFPE")["version"] == "5.0.0.93"
