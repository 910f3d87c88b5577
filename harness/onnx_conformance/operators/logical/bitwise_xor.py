# SPDX-License-Identifier: Apache-2.0
"""BitwiseXor: the bits that are set in just one of two integers, element by element.

    C = BitwiseXor(A, B)

Versions: 18.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Multidirectional, Op, Version
from onnx_conformance.declare.families.bitwise import Bitwise
from onnx_conformance.declare.families.elementwise import rank_of_two

BITWISE_XOR = Op("BitwiseXor", versions=(18,), compare=EXACT, rank=rank_of_two)
BITWISE_XOR.example(A=[[1, 5, 3], [4, 2, 0]], B=[4, 2, 1])

PERFORMS = BITWISE_XOR.clause(
    "Returns the tensor resulting from performing the bitwise `xor` operation elementwise on the input tensors `A` and "
    "`B`",
    note="For signed integers, this applies to the two's complement.",
)
NUMPY = Multidirectional(BITWISE_XOR)


@BITWISE_XOR.oracle()
def of_bits(v: Version, A: Array, B: Array) -> Array:
    """Return the bits that are set in exactly one input, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return np.asarray(np.bitwise_xor(A, B))


Bitwise(BITWISE_XOR, PERFORMS, NUMPY).cases()
