# SPDX-License-Identifier: Apache-2.0
"""Tile: repeat a tensor along its axes.

    output = Tile(input, repeats)
    output = Tile(input, tiles, axis)    # before version 6

Versions: 1 (one axis), 6 (all of them), 13 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import Dims, filled, grid

TILE = Op("Tile", versions=(1, 6, 13), compare=EXACT, rank="input", widens=False)
TILE.example(input=ramp(2, 3), tiles=1, axis=1, repeats=[2, 3])
TILE.excuse("type T1 tensor(int64)", "version 1 constrains a type that none of its inputs and outputs has")

ALONG_AXIS = TILE.clause(
    "Repeat the elements of a tensor along an axis.",
    before=6,
    note="The text does not define whether each element or the whole sequence is repeated.",
)
COPIES = TILE.clause(
    "Number of repeated copies to make of the input tensor.",
    before=6,
    note="The text does not define the shape, or negative numbers.",
)
AXIS = TILE.clause(
    "Axis along which to repeat.", before=6, note="The text does not define the shape, or negative axes."
)
SAME_SHAPE_OUTPUT = TILE.clause(
    "Output tensor of same shape and type as input.", before=6, note="This is only true for one copy."
)
CONSTRUCTS = TILE.clause("Constructs a tensor by tiling a given tensor.", since=6)
LIKE_NUMPY = TILE.clause("This is the same as function `tile` in Numpy, but no broadcast.", since=6)
EXAMPLE = TILE.clause(
    "For example A = [[1, 2], [3, 4]], B = [1, 2], tile(A, B) = [[1, 2, 1, 2], [3, 4, 3, 4]]", since=6
)
REPEATS = TILE.clause(
    "1D int64 tensor of the same length as input's dimension number, includes numbers of repeated copies along input's "
    "dimensions.",
    since=6,
    note="The text does not define negative numbers.",
)
OUTPUT = TILE.clause(
    "Output tensor of the same dimensions and type as tensor input. output_dim[i] = input_dim[i] * repeats[i]",
    since=6,
    note="The output has the same number of dimensions.",
)


@TILE.oracle(before=6)
def copied(v: Version, input: Array, tiles: Array, axis: Array) -> Array:
    """Return the input. Only one copy is specified."""
    v.silent(COPIES, tiles.size != 1)
    v.silent(AXIS, axis.size != 1)
    v.silent(AXIS, not float(axis.item()) >= 0 or float(axis.item()) != int(axis.item()))
    v.require(AXIS, float(axis.item()) < input.ndim)
    v.silent(SAME_SHAPE_OUTPUT, float(tiles.item()) != 1)
    return input


@TILE.oracle(since=6)
def tiled(v: Version, input: Array, repeats: Array) -> Array:
    """Return each element i of an axis at i, i + size, i + 2 * size, ..."""
    v.require(REPEATS, repeats.shape == (input.ndim,))
    v.silent(REPEATS, bool((repeats < 0).any()))
    output = input
    for axis, (size, times) in enumerate(zip(input.shape, map(int, repeats), strict=True)):
        places = np.arange(size * times) % size if size else np.arange(0)
        output = output.take(places, axis)
    return output


case = TILE.case

for name, shape in {"matrix": (2, 3), "vector": (4,), "cube": (2, 3, 4), "zero_size": (2, 0)}.items():
    for axis in range(len(shape)):
        one: dict[str, Any] = {"input": ramp(*shape), "tiles": 1, "axis": axis}
        case(f"one_copy_{name}_axis_{axis}", Tag.CHANGE, **one, cites=(AXIS, COPIES, SAME_SHAPE_OUTPUT))
case("one_copy_dtypes", Tag.DTYPE, each="T", input=ramp(2, 3), tiles=1, axis=0, before=6, cites=ALONG_AXIS)
case("two_copies", Tag.CHANGE, input=ramp(2, 3), tiles=2, axis=1, unspecified=SAME_SHAPE_OUTPUT)
case("no_copy", Tag.EDGE, input=ramp(2, 3), tiles=0, axis=1, unspecified=SAME_SHAPE_OUTPUT)
case("tiles_vector", Tag.EDGE, input=ramp(2, 3), tiles=[1, 2], axis=1, unspecified=COPIES)
case("axis_vector", Tag.EDGE, input=ramp(2, 3), tiles=1, axis=[0, 1], unspecified=AXIS)
case("axis_fraction", Tag.EDGE, input=ramp(2, 3), tiles=1, axis=0.5, unspecified=AXIS)
case("axis_from_back", Tag.EDGE, input=ramp(2, 3), tiles=1, axis=-1, unspecified=AXIS)
case("axis_too_high", Tag.EDGE, input=ramp(2, 3), tiles=1, axis=2, rejects=AXIS)

case("example", input=[[1, 2], [3, 4]], repeats=[1, 2], cites=(EXAMPLE, LIKE_NUMPY, CONSTRUCTS))
for name, (shape, repeats) in {
    "vector": ((4,), [3]),
    "rows": ((2, 3), [4, 1]),
    "columns": ((2, 3), [1, 4]),
    "both": ((2, 3), [3, 2]),
    "once": ((2, 3), [1, 1]),
    "cube": ((2, 3, 4), [3, 1, 2]),
    "middle": ((2, 3, 4), [1, 2, 1]),
    "first": ((2, 3, 4), [5, 1, 1]),
    "last": ((2, 3, 4), [1, 1, 5]),
    "rank4": ((2, 1, 3, 2), [1, 3, 2, 2]),
    "rank5": ((1, 2, 1, 3, 2), [2, 1, 3, 1, 2]),
    "of_ones": ((1, 1, 1), [2, 3, 4]),
    "row_of_one": ((1, 4), [3, 1]),
    "column_of_one": ((4, 1), [1, 3]),
    "many": ((3,), [50]),
    "long": ((67, 2), [2, 3]),
}.items():
    case(name, input=ramp(*shape), repeats=repeats, cites=(OUTPUT, LIKE_NUMPY, REPEATS))
none: Any = typed("int64", [])
case("scalar", Tag.EDGE, input=7, repeats=none, cites=(OUTPUT, REPEATS))
for name, (shape, repeats) in {
    "none_of_first": ((2, 3), [0, 2]),
    "none_of_last": ((2, 3), [2, 0]),
    "none_of_all": ((2, 3), [0, 0]),
    "none_of_vector": ((3,), [0]),
    "of_nothing": ((0, 3), [2, 2]),
    "of_nothing_within": ((2, 0, 3), [2, 3, 1]),
    "none_of_nothing": ((0,), [0]),
}.items():
    case(name, Tag.EDGE, input=ramp(*shape), repeats=repeats, cites=OUTPUT)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(2, 6), repeats=[2, 3], since=6, cites=LIKE_NUMPY)
case("repeats", Tag.EDGE, input=ramp(2, 3), repeats=vary(short=[2], long=[1, 2, 3], none=none), rejects=REPEATS)
case("repeats_of_rank", Tag.EDGE, input=ramp(2, 3), repeats=vary(none=2, two=[[2, 3]]), rejects=REPEATS)
case("scalar_repeated", Tag.EDGE, input=7, repeats=[2], rejects=REPEATS)
case("vector_of_more", Tag.EDGE, input=ramp(3), repeats=[2, 2], rejects=REPEATS)
case("negative", Tag.EDGE, input=ramp(2, 3), repeats=[2, -1], unspecified=REPEATS)

TILED: dict[str, tuple[Dims, list[dict[str, int]], list[int]]] = {
    "vector": (("n",), grid(n=(1, 7, 64, 1025)), [5]),
    "rows": (("m", "n"), grid(m=(1, 9), n=(16, 65)), [17, 1]),
    "columns": (("m", "n"), grid(m=(17, 64), n=(1, 3, 16)), [1, 33]),
    "both": (("m", "n"), grid(m=(7,), n=(5, 16)), [3, 8]),
    "batch": (("b", "s", "d"), grid(b=(1, 2), s=(9,), d=(16, 33)), [8, 1, 1]),
    "groups_of_heads": (("b", "h", "r", "s", "d"), grid(b=(2,), h=(4,), r=(1,), s=(9,), d=(8, 64)), [1, 1, 3, 1, 1]),
    "image": (("b", "c", "h", "w"), grid(b=(1,), c=(3,), h=(7,), w=(8, 9)), [2, 1, 3, 4]),
}
"""The dimensions of the input, the sizes, and the numbers of copies."""
for name, (dims, sizes, copies) in TILED.items():
    TILE.sized(
        name,
        sizes,
        each="T" if name in {"vector", "columns"} else None,
        cites=(LIKE_NUMPY, OUTPUT),
        arguments={"input": filled(*dims), "repeats": copies},
    )
TILE.sized(
    "large",
    grid(m=(33,), n=(129,)),
    cites=(LIKE_NUMPY, OUTPUT),
    arguments={"input": filled("m", "n"), "repeats": [8, 4]},
)
