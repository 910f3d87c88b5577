# SPDX-License-Identifier: Apache-2.0
"""Cast computes whole arrays at once; these tests compare it with one element at a time."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.declare import PartlyOpen, Version, every_value
from onnx_conformance.operators.tensor.cast import CONVERSIONS
from onnx_conformance.specification.evaluator import widen

INTEGERS = ("int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float8_e4m3fn", "float4_e2m1fn")


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


def limits_of(target: str) -> tuple[int, int]:
    limits = ml_dtypes.iinfo(dtype_of(target))
    return int(limits.min), int(limits.max)


def some(source: str) -> np.ndarray[Any, Any]:
    """Return every value of a small type, and some of a wide one."""
    values = every_value().of(dtype_of(source))
    return values[:: max(1, len(values) // 4000)]


def converted(source: str, target: str, values: np.ndarray[Any, Any]) -> Any:
    v = Version(25, {"T1": dtype_of(source), "T2": dtype_of(target)})
    return CONVERSIONS.converted(v, widen(values), 1, "up", fnuz_saturates=True)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", [*INTEGERS, "bool"])
def test_an_integer_out_of_range_keeps_its_lower_bits(source: str, target: str) -> None:
    values, (low, high) = some(source), limits_of(target)
    span = high - low + 1
    expected = [(int(value) - low) % span + low for value in values]
    assert [int(value) for value in converted(source, target, values)] == expected


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_only_whole_numbers_in_range_have_one_integer(source: str, target: str) -> None:
    values, (low, high) = some(source), limits_of(target)
    result = converted(source, target, values)
    assert isinstance(result, PartlyOpen)
    assert isinstance(result.value, np.ndarray)
    numbers = [float(value) for value in values]
    defined = [math.isfinite(number) and number.is_integer() and low <= int(number) <= high for number in numbers]
    assert result.open.tolist() == [not one for one in defined]
    pairs = zip(numbers, result.value, defined, strict=True)
    assert all(int(value) == int(number) for number, value, one in pairs if one)
    assert any(defined)
