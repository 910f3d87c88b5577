# SPDX-License-Identifier: Apache-2.0
"""The sizes of reductions to an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.declare.sizes import LENGTHS, grid

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Dims

REDUCED: dict[str, tuple[Dims, int, list[dict[str, int]]]] = {
    "last": (("m", "n"), -1, grid(m=(3,), n=LENGTHS[::2])),
    "large": (("m", "n"), 1, grid(m=(129,), n=(1025,))),
    "first": (("n", "m"), 0, grid(n=(7, 33, 129), m=(3, 16, 33))),
    "middle": (("b", "n", "m"), 1, grid(b=(2,), n=(9, 65), m=(5, 16))),
    "channels": (("b", "n", "h", "w"), 1, grid(b=(1,), n=(21,), h=(7,), w=(9, 16))),
}
"""The dimensions of the data, the axis, and the sizes, of sized calls."""
