# SPDX-License-Identifier: Apache-2.0
"""GatherND: take elements or slices of a tensor, at tuples of indices.

    output = GatherND(data, indices, batch_dims=0)

Versions: 11, 12 (batch_dims), 13 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.clause import Force
from onnx_conformance.declare.sizes import filled, grid, indices_of, tuples

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return q + r - indices_shape[-1] - 1 - b, but at least 0.

    Models without an expected output must state a rank too.
    """
    shape = np.shape(arguments.get("indices", 0))
    batch_dims = arguments.get("batch_dims") or 0
    return max(0, len(shape) + np.ndim(arguments.get("data", 0)) - (shape[-1] if shape else 0) - 1 - batch_dims)


GATHER = Op(
    "GatherND", versions=(11, 12, 13), compare=EXACT, rank=_rank, widens=False
)  # Elements are moved with their bits.
GATHER.example(data=ramp(2, 3, 4), indices=[[1], [0]], batch_dims=1)

RANKS_11 = GATHER.clause(
    "Given `data` tensor of rank `r` >= 1, and `indices` tensor of rank `q` >= 1, this operator gathers slices of "
    "`data` into an output tensor of rank `q + r - indices_shape[-1] - 1`.",
    before=12,
)
RANKS = GATHER.clause(
    "Given `data` tensor of rank `r` >= 1, `indices` tensor of rank `q` >= 1, and `batch_dims` integer `b`, this "
    "operator gathers slices of `data` into an output tensor of rank `q + r - indices_shape[-1] - 1 - b`.",
    since=12,
)
TUPLES = GATHER.clause(
    "`indices` is an q-dimensional integer tensor, best thought of as a `(q-1)`-dimensional tensor of index-tuples "
    "into `data`, where each element defines a slice of `data`"
)
BATCH = GATHER.clause(
    "`batch_dims` (denoted as `b`) is an integer indicating the number of batch dimensions, i.e the leading `b` number "
    "of dimensions of `data` tensor and `indices` are representing the batches, and the gather starts from the `b+1` "
    "dimension.",
    since=12,
    note="It is a number. The text does not define a negative number.",
)
HONORED = GATHER.clause(
    "r >= 1 and q >= 1 are to be honored. There is no dependency condition to be met between ranks `r` and `q`",
    force=Force.MUST,
)
LAST_11 = GATHER.clause(
    "The `indices_shape[-1]` should have a value between 1 (inclusive) and rank `r` (inclusive)", before=12
)
LAST = GATHER.clause(
    "The `indices_shape[-1]` should have a value between 1 (inclusive) and rank `r-b` (inclusive)", since=12
)
EQUAL = GATHER.clause(
    "The first `b` dimensions of the shape of `indices` tensor and `data` tensor must be equal.", since=12
)
FEWER = GATHER.clause("b < min(q, r) is to be honored.", since=12, force=Force.MUST)
WITHIN = GATHER.clause(
    "All values in `indices` are expected to be within bounds [-s, s-1] along axis of size `s` (i.e.) `-data_shape[i] "
    "<= indices[...,i] <= data_shape[i] - 1`."
)
ERROR = GATHER.clause("It is an error if any of the index values are out of bounds.")
MAPS = GATHER.clause(
    "The output tensor is obtained by mapping each index-tuple in the `indices` tensor to the corresponding slice of "
    "the input `data`."
)
LONGER_11 = GATHER.clause("If `indices_shape[-1] > r` => error condition", before=12)
LONGER = GATHER.clause("If `indices_shape[-1] > r-b` => error condition", since=12)
SCALARS_11 = GATHER.clause(
    "Each *scalar value* corresponding to `data[indices_slice]` is filled into the corresponding location of the "
    "`(q-1)`-dimensional tensor to form the `output` tensor (Example 1 below)",
    before=12,
)
SCALARS = GATHER.clause(
    "Each *scalar value* corresponding to `data[0:b-1,indices_slice]` is filled into the corresponding location of the "
    "`(q-b-1)`-dimensional tensor to form the `output` tensor (Example 1 below)",
    since=12,
)
SLICES_11 = GATHER.clause(
    "Each *tensor slice* corresponding to `data[indices_slice , :]` is filled into the corresponding location of the "
    "`(q-1)`-dimensional tensor to form the `output` tensor (Examples 2, 3, and 4 below)",
    before=12,
)
SLICES = GATHER.clause(
    "Each *tensor slice* corresponding to `data[0:b-1, indices_slice , :]` is filled into the corresponding location "
    "of the `(q-b-1)`-dimensional tensor to form the `output` tensor (Examples 2, 3, 4 and 5 below)",
    since=12,
)
EXAMPLE_1 = GATHER.clause("indices = [[0,0],[1,1]] # indices_shape = [2, 2] output = [0,3]")
EXAMPLE_2 = GATHER.clause("indices = [[1],[0]] # indices_shape = [2, 1] output = [[2,3],[0,1]]")
EXAMPLE_3 = GATHER.clause("indices = [[0,1],[1,0]] # indices_shape = [2, 2] output = [[2,3],[4,5]]")
EXAMPLE_4 = GATHER.clause("indices = [[[0,1]],[[1,0]]] # indices_shape = [2, 1, 2] output = [[[2,3]],[[4,5]]]")
EXAMPLE_5 = GATHER.clause("indices = [[1],[0]] # indices_shape = [2, 1] output = [[2,3],[4,5]]", since=12)
DATA_RANK = GATHER.clause("Tensor of rank r >= 1.")
INDEX_RANK = GATHER.clause("Tensor of rank q >= 1.")
BOUNDS = GATHER.clause("All index values are expected to be within bounds [-s, s-1] along axis of size s.")
OUTPUT_RANK = GATHER.clause(
    "Tensor of rank q + r - indices_shape[-1] - 1.", note="This omits b, which version 12 added."
)
STARTS = GATHER.clause(
    "The number of batch dimensions. The gather of indexing starts from dimension of data[batch_dims:]", since=12
)


@GATHER.oracle(before=12)
def gathered_without_batches(v: Version, data: Array, indices: Array) -> Array:
    """Return the slice of `data` at each tuple."""
    v.require(HONORED, data.ndim >= 1 and indices.ndim >= 1)
    v.require(LONGER_11, indices.shape[-1] <= data.ndim)
    v.require(LAST_11, indices.shape[-1] >= 1)
    return _slices(v, data, indices, 0)


@GATHER.oracle(since=12)
def gathered(v: Version, data: Array, indices: Array, batch_dims: int) -> Array:
    """Return the slice of `data` at each tuple, from the batch of the tuple."""
    v.require(HONORED, data.ndim >= 1 and indices.ndim >= 1)
    v.silent(BATCH, batch_dims < 0)
    v.require(FEWER, batch_dims < min(data.ndim, indices.ndim))
    v.require(EQUAL, data.shape[:batch_dims] == indices.shape[:batch_dims])
    v.require(LONGER, indices.shape[-1] <= data.ndim - batch_dims)
    v.require(LAST, indices.shape[-1] >= 1)
    return _slices(v, data, indices, batch_dims)


def _slices(v: Version, data: Array, indices: Array, batch_dims: int) -> Array:
    count = indices.shape[-1]
    sizes = np.array(data.shape[batch_dims : batch_dims + count])
    v.require(ERROR, bool(((-sizes <= indices) & (indices < sizes)).all()))
    output = np.empty(indices.shape[:-1] + data.shape[batch_dims + count :], data.dtype)
    for place in np.ndindex(indices.shape[:-1]):
        output[place] = data[place[:batch_dims] + tuple(indices[place])]
    return output


case = GATHER.case

SQUARE, BLOCK = ramp(2, 2), ramp(2, 2, 2)
case("example_1", data=SQUARE, indices=[[0, 0], [1, 1]], cites=(EXAMPLE_1, MAPS, TUPLES))
case("example_2", data=SQUARE, indices=[[1], [0]], cites=(EXAMPLE_2, MAPS))
case("example_3", data=BLOCK, indices=[[0, 1], [1, 0]], cites=(EXAMPLE_3, MAPS))
case("example_4", data=BLOCK, indices=[[[0, 1]], [[1, 0]]], cites=(EXAMPLE_4, MAPS))
case("example_5", data=BLOCK, indices=[[1], [0]], batch_dims=1, cites=(EXAMPLE_5, BATCH))
DATA = ramp(4, 3, 5)
TUPLES_OF: dict[str, Any] = {
    "tuple_of_one": [[3], [0], [-1]],
    "tuple_of_two": [[3, 1], [0, 2]],
    "tuple_of_three": [[3, 1, 4], [0, 2, 1], [1, 1, 1]],
    "single_pair": [2, 1],
    "single_element": [2, 1, 3],
    "cube": np.arange(30).reshape(3, 5, 2) % 3,
}
for name, indices in TUPLES_OF.items():
    full = np.shape(indices)[-1] == len(DATA.shape)
    cites = (SCALARS_11 if full else SLICES_11, RANKS_11)
    case(f"{name}_before_12", data=DATA, indices=indices, cites=cites)
    case(name, data=DATA, indices=indices, cites=(SCALARS if full else SLICES, RANKS))
case("vector", data=ramp(5), indices=[[4], [0], [4]], cites=(DATA_RANK, INDEX_RANK))
case("more_index_dimensions_than_data", data=ramp(5), indices=np.arange(12).reshape(2, 3, 2, 1) % 5, cites=HONORED)
case("to_scalar", Tag.EDGE, data=ramp(5), indices=[3], cites=OUTPUT_RANK)
case("one_element", Tag.EDGE, data=ramp(1), indices=[[0]], cites=MAPS)
case("repeated", data=ramp(3, 2), indices=[[1]] * 7, cites=MAPS)
case("rank5", data=ramp(2, 3, 1, 4, 2), indices=[[1, 2, 0, 3], [0, 1, 0, 2]], cites=TUPLES)
case("signed_zeros", Tag.EDGE, data=[0.0, -0.0, 1], indices=[[1], [0]], cites=MAPS)
case("negative", Tag.EDGE, data=ramp(4, 3), indices=[[-1, -3], [-4, 2], [0, -2]], cites=(WITHIN, BOUNDS))
case("negative_slices", Tag.EDGE, data=ramp(4, 3), indices=[[-4], [-1]], cites=(WITHIN, BOUNDS))

BATCHES: dict[str, tuple[tuple[int, ...], Any, int]] = {
    "one_slices": ((2, 3, 4), [[2], [0]], 1),
    "one_scalars": ((2, 3, 4), [[2, 3], [0, 1]], 1),
    "one_several": ((2, 3, 4), [[[2], [0], [1], [1]], [[0], [0], [2], [1]]], 1),
    "one_several_scalars": ((2, 3, 4), [[[2, 0]] * 3, [[0, 3]] * 3], 1),
    "two_slices": ((2, 3, 4, 5), np.arange(6).reshape(2, 3, 1) * 3 % 4, 2),
    "two_scalars": ((2, 3, 4, 5), np.arange(12).reshape(2, 3, 2) * 3 % 4, 2),
    "two_several": ((2, 3, 4), np.arange(30).reshape(2, 3, 5, 1) * 3 % 4, 2),
    "three": ((2, 1, 3, 4), np.arange(6).reshape(2, 1, 3, 1) * 3 % 4, 3),
    "of_one": ((1, 3, 4), [[[2]]], 1),
    "negative": ((2, 3, 4), [[-1, -4], [-3, 3]], 1),
    "set_to_0": ((2, 3, 4), [[1, 2], [0, 0]], 0),
}
for name, (shape, indices, count) in BATCHES.items():
    cites = (SLICES if len(shape) > count + np.shape(indices)[-1] else SCALARS, STARTS)
    case(f"batch_{name}", data=ramp(*shape), indices=indices, batch_dims=count, cites=cites)
EMPTY: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "no_tuples": ((3, 2), (0, 1), 0),
    "no_tuples_matrix": ((3, 2), (2, 0, 2), 0),
    "no_tuples_no_data": ((0, 2), (0, 1), 0),
    "no_elements": ((3, 0), (4, 1), 0),
}
for name, (shape, none, _) in EMPTY.items():
    case(name, Tag.EDGE, data=ramp(*shape), indices=np.zeros(none), cites=MAPS)
case("no_batches", Tag.EDGE, data=ramp(0, 3, 2), indices=np.zeros((0, 4, 1)), batch_dims=1, cites=BATCH)
WRONG: dict[str, tuple[tuple[int, ...], Any]] = {
    "too_high": ((4, 3), [[4]]),
    "too_low": ((4, 3), [[-5]]),
    "too_high_second": ((4, 3), [[0, 3]]),
    "too_low_second": ((4, 3), [[0, -4]]),
    "too_high_last": ((4, 3), [[0, 0], [1, 1], [4, 2]]),
    "of_no_data": ((0, 2), [[0]]),
    "beyond_32_bits": ((4, 3), [[2**32]]),
    "below_32_bits": ((4, 3), [[-(2**32) + 1]]),
    "least": ((4, 3), [[-(2**63)]]),
}
for name, (shape, indices) in WRONG.items():
    case(f"index_{name}", Tag.EDGE, data=ramp(*shape), indices=typed("int64", indices), rejects=ERROR)
case("batch_index_too_high", data=ramp(2, 3, 4), indices=[[0], [3]], batch_dims=1, rejects=ERROR)
case("batch_index_too_low", data=ramp(2, 4, 3), indices=[[0, 0], [0, -4]], batch_dims=1, rejects=ERROR)
case("rank0_data", Tag.EDGE, data=ramp(), indices=[0], rejects=HONORED)
case("rank0_indices", Tag.EDGE, data=ramp(3), indices=0, rejects=HONORED)
LONG = vary(matrix=[[1, 0, 0]], vector=[1, 0, 0])
case("tuple_too_long_before_12", data=ramp(3, 2), indices=LONG, rejects=LONGER_11)
case("tuple_too_long", data=ramp(3, 2), indices=LONG, rejects=LONGER)
case("tuple_too_long_in_batch", data=ramp(2, 3, 4), indices=[[1, 0, 0], [1, 0, 0]], batch_dims=1, rejects=LONGER)
case("tuple_of_none_before_12", Tag.EDGE, data=ramp(3, 2), indices=np.zeros((2, 0)), rejects=LAST_11)
case("tuple_of_none", Tag.EDGE, data=ramp(3, 2), indices=np.zeros((2, 0)), rejects=LAST)
case("batches_differ", data=ramp(2, 3, 4), indices=[[1], [0], [1]], batch_dims=1, rejects=EQUAL)
case("batches_of_one", data=ramp(2, 3, 4), indices=[[1]], batch_dims=1, rejects=EQUAL)
case("second_batch_differs", data=ramp(2, 3, 4), indices=np.zeros((2, 2, 1)), batch_dims=2, rejects=EQUAL)
case("batch_dims_of_data", data=ramp(2, 3), indices=np.zeros((2, 3, 1)), batch_dims=2, rejects=FEWER)
case("batch_dims_of_indices", data=ramp(2, 1, 4), indices=np.zeros((2, 1)), batch_dims=2, rejects=FEWER)
case("batch_dims_beyond", data=ramp(2, 3), indices=np.zeros((2, 1)), batch_dims=7, rejects=FEWER)
case("batch_dims_below", Tag.EDGE, data=ramp(2, 3), indices=[[1], [0]], batch_dims=-1, unspecified=BATCH)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(12), indices=np.arange(12)[::-1, None], cites=MAPS)

GATHER.sized(
    "elements",
    grid(a=(5,), b=(9,), c=(33,), n=(1, 16, 129, 1025)),
    each="T",
    cites=(TUPLES, MAPS),
    arguments={"data": filled("a", "b", "c"), "indices": tuples(("a", "b", "c"), "n")},
)
GATHER.sized(
    "rows",
    grid(a=(5,), b=(9,), d=(7, 16, 64), n=(5, 33, 1025)),
    cites=(TUPLES, MAPS),
    arguments={"data": filled("a", "b", "d"), "indices": tuples(("a", "b"), "n")},
)
GATHER.sized(
    "planes",
    grid(a=(17,), b=(9,), d=(16,), m=(3,), n=(5,)),
    cites=(TUPLES, MAPS),
    arguments={"data": filled("a", "b", "d"), "indices": tuples(("a",), "m", "n")},
)
GATHER.sized(
    "batches",
    grid(b=(3,), s=(33,), d=(7, 64), k=(5, 16)),
    each="T",
    cites=(BATCH, STARTS),
    arguments={"data": filled("b", "s", "d"), "indices": indices_of("s", "b", "k", 1, back=True), "batch_dims": 1},
)
GATHER.sized(
    "large",
    grid(a=(33,), b=(129,), d=(5,), n=(8193,)),
    cites=(TUPLES, MAPS),
    arguments={"data": filled("a", "b", "d"), "indices": tuples(("a", "b"), "n")},
)
