# SPDX-License-Identifier: Apache-2.0
"""Functions that oracles share: the sums of a Fourier transform, and conversions."""

from __future__ import annotations

import cmath
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.declare.rounding import converted, fourier, nearest


@pytest.mark.parametrize("length", [1, 2, 7, 30, 515])
@pytest.mark.parametrize("inverse", [False, True])
def test_the_sums_of_a_fourier_transform_are_those_of_the_formula(length: int, *, inverse: bool) -> None:
    draw = np.random.default_rng(length)
    values = draw.normal(size=(2, 3, length)) + 1j * draw.normal(size=(2, 3, length))
    turns = np.outer(np.arange(length), np.arange(length)) / length
    expected = values @ np.exp((2j if inverse else -2j) * np.pi * turns)
    for count in {1, length // 2 + 1, length}:
        sums = fourier(values, count, inverse=inverse)
        assert sums.shape == (2, 3, count)
        assert np.allclose(sums, expected[..., :count], rtol=0, atol=1e-9)
    fast = np.fft.ifft(values) * length if inverse else np.fft.fft(values)
    assert np.allclose(expected, fast, rtol=0, atol=1e-9)


@pytest.mark.parametrize("inverse", [False, True])
def test_the_sums_of_a_fourier_transform_are_added_in_the_order_of_the_formula(*, inverse: bool) -> None:
    """So their last bits do not depend on the processor, as those of a matrix product of OpenBLAS do."""
    values = np.random.default_rng(0).normal(size=60) * 10.0 ** np.arange(60)
    turn = (2j if inverse else -2j) * cmath.pi
    for k, total in enumerate(fourier(values + 0j, 60, inverse=inverse)):
        expected = 0j
        for n, value in enumerate(values.tolist()):
            factor = cmath.exp(turn * (n * k / 60))
            expected += complex(value * factor.real, value * factor.imag)
        assert total == expected


@pytest.mark.parametrize("type_", ["int2", "uint2", "int4", "uint4"])
@pytest.mark.parametrize("wide", [np.float16, np.float32, np.float64])
def test_small_integers_keep_the_lowest_bits_with_every_version_of_ml_dtypes(type_: str, wide: Any) -> None:
    dtype = np.dtype(getattr(ml_dtypes, type_))
    numbers = [-9, -3, -1, 0, 1, 3, 7, 9, 20]
    bits = 2 if "2" in type_ else 4
    kept = [number % 2**bits for number in numbers]
    if type_.startswith("int"):
        kept = [number - 2**bits if number >= 2 ** (bits - 1) else number for number in kept]
    towards_zero = [number + np.sign(number) * 0.25 for number in numbers]
    assert converted(np.array(towards_zero, wide), dtype).astype(int).tolist() == kept


def test_doubles_are_rounded_in_two_steps_with_every_version_of_ml_dtypes() -> None:
    dtype = np.dtype(ml_dtypes.bfloat16)
    tie = 1 + 2.0**-8
    above = np.array([tie + 2.0**-40, tie + 2.0**-23])
    assert converted(above, dtype).astype(float).tolist() == [1, 1 + 2.0**-7]
    assert nearest(above, dtype).astype(float).tolist() == [1 + 2.0**-7] * 2
