# SPDX-License-Identifier: Apache-2.0
"""Functions that oracles share: the sums of a Fourier transform."""

from __future__ import annotations

import cmath

import numpy as np
import pytest

from onnx_conformance.declare.rounding import fourier


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
