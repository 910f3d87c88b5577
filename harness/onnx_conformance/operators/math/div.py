# SPDX-License-Identifier: Apache-2.0
"""Div: the quotient of two tensors, element by element.

    C = Div(A, B)
    C = Div(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 6 (integers, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Tag, Version, typed
from onnx_conformance.declare.families.elementwise import Arithmetic, counted, rank_of_two, rounded_once

DIV = Op("Div", versions=(1, 6, 7, 13, 14), compare=rounded_once("quotient"), rank=rank_of_two)
DIV.example(A=[[8, 5, 3], [4, 2, 9]], B=[4, 2, 3], axis=1, broadcast=1, consumed_inputs=[0, 0])

QUOTIENT = DIV.clause(
    "Performs element-wise binary division",
    note="For floating-point zeros and infinities, the quotient is that of IEEE 754. The text does not define an "
    "integer divided by 0, or the least integer divided by -1, because that quotient is not in its type.",
)
TRUNCATING = DIV.clause(
    "For integer inputs, the result is computed using truncating division (rounding toward zero).",
    since=6,
    see=(
        "https://github.com/onnx/onnx/issues/7570",
        "https://github.com/onnx/onnx/issues/1153",
        "https://github.com/onnx/onnx/pull/7585",
    ),
)
ARITHMETIC = Arithmetic(DIV, QUOTIENT)
NUMPY = ARITHMETIC.numpy


def _quotient(v: Version, left: Array, right: Array) -> Result:
    """Return the quotient; quotients of integers are rounded toward zero."""
    if left.dtype.kind == "f":
        return ARITHMETIC.exactly(v, np.divide, left, right)
    dividend, divisor = np.broadcast_arrays(left.astype(object), right.astype(object))
    v.silent(
        QUOTIENT, bool((divisor == 0).any())
    )  # An error is a possible result, so the other quotients are open, too.
    size = np.abs(dividend) // np.abs(divisor)
    exact = np.asarray(np.sign(dividend) * np.sign(divisor) * size)
    is_open = np.asarray(exact > np.iinfo(left.dtype).max, bool)
    return v.leave_open(QUOTIENT, is_open, np.where(is_open, 0, exact).astype(left.dtype))


@DIV.oracle(before=7)
def quotient_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Result:
    """Return the quotient, in the shape of A."""
    return _quotient(v, A, ARITHMETIC.second(v, A, B, axis, broadcast))


@DIV.oracle(since=7)
def quotient_since_7(v: Version, A: Array, B: Array) -> Result:
    """Return the quotient, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return _quotient(v, A, B)


ARITHMETIC.cases(counted(7), counted(2))
ARITHMETIC.every_pair(np.divide, divided=True)
DIV.case("broadcast_integers", A=typed("int64", [[7], [-7]]), B=typed("int64", [2, -2, 3]), cites=TRUNCATING, since=7)
DIV.case("zero_size_integers", Tag.EDGE, A=typed("int32", []), B=typed("int32", [0]), since=7, cites=TRUNCATING)
for type_, low, high in ARITHMETIC.integers():
    ARITHMETIC.of_integers("limits", type_, [(low, 1), (high, 1), (high, 3), (high - 1, high), (0, high), (1, 2)])
    ARITHMETIC.of_integers("by_zero", type_, [(7, 0), (3, 1)], unspecified=QUOTIENT)
    ARITHMETIC.of_integers("zero_by_zero", type_, [(0, 0), (3, 1)], unspecified=QUOTIENT)
    if low:
        ARITHMETIC.of_integers(
            "toward_zero", type_, [(-7, 2), (7, -2), (-7, -2), (-1, 2), (-1, 1), (low, 3), (low, high)]
        )
        ARITHMETIC.of_integers("overflow", type_, [(low, -1), (high, -1)], unspecified=QUOTIENT)
