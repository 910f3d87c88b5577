"""ReduceMin: the smallest element along some axes.

Versions: 1 (axes as attribute), 11 (range of axes), 12 (8 bit; silent on rank 0 and empty sets), 13 (says them again),
18 (axes as input, noop_with_empty_axes), 20 (Boolean).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Op, reduced_rank
from harness.declare.families.extremum import ReducedExtremum

MIN = Op("ReduceMin", versions=(1, 11, 12, 13, 18, 20), compare=EXACT, rank=reduced_rank)

EXTREMUM = ReducedExtremum(
    MIN,
    "min",
    np.min,
    yields="yields plus infinity (if supported by the datatype) or the maximum value of the data type otherwise.",
    beyond=np.inf,
)
EXTREMUM.cases()
