# SPDX-License-Identifier: Apache-2.0
"""Logical operators, as the texts call them: a boolean for each pair of elements of two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.data import every_pair, extremes, ramp
from onnx_conformance.declare.families.elementwise import EIGHT_BITS, all_pairs, counted, float_types
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import filled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare.clause import Clause
    from onnx_conformance.declare.families.broadcasting import LimitedAsAdd, Multidirectional

    Shape = tuple[int, ...]


class Logical:
    """The cases of comparisons and connectives: limited broadcasting before version 7, numpy's since then."""

    def __init__(
        self, op: Op, performs: Clause, limited: LimitedAsAdd | None, numpy: Multidirectional, *, plain: str
    ) -> None:
        """Declare the sentences on operands and result, which all of them share.

        Args:
            op: the operator, created with `rank=rank_of_two`.
            performs: the sentence on the computed values.
            limited: the sentences on limited broadcasting. None if no version has it.
            numpy: the sentence on multidirectional broadcasting.
            plain: the element type of cases that do not select one.
        """
        self.op, self.performs, self.limited, self.numpy, self.plain = op, performs, limited, numpy, plain
        if limited:
            self.left = op.clause("Left input tensor for the logical operator.", before=7)
            self.right = op.clause("Right input tensor for the logical operator.", before=7)
        self.first = op.clause("First input operand for the logical operator.", since=7)
        self.second = op.clause("Second input operand for the logical operator.", since=7)
        self.boolean = op.clause("Constrain output to boolean tensor.")

    def pair(self, left: object, right: object) -> dict[str, Any]:
        """Return both inputs in the type of cases that do not select one."""
        return {"A": typed(self.plain, left), "B": typed(self.plain, right)}

    def sides(self, left: object, right: object) -> None:
        """Declare the cases with two tensors whose result changes if they are swapped, if there is such a result."""
        if self.limited:
            self.op.case("sides_before_7", **self.pair(left, right), cites=(self.left, self.right, self.boolean))
        self.op.case("sides", **self.pair(left, right), cites=(self.first, self.second, self.boolean))

    def pairs(self, examples: Mapping[str, tuple[object, object]], *tags: Tag) -> None:
        """Declare a case for each pair of inputs."""
        for name, (left, right) in examples.items():
            self.op.case(name, *tags, **self.pair(left, right), cites=self.performs)

    def operands(self, left: Shape, right: Shape) -> dict[str, Any]:
        """Return inputs of these shapes. No input alone determines every result."""
        raise NotImplementedError

    def shapes(self) -> None:
        """Declare the cases for shapes."""
        self.pairs({"zero_size": (ramp(2, 0, 3), ramp(2, 0, 3))}, Tag.EDGE)
        if self.limited:
            equal = self.limited.match_left
            self.limited.cases(self.operands, equal)
            self.op.case("same_count_other_shape", Tag.EDGE, **self.operands((2, 3), (3, 2)), before=7, rejects=equal)
        self.numpy.cases(self.operands)
        self.numpy.sized(self.performs, lambda one, other: {"A": filled(*one), "B": filled(*other)})


def numbers(*, integers: int | None, bfloat16: int, floats: int | None = None) -> dict[str, int | None]:
    """Return the numeric types and the first version that allows each."""
    whole = (f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
    return {**dict.fromkeys(float_types(bfloat16), floats), "bfloat16": bfloat16, **dict.fromkeys(whole, integers)}


class Comparison(Logical):
    """The cases of Greater, Less, Equal and similar operators."""

    def __init__(
        self,
        op: Op,
        performs: Clause,
        limited: LimitedAsAdd | None,
        numpy: Multidirectional,
        *,
        plain: str = "float",
        distinct: int = 7,
    ) -> None:
        """Declare the sentences on operands and result; see Logical. `distinct`: the number of different values."""
        super().__init__(op, performs, limited, numpy, plain=plain)
        self.distinct = distinct

    def operands(self, left: Shape, right: Shape) -> dict[str, Any]:
        """Return numbers. Neither side is always the greater."""
        return self.pair(counted(0)(*left) * 5 % 7 % self.distinct, counted(1)(*right) * 3 % 7 % self.distinct)

    def cases(self, allowed: Mapping[str, int | None]) -> None:
        """Declare the cases. `allowed`: every numeric type and the first version that allows it."""
        left, right = [1, 5, 3, -2, 0, 4], [4, 2, 3, -3, 1, 4]
        self.sides(left, right)
        self.pairs(
            {
                "rank4": (ramp(2, 3, 4, 5), counted(0)(2, 3, 4, 5)[::-1]),
                "vector_and_tail": (np.arange(67) % 5, np.arange(67) % 7),
            }
        )
        self.pairs(
            {
                "equal": (left, left),
                "rank0_less": (3, 4),
                "rank0_greater": (4, 3),
                "rank0_equal": (4, 4),
                "size_one": ([4], [3]),
            },
            Tag.EDGE,
        )
        self.shapes()
        all_pairs(self.op, self.performs)
        for type_, since in allowed.items():
            if type_ in float_types(13):
                self._floats(type_, since)
            else:
                self._limits(type_, since)

    def _floats(self, type_: str, since: int | None) -> None:
        every, column, row = (typed(type_, extremes(*shape)) for shape in ((11,), (11, 1), (1, 11)))
        beside_one = typed(type_, [1, 1, 1.0078125, -1])
        neighbours = typed(type_, [1.0078125, 0.9921875, 1, -1.0078125])
        case = self.op.case
        case(f"extremes_pairs_{type_}", Tag.EDGE, A=column, B=row, since=since, cites=self.numpy.clause)
        case(f"extremes_{type_}", Tag.EDGE, A=every, B=every, since=since, cites=self.performs)
        case(f"neighbours_{type_}", Tag.EDGE, A=beside_one, B=neighbours, since=since, cites=self.performs)

    def _limits(self, type_: str, since: int | None) -> None:
        low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
        left = typed(type_, np.array([low, high, high - 1, low, high], type_))
        right = typed(type_, np.array([high, low, high, low + 1, high - 1], type_))
        self.op.case(f"limits_{type_}", Tag.EDGE, A=left, B=right, since=since, cites=self.performs)
        if type_ in EIGHT_BITS:
            left, right = (typed(type_, side) for side in every_pair(type_))
            self.op.case(f"every_{type_}", Tag.EDGE, A=left, B=right, since=since, cites=self.performs)


class Connective(Logical):
    """The cases of And, Or and Xor."""

    def __init__(
        self, op: Op, performs: Clause, limited: LimitedAsAdd, numpy: Multidirectional, *, neutral: bool
    ) -> None:
        """Declare the sentences on operands and result; see Logical.

        Args:
            op: the operator.
            performs: the sentence on the computed values.
            limited: the sentences on limited broadcasting.
            numpy: the sentence on multidirectional broadcasting.
            neutral: the boolean for which the other operand determines the result.
        """
        super().__init__(op, performs, limited, numpy, plain="bool")
        self.neutral = neutral

    def operands(self, left: Shape, right: Shape) -> dict[str, Any]:
        """Return booleans in no regular order. The first one, which is used for a scalar, is neutral."""
        first, second = counted(0)(*left) * 5 % 7 % 2 == 0, counted(1)(*right) * 3 % 7 % 2 == 1
        return self.pair(first == self.neutral, second == self.neutral)

    def cases(self, booleans: Clause) -> None:
        """Declare the cases, with all four pairs of booleans if possible. `booleans` is the sentence on the type."""
        case = self.op.case
        left, right = [False, False, True, True], [False, True, False, True]
        self.sides(left, right)
        self.pairs(
            {
                "rank4": (counted(0)(2, 3, 4, 5) % 2 == 0, counted(0)(2, 3, 4, 5) % 3 == 0),
                "vector_and_tail": (np.arange(67) % 3 == 0, np.arange(67) % 2 == 0),
            }
        )
        self.pairs(
            {
                "same": (left, left),
                "size_one": ([True], [False]),
                "rank0_false_false": (False, False),
                "rank0_false_true": (False, True),
                "rank0_true_false": (True, False),
                "rank0_true_true": (True, True),
            },
            Tag.EDGE,
        )
        column = [[True], [False]]
        for name, truth in {"false": False, "true": True}.items():
            cites = self.numpy.clause
            case(f"scalar_second_{name}", Tag.EDGE, **self.pair(column, truth), since=7, cites=cites)
            case(f"scalar_first_{name}", Tag.EDGE, **self.pair(truth, column), since=7, cites=cites)
        self.shapes()
        case("booleans", **self.pair(left, right), cites=booleans)
        case("outside", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), since=7, rejects=booleans)
