# SPDX-License-Identifier: Apache-2.0
"""Greater: whether one tensor is greater than another, element by element.

    C = Greater(A, B)
    C = Greater(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes), 9 (integers),
13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Tag, Version, ramp
from onnx_conformance.declare.families.broadcasting import LimitedAsAdd, Multidirectional
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.families.logical import Comparison, numbers

GREATER = Op("Greater", versions=(1, 7, 9, 13), compare=EXACT, rank=rank_of_two)
GREATER.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 1], axis=1, broadcast=1)

PERFORMS = GREATER.clause(
    "Returns the tensor resulted from performing the `greater` logical operation elementwise on the input tensors "
    "`A` and `B`",
    note="According to IEEE 754, NaN is not greater and not less, and the two zeros are equal.",
)
FLOATS = GREATER.clause("Constrain input to float tensors.", before=9)
LIMITED = LimitedAsAdd(GREATER)
NUMPY = Multidirectional(GREATER)


@GREATER.oracle(before=7)
def greater_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:
    """Return where A is greater than B, in the shape of A."""
    return v.compared(np.greater, A, LIMITED.to_left(v, A, B, axis, broadcast))


@GREATER.oracle(since=7)
def greater_since_7(v: Version, A: Array, B: Array) -> Array:
    """Return where A is greater than B, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return v.compared(np.greater, A, B)


Comparison(GREATER, PERFORMS, LIMITED, NUMPY).cases(numbers(integers=9, bfloat16=13))
GREATER.case("outside_before_9", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), rejects=FLOATS)
