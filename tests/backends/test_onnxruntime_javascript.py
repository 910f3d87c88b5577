# SPDX-License-Identifier: Apache-2.0
"""The adapters of onnxruntime-node and onnxruntime-web: a fake package repeats the messages of the real ones."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commands import command
from onnx_conformance import backends
from onnx_conformance.backends import protocol
from onnx_conformance.backends.option import VARIABLE
from onnx_conformance.base.target import Target
from onnx_conformance.base.under_test import stem
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.environments import node_environment
from onnx_conformance.processes.adapter_process import Limits, StartError
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, Broken, Died, Refused
from paths import ADAPTERS
from refusals import refuses
from runtime_fakes import REAL
from windows import CHROMIUM

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(backends.__file__).parent
FAKE = ADAPTERS / "fake_onnxruntime"
NODE = shutil.which("node") or ""
WEBGPU = "onnxruntime_web[webgpu]"
NAMES = (
    "onnxruntime_node",
    "onnxruntime_web",
    pytest.param(WEBGPU, marks=pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")),
)
PLAIN = ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32",
         "uint64")  # fmt: skip
pytestmark = [
    pytest.mark.skipif(not NODE, reason="they are written in JavaScript, and there is no node to run them"),
    pytest.mark.usefixtures("ends"),
]


def package_of(name: str) -> str:
    return stem(name).replace("_", "-")


def target(name: str, folder: Path) -> Target:
    words = (sys.executable, str(HERE / "serve_node.py"), NODE, str(HERE / f"{stem(name)}.mjs"), str(folder))
    return Target(name, words, environment={VARIABLE: name.partition("[")[2].rstrip("]")})


def install_fake(package: Path) -> None:
    """Write the package: for Node.js, and as the module for browsers."""
    (package / "dist").mkdir(parents=True)
    shutil.copy(FAKE / "index.js", package)
    module = (FAKE / "index.js").read_text().replace("module.exports =", "export")
    (package / "dist" / "ort.webgpu.min.mjs").write_text(module)
    (package / "package.json").write_text(json.dumps({"name": package.name, "version": "1.2.3"}))


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def lane(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    folder = tmp_path_factory.mktemp("environment")
    install_fake(folder / "node_modules" / package_of(name))
    with Asker(target(name, folder), Limits()) as opened:
        yield opened


def case_of(model: Any, *values: Any) -> Case:
    inputs = {f"x{index}": value for index, value in enumerate(values)}
    data = json.dumps(model).encode() if model else b""
    return Case(
        id="fake/case", operator="fake", model=data, inputs=inputs, outputs=tuple(inputs) or ("x0",),
        outcome=Outcome.UNSPECIFIED, expected=None, allowance=Allowance("nothing is expected"),
    )  # fmt: skip


def array(name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return elements of any bits: NaNs with a payload, subnormals, integers that no double holds."""
    count = int(np.prod(shape, dtype=int))
    row = protocol.element_type_named(name)
    if name == "string":
        return np.array(["a", "", "ü\U0001f600", "\0b", "c", "d"][:count], dtype=object).reshape(shape)
    drawn = np.random.default_rng(7).integers(0, 2 if name == "bool" else 256, protocol.packed_size(row.number, count))
    return protocol.unpack(drawn.astype(np.uint8).tobytes(), row.number, shape)


def bits(value: Any) -> Any:
    buffers: list[bytes] = []
    return protocol.encode(value, buffers), buffers


def test_its_hello(lane: Asker, name: str) -> None:
    hello = lane.process.hello
    runtime = package_of(name) + (", webgpu" if name == WEBGPU else "")
    assert (hello["name"], hello["runtime"], hello["version"]) == (stem(name), runtime, "1.2.3")
    assert hello["containers"] == ["optional"]
    assert hello["types"] == [*PLAIN, *(["uint4", "int4"] if stem(name) == "onnxruntime_web" else [])]
    ast.parse(hello["repro"])
    assert f"npm install --ignore-scripts {package_of(name)}@1.2.3" in hello["repro"]
    assert hello["node"]


def test_one_thread_and_no_noise(lane: Asker, name: str) -> None:
    reply = lane.ask(case_of({"give": "options"}))
    assert isinstance(reply, Answered), reply
    settings = json.loads(reply.outputs[0].item())
    assert (settings["options"]["intraOpNumThreads"], settings["options"]["interOpNumThreads"]) == (1, 1)
    assert settings["env"]["logLevel"] == "fatal"
    if stem(name) == "onnxruntime_web":
        assert (settings["env"]["wasm"]["numThreads"], settings["env"]["wasm"]["proxy"]) == (1, False)
    providers = {"onnxruntime_node": "cpu", "onnxruntime_web": "wasm", WEBGPU: "webgpu"}
    assert settings["options"]["executionProviders"] == [providers[name]]
    without_fallback = {"session": {"disable_cpu_ep_fallback": "1"}}
    assert settings["options"].get("extra") == (without_fallback if name == WEBGPU else None)


def test_a_trap_of_webassembly_is_a_crash(name: str, tmp_path: Path) -> None:
    install_fake(tmp_path / "node_modules" / package_of(name))
    with Asker(target(name, tmp_path), Limits()) as opened:
        reply = opened.ask(case_of({"trap": True}, np.float32(1)))
        assert isinstance(reply, Died), reply
        assert reply.signal == "SIGABRT"
        assert "unreachable" in reply.stderr


@pytest.mark.parametrize("kind", [*PLAIN, "uint4", "int4"])
def test_tensors_keep_their_bits(lane: Asker, kind: str) -> None:
    values = [array(kind, shape) for shape in ((), (0,), (3,), (2, 3))]
    reply = lane.ask(case_of(None, *values))
    assert isinstance(reply, Answered), reply
    assert list(map(bits, reply.outputs)) == list(map(bits, values))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (array("bfloat16", (2,)), "no tensor of bfloat16"),
        (array("float8e5m2", (2,)), "no tensor of float8e5m2"),
        (array("complex64", (2,)), "no tensor of complex64"),
        (array("uint2", (2,)), "no tensor of uint2"),
        ([np.float32(1)], "no sequence"),
        ({1: np.float32(1)}, "no map"),
        (None, "no optional"),
        (np.array(["\udcff"], dtype=object), "bytes that are not UTF-8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values_that_cannot_be_passed_opt_out(lane: Asker, value: Any, reason: str) -> None:
    reply = lane.ask(case_of(None, value))
    assert isinstance(reply, Refused), reply
    assert (reply.error, reply.reason) == ("NoTypeError", "no way to pass this type")
    assert reason in reply.message
    assert isinstance(lane.ask(case_of(None, np.float32(1))), Answered), "the session is closed all the same"


CREATE, RUN = "Can't create a session. ERROR_CODE: ", "failed to call OrtRun(). ERROR_CODE: "
SAID = {
    "no kernel in the build with WebGPU": (
        "Error",
        (
            f"{CREATE}1, ERROR_MESSAGE: /x/core/optimizer/transformer_memcpy.cc:254 bool "
            "onnxruntime::TransformerMemcpyImpl::IsNodeCompatibleWithProvider(const onnxruntime::Node &) const "
            "!node_provider_type.empty() was false. Provider type for Unique node with name 'Unique' is not set."
        ),
        "no kernel",
    ),
    "old halves": (
        "Error",
        (
            "This is an invalid model. In Node, "
            '("InsertedPrecisionFreeCast_x", Cast, "", -1) : ("x": tensor(float16),) -> , Error Unrecognized attribute'
        ),
        "float16 in an opset below those that it supports",
    ),
    "layout": (
        "Error",
        (
            "Exception during initialization: /onnxruntime_src/onnxruntime/core/providers/cpu/rnn/deep_cpu_gru.h:56 "
            "layout_ == 0 was false. Batchwise recurrent operations (layout == 1) are not supported. If you need "
            "support create a github issue with justification."
        ),
        "no kernel",
    ),
    "double": (
        "Error",
        (
            "Non-zero status code returned while running GRU node. Name:'GRU' Status Message: GRU operator does not "
            "support double yet"
        ),
        "no kernel",
    ),
    "pool": (
        "Error",
        (
            "Non-zero status code returned while running MaxPool node. Name:'MaxPool' Status Message: Unsupported "
            "pooling size."
        ),
        "no kernel",
    ),
    # Recorded from 1.30.0, both packages.
    "bfloat16 of node": ("Error", "Unsupported data type: 16", "no way to pass this type"),
    "bfloat16 of web": ("Error", "unsupported data type: 16", "no way to pass this type"),
    "sequence of node": ("Error", "Non tensor type is temporarily not supported.", "no way to pass this type"),
    "sequence of web": (
        "Error",
        (
            "Can't access output tensor data on index 0. ERROR_CODE: 9, ERROR_MESSAGE: Reading data from non-tensor "
            "typed value is not supported."
        ),
        "no way to pass this type",
    ),
    "int4 of node": ("TypeError", "Tensor.type is not supported: uint4", "no way to pass this type"),
    "int4 of web": ("Error", "unsupported type: int4", "no way to pass this type"),
    "kernel of node": ("Error", "Could not find an implementation for Expand(13) node with name ''", "no kernel"),
    "kernel of web": (
        "Error",
        CREATE + "9, ERROR_MESSAGE: Could not find an implementation for Expand(13) node with name ''",
        "no kernel",
    ),
    "kernel inside another": (
        "Error",
        (
            "Failed to find kernel for Cast(25) (node:'' ep:'CPUExecutionProvider'). Op with name () domain () and "
            "type (Cast) kernel is not supported in CPUExecutionProvider. Encountered following errors: ("
        ),
        "no kernel",
    ),
    "constant": ("Error", "Exception during initialization: Unsupported value attribute datatype: 16\n", "no kernel"),
    "sparse": (
        "Error",
        "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Currently do not support dims higher than 2 dimensions: 1",
        "no such sparse tensor",
    ),
    "IR version": (
        "Error",
        (
            "/onnxruntime_src/onnxruntime/core/graph/model.cc:202 Unsupported model IR version: 14, max supported IR "
            "version: 13"
        ),
        "newer IR version than it knows",
    ),
    "opset": (
        "Error",
        (
            f"{CREATE}1, ERROR_MESSAGE: ONNX Runtime only *guarantees* support for models stamped with official "
            "released onnx opset versions. Opset 27 is under development and support for this is limited. The operator "
            "schemas may change. Current official support for domain ai.onnx is till opset 26."
        ),
        "newer opset than it knows",
    ),
    "function": (
        "Error",
        "Fatal error: ai.onnx.preview.training:Adagrad(-1) is not a registered function/op",
        "no such operator in its schemas",
    ),
    "operator": (
        "Error",
        (
            'This is an invalid model. In Node, ("", Foo, "", -1) : ("x": tensor(float),) -> ("y": tensor(float),) , '
            "Error No Op registered for Foo with domain_version of 18"
        ),
        "no such operator in its schemas",
    ),
    "complex": (
        "Error",
        CREATE + "9, ERROR_MESSAGE: MLDataType for: tensor(complex64) is not currently registered or supported",
        "no such element type",
    ),
    "float6": ("Error", "Failed to load model with error: Invalid tensor data type 27.", "no such element type"),
    "locale": (
        "Error",
        "Exception during initialization: Failed to construct locale with name:en_US.UTF-8:locale::facet::_S_create_c",
        "a locale is missing on this machine",
    ),
    # Failures, which must stay failures.
    "no type at all": ("Error", "Failed to load model with error: Invalid tensor data type 0.", None),
    "not found": ("Error", "input 'x' is missing in 'feeds'.", None),
    "another tensor type": ("TypeError", "Tensor.type is not supported: float32", None),
    "code 2": ("Error", RUN + "2, ERROR_MESSAGE: Unexpected input data type.", None),
    "code 10": ("Error", CREATE + "10, ERROR_MESSAGE: This is an invalid model. Type Error: Type 'tensor(int8)'", None),
    "split": ("Error", "Non-zero status code returned while running Split node. Name:'Split' Status Message: ", None),
}


@pytest.mark.parametrize("where", ["create", "run"])
@pytest.mark.parametrize(("error", "message", "reason"), SAID.values(), ids=list(SAID))
def test_missing_kernels_and_types_opt_out(
    lane: Asker, where: str, error: str, message: str, reason: str | None
) -> None:
    reply = lane.ask(case_of({where: {"name": error, "message": message}}, np.float32(1)))
    assert isinstance(reply, Refused), reply
    assert (reply.error, reply.reason) == (error, reason)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            (
                f"{CREATE}1, ERROR_MESSAGE: This session contains graph nodes that are assigned to the default CPU EP, "
                "but fallback to CPU EP has been explicitly disabled by the user."
            ),
            "the execution provider does not take every node",
        ),
        (
            (
                f"{RUN}1, ERROR_MESSAGE: Non-zero status code returned while running Add node. Name:'Add' Status "
                "Message: shader_helper.cc:416 GenerateSourceCode Program Add requires f16 but the device does not "
                "support it."
            ),
            "no float16 on this device",
        ),
    ],
    ids=["fallback", "float16"],
)
def test_what_webgpu_lacks_opts_out_only_there(lane: Asker, name: str, message: str, reason: str) -> None:
    reply = lane.ask(case_of({"create": {"message": message}}, np.float32(1)))
    assert isinstance(reply, Refused), reply
    assert reply.reason == (reason if name == WEBGPU else None)


def test_every_row_has_a_message() -> None:
    script = (
        f"import {{ OPT_OUTS }} from {str(HERE / 'onnxruntime_tensors.mjs')!r}; import fs from 'node:fs';"
        "const errors = JSON.parse(fs.readFileSync(0));"
        "console.log(JSON.stringify(OPT_OUTS.filter(([name, pattern]) => name !== 'NoTypeError' &&"
        " !errors.some(([error, message]) => error === name && pattern.test(message))).map(String)))"
    )
    words = [NODE, "--input-type=module", "-e", script]
    done = subprocess.run(words, input=json.dumps(list(SAID.values())).encode(), capture_output=True, check=True)
    assert json.loads(done.stdout) == [], "rows that no recorded message needs"


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ([{"name": "x0", "isTensor": False}], "no way to pass this type"),
        ([{"name": "x0", "isTensor": True}, {"name": "unasked", "isTensor": False}], None),
    ],
)
def test_no_tensor_where_one_is_declared_is_a_failure(lane: Asker, declared: Any, reason: str | None) -> None:
    for key in ("sequence of node", "sequence of web"):
        model = {"run": {"message": SAID[key][1]}, "outputMetadata": declared}
        reply = lane.ask(case_of(model, np.float32(1)))
        assert isinstance(reply, Refused), reply
        assert (reply.reason, reply.error) == (reason, "Error" if reason else "AnswerError")


def test_a_thrown_pointer_has_the_same_message_each_time(lane: Asker) -> None:
    replies = {lane.ask(case_of({"run": {"number": number}}, np.float32(1))) for number in (28844488, 28844520)}
    errors = {(reply.error, reply.message) for reply in replies if isinstance(reply, Refused)}
    assert [error for error, _ in errors] == ["CppException"]


@pytest.mark.parametrize(
    ("outputs", "kind", "sentence"),
    [
        ({"type": "float77", "data": [], "dims": [0]}, Refused, "no tensor of a type it has: float77"),
        ({"type": "float32", "data": {"byteLength": 3}, "dims": [1]}, Broken, " bytes for shape [1]"),
    ],
)
def test_a_malformed_answer_is_reported(lane: Asker, outputs: Any, kind: type, sentence: str) -> None:
    reply = lane.ask(case_of({"give": outputs}))
    assert isinstance(reply, kind), reply
    assert sentence in reply.message  # type: ignore[attr-defined]


@pytest.mark.parametrize(("reason", "kind"), [("unknown", Died), ("destroyed", Refused)])
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_the_loss_of_a_device_is_a_crash_but_its_end_is_not(reason: str, kind: type, tmp_path: Path) -> None:
    install_fake(tmp_path / "node_modules" / package_of(WEBGPU))
    with Asker(target(WEBGPU, tmp_path), Limits()) as opened:
        reply = opened.ask(case_of({"lost": reason, "run": {"message": "no answer"}}, np.float32(1)))
        assert isinstance(reply, kind), reply
        assert ("the device of WebGPU was lost" in getattr(reply, "stderr", "")) is (kind is Died)


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    install_fake(tmp_path / "node_modules" / "onnxruntime-web")
    with refuses("adapter-not-started", "there is no option 'webnn'; there are wasm, webgpu", kind=StartError):
        Asker(target("onnxruntime_web[webnn]", tmp_path), Limits())


def test_a_runtime_that_cannot_load_any_model_does_not_start(name: str, tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / package_of(name)
    install_fake(package)
    for file in (package / "index.js", package / "dist" / "ort.webgpu.min.mjs"):
        file.write_text(
            file.read_text().replace("async create(model, options) {", "async create() { throw Error('ends');")
        )
    with refuses("adapter-not-started", "ends", kind=StartError):
        Asker(target(name, tmp_path), Limits())


def test_without_its_package_it_does_not_start(name: str, tmp_path: Path) -> None:
    with refuses("adapter-not-started", package_of(name), tmp_path, kind=StartError):
        Asker(target(name, tmp_path), Limits())


# The real ones


@REAL
def test_the_script_that_shows_a_case_without_this_project(name: str, tmp_path: Path) -> None:
    needed = node_environment.needs(stem(name))
    assert needed is not None
    types = ("float",) if name == WEBGPU else ("int64", "string")
    for case in (f"ai.onnx/Split/13/signature_types_t/{type_}" for type_ in types):
        script = tmp_path / "repro.py"
        assert command("repro", case, "--backend", name, "--out", script).status in (0, 1)
        folder = node_environment.environment(needed.of())
        words = [sys.executable, str(script)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done
        assert "as expected" in done.stdout
        absent = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert "ImportError" in absent.stderr, "that there is no runtime is no answer of it"
