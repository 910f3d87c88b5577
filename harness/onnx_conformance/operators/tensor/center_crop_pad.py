# SPDX-License-Identifier: Apache-2.0
"""CenterCropPad: crop to the middle or pad around it, to the requested dimensions.

    output_data = CenterCropPad(input_data, shape, axes=None)

Version: 18.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Ints,
    Op,
    Tag,
    Version,
    axes,
    axes_outside,
    extremes,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.sizes import filled, grid

CENTER = Op("CenterCropPad", versions=(18,), compare=EXACT, rank="input_data", widens=False)
CENTER.example(input_data=ramp(5, 3), shape=[3, 4], axes=[0, 1])

SUBSET = CENTER.clause(
    "The crop/pad dimensions can be specified for a subset of the `axes`; unspecified dimensions will remain "
    "unchanged.",
    note="The text does not define a number of dimensions other than the number of axes.",
)
CROPS = CENTER.clause(
    "If the input dimensions are larger than the target crop dimensions, a centered cropping window will be extracted "
    "from the input."
)
ROUNDED = CENTER.clause(
    "The starting value for the cropping window is rounded down, which means that if the difference between the input "
    "shape and the crop shape is odd, the cropping window will be shifted half a pixel to the left of the input center."
)
PADS = CENTER.clause(
    "If the input dimensions are smaller than the target crop dimensions, the input will be padded equally on both "
    "sides to center it in the output."
)
RIGHT = CENTER.clause(
    "In cases where the total number of padding pixels is odd, an additional pixel will be added to the right side."
)
ZERO = CENTER.clause("The padding value used is zero.", note="The text does not define which string is zero.")
AXES = CENTER.clause("If provided, it specifies a subset of axes that 'shape' refer to.")
ALL_AXES = CENTER.clause("If not provided, all axes are assumed [0, 1, ..., r-1], where r = rank(data).")
BACK = CENTER.clause("Negative value means counting dimensions from the back.")
RANGE = CENTER.clause("Accepted range is [-r, r-1], where r = rank(data).")
REPEATED = CENTER.clause("Behavior is undefined if an axis is repeated.")
VECTOR = CENTER.clause(
    "1-D tensor representing the cropping window dimensions.", note="The text does not define negative dimensions."
)
CENTER.dispute(
    "The function body of onnx subtracts the shape from the shape of the input, whose type is int64, even if the shape "
    "is int32.",
    "shape_dtypes",
)
INTEGERS = CENTER.clause("Constrain indices to integer types")


@CENTER.oracle()
def centered(v: Version, input_data: Array, shape: Array, axes: Ints) -> Array:
    """Return the middle of the input, padded with zeros if it is too small. axes is None if it is omitted."""
    rank = input_data.ndim
    v.require(VECTOR, shape.ndim == 1)
    named = list(range(rank)) if axes is None else list(axes)
    v.require(RANGE, all(-rank <= axis < rank for axis in named))
    v.silent(REPEATED, len({axis % rank for axis in named}) < len(named))
    v.silent(SUBSET, len(named) != len(shape))
    v.silent(VECTOR, bool((shape < 0).any()))
    output = input_data
    for axis, size in zip(named, map(int, shape), strict=True):
        has = output.shape[axis]
        if has > size:
            start = (has - size) // 2
            output = output.take(range(start, start + size), axis)
        elif has < size:
            v.silent(ZERO, output.dtype.kind == "O")
            before = (size - has) // 2
            pads = [(0, 0)] * rank
            pads[axis] = (before, size - has - before)
            output = np.pad(output, pads, constant_values=np.zeros((), output.dtype).item())
    return output


case = CENTER.case
DATA = 1 + np.arange(60).reshape(3, 4, 5)

for name, size, clause in (
    ("crop_even", 4, CROPS),
    ("crop_odd", 5, ROUNDED),
    ("crop_to_one", 1, ROUNDED),
    ("crop_to_two", 2, CROPS),
    ("pad_even", 12, PADS),
    ("pad_odd", 11, RIGHT),
    ("pad_one", 9, RIGHT),
    ("same", 8, SUBSET),
):
    case(f"vector_{name}", input_data=1 + np.arange(8), shape=[size], cites=clause)
    case(f"of_seven_{name}", input_data=1 + np.arange(7), shape=[size - 1], cites=clause)
    case(f"row_{name}", input_data=1 + np.arange(16).reshape(2, 8), shape=[size], axes=[1], cites=(clause, AXES))
case("crop_all", input_data=DATA, shape=[2, 1, 3], cites=(CROPS, ALL_AXES))
case("pad_all", input_data=DATA, shape=[4, 7, 8], cites=(PADS, RIGHT, ZERO, ALL_AXES))
case("crop_and_pad", input_data=DATA, shape=[2, 6, 5], cites=(CROPS, PADS, ALL_AXES))
case("pad_and_crop", input_data=DATA, shape=[6, 2, 6], cites=(CROPS, PADS))
case("all_axes_named", input_data=DATA, shape=[2, 6, 5], axes=[0, 1, 2], cites=AXES)
case("axes_turned", input_data=DATA, shape=[2, 6, 4], axes=[2, 0, 1], cites=AXES)
case("two_axes", input_data=DATA, shape=[7, 2], axes=[2, 0], cites=(AXES, SUBSET))
case("axes_from_back", input_data=DATA, shape=[2, 6], axes=[-1, -3], cites=BACK)
case("axes_from_both_ends", input_data=DATA, shape=[2, 6], axes=[-1, 0], cites=(BACK, RANGE))
for name, dims, axis in axes():
    case(name, Tag.AXIS, input_data=ramp(*dims), shape=[dims[axis] + 2], axes=[axis], cites=BACK if axis < 0 else AXES)
for name, dims, axis in axes_outside():
    case(name, Tag.AXIS, input_data=ramp(*dims), shape=[2], axes=[axis], rejects=RANGE)
case("rank0", Tag.EDGE, input_data=3, shape=typed("int64", []), cites=ALL_AXES)
case("no_axes", Tag.EDGE, input_data=DATA, shape=typed("int64", []), axes=[], cites=SUBSET)
case("to_nothing", Tag.EDGE, input_data=DATA, shape=[0, 2, 3], cites=CROPS)
case("from_nothing", Tag.EDGE, input_data=ramp(0, 2), shape=[3, 2], cites=(PADS, ZERO))
case("nothing_stays", Tag.EDGE, input_data=ramp(0, 5), shape=[0, 3], cites=CROPS)
case("signed_zeros_and_nan", Tag.EDGE, input_data=[-0.0, np.nan, -np.inf], shape=[5], cites=ZERO)
case("pad_dtypes", Tag.DTYPE, each="T", but=("string",), input_data=[[1, 1, 1]], shape=[2, 5], cites=ZERO)
case("crop_extremes", Tag.DTYPE, Tag.EDGE, each="T", input_data=extremes(4, 6), shape=[3, 3], cites=CROPS)
case("pad_strings", Tag.EDGE, input_data=typed("string", ["a", "b"]), shape=[5], unspecified=ZERO)
case("shape_dtypes", Tag.DTYPE, each="Tind", input_data=DATA, shape=[2, 6, 5], cites=(INTEGERS, VECTOR))
case("shape", Tag.EDGE, input_data=ramp(4), shape=vary(scalar=2, matrix=[[2]]), rejects=VECTOR)
case("shape", Tag.EDGE, input_data=ramp(4, 3), shape=vary(short=[2], long=[2, 2, 2]), unspecified=SUBSET)
case("shape_short_of_axes", Tag.EDGE, input_data=ramp(4, 3), shape=[2], axes=[0, 1], unspecified=SUBSET)
case("shape_long_of_axes", Tag.EDGE, input_data=ramp(4, 3), shape=[2, 2], axes=[0], unspecified=SUBSET)
case("shape_negative", Tag.EDGE, input_data=ramp(4), shape=[-1], unspecified=VECTOR)
case("repeated", Tag.EDGE, input_data=ramp(4, 3), shape=[2, 2], axes=[0, 0], unspecified=REPEATED)
case("repeated_from_both_ends", Tag.EDGE, input_data=ramp(4, 3), shape=[2, 2], axes=[0, -2], unspecified=REPEATED)

CENTER.sized(
    "image",
    grid(h=(28, 33), w=(16,), height=(14, 40), width=(15, 32)),
    each="T",
    but="string",
    cites=(SUBSET, CROPS, PADS),
    arguments={
        "input_data": filled(3, "h", "w"),
        "shape": lambda sizes: [sizes["height"], sizes["width"]],
        "axes": [-2, -1],
    },
)
CENTER.sized(
    "signal",
    grid(n=(9, 64, 1025), length=(8, 400, 65_537)),
    cites=(CROPS, PADS, ALL_AXES),
    arguments={"input_data": filled("n"), "shape": lambda sizes: [sizes["length"]]},
)
