# SPDX-License-Identifier: Apache-2.0
"""MatMul: the matrix product, also of stacks of matrices.

    Y = MatMul(A, B)

Versions: 1, 9 (integers), 13 (bfloat16).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.data import FLOATS as FLOAT_TYPES
from onnx_conformance.declare.families.sums import BEYOND_FLOAT16, but_where, largest, overflows, roundings
from onnx_conformance.declare.sizes import SHORT, filled, grid, pairwise
from onnx_conformance.operators.math._matrix_product import (
    MISFITS,
    SHAPES,
    dimensions_of_product,
    greatest_magnitude,
    product_of_doubles,
    product_of_integers,
    rank_of_product,
    require_product,
    shape_words,
)

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Choice, Dims

FEW = (1, 4, 17, 64, 129)
"""Dimensions of matrices of all types."""


def _magnitudes(A: Array, B: Array) -> Array:
    """Return the sums of the absolute products."""
    with np.errstate(all="ignore"):
        return product_of_doubles(np.abs(A), np.abs(B))


def _rounding(A: Array, B: Array) -> list[Array]:
    """Return half a rounding of all magnitudes for each product and sum; 0 for a single product, rounded once."""
    terms = A.shape[-1]
    return [_magnitudes(A, B) * (roundings(terms + 1) / 2 if terms > 1 else 0)]


MATMUL = Op(
    "MatMul",
    versions=(1, 9, 13),
    compare=bounded(_rounding, "K products and their sums, in any order, round by half an epsilon of all magnitudes"),
    rank=rank_of_product("A", "B"),
    dimensions=dimensions_of_product("A", "B", "Y"),
)
MATMUL.example(A=ramp(2, 3), B=ramp(3, 4))

BEHAVES = MATMUL.clause(
    "Matrix product that behaves like [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html).",
    note="Numpy's text: a vector gets a dimension of 1, which is then removed. Leading dimensions broadcast, the "
    "summed dimension does not. Scalars are rejected (onnx.reference accepts them). A sum of no products is 0 "
    "(onnxruntime leaves the product of [2, 0] and [0] uninitialized). The text does not define an integer sum outside "
    "the range of the type.",
)
MATRIX_A = MATMUL.clause("N-dimensional matrix A")
MATRIX_B = MATMUL.clause("N-dimensional matrix B")
RESULTS = MATMUL.clause("Matrix multiply results from A * B")
FLOATS = MATMUL.clause("Constrain input and output types to float tensors.", before=9)
FLOATS_INTEGERS = MATMUL.clause("Constrain input and output types to float/int tensors.", since=9)


@MATMUL.oracle()
def product(v: Version, A: Array, B: Array) -> Result:
    """Return the product of real numbers; products of integers are exact."""
    require_product(v, BEHAVES, A, B)
    if A.dtype.kind == "f":
        with np.errstate(all="ignore"):
            total = product_of_doubles(A, B)
            most = A.shape[-1] * greatest_magnitude(A) * greatest_magnitude(B)
        if most <= largest(v.dtypes["T"]):  # No sum of some of the terms overflows.
            return but_where(np.zeros(total.shape, bool), total)
        return but_where(overflows(total, _magnitudes(A, B), v.dtypes["T"]), total)
    return v.fitting(BEHAVES, product_of_integers(A, B), A.dtype)


case = MATMUL.case


def waves(*shape: int, start: int = 0) -> Array:
    """Return numbers of both signs. All rows and columns are different."""
    return np.sin((start + np.arange(np.prod(shape, dtype=int))) * 1.7).reshape(shape) * 3


A, B = waves(2, 3), waves(3, 4, start=7)
case("plain", A=A, B=B, cites=(BEHAVES, MATRIX_A, MATRIX_B, RESULTS))
case("whole_numbers", A=[[1, -2, 3], [-4, 5, 6]], B=[[7, 8], [-9, 10], [11, -12]], cites=BEHAVES)
case("order", A=[[0, 1], [0, 0]], B=[[0, 0], [2, 0]], cites=RESULTS)
for name, places in {"cyclic": [2, 0, 1], "reversed": [2, 1, 0]}.items():
    moving = np.eye(3)[places]
    case(f"{name}_rows", A=moving, B=waves(3, 4), cites=BEHAVES)
    case(f"{name}_columns", A=waves(4, 3), B=moving, cites=BEHAVES)

Shape = tuple[int, ...]
STACKS: list[tuple[Shape, Shape]] = [
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((5, 6, 2, 3), (6, 3, 4)),
    ((6, 2, 3), (5, 6, 3, 4)),
    ((5, 1, 2, 3), (1, 6, 3, 4)),
    ((2, 1, 5, 1, 3), (4, 1, 3, 6)),
    ((3,), (5, 6, 3, 2)),
    ((5, 6, 2, 3), (3,)),
    ((1,), (1,)),
    ((1,), (1, 3)),
    ((3, 1), (1,)),
    ((3, 1), (1, 4)),
    ((1, 3), (3, 1)),
    ((1, 1, 1), (1, 1, 1)),
    ((2, 0, 3), (3, 4)),
    ((2, 3, 0), (2, 0, 4)),
    ((0, 2, 3), (3, 4)),
    ((0, 2, 3), (1, 3, 4)),
    ((0,), (0, 3)),
    ((2, 0), (0,)),
    ((0, 0), (0, 0)),
]
for left, right in SHAPES + STACKS:
    case(f"shapes_{shape_words(left, right)}", Tag.EDGE, A=waves(*left), B=waves(*right, start=5), cites=BEHAVES)
NO_BROADCAST: list[tuple[Shape, Shape]] = [
    ((2, 1), (3, 4)),
    ((2, 3), (1, 4)),
    ((1,), (3, 4)),
    ((2, 3), (1,)),
    ((2, 5, 2, 3), (5, 2, 3, 4)),
    ((0, 2, 3), (2, 3, 4)),
    ((), ()),
    ((), (2, 3)),
    ((2, 3), (0, 4)),
    ((5, 2, 3), (5, 4)),
]
for left, right in MISFITS + NO_BROADCAST:
    case(f"misfit_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), rejects=BEHAVES)

LONG = np.cos(np.arange(900.0))
INF, NAN = np.inf, np.nan
case("long", A=LONG[:300].reshape(1, 300), B=LONG[300:].reshape(300, 2), cites=BEHAVES)
MANY = typed("float16", np.abs(np.resize(LONG, (2, 512))) * [[1], [3]])
FOR_MANY = typed("float16", np.abs(np.resize(LONG[::-1], (512, 3))) * [1, 2, 4])
case("many_terms_float16", Tag.EDGE, A=MANY, B=FOR_MANY, cites=BEHAVES)
TERMS_BEYOND, ADDED = typed("float16", BEYOND_FLOAT16), typed("float16", np.ones((5, 1)))
case("partial_sums_beyond_float16", Tag.EDGE, A=TERMS_BEYOND, B=ADDED, cites=BEHAVES)
SCALES = typed("float16", [[300, 300], [-300, 300]])
case("products_beyond_float16", Tag.EDGE, A=typed("float16", [[300, 200], [10, 20]]), B=SCALES, cites=BEHAVES)
case("cancels", Tag.EDGE, A=[[1024, 1, -1024], [3, -3, 1]], B=[[1], [0.5], [1]], cites=BEHAVES)
case("infinity", Tag.EDGE, A=[[INF, 1, 2], [3, 4, 5]], B=np.abs(B), cites=BEHAVES)
case("infinity_against", Tag.EDGE, A=[[INF, 1], [INF, -INF], [2, -INF]], B=[[1, -1], [1, 2]], cites=BEHAVES)
case("infinity_by_zero", Tag.EDGE, A=[[INF, 1], [2, 3]], B=[[0, 1], [1, 1]], cites=BEHAVES)
case("nan", Tag.EDGE, A=[[NAN, 1, 2], [3, 4, 5]], B=B, cites=BEHAVES)
case("nan_by_zero", Tag.EDGE, A=[[1, 2, 3], [4, 5, 6]], B=[[0, 1], [NAN, 1], [0, 1]], cites=BEHAVES)
case("zeros", Tag.EDGE, A=[[0.0, -0.0]], B=[[1], [1]], cites=BEHAVES)

for type_, limits in FLOAT_TYPES.items():
    least, greatest = limits.smallest_subnormal, limits.largest
    pairs = {
        "fractions": (A, B),
        "tenths": ([[0.1, 0.7, -1 / 3]], [[0.3], [1.1], [2 / 3]]),
        "single_terms": ([[0.1], [0.7], [-1 / 3]], [[1 / 3, -1.1, 7]]),
        "subnormal": ([[least, 3 * least]], [[1, -1], [1, 2]]),
        "overflow": ([[greatest, greatest], [-greatest, -greatest]], [[1], [1]]),
        "largest": ([[greatest / 2, greatest / 2]], [[1], [1]]),
    }
    since = 13 if type_ == "bfloat16" else None
    for name, (left_values, right_values) in pairs.items():
        left_matrix, right_matrix = typed(type_, left_values), typed(type_, right_values)
        case(f"{name}_{type_}", Tag.EDGE, A=left_matrix, B=right_matrix, since=since, cites=BEHAVES)
for type_ in ("int32", "int64", "uint32", "uint64"):
    high, low = int(np.iinfo(type_).max), int(np.iinfo(type_).min)
    near = typed(type_, np.array([[high - 9, 3], [high // 3, 2]], type_))
    factors, beyond = typed(type_, [[1, 1], [3, 0]]), typed(type_, [[1, 1], [1, 0]])
    above = typed(type_, np.array([[high, 1]], type_))
    case(f"exact_{type_}", Tag.EDGE, A=near, B=factors, since=9, cites=BEHAVES)
    case(f"overflow_{type_}", Tag.EDGE, A=above, B=beyond, since=9, unspecified=BEHAVES)
    row, column = typed(type_, [[1, 2]]), typed(type_, [[3], [4]])
    case(f"outside_{type_}", Tag.CHANGE, A=row, B=column, before=9, rejects=FLOATS)
    if low < 0:
        signs = typed(type_, [[1, -2, 3], [-4, 5, -6]])
        case(f"signs_{type_}", Tag.EDGE, A=signs, B=typed(type_, [[-7], [8], [-9]]), since=9, cites=FLOATS_INTEGERS)
        below = typed(type_, np.array([[low, -1]], type_))
        case(f"limits_{type_}", Tag.EDGE, A=below, B=typed(type_, [[1], [0]]), since=9, cites=BEHAVES)
        case(f"underflow_{type_}", Tag.EDGE, A=below, B=beyond, since=9, unspecified=BEHAVES)

case("dtypes_stack", Tag.DTYPE, each="T", A=ramp(2, 1, 2, 3), B=ramp(3, 3, 1), cites=BEHAVES)
case("dtypes_vectors", Tag.DTYPE, each="T", A=ramp(5), B=ramp(5), cites=BEHAVES)

PRODUCTS: dict[str, tuple[Dims, Dims, Choice]] = {
    "types": (("m", "k"), ("k", "n"), partial(pairwise, most=1 << 20, m=FEW, k=FEW, n=FEW)),
    "stack": (("b", "m", "k"), ("k", "n"), grid(b=(3,), m=(1, 17), k=(33, 64), n=(7, 65))),
    "stacks": (("b", "h", "m", "k"), ("b", "h", "k", "n"), grid(b=(2,), h=(3,), m=(5, 16), k=(8, 31), n=(9, 64))),
    "broadcast": (("b", 1, "m", "k"), ("h", "k", "n"), grid(b=(2,), h=(3,), m=(4, 17), k=(16, 33), n=(5, 32))),
    "vector": (("k",), ("k", "n"), grid(k=(7, 64, 1025), n=(1, 16, 129))),
    "column": (("m", "k"), ("k",), grid(m=(1, 16, 129), k=(7, 64, 1025))),
}
# The kernels of other types differ less by size, so they have fewer sizes of matrices.
MATMUL.sized(
    "matrices",
    partial(pairwise, most=1 << 22, m=SHORT, k=SHORT, n=SHORT),
    cites=BEHAVES,
    arguments={"A": filled("m", "k"), "B": filled("k", "n")},
)
for name, (first, second, sizes) in PRODUCTS.items():
    MATMUL.sized(name, sizes, each="T", cites=BEHAVES, arguments={"A": filled(*first), "B": filled(*second)})
