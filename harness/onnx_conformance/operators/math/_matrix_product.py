"""The matrix product of numpy.matmul, which the texts of MatMul and its quantized variants refer to."""

from __future__ import annotations

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
