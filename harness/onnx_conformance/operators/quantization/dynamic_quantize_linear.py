# SPDX-License-Identifier: Apache-2.0
"""DynamicQuantizeLinear: quantize to 8 bits, with a scale and a zero point computed from the numbers.

    y, y_scale, y_zero_point = DynamicQuantizeLinear(x)

Versions: 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare import Array, Drawn, Op, Tag, Version, ramp, ulp, vary
from onnx_conformance.declare.sizes import FEW_LENGTHS, LARGE, LENGTHS, filled, grid

if TYPE_CHECKING:
    from collections.abc import Sequence

ULPS = 2
"""The allowed error of y_scale, in ULP."""
ZERO, Q_MAX = np.float32(0), np.float32(255)
DYNAMIC = Op(
    "DynamicQuantizeLinear",
    versions=(11,),
    compare=ulp(
        ULPS,
        "y_scale: the difference and the quotient round by half a ULP each; the integers must belong to one such scale",
    ),
    widens=False,  # In real numbers the integers differ if x / y_scale is close to a tie.
)
DYNAMIC.example(x=[[0, 2, -3], [-2.5, 1.34, 0.5]], n=3)

OUTPUTS = DYNAMIC.clause("Outputs Scale, ZeroPoint and Quantized Input for a given FP32 Input.")
SCALE = DYNAMIC.clause(
    "y_scale = (maximum(0, max(x)) - minimum(0, min(x))) / (qmax - qmin)",
    note="The text does not define the scale of an empty tensor, or the result if the tensor contains only zeros, NaN "
    "or an infinity, because the scale is then not a valid divisor.",
)
QMAX = DYNAMIC.clause(
    "where qmax and qmin are max and min values for quantization range i.e. [0, 255] in case of uint8"
)
INCLUDES_ZERO = DYNAMIC.clause("data range is adjusted to include 0.")
ZERO_POINT = DYNAMIC.clause("intermediate_zero_point = qmin - min(x)/y_scale")
QMAX_AGAIN = DYNAMIC.clause(
    "where qmax and qmin are max and min values for quantization range .i.e [0, 255] in case of uint8"
)
ROUND_ZERO_POINT = DYNAMIC.clause("y_zero_point = cast(round(saturate(intermediate_zero_point)))")
FORMULA = DYNAMIC.clause(
    "y = saturate (round (x / y_scale) + y_zero_point)",
    note="The precision is that of the function body, which is that of x. The official case requires it (-2.5 / (5 / "
    "255) is very close to a tie). Close to a tie either neighbour is accepted, because y_scale itself may have an "
    "error. The expanded form uses QuantizeLinear, whose text leaves the precision open.",
)
UINT8 = DYNAMIC.clause(
    "for saturation, it saturates to [0, 255] if it's uint8, or [-127, 127] if it's int8. Right now only uint8 is "
    "supported."
)
TIES = DYNAMIC.clause("rounding to nearest ties to even.")
SCALAR_SCALE = DYNAMIC.clause("Output scale. It's a scalar, which means a per-tensor/layer quantization.")
SCALAR_ZERO_POINT = DYNAMIC.clause("Output zero point. It's a scalar, which means a per-tensor/layer quantization.")
FLOAT = DYNAMIC.clause("Constrain 'x' to float tensor.")


@DYNAMIC.oracle()
def quantized(v: Version, x: Array) -> tuple[Array | Drawn, Array, Array | Drawn]:
    """Return the 8-bit integers in the shape of x, the scale and the zero point. Each step is in single precision."""
    v.silent(SCALE, x.size == 0)
    highest, lowest = np.maximum(ZERO, x.max()), np.minimum(ZERO, x.min())
    with np.errstate(over="ignore", under="ignore"):
        y_scale = (highest - lowest) / Q_MAX
        v.silent(SCALE, y_scale == 0 or not np.isfinite(y_scale))
        exact = float(y_scale) * 255 == float(highest) - float(lowest)
        off = np.float32(0 if exact else ULPS) * np.spacing(y_scale)
        scales = (y_scale, y_scale - off, y_scale + off)
        y, y_zero_point = zip(*(_by_scale(x, scale) for scale in scales), strict=True)
    return _any_of(y), y_scale, _any_of(y_zero_point)


def _by_scale(x: Array, y_scale: np.float32) -> tuple[Array, Array]:
    """Return the integers and the zero point of one scale."""
    y_zero_point = np.rint(np.clip(ZERO - x.min() / y_scale, ZERO, Q_MAX))
    return np.clip(np.rint(x / y_scale) + y_zero_point, ZERO, Q_MAX), y_zero_point


def _any_of(values: Sequence[Array]) -> Array | Drawn:
    """Return the values. They are the same for every scale except close to a tie, where any of them is accepted."""
    first, *others = values
    return first if all(np.array_equal(first, item) for item in others) else Drawn(first, choices=tuple(values))


case = DYNAMIC.case
WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4) * 3

case("both_signs", x=[0, 2, -3, -2.5, 1.34, 0.5], n=3, cites=(OUTPUTS, SCALE, ZERO_POINT, FORMULA, QMAX, QMAX_AGAIN))
case("positive", x=[[1, 2.1, 1.3], [2.5, 3.34, 4]], n=3, cites=(INCLUDES_ZERO, ROUND_ZERO_POINT))
case("negative", x=[-1, -2.1, -1.3, -2.5, -3.34, -4], n=3, cites=(INCLUDES_ZERO, ROUND_ZERO_POINT))
case("up_to_zero", Tag.EDGE, x=[-4, -1.3, 0], n=3, cites=SCALE)
case("from_zero", Tag.EDGE, x=[0, 1.3, 4], n=3, cites=SCALE)
case("signed_zero", Tag.EDGE, x=[-0.0, 0.0, 2], n=3, cites=FORMULA)
case("rank0", Tag.EDGE, x=vary(positive=3, negative=-3), n=3, cites=(SCALAR_SCALE, SCALAR_ZERO_POINT))
case("size_one", Tag.EDGE, x=[[0.37]], n=3, cites=(SCALAR_SCALE, SCALAR_ZERO_POINT))
case("rank3", x=WAVES, n=3, cites=(SCALAR_SCALE, SCALAR_ZERO_POINT))
case("rank5", x=WAVES.reshape(2, 1, 3, 4, 1), n=3, cites=SCALAR_SCALE)
case("all_equal", Tag.EDGE, x=[[7, 7, 7], [7, 7, 7]], n=3, cites=INCLUDES_ZERO)
case("ties", Tag.EDGE, x=[0, 0.5, 1.5, 2.5, 3.5, 254.5, 255], n=3, cites=(TIES, FORMULA))
case("ties_negative", Tag.EDGE, x=[-100, -0.5, -1.5, -2.5, 0.5, 1.5, 155], n=3, cites=(TIES, FORMULA))
case("zero_point_tie_down", Tag.EDGE, x=[-100.5, 3, 154.5], n=3, cites=(TIES, ROUND_ZERO_POINT))
case("zero_point_tie_up", Tag.EDGE, x=[-101.5, 3, 153.5], n=3, cites=(TIES, UINT8))
ENDS = vary(below=[200, 3, 100, 255], highest=[-255, -0.4, -3], one=[-1, 254, 0.4])
case("zero_point", Tag.EDGE, x=ENDS, n=3, cites=(ROUND_ZERO_POINT, UINT8))
case("scale", Tag.EDGE, x=vary(large=[3e38, 1e38, 0], tiny=[3e-35, -1e-35, 0]), n=3, cites=SCALE)
case("outlier", Tag.EDGE, x=[1e6, 0.1, -0.1, 3], n=3, cites=SCALE)
case("every_step", x=np.arange(256).reshape(16, 16), n=3, cites=(FORMULA, QMAX))
case("every_step_shifted", x=np.arange(-77, 179).reshape(8, 32) * 0.5, n=3, cites=(FORMULA, QMAX))
case("beside_a_tie", Tag.EDGE, x=[2, -3, -2.5], n=3, cites=FORMULA)
case("zero_point_beside_a_tie", Tag.EDGE, x=[2.5, -2.5, 1], n=3, cites=ZERO_POINT)
case("beside_no_tie", Tag.EDGE, x=[2, -3, -2.505, -2.495], n=3, cites=FORMULA)

case("range", Tag.EDGE, x=vary(overflows=[3e38, -3e38, 1], underflows=[1e-45, 0, 2e-45]), n=3, unspecified=SCALE)
case("zeros", Tag.EDGE, x=[0, 0, -0.0], n=3, unspecified=SCALE)
case("empty", Tag.EDGE, x=ramp(0), n=3, unspecified=SCALE)
case("zero_size", Tag.EDGE, x=ramp(2, 0, 3), n=3, unspecified=SCALE)
NOT_FINITE = vary(nan=[1, np.nan, -2], infinity=[1, np.inf, -2], infinity_negative=[1, 2, -np.inf])
case("not_finite", Tag.EDGE, x=NOT_FINITE, n=3, unspecified=SCALE)

# Forbidden by sentences of the text, not only by the signature.
case("outside", Tag.DTYPE, outside="T1", x=[1, 2, 3], n=3, rejects=FLOAT)

DYNAMIC.sized("length", grid(n=(*LENGTHS, *LARGE)), n=3, cites=FORMULA, arguments={"x": filled("n", floats=(-2.5, 4))})
for name, limits in {"positive": (1, 4), "negative": (-4, -1)}.items():
    rows = {"x": filled("m", "n", floats=limits)}
    DYNAMIC.sized(name, grid(m=(17,), n=FEW_LENGTHS), n=3, cites=INCLUDES_ZERO, arguments=rows)
