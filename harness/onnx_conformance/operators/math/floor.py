# SPDX-License-Identifier: Apache-2.0
"""Floor: the greatest integer that is not above each element.

    Y = Floor(X)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Tolerance, Version
from onnx_conformance.declare.families.elementwise import Unary

FLOOR = Op(
    "Floor",
    versions=(1, 6, 13),
    compare=Tolerance("the greatest integer is one number, and every type contains it", signed_zero=True),
    rank="X",
)
FLOOR.example(X=[[0.9, 2.5, -2.3], [1.5, -4.5, 3]], consumed_inputs=[0])

GREATEST = FLOOR.clause(
    "where the floor is, y = floor(x), is applied to the tensor elementwise.",
    note="Before version 13 the text does not define integral values explicitly, but it follows that they are returned "
    "unchanged, with their sign.",
)
TAKES = FLOOR.clause("Floor takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
ITSELF = FLOOR.clause("If x is integral, +0, -0, NaN, or infinite, x itself is returned.", since=13)
UNARY = Unary(FLOOR, GREATEST)


@FLOOR.oracle()
def floored(_: Version, X: Array) -> Array:
    """Return the greatest integer that is not above X."""
    return np.floor(X)


UNARY.cases([0.9, 2.5, -2.3, 1.5, -4.5, 3, -0.75], result=TAKES)
UNARY.every_value()
FRACTIONS = {
    "fractions": [0.1, 0.4, 0.5, 0.6, 0.9, 1.1, 1.5, 2.3, 7.2],
    "fractions_below_zero": [-0.1, -0.5, -0.9, -1.2, -1.5, -2.7],
    "subnormal_inputs": [1e-7, -1e-7, 1e-40, -1e-40, 5e-324],
}
INTEGRAL = {
    "integral": [1, -1, 2, 3, -7, 100, -128],
    "zeros": [0.0, -0.0],
    "infinities": [np.inf, -np.inf],
    "nan": [np.nan, 1.5, np.nan],
}
BESIDE = {  # The numbers next to an integer. An implementation that first adds something gets these wrong.
    "float16": [1.0009765625, 0.99951171875, -1.0009765625, -0.99951171875],
    "float": [1.0000001, 0.99999994, -1.0000001, -0.99999994],
    "bfloat16": [1.0078125, 0.99609375, -1.0078125, -0.99609375],
    "double": [1.0000000000000002, 0.9999999999999999, -1.0000000000000002, -0.9999999999999999],
}
LARGE = {  # The last fractions, and odd integers beyond them.
    "float16": [1023.5, -1023.5, 2047, 65504, -65504],
    "float": [8388607.5, -8388607.5, 16777215, 3e38, -3e38],
    "bfloat16": [127.5, -127.5, 255, 3e38, -3e38],
    "double": [4503599627370495.5, -4503599627370495.5, 9007199254740991, 1e308, -1e308],
}
UNARY.each_type(FRACTIONS)
UNARY.each_type({"beside_integers": BESIDE, "large": LARGE})
UNARY.each_type(INTEGRAL)
for name, numbers in INTEGRAL.items():
    FLOOR.case(f"{name}_since_13", X=numbers, cites=ITSELF)
