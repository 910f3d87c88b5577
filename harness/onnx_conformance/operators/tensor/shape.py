# SPDX-License-Identifier: Apache-2.0
"""Shape: return the dimensions of a tensor, or a slice of them, as a tensor.

    shape = Shape(data, start=0, end=None)

Versions: 1, 13 (bfloat16), 15 (start and end, clamped), 19, 21, 23, 24 and 25 (types).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Tag, Version, ramp

SHAPE = Op("Shape", versions=(1, 13, 15, 19, 21, 23, 24, 25), compare=EXACT, rank=lambda _: 1, widens=False)
SHAPE.example(data=ramp(2, 3, 4, 5), start=1, end=3)

TAKES = SHAPE.clause(
    "Takes a tensor as input and outputs an 1D int64 tensor containing the shape of the input tensor.",
    note="It is 1D for every rank: the shape of a scalar is empty.",
)
OF_INPUT = SHAPE.clause("Shape of the input tensor", note="The values and their type do not matter.")
INPUT = SHAPE.clause("An input tensor.")
INT64 = SHAPE.clause("Constrain output to int64 tensor.")
SLICE = SHAPE.clause(
    "Optional attributes start and end can be used to compute a slice of the input tensor's shape.", since=15
)
START_OMITTED = SHAPE.clause("If start axis is omitted, the slice starts from axis 0.", since=15)
START_DEFAULT = SHAPE.clause("(Optional) Starting axis for slicing the shape. Default value is 0.", since=15)
EXCLUSIVE = SHAPE.clause(
    "The end axis, if specified, is exclusive (and the returned value will not include the size of that axis).",
    since=15,
)
END_OMITTED = SHAPE.clause("If the end axis is omitted, the axes upto the last one will be included.", since=15)
UP_TO_LAST = SHAPE.clause("If omitted, sizes of all axes upto (including) the last one will be included.", since=15)
ENDING = SHAPE.clause("(Optional) Ending axis for slicing the shape.", since=15)
FROM_LAST = SHAPE.clause(
    "Negative axes indicate counting back from the last axis.",
    since=15,
    note="-1 is the last axis, as the example with start: -1 shows. 0 never counts from the back, so the result for "
    "end: 0 is empty.",
)
BACK = SHAPE.clause("Negative value means counting dimensions from the back.", since=15)
CLAMPED = SHAPE.clause(
    "Note that axes will be clamped to the range [0, r], where r is the rank of the input tensor if they are "
    "out-of-range (after adding r in the case of negative axis).",
    since=15,
    note="Therefore no axis is an error: if r is 0, every axis is clamped to 0. r is added once. onnx.reference does "
    "not clamp an end < -r: it returns [2] for end: -5 and the shape [2, 3, 4].",
)
EQUIVALENT = SHAPE.clause(
    "Thus, specifying any end value > r is equivalent to specifying an end value of r, and specifying any start value "
    "< -r is equivalent to specifying a start value of 0.",
    since=15,
    note="The preceding sentence defines the same for a start > r and an end < -r.",
)
EMPTY_SHAPE = SHAPE.clause(
    "If start > end, the result will be an empty shape.",
    since=15,
    note="This applies to axes after r is added and they are clamped: the result of the example start: 0, end: -1 is "
    "not empty. If start == end the result is empty because the end is exclusive.",
    see=("https://github.com/onnx/onnx/issues/6862", "https://github.com/onnx/onnx/pull/7132"),
)
EXAMPLE_START = SHAPE.clause("``` Input tensor with shape: [2, 3, 4] start: -1 Output: [4] ```", since=15)
EXAMPLE_END = SHAPE.clause("``` Input tensor with shape: [2, 3, 4] end: -1 Output: [2, 3] ```", since=15)
EXAMPLE_BOTH = SHAPE.clause("``` Input tensor with shape: [2, 3, 4] start: 1 end: 2 Output: [3] ```", since=15)
EXAMPLE_NEITHER = SHAPE.clause(
    "Input tensor with shape: [2, 3, 4] No attributes specified. Output: [2, 3, 4]", since=15
)


@SHAPE.oracle(before=15)
def whole(_: Version, data: Array) -> Array:
    """Return the shape."""
    return np.array(data.shape, np.int64)


@SHAPE.oracle(since=15)
def sliced(_: Version, data: Array, start: int, end: Int) -> Array:
    """Return the sizes of the axes from start until end, both clamped. end is None if it is omitted."""
    rank = data.ndim

    def clamped(axis: int) -> int:
        return min(max(axis + rank if axis < 0 else axis, 0), rank)

    first, stop = clamped(start), rank if end is None else clamped(end)
    sizes = [data.shape[axis] for axis in range(first, stop)]
    return np.array(sizes, np.int64)


case = SHAPE.case

case("vector", data=ramp(5), cites=(TAKES, OF_INPUT))
case("matrix", data=ramp(2, 3), cites=(TAKES, INPUT))
case("cube", data=ramp(2, 3, 4), cites=(TAKES, INT64))
case("rank8", data=ramp(2, 1, 3, 1, 2, 1, 1, 4), cites=TAKES)
case("scalar", Tag.EDGE, data=3, cites=TAKES)
case("size_one", Tag.EDGE, data=[3], cites=TAKES)
case("all_ones", Tag.EDGE, data=ramp(1, 1, 1), cites=TAKES)
case("zero_size", Tag.EDGE, data=ramp(2, 0, 3), cites=TAKES)
case("zero_size_vector", Tag.EDGE, data=ramp(0), cites=TAKES)
# Sizes that do not fit in one byte or in sixteen bits. No element has to be read for them.
case("large", Tag.EDGE, data=ramp(300), cites=INT64)
case("large_zero_size", Tag.EDGE, data=ramp(0, 70000), cites=INT64)
case("beyond_int32", Tag.EDGE, data=ramp(2**33 + 1, 0), cites=INT64)

CUBE = ramp(2, 3, 4)
case("start_unset", Tag.CHANGE, data=CUBE, end=2, cites=(SLICE, START_OMITTED, START_DEFAULT))
case("end_unset", Tag.CHANGE, data=CUBE, start=1, cites=(SLICE, END_OMITTED, UP_TO_LAST))
case("neither", Tag.CHANGE, data=CUBE, cites=(START_OMITTED, END_OMITTED, EXAMPLE_NEITHER))
case("example_start", Tag.CHANGE, data=CUBE, start=-1, cites=(FROM_LAST, EXAMPLE_START))
case("example_end", Tag.CHANGE, data=CUBE, end=-1, cites=(EXCLUSIVE, FROM_LAST, ENDING, EXAMPLE_END))
case("example_both", Tag.CHANGE, data=CUBE, start=1, end=2, cites=(EXCLUSIVE, EXAMPLE_BOTH))
case("zero_size_slice", Tag.EDGE, data=ramp(2, 0, 3), start=1, cites=SLICE)
case("zero_size_last", Tag.EDGE, data=ramp(2, 3, 0), start=-2, end=3, cites=SLICE)
STARTS = {SLICE: (0, 2), BACK: (-3, -2), EXCLUSIVE: (3,), EQUIVALENT: (-5, -4), CLAMPED: (4,)}
for clause, starts in STARTS.items():
    for start in starts:
        case(f"start_{start}".replace("-", "minus_"), Tag.AXIS, data=CUBE, start=start, cites=clause)
ENDS = {EXCLUSIVE: (0, 1), BACK: (-3, -2), ENDING: (3,), EQUIVALENT: (4, 5), CLAMPED: (-5, -4)}
for clause, ends in ENDS.items():
    for end in ends:
        case(f"end_{end}".replace("-", "minus_"), Tag.AXIS, data=CUBE, end=end, cites=clause)
PAIRS = {
    SLICE: [(1, 3)],
    FROM_LAST: [(1, -1), (-3, 2), (-2, -1)],
    EXCLUSIVE: [(1, 1), (-2, 1), (3, 3)],
    EQUIVALENT: [(-5, 2), (-4, 9), (1, 9), (-9, -1)],
    CLAMPED: [(-9, -5), (5, 9)],
    EMPTY_SHAPE: [(2, 1), (-1, 1), (-1, -2), (2, -2), (9, 5), (1, -9), (9, -9)],
}
for clause, pairs in PAIRS.items():
    for start, end in pairs:
        name = f"from_{start}_until_{end}".replace("-", "minus_")
        case(name, Tag.AXIS, data=CUBE, start=start, end=end, cites=clause)
case("scalar_start", Tag.EDGE, data=3, start=1, cites=CLAMPED)
case("scalar_end", Tag.EDGE, data=3, end=-1, cites=CLAMPED)
case("scalar_both", Tag.EDGE, data=3, start=-2, end=2, cites=CLAMPED)
case("scalar_zero", Tag.EDGE, data=3, end=0, cites=CLAMPED)
case("start_least", Tag.EDGE, data=CUBE, start=-(2**63), cites=EQUIVALENT)
case("start_greatest", Tag.EDGE, data=CUBE, start=2**63 - 1, cites=CLAMPED)
case("end_least", Tag.EDGE, data=CUBE, end=-(2**63), cites=CLAMPED)
case("end_greatest", Tag.EDGE, data=CUBE, start=1, end=2**63 - 1, cites=EQUIVALENT)
