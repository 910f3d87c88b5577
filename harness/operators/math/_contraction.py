"""Sums of products over named indices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.declare.data import Array


def contracted(operands: Sequence[Array], names: list[list[str]], output: list[str]) -> tuple[Array, int]:
    """Return output[output-term] = reduce-sum(input1[term1] * input2[term2]), and how many products each sum has.

    Args:
        operands: of any rank; a dimension of 1 goes with any other of the same name.
        names: of the dimensions of each operand; one that comes twice stands for the diagonal.
        output: the names of the dimensions of the result; over all others the products are summed.
    """
    summed = sorted({name for term in names for name in term} - set(output))
    every = [*output, *summed]
    sizes = dict.fromkeys(every, 1)
    product: Any = 1
    for operand, term in zip(operands, names, strict=True):
        sizes |= {name: dim for name, dim in zip(term, operand.shape, strict=True) if dim != 1}
        counters = tuple(
            np.arange(dim).reshape([-1 if name == other else 1 for other in every])
            for name, dim in zip(term, operand.shape, strict=True)
        )
        product = product * (operand[counters] if term else operand.reshape([1] * len(every)))
    whole = np.broadcast_to(product, [sizes[name] for name in every])
    return np.asarray(whole.sum(tuple(range(len(output), len(every))))), math.prod(sizes[name] for name in summed)
