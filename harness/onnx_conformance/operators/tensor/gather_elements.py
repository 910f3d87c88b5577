# SPDX-License-Identifier: Apache-2.0
"""GatherElements: take one element of a tensor for each index, along one axis.

    output = GatherElements(data, indices, axis=0)

Versions: 11, 13 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, axes, axes_outside, extremes, ramp, typed
from onnx_conformance.declare.sizes import Dims, filled, grid, indices_of

GATHER = Op(
    "GatherElements", versions=(11, 13), compare=EXACT, rank="indices", widens=False
)  # Elements are moved with their bits.
GATHER.example(data=ramp(2, 4), indices=[[2, 0, 1], [3, 1, 0]], axis=1)

RANKS = GATHER.clause(
    "GatherElements takes two inputs `data` and `indices` of the same rank r >= 1 and an optional attribute `axis` "
    "that identifies an axis of `data` (by default, the outer-most axis, that is axis 0)."
)
GATHERS = GATHER.clause(
    "It is an indexing operation that produces its output by indexing into the input data tensor at index positions "
    "determined by elements of the `indices` tensor."
)
OUTPUT_SHAPE = GATHER.clause(
    "Its output shape is the same as the shape of `indices` and consists of one value (gathered from the `data`) for "
    "each element in `indices`."
)
EQUATIONS = GATHER.clause(
    "For instance, in the 3-D case (r = 3), the output produced is determined by the following equations:",
    note="The text does not define an element at a position outside `data` on an axis other than `axis`.",
)
AXIS_0 = GATHER.clause("out[i][j][k] = input[index[i][j][k]][j][k] if axis = 0,")
AXIS_1 = GATHER.clause("out[i][j][k] = input[i][index[i][j][k]][k] if axis = 1,")
AXIS_2 = GATHER.clause("out[i][j][k] = input[i][j][index[i][j][k]] if axis = 2,")
EXAMPLE_1 = GATHER.clause(
    "data = [ [1, 2], [3, 4], ] indices = [ [0, 0], [1, 0], ] axis = 1",
    note="Version 11 has one bracket too many around the output, which has the shape of `indices`.",
)
EXAMPLE_2 = GATHER.clause(
    "data = [ [1, 2, 3], [4, 5, 6], [7, 8, 9], ] indices = [ [1, 2, 0], [2, 0, 0], ] axis = 0",
    note="Version 11 has one bracket too many around the output, which has the shape of `indices`.",
)
DATA_RANK = GATHER.clause("Tensor of rank r >= 1.")
SAME_RANK = GATHER.clause("Tensor of int32/int64 indices, with the same rank r as the input.")
BOUNDS = GATHER.clause("All index values are expected to be within bounds [-s, s-1] along axis of size s.")
ERROR = GATHER.clause("It is an error if any of the index values are out of bounds.")
SAME_SHAPE = GATHER.clause("Tensor of the same shape as indices.")
WHICH = GATHER.clause("Which axis to gather on.")
BACK = GATHER.clause("Negative value means counting dimensions from the back.")
RANGE = GATHER.clause("Accepted range is [-r, r-1] where r = rank(data).")
INTEGERS = GATHER.clause("Constrain indices to integer types")


@GATHER.oracle()
def gathered(v: Version, data: Array, indices: Array, axis: int) -> Array:
    """Return for each entry of `indices` the element at the same position, with the entry as the index on the axis."""
    v.require(RANKS, data.ndim >= 1)
    v.require(SAME_RANK, indices.ndim == data.ndim)
    v.require(RANGE, -data.ndim <= axis < data.ndim)
    size = data.shape[axis]
    v.require(ERROR, bool(((-size <= indices) & (indices < size)).all()))
    sources: list[Array] = list(np.indices(indices.shape))
    sources[axis] = indices
    v.silent(EQUATIONS, any(bool((index >= dim).any()) for index, dim in zip(sources, data.shape, strict=True)))
    return np.asarray(data[tuple(sources)])


case = GATHER.case

case("example_1", data=[[1, 2], [3, 4]], indices=[[0, 0], [1, 0]], axis=1, cites=EXAMPLE_1)
TABLE, TWO_ROWS = [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2, 0], [2, 0, 0]]
case("example_2", data=TABLE, indices=TWO_ROWS, axis=0, cites=EXAMPLE_2)
case("default_axis", data=ramp(4, 3), indices=[[3, 0, 1], [2, 2, 0]], cites=RANKS)
CUBE = np.arange(60).reshape(3, 4, 5) * 7
for axis, clause in enumerate((AXIS_0, AXIS_1, AXIS_2)):
    size = (3, 4, 5)[axis]
    case(f"equation_{axis}", data=ramp(3, 4, 5), indices=CUBE % size, axis=axis, cites=(clause, EQUATIONS))
    back = CUBE % size - size
    case(f"equation_{axis}_indices_from_back", data=ramp(3, 4, 5), indices=back, axis=axis, cites=BOUNDS)
    fewer = CUBE[:2, :3, :4] % size
    case(f"fewer_along_{axis}", data=ramp(3, 4, 5), indices=fewer, axis=axis - 3, cites=(OUTPUT_SHAPE, EQUATIONS))
for name, shape, axis in axes():
    if len(shape) == CUBE.ndim:
        continue  # See EQUATIONS.
    shorter = np.arange(np.prod(shape)).reshape(shape)[tuple(slice(0, dim - 1) for dim in shape)] * 5 % shape[axis]
    clauses = (BACK, RANGE) if axis < 0 else (WHICH,)
    case(name, Tag.AXIS, data=ramp(*shape), indices=shorter, axis=axis, cites=clauses)
for name, shape, axis in axes_outside():
    if len(shape) > CUBE.ndim:
        continue
    zero = np.zeros([1] * len(shape))
    case(name, Tag.AXIS, data=ramp(*shape), indices=zero, axis=axis, rejects=RANGE if shape else RANKS)
case("vector", data=ramp(5), indices=[4, 0, 2], cites=(GATHERS, DATA_RANK, SAME_RANK))
case("repeated", Tag.EDGE, data=ramp(2, 3), indices=[[1, 1, 1]] * 7, cites=OUTPUT_SHAPE)
case("one_element", Tag.EDGE, data=ramp(1), indices=[0], cites=GATHERS)
case("long", data=ramp(70, 2), indices=np.arange(134).reshape(67, 2) * 11 % 70, cites=GATHERS)
case("rank5", data=ramp(2, 1, 3, 2, 4), indices=np.arange(24).reshape(2, 1, 3, 1, 4) % 2, axis=3, cites=GATHERS)
case("signed_zeros", Tag.EDGE, data=[0.0, -0.0, 1], indices=[1, 0, 1], cites=GATHERS)
EMPTY: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "no_indices": ((3, 2), (0, 2), 0),
    "no_indices_beside": ((3, 2), (2, 0), 0),
    "no_indices_no_data": ((0, 2), (0, 2), 0),
    "no_data_beside": ((3, 0), (4, 0), 0),
    "no_data_along": ((2, 0), (2, 0), 1),
}
for name, (shape, none, axis) in EMPTY.items():
    case(name, Tag.EDGE, data=ramp(*shape), indices=np.zeros(none), axis=axis, cites=SAME_SHAPE)
BACKWARD: dict[str, Any] = {"last": [[-1, -1]], "first": [[-4, -4]], "mixed": [[-1, 0], [2, -3]]}
for name, indices in BACKWARD.items():
    case(f"negative_{name}", Tag.EDGE, data=ramp(4, 2), indices=indices, cites=BOUNDS)
WRONG: dict[str, tuple[tuple[int, ...], Any, int]] = {
    "too_high": ((4, 2), [[4, 0]], 0),
    "too_low": ((4, 2), [[0, -5]], 0),
    "too_high_other_axis": ((4, 2), [[0], [2]], 1),
    "too_low_other_axis": ((4, 2), [[0], [-3]], 1),
    "too_high_last": ((4, 2), [[0, 1], [2, 4]], 0),
    "of_no_data": ((0, 2), [[0, 0]], 0),
    "beyond_32_bits": ((4, 2), typed("int64", [[2**32, 0]]), 0),
    "below_32_bits": ((4, 2), typed("int64", [[-(2**32) + 1, 0]]), 0),
    "greatest_int32": ((4, 2), typed("int32", [[2**31 - 1, 0]]), 0),
}
for name, (shape, indices, axis) in WRONG.items():
    case(f"index_{name}", Tag.EDGE, data=ramp(*shape), indices=indices, axis=axis, rejects=ERROR)
case("rank0", Tag.EDGE, data=ramp(), indices=0, rejects=RANKS)
case("fewer_dimensions", data=ramp(3, 2), indices=[1], rejects=SAME_RANK)
case("more_dimensions", data=ramp(3), indices=[[1, 0]], rejects=SAME_RANK)
case("more_beside", Tag.EDGE, data=ramp(3, 2), indices=[[0, 1, 2]], unspecified=EQUATIONS)
case("more_before", Tag.EDGE, data=ramp(2, 3), indices=[[0], [1], [2]], axis=1, unspecified=EQUATIONS)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(12), indices=np.arange(12)[::-1], cites=GATHERS)
case("more_along_axis", data=ramp(2, 3), indices=np.arange(15).reshape(3, 5).T % 2, cites=SAME_SHAPE)
case("index_type", Tag.DTYPE, each="Tind", data=ramp(4, 2), indices=[[3, 0], [-1, 2]], cites=(SAME_RANK, INTEGERS))

ALONG: dict[str, tuple[int, Dims, Dims, list[dict[str, int]]]] = {
    "vector": (0, ("n",), ("k",), grid(n=(33, 4097), k=(1, 16, 1025))),
    "first": (0, ("n", "w"), ("k", "w"), grid(n=(33, 129), w=(5, 16), k=(1, 65))),
    "middle": (1, ("b", "n", "w"), ("b", "k", "w"), grid(b=(2,), n=(33,), w=(5, 16), k=(16, 65))),
    "last": (-1, ("m", "n"), ("m", "k"), grid(m=(7,), n=(33, 129), k=(1, 16, 65))),
}
"""The axis, the dimensions of the data and of the indices, and the sizes."""
for name, (along, dims, of_indices, sizes) in ALONG.items():
    GATHER.sized(
        name,
        sizes,
        each="T" if name == "last" else None,
        cites=(GATHERS, OUTPUT_SHAPE),
        arguments={"data": filled(*dims), "indices": indices_of("n", *of_indices, back=name == "last"), "axis": along},
    )
GATHER.sized(
    "large",
    grid(m=(129,), n=(257,), k=(513,)),
    cites=GATHERS,
    arguments={"data": filled("m", "n"), "indices": indices_of("n", "m", "k", back=True), "axis": 1},
)
