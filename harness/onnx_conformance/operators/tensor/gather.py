# SPDX-License-Identifier: Apache-2.0
"""Gather: take slices of a tensor along one axis, at indices of any shape.

    output = Gather(data, indices, axis=0)

Versions: 1, 11 (indices from the back), 13 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, axes, axes_outside, extremes, ramp, typed
from onnx_conformance.declare.sizes import Dims, filled, grid, indices_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return q + (r - 1), but at least 0.

    Models without an expected output must state a rank too.
    """
    return max(0, np.ndim(arguments.get("indices", 0)) + np.ndim(arguments.get("data", 0)) - 1)


GATHER = Op("Gather", versions=(1, 11, 13), compare=EXACT, rank=_rank, widens=False)  # Moved elements keep their bits.
GATHER.example(data=ramp(3, 4, 5), indices=[[2, 0]], axis=1)

GATHERS = GATHER.clause(
    "Given `data` tensor of rank r >= 1, and `indices` tensor of rank q, gather entries of the axis dimension of "
    "`data` (by default outer-most one as axis=0) indexed by `indices`, and concatenates them in an output tensor of "
    "rank q + (r - 1)."
)
DATA_RANK = GATHER.clause("Tensor of rank r >= 1.")
ANY_RANK = GATHER.clause("Tensor of int32/int64 indices, of any rank q.")
OUTPUT_RANK = GATHER.clause("Tensor of rank q + (r - 1).")
WHICH = GATHER.clause("Which axis to gather on.")
BACK = GATHER.clause("Negative value means counting dimensions from the back.")
RANGE = GATHER.clause("Accepted range is [-r, r-1]")
WITHIN = GATHER.clause(
    "All index values are expected to be within bounds.",
    before=11,
    note="The text does not define whether a negative index counts from the back, as in version 11, or is out of "
    "bounds.",
)
BOUNDS = GATHER.clause("All index values are expected to be within bounds [-s, s-1] along axis of size s.", since=11)
ERROR = GATHER.clause(
    "It is an error if any of the index values are out of bounds.",
    see=("https://github.com/onnx/onnx/issues/2179", "https://github.com/onnx/onnx/pull/2202"),
)
SINGLE = GATHER.clause(
    "It is an indexing operation that indexes into the input `data` along a single (specified) axis.", since=13
)
SLICE = GATHER.clause("Each entry in `indices` produces a `r-1` dimensional slice of the input tensor.", since=13)
PLACE = GATHER.clause(
    "which is arranged into a `q + (r-1)`-dimensional tensor, with the `q` dimensions taking the place of the original "
    "`axis` that is being indexed into.",
    since=13,
)
K = GATHER.clause("k = indices[i_{0}, ..., i_{q-1}]", since=11)
AXIS_ZERO = GATHER.clause("output[i_{0}, ..., i_{q-1}, j_{0}, ..., j_{r-2}] = input[k , j_{0}, ..., j_{r-2}]", since=11)
AXIS_ONE = GATHER.clause(
    "output[j_{0}, i_{0}, ..., i_{q-1}, j_{1}, ..., j_{r-2}] = input[j_{0}, k, j_{1}, ..., j_{r-2}]", since=11
)
SCALAR_AXIS_0 = GATHER.clause("| (P, Q) | ( ) (a scalar) | 0 | (Q) | output[q] = data[indices, q] |", since=13)
SCALAR_AXIS_1 = GATHER.clause(
    "| (P, Q, R) | ( ) (a scalar) | 1 | (P, R) | output[p, r] = data[p, indices, r] |", since=13
)
MATRIX_AXIS_0 = GATHER.clause(
    "| (P, Q) | (R, S) | 0 | (R, S, Q) | output[r, s, q] = data[ [indices[r, s], q] |",
    since=13,
    note="There is one bracket too many; the formula is data[indices[r, s], q].",
)
MATRIX_AXIS_1 = GATHER.clause(
    "| (P, Q) | (R, S) | 1 | (P, R, S) | output[p, r, s] = data[ p, indices[r, s]] |", since=13
)
EXAMPLE_0 = GATHER.clause("data = [ [1.0, 1.2], [2.3, 3.4], [4.5, 5.7], ] indices = [ [0, 1], [1, 2], ]")
EXAMPLE_1 = GATHER.clause(
    "data = [ [1.0, 1.2, 1.9], [2.3, 3.4, 3.9], [4.5, 5.7, 5.9], ] indices = [ [0, 2], ] axis = 1,"
)
INTEGERS = GATHER.clause("Constrain indices to integer types")


@GATHER.oracle()
def gathered(v: Version, data: Array, indices: Array, axis: int) -> Array:
    """Return the slices of `data` at the indices. The dimensions of the indices replace the axis."""
    v.require(GATHERS, data.ndim >= 1)
    v.require(RANGE, -data.ndim <= axis < data.ndim)
    size = data.shape[axis]
    v.require(ERROR, bool(((-size <= indices) & (indices < size)).all()))
    v.silent(WITHIN, not BOUNDS.in_force(v.since) and bool((indices < 0).any()))
    return data.take(indices, axis)


case = GATHER.case

case("example_0", data=[[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]], indices=[[0, 1], [1, 2]], cites=(EXAMPLE_0, GATHERS))
TABLE = [[1.0, 1.2, 1.9], [2.3, 3.4, 3.9], [4.5, 5.7, 5.9]]
case("example_1", data=TABLE, indices=[[0, 2]], axis=1, cites=(EXAMPLE_1, GATHERS))
case("formula_0", data=ramp(4, 2, 3), indices=[[3, 0], [1, 1]], axis=0, cites=(K, AXIS_ZERO))
case("formula_1", data=ramp(2, 4, 3), indices=[[3, 0], [1, 1]], axis=1, cites=(K, AXIS_ONE))
case("scalar_axis_0", data=ramp(2, 3), indices=1, axis=0, cites=(SCALAR_AXIS_0, SLICE))
case("scalar_axis_1", data=ramp(2, 3, 4), indices=2, axis=1, cites=(SCALAR_AXIS_1, SLICE))
case("matrix_axis_0", data=ramp(2, 3), indices=[[1, 0, 1, 1]] * 5, axis=0, cites=(MATRIX_AXIS_0, PLACE))
case("matrix_axis_1", data=ramp(2, 3), indices=[[1, 0, 2, 1]] * 5, axis=1, cites=(MATRIX_AXIS_1, PLACE))
INDICES: dict[str, Any] = {
    "scalar": 2,
    "vector": [2, 0],
    "matrix": [[2, 0, 1, 2, 0], [1, 1, 0, 2, 2]],
    "cube": np.arange(12).reshape(2, 1, 6) * 5 % 3,
}
for name, indices in INDICES.items():
    for axis, turned in enumerate(((3, 4, 5), (4, 3, 5), (4, 5, 3))):
        along = f"{name}_along_{axis}"
        case(along, Tag.AXIS, data=ramp(*turned), indices=indices, axis=axis, cites=(GATHERS, WHICH))
        case(f"{along}_from_back", Tag.AXIS, data=ramp(*turned), indices=indices, axis=axis - 3, cites=BACK)
    case(f"{name}_of_vector", data=ramp(3), indices=indices, cites=(OUTPUT_RANK, ANY_RANK, DATA_RANK))
for name, shape, axis in axes():
    last = [shape[axis] - 1, 0, 1]
    case(name, Tag.AXIS, data=ramp(*shape), indices=last, axis=axis, cites=(BACK, RANGE) if axis < 0 else (WHICH,))
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*shape), indices=[0], axis=axis, rejects=RANGE if shape else GATHERS)

case("cyclic", data=ramp(4, 3), indices=[2, 3, 0, 1], cites=SINGLE)
case("permuted", data=ramp(4, 3), indices=[1, 3, 0, 2], cites=GATHERS)
case("repeated", Tag.EDGE, data=ramp(3, 2), indices=[1, 1, 1, 1, 1, 1, 1], cites=GATHERS)
case("all_of_axis", Tag.EDGE, data=ramp(5), indices=[0, 1, 2, 3, 4], cites=GATHERS)
case("one_element", Tag.EDGE, data=ramp(1), indices=[0], cites=GATHERS)
case("one_element_to_scalar", Tag.EDGE, data=ramp(1), indices=0, cites=OUTPUT_RANK)
case("long", data=ramp(70, 3), indices=np.arange(67) * 11 % 70, cites=GATHERS)
case("rank5", data=ramp(2, 1, 3, 2, 2), indices=[[2, 1], [0, 2], [1, 1]], axis=2, cites=PLACE)
case("signed_zeros", Tag.EDGE, data=[0.0, -0.0, 1], indices=[1, 0, 1], cites=GATHERS)
EMPTY: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "no_indices": ((3, 2), (0,), 0),
    "no_indices_matrix": ((3, 2), (2, 0), 1),
    "no_indices_no_data": ((0, 2), (0,), 0),
    "no_elements": ((3, 0), (4,), 0),
    "no_elements_before": ((0, 3), (2, 2), 1),
}
for name, (shape, none, axis) in EMPTY.items():
    case(name, Tag.EDGE, data=ramp(*shape), indices=np.zeros(none), axis=axis, cites=OUTPUT_RANK)

NEGATIVE: dict[str, dict[str, Any]] = {
    "last": {"data": ramp(4, 2), "indices": [-1]},
    "first": {"data": ramp(4, 2), "indices": [-4]},
    "scalar": {"data": ramp(4, 2), "indices": -2},
    "mixed": {"data": ramp(2, 4), "indices": [[-1, 0, -3], [3, -4, 2]], "axis": 1},
    "axis_too": {"data": ramp(2, 4, 3), "indices": [-2, 1, -3], "axis": -1},
    "size_one": {"data": ramp(2, 1), "indices": [-1, 0, -1], "axis": 1},
    "int32": {"data": ramp(4, 2), "indices": typed("int32", [-1, -3])},
    "int64": {"data": ramp(4, 2), "indices": typed("int64", [-1, -3])},
}
for name, negative in NEGATIVE.items():
    case(f"negative_{name}", Tag.CHANGE, **negative, cites=BOUNDS)
    case(f"negative_{name}_before_11", Tag.CHANGE, **negative, unspecified=WITHIN, before=11)
WRONG: dict[str, tuple[tuple[int, ...], Any, int]] = {
    "too_high": ((4, 2), [4], 0),
    "too_low": ((4, 2), [-5], 0),
    "too_high_scalar": ((4, 2), 4, 0),
    "too_high_other_axis": ((4, 2), [3], 1),
    "too_low_other_axis": ((4, 2), [-3], 1),
    "too_high_last": ((4, 2), [[0, 1], [2, 4]], 0),
    "too_high_in_memory": ((4, 2, 3), [2], 1),
    "far": ((4, 2), [1000], 0),
    "of_no_data": ((0, 2), [0], 0),
    "of_no_data_negative": ((2, 0), [-1], 1),
    "beyond_32_bits": ((4, 2), typed("int64", [2**32]), 0),
    "below_32_bits": ((4, 2), typed("int64", [-(2**32) + 1]), 0),
    "greatest_int32": ((4, 2), typed("int32", [2**31 - 1]), 0),
    "least_int32": ((4, 2), typed("int32", [-(2**31)]), 0),
    "greatest_int64": ((4, 2), typed("int64", [2**63 - 1]), 0),
    "least_int64": ((4, 2), typed("int64", [-(2**63)]), 0),
}
for name, (shape, indices, axis) in WRONG.items():
    case(f"index_{name}", Tag.EDGE, data=ramp(*shape), indices=indices, axis=axis, rejects=ERROR)
case("rank0", Tag.EDGE, data=ramp(), indices=[0], rejects=GATHERS)
case("rank0_scalar", Tag.EDGE, data=ramp(), indices=0, rejects=GATHERS)

case("extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(12), indices=[*range(11, -1, -1), 5], cites=GATHERS)
case("outside_indices", Tag.DTYPE, outside="Tind", data=ramp(3), indices=[0, 1], rejects=INTEGERS)

LOOKUPS: dict[str, tuple[Dims, list[dict[str, int]], int, Dims]] = {
    "embedding": (("n", "d"), grid(n=(33, 1000), d=(7, 64), b=(2,), s=(5, 33)), 0, ("b", "s")),
    "elements": (("n",), grid(n=(33, 4097), k=(1, 16, 1025)), 0, ("k",)),
    "columns": (("m", "n"), grid(m=(7, 33), n=(129,), k=(1, 16, 65)), -1, ("k",)),
    "middle": (("b", "n", "d"), grid(b=(3,), n=(33,), d=(1, 16, 65), k=(5, 64)), 1, ("k",)),
    "row": (("n", "d"), grid(n=(33,), d=(7, 64, 1025)), 0, ()),
    "into_matrices": (("b", "n"), grid(b=(5,), n=(64,), k=(3,), l=(16, 33)), 1, ("k", "l")),
}
"""The dimensions of the data, the sizes, the axis, and the dimensions of the indices."""
for name, (dims, sizes, axis, of_indices) in LOOKUPS.items():
    GATHER.sized(
        name,
        sizes,
        each="T" if name == "embedding" else None,
        cites=(GATHERS, BOUNDS),
        arguments={
            "data": filled(*dims),
            "indices": indices_of("n", *of_indices, back=name == "columns"),
            "axis": axis,
        },
    )
GATHER.sized(
    "embedding_int32",
    grid(n=(100,), d=(8, 33), k=(7, 64)),
    cites=GATHERS,
    arguments={"data": filled("n", "d"), "indices": typed("int32", indices_of("n", "k"))},
)
GATHER.sized(
    "large",
    grid(n=(1000,), d=(129,), k=(1025,)),
    cites=GATHERS,
    arguments={"data": filled("n", "d"), "indices": indices_of("n", "k", back=True)},
)
