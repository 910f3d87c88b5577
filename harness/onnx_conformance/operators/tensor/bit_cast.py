# SPDX-License-Identifier: Apache-2.0
"""BitCast: reinterpret the bits of elements as another type of the same width.

    output = BitCast(input, to)

Version: 26.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Op,
    Rule,
    Tag,
    Typed,
    Version,
    attribute,
    element_type,
    every_value,
    extremes,
    ramp,
    typed,
)

BITS = Op("BitCast", versions=(26,), compare=EXACT, rank="input", derives={"T2": attribute("to", "T1")}, widens=False)
BITS.example(input=typed("float", ramp(3, 4)), to=element_type("int32"))

REINTERPRETS = BITS.clause(
    "Reinterprets the binary representation of a tensor as a different data type, specified by the 'to' attribute.",
    note="The text does not define the width of a bool, or its values except 0 and 1. This project uses the byte in "
    "which ONNX stores it.",
)
EXACTLY = BITS.clause("Unlike Cast, BitCast preserves the exact bit pattern without any value conversion.")
WIDTH = BITS.clause("The target data type must have the same bit-width as the input data type.")
SHAPE = BITS.clause("The output tensor has the same shape as the input tensor.")
NO_STRING = BITS.clause("All types except string are supported.")
LITTLE = BITS.clause("Implementations must treat the underlying bytes as little endian.", result=True)
TARGET = BITS.clause("Must be one of the non-string types from DataType enum in TensorProto.")
WIDTH_AGAIN = BITS.clause("The target type must have the same bit-width as the input type.")
FROM_STRING = BITS.clause("Bitcasting from string is not supported.")
TO_STRING = BITS.clause("Bitcasting to string is not supported.")

NARROW = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}
"""The number of bits of the types that numpy stores in one byte each."""


def _width(dtype: np.dtype[Any]) -> int:
    return NARROW.get(dtype.name, dtype.itemsize * 8)


@BITS.oracle()
def reinterpreted(v: Version, input: Array) -> Array:
    """Return the elements of the target type that have the same bits as the elements of `input`."""
    target = v.dtypes["T2"]
    v.require(WIDTH, _width(input.dtype) <= _width(target))
    v.require(WIDTH_AGAIN, _width(input.dtype) >= _width(target))
    if input.dtype == target:
        return input
    flat = input.ravel()  # numpy cannot change the type of a view of rank 0.
    v.silent(REINTERPRETS, target == np.bool_ and bool((flat.view(np.uint8) > 1).any()))
    return flat.view(target).reshape(input.shape)


case = BITS.case
CLASSES = (
    ("int2", "uint2"),
    ("int4", "uint4", "float4e2m1"),
    ("int8", "uint8", "bool", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"),
    ("int16", "uint16", "float16", "bfloat16"),
    ("int32", "uint32", "float"),
    ("int64", "uint64", "double", "complex64"),
    ("complex128",),
)
"""By width, the types of that width."""
DTYPES = {
    "float4e2m1": "float4_e2m1fn",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float": "float32",
    "double": "float64",
}


def patterned(type_: str, shape: tuple[int, ...]) -> Typed:
    """Return values of a type with all bit patterns, or with patterns spread over them.

    They include both signs, NaN, subnormals and limits.
    """
    name = DTYPES.get(type_, type_)
    dtype = np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)
    count = int(np.prod(shape))
    if dtype == np.bool_:
        return typed(type_, np.arange(count).reshape(shape) % 3 == 1)
    width = min(_width(dtype), 64)
    step = ((1 << width) - 1) // (count - 1) if width > NARROW["int4"] else 1
    codes = [(index * step) % (1 << width) for index in range(count - 4)]
    edges = [(1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, 1]
    wide = np.array([*codes, *edges], np.uint64).astype(f"<u{min(dtype.itemsize, 8)}")
    if dtype.itemsize > wide.itemsize:
        wide = np.stack([wide, wide[::-1]], axis=-1).reshape(-1)
    return typed(type_, wide.view(dtype).reshape(shape))


for members in CLASSES:
    for source in members:
        for target in members:
            values = patterned(source, (4, 5))
            if target == "bool" != source:
                values = typed(source, (np.arange(20, dtype=np.uint8) % 2).view(values.values.dtype).reshape(4, 5))
            cites = (REINTERPRETS, EXACTLY, SHAPE)
            case(f"{source}_to_{target}", Tag.DTYPE, input=values, to=element_type(target), cites=cites)
ENDS = {  # For each width: a type, a narrower type and a wider type.
    "int2": ("", "bool"),
    "int4": ("int2", "uint8"),
    "uint8": ("float4e2m1", "float16"),
    "float16": ("int8", "float"),
    "float": ("bfloat16", "double"),
    "double": ("uint32", "complex128"),
    "complex128": ("double", ""),
}
for source, (narrower, wider) in ENDS.items():
    for target, clause in ((narrower, WIDTH), (wider, WIDTH_AGAIN)):
        if target:
            named = f"{source}_to_{'narrower' if clause is WIDTH else 'wider'}"
            case(named, Tag.DTYPE, input=typed(source, ramp(3, 8)), to=element_type(target), rejects=clause)
WIDER = element_type("complex128")
case("complex64_to_complex128", Tag.DTYPE, input=typed("complex64", [1j]), to=WIDER, rejects=WIDTH_AGAIN)

case("order_of_bytes", input=typed("complex64", [1 + 2j, -0.0]), to=element_type("uint64"), cites=LITTLE)
case("order_of_parts", input=typed("int64", [2**32 * 3 + 1]), to=element_type("complex64"), cites=LITTLE)
PAYLOADS = np.array([0x7F800001, 0xFFC12345, 0x7FC00000, 0x80000000], np.uint32).view(np.float32)
case("payloads_of_nan", Tag.EDGE, input=typed("float", PAYLOADS), to=element_type("int32"), cites=EXACTLY)
HALVES = np.array([0x7C01, 0xFE55], np.uint16).view(np.float16)
case("payloads_of_nan_float16", Tag.EDGE, input=typed("float16", HALVES), to=element_type("uint16"), cites=EXACTLY)
case("extremes", Tag.EDGE, input=typed("double", extremes(11)), to=element_type("int64"), cites=EXACTLY)
SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (0,), (2, 0, 3), (2, 3, 4), (1, 2, 1, 3, 5)]
for shape in SHAPES:
    named = "x".join(map(str, shape)) or "scalar"
    case(f"shape_{named}", Tag.EDGE, input=typed("float", ramp(*shape)), to=element_type("uint32"), cites=SHAPE)
    case(f"shape_{named}_narrow", Tag.EDGE, input=typed("int4", ramp(*shape)), to=element_type("uint4"), cites=SHAPE)
case("bool_beyond_one", Tag.EDGE, input=typed("uint8", [0, 1, 2]), to=element_type("bool"), unspecified=REINTERPRETS)

case("from_string", Tag.DTYPE, input=typed("string", ["a"]), to=element_type("uint8"), rejects=FROM_STRING)
case("from_string_to_string", input=typed("string", ["a"]), to=element_type("string"), rejects=NO_STRING)
case("to_string", Tag.DTYPE, input=typed("uint8", [1]), to=element_type("string"), rejects=TO_STRING)
case("to_no_type_of_t2", Tag.DTYPE, input=typed("uint8", [1]), to=element_type("float6e2m3"), rejects=Rule.TYPES)
case("to_string_from_float", input=typed("float", [1]), to=element_type("string"), rejects=TARGET)
for source, target in (("float16", "uint16"), ("int16", "bfloat16"), ("float", "int32"), ("uint64", "double")):
    BITS.every(
        f"every_{source}_to_{target}", cites=EXACTLY, input=typed(source, every_value()), to=element_type(target)
    )
