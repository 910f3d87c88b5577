"""Greater: whether one tensor is greater than another, element by element.

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes), 9 (integers),
13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Array, Int, Op, Version
from harness.declare.elementwise import Comparison, rank_of_two

GREATER = Op("Greater", versions=(1, 7, 9, 13), compare=EXACT, rank=rank_of_two)

COMPARISON = Comparison(GREATER, "greater")


@GREATER.oracle(before=7)
def limited(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:  # noqa: N803 - the text's own names
    """Return the comparison in the shape of A."""
    right = COMPARISON.limited.second(v, A, B, axis, broadcast, COMPARISON.limited.match_left)
    return np.asarray(np.greater(A, right))


@GREATER.oracle(since=7)
def multidirectional(v: Version, A: Array, B: Array) -> Array:  # noqa: N803
    """Return the comparison in the shape that both are broadcast to."""
    COMPARISON.numpy.require(v, A, B)
    return np.asarray(np.greater(A, B))


COMPARISON.cases()
