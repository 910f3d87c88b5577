"""The sizes of matrix products, of classes and of lanes in real models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from onnx_conformance.declare.sizes import grid, pairwise

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Choice, Dims

BYTES: dict[str, tuple[Dims, Dims, Choice]] = {
    "matrices": (
        ("m", "k"),
        ("k", "n"),
        partial(pairwise, most=1 << 22, m=(1, 2, 5, 17, 65), k=(1, 3, 4, 7, 33, 64, 513), n=(1, 8, 17)),
    ),
    "stacks": (("b", "m", "k"), ("b", "k", "n"), grid(b=(3,), m=(4, 17), k=(9, 64), n=(5, 16))),
}
"""The dimensions of A and of B, and the sizes, of products of 8-bit integers. Kernels add groups of 4 products."""
LANES: dict[str, tuple[Dims, int, list[dict[str, int]]]] = {
    "last": (("m", "n"), -1, grid(m=(3,), n=(1, 3, 8, 17, 64, 65, 127, 129, 255, 257, 1000, 1025, 4096, 4097))),
    "rows": (("m", "n"), -1, grid(m=(16, 33, 129), n=(64, 100))),
    "first": (("m", "n"), 0, grid(m=(7, 64, 129), n=(3, 16, 33))),
    "middle": (("b", "m", "n"), 1, grid(b=(2,), m=(7, 64, 129), n=(5, 16))),
    "scores": (("b", "h", "q", "k"), -1, grid(b=(2,), h=(3,), q=(5, 17), k=(16, 65))),
}
"""The dimensions of an input, the axis of its lanes, and the sizes."""
CLASSES: dict[str, tuple[Dims, list[dict[str, int]]]] = {
    "classes": (("b", "c"), grid(b=(1, 16, 65), c=(3, 10, 129, 1000))),
    "pixels": (("b", "c", "h", "w"), grid(b=(2,), c=(3, 21), h=(7,), w=(16, 33))),
}
"""The dimensions of the values of classes, and the sizes."""
