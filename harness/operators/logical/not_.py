"""Not: the negation of each element.

Version: 1.
"""

from __future__ import annotations

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, ramp
from harness.declare.families.elementwise import SHAPES

NOT = Op("Not", versions=(1,), compare=EXACT, rank="X")

NEGATION = NOT.clause("Returns the negation of the input tensor element-wise.")
BOOLEAN = NOT.clause("Constrain input/output to boolean tensors.")


@NOT.oracle()
def negation(_: Version, X: Array) -> Array:  # noqa: N803 - the text's own name
    """Return true where X is false, and false where it is true."""
    return np.where(X, False, True)  # noqa: FBT003 - the two values themselves


case = NOT.case

for name, shape in SHAPES.items():
    case(name, Tag.EDGE, X=ramp(*shape), cites=(NEGATION,))
for truth in (False, True):
    named = str(truth).lower()
    case(f"scalar_{named}", Tag.EDGE, X=truth, cites=(NEGATION, BOOLEAN))
    case(f"all_{named}", X=[truth] * 3, cites=(NEGATION,))
case("alternating", X=[[False, True, False], [True, False, True]], cites=(NEGATION,))
case("outside", Tag.DTYPE, outside="T", X=ramp(3), rejects=BOOLEAN)
case("attribute_axis", X=ramp(3), stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
case("no_input", rejects=Rule.ARITY)
case("no_outputs", X=ramp(3), n=0, rejects=Rule.ARITY)
case("two_outputs", X=ramp(3), n=2, rejects=Rule.ARITY)
