# SPDX-License-Identifier: Apache-2.0
"""Flatten: reshape a tensor to a matrix. The dimensions before an axis become rows, the others become columns.

    output = Flatten(input, axis=1)

Versions: 1 (floating types), 9 (all types), 11 (axis from the back), 13, 21, 23, 24 and 25 (types).
"""

from __future__ import annotations

import math

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, axes, extremes, ramp
from onnx_conformance.declare.data import SIZES
from onnx_conformance.declare.sizes import filled, grid

FLATTEN = Op(
    "Flatten",
    versions=(1, 9, 11, 13, 21, 23, 24, 25),
    compare=EXACT,
    rank=lambda _: 2,
    widens=False,  # Moved elements keep the bits of a NaN.
)
FLATTEN.example(input=ramp(2, 3, 5), axis=2)

MATRIX = FLATTEN.clause("Flattens the input tensor into a 2D matrix.")
PRODUCTS = FLATTEN.clause(
    "If input tensor has shape (d_0, d_1, ... d_n) then the output will have shape (d_0 X d_1 ... d_(axis-1), d_axis X "
    "d_(axis+1) ... X dn).",
    note="A product of no dimensions is 1, as in the sentence on axis = 0. This also applies to axis = R and to rank "
    "0. A product with a dimension of 0 is 0; onnx.reference infers the other dimension and fails if it cannot.",
)
EXCLUSIVE = FLATTEN.clause(
    "Indicate up to which input dimensions (exclusive) should be flattened to the outer dimension of the output.",
    result=True,
)
RANGE = FLATTEN.clause(
    "The value for axis must be in the range [-r, r], where r is the rank of the input tensor.",
    note="For rank 0 this forbids the default, 1. onnx.reference uses any axis as a bound of a Python slice.",
).reworded(
    before=11,
    text="The value for axis must be in the range [0, R], where R is the rank of the input tensor.",
    note="For rank 0 this forbids the default, 1.",
)
BACK = FLATTEN.clause("Negative value means counting dimensions from the back.", since=11)
ZERO = FLATTEN.clause(
    "When axis = 0, the shape of the output tensor is (1, (d_0 X d_1 ... d_n), where the shape of the input tensor is "
    "(d_0, d_1, ... d_n)."
)
RANK = FLATTEN.clause("A tensor of rank >= axis.")
CONTENTS = FLATTEN.clause(
    "A 2D tensor with the contents of the input tensor, with input dimensions up to axis flattened to the outer "
    "dimension of the output and remaining input dimensions flattened into the inner dimension of the output."
)


@FLATTEN.oracle()
def flattened(v: Version, input: Array, axis: int) -> Array:
    """Return `input` as a matrix with one row for each element of the dimensions before the axis."""
    rank = input.ndim
    v.require(RANGE, (-rank if BACK.in_force(v.since) else 0) <= axis <= rank)
    return input.reshape(math.prod(input.shape[:axis]), math.prod(input.shape[axis:]))


case = FLATTEN.case

case("default", input=ramp(2, 3, 4), cites=(MATRIX, PRODUCTS, CONTENTS))
case("default_vector", Tag.EDGE, input=ramp(5), cites=(PRODUCTS, RANK))
case("default_matrix", input=ramp(2, 3), cites=MATRIX)
case("default_scalar", Tag.EDGE, input=ramp(), rejects=RANGE)
for name, shape, axis in axes():
    sentence = BACK if axis < 0 else EXCLUSIVE if axis else ZERO
    case(name, Tag.AXIS, input=ramp(*shape), axis=axis, cites=sentence)
for rank in range(5):
    data = ramp(*SIZES[:rank])
    case(f"rank{rank}_axis_rank", Tag.AXIS, input=data, axis=rank, cites=(RANK, PRODUCTS))
    case(f"rank{rank}_axis_too_high", Tag.AXIS, input=data, axis=rank + 1, rejects=RANGE)
    case(f"rank{rank}_axis_too_low", Tag.AXIS, input=data, axis=-rank - 1, since=11, rejects=RANGE)
    case(f"rank{rank}_axis_negative_before_11", Tag.AXIS, input=data, axis=-1, before=11, rejects=RANGE)
case("size_one", Tag.EDGE, input=ramp(1, 1, 1), axis=2, cites=MATRIX)
case("ones_in_between", Tag.EDGE, input=ramp(1, 3, 1, 4, 1), axis=3, cites=PRODUCTS)
case("rank8", input=ramp(2, 1, 3, 1, 2, 1, 1, 2), axis=4, cites=PRODUCTS)
case("rank8_from_back", input=ramp(2, 1, 3, 1, 2, 1, 1, 2), axis=-6, cites=BACK)
for place, shape in enumerate([(0, 4, 5), (3, 0, 5), (3, 4, 0)]):
    for axis in (0, 1, 3):
        case(f"zero_size_{place}_axis_{axis}", Tag.EDGE, input=ramp(*shape), axis=axis, cites=PRODUCTS)
case("zero_size_vector", Tag.EDGE, input=ramp(0), cites=PRODUCTS)
case("zero_sizes", Tag.EDGE, input=ramp(0, 3, 0), axis=2, cites=PRODUCTS)

case("extremes", Tag.EDGE, input=extremes(3, 1, 5), cites=CONTENTS)
case("extremes_each_type", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(3, 1, 5), since=23, cites=CONTENTS)

for axis in (1, 2):
    PIXELS = {"input": filled("b", "c", "h", "w"), "axis": axis}
    SOME = grid(b=(1, 5), c=(3, 64), h=(7,), w=(16, 33))
    FLATTEN.sized(f"axis_{axis}", SOME, each="T", cites=(PRODUCTS, CONTENTS), arguments=PIXELS)
