# SPDX-License-Identifier: Apache-2.0
"""Sub: subtract one tensor from another, element by element.

    C = Sub(A, B)
    C = Sub(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional broadcasting, no
attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Version
from onnx_conformance.declare.families.elementwise import Arithmetic, counted, rank_of_two, rounded_once

SUB = Op("Sub", versions=(1, 6, 7, 13, 14), compare=rounded_once("difference"), rank=rank_of_two)
SUB.example(A=[[8, 5, 3], [4, 2, 7]], B=[4, 2, 1], axis=1, broadcast=1, consumed_inputs=[0, 0])

DIFFERENCE = SUB.clause(
    "Performs element-wise binary subtraction",
    note="The text does not define differences outside the range of an integer type.",
)
ARITHMETIC = Arithmetic(SUB, DIFFERENCE)
NUMPY = ARITHMETIC.numpy


def _difference(v: Version, left: Array, right: Array) -> Result:
    """Return the difference."""
    return ARITHMETIC.exactly(v, np.subtract, left, right)


@SUB.oracle(before=7)
def difference_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Result:
    """Return A minus B, in the shape of A."""
    return _difference(v, A, ARITHMETIC.second(v, A, B, axis, broadcast))


@SUB.oracle(since=7)
def difference_since_7(v: Version, A: Array, B: Array) -> Result:
    """Return A minus B, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return _difference(v, A, B)


ARITHMETIC.cases(counted(7))
ARITHMETIC.every_pair(np.subtract)
for type_, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, [(low, 0), (high, 0), (high, high - 1), (low + 1, 1), (low, low)])
    ARITHMETIC.of_integers("underflow", type_, [(low, 1), (high, 0)], unspecified=DIFFERENCE)
    if low:
        ARITHMETIC.of_integers("below_zero", type_, [(3, 7), (0, high), (-1, low), (-5, -9)])
        ARITHMETIC.of_integers("overflow", type_, [(high, -1), (low, 0)], unspecified=DIFFERENCE)
