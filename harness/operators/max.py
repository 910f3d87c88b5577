"""Max: the greatest of any number of tensors, element by element.

Versions: 1 (all of one shape), 6 (no consumed_inputs), 8 (multidirectional broadcasting), 12 and 13 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Int, Multidirectional, Op, Rule, Tag, Version, extremes, ramp, typed

MAX = Op(
    "Max",
    versions=(1, 6, 8, 12, 13),
    compare=EXACT,
    rank=lambda given: max((np.ndim(given[name]) for name in given if name.startswith("data_0_")), default=0),
)

GREATEST = MAX.clause(
    "Element-wise max of each of the input tensors",
    note="Says neither what is greater of a number and NaN nor of +0 and -0; alone, each is the greatest.",
)
SAME_SHAPE = MAX.clause("All inputs and outputs must have the same shape and data type.", before=8)
SAME_DIMENSION = MAX.clause("Same dimension as inputs.", before=8)
SAME_TYPE = MAX.clause("All inputs and outputs must have the same data type.", since=8)
NUMPY = Multidirectional(MAX, since=8)
LIST_OLD = MAX.clause("List of tensors for Max.", before=8)
LIST = MAX.clause("List of tensors for max.", since=8)
LEGACY = MAX.clause("legacy optimization attribute.", before=6)
FLOATS = MAX.clause("Constrain input and output types to float tensors.", before=12)
NUMERIC = MAX.clause("Constrain input and output types to numeric tensors.", since=12)


def _greatest(v: Version, data: list[Array]) -> Array:
    if len(data) == 1:
        return data[0]
    v.silent(GREATEST, any(item.dtype.kind == "f" and bool(np.isnan(item).any()) for item in data))
    greatest = data[0]
    for item in data[1:]:
        tie = (greatest == 0) & (item == 0)
        v.silent(GREATEST, bool((tie & (np.signbit(greatest) != np.signbit(item))).any()))
        greatest = np.where(item > greatest, item, greatest)
    return greatest


@MAX.oracle(before=8)
def of_one_shape(v: Version, data_0: list[Array]) -> Array:
    """Return the greatest of tensors that have one shape."""
    v.require(SAME_SHAPE, all(item.shape == data_0[0].shape for item in data_0))
    return _greatest(v, data_0)


@MAX.oracle(since=8)
def multidirectional(v: Version, data_0: list[Array]) -> Array:
    """Return the greatest in the shape that all are broadcast to."""
    NUMPY.require(v, *data_0)
    return _greatest(v, data_0)


case = MAX.case
FLOAT_TYPES: dict[str, Int] = {"float16": None, "float": None, "double": None, "bfloat16": 13}
FIRST, SECOND, THIRD = [1, 5, 3], [4, 2, 6], [7, 0, 4]

case("one", Tag.EDGE, data_0=(ramp(2, 3),), cites=(GREATEST, SAME_DIMENSION))
case("two", data_0=(FIRST, SECOND), cites=(GREATEST, SAME_DIMENSION))
case("three", data_0=(FIRST, SECOND, THIRD), cites=(GREATEST, LIST_OLD))
case("three_now", data_0=(FIRST, SECOND, THIRD), cites=(GREATEST, LIST))
case("seven", data_0=tuple([(item * index) % 7 for item in range(6)] for index in range(1, 8)), cites=(GREATEST,))
case("rank4", data_0=(ramp(2, 3, 4, 5), np.arange(120)[::-1].reshape(2, 3, 4, 5)), cites=(GREATEST,))
case("twice_the_same", Tag.EDGE, data_0=(FIRST, FIRST), cites=(GREATEST,))
case("negative", data_0=([-1, -5, 0], [-4, -2, -6]), cites=(GREATEST,))
case("rank0", Tag.EDGE, data_0=(3, 4), cites=(GREATEST,))
case("size_one", Tag.EDGE, data_0=([4], [3]), cites=(GREATEST,))
case("zero_size", Tag.EDGE, data_0=(ramp(2, 0, 3), ramp(2, 0, 3)), cites=(GREATEST,))
case("zero_size_one", Tag.EDGE, data_0=(ramp(0),), cites=(GREATEST,))
case("consumed_inputs", data_0=(FIRST, SECOND), consumed_inputs=[0, 0], cites=(LEGACY,))
case("legacy_shapes", Tag.CHANGE, data_0=(ramp(2, 3), ramp(3)), rejects=SAME_SHAPE)
case("legacy_scalar", Tag.CHANGE, data_0=(ramp(2, 3), 2), rejects=SAME_SHAPE)
case("legacy_shape_of_third", data_0=(ramp(2, 3), ramp(2, 3), ramp(1, 3)), rejects=SAME_SHAPE)
case("legacy_same_count", Tag.EDGE, data_0=(ramp(2, 3), ramp(3, 2)), rejects=SAME_SHAPE)


def _operands(*shapes: tuple[int, ...]) -> dict[str, Any]:
    """Return tensors whose ramps are turned against one another: each is the greatest somewhere."""
    return {"data_0": tuple(np.roll(ramp(*dims).of(np.dtype("int64")), index) for index, dims in enumerate(shapes))}


NUMPY.cases(_operands)
TUPLES: list[tuple[tuple[int, ...], ...]] = [
    ((2, 1, 1), (3, 1), (4,)), ((4,), (3, 1), (2, 1, 1)), ((), (3,), (1, 1), (2, 1)), ((1, 0), (), (2, 1)),
]  # fmt: skip
for shapes in TUPLES:
    name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
    case(f"broadcast_{name}", Tag.CHANGE, **_operands(*shapes), cites=(NUMPY.clause,))
case("mismatch_of_third", data_0=(ramp(2, 3), ramp(3), ramp(4)), rejects=NUMPY.clause)
case("mismatch_first_and_third", Tag.EDGE, data_0=(ramp(2), 1, ramp(3)), rejects=NUMPY.clause)

case("dtypes_floats", Tag.DTYPE, each="T", data_0=(FIRST, SECOND), cites=(FLOATS,))
case("dtypes_numeric", Tag.DTYPE, each="T", data_0=(FIRST, SECOND), cites=(NUMERIC,))
case("dtypes_one", Tag.DTYPE, each="T", data_0=(FIRST,))
case("dtypes_one_extremes", Tag.DTYPE, Tag.EDGE, each="T", data_0=(extremes(11),))
case("dtypes_three", Tag.DTYPE, each="T", data_0=(FIRST, SECOND, THIRD))
case("dtypes_broadcast", Tag.DTYPE, each="T", data_0=(ramp(2, 1), [0, 1, 2], 1), cites=(NUMPY.clause, SAME_TYPE))
case("outside", Tag.DTYPE, outside="T", data_0=(FIRST, SECOND), rejects=Rule.TYPES)
case("two_types_old", Tag.DTYPE, data_0=(FIRST, typed("double", SECOND)), rejects=SAME_SHAPE)
case("two_types", Tag.DTYPE, data_0=(FIRST, typed("double", SECOND)), rejects=SAME_TYPE)
case("third_type", Tag.DTYPE, data_0=(FIRST, SECOND, typed("float16", THIRD)), rejects=SAME_TYPE)
for type_, since in FLOAT_TYPES.items():

    def pair(*numbers: tuple[Any, Any], type_: str = type_) -> dict[str, Any]:
        """Return two tensors that hold the pairs."""
        return {"data_0": tuple(typed(type_, list(side)) for side in zip(*numbers, strict=True))}

    inf, nan = np.inf, np.nan
    case(f"infinities_{type_}", Tag.EDGE, **pair((inf, 1), (1, -inf), (inf, -inf), (-inf, -inf)), since=since)
    case(f"fractions_{type_}", Tag.EDGE, **pair((0.1, 0.2), (-0.1, -0.2), (1e-7, 2e-7), (-0.0, -1)), since=since)
    case(f"negative_zero_{type_}", Tag.EDGE, **pair((-0.0, -0.0), (-0.0, -1), (0.0, 0.0)), since=since)
    case(f"two_zeros_{type_}", Tag.EDGE, **pair((-0.0, 0.0), (0.0, -0.0)), since=since, unspecified=GREATEST)
    case(f"nan_{type_}", Tag.EDGE, **pair((nan, 1), (1, nan), (nan, nan)), since=since, unspecified=GREATEST)
    case(f"nan_inf_{type_}", Tag.EDGE, **pair((nan, inf), (-inf, nan)), since=since, unspecified=GREATEST)
for bits in (8, 16, 32, 64):
    for type_ in (f"int{bits}", f"uint{bits}"):
        low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
        left, right = (np.array(side, type_) for side in ([low, high, high - 1, low], [high, low, high, low + 1]))
        case(f"limits_{type_}", Tag.EDGE, data_0=(typed(type_, left), typed(type_, right)), since=12, cites=(GREATEST,))

case("attribute_consumed_inputs", data_0=(FIRST,), stray={"consumed_inputs": [0]}, since=6, rejects=Rule.ATTRIBUTES)
case("attribute_broadcast", data_0=(FIRST, SECOND), stray={"broadcast": 1}, rejects=Rule.ATTRIBUTES)
case("no_inputs", data_0=(), rejects=Rule.ARITY)
case("no_outputs", data_0=(FIRST, SECOND), n=0, rejects=Rule.ARITY)
case("two_outputs", data_0=(FIRST, SECOND), n=2, rejects=Rule.ARITY)
