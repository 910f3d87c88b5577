"""Add: two tensors element by element.

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from harness.declare import Array, Int, Op, Version
from harness.declare.elementwise import Arithmetic, rank_of_two, rounded_once

ADD = Op("Add", versions=(1, 6, 7, 13, 14), compare=rounded_once("sum"), rank=rank_of_two)

SUM = ADD.clause("Performs element-wise binary addition", note="Says nothing of sums beyond an integer type's range.")
ARITHMETIC = Arithmetic(ADD, SUM)


@ADD.oracle(before=7)
def limited(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:  # noqa: N803 - the text's own names
    """Return the sum in the shape of A."""
    return ARITHMETIC.exactly(v, np.add, A, ARITHMETIC.second(v, A, B, axis, broadcast))


@ADD.oracle(since=7)
def multidirectional(v: Version, A: Array, B: Array) -> Array:  # noqa: N803
    """Return the sum in the shape that both are broadcast to."""
    ARITHMETIC.numpy.require(v, A, B)
    return ARITHMETIC.exactly(v, np.add, A, B)


ARITHMETIC.cases()
for type_, since, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, since, [(low, 0), (high, 0), (high - 1, 1)])
    ARITHMETIC.of_integers("overflow", type_, since, [(low, 0), (high, 1), (high - 1, 1)], SUM)
    if low:
        ARITHMETIC.of_integers("underflow", type_, since, [(low, -1), (high, 0), (high - 1, 0)], SUM)
ARITHMETIC.misfits()
