# SPDX-License-Identifier: Apache-2.0
"""Gemm: alpha * A * B + beta * C of matrices. A and B may be transposed.

    Y = Gemm(A, B, C=None, alpha=1.0, beta=1.0, transA=0, transB=0)
    Y = Gemm(A, B, C, alpha=1.0, beta=1.0, transA=0, transB=0, broadcast=0)    # before version 7

Versions: 1 (C broadcast by attribute), 6 (text), 7 (unidirectional broadcasting), 9 (integers), 11 (C optional), 13
(bfloat16).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.families.sums import BEYOND_FLOAT16, roundings
from onnx_conformance.declare.sizes import filled, grid, pairwise
from onnx_conformance.operators.math._general_product import (
    MATRIX,
    broadcastable,
    dimensions,
    general_product,
    magnitudes,
)

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Choice, Dims


def _rounding(
    A: Array, B: Array, C: Array | None, *, alpha: float, beta: float, transA: int, transB: int, **_: object
) -> list[Array]:
    """Return half a rounding of all magnitudes for each product, addition and scaling."""
    left, right = (A.T if transA else A), (B.T if transB else B)
    added = np.zeros(()) if C is None else C
    return [magnitudes(left, right, added, alpha, beta) * roundings(left.shape[1] + 4) / 2]


GEMM = Op(
    "Gemm",
    versions=(1, 6, 7, 9, 11, 13),
    compare=bounded(_rounding, "K products and sums, in any order, and two scalings round by half an epsilon each"),
    rank=lambda _: 2,
    dimensions=dimensions,
)
GEMM.example(A=ramp(3, 2), B=ramp(4, 3), C=ramp(2, 4), alpha=2.0, beta=3.0, transA=1, transB=1, broadcast=1)

GENERAL = GEMM.clause(
    "General Matrix multiplication: https://en.wikipedia.org/wiki/Basic_Linear_Algebra_Subprograms#Level_3",
    note="BLAS does not read C if beta is 0, or A and B if alpha is 0. With the formula, infinities and NaN in them "
    "become NaN.",
)
FORMULA = GEMM.clause(
    "Compute Y = alpha * A' * B' + beta * C, where input tensor A has shape (M, K) or (K, M), input tensor B has shape "
    "(K, N) or (N, K), input tensor C is broadcastable to shape (M, N), and output tensor Y has shape (M, N).",
    note="If K is 0 the product is 0. The text does not define an integer result that is not whole or out of range. "
    "onnx.reference computes in floats and loses integers beyond 2**53.",
).reworded(
    before=7,
    text="Compute Y = alpha * A * B + beta * C, where input tensor A has dimension (M X K), input tensor B has "
    "dimension (K X N), input tensor C and output tensor Y have dimension (M X N).",
)
BROADCAST = GEMM.clause(
    "If attribute broadcast is non-zero, input tensor C will be broadcasted to match the dimension requirement.",
    before=7,
    note="The text does not define the rules. The cases have only one way to match.",
)
WHETHER = GEMM.clause("Whether C should be broadcasted", before=7, result=True)
UNIDIRECTIONAL = GEMM.clause(
    "This operator supports **unidirectional broadcasting** (tensor C should be unidirectional broadcastable to tensor "
    "A * B)",
    since=7,
)
TRANSPOSED = GEMM.clause(
    "A will be transposed before doing the computation if attribute transA is non-zero, same for B and transB."
)
A_TURNED = GEMM.clause("A' = transpose(A) if transA else A", since=7)
B_TURNED = GEMM.clause("B' = transpose(B) if transB else B", since=7)
TRANS_A = GEMM.clause("Whether A should be transposed", result=True)
TRANS_B = GEMM.clause("Whether B should be transposed", result=True)
A_SHAPE = GEMM.clause("The shape of A should be (M, K) if transA is 0, or (K, M) if transA is non-zero.", since=7)
B_SHAPE = GEMM.clause("The shape of B should be (K, N) if transB is 0, or (N, K) if transB is non-zero.", since=7)
C_SHAPE = GEMM.clause("The shape of C should be unidirectional broadcastable to (M, N).", since=7)
Y_SHAPE = GEMM.clause("Output tensor of shape (M, N).", since=7)
ALPHA = GEMM.clause("Scalar multiplier for the product of input tensors A * B.").reworded(
    before=7, text="Scalar multiplier for the product of input tensors A * B, the default value is 1.0."
)
BETA = GEMM.clause("Scalar multiplier for input tensor C.").reworded(
    before=7,
    text="Scalar multiplier for input tensor C, the default value is 1.0.",
    note="onnx.reference does not scale C in version 6 unless broadcast is set.",
)
NOT_SPECIFIED = GEMM.clause("If not specified, the computation is done as if C is a scalar 0.", since=11)
EMPTY_STRING = GEMM.clause(
    "An empty string may be used in the place of an actual argument's name to indicate a missing argument.", since=11
)
TRAILING = GEMM.clause(
    "Trailing optional arguments (those not followed by an argument that is present) may also be simply omitted.",
    since=11,
)
FLOATS = GEMM.clause("Constrain input and output types to float tensors.", before=9)


@GEMM.oracle(before=7)
def multiplied_before_7(
    v: Version, A: Array, B: Array, C: Array, alpha: float, beta: float, transA: int, transB: int, broadcast: int
) -> Result:
    """Return alpha * A * B + beta * C. C has the shape of the product unless `broadcast` is set."""
    v.require(FORMULA, A.ndim == MATRIX)
    v.require(FORMULA, B.ndim == MATRIX)
    left, right = (A.T if transA else A), (B.T if transB else B)
    v.require(FORMULA, left.shape[1] == right.shape[0])
    shape = left.shape[0], right.shape[1]
    if broadcast:
        v.require(BROADCAST, broadcastable(C, shape))
    else:
        v.require(FORMULA, C.shape == shape)
    return general_product(v, left, right, np.broadcast_to(C, shape), alpha, beta, general=GENERAL, formula=FORMULA)


@GEMM.oracle(since=7)
def multiplied_since_7(
    v: Version, A: Array, B: Array, C: Array | None, alpha: float, beta: float, transA: int, transB: int
) -> Result:
    """Return alpha * A' * B' + beta * C. C is broadcast to the shape of the product."""
    v.require(A_SHAPE, A.ndim == MATRIX)
    v.require(B_SHAPE, B.ndim == MATRIX)
    left, right = (A.T if transA else A), (B.T if transB else B)
    v.require(FORMULA, left.shape[1] == right.shape[0])
    shape = left.shape[0], right.shape[1]
    added = np.zeros((), A.dtype) if C is None else C
    v.require(UNIDIRECTIONAL, added.ndim <= MATRIX)
    v.require(C_SHAPE, broadcastable(added, shape))
    return general_product(v, left, right, np.broadcast_to(added, shape), alpha, beta, general=GENERAL, formula=FORMULA)


case = GEMM.case

WAVES = np.sin(np.arange(26.0) * 1.7)
A, B, C = WAVES[:6].reshape(2, 3), WAVES[6:18].reshape(3, 4), WAVES[18:].reshape(2, 4)

case("plain_before_7", A=A, B=B, C=C, before=7, cites=(FORMULA, GENERAL, ALPHA, BETA))
case("plain_since_7", A=A, B=B, C=C, since=7, cites=(FORMULA, GENERAL, Y_SHAPE))
FACTORS = {
    "alpha": (0.5, 1.0),
    "beta": (1.0, -1.25),
    "both": (-0.75, 2.5),
    "ones": (1.0, 1.0),
    "zero": (0.0, 1.0),
    "beta_zero": (1.0, 0.0),
}
"""Values of alpha and beta."""
for name, (alpha, beta) in FACTORS.items():
    case(f"scaled_{name}_before_7", A=A, B=B, C=C, alpha=alpha, beta=beta, before=7, cites=(ALPHA, BETA))
    case(f"scaled_{name}_since_7", A=A, B=B, C=C, alpha=alpha, beta=beta, since=7, cites=(ALPHA, BETA))
TURNS = {"a": (A.T, B, 1, 0), "b": (A, B.T, 0, 1), "both": (A.T, B.T, 1, 1), "two": (A.T, B.T, 2, -1)}
"""By name: A, B, transA and transB."""
for name, (left, right, trans_a, trans_b) in TURNS.items():
    case(
        f"transposed_{name}", A=left, B=right, C=C, transA=trans_a, transB=trans_b, cites=(TRANSPOSED, TRANS_A, TRANS_B)
    )
    case(
        f"transposed_{name}_scaled",
        A=left,
        B=right,
        C=C,
        transA=trans_a,
        transB=trans_b,
        alpha=0.25,
        beta=0.5,
        cites=(A_TURNED, B_TURNED),
    )

ADDED = vary(scalar=0.5, vector_one=[0.5], row=C[0], row_matrix=C[:1], column=C[:, :1], one=C[:1, :1], whole=C)
case("broadcast_before_7", Tag.CHANGE, A=A, B=B, C=ADDED, broadcast=1, cites=(BROADCAST, WHETHER))
case("broadcast_since_7", Tag.CHANGE, A=A, B=B, C=ADDED, beta=0.5, cites=(UNIDIRECTIONAL, C_SHAPE))
case("broadcast_zero", Tag.EDGE, A=A, B=B, C=C, broadcast=0, cites=BROADCAST)
case("broadcast_two", Tag.EDGE, A=A, B=B, C=C[0], broadcast=2, cites=BROADCAST)
case("broadcast_transposed", A=A.T, B=B, C=C[:, :1], transA=1, cites=UNIDIRECTIONAL)
case("no_c", Tag.CHANGE, A=A, B=B, cites=(NOT_SPECIFIED, EMPTY_STRING, TRAILING))
case("no_c_scaled", Tag.CHANGE, A=A, B=B, alpha=0.5, beta=3.0, cites=NOT_SPECIFIED)
case("no_c_transposed", Tag.CHANGE, A=A.T, B=B.T, transA=1, transB=1, cites=NOT_SPECIFIED)

SIZES = {
    "one": (1, 1, 1),
    "row": (1, 4, 3),
    "column": (3, 1, 4),
    "outer": (3, 4, 1),
    "no_rows": (0, 4, 3),
    "no_columns": (3, 0, 4),
    "no_terms": (2, 4, 0),
}
"""By name: M, N and K."""
for name, (m, n, k) in SIZES.items():
    case(f"sizes_{name}", Tag.EDGE, A=ramp(m, k), B=ramp(k, n), C=ramp(m, n), cites=GENERAL)
LONG = np.cos(np.arange(1500.0))
case("long", A=LONG[:600].reshape(2, 300), B=LONG[600:].reshape(300, 3), C=ramp(2, 3), cites=GENERAL)
MANY = typed("float16", np.abs(LONG[:1024]).reshape(2, 512) * [[1], [3]])
FOR_MANY = typed("float16", np.abs(LONG[-1024:]).reshape(512, 2) * [1, 2])
case("many_terms_float16", Tag.EDGE, A=MANY, B=FOR_MANY, C=typed("float16", [3, -4]), since=7, cites=GENERAL)
ONES = typed("float16", np.ones((5, 1)))
TERMS_BEYOND = typed("float16", BEYOND_FLOAT16)
case("partial_sums_beyond_float16", Tag.EDGE, A=TERMS_BEYOND, B=ONES, C=typed("float16", 0), since=7, cites=GENERAL)
# The sums are 90000, and twice 65504 or 131008 before they are halved.
PRODUCTS_BEYOND = typed("float16", [[60000, 30000, -60000], [60000, 5000, -20000], [65504, 0, 0], [65504, 65504, 0]])
IN_PRODUCT: dict[str, Any] = {"A": PRODUCTS_BEYOND, "B": typed("float16", np.ones((3, 1))), "since": 7}
case("product_beyond_float16", Tag.EDGE, **IN_PRODUCT, C=typed("float16", [[0], [9], [9], [0]]), alpha=0.5, cites=ALPHA)
# 40000 - 20000 + 30000 reaches 70000 on the way, 40000 - 20000 + 20000 does not.
IN_SUM: dict[str, Any] = {"A": typed("float16", [[20000, -10000], [20000, -10000]]), "B": typed("float16", [[1], [1]])}
ADDED_BEYOND = typed("float16", [[60000], [40000]])
case("sum_beyond_float16", Tag.EDGE, **IN_SUM, C=ADDED_BEYOND, alpha=2.0, beta=0.5, since=7, cites=BETA)
ONE_NAN = [[np.nan, 1, 2], [3, 4, 5]]
NOT_FINITE = [[np.nan, 1, 2, 3], [3, np.inf, 5, 6]]
case("infinity", Tag.EDGE, A=[[np.inf, 1, 2], [3, 4, 5]], B=np.abs(B), C=C, cites=GENERAL)
case("nan", Tag.EDGE, A=ONE_NAN, B=B, C=C, cites=GENERAL)
case("nan_alpha_zero", Tag.EDGE, A=ONE_NAN, B=B, C=C, alpha=0.0, unspecified=GENERAL)
case("nan_alpha_zero_b", Tag.EDGE, A=A, B=[[np.nan, 3], [1, 4], [2, 5]], C=0.5, alpha=0.0, since=7, unspecified=GENERAL)
case("nan_beta_zero", Tag.EDGE, A=A, B=B, C=NOT_FINITE, beta=0.0, unspecified=GENERAL)

NO_MATRIX = vary(vector=ramp(3), rank3=ramp(1, 3, 3))
case("a_before_7", A=NO_MATRIX, B=B, C=C, before=7, rejects=FORMULA)
case("a_since_7", A=NO_MATRIX, B=B, C=C, rejects=A_SHAPE)
case("b_before_7", A=A, B=NO_MATRIX, C=C, before=7, rejects=FORMULA)
case("b_since_7", A=A, B=NO_MATRIX, C=C, rejects=B_SHAPE)
case("mismatch_terms_before_7", A=A, B=ramp(5, 4), C=C, before=7, rejects=FORMULA)
case("mismatch_terms_since_7", A=A, B=ramp(5, 4), C=C, since=7, rejects=FORMULA)
case("mismatch_turned_before_7", A=A, B=B, C=C, transA=1, before=7, rejects=FORMULA)
case("mismatch_turned_since_7", A=A, B=B, C=C, transA=1, since=7, rejects=FORMULA)
case("c_not_broadcast", Tag.CHANGE, A=A, B=B, C=C[0], before=7, rejects=FORMULA)
case("c_mismatch_before_7", A=A, B=B, C=ramp(3, 4), broadcast=1, rejects=BROADCAST)
case("c_mismatch_since_7", A=A, B=B, C=ramp(3, 4), rejects=C_SHAPE)
case("c_column_vector", A=A, B=B, C=ramp(2), rejects=C_SHAPE)
case("c_wider", A=ramp(1, 3), B=B, C=ramp(2, 4), rejects=C_SHAPE)
case("c_rank3_before_7", Tag.EDGE, A=A, B=B, C=ramp(1, 2, 4), broadcast=1, rejects=BROADCAST)
case("c_rank3_since_7", Tag.EDGE, A=A, B=B, C=ramp(1, 2, 4), rejects=UNIDIRECTIONAL)

for type_ in ("int64", "uint32"):
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    near = typed(type_, np.array([[high - 6, 1]], type_))
    columns, one = typed(type_, [[1, 1], [3, 0]]), typed(type_, [[1]])
    case(f"exact_{type_}", Tag.EDGE, A=near, B=columns, C=typed(type_, [[3, 3]]), since=9, cites=FORMULA)
    case(f"overflow_{type_}", Tag.EDGE, A=near, B=columns, C=typed(type_, [[4, 4]]), since=9, unspecified=FORMULA)
    lowest = typed(type_, np.array([[low]], type_))
    case(f"lowest_{type_}", Tag.EDGE, A=lowest, B=one, C=typed(type_, [[0]]), since=9, cites=FORMULA)
    odd, even = typed(type_, [[3]]), typed(type_, np.array([[high - 1]], type_))
    case(f"half_{type_}", Tag.EDGE, A=odd, B=one, C=one, alpha=0.5, since=9, unspecified=FORMULA)
    case(f"half_even_{type_}", Tag.EDGE, A=even, B=one, C=one, alpha=0.5, since=9, cites=ALPHA)
    case(f"outside_{type_}", Tag.CHANGE, A=even, B=one, C=one, before=9, rejects=FLOATS)
for type_ in ("float16", "bfloat16", "double"):
    case(
        f"fractions_{type_}",
        Tag.EDGE,
        A=typed(type_, A),
        B=typed(type_, B),
        C=typed(type_, C),
        alpha=0.5,
        beta=-1.25,
        since=13,
        cites=FORMULA,
    )

PRODUCTS: dict[str, tuple[Dims, Dims, Dims, dict[str, Any], Choice]] = {
    "dense": (
        ("m", "k"),
        ("n", "k"),
        ("n",),
        {"transB": 1},
        partial(pairwise, most=1 << 21, m=(1, 2, 4, 7, 16, 33), k=(1, 3, 8, 17, 64, 256, 1000), n=(1, 5, 16, 65, 1000)),
    ),
    "whole": (("m", "k"), ("k", "n"), ("m", "n"), {"alpha": 3.0, "beta": 2.0}, grid(m=(1, 17, 64), k=(33,), n=(8, 65))),
    "turned_a": (("k", "m"), ("k", "n"), ("m", 1), {"transA": 1}, grid(m=(3, 32, 65), k=(7, 64), n=(5, 33))),
    "turned_both": (
        ("k", "m"), ("n", "k"), (1, "n"), {"transA": 1, "transB": 1, "beta": 2.0}, grid(m=(3, 32), k=(9, 64), n=(5, 33))
    ),
    "one_summand": (("m", "k"), ("k", "n"), (), {"alpha": 2.0}, grid(m=(4, 17), k=(16,), n=(7, 64))),
}  # fmt: skip
"""The dimensions of A, B and C, the other arguments, and the sizes."""
for name, (first, second, third, attributes, sizes) in PRODUCTS.items():
    of_sizes = {"A": filled(*first), "B": filled(*second), "C": filled(*third), **attributes}
    GEMM.sized(name, sizes, each="T", cites=(FORMULA, TRANSPOSED), arguments=of_sizes)
of_sizes = {"A": filled("m", "k"), "B": filled("k", "n"), "C": filled("n")}
GEMM.sized("large", grid(m=(257,), k=(16,), n=(257,)), each="T", cites=FORMULA, arguments=of_sizes)
of_sizes = {"A": filled("m", "k"), "B": filled("n", "k"), "transB": 1}
GEMM.sized("no_c", grid(m=(1, 16), k=(31, 128), n=(16, 63)), each="T", cites=NOT_SPECIFIED, arguments=of_sizes)
of_sizes = {"A": filled("m", "k"), "B": filled("k", "n"), "C": filled("n"), "alpha": 0.375, "beta": -1.5}
GEMM.sized("fractions", grid(m=(3, 16), k=(33,), n=(8, 65)), cites=(ALPHA, BETA), arguments=of_sizes)
