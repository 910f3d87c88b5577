# SPDX-License-Identifier: Apache-2.0
"""MaxUnpool: put the results of a max pool back at their original positions, among zeros.

    output = MaxUnpool(X, I, output_shape=None, kernel_shape=..., strides=..., pads=...)

Versions: 9, 11 (strides have a default), 22 (bfloat16).
"""

# ruff: noqa: E741 - the text's own name

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._windows import spread

if TYPE_CHECKING:
    from onnx_conformance.declare import Ints
    from onnx_conformance.declare.sizes import Sizes

UNPOOL = Op("MaxUnpool", versions=(9, 11, 22), compare=EXACT, rank="X")
UNPOOL.example(
    X=[[[[5, 7], [13, 15]]]],
    I=typed("int64", [[[[4, 6], [12, 14]]]]),
    kernel_shape=[2, 2],
    strides=[2, 2],
    pads=[0, 0, 0, 0],
)

INVERSE = UNPOOL.clause(
    "MaxUnpool essentially computes the partial inverse of the MaxPool op.",
    note="The text has no formula for the sizes of the output. If the strides leave a remainder, several sizes are "
    "possible inverses. The official cases have the smallest one, (size - 1) * stride + kernel - pads. The text does "
    "not define the output if padding makes this less than 1.",
)
INDICES = UNPOOL.clause(
    "The second input tensor, I, contains the indices to the (locally maximal) elements corresponding to the elements "
    "in the first input tensor X.",
    note="The text does not define which of several elements with the same index is kept, unless they are equal.",
)
ZEROS = UNPOOL.clause(
    "all the non-maximal values from the original input to MaxPool are set to zero in the output of the MaxUnpool op.",
    result=True,
)
BACK = UNPOOL.clause(
    "Pooling the result of an unpooling operation should give back the original input to the unpooling op.",
    result=True,
    note="Therefore each value is placed at its index.",
)
SIZE = UNPOOL.clause(
    "The third input argument, output_size, is meant to disambiguate the op and produce output tensor of "
    "known/predictable size.",
    result=True,
)
THREE = UNPOOL.clause(
    "MaxUnpool takes three attributes, namely kernel_shape, strides, and pads, which define the exact"
)
FORM = UNPOOL.clause(
    "For non-image case, the dimensions are in the form of (N x C x D1 x D2 ... Dn)",
    note="The text does not define whether an input without D1 is allowed.",
)
IMAGE = UNPOOL.clause("Dimensions for image case are (N x C x H x W)")
SAME = UNPOOL.clause("Dimensions must be the same as input tensor X.")
LINEAR = UNPOOL.clause(
    "The indices are linear, i.e. computed considering the tensor as flattened 1-D tensor, assuming row-major storage.",
    note="The tensor is the output. If output_shape is larger than the sizes computed from the attributes, the "
    "official case counts in the computed sizes, but the indices of MaxPool count in the larger one. This case is left "
    "open.",
    against=("test_maxunpool_export_with_output_shape",),
)
NO_PADDING = UNPOOL.clause("Also, the linear indices should not consider padding.", result=True)
RANGE = UNPOOL.clause("So the values in indices are in the range [0, N x C x D1 x ... x Dn).")
EXPLICIT = UNPOOL.clause(
    "The shape of the output can be explicitly set which will cause pads values to be auto generated.",
    note="The text does not define which shapes may be set, or whether the first two dimensions may differ from those "
    "of X.",
)
IGNORED = UNPOOL.clause("If 'output_shape' is specified, 'pads' values are ignored.", result=True)
KERNEL = UNPOOL.clause("The size of the kernel along each axis.")
STRIDES = UNPOOL.clause(
    "Stride along each spatial axis.",
    note="The text does not define a stride below 1. Version 11 adds that omitted strides are 1.",
)
NO_STRIDES = UNPOOL.clause("If not present, the stride defaults to 1 along each spatial axis.", since=11)
PADS = UNPOOL.clause("it can take any value greater than or equal to 0.")
PIXELS = UNPOOL.clause(
    "The value represent the number of pixels added to the beginning and end part of the corresponding axis.",
    note="This is the padding of the input of the max pool, so the output is smaller by that amount.",
)
FORMAT = UNPOOL.clause(
    "`pads` format should be as follow [x1_begin, x2_begin...x1_end, x2_end,...], where xi_begin the number of pixels "
    "added at the beginning of axis `i` and xi_end, the number of pixels added at the end of axis `i`."
)
AUTO = UNPOOL.clause("This attribute cannot be used simultaneously with auto_pad attribute.", result=True)
NO_PADS = UNPOOL.clause("If not present, the padding defaults to 0 along start and end of each spatial axis.")
FLOATS = UNPOOL.clause("Constrain input and output types to float tensors.")
INT64 = UNPOOL.clause("Constrain index tensor to int64")


@UNPOOL.oracle()
def unpooled(
    v: Version, X: Array, I: Array, output_shape: Array | None, kernel_shape: Ints, strides: Ints, pads: Ints
) -> Array:
    """Return zeros, with each element of X at its index."""
    v.require(FORM, X.ndim > 1)
    v.silent(FORM, X.ndim == 2)  # noqa: PLR2004 - N and C, and no D1
    v.require(SAME, I.shape == X.shape)
    rank = X.ndim - 2
    kernel = np.asarray(kernel_shape)
    v.require(KERNEL, len(kernel) == rank)
    v.silent(KERNEL, bool((kernel < 1).any()))
    steps = spread(v, STRIDES, strides, rank)
    v.require(FORMAT, pads is None or len(pads) == 2 * rank)
    v.require(PADS, pads is None or all(pad >= 0 for pad in pads))
    whole = (np.asarray(X.shape[2:]) - 1) * steps + kernel
    padding = np.zeros(2 * rank, int) if pads is None else np.asarray(pads)
    shape = (*X.shape[:2], *(whole - padding[:rank] - padding[rank:]).tolist())
    if output_shape is not None:
        shape = tuple(output_shape.tolist())
        v.silent(EXPLICIT, shape[:2] != X.shape[:2] or len(shape) != X.ndim)
        v.silent(LINEAR, any(size > most for size, most in zip(shape[2:], whole, strict=True)))
    v.silent(INVERSE, min(shape[2:]) < 1)
    places = I.ravel()
    v.require(RANGE, bool(((places >= 0) & (places < math.prod(shape))).all()))
    output = np.zeros(math.prod(shape), X.dtype)
    output[places] = X.ravel()
    v.silent(INDICES, not np.array_equal(output[places], X.ravel(), equal_nan=True))
    return output.reshape(shape)


case = UNPOOL.case
LAST_OF_WINDOWS = [[[[5, 7], [13, 15]]]]
PLANE: dict[str, Any] = {"X": [[[[1, 2], [3, 4]]]], "I": LAST_OF_WINDOWS, "kernel_shape": [2, 2], "strides": [2, 2]}


def pooled(*shape: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return values of a shape (N, C, ...), and distinct unordered indices into an output of these sizes."""
    count, room = math.prod(shape), math.prod(shape[:2]) * math.prod(sizes)
    places = (np.arange(count) * 7 % room if room % 7 else np.arange(count) * 5 % room).reshape(shape)
    return {"X": waves(*shape), "I": typed("int64", places)}


case("plane", **PLANE, cites=(INVERSE, INDICES, IMAGE, KERNEL, STRIDES, THREE, ZEROS, BACK))
case("one_axis", **pooled(1, 1, 4, sizes=(11,)), kernel_shape=[2], strides=[3], cites=(FORM, LINEAR))
case("three_axes", **pooled(1, 2, 2, 1, 3, sizes=(4, 2, 7)), kernel_shape=[2, 2, 3], strides=[2, 1, 2], cites=FORM)
case("batch", **pooled(2, 3, 2, 3, sizes=(5, 8)), kernel_shape=[2, 4], strides=[3, 2], cites=(LINEAR, SAME, RANGE))
case("indices_of_other_channels", X=[[[1, 2]], [[3, 4]]], I=[[[7, 0]], [[5, 1]]], kernel_shape=[2], strides=[2])
case("no_strides", **pooled(1, 2, 3, 2, sizes=(4, 4)), kernel_shape=[2, 3], cites=(NO_STRIDES, NO_PADS))
case("no_strides_before_11", **pooled(1, 2, 3, 2, sizes=(4, 4)), kernel_shape=[2, 3], before=11, cites=STRIDES)
PADDED: dict[str, Any] = {"kernel_shape": [2, 3], "strides": [2, 3]}
OF_PADS = {"uneven": [0, 1, 1, 0]}
for name, pads in OF_PADS.items():
    sizes = (6 - pads[0] - pads[2], 6 - pads[1] - pads[3])
    cites = (PIXELS, FORMAT, AUTO, NO_PADDING, PADS)
    case(f"pads_{name}", **pooled(1, 2, 3, 2, sizes=sizes), **PADDED, pads=pads, cites=cites)
case("output_shape_smaller", **pooled(1, 2, 3, 2, sizes=(5, 4)), **PADDED, output_shape=[1, 2, 5, 4], cites=EXPLICIT)
OVERRIDDEN: dict[str, Any] = {**pooled(1, 2, 3, 2, sizes=(6, 5)), **PADDED, "pads": [1, 1, 1, 1]}
case("output_shape_beside_pads", **OVERRIDDEN, output_shape=[1, 2, 6, 5], cites=(IGNORED, EXPLICIT, SIZE))
case("output_shape_larger", **PLANE, output_shape=[1, 1, 4, 5], unspecified=LINEAR)
case("output_shape_of_other_rank", **PLANE, output_shape=[4, 4], unspecified=EXPLICIT)
case("output_shape_of_other_channels", **PLANE, output_shape=[1, 2, 4, 4], unspecified=EXPLICIT)

ROW: dict[str, Any] = {"kernel_shape": [1, 2], "strides": [1, 2]}
case("one_row", Tag.EDGE, **pooled(1, 2, 1, 3, sizes=(1, 6)), **ROW, cites=KERNEL)
PADDED_LINE: dict[str, Any] = {"kernel_shape": [3], "strides": [2], "pads": [1, 0]}
case("pads_of_one_axis", **pooled(1, 1, 3, sizes=(6,)), **PADDED_LINE, cites=FORMAT)
case("no_channels", Tag.EDGE, X=ramp(1, 0, 3), I=typed("int64", ramp(1, 0, 3)), kernel_shape=[2], strides=[2])
ENDS = [[[0, 5]], [[6, 11]]]
case("first_and_last", Tag.EDGE, X=[[[1, 2]], [[3, 4]]], I=ENDS, kernel_shape=[3], strides=[3], cites=RANGE)
case("twice_the_same", Tag.EDGE, X=[[[5, 5, 2]]], I=[[[1, 1, 3]]], kernel_shape=[2], strides=[1], cites=(BACK, INDICES))
TWICE = [[[1, 1, 3]]]
case("twice_another", Tag.EDGE, X=[[[5, 6, 2]]], I=TWICE, kernel_shape=[2], strides=[1], unspecified=INDICES)
case("no_batch", Tag.EDGE, X=ramp(0, 2, 3), I=typed("int64", ramp(0, 2, 3)), kernel_shape=[2], strides=[2], cites=FORM)
MINUS = [[[-1, -np.inf, np.nan, -0.0]]]
case("negative_and_not_finite", Tag.EDGE, X=MINUS, I=[[[7, 1, 4, 2]]], kernel_shape=[2], strides=[2], cites=BACK)
case("extremes", Tag.DTYPE, each="T1", X=extremes(1, 1, 11), I=[[[*range(21, 10, -1)]]], kernel_shape=[2], strides=[2])

LINE: dict[str, Any] = {"X": [[[1, 2]]], "kernel_shape": [2], "strides": [2]}
case("index_too_high", Tag.EDGE, **LINE, I=[[[0, 4]]], rejects=RANGE)
case("index_negative", Tag.EDGE, **LINE, I=[[[-1, 2]]], rejects=RANGE)
case("indices_of_other_shape", **LINE, I=[[[0]]], rejects=SAME)
case("indices_of_lower_rank", **LINE, I=[[0, 2]], rejects=SAME)
case("indices_of_int32", Tag.DTYPE, **LINE, I=typed("int32", [[[0, 2]]]), rejects=INT64)
case("integers", Tag.DTYPE, outside="T1", **{**LINE, "X": ramp(1, 1, 2)}, I=[[[0, 2]]], rejects=FLOATS)
case("rank1", Tag.EDGE, X=[1], I=[0], kernel_shape=[1], strides=[1], rejects=FORM)
case("rank2", Tag.EDGE, X=[[1]], I=[[0]], kernel_shape=[], strides=[], unspecified=FORM)
case("kernel_too_short", **{**PLANE, "kernel_shape": [2]}, rejects=KERNEL)
case("kernel_zero", Tag.EDGE, **{**PLANE, "kernel_shape": [2, 0]}, unspecified=KERNEL)
case("strides_too_few", **{**PLANE, "strides": [2]}, rejects=STRIDES)
case("strides_zero", Tag.EDGE, **{**PLANE, "strides": [2, 0]}, unspecified=STRIDES)
case("pads_too_few", **PLANE, pads=[0, 0], rejects=FORMAT)
case("pads_negative", **PLANE, pads=[0, -1, 0, 0], rejects=PADS)
case("pads_beyond_output", Tag.EDGE, **PLANE, pads=[2, 0, 2, 0], unspecified=INVERSE)


def one_place_of_each_window(sizes: Sizes) -> Array:
    """Return for each value a place in its own window of k x k pixels; the place in the window varies."""
    b, c, h, k = (sizes[name] for name in "bchk")
    row, column = np.mgrid[:h, :h]
    chosen = (5 * row + 3 * column) % (k * k)
    in_plane = (row * k + chosen // k) * h * k + column * k + chosen % k
    return np.asarray(np.arange(b * c).reshape(b, c, 1, 1) * (h * k) ** 2 + in_plane)


WINDOWS = grid(b=(2,), c=(3, 16), h=(7, 16, 33), k=(2, 3))
OF_WINDOWS: dict[str, Any] = {
    "X": filled("b", "c", "h", "h"),
    "I": one_place_of_each_window,
    "kernel_shape": lambda sizes: [sizes["k"]] * 2,
    "strides": lambda sizes: [sizes["k"]] * 2,
}
UNPOOL.sized("windows", WINDOWS, each="T1", cites=(BACK, LINEAR), arguments=OF_WINDOWS)
