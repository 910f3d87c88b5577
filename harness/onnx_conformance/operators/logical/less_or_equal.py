# SPDX-License-Identifier: Apache-2.0
"""LessOrEqual: whether one tensor is less than another or equal to it, element by element.

    C = LessOrEqual(A, B)

Versions: 12, 16 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Version
from onnx_conformance.declare.families.broadcasting import Multidirectional
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.families.logical import Comparison, numbers

LESS_OR_EQUAL = Op("LessOrEqual", versions=(12, 16), compare=EXACT, rank=rank_of_two)
LESS_OR_EQUAL.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 1])

PERFORMS = LESS_OR_EQUAL.clause(
    "Returns the tensor resulted from performing the `less_equal` logical operation elementwise on the input tensors "
    "`A` and `B`",
    note="According to IEEE 754, every comparison with NaN is false, so this is not the negation of the other "
    "comparison. The two zeros are equal.",
)
NUMPY = Multidirectional(LESS_OR_EQUAL)


@LESS_OR_EQUAL.oracle()
def less_equal(v: Version, A: Array, B: Array) -> Array:
    """Return where A is less than B or equal to it, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return v.compared(np.less_equal, A, B)


Comparison(LESS_OR_EQUAL, PERFORMS, None, NUMPY).cases(numbers(integers=None, bfloat16=16))
