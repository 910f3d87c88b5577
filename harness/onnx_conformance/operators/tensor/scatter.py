# SPDX-License-Identifier: Apache-2.0
"""Scatter: replace some elements of a copy of a tensor, at indices along an axis.

    output = Scatter(data, indices, updates, axis=0)

Versions: 9, and 11, in which it is deprecated in favour of ScatterElements.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp
from onnx_conformance.operators.tensor._scattering import axis_cases, repeats, targets

SCATTER = Op("Scatter", versions=(9, 11), compare=EXACT, rank="data")
SCATTER.example(data=ramp(3, 4), indices=[[2, 0]], updates=[[50, 60]], axis=1)

DEPRECATED = SCATTER.clause("This operator is deprecated.", since=11)
RANK = SCATTER.clause("Given `data`, `updates` and `indices` input tensors of rank r >= 1", before=11)
WRITES = SCATTER.clause(
    "write the values provided by `updates` into the first input, `data`, along `axis` dimension of `data` (by default "
    "outer-most one as axis=0) at corresponding `indices`.",
    before=11,
    note="The text does not define two updates of the same element.",
)
TARGET = SCATTER.clause(
    "For each entry in `updates`, the target index in `data` is specified by corresponding entry in `indices` for "
    "dimension = axis, and index in source for dimension != axis.",
    before=11,
    note="The text does not define an index outside `data`. Only in version 11, in which the operator is deprecated, "
    "such an index is an error and a negative index counts from the back.",
)
TWO_DIMENSIONS = SCATTER.clause(
    "For instance, in a 2-D tensor case, data[indices[i][j]][j] = updates[i][j] if axis = 0, or data[i][indices[i][j]] "
    "= updates[i][j] if axis = 1, where i and j are loop counters from 0 up to the respective size in `updates` - 1.",
    before=11,
)
DATA_RANK = SCATTER.clause("Tensor of rank r >= 1.")
OUTPUT_RANK = SCATTER.clause("Tensor of rank r >= 1 (same rank as input).")
SAME_RANK = SCATTER.clause("Tensor of int32/int64 indices, of r >= 1 (same rank as input).")
SAME_SHAPE = SCATTER.clause("Tensor of rank r >=1 (same rank and shape as indices)")
BACK = SCATTER.clause("Negative value means counting dimensions from the back.")
RANGE = SCATTER.clause("Accepted range is [-r, r-1]")
INTEGERS = SCATTER.clause("Constrain indices to integer types")


@SCATTER.oracle(before=11)
def scattered(v: Version, data: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Return a copy of `data` in which every entry of `updates` is written to its target."""
    v.require(RANK, data.ndim >= 1)
    v.require(SAME_RANK, indices.ndim == data.ndim)
    v.require(SAME_SHAPE, updates.shape == indices.shape)
    v.require(RANGE, -data.ndim <= axis < data.ndim)
    places, sizes = targets(indices, axis), np.reshape(data.shape, (-1, 1))
    v.silent(TARGET, bool(((places < 0) | (places >= sizes)).any()))
    v.silent(WRITES, bool(repeats(places, data.shape).any()))
    output = data.copy()
    output[tuple(places)] = updates.reshape(-1)
    return output


case = SCATTER.case

ROWS, COLUMNS = [[1, 0, 2], [0, 2, 1]], [[1, 3]]
case("rows", data=ramp(3, 3), indices=ROWS, updates=[[10, 11, 12], [20, 21, 22]], cites=(WRITES, TARGET))
case("columns", data=ramp(1, 5), indices=COLUMNS, updates=[[11, 21]], axis=1, cites=TWO_DIMENSIONS)
case("axis_zero", data=ramp(4, 2), indices=[[3, 0]], updates=[[50, 60]], axis=0, cites=(TWO_DIMENSIONS, OUTPUT_RANK))
case("fewer_columns", data=ramp(3, 4), indices=[[2], [0]], updates=[[50], [60]], cites=TWO_DIMENSIONS)
case("vector", data=ramp(5), indices=[4, 1], updates=[50, 60], cites=(SAME_RANK, SAME_SHAPE, DATA_RANK))
case("all_elements", Tag.EDGE, data=ramp(3), indices=[2, 0, 1], updates=[50, 60, 70])
case("one_element", Tag.EDGE, data=ramp(1), indices=[0], updates=[50])
case("no_updates", Tag.EDGE, data=ramp(3, 2), indices=np.zeros((0, 2)), updates=ramp(0, 2))
case("no_data", Tag.EDGE, data=ramp(0, 2), indices=np.zeros((0, 2)), updates=ramp(0, 2))
axis_cases(SCATTER, rank=RANK, back=BACK, in_range=RANGE)
case("rank0", Tag.EDGE, data=ramp(), indices=0, updates=50, rejects=RANK)
case("other_rank", data=ramp(3, 2), indices=[1], updates=[50], rejects=SAME_RANK)
case("updates_of_other_shape", data=ramp(4), indices=[1, 2], updates=[50], rejects=SAME_SHAPE)
case("updates_of_other_rank", data=ramp(4), indices=[1, 2], updates=[[50, 60]], rejects=SAME_SHAPE)
case("index_negative", Tag.EDGE, data=ramp(4), indices=[-1], updates=[50], unspecified=TARGET)
case("index_too_high", Tag.EDGE, data=ramp(4), indices=[4], updates=[50], unspecified=TARGET)
case("index_too_low", Tag.EDGE, data=ramp(4), indices=[-5], updates=[50], unspecified=TARGET)
case("more_columns", Tag.EDGE, data=ramp(2, 2), indices=[[0, 1, 0]], updates=[[50, 60, 70]], unspecified=TARGET)
case("index_twice", Tag.EDGE, data=ramp(4), indices=[2, 2], updates=[50, 60], unspecified=WRITES)
case("extremes_of_updates", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(6), indices=[4, 1], updates=extremes(2))
case("extremes_of_data", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(12), indices=[10, 3], updates=ramp(2))
case("index_outside", Tag.DTYPE, outside="Tind", data=ramp(4), indices=[0, 1], updates=ramp(2), rejects=INTEGERS)

case("deprecated", Tag.CHANGE, deprecated=True, data=ramp(4), indices=[1], updates=[50], rejects=DEPRECATED)
case(
    "deprecated_axis",
    Tag.CHANGE,
    deprecated=True,
    data=ramp(3, 4),
    indices=[[1]],
    updates=[[5]],
    axis=1,
    rejects=DEPRECATED,
)
