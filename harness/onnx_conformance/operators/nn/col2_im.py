# SPDX-License-Identifier: Apache-2.0
"""Col2Im: put blocks, which are columns, back into an image and add them where they overlap.

    output = Col2Im(input, image_shape, block_shape, dilations=..., pads=..., strides=...)

Version: 18.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._sizes import placed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _whole(values: Ints, rank: int, other: int) -> list[int]:
    """Return the numbers of an attribute. If it is omitted, return `rank` copies of `other`."""
    return [other] * rank if values is None else [int(item) for item in values]


def _image(
    input: Array, image_shape: Array, block_shape: Array, dilations: Ints, pads: Ints, strides: Ints
) -> Array | None:
    """Return the sums of all blocks that share a pixel; None if the number of blocks is not the number that fits."""
    image, block = [int(item) for item in image_shape], [int(item) for item in block_shape]
    rank = len(image)
    apart, begin, step = _whole(dilations, rank, 1), _whole(pads, 2 * rank, 0), _whole(strides, rank, 1)
    padded = [size + begin[axis] + begin[rank + axis] for axis, size in enumerate(image)]
    counts = [(padded[axis] - apart[axis] * (block[axis] - 1) - 1) // step[axis] + 1 for axis in range(rank)]
    if math.prod(max(0, count) for count in counts) != input.shape[2]:
        return None
    channels = input.shape[1] // math.prod(block)
    columns = input.reshape(len(input), channels, *block, *counts)
    sums = np.zeros((len(input), channels, *padded), input.dtype)
    for pixel in np.ndindex(*block):
        first = [apart[axis] * pixel[axis] for axis in range(rank)]
        at: list[Any] = [
            slice(first[axis], first[axis] + step[axis] * counts[axis], step[axis]) for axis in range(rank)
        ]
        sums[(..., *at)] += columns[(slice(None), slice(None), *pixel)]
    inside: list[Any] = [slice(begin[axis], begin[axis] + image[axis]) for axis in range(rank)]
    return np.asarray(sums[(..., *inside)])


def _rounding(input: Array, **shapes: Any) -> list[Array]:  # noqa: ANN401 - see `_image`
    """Return half a rounding of all magnitudes for each addition."""
    if input.dtype.kind not in "fc":
        return [np.zeros(1)]
    magnitudes, counts = _image(np.abs(input), **shapes), _image(np.ones(input.shape), **shapes)
    if magnitudes is None or counts is None:
        return [np.zeros(1)]
    return [magnitudes * np.maximum(counts - 1, 0) / 2]


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the image.

    Models without an expected output must state one too.
    """
    sizes = arguments.get("image_shape")
    return len(sizes) + 2 if sizes is not None and np.ndim(sizes) == 1 else None


COL2IM = Op(
    "Col2Im",
    versions=(18,),
    compare=bounded(_rounding, "pixels that blocks share are added, pixels of one block are only moved"),
    rank=_rank,
)
COL2IM.example(input=ramp(1, 4, 6), image_shape=[4, 6], block_shape=[2, 2], strides=[2, 2])

NUMERIC = COL2IM.clause(
    "Constrain input and output types to all numeric tensor types.",
    note="The list of types also has strings and boolean values, which are not numeric. Their results are left open.",
)
NOT_NUMERIC = ("string", "bool")
for kind in NOT_NUMERIC:
    COL2IM.excuse(f"type T tensor({kind})", "the description of the types only allows numeric ones")
REARRANGES = COL2IM.clause("The operator rearranges column blocks back into a multidimensional image")
FOLD = COL2IM.clause(
    "Col2Im behaves similarly to PyTorch's fold",
    note="Therefore pixels that blocks share are added, and pixels of no block are 0: the official cases add them. The "
    "text does not define integers outside the range of their type.",
)
NEEDED = COL2IM.clause(
    "Although specifying image_shape looks redundant because it could be calculated from convolution formulas, it is "
    "required as input for more advanced scenarios",
    note="For example if pixels are left over after the last block.",
)
BATCHED = COL2IM.clause("but it only supports *batched* multi-dimensional image tensors.")
INPUT = COL2IM.clause(
    "This is a 3-dimensional tensor containing [N, C * n-ary-product(block_shape), L], where N is batch dimension, C "
    "is image channel dimension and L is number of blocks."
)
ENUMERATED = COL2IM.clause("The blocks are enumerated in increasing lexicographic-order of their indices.")
EXAMPLE = COL2IM.clause(
    "with an image-size 10*20 and block-size 9*18, there would be 2*3 blocks, enumerated in the order block(0, 0), "
    "block(0, 1), block(0, 2), block(1, 0), block(1, 1), block(1, 2)."
)
IMAGE = COL2IM.clause("The shape of the spatial dimensions of the image after rearranging the column blocks.")
IMAGE_SIZES = COL2IM.clause(
    "This is a 1-dimensional tensor with size of at least 2, containing the value [H_img, W_img] for a 2-D image or "
    "[dim_i1, dim_i2, ..., dim_iN] for a N-D image."
)
BLOCK = COL2IM.clause("The shape of the block to apply on the input.")
BLOCK_SIZES = COL2IM.clause(
    "This is a 1-dimensional tensor of size of at least 2, containing the value [H_block, W_block] for a 2-D image or "
    "[dim_b1, dim_b2, ..., dim_bN] for a N-D block."
)
BEFORE_DILATION = COL2IM.clause("This is the block-shape before dilation is applied to it.")
STRIDES = COL2IM.clause(
    "1-dimensional tensor with stride value along each spatial axis.", note="The text does not define a stride below 1."
)
STRIDE_DEFAULT = COL2IM.clause("If not present, the stride defaults to 1 along each spatial axis.")
PADS = COL2IM.clause("it can take any value greater than or equal to 0.")
PADS_FORMAT = COL2IM.clause(
    "`pads` format should be as follow [x1_begin, x2_begin...x1_end, x2_end,...], where xi_begin is the number of "
    "pixels added at the beginning of axis `i` and xi_end is the number of pixels added at the end of axis `i`."
)
PADS_ADDED = COL2IM.clause(
    "The value represent the number of pixels added to the beginning and end part of the corresponding axis."
)
PADS_DEFAULT = COL2IM.clause("If not present, the padding defaults to 0 along start and end of each spatial axis.")
DILATIONS = COL2IM.clause(
    "1-dimensional tensor with dilation value along each spatial axis of the image.",
    note="The text does not define a dilation below 1.",
)
DILATION_DEFAULT = COL2IM.clause("If not present, the dilation defaults to 1 along each spatial axis of the image.")


@COL2IM.oracle()
def image(
    v: Version, input: Array, image_shape: Array, block_shape: Array, dilations: Ints, pads: Ints, strides: Ints
) -> Array:
    """Return the image whose blocks, at every stride, are the columns."""
    v.require(IMAGE_SIZES, image_shape.ndim == 1 and len(image_shape) > 1)
    v.require(BLOCK_SIZES, block_shape.ndim == 1 and len(block_shape) == len(image_shape))
    rank = len(image_shape)
    v.require(STRIDES, strides is None or len(strides) == rank)
    v.require(DILATIONS, dilations is None or len(dilations) == rank)
    v.require(PADS_FORMAT, pads is None or len(pads) == 2 * rank)
    v.require(PADS, pads is None or min(pads) >= 0)
    v.silent(STRIDES, strides is not None and min(strides) < 1)
    v.silent(DILATIONS, dilations is not None and min(dilations) < 1)
    v.silent(IMAGE, bool((image_shape < 1).any()))
    v.silent(BLOCK, bool((block_shape < 1).any()))
    v.require(INPUT, input.ndim == 3 and input.shape[1] % math.prod(block_shape) == 0)  # noqa: PLR2004 - [N, C * ..., L]
    v.silent(INPUT, input.shape[2] == 0)
    shapes = image_shape, block_shape, dilations, pads, strides
    numeric = input.dtype.kind not in "Ob"
    made = _image(input if numeric else np.zeros(input.shape), *shapes)
    v.require(INPUT, made is not None)
    v.silent(NUMERIC, not numeric)
    result = np.asarray(made)
    if input.dtype.kind in "iu":
        v.silent(FOLD, bool((result != _image(input.astype(object), *shapes)).any()))
    return result


case = COL2IM.case


def _column(n: int, channels: int, blocks: tuple[int, ...], block: tuple[int, ...]) -> Array:
    return waves(n, channels * math.prod(block), math.prod(blocks))


TILES: dict[str, Any] = {"image_shape": [4, 9], "block_shape": [2, 3], "strides": [2, 3]}
case("tiles", input=_column(1, 1, (2, 3), (2, 3)), **TILES, cites=(REARRANGES, IMAGE, BLOCK, INPUT))
case("tiles_batch", input=_column(2, 3, (2, 3), (2, 3)), **TILES, cites=(BATCHED, INPUT))
case(
    "overlap", input=_column(1, 2, (3, 3), (2, 3)), image_shape=[4, 5], block_shape=[2, 3], cites=(FOLD, STRIDE_DEFAULT)
)
case("overlap_batch", input=_column(2, 3, (4, 2), (2, 4)), image_shape=[5, 5], block_shape=[2, 4], cites=FOLD)
case(
    "example",
    input=_column(1, 1, (2, 3), (9, 18)),
    image_shape=[10, 20],
    block_shape=[9, 18],
    cites=(EXAMPLE, ENUMERATED),
)
case("one_row_of_blocks", input=_column(1, 2, (1, 4), (3, 2)), image_shape=[3, 5], block_shape=[3, 2], cites=ENUMERATED)
case(
    "one_column_of_blocks",
    input=_column(1, 2, (4, 1), (2, 3)),
    image_shape=[5, 3],
    block_shape=[2, 3],
    cites=ENUMERATED,
)
case(
    "block_of_one",
    Tag.EDGE,
    input=_column(1, 2, (2, 3), (1, 1)),
    image_shape=[2, 3],
    block_shape=[1, 1],
    cites=REARRANGES,
)
case(
    "block_of_all",
    Tag.EDGE,
    input=_column(2, 3, (1, 1), (2, 5)),
    image_shape=[2, 5],
    block_shape=[2, 5],
    cites=REARRANGES,
)
case("one_element", Tag.EDGE, input=[[[-3.5]]], image_shape=[1, 1], block_shape=[1, 1], cites=REARRANGES)
case(
    "space", input=_column(1, 2, (2, 1, 2), (1, 2, 3)), image_shape=[2, 2, 4], block_shape=[1, 2, 3], cites=IMAGE_SIZES
)
case(
    "space_all",
    input=_column(2, 3, (2, 3, 2), (2, 1, 2)),
    image_shape=[4, 3, 5],
    block_shape=[2, 1, 2],
    strides=[2, 1, 2],
    dilations=[1, 3, 2],
    pads=[0, 0, 1, 1, 0, 0],
    cites=(BLOCK_SIZES, DILATIONS),
)
case(
    "hyperspace",
    input=_column(1, 1, (2, 1, 2, 2), (1, 2, 2, 1)),
    image_shape=[2, 2, 3, 2],
    block_shape=[1, 2, 2, 1],
    cites=(IMAGE_SIZES, BLOCK_SIZES),
)
for name, strides, blocks in (("height", [3, 1], (2, 5)), ("width", [1, 2], (4, 3)), ("both", [3, 2], (2, 3))):
    columns = _column(1, 2, blocks, (2, 2))
    case(
        f"strides_{name}", input=columns, image_shape=[5, 6], block_shape=[2, 2], strides=strides, cites=(STRIDES, FOLD)
    )
case(
    "strides_leave_pixels",
    input=_column(1, 2, (2, 2), (1, 2)),
    image_shape=[5, 7],
    block_shape=[1, 2],
    strides=[3, 4],
    cites=(FOLD, NEEDED),
)
for name, apart, blocks in (("height", [3, 1], (2, 5)), ("width", [1, 2], (4, 4)), ("both", [2, 4], (3, 2))):
    columns = _column(1, 2, blocks, (2, 2))
    case(
        f"dilations_{name}",
        input=columns,
        image_shape=[5, 6],
        block_shape=[2, 2],
        dilations=apart,
        cites=(DILATIONS, BEFORE_DILATION),
    )
case(
    "dilations_default",
    input=_column(1, 2, (2, 4), (2, 2)),
    image_shape=[3, 5],
    block_shape=[2, 2],
    cites=DILATION_DEFAULT,
)
for name, pads, blocks in (
    ("top", [1, 0, 0, 0], (3, 3)),
    ("left", [0, 1, 0, 0], (2, 4)),
    ("bottom", [0, 0, 2, 0], (4, 3)),
    ("right", [0, 0, 0, 2], (2, 5)),
    ("all", [1, 2, 0, 1], (3, 6)),
    ("zero", [0, 0, 0, 0], (2, 3)),
):
    columns = _column(1, 2, blocks, (2, 2))
    cites = (PADS_FORMAT, PADS_ADDED, PADS)
    case(f"pads_{name}", input=columns, image_shape=[3, 4], block_shape=[2, 2], pads=pads, cites=cites)
case("pads_default", input=_column(1, 2, (2, 3), (2, 2)), image_shape=[3, 4], block_shape=[2, 2], cites=PADS_DEFAULT)
ALL: dict[str, Any] = {
    "image_shape": [5, 7],
    "block_shape": [2, 3],
    "strides": [2, 3],
    "dilations": [2, 1],
    "pads": [1, 0, 0, 2],
}
case("all_attributes", input=_column(2, 3, (2, 3), (2, 3)), **ALL, cites=(STRIDES, DILATIONS, PADS_FORMAT))
case(
    "numbers_in_order",
    input=np.arange(24).reshape(1, 4, 6),
    image_shape=[4, 6],
    block_shape=[2, 2],
    strides=[2, 2],
    cites=ENUMERATED,
)

for name, value in (("nan", np.nan), ("infinity", np.inf)):
    spoilt = np.insert(np.arange(23.0), 9, value).reshape(1, 4, 6)
    case(f"{name}", Tag.EDGE, input=spoilt, image_shape=[3, 4], block_shape=[2, 2], cites=FOLD)
case("no_batch", Tag.EDGE, input=ramp(0, 4, 6), image_shape=[3, 4], block_shape=[2, 2], cites=BATCHED)
case("no_channels", Tag.EDGE, input=ramp(2, 0, 6), image_shape=[3, 4], block_shape=[2, 2], cites=INPUT)
case(
    "each_type",
    Tag.DTYPE,
    each="T",
    but=NOT_NUMERIC,
    input=ramp(1, 8, 6),
    image_shape=[4, 6],
    block_shape=[2, 2],
    strides=[2, 2],
    cites=REARRANGES,
)
FIVES = np.full((1, 4, 6), 5)
for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "double"):
    case(f"overlap_{kind}", Tag.DTYPE, input=typed(kind, FIVES), image_shape=[3, 4], block_shape=[2, 2], cites=FOLD)
case(
    "overlap_complex64",
    Tag.DTYPE,
    input=typed("complex64", FIVES * (1 - 2j)),
    image_shape=[3, 4],
    block_shape=[2, 2],
    cites=FOLD,
)
case(
    "overlap_int8_beyond",
    Tag.EDGE,
    input=typed("int8", FIVES * 20),
    image_shape=[3, 4],
    block_shape=[2, 2],
    unspecified=FOLD,
)
BITS = typed("bool", FIVES > 0)
case("overlap_bool", Tag.EDGE, input=BITS, image_shape=[3, 4], block_shape=[2, 2], unspecified=NUMERIC)
WORDS = typed("string", [[["a"] * 6] * 4])
case("overlap_strings", Tag.EDGE, input=WORDS, image_shape=[3, 4], block_shape=[2, 2], unspecified=NUMERIC)
case(
    "no_strings",
    Tag.EDGE,
    input=typed("string", [[["a"] * 6]]),
    image_shape=[3, 5],
    block_shape=[1, 1],
    strides=[2, 2],
    unspecified=NUMERIC,
)
for kind, part in (("string", "a"), ("bool", True)):
    parts = typed(kind, np.full((1, 8, 6), part, object))
    case(f"apart_{kind}", Tag.DTYPE, input=parts, image_shape=[4, 6], block_shape=[2, 2], strides=[2, 2],
         unspecified=NUMERIC)  # fmt: skip

PLAIN: dict[str, Any] = {"input": _column(1, 2, (3, 4), (2, 2)), "image_shape": [4, 5], "block_shape": [2, 2]}
for name, values in (("zero", [1, 0]), ("negative", [-1, 1])):
    case(f"strides_{name}", Tag.EDGE, **PLAIN, strides=values, unspecified=STRIDES)
    case(f"dilations_{name}", Tag.EDGE, **PLAIN, dilations=values, unspecified=DILATIONS)
for name, values in (("too_few", [1]), ("too_many", [1, 1, 1])):
    case(f"strides_{name}", **PLAIN, strides=values, rejects=STRIDES)
    case(f"dilations_{name}", **PLAIN, dilations=values, rejects=DILATIONS)
    case(f"pads_{name}", **PLAIN, pads=values, rejects=PADS_FORMAT)
case("pads_of_six", **PLAIN, pads=[0] * 6, rejects=PADS_FORMAT)
case("pads_negative", Tag.EDGE, **PLAIN, pads=[0, 0, -1, 1], rejects=PADS)
SHAPES: dict[str, Any] = {"image_shape": [4, 5], "block_shape": [2, 2]}
for name, shape in (
    ("matrix", (8, 12)),
    ("rank4", (1, 2, 4, 12)),
    ("channels_not_divisible", (1, 7, 12)),
    ("fewer_blocks", (1, 8, 11)),
    ("more_blocks", (1, 8, 13)),
    ("blocks_as_pixels", (1, 8, 20)),
):
    case(f"input_{name}", input=waves(*shape), **SHAPES, rejects=INPUT)
COLUMNS = waves(1, 8, 12)
case("image_line", input=COLUMNS, image_shape=[13], block_shape=[2], rejects=IMAGE_SIZES)
case("image_matrix", input=COLUMNS, image_shape=[[4, 5]], block_shape=[2, 2], rejects=IMAGE_SIZES)
case("block_line", input=COLUMNS, image_shape=[4, 5], block_shape=[2], rejects=BLOCK_SIZES)
case("block_of_space", input=COLUMNS, image_shape=[4, 5], block_shape=[2, 2, 1], rejects=BLOCK_SIZES)
case("block_matrix", input=COLUMNS, image_shape=[4, 5], block_shape=[[2, 2]], rejects=BLOCK_SIZES)
case("block_beyond_height", Tag.EDGE, input=waves(1, 8, 4), image_shape=[1, 5], block_shape=[2, 2], rejects=INPUT)
case("block_far_beyond_image", Tag.EDGE, input=waves(1, 9, 1), image_shape=[1, 1], block_shape=[3, 3], rejects=INPUT)
case("no_blocks", Tag.EDGE, input=ramp(1, 8, 0), image_shape=[1, 5], block_shape=[2, 2], unspecified=INPUT)
TRUTHS = typed("bool", [[[True, False]] * 4])
case("overlap_bool_once", Tag.EDGE, input=TRUTHS, image_shape=[3, 2], block_shape=[2, 2], unspecified=NUMERIC)
case("image_of_no_rows", Tag.EDGE, input=COLUMNS, image_shape=[0, 5], block_shape=[2, 2], unspecified=IMAGE)
case("block_of_no_rows", Tag.EDGE, input=COLUMNS, image_shape=[4, 5], block_shape=[0, 2], unspecified=BLOCK)


def of_blocks(sizes: dict[str, int]) -> dict[str, int]:
    """Return the sizes with the number of rows and of blocks of the input."""
    room = sizes["h"] + sizes.get("before", 0) + sizes.get("after", 0) - sizes.get("dilation", 1) * (sizes["k"] - 1) - 1
    blocks = (room // sizes.get("stride", 1) + 1) ** 2
    return {**sizes, "rows": sizes["c"] * sizes["k"] ** 2, "blocks": blocks}


BLOCKS = {
    "blocks": grid(b=(2,), c=(1, 3, 8), h=(14, 33), k=(2, 3, 5)),
    "strides": grid(b=(1,), c=(3,), h=(14, 28, 33), k=(2, 3), stride=(2, 3)),
    "pads": grid(b=(1,), c=(3,), h=(14, 33), k=(3,), stride=(1, 2), before=(1,), after=(1, 2)),
    "dilations": grid(b=(1,), c=(4,), h=(14, 33), k=(3,), dilation=(2, 3)),
}
for name, sizes in BLOCKS.items():
    of_sizes: dict[str, Any] = {
        "input": filled("b", "rows", "blocks", integers=(0, 3)),
        "image_shape": lambda sizes: typed("int64", [sizes["h"]] * 2),
        "block_shape": lambda sizes: typed("int64", [sizes["k"]] * 2),
        **placed(2),
    }
    places = list(map(of_blocks, sizes))
    COL2IM.sized(name, places, each="T", but=NOT_NUMERIC, cites=(FOLD, INPUT), arguments=of_sizes)
