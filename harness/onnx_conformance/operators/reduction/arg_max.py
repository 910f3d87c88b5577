# SPDX-License-Identifier: Apache-2.0
"""ArgMax: the index of the greatest element along an axis.

    reduced = ArgMax(data, axis=0, keepdims=1, select_last_index=0)

Versions: 1 (any of equal elements), 11 (negative axes; no empty inputs), 12 (first or last of equal elements), 13
(bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, AnyOf, Array, Int, Op, Version
from onnx_conformance.operators.reduction._arg_extremum import ArgExtremum, rank

ARG_MAX = Op("ArgMax", versions=(1, 11, 12, 13), compare=EXACT, rank=rank)
ARG_MAX.example(data=[[1, 3, 2], [5, 4, 0]], axis=1, keepdims=0, select_last_index=1)
EXTREMUM = ArgExtremum(ARG_MAX, "max")


@ARG_MAX.oracle()
def indices(v: Version, data: Array, axis: int, keepdims: int, select_last_index: Int) -> Array | AnyOf:
    """Return the index of the greatest along `axis`. select_last_index is None before version 12."""
    return EXTREMUM.places(v, data, np.max, axis, keepdims, select_last_index)


EXTREMUM.cases(greatest=True)
