# SPDX-License-Identifier: Apache-2.0
"""MaxPool: the greatest value in each window.

    Y, Indices = MaxPool(X, kernel_shape, strides=..., pads=..., dilations=..., auto_pad="NOTSET", ceil_mode=0,
                         storage_order=0)

Versions: 1, 8 (indices, storage_order), 10 (dilations, ceil_mode), 11 (defaults), 12 (8-bit types), 22 (bfloat16;
windows in the right padding do not count).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, AnyOf, Array, Int, Ints, Op, Tag, Version, any_place, ramp, typed
from onnx_conformance.operators.nn._pooling import Pools, beginning_before_the_end, place, pool_cases, shuffled
from onnx_conformance.operators.nn._sizes import POOLED, SAME_SIZES, pool_arguments, with_same
from onnx_conformance.operators.nn._windows import Layout, sentences

if TYPE_CHECKING:
    from onnx_conformance.operators.nn._windows import Windows

POOL = Op("MaxPool", versions=(1, 8, 10, 11, 12, 22), compare=EXACT, rank="X")
POOL.example(
    X=shuffled(2, 3, 5, 7), kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 1], dilations=[1, 2], ceil_mode=1
)

GREATEST = POOL.clause(
    "max pooling consisting of computing the max on all values of a subset of the input tensor according to the kernel "
    "size",
    note="The text does not define the greater of a number and NaN, or of +0 and -0. If NaN or -inf is the only "
    "element, it is the greatest: onnxruntime returns the lowest number instead.",
)
EXCLUDED = POOL.clause(
    "The output of each pooling window is maximum number of elements exclude pad.",
    note="A window that contains only padding has no greatest element.",
    see=("https://github.com/onnx/onnx/issues/1922",),
)
DILATION = POOL.clause(
    "Dilation value along each spatial axis of filter.",
    since=10,
    note="The text does not define a dilation below 1. Version 11 adds that omitted dilations are 1. onnxruntime "
    "ignores dilations when it computes the padding of SAME.",
)
DILATION_DEFAULT = POOL.clause("If not present, the dilation defaults to 1 along each spatial axis.", since=11)
STORAGE = POOL.clause(
    "The storage order of the tensor. 0 is row major, and 1 is column major.",
    since=8,
    note="The text does not define which axes are swapped if there are more than two: onnxruntime leaves all planes in "
    "order and swaps the last two axes, unlike numpy's order F. The text does not define other values.",
    see=("https://github.com/onnx/onnx/issues/2290",),
)
ONLY_INDICES = POOL.clause(
    "This attribute is used only to convert an n-tuple index value into a single integer value for producing the "
    "second output.",
    since=12,
)
SELECTED = POOL.clause(
    "The values in indices of are the indices of the selected values during pooling.",
    since=8,
    note="The text does not define which of several equal values is selected, so the index of any of them is accepted.",
)
FLAT = POOL.clause(
    "The indices are computed as flatten 1-D tensor, and the indices do not consider padding. So the values in indices "
    "are in [0, N x C x D1 x ... x Dn).",
    since=8,
    note="The indices refer to the whole tensor. onnx.reference restarts them in every plane.",
)
SAME_DIMENSIONS = POOL.clause("The dimensions of indices are the same as output tensor.", since=8)
INT64 = POOL.clause("Constrain index tensor to int64", since=8)
IGNORED = POOL.clause(
    "Sliding windows that would start in the right padded region are ignored.",
    since=22,
    note="The region begins after the last pixel, whether or not pads has an end, as the official "
    "test_maxpool_2d_ceil_output_size_reduce_by_one shows. The text does not define this for sizes that are rounded "
    "down.",
    see=("https://github.com/onnx/onnx/issues/5711", "https://github.com/onnx/onnx/pull/5741"),
)
FORM = POOL.clause("For non image case, the dimensions are in the form of (N x C x D1 x D2 ... Dn)")
KERNEL = POOL.clause("The size of the kernel along each axis.")
CEIL_MODE = POOL.clause(
    "Whether to use ceil or floor (default) to compute the output shape.",
    since=10,
    see=("https://github.com/onnx/onnx/issues/4958",),
)
ROUNDED_DOWN = POOL.clause(
    "Floor value of the dimension is used",
    note="Version 10 added ceil_mode, which can change this.",
    see=("https://github.com/onnx/onnx/issues/2927",),
)
FLOOR = (
    POOL.clause(
        "output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - dilation[i] * (kernel_shape[i] - 1) "
        "- 1) / strides_spatial_shape[i] + 1)"
    )
    .reworded(
        before=12,
        text="output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - ((kernel_spatial_shape[i] - 1) "
        "* dilations[i] + 1)) / strides_spatial_shape[i] + 1)",
    )
    .reworded(
        before=10,
        text="output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - kernel_spatial_shape[i]) / "
        "strides_spatial_shape[i] + 1)",
    )
)
CEIL = POOL.clause(
    "output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - dilation[i] * (kernel_shape[i] - 1) "
    "- 1) / strides_spatial_shape[i] + 1)"
).reworded(
    before=12,
    text="output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - ((kernel_spatial_shape[i] - 1) * "
    "dilations[i] + 1)) / strides_spatial_shape[i] + 1)",
    since=10,
)
PAD_SHAPE = POOL.clause("sum of pads along axis")
IF_CEIL = POOL.clause("if ceil_mode is enabled", since=10)
SAME = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = ceil(input_spatial_shape[i] / strides_spatial_shape[i])"
)
SAME_EXPLICIT = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = floor((input_spatial_shape[i] - 1) / "
    "strides_spatial_shape[i]) + 1",
    since=12,
)
ADDED = POOL.clause(
    "pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + ((kernel_spatial_shape[i] - 1) * "
    "dilations[i] + 1) - input_spatial_shape[i]",
    note="The text does not define a negative result: padding is 0 or more.",
).reworded(
    before=10,
    text="pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + kernel_spatial_shape[i] - "
    "input_spatial_shape[i]",
)
VALID = POOL.clause(
    "VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - ((kernel_spatial_shape[i] - 1) * "
    "dilations[i] + 1) + 1) / strides_spatial_shape[i])"
).reworded(
    before=10,
    text="VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - kernel_spatial_shape[i] + 1) / "
    "strides_spatial_shape[i])",
)
VALID_EXPLICIT = POOL.clause(
    "VALID: output_spatial_shape[i] = floor((input_spatial_shape[i] - ((kernel_spatial_shape[i] - 1) * "
    "dilations[i] + 1)) / strides_spatial_shape[i]) + 1",
    since=12,
)
DEPRECATED = POOL.clause("`auto_pad` is a DEPRECATED attribute.")
SAME_SHAPE = POOL.clause(
    "SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] / strides[i])` "
    "for each axis `i`.",
    since=12,
    see=("https://github.com/onnx/onnx/issues/3153", "https://github.com/onnx/onnx/pull/3188"),
)
STRIDE_DEFAULT = POOL.clause("If not present, the stride defaults to 1 along each spatial axis.", since=11)
POOLS = Pools(
    windows=sentences(
        POOL,
        dimensions=ROUNDED_DOWN,
        rounded=ROUNDED_DOWN,
        dilation=DILATION,
        same=SAME_SHAPE,
        stride_default=STRIDE_DEFAULT,
        strided=SAME,
    ),
    form=FORM,
    kernel=KERNEL,
    amount=ADDED.at(10),
    ceil_mode=CEIL_MODE,
    sizes=(FLOOR, PAD_SHAPE),
    sizes_ceil=(CEIL, IF_CEIL),
    sizes_same=(SAME, SAME_EXPLICIT, ADDED, DEPRECATED),
    sizes_valid=(VALID, VALID_EXPLICIT),
)


def _one_answer(v: Version, windows: Windows, X: Array, greatest: Array) -> None:
    """Raise Unspecified if the greatest value of a window is open."""
    kernel = tuple(range(-len(windows.sizes), 0))
    if np.isnan(X).any():
        several = windows.inside().sum(kernel, keepdims=True) > 1
        v.ordered(GREATEST, windows.pixels(X), within=several)
    zero, minus = X == 0, np.signbit(X)
    signs = zero & minus, zero & ~minus
    if all(sign.any() for sign in signs):
        below, above = (windows.combined(np.logical_or, windows.pixels(sign)) for sign in signs)
        v.silent(GREATEST, bool((below & above & (greatest == 0)).any()))


def _indices(v: Version, windows: Windows, X: Array, greatest: Array, storage_order: int) -> AnyOf:
    """Return the index in the flat input of each value of `greatest`, or of a value equal to it."""
    rank = len(windows.sizes)
    v.silent(STORAGE, storage_order == 1 and (rank > 2 or X.shape[:2] != (1, 1)))  # noqa: PLR2004 - rows and columns
    places = np.arange(X.size).reshape(X.shape, order="F" if storage_order else "C")
    own = greatest.reshape(greatest.shape + (1,) * rank)
    here = windows.inside() & ((windows.pixels(X) == own) | np.isnan(own))
    lanes = (*greatest.shape, math.prod(here.shape[-rank:]))
    return any_place(windows.pixels(places).reshape(lanes), here.reshape(lanes))


@POOL.oracle()
def pooled(
    v: Version,
    *,
    n: int,
    X: Array,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
    ceil_mode: Int,
    storage_order: Int,
) -> tuple[Array | AnyOf, ...]:
    """Return the greatest value in each window, and its index if the node has a second output."""
    windows = place(
        v,
        POOLS,
        X.shape,
        kernel_shape=kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    windows = beginning_before_the_end(v, IGNORED, windows, ceil_mode)
    v.silent(STORAGE, storage_order not in {0, 1, None})
    kernel = tuple(range(-len(windows.sizes), 0))
    v.silent(EXCLUDED, not windows.inside().any(kernel).all())
    least = -np.inf if X.dtype.kind == "f" else np.iinfo(X.dtype).min
    greatest = windows.combined(np.maximum, windows.pixels(X, least))
    _one_answer(v, windows, X, greatest)
    return (greatest,) if n == 1 else (greatest, _indices(v, windows, X, greatest, storage_order or 0))


def below_zero(*shape: int) -> Array:
    """Return values below zero, which zero padding would exceed."""
    return shuffled(*shape) - 200


case = POOL.case
pool_cases(POOL, POOLS, below_zero)

case("defaults_of_dilations", X=below_zero(1, 2, 4, 5), kernel_shape=[2, 3], cites=DILATION_DEFAULT)
case("four_axes", X=below_zero(1, 2, 3, 2, 4, 5), kernel_shape=[2, 1, 2, 3], strides=[1, 2, 2, 1], cites=GREATEST)
case("int8_least", Tag.EDGE, X=typed("int8", [[[-128, -128, -127, -128]]]), kernel_shape=[2], pads=[1, 1], since=12)
case("uint8_most", Tag.EDGE, X=typed("uint8", [[[0, 0, 255, 128, 127]]]), kernel_shape=[2], since=12)
case("equal", Tag.EDGE, X=[[[3, 3, 3, 5, 5]]], kernel_shape=[2], cites=GREATEST)
case("infinities", Tag.EDGE, X=[[[-np.inf, -np.inf, 1, np.inf, 2]]], kernel_shape=[2], cites=GREATEST)
case("minus_infinity_padded", Tag.EDGE, X=[[[-np.inf, -1, -np.inf]]], kernel_shape=[2], pads=[1, 1], cites=EXCLUDED)
case("nan_alone", Tag.EDGE, X=[[[1, np.nan, 2]]], kernel_shape=[1], cites=GREATEST)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2]]], kernel_shape=[2], unspecified=GREATEST)
case("nan_in_one_window", Tag.EDGE, X=[[[1, np.nan, 2, 3]]], kernel_shape=[2], unspecified=GREATEST)
case("minus_zero", Tag.EDGE, X=[[[-0.0, -1, -0.0, -0.0]]], kernel_shape=[2], cites=GREATEST)
case("two_zeros", Tag.EDGE, X=[[[0.0, -0.0, 2]]], kernel_shape=[2], unspecified=GREATEST)
case("zeros_below_the_greatest", Tag.EDGE, X=[[[0.0, -0.0, 2]]], kernel_shape=[3], cites=GREATEST)
THREE = [[[1, 2, 3]]]
case("padding_alone_at_the_start", Tag.EDGE, X=THREE, kernel_shape=[2], pads=[2, 0], unspecified=EXCLUDED)
case(
    "padding_alone_at_the_end_before_22",
    Tag.EDGE,
    X=THREE,
    kernel_shape=[2],
    pads=[0, 2],
    before=22,
    unspecified=EXCLUDED,
)
case("padding_alone_at_the_end", Tag.EDGE, X=THREE, kernel_shape=[2], pads=[0, 2], since=22, unspecified=IGNORED)
case(
    "padding_alone_at_the_right",
    Tag.EDGE,
    X=below_zero(1, 2, 3, 4),
    kernel_shape=[2, 3],
    pads=[0, 0, 0, 3],
    since=22,
    unspecified=IGNORED,
)
LAST_WINDOWS: dict[str, tuple[Tag, dict[str, Any]]] = {
    "behind": (Tag.CHANGE, {"X": below_zero(1, 2, 6), "kernel_shape": [2], "strides": [3]}),
    "in_padding": (Tag.CHANGE, {"X": below_zero(1, 2, 4), "kernel_shape": [3], "strides": [4], "pads": [0, 1]}),
    # Models have less padding than the length of a window.
    "in_much_padding": (Tag.EDGE, {"X": below_zero(1, 2, 3), "kernel_shape": [2], "strides": [2], "pads": [0, 5]}),
}
for name, (tag, call) in LAST_WINDOWS.items():
    case(f"last_window_{name}", tag, **call, ceil_mode=1, cites=IGNORED)
    case(f"last_window_{name}_before_22", Tag.CHANGE, **call, ceil_mode=1, before=22, unspecified=EXCLUDED)

INDEXED = (
    Layout("plane", (4, 5), (2, 3), {}),
    Layout("pads", (3, 4), (2, 3), {"pads": [1, 2, 0, 1]}),
    Layout("same_lower", (3, 5), (2, 4), {"auto_pad": "SAME_LOWER"}),
    Layout("dilations", (5, 7), (2, 3), {"dilations": [3, 2]}),
    Layout("ceil", (6, 9), (3, 2), {"strides": [2, 4], "ceil_mode": 1}),
)
for layout in INDEXED:
    case(
        f"indices_{layout.name}",
        X=below_zero(*((2, 3) if layout.name == "plane" else (1, 2)), *layout.sizes),
        kernel_shape=layout.kernel,
        **layout.attributes,
        n=2,
        cites=(FLAT, SELECTED, SAME_DIMENSIONS),
    )
case("indices_space", X=below_zero(2, 1, 2, 3, 4), kernel_shape=[2, 1, 3], n=2, cites=(FLAT, SELECTED, SAME_DIMENSIONS))
case("indices_each_type", Tag.DTYPE, each="T", X=shuffled(2, 3, 5), kernel_shape=[2], n=2, cites=INT64)
PLANE = below_zero(1, 1, 4, 5)
case("storage_order_rows", X=PLANE, kernel_shape=[2, 3], storage_order=0, n=2, cites=STORAGE)
case("storage_order_columns", X=PLANE, kernel_shape=[2, 3], storage_order=1, n=2, cites=STORAGE)
case(
    "storage_order_columns_pads",
    X=PLANE,
    kernel_shape=[2, 3],
    pads=[1, 0, 0, 2],
    storage_order=1,
    n=2,
    cites=(STORAGE, FLAT),
)
case(
    "storage_order_without_indices", X=below_zero(2, 3, 4, 5), kernel_shape=[2, 3], storage_order=1, cites=ONLY_INDICES
)
case("storage_order_channels", X=below_zero(1, 2, 4, 5), kernel_shape=[2, 3], storage_order=1, n=2, unspecified=STORAGE)
case(
    "storage_order_space",
    X=below_zero(1, 1, 2, 3, 4),
    kernel_shape=[2, 1, 3],
    storage_order=1,
    n=2,
    unspecified=STORAGE,
)
case("storage_order_two", X=PLANE, kernel_shape=[2, 3], storage_order=2, n=2, unspecified=STORAGE)
case("indices_of_one_pixel", Tag.EDGE, X=[[[[3]]]], kernel_shape=[1, 1], n=2, since=8, cites=FLAT)
case("indices_of_nan_alone", Tag.EDGE, X=[[[1, np.nan, 2]]], kernel_shape=[1], n=2, since=8, cites=SELECTED)
case(
    "indices_of_nan_beside_padding",
    Tag.EDGE,
    X=[[[5, 1, 2], [np.nan, 4, 3]]],
    kernel_shape=[2],
    strides=[2],
    pads=[1, 0],
    n=2,
    since=8,
    cites=SELECTED,
)
case("indices_of_no_batch", Tag.EDGE, X=ramp(0, 2, 4), kernel_shape=[2], n=2, since=8, cites=SAME_DIMENSIONS)
case("indices_of_equals", Tag.EDGE, X=[[[3, 3, 5]]], kernel_shape=[2], n=2, since=8, cites=SELECTED)
case(
    "indices_of_equals_in_part",
    X=[[[[1, 7, 2, 7], [7, 3, 4, 5], [6, 6, 9, 8]]]],
    kernel_shape=[2, 3],
    n=2,
    since=8,
    cites=SELECTED,
)
case("indices_of_equals_below", Tag.EDGE, X=[[[-9, -9, -7, -9]]], kernel_shape=[2], n=2, since=8, cites=SELECTED)

for name, (dims, sizes) in POOLED.items():
    POOL.sized(name, sizes, each="T", cites=GREATEST, arguments=pool_arguments(dims))
    POOL.sized(f"{name}_indices", sizes[::3], n=2, each="T", cites=(SELECTED, FLAT), arguments=pool_arguments(dims))
for mode in ("SAME_UPPER", "SAME_LOWER"):
    padded = with_same(pool_arguments(POOLED["strides"][0]), mode)
    POOL.sized(mode.lower(), SAME_SIZES, each="T", cites=(GREATEST, SAME_SHAPE), arguments=padded)
