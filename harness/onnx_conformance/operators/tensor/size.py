# SPDX-License-Identifier: Apache-2.0
"""Size: count the elements of a tensor.

    size = Size(data)

Versions: 1, 13 (bfloat16), 19, 21, 23, 24 and 25 (types).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp

SIZE = Op("Size", versions=(1, 13, 19, 21, 23, 24, 25), compare=EXACT, rank=lambda _: 0, widens=False)
SIZE.example(data=ramp(2, 3, 5))

TAKES = SIZE.clause(
    "Takes a tensor as input and outputs a int64 scalar that equals to the total number of elements of the input "
    "tensor.",
    note="A scalar has one element, a tensor with a dimension of zero has no elements.",
)
TOTAL = SIZE.clause("Total number of elements of the input tensor", note="The result is not a number of bytes.")
INPUT = SIZE.clause("An input tensor.")
SCALAR = SIZE.clause("Constrain output to int64 tensor, which should be a scalar though.", result=True)


@SIZE.oracle()
def size(_: Version, data: Array) -> Array:
    """Return the product of the dimensions."""
    return np.array(math.prod(data.shape), np.int64)


case = SIZE.case

case("vector", data=ramp(5), cites=(TAKES, TOTAL, SCALAR))
case("matrix", data=ramp(2, 3), cites=(TAKES, INPUT))
case("cube", data=ramp(2, 3, 4), cites=TOTAL)
case("rank8", data=ramp(2, 1, 3, 1, 2, 1, 1, 4), cites=TAKES)
case("scalar", Tag.EDGE, data=3, cites=(TAKES, SCALAR))
case("size_one", Tag.EDGE, data=[3], cites=SCALAR)
case("all_ones", Tag.EDGE, data=ramp(1, 1, 1), cites=TAKES)
case("zero_size_vector", Tag.EDGE, data=ramp(0), cites=TAKES)
for axis in range(3):
    shape = [3, 4, 5]
    shape[axis] = 0
    case(f"zero_size_{axis}", Tag.EDGE, data=ramp(*shape), cites=TAKES)
# There is no element: the product of the other dimensions alone does not fit 32 bits.
case("zero_size_behind_large", Tag.EDGE, data=ramp(2**16, 2**17, 0), cites=TAKES)
case("zero_size_before_large", Tag.EDGE, data=ramp(0, 2**16, 2**17), cites=TAKES)
case("equal_values", data=[[7, 7, 7], [7, 7, 7]], cites=TOTAL)
case("zeros", data=[0, 0, 0, 0, 0], cites=TOTAL)
case("more_than_one_byte", Tag.EDGE, data=ramp(17, 16), cites=TAKES)

case("extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(13), cites=TOTAL)
