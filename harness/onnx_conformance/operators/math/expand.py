# SPDX-License-Identifier: Apache-2.0
"""Expand: broadcast a tensor to a shape.

    output = Expand(input, shape)

Versions: 8, 13 (bfloat16).
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Clause, Op, Rule, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import Dims, filled, grid, shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the greater of the input's rank and the length of the shape."""
    if "input" not in arguments or "shape" not in arguments:
        return None
    return max(np.ndim(arguments["input"]), np.size(arguments["shape"]))


EXPAND = Op("Expand", versions=(8, 13), compare=EXACT, rank=_rank, widens=False)
EXPAND.example(input=ramp(3, 1), shape=[2, 1, 5])

BROADCAST = EXPAND.clause("Broadcast the input tensor following the given shape and the broadcast rule.")
LIKE_ONES = EXPAND.clause(
    "The broadcast rule is similar to numpy.array(input) * numpy.ones(shape):",
    note="The rule applies to shapes only; the elements and their type are those of the input. onnx.reference "
    "multiplies, so the other part of a complex infinity becomes NaN.",
)
RIGHT = EXPAND.clause("Dimensions are right alignment;", result=True)
EQUAL_OR_ONE = EXPAND.clause(
    "Two corresponding dimensions must have the same value, or one of them is equal to 1.",
    note="This applies to either dimension: a 1 in shape keeps the dimension of the input, and a 0 matches only 0 and "
    "1.",
)
SMALLER = EXPAND.clause(
    "Also, this operator is similar to numpy.broadcast_to(input, shape), but the major difference is "
    "numpy.broadcast_to() does not allow shape to be smaller than input.size()."
)
OTHER_SHAPE = EXPAND.clause(
    "It is possible that the output.shape is not equal to shape, when some dimensions in shape is equal to 1, or the "
    "shape.ndim < input.shape.ndim."
)
ONE_D = EXPAND.clause(
    "A 1-D tensor indicates the shape you want to expand to, following the broadcast rule",
    note="The text does not define a negative dimension. The rule allows it if the other dimension is 1. Exporters "
    "write -1 to mean the dimension of the input.",
)
ALL_TYPES = EXPAND.clause("Constrain input and output types to all tensors.")
INPUT = EXPAND.clause("Input tensor")
OUTPUT = EXPAND.clause("Output tensor")


@EXPAND.oracle()
def expanded(v: Version, input: Array, shape: Array) -> Array:
    """Return `input` repeated along its dimensions of 1 and along new leading dimensions."""
    v.require(ONE_D, shape.ndim == 1)
    sizes = []
    for own, other in zip_longest(reversed(input.shape), reversed(shape.tolist()), fillvalue=1):
        v.require(EQUAL_OR_ONE, own == other or 1 in {own, other})
        v.silent(ONE_D, other < 0)
        sizes.append(other if own == 1 else own)
    return np.broadcast_to(input, sizes[::-1]).copy()


case = EXPAND.case

NO_DIMENSIONS = np.zeros(0, np.int64)
Shape = tuple[int, ...]


def _words(before: Shape, after: Shape) -> str:
    """Return the name of a case: 2x3_to_4x2x3."""
    return "_to_".join("x".join(map(str, shape)) for shape in (before, after))


case("rows", input=ramp(1, 3), shape=[2, 3], cites=(BROADCAST, INPUT, OUTPUT))
case("columns", input=ramp(3, 1), shape=[3, 4], cites=(BROADCAST, LIKE_ONES))
case("both_ways", input=ramp(3, 1), shape=[1, 4], cites=(OTHER_SHAPE, EQUAL_OR_ONE))
case("more_dimensions", input=ramp(3), shape=[2, 4, 3], cites=RIGHT)
case("fewer_dimensions", input=ramp(2, 3, 4), shape=[4], cites=(OTHER_SHAPE, RIGHT, SMALLER))
case("fewer_dimensions_expanded", input=ramp(2, 3, 1), shape=[4], cites=(OTHER_SHAPE, RIGHT))
case("same", input=ramp(2, 3), shape=[2, 3], cites=BROADCAST)
PAIRS: list[tuple[Shape, Shape, Clause]] = [
    ((2, 3), (1, 1), SMALLER),
    ((2, 3), (1,), SMALLER),
    ((2, 3), (2, 1), OTHER_SHAPE),
    ((2, 3), (1, 3), OTHER_SHAPE),
    ((2, 3), (4, 1, 1), OTHER_SHAPE),
    ((2, 3), (4, 2, 3), RIGHT),
    ((3, 1), (2, 1, 6), BROADCAST),
    ((1, 3, 1), (2, 1, 4), OTHER_SHAPE),
    ((2, 1, 4), (3, 1), OTHER_SHAPE),
    ((1, 2, 1, 3), (4, 1, 5, 1), BROADCAST),
    ((2, 1, 3, 1), (4, 1, 5), OTHER_SHAPE),
    ((1, 1, 1), (2, 3, 4), BROADCAST),
    ((1,), (2, 3), BROADCAST),
    ((3,), (1, 1, 1), OTHER_SHAPE),
    ((4, 1), (3, 1, 5), RIGHT),
    ((2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2), OTHER_SHAPE),
]
for before, after, clause in PAIRS:
    case(f"shape_{_words(before, after)}", input=ramp(*before), shape=after, cites=clause)
case("scalar", Tag.EDGE, input=7, shape=[2, 3], cites=BROADCAST)
case("scalar_to_one", Tag.EDGE, input=7, shape=[1], cites=BROADCAST)
case("scalar_to_ones", Tag.EDGE, input=7, shape=[1, 1, 1], cites=BROADCAST)
case("scalar_to_scalar", Tag.EDGE, input=7, shape=NO_DIMENSIONS, cites=BROADCAST)
case("scalar_to_none", Tag.EDGE, input=7, shape=[0], cites=EQUAL_OR_ONE)
case("to_scalar", Tag.EDGE, input=ramp(2, 3), shape=NO_DIMENSIONS, cites=(OTHER_SHAPE, SMALLER))
case("size_one", Tag.EDGE, input=[7], shape=[1], cites=BROADCAST)
case("size_one_to_scalar", Tag.EDGE, input=[7], shape=NO_DIMENSIONS, cites=OTHER_SHAPE)
ZEROS: list[tuple[Shape, Shape]] = [
    ((1, 3), (0, 3)),
    ((0, 3), (1, 3)),
    ((0, 3), (0, 3)),
    ((0, 1), (1, 4)),
    ((2, 1), (2, 0)),
    ((0,), (3, 1)),
    ((3,), (0, 3)),
    ((2, 0, 1), (5,)),
    ((0, 1), (0,)),
]
for before, after in ZEROS:
    case(f"zero_size_{_words(before, after)}", Tag.EDGE, input=ramp(*before), shape=after, cites=EQUAL_OR_ONE)
MISMATCHES: dict[str, tuple[Shape, Shape]] = {
    "mismatch": ((2, 3), (2, 4)),
    "mismatch_prefix": ((2, 3), (2,)),
    "mismatch_left": ((2,), (2, 3)),
    "mismatch_multiple": ((3,), (6,)),
    "mismatch_divisor": ((6,), (3,)),
    "mismatch_transposed": ((2, 3), (3, 2)),
    "mismatch_to_zero": ((2, 3), (2, 0)),
    "mismatch_from_zero": ((0,), (2,)),
    "mismatch_more_dimensions": ((2, 3), (4, 3, 3)),
    "mismatch_flattened": ((2, 3), (6,)),
}
for name, (before, after) in MISMATCHES.items():
    case(name, input=ramp(*before), shape=after, rejects=EQUAL_OR_ONE)
case("negative", input=ramp(2, 3), shape=[-1, 3], rejects=EQUAL_OR_ONE)
case("negative_two", input=ramp(2, 3), shape=[2, -2], rejects=EQUAL_OR_ONE)
case("negative_beside_one", Tag.EDGE, input=ramp(1, 3), shape=[-1, 3], unspecified=ONE_D)
case("negative_before_first", Tag.EDGE, input=ramp(3), shape=[-1, 3], unspecified=ONE_D)
case("negative_two_beside_one", Tag.EDGE, input=ramp(1, 3), shape=[-2, 3], unspecified=ONE_D)
NOT_1D = vary(scalar=3, matrix=[[2, 3]], column=[[2], [3]])
case("shape", Tag.EDGE, input=ramp(1, 3), shape=NOT_1D, rejects=ONE_D)
# numpy.array(input) * numpy.ones(shape) would convert these to float, and values outside its range to infinity.
case("int64_exact", Tag.EDGE, input=typed("int64", [[2**53 + 1], [-(2**62) - 1]]), shape=[2, 3], cites=LIKE_ONES)
case("signed_zeros", Tag.EDGE, input=[[-0.0], [0.0], [np.nan], [-np.inf]], shape=[4, 3], cites=LIKE_ONES)

case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(12), shape=[3, 12], cites=ALL_TYPES)
case("dtypes_kept", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(3, 4), shape=[1], cites=OTHER_SHAPE)
case("attribute_shape", input=ramp(1, 3), stray={"shape": [2, 3]}, rejects=Rule.ARITY)

SHAPES: dict[str, tuple[Dims, Dims, list[dict[str, int]]]] = {
    "scalar": ((), ("n",), grid(n=(1, 7, 64, 1025, 65_537))),
    "rows": (("n",), ("m", "n"), grid(m=(17,), n=(7, 16, 33, 129))),
    "columns": (("m", 1), ("m", "n"), grid(m=(17,), n=(7, 16, 33, 129))),
    "mask": (("b", 1, 1, "s"), ("b", "h", "s", "s"), grid(b=(2,), h=(3,), s=(7, 16, 33))),
    "groups_of_heads": (
        ("b", "h", 1, "s", "d"), ("b", "h", "r", "s", "d"), grid(b=(2,), h=(2,), r=(4,), s=(9,), d=(8, 64))
    ),
    "planes": ((1, "c", 1, 1), ("b", "c", "h", "w"), grid(b=(2,), c=(3, 17), h=(7,), w=(16, 33))),
    "outer": (("m", 1, "n"), (1, "k", 1), grid(m=(5,), n=(16, 33), k=(9,))),
}  # fmt: skip
"""The dimensions of the input and of the shape, and the sizes."""

for name, (dims, wanted, sizes) in SHAPES.items():
    EXPAND.sized(
        name,
        sizes,
        each="T" if name in {"scalar", "columns"} else None,
        cites=(BROADCAST, RIGHT),
        arguments={"input": filled(*dims), "shape": shape_of(*wanted)},
    )
EXPAND.sized(
    "large",
    grid(m=(257,), n=(513,)),
    cites=(BROADCAST, RIGHT),
    arguments={"input": filled("m", 1), "shape": shape_of("m", "n")},
)
