# SPDX-License-Identifier: Apache-2.0
"""Unique: return the different elements of a tensor, or its different subtensors along an axis.

    Y, indices, inverse_indices, counts = Unique(X, axis=None, sorted=1)

Versions: 11, 28 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Clause,
    Int,
    Op,
    Tag,
    Version,
    axes_outside,
    extremes,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.sizes import among, filled, grid

UNIQUE = Op(
    "Unique",
    versions=(11, 28),
    compare=EXACT,
    rank=lambda arguments: 1 if arguments.get("axis") is None else np.ndim(arguments.get("X", 0)),
)
UNIQUE.example(X=ramp(2, 3, 4), axis=1, sorted=0)

ALONG = UNIQUE.clause(
    "When an optional attribute 'axis' is provided, unique subtensors sliced along the 'axis' are returned."
)
FLAT = UNIQUE.clause("Otherwise the input tensor is flattened and unique values of the flattened tensor are returned.")
ALL = UNIQUE.clause(
    "The first output tensor 'Y' contains all unique values or subtensors of the input.",
    note="The text does not define whether several NaN are one value, or whether -0 and +0 are one value.",
)
FIRSTS = UNIQUE.clause("'indices' contains indices of 'Y' elements' first occurrence in 'X'.")
INVERSE = UNIQUE.clause("'inverse_indices' contains, for elements of 'X', its corresponding indices in 'Y'.")
COUNTS = UNIQUE.clause("'counts' contains the count of each element of 'Y' in the input.")
ORDERED = UNIQUE.clause(
    "Outputs are either sorted in ascending order or optionally in the order of the first occurrence of the values in "
    "the input.",
    note="The order of subtensors is that of their first elements that differ, as in numpy.unique, which the text "
    "names. Complex numbers have no order.",
)
ONE_D = UNIQUE.clause(
    "A 1-D INT64 tensor containing the count of each element of 'Y' in input 'X'",
    see=("https://github.com/onnx/onnx/issues/6133", "https://github.com/onnx/onnx/pull/8180"),
)
INDICES_ALONG = UNIQUE.clause("it contains indices to subtensors in input 'X' on the 'axis'.")
INDICES_FLAT = UNIQUE.clause("it contains indices to values in the flattened input tensor.")
BACK = UNIQUE.clause("Negative value means counting dimensions from the back.")
RANGE = UNIQUE.clause("Accepted range is [-r, r-1] where r = rank(input).")
WHETHER = UNIQUE.clause("Whether to sort the unique elements in ascending order before returning as output.")
ZERO_OR_ONE = UNIQUE.clause("Must be one of 0, or 1 (default).")
EXAMPLE_1 = UNIQUE.clause(
    "output_Y = [2, 1, 3, 4] output_indices = [0, 1, 3, 4] output_inverse_indices = [0, 1, 1, 2, 3, 2]"
)
EXAMPLE_2 = UNIQUE.clause(
    "output_Y = [1, 2, 3] output_indices = [0, 2, 1] output_inverse_indices = [0, 2, 1, 2] output_counts = [1, 1, 2]"
)
EXAMPLE_3 = UNIQUE.clause(
    "output_Y = [[1, 0, 0], [2, 3, 4]] output_indices = [0, 2] output_inverse_indices = [0, 0, 1] output_counts = [2, "
    "1]"
)
EXAMPLE_4 = UNIQUE.clause(
    "output_Y is constructed from B: ``` [[[0. 1.], [1. 1.], [2. 1.]], [[0. 1.], [1. 1.], [2. 1.]]]"
)


@UNIQUE.oracle()
def unique(v: Version, X: Array, axis: Int, sorted: int) -> tuple[Array, Array, Array, Array]:
    """Return Y, indices, inverse_indices and counts."""
    v.require(ZERO_OR_ONE, sorted in {0, 1})
    v.require(RANGE, axis is None or -X.ndim <= axis < X.ndim)
    v.ordered(ALL, X)
    if X.dtype.kind in "fc":
        zeros = [part[part == 0] for part in (X.real, X.imag)]
        v.silent(ALL, any(bool(np.signbit(part).any()) and not np.signbit(part).all() for part in zeros))
    slices = X.ravel() if axis is None else np.moveaxis(X, axis, 0)
    elements = [tuple(item.ravel().tolist()) for item in map(np.asarray, slices)]
    different = list(dict.fromkeys(elements))
    if sorted:
        v.silent(ORDERED, X.dtype.kind == "c" and len(different) > 1)
        different.sort()
    place = {item: index for index, item in enumerate(different)}
    inverse = np.array([place[item] for item in elements], np.int64)
    first: dict[Any, int] = {}
    for index, item in enumerate(elements):
        first.setdefault(item, index)
    indices = np.array([first[item] for item in different], np.int64)
    counts = np.bincount(inverse, minlength=len(different))
    return X.ravel()[indices] if axis is None else np.take(X, indices, axis), indices, inverse, counts


case = UNIQUE.case
TABLE = [[5, 3, 5, 1], [3, 3, 9, 3], [5, 3, 5, 1]]
CUBE = [[[1, 1], [0, 1], [2, 1], [0, 1]], [[1, 1], [0, 1], [2, 1], [0, 1]]]
BLOCK = np.array([[[4, 4, 1], [2, 2, 7]], [[0, 0, 3], [4, 4, 4]], [[4, 4, 1], [2, 2, 7]], [[4, 4, 0], [9, 9, 9]]])

case("example_1", X=[2, 1, 1, 3, 4, 3], sorted=0, n=4, cites=(EXAMPLE_1, ORDERED))
case("example_2", X=[[1, 3], [2, 3]], sorted=1, n=4, cites=(EXAMPLE_2, FLAT))
case("example_3", X=[[1, 0, 0], [1, 0, 0], [2, 3, 4]], sorted=1, axis=0, n=4, cites=(EXAMPLE_3, ALONG))
case("example_4", X=CUBE, sorted=1, axis=1, n=4, cites=(EXAMPLE_4, ALONG))
ORDERS: dict[str, tuple[dict[str, Any], Clause]] = {
    "default": ({}, ZERO_OR_ONE),
    "unsorted": ({"sorted": 0}, WHETHER),
    "sorted": ({"sorted": 1}, WHETHER),
}
for name, (order, clause) in ORDERS.items():
    case(f"{name}_flat", X=TABLE, **order, n=4, cites=(FLAT, ALL, FIRSTS, INVERSE, COUNTS, INDICES_FLAT, clause))
    case(f"{name}_vector", X=[7, -2, 7, 0, -2, 7, 3], **order, n=4, cites=(ORDERED, ONE_D, clause))
    for axis in range(3):
        case(f"{name}_axis_{axis}", Tag.AXIS, X=BLOCK, axis=axis, **order, n=4, cites=(ALONG, INDICES_ALONG, clause))
        case(f"{name}_axis_minus_{3 - axis}", Tag.AXIS, X=BLOCK, axis=axis - 3, **order, n=4, cites=(BACK, RANGE))
    case(f"{name}_rank0", Tag.EDGE, X=3, **order, n=4, cites=(FLAT, clause))
    case(f"{name}_one", Tag.EDGE, X=[[3]], axis=1, **order, n=4, cites=(ALONG, clause))
    case(f"{name}_all_equal", Tag.EDGE, X=[4, 4, 4, 4], **order, n=4, cites=(COUNTS, clause))
    case(f"{name}_all_different", Tag.EDGE, X=[4, 1, 3, 2, 0], **order, n=4, cites=(COUNTS, clause))
    case(f"{name}_cycle", X=[30, 10, 20, 30, 10], **order, n=4, cites=(INVERSE, clause))
    case(f"{name}_empty", Tag.EDGE, X=ramp(0), **order, n=4, cites=(FLAT, clause))
    case(f"{name}_empty_matrix", Tag.EDGE, X=ramp(2, 0, 3), **order, n=4, cites=(FLAT, clause))
    case(f"{name}_empty_axis", Tag.EDGE, X=ramp(3, 0), axis=1, **order, n=4, cites=(ALONG, clause))
    case(f"{name}_infinities", Tag.EDGE, X=[np.inf, 0, -np.inf, np.inf, -1], **order, n=4, cites=ORDERED)
case("empty_subtensors", Tag.EDGE, X=ramp(3, 0), axis=0, n=4, cites=ALONG)
case("order_by_later_elements", X=[[1, 3], [1, 2], [0, 9], [1, 2]], axis=0, n=4, cites=ORDERED)
case("order_of_negatives", X=[-1, -10, 5, -3, 0], n=4, cites=ORDERED)
case("near_neighbours", Tag.EDGE, X=typed("float", [1, np.nextafter(np.float32(1), np.float32(2)), 1]), n=4, cites=ALL)
case("int64_neighbours", Tag.EDGE, X=typed("int64", [2**53 + 1, 2**53, 2**53 + 1]), n=4, cites=ALL)
case("subnormals", Tag.EDGE, X=[1e-45, 0, -1e-45, 1e-45], n=4, cites=ALL)

OUTPUTS = ("indices", "inverse_indices", "counts")
for count in (1, 2, 3, 4):
    case(f"outputs_{count}", X=TABLE, n=count, cites=ALL)
    case(f"outputs_{count}_axis", X=TABLE, axis=0, n=count, cites=ALL)
for name in OUTPUTS:
    left = tuple(item for item in OUTPUTS if item != name)
    case(f"{name}_alone", X=TABLE, sorted=0, n=4, omits=left, cites=ALL)
    case(f"{name}_left_out", X=TABLE, n=4, omits=(name,), cites=ALL)

case("nan", Tag.EDGE, X=[1, np.nan, 2, np.nan], n=4, unspecified=ALL)
case("two_zeros", Tag.EDGE, X=[0.0, -0.0, 1], n=4, unspecified=ALL)
case("negative_zeros", Tag.EDGE, X=[-0.0, 1, -0.0], n=4, cites=ALL)
case("complex_sorted", Tag.EDGE, X=typed("complex64", [1j, 1, 1j]), n=4, unspecified=ORDERED)
case("complex_one", Tag.EDGE, X=typed("complex64", [1j, 1j]), n=4, cites=COUNTS)
case("sorted", Tag.EDGE, X=TABLE, sorted=vary(minus_1=-1, two=2), rejects=ZERO_OR_ONE)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, X=ramp(*shape), axis=axis, rejects=RANGE)

case("dtypes_flat", Tag.DTYPE, each="T", X=[[1, 0], [0, 1], [1, 1]], sorted=0, n=4, cites=ALL)
ORDERABLE = {f"{kind}int{bits}": 11 for kind in ("", "u") for bits in (8, 16, 32, 64)}
ORDERABLE |= {"bool": 11, "float16": 11, "float": 11, "double": 11, "bfloat16": 28}
for type_, first in ORDERABLE.items():
    unordered = typed(type_, [[1, 0, 1], [1, 0, 0], [0, 1, 1], [1, 0, 0]])
    case(f"sorted_{type_}", Tag.DTYPE, X=unordered, axis=0, n=4, since=first, cites=ORDERED)
    case(f"sorted_flat_{type_}", Tag.DTYPE, X=unordered, n=4, since=first, cites=ORDERED)
    if "int" in type_:
        case(f"limits_{type_}", Tag.EDGE, X=typed(type_, extremes(9)), n=4, cites=ORDERED)
case("sorted_string", Tag.DTYPE, X=typed("string", ["b", "a", "", "ab", "b", "aa"]), n=4, cites=ORDERED)
case("unsorted_string", Tag.DTYPE, X=typed("string", extremes(10)), sorted=0, n=4, cites=ALL)

for name, whether in {"sorted": 1, "unsorted": 0}.items():
    UNIQUE.sized(
        name,
        grid(n=(7, 16, 65, 1025, 4097)),
        n=4,
        each="T" if name == "sorted" else None,
        but=("complex64", "complex128"),
        cites=(ALL, ORDERED, COUNTS),
        arguments={"X": among(range(1, 40), "n"), "sorted": whether},
    )
    for axis in (0, 1):
        UNIQUE.sized(
            f"axis_{axis}_{name}",
            grid(m=(9, 33), n=(9, 64)),
            n=4,
            cites=(ALONG, ORDERED),
            arguments={"X": among([1, 2], *(("m", 3) if axis == 0 else (3, "n"))), "axis": axis, "sorted": whether},
        )
UNIQUE.sized("all_different", grid(n=(64, 1025)), n=4, cites=(ALL, ORDERED), arguments={"X": filled("n")})
UNIQUE.sized("large", grid(n=(65_537,)), n=4, cites=(ALL, ORDERED, COUNTS), arguments={"X": among(range(1000), "n")})
