# SPDX-License-Identifier: Apache-2.0
"""Functions that oracles share: the sums of a Fourier transform."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_conformance.declare.rounding import BLOCK, fourier


@pytest.mark.parametrize("length", [1, 2, 7, 30, 2 * BLOCK + 3])
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
