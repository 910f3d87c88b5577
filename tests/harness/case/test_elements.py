# SPDX-License-Identifier: Apache-2.0
"""The order of floating-point numbers by their bits, and their distances."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import offsets
from onnx_conformance.case.elements import ordered, ulps

SMALL = (
    np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn,
)  # fmt: skip


def every_number(dtype: Any) -> np.ndarray[Any, Any]:
    """Return all numbers of a type, without NaN and -0, in their order."""
    size = np.dtype(dtype).itemsize
    codes = np.arange(16 if dtype is ml_dtypes.float4_e2m1fn else 2 ** (8 * size), dtype=f"u{size}")
    numbers = codes.view(dtype)
    with np.errstate(invalid="ignore"):  # Signalling NaNs.
        wide = numbers.astype(np.float64)
    kept = ~np.isnan(wide) & ~((wide == 0) & np.signbit(wide))
    return numbers[kept][np.argsort(wide[kept], kind="stable")]


@pytest.mark.parametrize("dtype", SMALL)
def test_the_numbers_of_a_type_are_counted_one_by_one_from_zero(dtype: Any) -> None:
    numbers = every_number(dtype)
    assert numbers.size > 10
    places = ordered(numbers)
    assert (np.diff(places) == 1).all()
    if (zero := np.flatnonzero(numbers.astype(np.float64) == 0)).size:
        assert places[zero[0]] == 0
        assert ordered(-numbers[zero]) == 0
    assert (ulps(numbers, numbers[::-1]) == np.abs(places - places[::-1])).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_next_number_is_one_away_in_wide_types(dtype: Any) -> None:
    numbers = np.array([-np.inf, -1.5, -1e-40, 0, 1e-300, 1, np.finfo(dtype).max, np.pi], dtype)
    with np.errstate(over="ignore"):
        after = np.nextafter(numbers, dtype(np.inf))
    assert (ordered(after) - ordered(numbers) == 1).all()
    assert (ulps(numbers, after) == 1).all()


def test_distances_of_the_widest_type_do_not_wrap() -> None:
    low, high = np.array([-np.finfo(np.float64).max]), np.array([np.finfo(np.float64).max])
    steps = 2 * int(high.view(np.int64)[0])
    assert steps > 2**63
    assert ulps(low, high) == float(steps)
    assert offsets((low,), (high,), Allowance("")) == {"outputs[0]": [[0, steps]]}
    assert offsets((high,), (low,), Allowance("")) == {"outputs[0]": [[0, -steps]]}
