# SPDX-License-Identifier: Apache-2.0
"""Pad: add elements around a tensor, or remove some from its ends.

    output = Pad(data, pads, constant_value=None, axes=None, mode="constant")

Versions: 1 (paddings as attribute), 2 (pads, which may be negative), 11 (inputs), 13 (strings and bool), 18 (axes), 19
(wrap), 21 to 25 (types).
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
    vary,
)
from onnx_conformance.declare.sizes import Dims, filled, grid

PAD = Op("Pad", versions=(1, 2, 11, 13, 18, 19, 21, 23, 24, 25), compare=EXACT, rank="data")
PAD.example(
    data=ramp(4, 5), paddings=[1, 2, 2, 3], pads=[1, 2, 2, 0], mode="edge", value=-1.5, constant_value=7, axes=[1, 0]
)

GENERATED = PAD.clause("a padded tensor (`output`) is generated.", since=11)
CONTRADICTION = PAD.clause(
    "Insert 0 paddings to the beginning of the second dimension.",
    before=2,
    note="The [0, 0, 2, 0] of this example violates the format.",
    contradicts="`paddings` format should be as follow [x1_begin, x2_begin...x1_end, x2_end,...]",
)
EXAMPLE = PAD.clause("Insert 0 pads to the beginning of the second dimension.", since=2)
REMOVE = PAD.clause(
    "the number of padding elements to add or remove (if negative)",
    since=2,
    note="It is not possible to remove more elements than there are. The text does not define whether removing or "
    "reflecting comes first.",
    see=("https://github.com/onnx/onnx/issues/4294",),
)
SHAPE = (
    PAD.clause("`pads` should be a 1D tensor of shape [2 * num_axes] where `num_axes` refers to the number of elements")
    .reworded(before=18, text="`pads` should be a 1D tensor of shape [2 * input_rank].")
    .reworded(before=11, text="`pads` rank should be double of the input's rank.")
    .reworded(before=2, text="`paddings` rank should be double of the input's rank.")
)
FORMAT = (
    PAD.clause("`pads` format should be: [x1_begin, x2_begin,", result=True)
    .reworded(before=11, text="`pads` format should be as follow [x1_begin,")
    .reworded(before=2, text="`paddings` format should be as follow [x1_begin, x2_begin...x1_end,")
)
THREE = PAD.clause("The three supported `modes` are", since=11, before=19, note="Runtimes accept wrap anyway.")
FOUR = PAD.clause("The four supported `modes` are", since=19)
MODES = PAD.clause("Supported modes: `constant`(default), `reflect`, `edge`").reworded(
    before=11, text="Three modes: constant(default), reflect, edge"
)
CONSTANT = PAD.clause("specified by `constant_value` (which defaults to 0, empty string, or False)").reworded(
    before=13, text="specified by `constant_value` (which defaults to 0)", since=11
)
REFLECT = PAD.clause(
    "pads with the reflection of the vector mirrored on the first and last values of the vector",
    since=11,
    note="The text does not define how to continue if there are no more values to mirror. Neither do the texts of "
    "versions 1 and 2.",
    see=("https://github.com/onnx/onnx/issues/7467", "https://github.com/onnx/onnx/pull/7700"),
)
EDGE = PAD.clause("3) `edge` - pads with the edge values of array", since=11, note="Without values there is no edge.")
WRAP = PAD.clause(
    "4) `wrap` - wrap-around padding as if the data tensor forms a torus",
    since=19,
    see=("https://github.com/onnx/onnx/issues/5245",),
)
FILLED = PAD.clause("One float, indicates the value to be filled", before=11)
SCALAR = PAD.clause("A scalar value to be used if the mode chosen is `constant`", since=11)
DEFAULT = PAD.clause("(by default it is 0, empty string or False).").reworded(
    before=13, text="(by default it is 0).", since=11
)
APPLY = PAD.clause("1-D tensor of axes that `pads` apply to.", since=18)
BACK = PAD.clause("Negative value means counting dimensions from the back.", since=18)
RANGE = PAD.clause("Accepted range is [-r, r-1] where r = rank(data).", since=18)
REPEATED = PAD.clause("Behavior is undefined if an axis is repeated.", since=18)
ASSUMED = PAD.clause("If not provided, all axes are assumed (`[0, 1, ..., input_rank-1]`).", since=18)
FLOATS = PAD.clause("Constrain input and output types to float tensors.", before=11)
NUMERIC = PAD.clause("Constrain input and output to only numeric types.", since=11, before=13)


Fill = Array | float | None


def _indices(v: Version, n: int, begin: int, end: int, mode: str) -> Array:
    """Return for each element along an axis the index of its value among n. Indices out of range mean the constant."""
    indices = np.arange(-begin, n + end)
    outside = (indices < 0) | (indices >= n)
    v.silent(REMOVE, -begin > n or -end > n)
    if mode == "constant" or not outside.any():
        return indices
    v.silent(REMOVE, mode != "edge" and min(begin, end) < 0)
    v.silent(EDGE, n + min(begin, end, 0) < 1)
    if mode == "edge":
        return np.minimum(np.maximum(indices, 0), n - 1)
    if mode == "wrap":
        return indices % n
    v.silent(REFLECT, max(begin, end) > n - 1)
    return np.asarray(n - 1 - np.abs(n - 1 - np.abs(indices)))


def _padded(v: Version, data: Array, pads: list[tuple[int, ...]], mode: str, constant: Fill) -> Array:
    """Return `data` with each of (axis, begin, end) applied."""
    named = next(clause for clause in (FOUR, THREE, MODES) if clause.in_force(v.since))
    v.require(named, mode in {"constant", "reflect", "edge"} or (mode == "wrap" and named is FOUR))
    fill = ("" if data.dtype.kind == "O" else 0) if constant is None else constant
    for axis, begin, end in pads:
        n = data.shape[axis]
        v.permit(REMOVE, min(begin, end) < 0)
        v.require(REMOVE, n + begin + end >= 0)
        indices = _indices(v, n, begin, end, mode)
        inside = (indices >= 0) & (indices < n)
        result = np.full((*data.shape[:axis], len(indices), *data.shape[axis + 1 :]), fill, data.dtype)
        result[(slice(None),) * axis + (inside,)] = np.take(data, indices[inside], axis)
        data = result
    return data


@PAD.oracle(before=2)
def first(v: Version, data: Array, paddings: list[int], mode: str, value: float) -> Array:
    """Return the result if both orders in the text mean the same."""
    v.require(SHAPE, len(paddings) == 2 * data.ndim)
    halves = list(zip(paddings[: data.ndim], paddings[data.ndim :], strict=True))
    v.silent(CONTRADICTION, halves != list(zip(paddings[::2], paddings[1::2], strict=True)))
    return _padded(v, data, [(axis, *pair) for axis, pair in enumerate(halves)], mode, value)


@PAD.oracle(since=2)
def padded(v: Version, data: Array, pads: Ints, mode: str, value: Fill, constant_value: Fill, axes: Ints) -> Array:
    """Return `data` with elements added or removed.

    Before version 11 the constant is `value`, since then it is `constant_value`.
    """
    along, numbers = np.asarray(range(data.ndim) if axes is None else axes, np.int64), np.asarray(pads)
    v.require(SHAPE, numbers.shape == (2 * along.size,))
    if RANGE.in_force(v.since):
        v.require(APPLY, along.ndim == 1)
        v.require(RANGE, bool(((along >= -data.ndim) & (along < data.ndim)).all()))
    padded_axes = [int(axis) % data.ndim for axis in along]
    v.silent(REPEATED, len(set(padded_axes)) < len(padded_axes))
    constant = value if constant_value is None else v.scalar(SCALAR, np.asarray(constant_value))
    triples = zip(padded_axes, map(int, numbers[: along.size]), map(int, numbers[along.size :]), strict=True)
    return _padded(v, data, list(triples), mode, constant)


case = PAD.case

TABLE = [[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]]
GRID, CUBE = np.arange(1, 21).reshape(4, 5), np.arange(1, 61).reshape(3, 4, 5)
ALL_MODES = ("constant", "reflect", "edge", "wrap")
ONCE: dict[str, Any] = {"since": 19, "before": 21}
"""One version represents all versions since 19, which differ only in their types."""

case("example", data=TABLE, pads=[0, 2, 0, 0], cites=EXAMPLE)
case("example_wrap", data=TABLE, pads=[2, 1, 1, 1], mode="wrap", cites=(WRAP, FOUR))
for mode, clause in zip(ALL_MODES, (CONSTANT, REFLECT, EDGE, WRAP), strict=True):
    if mode != "wrap":
        case(
            f"{mode}_before_2", Tag.CHANGE, data=GRID, paddings=[1, 2, 2, 3], mode=mode, before=2, cites=(MODES, FORMAT)
        )
        earlier: dict[str, Any] = {"data": GRID, "pads": [1, 2, 2, 0], "mode": mode, "since": 2, "before": 11}
        case(f"{mode}_before_11", Tag.CHANGE, **earlier, cites=(MODES, FORMAT))
    since = 13 if clause is CONSTANT else 11
    case(mode, data=GRID, pads=[1, 2, 2, 0], mode=mode, since=since, cites=(FORMAT, clause, MODES, GENERATED))
for mode in ("wrap", "symmetric"):
    case(f"mode_{mode}_before_2", Tag.CHANGE, data=GRID, paddings=[1, 2, 2, 3], mode=mode, before=2, rejects=MODES)
    case(f"mode_{mode}_before_11", Tag.CHANGE, data=GRID, pads=[1, 2, 2, 0], mode=mode, before=11, rejects=MODES)
    case(f"mode_{mode}_before_19", Tag.CHANGE, data=GRID, pads=[1, 2, 2, 0], mode=mode, rejects=THREE)
case("mode_unknown", data=GRID, pads=[1, 2, 2, 0], mode="symmetric", rejects=FOUR)

# Version 1 contradicts itself, unless the two orders in its text agree.
case("value_before_2", Tag.CHANGE, data=GRID, paddings=[1, 2, 2, 3], value=-1.5, cites=FILLED)
case("contradiction_before_2", data=TABLE, paddings=[0, 0, 2, 0], unspecified=CONTRADICTION)
case("negative_before_2", data=GRID[0], paddings=[-1, 1], unspecified=REMOVE)
case("too_few_before_2", data=GRID, paddings=[1, 1], before=2, rejects=SHAPE)
case("value", Tag.CHANGE, data=GRID, pads=[1, 2, 2, 0], value=-1.5, cites=FILLED)
case("default", data=GRID, pads=[1, 2, 2, 0], cites=(DEFAULT, CONSTANT))
case("removed_and_added", data=GRID, pads=[-1, 2, 2, -3], cites=REMOVE)
case("removed_and_added_line", data=[0, 1, 2, 3], pads=[-1, 1], cites=REMOVE)
case("beyond_32_bits", Tag.DTYPE, data=typed("int64", [2**40 + 3, -(2**40), 7]), pads=[1, 2], cites=CONSTANT)
case("constant_value", Tag.CHANGE, data=GRID, pads=[1, 2, 2, 0], constant_value=7, cites=SCALAR)
case(
    "constant_value_edge", data=GRID, pads=[1, 2, 2, 0], constant_value=7, mode="edge", **ONCE, cites=(SCALAR, ASSUMED)
)
case("constant_value_vector", Tag.EDGE, data=GRID, pads=[1, 2, 2, 0], constant_value=[7], cites=SCALAR)
case("constant_value_of_two", Tag.EDGE, data=GRID, pads=[1, 2, 2, 0], constant_value=[7, 7], rejects=SCALAR)
ODD = {"nan": np.nan, "infinity": np.inf, "minus_infinity": -np.inf, "minus_zero": -0.0}
case("value", Tag.EDGE, data=GRID, pads=[1, 2, 2, 0], value=vary(**ODD), cites=FILLED)
case("constant_value", Tag.EDGE, data=GRID, pads=[1, 2, 2, 0], constant_value=vary(**ODD), cites=SCALAR)
for type_ in ("float16", "bfloat16", "double"):
    framed: dict[str, Any] = {"data": typed(type_, GRID), "pads": [1, 2, 2, 0], "since": 25}
    constants = vary(**{name: typed(type_, number) for name, number in ODD.items()})
    case(f"constant_value_{type_}", Tag.DTYPE, Tag.EDGE, **framed, constant_value=constants, cites=SCALAR)

# Numbers of elements before and after the values 1 to 5 of a line. An empty key means every mode.
LINES: list[tuple[str, list[int], str, Clause | None]] = [
    ("nothing", [0, 0], "", None),
    ("asymmetric", [3, 1], "", None),
    ("removed", [-1, -2], "", None),
    ("all_but_one", [4, 4], "", None),
    ("all_but_one_removed", [0, -4], "", None),
    ("removed_all", [-2, -3], "constant", None),
    ("mixed", [-1, 2], "constant", None),
    ("mixed_edge", [2, -3], "edge", None),
    ("mixed_reflect", [-1, 2], "reflect", REMOVE),
    ("mixed_wrap", [2, -1], "wrap", REMOVE),
    ("mixed_all_edge", [-5, 2], "edge", EDGE),
    ("mixed_all", [-5, 2], "constant", None),
    ("mixed_beyond", [-6, 2], "constant", REMOVE),
    ("beyond", [9, 7], "constant", None),
    ("beyond_edge", [9, 7], "edge", None),
    ("beyond_wrap", [13, 7], "wrap", None),
    ("beyond_reflect", [5, 0], "reflect", REFLECT),
    ("beyond_reflect_end", [0, 5], "reflect", REFLECT),
]
for name, pads, only, open_ in LINES:
    for mode in [only] if only else ALL_MODES:
        line: dict[str, Any] = {"data": np.arange(1, 6), "pads": pads, "mode": mode, "unspecified": open_}
        case(f"line_{name}_{mode}", Tag.EDGE, **line, **ONCE)
        if mode == only != "wrap":
            case(f"line_{name}_{mode}_before_11", Tag.EDGE, **line, before=11)
for mode in ALL_MODES:
    case(f"one_before_{mode}", Tag.EDGE, data=ramp(3), pads=[1, 0], mode=mode, **ONCE)
case("nothing_before_2", Tag.EDGE, data=ramp(3), paddings=[0, 0], before=2, cites=MODES)
case("removed_too_many", Tag.EDGE, data=ramp(5), pads=[-3, -3], rejects=REMOVE)
for mode in ALL_MODES:
    case(f"cube_{mode}", data=CUBE, pads=[1, 0, 3, 2, 1, 0], mode=mode, **ONCE)
    case(f"rank0_{mode}", Tag.EDGE, data=ramp(), pads=[], mode=mode, **ONCE)
    no_edge = None if mode == "constant" else EDGE
    case(f"zero_size_{mode}", Tag.EDGE, data=ramp(2, 0), pads=[0, 1, 0, 2], mode=mode, **ONCE, unspecified=no_edge)
    case(f"zero_size_beside_{mode}", Tag.EDGE, data=ramp(3, 0), pads=[1, 0, 2, 0], mode=mode, **ONCE)
    no_mirror = REFLECT if mode == "reflect" else None
    case(f"size_one_{mode}", Tag.EDGE, data=[[7]], pads=[0, 1, 0, 2], mode=mode, **ONCE, unspecified=no_mirror)
for type_ in ("string", "bool", "bfloat16", "int4", "complex64"):
    hard: dict[str, Any] = {"data": typed(type_, extremes(4)), "pads": [2, 1], "since": 25}
    case(f"value_{type_}", Tag.DTYPE, **hard, constant_value=typed(type_, 1), cites=SCALAR)
    for mode in ALL_MODES:
        case(f"{mode}_{type_}", Tag.DTYPE, Tag.EDGE, **hard, mode=mode, cites=DEFAULT)
SOME_AXES = vary(turned=[2, 0], back=[-3, -1])
case("axes", Tag.AXIS, data=CUBE, pads=[1, 2, 3, 0], axes=SOME_AXES, **ONCE, cites=(APPLY, RANGE, BACK))
case("axes_none", Tag.AXIS, data=CUBE, pads=[], axes=[], **ONCE, cites=(APPLY, RANGE, BACK))
case("axes_repeated", Tag.EDGE, data=GRID, pads=[1, 1, 1, 1], axes=[1, -1], **ONCE, unspecified=REPEATED)
case("axes_scalar", Tag.EDGE, data=ramp(5), pads=[1, 1], axes=0, rejects=APPLY)
case("axis_outside", Tag.AXIS, data=GRID, pads=[1, 1], axes=[2], rejects=RANGE)
for name, shape, axis in axes():
    case(name, Tag.AXIS, data=ramp(*shape), pads=[1, 2], axes=[axis], mode="edge", **ONCE, cites=BACK)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, data=ramp(*shape), pads=[1, 2], axes=[axis], **ONCE, rejects=RANGE)
case("pads_few", data=GRID, pads=[1, 1], since=2, rejects=SHAPE)
for type_, clause in (("string", NUMERIC), ("bool", NUMERIC), ("int32", FLOATS)):
    case(f"outside_{type_}", Tag.CHANGE, data=typed(type_, ramp(3)), pads=[1, 2], rejects=clause)

AROUND: dict[str, tuple[Dims, list[dict[str, int]], list[int]]] = {
    "vector": (("n",), grid(n=(9, 64, 1025)), [3, 5]),
    "columns": (("m", "n"), grid(m=(7,), n=(9, 64)), [0, 4, 0, 1]),
    "rows": (("m", "n"), grid(m=(9,), n=(5, 64)), [2, 0, 1, 0]),
    "image": (("b", "c", "h", "w"), grid(b=(2,), c=(3,), h=(14,), w=(9, 16, 33)), [0, 0, 1, 1, 0, 0, 1, 1]),
    "image_uneven": (("b", "c", "h", "w"), grid(b=(2,), c=(8,), h=(9,), w=(9, 32)), [0, 0, 0, 2, 0, 0, 1, 3]),
    "volume": (
        ("b", "c", "d", "h", "w"), grid(b=(1,), c=(3,), d=(5,), h=(7,), w=(9, 16)), [0, 0, 1, 2, 3, 0, 0, 3, 2, 1]
    ),
    "all_axes": (("a", "b", "c"), grid(a=(5,), b=(8,), c=(9, 33)), [2, 3, 4, 1, 2, 3]),
}  # fmt: skip
"""The dimensions of the data, the sizes, and the padding. Every padded dimension has more elements than the padding."""
SENTENCE_OF = {"constant": CONSTANT, "reflect": REFLECT, "edge": EDGE, "wrap": WRAP}
for name, (dims, sizes, around) in AROUND.items():
    for mode in ALL_MODES:
        PAD.sized(
            f"{name}_{mode}",
            sizes,
            each="T" if (name, mode) in {("vector", "constant"), ("image", "reflect")} else None,
            cites=(GENERATED, SENTENCE_OF[mode]),
            arguments={"data": filled(*dims), "pads": around, "mode": mode},
        )
PAD.sized(
    "axes",
    grid(b=(2,), s=(33, 64), d=(8, 17)),
    cites=APPLY,
    arguments={"data": filled("b", "s", "d"), "pads": [31, 2], "axes": [1], "constant_value": -1.5},
)
PAD.sized(
    "crop",
    grid(b=(2,), c=(3,), h=(28,), w=(16, 33)),
    cites=REMOVE,
    arguments={"data": filled("b", "c", "h", "w"), "pads": [0, 0, -1, -2, 0, 0, -3, -1]},
)
for mode in ALL_MODES:
    PAD.sized(
        f"large_{mode}",
        grid(b=(2,), c=(8,), h=(64,), w=(65,)),
        cites=(GENERATED, SENTENCE_OF[mode]),
        arguments={"data": filled("b", "c", "h", "w"), "pads": [0, 0, 3, 3, 0, 0, 3, 3], "mode": mode},
    )
