"""GreaterOrEqual: whether one tensor is greater than another or equal to it, element by element.

Versions: 12, 16 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Op
from harness.declare.families.elementwise import rank_of_two
from harness.declare.families.logical import NO_NEGATION, Comparison, numbers

GREATER_OR_EQUAL = Op("GreaterOrEqual", versions=(12, 16), compare=EXACT, rank=rank_of_two)

COMPARISON = Comparison(
    GREATER_OR_EQUAL, "greater_equal", np.greater_equal, numbers(integers=None, bfloat16=16), note=NO_NEGATION
)
COMPARISON.cases(numeric=GREATER_OR_EQUAL.clause("Constrain input types to all numeric tensors."))
