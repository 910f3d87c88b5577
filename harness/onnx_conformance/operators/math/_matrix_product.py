# SPDX-License-Identifier: Apache-2.0
"""The matrix product of numpy.matmul, which the texts of MatMul and its quantized variants refer to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version

    Shape = tuple[int, ...]


def rank_of_product(first: str, second: str) -> Callable[[Mapping[str, Any]], int | None]:
    """Derive the rank of the product of two inputs.

    Models without an expected output must state one too, so it is computed for any inputs.
    """

    def rank(arguments: Mapping[str, Any]) -> int | None:
        ranks = [np.ndim(arguments.get(name, 0)) for name in (first, second)]
        return max(0, max(ranks) - ranks.count(1))

    return rank


def dimensions_of_product(
    first: str, second: str, product: str
) -> Callable[[Mapping[str, Shape], Mapping[str, Any]], Mapping[str, Sequence[str]]]:
    """Name the dimensions of two matrices and of their product: M x K, K x N, and M x N. A vector has K elements."""

    def dimensions(shapes: Mapping[str, Shape], _: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        left, right = len(shapes.get(first, ())), len(shapes.get(second, ()))
        inner = {
            first: [*[""] * (left - 2), *["M", "K"][-left:]] if left else [],
            second: [*[""] * (right - 2), *["K", "N"][:right]],
        }
        outer = ["M"] * (left > 1) + ["N"] * (right > 1)
        return {**inner, product: [*[""] * (len(shapes.get(product, ())) - len(outer)), *outer]}

    return dimensions


def require_product(v: Version, behaves: Clause, left: Array, right: Array) -> None:
    """Raise Rejected if numpy.matmul rejects the operands. `behaves` is the sentence that names numpy.matmul.

    numpy.matmul rejects scalars. It pairs the columns of the first operand with the rows of the second, and broadcasts
    all other dimensions. A vector on the left has columns only, and a vector on the right has rows only.
    """
    v.require(behaves, left.ndim > 0 and right.ndim > 0)
    v.require(behaves, left.shape[-1] == right.shape[max(-2, -right.ndim)])
    stacked = zip(left.shape[-3::-1], right.shape[-3::-1], strict=False)
    v.require(behaves, all(one == other or 1 in {one, other} for one, other in stacked))


MOST_TERMS = 1 << 18
"""Maximum number of products that are made before they are added, or added as long doubles."""
MODERATE = (2.0**-400, 2.0**400)
"""Magnitudes whose products, and sums of them, are far from the limits of doubles."""


def product_of(left: Array, right: Array) -> Array:
    """Return the sums of products, in the type of the operands. A vector is a matrix of one row, or of one column."""
    if _terms(left, right) > MOST_TERMS:
        return np.asarray(left @ right)
    columns = right[:, None] if right.ndim == 1 else right
    sums = (left[..., None] * columns[..., None, :, :]).sum(-2)  # Broadcasting turns a vector on the left into a row.
    added = tuple(axis for axis, side in ((-2, left), (-1, right)) if side.ndim == 1)
    return np.asarray(sums.squeeze(added))


def product_of_doubles(left: Array, right: Array) -> Array:
    """Return the sums of products of doubles, as doubles with hardly more than one rounding, or as long doubles.

    Numpy adds long doubles one by one, which takes a hundred times as long as adding doubles in blocks. Therefore, if
    there are many, each operand is divided into a part of few bits and a rest; see `_upper`. The products of both parts
    of few bits, and their sums, are doubles without an error, in any order. The other products are smaller by those
    bits than the largest ones, and so are the errors of their sums.
    """
    most = greatest_magnitude(left), greatest_magnitude(right)
    if _terms(left, right) <= MOST_TERMS or not all(size in {0, np.clip(size, *MODERATE)} for size in most):
        return product_of(left.astype(np.longdouble), right.astype(np.longdouble))
    bits = (53 - math.ceil(math.log2(left.shape[-1]))) // 2
    upper_left, upper_right = (_upper(*side, bits) for side in zip((left, right), most, strict=True))
    rest = upper_left @ (right - upper_right) + (left - upper_left) @ right
    return np.asarray(upper_left @ upper_right + rest)


def product_of_integers(left: Array, right: Array) -> Array:
    """Return the exact sums of products of integers, as 64-bit integers or as integers of Python.

    If all sums are doubles, doubles are added, because numpy adds them in blocks.
    """
    greatest = [max(-int(side.min()), int(side.max())) if side.size else 0 for side in (left, right)]
    most = left.shape[-1] * greatest[0] * greatest[1]
    exact = np.float64 if most < 1 << 53 else np.int64 if most < 1 << 63 else object
    sums = product_of(left.astype(exact), right.astype(exact))
    return sums.astype(np.int64) if exact is np.float64 else sums


def _terms(left: Array, right: Array) -> int:
    """Return the number of products of a matrix on the left, or of several, with one on the right."""
    return int(left.size) * (right.shape[-1] if right.ndim > 1 else 1)


def greatest_magnitude(values: Array) -> float:
    """Return the greatest magnitude; NaN if an element is NaN, and 0 without elements."""
    return max(float(np.max(values, initial=0)), -float(np.min(values, initial=0)))


def _upper(values: Array, most: float, bits: int) -> Array:
    """Return doubles rounded to multiples of a power of 2, so that the greatest magnitude has a number of bits.

    A sum of K products of whole numbers of b bits has at most 2 b + log2(K) bits, and a double has 53.
    """
    rounding = math.ldexp(1.5, math.frexp(most)[1] + 52 - bits)  # A sum with it has no smaller bits, so it is rounded.
    return np.asarray((values + rounding) - rounding)


def shape_words(*shapes: Shape) -> str:
    """Return shapes as written in the name of a case: 2x3_and_3x4."""
    return "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)


SHAPES: list[tuple[Shape, Shape]] = [
    ((4,), (4,)),
    ((4,), (4, 3)),
    ((2, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((5, 1, 2), (1, 2, 1)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (4,)),
    ((1, 1), (1, 1)),
    ((0, 4), (4, 3)),
    ((2, 0), (0, 3)),
    ((0,), (0,)),
    ((2, 4), (4, 0)),
]
"""Shapes of tensors that have a product."""
MISFITS: list[tuple[Shape, Shape]] = [
    ((2, 3), (2, 3)),
    ((3,), (4,)),
    ((), (3,)),
    ((3,), ()),
    ((2, 3, 4), (3, 4, 5)),
    ((2, 4), (3,)),
    ((5, 6, 2, 3), (4, 6, 3, 2)),
]
"""Shapes of tensors that have no product."""
