# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: sums in blocks equal sums of long doubles, and of integers of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnx_conformance.operators.math._matrix_product import (
    MOST_TERMS,
    product_of,
    product_of_doubles,
    product_of_integers,
)

Array = np.ndarray[Any, Any]
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3), (3, 4)),
    ((70, 90), (90, 80)),
    ((3, 30, 40), (40, 90)),
    ((5, 30, 40), (5, 40, 90)),
    ((600,), (600, 500)),
    ((500, 600), (600,)),
]
DRAWN = np.random.default_rng(0)


def drawn(shape: tuple[int, ...], magnitudes: int) -> Array:
    """Return floats that differ by some powers of 10."""
    numbers = DRAWN.standard_normal(shape) * 10.0 ** DRAWN.integers(-magnitudes, magnitudes, shape, endpoint=True)
    return np.asarray(numbers.astype(np.float32).astype(np.float64))


def test_some_of_the_shapes_have_more_products_than_are_added_one_by_one() -> None:
    sizes = [np.prod(left) * (right[-1] if len(right) > 1 else 1) for left, right in SHAPES]
    assert min(sizes) < MOST_TERMS < max(sizes)


@pytest.mark.parametrize("magnitudes", [0, 6])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_sums_of_doubles_are_those_of_long_doubles(
    left: tuple[int, ...], right: tuple[int, ...], magnitudes: int
) -> None:
    a, b = drawn(left, magnitudes), drawn(right, magnitudes)
    exact, sizes = (product_of(*(side.astype(np.longdouble) for side in pair)) for pair in ((a, b), (abs(a), abs(b))))
    found = product_of_doubles(a, b)
    assert found.shape == exact.shape
    one_rounding, roundings = np.spacing(np.abs(exact).astype(float)), left[-1] / 2 * np.spacing(sizes.astype(float))
    assert np.all(np.abs(found - exact) <= (one_rounding if magnitudes == 0 else roundings))


def test_a_sum_whose_large_terms_cancel_keeps_the_small_ones() -> None:
    a, b = np.ones((600, 600)), np.zeros((600, 600))
    b[:3] = [[1.0], [2.0**-60], [-1.0]]
    assert (product_of_doubles(a, b) == 2.0**-60).all()
    assert (a @ b != 2.0**-60).any()  # Doubles alone lose bits.


@pytest.mark.parametrize("number", [np.inf, np.nan, 1e300, 1e-300])
def test_numbers_near_the_limits_of_doubles_are_added_one_by_one(number: float) -> None:
    a, b = np.ones((600, 3)), np.ones((3, 600))
    a[0, 0] = number
    with np.errstate(invalid="ignore"):
        assert np.array_equal(product_of_doubles(a, b).astype(float), a @ b, equal_nan=True)


@pytest.mark.parametrize("bits", [8, 24, 30, 62])
@pytest.mark.parametrize("shape", [(4, 5), (70, 70)])
def test_sums_of_integers_are_exact(bits: int, shape: tuple[int, int]) -> None:
    a, b = (DRAWN.integers(-(2**bits), 2**bits, size) for size in (shape, shape[::-1]))
    assert np.array_equal(product_of_integers(a, b), a.astype(object) @ b.astype(object))
