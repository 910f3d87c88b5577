"""Add: two tensors element by element.

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from harness.declare import Array, Op, Version
from harness.declare.families.elementwise import Arithmetic, rank_of_two, rounded_once

ADD = Op("Add", versions=(1, 6, 7, 13, 14), compare=rounded_once("sum"), rank=rank_of_two)

SUM = ADD.clause("Performs element-wise binary addition", note="Says nothing of sums beyond an integer type's range.")
ARITHMETIC = Arithmetic(ADD, SUM)


@ARITHMETIC.oracle
def total(v: Version, left: Array, right: Array) -> Array:
    """Return the sum."""
    return ARITHMETIC.exactly(v, np.add, left, right)


ARITHMETIC.cases()
for type_, since, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, since, [(low, 0), (high, 0), (high - 1, 1)])
    ARITHMETIC.of_integers("overflow", type_, since, [(low, 0), (high, 1), (high - 1, 1)], SUM)
    if low:
        ARITHMETIC.of_integers("underflow", type_, since, [(low, -1), (high, 0), (high - 1, 0)], SUM)
ARITHMETIC.misfits()
