# SPDX-License-Identifier: Apache-2.0
"""Erf: the error function, element by element.

    output = Erf(input)

Versions: 9, 13 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, measured, typed
from onnx_conformance.declare.families.elementwise import Unary
from onnx_conformance.operators.math._error_function import erf

ERF = Op("Erf", versions=(9, 13), compare=measured("the function is approximated").limited(-1, 1), rank="input")
ERF.example(input=[[1, -1.25, 0.5], [0.25, -0.75, 2.75]])

FUNCTION = ERF.clause(
    "Computes the error function of the given input tensor element-wise.",
    note="For infinities the result is 1 and -1. The text does not define how results are rounded to an integer type.",
)
COMPUTED = ERF.clause("The error function of the input tensor computed element-wise. It has the same shape and type")
UNARY = Unary(ERF, FUNCTION)


@ERF.oracle()
def error_function(v: Version, input: Array) -> Result:
    """Return the error function. For an integer type, only its value at 0 is in the type."""
    whole = input.dtype.kind in "iu"
    return v.leave_open(FUNCTION, (input != 0) & whole, erf(input))


UNARY.cases([1, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625], result=COMPUTED)
UNARY.every_value(subnormal=False)
NUMBERS = {
    "fractions": [0.1, -0.1, 1 / 3, -2 / 3, 0.7, -1.1, 2.3],
    "whole": [-3, -2, -1, 1, 2, 4],
    "zeros": [0.0, -0.0, 1],
    "near_zero": [1e-3, -1e-3, 6e-5, -6e-5, 0.25],
    "far": [5, -5, 20, -100, 1],
    "infinities": [np.inf, -np.inf, 1],
    "nan": [np.nan, 1, np.nan],
}
UNARY.each_type(NUMBERS)
for sign in ("", "u"):
    for bits in (8, 16, 32, 64):
        integers: dict[str, Any] = {"zeros": [0, 0], "ones": [0, 1, 2]}
        for name, numbers in integers.items():
            type_ = f"{sign}int{bits}"
            outcome: dict[str, Any] = {"cites": FUNCTION} if name == "zeros" else {"unspecified": FUNCTION}
            ERF.case(f"{name}_{type_}", Tag.DTYPE, input=typed(type_, numbers), before=13, **outcome)
