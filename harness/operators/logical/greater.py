"""Greater: whether one tensor is greater than another, element by element.

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes), 9 (integers),
13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Op
from harness.declare.families.elementwise import rank_of_two
from harness.declare.families.logical import Comparison, numbers

GREATER = Op("Greater", versions=(1, 7, 9, 13), compare=EXACT, rank=rank_of_two)

COMPARISON = Comparison(GREATER, "greater", np.greater, numbers(integers=9, bfloat16=13))
COMPARISON.cases(
    floats=GREATER.clause("Constrain input to float tensors.", before=9),
    numeric=GREATER.clause("Constrain input types to all numeric tensors.", since=9),
)
