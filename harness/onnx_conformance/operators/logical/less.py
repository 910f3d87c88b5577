# SPDX-License-Identifier: Apache-2.0
"""Less: whether one tensor is less than another, element by element.

    C = Less(A, B)
    C = Less(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes), 9 (integers),
13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Tag, Version, ramp
from onnx_conformance.declare.families.broadcasting import LimitedAsAdd, Multidirectional
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.families.logical import Comparison, numbers

LESS = Op("Less", versions=(1, 7, 9, 13), compare=EXACT, rank=rank_of_two)
LESS.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 1], axis=1, broadcast=1)

PERFORMS = LESS.clause(
    "Returns the tensor resulted from performing the `less` logical operation elementwise on the input tensors "
    "`A` and `B`",
    note="According to IEEE 754, NaN is not greater and not less, and the two zeros are equal.",
)
FLOATS = LESS.clause("Constrain input to float tensors.", before=9)
LIMITED = LimitedAsAdd(LESS)
NUMPY = Multidirectional(LESS)


@LESS.oracle(before=7)
def less_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:
    """Return where A is less than B, in the shape of A."""
    return v.compared(np.less, A, LIMITED.to_left(v, A, B, axis, broadcast))


@LESS.oracle(since=7)
def less_since_7(v: Version, A: Array, B: Array) -> Array:
    """Return where A is less than B, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return v.compared(np.less, A, B)


Comparison(LESS, PERFORMS, LIMITED, NUMPY).cases(numbers(integers=9, bfloat16=13))
LESS.case("outside_before_9", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), rejects=FLOATS)
