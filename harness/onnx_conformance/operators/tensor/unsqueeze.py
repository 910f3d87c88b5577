# SPDX-License-Identifier: Apache-2.0
"""Unsqueeze: the same elements with dimensions of one inserted into the shape; the inverse of Squeeze.

Versions: 1 (axes as attribute), 11 (negative axes; no axis twice), 13 (axes as input), 21 (types), 23 (axes is 1-D;
types), 24 and 25 (types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Ints, Op, Tag, Version, extremes, ramp
from onnx_conformance.declare.families.axes_list import AxesList
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output: that of the input plus the number of axes."""
    return (
        np.ndim(arguments["data"]) + np.size(arguments["axes"]) if "data" in arguments and "axes" in arguments else None
    )


UNSQUEEZE = Op("Unsqueeze", versions=(1, 11, 13, 21, 23, 24, 25), compare=EXACT, rank=_rank, widens=False)
UNSQUEEZE.example(data=ramp(3, 5), axes=[1])

INSERT_OLD = UNSQUEEZE.clause("Insert single-dimensional entries to the shape of a tensor.", before=11)
INSERT = UNSQUEEZE.clause("Insert single-dimensional entries to the shape of an input tensor (`data`).", since=11)
LIST_OLD = UNSQUEEZE.clause(
    "Takes one required argument `axes`, a list of dimensions that will be inserted.", before=11
)
ARGUMENT = UNSQUEEZE.clause(
    "Takes one required argument `axes` - which contains a list of dimension indices and this operator will insert a "
    "dimension of value `1` into the corresponding index of the output tensor (`expanded`).",
    since=11,
    before=13,
)
INPUT = UNSQUEEZE.clause(
    "Takes one required input `axes` - which contains a list of dimension indices and this operator will insert a "
    "dimension of value `1` into the corresponding index of the output tensor (`expanded`).",
    since=13,
)
AS_SEEN = UNSQUEEZE.clause(
    "Dimension indices in `axes` are as seen in the output tensor.",
    before=11,
    note="Therefore every index must exist in the output, and their order does not matter. onnx.reference inserts one "
    "dimension after another, also in version 11, and therefore returns other shapes or fails.",
)
EXAMPLE_OLD = UNSQUEEZE.clause(
    "Given a tensor such that tensor with shape [3, 4, 5], then Unsqueeze(tensor, axes=[0, 4]) has shape [1, 3, 4, 5, "
    "1]",
    before=11,
)
EXAMPLE = UNSQUEEZE.clause(
    "Unsqueeze(data, axes=[0, 4]) outputs a tensor (`expanded`) containing same data as `data` but with shape [1, 3, "
    "4, 5, 1].",
    since=11,
)
_TWICE = (
    "Two indices of one dimension are duplicates, even if one counts from the back: the output's rank requires this."
)
UNIQUE_OLD = UNSQUEEZE.clause(
    "The attribute `axes` should not contain any duplicate entries. It is an error if it contains duplicates.",
    since=11,
    before=13,
    note=_TWICE,
)
UNIQUE = UNSQUEEZE.clause(
    "The input `axes` should not contain any duplicate entries. It is an error if it contains duplicates.",
    since=13,
    note=_TWICE + " Version 1 does not define them.",
)
OUTPUT_RANK = UNSQUEEZE.clause(
    "The rank of the output tensor (`output_rank`) is the rank of the input tensor (`data`) plus the number of values "
    "in `axes`.",
    since=11,
)
WITHIN = UNSQUEEZE.clause(
    "Each value in `axes` should be within the (inclusive) range [-output_rank , output_rank - 1].", since=11
)
ORDER = UNSQUEEZE.clause("The order of values in `axes` does not matter and can come in any order.", since=11)
ORIGINAL = UNSQUEEZE.clause("Original tensor")
NOT_NEGATIVE = UNSQUEEZE.clause("List of non-negative integers, indicate the dimensions to be inserted", before=11)
LIST = UNSQUEEZE.clause(
    "List of integers indicating the dimensions to be inserted.",
    since=11,
    before=23,
    note="The text does not define the rank of the list.",
)
ONE_D = UNSQUEEZE.clause(
    "1D tensor of integers indicating the dimensions to be inserted.",
    since=23,
    see=("https://github.com/onnx/onnx/issues/6886", "https://github.com/onnx/onnx/pull/6888"),
)
FROM_BACK = UNSQUEEZE.clause("Negative value means counting dimensions from the back.", since=11)
IN_RANGE = UNSQUEEZE.clause("Accepted range is [-r, r-1] where r = rank(expanded).", since=11)
SAME_DATA = UNSQUEEZE.clause("Reshaped tensor with same data as input.")
AXES = AxesList(UNSQUEEZE, one_d=ONE_D, any_list=LIST)


@UNSQUEEZE.oracle()
def unsqueezed(v: Version, data: Array, axes: Ints) -> Array:
    """Return `data` with dimensions of one at the axes, which are those of the output."""
    named = AXES.resolve(v, axes)
    rank = data.ndim + len(named)
    if NOT_NEGATIVE.in_force(v.since):
        v.require(NOT_NEGATIVE, all(axis >= 0 for axis in named))
        v.require(AS_SEEN, all(axis < rank for axis in named))
    else:
        # The text contains the range twice. Each sentence decides one of its ends.
        v.require(WITHIN, all(axis >= -rank for axis in named))
        v.require(IN_RANGE, all(axis < rank for axis in named))
    inserted = {axis % rank for axis in named}
    v.require(UNIQUE_OLD if UNIQUE_OLD.in_force(v.since) else UNIQUE, len(inserted) == len(named))
    dims = iter(data.shape)
    return data.reshape([1 if axis in inserted else next(dims) for axis in range(rank)])


case = UNSQUEEZE.case
AXES.cases(ramp(2, 3))

case("example_before_11", data=ramp(3, 4, 5), axes=[0, 4], cites=(EXAMPLE_OLD, INSERT_OLD, AS_SEEN))
case("example", data=ramp(3, 4, 5), axes=[0, 4], cites=(EXAMPLE, INSERT, OUTPUT_RANK))
case("by_argument_before_11", Tag.CHANGE, data=ramp(2, 3), axes=[1], cites=LIST_OLD)
case("by_argument", Tag.CHANGE, data=ramp(2, 3), axes=[1], cites=ARGUMENT)
case("by_input", Tag.CHANGE, data=ramp(2, 3), axes=[1], cites=INPUT)
case("unordered_before_11", data=ramp(3, 2), axes=[3, 0], before=11, cites=AS_SEEN)
case("unordered", data=ramp(3, 2), axes=[3, 0], cites=ORDER)
case("unordered_three", data=ramp(3, 2), axes=[4, 0, 2], cites=SAME_DATA)
case("unordered_neighbours", data=ramp(3, 2), axes=[2, 1], cites=SAME_DATA)
# Read as axes of the input, or inserted one after another, these would lead to other shapes.
case("neighbours", data=ramp(2, 3), axes=[1, 2], cites=SAME_DATA)
case("beyond_input_rank", data=ramp(2, 3), axes=[2, 3], cites=SAME_DATA)
case("every_other", data=ramp(2, 3, 4), axes=[1, 3, 5], cites=SAME_DATA)
case("behind", data=ramp(2, 3), axes=[2, 3, 4], cites=ORIGINAL)
case("beside_ones", Tag.EDGE, data=ramp(1, 3, 1), axes=[1, 4], cites=ORIGINAL)
case("many", data=ramp(2, 3), axes=[7, 0, 5, 2, 4, 1], cites=ORIGINAL)
case("vector", data=ramp(3), axes=[0], cites=ORIGINAL)
case("size_one", Tag.EDGE, data=ramp(1), axes=[1], cites=ORIGINAL)
case("scalar", Tag.EDGE, data=ramp(), axes=[0], cites=ORIGINAL)
case("scalar_three", Tag.EDGE, data=ramp(), axes=[2, 0, 1], cites=ORIGINAL)
case("scalar_from_back", Tag.EDGE, data=ramp(), axes=[-1], cites=(FROM_BACK, IN_RANGE))
case("scalar_both_ends", Tag.EDGE, data=ramp(), axes=[-2, 1], cites=(FROM_BACK, OUTPUT_RANK))
case("zero_size", Tag.EDGE, data=ramp(0, 3), axes=[0, 2], cites=ORIGINAL)
case("zero_size_vector", Tag.EDGE, data=ramp(0), axes=[1], cites=ORIGINAL)
case("empty_axes", Tag.EDGE, data=ramp(2, 3), axes=[], cites=SAME_DATA)
case("empty_axes_scalar", Tag.EDGE, data=ramp(), axes=[], cites=SAME_DATA)
for axis in range(4):
    case(f"axis_{axis}", Tag.AXIS, data=ramp(3, 4, 5), axes=[axis], cites=SAME_DATA)
    case(f"axis_minus_{4 - axis}", Tag.AXIS, data=ramp(3, 4, 5), axes=[axis - 4], cites=(FROM_BACK, WITHIN))
case("axes_from_both_ends", Tag.AXIS, data=ramp(2, 3), axes=[-2, 0], cites=(FROM_BACK, OUTPUT_RANK))
case("axes_from_back", Tag.AXIS, data=ramp(2, 3), axes=[-1, -4], cites=(FROM_BACK, ORDER))
case("axes_from_back_neighbours", Tag.AXIS, data=ramp(2, 3), axes=[-3, -2], cites=FROM_BACK)

for name, twice in {"twice": [1, 1], "twice_at_the_end": [2, 0, 2], "all_the_same": [0, 0, 0]}.items():
    case(f"{name}_before_11", Tag.EDGE, data=ramp(2, 3), axes=twice, before=11, unspecified=UNIQUE)
    case(f"{name}_before_13", data=ramp(2, 3), axes=twice, rejects=UNIQUE_OLD)
    case(name, data=ramp(2, 3), axes=twice, rejects=UNIQUE)
case("twice_from_both_ends_before_13", Tag.EDGE, data=ramp(2, 3), axes=[1, -3], rejects=UNIQUE_OLD)
case("twice_from_both_ends", Tag.EDGE, data=ramp(2, 3), axes=[1, -3], rejects=UNIQUE)
case("axis_from_back_before_11", Tag.AXIS, data=ramp(2, 3), axes=[-1], rejects=NOT_NEGATIVE)
case("axis_from_back_among_others_before_11", Tag.AXIS, data=ramp(2, 3), axes=[0, -1], rejects=NOT_NEGATIVE)
SIZES = (3, 4, 5)
for rank in range(4):
    size = SIZES[:rank]
    case(f"rank{rank}_axis_too_high_before_11", Tag.AXIS, data=ramp(*size), axes=[rank + 1], rejects=AS_SEEN)
    case(f"rank{rank}_axis_too_high", Tag.AXIS, data=ramp(*size), axes=[rank + 1], rejects=IN_RANGE)
    case(f"rank{rank}_axis_too_low", Tag.AXIS, data=ramp(*size), axes=[-rank - 2], rejects=WITHIN)
case("one_of_two_too_high", Tag.AXIS, data=ramp(2, 3), axes=[0, 4], rejects=IN_RANGE)
case("one_of_two_too_low", Tag.AXIS, data=ramp(2, 3), axes=[-5, 0], rejects=WITHIN)

case("extremes", Tag.DTYPE, Tag.EDGE, data=extremes(12), axes=[0, 2], cites=SAME_DATA)
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(13), axes=[1], since=25, cites=SAME_DATA)

UNSQUEEZE.sized(
    "mask", grid(b=(2,), s=(33, 1025)), each="T", cites=INPUT, arguments={"data": filled("b", "s"), "axes": [1, -2]}
)
UNSQUEEZE.sized("row", grid(n=(33, 4097, 65_537)), cites=INPUT, arguments={"data": filled("n"), "axes": [0]})
