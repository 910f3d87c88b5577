# SPDX-License-Identifier: Apache-2.0
"""ScatterND: write slices into a copy of a tensor, each at the position of a tuple of indices.

    output = ScatterND(data, indices, updates, reduction="none")

Versions: 11, 13 (bfloat16), 16 (reduction: add, mul), 18 (max, min).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Tolerance, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import Dims, filled, grid, tuples
from onnx_conformance.operators.tensor._scattering import OPERATIONS, reduced_into, repeats, rounding, rounds

if TYPE_CHECKING:
    from onnx_conformance.declare import Clause


def _targets(indices: Array) -> Array:
    """Return the tuples of indices of all targets, one in each column."""
    return np.moveaxis(indices, -1, 0).reshape(indices.shape[-1], math.prod(indices.shape[:-1]))


def _rounding(data: Array, indices: Array, updates: Array, reduction: str | None = None) -> list[Array]:
    return rounding(data, updates, _targets(indices), reduction)


SCATTER = Op(
    "ScatterND",
    versions=(11, 13, 16, 18),
    compare=Tolerance(
        "each addition or product of a reduction rounds by half an epsilon, in any order",
        bound=_rounding,
        signed_zero=True,
    ),
    rank="data",
)
SCATTER.example(data=ramp(3, 4), indices=[[2], [0]], updates=[[50, 60, 70, 80], [1, 2, 3, 4]])

RANKS = SCATTER.clause(
    "ScatterND takes three inputs `data` tensor of rank r >= 1, `indices` tensor of rank q >= 1, and `updates` tensor "
    "of rank q + r - indices.shape[-1] - 1."
)
WRITES = SCATTER.clause(
    "The output of the operation is produced by creating a copy of the input `data`, and then updating its value to "
    "values specified by `updates` at specific index positions specified by `indices`."
)
OUTPUT_SHAPE = SCATTER.clause("Its output shape is the same as the shape of `data`.")
TUPLES = SCATTER.clause(
    "`indices` is treated as a (q-1)-dimensional tensor of k-tuples, where each k-tuple is a partial-index into `data`."
)
AT_MOST = SCATTER.clause("Hence, k can be a value at most the rank of `data`.")
ELEMENT = SCATTER.clause(
    "When k equals rank(data), each update entry specifies an update to a single element of the tensor."
)
SLICE = SCATTER.clause("When k is less than rank(data) each update entry specifies an update to a slice of the tensor.")
NEGATIVE = SCATTER.clause(
    "Index values are allowed to be negative, as per the usual convention for counting backwards from the end, but are "
    "expected in the valid range."
)
MATCH = SCATTER.clause(
    "Thus, the first (q-1) dimensions of updates.shape must match the first (q-1) dimensions of indices.shape."
)
REPLACEMENT = SCATTER.clause(
    "Each replacement-slice-value is a (r-k) dimensional tensor, corresponding to the trailing (r-k) dimensions of "
    "`data`."
)
EQUAL = SCATTER.clause(
    "Thus, the shape of `updates` must equal indices.shape[0:q-1] ++ data.shape[k:r], where ++ denotes the "
    "concatenation of shapes."
)
EQUATION = SCATTER.clause("output[tuple(indices[idx])] = updates[idx]")
NO_DUPLICATES = SCATTER.clause(
    "In particular, indices should not have duplicate entries: that is, if idx1 != idx2, then indices[idx1] != "
    "indices[idx2]. This ensures that the output value does not depend on the iteration order.",
    note="Since version 16 the text repeats this only for the reduction none.",
)
REDUCES = SCATTER.clause(
    "`reduction` allows specification of an optional reduction operation, which is applied to all values in `updates` "
    "tensor into `output` at the specified `indices`.",
    since=16,
    note="The text does not define a sum of strings or booleans, or of integers outside the range of their type.",
)
DUPLICATES = SCATTER.clause(
    'In cases where `reduction` is set to "none", indices should not have duplicate entries: that is, if idx1 != idx2, '
    "then indices[idx1] != indices[idx2]. This ensures that the output value does not depend on the iteration order."
).reworded(
    before=16,
    text="Note that `indices` should not have duplicate entries. That is, two or more `updates` for the same "
    "index-location is not supported.",
)
ADDS = SCATTER.clause("output[tuple(indices[idx])] += updates[idx]", since=16, before=18)
MULTIPLIES = SCATTER.clause("output[tuple(indices[idx])] *= updates[idx]", since=16, before=18)
BY_F = SCATTER.clause("output[tuple(indices[idx])] = f(output[tuple(indices[idx])], updates[idx])", since=18)
F = SCATTER.clause(
    "where the `f` is `+`, `*`, `max` or `min` as specified.",
    since=18,
    note="The text of the attribute has the addition for mul.",
)
MAX_MIN = SCATTER.clause("(Opset 18 change): Adds max/min to the set of allowed reduction ops.", since=18)
EXAMPLE_1 = SCATTER.clause(
    "data = [1, 2, 3, 4, 5, 6, 7, 8] indices = [[4], [3], [1], [7]] updates = [9, 10, 11, 12] output = [1, 11, 3, 10, "
    "9, 6, 7, 12]"
)
EXAMPLE_2 = SCATTER.clause(
    "indices = [[0], [2]] updates = [[[5, 5, 5, 5], [6, 6, 6, 6], [7, 7, 7, 7], [8, 8, 8, 8]], [[1, 1, 1, 1], [2, 2, "
    "2, 2], [3, 3, 3, 3], [4, 4, 4, 4]]]"
)
DATA_RANK = SCATTER.clause("Tensor of rank r >= 1.")
INDICES_RANK = SCATTER.clause("Tensor of rank q >= 1.")
UPDATES_RANK = SCATTER.clause("Tensor of rank q + r - indices_shape[-1] - 1.")
KINDS = SCATTER.clause("Type of reduction to apply: none (default), add, mul", since=16)
NO_REDUCTION = SCATTER.clause("'none': no reduction applied.", since=16)


def _require_places(v: Version, data: Array, indices: Array, updates: Array) -> bool:
    """Raise Rejected if the shapes do not fit or an index is out of range. Return whether a target occurs twice."""
    v.require(RANKS, data.ndim >= 1)
    v.require(INDICES_RANK, indices.ndim >= 1)
    k = indices.shape[-1]
    v.require(AT_MOST, k <= data.ndim)
    v.require(UPDATES_RANK, updates.ndim == indices.ndim + data.ndim - k - 1)
    v.require(MATCH, updates.shape[: indices.ndim - 1] == indices.shape[:-1])
    v.require(EQUAL, updates.shape == indices.shape[:-1] + data.shape[k:])
    sizes = np.array(data.shape[:k])
    v.require(NEGATIVE, bool(((-sizes <= indices) & (indices < sizes)).all()))
    return bool(repeats(_targets(indices), data.shape).any())


@SCATTER.oracle(before=16)
def scattered(v: Version, data: Array, indices: Array, updates: Array) -> Array:
    """Return a copy of `data` in which every update is written to its target."""
    twice = _require_places(v, data, indices, updates)
    v.require(NO_DUPLICATES if indices.shape[-1] == data.ndim else DUPLICATES, not twice)
    output, places = data.copy(), _targets(indices)
    output[tuple(places)] = updates.reshape(places.shape[1], *data.shape[len(places) :])
    return output


@SCATTER.oracle(since=16)
def reduced(v: Version, data: Array, indices: Array, updates: Array, reduction: str) -> Array:
    """Return a copy of `data` in which every update is written to its target, or reduced into it."""
    twice = _require_places(v, data, indices, updates)
    v.permit(MAX_MIN, reduction in {"max", "min"})
    v.silent(KINDS, reduction != "none" and reduction not in OPERATIONS)
    output = data.copy()
    if reduction == "none":
        v.require(NO_DUPLICATES if indices.shape[-1] == data.ndim else DUPLICATES, not twice)
    else:
        v.silent(REDUCES, data.dtype.kind in "bO" or (data.dtype.kind == "c" and reduction in {"max", "min"}))
    places = _targets(indices)
    slices = updates.reshape(places.shape[1], *data.shape[len(places) :])
    for numbers, target in rounds(places, data.shape):
        new = slices[numbers]
        output[target] = new if reduction == "none" else reduced_into(v, REDUCES, reduction, output[target], new)
    return output


case = SCATTER.case

case(
    "example_1", data=1 + np.arange(8), indices=[[4], [3], [1], [7]], updates=[9, 10, 11, 12], cites=(EXAMPLE_1, WRITES)
)
UP, DOWN = np.arange(1, 9).reshape(2, 4), np.arange(8, 0, -1).reshape(2, 4)
FOUR = np.array([[*UP, *DOWN], [*UP, *DOWN], [*DOWN, *UP], [*DOWN, *UP]])
FIVES, ONES = np.repeat([5, 6, 7, 8], 4).reshape(4, 4), np.repeat([1, 2, 3, 4], 4).reshape(4, 4)
case("example_2", data=FOUR, indices=[[0], [2]], updates=[FIVES, ONES], cites=(EXAMPLE_2, SLICE, REPLACEMENT))
CUBE = -1 - np.arange(60).reshape(3, 4, 5)
PLACES: dict[str, tuple[Any, Clause]] = {
    "slices": ([[2], [0]], SLICE),
    "rows": ([[2, 1], [0, 3]], SLICE),
    "elements": ([[2, 1, 4], [0, 3, 0]], ELEMENT),
    "one_slice": ([1], TUPLES),
    "one_row": ([1, 2], TUPLES),
    "one_element": ([1, 2, 3], ELEMENT),
    "matrix_of_rows": ([[[2, 1], [0, 3], [1, 1]], [[0, 0], [2, 2], [1, 0]]], SLICE),
    "cube_of_elements": ([[[[2, 1, 4]], [[0, 3, 0]]], [[[1, 1, 1]], [[0, 0, 2]]]], ELEMENT),
}
for name, (places, clause) in PLACES.items():
    indices = np.array(places)
    shape = indices.shape[:-1] + CUBE.shape[indices.shape[-1] :]
    new = 1 + np.arange(np.prod(shape)).reshape(shape)
    case(name, data=CUBE, indices=indices, updates=new, cites=(clause, EQUATION, OUTPUT_SHAPE))
    from_back = indices - CUBE.shape[: indices.shape[-1]]
    case(f"{name}_from_back", data=CUBE, indices=from_back, updates=new, cites=(NEGATIVE, clause))
case("vector", data=ramp(5), indices=[[4], [1]], updates=[50, 60], cites=(DATA_RANK, INDICES_RANK, UPDATES_RANK))
case("all_elements", Tag.EDGE, data=ramp(3), indices=[[2], [0], [1]], updates=[50, 60, 70], cites=WRITES)
case("one_of_one", Tag.EDGE, data=ramp(1), indices=[[0]], updates=[50], cites=ELEMENT)
LONG = np.arange(100, 234).reshape(67, 2)
case("long", data=ramp(70, 2), indices=(np.arange(67) * 11 % 70).reshape(67, 1), updates=LONG, cites=SLICE)
case("no_updates", Tag.EDGE, data=ramp(3, 2), indices=np.zeros((0, 1)), updates=ramp(0, 2), cites=OUTPUT_SHAPE)
case("no_updates_of_elements", Tag.EDGE, data=ramp(3, 2), indices=np.zeros((0, 2)), updates=ramp(0), cites=OUTPUT_SHAPE)
case("no_data", Tag.EDGE, data=ramp(0, 2), indices=np.zeros((0, 1)), updates=ramp(0, 2), cites=OUTPUT_SHAPE)
case("slices_of_nothing", Tag.EDGE, data=ramp(3, 0), indices=[[2], [0]], updates=ramp(2, 0), cites=SLICE)
case(
    "whole",
    Tag.EDGE,
    data=ramp(2, 3),
    indices=np.zeros((1, 0)),
    updates=[[[7, 8, 9], [4, 5, 6]]],
    cites=(TUPLES, EQUATION),
)
case(
    "extremes",
    Tag.DTYPE,
    Tag.EDGE,
    each="T",
    data=ramp(14),
    indices=np.arange(11)[::-1].reshape(11, 1),
    updates=extremes(11),
    cites=WRITES,
)
case("extremes_of_data", Tag.EDGE, data=extremes(12), indices=[[10], [3]], updates=ramp(2), cites=WRITES)
WRONG: dict[str, tuple[tuple[int, ...], Any]] = {
    "too_high": ((4,), [[4]]),
    "too_low": ((4,), [[-5]]),
    "too_high_second": ((4, 2), [[3, 2]]),
    "too_low_second": ((4, 2), [[3, -3]]),
    "too_high_first": ((2, 4), [[2, 0]]),
    "beyond_32_bits": ((4,), [[2**32]]),
    "below_32_bits": ((4,), [[-(2**32) + 1]]),
    "of_no_data": ((0,), [[0]]),
}
for name, (shape, places) in WRONG.items():
    case(f"index_{name}", Tag.EDGE, data=ramp(*shape), indices=places, updates=[50], rejects=NEGATIVE)
case("rank0", Tag.EDGE, data=ramp(), indices=typed("int64", []), updates=50, rejects=RANKS)
case("indices_rank0", Tag.EDGE, data=ramp(3), indices=1, updates=50, rejects=INDICES_RANK)
case("indices_too_long", Tag.EDGE, data=ramp(3), indices=[[0, 0]], updates=[50], rejects=AT_MOST)
case(
    "updates",
    data=ramp(4, 3),
    indices=[[1], [2]],
    updates=vary(vector=ramp(3), cube=ramp(2, 3, 1)),
    rejects=UPDATES_RANK,
)
case(
    "updates_of_other",
    data=ramp(4, 3),
    indices=[[1], [2]],
    updates=vary(number=ramp(3, 3), one=ramp(1, 3)),
    rejects=MATCH,
)
case(
    "updates_slices", data=ramp(4, 3), indices=[[1], [2]], updates=vary(short=ramp(2, 2), one=ramp(2, 1)), rejects=EQUAL
)
TWICE: dict[str, Any] = {"data": ramp(4), "indices": [[2], [-2]], "updates": [50, 60]}
SLICE_TWICE: dict[str, Any] = {"data": ramp(3, 2), "indices": [[1], [0], [1]], "updates": ramp(3, 2)}
case("index_twice", Tag.EDGE, **TWICE, rejects=NO_DUPLICATES)
case("slice_twice", Tag.EDGE, **SLICE_TWICE, rejects=DUPLICATES)
case(
    "alike_in_part",
    Tag.EDGE,
    data=ramp(3, 2),
    indices=[[1, 0], [1, 1]],
    updates=[50, 60],
    cites=(ELEMENT, NO_DUPLICATES),
)

# -1 and 0 are the same row of one.
ALIKE: dict[str, Any] = {"data": ramp(1, 2), "indices": [[0], [-1]], "updates": [[5, 6], [7, 8]]}
case("alike_row_of_one", Tag.EDGE, **ALIKE, rejects=DUPLICATES)

ONTO: dict[str, Any] = {"data": [8, 3, 4, 5], "indices": [[2], [0], [3]], "updates": [2, 9, 3]}
ROWS: dict[str, Any] = {"data": [[8, 3, 4], [5, 6, 7]], "indices": [[1], [0]], "updates": [[2, 5, 9], [9, 4, 1]]}
SAME: dict[str, Any] = {"data": [8, 3, 4, 5], "indices": [[2], [0], [2], [-2], [3]], "updates": [2, 9, 5, 3, 1]}
case("none", **ONTO, reduction="none", cites=(KINDS, NO_REDUCTION, EQUATION))
FORMULAS = {"add": ADDS, "mul": MULTIPLIES}
for name in OPERATIONS:
    needed = (MAX_MIN,) if name not in FORMULAS else ()
    if name in FORMULAS:
        case(f"{name}_before_18", **ONTO, reduction=name, cites=(FORMULAS[name], REDUCES))
        case(f"{name}_rows_before_18", **ROWS, reduction=name, cites=FORMULAS[name])
    case(name, **ONTO, reduction=name, cites=(BY_F, F, *needed))
    case(f"{name}_rows", **ROWS, reduction=name, cites=(BY_F, F, *needed))
    case(f"{name}_same_element", **SAME, reduction=name, cites=(REDUCES, *needed))
    rows: dict[str, Any] = {"data": ramp(3, 2), "indices": [[1], [1], [-2]], "updates": [[2, 5], [7, 3], [4, 4]]}
    case(f"{name}_same_row", **rows, reduction=name, cites=(REDUCES, *needed))
    infinite: dict[str, Any] = {"data": [np.inf, 1.5, -np.inf], "indices": [[0], [1], [2]]}
    case(
        f"{name}_infinite", Tag.EDGE, **infinite, updates=[2.5, -np.inf, 2.5], reduction=name, cites=(REDUCES, *needed)
    )
    fractions: dict[str, Any] = {"data": [0.1, 0.7], "indices": [[1], [0], [1]], "updates": [0.3, -0.2, 1.1]}
    case(f"{name}_fractions", **fractions, reduction=name, cites=(REDUCES, *needed))
    if name in {"mul", "min"}:
        continue  # Types are tested with add and max.
    numbers = ("bool", "string") if name in FORMULAS else ("bool", "string", "complex64", "complex128")
    case(f"{name}_type", Tag.DTYPE, each="T", but=numbers, **SAME, reduction=name, cites=(REDUCES, *needed))
    true = typed("bool", [True, True])
    truths: dict[str, Any] = {"data": typed("bool", [True, False]), "indices": [[0], [1]], "updates": true}
    case(f"{name}_truths", Tag.DTYPE, **truths, reduction=name, unspecified=REDUCES, since=18)
    texts: dict[str, Any] = {"data": typed("string", ["a", "b"]), "indices": [[0]], "updates": typed("string", ["c"])}
    case(f"{name}_texts", Tag.DTYPE, **texts, reduction=name, unspecified=REDUCES, since=18)
for name in ("max", "min"):
    case(f"{name}_before_18", Tag.CHANGE, **SAME, reduction=name, unspecified=MAX_MIN, since=16, before=18)
    nan: dict[str, Any] = {"data": [np.nan, 1.0], "indices": [[0]], "updates": [2.0], "reduction": name}
    case(f"{name}_nan", Tag.EDGE, **nan, unspecified=REDUCES, since=18)
    zeros: dict[str, Any] = {"data": [0.0, 1.0], "indices": [[0]], "updates": [-0.0], "reduction": name}
    case(f"{name}_zeros", Tag.EDGE, **zeros, unspecified=REDUCES, since=18)
    pair: dict[str, Any] = {"data": typed("complex64", [1j, 2]), "indices": [[0]], "updates": typed("complex64", [1])}
    case(f"{name}_complex", Tag.DTYPE, **pair, reduction=name, unspecified=REDUCES, since=18)
below: dict[str, Any] = {"data": [0.0, -2.0], "indices": [[0], [1]], "updates": [-5.0, 0.0]}
case("max_of_zero_and_less", **below, reduction="max", cites=REDUCES, since=18)
for name in ("add", "mul"):
    nan = {"data": [np.nan, 1.0, 2.0], "indices": [[0], [1]], "updates": [2.0, np.nan], "reduction": name}
    case(f"{name}_nan", Tag.EDGE, **nan, cites=REDUCES)
    over: dict[str, Any] = {"data": typed("int8", [100, 3]), "indices": [[0]], "updates": typed("int8", [50])}
    case(f"{name}_overflow", Tag.EDGE, **over, reduction=name, unspecified=REDUCES, since=16)
case("other_reduction", Tag.EDGE, **SAME, reduction="mean", unspecified=KINDS, since=16)
row: dict[str, Any] = {"data": typed("int8", [[100, 3]]), "indices": [[0]], "updates": typed("int8", [[50, 1]])}
case("add_overflow_in_part", Tag.EDGE, **row, reduction="add", unspecified=REDUCES, since=16)
zero: dict[str, Any] = {"data": [[0.0, 1.0]], "indices": [[0]], "updates": [[-0.0, 2.0]]}
case("max_zeros_in_part", Tag.EDGE, **zero, reduction="max", unspecified=REDUCES, since=18)

INTO: dict[str, tuple[Dims, Dims, list[dict[str, int]]]] = {
    "elements": (("a", "b", "c"), (), grid(a=(5,), b=(9,), c=(33,), n=(1, 16, 129, 1025))),
    "rows": (("a", "b"), ("d",), grid(a=(5,), b=(9,), d=(7, 64), n=(5, 33))),
    "slices": (("a",), ("c", "d"), grid(a=(33,), c=(7,), d=(16,), n=(5, 17))),
}
"""The dimensions of the places, the dimensions of a slice, and the sizes."""
for name, (places, slice_, sizes) in INTO.items():
    SCATTER.sized(
        name,
        sizes,
        each="T" if name == "rows" else None,
        cites=(WRITES, TUPLES),
        arguments={
            "data": filled(*places, *slice_),
            "indices": tuples(places, "n", distinct=True),
            "updates": filled("n", *slice_),
        },
    )
    for reduction in OPERATIONS:
        SCATTER.sized(
            f"{name}_{reduction}",
            sizes,
            each="T" if name == "elements" and reduction == "add" else None,
            but=("bool", "string"),
            cites=(REDUCES, F),
            arguments={
                "data": filled(*places, *slice_),
                "indices": tuples(places, "n"),
                "updates": filled("n", *slice_, floats=(0.5, 1.5)),
                "reduction": reduction,
            },
        )
SCATTER.sized(
    "large",
    grid(a=(129,), b=(257, 513), n=(8193,)),
    cites=(WRITES, TUPLES),
    arguments={"data": filled("a", "b"), "indices": tuples(("a", "b"), "n", distinct=True), "updates": filled("n")},
)
SCATTER.sized(
    "large_add",
    grid(a=(129,), b=(65,), n=(8193,)),
    cites=(REDUCES, F),
    arguments={
        "data": filled("a", "b"),
        "indices": tuples(("a", "b"), "n"),
        "updates": filled("n"),
        "reduction": "add",
    },
)
