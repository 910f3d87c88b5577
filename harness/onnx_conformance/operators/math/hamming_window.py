# SPDX-License-Identifier: Apache-2.0
"""HammingWindow: a raised cosine on a pedestal.

    output = HammingWindow(size, periodic=1, output_datatype=float)

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
    """Return the window that cancels the first sidelobe, as in the paper (Harris 1978) and in the function body."""
    return np.asarray(25 / 46 - 21 / 46 * np.cos(angle))


def rounded(angle: Array) -> Array:
    """Return the paper's approximation of `curve`, which the paper calls the Hamming window."""
    return np.asarray(0.54 - 0.46 * np.cos(angle))


HAMMING = Op(
    "HammingWindow",
    versions=(17,),
    compare=between(curve, rounded).limited(0, 1),
    rank=lambda _: 1,
    derives={"T2": data_type},
)
WINDOW = Window.of(
    HAMMING,
    HAMMING.clause(
        "Generates a Hamming window as described in the paper https://ieeexplore.ieee.org/document/1455106.",
        note="The paper and the function body have 25/46. The paper also has the approximation 0.54. Either is a "
        "Hamming window of the paper.",
    ),
    HAMMING.clause("A Hamming window with length: size. The output has the shape: [size]."),
)


@HAMMING.oracle()
def hamming(v: Version, size: Array, periodic: int) -> Array:
    """Return 25/46 - 21/46 cos(2 pi n / N)."""
    return WINDOW.points(v, size, periodic, curve)


WINDOW.cases()
