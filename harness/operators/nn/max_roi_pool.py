"""MaxRoiPool: the greatest elements of a grid of parts of each region of interest.

    Y = MaxRoiPool(X, rois, pooled_shape=[2, 3], spatial_scale=1.0)

Versions: 1, 22 (bfloat16).
"""

# ruff: noqa: N803 - the text's own names

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Op, PartlyOpen, Tag, Version, ramp, vary

IMAGE, REGION, PLANE = 4, 5, 2
MARGIN = 2
"""Pixels by which ways to round the corners of a region, and to divide it, may differ."""
POOL = Op("MaxRoiPool", versions=(1, 22), compare=EXACT, rank=lambda _: IMAGE)
POOL.example(X=np.zeros((1, 2, 12, 14)), rois=[[0, 1, 2, 9, 8]], pooled_shape=[1, 1], spatial_scale=0.5)

POOLING = POOL.clause(
    "ROI max pool consumes an input tensor X and region of interests (RoIs) to apply max pooling across each RoI, to "
    "produce output 4-D tensor of shape (num_rois, channels, pooled_shape[0], pooled_shape[1]).",
    note="Says not how corners are rounded, whether the last ones are in the region, nor how it is divided: an element "
    "is open unless it is the same however that is done.",
)
SCALE = POOL.clause(
    "Multiplicative spatial scale factor to translate ROI coordinates from their input scale to the scale used when "
    "pooling."
)
POOLED = POOL.clause("ROI pool output shape (height, width).")
INPUT = POOL.clause(
    "dimensions for image case are (N x C x H x W), where N is the batch size, C is the number of channels, and H and "
    "W are the height and the width of the data.",
    note="Says not which other cases there are.",
)
ROIS = POOL.clause(
    "Should be a 2-D tensor of shape (num_rois, 5) given as [[batch_id, x1, y1, x2, y2], ...].",
    note="Says not what a region means that is beside the data, or of an image that is not there.",
)
OUTPUT = POOL.clause("RoI pooled output 4-D tensor of shape (num_rois, channels, pooled_shape[0], pooled_shape[1]).")


def _bins(first: float, last: float, parts: int, size: int) -> list[tuple[slice, slice]]:
    """Return for each part of a side the pixels that are in it for sure, and those that may be."""
    edges = [first + (last - first) * part / parts for part in range(parts + 1)]
    bins = []
    for low, high in itertools.pairwise(edges):
        sure = slice(math.ceil(low) + MARGIN, max(0, math.floor(high) - MARGIN + 1))
        bins.append((sure, slice(max(0, math.floor(low) - MARGIN), min(size, math.ceil(high) + MARGIN + 1))))
    return bins


@POOL.oracle()
def pooled(v: Version, X: Array, rois: Array, pooled_shape: list[int], spatial_scale: float) -> Array | PartlyOpen:
    """Return the greatest element of each part of each region, where it does not depend on the parts' edges."""
    v.silent(INPUT, X.ndim != IMAGE)
    v.require(ROIS, rois.ndim == PLANE and rois.shape[1] == REGION)
    v.require(POOLED, len(pooled_shape) == PLANE)
    v.silent(POOLED, min(pooled_shape) < 1)
    output = np.zeros((len(rois), X.shape[1], *pooled_shape), X.dtype)
    is_open = np.ones(output.shape, bool)
    for number, (batch, *corners) in enumerate(rois.tolist()):
        v.silent(ROIS, batch not in range(len(X)))
        left, top, right, bottom = (corner * spatial_scale for corner in corners)
        v.silent(ROIS, not (0 <= left < right < X.shape[3] and 0 <= top < bottom < X.shape[2]))
        rows = _bins(top, bottom, pooled_shape[0], X.shape[2])
        columns = _bins(left, right, pooled_shape[1], X.shape[3])
        for channel, row, column in np.ndindex(output.shape[1:]):
            image = X[int(batch), channel]
            sure = image[rows[row][0], columns[column][0]]
            greatest = image[rows[row][1], columns[column][1]].max()
            output[number, channel, row, column] = greatest
            is_open[number, channel, row, column] = sure.size == 0 or not (sure == greatest).any()
    return PartlyOpen(output, is_open) if is_open.any() else output


case = POOL.case


def _peaks(*shape: int, rows: int = 2, columns: int = 3) -> Array:
    """Return images whose parts have their greatest element in the middle, each of another height."""
    image = -1 - np.arange(np.prod(shape)).reshape(shape) % 7 / 8
    height, width = shape[2] // rows, shape[3] // columns
    for number, (n, c, row, column) in enumerate(np.ndindex(shape[0], shape[1], rows, columns)):
        image[n, c, row * height + height // 2, column * width + width // 2] = 1 + number * 5 % 31
    return image


PEAKS = _peaks(2, 3, 24, 36)
WHOLE = [[0, 0, 0, 35, 23], [1, 0, 0, 35, 23]]
GRID: dict[str, Any] = {"rois": WHOLE, "pooled_shape": [2, 3]}

case("grid", X=PEAKS, **GRID, cites=(POOLING, INPUT, ROIS, POOLED, OUTPUT))
case("one_region", X=PEAKS, rois=[[1, 0, 0, 35, 23]], pooled_shape=[2, 3], cites=(POOLING, ROIS))
case("images_turned", X=PEAKS, rois=WHOLE[::-1], pooled_shape=[2, 3], cites=ROIS)
case("same_region_twice", X=PEAKS, rois=[WHOLE[1]] * 2, pooled_shape=[2, 3], cites=OUTPUT)
case("one_bin", X=PEAKS, rois=[[0, 0, 0, 11, 11], [1, 24, 12, 35, 23]], pooled_shape=[1, 1], cites=POOLED)
case("one_row", X=_peaks(1, 2, 12, 36, rows=1), rois=[[0, 0, 0, 35, 11]], pooled_shape=[1, 3], cites=POOLED)
case("one_column", X=_peaks(1, 2, 24, 12, columns=1), rois=[[0, 0, 0, 11, 23]], pooled_shape=[2, 1], cites=POOLED)
case("scale_half", X=PEAKS, rois=[[0, 0, 0, 70, 46]], pooled_shape=[2, 3], spatial_scale=0.5, cites=SCALE)
case("scale_two", X=PEAKS, rois=[[1, 0, 0, 17.5, 11.5]], pooled_shape=[2, 3], spatial_scale=2.0, cites=SCALE)
case("scale_set_to_one", X=PEAKS, **GRID, spatial_scale=1.0, cites=SCALE)
case("below_zero", Tag.EDGE, X=PEAKS - 100, **GRID, cites=POOLING)
case("infinite", Tag.EDGE, X=np.where(PEAKS.mean() < PEAKS, np.inf, PEAKS), **GRID, cites=POOLING)
case("all_minus_infinity", Tag.EDGE, X=np.full((1, 1, 12, 14), -np.inf), rois=[[0, 1, 1, 12, 10]], pooled_shape=[1, 1],
     cites=POOLING)  # fmt: skip
case("alike", X=np.full((1, 2, 12, 14), -2.5), rois=[[0, 1, 1, 12, 10]], pooled_shape=[1, 1], cites=POOLING)
case(
    "edges_decide",
    Tag.EDGE,
    X=np.arange(48.0).reshape(1, 1, 6, 8),
    rois=[[0, 1, 1, 6, 4]],
    pooled_shape=[2, 2],
    cites=POOLING,
)
case("no_regions", Tag.EDGE, X=PEAKS, rois=ramp(0, 5), pooled_shape=[2, 3], cites=OUTPUT)
case("no_channels", Tag.EDGE, X=ramp(1, 0, 12, 14), rois=[[0, 1, 1, 12, 10]], pooled_shape=[1, 1], cites=OUTPUT)
case("dtypes", Tag.DTYPE, each="T", X=PEAKS, **GRID, cites=POOLING)
case(
    "rois",
    Tag.EDGE,
    X=PEAKS,
    rois=vary(four=[[0, 0, 35, 23]], vector=[0, 0, 0, 35, 23]),
    pooled_shape=[2, 3],
    rejects=ROIS,
)
case("pooled_shape", Tag.EDGE, X=PEAKS, rois=WHOLE, pooled_shape=vary(one=[2], three=[2, 3, 4]), rejects=POOLED)
case("pooled_to_nothing", Tag.EDGE, X=PEAKS, rois=WHOLE, pooled_shape=[0, 2], unspecified=POOLED)
case("image_beyond", Tag.EDGE, X=PEAKS, rois=[[2, 0, 0, 35, 23]], pooled_shape=[2, 3], unspecified=ROIS)
case("beside_the_image", Tag.EDGE, X=PEAKS, rois=[[0, -4, 0, 35, 23]], pooled_shape=[2, 3], unspecified=ROIS)
case("no_area", Tag.EDGE, X=PEAKS, rois=[[0, 5, 5, 5, 5]], pooled_shape=[1, 1], unspecified=ROIS)
case("turned_over", Tag.EDGE, X=PEAKS, rois=[[0, 30, 20, 5, 5]], pooled_shape=[1, 1], unspecified=ROIS)
case("rank3", Tag.EDGE, X=ramp(3, 12, 14), rois=[[0, 1, 1, 12, 10]], pooled_shape=[1, 1], unspecified=INPUT)
