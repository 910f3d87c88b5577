# SPDX-License-Identifier: Apache-2.0
"""Det: the determinant of each square matrix.

    Y = Det(X)

Versions: 11, 22 (bfloat16).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.data import FLOATS as LIMITS
from onnx_conformance.declare.families.sums import but_where, overflows
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MATRIX = 2
"""The rank of a matrix."""


def _terms(X: Array) -> Iterator[tuple[int, Array]]:
    """Yield, for each order of the columns, its sign and the product of the picked elements, one from each row."""
    size = X.shape[-1]
    for order in itertools.permutations(range(size)):
        inversions = sum(one > other for one, other in itertools.combinations(order, 2))
        yield (-1) ** inversions, X[..., np.arange(size), list(order)].prod(-1)


def _magnitude(X: Array) -> Array:
    """Return the sums of the absolute products."""
    return np.asarray(sum(np.abs(product) for _, product in _terms(X)))


def _rounding(X: Array) -> list[Array]:
    """Return M roundings of every element that elimination computes, times the factor of that element.

    In elimination with multipliers up to 1, an element can become as large as the sum of its column or row.
    """
    size, wide = X.shape[-1], np.abs(X.astype(np.longdouble))
    errors = 2 * _magnitude(wide)  # Roundings of the product of the pivots, and of a 1 x 1 matrix.
    with np.errstate(all="ignore"):
        for row, column in itertools.product(range(size), repeat=2):
            rest = np.delete(np.delete(wide, row, -2), column, -1)
            made = np.maximum(wide[..., column].sum(-1), wide[..., row, :].sum(-1))
            errors = errors + made * _magnitude(rest) * (size if size > 1 else 0)
        own = np.abs(_determinants(X.astype(np.longdouble)))
        by_logarithms = own * np.abs(
            np.log(np.where(own > 0, own, 1))
        )  # numpy.linalg.det adds the logarithms of the pivots.
        return [(errors + by_logarithms + own).astype(np.float64)]


def _determinants(X: Array) -> Array:
    """Return the sums of the products, each with its sign."""
    return np.asarray(sum(sign * product for sign, product in _terms(X)))


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the output.

    Models without an expected output must state one too, so it is computed for any input.
    """
    return max(0, np.ndim(arguments.get("X", 0)) - MATRIX)


DET = Op(
    "Det",
    versions=(11, 22),
    compare=bounded(
        _rounding, "elimination with partial pivoting, or products and their sums, in float32 or a wider type"
    ),
    rank=_rank,
)
DET.example(X=[[1, 2, 0], [3, 1, 4], [2, 5, 1]])

COMPUTES = DET.clause(
    "Det calculates determinant of a square matrix or batches of square matrices.",
    note="The determinant of a matrix without elements is 1, the empty product. For a 1 x 1 matrix it is the element. "
    "For larger matrices with an infinity or NaN the text does not define the result, and algorithms return different "
    "values.",
)
SQUARE = DET.clause(
    "Det takes one input tensor of shape `[*, M, M]`, where `*` is zero or more batch dimensions, and the inner-most 2 "
    "dimensions form square matrices."
)
OUTPUT = DET.clause(
    "The output is a tensor of shape `[*]`, containing the determinants of all input submatrices.", result=True
)
SCALAR = DET.clause("e.g., When the input is 2-D, the output is a scalar(shape is empty: `[]`).", result=True)
FLOATS = DET.clause("Constrain input and output types to floating-point tensors.")


@DET.oracle()
def determinants(v: Version, X: Array) -> Array | PartlyOpen:
    """Return the determinant of each matrix."""
    v.require(SQUARE, X.ndim >= MATRIX and X.shape[-1] == X.shape[-2])
    v.silent(COMPUTES, X.shape[-1] > 1 and not np.isfinite(X).all())
    wide = X.astype(np.longdouble)
    total = _determinants(wide)
    return but_where(overflows(total, _magnitude(wide), v.dtypes["T"]), total)


def uneven(*shape: int) -> Array:
    """Return numbers of both signs in rows that are linearly independent, unlike those of `waves`."""
    return np.asarray(np.cos(np.arange(1, math.prod(shape) + 1) ** 2 * 0.7) * 3).reshape(shape)


case = DET.case
EXACT = {
    "one_by_one": [[-3]],
    "two_by_two": [[1, 2], [3, 5]],
    "three_by_three": [[2, -1, 3], [4, 0, 1], [-2, 5, 6]],
    "four_by_four": [[1, 2, 0, -1], [3, 1, 4, 2], [0, -2, 5, 1], [2, 2, 1, 3]],
    "swapped_rows": np.eye(3)[[1, 0, 2]],
    "cyclic_rows_of_four": np.eye(4)[[1, 2, 3, 0]] * [2, 3, 5, 7],
    "upper_triangle": [[2, 7, 1], [0, 3, 9], [0, 0, -5]],
    "lower_triangle": [[2, 0, 0], [7, 3, 0], [1, 9, -5]],
    "zero_first_pivot": [[0, 2, 1], [3, 0, 1], [1, 1, 0]],
    "zero_pivot_on_the_way": [[1, 2, 3], [2, 4, 1], [3, 1, 2]],
    "repeated_row": [[1, 2, 3], [4, 5, 6], [1, 2, 3]],
    "row_of_zeros": [[1, 2, 3], [0, 0, 0], [4, 5, 6]],
    "all_zeros": np.zeros((3, 3)),
    "counted": np.arange(1, 10).reshape(3, 3),
    "five_by_five": uneven(5, 5),
    "fractions": [[0.1, 0.7], [-1 / 3, 0.9]],
}
for name, matrix in EXACT.items():
    case(name, X=matrix, cites=(COMPUTES, SCALAR))
BATCHES: list[tuple[int, ...]] = [(2, 3, 3), (3, 2, 2), (2, 3, 4, 4), (3, 1, 2, 2, 2), (5, 1, 1), (1, 3, 3)]
for shape in BATCHES:
    case(f"batch_{'x'.join(map(str, shape))}", X=uneven(*shape), cites=(SQUARE, OUTPUT))
NOTHING: list[tuple[int, ...]] = [(0, 3, 3), (2, 0, 3, 3), (0, 1, 1), (0, 0, 0)]
for shape in NOTHING:
    case(f"no_matrices_{'x'.join(map(str, shape))}", Tag.EDGE, X=ramp(*shape), cites=OUTPUT)
case("zero_by_zero", Tag.EDGE, X=ramp(0, 0), cites=(COMPUTES, SCALAR))
case("batch_of_zero_by_zero", Tag.EDGE, X=ramp(2, 0, 0), cites=(COMPUTES, OUTPUT))
MIXED = [[[1, 2], [2, 4]], [[2, 0], [0, 3]], [[0, 1], [1, 0]]]
case("batch_with_a_singular_matrix", X=MIXED, cites=OUTPUT)
case("scales_apart", Tag.EDGE, X=[[1e-4, 1], [1, 1]], cites=COMPUTES)  # The first pivot has to be swapped.
ONES: dict[str, float] = {"infinity": np.inf, "minus_infinity": -np.inf, "nan": np.nan, "minus_zero": -0.0}
for name, value in ONES.items():
    case(f"one_by_one_{name}", Tag.EDGE, X=[[value]], cites=COMPUTES)
    if name != "minus_zero":
        case(f"with_{name}", Tag.EDGE, X=[[[[value, 1], [2, 3]]]], unspecified=COMPUTES)
for type_, limits in LIMITS.items():
    since = 22 if type_ == "bfloat16" else None
    root = math.sqrt(limits.largest)
    matrices = {
        "beyond": np.diag([root, -2 * root]),
        "large": np.diag([root / 2**20, root]),
        "subnormal": [[limits.smallest_subnormal * 3]],
    }
    for name, matrix in matrices.items():
        case(f"{name}_{type_}", Tag.EDGE, X=typed(type_, matrix), since=since, cites=COMPUTES)
case("one_by_one_nan_in_a_batch", Tag.EDGE, X=[[[np.nan]], [[2]], [[3]]], cites=COMPUTES)
LARGEST = LIMITS["float"].largest
ROOT = math.sqrt(LARGEST)
case("largest", Tag.EDGE, X=[[LARGEST, 0], [0, 1]], cites=COMPUTES)
CANCELS: dict[
    str, list[list[float]]
] = {  # Unspecified: one product or one intermediate value exceeds the largest number.
    "products_beyond": [[1.2 * ROOT, ROOT / 2], [ROOT, 1.2 * ROOT]],
    "twice_the_largest": [[LARGEST, 0, 0], [0, 2, 1], [0, 1, 1]],
}
for name, rows in CANCELS.items():
    case(name, Tag.EDGE, X=[rows, np.arange(len(rows) ** 2).reshape(len(rows), -1) ** 2], cites=COMPUTES)
case("dtypes_batch", Tag.DTYPE, each="T", X=uneven(2, 3, 3), cites=FLOATS)
case("dtypes_integers", Tag.DTYPE, each="T", X=EXACT["four_by_four"], cites=FLOATS)

case("rank0", Tag.EDGE, X=3, rejects=SQUARE)
case("rank1", Tag.EDGE, X=[1, 2, 3], rejects=SQUARE)
MISFITS: list[tuple[int, ...]] = [(2, 3), (3, 2), (1, 3), (3, 3, 2), (3, 2, 3), (0, 2), (2, 0)]
for shape in MISFITS:
    case(f"not_square_{'x'.join(map(str, shape))}", X=ramp(*shape), rejects=SQUARE)
case("outside", Tag.DTYPE, outside="T", X=[[1, 2], [3, 4]], rejects=FLOATS)

# The cost of the oracle grows with the factorial of the number of rows.
DET.sized(
    "batch", grid(b=(1, 3, 17, 65, 4225), n=(2, 3, 4)), each="T", cites=COMPUTES, arguments={"X": filled("b", "n", "n")}
)
DET.sized("matrix", grid(n=(1, 2, 3, 4, 5, 6)), each="T", cites=COMPUTES, arguments={"X": filled("n", "n")})
