# SPDX-License-Identifier: Apache-2.0
"""ReverseSequence: reverse the first elements of each sequence of a batch.

    Y = ReverseSequence(input, sequence_lens, batch_axis=1, time_axis=0)

Versions: 10, 28 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, vary
from onnx_conformance.declare.sizes import filled, grid, indices_of

REVERSE = Op("ReverseSequence", versions=(10, 28), compare=EXACT, rank="input", widens=False)
REVERSE.example(input=ramp(3, 4, 2), sequence_lens=[2, 4, 3], batch_axis=0, time_axis=1)

BATCH = REVERSE.clause("Reverse batch of sequences having different lengths specified by `sequence_lens`.")
REVERSES = REVERSE.clause(
    "For each slice i iterating on batch axis, the operator reverses the first sequence_lens[i] elements on time axis, "
    "and copies elements whose index's beyond sequence_lens[i] to the output.",
    note="The text does not define a negative length, a length greater than the number of elements, or the same axis "
    "for both.",
)
CONTAINS = REVERSE.clause(
    "So the output slice i contains reversed sequences on the first sequence_lens[i] elements, then have original "
    "values copied for the other elements."
)
EXAMPLE_1 = REVERSE.clause(
    "sequence_lens = [4, 3, 2, 1] time_axis = 0 batch_axis = 1 output = [[3.0, 6.0, 9.0, 12.0], [2.0, 5.0, 8.0, 13.0], "
    "[1.0, 4.0, 10.0, 14.0], [0.0, 7.0, 11.0, 15.0]]"
)
EXAMPLE_2 = REVERSE.clause(
    "sequence_lens = [1, 2, 3, 4] time_axis = 1 batch_axis = 0 output = [[0.0, 1.0, 2.0, 3.0 ], [5.0, 4.0, 6.0, 7.0 ], "
    "[10.0, 9.0, 8.0, 11.0], [15.0, 14.0, 13.0, 12.0]]"
)
BATCH_AXIS = REVERSE.clause("Specify which axis is batch axis. Must be one of 1 (default), or 0.")
TIME_AXIS = REVERSE.clause("Specify which axis is time axis. Must be one of 0 (default), or 1.")
RANK = REVERSE.clause("Tensor of rank r >= 2.")
LENGTHS = REVERSE.clause("It has shape `[batch_size]`.")
SAME_SHAPE = REVERSE.clause("Tensor with same shape of input.")


@REVERSE.oracle()
def reversed_sequences(v: Version, input: Array, sequence_lens: Array, batch_axis: int, time_axis: int) -> Array:
    """Return the input with the first elements in time of each slice of the batch reversed."""
    v.require(RANK, input.ndim >= 2)  # noqa: PLR2004 - the text's own number
    v.require(BATCH_AXIS, batch_axis in {0, 1})
    v.require(TIME_AXIS, time_axis in {0, 1})
    v.silent(REVERSES, batch_axis == time_axis)
    v.require(LENGTHS, sequence_lens.shape == (input.shape[batch_axis],))
    v.silent(REVERSES, bool(((sequence_lens < 0) | (sequence_lens > input.shape[time_axis])).any()))
    output = input.copy()
    for index, length in enumerate(map(int, sequence_lens)):
        before = np.moveaxis(input, (batch_axis, time_axis), (0, 1))[index, :length]
        np.moveaxis(output, (batch_axis, time_axis), (0, 1))[index, :length] = before[::-1]
    return output


case = REVERSE.case
SQUARE = np.arange(16.0).reshape(4, 4)
BY_TIME: dict[str, Any] = {"time_axis": 0, "batch_axis": 1}
BY_BATCH: dict[str, Any] = {"time_axis": 1, "batch_axis": 0}

case("example_1", input=SQUARE.T, sequence_lens=[4, 3, 2, 1], **BY_TIME, cites=(EXAMPLE_1, BATCH))
case("example_2", input=SQUARE, sequence_lens=[1, 2, 3, 4], **BY_BATCH, cites=(EXAMPLE_2, BATCH))
case("default", input=SQUARE.T, sequence_lens=[4, 3, 2, 1], cites=(BATCH_AXIS, TIME_AXIS))
case("batch_axis_set", input=SQUARE.T, sequence_lens=[2, 3, 0, 1], batch_axis=1, cites=BATCH_AXIS)
case("time_axis_set", input=SQUARE.T, sequence_lens=[2, 3, 0, 1], time_axis=0, cites=TIME_AXIS)
for name, axes, batch in (("time_first", BY_TIME, 5), ("batch_first", BY_BATCH, 3)):
    lengths = {3: [2, 5, 4], 5: [3, 1, 2, 0, 3]}[batch]
    for rank in (2, 3, 4):
        data = ramp(*(3, 5, 2, 4)[:rank])
        case(f"{name}_rank_{rank}", input=data, sequence_lens=lengths, **axes, cites=(REVERSES, CONTAINS, SAME_SHAPE))
    plane, time = ramp(3, 5), 8 - batch
    for kind, value in {"none": 0, "ones": 1, "all": time, "all_but_one": time - 1, "two": 2}.items():
        case(f"{name}_{kind}", Tag.EDGE, input=plane, sequence_lens=[value] * batch, **axes, cites=(REVERSES, CONTAINS))
    one = ramp(4, 1) if batch == 5 else ramp(1, 4)  # noqa: PLR2004 - which of the two it is
    case(f"{name}_one_sequence", Tag.EDGE, input=one, sequence_lens=[3], **axes, cites=REVERSES)
    no_time = ramp(0, 3) if batch == 5 else ramp(3, 0)  # noqa: PLR2004 - which of the two it is
    case(f"{name}_no_time", Tag.EDGE, input=no_time, sequence_lens=[0, 0, 0], **axes, cites=SAME_SHAPE)
    no_batch = ramp(3, 0) if batch == 5 else ramp(0, 3)  # noqa: PLR2004 - which of the two it is
    case(f"{name}_no_batch", Tag.EDGE, input=no_batch, sequence_lens=[], **axes, cites=SAME_SHAPE)
    short, long = [1] * (batch - 1), [1] * (batch + 1)
    column = [[1]] * batch
    kinds = vary(short=short, long=long, scalar=1, one=[1], column=column)
    case(f"{name}_lengths", Tag.EDGE, input=plane, sequence_lens=kinds, **axes, rejects=LENGTHS)
    for kind, value in {"too_long": time + 1, "negative": -1, "beyond_32_bits": 2**32 + 1}.items():
        beyond = [1] * (batch - 1) + [value]
        case(f"{name}_{kind}", Tag.EDGE, input=plane, sequence_lens=beyond, **axes, unspecified=REVERSES)
case("no_features", Tag.EDGE, input=ramp(3, 5, 0), sequence_lens=[2, 5, 4], **BY_BATCH, cites=SAME_SHAPE)
case("long", input=np.arange(134).reshape(67, 2), sequence_lens=[67, 34], cites=REVERSES)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(6, 2), sequence_lens=[6, 5], cites=REVERSES)
AXES = vary(two=2, negative=-1)
case("batch_axis", Tag.AXIS, input=ramp(3, 3, 3), sequence_lens=[1, 2, 3], batch_axis=AXES, rejects=BATCH_AXIS)
case("time_axis", Tag.AXIS, input=ramp(3, 3, 3), sequence_lens=[1, 2, 3], time_axis=AXES, rejects=TIME_AXIS)
case("one_axis", Tag.AXIS, input=ramp(3, 3), sequence_lens=[1, 2, 3], batch_axis=0, time_axis=0, unspecified=REVERSES)
case("rank1", Tag.EDGE, input=ramp(3), sequence_lens=[1], rejects=RANK)
case("rank0", Tag.EDGE, input=ramp(), sequence_lens=[1], rejects=RANK)

for name, (dims, axes) in {
    "time_first": (("t", "b", "n"), BY_TIME),
    "batch_first": (("b", "t", "n"), BY_BATCH),
}.items():
    REVERSE.sized(
        name,
        grid(b=(8,), t=(7, 33, 129), n=(1, 16, 65)),
        each="T" if name == "time_first" else None,
        cites=(REVERSES, CONTAINS),
        arguments={"input": filled(*dims), "sequence_lens": indices_of("t", "b"), **axes},
    )
