# SPDX-License-Identifier: Apache-2.0
"""MatMulInteger: the matrix product of two tensors of 8-bit integers minus their zero points, in 32 bits.

    Y = MatMulInteger(A, B, a_zero_point=0, b_zero_point=0)

Versions: 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Clause, Op, Result, Tag, Version, ramp, typed
from onnx_conformance.declare.readings import ONE_ELEMENT
from onnx_conformance.declare.sizes import EVERY_BYTE, NEAR_THE_ENDS, PAIRS_OF_BYTES, filled, grid
from onnx_conformance.operators.math._matrix_product import (
    MISFITS,
    dimensions_of_product,
    product_of_integers,
    rank_of_product,
    require_product,
    shape_words,
)
from onnx_conformance.operators.math._sizes import BYTES

PRODUCT = Op(
    "MatMulInteger",
    versions=(10,),
    compare=EXACT,
    rank=rank_of_product("A", "B"),
    dimensions=dimensions_of_product("A", "B", "Y"),
)
PRODUCT.example(A=[[1, 2, 0], [0, 1, 1]], B=[[2, 0, 1, 1], [1, 3, 0, 2], [0, 1, 2, 1]], a_zero_point=1, b_zero_point=2)

MATMUL = PRODUCT.clause(
    "Matrix product that behaves like [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html)."
)
NEVER = PRODUCT.clause("The production MUST never overflow.")
OVERFLOW = PRODUCT.clause(
    "The accumulation may overflow if and only if in 32 bits.",
    note="The text does not define the result of a sum that exceeds 32 bits.",
)
RESULTS = PRODUCT.clause("Matrix multiply results from A * B")
ZERO_OF_A = PRODUCT.clause("Zero point tensor for input 'A'. It's optional and default value is 0.")
ZERO_OF_B = PRODUCT.clause("Zero point tensor for input 'B'. It's optional and default value is 0.")
ROWS_OF_A = PRODUCT.clause(
    "It could be a scalar or N-D tensor. Scalar refers to per tensor quantization whereas N-D refers to per row "
    "quantization.",
    note="The examples that follow this sentence define the allowed shapes. The text does not define other shapes that "
    "broadcast to the rows, or rows if A is a vector.",
)
COLUMNS_OF_B = PRODUCT.clause(
    "It could be a scalar or a N-D tensor, Scalar refers to per tensor quantization whereas N-D refers to per col "
    "quantization.",
    note="The note on the rows of A applies here too.",
)
VECTOR_OF_A = PRODUCT.clause(
    "If the input is 2D of shape [M, K] then zero point tensor may be an M element vector [zp_1, zp_2, ..., zp_M]."
)
VECTOR_OF_B = PRODUCT.clause(
    "If the input is 2D of shape [K, N] then zero point tensor may be an N element vector [zp_1, zp_2, ..., zp_N]."
)
STACK_OF_A = PRODUCT.clause(
    "If the input is N-D tensor with shape [D1, D2, M, K] then zero point tensor may have shape [D1, D2, M, 1]."
)
STACK_OF_B = PRODUCT.clause(
    "If the input is N-D tensor with shape [D1, D2, K, N] then zero point tensor may have shape [D1, D2, 1, N]."
)
EIGHT_BITS_A = PRODUCT.clause("Constrain input A data type to 8-bit integer tensor.")
EIGHT_BITS_B = PRODUCT.clause("Constrain input B data type to 8-bit integer tensor.")
INT32 = PRODUCT.clause("Constrain output Y data type as 32-bit integer tensor.")

Shape = tuple[int, ...]
MATRIX = 2
"""The rank of a matrix."""


def _spread(v: Version, clause: Clause, operand: Array, zero_point: Array | None, *, by_row: bool) -> Array:
    """Return the zero point in a shape that broadcasts to that of the operand, by rows or by columns."""
    if zero_point is None:
        return np.zeros(())
    if zero_point.size == 1 and zero_point.ndim <= 1:
        v.reads(ONE_ELEMENT, zero_point.ndim == 1)
        return zero_point.reshape(())
    v.silent(clause, operand.ndim < MATRIX)
    *stack, rows, columns = operand.shape
    shape, size = ((*stack, rows, 1), rows) if by_row else ((*stack, 1, columns), columns)
    if operand.ndim == MATRIX and zero_point.shape == (size,):
        return zero_point.reshape(shape)
    sizes = zip(zero_point.shape[::-1], shape[::-1], strict=False)
    broadcasts = zero_point.ndim <= operand.ndim and all(size in {1, whole} for size, whole in sizes)
    v.require(clause, zero_point.shape == (size,) or broadcasts)
    v.silent(clause, operand.ndim == MATRIX or zero_point.shape != shape)
    return zero_point


@PRODUCT.oracle()
def product(v: Version, A: Array, B: Array, a_zero_point: Array | None, b_zero_point: Array | None) -> Result:
    """Return the matrix product of A and B after subtracting their zero points."""
    rows = _spread(v, ROWS_OF_A, A, a_zero_point, by_row=True)
    columns = _spread(v, COLUMNS_OF_B, B, b_zero_point, by_row=False)
    left, right = A.astype(np.int64) - rows.astype(np.int64), B.astype(np.int64) - columns.astype(np.int64)
    require_product(v, MATMUL, left, right)
    beyond = product_of_integers(np.abs(left), np.abs(right)) >= 2**31
    return v.leave_open(OVERFLOW, beyond, product_of_integers(left, right))


case = PRODUCT.case
A = np.array([[3, 7, 0, 5], [1, 2, 9, 4], [6, 8, 7, 11]])
B = np.array([[2, 5], [0, 3], [4, 1], [6, 8]])
BOTH: dict[str, Any] = {"a_zero_point": 2, "b_zero_point": 3}

case("plain", A=A, B=B, cites=(MATMUL, RESULTS))
case("zero_points", A=A, B=B, **BOTH, cites=(MATMUL, ZERO_OF_A, ZERO_OF_B))
case("zero_point_of_a", A=A, B=B, a_zero_point=7, cites=(ZERO_OF_A, ROWS_OF_A))
case("scalars_as_vectors", Tag.EDGE, A=A, B=B, a_zero_point=[2], b_zero_point=[3], cites=(ROWS_OF_A, COLUMNS_OF_B))
SHAPES: list[tuple[Shape, Shape]] = [  # The cases of MatMul have more shapes.
    ((4,), (4,)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (4,)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((2, 0), (0, 3)),
]
for left, right in SHAPES:
    case(f"shapes_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), cites=MATMUL)
for left, right in MISFITS:
    case(f"misfit_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), rejects=MATMUL)

ENDS = {"int8": (-128, 127), "uint8": (0, 255)}
for type_a, (low_a, high_a) in ENDS.items():
    for type_b, (low_b, high_b) in ENDS.items():
        case(
            f"limits_{type_a}_by_{type_b}",
            Tag.DTYPE,
            A=typed(type_a, [[low_a, high_a, 1]]),
            B=typed(type_b, [[low_b], [high_b], [1]]),
            a_zero_point=typed(type_a, low_a),
            b_zero_point=typed(type_b, high_b),
            cites=(NEVER, ZERO_OF_A, ZERO_OF_B, EIGHT_BITS_A, EIGHT_BITS_B, INT32),
        )
LOWEST = typed("int8", [[-128, -128]])
case("sum_beyond_16_bits", Tag.EDGE, A=LOWEST, B=typed("int8", [[-128], [-128]]), cites=NEVER)
ODD = np.append(np.full(299, 255), 1)  # The sum is odd, and float32 does not contain it.
case("sum_beyond_24_bits", Tag.EDGE, A=typed("uint8", ODD[None]), B=typed("uint8", ODD[:, None]), cites=OVERFLOW)


def bytes_to_sum(*rest: int) -> dict[str, Any]:
    """Return a row and two columns. The product with the first is 33025 * 255**2 + 255 * rest + ..., 31 bits."""
    row = np.full((1, 33025 + len(rest)), 255)
    columns = np.zeros((33025 + len(rest), 2))
    columns[:, 0] = [*[255] * 33025, *rest]
    row[0, -1] = 128 if len(rest) > 1 else 255
    return {"A": typed("uint8", row), "B": typed("uint8", columns)}


case("sum_of_31_bits", Tag.EDGE, **bytes_to_sum(), cites=OVERFLOW)
case("sum_of_32_bits", Tag.EDGE, **bytes_to_sum(129, 1), unspecified=OVERFLOW)  # 2**31

case("rows", A=A, B=B, a_zero_point=[1, 2, 9], cites=(ROWS_OF_A, VECTOR_OF_A))
case("columns", A=A, B=B, b_zero_point=[3, 5], cites=(COLUMNS_OF_B, VECTOR_OF_B))
case("columns_of_square", Tag.EDGE, A=A.T, B=A[:, :3], b_zero_point=[1, 2, 9], cites=VECTOR_OF_B)
case("one_row", Tag.EDGE, A=A[:1], B=B, a_zero_point=[4], cites=VECTOR_OF_A)
STACKED_A, STACKED_B = np.arange(48).reshape(2, 2, 3, 4), np.arange(32).reshape(2, 2, 4, 2)
OF_ROWS, OF_COLUMNS = np.arange(12).reshape(2, 2, 3, 1), np.arange(8).reshape(2, 2, 1, 2)
case(
    "rows_and_columns_of_4d",
    A=STACKED_A,
    B=STACKED_B,
    a_zero_point=OF_ROWS,
    b_zero_point=OF_COLUMNS,
    cites=(STACK_OF_A, STACK_OF_B),
)
case("rows_of_3d", A=STACKED_A[0], B=STACKED_B[0], a_zero_point=OF_ROWS[0], cites=STACK_OF_A)

case("rows_of_wrong_length", A=A, B=B, a_zero_point=[1, 2, 3, 4], rejects=ROWS_OF_A)
case("columns_of_wrong_length", A=A, B=B, b_zero_point=[1, 2, 3, 4], rejects=COLUMNS_OF_B)
case("no_zero_point_of_rows", Tag.EDGE, A=A, B=B, a_zero_point=ramp(0), rejects=ROWS_OF_A)
case("no_zero_point_of_columns", Tag.EDGE, A=A, B=B, b_zero_point=ramp(0), rejects=COLUMNS_OF_B)
case("each_element_of_a", A=A, B=B, a_zero_point=A, rejects=ROWS_OF_A)
case("each_element_of_b", A=A, B=B, b_zero_point=B, rejects=COLUMNS_OF_B)
case("stack_of_rows_for_matrix", A=A, B=B, a_zero_point=OF_ROWS, rejects=ROWS_OF_A)
case("stack_of_columns_for_matrix", A=A, B=B, b_zero_point=OF_COLUMNS, rejects=COLUMNS_OF_B)
case("rows_as_matrix", Tag.EDGE, A=A, B=B, a_zero_point=[[1], [2], [9]], unspecified=ROWS_OF_A)
case("scalar_as_matrix", Tag.EDGE, A=A, B=B, a_zero_point=[[1]], unspecified=ROWS_OF_A)
case("columns_as_matrix", Tag.EDGE, A=A, B=B, b_zero_point=[[3, 5]], unspecified=COLUMNS_OF_B)
case("rows_of_4d_as_vector", Tag.EDGE, A=STACKED_A, B=STACKED_B, a_zero_point=[1, 2, 9], unspecified=ROWS_OF_A)
case("columns_of_4d_as_vector", Tag.EDGE, A=STACKED_A, B=STACKED_B, b_zero_point=[3, 5], unspecified=COLUMNS_OF_B)
case("rows_of_4d_broadcast", Tag.EDGE, A=STACKED_A, B=STACKED_B, a_zero_point=OF_ROWS[:1], unspecified=ROWS_OF_A)
case("rows_for_vector", Tag.EDGE, A=A[0], B=B, a_zero_point=[1, 2, 3, 4], unspecified=ROWS_OF_A)
case("columns_for_vector", Tag.EDGE, A=A, B=B[:, 0], b_zero_point=[1, 2, 3, 4], unspecified=COLUMNS_OF_B)
SIGNED, UNSIGNED = typed("int8", [[1, 2]]), typed("uint8", [[3], [4]])
OTHER_A, OTHER_B = typed("uint8", 1), typed("int8", 1)
case("zero_point_of_a_of_other_type", Tag.DTYPE, A=SIGNED, B=UNSIGNED, a_zero_point=OTHER_A, rejects=EIGHT_BITS_A)
case("zero_point_of_b_of_other_type", Tag.DTYPE, A=SIGNED, B=UNSIGNED, b_zero_point=OTHER_B, rejects=EIGHT_BITS_B)
case("wide_a", Tag.DTYPE, A=typed("int32", [[1, 2]]), B=UNSIGNED, rejects=EIGHT_BITS_A)
case("wide_b", Tag.DTYPE, A=SIGNED, B=typed("int32", [[3], [4]]), rejects=EIGHT_BITS_B)

for name, (first, second, sizes) in BYTES.items():
    of_sizes: dict[str, Any] = {
        "A": filled(*first, integers=EVERY_BYTE),
        "B": filled(*second, integers=EVERY_BYTE),
        "a_zero_point": filled(integers=EVERY_BYTE),
        "b_zero_point": filled(integers=EVERY_BYTE),
    }
    PRODUCT.sized(name, sizes, each=("T1", "T2"), cites=(MATMUL, ZERO_OF_A, ZERO_OF_B), arguments=of_sizes)
SOME = grid(m=(1, 5, 17), k=(16, 67), n=(8, 33))
for a_type, b_type in PAIRS_OF_BYTES:
    near: dict[str, Any] = {
        "A": filled("m", "k", integers=NEAR_THE_ENDS[a_type], type_=a_type),
        "B": filled("k", "n", integers=NEAR_THE_ENDS[b_type], type_=b_type),
    }
    PRODUCT.sized(f"near_the_ends_{a_type}_by_{b_type}", SOME, cites=NEVER, arguments=near)
    by_row: dict[str, Any] = {
        "A": filled("m", "k", integers=EVERY_BYTE, type_=a_type),
        "B": filled("k", "n", integers=EVERY_BYTE, type_=b_type),
        "a_zero_point": filled("m", integers=EVERY_BYTE, type_=a_type),
        "b_zero_point": filled("n", integers=EVERY_BYTE, type_=b_type),
    }
    PRODUCT.sized(f"by_row_{a_type}_by_{b_type}", SOME, cites=(ROWS_OF_A, COLUMNS_OF_B), arguments=by_row)
    of_columns = {name: value for name, value in by_row.items() if name != "a_zero_point"}
    PRODUCT.sized(f"by_column_{a_type}_by_{b_type}", SOME, cites=COLUMNS_OF_B, arguments=of_columns)
