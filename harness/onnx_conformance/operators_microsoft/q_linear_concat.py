# SPDX-License-Identifier: Apache-2.0
"""QLinearConcat: join quantized tensors along an axis, and quantize them with one scale and zero point.

    Y = QLinearConcat(Y_scale, Y_zero_point, *inputs, axis)

Versions: 1. The inputs are triples: a tensor, its scale and its zero point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, axes, typed
from onnx_conformance.declare.sizes import EVERY_BYTE, NEAR_THE_MIDDLE, filled, grid
from onnx_conformance.operators_microsoft._requantization import dequantized, finite_scale, requantized, scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

TRIPLE = 3
"""The number of inputs for each tensor: the tensor, its scale and its zero point."""


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the first tensor."""
    return np.ndim(arguments["inputs_0"]) if "inputs_0" in arguments else None


CONCAT = Op(
    "QLinearConcat",
    versions=(1,),
    compare=Tolerance("if a few roundings of the scales can change an element, both values are allowed"),
    domain="com.microsoft",
    rank=_rank,
)


def triple(values: object, scale: object = 1.0, zero_point: object = 0, type_: str = "uint8") -> tuple[Any, ...]:
    """Return a tensor, its scale and its zero point."""
    return typed(type_, values), typed("float", scale), typed(type_, zero_point)


def counted(*shape: int, start: int = 0) -> Array:
    """Return consecutive numbers."""
    return np.asarray(start + np.arange(np.prod(shape, dtype=int)).reshape(shape))


FIRST, SECOND = counted(2, 1, start=3), counted(2, 3, start=40)
CONCAT.example(
    Y_scale=0.5, Y_zero_point=typed("uint8", 2), inputs=(*triple(FIRST, 0.25, 1), *triple(SECOND, 2, 40)), axis=1
)
CONCAT.excuse("input inputs one", "a tensor needs three inputs: its elements, its scale and its zero point")

CONCATENATE = CONCAT.clause("Concatenate a list of tensors into a single tensor")
SAME_SHAPE = CONCAT.clause(
    "All input tensors must have the same shape, except for the dimension size of the axis to concatenate on."
)
WHICH = CONCAT.clause(
    "Which axis to concat on",
    note="There is no axis at or above the rank, and a scalar has no axis to concatenate on. The text does not define "
    "a negative axis; that of Concat does.",
)
SCALE_OF_Y = CONCAT.clause(
    "Y's scale.",
    note="The text has no formula. The operator dequantizes and quantizes as DequantizeLinear and QuantizeLinear do, "
    "with saturation. The text does not define how a tie is rounded, so both neighbours are allowed. It does not "
    "define the shape of a scale, so only one element has a meaning; or a scale that is infinite or NaN, or a scale "
    "of 0 for Y.",
)
ZERO_POINT_OF_Y = CONCAT.clause("Y's zero point.")
LIST = CONCAT.clause("List of tensors/scale/zero_point for concatenation")
TUPLES = CONCAT.clause(
    "Sequence of (Tensor, Scale, ZeroPoint) tuples.",
    note="Therefore the number of inputs after the zero point of Y is a multiple of three, and at least one tuple "
    "exists.",
)
TYPES = CONCAT.clause(
    "The type is sequence of (T8, TF, T8).", note="T8 is one type: that of the zero point of Y and of Y."
)
RESULT = CONCAT.clause("Concatenated tensor", result=True)


@CONCAT.oracle()
def joined(v: Version, Y_scale: Array, Y_zero_point: Array, inputs: list[Array], axis: int) -> Result:
    """Return the dequantized tensors one after the other, quantized with the scale and the zero point of Y."""
    v.require(TUPLES, len(inputs) % TRIPLE == 0)
    tensors, scales, zero_points = inputs[::TRIPLE], inputs[1::TRIPLE], inputs[2::TRIPLE]
    v.require(TYPES, all(item.dtype == Y_zero_point.dtype for item in (*tensors, *zero_points)))
    v.require(TYPES, all(item.dtype.kind == "f" for item in scales))
    rank = tensors[0].ndim
    v.require(WHICH, axis < rank)
    v.silent(WHICH, axis < 0)
    v.require(SAME_SHAPE, all(item.ndim == rank for item in tensors))
    v.require(SAME_SHAPE, len({tuple(np.delete(item.shape, axis)) for item in tensors}) == 1)
    scale, zero_point = finite_scale(v, SCALE_OF_Y, Y_scale), scalar(v, ZERO_POINT_OF_Y, Y_zero_point)
    numbers = [scalar(v, LIST, item) for item in scales]
    v.silent(LIST, not np.isfinite(numbers).all())
    parts = [
        dequantized(tensor, number, scalar(v, LIST, its_zero_point))
        for tensor, number, its_zero_point in zip(tensors, numbers, zero_points, strict=True)
    ]
    return requantized(v, SCALE_OF_Y, np.concatenate(parts, axis), scale, zero_point)


case = CONCAT.case


def output(scale: float = 1.0, zero_point: int = 0, type_: str = "uint8") -> dict[str, Any]:
    """Return the scale and the zero point of Y."""
    return {"Y_scale": scale, "Y_zero_point": typed(type_, zero_point)}


THIRD = counted(2, 2, start=90)
THREE = (*triple(FIRST, 0.25, 1), *triple(SECOND, 2, 40), *triple(THIRD, 0.5, 80))
case("only_joins", **output(), inputs=(*triple(FIRST), *triple(SECOND)), axis=1, cites=(CONCATENATE, LIST, RESULT))
case("three", **output(0.5, 7), inputs=THREE, axis=1, cites=(CONCATENATE, TUPLES, SCALE_OF_Y, ZERO_POINT_OF_Y))
SIGNED = (*triple([-3, 7, -128], 0.25, -2, "int8"), *triple([5, 127], 0.5, 4, "int8"))
case("int8", Tag.DTYPE, **output(0.125, -7, "int8"), inputs=SIGNED, axis=0, cites=TYPES)
case("rows", **output(0.5, 7), inputs=(*triple(counted(1, 3), 0.25), *triple(SECOND, 2, 40)), axis=0, cites=WHICH)
for name, scale, zero_point, scale_of_y, zero_point_of_y in (
    ("scale", 3, 0, 1, 0), ("zero_point", 1, 2, 1, 0), ("scale_of_y", 1, 0, 2 / 3, 0), ("zero_point_of_y", 1, 0, 1, 9),
):  # fmt: skip
    plain = (*triple(FIRST, scale, zero_point), *triple(SECOND))
    case(f"only_{name}", **output(scale_of_y, zero_point_of_y), inputs=plain, axis=1, cites=(SCALE_OF_Y, LIST))
FRACTIONS = (*triple(counted(3, 17), 0.0066, 3), *triple(counted(3, 40), 0.0107, 70))
case("fractions", **output(0.0093, 31), inputs=FRACTIONS, axis=1, cites=SCALE_OF_Y)
MANY = tuple(item for index in range(20) for item in triple([[index] * 2], index + 1, index % 3))
case("many", **output(2.1, 3), inputs=MANY, axis=0, cites=LIST)
case("one", Tag.EDGE, **output(0.5, 7), inputs=triple(SECOND, 2, 40), axis=1, cites=TUPLES)
case("vectors", Tag.EDGE, **output(0.5, 7), inputs=(*triple([9], 3), *triple([1, 2], 0.5)), axis=0, cites=CONCATENATE)
SAME = (*triple(SECOND, 0.5, 7), *triple(SECOND, 0.5, 7))
case("same_quantization", Tag.EDGE, **output(0.5, 7), inputs=SAME, axis=0, cites=SCALE_OF_Y)
EMPTY = {
    "first_empty": (*triple(counted(0, 3), 2), *triple(SECOND, 0.5)),
    "last_empty": (*triple(SECOND, 0.5), *triple(counted(0, 3), 2)),
    "all_empty": (*triple(counted(0, 3), 2), *triple(counted(0, 3), 0.5)),
}
for name, values in EMPTY.items():
    case(name, Tag.EDGE, **output(0.25, 2), inputs=values, axis=0, cites=CONCATENATE)
BESIDE_ZERO = (*triple(counted(2, 0)), *triple(counted(3, 0)))
case("beside_zero_size", Tag.EDGE, **output(), inputs=BESIDE_ZERO, axis=0, cites=CONCATENATE)
for name, shape, axis in axes():
    other = list(shape)
    other[axis] = 2
    values = (*triple(counted(*shape) % 100, 0.5, 3), *triple(counted(*other) % 90, 0.25))
    if axis < 0:
        case(name, Tag.AXIS, **output(0.5, 7), inputs=values, axis=axis, unspecified=WHICH)
    else:
        case(name, Tag.AXIS, **output(0.5, 7), inputs=values, axis=axis, cites=WHICH)
case("axis_too_high", Tag.AXIS, **output(), inputs=(*triple(SECOND), *triple(SECOND)), axis=2, rejects=WHICH)
case("scalars", Tag.EDGE, **output(), inputs=(*triple(1), *triple(2)), axis=0, rejects=WHICH)
MISFITS = {
    "size": (counted(2, 3), counted(3, 4)), "rank": (counted(2, 3), counted(3)),
    "rank_more": (counted(3), counted(2, 3)), "size_of_third": (counted(2, 3), counted(1, 3), counted(2, 4)),
}  # fmt: skip
for name, tensors in MISFITS.items():
    misfit = tuple(item for tensor in tensors for item in triple(tensor))
    case(f"misfit_{name}", Tag.EDGE, **output(), inputs=misfit, axis=0, rejects=SAME_SHAPE)
LOWER = (*triple(counted(2, 3)), *triple(counted(2)))
case("misfit_rank_at_last_axis", Tag.EDGE, **output(), inputs=LOWER, axis=1, rejects=SAME_SHAPE)
case("no_zero_point", Tag.EDGE, **output(), inputs=(*triple(FIRST), *triple(SECOND)[:2]), axis=1, rejects=TUPLES)
case("no_scale", Tag.EDGE, **output(), inputs=(*triple(FIRST), *triple(SECOND)[:1]), axis=1, rejects=TUPLES)
MIXED = (*triple(FIRST), *triple(SECOND, type_="int8"))
case("other_type", Tag.DTYPE, **output(), inputs=MIXED, axis=1, rejects=TYPES)
OF_ZERO_POINT = (*triple(FIRST), *triple(SECOND)[:2], typed("int8", 0))
case("other_type_of_zero_point", Tag.DTYPE, **output(), inputs=OF_ZERO_POINT, axis=1, rejects=TYPES)
WHOLE_SCALE = (*triple(FIRST), typed("uint8", SECOND), typed("uint8", 1), typed("uint8", 0))
case("scale_of_integers", Tag.DTYPE, **output(), inputs=WHOLE_SCALE, axis=1, rejects=TYPES)
OTHER_Y = (*triple(FIRST), *triple(SECOND))
case("other_type_of_y", Tag.DTYPE, **output(type_="int8"), inputs=OTHER_Y, axis=1, rejects=TYPES)

LIMITS = {"uint8": [0, 255, 1, 254, 127, 128], "int8": [-128, 127, -127, 126, 0, -1]}
for type_, numbers in LIMITS.items():
    ends = (*triple(numbers, 1, numbers[0], type_), *triple(numbers, 1, numbers[1], type_))
    case(f"limits_{type_}", Tag.EDGE, **output(1, numbers[4], type_), inputs=ends, axis=0, cites=SCALE_OF_Y)
    case(f"saturates_{type_}", Tag.EDGE, **output(0.25, 9, type_), inputs=ends, axis=0, cites=SCALE_OF_Y)
    every = (*triple(np.arange(256) + min(numbers), 0.5, 11, type_), *triple([3], 1, 0, type_))
    case(f"every_{type_}", **output(0.37, 7, type_), inputs=every, axis=0, cites=SCALE_OF_Y)
HALVES = (*triple([1, 3, 5, 6], 0.5), *triple([7, 9, 11, 12], 0.5))
case("ties", Tag.EDGE, **output(), inputs=HALVES, axis=0, unspecified=SCALE_OF_Y)
NEGATIVE = (*triple([1, 3], -2), *triple([7, 9], 2))
case("negative_scale", Tag.EDGE, **output(zero_point=40), inputs=NEGATIVE, axis=0, cites=LIST)
AS_VECTORS: dict[str, Any] = {
    "Y_scale": [0.5], "Y_zero_point": typed("uint8", [7]), "inputs": (*triple(FIRST, [2], [1]), *triple(SECOND)),
}  # fmt: skip
case("scalars_as_vectors", Tag.EDGE, **AS_VECTORS, axis=1, cites=(LIST, SCALE_OF_Y))
TWO = (*triple(FIRST), *triple(SECOND))
for name, value in {"zero": 0.0, "infinite": np.inf, "nan": np.nan}.items():
    case(f"{name}_scale_of_y", Tag.EDGE, **output(value), inputs=TWO, axis=1, unspecified=SCALE_OF_Y)
for name, value in {"infinite": np.inf, "nan": np.nan}.items():
    strange = (*triple(FIRST), *triple(SECOND, value))
    case(f"{name}_scale", Tag.EDGE, **output(), inputs=strange, axis=1, unspecified=LIST)
case("zero_scale", Tag.EDGE, **output(), inputs=(*triple(FIRST, 0), *triple(SECOND)), axis=1, cites=LIST)
case("scale_for_rows", Tag.EDGE, **output(), inputs=(*triple(FIRST, [1, 1]), *triple(SECOND)), axis=1, unspecified=LIST)
MATRIX = (*triple(FIRST, [[1]]), *triple(SECOND))
case("scale_as_matrix", Tag.EDGE, **output(), inputs=MATRIX, axis=1, unspecified=LIST)
OF_ROWS = (*triple(FIRST, 1, [1, 1]), *triple(SECOND))
case("zero_point_for_rows", Tag.EDGE, **output(), inputs=OF_ROWS, axis=1, unspecified=LIST)
FOR_ROWS, ZEROS_FOR_ROWS = output() | {"Y_scale": [1, 1]}, output() | {"Y_zero_point": typed("uint8", [1, 1])}
case("scale_of_y_for_rows", Tag.EDGE, **FOR_ROWS, inputs=TWO, axis=1, unspecified=SCALE_OF_Y)
case("zero_point_of_y_for_rows", Tag.EDGE, **ZEROS_FOR_ROWS, inputs=TWO, axis=1, unspecified=ZERO_POINT_OF_Y)


def drawn(*dims: Any, type_: str, scale: float) -> tuple[Any, ...]:  # noqa: ANN401 - names of dimensions, or numbers
    """Return a tensor of every byte, its scale, and a zero point near the middle."""
    zero_point = filled(integers=NEAR_THE_MIDDLE[type_], type_=type_)
    return filled(*dims, integers=EVERY_BYTE, type_=type_), typed("float", scale), zero_point


for type_ in NEAR_THE_MIDDLE:
    of_y: dict[str, Any] = output(0.0263, 5, type_)
    channels = (
        *drawn("b", "c", "h", "w", type_=type_, scale=0.031),
        *drawn("b", "d", "h", "w", type_=type_, scale=0.017),
    )
    CONCAT.sized(
        f"channels_{type_}", grid(b=(2,), c=(3, 16), d=(5, 8), h=(7,), w=(7, 16)), cites=(CONCATENATE, SCALE_OF_Y),
        arguments={**of_y, "inputs": channels, "axis": 1},
    )  # fmt: skip
    rows = (*drawn("a", "n", type_=type_, scale=0.031), *drawn("b", "n", type_=type_, scale=0.0263))
    CONCAT.sized(
        f"rows_{type_}", grid(a=(1, 8), b=(5, 33), n=(3, 16, 65, 1025)), cites=(CONCATENATE, SCALE_OF_Y),
        arguments={**of_y, "inputs": rows, "axis": 0},
    )  # fmt: skip
