# SPDX-License-Identifier: Apache-2.0
"""Not: the negation of each element.

    Y = Not(X)

Version: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, every_value, ramp, vary
from onnx_conformance.declare.families.elementwise import SHAPES
from onnx_conformance.declare.sizes import LENGTHS, filled, grid

NOT = Op("Not", versions=(1,), compare=EXACT, rank="X")

NEGATION = NOT.clause("Returns the negation of the input tensor element-wise.")
BOOLEAN = NOT.clause("Constrain input/output to boolean tensors.")


@NOT.oracle()
def negation(_: Version, X: Array) -> Array:
    """Return true where X is false, and false where X is true."""
    return np.where(X, False, True)  # noqa: FBT003 - the two values themselves


case = NOT.case

for name, shape in SHAPES.items():
    case(name, Tag.EDGE, X=ramp(*shape), cites=NEGATION)
case("scalar", Tag.EDGE, X=vary(false=False, true=True), cites=(NEGATION, BOOLEAN))
case("all", X=vary(false=[False, False, False], true=[True, True, True]), cites=NEGATION)
case("alternating", X=[[False, True, False], [True, False, True]], cites=NEGATION)
case("outside", Tag.DTYPE, outside="T", X=ramp(3), rejects=BOOLEAN)

NOT.sized("length", grid(n=(*LENGTHS[::2], 65_537)), cites=NEGATION, arguments={"X": filled("n")})
NOT.every("every", cites=NEGATION, X=every_value())
