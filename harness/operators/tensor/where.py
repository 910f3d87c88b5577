"""Where: elements of one tensor or of another, by a condition.

Versions: 9, 16 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Multidirectional, Op, Rule, Tag, Version, extremes, ramp, typed

WHERE = Op(
    "Where",
    versions=(9, 16),
    compare=EXACT,
    rank=lambda given: max(np.ndim(given.get(name, 0)) for name in ("condition", "X", "Y")),
    widens=False,  # The bits of a NaN are moved, not computed.
)

CHOICE = WHERE.clause(
    "Return elements, either from X or Y, depending on condition.", note="A chosen -0 is -0; onnxruntime gives 0."
)
YIELDS = WHERE.clause("When True (nonzero), yield X, otherwise yield Y")
LIKE = WHERE.clause("with three parameters.", note="numpy.where of one parameter gives indices.")
TRUE = WHERE.clause("values selected at indices where condition is True")
FALSE = WHERE.clause("values selected at indices where condition is False")
SHAPE = WHERE.clause("Tensor of shape equal to the broadcasted shape of condition, X, and Y.")
NUMPY = Multidirectional(WHERE, since=9)
BOOLEAN = WHERE.clause("Constrain to boolean tensors.")
ALL = WHERE.clause("Constrain input and output types to all tensor types.", before=16)
BFLOAT = WHERE.clause("Constrain input and output types to all tensor types (including bfloat).", since=16)


@WHERE.oracle()
def chosen(v: Version, condition: Array, X: Array, Y: Array) -> Array:  # noqa: N803 - the text's own names
    """Return X where the condition is True, Y elsewhere, in the shape that all three are broadcast to."""
    NUMPY.require(v, condition, X, Y)
    return np.where(condition, X, Y)


case = WHERE.case
Shape = tuple[int, ...]


def _operands(condition: Shape, left: Shape, right: Shape) -> dict[str, Any]:
    """Return values of which no two are equal, and a condition whose rows and columns differ."""
    after = np.arange(np.prod(right, dtype=int)).reshape(right) + 500
    return {"condition": ramp(*condition), "X": ramp(*left), "Y": after}


case("mixed", **_operands((2, 3), (2, 3), (2, 3)), cites=(CHOICE, YIELDS, TRUE, FALSE, LIKE))
case("all_true", condition=[True, True], X=[1, 2], Y=[3, 4], cites=(TRUE,))
case("all_false", condition=[False, False], X=[1, 2], Y=[3, 4], cites=(FALSE,))
case("rank4", **_operands((2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 5)), cites=(CHOICE,))
case("vector_and_tail", **_operands((67,), (67,), (67,)), cites=(CHOICE,))
for name, given in {"true": True, "false": False}.items():
    case(f"rank0_{name}", Tag.EDGE, condition=given, X=3, Y=4, cites=(YIELDS,))
    case(f"scalar_condition_{name}", Tag.EDGE, condition=given, X=ramp(2, 3), Y=[7, 8, 9], cites=(NUMPY.clause,))
case("size_one", Tag.EDGE, condition=[True], X=[3], Y=[4], cites=(YIELDS,))
case("zero_size", Tag.EDGE, **_operands((2, 0, 3), (2, 0, 3), (2, 0, 3)), cites=(SHAPE,))
SHAPES: list[tuple[Shape, Shape, Shape]] = [
    ((2, 3), (3,), (3,)), ((3,), (2, 3), (3,)), ((3,), (3,), (2, 3)), ((2, 1), (3,), ()), ((), (2, 1), (1, 3)),
    ((4, 1, 1), (3, 1), (2,)), ((2,), (4, 1, 1), (3, 1)), ((3, 1), (2,), (4, 1, 1)), ((2, 3, 4), (), ()),
    ((1,), (1, 1, 1), (2, 3)), ((2, 3, 4, 5), (3, 1, 5), (4, 1)), ((2, 0), (2, 1), ()), ((1,), (0, 3), (3,)),
    ((1, 1), (1,), (1, 1, 1)),
]  # fmt: skip
for shapes in SHAPES:
    name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
    case(f"broadcast_{name}", Tag.CHANGE, **_operands(*shapes), cites=(NUMPY.clause, SHAPE))
WRONG: dict[str, tuple[Shape, Shape, Shape]] = {
    "mismatch_condition": ((2,), (2, 3), (2, 3)),
    "mismatch_first": ((2, 3), (2,), (2, 3)),
    "mismatch_second": ((2, 3), (2, 3), (2, 4)),
    "mismatch_of_values": ((), (2,), (3,)),
    "mismatch_multiple": ((6,), (3,), (6,)),
    "mismatch_zero_size": ((2,), (0,), (2,)),
}
for name, shapes in WRONG.items():
    case(name, Tag.CHANGE, **_operands(*shapes), rejects=NUMPY.clause)

BITS = [True, False, False, True, True]
case("dtypes", Tag.DTYPE, each="T", condition=BITS, X=ramp(5), Y=ramp(3, 5), cites=(ALL, BOOLEAN))
case("dtypes_bfloat", Tag.DTYPE, each="T", condition=BITS, X=ramp(5), Y=ramp(3, 5), cites=(BFLOAT, BOOLEAN))
SIDES = [[True], [False]]
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", condition=SIDES, X=extremes(12), Y=ramp(12), cites=(TRUE,))
case(
    "dtypes_extremes_other", Tag.DTYPE, Tag.EDGE, each="T", condition=SIDES, X=ramp(12), Y=extremes(12), cites=(FALSE,)
)
case("nan_not_chosen", Tag.EDGE, condition=[True, False], X=[1, np.nan], Y=[np.inf, 2], cites=(CHOICE,))
case("int64_exact", condition=[True, False], X=typed("int64", [2**53 + 1, 0]), Y=typed("int64", [0, -(2**62) - 1]))
case("outside", Tag.DTYPE, outside="T", condition=[True], X=ramp(1), Y=ramp(1), since=16, rejects=Rule.TYPES)
case("bfloat_old", Tag.CHANGE, condition=[True], X=typed("bfloat16", [1]), Y=typed("bfloat16", [2]), before=16,
     rejects=Rule.TYPES)  # fmt: skip
case("outside_condition", Tag.DTYPE, outside="B", condition=ramp(2), X=[1, 2], Y=[3, 4], since=16, rejects=Rule.TYPES)
case("two_types", Tag.DTYPE, condition=[True], X=[1], Y=typed("double", [2]), rejects=Rule.TYPES)
case("attribute_axis", condition=[True], X=[1], Y=[2], stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
case("condition_only", condition=[True, False], rejects=Rule.ARITY)
case("no_second", condition=[True], X=[1], rejects=Rule.ARITY)
case("no_outputs", condition=[True], X=[1], Y=[2], n=0, rejects=Rule.ARITY)
case("two_outputs", condition=[True], X=[1], Y=[2], n=2, rejects=Rule.ARITY)
