# SPDX-License-Identifier: Apache-2.0
"""MatMulIntegerToFloat: the matrix product of two quantized tensors, as real numbers.

    Y = MatMulIntegerToFloat(A, B, a_scale, b_scale, a_zero_point=0, b_zero_point=0, bias=None)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.sums import but_where, overflows
from onnx_conformance.declare.sizes import EVERY_BYTE, PAIRS_OF_BYTES, filled, grid
from onnx_conformance.operators.math._matrix_product import (
    dimensions_of_product,
    product_of_doubles,
    rank_of_product,
    require_product,
    shape_words,
)
from onnx_conformance.operators.math._sizes import BYTES
from onnx_conformance.operators_microsoft._byte_product import (
    MATRIX,
    MISFITS,
    SHAPES,
    VECTORS,
    allowed_error,
    beyond_32_bits,
    magnitudes,
    per_column,
    scaled,
)


def _rounding(
    A: Array, B: Array, a_scale: Array, b_scale: Array, a_zero_point: Array | None, b_zero_point: Array | None,
    bias: Array | None,
) -> list[Array]:  # fmt: skip
    zero_of_a, zero_of_b = (np.zeros(()) if item is None else item for item in (a_zero_point, b_zero_point))
    return [allowed_error(scaled(A, a_scale, zero_of_a), scaled(B, b_scale, zero_of_b), bias)]


PRODUCT = Op(
    "MatMulIntegerToFloat",
    versions=(1,),
    compare=bounded(_rounding, "K products, their sums, the scales and the bias round, in any order"),
    domain="com.microsoft",
    rank=rank_of_product("A", "B"),
    dimensions=dimensions_of_product("A", "B", "Y"),
)
A = np.array([[3, 7, 0, 5], [1, 2, 9, 4], [6, 8, 7, 11]])
B = np.array([[2, 5], [0, 3], [4, 1], [6, 8]])
PRODUCT.example(A=A, B=B, a_scale=0.5, b_scale=0.25, a_zero_point=2, b_zero_point=3, bias=[0.75, -2])

MATRIX_A = PRODUCT.clause(
    "N-dimensional matrix A",
    note="The text does not define the product of more than two dimensions; the name of the operator refers to "
    "MatMul, whose leading dimensions broadcast. It does not define vectors, which are not matrices.",
)
MATRIX_B = PRODUCT.clause("N-dimensional matrix B")
RESULTS = PRODUCT.clause(
    "Matrix multiply results from A * B",
    note="The text has no formula: A and B are dequantized as by DequantizeLinear. It does not define the result of "
    "a sum of products of integers that exceeds 32 bits.",
)
SCALE_A = PRODUCT.clause(
    "Scale of quantized input 'A'.", note="The text does not define a scale that is infinite or NaN."
)
SCALE_B = PRODUCT.clause(
    "Scale of quantized input 'B'.", note="The text does not define a scale that is infinite or NaN."
)
EITHER = PRODUCT.clause("It could be a scalar or a 1-D tensor, which means a per-tensor or per-column quantization.")
COLUMNS_A = PRODUCT.clause(
    "If it's a 1-D tensor, its number of elements should be equal to the number of columns of input 'A'.",
    note="The columns of A are the summed dimension, so each product has its own scale and zero point. The text does "
    "not define whether one element may apply to several columns.",
)
COLUMNS_B = PRODUCT.clause(
    "If it's a 1-D tensor, its number of elements should be equal to the number of columns of input 'B'.",
    note="The text does not define whether one element may apply to several columns.",
)
ZERO_A = PRODUCT.clause("Zero point tensor for input 'A'. It's optional and default value is 0.")
ZERO_B = PRODUCT.clause("Zero point tensor for input 'B'. It's optional and default value is 0.")
BIAS = PRODUCT.clause(
    "1D input tensor, whose dimension is same as B's last dimension",
    note="The text does not mention that it is added to the product. A bias has no other meaning.",
)
TYPE_A = PRODUCT.clause("Constrain input A data type to 8-bit integer tensor.")
TYPE_B = PRODUCT.clause("Constrain input B data type to 8-bit integer tensor.")
TYPE_Y = PRODUCT.clause("Constrain input a_scale, b_scale and output Y data type as float tensor.")


@PRODUCT.oracle()
def product(
    v: Version,
    A: Array,
    B: Array,
    a_scale: Array,
    b_scale: Array,
    a_zero_point: Array | None,
    b_zero_point: Array | None,
    bias: Array | None,
) -> Result:
    """Return the matrix product of the dequantized operands, plus the bias."""
    v.silent(MATRIX_A, A.ndim < MATRIX)
    v.silent(MATRIX_B, B.ndim < MATRIX)
    require_product(v, RESULTS, A, B)
    scale_a = per_column(v, EITHER, COLUMNS_A, A.shape[-1], a_scale)
    scale_b = per_column(v, EITHER, COLUMNS_B, B.shape[-1], b_scale)
    zero_a = per_column(v, EITHER, COLUMNS_A, A.shape[-1], a_zero_point)
    zero_b = per_column(v, EITHER, COLUMNS_B, B.shape[-1], b_zero_point)
    v.require(BIAS, bias is None or bias.shape == B.shape[-1:])
    v.silent(SCALE_A, not np.isfinite(scale_a).all())
    v.silent(SCALE_B, not np.isfinite(scale_b).all())
    left, right = scaled(A, scale_a, zero_a), scaled(B, scale_b, zero_b)
    added = np.zeros(()) if bias is None else bias
    total = product_of_doubles(left, right) + added
    result = but_where(overflows(total, magnitudes(left, right) + np.abs(added), v.dtypes["T3"]), total)
    return v.leave_open(RESULTS, beyond_32_bits(A - zero_a, B - zero_b), result)


case = PRODUCT.case
SCALES: dict[str, Any] = {"a_scale": 0.5, "b_scale": 0.25}
ZEROS: dict[str, Any] = {"a_zero_point": 2, "b_zero_point": 3}
case("plain", A=A, B=B, **SCALES, cites=(MATRIX_A, MATRIX_B, RESULTS, SCALE_A, SCALE_B))
case("zero_points", each=("T1", "T2"), A=A, B=B, **SCALES, **ZEROS, cites=(ZERO_A, ZERO_B))
case("zero_point_of_a", A=A, B=B, **SCALES, a_zero_point=7, cites=(ZERO_A, ZERO_B))
case("zero_point_of_b", A=A, B=B, **SCALES, b_zero_point=7, cites=(ZERO_A, ZERO_B))
case("bias", A=A, B=B, **SCALES, bias=[0.75, -2], cites=BIAS)
case("fractions", each="T3", A=A * 9, B=B * 11, a_scale=0.0066, b_scale=0.00705, **ZEROS, bias=[0.1, -1 / 3])
case("negative_scales", Tag.EDGE, A=A, B=B, a_scale=-0.5, b_scale=-3, **ZEROS, cites=(SCALE_A, SCALE_B))
case("zero_scale", Tag.EDGE, A=A, B=B, a_scale=0, b_scale=0.25, **ZEROS, bias=[0.75, -2], cites=SCALE_A)
SCALES_A, ZEROS_A = [0.5, 2, 0.25, 1], [1, 0, 5, 3]
SCALES_B, ZEROS_B = [0.25, 4], [3, 5]
case("scale_of_columns_of_a", A=A, B=B, a_scale=SCALES_A, b_scale=0.25, **ZEROS, cites=(EITHER, COLUMNS_A))
case("zero_points_of_columns_of_a", A=A, B=B, **SCALES, a_zero_point=ZEROS_A, cites=(EITHER, COLUMNS_A))
case("columns_of_a", A=A, B=B, a_scale=SCALES_A, b_scale=0.25, a_zero_point=ZEROS_A, cites=(EITHER, COLUMNS_A))
case("scale_of_columns_of_b", A=A, B=B, a_scale=0.5, b_scale=SCALES_B, **ZEROS, cites=(EITHER, COLUMNS_B))
case("zero_points_of_columns_of_b", A=A, B=B, **SCALES, b_zero_point=ZEROS_B, cites=(EITHER, COLUMNS_B))
case(
    "columns_of_b", each=("T1", "T2"), A=A, B=B, a_scale=0.5, b_scale=SCALES_B, a_zero_point=2, b_zero_point=ZEROS_B,
    bias=[0.75, -2], cites=(EITHER, COLUMNS_B),
)  # fmt: skip
case("columns_of_both", A=A, B=B, a_scale=SCALES_A, b_scale=SCALES_B, a_zero_point=ZEROS_A, b_zero_point=ZEROS_B)
SQUARE = A[:, :3]
case("columns_of_square", Tag.EDGE, A=A.T, B=SQUARE, a_scale=0.5, b_scale=[1, 2, 0.5], b_zero_point=[1, 2, 9])
ONE_COLUMN: dict[str, Any] = {"b_scale": [0.25], "b_zero_point": [3]}
case("one_column", Tag.EDGE, A=A, B=B[:, :1], a_scale=0.5, a_zero_point=2, **ONE_COLUMN, cites=COLUMNS_B)
STACKED_A, STACKED_B = np.arange(72).reshape(2, 3, 3, 4), np.arange(48).reshape(2, 3, 4, 2)
case("columns_of_stacks", A=STACKED_A, B=STACKED_B, a_scale=0.5, b_scale=SCALES_B, b_zero_point=ZEROS_B, bias=[1, 2])
OF_A: dict[str, Any] = {"a_scale": SCALES_A, "a_zero_point": ZEROS_A}
case("columns_of_a_of_stacks", A=STACKED_A, B=STACKED_B, **OF_A, b_scale=0.25, cites=COLUMNS_A)
for left, right in SHAPES:
    case(
        f"shapes_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), **SCALES, **ZEROS, cites=RESULTS
    )
for left, right in MISFITS:
    case(f"misfit_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), **SCALES, rejects=RESULTS)
for left, right in VECTORS:
    vector: dict[str, Any] = {"A": ramp(*left), "B": ramp(*right), **SCALES}
    clause = MATRIX_A if len(left) < MATRIX else MATRIX_B
    case(f"vector_{shape_words(left, right)}", Tag.EDGE, **vector, unspecified=clause)

ENDS = {"int8": (-128, 127), "uint8": (0, 255)}
for type_a, (low_a, high_a) in ENDS.items():
    for type_b, (low_b, high_b) in ENDS.items():
        limits: dict[str, Any] = {
            "A": typed(type_a, [[low_a, high_a, 1]]),
            "B": typed(type_b, [[low_b], [high_b], [1]]),
        }
        ends: dict[str, Any] = {"a_zero_point": typed(type_a, low_a), "b_zero_point": typed(type_b, high_b)}
        case(f"limits_{type_a}_by_{type_b}", Tag.EDGE, **limits, **SCALES, **ends, cites=(TYPE_A, TYPE_B, TYPE_Y))
        many: dict[str, Any] = {
            "A": typed(type_a, np.full((1, 67), high_a)),
            "B": typed(type_b, np.full((67, 2), high_b)),
        }
        case(f"largest_{type_a}_by_{type_b}", Tag.EDGE, **many, **SCALES, cites=RESULTS)
LOWEST = typed("int8", np.full((1, 4), -128)), typed("int8", np.full((4, 1), -128))
case("sum_beyond_16_bits", Tag.EDGE, A=LOWEST[0], B=LOWEST[1], **SCALES, cites=RESULTS)
ODD = np.append(np.full(299, 255), 1)  # The sum is odd, and has more than 24 bits.
UNSIGNED: dict[str, Any] = {"A": typed("uint8", ODD[None]), "B": typed("uint8", ODD[:, None])}
case("sum_beyond_24_bits", Tag.EDGE, **UNSIGNED, **SCALES, cites=RESULTS)


def bytes_to_sum(*last: int) -> dict[str, Any]:
    """Return a row and two columns. The product with the first is 33025 * 255**2 + 255 * last + ..., about 2**31."""
    row = np.full((1, 33025 + len(last)), 255)
    row[0, -1] = 128 if len(last) > 1 else 255
    columns = np.zeros((33025 + len(last), 2))
    columns[:, 0] = [*[255] * 33025, *last]
    return {"A": typed("uint8", row), "B": typed("uint8", columns)}


case("sum_of_31_bits", Tag.EDGE, **bytes_to_sum(129), **SCALES, cites=RESULTS)
case("sum_of_32_bits", Tag.EDGE, **bytes_to_sum(129, 1), **SCALES, unspecified=RESULTS)  # 2**31
LONG_ROW, LONG_COLUMN = typed("uint8", np.full((1, 33026), 255)), typed("uint8", np.full((33026, 1), 255))
AS_ZERO = typed("uint8", 255)
case("no_sum_of_a", Tag.EDGE, A=LONG_ROW, B=LONG_COLUMN, **SCALES, a_zero_point=AS_ZERO, cites=RESULTS)
case("no_sum_of_b", Tag.EDGE, A=LONG_ROW, B=LONG_COLUMN, **SCALES, b_zero_point=AS_ZERO, cites=RESULTS)
TO_INFINITY: dict[str, Any] = {"a_scale": typed("float16", 200), "b_scale": typed("float16", 200)}
case("beyond_float16", Tag.EDGE, A=[[1, 2], [0, 1]], B=[[1], [3]], **TO_INFINITY, cites=TYPE_Y)
OPEN: dict[str, Any] = {
    "A": [[100, 100], [1, 1]],
    "B": [[1], [1]],
    "b_zero_point": 0,
    "bias": typed("float16", [-60000]),
}
case("sum_beyond_float16", Tag.EDGE, **OPEN, a_scale=typed("float16", 400), b_scale=typed("float16", 1), cites=RESULTS)
case("bias_not_finite", Tag.EDGE, A=A, B=B, **SCALES, bias=[np.inf, np.nan], cites=BIAS)
for name, value in {"infinite": np.inf, "nan": np.nan}.items():
    case(f"{name}_scale_of_a", Tag.EDGE, A=A, B=B, a_scale=value, b_scale=0.25, unspecified=SCALE_A)
    case(f"{name}_scale_of_b", Tag.EDGE, A=A, B=B, a_scale=0.5, b_scale=value, unspecified=SCALE_B)
    in_row = [0.25, value]
    case(f"{name}_scale_of_column_of_a", Tag.EDGE, A=A, B=B, a_scale=[1, *in_row, 1], b_scale=1, unspecified=SCALE_A)
    case(f"{name}_scale_of_column_of_b", Tag.EDGE, A=A, B=B, a_scale=0.5, b_scale=in_row, unspecified=SCALE_B)

WRONG_A, WRONG_B = [1, 1, 1], [1, 1, 1, 1]
case("scale_of_a_of_rows", A=A, B=B, a_scale=WRONG_A, b_scale=1, rejects=COLUMNS_A)
case("zero_point_of_a_of_rows", A=A, B=B, **SCALES, a_zero_point=WRONG_A, rejects=COLUMNS_A)
case("scale_of_b_of_rows", A=A, B=B, a_scale=1, b_scale=WRONG_B, rejects=COLUMNS_B)
case("zero_point_of_b_of_rows", A=A, B=B, **SCALES, b_zero_point=WRONG_B, rejects=COLUMNS_B)
case("no_scales", Tag.EDGE, A=A, B=B, a_scale=1, b_scale=ramp(0), rejects=COLUMNS_B)
AS_MATRICES: dict[str, Any] = {
    "a_scale": [SCALES_A], "a_zero_point": [[1]], "b_scale": [SCALES_B], "b_zero_point": [[1]],
}  # fmt: skip
for name, wrong in AS_MATRICES.items():
    case(f"{name}_as_matrix", Tag.EDGE, A=A, B=B, **{**SCALES, name: wrong}, rejects=EITHER)
for name, clause in {"a_scale": COLUMNS_A, "a_zero_point": COLUMNS_A, "b_scale": COLUMNS_B,
                     "b_zero_point": COLUMNS_B}.items():  # fmt: skip
    case(f"{name}_of_one", Tag.EDGE, A=A, B=B, **{**SCALES, name: [1]}, unspecified=clause)
for name, bias in {"scalar": 1.0, "one": [1.0], "matrix": [[1.0, 2]], "rows": [1.0, 2, 3]}.items():
    case(f"bias_{name}", Tag.EDGE, A=A, B=B, **SCALES, bias=bias, rejects=BIAS)

for a_type, b_type in PAIRS_OF_BYTES:
    points: dict[str, Any] = {
        "a_zero_point": filled(integers=EVERY_BYTE, type_=a_type),
        "b_zero_point": filled(integers=EVERY_BYTE, type_=b_type),
    }
    for name, (first, second, sizes) in BYTES.items():
        of_sizes: dict[str, Any] = {
            "A": filled(*first, integers=EVERY_BYTE, type_=a_type),
            "B": filled(*second, integers=EVERY_BYTE, type_=b_type),
            "a_scale": 0.0173, "b_scale": 0.0061, **points,
        }  # fmt: skip
        PRODUCT.sized(f"{name}_{a_type}_by_{b_type}", sizes, cites=RESULTS, arguments=of_sizes)
    by_column: dict[str, Any] = {
        "A": filled("m", "k", integers=EVERY_BYTE, type_=a_type),
        "B": filled("k", "n", integers=EVERY_BYTE, type_=b_type),
        "a_scale": 0.0173, "b_scale": filled("n", floats=(0.005, 0.01)), "a_zero_point": points["a_zero_point"],
        "b_zero_point": filled("n", integers=EVERY_BYTE, type_=b_type), "bias": filled("n"),
    }  # fmt: skip
    some = grid(m=(1, 5, 17), k=(16, 67, 513), n=(8, 33))
    PRODUCT.sized(f"by_column_{a_type}_by_{b_type}", some, cites=(COLUMNS_B, BIAS), arguments=by_column)
