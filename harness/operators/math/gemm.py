"""Gemm: alpha * A * B + beta * C of matrices, either of which may come transposed.

Versions: 1 (C broadcast by attribute), 6 (text), 7 (unidirectional broadcasting), 9 (integers), 11 (C optional),
13 (bfloat16).
"""

# ruff: noqa: N803 - the text's own names

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Int, Op, Rule, Tag, Version, bounded, ramp, typed

Maybe = Array | None


def _rounding(
    A: Array, B: Array, C: Maybe, *, alpha: float, beta: float, transA: int, transB: int, **_: object
) -> list[Array]:
    """Return half a rounding of all magnitudes for each product, addition and scaling."""
    left, right = (np.abs((item.T if turned else item).astype(float)) for item, turned in ((A, transA), (B, transB)))
    with np.errstate(invalid="ignore"):  # An infinity by a zero; whether numpy warns of it depends on the machine.
        magnitudes = abs(alpha) * (left @ right) + (0 if C is None else abs(beta) * np.abs(C.astype(float)))
    return [magnitudes * (left.shape[1] + 4) / 2]


GEMM = Op(
    "Gemm",
    versions=(1, 6, 7, 9, 11, 13),
    compare=bounded(_rounding, "K products and sums in any order and two scalings round by half an epsilon each"),
    rank=lambda _: 2,
)

GENERAL = GEMM.clause(
    "General Matrix multiplication: https://en.wikipedia.org/wiki/Basic_Linear_Algebra_Subprograms#Level_3",
    note="BLAS reads no C where beta is 0, nor A and B where alpha is; the formula makes NaN of what is not finite.",
)
FORMULA_OLD = GEMM.clause(
    "Compute Y = alpha * A * B + beta * C, where input tensor A has dimension (M X K), input tensor B has dimension "
    "(K X N), input tensor C and output tensor Y have dimension (M X N).",
    before=7,
)
FORMULA = GEMM.clause(
    "Compute Y = alpha * A' * B' + beta * C, where input tensor A has shape (M, K) or (K, M), input tensor B has shape "
    "(K, N) or (N, K), input tensor C is broadcastable to shape (M, N), and output tensor Y has shape (M, N).",
    since=7,
    note="Where K is 0 the product is 0. Says not what becomes of an integer result that is broken or out of range. "
    "onnx.reference goes through floats and misses integers beyond 2**53.",
)
BROADCAST_OLD = GEMM.clause(
    "If attribute broadcast is non-zero, input tensor C will be broadcasted to match the dimension requirement.",
    before=7,
    note="Says not by which rules: cases have one way only to match.",
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
ALPHA_OLD = GEMM.clause("Scalar multiplier for the product of input tensors A * B, the default value is 1.0.", before=7)
BETA_OLD = GEMM.clause(
    "Scalar multiplier for input tensor C, the default value is 1.0.",
    before=7,
    note="onnx.reference does not scale C in version 6 unless broadcast is set.",
)
ALPHA = GEMM.clause("Scalar multiplier for the product of input tensors A * B.", since=7)
BETA = GEMM.clause("Scalar multiplier for input tensor C.", since=7)
NOT_SPECIFIED = GEMM.clause("If not specified, the computation is done as if C is a scalar 0.", since=11)
EMPTY_STRING = GEMM.clause(
    "An empty string may be used in the place of an actual argument's name to indicate a missing argument.", since=11
)
TRAILING = GEMM.clause(
    "Trailing optional arguments (those not followed by an argument that is present) may also be simply omitted.",
    since=11,
)
FLOATS = GEMM.clause("Constrain input and output types to float tensors.", before=9)
FLOATS_INTEGERS = GEMM.clause("Constrain input and output types to float/int tensors.", since=9)


def _computed(v: Version, left: Array, right: Array, C: Array, alpha: float, beta: float) -> Array:
    """Return the formula of real numbers, or exactly that of integers; C is broadcast already."""
    if left.dtype.kind == "f":
        v.silent(GENERAL, alpha == 0 and not (np.isfinite(left).all() and np.isfinite(right).all()))
        v.silent(GENERAL, beta == 0 and not np.isfinite(C).all())
        wide = [item.astype(np.longdouble) for item in (left, right, C)]
        with np.errstate(invalid="ignore"):
            return np.asarray(alpha * (wide[0] @ wide[1]) + beta * wide[2])
    terms = left.astype(object)[:, :, None] * right.astype(object)[None]
    (a, a_under), (b, b_under) = float(alpha).as_integer_ratio(), float(beta).as_integer_ratio()
    exact, under = a * b_under * terms.sum(1, initial=0) + b * a_under * C.astype(object), a_under * b_under
    limits = np.iinfo(left.dtype)
    v.silent(FORMULA, any(item % under or not limits.min <= item // under <= limits.max for item in exact.ravel()))
    return np.array([item // under for item in exact.ravel()], left.dtype).reshape(C.shape)


@GEMM.oracle()
def multiplied(
    v: Version, A: Array, B: Array, C: Maybe, *, alpha: float, beta: float, transA: int, transB: int, broadcast: Int
) -> Array:
    """Return the result; broadcast is None from version 7 on, where C may always be broadcast."""
    old = FORMULA_OLD.in_force(v.since)
    v.require(FORMULA_OLD if old else A_SHAPE, A.ndim == 2)  # noqa: PLR2004 - a matrix
    v.require(FORMULA_OLD if old else B_SHAPE, B.ndim == 2)  # noqa: PLR2004
    left, right = (A.T if transA else A), (B.T if transB else B)
    v.require(FORMULA_OLD if old else FORMULA, left.shape[1] == right.shape[0])
    shape = left.shape[0], right.shape[1]
    added = np.zeros((), A.dtype) if C is None else C
    if old and not broadcast:
        v.require(FORMULA_OLD, added.shape == shape)
    v.require(BROADCAST_OLD if old else UNIDIRECTIONAL, added.ndim <= 2)  # noqa: PLR2004
    fits = all(mine in {1, wanted} for mine, wanted in zip(added.shape[::-1], shape[::-1], strict=False))
    v.require(BROADCAST_OLD if old else C_SHAPE, fits)
    return _computed(v, left, right, np.broadcast_to(added, shape), alpha, beta)


case = GEMM.case

WAVES = np.sin(np.arange(26.0) * 1.7)
A, B, C = WAVES[:6].reshape(2, 3), WAVES[6:18].reshape(3, 4), WAVES[18:].reshape(2, 4)
ALL: dict[str, Any] = {"A": A, "B": B, "C": C}
PAIR: dict[str, Any] = {"A": A, "B": B}
WHOLE: dict[str, Any] = {"A": ramp(2, 3), "B": ramp(3, 4), "C": ramp(2, 4)}

case("plain_old", **ALL, cites=(FORMULA_OLD, GENERAL, ALPHA_OLD, BETA_OLD))
case("plain", **ALL, cites=(FORMULA, GENERAL, Y_SHAPE))
for name, factors in {
    "alpha": {"alpha": 0.5}, "beta": {"beta": -1.25}, "both": {"alpha": -0.75, "beta": 2.5},
    "ones": {"alpha": 1.0, "beta": 1.0}, "zero": {"alpha": 0.0}, "beta_zero": {"beta": 0.0},
}.items():  # fmt: skip
    scaled: dict[str, Any] = ALL | factors
    case(f"scaled_{name}_old", **scaled, cites=(ALPHA_OLD, BETA_OLD))
    case(f"scaled_{name}", **scaled, cites=(ALPHA, BETA))
for name, one, other in (("a", 1, 0), ("b", 0, 1), ("both", 1, 1), ("two", 2, -1)):
    turned: dict[str, Any] = {"A": A.T if one else A, "B": B.T if other else B, "transA": one, "transB": other}
    case(f"transposed_{name}", **turned, C=C, cites=(TRANSPOSED, TRANS_A, TRANS_B))
    case(f"transposed_{name}_scaled", **turned, C=C, alpha=0.25, beta=0.5, cites=(A_TURNED, B_TURNED))

for name, added in {
    "scalar": 0.5, "vector_one": [0.5], "row": C[0], "row_matrix": C[:1], "column": C[:, :1], "one": C[:1, :1],
    "whole": C,
}.items():  # fmt: skip
    case(f"broadcast_{name}_old", Tag.CHANGE, **PAIR, C=added, broadcast=1, cites=(BROADCAST_OLD, WHETHER))
    case(f"broadcast_{name}", Tag.CHANGE, **PAIR, C=added, beta=0.5, cites=(UNIDIRECTIONAL, C_SHAPE))
for name, added, value in (("zero", C, 0), ("two", C[0], 2)):
    case(f"broadcast_{name}", Tag.EDGE, **PAIR, C=added, broadcast=value, cites=(BROADCAST_OLD,))
case("broadcast_transposed", **PAIR | {"A": A.T}, transA=1, C=C[:, :1], cites=(UNIDIRECTIONAL,))
case("no_c", Tag.CHANGE, **PAIR, cites=(NOT_SPECIFIED, EMPTY_STRING, TRAILING))
case("no_c_scaled", Tag.CHANGE, **PAIR, alpha=0.5, beta=3.0, cites=(NOT_SPECIFIED,))
case("no_c_transposed", Tag.CHANGE, A=A.T, B=B.T, transA=1, transB=1, cites=(NOT_SPECIFIED,))

for name, m, n, k in (
    ("one", 1, 1, 1), ("row", 1, 4, 3), ("column", 3, 1, 4), ("outer", 3, 4, 1), ("no_rows", 0, 4, 3),
    ("no_columns", 3, 0, 4), ("no_terms", 2, 4, 0),
):  # fmt: skip
    case(f"sizes_{name}", Tag.EDGE, A=ramp(m, k), B=ramp(k, n), C=ramp(m, n), cites=(GENERAL,))
LONG = np.cos(np.arange(1500.0))
case("long", A=LONG[:600].reshape(2, 300), B=LONG[600:].reshape(300, 3), C=ramp(2, 3), cites=(GENERAL,))
case("infinity", Tag.EDGE, **ALL | {"A": [[np.inf, 1, 2], [3, 4, 5]], "B": np.abs(B)}, cites=(GENERAL,))
case("nan", Tag.EDGE, **ALL | {"A": [[np.nan, 1, 2], [3, 4, 5]]}, cites=(GENERAL,))
case("nan_alpha_zero", Tag.EDGE, **ALL | {"A": [[np.nan, 1, 2], [3, 4, 5]]}, alpha=0.0, unspecified=GENERAL)
case("nan_beta_zero", Tag.EDGE, **ALL | {"C": [[np.nan, 1, 2, 3], [3, np.inf, 5, 6]]}, beta=0.0, unspecified=GENERAL)

for name, shape in {"vector": (3,), "rank3": (1, 3, 3)}.items():
    case(f"a_{name}_old", **ALL | {"A": ramp(*shape)}, rejects=FORMULA_OLD)
    case(f"a_{name}", **ALL | {"A": ramp(*shape)}, rejects=A_SHAPE)
    case(f"b_{name}_old", **ALL | {"B": ramp(*shape)}, rejects=FORMULA_OLD)
    case(f"b_{name}", **ALL | {"B": ramp(*shape)}, rejects=B_SHAPE)
DIFFER: dict[str, dict[str, Any]] = {"terms": {"B": ramp(5, 4)}, "turned": {"transA": 1}}
for name, differ in DIFFER.items():
    mismatch = ALL | differ
    case(f"mismatch_{name}_old", **mismatch, rejects=FORMULA_OLD)
    case(f"mismatch_{name}", **mismatch, rejects=FORMULA)
case("c_not_broadcast", Tag.CHANGE, **PAIR, C=C[0], rejects=FORMULA_OLD)
case("c_mismatch_old", **PAIR, C=ramp(3, 4), broadcast=1, rejects=BROADCAST_OLD)
case("c_mismatch", **PAIR, C=ramp(3, 4), rejects=C_SHAPE)
case("c_column_vector", **PAIR, C=ramp(2), rejects=C_SHAPE)
case("c_wider", **PAIR | {"A": ramp(1, 3)}, C=ramp(2, 4), rejects=C_SHAPE)
case("c_rank3", Tag.EDGE, **PAIR, C=ramp(1, 2, 4), rejects=UNIDIRECTIONAL)

case("dtypes_floats", Tag.DTYPE, each="T", **WHOLE, cites=(FLOATS,))
case("dtypes", Tag.DTYPE, each="T", **WHOLE, cites=(FLOATS_INTEGERS,))
case("dtypes_scaled", Tag.DTYPE, each="T", **WHOLE, alpha=2.0, beta=3.0, since=13)
case("outside", Tag.DTYPE, outside="T", A=ramp(2, 3), B=ramp(3, 4), since=13, rejects=Rule.TYPES)


def of(type_: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever an array is made of
    """Return the arguments in one element type."""
    return {name: typed(type_, np.asarray(values)) for name, values in given.items()}


for type_ in ("int64", "uint32"):
    near = of(type_, A=np.array([[int(np.iinfo(type_).max) - 6, 1]], type_), B=[[1], [3]])
    case(f"exact_{type_}", Tag.EDGE, **near, **of(type_, C=[[3]]), since=9, cites=(FORMULA,))
    case(f"overflow_{type_}", Tag.EDGE, **near, **of(type_, C=[[4]]), since=9, unspecified=FORMULA)
    odd, even = (of(type_, A=[[number]], B=[[1]], C=[[1]]) for number in (3, 6))
    case(f"half_{type_}", Tag.EDGE, **odd, alpha=0.5, since=9, unspecified=FORMULA)
    case(f"half_even_{type_}", Tag.EDGE, **even, alpha=0.5, since=9, cites=(ALPHA,))
    case(f"outside_{type_}", Tag.CHANGE, **even, before=9, rejects=FLOATS)
for type_ in ("float16", "bfloat16", "double"):
    case(f"fractions_{type_}", Tag.EDGE, **of(type_, A=A, B=B, C=C), alpha=0.5, beta=-1.25, since=13, cites=(FORMULA,))
case("two_types", **PAIR, C=typed("double", C), rejects=Rule.TYPES)
case("no_c_old", Tag.CHANGE, **PAIR, before=11, rejects=Rule.ARITY)
case("no_outputs", **ALL, n=0, rejects=Rule.ARITY)
case("two_outputs", **ALL, n=2, rejects=Rule.ARITY)
case("stray_broadcast", Tag.CHANGE, **ALL, stray={"broadcast": 1}, since=7, rejects=Rule.ATTRIBUTES)
