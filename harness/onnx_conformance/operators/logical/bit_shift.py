# SPDX-License-Identifier: Apache-2.0
"""BitShift: the bits of each integer moved to the left or to the right.

    Z = BitShift(X, Y, direction="LEFT")

Versions: 11, 28 (signed integers; negative amounts, and amounts of all bits or more).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Multidirectional, Op, PartlyOpen, Tag, Version, ramp, typed, vary
from onnx_conformance.declare.data import every_pair
from onnx_conformance.declare.families.bitwise import TYPES
from onnx_conformance.declare.families.elementwise import EIGHT_BITS, counted, rank_of_two, typed_pairs
from onnx_conformance.declare.sizes import BITS, filled, grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare.sizes import Dims


SHIFT = Op("BitShift", versions=(11, 28), compare=EXACT, rank=rank_of_two)
SHIFT.example(X=[[1, 5, 3], [4, 2, 0]], Y=[2, 0, 1], direction="LEFT")

NOT_IDENTICAL = SHIFT.clause(
    "Because this operator supports Numpy-style broadcasting, X's and Y's shapes are not necessarily identical.",
    before=28,
)
RIGHT = SHIFT.clause(
    'For each input element, if the attribute "direction" is "RIGHT", this operator moves its binary representation '
    "toward the right side."
).reworded(
    before=28,
    text='if the attribute "direction" is "RIGHT", this operator moves its binary representation toward the right side '
    "so that the input value is effectively decreased.",
    note="The text does not define the result for a shift by all bits of the number or more. In C it is undefined.",
)
LEFT = SHIFT.clause(
    'If the attribute "direction" is "LEFT", bits of binary representation move toward the left side.'
).reworded(
    before=28,
    text='If the attribute "direction" is "LEFT", bits of binary representation moves toward the left side, which '
    "results the increase of its actual value.",
    note="The text does not define the result if bits are shifted out, because then the value does not increase.",
)
AMOUNTS = SHIFT.clause("The input X is the tensor to be shifted and another input Y specifies the amounts of shifting.")
EXAMPLES = SHIFT.clause(
    'if "direction" is "RIGHT", X is [1, 4], and Y is [1, 1], the corresponding output Z would be [0, 2]. If '
    '"direction" is "LEFT" with X=[1, 2] and Y=[1, 2], the corresponding output Z would be [2, 8].'
).reworded(
    before=28,
    text='if "direction" is "Right", X is [1, 4], and S is [1, 1], the corresponding output Z would be [0, 2]. If '
    '"direction" is "LEFT" with X=[1, 2] and S=[1, 2], the corresponding output Y would be [2, 8].',
    note="The text writes Right, which is not in the list of the attribute.",
)
ARITHMETIC = SHIFT.clause(
    "For a signed T the right shift is an arithmetic shift (sign-extending). The vacated high bits are filled with "
    "copies of the sign bit, so a negative X stays negative.",
    since=28,
)
DISCARDED = SHIFT.clause(
    "For a signed T a left shift can move bits into and past the sign bit, and bits shifted past the sign bit are "
    "discarded.",
    since=28,
)
BEYOND = SHIFT.clause(
    "If Y is negative, or is greater than or equal to the number of bits of T, then the result is whatever the sign "
    "bit extension alone produces: -1 for a right shift on a negative X, where the fill is a sign bit of 1, and 0 in "
    "every other case.",
    since=28,
)
DIRECTION = SHIFT.clause(
    'Direction of moving bits. It can be either "RIGHT" (for right shift) or "LEFT" (for left shift).'
)
FIRST = SHIFT.clause("First operand, input to be shifted.")
SECOND = SHIFT.clause("Second operand, amounts of shift.")
INTEGERS = SHIFT.clause("Constrain input and output types to integer tensors.")
NUMPY = Multidirectional(SHIFT, since=11)


def _shifted(X: Array, Y: Array, bits: int, direction: str) -> Array:
    """Return X * 2**Y, or X / 2**Y rounded down, as Python integers. If Y is out of range, shift by all bits."""
    by = np.where((Y < 0) | (bits <= Y), bits, Y).astype(object)
    wide = X.astype(object)
    return np.asarray(wide << by if direction == "LEFT" else wide >> by, object)


DEFINED_SINCE = 28
"""Since this version the text defines results in which bits are lost, and writes the directions in one way."""


@SHIFT.oracle()
def shifted(v: Version, X: Array, Y: Array, direction: str) -> Array | PartlyOpen:
    """Return X shifted by Y bits. Before version 28, results in which bits are lost are open."""
    v.silent(EXAMPLES, v.since < DEFINED_SINCE and direction == "Right")
    v.require(DIRECTION, direction in {"LEFT", "RIGHT"})
    NUMPY.require_one_shape(v, X, Y)
    bits = 8 * X.dtype.itemsize
    exact = _shifted(X, Y, bits, direction)
    unsigned = np.asarray(exact & (2**bits - 1), object).astype(f"u{X.dtype.itemsize}")
    values = unsigned.view(X.dtype)
    if v.since >= DEFINED_SINCE:
        return values
    is_open = np.asarray((bits <= Y) | (exact != values.astype(object)), bool)
    return PartlyOpen(values, is_open) if is_open.any() else values


case = SHIFT.case


def _operands(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Any]:
    """Return integers of these shapes, and amounts that are not all equal."""
    amounts = counted(1)(*right) % 5
    return {"X": typed("uint32", counted(5)(*left) * 3), "Y": typed("uint32", amounts), "direction": "LEFT"}


for direction, clause in (("LEFT", LEFT), ("RIGHT", RIGHT)):
    way = direction.lower()
    plain: dict[str, Any] = {"X": typed("uint8", [1, 7, 33, 100, 12]), "Y": typed("uint8", [4, 2, 1, 0, 3])}
    case(way, **plain, direction=direction, cites=(clause, AMOUNTS, DIRECTION, FIRST, SECOND))
    numbers: dict[str, Any] = {"X": [1, 4], "Y": [1, 1]} if direction == "RIGHT" else {"X": [1, 2], "Y": [1, 2]}
    case(f"{way}_example", Tag.DTYPE, each="T", **numbers, direction=direction, cites=(EXAMPLES, INTEGERS))
    for type_, since in (("uint8", None), ("int8", 28)):
        one, other = (typed(type_, side) for side in every_pair(type_))
        case(f"{way}_every_{type_}", Tag.EDGE, X=one, Y=other, direction=direction, since=since, cites=clause)
    zero: dict[str, Any] = {"X": typed("uint16", [5, 65535]), "Y": typed("uint16", [0, 0])}
    case(f"{way}_by_zero", Tag.EDGE, **zero, direction=direction, cites=SECOND)
    case(f"{way}_rank0", Tag.EDGE, X=typed("uint32", 12), Y=typed("uint32", 1), direction=direction, cites=FIRST)
    empty = typed("uint32", ramp(2, 0, 3))
    case(f"{way}_zero_size", Tag.EDGE, X=empty, Y=empty, direction=direction, cites=FIRST)
    tail: dict[str, Any] = {"X": typed("uint64", counted(90)(67)), "Y": typed("uint64", np.arange(67) % 9)}
    case(f"{way}_vector_and_tail", **tail, direction=direction, cites=FIRST)
    column: dict[str, Any] = {"X": typed("uint32", [[3], [200]]), "Y": typed("uint32", [1, 2, 4])}
    case(f"{way}_broadcast", **column, direction=direction, before=28, cites=NOT_IDENTICAL)
    for type_ in TYPES:
        limits, signed = np.iinfo(type_), not type_.startswith("u")
        third = limits.max // 3
        ends = np.array([limits.min, limits.max, limits.max - 1, 0, 1, third, -third if signed else 5], type_)
        bits = limits.bits
        inside = np.array([[0], [1], [2], [bits // 2], [bits - 2], [bits - 1]], type_)
        below = [-1, -bits, limits.min] if signed else []
        outside = np.array([bits, bits + 1, min(2 * bits, limits.max), limits.max, *below], type_).reshape(-1, 1)
        of_signed = (ARITHMETIC if direction == "RIGHT" else DISCARDED,) if signed else ()
        call: dict[str, Any] = {"X": typed(type_, ends), "direction": direction, "since": 28}
        case(f"{way}_limits_{type_}", Tag.EDGE, **call, Y=typed(type_, inside), cites=(clause, *of_signed))
        case(f"{way}_beyond_{type_}", Tag.EDGE, **call, Y=typed(type_, outside), cites=BEYOND)
NUMPY.cases(_operands)
lost: dict[str, Any] = {"X": typed("uint32", [2**31, 3, 5]), "Y": typed("uint32", [1, 31, 2])}
case("bits_lost_before_28", Tag.EDGE, **lost, direction="LEFT", before=28, cites=LEFT)
by_all: dict[str, Any] = {"X": typed("uint32", [7, 12]), "Y": typed("uint32", [32, 2])}
case("by_all_bits_before_28", Tag.EDGE, **by_all, direction="RIGHT", before=28, cites=RIGHT)
case("direction", Tag.EDGE, X=ramp(3), Y=ramp(3), direction=vary(lower="left", other="UP", empty=""), rejects=DIRECTION)
case("direction_as_in_the_example", Tag.EDGE, X=[1, 4], Y=[1, 1], direction="Right", before=28, unspecified=EXAMPLES)
case("direction_capitalized", Tag.EDGE, X=[1, 4], Y=[1, 1], direction="Right", since=28, rejects=DIRECTION)
case("outside", Tag.DTYPE, outside="T", X=ramp(3), Y=ramp(3), direction="LEFT", rejects=INTEGERS)


def _bits(direction: str) -> Callable[[Dims, Dims], dict[str, Any]]:
    """Return a function of two shapes that returns any bits, shifted by less than the number of bits."""
    return lambda one, other: {
        "X": filled(*one, integers=BITS),
        "Y": filled(*other, integers=(0, 7)),
        "direction": direction,
    }


for direction, moved in {"LEFT": LEFT, "RIGHT": RIGHT}.items():
    NUMPY.sized(moved, _bits(direction), suffix=f"_{direction.lower()}", step=5, most=5000)
    long = _bits(direction)(("n",), ("n",))
    SHIFT.sized(f"long_{direction.lower()}", grid(n=(65_537,)), cites=moved, arguments=long)
for type_ in EIGHT_BITS:
    shifted_numbers, amounts = typed_pairs(type_)
    for direction in ("LEFT", "RIGHT"):
        name = f"pairs_{direction.lower()}_{type_}"
        SHIFT.every(name, cites=BEYOND, X=shifted_numbers, Y=amounts, direction=direction)
