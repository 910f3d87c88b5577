"""TVM's adapter: what opts out, the order of inputs and outputs, and its shapes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import parser
from runtime_fakes import REAL, loaded, raised, real

from backends import serve

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[2] a, float[2] b, float[1] k) => (float[2] y, float[2] z)'
    " <float[1] k = {1}> { y = Sub(a, b)  z = Sub(b, a) }"
)
ONE = parser.parse_model('<ir_version: 8, opset_import: ["" : 18]> g (float[2] a) => (float[2] y) { y = Neg(a) }')
A, B = np.float32([1, 2]), np.float32([3, 4])
CONSTANT = "no operand that is known at run time only"

# As version 0.27.0 said it.
SAID = {
    "operator": (
        ("OpNotImplemented", RuntimeError),
        "The following operators are not supported for frontend ONNX: DFT",
        "no such operator",
    ),
    "inner": (("NotImplementedError",), "Operator Loop not implemented.", "no such operator"),
    "type": (("ValueError",), "unknown dtype `complex64`", "no such element type"),
    "old": (
        ("ValueError",),
        "Model IR version 2 not supported. Must be at least after 1.1.0.",
        "older IR version than it knows",
    ),
    "axes": (("AssertionError",), "Only constant axes currently supported", CONSTANT),
    "split": (("ValueError",), "Only constant split supported for SplitToSequence", CONSTANT),
    "dynamic": (("ValueError",), "Dynamic Split not yet supported", CONSTANT),
    "pads": (("ValueError",), "Dynamic pads are not supported yet.", CONSTANT),
    "cumsum": (("ValueError",), "CumSum with non-constant axis input is not supported yet. ONNX permits it", CONSTANT),
    "resize": (("ValueError",), "Type <class 'tvm.ir.expr.Var'> for scale is currently unsupported.", CONSTANT),
    "only": (("NotImplementedError",), "RoiAlign in Relax only supports avg and max modes", "no kernel"),
    "is": (
        ("NotImplementedError",),
        "SplitToSequence with dynamic dim size and scalar split is not supported.",
        "no kernel",
    ),
    "rank": (("NotImplementedError",), "Ndim > 5 not supported for convolution.", "no kernel"),
    "symbolic": (("NotImplementedError",), "Squeeze with symbolic axes not supported", "no kernel"),
    "blocked": (("ValueError",), "DequantizeLinear blocked quantization is not supported yet.", "no kernel"),
    "datatype": (("TypeError",), "Unsupported input datatype for operation: float4_e2m1fn", "no kernel"),
    "passed": (("NoTypeError",), "no tensor can be made of string", "no way to pass this type"),
    "falls over": (("ValueError",), "Node cannot handle ShapeExpr inputs.", None),
    "constant": (("ValueError",), "TopK k must be a constant", None),
    "default": (("KeyError",), "'num_heads'", None),
    "checked": (("InternalError", RuntimeError), "Check failed: dtype.bits % 8 == 0 (4 vs. 0) : ", None),
    "shapes": (("ValueError",), "Cannot broadcast 3 and 4", None),
}


class Tensor:
    def __init__(self, array: Any) -> None:
        self.array = array

    def numpy(self) -> Any:
        return self.array


class Shape(tuple[int, ...]):
    __slots__ = ()


class Executable:
    """What is compiled: its library holds the model's name."""

    made = 0

    def __init__(self, module: Any, target: str) -> None:
        assert target == "llvm"
        self.name = module.graph.name
        Executable.made += 1

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


@pytest.mark.parametrize(("kind", "text", "reason"), SAID.values(), ids=list(SAID))
def test_what_opts_out(adapter: Any, kind: tuple[Any, ...], text: str, reason: str | None) -> None:
    assert serve.opt_out(adapter.OPT_OUTS, raised(kind[0], text, *kind[1:])) == reason


def test_every_row_has_a_message(adapter: Any) -> None:
    def first(kind: tuple[Any, ...], text: str) -> int:
        found = raised(kind[0], text, *kind[1:])
        return next(place for place, row in enumerate(adapter.OPT_OUTS) if serve.opt_out([row], found))

    assert {first(kind, text) for kind, text, reason in SAID.values() if reason} == set(range(len(adapter.OPT_OUTS)))


def test_inputs_go_in_the_graphs_order_without_initializers_and_outputs_by_name(adapter: Any) -> None:
    z, y = adapter.run(MODEL.SerializeToString(), {"b": B, "a": A}, ["z", "y"])
    assert (y.tolist(), z.tolist()) == ([-2, -2], [2, 2])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (Tensor(A), A),
        (Shape((2, 3)), np.array([2, 3])),
        (Shape(()), np.array([], np.int64)),
        ([Tensor(A), Tensor(B)], [A, B]),
        (None, None),
    ],
    ids=["tensor", "shape", "empty shape", "sequence", "nothing"],
)
def test_what_it_gives(adapter: Any, machine: dict[str, Any], given: Any, wanted: Any) -> None:
    machine["main"] = lambda a: given  # noqa: ARG005
    [found] = adapter.run(ONE.SerializeToString(), {"a": A}, ["y"])
    np.testing.assert_equal(found, wanted)
    assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None)


@pytest.mark.parametrize(
    "value", [np.zeros(1, np.complex64), np.array(["a"], object), [], {}, None], ids=lambda value: type(value).__name__
)
def test_what_is_no_tensor_opts_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(ONE.SerializeToString(), {"a": value}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_the_types_are_those_of_which_there_are_tensors(adapter: Any) -> None:
    told = adapter.info()
    assert {"float", "int64", "bool"} <= set(told["types"])
    assert not {"string", "complex64"} & set(told["types"])


@pytest.mark.parametrize("linker", ["/usr/bin/g++", ""])
def test_what_the_compiler_made_is_kept_where_it_can_be_linked(
    adapter: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, linker: str
) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(adapter, "LINKER", linker)
    ran: list[Any] = []

    def machine(program: Any, device: str) -> dict[str, Any]:  # noqa: ARG001
        ran.append(program)
        return {"main": lambda a: a}

    monkeypatch.setattr(adapter.relax, "VirtualMachine", machine)
    before = Executable.made
    for _ in range(2):
        [y] = adapter.run(ONE.SerializeToString(), {"a": A}, ["y"])
        assert y.tolist() == [1, 2]
    assert isinstance(ran[0], Executable)
    assert (ran[1] == "g") is bool(linker), "the second time it is loaded"
    assert Executable.made - before == (1 if linker else 2)


@REAL
def test_the_real_one(tmp_path: Any) -> None:
    wanted = {
        "ai.onnx/Split/18/uneven": "pass",
        "ai.onnx/Split/13/lengths": "unsupported",
        "ai.onnx/Split/13/lengths@initializer": "pass",
        "ai.onnx/Split/18/dtypes_num_outputs/bfloat16": "pass",
        "ai.onnx/Split/13/dtypes/string": "unsupported",
        "ai.onnx/Split/18/outputs_left_out": "wrong_shape",
        "ai.onnx/Reshape/1/by_attribute": "refused",
        "ai.onnx/ReduceSum/13/outside/float4e2m1": "crash",
    }
    assert real(tmp_path, "tvm", wanted, signal="SIGSEGV")["version"] == "0.27.0.post1"
