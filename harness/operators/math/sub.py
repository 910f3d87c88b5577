"""Sub: one tensor less another, element by element.

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from harness.declare import Array, Op, Version
from harness.declare.families.elementwise import Arithmetic, counted, rank_of_two, rounded_once

SUB = Op("Sub", versions=(1, 6, 7, 13, 14), compare=rounded_once("difference"), rank=rank_of_two)

DIFFERENCE = SUB.clause(
    "Performs element-wise binary subtraction", note="Says nothing of differences beyond an integer type's range."
)
ARITHMETIC = Arithmetic(SUB, DIFFERENCE)


@ARITHMETIC.oracle
def difference(v: Version, left: Array, right: Array) -> Array:
    """Return the difference."""
    return ARITHMETIC.exactly(v, np.subtract, left, right)


ARITHMETIC.cases(counted(7))
for type_, since, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, since, [(low, 0), (high, 0), (high, high - 1), (low + 1, 1), (low, low)])
    ARITHMETIC.of_integers("underflow", type_, since, [(low, 1), (high, 0)], DIFFERENCE)
    if low:
        ARITHMETIC.of_integers("below_zero", type_, since, [(3, 7), (0, high), (-1, low), (-5, -9)])
        ARITHMETIC.of_integers("overflow", type_, since, [(high, -1), (low, 0)], DIFFERENCE)
ARITHMETIC.misfits()
