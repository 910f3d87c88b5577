# SPDX-License-Identifier: Apache-2.0
"""SwiGLU: the Swish of a gate times a linear input, element by element.

    Y = SwiGLU(A, B, alpha=1.0)

Version: 28.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, measured, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.rounding import saturated
from onnx_conformance.declare.sizes import LARGE, LENGTHS, filled, grid

SWIGLU = Op("SwiGLU", versions=(28,), compare=measured("exponential, sum, quotient and products round"), rank="A")
SWIGLU.example(A=[[1, -4, 2], [0, 3, -10]], B=[[2, 3, -1], [4, -5, 0.5]], alpha=0.5)

FORMULA = SWIGLU.clause("Y = Swish_alpha(A) * B")
APPLIES = SWIGLU.clause(
    "It applies the Swish activation to the gate and multiplies the result elementwise by the linear input"
)
SWISH = SWIGLU.clause(
    "`Swish_alpha(a) = a * Sigmoid(alpha * a)`.",
    note="The product of an infinity and a sigmoid of 0 has no value in real numbers. It is NaN, or 0 if computed as a "
    "quotient.",
)
IDENTICAL = SWIGLU.clause("Inputs `A` and `B` must have identical shapes")
NOT_BROADCAST = SWIGLU.clause("broadcasting is not applied and the output `Y` has the same shape as the inputs.")
COEFFICIENT = SWIGLU.clause("Coefficient that scales the gate input inside the sigmoid of the Swish activation.")
DEFAULT = SWIGLU.clause("The default value is 1.0.")
GATE = SWIGLU.clause("Gate input tensor")
LINEAR = SWIGLU.clause("Linear (value) input tensor")


@SWIGLU.oracle()
def swiglu(v: Version, A: Array, B: Array, alpha: float) -> Result:
    """Return A times the sigmoid of alpha times A, times B."""
    v.require(IDENTICAL, A.shape == B.shape)
    with np.errstate(all="ignore"):
        result = np.asarray(A * saturated(1 / (1 + np.exp(-alpha * A))) * B)
    return v.leave_open(SWISH, np.isinf(A) & (np.sign(A) * alpha <= 0), result)


case = SWIGLU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -0.375]
VALUES = [0.5, 2, -3, -0.75, 1.5, 7, -2.25]
inf, nan = np.inf, np.nan

case("plain", A=MIXED, B=VALUES, cites=(FORMULA, APPLIES, GATE, LINEAR))
case("turned", A=VALUES, B=MIXED, cites=(GATE, LINEAR))
case("default", A=MIXED, B=VALUES, cites=DEFAULT)
for name, shape in {"scalar": (), "one": (1,), "empty": (0,), "dim_zero": (2, 0, 3), "cube": (2, 3, 4)}.items():
    of_shape: dict[str, Any] = {"A": np.resize(MIXED, shape), "B": np.resize(VALUES, shape)}
    case(name, Tag.EDGE, **of_shape, cites=NOT_BROADCAST)
case("vector_and_tail", A=np.resize(MIXED, 67), B=np.resize(VALUES, 67), cites=FORMULA)
for name, alpha in {"half": 0.5, "zero": 0.0, "above_one": 2.5, "negative": -0.75, "large": 1000.0}.items():
    case(f"alpha_{name}", Tag.EDGE, A=MIXED, B=VALUES, alpha=alpha, cites=COEFFICIENT)
case("alpha_dtypes", Tag.DTYPE, each="T", A=MIXED, B=VALUES, alpha=0.3, cites=COEFFICIENT)
case("dtypes", Tag.DTYPE, each="T", A=MIXED, B=VALUES, cites=FORMULA)
for type_ in float_types(13):
    thirds = typed(type_, [0.1, -0.1, 1 / 3, -2 / 3, -1.1, 7.3, -7.3])
    tenths = typed(type_, [-0.7, 1.3, 11.1, 1e-3, -3.3, 0.9, -2.7])
    case(f"fractions_{type_}", Tag.EDGE, A=thirds, B=tenths, cites=FORMULA)
    case(f"zeros_{type_}", Tag.EDGE, A=typed(type_, [0.0, -0.0, 3]), B=typed(type_, [3, 2, -0.0]), cites=FORMULA)
case("far_above", Tag.EDGE, A=[20, 100, 30000, 1], B=[2, -3, 1e-3, 4], cites=FORMULA)
case("far_below", Tag.EDGE, A=[-20, -100, -30000, -1], B=[2, -3, 1e-3, 4], cites=FORMULA)
case("infinity", Tag.EDGE, A=[inf, 1, inf, 2], B=[2, inf, -3, -inf], cites=FORMULA)
case("infinity_of_zero", Tag.EDGE, A=[inf, 0, 1], B=[0, inf, 2], cites=FORMULA)
case("nan", Tag.EDGE, A=[nan, 1, 0], B=[1, nan, 2], cites=FORMULA)
case("to_infinity", Tag.EDGE, A=[1e30, 2], B=[1e30, 3], cites=FORMULA)
case("minus_infinity", Tag.EDGE, A=[-inf, 1], B=[1, 2], unspecified=SWISH)
case("infinity_alpha_negative", Tag.EDGE, A=[inf, 1], B=[1, 2], alpha=-1.0, unspecified=SWISH)
case("infinity_alpha_zero", Tag.EDGE, A=[inf, 1], B=[1, 2], alpha=0.0, unspecified=SWISH)
case("b_scalar", Tag.EDGE, A=ramp(2, 3), B=2, rejects=IDENTICAL)
case("b_of_one", Tag.EDGE, A=ramp(2, 3), B=ramp(1), rejects=IDENTICAL)
case("b_row", Tag.EDGE, A=ramp(2, 3), B=ramp(3), rejects=IDENTICAL)
case("b_column", Tag.EDGE, A=ramp(2, 3), B=ramp(2, 1), rejects=IDENTICAL)
case("a_row", Tag.EDGE, A=ramp(3), B=ramp(2, 3), rejects=IDENTICAL)
case("b_transposed", Tag.EDGE, A=ramp(2, 3), B=ramp(3, 2), rejects=IDENTICAL)
case("b_empty", Tag.EDGE, A=ramp(1), B=ramp(0), rejects=IDENTICAL)

WHOLE: dict[str, Any] = {"A": filled("n", floats=(-9, 9)), "B": filled("n")}
SWIGLU.sized("length", grid(n=(*LENGTHS, *LARGE)), each="T", cites=FORMULA, arguments=WHOLE)
ROWS: dict[str, Any] = {"A": filled("m", "n", floats=(-9, 9)), "B": filled("m", "n"), "alpha": 1.702}
SWIGLU.sized("rows", grid(m=(5,), n=(16, 129)), each="T", cites=(FORMULA, COEFFICIENT), arguments=ROWS)
