# SPDX-License-Identifier: Apache-2.0
"""HannWindow: one period of a raised cosine, 1 in the middle and 0 at the ends.

    output = HannWindow(size, periodic=1, output_datatype=float)

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
    """Return the window with the coefficients of the paper (Harris 1978) and the function body."""
    return np.asarray(0.5 - 0.5 * np.cos(angle))


HANN = Op(
    "HannWindow", versions=(17,), compare=between(curve).limited(0, 1), rank=lambda _: 1, derives={"T2": data_type}
)
WINDOW = Window.of(
    HANN,
    HANN.clause("Generates a Hann window as described in the paper https://ieeexplore.ieee.org/document/1455106."),
    HANN.clause("A Hann window with length: size. The output has the shape: [size]."),
)


@HANN.oracle()
def hann(v: Version, size: Array, periodic: int) -> Array:
    """Return 0.5 - 0.5 cos(2 pi n / N)."""
    return WINDOW.points(v, size, periodic, curve)


WINDOW.cases(integers=((2, 1), (3, 0)))
