# SPDX-License-Identifier: Apache-2.0
"""BitwiseNot: the bits that are not set, element by element.

    Y = BitwiseNot(X)

Versions: 18.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, every_value, ramp, typed
from onnx_conformance.declare.families.bitwise import TYPES
from onnx_conformance.declare.families.elementwise import EIGHT_BITS, SHAPES
from onnx_conformance.declare.sizes import BITS, LENGTHS, filled, grid

BITWISE_NOT = Op("BitwiseNot", versions=(18,), compare=EXACT, rank="X")
BITWISE_NOT.example(X=[[1, 5, 3], [4, 2, 0]])

NOT = BITWISE_NOT.clause(
    "Returns the bitwise not of the input tensor element-wise.",
    note="For signed integers, this applies to the two's complement.",
)
INTEGERS = BITWISE_NOT.clause("Constrain input/output to integer tensors.")


@BITWISE_NOT.oracle()
def inverted(_: Version, X: Array) -> Array:
    """Return the bits that are not set."""
    return np.asarray(np.invert(X))


case = BITWISE_NOT.case
for name, shape in SHAPES.items():
    case(name, Tag.EDGE, X=typed("int32", np.resize([0, -1, 12, 127, -128, 85], shape)), cites=NOT)
case("dtypes", Tag.DTYPE, each="T", X=[0, 1, 85, 127], cites=(NOT, INTEGERS))
case("outside", Tag.DTYPE, outside="T", X=ramp(3), rejects=INTEGERS)
BITWISE_NOT.every("every", each="T", cites=NOT, X=every_value())
for type_ in TYPES:
    limits = np.iinfo(type_)
    ends = [limits.min, limits.max, limits.max - 1, 0, 1, limits.max // 3]
    case(f"limits_{type_}", Tag.EDGE, X=typed(type_, np.array(ends, type_)), cites=NOT)
for type_ in EIGHT_BITS:
    every = np.arange(np.iinfo(type_).min, np.iinfo(type_).max + 1).astype(type_)
    case(f"every_{type_}", Tag.EDGE, X=typed(type_, every), cites=NOT)

BITWISE_NOT.sized("length", grid(n=LENGTHS[::2]), each="T", cites=NOT, arguments={"X": filled("n", integers=BITS)})
