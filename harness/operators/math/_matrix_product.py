"""The matrix product of numpy.matmul, which the texts of MatMul and of its quantized kin name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.declare.clause import Clause, Version
    from harness.declare.data import Array

    Shape = tuple[int, ...]


def rank_of_product(first: str, second: str) -> Callable[[Mapping[str, Any]], int | None]:
    """Derive the rank of the product of two inputs, as far as a model that has no answer can have one."""

    def rank(given: Mapping[str, Any]) -> int | None:
        ranks = [np.ndim(given.get(name, 0)) for name in (first, second)]
        return max(0, max(ranks) - ranks.count(1))

    return rank


def require_product(v: Version, behaves: Clause, left: Array, right: Array) -> None:
    """Raise Rejected where numpy.matmul has no product; `behaves` is the sentence that names it.

    It takes no scalars, pairs the columns of the first with the rows of the second, and broadcasts all other
    dimensions; a vector has the one or the other.
    """
    v.require(behaves, left.ndim > 0 and right.ndim > 0)
    v.require(behaves, left.shape[-1] == right.shape[max(-2, -right.ndim)])
    pairs = zip(left.shape[-3::-1], right.shape[-3::-1], strict=False)
    v.require(behaves, all(mine == other or 1 in {mine, other} for mine, other in pairs))


def product_of(left: Array, right: Array) -> Array:
    """Return the sums of products in the type that both have; a vector is a matrix of one row, or of one column."""
    rows = left[None] if left.ndim == 1 else left
    columns = right[:, None] if right.ndim == 1 else right
    sums = (rows[..., None] * columns[..., None, :, :]).sum(-2)
    gone = tuple(axis for axis, side in ((-2, left), (-1, right)) if side.ndim == 1)
    return np.asarray(sums.squeeze(gone))


SHAPES: list[tuple[Shape, Shape]] = [
    ((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)), ((5, 1, 2), (1, 2, 1)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((1, 1), (1, 1)),
    ((0, 4), (4, 3)), ((2, 0), (0, 3)), ((0,), (0,)), ((2, 4), (4, 0)),
]  # fmt: skip
"""Of tensors that have a product."""
MISFITS: list[tuple[Shape, Shape]] = [
    ((2, 3), (2, 3)), ((3,), (4,)), ((), (3,)), ((3,), ()), ((2, 3, 4), (3, 4, 5)), ((2, 4), (3,)),
]  # fmt: skip
"""Of tensors that have none."""
