# SPDX-License-Identifier: Apache-2.0
"""Each adapter: every kind of value through its runtime and back, and every way to opt out."""

from __future__ import annotations

import importlib.util
import unittest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, parser

from onnx_conformance.backends import onnx_backend, onnx_reference, protocol, serve
from runtime_fakes import INSTALLED

if TYPE_CHECKING:
    from pathlib import Path

NARROW = ("bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
SHAPES = ((), (0,), (3,), (2, 0), (2, 3))
# onnxruntime.backend imports onnx.version, which onnx has deprecated.
SHIM = pytest.mark.filterwarnings("ignore:onnx.version is deprecated:DeprecationWarning")
X, Y = np.array([1.5, -2], np.float32), np.array([-1.5, 2], np.float32)
NEG = "g (float[2] x) => (float[2] y) { y = Neg(x) }"


@pytest.fixture
def ort() -> Any:
    """Return the adapter of ONNX Runtime."""
    pytest.importorskip("onnxruntime", reason="its adapter is tested where it is installed")
    from onnx_conformance.backends import onnxruntime  # noqa: PLC0415 - it needs the runtime

    return onnxruntime


@pytest.fixture(params=INSTALLED)
def adapter(request: pytest.FixtureRequest) -> Any:
    """Return each adapter in turn."""
    return request.getfixturevalue("ort") if request.param == "onnxruntime" else onnx_reference


def model(graph: str, opset: int = 18, ir: int = 8) -> bytes:
    """Return a model from ONNX's text; it imports the domains that it names."""
    opsets = [
        f'"" : {opset}',
        *(f'"{domain}" : 1' for domain in ("ai.onnx.ml", "com.microsoft", "absent") if f"{domain}." in graph),
    ]
    head = f"<ir_version: {ir}, opset_import: [{', '.join(opsets)}]>"
    return bytes(parser.parse_model(f"{head} {graph}").SerializeToString())


def typed(type_: onnx.TypeProto, node: onnx.NodeProto, *inputs: onnx.ValueInfoProto, opset: int = 18) -> bytes:
    """Return a model of one node whose first output has a type that ONNX's text cannot write."""
    graph = helper.make_graph([node], "g", inputs, [helper.make_value_info(node.output[0], type_)])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())


def tensor_type(name: str, shape: tuple[int, ...] | None = (2,)) -> onnx.TypeProto:
    return helper.make_tensor_type_proto(protocol.element_type_named(name).number, shape)


def ask(adapter: Any, model_bytes: bytes, inputs: dict[str, Any], *outputs: str) -> list[Any]:
    """Return the values of `outputs` after a round over the wire."""
    buffers = [model_bytes]
    described = [{"name": name, "value": protocol.encode(value, buffers)} for name, value in inputs.items()]
    header = {"id": 1, "model": len(model_bytes), "inputs": described, "outputs": list(outputs)}
    line, _, payload = serve.answer(adapter, header, b"".join(buffers)).partition(b"\n")
    reply = protocol.parse_header(line)
    assert reply["kind"] == "answer", reply
    reader = protocol.Payload(payload)
    values = [reader.decode(item) for item in reply["outputs"]]
    reader.end()
    return values


def opted_out(adapter: Any, model_bytes: bytes, inputs: dict[str, Any], *outputs: str) -> str | None:
    """Return the reason for which the adapter's runtime opts out of a model, None for a failure."""
    with pytest.raises(Exception) as raised:  # noqa: PT011 - each runtime has exceptions of its own
        adapter.run(model_bytes, inputs, list(outputs))
    return serve.opt_out(adapter.OPT_OUTS, raised.value)


def array(name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    count = int(np.prod(shape, dtype=int))
    if name == "string":
        return np.array(["a", "", "ü\U0001f600", "\0b", "c", "d"][:count], dtype=object).reshape(shape)
    return (np.arange(count) % 2).astype(protocol.numpy_dtype(protocol.element_type_named(name).number)).reshape(shape)


def equal(expected: Any, got: Any) -> bool:
    """Tell whether two values are the same in structure, element types, shapes and elements."""
    if isinstance(expected, np.ndarray):
        return (
            isinstance(got, np.ndarray)
            and (expected.dtype, expected.shape) == (got.dtype, got.shape)
            and expected.tolist() == got.tolist()
        )
    if isinstance(expected, list):
        return isinstance(got, list) and len(expected) == len(got) and all(map(equal, expected, got))
    if isinstance(expected, dict):
        return (
            isinstance(got, dict)
            and expected.keys() == got.keys()
            and all(equal(expected[k], got[k]) for k in expected)
        )
    return expected is got


# What every adapter does


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["float", "double", "float16", "int8", "uint64", "bool", "string", *NARROW])
def test_tensors_come_through(adapter: Any, name: str, shape: tuple[int, ...]) -> None:
    x = array(name, shape)
    info = helper.make_value_info("x", tensor_type(name, shape))
    model_bytes = typed(tensor_type(name, shape), helper.make_node("Identity", ["x"], ["y"]), info, opset=19)
    [y] = ask(adapter, model_bytes, {"x": x}, "y")
    assert equal(x, y), f"{x!r} came as {y!r}"


def test_narrow_tensors_travel_beside_plain_ones(adapter: Any) -> None:
    model_bytes = model("g (float[2] x, bfloat16[2] b) => (float[2] y, bfloat16[2] c) { y = Neg(x)  c = Identity(b) }")
    b = np.array([1.5, -2]).astype(array("bfloat16", ()).dtype)
    y, c = ask(adapter, model_bytes, {"x": X, "b": b}, "y", "c")
    assert equal(Y, y), y
    assert equal(b, c), c


def test_outputs_come_in_the_order_asked_for(adapter: Any) -> None:
    model_bytes = model("g (float[2] x) => (float[2] same, float[2] other) { same = Identity(x)  other = Neg(x) }")
    other, same = ask(adapter, model_bytes, {"x": X}, "other", "same")
    assert (other.tolist(), same.tolist()) == (Y.tolist(), X.tolist()), (other, same)


@pytest.mark.parametrize("name", ["float", "string"])
def test_sequences_come_through(adapter: Any, name: str) -> None:
    x, index = [array(name, (2,)), array(name, (0,)), array(name, (2,))], np.array(0)
    sequence = helper.make_sequence_type_proto(tensor_type(name, None))
    inputs = [helper.make_value_info("x", sequence), helper.make_value_info("i", tensor_type("int64", ()))]
    model_bytes = typed(sequence, helper.make_node("SequenceErase", ["x", "i"], ["y"]), *inputs)
    [y] = ask(adapter, model_bytes, {"x": x, "i": index}, "y")
    assert equal(x[1:], y), y


def test_an_empty_optional_input_is_passed_through(adapter: Any) -> None:
    optional = helper.make_optional_type_proto(tensor_type("float"))
    node = helper.make_node("OptionalHasElement", ["x"], ["y"])
    model_bytes = typed(tensor_type("bool", ()), node, helper.make_value_info("x", optional))
    for x, has in ((None, False), (X, True)):
        [y] = ask(adapter, model_bytes, {"x": x}, "y")
        assert equal(np.array(has), y), f"{x} gave {y!r}"


def test_a_runtimes_error_is_not_an_opt_out(adapter: Any) -> None:
    model_bytes = model("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }")
    with pytest.raises(Exception, match=r"(?i)dimension|Issues with types") as raised:
        adapter.run(model_bytes, {"x": X, "z": np.zeros(3, np.float32)}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, raised.value) is None, raised.value


def test_info_has_a_script_that_runs(adapter: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model(NEG))
    info = adapter.info()
    assert all(info[key] for key in ("runtime", "version")), info
    for key in [key for key in info if key.startswith("repro")]:
        names = {"model": onnx.load_from_string(model(NEG)), "inputs": {"x": X}, "onnx": onnx}
        names |= {"earlier": {"x": -X}, "path": str(path)}
        exec(info[key], names)
        assert equal([Y], names["outputs"]), f"{key} gave {names['outputs']}"


# ONNX Runtime


def test_ort_wide_script_calls_with_narrow_types(ort: Any) -> None:
    graph = "g (bfloat16[1,2] x) => (bfloat16[1,2] y) { y = Identity(x) }"
    x = X.astype(array("bfloat16", ()).dtype).reshape(1, 2)
    names = {"model": onnx.load_from_string(model(graph)), "inputs": {"x": x}, "onnx": onnx}
    exec(ort.info()["repro_wide"], names)
    assert equal([x], names["outputs"]), names["outputs"]


PACKED = pytest.mark.parametrize(("name", "values"), [("int4", [1, -8, 7]), ("uint4", [1, 15, 8])])


@PACKED
def test_ort_takes_and_gives_packed_types(ort: Any, name: str, values: list[int]) -> None:
    x = np.array(values).astype(array(name, ()).dtype)
    info = helper.make_value_info("x", tensor_type(name, (3,)))
    model_bytes = typed(tensor_type(name, (3,)), helper.make_node("Transpose", ["x"], ["y"]), info, opset=21)
    [y] = ask(ort, model_bytes, {"x": x}, "y")
    assert equal(x, y), f"{x!r} came as {y!r}"


@PACKED
def test_ort_works_without_functions_that_old_versions_lack(
    ort: Any, monkeypatch: pytest.MonkeyPatch, name: str, values: list[int]
) -> None:
    """Up to 1.20 an OrtValue does not tell its size: neither the adapter nor its script may ask."""
    monkeypatch.delattr(ort.onnxruntime.OrtValue, "tensor_size_in_bytes", raising=False)
    x = np.array(values).astype(array(name, ()).dtype)
    info = helper.make_value_info("x", tensor_type(name, (3,)))
    model_bytes = typed(tensor_type(name, (3,)), helper.make_node("Transpose", ["x"], ["y"]), info, opset=21)
    [y] = ask(ort, model_bytes, {"x": x}, "y")
    assert equal(x, y), f"{x!r} came as {y!r}"
    names = {"model": onnx.load_from_string(model_bytes), "inputs": {"x": x}, "onnx": onnx}
    exec(ort.info()["repro_wide"], names)
    assert equal([x], names["outputs"]), names["outputs"]
    empty = np.zeros((2, 0), x.dtype)
    info = helper.make_value_info("x", tensor_type(name, (2, 0)))
    model_bytes = typed(tensor_type(name, (0, 2)), helper.make_node("Transpose", ["x"], ["y"]), info, opset=21)
    [y] = ask(ort, model_bytes, {"x": empty}, "y")
    assert equal(empty.T, y), y


LACKS = {
    "Fail": (
        "Exception during initialization: onnxruntime/core/providers/cpu/rnn/deep_cpu_gru.h:56 layout_ == 0 was false. "
        "Batchwise recurrent operations (layout == 1) are not supported. If you need support create a github issue"
    ),
    "RuntimeException": "while running GRU node. Name:'GRU' Status Message: GRU operator does not support double yet",
    "InvalidArgument": "while running AveragePool node. Name:'AveragePool' Status Message: Unsupported pooling size.",
    "RuntimeException ": (
        "while running ScatterElements node. Name:'ScatterElements' Status Message: CPU execution provider: BFloat16 "
        "data type is not supported with ScatterElements opset 16 when reduction is 'add'."
    ),
    "Fail ": (
        "while running Attention node. Name:'Attention' Status Message: !((past_key != nullptr) && (present_key == "
        "nullptr)) was false. The implementation does not support past_key provided and present_key being null."
    ),
    "InvalidArgument ": "Name:'Conv' Status Message: Dilation not supported for AutoPadType::SAME_UPPER or AutoPadType",
}
"""Messages of ONNX Runtime 1.31 where it has no kernel."""


@pytest.mark.parametrize(("name", "text"), LACKS.items(), ids=range(len(LACKS)))
def test_ort_opts_out_where_it_has_no_kernel(ort: Any, name: str, text: str) -> None:
    error = type(name.strip(), (Exception,), {})(text)
    assert serve.opt_out(ort.OPT_OUTS, error) == "no kernel"


OLD_OPT_OUTS = {
    "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Failed to load model with error: model.cc:180 Unsupported model IR "
    "version: 11, max supported IR version: 10": "newer IR version than it knows",
    "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Failed to load model with error: ONNX Runtime only *guarantees* "
    "support for models stamped with official released onnx opset versions. Opset 22 is under development and "
    "support for this is limited.": "newer opset than it knows",
    "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Unsupported model IR version: -1": None,
    "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid rank for input: x": None,
}


@pytest.mark.parametrize(("text", "reason"), OLD_OPT_OUTS.items(), ids=range(len(OLD_OPT_OUTS)))
def test_ort_1_20_opts_out_with_another_exception(ort: Any, text: str, reason: str | None) -> None:
    error = type("InvalidArgument", (Exception,), {})(text)
    assert serve.opt_out(ort.OPT_OUTS, error) == reason


def test_ort_returns_an_empty_optional(ort: Any) -> None:
    for name in ("float", "bfloat16"):  # As an array, and through OrtValue.
        optional = helper.make_optional_type_proto(tensor_type(name))
        model_bytes = typed(optional, helper.make_node("Optional", [], ["y"], type=tensor_type(name)))
        assert ask(ort, model_bytes, {}, "y") == [None], name


def test_ort_returns_the_value_of_an_optional(ort: Any) -> None:
    optional = helper.make_optional_type_proto(tensor_type("float"))
    info = helper.make_value_info("x", tensor_type("float"))
    [y] = ask(ort, typed(optional, helper.make_node("Optional", ["x"], ["y"]), info), {"x": X}, "y")
    assert equal(X, y), y


@pytest.mark.parametrize(
    ("attribute", "labels"), [("classlabels_int64s", [7, -9]), ("classlabels_strings", ["a", "ü"])], ids=["int", "str"]
)
def test_ort_gives_maps_of_the_declared_type(ort: Any, attribute: str, labels: list[Any]) -> None:
    key = 7 if attribute == "classlabels_int64s" else protocol.STRING
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(key, tensor_type("float", ())))
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **{attribute: labels})
    model_bytes = typed(maps, node, helper.make_value_info("x", tensor_type("float", (2, 2))))
    [y] = ask(ort, model_bytes, {"x": np.array([[1, 2], [3, 4]], np.float32)}, "y")
    rows = [[1, 2], [3, 4]]
    expected = [{k: np.array(v, np.float32) for k, v in zip(labels, row, strict=True)} for row in rows]
    assert equal(expected, y), y


def test_ort_takes_maps(ort: Any) -> None:
    map_ = helper.make_map_type_proto(7, tensor_type("float", ()))
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[9, 7])
    model_bytes = typed(tensor_type("float", (1, 2)), node, helper.make_value_info("x", map_))
    [y] = ask(ort, model_bytes, {"x": {7: np.array(1.5, np.float32), 9: np.array(2, np.float32)}}, "y")
    assert equal(np.array([[2, 1.5]], np.float32), y), y


COMPLEX = "g (complex64[2] x) => (complex64[2] y) { y = Identity(x) }"
STRINGS = "g (string[2] x, bfloat16[2] b) => (string[2] y, bfloat16[2] c) { y = Identity(x)  c = Identity(b) }"
SEQUENCE = (
    "g (seq(float[2]) x, int64 i, bfloat16[2] b) => (float[2] y, bfloat16[2] c)"
    " { y = SequenceAt(x, i)  c = Identity(b) }"
)
EMPTY = "g () => (seq(bfloat16[2]) y) { y = SequenceEmpty <dtype: int = 16> () }"
B16 = np.zeros(2, array("bfloat16", ()).dtype)

LOCALE = (
    'g (string[1] x) => (string[1] y) { y = StringNormalizer <case_change_action = "LOWER", locale = "xx_YY"> (x) }'
)


def sparse() -> bytes:
    """Return a model that holds a sparse vector, for which the text syntax has no words."""
    values, indices = numpy_helper.from_array(X.reshape(-1)[:2]), numpy_helper.from_array(np.array([1, 3]))
    node = helper.make_node("Constant", [], ["y"], sparse_value=helper.make_sparse_tensor(values, indices, [4]))
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4])])
    opset = helper.make_opsetid("", 13)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString())


ORT_OPT_OUTS = {
    "sparse": (sparse(), {}, "no such sparse tensor"),
    "kernel": (model("g (bfloat16[2] x) => (bfloat16[2] y) { y = Add(x, x) }"), {"x": B16}, "no kernel"),
    "ir": (model(NEG, ir=99), {"x": X}, "newer IR version than it knows"),
    "opset": (model(NEG, opset=99), {"x": X}, "newer opset than it knows"),
    "operator": (model(NEG.replace("Neg", "Nope")), {"x": X}, "no such operator in its schemas"),
    "domain": (model(NEG.replace("Neg", "absent.Nope")), {"x": X}, "no such operator in its schemas"),
    "complex": (model(COMPLEX), {"x": X.astype(np.complex64)}, "no such element type"),
    "old halves": (
        model("g (float16[2] x) => (float16[2] y) { y = Neg(x) }", opset=5),
        {"x": np.zeros(2, np.float16)},
        "float16 in an opset below those that it supports",
    ),
    "feature": (
        model("g (float[1,2,1,3,4] x) => (float[1,2,4] y) { y = com.microsoft.MultiHeadAttention<num_heads = 1>(x) }"),
        {"x": np.ones((1, 2, 1, 3, 4), np.float32)},
        "no such feature on the CPU",
    ),
    "experts": (
        model(
            "g (float[2,4] x, float[2,3] r, float[3,8,4] a, float[3,4,4] b) => (float[2,4] y) "
            '{ y = com.microsoft.MoE<k = 1, activation_type = "swiglu">(x, r, a, , b) }'
        ),
        {
            "x": np.ones((2, 4), np.float32),
            "r": np.ones((2, 3), np.float32),
            "a": np.ones((3, 8, 4), np.float32),
            "b": np.ones((3, 4, 4), np.float32),
        },
        "no such feature on the CPU",
    ),
    "locale": (model(LOCALE), {"x": array("string", (1,))}, "a locale is missing on this machine"),
    "strings": (model(STRINGS), {"x": array("string", (2,)), "b": B16}, "no way to pass this type"),
    "sequence in": (model(SEQUENCE), {"x": [X], "i": np.array(0), "b": B16}, "no way to pass this type"),
    "sequence out": (model(EMPTY), {}, "no way to pass this type"),
}


@pytest.mark.parametrize(("model_bytes", "inputs", "reason"), ORT_OPT_OUTS.values(), ids=list(ORT_OPT_OUTS))
def test_ort_opts_out(ort: Any, model_bytes: bytes, inputs: dict[str, Any], reason: str) -> None:
    outputs = [value.name for value in onnx.load_from_string(model_bytes).graph.output]
    assert opted_out(ort, model_bytes, inputs, *outputs) == reason


def test_ort_opts_out_of_element_types_it_has_not_heard_of(ort: Any) -> None:
    unknown = helper.make_tensor_type_proto(99, [2])  # onnx has no type of this number yet.
    info = helper.make_value_info("x", unknown)
    model_bytes = typed(unknown, helper.make_node("Identity", ["x"], ["y"]), info, opset=25)
    assert opted_out(ort, model_bytes, {"x": X}, "y") == "no such element type"


def test_ort_does_not_opt_out_of_a_model_without_element_type(ort: Any) -> None:
    proto = onnx.load_from_string(model(NEG))
    proto.graph.input[0].type.tensor_type.elem_type = 0
    assert opted_out(ort, proto.SerializeToString(), {"x": X}, "y") is None


def test_every_reason_of_ort_has_a_model(ort: Any) -> None:
    without = {reason for _, _, reason in ort.OPT_OUTS} - {reason for _, _, reason in ORT_OPT_OUTS.values()}
    assert not without, f"no model opts out for {without}"


# onnx.reference


def test_the_reference_opts_out_of_an_operator_it_lacks() -> None:
    graph = "g (float[1,2] x) => (float[1,2] y) { y = ai.onnx.ml.ZipMap <classlabels_int64s: ints = [1, 2]> (x) }"
    assert opted_out(onnx_reference, model(graph), {"x": X.reshape(1, 2)}, "y") == "no kernel"


LIMITS_OF_THE_REFERENCE = {
    "a mode": ("AssertionError", "ceil_mode is not supported with auto_pad", "no kernel"),
    "a transform": ("NotImplementedError", "post_transform: 'LOGISTIC' is not implemented.", "no kernel"),
    "a direction": ("RuntimeError", "Scan is not implemented for other output input_direction than 0.", "no kernel"),
    "an interpolation": (
        "RuntimeError",
        "Not implemented for mode='nearest' and scale=array([1.5 , 2.75]).",
        "no kernel",
    ),
    "an error": ("TypeError", "Issues with types [<class 'numpy.ndarray'>] and attributes ['saturate']", None),
}
"""Messages of onnx.reference 1.23, and the reason for which its adapter opts out; None: it is a failure."""


@pytest.mark.parametrize(("name", "text", "reason"), LIMITS_OF_THE_REFERENCE.values(), ids=LIMITS_OF_THE_REFERENCE)
def test_the_reference_opts_out_of_what_it_says_it_lacks(name: str, text: str, reason: str | None) -> None:
    error = type(name, (Exception,), {})(text)
    assert serve.opt_out(onnx_reference.OPT_OUTS, error) == reason


@pytest.mark.skipif(importlib.util.find_spec("PIL") is not None, reason="ImageDecoder needs Pillow, which is there")
def test_the_reference_opts_out_where_a_package_is_missing() -> None:
    model_bytes = model("g (uint8[3] x) => (uint8[1,1,3] y) { y = ImageDecoder(x) }", opset=20)
    reason = opted_out(onnx_reference, model_bytes, {"x": np.zeros(3, np.uint8)}, "y")
    assert reason == "an optional package is missing"


# onnx.backend.base.Backend


@SHIM
def test_a_backend_runs(ort: Any) -> None:
    adapter = serve.load("onnxruntime.backend")
    assert isinstance(adapter, onnx_backend.Adapter), adapter
    assert adapter.info()["version"] == ort.info()["version"], adapter.info()
    [y] = ask(adapter, model(NEG), {"x": X}, "y")
    assert equal(Y, y), y


@SHIM
def test_a_backend_gets_the_inputs_in_their_order() -> None:
    pytest.importorskip("onnxruntime", reason="it is the backend")
    model_bytes = model("g (float[2] b, float[2] a) => (float[2] y) { y = Sub(b, a) }")
    [y] = ask(serve.load("onnxruntime.backend"), model_bytes, {"b": X, "a": Y}, "y")
    assert equal(X - Y, y), y


@SHIM
def test_a_backends_script_runs() -> None:
    pytest.importorskip("onnxruntime", reason="it is the backend")
    names = {"model": onnx.load_from_string(model(NEG)), "inputs": {"x": X}}
    exec(serve.load("onnxruntime.backend").info()["repro"], names)
    assert equal([Y], names["outputs"]), names["outputs"]


@SHIM
def test_a_backend_opts_out_as_its_runtimes_own_adapter_does(ort: Any) -> None:
    adapter = serve.load("onnxruntime.backend")
    assert set(ort.OPT_OUTS) < set(adapter.OPT_OUTS), adapter.OPT_OUTS
    model_bytes, inputs, reason = ORT_OPT_OUTS["kernel"]
    assert opted_out(adapter, model_bytes, inputs, "y") == reason


def prepare(error: BaseException) -> Any:
    def raising(*_: object) -> Any:
        raise error

    return raising


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (
            SimpleNamespace(is_compatible=lambda *_: False, prepare=prepare(ValueError())),
            "is_compatible() returned false",
        ),
        (SimpleNamespace(prepare=prepare(unittest.SkipTest("no Neg"))), "skipped by the backend"),
        (SimpleNamespace(prepare=prepare(NotImplementedError("no Neg"))), "not implemented"),
        (SimpleNamespace(is_compatible=lambda *_: True, prepare=prepare(ValueError("bad"))), None),
        (SimpleNamespace(is_compatible=None, prepare=prepare(ValueError("bad"))), None),
    ],
    ids=["is_compatible", "SkipTest", "NotImplementedError", "error", "no is_compatible"],
)
def test_a_backend_opts_out(target: Any, reason: str | None) -> None:
    adapter = onnx_backend.Adapter(target, "some.backend")
    assert opted_out(adapter, model(NEG), {"x": X}, "y") == reason


def test_is_compatible_gets_the_model_that_runs() -> None:
    compared = []
    target = SimpleNamespace(
        is_compatible=lambda proto, device: compared.append((proto, device)) or True,
        prepare=lambda proto, device: (
            compared.append((proto, device)) or SimpleNamespace(run=lambda inputs: (-inputs[0], None))
        ),
    )
    [y, nothing] = ask(onnx_backend.Adapter(target, "some.backend"), model(NEG), {"x": X}, "y")
    assert equal(Y, y), y
    assert nothing is None, nothing
    assert [(proto.SerializeToString(), device) for proto, device in compared] == [(model(NEG), "CPU")] * 2, compared


def vectorizer(held: int) -> bytes:
    """Return a model that turns a map from strings to values of an element type into a tensor."""
    entries = helper.make_map_type_proto(onnx.TensorProto.STRING, helper.make_tensor_type_proto(held, None))
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["b", "a"])
    output = helper.make_tensor_value_info("y", held, None)
    graph = helper.make_graph([node], "g", [helper.make_value_info("x", entries)], [output])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8)
    return bytes(proto.SerializeToString())


def test_ort_opts_out_of_maps_that_it_cannot_take(ort: Any) -> None:
    [scores] = ort.run(
        vectorizer(onnx.TensorProto.FLOAT), {"x": {"a": np.array(5, np.float32), "b": np.array(7, np.float32)}}, ["y"]
    )
    assert scores.reshape(-1).tolist() == [7, 5]
    for held, mapping in ((onnx.TensorProto.INT64, {"a": np.array(5)}), (onnx.TensorProto.FLOAT, {})):
        with pytest.raises(ort.NoTypeError, match="maps of floats"):
            ort.run(vectorizer(held), {"x": mapping}, ["y"])


def test_ort_reports_its_newest_opset_and_ir_version(ort: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    info = ort.info()
    assert info["opset"] >= 21
    assert info["ir_version"] >= 10
    monkeypatch.setattr(ort, "_newest", lambda *_: None)
    assert not {"opset", "ir_version"} & set(ort.info()), "where it does not say it"


@pytest.mark.parametrize("fallback", [False, True], ids=["at once", "with the CPU"])
def test_an_error_that_onnxruntime_raises_without_the_provider_is_not_that_of_the_provider(
    *, fallback: bool, ort: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"own": "no rank", "alone": "no rank"}

    def session(_: bytes, options: object, **__: object) -> None:
        if fallback and options is ort.OPTIONS:
            raise RuntimeError("CPU EP fallback is disabled")
        raise RuntimeError(said["alone" if options is ort.WITHOUT else "own"])

    monkeypatch.setattr(ort.onnxruntime, "InferenceSession", session)
    monkeypatch.setattr(ort.onnxruntime, "OrtEpAssignedNode", object(), raising=False)
    monkeypatch.setattr(ort, "PROVIDER", ort.execution_provider.Provider("Mine"))
    with pytest.raises(ort.NotOfProviderError, match="rank"):
        ort._loaded(b"")
    assert ("NotOfProviderError", r"") in [row[:2] for row in ort.OPT_OUTS_OF_PROVIDERS]
    said["alone"] = "no such operator"
    with pytest.raises(RuntimeError, match="rank"):
        ort._loaded(b"")
    monkeypatch.setattr(ort, "PROVIDER", ort.execution_provider.Provider(ort.execution_provider.CPU))
    said["alone"] = "no rank"
    with pytest.raises(RuntimeError, match="fallback" if fallback else "rank"):
        ort._loaded(b"")
