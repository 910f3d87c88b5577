# SPDX-License-Identifier: Apache-2.0
"""The wire format in Python, held against onnx's own bytes, against itself, and against README.md."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import numpy_helper

from onnx_conformance import backends
from onnx_conformance.backends import protocol

README = Path(backends.__file__).with_name("README.md").read_text(encoding="utf-8")
NUMERIC = [row for row in protocol.ELEMENT_TYPES if row.number != protocol.STRING]
NARROW = [row for row in NUMERIC if row.bits < 8]
BY_NAME = pytest.mark.parametrize("row", NUMERIC, ids=lambda row: row.name)

# Characters that JSON, UTF-8 or a line-based reader could stumble over, lone surrogates among them.
ODD_TEXT = st.text(st.characters(exclude_categories=()), max_size=5) | st.sampled_from(
    ["", "\0", "\n", "\r\n", '"', "\\", "\u2028", "\ufeff", "é", "e\u0301", "\U0001f600", "\udcff", "\u202ex"]
)
SHAPES = st.lists(st.integers(0, 3), max_size=4)


def sent(value: Any) -> Any:
    """Return what the other side gets, having gone through bytes."""
    buffers: list[bytes] = []
    data = protocol.message({"kind": "answer", "value": protocol.encode(value, buffers)}, buffers)
    read = protocol.read(io.BytesIO(data))
    assert read is not None, data
    header, payload = read
    reader = protocol.Payload(payload)
    back = reader.decode(header["value"])
    reader.end()
    return back


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are the same bit for bit; NaN and the sign of zero count."""
    if isinstance(left, np.ndarray):
        if not isinstance(right, np.ndarray) or (left.dtype, left.shape) != (right.dtype, right.shape):
            return False
        return left.tolist() == right.tolist() if left.dtype == object else protocol.pack(left) == protocol.pack(right)
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return left is None and right is None


@st.composite
def numeric_arrays(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    row, shape = draw(st.sampled_from(NUMERIC)), draw(SHAPES)
    count = int(np.prod(shape, dtype=int))
    size = protocol.packed_size(row.number, count)
    if row.name == "bool":
        return np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool).reshape(shape)
    return protocol.unpack(draw(st.binary(min_size=size, max_size=size)), row.number, shape)


@st.composite
def string_arrays(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    shape = draw(SHAPES)
    count = int(np.prod(shape, dtype=int))
    array = np.empty(count, dtype=object)
    array[:] = draw(st.lists(ODD_TEXT, min_size=count, max_size=count))
    return array.reshape(shape)


TENSORS = numeric_arrays() | string_arrays()


def _holding(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return sequences, and maps by integer and by text, of what `inner` draws."""
    by_integer = st.dictionaries(st.integers(-(2**63), 2**63 - 1), inner, max_size=3)
    by_text = st.dictionaries(ODD_TEXT, inner, max_size=3)
    return st.lists(inner, max_size=3) | by_integer | by_text


VALUES = st.recursive(TENSORS | st.none(), _holding, max_leaves=6)


# Element types


def test_element_types_are_those_of_onnx() -> None:
    official = {value: name for name, value in onnx.TensorProto.DataType.items() if name != "UNDEFINED"}
    ours = {row.number: row.name for row in protocol.ELEMENT_TYPES}
    assert sorted(ours) == sorted(official), set(ours) ^ set(official)
    for number, name in ours.items():
        assert name.upper() == official[number], f"{number} is {official[number]} in onnx, {name} here"


@BY_NAME
def test_element_type_has_onnxs_dtype(row: protocol.ElementType) -> None:
    official = onnx.helper.tensor_dtype_to_np_dtype(row.number)
    assert protocol.numpy_dtype(row.number) == official, (row, official)
    assert protocol.element_type(official) == row, protocol.element_type(official)
    assert protocol.element_type_named(row.name) == row, protocol.element_type_named(row.name)


@pytest.mark.parametrize("dtype", ["<U3", "S2", "O"])
def test_every_dtype_of_text_is_string(dtype: str) -> None:
    assert protocol.element_type(np.dtype(dtype)).name == "string", protocol.element_type(np.dtype(dtype))


@pytest.mark.parametrize(
    ("ask", "named"), [(np.dtype("datetime64[s]"), "datetime64"), (np.dtype([("a", "f4")]), "'a'")]
)
def test_a_dtype_that_onnx_lacks_is_named(ask: np.dtype[Any], named: str) -> None:
    with pytest.raises(protocol.ElementTypeError, match=r"is not an ONNX element type") as raised:
        protocol.encode(np.zeros(2, ask), [])
    assert named in str(raised.value), raised.value


@pytest.mark.parametrize("number", [0, 99, -1, None])
def test_a_number_that_onnx_lacks_is_named(number: Any) -> None:
    with pytest.raises(protocol.ElementTypeError, match=rf"{number} is not an ONNX element type"):
        protocol.numpy_dtype(number)


def test_a_name_that_onnx_lacks_lists_those_it_has() -> None:
    with pytest.raises(
        protocol.ElementTypeError, match=r"'float32' is not an ONNX element type; there are float, uint8"
    ):
        protocol.element_type_named("float32")


def test_a_type_without_dtype_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(protocol._DTYPES, 16)
    with pytest.raises(protocol.ElementTypeError, match=r"bfloat16: install a newer ml_dtypes"):
        protocol.numpy_dtype(16)


# Packing


@BY_NAME
@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 0, 3), (3, 3)], ids=str)
def test_packing_is_raw_data(row: protocol.ElementType, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape, dtype=int))
    array = (np.arange(count) % 2 + np.arange(count) // 4).astype(protocol.numpy_dtype(row.number)).reshape(shape)
    raw = numpy_helper.from_array(array).raw_data
    assert protocol.pack(array) == raw, (array, protocol.pack(array).hex(), raw.hex())
    assert len(raw) == protocol.packed_size(row.number, count), (row, count, raw.hex())
    back = protocol.unpack(raw, row.number, shape)
    assert same(array, back), (array, back)
    assert back.flags.writeable, back.flags


@pytest.mark.parametrize("row", NARROW, ids=lambda row: row.name)
def test_every_code_of_a_narrow_type_is_raw_data(row: protocol.ElementType) -> None:
    # Every bit pattern, negative ones too, whose unpacked bytes may be extended by sign.
    codes = np.arange(2**row.bits, dtype=np.uint8).view(protocol.numpy_dtype(row.number))
    raw = numpy_helper.from_array(codes).raw_data
    assert protocol.pack(codes) == raw, (protocol.pack(codes).hex(), raw.hex())
    tensor = onnx.TensorProto(data_type=row.number, dims=codes.shape, raw_data=raw)
    theirs, ours = numpy_helper.to_array(tensor), protocol.unpack(raw, row.number, codes.shape)
    assert theirs.astype(np.float32).tolist() == ours.astype(np.float32).tolist(), (theirs, ours)


@pytest.mark.parametrize(
    ("name", "values", "packed"),
    [
        ("int4", [1, -8, 7], "8107"),
        ("uint2", [1, 2, 3, 0, 1], "3901"),
        ("float6e2m3", [0.125, 7.5, -7.5, 0, 1], "c1f70308"),
        ("float", [1.5, -2], "0000c03f000000c0"),
    ],
)
def test_packing_by_hand(name: str, values: list[float], packed: str) -> None:
    array = np.array(values).astype(protocol.numpy_dtype(protocol.element_type_named(name).number))
    assert protocol.pack(array).hex() == packed, (array, protocol.pack(array).hex())
    assert name == "float" or f"`{packed}`" in README, f"README.md does not have {packed} for {name}"


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        np.arange(12, dtype=np.int32)[::2].reshape(2, 3) // 2,
    ],
    ids=["big-endian", "fortran", "strided"],
)
def test_packing_does_not_depend_on_memory_layout(array: np.ndarray[Any, Any]) -> None:
    assert protocol.pack(array) == np.arange(6, dtype="<i4").tobytes(), protocol.pack(array).hex()
    assert sent(array).tolist() == [[0, 1, 2], [3, 4, 5]], sent(array)


# Round trips


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_values_come_through(value: Any) -> None:
    back = sent(value)
    assert same(value, back), f"{value!r} came as {back!r}"


@settings(max_examples=60, deadline=None)
@given(st.lists(TENSORS, max_size=4))
def test_tensors_of_one_message_do_not_mix(values: list[Any]) -> None:
    back = sent(values)
    assert same(values, back), f"{values!r} came as {back!r}"


def test_a_header_line_has_no_line_break_and_is_ascii() -> None:
    data = protocol.message({"kind": "answer", "value": protocol.encode(np.array(["\n\u2028é\udcff"]), [])})
    assert data.count(b"\n") == 1, data
    assert data.isascii(), data


def test_bytes_that_are_not_utf8_are_escaped_in_text() -> None:
    assert sent(np.array([b"\xff", b"a"])).tolist() == ["\udcff", "a"], sent(np.array([b"\xff", b"a"]))


def test_a_scalar_of_numpy_is_a_tensor_of_rank_0() -> None:
    assert same(np.array(1.5, np.float32), sent(np.float32(1.5))), sent(np.float32(1.5))


def test_an_optional_with_a_value_is_sent_as_the_value() -> None:
    described = {"kind": "optional", "item": {"kind": "tensor", "type": 2, "shape": []}}
    assert same(np.array(7, np.uint8), protocol.Payload(b"\x07").decode(described)), described


@pytest.mark.parametrize("value", [1.5, "text", {1, 2}, object], ids=repr)
def test_objects_that_are_no_values_are_not_sent(value: Any) -> None:
    with pytest.raises(protocol.PayloadError, match=rf"{type(value).__name__} is no tensor .* sequence .* map .* None"):
        protocol.encode([value], [])


@pytest.mark.parametrize("keys", [["a", 1], [1.5], [None], [2**63]], ids=repr)
def test_map_keys_of_no_or_two_types_are_not_sent(keys: list[Any]) -> None:
    with pytest.raises(protocol.PayloadError, match=r"map keys .*: expected strings or integers"):
        protocol.encode(dict.fromkeys(keys), [])


# Malformed headers and payloads

ONE = {"kind": "tensor", "type": 1, "shape": []}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"hello", r"not a header line: b'hello'"),
        (b"", r"not a header line: b''"),
        (b"\xff\xfe\xff", r"not a header line"),
        (b"[" * 100_000, r"not a header line: .*\.\.\."),
        (b"[]", r'an object with a "kind", not'),
        (b"null", r'an object with a "kind", not'),
        (b'{"payload":0}', r'an object with a "kind", not'),
        (b'{"kind":1,"payload":0}', r'an object with a "kind", not'),
        (b'{"kind":"x"}', r'"payload" is None'),
        (b'{"kind":"x","payload":-1}', r'"payload" is -1'),
        (b'{"kind":"x","payload":1.0}', r'"payload" is 1\.0'),
        (b'{"kind":"x","payload":true}', r'"payload" is True'),
        (b'{"kind":"x","payload":"8"}', r'"payload" is \'8\''),
        (b'{"kind":"x","payload":NaN}', r'"payload" is nan'),
        (b'{"kind":"x","payload":1073741825}', r"announces 1073741825 bytes; at most 1073741824"),
    ],
)
def test_a_malformed_header_line(line: bytes, says: str) -> None:
    with pytest.raises(protocol.HeaderError, match=says) as raised:
        protocol.parse_header(line)
    assert len(str(raised.value)) < 300, "a message of somebody else's making is shown whole"


@pytest.mark.parametrize(
    ("described", "says"),
    [
        (None, r"a value is described by an object, not None"),
        ([ONE], r"a value is described by an object, not \["),
        ({}, r"value kind None: expected tensor, sequence, map or optional"),
        ({"kind": "array"}, r"value kind 'array'"),
        ({"kind": []}, r"value kind \[\]"),
        ({**ONE, "type": 0}, r"tensor type 0"),
        ({**ONE, "type": 99}, r"tensor type 99"),
        ({**ONE, "type": True}, r"tensor type True"),
        ({**ONE, "type": 1.0}, r"tensor type 1\.0"),
        ({**ONE, "type": "float"}, r"tensor type 'float'"),
        ({**ONE, "type": [1]}, r"tensor type \[1\]"),
        ({"kind": "tensor", "type": 1}, r'"shape" of a value is None: expected a list'),
        ({**ONE, "shape": 3}, r'"shape" of a value is 3'),
        ({**ONE, "shape": [-1]}, r"tensor shape \[-1\]: expected a list of integers of at least 0"),
        ({**ONE, "shape": [1.0]}, r"tensor shape \[1\.0\]"),
        ({**ONE, "shape": [True]}, r"tensor shape \[True\]"),
        ({**ONE, "shape": ["n"]}, r"tensor shape \['n'\]"),
        ({**ONE, "shape": [0, 2**70]}, r"tensor shape \[0, \d+\]: "),
        ({**ONE, "type": 22, "shape": [0, 2**62, 4]}, r"tensor shape \[0, \d+, 4\]: "),
        ({**ONE, "shape": [1] * 65}, r"tensor shape \[1, 1"),
        ({"kind": "tensor", "type": 8, "shape": [1]}, r'"strings" of a value is None'),
        ({"kind": "tensor", "type": 8, "shape": [2], "strings": ["a"]}, r"1 strings for shape \[2\]: expected 2"),
        ({"kind": "tensor", "type": 8, "shape": [1], "strings": [1]}, r"1 strings for shape \[1\]"),
        ({"kind": "tensor", "type": 8, "shape": [0, 2**70], "strings": []}, r"tensor shape \[0, \d+\]: "),
        ({"kind": "sequence"}, r'"items" of a value is None'),
        ({"kind": "sequence", "items": [None]}, r"a value is described by an object, not None"),
        ({"kind": "map", "values": []}, r"value kind None"),
        ({"kind": "map", "keys": {"kind": "sequence", "items": []}, "values": []}, r'"keys" of a map are'),
        ({"kind": "map", "keys": {"kind": "optional", "item": None}, "values": []}, r'"keys" of a map are'),
        ({"kind": "map", "keys": {**ONE, "type": 7}, "values": [ONE]}, r'"keys" of a map are'),
        ({"kind": "map", "keys": {**ONE, "shape": [1]}, "values": [ONE]}, r'"keys" of a map are'),
        ({"kind": "map", "keys": {**ONE, "type": 7, "shape": [1]}, "values": []}, r"a map of 1 keys and 0 values"),
        ({"kind": "map", "keys": {**ONE, "type": 7, "shape": [1]}}, r'"values" of a value is None'),
        ({"kind": "map", "keys": {**ONE, "type": 3, "shape": [2]}, "values": [ONE, ONE]}, r"expected every key once"),
        ({"kind": "optional", "item": 1}, r"a value is described by an object, not 1"),
    ],
)
def test_a_malformed_value(described: Any, says: str) -> None:
    with pytest.raises(protocol.HeaderError, match=says) as raised:
        protocol.Payload(bytes(64)).decode(described)
    assert len(str(raised.value)) < 300, "a description of somebody else's making is shown whole"


@pytest.mark.parametrize("kind", ["sequence", "optional", "map"])
def test_values_nest_up_to_a_limit(kind: str) -> None:
    def nested(depth: int) -> dict[str, Any]:
        described: dict[str, Any] = {"kind": "optional", "item": None}
        keys = {"kind": "tensor", "type": 8, "shape": [1], "strings": ["k"]}
        for _ in range(depth):
            described = {"kind": kind, "items": [described], "item": described, "keys": keys, "values": [described]}
        return described

    protocol.Payload(b"").decode(nested(protocol.MAX_DEPTH))
    for depth in (protocol.MAX_DEPTH + 1, 5000):  # The second one is deeper than Python's stack.
        with pytest.raises(protocol.HeaderError, match=rf"over {protocol.MAX_DEPTH} deep"):
            protocol.Payload(b"").decode(nested(depth))


@BY_NAME
def test_a_payload_with_a_byte_too_few(row: protocol.ElementType) -> None:
    data = bytes(protocol.packed_size(row.number, 5) - 1)
    with pytest.raises(protocol.PayloadError, match=rf"shape \[5\] of {row.name} needs .* {len(data)} are left"):
        protocol.Payload(data).decode({"kind": "tensor", "type": row.number, "shape": [5]})


def test_a_payload_too_large_to_hold_is_refused_before_it_is_made() -> None:
    with pytest.raises(protocol.PayloadError, match=r"needs \d+ bytes, 4 are left"):
        protocol.Payload(bytes(4)).decode({**ONE, "shape": [2**40, 2**40]})


def test_a_payload_with_a_byte_too_many() -> None:
    reader = protocol.Payload(bytes(5))
    reader.decode(ONE)
    with pytest.raises(protocol.PayloadError, match=r"1 bytes are left over"):
        reader.end()


def test_a_stream_that_ends_inside_a_payload() -> None:
    with pytest.raises(protocol.PayloadError, match=r"ended after 3 of 8 bytes"):
        protocol.read(io.BytesIO(b'{"kind":"run","payload":8}\nabc'))


def test_a_stream_that_ends_between_messages_is_over() -> None:
    stream = io.BytesIO(protocol.message({"kind": "run"}, [b"ab", b"c"]))
    assert protocol.read(stream) == ({"kind": "run", "payload": 3}, b"abc")
    assert protocol.read(stream) is None


def test_a_header_line_without_end_is_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_HEADER", 16)
    with pytest.raises(protocol.HeaderError, match=r"not a header line"):
        protocol.read(io.BytesIO(b'{"kind":"a header that is too long","payload":0}\n'))


# README.md says the same


def test_readme_has_the_element_types() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \| (\d+) \|", README, re.MULTILINE)
    documented = [(int(number), name, int(bits)) for number, name, bits in rows]
    ours = [(row.number, row.name, row.bits) for row in protocol.ELEMENT_TYPES]
    assert documented == ours, set(documented) ^ set(ours)


@pytest.mark.parametrize("name", ["MAX_HEADER", "MAX_PAYLOAD", "MAX_DEPTH", "MAX_RANK", "VERSION"])
def test_readme_has_the_limits(name: str) -> None:
    pattern = {
        "MAX_HEADER": r"header line has at most (\d+) bytes",
        "MAX_PAYLOAD": r"a payload at most (\d+) bytes",
        "MAX_DEPTH": r"nest at most (\d+) deep",
        "MAX_RANK": r"has at most (\d+) dimensions",
        "VERSION": r"## The wire format, version (\d+)",
    }[name]
    match = re.search(pattern, " ".join(README.split()))
    assert match, f"README.md does not say {pattern}"
    assert int(match[1]) == getattr(protocol, name), (match[0], getattr(protocol, name))


def _exchange() -> list[tuple[str, bytes]]:
    """Return the messages of README.md's example: who wrote it, and the bytes."""
    block = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    assert block, "README.md has no exchange"
    messages: list[tuple[str, bytes]] = []
    for line in block[1].splitlines():
        side, text = line[0], line[2:]
        if text.startswith("{"):
            messages.append((side, f"{text}\n".encode()))
        else:
            assert messages[-1][0] == side, line
            messages[-1] = (side, messages[-1][1] + bytes.fromhex(text))
    return messages


def test_the_exchange_in_the_readme_is_that_of_protocol() -> None:
    input_, output = np.array([1.5, -2], np.float32), np.array([-1.5, 2], np.float32)
    messages = _exchange()
    assert [side for side, _ in messages] == list("<>><<"), messages
    read = [protocol.read(io.BytesIO(data)) for _, data in messages]
    for (_, data), whole in zip(messages, read, strict=True):
        assert whole is not None, data
        assert protocol.message(whole[0], [whole[1]]) == data, data
    kinds = [whole[0]["kind"] for whole in read if whole]
    assert kinds == ["hello", "run", "run", "answer", "refused"], kinds

    request = read[1]
    assert request is not None
    size = request[0]["model"]
    model = onnx.load_from_string(request[1][:size])
    onnx.checker.check_model(model)
    assert [node.op_type for node in model.graph.node] == ["Neg"], model
    reader = protocol.Payload(request[1][size:])
    assert same(input_, reader.decode(request[0]["inputs"][0]["value"])), request
    reader.end()

    reply = read[3]
    assert reply is not None
    buffers: list[bytes] = []
    assert reply[0]["outputs"] == [protocol.encode(output, buffers)], reply[0]
    assert reply[1] == b"".join(buffers), reply[1].hex()


def test_readmes_values_are_values() -> None:
    lines = [line.strip() for line in README.splitlines() if line.startswith('    {"kind"')]
    kinds = []
    for line in lines:
        described = json.loads(line)
        kinds.append(described["kind"])
        protocol.Payload(bytes(range(64))).decode(described)
    assert kinds == ["tensor", "sequence", "map", "optional"], lines


def test_a_bool_is_written_as_zero_or_one_whatever_byte_a_runtime_holds() -> None:
    held = np.array([0, 1, 2, 255], np.uint8).view(bool)
    assert protocol.pack(held) == b"\0\1\1\1"
    assert protocol.pack(np.array([[True, False], [True, True]])[:, ::-1]) == b"\0\1\1\1"
    assert protocol.pack(held[2].reshape(())) == b"\1"
