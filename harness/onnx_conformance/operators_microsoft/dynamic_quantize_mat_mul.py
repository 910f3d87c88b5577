# SPDX-License-Identifier: Apache-2.0
"""DynamicQuantizeMatMul: the product of a matrix of real numbers, quantized by the operator, and a quantized matrix.

    Y = DynamicQuantizeMatMul(A, B, b_scale, b_zero_point=0, bias=None)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Version, bounded, ramp, typed
from onnx_conformance.declare.op import Tag
from onnx_conformance.declare.sizes import EVERY_BYTE, filled, grid
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
    magnitudes,
    per_column,
    scaled,
)

STEPS = 254
"""The fewest steps between the least number of A, or 0, and the greatest one, or 0. A signed type that is quantized
symmetrically has 127 steps on each side."""


def _rounding(A: Array, B: Array, b_scale: Array, b_zero_point: Array | None, bias: Array | None) -> list[Array]:
    """Return the error in epsilons if each element of A is off by a step: half a step, and half for the zero point."""
    right = scaled(B, b_scale, np.zeros(()) if b_zero_point is None else b_zero_point)
    step = (max(0.0, A.max(initial=0)) - min(0.0, A.min(initial=0))) / STEPS
    epsilon = float(np.finfo(np.float32).eps)
    return [magnitudes(np.full(A.shape, step), right) / epsilon + allowed_error(A, right, bias)]


PRODUCT = Op(
    "DynamicQuantizeMatMul",
    versions=(1,),
    compare=bounded(_rounding, "the elements of A are quantized to 8 bits; products, sums and the bias round"),
    domain="com.microsoft",
    rank=rank_of_product("A", "B"),
    dimensions=dimensions_of_product("A", "B", "Y"),
    approximate=True,  # The text does not define how A is quantized.
)
A = np.array([[0.75, -2, 3.5, 1.25], [-1, 4, 0.5, 2], [2.75, -3, 1, -0.25]])
B = np.array([[2, 50], [0, 30], [44, 10], [61, 83]])
PRODUCT.example(A=A, B=B, b_scale=0.25, b_zero_point=3, bias=[0.75, -2])

MATRIX_A = PRODUCT.clause(
    "N-dimensional matrix A",
    note="The text does not define the product of more than two dimensions; the name of the operator refers to "
    "MatMul, whose leading dimensions broadcast. It does not define vectors, which are not matrices.",
)
MATRIX_B = PRODUCT.clause("N-dimensional matrix B")
RESULTS = PRODUCT.clause(
    "Matrix multiply results from A * B",
    note="The text does not define how A is quantized, which only the name of the operator implies. The tolerance is "
    "that of 8 bits for the range of the whole A, which includes 0. With an infinity or NaN, A has no such range. B is "
    "dequantized as by DequantizeLinear.",
)
SCALE = PRODUCT.clause(
    "Scale of quantized input 'B'.", note="The text does not define a scale that is infinite or NaN."
)
EITHER = PRODUCT.clause("It could be a scalar or a 1-D tensor, which means a per-tensor or per-column quantization.")
COLUMNS = PRODUCT.clause(
    "If it's a 1-D tensor, its number of elements should be equal to the number of columns of input 'B'.",
    note="The text does not define whether one element may apply to several columns.",
)
ZERO = PRODUCT.clause("Zero point tensor for input 'B'. It's optional and default value is 0.")
BIAS = PRODUCT.clause(
    "1D input tensor, whose dimension is same as B's last dimension",
    note="The text does not mention that it is added to the product. A bias has no other meaning.",
)
TYPE_A = PRODUCT.clause("Constrain input A, b_scale and output Y data type as float tensor.")
TYPE_B = PRODUCT.clause("Constrain input B data type to 8-bit integer tensor.")


@PRODUCT.oracle()
def product(v: Version, A: Array, B: Array, b_scale: Array, b_zero_point: Array | None, bias: Array | None) -> Array:
    """Return the matrix product of A and the dequantized B, plus the bias."""
    v.silent(MATRIX_A, A.ndim < MATRIX)
    v.silent(MATRIX_B, B.ndim < MATRIX)
    require_product(v, RESULTS, A, B)
    scale = per_column(v, EITHER, COLUMNS, B.shape[-1], b_scale)
    zero_point = per_column(v, EITHER, COLUMNS, B.shape[-1], b_zero_point)
    v.require(BIAS, bias is None or bias.shape == B.shape[-1:])
    v.silent(SCALE, not np.isfinite(scale).all())
    v.silent(RESULTS, not np.isfinite(A).all())
    total = product_of_doubles(A, scaled(B, scale, zero_point))
    return np.asarray(total if bias is None else total + bias, np.float64)


case = PRODUCT.case
case("plain", each="T2", A=A, B=B, b_scale=0.25, cites=(MATRIX_A, MATRIX_B, RESULTS, SCALE, TYPE_A, TYPE_B))
case("zero_point", each="T2", A=A, B=B, b_scale=0.25, b_zero_point=30, cites=ZERO)
case("bias", A=A, B=B, b_scale=0.25, bias=[75, -50], cites=BIAS)
case("zero_point_and_bias", A=A, B=B, b_scale=0.25, b_zero_point=30, bias=[75, -50], cites=(ZERO, BIAS))
case("fractions", A=A / 3, B=B, b_scale=0.00705, b_zero_point=30, bias=[0.1, -1 / 3], cites=SCALE)
case("negative_scale", Tag.EDGE, A=A, B=B, b_scale=-3, b_zero_point=30, cites=SCALE)
case("zero_scale", Tag.EDGE, A=A, B=B, b_scale=0, b_zero_point=30, bias=[0.75, -2], cites=SCALE)
case("all_positive", A=np.abs(A), B=B, b_scale=0.25, b_zero_point=30, cites=RESULTS)
case("all_negative", A=-np.abs(A), B=B, b_scale=0.25, b_zero_point=30, cites=RESULTS)
case("all_equal", Tag.EDGE, A=np.full((3, 4), 0.75), B=B, b_scale=0.25, b_zero_point=30, cites=RESULTS)
case("all_zero", Tag.EDGE, A=np.zeros((3, 4)), B=B, b_scale=0.25, b_zero_point=30, bias=[0.75, -2], cites=RESULTS)
case("one_number", Tag.EDGE, A=[[-2.5]], B=[[3]], b_scale=0.25, cites=RESULTS)
case("large", Tag.EDGE, A=A * 1e30, B=B, b_scale=0.25, b_zero_point=30, cites=RESULTS)
case("small", Tag.EDGE, A=A * 1e-30, B=B, b_scale=0.25, b_zero_point=30, cites=RESULTS)
case("rows_of_two_sizes", Tag.EDGE, A=A * [[1], [100], [0.01]], B=B, b_scale=0.25, b_zero_point=30, cites=RESULTS)
SCALES, ZEROS = [0.25, 4], [13, 45]
case("scale_of_columns", A=A, B=B, b_scale=SCALES, b_zero_point=30, cites=(EITHER, COLUMNS))
case("zero_points_of_columns", A=A, B=B, b_scale=0.25, b_zero_point=ZEROS, cites=(EITHER, COLUMNS))
case("columns", each="T2", A=A, B=B, b_scale=SCALES, b_zero_point=ZEROS, bias=[75, -50], cites=(EITHER, COLUMNS))
case("columns_without_zero_points", each="T2", A=A, B=B, b_scale=SCALES, cites=COLUMNS)
SQUARE: dict[str, Any] = {"A": A, "B": np.arange(16).reshape(4, 4) * 7}
case("columns_of_square", Tag.EDGE, **SQUARE, b_scale=[1, 2, 0.5, 4], b_zero_point=[1, 99, 9, 50], cites=COLUMNS)
case("one_column", Tag.EDGE, A=A, B=B[:, :1], b_scale=[0.25], b_zero_point=[30], bias=[75], cites=COLUMNS)
STACKED_A, STACKED_B = np.sin(np.arange(72.0)).reshape(2, 3, 3, 4), np.arange(48).reshape(2, 3, 4, 2) * 3
case("columns_of_stacks", A=STACKED_A, B=STACKED_B, b_scale=SCALES, b_zero_point=ZEROS, bias=[75, -50], cites=COLUMNS)
for left, right in SHAPES:
    of_shapes: dict[str, Any] = {"A": ramp(*left), "B": ramp(*right), "b_scale": 0.25, "b_zero_point": 3}
    case(f"shapes_{shape_words(left, right)}", Tag.EDGE, **of_shapes, cites=RESULTS)
for left, right in MISFITS:
    case(f"misfit_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), b_scale=1, rejects=RESULTS)
for left, right in VECTORS:
    clause = MATRIX_A if len(left) < MATRIX else MATRIX_B
    case(f"vector_{shape_words(left, right)}", Tag.EDGE, A=ramp(*left), B=ramp(*right), b_scale=1, unspecified=clause)
for type_, (low, high) in {"int8": (-128, 127), "uint8": (0, 255)}.items():
    limits: dict[str, Any] = {"A": [[3.5, -2, 1]], "B": typed(type_, [[low], [high], [1]])}
    case(f"limits_{type_}", Tag.EDGE, **limits, b_scale=0.25, b_zero_point=typed(type_, high), cites=ZERO)
    case(f"lowest_{type_}", Tag.EDGE, **limits, b_scale=0.25, b_zero_point=typed(type_, low), cites=ZERO)
    many: dict[str, Any] = {"A": np.full((1, 67), 3.5), "B": typed(type_, np.full((67, 2), high))}
    case(f"largest_{type_}", Tag.EDGE, **many, b_scale=0.25, cites=RESULTS)
for name, value in {"infinite": np.inf, "nan": np.nan}.items():
    case(f"{name}_scale", Tag.EDGE, A=A, B=B, b_scale=value, unspecified=SCALE)
    case(f"{name}_scale_of_column", Tag.EDGE, A=A, B=B, b_scale=[1, value], unspecified=SCALE)
    case(f"{name}_in_a", Tag.EDGE, A=[[1, 2, 3, value]], B=B, b_scale=1, unspecified=RESULTS)
case("bias_not_finite", Tag.EDGE, A=A, B=B, b_scale=0.25, bias=[np.inf, np.nan], cites=BIAS)
case("scale_of_rows", A=A, B=B, b_scale=[1, 1, 1, 1], rejects=COLUMNS)
case("zero_point_of_rows", A=A, B=B, b_scale=1, b_zero_point=[1, 1, 1, 1], rejects=COLUMNS)
case("scale_as_matrix", Tag.EDGE, A=A, B=B, b_scale=[SCALES], rejects=EITHER)
case("zero_point_as_matrix", Tag.EDGE, A=A, B=B, b_scale=1, b_zero_point=[[1]], rejects=EITHER)
case("scale_of_one", Tag.EDGE, A=A, B=B, b_scale=[1], unspecified=COLUMNS)
case("zero_point_of_one", Tag.EDGE, A=A, B=B, b_scale=1, b_zero_point=[1], unspecified=COLUMNS)
for name, bias in {"scalar": 1.0, "one": [1.0], "matrix": [[1.0, 2]], "rows": [1.0, 2, 3]}.items():
    case(f"bias_{name}", Tag.EDGE, A=A, B=B, b_scale=1, bias=bias, rejects=BIAS)

for type_ in ("uint8", "int8"):
    zero_point: dict[str, Any] = {"b_zero_point": filled(integers=EVERY_BYTE, type_=type_)}
    for name, (first, second, sizes) in BYTES.items():
        of_sizes: dict[str, Any] = {
            "A": filled(*first), "B": filled(*second, integers=EVERY_BYTE, type_=type_), "b_scale": 0.0061,
            **zero_point,
        }  # fmt: skip
        PRODUCT.sized(f"{name}_{type_}", sizes, cites=RESULTS, arguments=of_sizes)
    by_column: dict[str, Any] = {
        "A": filled("m", "k", floats=(-1, 3)), "B": filled("k", "n", integers=EVERY_BYTE, type_=type_),
        "b_scale": filled("n", floats=(0.005, 0.01)), "b_zero_point": filled("n", integers=EVERY_BYTE, type_=type_),
        "bias": filled("n", floats=(-99, 99)),
    }  # fmt: skip
    some = grid(m=(1, 5, 17), k=(16, 67, 513), n=(8, 33))
    PRODUCT.sized(f"by_column_{type_}", some, cites=(COLUMNS, BIAS), arguments=by_column)
