# SPDX-License-Identifier: Apache-2.0
"""ScaledAdd: the sum of a tensor and a multiple of another one.

    C = ScaledAdd(A, B, scale=1)

Versions: 1.
"""

from __future__ import annotations

from onnx_conformance.declare import Array, Op, Tag, Version, measured, ramp
from onnx_conformance.declare.sizes import filled, grid

SCALED_ADD = Op("ScaledAdd", versions=(1,), compare=measured("product and sum round"), domain="com.example", rank="A")
SCALED_ADD.example(A=[1, 2, 3], B=[10, 20, 30])

SHAPES = SCALED_ADD.clause("Adds two tensors of the same shape.")
SCALE = SCALED_ADD.clause("The second one is multiplied by scale before the addition.")


@SCALED_ADD.oracle()
def scaled_add(v: Version, A: Array, B: Array, scale: float) -> Array:
    """Return A plus scale times B."""
    v.require(SHAPES, A.shape == B.shape)
    return A + scale * B


case = SCALED_ADD.case
case("plain", A=[1, -2, 0.5], B=[10, 20, -30], cites=SHAPES)
for name, scale in {"half": 0.5, "negative": -2.0, "zero": 0.0}.items():
    case(f"scale_{name}", A=ramp(2, 3), B=[[7, 5, 3], [1, -1, -3]], scale=scale, cites=SCALE)
case("empty", Tag.EDGE, A=ramp(0, 3), B=ramp(0, 3), scale=2.0, cites=SHAPES)
case("other_shape", Tag.EDGE, A=ramp(2, 3), B=ramp(3), rejects=SHAPES)
case("dtypes", Tag.DTYPE, each="T", A=ramp(2, 3), B=ramp(2, 3), scale=3.0, cites=SCALE)
SCALED_ADD.sized(
    "rows", grid(n=(7, 64, 257)), each="T", cites=SCALE,
    arguments={"A": filled("n"), "B": filled("n"), "scale": 0.25},
)  # fmt: skip
