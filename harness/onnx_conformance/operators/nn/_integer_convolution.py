# SPDX-License-Identifier: Apache-2.0
"""Convolutions of 8-bit integers: the sentences that the texts of ConvInteger and QLinearConv share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.data import ramp
from onnx_conformance.declare.op import Tag
from onnx_conformance.operators.nn._filters import Kernels, check, kernels, products
from onnx_conformance.operators.nn._windows import Sentences, forbidden, lay, layouts, left_open, sentences

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.op import Op

    Ints = Array | list[int] | tuple[int, ...] | None

TELLING = {
    "space",
    "strides_remainder_pads",
    "strides_pads_dilations_space",
    "same_upper_odd",
    "same_upper_plane",
    "same_lower_plane",
    "same_upper_strides",
    "same_lower_dilations",
    "same_lower_of_one",
}
"""Layouts with several attributes at once. The cases of Conv test each attribute separately."""


FORBIDDEN = {
    "pads_negative",
    "pads_too_few",
    "auto_pad_unknown",
    "pads_with_same_upper",
    "strides_too_few",
    "dilations_too_few",
}
"""One violation of each sentence on windows. The cases of Conv test other violations."""


def whole(*shape: int) -> Array:
    """Return whole numbers from -30 to 30. Neighbours are different."""
    return (np.arange(np.prod(shape, dtype=int)) * 23 % 61 - 30).reshape(shape)


@dataclass(frozen=True)
class Convolution:
    """The sentences of both operators.

    Attributes:
        kernels: the sentences on filters.
        windows: the sentences on windows.
        channels: the sentence on channels and groups.
        form: the sentence on the shape of images.
        maps: the sentence on shapes with more than two dimensions.
        group_default: the sentence on an omitted group.
        types: the sentences on the types of data and weights.
    """

    kernels: Kernels
    windows: Sentences
    channels: Clause
    form: Clause
    maps: Clause
    group_default: Clause
    types: tuple[Clause, Clause]

    def sums(
        self,
        v: Version,
        x: Array,
        w: Array,
        *,
        group: int,
        kernel_shape: Ints,
        strides: Ints,
        dilations: Ints,
        pads: Ints,
        auto_pad: str,
    ) -> tuple[Array, Array]:
        """Return the sums of the products of each window with each filter, and those of their magnitudes.

        Args:
            v: the version.
            x: the input minus its zero point, int64.
            w: the filters minus their zero points, int64.
            group: the attribute of this name.
            kernel_shape: the attribute, or None.
            strides: the attribute, or None.
            dilations: the attribute, or None.
            pads: the attribute, or None.
            auto_pad: the attribute of this name.
        """
        check(v, self.kernels, x, w, group, kernel_shape)
        v.require(self.channels, x.shape[1] == w.shape[1] * group)
        v.silent(self.kernels.groups, w.shape[0] % group != 0)
        windows = lay(v, self.windows, x.shape[2:], w.shape[2:], strides, dilations, pads, auto_pad)
        v.silent(self.windows.dimensions, min(windows.counts) < 1)
        # Sums of products of numbers of 9 bits are exact as doubles, which numpy multiplies in blocks.
        x, w = x.astype(np.float64), w.astype(np.float64)
        sums, of_magnitudes = products(windows, x, w, group), products(windows, np.abs(x), np.abs(w), group)
        return sums.astype(np.int64), of_magnitudes.astype(np.int64)


def convolution(
    op: Op, *, stride_default: Clause, dilation_default: Clause, types: tuple[Clause, Clause]
) -> Convolution:
    """Declare the sentences that both operators share verbatim, and add those of one operator."""
    dimensions = op.clause(
        "The output dimensions are functions of the kernel size, stride size, and pad lengths.",
        note="The text has no formula. The number of windows is the number that fits. An input in which no window fits "
        "is left open.",
    )
    own = kernels(
        op,
        weights=op.clause("has size (M x C/group x kH x kW)"),
        dilation_default=dilation_default,
        inferred=op.clause("If not present, should be inferred from input 'w'.", result=True),
    )
    same = op.clause(
        "SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] / strides[i])` for "
        "each axis `i`."
    )
    windows = sentences(
        op,
        dimensions=dimensions,
        rounded=dimensions,
        dilation=own.dilation,
        same=same,
        stride_default=stride_default,
        no_pads=op.clause(
            "If not present, the padding defaultsto 0 along start and end of each spatial axis.",
            note="VALID, which no sentence explains, therefore adds no padding.",
        ),
        pads_format=op.clause(
            "`pads` format should be as follow [x1_begin, x2_begin...x1_end, x2_end,...], where xi_begin the number "
            "ofpixels added at the beginning of axis `i` and xi_end, the number of pixels added at the end of axis `i`."
        ),
    )
    return Convolution(
        kernels=own,
        windows=windows,
        channels=op.clause(
            "X.shape[1] == (W.shape[1] * group) == C (assuming zero based indices for the shape array). Or in other "
            "words FILTER_IN_CHANNEL should be equal to DATA_CHANNEL.",
            note='The "other words" are true only for one group; the formula decides.',
        ),
        form=op.clause("has size (N x C x H x W)"),
        maps=op.clause("For more than 2 dimensions, the kernel shape will be (M x C/group x k1 x k2 x ... x kn)"),
        group_default=op.clause("default is 1."),
        types=types,
    )


def convolution_cases(
    op: Op, clauses: Convolution, quantized: Callable[..., dict[str, Any]], needed: dict[str, Any]
) -> None:
    """Declare the cases without zero points for each feature map.

    Args:
        op: the operator.
        clauses: its sentences.
        quantized: returns the inputs of the operator except x and w. The keywords `x_type` and `w_type` set their
            types.
        needed: the required inputs among these, for models without an expected output.
    """
    case, own, windows, rest = op.case, clauses.kernels, clauses.windows, quantized()
    case(
        "batch", x=whole(2, 3, 4, 5), w=whole(5, 3, 3, 2), **rest, cites=(clauses.form, own.weights, windows.dimensions)
    )
    turned: dict[str, Any] = {"x": np.arange(12).reshape(1, 1, 3, 4), "w": [[[[1, 10, 50], [100, 0, 5]]]]}
    case("not_turned", **turned, **needed, cites=own.weights)
    for layout in layouts(windows.renewed):
        if layout.name in TELLING:
            data, weights = whole(1, 2, *layout.sizes), whole(3, 2, *layout.kernel)
            cites = windows.named(*layout.cites) or (clauses.maps, own.data)
            case(layout.name, x=data, w=weights, **layout.attributes, **rest, cites=cites)
    plane: dict[str, Any] = {"x": whole(1, 2, 4, 5), "w": whole(3, 2, 2, 3), **rest}
    every: dict[str, Any] = {"strides": [1, 2], "dilations": [2, 1], "pads": [0, 1, 2, 1], "auto_pad": "NOTSET"}
    case(
        "every_attribute",
        **plane,
        **every,
        group=1,
        kernel_shape=[2, 3],
        cites=(own.kernel, own.groups, windows.explicit),
    )
    defaults = (own.inferred, clauses.group_default, own.dilation_default, windows.stride_default, windows.no_pads)
    case("defaults", **plane, cites=defaults)
    case("group_two", x=whole(1, 4, 3), w=whole(6, 2, 2), **rest, group=2, cites=(own.groups, clauses.channels))
    case(
        "group_each_channel",
        x=whole(1, 3, 4, 5),
        w=whole(3, 1, 2, 3),
        **rest,
        group=3,
        pads=[1, 0, 0, 1],
        cites=own.groups,
    )
    case("group_each_channel_twice", x=whole(2, 3, 4), w=whole(6, 1, 2), **rest, group=3, pads=[1, 0], cites=own.groups)
    case("no_batch", Tag.EDGE, x=ramp(0, 2, 4, 5), w=whole(3, 2, 2, 3), **needed, cites=own.data)
    case(
        "no_pixels_but_padding", Tag.EDGE, x=ramp(1, 2, 0), w=whole(3, 2, 2), **rest, pads=[1, 2], cites=windows.pixels
    )

    over: dict[str, Any] = {"x": whole(1, 2, 5), "w": whole(3, 2, 1), "strides": [3], "auto_pad": "SAME_UPPER"}
    case("same_upper_steps_over", **over, **needed, cites=windows.same)
    valid: dict[str, Any] = {"x": whole(1, 2, 5), "w": whole(3, 2, 2), "auto_pad": "VALID"}
    case("valid", **valid, **needed, cites=windows.either)
    case("valid_strides", **valid, **needed, strides=[2], cites=windows.either)
    case("no_channels", Tag.EDGE, x=ramp(1, 0, 4), w=ramp(3, 0, 2), **needed, cites=own.weights)

    plane, rest = {"x": plane["x"], "w": plane["w"], **needed}, needed
    for name, attributes, sentence in forbidden():
        if name in FORBIDDEN:
            case(name, **plane, **attributes, rejects=getattr(windows, sentence))
    for name, attributes, sentence in left_open():
        case(name, **plane, **attributes, unspecified=getattr(windows, sentence))
    case("rank1", Tag.EDGE, x=ramp(2), w=ramp(2), **rest, rejects=own.data)
    case("no_spatial_axes", Tag.EDGE, x=ramp(2, 3), w=ramp(3, 3), **rest, unspecified=own.data)
    case("weights_of_lower_rank", x=whole(1, 2, 4, 5), w=whole(3, 2, 3), **rest, rejects=own.weights)
    case("kernel_of_no_pixels", Tag.EDGE, x=whole(1, 2, 4), w=ramp(3, 2, 0), **rest, unspecified=own.weights)
    case("other_kernel_shape", **plane, kernel_shape=[3, 2], rejects=own.kernel)
    case("group_zero", Tag.EDGE, **plane, group=0, unspecified=own.groups)
    case("maps_no_multiple", x=whole(1, 4, 3), w=whole(3, 2, 2), **rest, group=2, unspecified=own.groups)
    case("channels_too_few", x=whole(1, 3, 4), w=whole(3, 2, 2), **rest, rejects=clauses.channels)
    case("channels_of_all_groups", x=whole(1, 4, 3), w=whole(6, 4, 2), **rest, group=2, rejects=clauses.channels)
    beyond: dict[str, Any] = {"x": whole(1, 2, 3, 5), "w": whole(3, 2, 4, 2)}
    case("kernel_beyond_height", Tag.EDGE, **beyond, **rest, unspecified=windows.dimensions)

    wide = typed("int32", whole(1, 2, 4))
    data_types, weight_types = clauses.types
    case("wide_x", Tag.DTYPE, x=wide, w=whole(3, 2, 2), **quantized(x_type="int32"), rejects=data_types)
    case("wide_w", Tag.DTYPE, x=whole(1, 2, 3), w=wide, **quantized(w_type="int32"), rejects=weight_types)
