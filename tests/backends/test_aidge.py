# SPDX-License-Identifier: Apache-2.0
"""The adapter of Aidge: names of inputs and outputs, errors that are only in the log, and outputs without values."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from onnx_conformance.backends import serve
from runtime_fakes import loaded

CONVERTER_ERROR = (
    "WARNING: Trying to load node named [\x1b[1m\x1b[3m\x1b[0m] of type [\x1b[1m\x1b[3mBitShift\x1b[0m].\n"
    "WARNING   Please report this issue at https://gitlab.eclipse.org/eclipse/aidge/aidge_onnx by\n"
    "WARNING   providing your ONNX model and the following error:\n"
    "WARNING   \"ONNX_NODE_CONVERTER_ returned: type object 'BitShiftOp' has no\n"
    "WARNING   attribute 'direction'\"\n"
    "WARNING: GenericOperator: cannot compute output dims, no ComputeDimsFunc function provided.\n"
)


class Tensor:
    """A tensor as Aidge's: without elements it is undefined."""

    def __init__(self, array: Any) -> None:
        if array.dtype == object:
            raise ValueError("Unsupported python type passed to Tensor constructor")
        self.array, self.dims = array, list(array.shape)

    def is_undefined(self) -> bool:
        return 0 in self.dims or self.array is None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Undefined(Tensor):
    """The output of a node that did not run."""

    def __init__(self) -> None:
        self.array, self.dims = None, []


class Log:
    """Writes the messages that a test left in `next` to the file that the adapter names."""

    next = ""

    @classmethod
    def set_file_name(cls, name: str) -> None:
        if name:
            Path(name).write_text(cls.next, encoding="utf-8")

    @staticmethod
    def set_console_level(level: str) -> None:
        assert level == "fatal"

    @staticmethod
    def set_file_level(level: str) -> None:
        assert level == "warn"


class Graph:
    """A node that takes the inputs `second` and `first_1`, an optional one without a name, and swaps the two."""

    def __init__(self, model: object) -> None:
        self.model, self.steps, self.values = model, [], {}  # type: object, list[str], dict[str, Any]

    def set_backend(self, name: str) -> None:
        self.steps.append(name)

    def forward_dtype(self) -> None:
        self.steps.append("types")

    def get_ordered_inputs(self) -> list[tuple[Any, int]]:
        node = SimpleNamespace(input_name=lambda index: ("first_1", "second", "")[index])
        return [(node, 1), (node, 0), (node, 2)]

    def get_ordered_outputs(self) -> list[tuple[Any, int]]:
        names = list(self.values)
        operator = SimpleNamespace(get_output=lambda index: self.values[names[index]])
        node = SimpleNamespace(output_name=lambda index: names[index], get_operator=lambda: operator)
        return [(node, index) for index in range(len(names))]


class Scheduler:
    answer: Any = staticmethod(lambda values: {"b": values[0], "a_1": values[1]})

    def __init__(self, graph: Graph) -> None:
        assert graph.steps == ["cpu", "types"]
        self.graph = graph

    def forward(self, data: list[Tensor]) -> None:
        self.graph.values = self.answer(data)


@pytest.fixture
def aidge(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(Log, "next", "")
    core = {
        "Log": Log,
        "Level": SimpleNamespace(Fatal="fatal", Warn="warn"),
        "Tensor": Tensor,
        "SequentialScheduler": Scheduler,
    }
    contents: dict[str, dict[str, Any]] = {
        "aidge_core": core,
        "aidge_backend_cpu": {},
        "aidge_onnx": {"load_onnx": Graph},
        "aidge_onnx.utils": {"onnx_to_aidge_name": lambda name: name.replace(".", "_")},
    }
    return loaded(monkeypatch, "aidge", contents)


def answers(monkeypatch: pytest.MonkeyPatch, tensor: Tensor) -> None:
    """Let the scheduler compute this output."""
    monkeypatch.setattr(Scheduler, "answer", staticmethod(lambda _: {"y": tensor}))


ONE = {"x": np.ones(1, np.float32)}


def test_inputs_and_outputs_are_matched_by_the_names_that_the_importer_gives_them(aidge: Any) -> None:
    inputs = {"first.1": np.array([1.0]), "unused": np.array([0.0]), "second": np.array([2.0])}
    a, b = aidge.run(b"", inputs, ["a.1", "b"])
    assert (a.tolist(), b.tolist()) == ([1.0], [2.0])


def test_a_session_runs_more_than_once(aidge: Any) -> None:
    run = aidge.session(b"")
    for x in (1.0, 3.0):
        inputs = {"first.1": np.array([x]), "second": np.array([2.0])}
        assert [value.tolist() for value in run(inputs, ["a.1"])] == [[x]]


def test_a_model_with_external_data_is_imported_from_its_file(aidge: Any, tmp_path: Path) -> None:
    run = aidge.session(b"", str(tmp_path))
    assert run.args[0].model == str(tmp_path / "model.onnx")


def test_an_error_of_a_converter_is_a_failure(aidge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Log, "next", CONVERTER_ERROR)
    with pytest.raises(aidge.ConversionError) as error:
        aidge.run(b"", ONE, ["y"])
    assert str(error.value) == "type object 'BitShiftOp' has no attribute 'direction'"
    assert serve.opt_out(aidge.OPT_OUTS, error.value) is None


def test_other_warnings_are_no_failures(aidge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Log, "next", "WARNING: Split_Op: unable to forwardDims()\nERROR: Missing mandatory input#0\n")
    answers(monkeypatch, Tensor(np.array([1.0])))
    assert [value.tolist() for value in aidge.run(b"", ONE, ["y"])] == [[1.0]]


def test_an_output_that_was_not_computed_is_a_failure_with_the_log(aidge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Log, "next", "ERROR: Undefined mandatory input#0 for node [\x1b[1my\x1b[0m - (\x1b[1mReLU\x1b[0m)]\n"
    )
    answers(monkeypatch, Undefined())
    with pytest.raises(aidge.UndefinedError) as error:
        aidge.run(b"", ONE, ["y"])
    assert str(error.value) == "output y is undefined\nUndefined mandatory input#0 for node [y - (ReLU)]"
    assert serve.opt_out(aidge.OPT_OUTS, error.value) is None


def test_an_output_that_the_graph_lacks_is_a_failure(aidge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, Tensor(np.array([1.0])))
    with pytest.raises(aidge.UndefinedError) as error:
        aidge.run(b"", ONE, ["z"])
    assert str(error.value) == "output z is undefined"


def test_an_output_without_elements_is_an_answer(aidge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, Tensor(np.zeros((0, 2), np.float32)))
    [y] = aidge.run(b"", ONE, ["y"])
    assert (y.shape, y.dtype) == ((0, 2), np.float32)


@pytest.mark.parametrize("value", [[np.ones(1, np.float32)], {}, None], ids=lambda value: type(value).__name__)
def test_values_that_are_no_tensors_opt_out(aidge: Any, value: Any) -> None:
    with pytest.raises(aidge.NoSequenceError) as error:
        aidge.run(b"", {"x": value}, ["y"])
    assert serve.opt_out(aidge.OPT_OUTS, error.value) == "no sequences, maps and empty optionals"


def test_strings_opt_out_with_aidges_own_error(aidge: Any) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the fake raises the sentence that the adapter searches for
        aidge.run(b"", {"x": np.array(["a"], object)}, ["y"])
    assert serve.opt_out(aidge.OPT_OUTS, error.value) == "no such element type"
