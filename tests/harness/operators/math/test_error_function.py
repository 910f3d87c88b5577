# SPDX-License-Identifier: Apache-2.0
"""The error function of many numbers equals that of the standard library."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onnx_conformance.operators.math._error_function import BLOCK, END, erf

UNITS = 2
DRAWN = np.random.default_rng(0)
NUMBERS = {
    "usual": DRAWN.standard_normal(20_000),
    "whole_range": DRAWN.uniform(-END - 1, END + 1, 20_000),
    "small": 10 ** DRAWN.uniform(-320, 0, 20_000),
    "ends": np.array([END, np.nextafter(END, 0), -END, 27.0, -1e308, np.inf, -np.inf]),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_it_is_within_two_units_of_the_standard_library(numbers: np.ndarray) -> None:
    expected = np.array([math.erf(number) for number in numbers])
    assert np.all(np.abs(erf(numbers) - expected) <= UNITS * np.spacing(np.abs(expected)))


def test_signs_of_zeros_and_nan_remain() -> None:
    found = erf(np.array([0.0, -0.0, np.nan]))
    assert found[0] == found[1] == 0
    assert np.signbit(found[:2]).tolist() == [False, True]
    assert np.isnan(found[2])


@pytest.mark.parametrize("shape", [(), (0,), (3, 1), (2, BLOCK // 2 + 3)])
def test_the_shape_remains(shape: tuple[int, ...]) -> None:
    numbers = DRAWN.standard_normal(shape)
    found = erf(numbers)
    assert found.shape == shape
    assert np.allclose(found.ravel(), [math.erf(number) for number in np.ravel(numbers)], rtol=1e-15, atol=0)
