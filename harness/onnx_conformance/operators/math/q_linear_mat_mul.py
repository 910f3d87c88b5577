# SPDX-License-Identifier: Apache-2.0
"""QLinearMatMul: the matrix product of two quantized tensors, quantized.

    y = QLinearMatMul(a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)

Versions: 10, 21 (float8 and scales of other types).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, ramp, typed
from onnx_conformance.declare.families.quantization import quantized as quantized_as
from onnx_conformance.declare.readings import ONE_ELEMENT
from onnx_conformance.declare.sizes import EVERY_BYTE, NEAR_THE_MIDDLE, PAIRS_OF_BYTES, filled, grid
from onnx_conformance.operators.math._matrix_product import (
    MISFITS,
    SHAPES,
    dimensions_of_product,
    rank_of_product,
    require_product,
    shape_words,
)
from onnx_conformance.operators.math._sizes import BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.declare.sizes import Sizes

PRODUCT = Op(
    "QLinearMatMul",
    versions=(10, 21),
    compare=Tolerance("if a few roundings of the scales can change an element, every element between is allowed"),
    rank=rank_of_product("a", "b"),
    dimensions=dimensions_of_product("a", "b", "y"),
)
PRODUCT.example(
    a=[[1, 2, 0], [0, 1, 1]],
    a_scale=0.5,
    a_zero_point=1,
    b=[[2, 0, 1, 1], [1, 3, 0, 2], [0, 1, 2, 1]],
    b_scale=0.25,
    b_zero_point=1,
    y_scale=0.125,
    y_zero_point=2,
)

MATMUL = PRODUCT.clause(
    "Matrix product that behaves like [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html)."
)
FORMULA = PRODUCT.clause(
    "The quantization formula is y = saturate((x / y_scale) + y_zero_point).",
    note="The text does not define the precision in which the scales are combined. If a few roundings in their type "
    "change an element, every element between is allowed. The official cases with scales in float16 expect the "
    "integers of exact arithmetic, for example 137 for 136.58, although float16 has steps of 0.125 there. Scales and "
    "zero points are applied to `a` and `b` as in DequantizeLinear. The text does not define a scale that is infinite "
    "or NaN, or a scale of 0 for `y`.",
    see=("https://github.com/onnx/onnx/issues/7835", "https://github.com/onnx/onnx/pull/7868"),
)
TIES = PRODUCT.clause(
    "For (x / y_scale), it is rounding to nearest ties to even.",
    note="The quotient is rounded before the zero point is added. onnx.reference rounds the sum.",
)
SAME_SHAPE = PRODUCT.clause("Scale and zero point must have same shape.")
EITHER = PRODUCT.clause(
    "They must be either scalar (per tensor) or N-D tensor (per row for 'a' and per column for 'b').",
    note="The official cases pass each scalar as a vector of one element, which has only one possible meaning. The "
    "text does not define a scale of `y` that is not a scalar.",
)
PER_ROW = PRODUCT.clause(
    "Scalar refers to per tensor quantization whereas N-D refers to per row or per column quantization."
)
TWO_D = PRODUCT.clause(
    "If the input is 2D of shape [M, K] then zero point and scale tensor may be an M element vector [v_1, v_2, ..., "
    "v_M] for per row quantization and K element vector of shape [v_1, v_2, ..., v_K] for per column quantization.",
    see=("https://github.com/onnx/onnx/pull/3585", "https://github.com/microsoft/onnxruntime/issues/27897"),
)
N_D = PRODUCT.clause(
    "If the input is N-D tensor with shape [D1, D2, M, K] then zero point and scale tensor may have shape [D1, D2, M, "
    "1] for per row quantization and shape [D1, D2, 1, K] for per column quantization."
)
OVERFLOW = PRODUCT.clause(
    "Production must never overflow, and accumulation may overflow if and only if in 32 bits.",
    result=True,
    note="The text does not define the result of a sum that exceeds 32 bits.",
)

MATRIX = 2
"""The rank of a matrix."""


def _spread(v: Version, operand: Array, scale: Array, zero_point: Array, *, by_row: bool) -> tuple[Array, Array]:
    """Return scale and zero point in a shape that broadcasts to that of `a` (by row) or `b` (by column)."""
    v.require(SAME_SHAPE, scale.shape == zero_point.shape)
    if scale.size == 1 and scale.ndim <= 1:
        v.reads(ONE_ELEMENT, scale.ndim == 1)
        return scale.reshape(()), zero_point.reshape(())
    v.silent(EITHER, operand.ndim < MATRIX)
    *stack, rows, columns = operand.shape
    shape, size = ((*stack, rows, 1), rows) if by_row else ((*stack, 1, columns), columns)
    v.require(EITHER, scale.shape == ((size,) if operand.ndim == MATRIX else shape))
    return scale.reshape(shape), zero_point.reshape(shape)


def _powers_of_two(scales: Sequence[Array]) -> bool:
    """Return whether all scales are powers of two, so that their products and quotients are exact."""
    return all(bool((np.frexp(scale)[0] == 0.5).all()) for scale in scales)  # noqa: PLR2004 - of each power of two


@PRODUCT.oracle()
def product(
    v: Version,
    a: Array,
    a_scale: Array,
    a_zero_point: Array,
    b: Array,
    b_scale: Array,
    b_zero_point: Array,
    y_scale: Array,
    y_zero_point: Array,
) -> Result:
    """Return saturate(round(a @ b / y_scale) + y_zero_point) of the dequantized a and b."""
    v.require(SAME_SHAPE, y_scale.shape == y_zero_point.shape)
    v.silent(EITHER, y_scale.size != 1 or y_scale.ndim > 1)
    v.reads(ONE_ELEMENT, y_scale.ndim == 1)
    a_scales, a_zeros = _spread(v, a, a_scale, a_zero_point, by_row=True)
    b_scales, b_zeros = _spread(v, b, b_scale, b_zero_point, by_row=False)
    v.silent(FORMULA, y_scale.item() == 0 or not np.isfinite(y_scale.item()))
    left, right = a.astype(np.float64) - a_zeros, b.astype(np.float64) - b_zeros
    require_product(v, MATMUL, left, right)
    # Terms that are not finite are left out, and the sums in which they occur are left open.
    of_left, of_right = np.isfinite(left) & np.isfinite(a_scales), np.isfinite(right) & np.isfinite(b_scales)
    left, right = np.where(of_left, left, 0), np.where(of_right, right, 0)
    not_finite = (~of_left).astype(float) @ np.ones_like(right) + np.ones_like(left) @ (~of_right).astype(float) > 0
    with np.errstate(all="ignore"):
        scaled = np.where(of_left, left * a_scales, 0) @ np.where(of_right, right * b_scales, 0)
        quotient = np.asarray(scaled / y_scale.reshape(()))
    quotients = [quotient]
    if not _powers_of_two((a_scale, b_scale, y_scale)):
        scale_type = v.dtypes.get("TS", np.dtype("float32"))
        roundings = 2 * float(ml_dtypes.finfo(scale_type).eps)  # type: ignore[no-untyped-call]
        quotients += [quotient * (1 - roundings), quotient * (1 + roundings)]
    result = quantized_as(v, FORMULA, quotients, y_zero_point.reshape(()).astype(np.float64), v.dtypes["T3"])
    result = v.leave_open(FORMULA, np.asarray(not_finite), result)
    return v.leave_open(OVERFLOW, np.asarray(np.abs(left) @ np.abs(right) >= 2.0**31), result)


case = PRODUCT.case


def quantized(
    *,
    a_scale: object = 0.5,
    a_zero_point: object = 0,
    b_scale: object = 0.25,
    b_zero_point: object = 0,
    y_scale: object = 0.5,
    y_zero_point: object = 0,
) -> dict[str, Any]:
    """Return scales and zero points. Default scales are powers of two, which are exact; default zero points are 0."""
    return {
        "a_scale": a_scale,
        "a_zero_point": a_zero_point,
        "b_scale": b_scale,
        "b_zero_point": b_zero_point,
        "y_scale": y_scale,
        "y_zero_point": y_zero_point,
    }


A = np.array([[3, -7, 0, 5], [1, 2, -9, 4], [-6, 8, 7, -1]])
B = np.array([[2, -5], [0, 3], [-4, 1], [6, -8]])
SHIFTED = quantized(a_zero_point=2, b_zero_point=-3, y_zero_point=7)

case("plain", a=A, b=B, **quantized(), cites=(MATMUL, FORMULA, PER_ROW))
case("zero_points", a=A, b=B, **SHIFTED, cites=FORMULA)
FRACTIONS = quantized(a_scale=0.0066, a_zero_point=2, b_scale=0.00705, b_zero_point=-3, y_scale=0.0107, y_zero_point=7)
case("fractions", a=A * 9, b=B * 11, **FRACTIONS, cites=FORMULA)
AS_VECTORS: dict[str, Any] = {name: [value] for name, value in SHIFTED.items()}
case("scalars_as_vectors", a=A, b=B, **AS_VECTORS, cites=EITHER)
A_AS_VECTOR, Y_AS_VECTOR = {"a_scale": [0.5], "a_zero_point": [2]}, {"y_scale": [0.5], "y_zero_point": [7]}
case("scalar_of_a_as_vector", Tag.EDGE, a=A, b=B, **quantized(**A_AS_VECTOR), cites=EITHER)
case("scalar_of_y_as_vector", Tag.EDGE, a=A, b=B, **quantized(**Y_AS_VECTOR), cites=EITHER)
HALVES = {"a_scale": 1, "b_scale": 0.5, "y_scale": 1}
case("ties", Tag.EDGE, a=[[1], [3], [5], [-1], [-3], [7]], b=[[1, -1]], **quantized(**HALVES), cites=TIES)
case("ties_zero_point", Tag.EDGE, a=[[1], [3], [5], [-1]], b=[[1]], **quantized(**HALVES, y_zero_point=1), cites=TIES)
case("saturates", Tag.EDGE, a=[[127, 127], [-128, -128]], b=[[127, -128], [127, -128]], **quantized(), cites=FORMULA)
case("saturates_with_zero_point", Tag.EDGE, a=[[100], [-100]], b=[[5, 1]], **quantized(**HALVES, y_zero_point=100))
UNSIGNED_A = quantized(a_zero_point=typed("uint8", 128), b_zero_point=-3, y_zero_point=7)
case("unsigned_by_signed", a=typed("uint8", np.abs(A)), b=B, **UNSIGNED_A, cites=FORMULA)
FAR = {"a_scale": 1, "a_zero_point": -128, "b_scale": 1, "b_zero_point": -128}
LARGE, LARGER = quantized(**FAR, y_scale=1024), quantized(**FAR, y_scale=2.0**19)
case("products_beyond_16_bits", Tag.EDGE, a=[[127, 127]], b=[[127], [127]], **LARGE, cites=OVERFLOW)
case("sums_beyond_24_bits", Tag.EDGE, a=np.full((1, 600), 127), b=np.full((600, 1), 127), **LARGER, cites=OVERFLOW)
CLOSE_TO_TIE = quantized(a_scale=[0.1, 1], a_zero_point=[0, 0], b_scale=1, y_scale=1)
case("all_but_a_tie", Tag.EDGE, a=[[5], [3]], b=[[1]], **CLOSE_TO_TIE, unspecified=FORMULA)
EPSILON = 2.0**-23
TWO_FROM_TIE = quantized(a_scale=0.5 * (1 + 2 * EPSILON), b_scale=1, y_scale=1)
THREE_FROM_TIE = quantized(a_scale=0.5 * (1 + 3 * EPSILON), b_scale=1, y_scale=1)
case("two_roundings_from_a_tie", Tag.EDGE, a=[[1]], b=[[1]], **TWO_FROM_TIE, unspecified=FORMULA)
case("three_roundings_from_a_tie", Tag.EDGE, a=[[1]], b=[[1]], **THREE_FROM_TIE, cites=FORMULA)
# A rounding of the scales to bfloat16 changes 201 by up to 3.
COARSE = quantized(
    a_scale=typed("bfloat16", 3), b_scale=typed("bfloat16", 1), y_scale=typed("bfloat16", 1), y_zero_point=-100
)
case("between_roundings", Tag.EDGE, a=[[67], [0]], b=[[1]], **COARSE, since=21, cites=FORMULA)
INFINITE = quantized(a_scale=np.inf)
case("infinite_scale", Tag.EDGE, a=[[1], [-1]], b=[[2]], **INFINITE, unspecified=FORMULA)
case("infinite_scale_of_b", Tag.EDGE, a=[[1], [-1]], b=[[2]], **quantized(b_scale=np.inf), unspecified=FORMULA)
INFINITE_IN_A_ROW = quantized(a_scale=[np.inf, 1], a_zero_point=[0, 0])
case("infinite_scale_of_one_row", Tag.EDGE, a=[[1, 2], [3, 4]], b=[[6], [6]], **INFINITE_IN_A_ROW, unspecified=FORMULA)
case("zero_scale_of_y", Tag.EDGE, a=[[1], [3]], b=[[2]], **quantized(y_scale=0), unspecified=FORMULA)
case("nan_scale_of_y", Tag.EDGE, a=[[1], [-1]], b=[[2]], **quantized(y_scale=np.nan), unspecified=FORMULA)

for left, right in SHAPES:
    case(f"shapes_{shape_words(left, right)}", a=ramp(*left), b=ramp(*right), **SHIFTED, cites=MATMUL)
for left, right in MISFITS:
    case(f"misfit_{shape_words(left, right)}", Tag.EDGE, a=ramp(*left), b=ramp(*right), **quantized(), rejects=MATMUL)

ROWS = {"a_scale": [0.5, 2, 1], "a_zero_point": [1, -2, 0]}
COLUMNS = {"b_scale": [0.25, 4], "b_zero_point": [-3, 5]}
case("rows", a=A, b=B, **quantized(**ROWS), cites=TWO_D)
case("columns", a=A, b=B, **quantized(**COLUMNS), cites=TWO_D)
case("rows_and_columns", a=A, b=B, **quantized(**ROWS, **COLUMNS, y_zero_point=7), cites=TWO_D)
case("one_row", Tag.EDGE, a=A[:1], b=B, **quantized(a_scale=[2], a_zero_point=[1]), cites=TWO_D)
STACKED_A, STACKED_B = np.arange(-12, 12).reshape(2, 1, 3, 4), np.arange(-8, 8).reshape(2, 1, 4, 2)
STACKED_ROWS = {
    "a_scale": np.array([1, 2, 4, 0.5, 1, 8]).reshape(2, 1, 3, 1),
    "a_zero_point": np.arange(6).reshape(2, 1, 3, 1),
}
STACKED_COLUMNS = {
    "b_scale": np.array([1, 2, 0.5, 0.25]).reshape(2, 1, 1, 2),
    "b_zero_point": np.arange(4).reshape(2, 1, 1, 2),
}
BOTH_STACKED = quantized(**STACKED_ROWS, **STACKED_COLUMNS, y_scale=8)
case("rows_of_4d", a=STACKED_A, b=STACKED_B, **quantized(**STACKED_ROWS), cites=N_D)
case("columns_of_4d", a=STACKED_A, b=STACKED_B, **quantized(**STACKED_COLUMNS), cites=N_D)
case("rows_and_columns_of_4d", a=STACKED_A, b=STACKED_B, **BOTH_STACKED, cites=N_D)

SCALES, ZERO_POINTS = [0.5, 2, 1], [0, 1]
case("a_scale_without_zero_points", a=A, b=B, **quantized(a_scale=SCALES), rejects=SAME_SHAPE)
case("b_scale_without_zero_points", a=A, b=B, **quantized(b_scale=SCALES), rejects=SAME_SHAPE)
case("y_scale_without_zero_points", a=A, b=B, **quantized(y_scale=SCALES), rejects=SAME_SHAPE)
case("a_zero_points_without_scale", a=A, b=B, **quantized(a_zero_point=ZERO_POINTS), rejects=SAME_SHAPE)
case("b_zero_points_without_scale", a=A, b=B, **quantized(b_zero_point=ZERO_POINTS), rejects=SAME_SHAPE)
case("y_zero_points_without_scale", a=A, b=B, **quantized(y_zero_point=ZERO_POINTS), rejects=SAME_SHAPE)
FOUR_OF_A = quantized(a_scale=[1, 1, 1, 1], a_zero_point=[0, 0, 0, 0])
FOUR_OF_B = quantized(b_scale=[1, 1, 1, 1], b_zero_point=[0, 0, 0, 0])
ONES = np.ones((3, 1))
case("rows_of_wrong_length", a=A, b=B, **FOUR_OF_A, rejects=EITHER)
case("columns_of_wrong_length", a=A, b=B, **FOUR_OF_B, rejects=EITHER)
case("rows_as_matrix", a=A, b=B, **quantized(a_scale=ONES, a_zero_point=ONES), rejects=EITHER)
case("scalar_as_matrix", a=A, b=B, **quantized(a_scale=[[1]], a_zero_point=[[0]]), rejects=EITHER)
case("rows_as_vector", a=ramp(2, 3, 4), b=B, **quantized(**ROWS), rejects=EITHER)
case("vector_with_rows", a=ramp(4), b=B, **FOUR_OF_A, unspecified=EITHER)
case("y_with_columns", a=A, b=B, **quantized(y_scale=[1, 2], y_zero_point=[0, 0]), unspecified=EITHER)
case("y_scalar_as_matrix", a=A, b=B, **quantized(y_scale=[[1]], y_zero_point=[[0]]), unspecified=EITHER)

for type_ in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"):
    left_eighths, right_quarters, zero = typed(type_, A / 8), typed(type_, B / 4), typed(type_, 0)
    zeros = {"a_zero_point": zero, "b_zero_point": zero, "y_zero_point": zero}
    small = quantized(**zeros, y_scale=2.0**-20)
    case(f"product_{type_}", Tag.DTYPE, a=left_eighths, b=right_quarters, **quantized(**zeros), since=21, cites=FORMULA)
    case(f"saturates_{type_}", Tag.EDGE, a=left_eighths, b=right_quarters, **small, since=21, cites=FORMULA)
    whole = quantized(a_scale=1, a_zero_point=zero, b_scale=1, b_zero_point=zero, y_scale=1, y_zero_point=zero)
    one_more = whole | {"y_zero_point": typed(type_, 1)}
    small_left, small_right = typed(type_, [[1, 0], [1, 1]]), typed(type_, [[1, 2], [0, 1]])
    case(f"zero_point_{type_}", Tag.EDGE, a=small_left, b=small_right, **one_more, since=21, cites=FORMULA)
    # 9 in e5m2 and 17 in e4m3 are halfway between two numbers. 10 and 18 are numbers of these types.
    left_of_ties, right_of_ties = typed(type_, [[3, 0], [4, 1]]), typed(type_, [[3, 4], [0, 1]])
    case(f"rounds_twice_{type_}", Tag.EDGE, a=left_of_ties, b=right_of_ties, **one_more, since=21, unspecified=FORMULA)
    nan_left, nan_right = typed(type_, [[np.nan, 0], [1, 1]]), typed(type_, [[1, np.nan], [0, 1]])
    case(f"nan_in_a_{type_}", Tag.EDGE, a=nan_left, b=small_right, **whole, since=21, unspecified=FORMULA)
    case(f"nan_in_b_{type_}", Tag.EDGE, a=small_left, b=nan_right, **whole, since=21, unspecified=FORMULA)
ZERO_E5M2 = typed("float8e5m2", 0)
IN_RANGE = quantized(
    a_scale=1, a_zero_point=ZERO_E5M2, b_scale=1, b_zero_point=ZERO_E5M2, y_scale=2.0**20, y_zero_point=ZERO_E5M2
)
GREAT = typed("float8e5m2", [[2.0**15, 2.0**15]])
OF_31_BITS = typed("float8e5m2", [[2.0**15, 1], [0, 1]])
OF_32_BITS = typed("float8e5m2", [[2.0**15, 1], [2.0**15, 1]])
case("sums_of_31_bits", Tag.EDGE, a=GREAT, b=OF_31_BITS, **IN_RANGE, since=21, cites=OVERFLOW)
case("sums_of_32_bits", Tag.EDGE, a=GREAT, b=OF_32_BITS, **IN_RANGE, since=21, unspecified=OVERFLOW)


def step_of_y(sizes: Sizes) -> float:
    """Return a scale of y, a power of two, with which the quotients fill most of 8 bits.

    The scale of a is 2**-7, that of b is 2**-6, and their sums grow with the square root of the number of terms.
    """
    return 2.0 ** (math.ceil(math.log2(sizes["k"]) / 2) - 6)


# With other scales, many quotients would be so close to a tie that the text does not define the result.
for a_type, b_type in PAIRS_OF_BYTES:
    points: dict[str, Any] = {
        "a_zero_point": filled(integers=NEAR_THE_MIDDLE[a_type], type_=a_type),
        "b_zero_point": filled(integers=NEAR_THE_MIDDLE[b_type], type_=b_type),
        "y_zero_point": filled(integers=NEAR_THE_MIDDLE[a_type], type_=a_type),
    }
    for name, (first, second, sizes) in BYTES.items():
        of_sizes: dict[str, Any] = {
            "a": filled(*first, integers=EVERY_BYTE, type_=a_type),
            "b": filled(*second, integers=EVERY_BYTE, type_=b_type),
            **quantized(a_scale=2.0**-7, b_scale=2.0**-6, y_scale=step_of_y, **points),
        }
        PRODUCT.sized(f"{name}_{a_type}_by_{b_type}", sizes, cites=(MATMUL, FORMULA), arguments=of_sizes)
    of_pair: dict[str, Any] = {
        "a": filled("m", "k", integers=EVERY_BYTE, type_=a_type),
        "b": filled("k", "n", integers=EVERY_BYTE, type_=b_type),
    }
    some = grid(m=(1, 7), k=(16, 65), n=(5, 16))
    by_column = quantized(**points, a_scale=0.0173, b_scale=filled("n", floats=(0.005, 0.01)), y_scale=0.25)
    by_column["b_zero_point"] = filled("n", integers=NEAR_THE_MIDDLE[b_type], type_=b_type)
    PRODUCT.sized(f"by_column_{a_type}_by_{b_type}", some, cites=PER_ROW, arguments={**of_pair, **by_column})
    by_row = {**by_column, "a_scale": filled("m", floats=(0.01, 0.02))}
    by_row["a_zero_point"] = filled("m", integers=NEAR_THE_MIDDLE[a_type], type_=a_type)
    PRODUCT.sized(f"by_row_{a_type}_by_{b_type}", some[::3], cites=PER_ROW, arguments={**of_pair, **by_row})
