# SPDX-License-Identifier: Apache-2.0
"""Where: take elements of one tensor or of another, by a condition.

    output = Where(condition, X, Y)

Versions: 9, 16 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Multidirectional, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import Dims, filled, grid

WHERE = Op(
    "Where",
    versions=(9, 16),
    compare=EXACT,
    rank=lambda arguments: max(np.ndim(arguments.get(name, 0)) for name in ("condition", "X", "Y")),
    widens=False,  # The bits of a NaN are moved, not computed.
)
WHERE.example(condition=[[True, False, False], [False, True, True]], X=ramp(2, 3), Y=[7, 8, 9])

CHOICE = WHERE.clause(
    "Return elements, either from X or Y, depending on condition.",
    note="If -0 is chosen the result is -0; onnxruntime returns 0.",
)
YIELDS = WHERE.clause("When True (nonzero), yield X, otherwise yield Y")
LIKE = WHERE.clause("with three parameters.", note="numpy.where with one parameter returns indices.")
TRUE = WHERE.clause("values selected at indices where condition is True")
FALSE = WHERE.clause("values selected at indices where condition is False")
SHAPE = WHERE.clause("Tensor of shape equal to the broadcasted shape of condition, X, and Y.")
NUMPY = Multidirectional(WHERE, since=9)


@WHERE.oracle()
def chosen(v: Version, condition: Array, X: Array, Y: Array) -> Array:
    """Return X where the condition is True, Y elsewhere, in the shape to which all three are broadcast."""
    NUMPY.require_one_shape(v, condition, X, Y)
    return np.where(condition, X, Y)


case = WHERE.case
Shape = tuple[int, ...]


def _operands(condition: Shape, left: Shape, right: Shape) -> dict[str, Any]:
    """Return values that are all different, and a condition whose rows and columns differ."""
    after = np.arange(np.prod(right, dtype=int)).reshape(right) + 500
    return {"condition": ramp(*condition), "X": ramp(*left), "Y": after}


case("mixed", **_operands((2, 3), (2, 3), (2, 3)), cites=(CHOICE, YIELDS, TRUE, FALSE, LIKE))
case("all_true", condition=[True, True], X=[1, 2], Y=[3, 4], cites=TRUE)
case("all_false", condition=[False, False], X=[1, 2], Y=[3, 4], cites=FALSE)
case("rank4", **_operands((2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 5)), cites=CHOICE)
case("vector_and_tail", **_operands((67,), (67,), (67,)), cites=CHOICE)
EITHER = vary(true=True, false=False)
case("rank0", Tag.EDGE, condition=EITHER, X=3, Y=4, cites=YIELDS)
case("scalar_condition", Tag.EDGE, condition=EITHER, X=ramp(2, 3), Y=[7, 8, 9], cites=NUMPY.clause)
case("size_one", Tag.EDGE, condition=[True], X=[3], Y=[4], cites=YIELDS)
case("zero_size", Tag.EDGE, **_operands((2, 0, 3), (2, 0, 3), (2, 0, 3)), cites=SHAPE)
SHAPES: list[tuple[Shape, Shape, Shape]] = [
    ((2, 3), (3,), (3,)),
    ((3,), (2, 3), (3,)),
    ((3,), (3,), (2, 3)),
    ((2, 1), (3,), ()),
    ((), (2, 1), (1, 3)),
    ((4, 1, 1), (3, 1), (2,)),
    ((2,), (4, 1, 1), (3, 1)),
    ((3, 1), (2,), (4, 1, 1)),
    ((2, 3, 4), (), ()),
    ((1,), (1, 1, 1), (2, 3)),
    ((2, 3, 4, 5), (3, 1, 5), (4, 1)),
    ((2, 0), (2, 1), ()),
    ((1,), (0, 3), (3,)),
    ((1, 1), (1,), (1, 1, 1)),
]
for shapes in SHAPES:
    name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
    case(f"broadcast_{name}", Tag.CHANGE, **_operands(*shapes), cites=(NUMPY.clause, SHAPE))
WRONG: dict[str, tuple[Shape, Shape, Shape]] = {
    "mismatch_condition": ((2,), (2, 3), (2, 3)),
    "mismatch_first": ((2, 3), (2,), (2, 3)),
    "mismatch_second": ((2, 3), (2, 3), (2, 4)),
    "mismatch_within": ((2, 3, 4), (2, 5, 4), (2, 3, 4)),
    "mismatch_of_values": ((), (2,), (3,)),
    "mismatch_multiple": ((6,), (3,), (6,)),
    "mismatch_zero_size": ((2,), (0,), (2,)),
}
for name, shapes in WRONG.items():
    case(name, Tag.CHANGE, **_operands(*shapes), rejects=NUMPY.clause)

SIDES = [[True], [False]]
case("extremes_of_first", Tag.DTYPE, Tag.EDGE, each="T", condition=SIDES, X=extremes(12), Y=ramp(12), cites=TRUE)
case("extremes_of_second", Tag.DTYPE, Tag.EDGE, each="T", condition=SIDES, X=ramp(12), Y=extremes(12), cites=FALSE)
case("nan_not_chosen", Tag.EDGE, condition=[True, False], X=[1, np.nan], Y=[np.inf, 2], cites=CHOICE)
case("int64_exact", condition=[True, False], X=typed("int64", [2**53 + 1, 0]), Y=typed("int64", [0, -(2**62) - 1]))

CHOICES: dict[str, tuple[Dims, Dims, Dims, list[dict[str, int]]]] = {
    "length": (("n",), ("n",), ("n",), grid(n=(1, 7, 16, 33, 64, 129, 1025, 4097, 65_537))),
    "mask": (("b", 1, "s", "s"), ("b", "h", "s", "s"), (), grid(b=(2,), h=(3,), s=(7, 16, 33))),
    "rows": (("m", 1), ("m", "n"), ("n",), grid(m=(17,), n=(7, 16, 65))),
    "scalars": (("n",), (), (), grid(n=(9, 64, 1025))),
    "outer": (("m", 1), ("n",), ("m", "n"), grid(m=(9,), n=(16, 33))),
    "condition": ((), ("m", "n"), ("m", "n"), grid(m=(7,), n=(33,))),
    "planes": (("c", 1, 1), ("b", "c", "h", "w"), ("b", 1, "h", "w"), grid(b=(2,), c=(3, 8), h=(5,), w=(16, 33))),
}
"""The dimensions of the condition, of X and of Y, and the sizes."""
for name, (condition, one, other, sizes) in CHOICES.items():
    WHERE.sized(
        name,
        sizes,
        each="T" if name in {"length", "mask"} else None,
        cites=(CHOICE, YIELDS),
        arguments={"condition": filled(*condition), "X": filled(*one), "Y": filled(*other)},
    )
WHERE.sized(
    "large_rows",
    grid(m=(257,), n=(513,)),
    cites=(CHOICE, YIELDS),
    arguments={"condition": filled("m", 1), "X": filled("m", "n"), "Y": filled("n")},
)
