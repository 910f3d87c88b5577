# SPDX-License-Identifier: Apache-2.0
"""ScatterElements: write updates into a copy of a tensor, one element for each index, along one axis.

    output = ScatterElements(data, indices, updates, axis=0, reduction="none")

Versions: 11, 13 (bfloat16), 16 (reduction: add, mul), 18 (max, min).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Tolerance, Version, extremes, ramp, typed
from onnx_conformance.declare.sizes import Dims, filled, grid, indices_of
from onnx_conformance.operators.tensor._scattering import (
    OPERATIONS,
    axis_cases,
    reduced_into,
    repeats,
    rounding,
    rounds,
    targets,
)


def _rounding(data: Array, indices: Array, updates: Array, axis: int, reduction: str | None = None) -> list[Array]:
    return rounding(data, updates, targets(indices, axis), reduction)


SCATTER = Op(
    "ScatterElements",
    versions=(11, 13, 16, 18),
    compare=Tolerance(
        "each addition or product of a reduction rounds by half an epsilon, in any order",
        bound=_rounding,
        signed_zero=True,
    ),
    rank="data",
)
SCATTER.example(data=ramp(3, 4), indices=[[2, 0]], updates=[[50, 60]], axis=1)

RANKS = SCATTER.clause(
    "ScatterElements takes three inputs `data`, `updates`, and `indices` of the same rank r >= 1 and an optional "
    "attribute axis that identifies an axis of `data` (by default, the outer-most axis, that is axis 0)."
)
WRITES = SCATTER.clause(
    "The output of the operation is produced by creating a copy of the input `data`, and then updating its value to "
    "values specified by `updates` at specific index positions specified by `indices`.",
    note="Before version 16, the text does not define two updates of the same element.",
)
OUTPUT_SHAPE = SCATTER.clause("Its output shape is the same as the shape of `data`.")
TARGET = SCATTER.clause(
    "For each entry in `updates`, the target index in `data` is obtained by combining the corresponding entry in "
    "`indices` with the index of the entry itself: the index-value for dimension = axis is obtained from the value of "
    "the corresponding entry in `indices` and the index-value for dimension != axis is obtained from the index of the "
    "entry itself.",
    note="The text does not define an entry whose position is outside `data` on an axis other than `axis`.",
)
REDUCES = SCATTER.clause(
    "`reduction` allows specification of an optional reduction operation, which is applied to all values in `updates` "
    "tensor into `output` at the specified `indices`.",
    since=16,
    note="The text does not define a sum of strings or booleans, or of integers outside the range of their type.",
)
DUPLICATES = SCATTER.clause(
    'In cases where `reduction` is set to "none", indices should not have duplicate entries: that is, if idx1 != idx2, '
    "then indices[idx1] != indices[idx2].",
    since=16,
    note="This refers to the indices of whole targets: the example has equal entries in different columns.",
)
ROWS_NONE = SCATTER.clause("output[indices[i][j]][j] = updates[i][j] if axis = 0,")
COLUMNS_NONE = SCATTER.clause("output[i][indices[i][j]] = updates[i][j] if axis = 1,")
ROWS_ADD = SCATTER.clause("output[indices[i][j]][j] += updates[i][j] if axis = 0,", since=16, before=18)
COLUMNS_ADD = SCATTER.clause("output[i][indices[i][j]] += updates[i][j] if axis = 1,", since=16, before=18)
ROWS_MUL = SCATTER.clause("output[indices[i][j]][j] *= updates[i][j] if axis = 0,", since=16, before=18)
COLUMNS_MUL = SCATTER.clause("output[i][indices[i][j]] *= updates[i][j] if axis = 1,", since=16, before=18)
ROWS_F = SCATTER.clause("output[indices[i][j]][j] = f(output[indices[i][j]][j], updates[i][j]) if axis = 0,", since=18)
COLUMNS_F = SCATTER.clause(
    "output[i][indices[i][j]] = f(output[i][indices[i][j]], updates[i][j]) if axis = 1,", since=18
)
F = SCATTER.clause("where the `f` is `+`, `*`, `max` or `min` as specified.", since=18)
MAX_MIN = SCATTER.clause("(Opset 18 change): Adds max/min to the set of allowed reduction ops.", since=18)
EXAMPLE_1 = SCATTER.clause(
    "data = [ [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], ] indices = [ [1, 0, 2], [0, 2, 1], ] "
    "updates = [ [1.0, 1.1, 1.2], [2.0, 2.1, 2.2], ]"
)
EXAMPLE_2 = SCATTER.clause(
    "data = [[1.0, 2.0, 3.0, 4.0, 5.0]] indices = [[1, 3]] updates = [[1.1, 2.1]] axis = 1 "
    "output = [[1.0, 1.1, 3.0, 2.1, 5.0]]"
)
DATA_RANK = SCATTER.clause("Tensor of rank r >= 1.")
SAME_RANK = SCATTER.clause("Tensor of int32/int64 indices, of r >= 1 (same rank as input).")
BOUNDS = SCATTER.clause("All index values are expected to be within bounds [-s, s-1] along axis of size s.")
ERROR = SCATTER.clause("It is an error if any of the index values are out of bounds.")
SAME_SHAPE = SCATTER.clause("Tensor of rank r >=1 (same rank and shape as indices)")
OUTPUT_RANK = SCATTER.clause("Tensor of rank r >= 1 (same rank as input).")
WHICH = SCATTER.clause("Which axis to scatter on.")
BACK = SCATTER.clause("Negative value means counting dimensions from the back.")
RANGE = SCATTER.clause("Accepted range is [-r, r-1] where r = rank(data).")
KINDS = SCATTER.clause("Type of reduction to apply: none (default), add, mul", since=16)
NO_REDUCTION = SCATTER.clause("'none': no reduction applied.", since=16)
INTEGERS = SCATTER.clause("Constrain indices to integer types")


def _require_places(v: Version, data: Array, indices: Array, updates: Array, axis: int) -> None:
    v.require(RANKS, data.ndim >= 1)
    v.require(SAME_RANK, indices.ndim == data.ndim)
    v.require(SAME_SHAPE, updates.shape == indices.shape)
    v.require(RANGE, -data.ndim <= axis < data.ndim)
    size = data.shape[axis]
    v.require(ERROR, bool(((-size <= indices) & (indices < size)).all()))
    v.silent(TARGET, bool((targets(indices, axis) >= np.reshape(data.shape, (-1, 1))).any()))


def _has_duplicates(shape: tuple[int, ...], indices: Array, axis: int) -> bool:
    return bool(repeats(targets(indices, axis), shape).any())


@SCATTER.oracle(before=16)
def scattered(v: Version, data: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Return a copy of `data` in which every entry of `updates` is written to its target."""
    _require_places(v, data, indices, updates, axis)
    v.silent(WRITES, _has_duplicates(data.shape, indices, axis))
    output = data.copy()
    output[tuple(targets(indices, axis))] = updates.reshape(-1)
    return output


@SCATTER.oracle(since=16)
def reduced(v: Version, data: Array, indices: Array, updates: Array, axis: int, reduction: str) -> Array:
    """Return a copy of `data` in which every entry of `updates` is written to its target, or reduced into it."""
    _require_places(v, data, indices, updates, axis)
    v.permit(MAX_MIN, reduction in {"max", "min"})
    v.silent(KINDS, reduction != "none" and reduction not in OPERATIONS)
    output = data.copy()
    if reduction == "none":
        v.require(DUPLICATES, not _has_duplicates(data.shape, indices, axis))
    else:
        v.silent(REDUCES, data.dtype.kind in "bO" or (data.dtype.kind == "c" and reduction in {"max", "min"}))
    for numbers, target in rounds(targets(indices, axis), data.shape):
        old, new = output[target], updates.reshape(-1)[numbers]
        output[target] = new if reduction == "none" else reduced_into(v, REDUCES, reduction, old, new)
    return output


case = SCATTER.case

TWO_ROWS, UPDATES = [[1, 0, 2], [0, 2, 1]], [[1.0, 1.1, 1.2], [2.0, 2.1, 2.2]]
case("example_1", data=np.zeros((3, 3)), indices=TWO_ROWS, updates=UPDATES, cites=(EXAMPLE_1, WRITES, TARGET))
case(
    "example_2",
    data=[[1.0, 2.0, 3.0, 4.0, 5.0]],
    indices=[[1, 3]],
    updates=[[1.1, 2.1]],
    axis=1,
    cites=(EXAMPLE_2, COLUMNS_NONE),
)
FEWER: dict[str, Any] = {"data": ramp(4, 3), "indices": [[3, 0], [-2, 1]], "updates": [[50, 60], [70, 80]]}
case("rows", **FEWER, axis=0, cites=(ROWS_NONE, OUTPUT_SHAPE))
case("columns", data=ramp(3, 4), indices=[[3], [0]], updates=[[50], [60]], axis=1, cites=(COLUMNS_NONE, WHICH))
case("vector", data=ramp(5), indices=[4, 1], updates=[50, 60], cites=(SAME_RANK, SAME_SHAPE, DATA_RANK))
case("all_elements", Tag.EDGE, data=ramp(3), indices=[2, 0, 1], updates=[50, 60, 70], cites=WRITES)
case("one_element", Tag.EDGE, data=ramp(1), indices=[0], updates=[50], cites=OUTPUT_RANK)
case("no_updates", Tag.EDGE, data=ramp(3, 2), indices=np.zeros((0, 2)), updates=ramp(0, 2), cites=OUTPUT_SHAPE)
case("no_data", Tag.EDGE, data=ramp(0, 2), indices=np.zeros((0, 2)), updates=ramp(0, 2), cites=OUTPUT_SHAPE)
case("negative", Tag.EDGE, data=ramp(4), indices=[-1, -4, 2], updates=[50, 60, 70], cites=BOUNDS)
case("index_type", Tag.DTYPE, each="Tind", data=ramp(4), indices=[3, -3], updates=[50, 60], cites=INTEGERS)
axis_cases(SCATTER, rank=RANKS, back=BACK, in_range=RANGE, ranks=(0, 3))
WRONG: dict[str, Any] = {
    "too_high": [4],
    "too_low": [-5],
    "beyond_32_bits": typed("int64", [2**32]),
    "below_32_bits": typed("int64", [-(2**32) + 1]),
    "greatest_int32": typed("int32", [2**31 - 1]),
}
for name, indices in WRONG.items():
    case(f"index_{name}", Tag.EDGE, data=ramp(4), indices=indices, updates=[50], rejects=ERROR)
case("index_too_high_other_axis", data=ramp(4, 2), indices=[[2]], updates=[[50]], axis=1, rejects=ERROR)
case("index_of_no_data", Tag.EDGE, data=ramp(0), indices=[0], updates=[50], rejects=ERROR)
case("rank0", Tag.EDGE, data=ramp(), indices=0, updates=50, rejects=RANKS)
case("other_rank", data=ramp(3, 2), indices=[1], updates=[50], rejects=SAME_RANK)
case("updates_of_other_shape", data=ramp(4), indices=[1, 2], updates=[50], rejects=SAME_SHAPE)
case("updates_of_other_rank", data=ramp(4), indices=[1, 2], updates=[[50, 60]], rejects=SAME_SHAPE)
case("more_columns", Tag.EDGE, data=ramp(2, 2), indices=[[0, 1, 0]], updates=[[50, 60, 70]], unspecified=TARGET)
TWICE: dict[str, Any] = {"data": ramp(4), "indices": [2, -2], "updates": [50, 60]}
case("index_twice_before_16", Tag.EDGE, **TWICE, unspecified=WRITES, before=16)
case("index_twice", Tag.EDGE, **TWICE, rejects=DUPLICATES)
# -1 and 0 are the same row of one.
OF_ONE: dict[str, Any] = {"data": ramp(1, 2), "indices": [[0, 0], [-1, 0]], "updates": [[5, 6], [7, 8]]}
case("index_twice_on_axis_of_one", Tag.EDGE, **OF_ONE, rejects=DUPLICATES)

ONTO: dict[str, Any] = {"data": [[8, 3, 4], [5, 6, 7]], "indices": [[1, 0], [0, -1]], "updates": [[2, 5], [9, 4]]}
ALONG: dict[str, Any] = {"data": [[8, 3, 4], [5, 6, 7]], "indices": [[2, 0], [1, 2]], "updates": [[2, 9], [5, 3]]}
SAME: dict[str, Any] = {"data": [8, 3, 4, 5], "indices": [2, 0, 2, -2, 3], "updates": [2, 9, 5, 3, 1]}
case("none", **ONTO, reduction="none", cites=(KINDS, NO_REDUCTION, ROWS_NONE))
FORMULAS = {"add": (ROWS_ADD, COLUMNS_ADD), "mul": (ROWS_MUL, COLUMNS_MUL)}
for name in OPERATIONS:
    for rows, columns in ((ROWS_F, COLUMNS_F), *((FORMULAS[name],) if name in FORMULAS else ())):
        suffix = "_before_18" if rows.before else ""
        extra = (F, MAX_MIN) if name not in FORMULAS else (F,) if not suffix else ()
        case(f"{name}_rows{suffix}", **ONTO, reduction=name, cites=(rows, *extra))
        case(f"{name}_columns{suffix}", **ALONG, axis=1, reduction=name, cites=(columns, *extra))
    needed = (MAX_MIN,) if name not in FORMULAS else ()
    case(f"{name}_same_element", **SAME, reduction=name, cites=(REDUCES, *needed))
    infinite: dict[str, Any] = {"data": [np.inf, 1.5, -np.inf], "indices": [0, 1, 2], "updates": [2.5, -np.inf, 2.5]}
    case(f"{name}_infinite", Tag.EDGE, **infinite, reduction=name, cites=(REDUCES, *needed))
    fractions: dict[str, Any] = {"data": [0.1, 0.7], "indices": [1, 0, 1], "updates": [0.3, -0.2, 1.1]}
    case(f"{name}_fractions", **fractions, reduction=name, cites=(REDUCES, *needed))
    case(f"{name}_no_updates", Tag.EDGE, data=ramp(3), indices=np.zeros(0), updates=ramp(0), reduction=name,
         cites=(REDUCES, *needed))  # fmt: skip
    if name in {"mul", "min"}:
        continue  # Types are tested with add and max.
    numbers = ("bool", "string") if name in FORMULAS else ("bool", "string", "complex64", "complex128")
    case(f"{name}_type", Tag.DTYPE, each="T", but=numbers, **SAME, reduction=name, cites=(REDUCES, *needed))
    true = typed("bool", [True, True])
    truths: dict[str, Any] = {"data": typed("bool", [True, False]), "indices": [0, 1], "updates": true}
    case(f"{name}_truths", Tag.DTYPE, **truths, reduction=name, unspecified=REDUCES, since=18)
    texts: dict[str, Any] = {"data": typed("string", ["a", "b"]), "indices": [0], "updates": typed("string", ["c"])}
    case(f"{name}_texts", Tag.DTYPE, **texts, reduction=name, unspecified=REDUCES, since=18)
for name in ("max", "min"):
    case(f"{name}_before_18", Tag.CHANGE, **SAME, reduction=name, unspecified=MAX_MIN, since=16, before=18)
    ordered: dict[str, Any] = {"data": [np.nan, 1.0], "indices": [0], "updates": [2.0], "reduction": name}
    case(f"{name}_nan", Tag.EDGE, **ordered, unspecified=REDUCES, since=18)
    signs: dict[str, Any] = {"data": [0.0, -3.0], "indices": [0, 1], "updates": [-3.0, 0.0], "reduction": name}
    case(f"{name}_zero_and_negative", Tag.EDGE, **signs, cites=(REDUCES, MAX_MIN))
    zeros: dict[str, Any] = {"data": [0.0, 1.0], "indices": [0], "updates": [-0.0], "reduction": name}
    case(f"{name}_zeros", Tag.EDGE, **zeros, unspecified=REDUCES, since=18)
    pair: dict[str, Any] = {"data": typed("complex64", [1j, 2]), "indices": [0], "updates": typed("complex64", [1])}
    case(f"{name}_complex", Tag.DTYPE, **pair, reduction=name, unspecified=REDUCES, since=18)
for name in ("add", "mul"):
    nan: dict[str, Any] = {"data": [np.nan, 1.0, 2.0], "indices": [0, 1], "updates": [2.0, np.nan], "reduction": name}
    case(f"{name}_nan", Tag.EDGE, **nan, cites=REDUCES)
    over: dict[str, Any] = {"data": typed("int8", [100, 3]), "indices": [0], "updates": typed("int8", [50])}
    case(f"{name}_overflow", Tag.EDGE, **over, reduction=name, unspecified=REDUCES, since=16)
both: dict[str, Any] = {"data": typed("int8", [100, 3]), "indices": [0, 1], "updates": typed("int8", [50, 4])}
case("add_overflow_in_part", Tag.EDGE, **both, reduction="add", unspecified=REDUCES, since=16)
case("other_reduction", Tag.EDGE, **SAME, reduction="mean", unspecified=KINDS, since=16)
case("extremes_of_updates", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(14), indices=np.arange(11)[::-1],
     updates=extremes(11), cites=WRITES)  # fmt: skip
case("extremes_of_data", Tag.EDGE, data=extremes(12), indices=[10, 3], updates=ramp(2), cites=WRITES)

LINES: dict[str, tuple[int, Dims, Dims, list[dict[str, int]]]] = {
    "vector": (0, ("n",), ("k",), grid(n=(129, 4097), k=(1, 16, 129))),
    "first": (0, ("n", "w"), ("k", "w"), grid(n=(33, 65), w=(5, 16), k=(1, 33))),
    "middle": (1, ("b", "n", "w"), ("b", "k", "w"), grid(b=(2,), n=(33,), w=(5, 16), k=(16, 33))),
    "last": (-1, ("m", "n"), ("m", "k"), grid(m=(7,), n=(33, 129), k=(1, 16, 33))),
}
"""The axis, the dimensions of the data and of the updates, and the sizes."""
for name, (along, dims, of_updates, sizes) in LINES.items():
    SCATTER.sized(
        name,
        sizes,
        each="T" if name == "last" else None,
        cites=(WRITES, TARGET),
        arguments={
            "data": filled(*dims),
            "indices": indices_of("n", *of_updates, back=name == "last", distinct=along),
            "updates": filled(*of_updates),
            "axis": along,
        },
    )
    for reduction in OPERATIONS:
        SCATTER.sized(
            f"{name}_{reduction}",
            [{**some, "k": 2 * some["n"]} for some in sizes[:: len(sizes) // 2]],
            each="T" if name == "last" and reduction == "add" else None,
            but=("bool", "string"),
            cites=(REDUCES, F),
            arguments={
                "data": filled(*dims),
                "indices": indices_of("n", *of_updates),
                "updates": filled(*of_updates, floats=(0.5, 1.5)),
                "axis": along,
                "reduction": reduction,
            },
        )
SCATTER.sized(
    "large",
    grid(m=(129,), n=(513,), k=(257,)),
    cites=(WRITES, TARGET),
    arguments={
        "data": filled("m", "n"),
        "indices": indices_of("n", "m", "k", distinct=1),
        "updates": filled("m", "k"),
        "axis": 1,
    },
)
