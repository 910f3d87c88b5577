# SPDX-License-Identifier: Apache-2.0
"""NhwcMaxPool: the greatest value in each window of images whose channels are last.

    y = NhwcMaxPool(x, kernel_shape, strides=..., pads=..., dilations=..., auto_pad="NOTSET", ceil_mode=0)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Clause,
    Int,
    Ints,
    NoAnswer,
    Op,
    Tag,
    Unspecified,
    Version,
    ramp,
    typed,
)
from onnx_conformance.operators.nn._pooling import Pools, place, shuffled
from onnx_conformance.operators.nn._sizes import POOLED, SAME_SIZES, pool_arguments, with_same
from onnx_conformance.operators.nn._windows import SAME, Sentences, forbidden, layouts, left_open
from onnx_conformance.operators_microsoft._layouts import channels_behind, channels_second

POOL = Op("NhwcMaxPool", versions=(1,), compare=EXACT, domain="com.microsoft", rank="x")

NAME = POOL.clause(
    "",
    note="The schema has no text, so this quote is empty. Only the names define the operator: it is MaxPool of ONNX, "
    "whose attributes have the same names, for images of shape (N, H, W, C). Nothing else is defined. In particular, "
    "no sentence forbids anything.",
)
OF_MAX_POOL = Clause("ai.onnx/MaxPool", "MaxPool consumes an input tensor X and applies max pooling across the tensor")
"""The first sentence of MaxPool; `place` needs a sentence for each rule."""
POOLS = Pools(
    windows=Sentences(
        renewed=1,
        **dict.fromkeys(
            (
                "dimensions", "rounded", "strided", "either", "explicit", "match_before", "odd_before", "valid_before",
                "same", "split", "odd", "at_least_zero", "pixels", "format", "alone", "no_pads", "stride",
                "stride_default", "dilation",
            ),
            OF_MAX_POOL,
        ),
    ),
    form=OF_MAX_POOL,
    kernel=OF_MAX_POOL,
    amount=OF_MAX_POOL,
    ceil_mode=OF_MAX_POOL,
    sizes=(),
    sizes_ceil=(),
    sizes_same=(),
    sizes_valid=(),
)  # fmt: skip


@POOL.oracle()
def pooled(
    v: Version,
    *,
    x: Array,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
    ceil_mode: Int,
) -> Array:
    """Return the greatest value in each window."""
    v.silent(NAME, x.ndim < 3 or 0 in x.shape[1:])  # noqa: PLR2004 - N, D1 and C
    v.silent(NAME, auto_pad in SAME and dilations is not None and any(step != 1 for step in dilations))
    data = channels_second(x)
    try:
        windows = place(
            v,
            POOLS,
            data.shape,
            kernel_shape=kernel_shape,
            strides=strides,
            dilations=dilations,
            pads=pads,
            auto_pad=auto_pad,
            ceil_mode=ceil_mode,
        )
    except NoAnswer as answer:
        raise Unspecified(NAME) from answer
    v.silent(NAME, not windows.inside().any(tuple(range(-len(windows.sizes), 0))).all())
    greatest = windows.combined(np.maximum, windows.pixels(data, np.iinfo(data.dtype).min))
    return channels_behind(greatest)


def below_zero(*shape: int) -> Any:  # noqa: ANN401 - any argument
    """Return numbers of type int8, most of them below 0, which zero padding would exceed."""
    return typed("int8", channels_behind(shuffled(*shape)) - 120)


POOL.example(
    x=channels_behind(shuffled(2, 3, 5, 7)),
    kernel_shape=[2, 3],
    strides=[2, 1],
    pads=[1, 0, 0, 1],
    dilations=[1, 2],
    ceil_mode=1,
)
case = POOL.case
case("batch", x=below_zero(2, 3, 4, 5), kernel_shape=[3, 2], cites=NAME)
for layout in layouts(1):
    if "before" in layout.name:
        continue
    call: dict[str, Any] = {"x": below_zero(1, 2, *layout.sizes), "kernel_shape": layout.kernel, **layout.attributes}
    if "dilations" in layout.name and "same" in layout.name:
        case(layout.name, **call, unspecified=NAME)
        continue
    case(layout.name, **call, cites=NAME)
    unsigned: dict[str, Any] = {"x": channels_behind(shuffled(3, 5, *layout.sizes))}
    case(f"{layout.name}_unsigned", **call | unsigned, cites=NAME)
CEIL: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "exact": ((5, 7), {"kernel_shape": [2, 3], "strides": [3, 2]}),
    "remainder": ((6, 9), {"kernel_shape": [3, 2], "strides": [2, 4]}),
    "one_axis": ((5, 6), {"kernel_shape": [2, 3], "strides": [2, 3]}),
    "pads": ((4, 6), {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 0, 1]}),
    "dilations": ((7,), {"kernel_shape": [3], "strides": [3], "dilations": [2]}),
    "space": ((3, 4, 5), {"kernel_shape": [2, 2, 2], "strides": [2, 3, 2]}),
}
for name, (sizes, attributes) in CEIL.items():
    for flag, word in enumerate(("floor", "ceil")):
        case(f"{word}_{name}", x=below_zero(1, 2, *sizes), **attributes, ceil_mode=flag, cites=NAME)
case("ceil_two", x=below_zero(1, 2, 6, 9), kernel_shape=[3, 2], ceil_mode=2, unspecified=NAME)
for name, attributes, _ in (*forbidden(), *left_open()):
    case(name, x=below_zero(1, 2, 4, 5), kernel_shape=[2, 3], **attributes, unspecified=NAME)
OPEN: dict[str, dict[str, Any]] = {
    "padding_alone_at_the_start": {"kernel_shape": [2], "pads": [2, 0]},
    "padding_alone_at_the_end": {"kernel_shape": [2], "pads": [0, 2]},
    "last_window_behind": {"kernel_shape": [1], "strides": [2], "ceil_mode": 1, "pads": [0, 1]},
    "kernel_far_beyond_input": {"kernel_shape": [9]},
    "kernel_of_no_pixels": {"kernel_shape": [0]},
    "kernel_too_short": {"kernel_shape": []},
    "kernel_too_long": {"kernel_shape": [1, 2]},
}
for name, attributes in OPEN.items():
    case(name, Tag.EDGE, x=below_zero(1, 2, 4), **attributes, unspecified=NAME)
for mode in SAME:
    ones: dict[str, Any] = {"kernel_shape": [2, 3], "auto_pad": mode, "dilations": [1, 1]}
    case(f"{mode.lower()}_dilations_of_ones", x=below_zero(1, 2, 4, 5), **ones, cites=NAME)
    case(f"{mode.lower()}_dilations_of_two", x=below_zero(1, 2, 4, 5), **ones | {"dilations": [2, 2]}, unspecified=NAME)
case("no_spatial_axes", Tag.EDGE, x=ramp(2, 3), kernel_shape=[], unspecified=NAME)
case("rank1", Tag.EDGE, x=ramp(3), kernel_shape=[1], unspecified=NAME)
case("rank0", Tag.EDGE, x=7, kernel_shape=[1], unspecified=NAME)
case("no_batch", Tag.EDGE, x=ramp(0, 4, 2), kernel_shape=[3], cites=NAME)
case("no_channels", Tag.EDGE, x=ramp(2, 4, 0), kernel_shape=[3], unspecified=NAME)
case("no_pixels", Tag.EDGE, x=ramp(1, 0, 2), kernel_shape=[1], unspecified=NAME)
case("many_channels", x=below_zero(2, 67, 4, 5), kernel_shape=[2, 3], cites=NAME)
case("int8_least", Tag.EDGE, x=typed("int8", [[[-128], [-128], [-127], [-128]]]), kernel_shape=[2], pads=[1, 1])
case("uint8_most", Tag.EDGE, x=[[[0], [0], [255], [128], [127]]], kernel_shape=[2], cites=NAME)

for name, (dims, choice) in POOLED.items():
    arguments = pool_arguments((dims[0], *dims[2:], dims[1]))
    arguments["x"] = arguments.pop("X")
    POOL.sized(name, choice, each="T", cites=NAME, arguments=arguments)
    if name == "strides":
        for mode in SAME:
            of_same = {key: value for key, value in with_same(arguments, mode).items() if key != "dilations"}
            POOL.sized(mode.lower(), SAME_SIZES, each="T", cites=NAME, arguments=of_same)
