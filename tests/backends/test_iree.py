# SPDX-License-Identifier: Apache-2.0
"""IREE's adapter: a compiler that dies, and element types that travel as bytes."""

from __future__ import annotations

import os
import signal
import sys
from enum import IntEnum
from importlib import metadata
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from onnx import parser

from onnx_conformance.backends import protocol, serve
from runtime_fakes import loaded

if TYPE_CHECKING:
    from pathlib import Path

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (uint8[2] a, uint8[2] b, uint8[1] k) => (uint8[2] y, uint8[2] z)'
    " <uint8[1] k = {1}> { y = Add(a, b)  z = Identity(b) }"
)
A, B = np.uint8([1, 200]), np.uint8([3, 4])


class Hal(IntEnum):
    INT_4, SINT_4, UINT_4, INT_8, SINT_8, UINT_8, FLOAT_32, BFLOAT_16 = range(1, 9)

    @staticmethod
    def map_to_dtype(number: int) -> np.dtype[Any]:
        return np.dtype({4: np.int8, 5: np.int8, 6: np.uint8, 7: np.float32, 8: ml_dtypes.bfloat16}[number])


TAKEN = {"uint8": Hal.UINT_8, "int8": Hal.SINT_8, "float32": Hal.FLOAT_32, "bfloat16": Hal.BFLOAT_16}


class View:
    """A buffer view: bytes, a shape and an element type."""

    def __init__(self, data: Any, shape: Any, element_type: int) -> None:
        self.data, self.shape, self.element_type = np.frombuffer(bytes(data), np.uint8), shape, element_type

    @property
    def byte_length(self) -> int:
        return len(self.data)

    def map(self) -> Any:
        return SimpleNamespace(asarray=lambda shape, dtype: self.data.view(dtype).reshape(shape))


class Values(list[Any]):
    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def push_ref(self, view: View) -> None:
        self.append(view)

    def get_as_object(self, place: int, kind: type) -> View:
        assert kind is View
        view: View = self[place]
        return view


class Context:
    def __init__(self, instance: str, modules: list[Any]) -> None:
        assert (instance, modules[0]) == ("instance", "hal")

    def invoke(self, function: Any, arguments: Values, results: Values) -> None:
        assert len(arguments) == arguments.room
        results.extend(function(*arguments))
        assert len(results) == results.room


@pytest.fixture
def program() -> dict[str, Any]:
    """Return the functions of the compiled program by name."""

    def add(a: View, b: View) -> list[View]:
        return [View(a.data + b.data, a.shape, Hal.INT_8), View(b.data, b.shape, Hal.INT_8)]

    return {"g": add}


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, program: dict[str, Any]) -> Any:
    def copied(*, buffer: Any, **_: Any) -> bytes:
        return bytes(buffer)

    device = SimpleNamespace(allocator=SimpleNamespace(allocate_buffer_copy=copied))
    module = SimpleNamespace(lookup_function=lambda name: program[name])

    def copy_buffer(instance: str, data: bytes) -> Any:
        assert (instance, data) == ("instance", b"the program")
        return module

    runtime = {
        "Config": lambda driver: SimpleNamespace(vm_instance="instance", device=device, driver=driver),
        "create_hal_module": lambda instance, built: "hal",  # noqa: ARG005
        "HalElementType": Hal,
        "HalBufferView": View,
        "VmVariantList": Values,
        "VmContext": Context,
        "VmModule": SimpleNamespace(copy_buffer=copy_buffer),
        "MemoryType": SimpleNamespace(DEVICE_LOCAL=1),
        "BufferUsage": SimpleNamespace(DEFAULT=1),
    }
    operation = SimpleNamespace(verify=lambda: None, get_asm=lambda assume_verified: "text")  # noqa: ARG005
    info = SimpleNamespace(main_graph="graph", create_module=lambda context: SimpleNamespace(operation=operation))  # noqa: ARG005
    importer = {
        "ModelInfo": lambda proto: info,  # noqa: ARG005
        "NodeImporter": SimpleNamespace(define_function=lambda graph, module: SimpleNamespace(import_all=lambda: None)),  # noqa: ARG005
        "ELEM_TYPE_TO_IR_TYPE_CB": {1, 2, 3, 16, 21, 22},
    }
    contents: dict[str, dict[str, Any]] = {
        "iree": {},
        "iree.runtime": runtime,
        "iree.runtime.array_interop": {"map_dtype_to_hal_element_type": lambda dtype: TAKEN.get(dtype.name)},
        "iree.compiler": {"ir": SimpleNamespace(Context=lambda: "context")},
        "iree.compiler.extras": {},
        "iree.compiler.extras.onnx_importer": importer,
        "iree.compiler.tools": {
            "compile_str": lambda text, **_: b"the program",  # noqa: ARG005
            "CompilerToolError": CompilerToolError,
        },
        "iree.compiler.tools.binaries": {},
    }
    monkeypatch.setattr(metadata, "version", lambda _: "0.0")
    return loaded(monkeypatch, "iree", contents)


class CompilerToolError(Exception):
    """As IREE's own."""


def test_inputs_go_in_the_graphs_order_and_integers_get_the_declared_sign(adapter: Any) -> None:
    z, y = adapter.run(MODEL.SerializeToString(), {"b": B, "a": A}, ["z", "y"])
    assert (y.tolist(), z.tolist()) == ([4, 204], [3, 4])
    assert y.dtype == z.dtype == np.uint8


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("float[2,1]", np.float32([[1], [-2]])),
        ("float[0,3]", np.zeros((0, 3), np.float32)),
        ("float", np.float32(3)),
        ("bfloat16[3]", np.float32([1, 2, 3]).astype(ml_dtypes.bfloat16)),
        ("int8[2]", np.int8([-1, 5])),
        ("int4[4]", np.array([1, -8, 7, 0], ml_dtypes.int4)),
        ("uint4[2,2]", np.array([[1, 15], [7, 0]], ml_dtypes.uint4)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_value_goes_in_and_out_as_its_bytes(
    adapter: Any, program: dict[str, Any], declared: str, value: np.ndarray[Any, Any]
) -> None:
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> g ({declared} a) => ({declared} y) {{ y = Identity(a) }}'
    )
    program["g"] = lambda a: [a]
    array = np.asarray(value)
    [output] = adapter.run(model.SerializeToString(), {"a": array}, ["y"])
    assert (output.dtype, output.shape) == (array.dtype, array.shape)
    assert protocol.pack(output) == protocol.pack(array)


def test_an_output_of_an_undeclared_type_keeps_its_type(adapter: Any, program: dict[str, Any]) -> None:
    program["g"] = lambda a, b: [View(np.float32([1]).tobytes(), (1,), Hal.FLOAT_32), b]  # noqa: ARG005
    [y] = adapter.run(MODEL.SerializeToString(), {"a": A, "b": B}, ["y"])
    assert (y.dtype, y.tolist()) == (np.float32, [1])


@pytest.mark.parametrize(
    "value", [np.zeros(1, np.complex64), np.array(["a"], object), [], {}, None], ids=lambda value: type(value).__name__
)
def test_outputs_that_are_no_buffers_opt_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(MODEL.SerializeToString(), {"a": value, "b": B}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_the_types_are_those_that_both_its_importer_and_its_interface_know(adapter: Any) -> None:
    assert [row.name for row in protocol.ELEMENT_TYPES if adapter._hal_type(row) is not None] == [
        "float",
        "uint8",
        "int8",
        "bfloat16",
        "uint4",
        "int4",
    ]


def test_messages_of_the_compiler_name_no_folder(adapter: Any, tmp_path: Path) -> None:
    tool = tmp_path / "iree-compile"
    tool.write_text(f"#!{sys.executable}\nimport sys; sys.exit(1)")
    tool.chmod(0o755)
    done = adapter.binaries.subprocess.run([str(tool), "-", f"--linker={tmp_path}/iree-lld"], capture_output=True)
    assert (done.returncode, done.args) == (1, ["iree-compile", "-", "--linker=iree-lld"])


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            (
                "Error invoking IREE compiler tool iree-compile\nDiagnostics:\n"
                "<stdin>:2:3: error: function is missing onnx opset version attribute\n  func.func @Scaler_1() {\n  ^\n"
                "<stdin>:4:10: error: it stops here\n\nNeed more information? Set IREE_SAVE_TEMPS=/some/dir"
            ),
            "<stdin>:2:3: error: function is missing onnx opset version attribute\n<stdin>:4:10: error: it stops here",
        ),
        ("Error code: 1\nDiagnostics:\n", "Error code: 1\nDiagnostics:\n"),
    ],
)
def test_of_a_message_of_the_compiler_the_errors_remain(
    adapter: Any, monkeypatch: pytest.MonkeyPatch, said: str, message: str
) -> None:
    def compile_str(text: str, **_: Any) -> bytes:  # noqa: ARG001
        raise CompilerToolError(said)

    monkeypatch.setattr(adapter, "compile_str", compile_str)
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")
    with pytest.raises(CompilerToolError) as error:
        adapter.run(MODEL.SerializeToString(), {"a": A, "b": B}, ["y"])
    assert str(error.value) == message


def test_a_compiler_that_dies_takes_the_adapter_with_it(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_str(text: str, **_: Any) -> bytes:  # noqa: ARG001
        adapter.binaries.subprocess.run([sys.executable, "-c", "import os; os.abort()"])
        return b""

    monkeypatch.setattr(adapter, "compile_str", compile_str)
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *arguments: killed.append(arguments))
    with pytest.raises(AssertionError):
        adapter.run(MODEL.SerializeToString(), {"a": A, "b": B}, ["y"])
    assert killed == [(os.getpid(), signal.SIGABRT)]


def test_compiled_models_are_cached(adapter: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    compiled: list[str] = []

    def compile_str(text: str, **_: Any) -> bytes:
        compiled.append(text)
        return b"the program"

    monkeypatch.setattr(adapter, "compile_str", compile_str)
    inputs = {"a": A, "b": B}
    first, second = (adapter.run(MODEL.SerializeToString(), inputs, ["y"]) for _ in range(2))
    np.testing.assert_equal(first, second)
    assert len(compiled) == 1
    monkeypatch.setattr(metadata, "version", lambda _: "0.1")
    adapter._cache_key.cache_clear()
    adapter.run(MODEL.SerializeToString(), inputs, ["y"])
    assert len(compiled) == 2, "another version compiles for itself"
