# SPDX-License-Identifier: Apache-2.0
"""QGemm: alpha * A * B + C of quantized matrices, which may be transposed. The result is quantized or a real number.

    Y = QGemm(A, a_scale, a_zero_point, B, b_scale, b_zero_point, C=None, y_scale=None, y_zero_point=None, alpha=1.0,
              transA=0, transB=0)

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.sizes import EVERY_BYTE, NEAR_THE_MIDDLE, PAIRS_OF_BYTES, filled, grid
from onnx_conformance.operators.math._matrix_product import product_of_doubles
from onnx_conformance.operators_microsoft._byte_product import MATRIX, allowed_error, beyond_32_bits, per_column, scaled
from onnx_conformance.operators_microsoft._requantization import ROUNDINGS
from onnx_conformance.operators_microsoft._scales import reads_nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _rounding(
    A: Array, a_scale: Array, a_zero_point: Array, B: Array, b_scale: Array, b_zero_point: Array, C: Array | None,
    *, alpha: float, transA: int, transB: int, **_: object,
) -> list[Array]:  # fmt: skip
    left = scaled(A.T if transA else A, a_scale * alpha, a_zero_point)
    columns = (item[:, None] if transB and item.ndim else item for item in (b_scale, b_zero_point))
    right = scaled(B, *columns)
    added = None if C is None else C * (alpha * a_scale * b_scale)
    return [allowed_error(left, right.T if transB else right, added)]


def _dimensions(_: Mapping[str, tuple[int, ...]], attributes: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """Name the dimensions of A and B, which the attributes transpose."""
    return {
        "A": ["K", "M"] if attributes.get("transA") else ["M", "K"],
        "B": ["N", "K"] if attributes.get("transB") else ["K", "N"],
    }


def _type_of_y(types: Any, _: Mapping[str, Any]) -> str:  # noqa: ANN401 - the bindings of type variables
    """Return the type of the zero point of Y, or that of real numbers without one."""
    return str(types["TYZ"]) if "TYZ" in types.bound_by_inputs else "tensor(float)"


GEMM = Op(
    "QGemm",
    versions=(1,),
    compare=bounded(_rounding, "K products, their sums, the scales and C round; integers have no error"),
    domain="com.microsoft",
    rank=lambda _: MATRIX,
    derives={"TY": _type_of_y},
    dimensions=_dimensions,
)
A = np.array([[3, 7, 0, 5], [1, 2, 9, 4], [6, 8, 7, 11]])
B = np.array([[2, 5], [0, 3], [4, 1], [6, 8]])
C = np.array([[7, -2], [30, 4], [-9, 11]])


def scales(**changed: object) -> dict[str, Any]:
    """Return the scales and the zero points of A and B."""
    return {"a_scale": 0.5, "a_zero_point": 2, "b_scale": 0.25, "b_zero_point": 3, **changed}


GEMM.example(A=A, B=B, **scales(), C=typed("int32", C), y_scale=0.5, y_zero_point=2, alpha=2.0)

QUANTIZED = GEMM.clause(
    "Quantized Gemm",
    note="The text has no formula. That of Gemm is alpha * A' * B' + beta * C, on dequantized numbers. The text does "
    "not define the result of a sum of products that exceeds 32 bits.",
)
A_SHAPE = GEMM.clause("The shape of A should be (M, K) if transA is 0, or (K, M) if transA is non-zero.")
B_SHAPE = GEMM.clause("The shape of B should be (K, N) if transB is 0, or (N, K) if transB is non-zero.")
SCALE_A = GEMM.clause(
    "Scale of quantized input 'A'. It is a scalar,which means a per-tensor quantization.",
    note="The text does not define a scale that is infinite or NaN.",
)
ZERO_A = GEMM.clause("Zero point tensor for input 'A'. It is a scalar.")
SCALE_B = GEMM.clause("Scale of quantized input 'B'.", note="The text does not define a scale that is infinite or NaN.")
EITHER = GEMM.clause("It could be a scalar or a 1-D tensor, which means a per-tensor or per-column quantization.")
COLUMNS = GEMM.clause(
    "If it's a 1-D tensor, its number of elements should be equal to the number of columns of input 'B'.",
    note="The text does not define whether the columns are those of B before or after it is transposed. Those of the "
    "product are meant if transB is 0; otherwise only a scalar has one meaning, and a 1-D tensor if N is K. The text "
    "does not define whether one element may apply to several columns.",
)
ZERO_B = GEMM.clause(
    "Zero point tensor for input 'B'. It's optional and default value is 0.",
    note="This contradicts the signature, in which it is required, so no case omits it.",
)
NO_C = GEMM.clause("If not specified, the computation is done as if C is a scalar 0.")
C_SHAPE = GEMM.clause("The shape of C should be unidirectional broadcastable to (M, N).")
C_SCALE = GEMM.clause(
    "Its type is int32_t and must be quantized with zero_point = 0 and scale = alpha / beta * a_scale * b_scale.",
    result=True,
    note="The operator has no beta, but it cancels out: beta * C is alpha * a_scale * b_scale times the integers.",
)
SCALE_Y = GEMM.clause(
    "Scale of output 'Y'. It is a scalar, which means a per-tensor quantization.",
    note="The text does not define a scale that is 0, infinite or NaN.",
)
ZERO_Y = GEMM.clause("Zero point tensor for output 'Y'. It is a scalar, which means a per-tensor quantization.")
FULL = GEMM.clause(
    "It is optional. The output is full precision(float32) if it is not provided. Or the output is quantized.",
    note="The text does not define the output if only one of the scale and the zero point of Y is present. It has no "
    "formula of the quantization, which is that of QuantizeLinear, with saturation. It does not define how a tie is "
    "rounded: an element that a few roundings can change is left open.",
)
Y_SHAPE = GEMM.clause("Output tensor of shape (M, N).", result=True)
ALPHA = GEMM.clause("Scalar multiplier for the product of input tensors A * B.")
TRANS_A = GEMM.clause("Whether A should be transposed", result=True)
TRANS_B = GEMM.clause("Whether B should be transposed", result=True)
TYPE_C = GEMM.clause("Constrain input C to 32 bit integer tensors.")


@GEMM.oracle()
def product(
    v: Version,
    A: Array,
    a_scale: Array,
    a_zero_point: Array,
    B: Array,
    b_scale: Array,
    b_zero_point: Array,
    C: Array | None,
    y_scale: Array | None,
    y_zero_point: Array | None,
    alpha: float,
    transA: int,
    transB: int,
) -> Result:
    """Return the product of the dequantized matrices plus the dequantized C, quantized if Y has a scale."""
    v.require(A_SHAPE, A.ndim == MATRIX)
    v.require(B_SHAPE, B.ndim == MATRIX)
    left, right = (A.T if transA else A), (B.T if transB else B)
    v.require(B_SHAPE, left.shape[1] == right.shape[0])
    scale_a, zero_a = v.scalar(SCALE_A, a_scale), v.scalar(ZERO_A, a_zero_point).astype(np.float64)
    scale_b = per_column(v, EITHER, COLUMNS, _columns(v, B, b_scale, transB), b_scale)
    zero_b = per_column(v, EITHER, COLUMNS, _columns(v, B, b_zero_point, transB), b_zero_point)
    v.silent(SCALE_A, not np.isfinite(scale_a))
    v.silent(SCALE_B, not np.isfinite(scale_b).all())
    shape = left.shape[0], right.shape[1]
    added = np.zeros((), np.int32) if C is None else C
    sizes = zip(reversed(added.shape), reversed(shape), strict=False)
    v.require(C_SHAPE, added.ndim <= MATRIX and all(size in {1, whole} for size, whole in sizes))
    unit = alpha * scale_a * scale_b
    total = np.asarray(unit * (product_of_doubles(left - zero_a, right - zero_b) + added), np.float64)
    if y_scale is None or y_zero_point is None:
        v.silent(FULL, y_scale is not y_zero_point)
        result: Result = total
    else:
        result = _quantized(v, total, y_scale, v.scalar(ZERO_Y, y_zero_point))
    return v.leave_open(QUANTIZED, beyond_32_bits(left - zero_a, right - zero_b), result)


def _columns(v: Version, B: Array, values: Array, transB: int) -> int:
    """Return the number of columns of B, which must be the same before and after the transposition."""
    v.silent(COLUMNS, bool(transB) and values.ndim == 1 and B.shape[0] != B.shape[1])
    return int(B.shape[1])


def _quantized(v: Version, total: Array, y_scale: Array, zero_point: Array) -> Result:
    """Return saturate(round(total / y_scale) + zero_point); elements that a few roundings can change are left open."""
    scale = float(v.scalar(SCALE_Y, y_scale))
    v.silent(SCALE_Y, scale == 0 or not np.isfinite(scale))
    reads_nearest(v, total / scale + zero_point, zero_point.dtype)
    limits = np.iinfo(zero_point.dtype)
    near = (total / scale * factor for factor in (1, 1 + ROUNDINGS, 1 - ROUNDINGS))
    exact, high, low = ((np.rint(item) + zero_point.astype(float)).clip(limits.min, limits.max) for item in near)
    return v.leave_open(FULL, low != high, np.asarray(exact))


case = GEMM.case


def whole(values: object) -> Any:  # noqa: ANN401 - an argument
    """Return C."""
    return typed("int32", values)


case("plain", each=("TA", "TB"), A=A, B=B, **scales(), cites=(QUANTIZED, NO_C, A_SHAPE, B_SHAPE, Y_SHAPE))
for name, changed in {
    "scale_of_a": {"a_scale": 2}, "zero_point_of_a": {"a_zero_point": 7}, "scale_of_b": {"b_scale": 3},
    "zero_point_of_b": {"b_zero_point": 0}, "negative_scale": {"a_scale": -2}, "zero_scale": {"b_scale": 0},
}.items():  # fmt: skip
    case(f"other_{name}", A=A, B=B, **scales(**changed), C=whole(C), cites=(SCALE_A, ZERO_A, SCALE_B, EITHER))
QUANTIZED_Y = vary(signed=typed("int8", -7), unsigned=typed("uint8", 9))
case("quantized", A=A, B=B, **scales(), y_scale=0.5, y_zero_point=QUANTIZED_Y, cites=(SCALE_Y, ZERO_Y, FULL))
case("quantized_with_c", A=A, B=B, **scales(), C=whole(C), y_scale=0.5, y_zero_point=QUANTIZED_Y, cites=(FULL, C_SCALE))
case("full_with_c", each=("TA", "TB"), A=A, B=B, **scales(), C=whole(C), cites=(FULL, C_SCALE, TYPE_C))
for name, alpha in {"half": 0.5, "negative": -3.0, "zero": 0.0, "tenth": 0.1}.items():
    case(f"alpha_{name}", A=A, B=B, **scales(), C=whole(C), alpha=alpha, cites=(ALPHA, C_SCALE))
    case(f"alpha_{name}_quantized", A=A, B=B, **scales(), alpha=alpha, y_scale=0.3, y_zero_point=50, cites=ALPHA)
case("alpha_without_c", A=A, B=B, **scales(), alpha=0.5, cites=(ALPHA, NO_C))
TURNS = {"a": (A.T, B, 1, 0), "b": (A, B.T, 0, 1), "both": (A.T, B.T, 1, 1), "two": (A.T, B.T, 2, -1)}
for name, (left, right, turned_a, turned_b) in TURNS.items():
    turned: dict[str, Any] = {"A": left, "B": right, "transA": turned_a, "transB": turned_b}
    case(f"transposed_{name}", **turned, **scales(), C=whole(C), cites=(TRANS_A, TRANS_B))
    case(f"transposed_{name}_quantized", **turned, **scales(), y_scale=0.5, y_zero_point=9, cites=(A_SHAPE, B_SHAPE))
SCALES_B, ZEROS_B = [0.25, 4], [3, 5]
case("scale_of_columns", A=A, B=B, **scales(b_scale=SCALES_B, b_zero_point=[3, 3]), C=whole(C), cites=(EITHER, COLUMNS))
case("zero_points_of_columns", A=A, B=B, **scales(b_scale=[2, 2], b_zero_point=ZEROS_B), cites=(EITHER, COLUMNS))
OF_COLUMNS = scales(b_scale=SCALES_B, b_zero_point=ZEROS_B)
case("columns", each=("TA", "TB"), A=A, B=B, **OF_COLUMNS, C=whole(C), cites=(EITHER, COLUMNS, ZERO_B))
case("columns_quantized", A=A, B=B, **OF_COLUMNS, C=whole(C), y_scale=0.5, y_zero_point=9, cites=COLUMNS)
case("scale_of_columns_alone", Tag.EDGE, A=A, B=B, **scales(b_scale=SCALES_B), cites=(EITHER, COLUMNS))
case("zero_points_of_columns_alone", Tag.EDGE, A=A, B=B, **scales(b_zero_point=ZEROS_B), cites=(EITHER, COLUMNS))
case("columns_transposed", Tag.EDGE, A=A, B=B.T, **OF_COLUMNS, transB=1, unspecified=COLUMNS)
SQUARE = np.arange(16).reshape(4, 4)
OF_FOUR = scales(b_scale=[1, 2, 0.5, 4], b_zero_point=[1, 9, 3, 5])
case("columns_of_square_transposed", Tag.EDGE, A=A, B=SQUARE, **OF_FOUR, transB=1, cites=COLUMNS)
case("columns_of_square", Tag.EDGE, A=A, B=SQUARE, **OF_FOUR, C=whole([1, 2, 3, 4]), cites=COLUMNS)
TOO_FEW = scales(b_scale=[1, 1, 1])
case("columns_of_wrong_length", Tag.EDGE, A=A, B=SQUARE, **TOO_FEW, transB=1, rejects=COLUMNS)
ONE = scales(b_scale=[2], b_zero_point=[5])
case("one_column", Tag.EDGE, A=A, B=B[:, :1], **ONE, C=whole(C[:, :1]), cites=COLUMNS)
ADDED = vary(scalar=whole(5), vector_one=whole([5]), row=whole(C[0]), row_matrix=whole(C[:1]), column=whole(C[:, :1]),
             one=whole(C[:1, :1]), whole=whole(C))  # fmt: skip
case("broadcast", Tag.EDGE, A=A, B=B, **scales(), C=ADDED, cites=C_SHAPE)
case("broadcast_quantized", Tag.EDGE, A=A, B=B, **scales(), C=ADDED, y_scale=0.5, y_zero_point=9, cites=C_SHAPE)
case("c_of_24_bits", Tag.EDGE, A=A, B=B, **scales(), C=whole(2**24 + 1), cites=C_SCALE)
for name, shape in {"vector": (3,), "column_as_vector": (3, 1, 1), "rows": (2, 2), "columns": (3, 3)}.items():
    case(f"c_misfit_{name}", Tag.EDGE, A=A, B=B, **scales(), C=whole(np.ones(shape)), rejects=C_SHAPE)
SIZES = {"one": (1, 1, 1), "row": (1, 4, 3), "column": (3, 1, 4), "outer": (3, 4, 1), "no_rows": (0, 4, 3),
         "no_columns": (3, 0, 4), "no_terms": (2, 4, 0)}  # fmt: skip
for name, (m, n, k) in SIZES.items():
    of_size: dict[str, Any] = {"A": ramp(m, k), "B": ramp(k, n), **scales()}
    case(f"sizes_{name}", Tag.EDGE, **of_size, C=whole(np.arange(n)), cites=Y_SHAPE)
    case(f"sizes_{name}_without_c", Tag.EDGE, **of_size, cites=Y_SHAPE)
    case(f"sizes_{name}_quantized", Tag.EDGE, **of_size, y_scale=0.25, y_zero_point=9, cites=Y_SHAPE)
NO_MATRIX = vary(vector=ramp(4), rank3=ramp(1, 4, 4))
case("a", Tag.EDGE, A=NO_MATRIX, B=B, **scales(), rejects=A_SHAPE)
case("b", Tag.EDGE, A=A, B=NO_MATRIX, **scales(), rejects=B_SHAPE)
case("misfit", A=A, B=ramp(5, 2), **scales(), rejects=B_SHAPE)
case("misfit_transposed_a", A=A, B=B, **scales(), transA=1, rejects=B_SHAPE)
case("misfit_transposed_b", A=A, B=B, **scales(), transB=1, rejects=B_SHAPE)

ENDS = {"int8": (-128, 127), "uint8": (0, 255)}
for type_a, (low_a, high_a) in ENDS.items():
    for type_b, (low_b, high_b) in ENDS.items():
        limits: dict[str, Any] = {
            "A": typed(type_a, [[low_a, high_a, 1]]),
            "B": typed(type_b, [[low_b], [high_b], [1]]),
        }
        ends = scales(a_zero_point=typed(type_a, low_a), b_zero_point=typed(type_b, high_b))
        case(f"limits_{type_a}_by_{type_b}", Tag.EDGE, **limits, **ends, cites=QUANTIZED)
        for type_y, (low, high) in ENDS.items():
            saturates: dict[str, Any] = {
                "A": typed(type_a, [[high_a], [low_a]]), "B": typed(type_b, [[high_b, low_b]]), "y_scale": 0.25,
                **scales(a_zero_point=typed(type_a, 1), b_zero_point=typed(type_b, 1)),
            }  # fmt: skip
            name = f"saturates_{type_a}_by_{type_b}_to_{type_y}"
            case(name, Tag.EDGE, **saturates, y_zero_point=typed(type_y, (low + high) // 2), cites=FULL)


def bytes_to_sum(*last: int) -> dict[str, Any]:
    """Return a row and two columns. The product with the first is 33025 * 255**2 + 255 * last + ..., about 2**31."""
    row = np.full((1, 33025 + len(last)), 255)
    row[0, -1] = 128 if len(last) > 1 else 255
    columns = np.zeros((33025 + len(last), 2))
    columns[:, 0] = [*[255] * 33025, *last]
    return {"A": typed("uint8", row), "B": typed("uint8", columns)}


NO_ZEROS = scales(a_zero_point=0, b_zero_point=0)
case("sum_of_31_bits", Tag.EDGE, **bytes_to_sum(129), **NO_ZEROS, cites=QUANTIZED)
case("sum_of_32_bits", Tag.EDGE, **bytes_to_sum(129, 1), **NO_ZEROS, unspecified=QUANTIZED)  # 2**31
LONG: dict[str, Any] = {"A": typed("uint8", np.full((1, 33026), 255)), "B": typed("uint8", np.full((33026, 1), 255))}
AS_ZERO = typed("uint8", 255)
case("no_sum_of_a", Tag.EDGE, **LONG, **scales(a_zero_point=AS_ZERO, b_zero_point=0), cites=QUANTIZED)
case("no_sum_of_b", Tag.EDGE, **LONG, **scales(a_zero_point=0, b_zero_point=AS_ZERO), cites=QUANTIZED)
HALVES = scales(a_scale=1, a_zero_point=0, b_scale=0.5, b_zero_point=0)
TIED: dict[str, Any] = {"A": [[1], [3], [5], [6]], "B": [[1]]}
case("ties", Tag.EDGE, **TIED, **HALVES, y_scale=1, y_zero_point=4, unspecified=FULL)
case("one_tie", Tag.EDGE, A=[[1], [2], [4], [6]], B=[[1]], **HALVES, y_scale=1, y_zero_point=4, unspecified=FULL)
case("no_ties", Tag.EDGE, A=[[2], [4], [6]], B=[[1]], **HALVES, y_scale=1, y_zero_point=4, cites=FULL)
case("rounds_to_nearest", Tag.EDGE, A=ramp(64, 1), B=[[1]], **HALVES, y_scale=3.7, y_zero_point=4, cites=FULL)
case("scale_of_y_alone", A=A, B=B, **scales(), y_scale=0.5, unspecified=FULL)
case("zero_point_of_y_alone", A=A, B=B, **scales(), y_zero_point=4, unspecified=FULL)
VECTORS = scales(a_scale=[0.5], a_zero_point=[2])
case("scalars_as_vectors", Tag.EDGE, A=A, B=B, **VECTORS, C=whole(C), y_scale=[0.5], y_zero_point=[9], cites=SCALE_Y)
Y: dict[str, Any] = {"y_scale": 0.5, "y_zero_point": 9}
for name, clause in {"a_scale": SCALE_A, "a_zero_point": ZERO_A, "y_scale": SCALE_Y, "y_zero_point": ZERO_Y}.items():
    case(f"{name}_for_each", A=A, B=B, **{**scales(), **Y, name: [1, 1, 1]}, rejects=clause)
    case(f"{name}_as_matrix", Tag.EDGE, A=A, B=B, **{**scales(), **Y, name: [[1]]}, rejects=clause)
for name in ("b_scale", "b_zero_point"):
    case(f"{name}_of_rows", A=A, B=B, **scales(**{name: [1, 1, 1, 1]}), rejects=COLUMNS)
    case(f"{name}_as_matrix", Tag.EDGE, A=A, B=B, **scales(**{name: [[1, 1]]}), rejects=EITHER)
    case(f"{name}_of_one", Tag.EDGE, A=A, B=B, **scales(**{name: [1]}), unspecified=COLUMNS)
for name, value in {"infinite": np.inf, "nan": np.nan}.items():
    case(f"{name}_scale_of_a", Tag.EDGE, A=A, B=B, **scales(a_scale=value), unspecified=SCALE_A)
    case(f"{name}_scale_of_b", Tag.EDGE, A=A, B=B, **scales(b_scale=value), unspecified=SCALE_B)
    case(f"{name}_scale_of_column", Tag.EDGE, A=A, B=B, **scales(b_scale=[1, value]), unspecified=SCALE_B)
for name, value in {"zero": 0, "infinite": np.inf, "nan": np.nan}.items():
    case(f"{name}_scale_of_y", Tag.EDGE, A=A, B=B, **scales(), y_scale=value, y_zero_point=9, unspecified=SCALE_Y)

LAYOUTS: dict[str, tuple[tuple[str, str], tuple[str, str], dict[str, Any]]] = {
    "plain": (("m", "k"), ("k", "n"), {}),
    "transposed": (("k", "m"), ("n", "k"), {"transA": 1, "transB": 1}),
}
for a_type, b_type in PAIRS_OF_BYTES:
    for name, (first, second, flags) in LAYOUTS.items():
        of_sizes: dict[str, Any] = {
            "A": filled(*first, integers=EVERY_BYTE, type_=a_type),
            "B": filled(*second, integers=EVERY_BYTE, type_=b_type),
            "a_scale": 2.0**-7,
            "a_zero_point": filled(integers=NEAR_THE_MIDDLE[a_type], type_=a_type),
            "b_scale": 2.0**-6,
            "b_zero_point": filled(integers=NEAR_THE_MIDDLE[b_type], type_=b_type),
            "C": filled("n", integers=(-9999, 9999), type_="int32"),
            **flags,
        }
        some = grid(m=(1, 5, 17), k=(16, 67, 513), n=(8, 33))
        GEMM.sized(f"full_{name}_{a_type}_by_{b_type}", some, cites=(QUANTIZED, C_SCALE), arguments=of_sizes)
        to_8_bits: dict[str, Any] = {
            **of_sizes, "y_scale": 0.37, "y_zero_point": filled(integers=NEAR_THE_MIDDLE[a_type], type_=a_type),
        }  # fmt: skip
        GEMM.sized(f"quantized_{name}_{a_type}_by_{b_type}", some, cites=(QUANTIZED, FULL), arguments=to_8_bits)
