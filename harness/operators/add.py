"""Add: two tensors element by element.

Versions: 1 (limited broadcasting by attribute), 6 (types, no consumed_inputs), 7 (multidirectional
broadcasting, no attributes), 13 and 14 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Clause, Int, Op, Rule, Tag, Tolerance, Version, extremes, ramp, typed

ONCE = Tolerance("IEEE 754 rounds a sum once; made in float32, that of a smaller type is the same", signed_zero=True)
ADD = Op(
    "Add",
    versions=(1, 6, 7, 13, 14),
    compare=ONCE,
    rank=lambda given: max(np.ndim(given.get(name, 0)) for name in "AB"),
)

SUM = ADD.clause("Performs element-wise binary addition", note="Says nothing of sums beyond an integer type's range.")
LIMITED = ADD.clause("(with limited broadcast support)", before=7)
ENABLE = ADD.clause("Attribute `broadcast=1` needs to be passed to enable broadcasting.", before=7)
PASS_ONE = ADD.clause("Pass 1 to enable broadcasting", before=7, note="Says nothing of values other than 0 and 1.")
DISABLED = ADD.clause(
    "If broadcasting is disabled it should be of the same size.",
    before=7,
    note="Does not say whether another shape of as many elements has the same size. onnx.reference broadcasts.",
)
SMALLER = ADD.clause("With broadcasting can be of smaller size than A.", before=7)
MATCH_LEFT = ADD.clause("will be broadcasted to match the shape of left-hand-side argument.", before=7)
ONE_ELEMENT = ADD.clause(
    "of element size 1 (including a scalar tensor and any tensor with rank equal to or smaller than the first tensor)",
    before=7,
    note="Says nothing of one element of a higher rank, nor of an axis beside one element.",
)
CONTIGUOUS = ADD.clause("or having its shape as a contiguous subset of the first tensor's shape.", before=7)
START = ADD.clause(
    'The starting of the mutually equal shape is specified by the argument "axis"',
    before=7,
    note="onnx.reference takes no notice of it and broadcasts as numpy does.",
)
SUFFIX = ADD.clause("if it is not set, suffix matching is assumed.", before=7)
NO_EXPANSION = ADD.clause("1-dim expansion doesn't work yet.", before=7)
DIMENSIONS = ADD.clause(
    "If set, defines the broadcast dimensions.",
    before=7,
    note="Says nothing of an axis where broadcasting is disabled, nor of one below 0.",
)
LEGACY = ADD.clause("legacy optimization attribute.", before=6)
SHARE = ADD.clause("First operand, should share the type with the second operand.", before=7)
SAME_DIMENSIONS = ADD.clause("Result, has same dimensions and type as A", before=7)
BROADCAST = ADD.clause("This operator supports **multidirectional (i.e., Numpy-style) broadcasting**", since=7)
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


def _matched(v: Version, left: Array, right: Array, axis: Int) -> Array:
    """Return `right` with dimensions of 1 wherever `left` has one that `right` lacks."""
    if right.size == 1:
        v.silent(ONE_ELEMENT, right.ndim > left.ndim or axis is not None)
        return right.reshape(())
    v.silent(DIMENSIONS, axis is not None and axis < 0)
    start = left.ndim - right.ndim if axis is None else axis
    end = start + right.ndim
    v.require(CONTIGUOUS, start >= 0 and end <= left.ndim)
    equal = left.shape[start:end] == right.shape
    expands = all(mine in {1, given} for mine, given in zip(right.shape, left.shape[start:end], strict=True))
    v.require(NO_EXPANSION, equal or not expands)
    v.require(CONTIGUOUS, equal)
    return right.reshape(right.shape + (1,) * (left.ndim - end))


@ADD.oracle(before=7)
def limited(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:  # noqa: N803 - the text's own names
    """Return the sum in the shape of A."""
    v.silent(PASS_ONE, broadcast not in {0, 1})
    if broadcast:
        return _sum(v, A, _matched(v, A, B, axis))
    v.silent(DIMENSIONS, axis is not None)
    v.silent(DISABLED, A.shape != B.shape and A.size == B.size)
    v.require(DISABLED, A.shape == B.shape)
    return _sum(v, A, B)


@ADD.oracle(since=7)
def multidirectional(v: Version, A: Array, B: Array) -> Array:  # noqa: N803
    """Return the sum in the shape that both are broadcast to."""
    pairs = zip(A.shape[::-1], B.shape[::-1], strict=False)
    v.require(BROADCAST, all(mine == other or 1 in {mine, other} for mine, other in pairs))
    return _sum(v, A, B)


case = ADD.case
FLOAT_TYPES: dict[str, Int] = {"float16": None, "float": None, "double": None, "bfloat16": 13}
INTEGER_TYPES: dict[str, Int] = dict.fromkeys(("int32", "int64", "uint32", "uint64"), 6)
INTEGER_TYPES |= dict.fromkeys(("int8", "int16", "uint8", "uint16"), 14)

case("same_shape", A=ramp(2, 3), B=[[30, 20, 10], [3, 2, 1]], cites=(SUM,))
case("rank0", Tag.EDGE, A=3, B=4, cites=(SUM,))
case("size_one", Tag.EDGE, A=[3], B=[4], cites=(SUM,))
case("zero_size", Tag.EDGE, A=ramp(2, 0, 3), B=ramp(2, 0, 3), cites=(SUM,))

LEFT: dict[str, Any] = {"A": ramp(2, 3, 4), "broadcast": 1}


def _example(second: str) -> Clause:
    return ADD.clause(f"shape(A) = (2, 3, 4, 5), shape(B) = {second}", before=7)


LIMITED_CASES: list[tuple[str, tuple[int, ...], dict[str, Any], Clause]] = [
    ("scalar", (), {}, _example("(,), i.e. B is a scalar tensor")),
    ("one_element", (1, 1), {}, _example("(1, 1), i.e. B is an 1-element tensor")),
    ("suffix_one", (5,), {}, _example("(5,)")),
    ("suffix_two", (4, 5), {}, _example("(4, 5)")),
    ("axis_one_two", (3, 4), {"axis": 1}, _example("(3, 4), with axis=1")),
    ("axis_zero", (2,), {"axis": 0}, _example("(2), with axis=0")),
    ("whole", (2, 3, 4, 5), {}, LIMITED),
    ("suffix_three", (3, 4, 5), {}, SMALLER),
    ("axis_zero_two", (2, 3), {"axis": 0}, CONTIGUOUS),
    ("axis_one", (3,), {"axis": 1}, START),
    ("one_element_vector", (1,), {}, ONE_ELEMENT),
    ("one_element_full_rank", (1, 1, 1, 1), {}, SAME_DIMENSIONS),
]
for name, shape, given, clause in LIMITED_CASES:
    case(f"limited_{name}", Tag.CHANGE, A=ramp(2, 3, 4, 5), B=ramp(*shape), broadcast=1, cites=(clause,), **given)
case("limited_equal_dimensions", Tag.AXIS, A=ramp(3, 3), B=ramp(3), axis=0, broadcast=1, cites=(DIMENSIONS,))
case("limited_rank0", Tag.EDGE, A=3, B=4, broadcast=1, cites=(ONE_ELEMENT,))
case("limited_zero_size", Tag.EDGE, A=ramp(2, 0, 3), B=ramp(0, 3), broadcast=1, cites=(SUFFIX,))
case("limited_one_element_higher_rank", Tag.EDGE, A=ramp(3), B=[[7]], broadcast=1, unspecified=ONE_ELEMENT)
case("limited_one_element_axis", Tag.AXIS, **LEFT, B=[7], axis=1, unspecified=ONE_ELEMENT)
case("limited_axis_negative", Tag.AXIS, **LEFT, B=ramp(3), axis=-2, unspecified=DIMENSIONS)
case("limited_axis_too_high", Tag.AXIS, **LEFT, B=ramp(3, 4), axis=2, rejects=CONTIGUOUS)
case("limited_axis_wrong", Tag.AXIS, **LEFT, B=ramp(3), axis=0, rejects=CONTIGUOUS)
case("limited_expansion", **LEFT, B=ramp(3, 1), rejects=NO_EXPANSION)
case("limited_left", Tag.CHANGE, A=ramp(4), B=ramp(3, 4), broadcast=1, rejects=CONTIGUOUS)
case("broadcast_zero", A=ramp(2, 3), B=ramp(2, 3), broadcast=0, cites=(PASS_ONE,))
case("broadcast_two", Tag.EDGE, A=ramp(2, 3), B=ramp(3), broadcast=2, unspecified=PASS_ONE)
case("broadcast_unset", Tag.CHANGE, A=ramp(2, 3), B=ramp(3), before=7, rejects=DISABLED)
case("broadcast_unset_scalar", Tag.CHANGE, A=ramp(2, 3), B=7, before=7, rejects=DISABLED)
case("broadcast_needed", Tag.CHANGE, A=ramp(2, 3), B=ramp(3), broadcast=1, cites=(ENABLE, MATCH_LEFT, SUFFIX))
case("axis_without_broadcast", A=ramp(2, 3), B=ramp(2, 3), axis=0, unspecified=DIMENSIONS)
case("same_count_other_shape", Tag.EDGE, A=ramp(2, 3), B=ramp(3, 2), before=7, unspecified=DISABLED)
case("consumed_inputs", A=ramp(2, 3), B=ramp(2, 3), consumed_inputs=[0, 0], cites=(LEGACY,))

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3), (3,)), ((3,), (2, 3)), ((4, 1), (1, 3)), ((4, 3), (4, 1)), ((2, 1, 4), (3, 1)), ((2, 3, 4), ()),
    ((), (2, 3)), ((2, 3, 4, 5), (3, 1, 5)), ((1,), (2, 3)), ((1, 1, 1), (3,)), ((5, 1), (6,)),
    ((2, 0), (2, 1)), ((3,), (0, 3)),
]  # fmt: skip
for left, right in SHAPES:
    name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in (left, right))
    case(f"broadcast_{name}", Tag.CHANGE, A=ramp(*left), B=ramp(*right), cites=(BROADCAST,))
case("mismatch", A=ramp(2, 3), B=ramp(2, 4), rejects=BROADCAST)
case("mismatch_prefix", Tag.CHANGE, A=ramp(2, 3), B=ramp(2), rejects=BROADCAST)
case("mismatch_multiple", A=ramp(6), B=ramp(3), rejects=BROADCAST)
case("mismatch_zero_size", Tag.EDGE, A=ramp(0), B=ramp(2), rejects=BROADCAST)

case("dtypes_floats", Tag.DTYPE, each="T", A=ramp(3), B=[3, 2, 1], cites=(FLOATS,))
case("dtypes_broadcast", Tag.DTYPE, each="T", A=ramp(2, 1), B=[3, 2, 1], cites=(BROADCAST, SAME_TYPE))
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
    case(f"extremes_pairs_{type_}", Tag.EDGE, **pairs, since=since, cites=(BROADCAST,))
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
