# SPDX-License-Identifier: Apache-2.0
"""Or: whether one of two tensors is true, or both, element by element.

    C = Or(A, B)
    C = Or(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Version
from onnx_conformance.declare.families.broadcasting import LimitedAsAdd, Multidirectional
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.families.logical import Connective

OR = Op("Or", versions=(1, 7), compare=EXACT, rank=rank_of_two)
OR.example(A=[[True, False, False], [True, True, False]], B=[True, False, True], axis=1, broadcast=1)

PERFORMS = OR.clause(
    "Returns the tensor resulted from performing the `or` logical operation elementwise on the input tensors `A` and "
    "`B`"
)
BOOLEANS = OR.clause("Constrain input to boolean tensor.")
LIMITED = LimitedAsAdd(OR)
NUMPY = Multidirectional(OR)


@OR.oracle(before=7)
def or_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:
    """Return where A or B is true, or both, in the shape of A."""
    return np.asarray(np.logical_or(A, LIMITED.to_left(v, A, B, axis, broadcast)))


@OR.oracle(since=7)
def or_since_7(v: Version, A: Array, B: Array) -> Array:
    """Return where A or B is true, or both, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return np.asarray(np.logical_or(A, B))


Connective(OR, PERFORMS, LIMITED, NUMPY, neutral=False).cases(BOOLEANS)
