# SPDX-License-Identifier: Apache-2.0
"""SplitToSequence: split a tensor into a sequence of tensors along an axis.

    output_sequence = SplitToSequence(input, split=1, axis=0, keepdims=1)

Versions: 11, 24 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Int,
    Ints,
    Op,
    Tag,
    Version,
    axes,
    axes_outside,
    extremes,
    ramp,
    sequence_of,
    vary,
)
from onnx_conformance.declare.sizes import Dims, Sizes, filled, grid

SPLIT_TO_SEQUENCE = Op("SplitToSequence", versions=(11, 24), compare=EXACT, derives={"S": sequence_of("T")})
SPLIT_TO_SEQUENCE.example(input=ramp(3, 8, 5), split=[2, 6], axis=1, keepdims=0)

DEFAULT = SPLIT_TO_SEQUENCE.clause(
    "If the argument `split' is not specified, a default scalar value of 1 is used as the value of `split'.",
    see=("https://github.com/onnx/onnx/issues/4847",),
)
POSITIVE = SPLIT_TO_SEQUENCE.clause(
    "'split' must contain only positive numbers.",
    note="The text also contains «All values must be >= 0.». A scalar 0 is not a chunk size, so it is rejected. Zeros "
    "in a 1-D 'split' are allowed by one sentence and forbidden by the other, so they are not scored.",
    see=("https://github.com/onnx/onnx/issues/6356", "https://github.com/onnx/onnx/issues/7702"),
)
NOT_NEGATIVE = SPLIT_TO_SEQUENCE.clause("All values must be >= 0.")
RANK = SPLIT_TO_SEQUENCE.clause("'split' is either a scalar (tensor of empty shape), or a 1-D tensor.")
CHUNKS = SPLIT_TO_SEQUENCE.clause(
    "If 'split' is a scalar, then 'input' will be split into chunks all of size 'split' if possible.",
    note="A dimension of 0 is split into no chunks, although the text also contains «One or more outputs forming a "
    "sequence of tensors after splitting».",
)
LAST = SPLIT_TO_SEQUENCE.clause(
    "The last chunk alone may be smaller than 'split' if the 'input' size along the given axis 'axis' is not "
    "divisible by 'split'."
)
LENGTHS = SPLIT_TO_SEQUENCE.clause(
    "If 'split' is a 1-dimensional tensor, the input tensor is split into 'size(split)' chunks, with lengths of "
    "the parts on 'axis' specified in 'split'.",
    note="ONNX's shape inference rejects an empty 'split', although a dimension of 0 has no parts.",
)
SUM = SPLIT_TO_SEQUENCE.clause(
    "In this scenario, the sum of entries in 'split' must be equal to the dimension size of input tensor on 'axis'."
)
KEEP = SPLIT_TO_SEQUENCE.clause("Keep the split dimension or not. Default 1, which means we keep split dimension.")
IGNORED = SPLIT_TO_SEQUENCE.clause(
    "If input 'split' is specified, this attribute is ignored.",
    note='An input named "" is not specified.',
    see=("https://github.com/onnx/onnx/issues/8449",),
)
BACK = SPLIT_TO_SEQUENCE.clause("A negative value means counting dimensions from the back.")
RANGE = SPLIT_TO_SEQUENCE.clause("Accepted range is [-rank, rank-1].")
AXIS = SPLIT_TO_SEQUENCE.clause("Which axis to split on.")
INTEGRAL = SPLIT_TO_SEQUENCE.clause("Constrain split size to integral tensor.")


@SPLIT_TO_SEQUENCE.oracle()
def chunks(v: Version, input: Array, split: Ints, axis: int, keepdims: Int) -> list[Array]:
    """Return the sequence: chunks of one size, or parts with the lengths in `split`."""
    v.require(RANGE, -input.ndim <= axis < input.ndim)
    size = input.shape[axis]
    lengths = np.asarray(1 if split is None else split)
    v.require(RANK, lengths.ndim <= 1)
    v.require(NOT_NEGATIVE, bool((lengths >= 0).all()))
    if lengths.ndim == 0:
        v.require(POSITIVE, bool(lengths > 0))
        starts = list(range(0, size, int(lengths)))
    else:
        v.silent(POSITIVE, bool((lengths == 0).any()))
        v.silent(LENGTHS, lengths.size == size == 0)
        v.require(SUM, int(lengths.sum()) == size)
        starts = [int(start) for start in np.cumsum(lengths) - lengths]
    parts = np.split(input, starts[1:], axis) if starts else []
    if split is None:
        v.silent(KEEP, keepdims not in {0, 1})
        return [part.squeeze(axis) for part in parts] if keepdims == 0 else parts
    return parts


case = SPLIT_TO_SEQUENCE.case

case("default", input=ramp(3, 2), cites=DEFAULT)
case("default_columns", input=ramp(2, 3), axis=1, cites=(DEFAULT, AXIS))
case("default_keepdims", input=ramp(3, 2), keepdims=1, cites=(DEFAULT, KEEP))
case("keepdims_zero", Tag.EDGE, input=ramp(3, 2), keepdims=0, cites=(DEFAULT, KEEP))
case("keepdims_zero_vector", Tag.EDGE, input=ramp(3), keepdims=0, cites=(DEFAULT, KEEP))
case("keepdims_zero_middle", Tag.EDGE, input=ramp(2, 3, 4), axis=1, keepdims=0, cites=(DEFAULT, KEEP))
case("keepdims_zero_last", Tag.EDGE, input=ramp(2, 3, 4), axis=-1, keepdims=0, cites=(DEFAULT, KEEP, BACK))
case("keepdims_zero_scalar_one", Tag.EDGE, input=ramp(3, 2), split=1, keepdims=0, cites=IGNORED)
case("keepdims_zero_scalar_two", Tag.EDGE, input=ramp(6, 2), split=2, keepdims=0, cites=IGNORED)
case("keepdims_zero_lengths", Tag.EDGE, input=ramp(6, 2), split=[2, 4], keepdims=0, cites=IGNORED)
case("keepdims_zero_lengths_one", Tag.EDGE, input=ramp(3, 2), split=[1, 1, 1], keepdims=0, cites=IGNORED)
case("keepdims_two", Tag.EDGE, input=ramp(3, 2), keepdims=2, unspecified=KEEP)

case("scalar", input=ramp(6), split=2, cites=CHUNKS)
case("scalar_one", input=ramp(3), split=1, cites=CHUNKS)
case("scalar_uneven", input=ramp(5), split=2, cites=LAST)
case("scalar_uneven_columns", input=ramp(2, 7), split=3, axis=1, cites=LAST)
case("scalar_whole", Tag.EDGE, input=ramp(5), split=5, cites=CHUNKS)
case("scalar_beyond", Tag.EDGE, input=ramp(5), split=7, cites=LAST)
case("scalar_zero", Tag.EDGE, input=ramp(5), split=0, rejects=POSITIVE)
case("scalar_negative", Tag.EDGE, input=ramp(5), split=-1, rejects=NOT_NEGATIVE)

case("lengths", input=ramp(3, 6), split=[2, 4], axis=1, cites=(LENGTHS, SUM))
case("lengths_one", Tag.EDGE, input=ramp(6), split=[6], cites=LENGTHS)
case("lengths_all", Tag.EDGE, input=ramp(6), split=[1] * 6, cites=LENGTHS)
case("lengths_zero", Tag.EDGE, input=ramp(6), split=[2, 0, 4], unspecified=POSITIVE)
case("lengths_zero_last", Tag.EDGE, input=ramp(6), split=[6, 0], unspecified=POSITIVE)
case("lengths_all_zero", Tag.EDGE, input=ramp(0), split=[0, 0], unspecified=POSITIVE)
case("lengths_negative", Tag.EDGE, input=ramp(6), split=[7, -1], rejects=NOT_NEGATIVE)
case("lengths_short", input=ramp(5), split=[2], rejects=SUM)
case("lengths_long", input=ramp(5), split=[2, 4], rejects=SUM)
case("lengths_none", Tag.EDGE, input=ramp(5), split=[], rejects=SUM)
case("lengths_none_dim_zero", Tag.EDGE, input=ramp(0), split=[], unspecified=LENGTHS)
case("split_matrix", Tag.EDGE, input=ramp(6), split=[[2, 4]], rejects=RANK)

case("dim_zero", Tag.EDGE, input=ramp(0, 2), cites=DEFAULT)
case("dim_zero_keepdims_zero", Tag.EDGE, input=ramp(0, 2), keepdims=0, cites=(DEFAULT, KEEP))
case("dim_zero_scalar", Tag.EDGE, input=ramp(0, 2), split=2, cites=CHUNKS)
case("other_dim_zero", Tag.EDGE, input=ramp(3, 0), split=2, cites=LAST)

case("extremes", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(12), split=5, cites=LAST)
case("split_dtypes_scalar", Tag.DTYPE, each="I", input=ramp(5), split=2, cites=INTEGRAL)
case("split_dtypes_lengths", Tag.DTYPE, each="I", input=ramp(6), split=[2, 4], cites=INTEGRAL)
case("split_outside", Tag.DTYPE, outside="I", input=ramp(2), split=vary(scalar=1, lengths=[1, 1]), rejects=INTEGRAL)


for name, shape, axis in axes():
    case(name, Tag.AXIS, input=ramp(*shape), split=2, axis=axis, cites=(BACK, RANGE) if axis < 0 else (AXIS,))
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, input=ramp(*shape), axis=axis, rejects=RANGE)

PLACES: dict[str, tuple[int, Dims, dict[str, Any]]] = {
    "vector": (0, ("n",), {}),
    "first": (0, ("n", "w"), {"w": (16,)}),
    "middle": (1, ("b", "n", "w"), {"b": (3,), "w": (5,)}),
    "last": (-1, ("b", "n"), {"b": (7,)}),
}
"""The axis, the dimensions of the input, and the sizes of the others, by the place of the axis."""
CHUNKED = [(1, 100), (2, 64), (3, 64), (7, 257), (8, 256), (16, 1000), (33, 1025), (64, 65), (100, 33)]
"""Sizes of chunks, and lengths: multiples of them, others, and one that is smaller."""


def _uneven(sizes: Sizes) -> list[int]:
    """Return lengths from 1 to 7 in turn; the last part has the rest."""
    lengths = [index * 5 % 7 + 1 for index in range(sizes["parts"] - 1)]
    return [*lengths, sizes["n"] - sum(lengths)]


for name, (axis, dims, others) in PLACES.items():
    SPLIT_TO_SEQUENCE.sized(
        f"{name}_chunks",
        [{"chunk": chunk, "n": n, **sizes} for chunk, n in CHUNKED for sizes in grid(**others)],
        each="T" if name in {"vector", "last"} else None,
        cites=(CHUNKS, LAST),
        arguments={"input": filled(*dims), "split": lambda sizes: sizes["chunk"], "axis": axis},
    )
    SPLIT_TO_SEQUENCE.sized(
        f"{name}_lengths",
        [
            {"parts": parts, "n": n, **sizes}
            for parts, n in ((2, 17), (3, 64), (5, 129), (16, 257), (100, 1025))
            for sizes in grid(**others)
        ],
        each="T" if name in {"middle", "first"} else None,
        cites=LENGTHS,
        arguments={"input": filled(*dims), "split": _uneven, "axis": axis},
    )
    for kept in (0, 1):
        SPLIT_TO_SEQUENCE.sized(
            f"{name}_ones_{'kept' if kept else 'pruned'}",
            [{"n": n, **sizes} for n in (33, 129) for sizes in grid(**others)],
            cites=(DEFAULT, KEEP),
            arguments={"input": filled(*dims), "axis": axis, "keepdims": kept},
        )
SPLIT_TO_SEQUENCE.sized(
    "large",
    [{"chunk": chunk, "n": 1000, "w": 131} for chunk in (7, 300)],
    cites=(CHUNKS, LAST),
    arguments={"input": filled("w", "n"), "split": lambda sizes: sizes["chunk"], "axis": 1},
)
