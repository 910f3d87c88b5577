# SPDX-License-Identifier: Apache-2.0
"""Both sides of the wire format between the harness and an adapter.

A message is one line of JSON, the header, followed by the number of raw bytes in the header's "payload".
README.md in this folder describes every message; this module implements it in Python.

Values are numpy arrays (tensors), lists (sequences), dicts (maps) and None (an empty
optional). An array's dtype is its ONNX element type; string tensors are object arrays of str.
"""

from __future__ import annotations

import json
import math
import reprlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

try:  # Without ml_dtypes an adapter still supports the types of numpy itself.
    import ml_dtypes
except ImportError:
    ml_dtypes = None  # type: ignore[assignment, unused-ignore]

VERSION = 1
"""Increased when a message changes its meaning; both sides refuse another number."""

MAX_HEADER = 64 << 20
"""Bytes of one header line; a longer one is no message."""

MAX_PAYLOAD = 1 << 30
"""Bytes of one payload that are accepted."""

MAX_DEPTH = 32
"""How deep sequences, maps and optionals may be nested."""

MAX_RANK = 64
"""Dimensions of a tensor: the maximum of numpy."""

MAX_DIM = 2**63 - 1
"""Size of one dimension: TensorProto stores it in 64 bits."""

Value = Any
"""np.ndarray | list[Value] | dict[int | str, Value] | None."""

STRING = 8
BOOL = 9

_LONGEST_INTEGER = 40
"""Digits of an integer that is read as one; int() takes time that grows with their square, and raises above 4300."""

_UNPACKED_AT_ONCE = 1 << 16
"""Elements below a byte that are unpacked at once, each bit into a byte; a multiple of 8."""

_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxdict = 8
_SHORT.maxstring = _SHORT.maxother = 200


class ProtocolError(Exception):
    """A message that does not follow the wire format; the text contains the problem."""


class HeaderError(ProtocolError):
    """A header line that is not a JSON object of the wire format."""


class PayloadError(ProtocolError):
    """A payload that does not match its header."""


class ElementTypeError(ProtocolError):
    """An element type that this environment does not support."""


@dataclass(frozen=True)
class ElementType:
    """One row of ONNX's TensorProto.DataType.

    Attributes:
        number: its value in TensorProto.DataType.
        name: as ONNX writes it between the parentheses of tensor(...).
        dtype: the numpy (or ml_dtypes) name of one unpacked element.
        bits: of one element in TensorProto.raw_data, where elements below a byte are packed, lowest first.
    """

    number: int
    name: str
    dtype: str
    bits: int


ELEMENT_TYPES = (
    ElementType(1, "float", "float32", 32),
    ElementType(2, "uint8", "uint8", 8),
    ElementType(3, "int8", "int8", 8),
    ElementType(4, "uint16", "uint16", 16),
    ElementType(5, "int16", "int16", 16),
    ElementType(6, "int32", "int32", 32),
    ElementType(7, "int64", "int64", 64),
    ElementType(STRING, "string", "object", 0),
    ElementType(9, "bool", "bool", 8),
    ElementType(10, "float16", "float16", 16),
    ElementType(11, "double", "float64", 64),
    ElementType(12, "uint32", "uint32", 32),
    ElementType(13, "uint64", "uint64", 64),
    ElementType(14, "complex64", "complex64", 64),
    ElementType(15, "complex128", "complex128", 128),
    ElementType(16, "bfloat16", "bfloat16", 16),
    ElementType(17, "float8e4m3fn", "float8_e4m3fn", 8),
    ElementType(18, "float8e4m3fnuz", "float8_e4m3fnuz", 8),
    ElementType(19, "float8e5m2", "float8_e5m2", 8),
    ElementType(20, "float8e5m2fnuz", "float8_e5m2fnuz", 8),
    ElementType(21, "uint4", "uint4", 4),
    ElementType(22, "int4", "int4", 4),
    ElementType(23, "float4e2m1", "float4_e2m1fn", 4),
    ElementType(24, "float8e8m0", "float8_e8m0fnu", 8),
    ElementType(25, "uint2", "uint2", 2),
    ElementType(26, "int2", "int2", 2),
    ElementType(27, "float6e2m3", "float6_e2m3fn", 6),
    ElementType(28, "float6e3m2", "float6_e3m2fn", 6),
)


def _numpy_dtype(name: str) -> np.dtype[Any] | None:
    if name in {"object", "bool"} or hasattr(np, name):
        return np.dtype(name)
    wide = getattr(ml_dtypes, name, None)
    return None if wide is None else np.dtype(wide)


_ROWS = {row.number: row for row in ELEMENT_TYPES}
_DTYPES = {row.number: dtype for row in ELEMENT_TYPES if (dtype := _numpy_dtype(row.dtype)) is not None}
_NUMBERS = {dtype: number for number, dtype in _DTYPES.items()}
_BY_NAME = {row.name: row for row in ELEMENT_TYPES}


def element_type(dtype: np.dtype[Any]) -> ElementType:
    """Return the row of a numpy dtype; every dtype of text counts as string.

    Raises:
        ElementTypeError: ONNX has no such type.
    """
    number = _NUMBERS.get(dtype)
    if number is None:
        if dtype.kind in "UST":
            return _ROWS[STRING]
        if (native := dtype.newbyteorder("=")) in _NUMBERS:
            return _ROWS[_NUMBERS[native]]
        raise ElementTypeError(f"numpy dtype {dtype} is not an ONNX element type")
    return _ROWS[number]


def element_type_named(name: str) -> ElementType:
    """Return the row that ONNX calls `name`, such as "float16".

    Raises:
        ElementTypeError: ONNX has no such element type.
    """
    if name not in _BY_NAME:
        raise ElementTypeError(f"{name!r} is not an ONNX element type; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def numpy_dtype(number: int) -> np.dtype[Any]:
    """Return the numpy dtype of ONNX element type `number`.

    Raises:
        ElementTypeError: no such element type, or this environment lacks ml_dtypes (or a new enough one).
    """
    if number in _DTYPES:
        return _DTYPES[number]
    if number in _ROWS:
        raise ElementTypeError(
            f"no dtype for {_ROWS[number].name}: install a newer ml_dtypes in the environment of the adapter"
        )
    raise ElementTypeError(f"{number!r} is not an ONNX element type")


def pack(array: np.ndarray[Any, Any]) -> bytes:
    """Return the elements in row-major order, little-endian, as in TensorProto.raw_data."""
    bits = element_type(array.dtype).bits
    if bits < 8:  # noqa: PLR2004 - a byte
        codes = np.unpackbits(array.reshape(-1, 1).view(np.uint8), axis=1, bitorder="little", count=bits)
        return np.packbits(codes.reshape(-1), bitorder="little").tobytes()
    if array.dtype.kind == "b":
        array = (
            array.view(np.uint8) != 0
        )  # A runtime may use another byte than 1 for true, which the format does not allow.
    if sys.byteorder == "big" or array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.tobytes()


def packed_size(number: int, count: int) -> int:
    """Return how many bytes `count` elements take in raw_data."""
    return (count * _ROWS[number].bits + 7) // 8


def unpack(data: bytes | memoryview, number: int, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return a new array from raw_data: the inverse of `pack`."""
    dtype, bits, count = numpy_dtype(number), _ROWS[number].bits, math.prod(shape)
    if bits >= 8:  # noqa: PLR2004 - a byte
        array = np.frombuffer(data, dtype if sys.byteorder == "little" else dtype.newbyteorder("<"), count)
        return array.astype(dtype, copy=True).reshape(shape)
    packed, codes = np.frombuffer(data, np.uint8), np.empty(count, np.uint8)
    for begin in range(0, count, _UNPACKED_AT_ONCE):
        some = codes[begin : begin + _UNPACKED_AT_ONCE]
        row = np.unpackbits(packed[begin * bits // 8 :], count=some.size * bits, bitorder="little").reshape(-1, bits)
        some[:] = np.packbits(row, axis=1, bitorder="little").reshape(-1)
    return codes.view(dtype).reshape(shape)


def encode(value: Value, buffers: list[bytes]) -> dict[str, Any]:
    """Return the header's description of one value and append its bytes to `buffers`.

    Raises:
        ElementTypeError: an array of a dtype that ONNX does not have.
        PayloadError: the value is no tensor, sequence, map or optional.
    """
    if isinstance(value, np.ndarray | np.generic):
        row = element_type(value.dtype)
        described: dict[str, Any] = {"kind": "tensor", "type": row.number, "shape": list(value.shape)}
        if row.number == STRING:
            described["strings"] = [_text(item) for item in np.asarray(value).reshape(-1).tolist()]
        else:
            buffers.append(pack(np.asarray(value)))
        return described
    if isinstance(value, list | tuple):
        return {"kind": "sequence", "items": [encode(item, buffers) for item in value]}
    if isinstance(value, dict):
        return {
            "kind": "map",
            "keys": encode(_keys(list(value)), buffers),
            "values": [encode(item, buffers) for item in value.values()],
        }
    if value is None:
        return {"kind": "optional", "item": None}
    raise PayloadError(f"{type(value).__name__} is no tensor (numpy array), sequence (list), map (dict) or None")


def _keys(keys: list[Any]) -> np.ndarray[Any, Any]:
    """Return the keys of a map as a tensor of string or int64."""
    if all(isinstance(key, str) for key in keys) and keys:
        return np.array(keys, dtype=object)
    if all(isinstance(key, int | np.integer) and -(2**63) <= key < 2**63 for key in keys):
        return np.array(keys, dtype=np.int64)
    raise PayloadError(f"map keys {clip(keys)}: expected strings or integers of 64 bits, of one kind")


def _text(item: object) -> str:
    return item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else str(item)


class Payload:
    """Reads the values of one message in order from its bytes."""

    def __init__(self, data: bytes | memoryview) -> None:
        """Start at the first byte."""
        self.data, self.size, self.offset = memoryview(data), len(data), 0

    def decode(self, described: Mapping[str, Any], depth: int = 0) -> Value:
        """Return the value that `described` describes.

        Raises:
            HeaderError: the description does not follow the wire format.
            PayloadError: the payload has fewer bytes than it needs.
        """
        if not isinstance(described, dict):
            raise HeaderError(f"a value is described by an object, not {clip(described)}")
        if depth > MAX_DEPTH:
            raise HeaderError(f"values lie over {MAX_DEPTH} deep in one another")
        kind = described.get("kind")
        if kind == "tensor":
            return self.tensor(described)
        if kind == "sequence":
            return [self.decode(item, depth + 1) for item in _list(described, "items")]
        if kind == "map":
            return self._map(described, depth + 1)
        if kind == "optional":
            item = described.get("item")
            return None if item is None else self.decode(item, depth + 1)
        raise HeaderError(f"value kind {clip(kind)}: expected tensor, sequence, map or optional")

    def _map(self, described: Mapping[str, Any], depth: int) -> dict[Any, Value]:
        keys = self.decode(described.get("keys", {}), depth)
        if not isinstance(keys, np.ndarray) or keys.ndim != 1 or keys.dtype.kind not in "Oiu":
            shown = clip(described.get("keys"))
            raise HeaderError(f'"keys" of a map are {shown}: expected a tensor of rank 1, of strings or integers')
        listed, values = self._keys(keys), _list(described, "values")
        if len(listed) != len(values):
            raise HeaderError(f"a map of {len(listed)} keys and {len(values)} values: expected as many of both")
        if len(set(listed)) != len(listed):
            raise HeaderError(f"map keys {clip(listed)}: expected every key once")
        return {key: self.decode(value, depth) for key, value in zip(listed, values, strict=True)}

    def _keys(self, keys: np.ndarray[Any, Any]) -> list[Any]:
        return list(keys.tolist())

    def tensor(self, described: Mapping[str, Any]) -> np.ndarray[Any, Any]:
        """Return the next tensor.

        Args:
            described: its description in the header.

        Raises:
            HeaderError: the description does not follow the wire format.
            PayloadError: the payload has fewer bytes than it needs.
        """
        number, shape = described.get("type"), _list(described, "shape")
        if len(shape) > MAX_RANK:
            raise HeaderError(f"tensor shape {clip(shape)}: {len(shape)} dimensions, expected at most {MAX_RANK}")
        for dim in shape:
            if type(dim) is not int or not 0 <= dim <= MAX_DIM:  # JSON's true is an int to isinstance().
                raise HeaderError(f"tensor shape {clip(shape)}: expected a list of integers of at least 0, below 2**63")
        if not isinstance(number, int) or isinstance(number, bool) or number not in _ROWS:
            raise HeaderError(f"tensor type {clip(number)}: expected a number of TensorProto.DataType")
        count = math.prod(shape)
        if number == STRING:
            strings = _list(described, "strings")
            if len(strings) != count or not all(isinstance(item, str) for item in strings):
                raise HeaderError(f"{len(strings)} strings for shape {clip(shape)}: expected {count}")
            array = np.empty(count, dtype=object)
            array[:] = strings
            return _shaped(shape, lambda: array.reshape(shape))
        size = packed_size(number, count)
        if self.offset + size > self.size:
            raise PayloadError(
                f"shape {clip(shape)} of {_ROWS[number].name} needs {size} bytes, "
                f"{self.size - self.offset} are left of the payload"
            )
        self.offset += size
        return _shaped(shape, lambda: self._elements(size, number, shape))

    def _elements(self, size: int, number: int, shape: list[int]) -> np.ndarray[Any, Any]:
        data = self.data[self.offset - size : self.offset]
        if number == BOOL and (odd := int(np.frombuffer(data, np.uint8).max(initial=0))) > 1:
            raise PayloadError(f"a bool of shape {clip(shape)} has a byte {odd}: expected 0 or 1")
        return unpack(data, number, shape)

    def end(self) -> None:
        """Raise PayloadError if bytes are left over."""
        if self.offset != self.size:
            raise PayloadError(f"{self.size - self.offset} bytes are left over after the last value")


class Outline(Payload):
    """Reads the values of a message whose payload was skipped: types and shapes are right, each element is 0.

    An array takes the memory of one element. The integer keys of a map are unknown; they are 0, 1, 2 and so on.
    """

    def __init__(self, size: int) -> None:
        """Start at the first of so many bytes."""
        super().__init__(b"")
        self.size = size

    def _elements(self, _size: int, number: int, shape: list[int]) -> np.ndarray[Any, Any]:
        return np.broadcast_to(np.zeros((), numpy_dtype(number)), shape)

    def _keys(self, keys: np.ndarray[Any, Any]) -> list[Any]:
        return list(keys.tolist()) if keys.dtype.kind == "O" else list(range(len(keys)))


def _shaped(shape: list[int], make: Callable[[], np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    try:
        return make()
    except ValueError as error:  # Too many dimensions, or a very large one together with a 0.
        raise HeaderError(f"tensor shape {clip(shape)}: {error}") from None


def _list(described: Mapping[str, Any], key: str) -> list[Any]:
    value = described.get(key)
    if not isinstance(value, list):
        raise HeaderError(f'"{key}" of a value is {clip(value)}: expected a list')
    return value


def clip(value: object, limit: int = 80) -> str:
    """Return a short form of a value from outside, safe to print; of a large or deep one only the beginning is read."""
    text = repr(value[: 4 * limit]) if isinstance(value, bytes | str) else _SHORT.repr(value)
    return text if len(text) <= limit else text[:limit] + "..."


def message(header: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> bytes:
    """Return one message: header line and payload."""
    head = {**header, "payload": sum(map(len, buffers))}
    return b"".join([json_text(head).encode(), b"\n", *buffers])


def json_text(value: object) -> str:
    """Return a value of a header as JSON, in the same bytes each time."""
    return _ENCODER.encode(value)


def parse_header(line: bytes | bytearray) -> dict[str, Any]:
    """Return the header of one line.

    Raises:
        HeaderError: the line is not a JSON object with a "kind" and a "payload" within bounds.
    """
    try:
        header = _DECODER.decode(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        raise HeaderError(f"not a header line: {clip(bytes(line[:400]))}") from None
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
        raise HeaderError(f'a header is an object with a "kind", not {clip(bytes(line[:400]))}')
    size = header.get("payload")
    if type(size) is not int or size < 0:
        raise HeaderError(f'"payload" is {clip(size)}: expected the number of bytes that follow')
    if size > MAX_PAYLOAD:
        raise HeaderError(f'"payload" announces {size} bytes; at most {MAX_PAYLOAD} are taken')
    return header


def _integer(digits: str) -> int | float:
    """Return an integer; one with too many digits for any field becomes a float."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, whose fields must occur once: readers differ in which of two they use.

    Raises:
        HeaderError: a field occurs twice.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise HeaderError(f"the field {clip(name)} occurs twice in an object")
            seen.add(name)
    return members


_ENCODER = json.JSONEncoder(separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_int=_integer, object_pairs_hook=_object)
"""Made once: a run has hundreds of thousands of messages."""


def read(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Return the next header and payload from a blocking stream, or None at its end.

    Raises:
        ProtocolError: the stream contains something else, or ends inside a message.
    """
    line = stream.readline(MAX_HEADER)
    if not line:
        return None
    header = parse_header(line)
    payload = stream.read(header["payload"])
    if len(payload) != header["payload"]:
        raise PayloadError(f"the stream ended after {len(payload)} of {header['payload']} bytes")
    return header, payload
