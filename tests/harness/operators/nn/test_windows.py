# SPDX-License-Identifier: Apache-2.0
"""Windows: values from pixel to pixel equal those from window to window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnx_conformance.declare.data import waves
from onnx_conformance.operators.nn._filters import products
from onnx_conformance.operators.nn._windows import Windows

Array = np.ndarray[Any, Any]
PLACED = {
    "plain": Windows((6, 7), (2, 3), (1, 1), (1, 1), (0, 0), (0, 0), (5, 5)),
    "padded": Windows((6, 7), (3, 2), (2, 1), (1, 2), (1, 2), (1, 0), (3, 7)),
    "few_windows": Windows((6, 7), (6, 5), (1, 2), (1, 1), (0, 0), (0, 0), (1, 2)),
    "line": Windows((9,), (3,), (2,), (2,), (3,), (1,), (5,)),
    "beyond_the_end": Windows((5,), (2,), (3,), (1,), (0,), (0,), (2,)),
    "no_pixels": Windows((0,), (2,), (1,), (1,), (1,), (1,), (1,)),
}


def places(windows: Windows) -> list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """Return each window, each of its pixels, and the place of that pixel in the input."""
    return [
        (count, pixel, tuple(map(int, np.multiply(count, windows.strides) - windows.begin + steps)))
        for count in np.ndindex(windows.counts)
        for pixel in np.ndindex(windows.kernel)
        for steps in [np.multiply(pixel, windows.dilations)]
    ]


def inside(windows: Windows, place: tuple[int, ...]) -> bool:
    return all(0 <= at < size for at, size in zip(place, windows.sizes, strict=True))


@pytest.mark.parametrize("windows", PLACED.values(), ids=PLACED)
@pytest.mark.parametrize("operation", [np.add, np.maximum])
def test_all_windows_at_once_have_the_values_of_each_window(windows: Windows, operation: np.ufunc) -> None:
    data = waves(2, 3, *windows.sizes)
    found = windows.combined(operation, windows.pixels(data, -1))
    expected = np.zeros((2, 3, *windows.counts))
    for count in np.ndindex(windows.counts):
        own = [
            data[:, :, *at] if inside(windows, at) else np.full((2, 3), -1)
            for n, _, at in places(windows)
            if n == count
        ]
        expected[:, :, *count] = operation.reduce(own)
    assert np.allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("windows", PLACED.values(), ids=PLACED)
def test_values_of_windows_are_added_to_their_pixels(windows: Windows) -> None:
    values = waves(2, 3, *windows.counts, *windows.kernel)
    expected = np.zeros((2, 3, *windows.sizes))
    for count, pixel, at in places(windows):
        if inside(windows, at):
            expected[:, :, *at] += values[:, :, *count, *pixel]
    assert np.allclose(windows.overlapped(values), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("windows", PLACED.values(), ids=PLACED)
@pytest.mark.parametrize("maps", [1, 2])
def test_groups_of_one_channel_have_the_sums_of_separate_convolutions(windows: Windows, maps: int) -> None:
    data, weights = waves(2, 3, *windows.sizes), waves(3 * maps, 1, *windows.kernel)
    separate = [
        products(windows, data[:, channel : channel + 1], weights[channel * maps : (channel + 1) * maps], 1)
        for channel in range(3)
    ]
    assert np.allclose(products(windows, data, weights, 3), np.concatenate(separate, 1), rtol=1e-14, atol=1e-14)
