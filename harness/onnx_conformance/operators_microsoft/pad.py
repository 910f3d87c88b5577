# SPDX-License-Identifier: Apache-2.0
"""Pad: add elements around a tensor, or remove some from its ends.

    output = Pad(data, pads, value=None, mode="constant")

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Clause, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import Dims, filled, grid

PAD = Op("Pad", versions=(1,), compare=EXACT, domain="com.microsoft", rank="data")
PAD.example(data=ramp(4, 5), pads=[1, 2, 2, 0], value=7, mode="edge")

GIVEN = PAD.clause("Given `data` tensor, pads, mode, and value.")
EXAMPLE = PAD.clause(
    "Insert 0 pads to the beginning of the second dimension.",
    note="The output of the example has one pair of brackets too many. Output and data have the same rank.",
)
EXAMPLE_OUTPUT = PAD.clause("[0.0, 0.0, 1.0, 1.2], [0.0, 0.0, 2.3, 3.4], [0.0, 0.0, 4.5, 5.7],")
REMOVE = PAD.clause(
    "Tensor of integers indicating the number of padding elements to add or remove (if negative) at the beginning and "
    "end of each axis.",
    note="It is not possible to remove more elements than there are. The text does not define the order "
    "of removing and reflecting, or the removal of more elements from one end than there are.",
)
PIXELS = PAD.clause("For 2D input tensor, it is the number of pixels.")
SHAPE = PAD.clause(
    "`pads` should be a 1D tensor of shape [2 * input_rank] or a 2D tensor of shape [1, 2 * input_rank]."
)
FORMAT = PAD.clause(
    "`pads` format (1D example) should be as follow [x1_begin, x2_begin,...,x1_end, x2_end,...], where xi_begin is the "
    "number of pixels added at the beginning of axis `i` and xi_end, the number of pixels added at the end of axis "
    "`i`.",
    result=True,
)
MODES = PAD.clause("Three modes: `constant`(default)")
CONSTANT = PAD.clause("`constant`(default) - pads with a given constant value")
REFLECT = PAD.clause(
    "`reflect` - pads with the reflection of the vector mirrored on the first and last values of the vector along each "
    "axis",
    note="The text does not define how to continue if there are no more values to mirror.",
)
EDGE = PAD.clause("`edge` - pads with the edge values of array", note="Without values there is no edge.")
SCALAR = PAD.clause("A scalar or rank 1 tensor containing a single value to be filled if the mode chosen is `constant`")
DEFAULT = PAD.clause("(by default it is 0.0)")
OUTPUT = PAD.clause("Tensor after padding.")


def _indices(v: Version, n: int, begin: int, end: int, mode: str) -> Array:
    """Return for each element along an axis the index of its value among n. Indices out of range mean the constant."""
    indices = np.arange(-begin, n + end)
    outside = (indices < 0) | (indices >= n)
    v.silent(REMOVE, -begin > n or -end > n)
    if mode == "constant" or not outside.any():
        return indices
    if mode == "edge":
        v.silent(EDGE, n + min(begin, end, 0) < 1)
        return np.clip(indices, 0, n - 1)
    v.silent(REMOVE, min(begin, end) < 0)
    v.silent(REFLECT, max(begin, end) > n - 1)
    return np.asarray(n - 1 - np.abs(n - 1 - np.abs(indices)))


@PAD.oracle()
def padded(v: Version, data: Array, pads: Array, value: Array | None, mode: str) -> Array:
    """Return `data` with elements added or removed at both ends of each axis."""
    v.require(MODES, mode in {"constant", "reflect", "edge"})
    v.require(SHAPE, pads.shape in {(2 * data.ndim,), (1, 2 * data.ndim)})
    v.require(SCALAR, value is None or (value.ndim <= 1 and value.size == 1))
    fill = 0.0 if value is None else value.item()
    for axis, (begin, end) in enumerate(pads.reshape(2, data.ndim).T.tolist()):
        n = data.shape[axis]
        v.require(REMOVE, n + begin + end >= 0)
        indices = _indices(v, n, begin, end, mode)
        inside = (indices >= 0) & (indices < n)
        result = np.full((*data.shape[:axis], len(indices), *data.shape[axis + 1 :]), fill)
        result[(slice(None),) * axis + (inside,)] = np.take(data, indices[inside], axis)
        data = result
    return data


case = PAD.case

TABLE = [[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]]
GRID, CUBE = np.arange(1, 21).reshape(4, 5), np.arange(1, 61).reshape(3, 4, 5)
SENTENCE_OF = {"constant": CONSTANT, "reflect": REFLECT, "edge": EDGE}

case("example", data=TABLE, pads=[0, 2, 0, 0], cites=(EXAMPLE, EXAMPLE_OUTPUT))
case("default", data=GRID, pads=[1, 2, 2, 0], cites=(DEFAULT, MODES, GIVEN, PIXELS))
for mode, clause in SENTENCE_OF.items():
    case(mode, data=GRID, pads=[1, 2, 2, 0], mode=mode, cites=(FORMAT, clause, MODES))
    case(f"pads_row_{mode}", data=GRID, pads=[[1, 2, 2, 0]], mode=mode, cites=SHAPE)
    case(f"value_{mode}", data=GRID, pads=[1, 2, 2, 0], value=7, mode=mode, cites=(SCALAR, clause))
    case(f"dtypes_{mode}", Tag.DTYPE, each="T", data=GRID, pads=[1, 2, 2, 0], value=-1.5, mode=mode, cites=clause)
    case(f"cube_{mode}", data=CUBE, pads=[1, 0, 3, 2, 1, 0], mode=mode, cites=(OUTPUT, clause))
    case(f"cube_pads_row_{mode}", data=CUBE, pads=[[1, 0, 3, 2, 1, 0]], mode=mode, cites=SHAPE)
    case(f"rank0_{mode}", Tag.EDGE, data=ramp(), pads=[], mode=mode, cites=SHAPE)
    case(f"one_before_{mode}", Tag.EDGE, data=ramp(3), pads=[1, 0], mode=mode, cites=clause)
    no_edge = None if mode == "constant" else clause
    case(f"zero_size_{mode}", Tag.EDGE, data=ramp(2, 0), pads=[0, 1, 0, 2], mode=mode, unspecified=no_edge)
    case(f"zero_size_beside_{mode}", Tag.EDGE, data=ramp(3, 0), pads=[1, 0, 2, 0], mode=mode)
    no_mirror = REFLECT if mode == "reflect" else None
    case(f"size_one_{mode}", Tag.EDGE, data=[[7]], pads=[0, 1, 0, 2], mode=mode, unspecified=no_mirror)
    for type_ in ("float16", "float", "double"):
        case(
            f"extremes_{mode}_{type_}", Tag.EDGE, data=typed(type_, extremes(11)), pads=[2, 1], mode=mode, cites=clause
        )
for mode in ("wrap", "symmetric", "CONSTANT"):
    case(f"mode_{mode.lower()}", data=GRID, pads=[1, 2, 2, 0], mode=mode, rejects=MODES)
case("removed_and_added", data=GRID, pads=[-1, 2, 2, -3], cites=REMOVE)
case("removed_and_added_line", data=[0, 1, 2, 3], pads=[-1, 1], cites=REMOVE)
case("removed_too_many", Tag.EDGE, data=ramp(5), pads=[-3, -3], rejects=REMOVE)
case("value_vector", Tag.EDGE, data=GRID, pads=[1, 2, 2, 0], value=[7], cites=SCALAR)
case("value", Tag.EDGE, data=GRID, pads=[1, 2, 2, 0], value=vary(two=[7, 7], none=[], matrix=[[7]]), rejects=SCALAR)
ODD = {"nan": np.nan, "infinity": np.inf, "minus_infinity": -np.inf, "minus_zero": -0.0}
for type_ in ("float16", "float", "double"):
    constants = vary(**{name: typed(type_, number) for name, number in ODD.items()})
    case(f"value_{type_}", Tag.DTYPE, Tag.EDGE, data=typed(type_, GRID), pads=[1, 2, 2, 0], value=constants)
PADS = vary(too_few=[1, 1], too_many=[1] * 6, column=[[1], [2], [2], [0]], two_rows=[[1, 2], [2, 0]])
case("pads", data=GRID, pads=PADS, rejects=SHAPE)
case("pads_scalar", Tag.EDGE, data=ramp(5), pads=1, rejects=SHAPE)

# Numbers of elements before and after the values 1 to 5 of a line. An empty mode means every mode.
LINES: list[tuple[str, list[int], str, Clause | None]] = [
    ("nothing", [0, 0], "", None),
    ("asymmetric", [3, 1], "", None),
    ("removed", [-1, -2], "", None),
    ("all_but_one", [4, 4], "", None),
    ("all_but_one_removed", [0, -4], "", None),
    ("removed_all", [-2, -3], "", None),
    ("mixed", [-1, 2], "constant", None),
    ("mixed_edge", [2, -3], "edge", None),
    ("mixed_edge_end", [-4, 3], "edge", None),
    ("mixed_reflect", [-1, 2], "reflect", REMOVE),
    ("mixed_reflect_end", [2, -1], "reflect", REMOVE),
    ("mixed_all_edge", [-5, 2], "edge", EDGE),
    ("mixed_all_edge_end", [2, -5], "edge", EDGE),
    ("mixed_all", [-5, 2], "constant", None),
    ("mixed_all_end", [2, -5], "constant", None),
    ("mixed_beyond", [-6, 2], "constant", REMOVE),
    ("mixed_beyond_end", [2, -6], "constant", REMOVE),
    ("beyond", [9, 7], "constant", None),
    ("beyond_edge", [9, 7], "edge", None),
    ("beyond_reflect", [5, 0], "reflect", REFLECT),
    ("beyond_reflect_end", [0, 5], "reflect", REFLECT),
]
for name, pads, only, open_ in LINES:
    for mode in [only] if only else SENTENCE_OF:
        case(f"line_{name}_{mode}", Tag.EDGE, data=np.arange(1, 6), pads=pads, mode=mode, unspecified=open_)

AROUND: dict[str, tuple[Dims, list[dict[str, int]], list[int]]] = {
    "vector": (("n",), grid(n=(9, 64, 1025)), [3, 5]),
    "columns": (("m", "n"), grid(m=(7,), n=(9, 64)), [0, 4, 0, 1]),
    "rows": (("m", "n"), grid(m=(9,), n=(5, 64)), [2, 0, 1, 0]),
    "image": (("b", "c", "h", "w"), grid(b=(2,), c=(3,), h=(14,), w=(9, 16, 33)), [0, 0, 1, 1, 0, 0, 1, 1]),
    "image_uneven": (("b", "c", "h", "w"), grid(b=(2,), c=(8,), h=(9,), w=(9, 32)), [0, 0, 0, 2, 0, 0, 1, 3]),
    "all_axes": (("a", "b", "c"), grid(a=(5,), b=(8,), c=(9, 33)), [2, 3, 4, 1, 2, 3]),
    "large": (("b", "c", "h", "w"), grid(b=(2,), c=(8,), h=(64,), w=(65,)), [0, 0, 3, 3, 0, 0, 3, 3]),
}
"""The dimensions of the data, the sizes, and the padding. Every padded dimension has more elements than the padding."""
for name, (dims, sizes, around) in AROUND.items():
    for mode, clause in SENTENCE_OF.items():
        arguments: dict[str, Any] = {"data": filled(*dims), "pads": around, "mode": mode}
        PAD.sized(
            f"{name}_{mode}", sizes, each="T" if name in {"vector", "image"} else None, cites=clause,
            arguments=arguments,
        )  # fmt: skip
PAD.sized(
    "crop",
    grid(b=(2,), c=(3,), h=(28,), w=(16, 33)),
    cites=REMOVE,
    arguments={"data": filled("b", "c", "h", "w"), "pads": [0, 0, -1, -2, 0, 0, -3, -1]},
)
