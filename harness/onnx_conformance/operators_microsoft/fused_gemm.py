# SPDX-License-Identifier: Apache-2.0
"""FusedGemm: an activation function of alpha * A * B + beta * C. A and B may be transposed.

    Y = FusedGemm(A, B, C=None, alpha=1, beta=1, transA=0, transB=0, activation="", activation_alpha=...,
                  activation_beta=..., activation_gamma=...)

Versions: 1.
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
    product,
    scaled_sum,
)
from onnx_conformance.operators_microsoft._activations import Activation, activation_of

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Choice, Dims


def _rounding(
    A: Array,
    B: Array,
    C: Array | None,
    *,
    alpha: float,
    beta: float,
    transA: int,
    transB: int,
    activation: str | None,
    activation_alpha: float | None,
    activation_beta: float | None,
    activation_gamma: float | None,
) -> list[Array]:
    """Return half a rounding of all magnitudes for each product, addition and scaling, and that of the activation."""
    left, right = (A.T if transA else A), (B.T if transB else B)
    added = np.zeros(()) if C is None else C
    errors = magnitudes(left, right, added, alpha, beta) * roundings(left.shape[1] + 4) / 2
    if activation is None:
        return [errors]
    coefficients = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    applied = activation_of(activation, coefficients)
    assert isinstance(applied, Activation)  # noqa: S101 - the case has an answer
    return [applied.errors(scaled_sum(product(left, right), added, alpha, beta), errors)]


FUSED = Op(
    "FusedGemm",
    versions=(1,),
    compare=bounded(_rounding, "K products and sums, in any order, two scalings and the activation round", steps=True),
    domain="com.microsoft",
    rank=lambda _: 2,
    dimensions=dimensions,
)
FUSED.example(A=ramp(3, 2), B=ramp(4, 3), C=ramp(2, 4), alpha=2.0, beta=3.0, transA=1, transB=1)

SAME = FUSED.clause(
    "The FusedGemm operator schema is the same as Gemm besides it includes attributes activation and leaky_relu_alpha.",
    note="So without an activation, Y is that of Gemm of ONNX: alpha * A' * B' + beta * C. BLAS does not read C if "
    "beta is 0, or A and B if alpha is 0, so infinities and NaN are left open there. The text does not define integers "
    "that are not whole or out of range.",
)
ACTIVATION = FUSED.clause(
    "it includes attributes activation and leaky_relu_alpha.",
    note="The text does not list the activations, or the meaning of activation_alpha, activation_beta and "
    "activation_gamma, and no attribute has the name leaky_relu_alpha. An activation is read as the operator of ONNX "
    "with this name, applied to the result of Gemm, and the three attributes as its alpha, beta and gamma. The text "
    "does not define omitted coefficients of such an operator, coefficients that it lacks, names of other functions, "
    "or activations of integers.",
)
A_SHAPE = FUSED.clause("The shape of A should be (M, K) if transA is 0, or (K, M) if transA is non-zero.")
B_SHAPE = FUSED.clause("The shape of B should be (K, N) if transB is 0, or (N, K) if transB is non-zero.")
C_SHAPE = FUSED.clause("The shape of C should be unidirectional broadcastable to (M, N).")
Y_SHAPE = FUSED.clause("Output tensor of shape (M, N).")
ALPHA = FUSED.clause("Scalar multiplier for the product of input tensors A * B.")
BETA = FUSED.clause("Scalar multiplier for input tensor C.")
TRANS_A = FUSED.clause("Whether A should be transposed", result=True)
TRANS_B = FUSED.clause("Whether B should be transposed", result=True)
TYPES = FUSED.clause("Constrain input and output types to float/int tensors.")


@FUSED.oracle()
def fused_gemm(
    v: Version,
    A: Array,
    B: Array,
    C: Array | None,
    *,
    alpha: float,
    beta: float,
    transA: int,
    transB: int,
    activation: str | None,
    activation_alpha: float | None,
    activation_beta: float | None,
    activation_gamma: float | None,
) -> Result:
    """Return the activation of alpha * A' * B' + beta * C. C is broadcast to the shape of the product."""
    v.require(A_SHAPE, A.ndim == MATRIX)
    v.require(B_SHAPE, B.ndim == MATRIX)
    left, right = (A.T if transA else A), (B.T if transB else B)
    v.require(B_SHAPE, left.shape[1] == right.shape[0])
    shape = left.shape[0], right.shape[1]
    added = np.zeros((), A.dtype) if C is None else C
    v.require(C_SHAPE, broadcastable(added, shape))
    coefficients = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    applied = None if activation is None else activation_of(activation, coefficients)
    v.silent(ACTIVATION, activation is None and any(value is not None for value in coefficients.values()))
    v.silent(ACTIVATION, activation is not None and (applied is None or A.dtype.kind != "f"))
    whole = np.broadcast_to(added, shape)
    result = general_product(v, left, right, whole, alpha, beta, general=SAME, formula=SAME)
    return result if applied is None else applied.result(v, ACTIVATION, result)


case = FUSED.case

WAVES = np.sin(np.arange(26.0) * 1.7)
A, B, C = WAVES[:6].reshape(2, 3), WAVES[6:18].reshape(3, 4), WAVES[18:].reshape(2, 4)

LEAKY: dict[str, Any] = {"activation": "LeakyRelu", "activation_alpha": 0.5}
"""An activation whose results are all different. Most cases have it, because a runtime may ask for an activation."""
case("plain", A=A, B=B, C=C, cites=(SAME, Y_SHAPE))
case("leaky", A=A, B=B, C=C, **LEAKY, cites=(SAME, ACTIVATION, Y_SHAPE))
FACTORS = {
    "alpha": (0.5, 1.0), "beta": (1.0, -1.25), "both": (-0.75, 2.5), "ones": (1.0, 1.0), "zero": (0.0, 1.0),
    "beta_zero": (1.0, 0.0),
}  # fmt: skip
"""Values of alpha and beta."""
for name, (alpha, beta) in FACTORS.items():
    case(f"scaled_{name}", A=A, B=B, C=C, alpha=alpha, beta=beta, **LEAKY, cites=(ALPHA, BETA))
TURNS = {"a": (A.T, B, 1, 0), "b": (A, B.T, 0, 1), "both": (A.T, B.T, 1, 1), "two": (A.T, B.T, 2, -1)}
"""By name: A, B, transA and transB."""
for name, (left, right, trans_a, trans_b) in TURNS.items():
    turned: dict[str, Any] = {"A": left, "B": right, "transA": trans_a, "transB": trans_b}
    case(f"transposed_{name}", **turned, C=C, alpha=0.25, beta=0.5, **LEAKY, cites=(TRANS_A, TRANS_B, A_SHAPE, B_SHAPE))
    case(f"transposed_{name}_relu", **turned, C=C, activation="Relu", cites=(TRANS_A, TRANS_B, ACTIVATION))
ADDED = vary(scalar=0.5, vector_one=[0.5], row=C[0], row_matrix=C[:1], column=C[:, :1], one=C[:1, :1], whole=C)
case("broadcast", A=A, B=B, C=ADDED, beta=0.5, **LEAKY, cites=C_SHAPE)
case("broadcast_relu", A=A, B=B, C=ADDED, activation="Relu", cites=(C_SHAPE, ACTIVATION))
case("no_c", A=A, B=B, cites=SAME)
case("no_c_leaky", A=A, B=B, **LEAKY, cites=SAME)
case("no_c_scaled", A=A, B=B, alpha=0.5, beta=3.0, **LEAKY, cites=SAME)
SIZES = {
    "one": (1, 1, 1), "row": (1, 4, 3), "column": (3, 1, 4), "outer": (3, 4, 1), "no_rows": (0, 4, 3),
    "no_columns": (3, 0, 4), "no_terms": (2, 4, 0),
}  # fmt: skip
"""By name: M, N and K."""
for name, (m, n, k) in SIZES.items():
    case(f"sizes_{name}", Tag.EDGE, A=ramp(m, k), B=ramp(k, n), C=ramp(m, n), **LEAKY, cites=SAME)
    case(f"sizes_{name}_relu", Tag.EDGE, A=ramp(m, k), B=ramp(k, n), C=ramp(m, n), activation="Relu", cites=ACTIVATION)

APPLIED: dict[str, dict[str, float]] = {
    "Relu": {}, "Tanh": {}, "Sigmoid": {}, "Softplus": {}, "Softsign": {}, "LeakyRelu": {"alpha": 0.25},
    "Elu": {"alpha": 1.75}, "HardSigmoid": {"alpha": 0.375, "beta": 0.625}, "Selu": {"alpha": 1.5, "gamma": 0.75},
}  # fmt: skip
"""The activations, and their coefficients."""
for name, coefficients in APPLIED.items():
    word = name.lower()
    given: dict[str, Any] = {f"activation_{key}": value for key, value in coefficients.items()}
    case(f"activation_{word}", A=A, B=B, C=C, activation=name, **given, cites=ACTIVATION)
    scaled: dict[str, Any] = {"alpha": -2.0, "beta": 1.5, "activation": name, **given}
    case(f"activation_{word}_scaled", A=A, B=B, C=C, **scaled, cites=(ACTIVATION, ALPHA, BETA))
    case(f"activation_{word}_no_c", A=A, B=B, activation=name, **given, cites=ACTIVATION)
    case(f"activation_{word}_dtypes", Tag.DTYPE, each="T", but=("uint32", "uint64", "int32", "int64"), A=A, B=B, C=C,
         activation=name, **given, cites=ACTIVATION)  # fmt: skip
    for key in coefficients:
        rest = {item: value for item, value in given.items() if item != f"activation_{key}"}
        case(f"activation_{word}_no_{key}", A=A, B=B, C=C, activation=name, **rest, unspecified=ACTIVATION)
for key in ("alpha", "beta", "gamma"):
    extra: dict[str, Any] = {f"activation_{key}": 0.5}
    case(f"relu_with_{key}", A=A, B=B, C=C, activation="Relu", **extra, unspecified=ACTIVATION)
    case(f"no_activation_with_{key}", A=A, B=B, C=C, **extra, unspecified=ACTIVATION)
NAMES = vary(empty="", lower_case="relu", unknown="Nothing", other_operator="Concat")
case("activation", A=A, B=B, C=C, activation=NAMES, unspecified=ACTIVATION)
case("activation_nan", Tag.EDGE, A=[[np.nan, 1, 2], [3, 4, 5]], B=B, C=C, activation="Sigmoid", cites=ACTIVATION)
case("activation_infinity", Tag.EDGE, A=[[np.inf, 1, 2], [3, 4, 5]], B=np.abs(B), C=C, activation="Tanh")
HARD: dict[str, Any] = {"activation": "HardSigmoid", "activation_alpha": 0.25, "activation_beta": 0.5}
case("hard_sigmoid_nan", Tag.EDGE, A=[[np.nan, 1, 2], [3, 4, 5]], B=B, C=C, **HARD, unspecified=ACTIVATION)
case("relu_nan", Tag.EDGE, A=[[np.nan, 1, 2], [3, 4, 5]], B=B, C=C, activation="Relu", unspecified=ACTIVATION)

LONG = np.cos(np.arange(1500.0))
case("long", A=LONG[:600].reshape(2, 300), B=LONG[600:].reshape(300, 3), C=ramp(2, 3), **LEAKY, cites=SAME)
ONES, TERMS_BEYOND = typed("float16", np.ones((5, 1))), typed("float16", BEYOND_FLOAT16)
case("partial_sums_beyond_float16", Tag.EDGE, A=TERMS_BEYOND, B=ONES, C=typed("float16", 0), **LEAKY, cites=SAME)
case("partial_sums_beyond_float16_tanh", Tag.EDGE, A=TERMS_BEYOND, B=ONES, C=typed("float16", 0), activation="Tanh")
# The sums are 90000, and twice 65504 or 131008 before they are halved.
PRODUCTS_BEYOND = typed("float16", [[60000, 30000, -60000], [60000, 5000, -20000], [65504, 0, 0], [65504, 65504, 0]])
IN_PRODUCT: dict[str, Any] = {"A": PRODUCTS_BEYOND, "B": typed("float16", np.ones((3, 1)))}
case(
    "product_beyond_float16",
    Tag.EDGE,
    **IN_PRODUCT,
    C=typed("float16", [[0], [9], [9], [0]]),
    alpha=0.5,
    **LEAKY,
    cites=ALPHA,
)
# 40000 - 20000 + 30000 reaches 70000 on the way, 40000 - 20000 + 20000 does not.
IN_SUM: dict[str, Any] = {"A": typed("float16", [[20000, -10000], [20000, -10000]]), "B": typed("float16", [[1], [1]])}
ADDED_BEYOND = typed("float16", [[60000], [40000]])
case("sum_beyond_float16", Tag.EDGE, **IN_SUM, C=ADDED_BEYOND, alpha=2.0, beta=0.5, **LEAKY, cites=BETA)
ONE_NAN = [[np.nan, 1, 2], [3, 4, 5]]
NOT_FINITE = [[np.nan, 1, 2, 3], [3, np.inf, 5, 6]]
case("infinity", Tag.EDGE, A=[[np.inf, 1, 2], [3, 4, 5]], B=np.abs(B), C=C, **LEAKY, cites=SAME)
case("nan", Tag.EDGE, A=ONE_NAN, B=B, C=C, **LEAKY, cites=SAME)
case("nan_alpha_zero", Tag.EDGE, A=ONE_NAN, B=B, C=C, alpha=0.0, **LEAKY, unspecified=SAME)
case("nan_alpha_zero_b", Tag.EDGE, A=A, B=[[np.nan, 3], [1, 4], [2, 5]], C=0.5, alpha=0.0, **LEAKY, unspecified=SAME)
case("nan_beta_zero", Tag.EDGE, A=A, B=B, C=NOT_FINITE, beta=0.0, **LEAKY, unspecified=SAME)

NO_MATRIX = vary(vector=ramp(3), rank3=ramp(1, 3, 3))
case("a", A=NO_MATRIX, B=B, C=C, **LEAKY, rejects=A_SHAPE)
case("b", A=A, B=NO_MATRIX, C=C, **LEAKY, rejects=B_SHAPE)
case("mismatch_terms", A=A, B=ramp(5, 4), C=C, **LEAKY, rejects=B_SHAPE)
case("mismatch_turned", A=A, B=B, C=C, transA=1, **LEAKY, rejects=B_SHAPE)
MISFITS = vary(rows=ramp(3, 4), column_vector=ramp(2), rank3=ramp(1, 2, 4))
case("c", A=A, B=B, C=MISFITS, **LEAKY, rejects=C_SHAPE)
case("c_wider", A=ramp(1, 3), B=B, C=ramp(2, 4), **LEAKY, rejects=C_SHAPE)

case("dtypes", Tag.DTYPE, each="T", A=ramp(2, 3), B=ramp(3, 4), C=ramp(2, 4), cites=(SAME, TYPES))
for type_ in ("int64", "uint32"):
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    near = typed(type_, np.array([[high - 6, 1]], type_))
    columns, one = typed(type_, [[1, 1], [3, 0]]), typed(type_, [[1]])
    case(f"exact_{type_}", Tag.EDGE, A=near, B=columns, C=typed(type_, [[3, 3]]), cites=SAME)
    case(f"overflow_{type_}", Tag.EDGE, A=near, B=columns, C=typed(type_, [[4, 4]]), unspecified=SAME)
    lowest = typed(type_, np.array([[low]], type_))
    case(f"lowest_{type_}", Tag.EDGE, A=lowest, B=one, C=typed(type_, [[0]]), cites=SAME)
    odd, even = typed(type_, [[3]]), typed(type_, np.array([[high - 1]], type_))
    case(f"half_{type_}", Tag.EDGE, A=odd, B=one, C=one, alpha=0.5, unspecified=SAME)
    case(f"half_even_{type_}", Tag.EDGE, A=even, B=one, C=one, alpha=0.5, cites=ALPHA)
    case(f"half_added_{type_}", Tag.EDGE, A=one, B=one, C=even, beta=0.5, cites=BETA)
    case(f"relu_{type_}", Tag.EDGE, A=odd, B=one, C=one, activation="Relu", unspecified=ACTIVATION)

PRODUCTS: dict[str, tuple[Dims, Dims, Dims, dict[str, Any], Choice]] = {
    "dense_relu": (
        ("m", "k"), ("n", "k"), ("n",), {"transB": 1, "activation": "Relu"},
        partial(pairwise, most=1 << 20, m=(1, 2, 4, 7, 16, 33), k=(1, 3, 8, 17, 64, 256), n=(1, 5, 16, 65, 256)),
    ),
    "whole_tanh": (
        ("m", "k"), ("k", "n"), ("m", "n"), {"alpha": 0.5, "beta": 2.0, "activation": "Tanh"},
        grid(m=(1, 17, 64), k=(33,), n=(8, 65)),
    ),
    "turned_leaky": (
        ("k", "m"), ("k", "n"), ("m", 1), {"transA": 1, "activation": "LeakyRelu", "activation_alpha": 0.125},
        grid(m=(3, 32, 65), k=(7, 64), n=(5, 33)),
    ),
    "turned_both": (
        ("k", "m"), ("n", "k"), (1, "n"), {"transA": 1, "transB": 1, "beta": 2.0, "activation": "Sigmoid"},
        grid(m=(3, 32), k=(9, 64), n=(5, 33))
    ),
    "no_activation": (("m", "k"), ("k", "n"), ("n",), {}, grid(m=(4, 17), k=(16,), n=(7, 64))),
}  # fmt: skip
"""The dimensions of A, B and C, the other arguments, and the sizes."""
INTEGERS = ("uint32", "uint64", "int32", "int64")
for name, (first, second, third, attributes, sizes) in PRODUCTS.items():
    of_sizes = {"A": filled(*first), "B": filled(*second), "C": filled(*third), **attributes}
    but = INTEGERS if "activation" in attributes else ()
    FUSED.sized(name, sizes, each="T", but=but, cites=(SAME, ACTIVATION), arguments=of_sizes)
