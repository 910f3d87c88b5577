# SPDX-License-Identifier: Apache-2.0
"""Round: the nearest integer of each element, halves to the even one.

    Y = Round(X)

Versions: 11, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Tolerance, Version
from onnx_conformance.declare.families.elementwise import Unary

ROUND = Op(
    "Round",
    versions=(11, 22),
    compare=Tolerance("the nearest integer is one number, and every type contains it", signed_zero=True),
    rank="X",
)
ROUND.example(X=[[0.9, 2.5, -2.3], [1.5, -4.5, 3]])

NEAREST = ROUND.clause(
    "Round takes one input Tensor and rounds the values, element-wise, meaning it finds the nearest integer for each "
    "value.",
    note="For -0.4 the result is the -0 of IEEE 754, where rounding to an integer keeps the sign.",
)
HALVES = ROUND.clause("In case of halves, the rule is to round them to the nearest even integer.")
ITSELF = ROUND.clause(
    "If input x is integral, +0, -0, NaN, or infinite, x itself is returned.",
    see=("https://github.com/onnx/onnx/pull/5061",),
)
SAME = ROUND.clause("The output tensor has the same shape and type as the input.")
EXAMPLES = {
    0.9: ROUND.clause("round([0.9]) = [1.0]"),
    2.5: ROUND.clause("round([2.5]) = [2.0]"),
    2.3: ROUND.clause("round([2.3]) = [2.0]"),
    1.5: ROUND.clause("round([1.5]) = [2.0]"),
    -4.5: ROUND.clause("round([-4.5]) = [-4.0]"),
}
UNARY = Unary(ROUND, NEAREST, bfloat16=22)


@ROUND.oracle()
def rounded(_: Version, X: Array) -> Array:
    """Return the nearer of the integers below and above; the even one if both are equally near."""
    with np.errstate(invalid="ignore"):
        below = np.floor(X)
        to_below, to_above = X - below, below + 1 - X
        even = np.where(below % 2 == 0, below, below + 1)
        nearest = np.select([to_below < to_above, to_below > to_above], [below, below + 1], even)
    return np.where(np.isfinite(X), np.copysign(nearest, X), X)


UNARY.cases([0.9, 2.5, -2.3, 1.5, -4.5, 3, -0.75], result=SAME)
UNARY.every_value()
for index, (number, example) in enumerate(EXAMPLES.items()):
    ROUND.case(f"example_{index}", X=[number], cites=example)
HALF = {"halves": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 100.5, 101.5], "halves_below_zero": [-0.5, -1.5, -2.5, -3.5, -6.5]}
NUMBERS = {
    "fractions": [0.1, 0.4, 0.6, 0.9, 1.1, 1.4, 1.6, 2.3, 2.7, 7.2],
    "fractions_below_zero": [-0.1, -0.4, -0.6, -1.2, -1.4, -1.6, -2.3, -2.7],
    "to_zero": [0.3, -0.3, 0.5, -0.5, 1e-7, -1e-7],
    "subnormal_inputs": [1e-7, -1e-7, 1e-40, -1e-40, 5e-324],
}
ALIKE = {
    "integral": [1, -1, 2, 3, -7, 100, -128],
    "zeros": [0.0, -0.0],
    "infinities": [np.inf, -np.inf],
    "nan": [np.nan, 1.5, np.nan],
}
BESIDE_HALVES = {  # An implementation that adds a half and takes the floor gets these wrong.
    "float16": [0.49975586, 1.4990234, 2.5019531, -0.49975586],
    "float": [0.49999997, 1.4999999, 2.5000002, -0.49999997],
    "bfloat16": [0.498046875, 1.4921875, 2.515625, -0.498046875],
    "double": [0.49999999999999994, 1.4999999999999998, 2.5000000000000004, -0.49999999999999994],
}
LARGE = {  # The last halves, and odd integers beyond them.
    "float16": [1023.5, 1022.5, -1022.5, 1025, 2047, 65504],
    "float": [8388607.5, 8388606.5, -8388606.5, 8388609, 16777215, 3.4028235e38],
    "bfloat16": [127.5, 126.5, -126.5, 129, 255, 3.38e38],
    "double": [4503599627370495.5, 4503599627370494.5, -4503599627370494.5, 4503599627370497, 2.0**53 - 1, 1e308],
}
UNARY.each_type(NUMBERS)
UNARY.each_type(HALF, cites=(HALVES,))
UNARY.each_type({"large": LARGE, "beside_halves": BESIDE_HALVES})
UNARY.each_type(ALIKE, cites=(ITSELF,))
