"""MatMul: the matrix product, of stacks of matrices too.

Versions: 1, 9 (integers), 13 (bfloat16).
"""

# ruff: noqa: N803 - the text's own names

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.operators.math._matrix_product import MISFITS, SHAPES, product_of, rank_of_product, require_product


def _rounding(A: Array, B: Array) -> list[Array]:
    """Return half a rounding of all magnitudes for each product and sum; one product rounds as the expected value."""
    terms = A.shape[-1]
    with np.errstate(all="ignore"):
        magnitudes = product_of(np.abs(A.astype(float)), np.abs(B.astype(float)))
        return [magnitudes * ((terms + 1) / 2 if terms > 1 else 0)]


MATMUL = Op(
    "MatMul",
    versions=(1, 9, 13),
    compare=bounded(_rounding, "K products and their sums, in any order, round by half an epsilon of all magnitudes"),
    rank=rank_of_product("A", "B"),
)

BEHAVES = MATMUL.clause(
    "Matrix product that behaves like [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html).",
    note="Numpy's text: a vector gets a dimension of 1, which goes again; leading dimensions broadcast, the summed one "
    "does not; scalars are refused (onnx.reference takes them). A sum of no products is 0 (onnxruntime leaves that of "
    "[2, 0] and [0] as it finds it). It says not what an integer sum beyond the type's range is.",
)
OPERANDS = (MATMUL.clause("N-dimensional matrix A"), MATMUL.clause("N-dimensional matrix B"))
RESULTS = MATMUL.clause("Matrix multiply results from A * B")
FLOATS = MATMUL.clause("Constrain input and output types to float tensors.", before=9)
FLOATS_INTEGERS = MATMUL.clause("Constrain input and output types to float/int tensors.", since=9)


@MATMUL.oracle()
def product(v: Version, A: Array, B: Array) -> Array:
    """Return the product of real numbers, or exactly that of integers."""
    require_product(v, BEHAVES, A, B)
    if A.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return product_of(A.astype(np.longdouble), B.astype(np.longdouble)).astype(np.float64)
    exact = np.asarray(product_of(A.astype(object), B.astype(object)), object)
    limits = np.iinfo(A.dtype)
    v.silent(BEHAVES, any(not limits.min <= item <= limits.max for item in exact.ravel()))
    return exact.astype(A.dtype)


case = MATMUL.case


def waves(*shape: int, start: int = 0) -> Array:
    """Return numbers of both signs, no two rows or columns of which are alike."""
    return np.sin((start + np.arange(np.prod(shape, dtype=int))) * 1.7).reshape(shape) * 3


A, B = waves(2, 3), waves(3, 4, start=7)
case("plain", A=A, B=B, cites=(BEHAVES, *OPERANDS, RESULTS))
case("whole_numbers", A=[[1, -2, 3], [-4, 5, 6]], B=[[7, 8], [-9, 10], [11, -12]], cites=(BEHAVES,))
case("order", A=[[0, 1], [0, 0]], B=[[0, 0], [2, 0]], cites=(RESULTS,))
for name, places in {"cyclic": [2, 0, 1], "reversed": [2, 1, 0]}.items():
    moved = np.eye(3)[places]
    case(f"{name}_rows", A=moved, B=waves(3, 4), cites=(BEHAVES,))
    case(f"{name}_columns", A=waves(4, 3), B=moved, cites=(BEHAVES,))

STACKS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)),
    ((5, 6, 2, 3), (6, 3, 4)), ((6, 2, 3), (5, 6, 3, 4)), ((5, 1, 2, 3), (1, 6, 3, 4)), ((2, 1, 5, 1, 3), (4, 1, 3, 6)),
    ((3,), (5, 6, 3, 2)), ((5, 6, 2, 3), (3,)), ((1,), (1,)), ((1,), (1, 3)), ((3, 1), (1,)), ((3, 1), (1, 4)),
    ((1, 3), (3, 1)), ((1, 1, 1), (1, 1, 1)), ((2, 0, 3), (3, 4)), ((2, 3, 0), (2, 0, 4)), ((0, 2, 3), (3, 4)),
    ((0, 2, 3), (1, 3, 4)), ((0,), (0, 3)), ((2, 0), (0,)), ((0, 0), (0, 0)),
]  # fmt: skip
for left, right in SHAPES + STACKS:
    name = "_and_".join("x".join(map(str, shape)) for shape in (left, right))
    case(f"shapes_{name}", Tag.EDGE, A=waves(*left), B=waves(*right, start=5), cites=(BEHAVES,))
INNER_BROADCAST: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 1), (3, 4)), ((2, 3), (1, 4)), ((1,), (3, 4)), ((2, 3), (1,)), ((2, 5, 2, 3), (5, 2, 3, 4)),
    ((0, 2, 3), (2, 3, 4)), ((), ()), ((), (2, 3)), ((2, 3), (0, 4)), ((5, 2, 3), (5, 4)),
]  # fmt: skip
for index, (left, right) in enumerate(MISFITS + INNER_BROADCAST):
    case(f"misfit_{index}", Tag.EDGE, A=ramp(*left), B=ramp(*right), rejects=BEHAVES)

LONG = np.cos(np.arange(900.0))
case("long", A=LONG[:300].reshape(1, 300), B=LONG[300:].reshape(300, 2), cites=(BEHAVES,))
case("cancels", Tag.EDGE, A=[[1024, 1, -1024], [3, -3, 1]], B=[[1], [0.5], [1]], cites=(BEHAVES,))
INF, NAN = np.inf, np.nan
NUMBERS: dict[str, Any] = {
    "infinity": {"A": [[INF, 1, 2], [3, 4, 5]], "B": np.abs(B)},
    "infinity_against": {"A": [[INF, 1], [INF, -INF], [2, -INF]], "B": [[1, -1], [1, 2]]},
    "infinity_by_zero": {"A": [[INF, 1], [2, 3]], "B": [[0, 1], [1, 1]]},
    "nan": {"A": [[NAN, 1, 2], [3, 4, 5]], "B": B},
    "nan_by_zero": {"A": [[1, 2, 3], [4, 5, 6]], "B": [[0, 1], [NAN, 1], [0, 1]]},
    "zeros": {"A": [[0.0, -0.0]], "B": [[1], [1]]},
}
for name, sides in NUMBERS.items():
    case(name, Tag.EDGE, **sides, cites=(BEHAVES,))


def of(type_: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever an array is made of
    """Return the arguments in one element type."""
    return {name: typed(type_, np.asarray(values)) for name, values in given.items()}


EXPONENTS = {"float16": (-24, 15), "float": (-149, 127), "bfloat16": (-133, 127), "double": (-1074, 1023)}
"""Of the least and of the greatest power of two."""
for type_, (least, greatest) in EXPONENTS.items():
    given: dict[str, Any] = {"since": 13 if type_ == "bfloat16" else None, "cites": (BEHAVES,)}
    tiny, huge = 2.0**least, 2.0**greatest
    case(f"fractions_{type_}", **of(type_, A=A, B=B), **given)
    case(f"tenths_{type_}", **of(type_, A=[[0.1, 0.7, -1 / 3]], B=[[0.3], [1.1], [2 / 3]]), **given)
    case(f"single_terms_{type_}", **of(type_, A=[[0.1], [0.7], [-1 / 3]], B=[[1 / 3, -1.1, 7]]), **given)
    case(f"subnormal_{type_}", Tag.EDGE, **of(type_, A=[[tiny, 3 * tiny]], B=[[1, -1], [1, 2]]), **given)
    case(f"overflow_{type_}", Tag.EDGE, **of(type_, A=[[huge, huge], [-huge, -huge]], B=[[1], [1]]), **given)
    case(f"largest_{type_}", Tag.EDGE, **of(type_, A=[[huge / 2, huge / 2]], B=[[1], [1]]), **given)
for type_ in ("int32", "int64", "uint32", "uint64"):
    high, low = int(np.iinfo(type_).max), int(np.iinfo(type_).min)
    last = of(type_, B=[[1, 2], [1, 3]])
    exact = np.array([[high - 9, 3], [high // 3, 2]], type_)
    case(f"exact_{type_}", Tag.EDGE, A=typed(type_, exact), **of(type_, B=[[1, 1], [3, 0]]), since=9, cites=(BEHAVES,))
    above = np.array([[high, 1]], type_)
    case(f"overflow_{type_}", Tag.EDGE, A=typed(type_, above), **last, since=9, unspecified=BEHAVES)
    case(f"outside_{type_}", Tag.CHANGE, **of(type_, A=[[1, 2]], B=[[3], [4]]), before=9, rejects=FLOATS)
    if low:
        signs = of(type_, A=[[1, -2, 3], [-4, 5, -6]], B=[[-7], [8], [-9]])
        case(f"signs_{type_}", Tag.EDGE, **signs, since=9, cites=(FLOATS_INTEGERS,))
        below = np.array([[low, -1]], type_)
        case(f"limits_{type_}", Tag.EDGE, A=typed(type_, below), **of(type_, B=[[1], [0]]), since=9, cites=(BEHAVES,))
        case(f"underflow_{type_}", Tag.EDGE, A=typed(type_, below), **last, since=9, unspecified=BEHAVES)

WHOLE: dict[str, Any] = {"A": ramp(2, 3), "B": ramp(3, 4)}
case("dtypes_floats", Tag.DTYPE, each="T", **WHOLE, cites=(FLOATS,))
case("dtypes", Tag.DTYPE, each="T", **WHOLE, cites=(FLOATS_INTEGERS,))
case("dtypes_stack", Tag.DTYPE, each="T", A=ramp(2, 1, 2, 3), B=ramp(3, 3, 1), cites=(BEHAVES,))
case("dtypes_vectors", Tag.DTYPE, each="T", A=ramp(5), B=ramp(5), cites=(BEHAVES,))
case("outside", Tag.DTYPE, outside="T", **WHOLE, since=13, rejects=Rule.TYPES)
case("two_types", A=A, B=typed("double", B), rejects=Rule.TYPES)
case("no_second", A=A, rejects=Rule.ARITY)
case("no_outputs", **WHOLE, n=0, rejects=Rule.ARITY)
case("two_outputs", **WHOLE, n=2, rejects=Rule.ARITY)
case("attribute_trans_b", A=A, B=waves(4, 3), stray={"transB": 1}, rejects=Rule.ATTRIBUTES)
