# SPDX-License-Identifier: Apache-2.0
"""Bits of integers: the cases of operators with two integer tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.data import every_pair, ramp
from onnx_conformance.declare.families.elementwise import EIGHT_BITS, all_pairs, counted
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import BITS, filled

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause
    from onnx_conformance.declare.families.broadcasting import Multidirectional

TYPES = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
"""The integer types."""


class Bitwise:
    """The cases of BitwiseAnd, BitwiseOr and BitwiseXor."""

    def __init__(self, op: Op, performs: Clause, numpy: Multidirectional) -> None:
        """Declare the sentences on operands and result, which all three share.

        Args:
            op: the operator, created with `rank=rank_of_two`.
            performs: the sentence on the computed values.
            numpy: the sentence on multidirectional broadcasting.
        """
        self.op, self.performs, self.numpy = op, performs, numpy
        self.first = op.clause("First input operand for the bitwise operator.")
        self.second = op.clause("Second input operand for the bitwise operator.")
        self.integers = op.clause("Constrain input to integer tensors.")

    def cases(self) -> None:
        """Declare the cases."""
        case = self.op.case
        left, right = [0b1100, 0b1010, -1, 0, -128, 127], [0b1010, 0b0110, 0b0101, -1, 1, -127]
        sides = (typed("int32", left), typed("int32", right))
        case("sides", A=sides[0], B=sides[1], cites=(self.performs, self.first, self.second))
        case("same", Tag.EDGE, A=sides[0], B=sides[0], cites=self.performs)
        case("rank0", Tag.EDGE, A=typed("int32", 12), B=typed("int32", 10), cites=self.performs)
        case(
            "zero_size", Tag.EDGE, A=typed("int32", ramp(2, 0, 3)), B=typed("int32", ramp(2, 0, 3)), cites=self.performs
        )
        case(
            "vector_and_tail",
            A=typed("int64", counted(3)(67)),
            B=typed("int64", counted(90)(67)[::-1]),
            cites=self.performs,
        )
        self.numpy.cases(_operands)
        self.numpy.sized(
            self.performs, lambda one, other: {"A": filled(*one, integers=BITS), "B": filled(*other, integers=BITS)}
        )
        all_pairs(self.op, self.performs)
        case("dtypes", Tag.DTYPE, each="T", A=[[12], [10]], B=[6, 5, 127], cites=(self.performs, self.integers))
        case("outside", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), rejects=self.integers)
        for type_ in TYPES:
            limits = np.iinfo(type_)
            ends = np.array([limits.min, limits.max, limits.max - 1, 0, 1, limits.max // 3], type_)
            column, row = typed(type_, ends.reshape(-1, 1)), typed(type_, ends)
            case(f"limits_{type_}", Tag.EDGE, A=column, B=row, cites=(self.performs, self.numpy.clause))
        for type_ in EIGHT_BITS:
            one, other = (typed(type_, side) for side in every_pair(type_))
            case(f"every_{type_}", Tag.EDGE, A=one, B=other, cites=self.performs)


def _operands(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Any]:
    """Return integers of these shapes whose bits overlap in part."""
    return {"A": typed("int32", counted(5)(*left) * 3), "B": typed("int32", counted(9)(*right) * 5)}
