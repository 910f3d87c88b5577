# SPDX-License-Identifier: Apache-2.0
"""FusedMatMul: a scaled matrix product of operands that may be transposed first.

    Y = FusedMatMul(A, B, alpha=1, transA=0, transB=0, transBatchA=0, transBatchB=0)

Versions: 1.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.sums import BEYOND_FLOAT16, but_where, largest, overflows, roundings
from onnx_conformance.declare.sizes import filled, grid, pairwise
from onnx_conformance.operators.math._general_product import absolute_products
from onnx_conformance.operators.math._matrix_product import (
    MISFITS,
    SHAPES,
    product_of_doubles,
    rank_of_product,
    require_product,
    shape_words,
)


def _batch_first(operand: Array) -> Array:
    """Return an operand whose first dimension is moved behind those of the batch, before the last one."""
    return np.moveaxis(operand, 0, -2)


def _arranged(operand: Array, transposed: Int, transposed_batch: Int) -> Array:
    """Return an operand as the product takes it."""
    arranged = _batch_first(operand) if transposed_batch else operand
    return np.swapaxes(arranged, -1, -2) if transposed else arranged


def _operands(A: Array, B: Array, transA: Int, transB: Int, transBatchA: Int, transBatchB: Int) -> tuple[Array, Array]:
    """Return both operands as the product takes them; vectors stay as they are."""
    left = _arranged(A, transA, transBatchA) if A.ndim > 1 else A
    right = _arranged(B, transB, transBatchB) if B.ndim > 1 else B
    return left, right


def _rounding(
    A: Array, B: Array, alpha: float, transA: Int, transB: Int, transBatchA: Int, transBatchB: Int
) -> list[Array]:
    """Return half a rounding of all magnitudes for each product, sum and the multiplication by alpha."""
    left, right = _operands(A, B, transA, transB, transBatchA, transBatchB)
    terms = left.shape[-1]
    return [abs(alpha) * absolute_products(left, right) * roundings(terms + 2) / 2]


FUSED = Op(
    "FusedMatMul",
    versions=(1,),
    compare=bounded(_rounding, "K products, their sums and the product with alpha round, in any order"),
    domain="com.microsoft",
    rank=rank_of_product("A", "B"),
)
FUSED.example(A=ramp(2, 3), B=ramp(3, 4))

BEHAVES = FUSED.clause(
    "Matrix product that behaves like numpy.matmul: "
    "https://docs.scipy.org/doc/numpy-1.13.0/reference/generated/numpy.matmul.html",
    note="Numpy's text: a vector gets a dimension of 1, which is then removed. Leading dimensions broadcast, the "
    "summed dimension does not. Scalars are rejected.",
)
MATRIX_A = FUSED.clause("N-dimensional matrix A")
MATRIX_B = FUSED.clause("N-dimensional matrix B")
RESULTS = FUSED.clause("Matrix multiply results")
ALPHA = FUSED.clause(
    "Scalar multiplier for the product of the input tensors.",
    note="The text does not define a product that only before this multiplication exceeds the greatest number.",
)
LAST_A = FUSED.clause(
    "Whether A should be transposed on the last two dimensions before doing multiplication",
    result=True,
    note="A vector has no two dimensions, so the text does not define its transposition.",
)
LAST_B = FUSED.clause(
    "Whether B should be transposed on the last two dimensions before doing multiplication", result=True
)
BATCH_A = FUSED.clause(
    "Whether A should be transposed on the 1st dimension and batch dimensions (dim-1 to dim-rank-2) before doing "
    "multiplication",
    result=True,
    note="Dimension 0 moves behind dimensions 1 to rank - 2, so [M, B, K] becomes [B, M, K]. With fewer than three "
    "dimensions there are no batch dimensions.",
)
BATCH_B = FUSED.clause(
    "Whether B should be transposed on the 1st dimension and batch dimensions (dim-1 to dim-rank-2) before doing "
    "multiplication",
    result=True,
)


@FUSED.oracle()
def product(
    v: Version, A: Array, B: Array, alpha: float, transA: Int, transB: Int, transBatchA: Int, transBatchB: Int
) -> Result:
    """Return alpha times the product of the operands, transposed according to the attributes."""
    flags = ((LAST_A, A, transA, 2), (LAST_B, B, transB, 2), (BATCH_A, A, transBatchA, 3), (BATCH_B, B, transBatchB, 3))
    for clause, operand, flag, least in flags:
        v.silent(clause, flag not in {0, 1} or bool(flag and operand.ndim < least))
    left, right = _operands(A, B, transA, transB, transBatchA, transBatchB)
    require_product(v, BEHAVES, left, right)
    type_ = v.dtypes["T"]
    with np.errstate(all="ignore"):
        multiplied, products, most = product_of_doubles(left, right), absolute_products(left, right), largest(type_)
        total = alpha * multiplied
        in_product = overflows(multiplied, products, type_) | ((np.abs(multiplied) > most) & (np.abs(total) <= most))
        return but_where(in_product | overflows(total, abs(alpha) * products, type_), total)


case = FUSED.case


def waves(*shape: int, start: int = 0) -> Array:
    """Return numbers of both signs. All rows and columns are different."""
    return np.sin((start + np.arange(np.prod(shape, dtype=int))) * 1.7).reshape(shape) * 3


case("plain", A=waves(2, 3), B=waves(3, 4, start=7), cites=(BEHAVES, MATRIX_A, MATRIX_B, RESULTS))
for name, alpha in {"quarter": 0.25, "negative": -3.0, "zero": 0.0, "tenth": 0.1}.items():
    case(f"alpha_{name}", A=waves(2, 3), B=waves(3, 4, start=7), alpha=alpha, cites=ALPHA)
for left, right in SHAPES:
    case(f"shapes_{shape_words(left, right)}", Tag.EDGE, A=waves(*left), B=waves(*right, start=5), cites=BEHAVES)
for left, right in MISFITS:
    case(f"misfit_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), rejects=BEHAVES)
case("a_transposed", A=waves(3, 2), B=waves(3, 4, start=7), transA=1, cites=LAST_A)
case("b_transposed", A=waves(2, 3), B=waves(4, 3, start=7), transB=1, cites=LAST_B)
case("both_transposed", A=waves(3, 2), B=waves(4, 3, start=7), transA=1, transB=1, alpha=0.5, cites=(LAST_A, LAST_B))
case("stack_a_transposed", Tag.EDGE, A=waves(5, 3, 2), B=waves(3, 4, start=7), transA=1, cites=LAST_A)
case("stack_b_transposed", Tag.EDGE, A=waves(2, 3), B=waves(5, 4, 3, start=7), transB=1, cites=LAST_B)
case("misfit_transposed", Tag.EDGE, A=ramp(2, 3), B=ramp(3, 4), transA=1, rejects=BEHAVES)
case("batch_a", A=waves(2, 5, 3), B=waves(5, 3, 4, start=7), transBatchA=1, cites=BATCH_A)
case("batch_b", A=waves(5, 2, 3), B=waves(3, 5, 4, start=7), transBatchB=1, cites=BATCH_B)
case("batch_a_of_four", Tag.EDGE, A=waves(2, 5, 6, 3), B=waves(3, 4, start=7), transBatchA=1, cites=BATCH_A)
case("batch_b_of_four", Tag.EDGE, A=waves(2, 3), B=waves(3, 5, 6, 4, start=7), transBatchB=1, cites=BATCH_B)
case("batch_both", Tag.EDGE, A=waves(2, 5, 3), B=waves(3, 5, 4, start=7), transBatchA=1, transBatchB=1, cites=BATCH_A)
case(
    "batch_and_last", Tag.EDGE, A=waves(3, 5, 2), B=waves(4, 5, 3, start=7), transA=1, transB=1, transBatchA=1,
    transBatchB=1, cites=(LAST_A, BATCH_A, BATCH_B),
)  # fmt: skip
case("vector_a_transposed", Tag.EDGE, A=waves(3), B=waves(3, 4, start=7), transA=1, unspecified=LAST_A)
case("vector_b_transposed", Tag.EDGE, A=waves(2, 3), B=waves(3, start=7), transB=1, unspecified=LAST_B)
case("batch_a_of_two", Tag.EDGE, A=waves(2, 3), B=waves(3, 4, start=7), transBatchA=1, unspecified=BATCH_A)
case("batch_b_of_two", Tag.EDGE, A=waves(2, 3), B=waves(3, 4, start=7), transBatchB=1, unspecified=BATCH_B)
case("transposed_by_two", Tag.EDGE, A=waves(3, 2), B=waves(3, 4, start=7), transA=2, unspecified=LAST_A)
INF, NAN = np.inf, np.nan
case("infinity", Tag.EDGE, A=[[INF, 1, 2], [3, 4, 5]], B=np.abs(waves(3, 4, start=7)), cites=BEHAVES)
case("infinity_by_zero", Tag.EDGE, A=[[INF, 1], [2, 3]], B=[[0, 1], [1, 1]], cites=BEHAVES)
case("nan", Tag.EDGE, A=[[NAN, 1, 2], [3, 4, 5]], B=waves(3, 4, start=7), cites=BEHAVES)
BEYOND: dict[str, Any] = {"A": typed("float16", BEYOND_FLOAT16), "B": typed("float16", np.ones((5, 1)))}
for name, alpha in {"": 1.0, "_halved": 0.5, "_doubled": 2.0}.items():  # Twice 40000 exceeds 65504.
    case(f"sums_beyond_float16{name}", Tag.EDGE, **BEYOND, alpha=alpha, cites=(BEHAVES, ALPHA))
MANY, FOR_MANY = typed("float16", waves(2, 300)), typed("float16", waves(300, 3))
case("many_terms_float16", Tag.EDGE, A=MANY, B=FOR_MANY, cites=BEHAVES)
TRANSPOSED: tuple[dict[str, Any], ...] = ({}, {"transA": 1}, {"transB": 1})
for flags in TRANSPOSED:
    A, B = (waves(3, 2) if "transA" in flags else waves(2, 3)), (waves(4, 3) if "transB" in flags else waves(3, 4))
    case(f"dtypes_{'_'.join(flags).lower() or 'plain'}", Tag.DTYPE, each="T", A=A, B=B, alpha=0.5, **flags, cites=ALPHA)

FEW = (1, 4, 17, 64, 129)
LAYOUTS: dict[str, tuple[tuple[str, str], tuple[str, str], dict[str, Any]]] = {
    "plain": (("m", "k"), ("k", "n"), {}),
    "a_transposed": (("k", "m"), ("k", "n"), {"transA": 1}),
    "b_transposed": (("m", "k"), ("n", "k"), {"transB": 1}),
    "both_transposed": (("k", "m"), ("n", "k"), {"transA": 1, "transB": 1}),
}
for name, (first, second, flags) in LAYOUTS.items():
    FUSED.sized(
        name, partial(pairwise, most=1 << 20, m=FEW, k=FEW, n=FEW), each="T", cites=(BEHAVES, ALPHA),
        arguments={"A": filled(*first), "B": filled(*second), "alpha": 0.125, **flags},
    )  # fmt: skip
FUSED.sized(
    "batches", grid(b=(6,), m=(5, 17), k=(8, 64), n=(9, 32)), each="T", cites=(BATCH_A, BATCH_B),
    arguments={
        "A": filled("m", "b", "k"), "B": filled("k", "b", "n"), "alpha": 0.125, "transBatchA": 1, "transBatchB": 1,
    },
)  # fmt: skip
