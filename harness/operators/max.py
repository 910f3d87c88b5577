"""Max: the greatest of any number of tensors, element by element.

Versions: 1 (all of one shape), 6 (no consumed_inputs), 8 (multidirectional broadcasting), 12 and 13 (types).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Array, Op, Version
from harness.declare.extremum import Extremum, rank_of_all

MAX = Op("Max", versions=(1, 6, 8, 12, 13), compare=EXACT, rank=rank_of_all)

EXTREMUM = Extremum(MAX, "max", "greatest", np.greater)


@MAX.oracle(before=8)
def of_one_shape(v: Version, data_0: list[Array]) -> Array:
    """Return the greatest of tensors that have one shape."""
    v.require(EXTREMUM.same_shape, all(item.shape == data_0[0].shape for item in data_0))
    return EXTREMUM.of(v, data_0)


@MAX.oracle(since=8)
def multidirectional(v: Version, data_0: list[Array]) -> Array:
    """Return the greatest in the shape that all are broadcast to."""
    EXTREMUM.numpy.require(v, *data_0)
    return EXTREMUM.of(v, data_0)


EXTREMUM.cases()
