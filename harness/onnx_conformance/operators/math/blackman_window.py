# SPDX-License-Identifier: Apache-2.0
"""BlackmanWindow: a sum of two cosines, 1 in the middle and 0 at the ends.

    output = BlackmanWindow(size, periodic=1, output_datatype=float)

Version: 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare import Op
from onnx_conformance.operators.math._windows import Window, between, data_type

if TYPE_CHECKING:
    from onnx_conformance.declare import Array, Version


def curve(angle: Array) -> Array:
    """Return the window of the function body. The paper (Harris 1978) has it too, but calls another window exact."""
    return np.asarray(0.42 + 0.08 * np.cos(2 * angle) - 0.5 * np.cos(angle))


ROUNDED = 2.0**-25
"""The coefficients of the function body are floats for every type, and a sum just below 0.5 may be off by so much. So
the window may end so far below 0, and its middle may be so far above 1."""
BLACKMAN = Op(
    "BlackmanWindow",
    versions=(17,),
    compare=between(curve).limited(-ROUNDED, 1 + ROUNDED),
    rank=lambda _: 1,
    derives={"T2": data_type},
)
WINDOW = Window.of(
    BLACKMAN,
    BLACKMAN.clause(
        "Generates a Blackman window as described in the paper https://ieeexplore.ieee.org/document/1455106."
    ),
    BLACKMAN.clause("A Blackman window with length: size. The output has the shape: [size]."),
)


@BLACKMAN.oracle()
def blackman(v: Version, size: Array, periodic: int) -> Array:
    """Return 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)."""
    return WINDOW.points(v, size, periodic, curve)


WINDOW.cases()
