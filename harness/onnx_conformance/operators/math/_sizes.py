# SPDX-License-Identifier: Apache-2.0
"""The sizes of matrix products, of classes and of lanes in real models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from onnx_conformance.declare.sizes import filled, grid, pairwise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare import Clause, Op
    from onnx_conformance.declare.sizes import Choice, Dims

BYTES: dict[str, tuple[Dims, Dims, Choice]] = {
    "matrices": (
        ("m", "k"),
        ("k", "n"),
        partial(pairwise, most=1 << 22, m=(1, 2, 5, 17, 65), k=(1, 3, 4, 7, 33, 64, 513), n=(1, 8, 17)),
    ),
    "stacks": (("b", "m", "k"), ("b", "k", "n"), grid(b=(3,), m=(4, 17), k=(9, 64), n=(5, 16))),
    "large": (("m", "k"), ("k", "n"), grid(m=(257,), k=(16,), n=(257,))),
}
"""The dimensions of A and of B, and the sizes, of products of 8-bit integers. Kernels add groups of 4 products."""
LANES: dict[str, tuple[Dims, int, list[dict[str, int]]]] = {
    "last": (("m", "n"), -1, grid(m=(3,), n=(1, 3, 8, 17, 64, 65, 127, 129, 255, 257, 1000, 1025, 4096, 4097))),
    "rows": (("m", "n"), -1, grid(m=(16, 33, 129), n=(64, 100))),
    "first": (("m", "n"), 0, grid(m=(7, 64, 129), n=(3, 16, 33))),
    "middle": (("b", "m", "n"), 1, grid(b=(2,), m=(7, 64, 129), n=(5, 16))),
    "many": (("m", "n"), -1, grid(m=(700,), n=(100,))),
    "scores": (("b", "h", "q", "k"), -1, grid(b=(2,), h=(3,), q=(5, 17), k=(16, 65))),
}
"""The dimensions of an input, the axis of its lanes, and the sizes."""
CLASSES: dict[str, tuple[Dims, list[dict[str, int]]]] = {
    "classes": (("b", "c"), grid(b=(1, 16, 65), c=(3, 10, 129, 1000))),
    "pixels": (("b", "c", "h", "w"), grid(b=(2,), c=(3, 21), h=(7,), w=(16, 33))),
    "many_pixels": (("b", "c", "h", "w"), grid(b=(2,), c=(3,), h=(130,), w=(257,))),
}
"""The dimensions of the values of classes, and the sizes."""
LINES: dict[str, tuple[Dims, int, list[dict[str, int]]]] = {
    "vector": (("n",), 0, grid(n=(7, 16, 33, 129, 1025, 4097))),
    "last": (("m", "n"), -1, grid(m=(7,), n=(9, 64, 257))),
    "first": (("n", "m"), 0, grid(n=(9, 65, 257), m=(16,))),
    "middle": (("b", "n", "m"), 1, grid(b=(2,), n=(33, 64), m=(7,))),
    "many": (("m", "n"), -1, grid(m=(700,), n=(100,))),
}
"""The dimensions of x, the axis, and the sizes, of running sums and products."""


def sized(op: Op, ways: Mapping[str, tuple[Mapping[str, Any], tuple[Clause, ...]]], **limits: Any) -> None:  # noqa: ANN401
    """Declare the sized calls of a running sum or product.

    Args:
        op: the operator.
        ways: by name, the attributes of each way to sum or multiply, and the clauses that describe it.
        limits: the limits of the elements of x; see `filled`.
    """
    for place, (dims, axis, sizes) in LINES.items():
        for way, (attributes, clauses) in ways.items():
            op.sized(
                f"{place}_{way}",
                sizes[:: 1 if way == "plain" else 2],
                each="T" if (place, way) == ("last", "plain") else None,
                cites=clauses,
                arguments={"x": filled(*dims, **limits), "axis": axis, **attributes},
            )
