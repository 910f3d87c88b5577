# SPDX-License-Identifier: Apache-2.0
"""The readings about precision: which expected values rest on subnormal numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.declare import EXACT
from onnx_conformance.declare.readings import SUBNORMAL
from onnx_conformance.tolerance import precision

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)


def array(values: Sequence[float], dtype: Any) -> np.ndarray[Any, Any]:
    return np.array(values, np.float64).astype(dtype)


def rests_on_subnormals(values: np.ndarray[Any, Any]) -> bool:
    return SUBNORMAL in precision.readings(EXACT, [], [values])


@pytest.mark.parametrize("dtype", TYPES)
def test_the_smallest_and_the_largest_subnormal_number_of_either_sign_are_found(dtype: Any) -> None:
    limits = ml_dtypes.finfo(dtype)
    largest = float(limits.smallest_normal) - float(limits.smallest_subnormal)
    for value in (float(limits.smallest_subnormal), largest):
        assert rests_on_subnormals(array([1, value], dtype))
        assert rests_on_subnormals(array([1, -value], dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_no_other_number_is_subnormal(dtype: Any) -> None:
    normal = float(ml_dtypes.finfo(dtype).smallest_normal)
    others = array([0.0, -0.0, normal, -normal, 1, -1, np.inf, -np.inf, np.nan, -np.nan], dtype)
    assert not rests_on_subnormals(others)
    assert not rests_on_subnormals(others[:0])


def test_the_parts_of_complex_numbers_and_scalars_and_views_are_read() -> None:
    tiny = 1e-40
    assert rests_on_subnormals(np.array([1 + tiny * 1j], np.complex64))
    assert not rests_on_subnormals(np.array([1 + 1j], np.complex64))
    assert rests_on_subnormals(np.array(tiny, np.float32))
    table = np.array([[1, tiny], [2, 3]], np.float32)
    assert rests_on_subnormals(table.T[1:])
    assert not rests_on_subnormals(table.T[:1])


def test_types_without_arithmetic_are_not_read() -> None:
    tiny = ml_dtypes.finfo(ml_dtypes.float8_e4m3fn).smallest_subnormal
    assert not rests_on_subnormals(np.array([tiny], ml_dtypes.float8_e4m3fn))
    assert not rests_on_subnormals(np.array([1], np.int32))
