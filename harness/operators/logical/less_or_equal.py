"""LessOrEqual: whether one tensor is less than another or equal to it, element by element.

Versions: 12, 16 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Op
from harness.declare.families.elementwise import rank_of_two
from harness.declare.families.logical import NO_NEGATION, Comparison, numbers

LESS_OR_EQUAL = Op("LessOrEqual", versions=(12, 16), compare=EXACT, rank=rank_of_two)

COMPARISON = Comparison(
    LESS_OR_EQUAL, "less_equal", np.less_equal, numbers(integers=None, bfloat16=16), note=NO_NEGATION
)
COMPARISON.cases(numeric=LESS_OR_EQUAL.clause("Constrain input types to all numeric tensors."))
