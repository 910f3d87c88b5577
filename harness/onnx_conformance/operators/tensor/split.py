# SPDX-License-Identifier: Apache-2.0
"""Split: cut a tensor into several along an axis.

    outputs = Split(input, split=None, axis=0, num_outputs=None)

Versions: 1 (lengths as attribute or as input of type T), 2 (lengths as attribute), 11 (axis from the back), 13 (lengths
as int64 input), 18 (num_outputs; the last chunk may be smaller).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Ints, Op, Tag, Version, axes, axes_outside, extremes, ramp, vary
from onnx_conformance.declare.sizes import Dims, Sizes, filled, grid

SPLIT = Op("Split", versions=(1, 2, 11, 13, 18), compare=EXACT, rank="input")
SPLIT.example(input=ramp(3, 8, 5), split=[2, 6], axis=1, n=2)
SPLIT.excuse("attribute axis unset", "version 1 has no default, and says nothing of splitting along no axis")

PARTS = SPLIT.clause(
    "Split a tensor into a list of tensors", note="Lengths that do not add up to the dimension do not describe a split."
)
WHICH_AXIS = SPLIT.clause("Which axis to split on")
CONTRADICTION = SPLIT.clause(
    "The lengths of the split can be specified using argument 'axis' or optional second input blob",
    before=2,
    note="Version 1 defines lengths in 'axis', has an attribute and an input with the same name, and has no default "
    "for 'axis'. Cases are specified only if 'axis' and one of the two lengths are present.",
    contradicts="Optional list of output lengths (see also arg 'split')",
)
LENGTHS_TYPE = SPLIT.clause("Optional list of output lengths (see also arg 'split')", before=2)
EQUAL = SPLIT.clause(
    "Otherwise, the tensor is split to equal sized parts.",
    before=18,
    note="A dimension that cannot be divided into equal parts cannot be split this way. onnx.reference makes the last "
    "part smaller in every version, but only version 18 defines that.",
    see=("https://github.com/onnx/onnx/issues/4438",),
)
LENGTH = SPLIT.clause(
    "length of each output", note="There is exactly one length for each output, and no length is negative."
)
NOT_NEGATIVE = SPLIT.clause("Values should be >= 0.", since=11, see=("https://github.com/onnx/onnx/pull/2544",))
BACK = SPLIT.clause("A negative value means counting dimensions from the back.", since=11)
RANGE = SPLIT.clause("Accepted range is [-rank, rank-1] where r = rank(input).", since=11)
SUM = SPLIT.clause("Sum of the values must be equal to the dim value at 'axis' specified.", since=13)
EITHER = SPLIT.clause(
    "Either input 'split' or the attribute 'num_outputs' should be specified, but not both.",
    since=18,
    see=("https://github.com/onnx/onnx/issues/4188",),
)
EVEN = SPLIT.clause(
    "If the attribute 'num_outputs' is specified, then the tensor is split into equal sized parts.", since=18
)
LAST = SPLIT.clause(
    "If the tensor is not evenly splittable into `num_outputs`, the last chunk will be smaller.",
    since=18,
    note="Only the last chunk is smaller, the other chunks are equal. An empty chunk is smaller too. If several sizes "
    "lead to a smaller last chunk, the other chunks are as small as possible: test_split_2d_uneven_split_opset18. The "
    "text does not define the split if there are too few elements for the other chunks.",
    see=("https://github.com/onnx/onnx/issues/5766", "https://github.com/microsoft/onnxruntime/issues/15882"),
)
COUNT = SPLIT.clause(
    "Number of outputs to split parts of the tensor into.",
    since=18,
    note="A node cannot have more outputs than there are parts. The text does not define a node with fewer outputs: it "
    "could omit the last ones, or contradict the attribute.",
    see=("https://github.com/onnx/onnx/pull/8255", "https://github.com/onnx/onnx/issues/4188"),
)
SIZES = SPLIT.clause("If the input 'split' is specified, it indicates the sizes of each output in the split.", since=18)
ONE_OR_MORE = SPLIT.clause("One or more outputs forming list of tensors after splitting")
FLOATS_ONLY = SPLIT.clause("Constrain input types to float tensors.", before=2)


def _from_front(v: Version, axis: Int, rank: int) -> int:
    """Return the axis counted from the front."""
    v.silent(CONTRADICTION, axis is None)
    assert axis is not None  # noqa: S101 - only version 1 has no default
    v.permit(BACK, axis < 0)
    v.require(RANGE if RANGE.in_force(v.since) else WHICH_AXIS, -rank <= axis < rank)
    return axis % rank


def _lengths(v: Version, n: int, split: Ints, size: int) -> list[int]:
    """Return the lengths of n parts of a dimension of this size. Raise if they do not describe a split."""
    lengths = np.asarray(split)
    v.silent(LENGTH, lengths.ndim != 1)
    v.silent(LENGTH, bool((lengths % 1).any()))
    v.require(NOT_NEGATIVE if NOT_NEGATIVE.in_force(v.since) else LENGTH, bool((lengths >= 0).all()))
    v.permit(NOT_NEGATIVE, bool((lengths == 0).any()))
    v.require(LENGTH, len(lengths) == n)
    v.require(SUM if SUM.in_force(v.since) else PARTS, int(lengths.sum()) == size)
    return [int(length) for length in lengths]


def _cut(input: Array, lengths: list[int], axis: int) -> list[Array]:
    return np.split(input, np.cumsum(lengths)[:-1], axis)


@SPLIT.oracle(before=2)
def by_attribute_or_input(v: Version, n: int, input: Array, split: Ints, split_input: Ints, axis: Int) -> list[Array]:
    """Return n parts with these lengths. If both kinds of lengths are present, or none, the result is unspecified."""
    along = _from_front(v, axis, input.ndim)
    v.silent(CONTRADICTION, (split is None) == (split_input is None))
    return _cut(input, _lengths(v, n, split_input if split is None else split, input.shape[along]), along)


@SPLIT.oracle(since=2, before=18)
def by_lengths_or_evenly(v: Version, n: int, input: Array, split: Ints, axis: Int) -> list[Array]:
    """Return n parts, either with these lengths or all equal."""
    along = _from_front(v, axis, input.ndim)
    size = input.shape[along]
    if split is None:
        v.require(EQUAL, size % n == 0)
        return _cut(input, [size // n] * n, along)
    return _cut(input, _lengths(v, n, split, size), along)


@SPLIT.oracle(since=18)
def by_lengths_or_number(v: Version, n: int, input: Array, split: Ints, axis: Int, num_outputs: Int) -> list[Array]:
    """Return the parts: with these lengths, or num_outputs equal parts. The last one may be smaller."""
    along = _from_front(v, axis, input.ndim)
    size = input.shape[along]
    v.require(EITHER, (split is None) != (num_outputs is None))
    if num_outputs is None:
        return _cut(input, _lengths(v, n, split, size), along)
    v.silent(COUNT, num_outputs <= 0)
    v.require(COUNT, n <= num_outputs)
    v.silent(COUNT, n < num_outputs)
    v.silent(EVEN, size == 0)
    chunk = -(-size // num_outputs)  # Rounded up.
    last = size - chunk * (num_outputs - 1)
    v.silent(LAST, last < 0)  # No size of equal chunks leads to a smaller last chunk.
    return _cut(input, [chunk] * num_outputs, along)


case = SPLIT.case

# Version 1 has no default axis and is specified only with one kind of lengths, so cases for all versions set both.
case("lengths", input=ramp(3, 4), split=[1, 3], axis=1, n=2, cites=LENGTH)
case("lengths_equal", input=ramp(6), split=[2, 2, 2], axis=0, n=3, cites=LENGTH)
case("lengths_one", Tag.EDGE, input=ramp(6), split=[6], axis=0, n=1, cites=LENGTH)
case("lengths_all", Tag.EDGE, input=ramp(6), split=[1] * 6, axis=0, n=6, cites=LENGTH)
case("lengths_sum", input=ramp(5, 3), split=[1, 4], axis=0, n=2, cites=SUM)
case("lengths_sizes", Tag.CHANGE, input=ramp(5, 3), split=[3, 2], n=2, cites=SIZES)
case("lengths_default_axis", input=ramp(6, 2), split=[4, 2], n=2, since=2, cites=WHICH_AXIS)
case("other_dim_zero", Tag.EDGE, input=ramp(4, 0), split=[1, 3], axis=0, n=2)
case("lengths_input", Tag.CHANGE, input=ramp(3, 4), split_input=[1, 3], axis=1, n=2, cites=LENGTHS_TYPE)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(12), split=[5, 7], axis=0, n=2, cites=PARTS)

case("no_axis", Tag.CHANGE, input=ramp(6), split=[2, 4], n=2, before=2, unspecified=CONTRADICTION)
case("no_lengths", Tag.CHANGE, input=ramp(6), axis=0, n=2, before=2, cites=EQUAL, unspecified=CONTRADICTION)
case("both_lengths", Tag.EDGE, input=ramp(6), split=[6], split_input=[6], axis=0, n=1, unspecified=CONTRADICTION)
case("lengths_fraction", Tag.EDGE, input=ramp(6), split_input=[1.5, 2, 2.5], axis=0, n=3, unspecified=LENGTH)
case("lengths_input_matrix", Tag.EDGE, input=ramp(6), split_input=[[2, 4]], axis=0, n=2, unspecified=LENGTH)
case("split_scalar", Tag.EDGE, input=ramp(6), split=6, axis=0, n=1, since=13, unspecified=LENGTH)
case("split_matrix", Tag.EDGE, input=ramp(6), split=[[2, 4]], axis=0, n=2, since=13, unspecified=LENGTH)

case("even", input=ramp(6), n=3, since=2, cites=EQUAL)
case("even_columns", input=ramp(2, 6), axis=1, n=2, since=2, cites=EQUAL)
case("even_one", Tag.EDGE, input=ramp(6), axis=0, n=1, since=2, cites=EQUAL)
case("even_all", Tag.EDGE, input=ramp(6), axis=0, n=6, since=2, cites=EQUAL)
case("even_dim_zero", Tag.EDGE, input=ramp(0), axis=0, n=2, since=2, cites=EQUAL)
case("uneven_before_18", Tag.CHANGE, input=ramp(7), axis=0, n=4, since=2, rejects=EQUAL)
case("uneven_two_before_18", Tag.CHANGE, input=ramp(7), axis=0, n=2, since=2, rejects=EQUAL)
case("uneven_columns_before_18", Tag.CHANGE, input=ramp(2, 5), axis=1, n=2, since=2, rejects=EQUAL)

case("num_outputs", Tag.CHANGE, input=ramp(6), num_outputs=3, n=3, cites=(EVEN, COUNT))
case("num_outputs_columns", Tag.CHANGE, input=ramp(2, 6), axis=1, num_outputs=2, n=2, cites=EVEN)
case("num_outputs_one", Tag.EDGE, input=ramp(6), axis=0, num_outputs=1, n=1, cites=EVEN)
case("num_outputs_all", Tag.EDGE, input=ramp(6), axis=0, num_outputs=6, n=6, cites=EVEN)
case("uneven", Tag.CHANGE, input=ramp(7), axis=0, num_outputs=4, n=4, cites=LAST)
case("uneven_three", Tag.CHANGE, input=ramp(7), axis=0, num_outputs=3, n=3, cites=LAST)
case("uneven_two", Tag.CHANGE, input=ramp(5), num_outputs=2, n=2, cites=LAST)
case("uneven_columns", Tag.CHANGE, input=ramp(2, 8), axis=1, num_outputs=3, n=3, cites=LAST)
case("uneven_last_axis", Tag.CHANGE, input=ramp(2, 3, 7), axis=-1, num_outputs=3, n=3, cites=(LAST, BACK))
case("uneven_last_empty", Tag.EDGE, input=ramp(6), num_outputs=4, n=4, cites=LAST)
case("overrun", Tag.EDGE, input=ramp(5), num_outputs=4, n=4, unspecified=LAST)
case("overrun_even", Tag.EDGE, input=ramp(6), num_outputs=5, n=5, unspecified=LAST)
case("overrun_more_parts_than_elements", Tag.EDGE, input=ramp(3), num_outputs=5, n=5, unspecified=LAST)
case("num_outputs_dim_zero", Tag.EDGE, input=ramp(0), num_outputs=2, n=2, unspecified=EVEN)
case("num_outputs_zero", Tag.EDGE, input=ramp(6), num_outputs=0, n=1, unspecified=COUNT)
case("num_outputs_negative", Tag.EDGE, input=ramp(6), num_outputs=-2, n=2, unspecified=COUNT)
case("dtypes_num_outputs", Tag.DTYPE, each="T", input=ramp(7, 2), num_outputs=3, n=3, cites=LAST)
case("outputs_beyond_num_outputs", input=ramp(6), num_outputs=2, n=3, rejects=COUNT)
case("outputs_left_out", Tag.EDGE, input=ramp(7), num_outputs=3, n=2, unspecified=COUNT)
case("outputs_left_out_but_one", Tag.EDGE, input=ramp(7), num_outputs=3, n=1, unspecified=COUNT)
case("outputs_left_out_even", Tag.EDGE, input=ramp(6), num_outputs=3, n=2, unspecified=COUNT)
case("neither", Tag.CHANGE, input=ramp(6), n=2, rejects=EITHER)
case("both", Tag.CHANGE, input=ramp(6), split=[3, 3], num_outputs=2, n=2, rejects=EITHER)

OTHER_SUM = vary(short=[2, 3], long=[2, 5])
case("sum", input=ramp(6), split=OTHER_SUM, axis=0, n=2, rejects=SUM)
case("sum_before_13", input=ramp(6), split=OTHER_SUM, axis=0, n=2, before=13, rejects=PARTS)
case("lengths_too", input=ramp(6), split=vary(few=[6], many=[2, 2, 2]), axis=0, n=2, rejects=LENGTH)
case("length_negative", Tag.EDGE, input=ramp(6), split=[7, -1], axis=0, n=2, rejects=NOT_NEGATIVE)
case("length_negative_before_11", Tag.EDGE, input=ramp(6), split=[7, -1], axis=0, n=2, before=11, rejects=LENGTH)
case("length_zero", Tag.EDGE, input=ramp(6), split=vary(first=[0, 6], last=[6, 0]), axis=0, n=2, cites=NOT_NEGATIVE)
case("length_zero_inside", Tag.EDGE, input=ramp(6, 2), split=[2, 0, 4], axis=0, n=3, cites=NOT_NEGATIVE)
case("length_zero_before_11", Tag.EDGE, input=ramp(6), split=[0, 6], axis=0, n=2, before=11, unspecified=NOT_NEGATIVE)
case("lengths_all_zero", Tag.EDGE, input=ramp(0), split=[0, 0], axis=0, n=2, cites=NOT_NEGATIVE)

for name, shape, axis in axes():
    back = (BACK, RANGE) if axis < 0 else ()
    case(name, Tag.AXIS, input=ramp(*shape), split=[1, shape[axis] - 1], axis=axis, n=2, cites=back)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, input=ramp(*shape), split=[1, 2], axis=axis, n=2, rejects=RANGE)
BELOW_ZERO = vary(from_back=-1, too_low=-3)
case("axis_before_11", Tag.AXIS, input=ramp(3, 4), split=[1, 3], axis=BELOW_ZERO, n=2, before=11, unspecified=BACK)
case("axis_too_high_before_11", Tag.AXIS, input=ramp(3, 4), split=[1, 3], axis=2, n=2, before=11, rejects=WHICH_AXIS)
case("rank0_before_11", Tag.EDGE, Tag.AXIS, input=ramp(), split=[1], axis=0, n=1, before=11, rejects=WHICH_AXIS)

# Forbidden by sentences of the text, not only by the signature.
case("outside_before_2", Tag.DTYPE, outside="T", input=ramp(6), split=[2, 4], axis=0, n=2, rejects=FLOATS_ONLY)
case("no_outputs", input=ramp(6), split=[6], axis=0, n=0, rejects=ONE_OR_MORE)
case("no_outputs_even", input=ramp(6), n=0, since=2, before=18, rejects=ONE_OR_MORE)
case("no_outputs_num_outputs", input=ramp(6), num_outputs=1, n=0, rejects=ONE_OR_MORE)

PLACES: dict[str, tuple[int, Dims, dict[str, Any]]] = {
    "vector": (0, ("n",), {}),
    "first": (0, ("n", "w"), {"w": (16,)}),
    "middle": (1, ("b", "n", "w"), {"b": (3,), "w": (5,)}),
    "last": (-1, ("b", "n"), {"b": (7,)}),
    "channels": (1, ("b", "n", "h", "w"), {"b": (2,), "h": (5,), "w": (8,)}),
}
"""The axis, the dimensions of the input, and the sizes of the others, by the place of the axis."""
EVENLY = [(2, 2), (3, 96), (4, 64), (5, 1025), (8, 256), (32, 64), (100, 300)]
"""Numbers of parts, and lengths that they divide."""
LESS_AT_THE_END = [(2, 7), (3, 64), (4, 1025), (5, 33), (8, 257), (16, 127), (32, 1000), (100, 199)]
"""Numbers of parts, and lengths whose last part is smaller. The last of 100 parts of 199 has one element."""


def _parts(counts: list[tuple[int, int]], others: dict[str, Any]) -> list[dict[str, int]]:
    return [{"parts": parts, "n": n, **sizes} for parts, n in counts for sizes in grid(**others)]


def _uneven(sizes: Sizes) -> list[int]:
    """Return lengths that differ: an empty one first, then from 1 upwards; the last part has the rest."""
    lengths = [index * 5 % 7 for index in range(sizes["parts"] - 1)]
    return [*lengths, sizes["n"] - sum(lengths)]


for name, (axis, dims, others) in PLACES.items():
    SPLIT.sized(
        f"{name}_evenly",
        _parts(EVENLY, others),
        n="parts",
        each="T" if name in {"middle", "channels"} else None,
        cites=EVEN,
        arguments={"input": filled(*dims), "axis": axis, "num_outputs": lambda sizes: sizes["parts"]},
    )
    SPLIT.sized(
        f"{name}_smaller_last",
        _parts(LESS_AT_THE_END, others),
        n="parts",
        each="T" if name in {"vector", "last"} else None,
        cites=LAST,
        arguments={"input": filled(*dims), "axis": axis, "num_outputs": lambda sizes: sizes["parts"]},
    )
    SPLIT.sized(
        f"{name}_lengths",
        _parts([(2, 17), (3, 64), (5, 129), (16, 257), (100, 1025)], others),
        n="parts",
        each="T" if name in {"middle", "first"} else None,
        cites=(SIZES, LENGTH),
        arguments={"input": filled(*dims), "axis": axis, "split": _uneven},
    )
SPLIT.sized(
    "large",
    [{"parts": parts, "n": 1000, "w": 131} for parts in (4, 33)],
    n="parts",
    cites=LAST,
    arguments={"input": filled("n", "w"), "num_outputs": lambda sizes: sizes["parts"]},
)
