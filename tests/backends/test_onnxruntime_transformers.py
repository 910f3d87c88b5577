# SPDX-License-Identifier: Apache-2.0
"""The adapter of ONNX Runtime's fusions for transformers: its option, and the options that it passes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx.parser
import pytest

from onnx_conformance.backends.option import VARIABLE
from runtime_fakes import loaded

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Abs(x) }'
)


class FusionOptions:
    """The options of a type of model; clip has one more."""

    def __init__(self, model_type: str) -> None:
        self.enable_attention = self.enable_gelu = True
        self.enable_gelu_approximation = False
        self.use_multi_head_attention = False
        if model_type == "clip":
            self.enable_bias_add = True


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the adapter with an optimizer that writes its arguments into the name of the graph."""

    def optimize_model(model: Any, *given: Any, optimization_options: FusionOptions, opt_level: int) -> Any:
        options = {name: value for name, value in vars(optimization_options).items() if value}
        model.graph.name = f"{given} {sorted(options)} {opt_level}"
        return SimpleNamespace(model=model, save_model_to_file=lambda path: Path(path).write_bytes(saved(model)))

    def saved(model: Any) -> bytes:
        model.producer_name = "saved"
        return bytes(model.SerializeToString())

    optimizer = SimpleNamespace(MODEL_TYPES={"gpt2": 0, "clip": 0, "bert": 0}, optimize_model=optimize_model)
    modules = {
        "sympy": {},
        "onnxruntime": {"__version__": "1"},
        "onnxruntime.transformers": {"optimizer": optimizer},
        "onnxruntime.transformers.fusion_options": {"FusionOptions": FusionOptions},
    }
    return loaded(monkeypatch, "onnxruntime_transformers", modules)


@pytest.mark.parametrize(
    ("option", "called"),
    [
        ("", "('bert', 0) ['enable_attention', 'enable_gelu'] 0"),
        ("gpt2", "('gpt2', 2) ['enable_attention', 'enable_gelu'] 0"),
        ("clip", "('clip', 0) ['enable_attention', 'enable_bias_add', 'enable_gelu'] 0"),
        ("gpt2,only:gelu", "('gpt2', 2) ['enable_gelu'] 0"),
        ("bert,without:gelu", "('bert', 0) ['enable_attention'] 0"),
        ("only:gelu_approximation+gelu", "('bert', 0) ['enable_gelu', 'enable_gelu_approximation'] 0"),
        ("only:", "('bert', 0) [] 0"),
    ],
)
def test_the_option_chooses_the_type_and_the_fusions(
    adapter: Any, monkeypatch: pytest.MonkeyPatch, option: str, called: str
) -> None:
    monkeypatch.setenv(VARIABLE, option)
    made = onnx.load_from_string(adapter.transform(MODEL.SerializeToString()))
    assert (made.graph.name, made.producer_name) == (called, "saved")


def test_a_script_changes_only_the_options_that_differ(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "gpt2,only:gelu")
    code = adapter.info()["repro"]
    changes = [line for line in code.splitlines() if line.startswith("options.")]
    assert changes == ["options.enable_attention = False"]
    assert 'optimize_model(model, "gpt2", num_heads=2, optimization_options=options, opt_level=0)' in code


@pytest.mark.parametrize("option", ["llama", "bert,only:attention+softmax", "bert,only:bias_add"])
def test_an_unknown_type_or_fusion_gets_a_sentence(adapter: Any, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.setenv(VARIABLE, option)
    with pytest.raises(ValueError, match="there"):
        adapter.info()


def test_the_passes_are_those_that_run(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "gpt2,without:attention")
    assert adapter.info()["passes"] == ["gelu"]
