# SPDX-License-Identifier: Apache-2.0
"""Add: two tensors element by element.

    C = Add(A, B)
    C = Add(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Version
from onnx_conformance.declare.families.elementwise import Arithmetic, rank_of_two, rounded_once

ADD = Op("Add", versions=(1, 6, 7, 13, 14), compare=rounded_once("sum"), rank=rank_of_two)
ADD.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 1], axis=1, broadcast=1, consumed_inputs=[0, 0])

SUM = ADD.clause(
    "Performs element-wise binary addition", note="The text does not define sums outside the range of an integer type."
)
ARITHMETIC = Arithmetic(ADD, SUM)
NUMPY = ARITHMETIC.numpy


def _sum(v: Version, left: Array, right: Array) -> Result:
    """Return the sum."""
    return ARITHMETIC.exactly(v, np.add, left, right)


@ADD.oracle(before=7)
def sum_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Result:
    """Return the sum, in the shape of A."""
    return _sum(v, A, ARITHMETIC.second(v, A, B, axis, broadcast))


@ADD.oracle(since=7)
def sum_since_7(v: Version, A: Array, B: Array) -> Result:
    """Return the sum, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return _sum(v, A, B)


ARITHMETIC.cases()
ARITHMETIC.every_pair(np.add)
for type_, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, [(low, 0), (high, 0), (high - 1, 1)])
    ARITHMETIC.of_integers("overflow", type_, [(low, 0), (high, 1), (high - 1, 1)], unspecified=SUM)
    if low:
        ARITHMETIC.of_integers("underflow", type_, [(low, -1), (high, 0), (high - 1, 0)], unspecified=SUM)
