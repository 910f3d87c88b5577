"""And: whether both of two tensors are true, element by element.

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes).
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Op
from harness.declare.families.elementwise import rank_of_two
from harness.declare.families.logical import Connective

AND = Op("And", versions=(1, 7), compare=EXACT, rank=rank_of_two)

CONNECTIVE = Connective(AND, "and", np.logical_and, neutral=True)
CONNECTIVE.cases()
