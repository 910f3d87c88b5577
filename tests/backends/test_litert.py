# SPDX-License-Identifier: Apache-2.0
"""The adapter of onnx2tf and LiteRT: errors of each, and outputs whose layout onnx2tf changes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest

from onnx_conformance.backends import serve
from runtime_fakes import loaded

X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)


class Runner:
    """Returns its only input `x`, changed by `answer`, as `y`."""

    answer: Any = staticmethod(lambda x: x)

    def get_input_details(self) -> dict[str, Any]:
        return {"x": {}}

    def __call__(self, x: Any) -> dict[str, Any]:
        return {"y": self.answer(x)}


class Interpreter:
    def __init__(self, model_content: bytes, num_threads: int) -> None:
        assert (model_content, num_threads) == (b"converted", 1)

    def get_signature_runner(self) -> Runner:
        return Runner()


@pytest.fixture
def litert(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the adapter with a converter that writes a file, or raises the adapter's `error`."""
    monkeypatch.setenv("PATH", "there")

    def convert(**options: Any) -> None:
        adapter.options = options
        assert Path("model.onnx").exists()
        assert np.load(adapter.IMAGES).shape == (20, 128, 128, 3), "otherwise onnx2tf downloads it"
        print(adapter.printed)
        if adapter.error is not None:
            raise adapter.error
        Path("saved").mkdir()
        Path("saved", "model_float32.tflite").write_bytes(b"converted")

    modules: dict[str, dict[str, Any]] = {
        "onnx2tf": {"convert": convert},
        "ai_edge_litert": {},
        "ai_edge_litert.interpreter": {"Interpreter": Interpreter},
    }
    adapter = loaded(monkeypatch, "litert", modules)
    monkeypatch.setattr(adapter, "version", lambda _: "1")
    adapter.error, adapter.printed = None, ""
    return adapter


def identity(kind: str = "float", declared: str = "[1, 2, 3, 4]") -> bytes:
    """Return a model of Identity with an output of a type."""
    graph = f"g ({kind}{declared} x) => ({kind}{declared} y) {{ y = Identity(x) }}"
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {graph}').SerializeToString()


def test_inputs_keep_their_layout(litert: Any) -> None:
    before = Path.cwd()
    [y] = litert.run(identity(), {"x": X}, ["y"])
    assert y.tolist() == X.tolist()
    assert litert.options["keep_shape_absolutely_input_names"] == ["x"]
    assert litert.options["overwrite_input_shape"] is None
    assert Path.cwd() == before
    assert os.environ["PATH"].endswith(f"{os.pathsep}there"), "onnx2tf runs onnxsim, which is in the environment"


def test_symbolic_inputs_have_the_shapes_of_the_values(litert: Any) -> None:
    [y] = litert.run(identity(declared="[N, 3]"), {"x": np.ones((2, 3), np.float32)}, ["y"])
    assert (y.shape, litert.options["overwrite_input_shape"]) == ((2, 3), ["x:2,3"])


def test_an_output_with_the_channels_last_opts_out(litert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "answer", staticmethod(lambda x: np.moveaxis(x, 1, -1)))
    with pytest.raises(litert.LayoutError) as error:
        litert.run(identity(), {"x": X}, ["y"])
    assert str(error.value) == "the returned shape has the channels last: output y"
    assert serve.opt_out(litert.OPT_OUTS, error.value) == "channels last"


@pytest.mark.parametrize(
    ("declared", "shape"), [("[1, 3, 3, 3]", (1, 3, 3, 3)), ("[1, N, 3]", (1, 2, 3)), ("[]", (1, 2, 3))]
)
def test_a_shape_that_does_not_show_the_layout_opts_out(litert: Any, declared: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(litert.LayoutError, match="layout"):
        litert.run(identity(declared=declared), {"x": np.ones(shape, np.float32)}, ["y"])


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (5, 1, 1), (2, 2)])
def test_other_shapes_are_answers(litert: Any, shape: tuple[int, ...]) -> None:
    [y] = litert.run(identity(declared=str(list(shape))), {"x": np.ones(shape, np.float32)}, ["y"])
    assert y.shape == shape


def test_another_shape_than_the_declared_one_is_an_answer(litert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "answer", staticmethod(lambda x: x[..., :1]))
    [y] = litert.run(identity(), {"x": X}, ["y"])
    assert y.shape == (1, 2, 3, 1)


@pytest.mark.parametrize("kind", ["bfloat16", "int4", "complex128", "float16"])
def test_other_types_opt_out(litert: Any, kind: str) -> None:
    with pytest.raises(litert.NoTypeError) as error:
        litert.run(identity(kind), {"x": X}, ["y"])
    assert str(error.value) == f"a converted model has no tensors of {kind}: output y"
    assert serve.opt_out(litert.OPT_OUTS, error.value) == "no such element type"
    with pytest.raises(litert.NoTypeError, match="complex128"):
        litert.run(identity(), {"x": X.astype(np.complex128)}, ["y"])


@pytest.mark.parametrize("value", [[X], {}, None], ids=lambda value: type(value).__name__)
def test_values_that_are_no_tensors_opt_out(litert: Any, value: Any) -> None:
    with pytest.raises(litert.NoSequenceError):
        litert.run(identity(), {"x": value}, ["y"])
    with pytest.raises(litert.NoSequenceError):
        litert.run(identity("seq(float)", ""), {"x": X}, ["y"])


def test_an_error_of_onnx2tf_is_named(litert: Any) -> None:
    litert.error = IndexError("list index out of range")
    with pytest.raises(litert.ConversionError) as error:
        litert.run(identity(), {"x": X}, ["y"])
    assert str(error.value) == "IndexError: list index out of range"
    assert serve.opt_out(litert.OPT_OUTS, error.value) is None


def test_an_operator_that_onnx2tf_lacks_opts_out(litert: Any) -> None:
    litert.error, litert.printed = SystemExit(1), "\x1b[31mERROR:\x1b[0m Nope OP is not yet implemented."
    with pytest.raises(litert.ConversionError) as error:
        litert.run(identity(), {"x": X}, ["y"])
    assert str(error.value) == "exit status 1\nNope OP is not yet implemented."
    assert serve.opt_out(litert.OPT_OUTS, error.value) == "no such operator"


def test_a_message_of_the_compiler_has_no_places(litert: Any) -> None:
    litert.error = RuntimeError(
        "Could not translate MLIR to FlatBuffer./here/serve.py:649:1: error: 'tf.Acosh' op is neither a custom op nor "
        "a flex op\n    sys.exit(main())\n^\n<unknown>:0: note: see current operation\nCustom ops: Acosh\nDetails:"
    )
    with pytest.raises(litert.ConversionError) as error:
        litert.run(identity(), {"x": X}, ["y"])
    assert str(error.value) == (
        "RuntimeError: Could not translate MLIR to FlatBuffer.\n"
        "error: 'tf.Acosh' op is neither a custom op nor a flex op\nCustom ops: Acosh"
    )
    assert serve.opt_out(litert.OPT_OUTS, error.value) == "no kernel"


def test_an_error_of_litert_is_named(litert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> Any:
        raise RuntimeError("failed to prepare")

    monkeypatch.setattr(Runner, "answer", staticmethod(fail))
    with pytest.raises(litert.LiteRTError) as error:
        litert.run(identity(), {"x": X}, ["y"])
    assert str(error.value) == "RuntimeError: failed to prepare"
    assert serve.opt_out(litert.OPT_OUTS, error.value) is None


def test_an_output_that_is_missing_is_a_failure(litert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "__call__", lambda _, x: {"x": x, "z": x})
    with pytest.raises(litert.ConversionError, match=r"y$"):
        litert.run(identity(), {"x": X}, ["y"])


def test_outputs_with_other_names_opt_out(litert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "__call__", lambda _, x: {"y_1": x})
    with pytest.raises(litert.NamesError) as error:
        litert.run(identity(), {"x": X}, ["y"])
    assert str(error.value) == "onnx2tf named the outputs y_1"
    assert serve.opt_out(litert.OPT_OUTS, error.value) == "outputs without their names"
