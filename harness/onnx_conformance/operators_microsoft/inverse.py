# SPDX-License-Identifier: Apache-2.0
"""Inverse: the inverse of each square matrix.

    Y = Inverse(X)

Versions: 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Sizes

MATRIX = 2
"""The rank of a matrix."""


def _inverse(X: Array) -> tuple[Array, Array]:
    """Return the inverse of each matrix, and its pivots without signs, by elimination with partial pivoting.

    After a pivot of 0, the others are NaN.

    Args:
        X: matrices, (..., M, M). Their pivots have the shape (..., M).
    """
    *batch, size, _ = X.shape
    stack = math.prod(batch)
    wide = X.astype(np.longdouble).reshape(stack, size, size)
    rows = np.concatenate([wide, np.broadcast_to(np.eye(size), wide.shape)], -1)
    every, found = np.arange(stack), np.empty((stack, size), np.longdouble)
    for column in range(size):
        largest = column + np.abs(rows[:, column:, column]).argmax(1)
        rows[every, largest], rows[:, column] = rows[:, column].copy(), rows[every, largest]
        pivot = rows[:, column, column].copy()
        found[:, column] = np.abs(pivot)
        with np.errstate(all="ignore"):
            rows[:, column] /= pivot[:, None]
            factors = rows[:, :, column].copy()
            factors[:, column] = 0
            rows -= factors[:, :, None] * rows[:, None, column]
    return rows[:, :, size:].reshape(X.shape), found.reshape(*batch, size)


def _rounding(X: Array) -> list[Array]:
    """Return M roundings of every element of the product |Y| |X| |Y|, the first-order error of the inverse.

    In elimination with multipliers up to 1, an element of X can become as large as the sum of its column.
    """
    inverse = np.abs(_inverse(X)[0])
    made = np.broadcast_to(np.abs(X).sum(-2, keepdims=True), X.shape)
    with np.errstate(all="ignore"):
        return [((X.shape[-1] + 1) * (inverse @ made @ inverse)).astype(np.float64)]


INVERSE = Op(
    "Inverse",
    versions=(1,),
    compare=bounded(_rounding, "elimination with partial pivoting, in the type of the operator", steps=True),
    domain="com.microsoft",
    rank="X",
)
INVERSE.example(X=[[1, 2, 0], [3, 1, 4], [2, 5, 1]])

INVERTIBLE = INVERSE.clause(
    "Every matrix in the batch must be invertible.",
    note="A matrix is invertible only if it is square and its determinant is not 0. Its inverse is the matrix whose "
    "product with it is the identity. The text does not define the inverse of a matrix with an infinity or NaN, or of "
    "one that is so close to a singular matrix that roundings make it one.",
)
SAME_SHAPE = INVERSE.clause("Output tensor of the same type and shape as the input tensor.", result=True)
FLOATS = INVERSE.clause("Constrain input and output types to float tensors.")
NEAR_SINGULAR = 2.0**-40
"""Pivots below this part of the largest element are left open: the oracle has numbers of 64 bits."""


@INVERSE.oracle()
def inverted(v: Version, X: Array) -> Array:
    """Return the inverse of each matrix."""
    v.require(INVERTIBLE, X.ndim >= MATRIX and X.shape[-1] == X.shape[-2])
    v.silent(INVERTIBLE, not np.isfinite(X).all())
    inverse, pivots = _inverse(X)
    v.require(INVERTIBLE, bool(pivots.all()))
    largest = np.abs(X).max((-1, -2), initial=0)[..., None]
    v.silent(INVERTIBLE, bool((pivots < NEAR_SINGULAR * largest).any()))
    with np.errstate(over="ignore"):
        return inverse.astype(np.float64)


def dominant(*shape: int) -> Array:
    """Return matrices of both signs whose diagonals are larger than the rest of their rows."""
    numbers = np.cos(np.arange(math.prod(shape)) ** 2 * 0.7).reshape(shape)
    return np.asarray(numbers + np.eye(shape[-1]) * (shape[-1] + 1))


case = INVERSE.case
EXACT = {
    "one_by_one": [[-4]],
    "two_by_two": [[1, 2], [3, 5]],
    "three_by_three": [[2, -1, 3], [4, 0, 1], [-2, 5, 6]],
    "four_by_four": [[1, 2, 0, -1], [3, 1, 4, 2], [0, -2, 5, 1], [2, 2, 1, 3]],
    "swapped_rows": np.eye(3)[[1, 0, 2]],
    "cyclic_rows_of_four": np.eye(4)[[1, 2, 3, 0]] * [2, 4, 8, 0.5],
    "upper_triangle": [[2, 7, 1], [0, 4, 9], [0, 0, -5]],
    "lower_triangle": [[2, 0, 0], [7, 4, 0], [1, 9, -5]],
    "zero_first_pivot": [[0, 2, 1], [3, 0, 1], [1, 1, 0]],
    "zero_pivot_on_the_way": [[1, 2, 3], [2, 4, 1], [3, 1, 2]],
    "diagonal": np.diag([2, -4, 0.125]),
    "five_by_five": dominant(5, 5),
    "nine_by_nine": dominant(9, 9),
    "fractions": [[0.1, 0.7], [-1 / 3, 0.9]],
    "scales_apart": [[1e-3, 1], [1, 1]],
}
for name, matrix in EXACT.items():
    case(name, X=matrix, cites=(INVERTIBLE, SAME_SHAPE))
BATCHES: list[tuple[int, ...]] = [(2, 3, 3), (3, 2, 2), (2, 3, 4, 4), (3, 1, 2, 2, 2), (5, 1, 1), (1, 3, 3)]
for shape in BATCHES:
    case(f"batch_{'x'.join(map(str, shape))}", X=dominant(*shape), cites=(INVERTIBLE, SAME_SHAPE))
NOTHING: list[tuple[int, ...]] = [(0, 3, 3), (2, 0, 3, 3), (0, 1, 1), (0, 0, 0), (0, 0), (2, 0, 0)]
for shape in NOTHING:
    case(f"no_elements_{'x'.join(map(str, shape))}", Tag.EDGE, X=ramp(*shape), cites=SAME_SHAPE)
case("minus_zero", Tag.EDGE, X=[[2, -0.0], [0, 4]], cites=INVERTIBLE)
case("dtypes_batch", Tag.DTYPE, each="T", X=dominant(2, 3, 3), cites=FLOATS)
case("dtypes_integers", Tag.DTYPE, each="T", X=EXACT["four_by_four"], cites=FLOATS)
case("outside", Tag.DTYPE, outside="T", X=[[1, 2], [3, 5]], rejects=FLOATS)
for type_, most in {"float16": 2.0**12, "float": 2.0**100, "double": 2.0**900}.items():
    ends = typed(type_, [[[most]], [[1 / most]]])
    case(f"ends_{type_}", Tag.EDGE, X=ends, cites=INVERTIBLE)

SINGULAR = {
    "zero": [[0]],
    "all_zeros": np.zeros((3, 3)),
    "repeated_row": [[1, 2, 3], [4, 5, 6], [1, 2, 3]],
    "repeated_column": [[1, 2, 1], [4, 5, 4], [7, 9, 7]],
    "row_of_zeros": [[1, 2, 3], [0, 0, 0], [4, 5, 6]],
    "multiple": [[1, 2], [2, 4]],
}
for name, matrix in SINGULAR.items():
    case(f"singular_{name}", Tag.EDGE, X=matrix, rejects=INVERTIBLE)
case("singular_in_a_batch", Tag.EDGE, X=[[[1, 2], [3, 5]], [[1, 2], [2, 4]], [[2, 0], [0, 1]]], rejects=INVERTIBLE)
case("almost_singular", Tag.EDGE, X=typed("double", [[1, 1], [1, 1 + 2.0**-45]]), unspecified=INVERTIBLE)
MISFITS: list[tuple[int, ...]] = [(), (3,), (2, 3), (3, 2), (1, 3), (3, 3, 2), (3, 2, 3), (0, 2), (2, 0)]
for shape in MISFITS:
    case(f"not_square_{'x'.join(map(str, shape)) or 'scalar'}", X=ramp(*shape), rejects=INVERTIBLE)
for name, value in {"infinity": np.inf, "minus_infinity": -np.inf, "nan": np.nan}.items():
    case(f"with_{name}", Tag.EDGE, X=[[value, 1], [2, 3]], unspecified=INVERTIBLE)
    case(f"one_by_one_{name}", Tag.EDGE, X=[[value]], unspecified=INVERTIBLE)


def matrices(sizes: Sizes) -> Array:
    """Return matrices with large diagonals at some sizes."""
    return dominant(sizes["b"], sizes["n"], sizes["n"])


for name, sizes in {
    "batch": grid(b=(1, 3, 17, 65), n=(2, 3, 4)),
    "matrix": grid(b=(1,), n=(5, 8, 9, 16, 17, 33, 64, 100)),
}.items():
    INVERSE.sized(name, sizes, each="T", cites=INVERTIBLE, arguments={"X": matrices})
    drawn = filled("b", "n", "n", floats=(-1, 1))
    INVERSE.sized(f"{name}_drawn", sizes, each="T", cites=INVERTIBLE, arguments={"X": drawn})
