"""HammingWindow: a raised cosine on a pedestal.

    output = HammingWindow(size, periodic=1, output_datatype=float)

Version: 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.operators.math._windows import Window, window_op

if TYPE_CHECKING:
    from harness.declare import Array, Version

EXACT = (25 / 46, 21 / 46)
"""The coefficients that cancel the first sidelobe, in the paper (Harris 1978) and in the function body."""
ROUNDED = (0.54, 0.46)
"""The paper's approximation of them, which it calls the Hamming window."""
HAMMING = window_op("HammingWindow", EXACT, ROUNDED)
WINDOW = Window.of(
    HAMMING,
    HAMMING.clause(
        "Generates a Hamming window as described in the paper https://ieeexplore.ieee.org/document/1455106.",
        note="The paper has 25/46, as the function body, and its approximation 0.54: either is its Hamming window.",
    ),
    HAMMING.clause("A Hamming window with length: size. The output has the shape: [size]."),
)


@HAMMING.oracle()
def hamming(v: Version, size: Array, periodic: int) -> Array:
    """Return 25/46 - 21/46 cos(2 pi n / N)."""
    return WINDOW.points(v, size, periodic, EXACT)


WINDOW.cases()
