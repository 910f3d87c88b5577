# SPDX-License-Identifier: Apache-2.0
"""TVM's adapter: the order of inputs and outputs, and its shapes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import parser

from onnx_conformance.backends import serve
from runtime_fakes import loaded

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[2] a, float[2] b, float[1] k) => (float[2] y, float[2] z)'
    " <float[1] k = {1}> { y = Sub(a, b)  z = Sub(b, a) }"
)
ONE = parser.parse_model('<ir_version: 8, opset_import: ["" : 18]> g (float[2] a) => (float[2] y) { y = Neg(a) }')
A, B = np.float32([1, 2]), np.float32([3, 4])


class Tensor:
    def __init__(self, array: Any) -> None:
        self.array = array

    def numpy(self) -> Any:
        return self.array


class Shape(tuple[int, ...]):
    __slots__ = ()


class Executable:
    """What is compiled: its library holds the model's name."""

    count = 0

    def __init__(self, module: Any, target: str) -> None:
        assert target == "llvm"
        self.name = module.graph.name
        Executable.count += 1

    def export_library(self, path: str) -> None:
        Path(path).write_text(self.name)


def tensor(array: Any) -> Tensor:
    if array.dtype.kind in "cO":
        raise ValueError(f"unknown dtype `{array.dtype}`")
    return Tensor(array)


@pytest.fixture
def machine() -> dict[str, Any]:
    """Return what the fake machine's function is, by the name of it."""
    return {"main": lambda a, b: (Tensor(a.array - b.array), Tensor(b.array - a.array))}


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, machine: dict[str, Any]) -> Any:
    runtime = SimpleNamespace(
        Tensor=Tensor, ShapeTuple=Shape, tensor=tensor, load_module=lambda path: Path(path).read_text()
    )
    relax = SimpleNamespace(VirtualMachine=lambda executable, device: machine)  # noqa: ARG005
    contents: dict[str, dict[str, Any]] = {
        "tvm": {"__version__": "0.0", "cpu": lambda: "cpu", "compile": Executable, "runtime": runtime, "relax": relax},
        "tvm.relax": vars(relax),
        "tvm.support": {"cc": SimpleNamespace(get_cc=lambda: "/usr/bin/g++")},
        "tvm.relax.frontend": {},
        "tvm.relax.frontend.onnx": {"from_onnx": lambda proto, **_: proto},
    }
    return loaded(monkeypatch, "tvm", contents)


def test_inputs_go_in_the_graphs_order_without_initializers_and_outputs_by_name(adapter: Any) -> None:
    z, y = adapter.run(MODEL.SerializeToString(), {"b": B, "a": A}, ["z", "y"])
    assert (y.tolist(), z.tolist()) == ([-2, -2], [2, 2])


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Tensor(A), A),
        (Shape((2, 3)), np.array([2, 3])),
        (Shape(()), np.array([], np.int64)),
        ([Tensor(A), Tensor(B)], [A, B]),
        (None, None),
    ],
    ids=["tensor", "shape", "empty shape", "sequence", "nothing"],
)
def test_results_become_outputs(adapter: Any, machine: dict[str, Any], result: Any, expected: Any) -> None:
    machine["main"] = lambda a: result  # noqa: ARG005
    [output] = adapter.run(ONE.SerializeToString(), {"a": A}, ["y"])
    np.testing.assert_equal(output, expected)
    assert getattr(output, "dtype", None) == getattr(expected, "dtype", None)


@pytest.mark.parametrize(
    "value", [np.zeros(1, np.complex64), np.array(["a"], object), [], {}, None], ids=lambda value: type(value).__name__
)
def test_values_that_are_no_tensors_opt_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(ONE.SerializeToString(), {"a": value}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_its_types_are_those_with_tensors(adapter: Any) -> None:
    info = adapter.info()
    assert {"float", "int64", "bool"} <= set(info["types"])
    assert not {"string", "complex64"} & set(info["types"])


@pytest.mark.parametrize("linker", ["/usr/bin/g++", ""])
def test_compiled_models_are_cached_if_they_can_be_linked(
    adapter: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, linker: str
) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(adapter, "LINKER", linker)
    ran: list[Any] = []

    def machine(program: Any, device: str) -> dict[str, Any]:  # noqa: ARG001
        ran.append(program)
        return {"main": lambda a: a}

    monkeypatch.setattr(adapter.relax, "VirtualMachine", machine)
    before = Executable.count
    for _ in range(2):
        [y] = adapter.run(ONE.SerializeToString(), {"a": A}, ["y"])
        assert y.tolist() == [1, 2]
    assert isinstance(ran[0], Executable)
    assert (ran[1] == "g") is bool(linker), "the second time it is loaded"
    assert Executable.count - before == (1 if linker else 2)
