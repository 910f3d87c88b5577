# SPDX-License-Identifier: Apache-2.0
"""Mul: the product of two tensors, element by element.

    C = Mul(A, B)
    C = Mul(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Version
from onnx_conformance.declare.families.elementwise import Arithmetic, counted, rank_of_two, rounded_once

MUL = Op("Mul", versions=(1, 6, 7, 13, 14), compare=rounded_once("product"), rank=rank_of_two)
MUL.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 3], axis=1, broadcast=1, consumed_inputs=[0, 0])

PRODUCT = MUL.clause(
    "Performs element-wise binary multiplication",
    note="The text does not define products outside the range of an integer type.",
)
ARITHMETIC = Arithmetic(MUL, PRODUCT)
NUMPY = ARITHMETIC.numpy


def _product(v: Version, left: Array, right: Array) -> Result:
    """Return the product."""
    return ARITHMETIC.exactly(v, np.multiply, left, right)


@MUL.oracle(before=7)
def product_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Result:
    """Return the product, in the shape of A."""
    return _product(v, A, ARITHMETIC.second(v, A, B, axis, broadcast))


@MUL.oracle(since=7)
def product_since_7(v: Version, A: Array, B: Array) -> Result:
    """Return the product, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return _product(v, A, B)


ARITHMETIC.cases(counted(7), counted(2))
ARITHMETIC.every_pair(np.multiply)
for type_, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, [(low, 1), (high, 1), (high // 3, 3), (high, 0), (1, high // 2)])
    ARITHMETIC.of_integers("overflow", type_, [(high, 2), (low, 1)], unspecified=PRODUCT)
    if low:
        ARITHMETIC.of_integers("signs", type_, [(-3, 7), (3, -7), (-3, -7), (-1, high), (low // 2, 2)])
        ARITHMETIC.of_integers("overflow_of_least", type_, [(low, -1), (high, 1)], unspecified=PRODUCT)
