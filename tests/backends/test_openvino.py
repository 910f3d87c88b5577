"""OpenVINO's adapter: what opts out, raw bytes there and back, and inputs that the compiled model has not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from runtime_fakes import REAL, loaded, raised, real

from backends import protocol, serve

if TYPE_CHECKING:
    from pathlib import Path

UNCONVERTED = (
    "Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:\n"
    "FrontEnd API failed with OpConversionFailure:\nModel wasn't fully converted."
)
KNOWN = "expected: BOOL, BFLOAT16, FLOAT4E2M1, FLOAT8E4M3FN, FLOAT8E5M2, FLOAT8E8M0, FLOAT, FLOAT16, DOUBLE, INT4, INT8"

# As version 2026.4.1 said it.
SAID = {
    "conversion of a kernel": (
        (
            "Exception from src/plugins/intel_cpu/src/nodes/convert.cpp:61:\nNot Implemented:\ncpu_convert can't "
            "convert from: string precision to: f32"
        ),
        "no kernel for this element type",
    ),
    "activation": (
        (
            "CALLBACK HAS THROWN: Exception from src/common/transformations/src/transformations/utils/utils.cpp:294:\n"
            "Unsupported activation function"
        ),
        "no kernel",
    ),
    "operator": (
        f"{UNCONVERTED}\nSummary:\n-- No conversion rule found for operations: CumProd-26\nTo facilitate",
        "no conversion rule",
    ),
    "type": (f"Unsupported data type COMPLEX64 {KNOWN}", "no such element type"),
    "rank": (
        (
            "Check '!shape.rank().is_dynamic()' failed at src/plugins/intel_cpu/src/node.cpp:108:\n"
            "Unexpected: CPU plug-in doesn't support Reshape operation with dynamic rank. Operation name: Reshape_A"
        ),
        "no kernel for an unknown rank",
    ),
    "resize": (
        "tf_crop_and_resize - this type of coordinate transformation mode is not supported. Choose one of",
        "no kernel",
    ),
    "volume": ("GridSample is only supported for 4D input tensors. Got rank: 5", "no kernel"),
    "wrap": ("Unsupported padding mode: [wrap]", "no kernel"),
    "training": ("Non-constant training_mode input is not supported.", "no kernel"),
    "both": (
        (
            f"{UNCONVERTED} Failed operations:\n-- Add-5 with a message:\nInput's rank has to be static.\n\n"
            "Summary:\n-- No conversion rule found for operations: CumProd-26\n-- Conversion is failed for: Add-5"
        ),
        None,
    ),
    "no type": (f"Unsupported data type UNDEFINED {KNOWN}", None),
    "nameless type": (f"Unsupported data type  {KNOWN}", None),
    "mode": ("wrong - this type of coordinate transformation mode is not supported.", None),
    "padding": ("Unsupported padding mode: [wrong]", None),
    "conversion": (f"{UNCONVERTED}\nSummary:\n-- Conversion is failed for: Add-5", None),
}


class Type:
    """An element type by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def to_string(self) -> str:
        return self.name


class Tensor:
    """Memory as OpenVINO shows it: bfloat16 as float16, 4-bit as bytes, strings as bytes of one length."""

    def __init__(self, kind: str, shape: list[int]) -> None:
        self.kind, self.shape = kind, shape
        seen: Any = {"bf16": np.float16, "f32": np.float32, "f8e4m3": np.uint8, "i4": np.int8, "i64": np.int64}
        if kind == "i4":
            shape = [(int(np.prod(shape)) + 1) // 2]
        self.data = None if kind == "string" else np.zeros(shape, seen[kind])
        self.bytes_data: Any = np.zeros(shape, "S1")

    @property
    def element_type(self) -> Type:
        return Type(self.kind)


class Port:
    """An input of a compiled model."""

    def __init__(self, *names: str) -> None:
        self.names = set(names)


class Core:
    """Compiles what the test says into what gives back its inputs."""

    inputs: tuple[Port, ...] = (Port("x"),)

    def read_model(self, model: bytes) -> bytes:
        return model

    def compile_model(self, model: bytes, device: str, config: dict[str, Any]) -> Any:
        assert (model, device) == (b"the model", "CPU")
        assert config["INFERENCE_NUM_THREADS"] == 1
        held: dict[str, Tensor] = {}

        def keep(port: Port, tensor: Tensor) -> None:
            held.update(dict.fromkeys(port.names, tensor))

        request = SimpleNamespace(set_tensor=keep, infer=lambda: None, get_tensor=held.__getitem__)
        return SimpleNamespace(inputs=self.inputs, create_infer_request=lambda: request)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    names = ("bf16", "f32", "f8e4m3", "i4", "i64", "string")
    contents = {"Core": Core, "Tensor": Tensor, "Type": SimpleNamespace(**{name: name for name in names})}
    return loaded(monkeypatch, "openvino", {"openvino": contents})


@pytest.mark.parametrize(("text", "reason"), SAID.values(), ids=list(SAID))
def test_what_opts_out(adapter: Any, text: str, reason: str | None) -> None:
    assert serve.opt_out(adapter.OPT_OUTS, raised("RuntimeError", text)) == reason


def test_every_row_has_a_message(adapter: Any) -> None:
    passed = {"no way to pass this type"}  # By the test of what is no tensor.
    assert {reason for *_, reason in adapter.OPT_OUTS} == {reason for _, reason in SAID.values() if reason} | passed


@pytest.mark.parametrize("name", ["bfloat16", "float8e4m3fn", "int4", "float", "int64"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0)], ids=str)
def test_tensors_keep_their_bits(adapter: Any, name: str, shape: tuple[int, ...]) -> None:
    dtype = protocol.numpy_dtype(protocol.element_type_named(name).number)
    x = np.resize(np.array([1, -2, 3]), shape).astype(dtype)
    [y] = adapter.run(b"the model", {"x": x}, ["x"])
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    assert y.tobytes() == x.tobytes()


def test_strings_keep_their_bytes(adapter: Any) -> None:
    x = np.array([["a", "", "ü\0b", "\udcff"]], object)
    [y] = adapter.run(b"the model", {"x": x}, ["x"])
    buffers: list[bytes] = []
    assert protocol.encode(y, buffers)["strings"] == x.reshape(-1).tolist()
    assert y.shape == (1, 4)


@pytest.mark.parametrize("value", [np.zeros(1, np.complex64), [], {}, None], ids=repr)
def test_what_is_no_tensor_opts_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(b"the model", {"x": value}, ["x"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_inputs_are_those_of_the_compiled_model(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, unused = np.float32([1, 2]), np.float32([3])
    [y] = adapter.run(b"the model", {"unused": unused, "x": x}, ["x"])
    assert y.tolist() == [1, 2]
    monkeypatch.setattr(Core, "inputs", (Port("x"), Port("made", "up")))
    with pytest.raises(adapter.InputError, match=r"an input \['made', 'up'\] that the graph has not") as error:
        adapter.run(b"the model", {"x": x}, ["x"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) is None


@REAL
def test_the_real_one(tmp_path: Path) -> None:
    wanted = {
        "ai.onnx/Split/13/lengths": "pass",
        "ai.onnx/Split/13/dtypes/bfloat16": "pass",
        "ai.onnx/Split/13/dtypes/string": "crash",
        "ai.onnx/Split/13/dtypes/complex64": "unsupported",
        "ai.onnx/ReduceSum/13/axes_0_kept@symbolic": "refused",
        "ai.onnx/Reshape/5/inferred_twice": "pass",  # An error inside infer(), which is not lost,
        "ai.onnx/Reshape/5/zero_copies": "pass",  # and does not end the next case.
    }
    assert real(tmp_path, "openvino", wanted, signal="SIGABRT")["version"] == "2026.4.1"
