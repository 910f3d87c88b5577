"""Add: two tensors element by element.

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import (
    Array,
    Int,
    Limited,
    Multidirectional,
    Op,
    Rule,
    Tag,
    Tolerance,
    Version,
    extremes,
    ramp,
    typed,
)

ONCE = Tolerance("IEEE 754 rounds a sum once; made in float32, that of a smaller type is the same", signed_zero=True)
ADD = Op(
    "Add",
    versions=(1, 6, 7, 13, 14),
    compare=ONCE,
    rank=lambda given: max(np.ndim(given.get(name, 0)) for name in "AB"),
)

SUM = ADD.clause("Performs element-wise binary addition", note="Says nothing of sums beyond an integer type's range.")
LIMITED = ADD.clause("(with limited broadcast support)", before=7)
BROADCASTING = Limited(ADD)
DISABLED = ADD.clause(
    "If broadcasting is disabled it should be of the same size.",
    before=7,
    note="Does not say whether another shape of as many elements has the same size. onnx.reference broadcasts.",
)
SMALLER = ADD.clause("With broadcasting can be of smaller size than A.", before=7)
LEGACY = ADD.clause("legacy optimization attribute.", before=6)
SHARE = ADD.clause("First operand, should share the type with the second operand.", before=7)
SAME_DIMENSIONS = ADD.clause("Result, has same dimensions and type as A", before=7)
NUMPY = Multidirectional(ADD)
SAME_TYPE = ADD.clause("Result, has same element type as two inputs", since=7)
FLOATS = ADD.clause("Constrain input and output types to float tensors.", before=6)
HIGH_PRECISION = ADD.clause("Constrain input and output types to high-precision numeric tensors.", since=6, before=14)
SMALL_INTEGERS = ADD.clause("Extend supported types to include uint8, int8, uint16, and int16.", since=14)
ALL_NUMERIC = ADD.clause("Constrain input and output types to all numeric tensors.", since=14)


def _sum(v: Version, left: Array, right: Array) -> Array:
    with np.errstate(all="ignore"):
        result = np.asarray(left + right)
        if result.dtype.kind in "iu":
            v.silent(SUM, bool(np.any(result != left.astype(object) + right.astype(object))))
    return result


@ADD.oracle(before=7)
def limited(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:  # noqa: N803 - the text's own names
    """Return the sum in the shape of A."""
    v.silent(DISABLED, not broadcast and A.shape != B.shape and A.size == B.size)
    return _sum(v, A, BROADCASTING.second(v, A, B, axis, broadcast, DISABLED))


@ADD.oracle(since=7)
def multidirectional(v: Version, A: Array, B: Array) -> Array:  # noqa: N803
    """Return the sum in the shape that both are broadcast to."""
    NUMPY.require(v, A, B)
    return _sum(v, A, B)


case = ADD.case
FLOAT_TYPES: dict[str, Int] = {"float16": None, "float": None, "double": None, "bfloat16": 13}
INTEGER_TYPES: dict[str, Int] = dict.fromkeys(("int32", "int64", "uint32", "uint64"), 6)
INTEGER_TYPES |= dict.fromkeys(("int8", "int16", "uint8", "uint16"), 14)

case("same_shape", A=ramp(2, 3), B=[[30, 20, 10], [3, 2, 1]], cites=(SUM,))
case("rank0", Tag.EDGE, A=3, B=4, cites=(SUM,))
case("size_one", Tag.EDGE, A=[3], B=[4], cites=(SUM,))
case("zero_size", Tag.EDGE, A=ramp(2, 0, 3), B=ramp(2, 0, 3), cites=(SUM,))


def _operands(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Any]:
    return {"A": ramp(*left), "B": ramp(*right)}


BROADCASTING.cases(_operands, DISABLED)
NUMPY.cases(_operands)
EXAMPLES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "(,), i.e. B is a scalar tensor": ((), {}),
    "(1, 1), i.e. B is an 1-element tensor": ((1, 1), {}),
    "(5,)": ((5,), {}),
    "(4, 5)": ((4, 5), {}),
    "(3, 4), with axis=1": ((3, 4), {"axis": 1}),
    "(2), with axis=0": ((2,), {"axis": 0}),
}
for index, (said, (shape, given)) in enumerate(EXAMPLES.items()):
    example = ADD.clause(f"shape(A) = (2, 3, 4, 5), shape(B) = {said}", before=7)
    sides = _operands((2, 3, 4, 5), shape)
    case(f"example_{index}", Tag.CHANGE, **sides, broadcast=1, cites=(example, SAME_DIMENSIONS), **given)
case("smaller", A=ramp(2, 3), B=ramp(3), broadcast=1, cites=(SMALLER, LIMITED))
case("same_count_other_shape", Tag.EDGE, A=ramp(2, 3), B=ramp(3, 2), before=7, unspecified=DISABLED)
case("consumed_inputs", A=ramp(2, 3), B=ramp(2, 3), consumed_inputs=[0, 0], cites=(LEGACY,))

case("dtypes_floats", Tag.DTYPE, each="T", A=ramp(3), B=[3, 2, 1], cites=(FLOATS,))
case("dtypes_broadcast", Tag.DTYPE, each="T", A=ramp(2, 1), B=[3, 2, 1], cites=(NUMPY.clause, SAME_TYPE))
case("dtypes_high_precision", Tag.DTYPE, each="T", A=ramp(3), B=[3, 2, 1], cites=(HIGH_PRECISION,))
case("dtypes_small_integers", Tag.DTYPE, each="T", A=ramp(3), B=[3, 2, 1], cites=(SMALL_INTEGERS, ALL_NUMERIC))
case("outside", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), rejects=Rule.TYPES)
case("two_types", Tag.DTYPE, A=ramp(3), B=typed("double", ramp(3)), rejects=SHARE)
case("two_types_now", Tag.DTYPE, A=ramp(3), B=typed("double", ramp(3)), since=7, rejects=Rule.TYPES)
for type_, since in FLOAT_TYPES.items():
    hard, tenths = (typed(type_, item) for item in (extremes(11), [0.1, 0.7, -1 / 3, 1e-3, 2049, 257]))
    turned = typed(type_, [0.2, -0.1, 2 / 3, 1, 1, 1])
    case(f"fractions_{type_}", Tag.EDGE, A=tenths, B=turned, since=since, cites=(SUM,))
    case(f"extremes_{type_}", Tag.EDGE, A=hard, B=hard, since=since, cites=(SUM,))
    pairs: dict[str, Any] = {"A": typed(type_, extremes(11, 1)), "B": typed(type_, extremes(1, 11))}
    case(f"extremes_pairs_{type_}", Tag.EDGE, **pairs, since=since, cites=(NUMPY.clause,))
for type_, since in INTEGER_TYPES.items():
    low, high = (int(getattr(np.iinfo(type_), limit)) for limit in ("min", "max"))
    limits: dict[str, Any] = {"A": typed(type_, np.array([low, high, high - 1], type_)), "since": since}
    case(f"limits_{type_}", Tag.EDGE, **limits, B=typed(type_, [0, 0, 1]), cites=(SUM,))
    case(f"overflow_{type_}", Tag.EDGE, **limits, B=typed(type_, [0, 1, 1]), unspecified=SUM)
    if low:
        case(f"underflow_{type_}", Tag.EDGE, **limits, B=typed(type_, [-1, 0, 0]), unspecified=SUM)

FITS: dict[str, Any] = {"A": ramp(2, 3), "B": ramp(3)}
case("attribute_broadcast", Tag.CHANGE, **FITS, stray={"broadcast": 1}, since=7, rejects=Rule.ATTRIBUTES)
case("attribute_axis", Tag.CHANGE, **FITS, stray={"axis": 1}, since=7, rejects=Rule.ATTRIBUTES)
case("attribute_consumed_inputs", **FITS, stray={"consumed_inputs": [0, 0]}, since=6, rejects=Rule.ATTRIBUTES)
case("no_second", A=ramp(3), rejects=Rule.ARITY)
case("no_outputs", A=ramp(3), B=ramp(3), n=0, rejects=Rule.ARITY)
case("two_outputs", A=ramp(3), B=ramp(3), n=2, rejects=Rule.ARITY)
