# SPDX-License-Identifier: Apache-2.0
"""The adapter of onnxconverter_common's float16: it sends the sentence on the option that it uses."""

from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace
from typing import TYPE_CHECKING

from runtime_fakes import loaded

if TYPE_CHECKING:
    import pytest


def test_the_promise_is_on_an_option_that_the_adapter_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = loaded(monkeypatch, "onnxconverter_float16", {"onnxconverter_common": {"float16": SimpleNamespace()}})
    monkeypatch.setattr(metadata, "version", lambda _name: "1")
    hello = adapter.info()
    option, _, sentence = hello["promise"].partition(": ")
    assert f"{option}=True" in hello["repro"]
    assert "inputs/outputs" in sentence
