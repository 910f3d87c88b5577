# SPDX-License-Identifier: Apache-2.0
"""MaxRoiPool: the greatest value of each part of a region of an image.

    Y = MaxRoiPool(X, rois, pooled_shape=..., spatial_scale=1.0)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, vary
from onnx_conformance.declare.sizes import grid

if TYPE_CHECKING:
    from onnx_conformance.declare import Ints
    from onnx_conformance.declare.sizes import Sizes

POOL = Op("MaxRoiPool", versions=(1, 22), compare=EXACT, rank=lambda _: 4)
POOL.example(
    X=np.ones((2, 3, 9, 11)) * [[[[5]], [[7]], [[4]]]], rois=[[1, 2, 3, 8, 6]], pooled_shape=[1, 1], spatial_scale=1.0
)

APPLIES = POOL.clause(
    "ROI max pool consumes an input tensor X and region of interests (RoIs) to apply max pooling across each RoI, to "
    "produce output 4-D tensor of shape (num_rois, channels, pooled_shape[0], pooled_shape[1]).",
    note="The text does not define which pixels belong to a part of a region: whether the last pixels do, and how "
    "borders are rounded. If the pixels up to two away from the borders determine the greatest value, the result is "
    "left open. A region that is not inside the image is also left open.",
)
SCALE = POOL.clause(
    "Multiplicative spatial scale factor to translate ROI coordinates from their input scale to the scale used when "
    "pooling."
)
SHAPE = POOL.clause("ROI pool output shape (height, width).", note="The text does not define a size below 1.")
IMAGES = POOL.clause("dimensions for image case are (N x C x H x W)")
ROIS = POOL.clause(
    "Should be a 2-D tensor of shape (num_rois, 5) given as [[batch_id, x1, y1, x2, y2], ...].",
    note="The text does not define a batch_id that is not the index of an image.",
)
OUTPUT = POOL.clause(
    "RoI pooled output 4-D tensor of shape (num_rois, channels, pooled_shape[0], pooled_shape[1]).", result=True
)
FLOATS = POOL.clause("Constrain input and output types to float tensors.")

IMAGE_RANK, COLUMNS, AXES = 4, 5, 2
MARGIN = 2
"""The number of pixels near a border that may or may not belong to a part.

It consists of half a pixel for rounding, one for the last pixel, and a reserve.
"""


def _parts(start: float, end: float, count: int, size: int) -> list[tuple[Array, Array]]:
    """Return, for each part of an axis, the pixels that may belong to it, and those that certainly belong to it."""
    pixels = np.arange(size)
    return [
        (
            pixels[(low - MARGIN <= pixels) & (pixels <= high + MARGIN)],
            pixels[(low + MARGIN <= pixels) & (pixels <= high - MARGIN)],
        )
        for low, high in itertools.pairwise(np.linspace(start, end, count + 1))
    ]


@POOL.oracle()
def pooled(v: Version, X: Array, rois: Array, pooled_shape: Ints, spatial_scale: float) -> Array:
    """Return the greatest value of each part of each region."""
    v.require(IMAGES, X.ndim == IMAGE_RANK)
    v.require(ROIS, rois.ndim == AXES and rois.shape[1] == COLUMNS)
    v.require(SHAPE, len(pooled_shape or ()) == AXES)
    height, width = (int(size) for size in pooled_shape or ())
    v.silent(SHAPE, min(height, width) < 1)
    v.silent(ROIS, not bool(np.isin(rois[:, 0], np.arange(len(X))).all()))
    v.ordered(APPLIES, X)
    output: Array = np.empty((len(rois), X.shape[1], height, width))
    for roi, (batch_id, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (corner * spatial_scale for corner in corners)
        v.silent(APPLIES, not (0 <= x1 <= x2 < X.shape[3] and 0 <= y1 <= y2 < X.shape[2]))
        image = X[int(batch_id)]
        for i, (rows, own_rows) in enumerate(_parts(y1, y2, height, X.shape[2])):
            for j, (columns, own_columns) in enumerate(_parts(x1, x2, width, X.shape[3])):
                whole, own = image[:, rows][..., columns], image[:, own_rows][..., own_columns]
                greatest = whole.max((1, 2))
                alike = whole.min((1, 2)) == greatest
                v.silent(APPLIES, not (alike | (own.max((1, 2), initial=-np.inf) == greatest)).all())
                output[roi, :, i, j] = greatest
    return output


def flat(*values: float, sizes: tuple[int, int] = (9, 11)) -> Array:
    """Return images of two channels. Each channel is constant, with a different value."""
    return np.asarray(np.ones((len(values) // 2, 2, *sizes)) * np.reshape(values, (-1, 2, 1, 1)))


def quarters(*values: float) -> Array:
    """Return an image with one channel and 20 x 24 pixels. Each quarter has one value."""
    return np.kron(np.reshape(values, (1, 1, 2, 2)), np.ones((1, 1, 10, 12)))


def peaks() -> Array:
    """Return an image of 20 by 24 pixels with a peak in the middle of each quarter."""
    image = np.zeros((1, 1, 20, 24))
    image[0, 0, [5, 5, 15, 15], [6, 21, 6, 18]] = [3, 9, 2, 4]
    return image


case = POOL.case
FLAT = flat(5, 7, -4, 2, 3, -6)
case("one_region", X=FLAT, rois=[[0, 2, 3, 8, 6]], pooled_shape=[1, 1], cites=(APPLIES, IMAGES, ROIS, SHAPE))
THREE = [[2, 2, 3, 8, 6], [0, 1, 1, 9, 5], [1, 0, 2, 10, 8]]
case("regions", X=FLAT, rois=THREE, pooled_shape=[2, 3], cites=(ROIS, OUTPUT, SHAPE))
case("one_region_twice", X=FLAT, rois=THREE[:1] * 2, pooled_shape=[3, 1], cites=(ROIS, OUTPUT))
case("one_pixel", Tag.EDGE, X=flat(5, 7, sizes=(1, 1)), rois=[[0, 0, 0, 0, 0]], pooled_shape=[1, 1], cites=APPLIES)
case("more_parts_than_pixels", Tag.EDGE, X=FLAT, rois=[[0, 2, 3, 4, 4]], pooled_shape=[4, 5], cites=SHAPE)
QUARTERS = quarters(1, 2, 3, 4)
case("right", X=QUARTERS, rois=[[0, 15, 3, 20, 6]], pooled_shape=[1, 1], cites=ROIS)
case("below", X=QUARTERS, rois=[[0, 3, 13, 8, 16]], pooled_shape=[1, 1], cites=ROIS)
case("scale_half", X=QUARTERS, rois=[[0, 30, 6, 40, 12]], pooled_shape=[1, 1], spatial_scale=0.5, cites=SCALE)
case("scale_two", X=QUARTERS, rois=[[0, 1.5, 6.5, 4, 8]], pooled_shape=[1, 1], spatial_scale=2.0, cites=SCALE)
PEAKS = peaks()
case("greatest", X=PEAKS, rois=[[0, 1, 1, 10, 9]], pooled_shape=[1, 1], cites=APPLIES)
case("greatest_of_parts", X=PEAKS, rois=[[0, 0, 0, 23, 19]], pooled_shape=[2, 2], cites=(APPLIES, SHAPE))
case("greatest_of_rows", X=PEAKS, rois=[[0, 0, 0, 23, 19]], pooled_shape=[2, 1], cites=SHAPE)
case("negative", Tag.EDGE, X=PEAKS - 10, rois=[[0, 1, 1, 10, 9]], pooled_shape=[1, 1], cites=APPLIES)
case("minus_infinity", Tag.EDGE, X=flat(-np.inf, np.inf), rois=[[0, 2, 3, 8, 6]], pooled_shape=[1, 2], cites=APPLIES)
case("no_regions", Tag.EDGE, X=FLAT, rois=ramp(0, 5), pooled_shape=[2, 3], cites=OUTPUT)
case("dtypes", Tag.DTYPE, each="T", X=FLAT, rois=THREE, pooled_shape=[1, 2], cites=FLOATS)

ROI = [[0, 2, 3, 8, 6]]
case("image_of_rank3", X=FLAT[0], rois=ROI, pooled_shape=[1, 1], rejects=IMAGES)
case("image_of_rank5", X=FLAT[..., None], rois=ROI, pooled_shape=[1, 1], rejects=IMAGES)
case("rois_without_batch", X=FLAT, rois=[[2, 3, 8, 6]], pooled_shape=[1, 1], rejects=ROIS)
case("rois_as_vector", X=FLAT, rois=ROI[0], pooled_shape=[1, 1], rejects=ROIS)
case("one_pooled_size", X=FLAT, rois=ROI, pooled_shape=[1], rejects=SHAPE)
case("three_pooled_sizes", X=FLAT, rois=ROI, pooled_shape=[1, 1, 1], rejects=SHAPE)
case("integers", Tag.DTYPE, outside="T", X=ramp(1, 1, 3, 4), rois=ramp(1, 5), pooled_shape=[1, 1], rejects=FLOATS)

case("pooled_to_nothing", Tag.EDGE, X=FLAT, rois=ROI, pooled_shape=[1, 0], unspecified=SHAPE)
case("no_such_image", Tag.EDGE, X=FLAT, rois=[[3, 2, 3, 8, 6]], pooled_shape=[1, 1], unspecified=ROIS)
FAR = vary(high=[[2.0**40, 2, 3, 8, 6]], low=[[-(2.0**40), 2, 3, 8, 6]])  # No process owns memory so far away.
case("image_far", Tag.EDGE, X=FLAT, rois=FAR, pooled_shape=[1, 1], unspecified=ROIS)
case("image_by_a_fraction", Tag.EDGE, X=FLAT, rois=[[0.5, 2, 3, 8, 6]], pooled_shape=[1, 1], unspecified=ROIS)
case("nan", Tag.EDGE, X=FLAT * np.nan, rois=ROI, pooled_shape=[1, 1], unspecified=APPLIES)
BESIDE: dict[str, list[float]] = {
    "left": [0, -1, 3, 8, 6],
    "right": [0, 2, 3, 11, 6],
    "above": [0, 2, -1, 8, 6],
    "below": [0, 2, 3, 8, 9],
    "ends_before_it_begins": [0, 8, 3, 2, 6],
    "ends_above_its_begin": [0, 2, 6, 8, 3],
}
for name, roi in BESIDE.items():
    case(f"region_{name}", Tag.EDGE, X=FLAT, rois=[roi], pooled_shape=[1, 1], unspecified=APPLIES)
BORDERS: dict[str, list[float]] = {
    "on_a_border": [0, 1, 1, 6, 9],
    "two_left": [0, 8, 3, 14, 9],
    "two_right": [0, 0, 3, 4, 9],
    "two_above": [0, 1, 7, 9, 10],
    "two_below": [0, 1, 0, 9, 3],
}
for name, roi in BORDERS.items():
    two = np.concatenate([PEAKS, 0 * PEAKS], 1)
    case(f"greatest_{name}", Tag.EDGE, X=two, rois=[roi], pooled_shape=[1, 1], unspecified=APPLIES)
case("greatest_three_left", Tag.EDGE, X=PEAKS, rois=[[0, 9, 3, 14, 9]], pooled_shape=[1, 1], cites=APPLIES)
case("greatest_two_inside", Tag.EDGE, X=PEAKS, rois=[[0, 4, 3, 10, 9]], pooled_shape=[1, 1], cites=APPLIES)
case("greatest_two_before_the_end", Tag.EDGE, X=PEAKS, rois=[[0, 1, 1, 8, 7]], pooled_shape=[1, 1], cites=APPLIES)


def peak_of_each_part(sizes: Sizes) -> Array:
    """Return images of p x p parts. The middle of each part is a different peak, and all other pixels are 0."""
    b, c, p, side = (sizes[name] for name in ("b", "c", "p", "side"))
    peaks = 1 + np.arange(b * c * p * p) * 37 % 101
    part = np.zeros((side, side))
    part[side // 2, side // 2] = 1
    return np.kron(peaks.reshape(b, c, p, p), part)


REGIONS: dict[str, Any] = {
    "X": peak_of_each_part,
    "rois": lambda sizes: [[i % sizes["b"], 0, 0, *[sizes["p"] * sizes["side"] - 1] * 2] for i in range(sizes["r"])],
    "pooled_shape": lambda sizes: [sizes["p"]] * 2,
}
PARTS = grid(b=(2,), c=(3, 17), p=(1, 3, 7, 11), side=(12,), r=(1, 5))
POOL.sized("parts", PARTS, each="T", cites=(APPLIES, OUTPUT), arguments=REGIONS)
