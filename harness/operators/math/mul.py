"""Mul: the product of two tensors, element by element.

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from harness.declare import Array, Op, Version
from harness.declare.families.elementwise import Arithmetic, counted, rank_of_two, rounded_once

MUL = Op("Mul", versions=(1, 6, 7, 13, 14), compare=rounded_once("product"), rank=rank_of_two)

PRODUCT = MUL.clause(
    "Performs element-wise binary multiplication", note="Says nothing of products beyond an integer type's range."
)
ARITHMETIC = Arithmetic(MUL, PRODUCT)


@ARITHMETIC.oracle
def product(v: Version, left: Array, right: Array) -> Array:
    """Return the product."""
    return ARITHMETIC.exactly(v, np.multiply, left, right)


ARITHMETIC.cases(counted(7), counted(2))
for type_, since, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, since, [(low, 1), (high, 1), (high // 3, 3), (high, 0), (1, high // 2)])
    ARITHMETIC.of_integers("overflow", type_, since, [(high, 2), (low, 1)], PRODUCT)
    if low:
        ARITHMETIC.of_integers("signs", type_, since, [(-3, 7), (3, -7), (-3, -7), (-1, high), (low // 2, 2)])
        ARITHMETIC.of_integers("overflow_of_least", type_, since, [(low, -1), (high, 1)], PRODUCT)
ARITHMETIC.misfits()
