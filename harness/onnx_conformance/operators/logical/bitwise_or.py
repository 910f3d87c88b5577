# SPDX-License-Identifier: Apache-2.0
"""BitwiseOr: the bits that are set in either of two integers, element by element.

    C = BitwiseOr(A, B)

Versions: 18.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Multidirectional, Op, Version
from onnx_conformance.declare.families.bitwise import Bitwise
from onnx_conformance.declare.families.elementwise import rank_of_two

BITWISE_OR = Op("BitwiseOr", versions=(18,), compare=EXACT, rank=rank_of_two)
BITWISE_OR.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 1])

PERFORMS = BITWISE_OR.clause(
    "Returns the tensor resulting from performing the bitwise `or` operation elementwise on the input tensors `A` and "
    "`B`",
    note="For signed integers, this applies to the two's complement.",
)
NUMPY = Multidirectional(BITWISE_OR)


@BITWISE_OR.oracle()
def of_bits(v: Version, A: Array, B: Array) -> Array:
    """Return the bits that are set in either, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return np.asarray(np.bitwise_or(A, B))


Bitwise(BITWISE_OR, PERFORMS, NUMPY).cases()
