# SPDX-License-Identifier: Apache-2.0
"""BitwiseAnd: the bits that are set in both of two integers, element by element.

    C = BitwiseAnd(A, B)

Versions: 18.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Multidirectional, Op, Version
from onnx_conformance.declare.families.bitwise import Bitwise
from onnx_conformance.declare.families.elementwise import rank_of_two

BITWISE_AND = Op("BitwiseAnd", versions=(18,), compare=EXACT, rank=rank_of_two)
BITWISE_AND.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 1])

PERFORMS = BITWISE_AND.clause(
    "Returns the tensor resulting from performing the bitwise `and` operation elementwise on the input tensors `A` and "
    "`B`",
    note="For signed integers, this applies to the two's complement.",
)
NUMPY = Multidirectional(BITWISE_AND)


@BITWISE_AND.oracle()
def of_bits(v: Version, A: Array, B: Array) -> Array:
    """Return the bits that are set in both, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return np.asarray(np.bitwise_and(A, B))


Bitwise(BITWISE_AND, PERFORMS, NUMPY).cases()
