"""Flatten: the same elements as a matrix, the dimensions before an axis and those from it on multiplied.

Versions: 1, 9 (all types), 11 (negative axis), 13, 21, 23, 24 and 25 (types).
"""

from __future__ import annotations

import math

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, axes, extremes, ramp, typed

FLATTEN = Op(
    "Flatten",
    versions=(1, 9, 11, 13, 21, 23, 24, 25),
    compare=EXACT,
    rank=lambda _: 2,
    widens=False,  # What is moved keeps the bits of a NaN.
)

MATRIX = FLATTEN.clause("Flattens the input tensor into a 2D matrix.")
PRODUCTS = FLATTEN.clause(
    "If input tensor has shape (d_0, d_1, ... d_n) then the output will have shape (d_0 X d_1 ... d_(axis-1), d_axis X "
    "d_(axis+1) ... X dn).",
    note="A product of no dimensions is 1, as the text says for axis = 0: so also behind axis = R, and for rank 0. "
    "A product with a dimension of 0 is 0; onnx.reference infers the other one and fails where it cannot.",
)
EXCLUSIVE = FLATTEN.clause(
    "Indicate up to which input dimensions (exclusive) should be flattened to the outer dimension of the output.",
    result=True,
)
RANGE_OLD = FLATTEN.clause(
    "The value for axis must be in the range [0, R], where R is the rank of the input tensor.",
    before=11,
    note="Of rank 0 this forbids the default, 1.",
)
RANGE = FLATTEN.clause(
    "The value for axis must be in the range [-r, r], where r is the rank of the input tensor.",
    since=11,
    note="Of rank 0 this forbids the default, 1. onnx.reference takes any axis as a bound of a Python slice.",
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
FLOATS = FLATTEN.clause("Constrain input and output types to float tensors.", before=9)
ALL_TYPES = FLATTEN.clause("Constrain input and output to all tensor types", since=9)


@FLATTEN.oracle()
def flattened(v: Version, input: Array, axis: int) -> Array:  # noqa: A002 - the text's own name
    """Return `input` as a matrix: one row for each element of the dimensions before the axis."""
    rank = input.ndim
    if RANGE.in_force(v.since):
        v.require(RANGE, -rank <= axis <= rank)
    else:
        v.require(RANGE_OLD, 0 <= axis <= rank)
    up_to = axis + rank if axis < 0 else axis
    return input.reshape(math.prod(input.shape[:up_to]), math.prod(input.shape[up_to:]))


case = FLATTEN.case

case("default", input=ramp(2, 3, 4), cites=(MATRIX, PRODUCTS, CONTENTS))
case("default_vector", Tag.EDGE, input=ramp(5), cites=(PRODUCTS, RANK))
case("default_matrix", input=ramp(2, 3), cites=(MATRIX,))
case("default_scalar_old", Tag.EDGE, input=ramp(), rejects=RANGE_OLD)
case("default_scalar", Tag.EDGE, input=ramp(), rejects=RANGE)
for name, shape, axis in axes():
    tried = BACK if axis < 0 else EXCLUSIVE if axis else ZERO
    case(name, Tag.AXIS, input=ramp(*shape), axis=axis, cites=(tried,))
SIZES = (3, 4, 5, 6)
for rank in range(5):
    size = SIZES[:rank]
    case(f"rank{rank}_axis_rank", Tag.AXIS, input=ramp(*size), axis=rank, cites=(RANK, PRODUCTS))
    case(f"rank{rank}_axis_too_high_old", Tag.AXIS, input=ramp(*size), axis=rank + 1, rejects=RANGE_OLD)
    case(f"rank{rank}_axis_negative_old", Tag.AXIS, input=ramp(*size), axis=-1, rejects=RANGE_OLD)
    case(f"rank{rank}_axis_too_high", Tag.AXIS, input=ramp(*size), axis=rank + 1, rejects=RANGE)
    case(f"rank{rank}_axis_too_low", Tag.AXIS, input=ramp(*size), axis=-rank - 1, rejects=RANGE)
case("size_one", Tag.EDGE, input=ramp(1, 1, 1), axis=2, cites=(MATRIX,))
case("ones_in_between", Tag.EDGE, input=ramp(1, 3, 1, 4, 1), axis=3, cites=(PRODUCTS,))
case("rank8", input=ramp(2, 1, 3, 1, 2, 1, 1, 2), axis=4, cites=(PRODUCTS,))
case("rank8_from_back", input=ramp(2, 1, 3, 1, 2, 1, 1, 2), axis=-6, cites=(BACK,))
for place in range(3):
    dims = [3, 4, 5]
    dims[place] = 0
    for axis in (0, 1, 3):
        case(f"zero_size_{place}_axis_{axis}", Tag.EDGE, input=ramp(*dims), axis=axis, cites=(PRODUCTS,))
case("zero_size_vector", Tag.EDGE, input=ramp(0), cites=(PRODUCTS,))
case("zero_sizes", Tag.EDGE, input=ramp(0, 3, 0), axis=2, cites=(PRODUCTS,))

case("dtypes_float", Tag.DTYPE, each="T", input=ramp(2, 3, 5), axis=2, cites=(FLOATS,))
case("dtypes", Tag.DTYPE, each="T", input=ramp(2, 3, 5), axis=2, cites=(ALL_TYPES,))
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(3, 1, 5), since=23, cites=(CONTENTS,))
case("extremes", Tag.EDGE, input=extremes(3, 1, 5), cites=(CONTENTS,))
case("outside", Tag.DTYPE, outside="T", input=ramp(2, 3), before=9, rejects=FLOATS)
case("bfloat16_old", Tag.CHANGE, input=typed("bfloat16", ramp(2, 3)), before=13, rejects=Rule.TYPES)
case("attribute_allowzero", input=ramp(2, 3), stray={"allowzero": 1}, rejects=Rule.ATTRIBUTES)
case("no_input", rejects=Rule.ARITY)
case("no_outputs", input=ramp(2, 3), n=0, rejects=Rule.ARITY)
case("two_outputs", input=ramp(2, 3), n=2, rejects=Rule.ARITY)
