"""Min: the smallest of any number of tensors, element by element.

Versions: 1 (all of one shape), 6 (no consumed_inputs), 8 (multidirectional broadcasting), 12 and 13 (types).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Op
from harness.declare.families.extremum import Extremum, rank_of_all

MIN = Op("Min", versions=(1, 6, 8, 12, 13), compare=EXACT, rank=rank_of_all)

EXTREMUM = Extremum(MIN, "min", "smallest", np.less)
EXTREMUM.cases()
