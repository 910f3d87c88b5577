# SPDX-License-Identifier: Apache-2.0
"""Xor: whether one of two tensors is true, but not both, element by element.

    C = Xor(A, B)
    C = Xor(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Version
from onnx_conformance.declare.families.broadcasting import LimitedAsAdd, Multidirectional
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.families.logical import Connective

XOR = Op("Xor", versions=(1, 7), compare=EXACT, rank=rank_of_two)
XOR.example(A=[[True, False, False], [True, True, False]], B=[True, False, True], axis=1, broadcast=1)

PERFORMS = XOR.clause(
    "Returns the tensor resulted from performing the `xor` logical operation elementwise on the input tensors `A` and "
    "`B`"
)
BOOLEANS = XOR.clause("Constrain input to boolean tensor.")
LIMITED = LimitedAsAdd(XOR)
NUMPY = Multidirectional(XOR)


@XOR.oracle(before=7)
def xor_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:
    """Return where one of A and B is true, but not both, in the shape of A."""
    return np.asarray(np.logical_xor(A, LIMITED.to_left(v, A, B, axis, broadcast)))


@XOR.oracle(since=7)
def xor_since_7(v: Version, A: Array, B: Array) -> Array:
    """Return where one of A and B is true, but not both, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return np.asarray(np.logical_xor(A, B))


Connective(XOR, PERFORMS, LIMITED, NUMPY, neutral=False).cases(BOOLEANS)
