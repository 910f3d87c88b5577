# SPDX-License-Identifier: Apache-2.0
"""Slice: cut a part out of a tensor, along any axes.

    output = Slice(data, starts, ends, axes=None, steps=None)

Versions: 1 (bounds as attributes), 10 (bounds as inputs; steps), 11 (axes from the back; no step of 0), 13 (bounds of
either sign are clamped; bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Clause,
    Ints,
    Op,
    Tag,
    Version,
    axes,
    axes_outside,
    extremes,
    ramp,
    typed,
)
from onnx_conformance.declare.sizes import Dims, filled, grid

SLICE = Op("Slice", versions=(1, 10, 11, 13), compare=EXACT, rank="data")
SLICE.example(data=ramp(4, 5, 6), starts=[1, 0], ends=[3, 5], axes=[0, 2], steps=[1, 2])

MULTIPLE = SLICE.clause("Produces a slice of the input tensor along multiple axes.")
ATTRIBUTES = SLICE.clause("Slices uses `axes`, `starts` and `ends` attributes", before=10)
INPUTS = SLICE.clause("`starts`, `ends`, `axes` and `steps` inputs", since=10)
BEFORE_END = SLICE.clause("it represents number of elements before the end of that dimension.", before=13).reworded(
    before=11, text="it represent number of elements before the end of that dimension."
)
LARGER = SLICE.clause(
    "If the value passed to start or end is larger than the `n` (the number of elements in this dimension),",
    before=13,
    note="The text does not define slicing backward from the n-th element, which does not exist. Version 13 defines "
    "it.",
)
INT_MAX = SLICE.clause("it is recommended to pass in `INT_MAX`")
INT_MIN = SLICE.clause("when slicing forward and 'INT_MIN' when slicing backward.", since=11)
OMITTED_AXES = SLICE.clause(
    "If `axes` are omitted, they are set to `[0, ..., r-1]`.",
    note="The text does not define dimensions without a start; onnxruntime and onnx.reference leave them whole. Rank 0 "
    "has no dimensions; onnxruntime rejects it.",
).reworded(before=13, text="If `axes` are omitted, they are set to `[0, ..., ndim-1]`.")
AXES_OF_STARTS = SLICE.clause(
    "If not present, will be treated as [0, 1, ..., len(`starts`) - 1].",
    before=10,
    note="This contradicts the sentence of the same version on omitted axes if starts has fewer than ndim elements.",
    contradicts="If `axes` are omitted, they are set to `[0, ..., ndim-1]`.",
)
OMITTED_STEPS = SLICE.clause("If `steps` are omitted, they are set to `[1, ..., 1]` of length `len(starts)`", since=10)
BACKWARD = SLICE.clause("If a negative value is passed for step, it represents slicing backward.", since=10, before=13)
SLICING_BACKWARD = SLICE.clause("Negative value means slicing backward.", since=11)
STEP_VALUE = SLICE.clause("However step value cannot be 0.", since=11, before=13)
STEP_ZERO = SLICE.clause("'steps' cannot be 0.", since=11, note="Version 10 does not define this.")
STEP_DEFAULT = SLICE.clause("'steps' cannot be 0. Defaults to 1").reworded(
    before=11, text="in `axes`. Default to 1.", since=10
)
COMPUTED = SLICE.clause("must be computed for each `i` in `[0, ... r-1]` where", since=13, result=True)
INITIAL = SLICE.clause(
    "The effective values are initialized as `starts[i] = 0`, `ends[i] = dims[i]`",
    since=13,
    see=("https://github.com/onnx/onnx/pull/8335",),
)
AXES_ADD = SLICE.clause("All negative elements of `axes` are made non-negative by adding `r` to them", since=13)
BOUNDS_ADD = SLICE.clause("in `starts[i]` and `ends[i]` have `dims[axes[i]]` added to them", since=13)
CLAMP_START = SLICE.clause(
    "Then `starts[axes[i]]` is clamped to range `[0, dims[axes[i]]]` for positive stepping, or to range "
    "`[0, dims[axes[i]]-1]` for negative stepping.",
    since=13,
    note="For a dimension of 0 the second range is empty: 0 elements are copied. Slicing backward from far before the "
    "first element includes the first element; in onnx.reference it includes none, as in numpy.",
)
CLAMP_END = SLICE.clause(
    "The clamping for the adjusted `ends[i]` depends on the sign of `steps[i]` and must accommodate copying 0 through "
    "`dims[axes[i]]` elements, so for positive stepping `ends[axes[i]]` is clamped to `[0, dims[axes[i]]]`, while for "
    "negative stepping it is clamped to `[-1, dims[axes[i]]-1]`.",
    since=13,
    result=True,
)
STEPS_AXES = SLICE.clause("Finally, `steps[axes[i]] = steps[i]`.", since=13)
STARTS = SLICE.clause(
    "tarting indices of corresponding axis in `axes`", note="Therefore starts has as many elements as axes."
)
ENDS = SLICE.clause("nding indices (exclusive) of corresponding axis in")
ONE_D = SLICE.clause("1-D tensor of starting indices", since=10)
APPLY = SLICE.clause("xes that `starts` and `ends` apply to.", note="There is no axis at or above the rank.")
STEPS = SLICE.clause("1-D tensor of slice step of corresponding axis in `axes`.", since=10)
BACK = SLICE.clause("Negative value means counting dimensions from the back.", since=11)
RANGE = SLICE.clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)
REPEATED = SLICE.clause(
    "Behavior is undefined if an axis is repeated.", since=13, note="Earlier versions do not define it either."
)
ALL_TYPES = SLICE.clause("Constrain input and output types to all tensor types.")
INDEX_TYPES = SLICE.clause("Constrain indices to integer types", since=10)


def _indices(v: Version, n: int, start: int, end: int, step: int) -> range:
    """Return the indices along a dimension of n from a start until an end by a step."""
    v.require(STEP_ZERO, step != 0)
    backward = step < 0
    v.permit(CLAMP_START, start < -n or (backward and start >= n))
    v.permit(INT_MIN if backward else CLAMP_END, end < -n)
    low, high = (-1, n - 1) if backward else (0, n)
    start, end = (bound + n if bound < 0 else bound for bound in (start, end))
    return range(min(max(start, 0), high), min(max(end, low), high), step)


@SLICE.oracle()
def sliced(v: Version, data: Array, starts: Ints, ends: Ints, axes: Ints, steps: Ints) -> Array:
    """Return the part of `data` between the bounds. steps is None before version 10."""
    rank = data.ndim
    first, last = np.asarray(starts), np.asarray(ends)
    v.require(ONE_D if ONE_D.in_force(v.since) else STARTS, first.ndim == 1)
    v.require(ENDS, last.shape == first.shape)
    if axes is None:
        v.silent(AXES_OF_STARTS if AXES_OF_STARTS.in_force(v.since) else OMITTED_AXES, first.size < rank)
    along = np.arange(rank) if axes is None else np.asarray(axes)
    v.require(STARTS, along.shape == first.shape)
    by = np.ones(first.size, np.int64) if steps is None else np.asarray(steps)
    if STEPS.in_force(v.since):
        v.require(STEPS, by.shape == first.shape)
    v.permit(BACK, bool((along < 0).any()))
    v.require(RANGE if RANGE.in_force(v.since) else APPLY, bool(((along >= -rank) & (along < rank)).all()))
    v.silent(REPEATED, len({int(axis) % rank for axis in along}) < along.size)
    for axis, start, end, step in zip(along, first, last, by, strict=True):
        indices = _indices(v, data.shape[int(axis)], int(start), int(end), int(step))
        data = np.take(data, list(indices), int(axis))
    return data


case = SLICE.case
CUBE, TABLE = ramp(4, 5, 6), [[1, 2, 3, 4], [5, 6, 7, 8]]

case("example_before_10", data=TABLE, axes=[0, 1], starts=[1, 0], ends=[2, 3], before=10, cites=MULTIPLE)
case("example", data=TABLE, axes=[0, 1], starts=[1, 0], ends=[2, 3], steps=[1, 2], cites=(MULTIPLE, STEPS))
case("example_clamped", data=TABLE, starts=[0, 1], ends=[-1, 1000], before=13, cites=(LARGER, OMITTED_AXES))
case("example_clamped_since_13", data=TABLE, starts=[0, 1], ends=[-1, 1000], since=13, cites=(OMITTED_AXES, CLAMP_END))
case("by_attribute", Tag.CHANGE, data=CUBE, starts=[1, 2], ends=[3, 5], axes=[0, 2], cites=(ATTRIBUTES, APPLY))
case("by_input", Tag.CHANGE, data=CUBE, starts=[1, 2], ends=[3, 5], axes=[0, 2], cites=(INPUTS, OMITTED_STEPS))
case("all_axes", data=CUBE, starts=[1, 0, 2], ends=[3, 2, 5], axes=[0, 1, 2], cites=(STARTS, ENDS))
case("axes_unordered", data=CUBE, starts=[1, 0, 2], ends=[3, 2, 5], axes=[2, 0, 1], cites=(STARTS, ENDS))
case("omitted_some_before_10", Tag.EDGE, data=CUBE, starts=[1, 2], ends=[3, 5], before=10, unspecified=AXES_OF_STARTS)
case("omitted_some", Tag.EDGE, data=CUBE, starts=[1, 2], ends=[3, 5], since=10, unspecified=OMITTED_AXES)
case("empty_axes", Tag.EDGE, data=ramp(2, 3), starts=[], ends=[], axes=[], cites=APPLY)
NEGATIVE: dict[str, Any] = {"data": CUBE, "starts": [-3, 1], "ends": [-1, -2], "axes": [0, 1]}
case("negative_before_11", **NEGATIVE, before=11, cites=BEFORE_END)
case("negative_before_13", **NEGATIVE, since=11, cites=BEFORE_END)
case("negative_since_13", **NEGATIVE, cites=BOUNDS_ADD)
case("negative_start", **NEGATIVE, cites=INITIAL)
case("one_element", Tag.EDGE, data=ramp(1), starts=[0], ends=[1], cites=MULTIPLE)
case("zero_size", Tag.EDGE, data=ramp(0, 3), starts=[0], ends=[2], axes=[0], cites=MULTIPLE)
case("other_zero_size", Tag.EDGE, data=ramp(0, 3), starts=[1], ends=[3], axes=[1], cites=MULTIPLE)
case("rank0", Tag.EDGE, data=ramp(), starts=[], ends=[], cites=MULTIPLE)
case("steps_all", data=CUBE, starts=[1, 0, 5], ends=[4, 4, 0], axes=[0, 1, 2], steps=[2, 3, -2], cites=STEPS)
case("steps_axes", data=CUBE, starts=[5, 0], ends=[0, 3], axes=[2, 0], steps=[-2, 2], cites=(STEPS_AXES, COMPUTED))

# Start, end and step along the 5 elements of one dimension, and the clause that defines them.
BOUNDS: list[tuple[str, int, int, int | None, Clause]] = [
    ("negative_first", -5, 2, None, MULTIPLE),
    ("larger_end", 2, 6, None, MULTIPLE),
    ("larger_start", 9, 10, None, MULTIPLE),
    ("larger_start_than_end", 9, 3, None, LARGER),
    ("start_is_n", 5, 6, None, MULTIPLE),
    ("nothing", 2, 2, None, MULTIPLE),
    ("crossed", 3, 1, None, MULTIPLE),
    ("start_too_low", -9, 2, None, CLAMP_START),
    ("end_too_low", 1, -9, None, CLAMP_END),
    ("nothing_at_first", 0, 0, None, MULTIPLE),
    ("end_is_minus_n", 1, -5, None, MULTIPLE),
    ("step", 0, 4, 3, STEPS),
    ("step_one", 1, 4, 1, INPUTS),
    ("step_beyond", 1, 4, 7, STEPS),
    ("step_default", 1, 4, None, STEP_DEFAULT),
    ("backward", 3, 0, -1, BACKWARD),
    ("backward_since_11", 3, 0, -1, SLICING_BACKWARD),
    ("backward_from_back", -1, -4, -2, STEPS),
    ("backward_nothing", 1, 3, -1, STEPS),
    ("backward_minus_one", 3, -1, -1, STEPS),
    ("backward_end_is_minus_n", 4, -5, -1, STEPS),
    ("backward_all", 4, -6, -1, INT_MIN),
    ("backward_from_beyond", 9, 1, -1, CLAMP_START),
    ("backward_from_n", 5, 1, -1, CLAMP_START),
    ("backward_from_too_low", -9, -9, -1, CLAMP_START),
    ("backward_to_beyond", 2, 9, -1, CLAMP_END),
]
for name, start, end, step, clause in BOUNDS:
    bound: dict[str, Any] = {"data": ramp(5, 3), "starts": [start], "ends": [end], "axes": [0]}
    bound |= {} if step is None else {"steps": [step]}
    case(name, Tag.EDGE, **bound, cites=clause)
    if clause in {CLAMP_START, INT_MIN} or name == "end_too_low":
        case(f"{name}_before_{clause.since}", Tag.CHANGE, **bound, before=clause.since, unspecified=clause)
STILL: dict[str, Any] = {"data": ramp(5, 3), "starts": [0], "ends": [4], "axes": [0], "steps": [0]}
case("step_zero", Tag.EDGE, **STILL, cites=STEP_VALUE, rejects=STEP_ZERO)
case("step_zero_since_13", Tag.EDGE, **STILL, since=13, rejects=STEP_ZERO)
case("step_zero_before_11", Tag.EDGE, **STILL, before=11, unspecified=STEP_ZERO)
case("backward_zero_size", Tag.EDGE, data=ramp(0, 3), starts=[0], ends=[-9], axes=[0], steps=[-1], cites=CLAMP_END)
for type_, limits in (("int32", np.iinfo(np.int32)), ("int64", np.iinfo(np.int64))):
    low, high = int(limits.min), int(limits.max)
    case(f"int_max_{type_}", Tag.EDGE, data=CUBE, starts=[1, 2], ends=[high, 4], axes=[2, 1], cites=INT_MAX)
    front: dict[str, Any] = {"data": CUBE, "starts": [4, 3], "ends": [low, 0], "axes": [2, 1], "steps": [-1, -2]}
    case(f"int_min_{type_}", Tag.EDGE, **front, cites=(INT_MIN, SLICING_BACKWARD))
    for name, starts, ends, steps in (
        ("steps", [3, 1], [low, high], [low, high]),
        ("bounds", [low, high], [high, low], [1, -1]),
    ):
        four = {"starts": starts, "ends": ends, "steps": steps, "axes": [0, 1]}
        huge: dict[str, Any] = {key: typed(type_, np.array(numbers, type_)) for key, numbers in four.items()}
        case(f"huge_{name}_{type_}", Tag.EDGE, data=ramp(4, 5), **huge, cites=(CLAMP_START, CLAMP_END))

for name, shape, axis in axes():
    back = (BACK, RANGE, AXES_ADD) if axis < 0 else (RANGE,)
    case(name, Tag.AXIS, data=ramp(*shape), starts=[1], ends=[3], axes=[axis], since=13, cites=back)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*shape), starts=[1], ends=[3], axes=[axis], since=13, rejects=RANGE)
case("axis_from_back", Tag.AXIS, data=CUBE, starts=[1, 2], ends=[3, 5], axes=[-1, 0], cites=(BACK, RANGE))
for axis in (2, -3):
    case(
        f"axis_{axis + 3}_outside",
        Tag.AXIS,
        data=ramp(5, 3),
        starts=[1],
        ends=[3],
        axes=[axis],
        before=13,
        rejects=RANGE,
    )
case(
    "axis_from_back_before_11", Tag.AXIS, data=ramp(5, 3), starts=[1], ends=[3], axes=[-1], before=11, unspecified=BACK
)
case("axis_too_high_before_11", Tag.AXIS, data=ramp(5, 3), starts=[1], ends=[3], axes=[2], before=11, rejects=APPLY)
case("repeated", Tag.EDGE, data=CUBE, starts=[1, 2], ends=[3, 5], axes=[1, 1], unspecified=REPEATED)
case(
    "repeated_from_back", Tag.EDGE, data=CUBE, starts=[1, 2], ends=[3, 5], axes=[1, -2], since=11, unspecified=REPEATED
)
case("too_many_starts", data=ramp(5, 3), starts=[1, 0, 0], ends=[3, 1, 1], rejects=STARTS)
case("fewer_starts", data=ramp(5, 3), starts=[1], ends=[3, 1], axes=[0, 1], rejects=ENDS)
case("fewer_ends", data=ramp(5, 3), starts=[1, 0], ends=[3], axes=[0, 1], rejects=ENDS)
case("fewer_axes", data=ramp(5, 3), starts=[1, 0], ends=[3, 1], axes=[0], rejects=STARTS)
case("more_axes", data=ramp(5, 3), starts=[1], ends=[3], axes=[0, 1], rejects=STARTS)
case("fewer_steps", data=ramp(5, 3), starts=[1, 0], ends=[3, 1], axes=[0, 1], steps=[1], rejects=STEPS)
case("starts_scalar", Tag.EDGE, data=ramp(5), starts=1, ends=3, since=10, rejects=ONE_D)
case("starts_matrix", Tag.EDGE, data=ramp(5), starts=[[1]], ends=[[3]], since=10, rejects=ONE_D)
case("axes_scalar", Tag.EDGE, data=ramp(5), starts=[1], ends=[3], axes=0, since=10, rejects=STARTS)

case(
    "extremes_before_10",
    Tag.DTYPE,
    Tag.EDGE,
    each="T",
    data=extremes(3, 5),
    starts=[1, 1],
    ends=[3, 4],
    before=10,
    cites=ALL_TYPES,
)
EXTREMES = extremes(4, 5)
case(
    "extremes",
    Tag.DTYPE,
    Tag.EDGE,
    each="T",
    data=EXTREMES,
    starts=[1, 1],
    ends=[3, 4],
    axes=[1, 0],
    steps=[2, 1],
    cites=ALL_TYPES,
)
case(
    "index_outside",
    Tag.DTYPE,
    outside="Tind",
    data=ramp(5, 3),
    starts=[1, 1],
    ends=[3, 4],
    since=13,
    rejects=INDEX_TYPES,
)
case("two_index_types", data=ramp(5), starts=[1], ends=typed("int32", [3]), rejects=INDEX_TYPES)

PARTS: dict[str, tuple[Dims, list[dict[str, int]], dict[str, Any]]] = {
    "vector": (("n",), grid(n=(9, 64, 129, 4097)), {"starts": [3], "ends": [-2], "axes": [0]}),
    "vector_by_two": (("n",), grid(n=(33, 64, 129, 1025)), {"starts": [0], "ends": [9999], "axes": [0], "steps": [2]}),
    "vector_by_seven": (("n",), grid(n=(64, 1025)), {"starts": [1], "ends": [9999], "axes": [0], "steps": [7]}),
    "vector_backward": (("n",), grid(n=(33, 64, 4097)), {"starts": [-1], "ends": [-9999], "axes": [0], "steps": [-1]}),
    "vector_backward_by_three": (
        ("n",), grid(n=(64, 1025)), {"starts": [-2], "ends": [-9999], "axes": [0], "steps": [-3]}
    ),
    "rows": (("m", "n"), grid(m=(9, 64), n=(5, 33, 256)), {"starts": [2], "ends": [8], "axes": [0]}),
    "columns": (("m", "n"), grid(m=(5, 17), n=(33, 64, 257)), {"starts": [1], "ends": [-1], "axes": [-1]}),
    "columns_by_two": (
        ("m", "n"), grid(m=(5, 17), n=(30, 64)), {"starts": [1], "ends": [9999], "axes": [1], "steps": [2]}
    ),
    "columns_backward": (
        ("m", "n"), grid(m=(5,), n=(33, 64)), {"starts": [-1], "ends": [-9999], "axes": [1], "steps": [-1]}
    ),
    "rows_backward": (
        ("m", "n"), grid(m=(33,), n=(7, 64)), {"starts": [-1], "ends": [-9999], "axes": [0], "steps": [-1]}
    ),
    "last_token": (("b", "s", "d"), grid(b=(3,), s=(7, 33), d=(16, 65)), {"starts": [-1], "ends": [9999], "axes": [1]}),
    "half_of_heads": (
        ("b", "h", "s", "d"), grid(b=(2,), h=(3,), s=(9,), d=(16, 64)), {"starts": [8], "ends": [9999], "axes": [3]}
    ),
    "pixels_by_two": (
        ("b", "c", "h", "w"),
        grid(b=(2,), c=(3,), h=(14, 33), w=(16, 33)),
        {"starts": [1, 0], "ends": [9999, 9999], "axes": [2, 3], "steps": [2, 2]},
    ),
    "crop": (
        ("b", "c", "h", "w"),
        grid(b=(2,), c=(3, 8), h=(28,), w=(33,)),
        {"starts": [2, 3], "ends": [-2, -3], "axes": [-2, -1]},
    ),
    "mirrored": (
        ("b", "c", "h", "w"),
        grid(b=(2,), c=(3,), h=(14,), w=(16, 33)),
        {"starts": [-1, -1], "ends": [-9999, -9999], "axes": [2, 3], "steps": [-1, -1]},
    ),
    "all_axes": (
        ("a", "b", "c", "d", "e"),
        grid(a=(3,), b=(5,), c=(8,), d=(7,), e=(16, 17)),
        {"starts": [1, 4, 0, -1, 1], "ends": [3, -9999, 8, 1, 15], "steps": [1, -2, 3, -1, 2]},
    ),
}  # fmt: skip
"""The dimensions of the data, the sizes, and the part."""
for name, (dims, sizes, part) in PARTS.items():
    SLICE.sized(
        name,
        sizes,
        each="T" if name in {"vector", "columns_by_two", "crop"} else None,
        cites=(MULTIPLE, STARTS),
        arguments={"data": filled(*dims), **part},
    )
SLICE.sized(
    "large",
    grid(m=(257,), n=(513,)),
    cites=(MULTIPLE, STARTS),
    arguments={"data": filled("m", "n"), "starts": [-1, 1], "ends": [-9999, 9999], "axes": [0, 1], "steps": [-1, 2]},
)
