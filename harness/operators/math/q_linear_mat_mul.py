"""QLinearMatMul: the matrix product of two quantized tensors, quantized.

Versions: 10, and 21 (float8 and scales of other types).
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, ramp, typed, ulp
from harness.declare.families.quantization import saturated
from harness.operators.math._matrix_product import MISFITS, SHAPES, rank_of_product, require_product

PRODUCT = Op(
    "QLinearMatMul",
    versions=(10, 21),
    compare=ulp(1, "float8: a sum rounds to either side of a tie with the precision it is made in; integers are exact"),
    rank=rank_of_product("a", "b"),
)

MATMUL = PRODUCT.clause(
    "Matrix product that behaves like [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html)."
)
FORMULA = PRODUCT.clause(
    "The quantization formula is y = saturate((x / y_scale) + y_zero_point).",
    note="Says not in which precision the scales meet: where a few roundings of their type reach another integer, the "
    "answer is left open. The official cases with scales in float16 expect the integers of exact arithmetic, such as "
    "137 for 136.58, where float16 has steps of 0.125. Scales and zero points belong to `a` and `b` as in "
    "DequantizeLinear.",
    against=("test_qlinearmatmul_*_float16",),
)
TIES = PRODUCT.clause(
    "For (x / y_scale), it is rounding to nearest ties to even.",
    note="Before the zero point is added; onnx.reference rounds the sum.",
)
SAME_SHAPE = PRODUCT.clause("Scale and zero point must have same shape.")
EITHER = PRODUCT.clause(
    "They must be either scalar (per tensor) or N-D tensor (per row for 'a' and per column for 'b').",
    note="The official cases hand over each scalar as a vector of one element, which can mean nothing else. Of a scale "
    "of `y` that is no scalar nothing is said.",
)
PER_ROW = PRODUCT.clause(
    "Scalar refers to per tensor quantization whereas N-D refers to per row or per column quantization."
)
TWO_D = PRODUCT.clause(
    "If the input is 2D of shape [M, K] then zero point and scale tensor may be an M element vector [v_1, v_2, ..., "
    "v_M] for per row quantization and K element vector of shape [v_1, v_2, ..., v_K] for per column quantization."
)
N_D = PRODUCT.clause(
    "If the input is N-D tensor with shape [D1, D2, M, K] then zero point and scale tensor may have shape [D1, D2, M, "
    "1] for per row quantization and shape [D1, D2, 1, K] for per column quantization."
)
OVERFLOW = PRODUCT.clause(
    "Production must never overflow, and accumulation may overflow if and only if in 32 bits.",
    result=True,
    note="It leaves open what a sum beyond 32 bits is.",
)

MATRIX = 2


def _spread(v: Version, shape: tuple[int, ...], scale: Array, zero: Array, axis: int) -> tuple[Array, Array]:
    """Return scale and zero point in a shape that broadcasts to that of `a` (axis -2) or `b` (axis -1)."""
    v.require(SAME_SHAPE, scale.shape == zero.shape)
    if scale.size == 1 and scale.ndim <= 1:
        return scale.reshape(()), zero.reshape(())
    v.silent(EITHER, len(shape) < MATRIX)
    kept = tuple(1 if dim == len(shape) - 3 - axis else size for dim, size in enumerate(shape))
    if scale.ndim == 1:
        v.require(EITHER, len(shape) == MATRIX and scale.size == shape[axis])
        return scale.reshape(kept), zero.reshape(kept)
    v.require(EITHER, len(shape) > MATRIX and scale.shape == kept)
    return scale, zero


def _exact(*scales: Array) -> bool:
    """Tell whether products and quotients of scales are exact: all are powers of two."""
    return all(bool((np.exp2(np.rint(np.log2(scale))) == scale).all()) for scale in scales)


@PRODUCT.oracle()
def product(
    v: Version, a: Array, a_scale: Array, a_zero_point: Array, b: Array, b_scale: Array, b_zero_point: Array,
    y_scale: Array, y_zero_point: Array,
) -> Array:  # fmt: skip
    """Return saturate(round(a @ b / y_scale) + y_zero_point) of the dequantized a and b."""
    v.require(SAME_SHAPE, y_scale.shape == y_zero_point.shape)
    v.silent(EITHER, y_scale.size != 1 or y_scale.ndim > 1)
    a_by, a_zero = _spread(v, a.shape, a_scale, a_zero_point, -2)
    b_by, b_zero = _spread(v, b.shape, b_scale, b_zero_point, -1)
    left, right = a.astype(np.float64) - a_zero, b.astype(np.float64) - b_zero
    require_product(v, MATMUL, left, right)
    v.silent(FORMULA, not (np.isfinite(left).all() and np.isfinite(right).all()))
    v.silent(OVERFLOW, bool((np.abs(left) @ np.abs(right) >= 2.0**31).any()))
    with np.errstate(all="ignore"):
        quotient = np.asarray((left * a_by) @ (right * b_by) / y_scale.reshape(()))
    dtype, zero = v.dtypes["T3"], y_zero_point.reshape(()).astype(np.float64)
    if not _exact(a_scale, b_scale, y_scale) and "int" in dtype.name:
        few = 2 * float(ml_dtypes.finfo(v.dtypes.get("TS", np.dtype("float32"))).eps)  # type: ignore[no-untyped-call]
        v.silent(FORMULA, bool((np.rint(quotient * (1 - few)) != np.rint(quotient * (1 + few))).any()))
    return saturated(v, FORMULA, quotient, zero, dtype)


case = PRODUCT.case
A, B = np.array([[3, -7, 0, 5], [1, 2, -9, 4], [-6, 8, 7, -1]]), np.array([[2, -5], [0, 3], [-4, 1], [6, -8]])
PLAIN: dict[str, Any] = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.25, "b_zero_point": 0}
PLAIN |= {"y_scale": 0.5, "y_zero_point": 0}
SHIFTED: dict[str, Any] = {**PLAIN, "a_zero_point": 2, "b_zero_point": -3, "y_zero_point": 7}
FRACTIONS: dict[str, Any] = {**SHIFTED, "a_scale": 0.0066, "b_scale": 0.00705, "y_scale": 0.0107}


case("plain", a=A, b=B, **PLAIN, cites=(MATMUL, FORMULA, PER_ROW))
case("zero_points", a=A, b=B, **SHIFTED, cites=(FORMULA,))
case("fractions", a=A * 9, b=B * 11, **FRACTIONS, cites=(FORMULA,))
VECTORS: dict[str, Any] = {name: [value] for name, value in SHIFTED.items()}
case("scalars_as_vectors", a=A, b=B, **VECTORS, cites=(EITHER,))
TIED: dict[str, Any] = {**PLAIN, "a_scale": 1, "b_scale": 0.5, "y_scale": 1}
case("ties", Tag.EDGE, a=[[1], [3], [5], [-1], [-3], [7]], b=[[1, -1]], **TIED, cites=(TIES,))
case("ties_zero_point", Tag.EDGE, a=[[1], [3], [5], [-1]], b=[[1]], **{**TIED, "y_zero_point": 1}, cites=(TIES,))
case("saturates", Tag.EDGE, a=[[127, 127], [-128, -128]], b=[[127, -128], [127, -128]], **PLAIN, cites=(FORMULA,))
case("saturates_with_zero_point", Tag.EDGE, a=[[100], [-100]], b=[[5, 1]], **{**TIED, "y_zero_point": 100})
UNSIGNED: dict[str, Any] = {"a": typed("uint8", np.abs(A)), "a_zero_point": typed("uint8", 128)}
case("unsigned_by_signed", **{**SHIFTED, **UNSIGNED}, b=B, cites=(FORMULA,))
FAR: dict[str, Any] = {
    "a_zero_point": -128,
    "b_zero_point": -128,
    "a_scale": 1,
    "b_scale": 1,
    "y_scale": 2.0**19,
    "y_zero_point": 0,
}
case(
    "products_beyond_16_bits", Tag.EDGE, a=[[127, 127]], b=[[127], [127]], **{**FAR, "y_scale": 1024}, cites=(OVERFLOW,)
)
case("sums_beyond_24_bits", Tag.EDGE, a=np.full((1, 600), 127), b=np.full((600, 1), 127), **FAR, cites=(OVERFLOW,))

for left_shape, right_shape in SHAPES:
    name = "_and_".join("x".join(map(str, shape)) for shape in (left_shape, right_shape))
    case(f"shapes_{name}", a=ramp(*left_shape), b=ramp(*right_shape), **SHIFTED, cites=(MATMUL,))
for index, (left_shape, right_shape) in enumerate(MISFITS):
    case(f"misfit_{index}", Tag.EDGE, a=ramp(*left_shape), b=ramp(*right_shape), **PLAIN, rejects=MATMUL)

ROWS: dict[str, Any] = {"a_scale": [0.5, 2, 1], "a_zero_point": [1, -2, 0]}
COLUMNS: dict[str, Any] = {"b_scale": [0.25, 4], "b_zero_point": [-3, 5]}
case("rows", a=A, b=B, **{**PLAIN, **ROWS}, cites=(TWO_D,))
case("columns", a=A, b=B, **{**PLAIN, **COLUMNS}, cites=(TWO_D,))
case("rows_and_columns", a=A, b=B, **{**SHIFTED, **ROWS, **COLUMNS}, cites=(TWO_D,))
case("one_row", Tag.EDGE, a=A[:1], b=B, **{**PLAIN, "a_scale": [2], "a_zero_point": [1]}, cites=(TWO_D,))
CUBE_A, CUBE_B = np.arange(-12, 12).reshape(2, 1, 3, 4), np.arange(-8, 8).reshape(2, 1, 4, 2)
A_EACH: dict[str, Any] = {"a_scale": np.array([1, 2, 4, 0.5, 1, 8]).reshape(2, 1, 3, 1)}
A_EACH["a_zero_point"] = np.arange(6).reshape(2, 1, 3, 1)
B_EACH: dict[str, Any] = {"b_scale": np.array([1, 2, 0.5, 0.25]).reshape(2, 1, 1, 2)}
B_EACH["b_zero_point"] = np.arange(4).reshape(2, 1, 1, 2)
case("rows_of_4d", a=CUBE_A, b=CUBE_B, **{**PLAIN, **A_EACH}, cites=(N_D,))
case("columns_of_4d", a=CUBE_A, b=CUBE_B, **{**PLAIN, **B_EACH}, cites=(N_D,))
case("rows_and_columns_of_4d", a=CUBE_A, b=CUBE_B, **{**PLAIN, **A_EACH, **B_EACH, "y_scale": 8}, cites=(N_D,))

for name in "aby":
    wide: dict[str, Any] = {**PLAIN, f"{name}_scale": [0.5, 2, 1]}
    case(f"{name}_scale_without_zero_points", a=A, b=B, **wide, rejects=SAME_SHAPE)
    case(f"{name}_zero_points_without_scale", a=A, b=B, **{**PLAIN, f"{name}_zero_point": [0, 1]}, rejects=SAME_SHAPE)
case("rows_of_wrong_length", a=A, b=B, **{**PLAIN, "a_scale": [1] * 4, "a_zero_point": [0] * 4}, rejects=EITHER)
case("columns_of_wrong_length", a=A, b=B, **{**PLAIN, "b_scale": [1] * 4, "b_zero_point": [0] * 4}, rejects=EITHER)
GRID = np.ones((3, 1))
case("rows_as_matrix", a=A, b=B, **{**PLAIN, "a_scale": GRID, "a_zero_point": GRID}, rejects=EITHER)
case("rows_as_vector", a=ramp(2, 3, 4), b=B, **{**PLAIN, **ROWS}, rejects=EITHER)
case("vector_with_rows", a=ramp(4), b=B, **{**PLAIN, "a_scale": [1] * 4, "a_zero_point": [0] * 4}, unspecified=EITHER)
case("y_with_columns", a=A, b=B, **{**PLAIN, "y_scale": [1, 2], "y_zero_point": [0, 0]}, unspecified=EITHER)
case(
    "all_but_a_tie",
    Tag.EDGE,
    a=[[5]],
    b=[[1]],
    **{**PLAIN, "a_scale": 0.1, "b_scale": 0.1, "y_scale": 0.1},
    unspecified=FORMULA,
)

SMALL: dict[str, Any] = {"a": [[1, 2, 0], [0, 1, 1]], "b": [[2], [1], [0]], **PLAIN}
for variable in ("T1", "T2", "T3"):
    case(f"dtypes_{variable.lower()}", Tag.DTYPE, each=variable, **SMALL, cites=(FORMULA,))
case("outside", Tag.DTYPE, outside="T1", **SMALL, before=21, rejects=Rule.TYPES)
case("dtypes_scale", Tag.DTYPE, each="TS", since=21, **SMALL, cites=(FORMULA,))
case("scale_double", **{**SMALL, "a_scale": typed("double", 1)}, rejects=Rule.TYPES)
case("two_scales", **{**SMALL, "b_scale": typed("float16", 1)}, rejects=Rule.TYPES)
case("two_types", **{**SMALL, "a_zero_point": typed("uint8", 0)}, rejects=Rule.TYPES)
for type_ in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"):
    zeros: dict[str, Any] = {name: typed(type_, 0) for name in ("a_zero_point", "b_zero_point", "y_zero_point")}
    eighths: dict[str, Any] = {"a": typed(type_, A / 8), "b": typed(type_, B / 4), **PLAIN, **zeros}
    eighths["since"] = 21
    case(f"product_{type_}", Tag.DTYPE, **eighths, cites=(FORMULA,))
    case(f"saturates_{type_}", Tag.EDGE, **{**eighths, "y_scale": 2.0**-20}, cites=(FORMULA,))
case("no_zero_point_of_y", a=A, b=B, **{**PLAIN, "y_zero_point": None}, rejects=Rule.ARITY)
case("attribute_axis", a=A, b=B, **PLAIN, stray={"axis": 1}, rejects=Rule.ATTRIBUTES)
case("no_outputs", a=A, b=B, **PLAIN, n=0, rejects=Rule.ARITY)
case("two_outputs", a=A, b=B, **PLAIN, n=2, rejects=Rule.ARITY)
