# SPDX-License-Identifier: Apache-2.0
"""Neg: each element with its sign flipped.

    Y = Neg(X)

Versions: 1, 6 (signed integers, no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, extremes, typed
from onnx_conformance.declare.families.elementwise import Unary

NEG = Op(
    "Neg", versions=(1, 6, 13), compare=Tolerance("a flipped sign is exact in every type", signed_zero=True), rank="X"
)
NEG.example(X=[[1, -4, 2], [0, 3, -10]], consumed_inputs=[0])

FLIPPED = NEG.clause(
    "each element flipped sign, y = -x, is applied to the tensor elementwise.",
    note="For -0 the result is 0, and for 0 it is -0. The text does not define the result for the least integer, "
    "because its type does not contain the negated value.",
)
TAKES = NEG.clause("Neg takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
UNARY = Unary(NEG, FLIPPED)


@NEG.oracle()
def flipped(v: Version, X: Array) -> Result:
    """Return -X."""
    without = np.equal(X, np.iinfo(X.dtype).min) if X.dtype.kind == "i" else np.zeros(X.shape, bool)
    return v.leave_open(FLIPPED, without, np.asarray(-X))


UNARY.cases([1, -4, 2, 0, 3, -10, 7], result=TAKES)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.2, 1 / 3, -2 / 3, 1.1, 1e-3, -1e-4],
    "zeros": [0.0, -0.0],
    "infinities": [np.inf, -np.inf],
    "nan": [np.nan, 4, np.nan],
}
UNARY.each_type(NUMBERS)
for type_, since in UNARY.types.items():
    NEG.case(f"extremes_{type_}", Tag.EDGE, X=typed(type_, extremes(11)), since=since, cites=FLIPPED)
for bits in (8, 16, 32, 64):
    type_, high = f"int{bits}", 2 ** (bits - 1) - 1
    limits = [high, -high, 0, 1, -1, high - 1]
    NEG.case(f"limits_{type_}", Tag.EDGE, X=typed(type_, limits), since=6, cites=FLIPPED)
    NEG.case(f"least_{type_}", Tag.EDGE, X=typed(type_, [3, -high - 1]), since=6, unspecified=FLIPPED)
