# SPDX-License-Identifier: Apache-2.0
"""Models from outside: tensors that do not fit, endless functions, and files that are no files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from commands import command
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.case.external_data import decoded
from onnx_conformance.case.model_file import load_model
from onnx_conformance.declare import Rejected
from onnx_conformance.specification import nodes
from onnx_conformance.specification.evaluator import Evaluator, UndeclaredError

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.usefixtures("few_operators")
ONES = np.ones(2, np.float32)
REFUSES = (
    "def info(): return {'runtime': 'refuses', 'version': '1'}\n"
    "def run(model, inputs, outputs): raise RuntimeError('will not')\n"
)


def external(**entries: object) -> TensorProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


ODD = {
    "data in the model's own file": external(location="model.onnx"),
    "data of another size": external(location="model.onnx", offset=0, length=3),
    "a huge shape without data": TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40, 1 << 20]),
    "too few bytes": TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], raw_data=b"123"),
}


def of(
    nodes_: Sequence[onnx.NodeProto],
    initializers: Sequence[TensorProto] = (),
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(nodes_, "g", infos[:1], infos[1:], initializers)
    opsets = [helper.make_operatorsetid("", 18), helper.make_operatorsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8)


def chain(length: int) -> onnx.ModelProto:
    """Return a model with functions of which each calls the next one twice."""

    def function(number: int) -> onnx.FunctionProto:
        called = f"F{number + 1}" if number < length else "Identity"
        domain = "local" if number < length else ""
        body = [helper.make_node(called, pair[:1], pair[1:], domain=domain) for pair in (["a", "c"], ["c", "b"])]
        opsets = [helper.make_operatorsetid("", 18), helper.make_operatorsetid("local", 1)]
        return helper.make_function("local", f"F{number}", ["a"], ["b"], body, opsets)

    call = helper.make_node("F0", ["x"], ["y"], domain="local")
    return of([call], functions=[function(number) for number in range(length + 1)])


def suite(folder: Path, model: onnx.ModelProto) -> Path:
    data = folder / "suite" / "test_odd" / "test_data_set_0"
    data.mkdir(parents=True)
    (data.parent / "model.onnx").write_bytes(model.SerializeToString())
    for file, name in (("input_0.pb", "x"), ("output_0.pb", "y")):
        (data / file).write_bytes(numpy_helper.from_array(ONES, name).SerializeToString())
    return folder / "suite"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ODD, "endless functions"])
def test_every_command_survives_a_strange_model(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("refuses.py").write_text(REFUSES)
    add = helper.make_node("Add", ["x", "w"], ["y"])
    where = suite(tmp_path, of([add], [ODD[kind]]) if kind in ODD else chain(40))
    run = command("run", "--suite", where, "--backend", "./refuses.py", "--results", "r.ndjson")
    assert run.status in {1, 2}, run.text
    asked = ("suite/test_odd", "--suite", where, "--backend", "./refuses.py")
    for words in (
        ("explain", "r.ndjson"),
        ("report", "r.ndjson", "--format", "html", "--out", "page.html"),
        ("show", *asked[:3]),
        ("minimize", *asked, "--out", "m.py"),
        ("repro", *asked, "--out", "repro.py"),
    ):
        done = command(*words)
        assert "fault of the harness" not in done.text, done.text
        assert done.status in {0, 1} or done.err.count("\n") == 1, done.text
    assert Path("page.html").is_file()


@pytest.mark.parametrize("kind", ODD)
def test_data_that_do_not_fit_are_no_array(kind: str) -> None:
    assert decoded(ODD[kind]) is None


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.float16(2), np.array(["a", "b"], object), np.arange(5)])
def test_other_tensors_are_decoded(array: np.ndarray) -> None:
    tensor = numpy_helper.from_array(np.asarray(array), "w")
    found = decoded(tensor)
    assert found is not None
    assert found.tolist() == np.asarray(array).tolist()


def test_four_elements_in_a_byte_are_enough() -> None:
    tensor = (
        helper.make_tensor("w", TensorProto.INT2, [8], bytes(2), raw=True) if hasattr(TensorProto, "INT2") else None
    )
    small = helper.make_tensor("w", TensorProto.INT4, [4], bytes(2), raw=True)
    for item in filter(None, (tensor, small)):
        found = decoded(item)
        assert found is not None
        assert found.shape == tuple(item.dims)


@pytest.mark.parametrize(("length", "count"), [(0, 3), (1, 7), (2, 15), (10, 4095)])
def test_the_nodes_of_functions_are_counted(length: int, count: int) -> None:
    assert nodes.expanded(chain(length)) == count


def test_functions_without_an_end_are_more_than_the_maximum() -> None:
    endless = helper.make_function(
        "local", "F0", ["a"], ["b"], [helper.make_node("F0", ["a"], ["b"], domain="local")],
        [helper.make_operatorsetid("local", 1)],
    )  # fmt: skip
    model = of([helper.make_node("F0", ["x"], ["y"], domain="local")], functions=[endless])
    for item in (model, chain(40)):
        assert nodes.expanded(item) > nodes.MOST_EXPANDED
    with pytest.raises(UndeclaredError, match="more than"):
        Evaluator().model(chain(40), {"x": ONES})
    with pytest.raises(Rejected, match="nest deeper than"):
        Evaluator().model(model, {"x": ONES})


def test_only_regular_files_are_models(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "text").write_text("no model")
    for name, what in (
        ("pipe", "is a pipe"), ("zero", "is a device"), (".", "is a folder"), ("none", "cannot read"),
        ("text", "is not an ONNX model"),
    ):  # fmt: skip
        with pytest.raises(HarnessError, match=what):
            load_model(tmp_path / name)
