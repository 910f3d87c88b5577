# SPDX-License-Identifier: Apache-2.0
"""QLinearAdd and QLinearMul: the sentences on two quantized tensors and on the result, and their cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.data import every_two, ramp
from onnx_conformance.declare.families.broadcasting import Multidirectional
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import EVERY_BYTE, filled
from onnx_conformance.operators_microsoft._scales import scale_cases, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare import Clause

SCALES: dict[str, Any] = {
    "A_scale": 0.5,
    "A_zero_point": 3,
    "B_scale": 0.25,
    "B_zero_point": 2,
    "C_scale": 0.75,
    "C_zero_point": 5,
}
"""Scales and zero points with which most results differ from those without them."""
NEUTRAL: dict[str, Any] = {
    "A_scale": 1,
    "A_zero_point": 0,
    "B_scale": 1,
    "B_zero_point": 0,
    "C_scale": 1,
    "C_zero_point": 0,
}
"""Scales and zero points without effect."""


def signed(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return scales and zero points whose zero points are of type int8."""
    return {name: typed("int8", value) if name.endswith("point") else value for name, value in call.items()}


class Pair:
    """The sentences on both tensors and on the result, and the cases that test them."""

    def __init__(self, op: Op, formula: Clause, broadcasts: Clause) -> None:
        """Declare the sentences.

        Args:
            op: the operator; its inputs are A and B with their scales and zero points, its output is C.
            formula: the sentence on the computed values.
            broadcasts: the sentence on broadcasting.
        """
        self.op, self.formula = op, formula
        self.numpy = Multidirectional(op, clause=broadcasts)
        self.first = op.clause("First operand.")
        self.second = op.clause("Second operand.")
        self.of_a = scaled(op, "Input A's scale.", "Input A zero point.")
        self.of_b = scaled(op, "Input B's scale.", "Input B zero point.")
        self.of_c = scaled(op, "Output scale.", "Output zero point.")
        self.same_type = op.clause("Result, has same element type as two inputs", result=True)
        self.types = op.clause("Constrain input and output types to 8 bit signed and unsigned tensors.")

    def cases(self) -> None:
        """Declare the cases that do not depend on the computation."""
        case, formula = self.op.case, self.formula
        case("plain", A=[9, 1, 250, 3], B=[2, 7, 4, 100], **SCALES, cites=(formula, self.first, self.second))
        case("neutral", A=[9, 1, 250, 3], B=[2, 7, 4, 0], **NEUTRAL, cites=formula)
        scales = {name: scale for name, scale in NEUTRAL.items() if name.endswith("scale")}
        case("zero_points_left_out", A=[9, 1, 250, 3], B=[2, 7, 4, 0], **scales, cites=self.of_c.zero_point)
        case("rank0", Tag.EDGE, A=9, B=4, **SCALES, cites=formula)
        case("one_element", Tag.EDGE, A=[9], B=[4], **SCALES, cites=formula)
        case("zero_size", Tag.EDGE, A=ramp(2, 0, 3), B=ramp(2, 0, 3), **SCALES, cites=formula)
        case("dtypes", Tag.DTYPE, each="T", A=[9, 1, 127, 3], B=[[2], [120]], **SCALES, cites=self.types)
        self.numpy.cases(lambda one, other: {"A": ramp(*one), "B": ramp(*other), **SCALES})
        tensors = (
            (self.of_a, "A_scale", "A_zero_point"),
            (self.of_b, "B_scale", "B_zero_point"),
            (self.of_c, "C_scale", "C_zero_point"),
        )
        scale_cases(self.op, {"A": [9, 1, 250], "B": [2, 7, 0], **SCALES}, tensors, formula)
        left, right = (typed("int8", values) for values in ([-128, -7, 0, 127, 5], [-128, 3, -1, 127, -128]))
        below_zero = signed(SCALES | {"A_zero_point": -4, "B_zero_point": -9, "C_zero_point": -50})
        case("signed", A=left, B=right, **below_zero, cites=(formula, self.same_type))
        for name in scales:
            negative = SCALES | {name: -1, "C_zero_point": 100}
            case(f"{name.lower()}_negative", Tag.EDGE, A=[9, 1, 60], B=[2, 7, 0], **negative, cites=formula)
        self._saturation()

    def _saturation(self) -> None:
        """Declare cases with results beyond the range of the type, on both sides."""
        case, formula = self.op.case, self.formula
        for name, scale in {"far": 1e-3, "very_far": 1e-30}.items():
            beyond: dict[str, Any] = {"A_scale": 1e3, "B_scale": 1e3, "C_scale": scale}
            beyond |= {"A_zero_point": 100, "B_zero_point": 0, "C_zero_point": 7}
            case(f"{name}_beyond", Tag.EDGE, A=[255, 0, 100], B=[1, 1, 0], **beyond, cites=formula)
            left, right = typed("int8", [127, -128, 100]), typed("int8", [1, 1, 0])
            case(f"{name}_beyond_int8", Tag.EDGE, A=left, B=right, **signed(beyond), cites=formula)

    def sized(self) -> None:
        """Declare the sized calls: two shapes, and all pairs of numbers."""
        real: dict[str, Any] = {"A_scale": 0.0173, "B_scale": 0.0211, "C_scale": 0.0307}
        points = {"A_zero_point": 121, "B_zero_point": 3, "C_zero_point": 117}
        self.numpy.sized(
            self.formula,
            lambda one, other: {
                "A": filled(*one, integers=EVERY_BYTE),
                "B": filled(*other, integers=EVERY_BYTE),
                **real,
                **points,
            },
        )
        left, right = every_two()
        every: dict[str, Any] = {"A": left, "B": right, **points}
        self.op.every("pairs", each="T", cites=self.formula, **every, **real)
        wide = real | {"C_scale": 1.37}
        self.op.every("pairs_wide", each="T", cites=self.formula, **every, **wide)
