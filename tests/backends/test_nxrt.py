# SPDX-License-Identifier: Apache-2.0
"""The adapter of nxrt: what its Python interface cannot pass, files of a model, and sessions that run twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import parser

from onnx_conformance.backends import protocol, serve
from runtime_fakes import loaded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class InferenceSession:
    """Returns its input under every name."""

    opened: list[Any]

    def __init__(self, model: bytes | Path, providers: Sequence[str]) -> None:
        assert list(providers) == ["CPUExecutionProvider"]
        self.opened.append(model)

    def run(self, names: Sequence[str], inputs: dict[str, Any]) -> list[Any]:
        [value] = inputs.values()
        return [value for _ in names]


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(InferenceSession, "opened", [], raising=False)
    return loaded(monkeypatch, "nxrt", {"nxrt": {"InferenceSession": InferenceSession}})


def model(text: str) -> bytes:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 16]> {text}').SerializeToString()


ONE = model("g (float[2] x) => (float[2] y) { y = Neg(x) }")


def test_a_session_loads_once_and_runs_more_than_once(adapter: Any) -> None:
    run = adapter.session(ONE)
    for x in (1.0, 3.0):
        assert [value.tolist() for value in run({"x": np.array([x], np.float32)}, ["y"])] == [[x]]
    assert InferenceSession.opened == [ONE]


def test_a_model_with_files_is_loaded_from_its_folder(adapter: Any, tmp_path: Path) -> None:
    adapter.session(ONE, str(tmp_path))
    assert InferenceSession.opened == [tmp_path / "model.onnx"]


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float16", "bfloat16", "double"])
def test_a_type_that_the_interface_takes_is_passed_as_it_is(adapter: Any, name: str) -> None:
    x = np.ones(2, protocol.numpy_dtype(protocol.element_type_named(name).number))
    [y] = adapter.run(ONE, {"x": x}, ["y"])
    assert y is x


@pytest.mark.parametrize("name", ["string", "complex64", "float8e5m2", "int4"])
def test_another_type_opts_out(adapter: Any, name: str) -> None:
    dtype = protocol.numpy_dtype(protocol.element_type_named(name).number)
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(ONE, {"x": np.zeros(1, dtype)}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


@pytest.mark.parametrize(
    "graph",
    [
        "g (optional(float[2]) x) => (float[2] y) { y = OptionalGetElement(x) }",
        "g (float[2] x) => (optional(float[2]) y) { y = Optional(x) }",
        "g (seq(float[2]) x) => (int64 y) { y = SequenceLength(x) }",
    ],
    ids=["optional input", "optional output", "sequence"],
)
def test_a_graph_with_an_input_or_output_that_is_no_tensor_opts_out(adapter: Any, graph: str) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(model(graph), {"x": np.ones(2, np.float32)}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"
    assert not InferenceSession.opened
