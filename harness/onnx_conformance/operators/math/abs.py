# SPDX-License-Identifier: Apache-2.0
"""Abs: each element without its sign.

    Y = Abs(X)

Versions: 1, 6 (integers; no consumed_inputs), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, extremes, typed
from onnx_conformance.declare.families.elementwise import Unary

ABS = Op(
    "Abs",
    versions=(1, 6, 13),
    compare=Tolerance("the absolute value of a number exists in every type", signed_zero=True),
    rank="X",
)
ABS.example(X=[[1, -4, 2], [0, 3, -10]], consumed_inputs=[0])

ABSOLUTE = ABS.clause(
    "where absolute value, y = abs(x), is applied to the tensor elementwise.",
    note="For -0 the result is 0. The text does not define the result for the least integer, because its absolute "
    "value is not in its type.",
).reworded(
    before=13,
    text="where the absolute is, y = abs(x), is applied to the tensor elementwise.",
    note="For -0 the result is 0. The text does not define the result for the least integer, because its absolute "
    "value is not in its type.",
)
TAKES = ABS.clause("Absolute takes one input data (Tensor<T>) and produces one output data (Tensor<T>)")
FLOATS = ABS.clause("Constrain input and output types to float tensors.", before=6)
UNARY = Unary(ABS, TAKES)


@ABS.oracle()
def absolute(v: Version, X: Array) -> Result:
    """Return the greater of X and -X."""
    without = np.equal(X, np.iinfo(X.dtype).min) if X.dtype.kind == "i" else np.zeros(X.shape, bool)
    return v.leave_open(ABSOLUTE, without, np.asarray(np.abs(X)))


UNARY.cases([1, -4, 2, 0, 3, -10, 7], result=TAKES)
UNARY.every_value()
NUMBERS = {
    "fractions": [0.1, -0.2, 1 / 3, -2 / 3, 1.1, 1e-3, -1e-4],
    "zeros": [0.0, -0.0],
    "infinities": [np.inf, -np.inf],
    "nan": [np.nan, -4, np.nan],
}
UNARY.each_type(NUMBERS)
for type_, since in UNARY.types.items():
    ABS.case(f"extremes_{type_}", Tag.EDGE, X=typed(type_, extremes(11)), since=since, cites=TAKES)
ABS.case("signs", X=[-1, 2, -3.5], cites=ABSOLUTE)
for bits in (8, 16, 32, 64):
    type_, high = f"int{bits}", 2 ** (bits - 1) - 1
    limits = [high, -high, 0, 1, -1, 1 - high]
    ABS.case(f"limits_{type_}", Tag.EDGE, X=typed(type_, limits), since=6, cites=TAKES)
    least = typed(type_, [3, -high - 1])
    ABS.case(f"least_{type_}_before_13", Tag.EDGE, X=least, since=6, before=13, unspecified=ABSOLUTE)
    ABS.case(f"least_{type_}_since_13", Tag.EDGE, X=least, since=13, unspecified=ABSOLUTE)
    unsigned = typed(f"u{type_}", np.array([0, 1, high, high + 1, 2 * high + 1], f"u{type_}"))
    ABS.case(f"limits_u{type_}", Tag.EDGE, X=unsigned, since=6, cites=TAKES)
ABS.case("integers_before_6", Tag.DTYPE, X=typed("int32", [1, -2]), rejects=FLOATS)
