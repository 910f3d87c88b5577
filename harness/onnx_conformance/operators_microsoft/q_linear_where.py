# SPDX-License-Identifier: Apache-2.0
"""QLinearWhere: take elements of one quantized tensor or of another, by a condition, and quantize them again.

    Z = QLinearWhere(condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Multidirectional, Op, Result, Tag, Tolerance, Version, ramp, typed, vary
from onnx_conformance.declare.sizes import EVERY_BYTE, NEAR_THE_MIDDLE, filled, grid
from onnx_conformance.operators_microsoft._requantization import dequantized, finite_scale, requantized, scalar

WHERE = Op(
    "QLinearWhere",
    versions=(1,),
    compare=Tolerance("if a few roundings of the scales can change an element, both values are allowed"),
    domain="com.microsoft",
    rank=lambda arguments: max(np.ndim(arguments.get(name, 0)) for name in ("condition", "X", "Y")),
)
WHERE.example(
    condition=[[True, False, False], [False, True, True]],
    X=ramp(2, 3),
    x_scale=0.5,
    x_zero_point=1,
    Y=[7, 8, 9],
    y_scale=0.25,
    y_zero_point=2,
    z_scale=0.125,
    z_zero_point=3,
)

CHOICE = WHERE.clause("Return elements, either from X or Y, depending on condition.")
YIELDS = WHERE.clause("When True (nonzero), yield x, otherwise yield y")
X_SCALE = WHERE.clause(
    "X's scale.",
    note="The text does not define the shape of a scale or a zero point, so only one element has a meaning.",
)
Y_SCALE = WHERE.clause("Y's scale.", note="The note on the scale of X applies here too.")
Z_SCALE = WHERE.clause(
    "Z's scale.",
    note="The text has no formula. The operator dequantizes and quantizes as DequantizeLinear and QuantizeLinear do, "
    "with saturation. The text does not define how a tie is rounded, so both neighbours are allowed. It does not "
    "define a scale that is infinite or NaN, or a scale of 0 for Z.",
)
ZERO_POINTS = WHERE.clause(
    "Y's zero point.", note="The descriptions of X and of Y have this text, too, which is a mistake in the schema."
)
ZERO_POINT_OF_Z = WHERE.clause("Z's zero point.")
SHAPE = WHERE.clause("Tensor of shape equal to the broadcasted shape of condition, X, and Y")
NUMPY = Multidirectional(WHERE, clause=SHAPE)


@WHERE.oracle()
def chosen(
    v: Version,
    condition: Array,
    X: Array,
    x_scale: Array,
    x_zero_point: Array,
    Y: Array,
    y_scale: Array,
    y_zero_point: Array,
    z_scale: Array,
    z_zero_point: Array,
) -> Result:
    """Return the dequantized X where the condition is True and the dequantized Y elsewhere, quantized as Z."""
    NUMPY.require_one_shape(v, condition, X, Y)
    left = dequantized(X, scalar(v, X_SCALE, x_scale), scalar(v, X_SCALE, x_zero_point))
    right = dequantized(Y, scalar(v, Y_SCALE, y_scale), scalar(v, ZERO_POINTS, y_zero_point))
    v.silent(Z_SCALE, not np.isfinite(x_scale).all())
    v.silent(Z_SCALE, not np.isfinite(y_scale).all())
    scale, zero_point = finite_scale(v, Z_SCALE, z_scale), scalar(v, ZERO_POINT_OF_Z, z_zero_point)
    return requantized(v, Z_SCALE, np.where(condition, left, right), scale, zero_point)


case = WHERE.case
Shape = tuple[int, ...]


def scales(
    *, x_scale: object = 1, x_zero_point: object = 0, y_scale: object = 1, y_zero_point: object = 0,
    z_scale: object = 1, z_zero_point: object = 0,
) -> dict[str, Any]:  # fmt: skip
    """Return scales and zero points. With the defaults, the operator only selects."""
    return {
        "x_scale": x_scale, "x_zero_point": x_zero_point, "y_scale": y_scale, "y_zero_point": y_zero_point,
        "z_scale": z_scale, "z_zero_point": z_zero_point,
    }  # fmt: skip


def operands(condition: Shape, left: Shape, right: Shape) -> dict[str, Any]:
    """Return values that are all different, and a condition whose rows and columns differ."""
    after = np.arange(np.prod(right, dtype=int)).reshape(right) + 64
    return {"condition": ramp(*condition), "X": ramp(*left), "Y": after}


MATRICES = operands((2, 3), (2, 3), (2, 3))
ALL_DIFFERENT = scales(x_scale=0.5, x_zero_point=3, y_scale=2, y_zero_point=60, z_scale=0.25, z_zero_point=5)
case("selects", **MATRICES, **scales(), cites=(CHOICE, YIELDS))
case("all_different", each="T", **MATRICES, **ALL_DIFFERENT, cites=(CHOICE, X_SCALE, Y_SCALE, Z_SCALE, ZERO_POINTS))
CHANGED: dict[str, dict[str, Any]] = {
    "scale_of_x": {"x_scale": 4}, "zero_point_of_x": {"x_zero_point": 7}, "scale_of_y": {"y_scale": 0.25},
    "zero_point_of_y": {"y_zero_point": 60}, "scale_of_z": {"z_scale": 2 / 3}, "zero_point_of_z": {"z_zero_point": 30},
}  # fmt: skip
for name, changed in CHANGED.items():
    case(f"only_{name}", each="T", **MATRICES, **scales(**changed), cites=(X_SCALE, Y_SCALE, ZERO_POINT_OF_Z))
case("all_true", condition=[True, True], X=[1, 2], Y=[3, 4], **ALL_DIFFERENT, cites=YIELDS)
case("all_false", condition=[False, False], X=[1, 2], Y=[3, 4], **ALL_DIFFERENT, cites=YIELDS)
FRACTIONS = scales(x_scale=0.0066, x_zero_point=2, y_scale=0.0105, y_zero_point=9, z_scale=0.0107, z_zero_point=7)
case("fractions", each="T", **operands((5, 1), (7,), (5, 7)), **FRACTIONS, cites=Z_SCALE)
case("rank4", **operands((2, 3, 4, 1), (2, 3, 4, 2), (2, 3, 1, 2)), **ALL_DIFFERENT, cites=CHOICE)
case("vector_and_tail", each="T", **operands((51,), (51,), (51,)), **ALL_DIFFERENT, cites=CHOICE)
EITHER = vary(true=True, false=False)
case("rank0", Tag.EDGE, condition=EITHER, X=3, Y=4, **ALL_DIFFERENT, cites=YIELDS)
case("scalar_condition", Tag.EDGE, condition=EITHER, X=ramp(2, 3), Y=[7, 8, 9], **ALL_DIFFERENT, cites=SHAPE)
case("size_one", Tag.EDGE, condition=[True], X=[3], Y=[4], **ALL_DIFFERENT, cites=YIELDS)
case("zero_size", Tag.EDGE, **operands((2, 0, 3), (2, 0, 3), (2, 0, 3)), **ALL_DIFFERENT, cites=SHAPE)
SHAPES: list[tuple[Shape, Shape, Shape]] = [
    ((2, 3), (3,), (3,)), ((3,), (2, 3), (3,)), ((3,), (3,), (2, 3)), ((2, 1), (3,), ()), ((), (2, 1), (1, 3)),
    ((4, 1, 1), (3, 1), (2,)), ((2,), (4, 1, 1), (3, 1)), ((3, 1), (2,), (4, 1, 1)), ((2, 3, 4), (), ()),
    ((1,), (1, 1, 1), (2, 3)), ((2, 0), (2, 1), ()), ((1,), (0, 3), (3,)), ((1, 1), (1,), (1, 1, 1)),
]  # fmt: skip
for shapes in SHAPES:
    name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
    case(f"broadcast_{name}", Tag.EDGE, **operands(*shapes), **ALL_DIFFERENT, cites=SHAPE)
WRONG: dict[str, tuple[Shape, Shape, Shape]] = {
    "mismatch_condition": ((2,), (2, 3), (2, 3)),
    "mismatch_first": ((2, 3), (2,), (2, 3)),
    "mismatch_second": ((2, 3), (2, 3), (2, 4)),
    "mismatch_of_values": ((), (2,), (3,)),
    "mismatch_zero_size": ((2,), (0,), (2,)),
}
for name, shapes in WRONG.items():
    case(name, Tag.EDGE, **operands(*shapes), **scales(), rejects=SHAPE)

SIDES = [[True], [False]]
LIMITS = {"uint8": [0, 255, 1, 254, 127, 128], "int8": [-128, 127, -127, 126, 0, -1]}
for type_, numbers in LIMITS.items():
    limits: dict[str, Any] = {"condition": SIDES, "X": typed(type_, numbers), "Y": typed(type_, numbers[::-1])}
    ends = {"x_zero_point": typed(type_, numbers[0]), "y_zero_point": typed(type_, numbers[1])}
    case(f"limits_{type_}", Tag.EDGE, **limits, **scales(**ends, z_zero_point=typed(type_, numbers[4])), cites=Z_SCALE)
    case(f"saturates_{type_}", Tag.EDGE, **limits, **scales(**ends, z_scale=0.25, z_zero_point=typed(type_, 9)))
    case(f"every_{type_}", condition=SIDES, X=typed(type_, np.arange(256) + min(numbers)), Y=typed(type_, [3]),
         **scales(x_scale=0.5, x_zero_point=typed(type_, 11), y_zero_point=typed(type_, 2), z_scale=0.37,
                  z_zero_point=typed(type_, 7)))  # fmt: skip
HALVES = scales(x_scale=0.5, y_scale=0.5)
case("beside_ties", Tag.EDGE, condition=SIDES, X=[2, 4, 6], Y=[8, 10, 12], **HALVES, cites=Z_SCALE)
case("ties", Tag.EDGE, condition=SIDES, X=[1, 3, 5, 6], Y=[7, 9, 11, 12], **HALVES, unspecified=Z_SCALE)
NEGATIVE = scales(x_scale=-2, z_zero_point=40, y_scale=2)
case("negative_scale", Tag.EDGE, condition=SIDES, X=[1, 3], Y=[7, 9], **NEGATIVE, cites=X_SCALE)
case("zero_scales", Tag.EDGE, condition=SIDES, X=[1, 3], Y=[7, 9], **scales(x_scale=0, y_scale=0), cites=Z_SCALE)
AS_VECTORS: dict[str, Any] = {name: [value] for name, value in ALL_DIFFERENT.items()}
case("scalars_as_vectors", Tag.EDGE, **MATRICES, **AS_VECTORS, cites=SHAPE)
OF_ROWS: dict[str, Any] = {"condition": SIDES, "X": [1, 3], "Y": [7, 9]}
for name, value in {"zero": 0, "infinite": np.inf, "nan": np.nan}.items():
    case(f"{name}_scale_of_z", Tag.EDGE, **OF_ROWS, **scales(z_scale=value), unspecified=Z_SCALE)
for name, value in {"infinite": np.inf, "nan": np.nan}.items():
    case(f"{name}_scale_of_x", Tag.EDGE, **MATRICES, **scales(x_scale=value), unspecified=Z_SCALE)
    case(f"{name}_scale_of_y", Tag.EDGE, **MATRICES, **scales(y_scale=value), unspecified=Z_SCALE)
for place, clause in {"x_scale": X_SCALE, "x_zero_point": X_SCALE, "y_scale": Y_SCALE, "y_zero_point": ZERO_POINTS,
                      "z_scale": Z_SCALE, "z_zero_point": ZERO_POINT_OF_Z}.items():  # fmt: skip
    case(f"{place}_for_columns", Tag.EDGE, **MATRICES, **scales(**{place: [1, 1, 1]}), unspecified=clause)
    case(f"{place}_as_matrix", Tag.EDGE, **MATRICES, **scales(**{place: [[1]]}), unspecified=clause)

CHOICES: dict[str, tuple[Any, ...]] = {
    "length": (("n",), ("n",), ("n",), grid(n=(1, 7, 16, 33, 64, 129, 1025, 65_537))),
    "mask": (("b", 1, "s", "s"), ("b", "h", "s", "s"), (), grid(b=(2,), h=(3,), s=(7, 16, 33))),
    "rows": (("m", 1), ("m", "n"), ("n",), grid(m=(17,), n=(7, 16, 65))),
}
for type_, near in NEAR_THE_MIDDLE.items():
    of_type: dict[str, Any] = scales(
        x_scale=0.031, x_zero_point=filled(integers=near, type_=type_), y_scale=0.017,
        y_zero_point=filled(integers=near, type_=type_), z_scale=0.0263,
        z_zero_point=filled(integers=near, type_=type_),
    )  # fmt: skip
    for name, (mask, one, other, sizes) in CHOICES.items():
        of_sizes = {
            "condition": filled(*mask),
            "X": filled(*one, integers=EVERY_BYTE, type_=type_),
            "Y": filled(*other, integers=EVERY_BYTE, type_=type_),
        }
        WHERE.sized(f"{name}_{type_}", sizes, cites=(CHOICE, Z_SCALE), arguments={**of_sizes, **of_type})
