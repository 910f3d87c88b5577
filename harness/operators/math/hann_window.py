"""HannWindow: one period of a raised cosine, 1 in the middle and 0 at the ends.

    output = HannWindow(size, periodic=1, output_datatype=float)

Version: 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.operators.math._windows import Window, window_op

if TYPE_CHECKING:
    from harness.declare import Array, Version

COEFFICIENTS = (0.5, 0.5)
"""As the paper (Harris 1978) and the function body have them."""
HANN = window_op("HannWindow", COEFFICIENTS)
WINDOW = Window.of(
    HANN,
    HANN.clause("Generates a Hann window as described in the paper https://ieeexplore.ieee.org/document/1455106."),
    HANN.clause("A Hann window with length: size. The output has the shape: [size]."),
)


@HANN.oracle()
def hann(v: Version, size: Array, periodic: int) -> Array:
    """Return 0.5 - 0.5 cos(2 pi n / N)."""
    return WINDOW.points(v, size, periodic, COEFFICIENTS)


WINDOW.cases(integers=((2, 1), (3, 0)))
