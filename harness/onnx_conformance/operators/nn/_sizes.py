# SPDX-License-Identifier: Apache-2.0
"""The sizes of convolutions, pools and normalizations in real models."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from onnx_conformance.declare.sizes import Filled, filled, grid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.declare.sizes import Dims, Sizes

CHANNELS = (1, 3, 4, 5, 8, 15, 16, 17, 32, 64, 100)
"""Numbers of channels around the widths of blocked layouts."""
IMAGES = (7, 14, 28, 33, 64)
"""Heights and widths of images."""

FILTERED: dict[str, tuple[Dims, Dims, list[dict[str, int]]]] = {
    "line": (("b", "c", "w"), ("m", "c", "k"), grid(b=(2,), c=(3, 16), m=(8, 17), w=(33, 129), k=(1, 3, 5))),
    "plane": (("b", "c", "h", "h"), ("m", "c", "k", "k"), grid(b=(1,), c=CHANNELS, m=(4, 17), h=(14,), k=(1, 3))),
    "maps": (("b", "c", "h", "h"), ("m", "c", "k", "k"), grid(b=(2,), c=(3, 16), m=CHANNELS, h=(7,), k=(1, 3))),
    "kernels": (("b", "c", "h", "h"), ("m", "c", "k", "k"), grid(b=(1,), c=(8,), m=(16,), h=IMAGES, k=(1, 2, 3, 5, 7))),
    "rectangles": (
        ("b", "c", "h", "w"),
        ("m", "c", "kh", "kw"),
        grid(b=(1,), c=(5,), m=(6,), h=(14,), w=(33,), kh=(1, 3), kw=(2, 7)),
    ),
    "strides": (
        ("b", "c", "h", "h"),
        ("m", "c", "k", "k"),
        grid(b=(1,), c=(16,), m=(16,), h=(28, 33), k=(1, 3, 7), stride=(2, 3)),
    ),
    "dilations": (
        ("b", "c", "h", "h"), ("m", "c", "k", "k"), grid(b=(1,), c=(8,), m=(9,), h=(28, 33), k=(3,), dilation=(2, 3))
    ),
    "pads": (
        ("b", "c", "h", "h"),
        ("m", "c", "k", "k"),
        grid(b=(1,), c=(8, 16), m=(16,), h=(14, 33), k=(3, 5), before=(0, 1, 2), after=(1, 2)),
    ),
    "groups": (
        ("b", "c", "h", "h"), ("m", "share", "k", "k"), [
            {"b": 1, "c": groups * share, "m": groups * maps, "share": share, "h": 14, "k": 3, "group": groups}
            for groups in (2, 4) for share in (1, 3, 8) for maps in (1, 4, 8)
        ]
    ),
    "depthwise": (
        ("b", "c", "h", "h"), ("m", "share", "k", "k"), [
            {"b": 1, "c": channels, "m": channels * maps, "share": 1, "h": 14, "k": k, "group": channels, "before": 1}
            for channels in (3, 8, 17, 32, 64) for maps in (1, 2) for k in (3, 5)
        ]
    ),
    "volume": (
        ("b", "c", "d", "d", "d"),
        ("m", "c", "k", "k", "k"),
        grid(b=(1,), c=(3, 8), m=(4, 16), d=(7, 9), k=(1, 3)),
    ),
}  # fmt: skip
"""The dimensions of data and of weights, and the sizes. Further names are attributes: stride, dilation, group, and the
pixels of padding before and after each axis."""


def placed(rank: int) -> dict[str, Callable[[Sizes], Any]]:
    """Return the attributes of windows over axes, which the sizes determine."""
    return {
        "strides": lambda sizes: [sizes.get("stride", 1)] * rank,
        "dilations": lambda sizes: [sizes.get("dilation", 1)] * rank,
        "pads": lambda sizes: [sizes.get("before", 0)] * rank + [sizes.get("after", 0)] * rank,
    }


def filtered(data: Dims, weights: Dims) -> dict[str, Filled | Callable[[Sizes], Any]]:
    """Return the arguments of a convolution whose sizes also determine its attributes."""
    return {
        "X": filled(*data),
        "W": filled(*weights, floats=(-0.5, 0.5)),
        "group": lambda sizes: sizes.get("group", 1),
        **placed(len(data) - 2),
    }


SAME_SIZES = grid(b=(1,), c=(5,), m=(8,), h=(14, 33), k=(2, 3), stride=(1, 2))
"""The sizes of windows whose padding follows from the size of the output; pools have no maps."""


def with_same(arguments: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Return the arguments with auto_pad, SAME_UPPER or SAME_LOWER, instead of pads."""
    return {**{name: value for name, value in arguments.items() if name != "pads"}, "auto_pad": mode}


OF_BYTES: dict[str, tuple[Dims, Dims, list[dict[str, int]]]] = {
    name: (data, weights, sizes[:: {"plane": 4, "maps": 5, "kernels": 2}.get(name, 3)])
    for name, (data, weights, sizes) in FILTERED.items()
}
"""Fewer sizes of the same convolutions, for pairs of 8-bit types."""


def filtered_bytes(data: Dims, weights: Dims, x: Filled, w: Filled) -> dict[str, Filled | Callable[[Sizes], Any]]:
    """Return the arguments of a convolution of 8-bit integers. `x` and `w` have the limits and types of the inputs."""
    arguments = filtered(data, weights)
    del arguments["X"], arguments["W"]
    return {"x": dataclasses.replace(x, dims=data), "w": dataclasses.replace(w, dims=weights), **arguments}


def terms(weights: Dims, sizes: Sizes) -> int:
    """Return the number of products of each sum of a convolution."""
    return math.prod(sizes[dim] for dim in weights[1:] if isinstance(dim, str))


OVERLAPPED: dict[str, tuple[Dims, Dims, list[dict[str, int]]]] = {
    "line": (
        ("b", "c", "w"),
        ("c", "maps", "k"),
        grid(b=(2,), c=(3, 16), maps=(8,), w=(33, 129), k=(3, 4), stride=(1, 2)),
    ),
    "plane": (("b", "c", "h", "h"), ("c", "maps", "k", "k"), grid(b=(1,), c=CHANNELS, maps=(5,), h=(7,), k=(3,))),
    "maps": (("b", "c", "h", "h"), ("c", "maps", "k", "k"), grid(b=(2,), c=(4,), maps=CHANNELS, h=(7,), k=(1, 3))),
    "kernels": (
        ("b", "c", "h", "h"),
        ("c", "maps", "k", "k"),
        grid(b=(1,), c=(8,), maps=(4,), h=(7, 14), k=(1, 2, 5, 7)),
    ),
    "rectangles": (
        ("b", "c", "h", "w"),
        ("c", "maps", "kh", "kw"),
        grid(b=(1,), c=(5,), maps=(6,), h=(7,), w=(16,), kh=(1, 3), kw=(2, 7)),
    ),
    "strides": (
        ("b", "c", "h", "h"),
        ("c", "maps", "k", "k"),
        grid(b=(1,), c=(8,), maps=(3, 8), h=(7, 14), k=(2, 4), stride=(2,), before=(0, 1), after=(1,)),
    ),
    "added": (
        ("b", "c", "h", "h"),
        ("c", "maps", "k", "k"),
        grid(b=(1,), c=(8,), maps=(4,), h=(7, 14), k=(3,), stride=(2, 3), before=(1,), after=(1,), added=(1,)),
    ),
    "dilations": (
        ("b", "c", "h", "h"),
        ("c", "maps", "k", "k"),
        grid(b=(1,), c=(4,), maps=(5,), h=(7, 14), k=(3,), dilation=(2,)),
    ),
    "groups": (
        ("b", "c", "h", "h"),
        ("c", "maps", "k", "k"),
        grid(b=(1,), c=(4, 16), maps=(1, 5), h=(7,), k=(3,), group=(2, 4)),
    ),
    "depthwise": (
        ("b", "c", "h", "h"),
        ("c", "maps", "k", "k"),
        [
            {**rest, "b": 1, "c": channels, "h": 7, "k": 4, "group": channels}
            for rest in grid(maps=(1, 2), stride=(2,), before=(1,), after=(1,))
            for channels in (3, 8, 17, 32)
        ],
    ),
    "volume": (
        ("b", "c", "d", "d", "d"),
        ("c", "maps", "k", "k", "k"),
        grid(b=(1,), c=(3,), maps=(4,), d=(4, 5), k=(2, 3), stride=(1, 2)),
    ),
    "large": (
        ("b", "c", "h", "h"),
        ("c", "maps", "k", "k"),
        grid(b=(1,), c=(4,), maps=(5,), h=(64,), k=(3,), stride=(2,)),
    ),
}
"""The dimensions of data and of weights of transposed convolutions, and the sizes. Further names are as in FILTERED;
`added` is the number of pixels of output_padding."""
POOLED: dict[str, tuple[Dims, list[dict[str, int]]]] = {
    "line": (("b", "c", "w"), grid(b=(2,), c=(3, 16), w=(33, 129), k=(2, 3), stride=(1, 2))),
    "channels": (("b", "c", "h", "h"), grid(b=(1,), c=CHANNELS, h=(14,), k=(2, 3), stride=(2,))),
    "kernels": (("b", "c", "h", "h"), grid(b=(1,), c=(4,), h=(7, 14, 33), k=(2, 3, 5, 7))),
    "rectangles": (("b", "c", "h", "w"), grid(b=(1,), c=(5,), h=(14,), w=(33,), kh=(1, 3), kw=(2, 7))),
    "strides": (("b", "c", "h", "h"), grid(b=(1,), c=(8,), h=(28, 33, 64), k=(3,), stride=(2, 3))),
    "dilations": (("b", "c", "h", "h"), grid(b=(1,), c=(8,), h=(28, 33), k=(3,), dilation=(2, 3))),
    "pads": (
        ("b", "c", "h", "h"),
        grid(b=(1,), c=(8, 16), h=(14, 33), k=(3,), stride=(1, 2), before=(0, 1), after=(1,)),
    ),
    "rounded_up": (
        ("b", "c", "h", "h"),
        grid(b=(1,), c=(3, 16), h=(14, 28, 33), k=(3,), stride=(2,), before=(0, 1), after=(0,), ceil=(1,)),
    ),
    "volume": (("b", "c", "d", "d", "d"), grid(b=(1,), c=(3, 8), d=(7, 9), k=(2, 3), stride=(1, 2))),
    "large": (("b", "c", "h", "h"), grid(b=(1,), c=(18,), h=(64,), k=(3,))),
}
"""The dimensions of the input of a pool, and the sizes. Further names are as in FILTERED; `ceil` is ceil_mode."""


def pool_arguments(data: Dims) -> dict[str, Filled | Callable[[Sizes], Any]]:
    """Return the arguments of a pool whose sizes also determine its attributes."""
    rank = len(data) - 2

    def kernel(sizes: Sizes) -> list[int]:
        return [sizes["kh"], sizes["kw"]] if "kh" in sizes else [sizes["k"]] * rank

    return {
        "X": filled(*data, integers=(-128, 255)),
        "kernel_shape": kernel,
        "ceil_mode": lambda sizes: sizes.get("ceil", 0),
        **placed(rank),
    }


MAPS: dict[str, tuple[Dims, list[dict[str, int]]]] = {
    "line": (("b", "c", "w"), grid(b=(2,), c=(3, 16), w=(7, 64, 129))),
    "channels": (("b", "c", "h", "h"), grid(b=(2,), c=CHANNELS, h=(7,))),
    "plane": (("b", "c", "h", "w"), grid(b=(1,), c=(5,), h=(14, 33), w=(16, 31, 64))),
    "volume": (("b", "c", "d", "d", "d"), grid(b=(1,), c=(3, 8), d=(4, 7))),
    "large": (("b", "c", "h", "w"), grid(b=(1,), c=(5,), h=(129,), w=(129,))),
}
"""The dimensions of feature maps, and the sizes."""
ROWS: dict[str, tuple[Dims, list[dict[str, int]]]] = {
    "rows": (("m", "n"), grid(m=(3,), n=(1, 3, 8, 15, 17, 64, 65, 127, 129, 256, 768, 1000, 1025, 4097))),
    "tokens": (("b", "m", "n"), grid(b=(2,), m=(5, 17, 64), n=(16, 100, 384))),
    "many": (("m", "n"), grid(m=(700,), n=(100,))),
}
"""The dimensions of tensors whose last dimension is normalized, and the sizes."""
