# SPDX-License-Identifier: Apache-2.0
"""tract's adapter: its TDim, outputs that lost their names, and the file that it reads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from onnx_conformance.backends import serve
from runtime_fakes import loaded


class Tensor:
    """An answer: its array, which a TDim does not give."""

    def __init__(self, array: Any, fact: str) -> None:
        self.array, self.fact = array, fact

    def convert_to(self, kind: str) -> Tensor:
        assert kind == "I64"
        return Tensor(self.array.astype(np.int64), "i64")

    def to_numpy(self) -> Any:
        assert not self.fact.endswith("tdim"), "Unsupported DatumType in the public API TDim"
        return self.array


class Runnable:
    """Gives back its inputs; a name that begins with t is a TDim's."""

    def __init__(self, facts: list[str]) -> None:
        self.facts = facts

    def output_facts(self) -> list[Any]:
        return [SimpleNamespace(dump=lambda fact=fact: fact) for fact in self.facts]

    def run(self, inputs: list[Any]) -> list[Tensor]:
        return [Tensor(array, fact) for array, fact in zip(inputs, self.facts, strict=True)]


class Model:
    """A model that gives back its inputs, under other names."""

    inputs: tuple[str, ...] = ("x", "shape")
    outputs: tuple[str, ...] = ("y", "split.1")
    facts: tuple[str, ...] = ("2,f32", "1,tdim")

    def input_count(self) -> int:
        return len(self.inputs)

    def output_count(self) -> int:
        return len(self.outputs)

    def input_name(self, place: int) -> str:
        return self.inputs[place]

    def output_name(self, place: int) -> str:
        return self.outputs[place]

    def into_model(self) -> Any:
        return SimpleNamespace(into_runnable=lambda: Runnable(list(self.facts)))


@pytest.fixture
def paths() -> list[Path]:
    return []


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, paths: list[Path]) -> Any:
    def load(path: Path) -> Model:
        assert path.read_bytes() == b"the model"
        paths.append(path)
        return Model()

    contents = {"onnx": lambda: SimpleNamespace(load=load), "Tensor": Tensor, "DatumType": SimpleNamespace(I64="I64")}
    return loaded(monkeypatch, "tract", {"tract": contents})


X, SHAPE = np.float32([1, 2]), np.array([2])


def test_unnamed_outputs_are_assigned_by_order(adapter: Any) -> None:
    y, size = adapter.run(b"the model", {"shape": SHAPE, "x": X}, ["y", "size"])
    assert y.tolist() == [1, 2]
    assert (size.dtype, size.tolist()) == (np.int64, [2])
    with pytest.raises(adapter.OutputError, match="has 2 outputs, the graph 1") as error:
        adapter.run(b"the model", {"shape": SHAPE, "x": X}, ["size"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) is None


def test_outputs_with_their_names_come_in_the_order_asked_for(adapter: Any) -> None:
    size, y = adapter.run(b"the model", {"shape": SHAPE, "x": X}, ["split.1", "y"])
    assert (size.tolist(), y.tolist()) == ([2], [1, 2])
    [y] = adapter.run(b"the model", {"shape": SHAPE, "x": X}, ["y"])
    assert y.tolist() == [1, 2]


def test_a_missing_input_is_reported(adapter: Any) -> None:
    with pytest.raises(adapter.InputError, match=r"inputs \['shape'\] that the graph does not have"):
        adapter.run(b"the model", {"x": X}, ["y", "size"])


@pytest.mark.parametrize("memory", [True, False])
def test_the_temporary_file_is_removed(
    adapter: Any, monkeypatch: pytest.MonkeyPatch, paths: list[Path], *, memory: bool
) -> None:
    if not memory:
        monkeypatch.delattr(adapter.os, "memfd_create", raising=False)
    adapter.run(b"the model", {"shape": SHAPE, "x": X}, ["y", "size"])
    [path] = paths
    assert not path.exists(), path
    assert memory == (Path("/proc/self/fd") in path.parents) or not hasattr(adapter.os, "memfd_create")


@pytest.mark.parametrize(
    "value", [np.zeros(1, np.complex64), np.array(["a"], object), [], {}, None], ids=lambda value: type(value).__name__
)
def test_values_that_are_no_tensors_opt_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(b"the model", {"x": value, "shape": SHAPE}, ["y", "size"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"
