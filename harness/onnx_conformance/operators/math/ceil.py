# SPDX-License-Identifier: Apache-2.0
"""Ceil: the least integer that is not below each element.

    Y = Ceil(X)

Versions: 1, 6 (no consumed_inputs), 13 (bfloat16; defines the results for zeros, NaN and infinities).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Tolerance, Version
from onnx_conformance.declare.families.elementwise import Unary

CEIL = Op(
    "Ceil",
    versions=(1, 6, 13),
    compare=Tolerance("the least integer is one number, and every type contains it", signed_zero=True),
    rank="X",
)
CEIL.example(X=[[0.9, 2.5, -2.3], [1.5, -4.5, 3]], consumed_inputs=[0])

LEAST = CEIL.clause(
    "where the ceil is, y = ceil(x), is applied to the tensor elementwise.",
    note="Between -1 and 0 the result is the -0 of IEEE 754, where rounding to an integer keeps the sign. Before "
    "version 13 the text does not define this for integral values explicitly, but it follows that they are returned "
    "unchanged.",
)
TAKES = CEIL.clause("Ceil takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
ITSELF = CEIL.clause(
    "If x is integral, +0, -0, NaN, or infinite, x itself is returned.",
    since=13,
    see=("https://github.com/onnx/onnx/pull/5061",),
)
UNARY = Unary(CEIL, LEAST)


@CEIL.oracle()
def ceiling(_: Version, X: Array) -> Array:
    """Return the least integer that is not below X."""
    return np.ceil(X)


UNARY.cases([0.9, 2.5, -2.3, 1.5, -4.5, 3, -0.75], result=TAKES)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, 0.4, 0.5, 0.6, 0.9, 1.1, 1.5, 2.3, 7.2],
    "fractions_below_zero": [-0.1, -0.5, -0.9, -1.2, -1.5, -2.7],
    "subnormal_inputs": [1e-7, -1e-7, 1e-40, -1e-40, 5e-324],
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
    "float16": [1023.5, -1023.5, 1025, 2047, 65504],
    "float": [8388607.5, -8388607.5, 8388609, 16777215, 3.4028235e38],
    "bfloat16": [127.5, -127.5, 129, 255, 3.38e38],
    "double": [4503599627370495.5, -4503599627370495.5, 4503599627370497, 2.0**53 - 1, 1e308],
}
UNARY.each_type(NUMBERS)
UNARY.each_type({"large": LARGE, "beside_integers": BESIDE})
CEIL.case("itself", X=[3, -7, 0.0, -0.0, np.inf, -np.inf, np.nan], cites=ITSELF)
