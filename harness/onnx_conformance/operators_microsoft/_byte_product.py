# SPDX-License-Identifier: Apache-2.0
"""Products of quantized matrices of 8 bits, with scales and zero points of the whole matrix or of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.operators.math._matrix_product import product_of_doubles

if TYPE_CHECKING:
    from onnx_conformance.declare import Array, Clause, Version

MATRIX = 2
"""The rank of a matrix."""
Shape = tuple[int, ...]
SHAPES: list[tuple[Shape, Shape]] = [
    ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 1), (1, 1)),
    ((0, 4), (4, 3)), ((2, 0), (0, 3)), ((2, 4), (4, 0)),
]  # fmt: skip
"""Shapes of matrices, and of stacks of them, that have a product."""
MISFITS: list[tuple[Shape, Shape]] = [((2, 3), (2, 3)), ((2, 3, 4), (3, 4, 5)), ((5, 6, 2, 3), (4, 6, 3, 2))]
"""Shapes of matrices, and of stacks of them, that have no product."""
VECTORS: list[tuple[Shape, Shape]] = [((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,)), ((), (4, 3))]
"""Shapes in which an operand is not a matrix."""


def per_column(v: Version, either: Clause, length: Clause, columns: int, values: Array | None) -> Array:
    """Return a scale or a zero point in a shape that broadcasts to that of the matrix.

    Args:
        v: the version.
        either: the sentence that asks for a scalar or a 1-D tensor.
        length: the sentence that asks for an element for each column. It does not define whether one element may apply
            to several columns.
        columns: the number of columns of the matrix.
        values: the scale or the zero point; None for a zero point of 0.
    """
    if values is None:
        return np.zeros(())
    v.require(either, values.ndim <= 1)
    v.silent(length, values.shape == (1,) and columns != 1)
    v.require(length, values.ndim == 0 or len(values) == columns)
    return values.astype(np.float64)


def scaled(values: Array, scale: Array, zero_point: Array) -> Array:
    """Return (values - zero_point) * scale in real numbers."""
    return np.asarray((values.astype(np.float64) - zero_point) * scale)


def magnitudes(left: Array, right: Array) -> Array:
    """Return the sums of the absolute products."""
    return product_of_doubles(np.abs(left), np.abs(right))


def allowed_error(left: Array, right: Array, added: Array | None) -> Array:
    """Return the error of the products of dequantized matrices and of their sums, in epsilons.

    For each of the K terms, the addition, two scalings and two dequantizations, it is half a rounding of the sums of
    the absolute terms.
    """
    whole = magnitudes(left, right) + (0 if added is None else np.abs(added))
    return np.asarray(whole * roundings(left.shape[-1] + 5) / 2)


def beyond_32_bits(left: Array, right: Array) -> Array:
    """Return where a sum of products of integers exceeds 32 bits, or may exceed them on the way."""
    return np.asarray(np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64) >= 2.0**31)
