# SPDX-License-Identifier: Apache-2.0
"""And: whether both of two tensors are true, element by element.

    C = And(A, B)
    C = And(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Version
from onnx_conformance.declare.families.broadcasting import LimitedAsAdd, Multidirectional
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.families.logical import Connective

AND = Op("And", versions=(1, 7), compare=EXACT, rank=rank_of_two)
AND.example(A=[[True, False, False], [True, True, False]], B=[True, False, True], axis=1, broadcast=1)

PERFORMS = AND.clause(
    "Returns the tensor resulted from performing the `and` logical operation elementwise on the input tensors `A` and "
    "`B`"
)
BOOLEANS = AND.clause("Constrain input to boolean tensor.")
LIMITED = LimitedAsAdd(AND)
NUMPY = Multidirectional(AND)


@AND.oracle(before=7)
def and_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:
    """Return where A and B are both true, in the shape of A."""
    return np.asarray(np.logical_and(A, LIMITED.to_left(v, A, B, axis, broadcast)))


@AND.oracle(since=7)
def and_since_7(v: Version, A: Array, B: Array) -> Array:
    """Return where A and B are both true, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return np.asarray(np.logical_and(A, B))


Connective(AND, PERFORMS, LIMITED, NUMPY, neutral=True).cases(BOOLEANS)
