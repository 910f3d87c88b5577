# SPDX-License-Identifier: Apache-2.0
"""RoiAlign: pool regions of images by bilinear interpolation. Borders of regions may be between pixels.

    Y = RoiAlign(X, rois, batch_indices, mode="avg", output_height=1, output_width=1, sampling_ratio=0,
                 spatial_scale=1.0, coordinate_transformation_mode="half_pixel")

Versions: 10 (no pixel shift), 16 (coordinate_transformation_mode), 22 (bfloat16).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Sizes


def _samples(v: Version, start: float, end: float, bins: int, ratio: int, size: int) -> list[Array]:
    """Return the positions of the sampling points of each bin of an axis.

    Positions before the first pixel are moved to the first pixel.
    """
    extent = (end - start) / bins
    grid = ratio or math.ceil(extent)
    v.silent(ADAPTIVE, not ratio and 0 < abs(extent - round(extent)) < ALMOST * extent)
    points = start + (np.arange(bins * grid) + 0.5) * (extent / grid)
    v.silent(INTERPOLATES, bool((points < -HALF_A_PIXEL).any() or (points > size - 1).any()))
    return np.split(np.maximum(points, 0), bins)


def _interpolated(image: Array, y: Array, x: Array) -> Array:
    """Return the values (C, len(y), len(x)) of an image (C, H, W) at positions between its pixels."""
    rows, columns = image.shape[1:]
    top, left = y.astype(int), x.astype(int)
    down, right = (y - top)[:, None], x - left
    below, beside = np.minimum(top + 1, rows - 1)[:, None], np.minimum(left + 1, columns - 1)
    above = image[:, top[:, None], left] * (1 - right) + image[:, top[:, None], beside] * right
    under = image[:, below, left] * (1 - right) + image[:, below, beside] * right
    return np.asarray(above * (1 - down) + under * down)


def _rounding(X: Array, rois: Array, output_height: int, output_width: int, **_: object) -> list[Array]:
    """Return the errors: a few roundings of the largest coordinate times the steepest slope, and of the largest X."""
    largest = float(np.abs(X).max(initial=0))
    computed = largest * (8 + 4 * max(X.shape[2:]))
    return [np.full((len(rois), X.shape[1], output_height, output_width), computed + largest)]


ALIGN = Op(
    "RoiAlign",
    versions=(10, 16, 22),
    compare=bounded(
        _rounding, "coordinates round a few times, each times the slope of a pixel; weights and sums round a few times"
    ),
    rank=lambda _: 4,
)
ALIGN.example(
    X=np.arange(40.0).reshape(1, 2, 4, 5),
    rois=[[1, 1, 3, 3]],
    batch_indices=typed("int64", [0]),
    mode="avg",
    output_height=2,
    output_width=1,
    sampling_ratio=2,
    spatial_scale=1.0,
    coordinate_transformation_mode="half_pixel",
)

POOLS = ALIGN.clause(
    "RoiAlign consumes an input tensor X and region of interests (rois) to apply pooling across each RoI; it produces "
    "a 4-D tensor of shape (num_rois, C, output_height, output_width)."
)
INTERPOLATES = ALIGN.clause(
    "in each ROI bin, the value of the sampled locations are computed directly through bilinear interpolation.",
    note="The paper requires regular sampling: the points divide a bin evenly, each in the middle of its part. The "
    "text does not define points outside the image; those up to half a pixel above or left of the first pixel get its "
    "value, as in the official cases. A value that is infinite or NaN is left open.",
)
WITHOUT = ALIGN.clause(
    "RoiAlign is proposed to avoid the misalignment by removing quantizations while converting from original image "
    "into feature map and from feature map into RoI feature;"
)
MODE = ALIGN.clause(
    "The pooling method. Two modes are supported: 'avg' and 'max'.",
    note="The values at the sampled locations are pooled, so max is the greatest of them. onnx.reference and "
    "onnxruntime use the greatest product of a pixel and its weight, and so does the official case.",
    see=("https://github.com/onnx/onnx/issues/4764", "https://github.com/microsoft/onnxruntime/issues/6146"),
    against=("test_roialign_mode_max",),
)
MODE_DEFAULT = ALIGN.clause("Default is 'avg'.")
HEIGHT = ALIGN.clause("default 1; Pooled output Y's height.", note="The text does not define a height below 1.")
WIDTH = ALIGN.clause("default 1; Pooled output Y's width.", note="The text does not define a width below 1.")
RATIO = ALIGN.clause(
    "If > 0, then exactly sampling_ratio x sampling_ratio grid points are used.",
    note="The text does not define a negative ratio.",
)
ADAPTIVE = ALIGN.clause(
    "If == 0, then an adaptive number of grid points are used (computed as ceil(roi_width / output_width), and "
    "likewise for height). Default is 0.",
    note="If a rounding can raise the quotient above a whole number, the result is left open.",
)
SCALE = ALIGN.clause(
    "Multiplicative spatial scale factor to translate ROI coordinates from their input spatial scale to the scale used "
    "when pooling, i.e., spatial scale of the input feature map X relative to the input image. E.g.; default is 1.0f."
)
TRANSFORMATION = ALIGN.clause("Allowed values are 'half_pixel' and 'output_half_pixel'.", since=16)
HALF = ALIGN.clause(
    "Use the value 'half_pixel' to pixel shift the input coordinates by -0.5 (the recommended behavior).", since=16
)
OUTPUT_HALF = ALIGN.clause(
    "Use the value 'output_half_pixel' to omit the pixel shift for the input (use this for a backward-compatible "
    "behavior).",
    since=16,
)
IMAGES = ALIGN.clause("4-D feature map of shape (N, C, H, W)")
CORNERS = ALIGN.clause(
    "rois is 2-D input of shape (num_rois, 4) given as [[x1, y1, x2, y2], ...].",
    note="The text does not define regions that end before or at their start. Runtimes extend regions smaller than a "
    "pixel to one pixel if there is no shift; the text does not define this either.",
)
ONE_TO_ONE = ALIGN.clause("Each coordinate set has a 1:1 correspondence with the 'batch_indices' input.")
INDICES = ALIGN.clause(
    "1-D tensor of shape (num_rois,) with each element denoting the index of the corresponding image in the batch."
)
OUTPUT = ALIGN.clause("RoI pooled output, 4-D tensor of shape (num_rois, C, output_height, output_width).", result=True)
ROWS = ALIGN.clause(
    "The r-th batch element Y[r-1] is a pooled feature map corresponding to the r-th RoI X[r-1].", result=True
)
FLOATS = ALIGN.clause("Constrain types to float tensors.")
INTEGERS = ALIGN.clause("Constrain types to int tensors.")

ALMOST = 1e-5
"""The relative distance to a whole number that roundings can bridge."""
HALF_A_PIXEL = 0.5
IMAGE_RANK, CORNERS_OF_ROI = 4, 4


@ALIGN.oracle()
def aligned(
    v: Version,
    X: Array,
    rois: Array,
    batch_indices: Array,
    mode: str,
    output_height: int,
    output_width: int,
    sampling_ratio: int,
    spatial_scale: float,
    coordinate_transformation_mode: str | None,
) -> Array:
    """Return the mean or the greatest of the values at the sampling points of each bin of each region."""
    v.require(IMAGES, X.ndim == IMAGE_RANK)
    v.require(CORNERS, rois.ndim == 2 and rois.shape[1] == CORNERS_OF_ROI)  # noqa: PLR2004 - a matrix
    v.require(INDICES, batch_indices.ndim == 1)
    v.require(ONE_TO_ONE, len(batch_indices) == len(rois))
    v.require(INDICES, bool(((batch_indices >= 0) & (batch_indices < len(X))).all()))
    v.require(MODE, mode in {"avg", "max"})
    if TRANSFORMATION.in_force(v.since):
        v.require(TRANSFORMATION, coordinate_transformation_mode in {"half_pixel", "output_half_pixel"})
    v.silent(HEIGHT, output_height < 1)
    v.silent(WIDTH, output_width < 1)
    v.silent(RATIO, sampling_ratio < 0)
    v.silent(INTERPOLATES, not np.isfinite(X).all())
    v.silent(CORNERS, not np.isfinite(rois).all())
    shifts = coordinate_transformation_mode == "half_pixel"
    corners = rois * spatial_scale - (0.5 if shifts else 0)
    sizes = corners[:, 2:] - corners[:, :2]
    v.silent(CORNERS, bool((sizes <= 0).any() or (not shifts and (sizes < 1).any())))
    pooled = np.empty((len(rois), X.shape[1], output_height, output_width))
    for roi, (x1, y1, x2, y2) in enumerate(corners):
        rows = _samples(v, y1, y2, output_height, sampling_ratio, X.shape[2])
        columns = _samples(v, x1, x2, output_width, sampling_ratio, X.shape[3])
        for i, y in enumerate(rows):
            for j, x in enumerate(columns):
                values = _interpolated(X[batch_indices[roi]], y, x)
                pooled[roi, :, i, j] = values.mean((1, 2)) if mode == "avg" else values.max((1, 2))
    return pooled


def bumpy(*shape: int) -> Array:
    """Return whole numbers of both signs. Neighbours are far apart."""
    return np.asarray(np.arange(math.prod(shape)) * 37 % 101 - 50).reshape(shape)


case = ALIGN.case
IMAGE = bumpy(2, 3, 6, 7)
ROI = [[1.5, 1, 5.25, 4]]
REGIONS = [[1, 2, 4.5, 5], [0.5, 0.75, 6.25, 5], [2, 1, 3, 4.25]]


def region(
    *rois: list[float], indices: tuple[int, ...] = (), image: Array = IMAGE, **attributes: object
) -> dict[str, Any]:
    """Return the inputs for some regions, and attributes.

    The regions belong to the first image unless `indices` is set.
    """
    places = typed("int64", indices or [0] * len(rois))
    return {"X": image, "rois": list(rois), "batch_indices": places, **attributes}


TWO_BY_THREE: dict[str, Any] = {"output_height": 2, "output_width": 3}
ONE = region(*ROI)
case("defaults", **ONE, cites=(MODE_DEFAULT, HEIGHT, WIDTH, ADAPTIVE, WITHOUT))
case("regions", **region(*REGIONS, indices=(1, 0, 1)), **TWO_BY_THREE, cites=(POOLS, CORNERS, ONE_TO_ONE, ROWS, OUTPUT))
case("ratio_three", **ONE, **TWO_BY_THREE, sampling_ratio=3, cites=(RATIO, INTERPOLATES))
case("adaptive_by_axis", **region([1, 1, 2.5, 5]), output_height=2, output_width=1, cites=ADAPTIVE)
case("maximum", **ONE, **TWO_BY_THREE, mode="max", sampling_ratio=2, cites=MODE)
case("scale_half", **region([3, 2, 10.5, 8]), **TWO_BY_THREE, spatial_scale=0.5, sampling_ratio=2, cites=SCALE)
case("scale_two", **region([0.75, 0.5, 2.5, 2]), **TWO_BY_THREE, spatial_scale=2.0, sampling_ratio=2, cites=SCALE)
for name, clause in {"half_pixel": HALF, "output_half_pixel": OUTPUT_HALF}.items():
    case(name, **ONE, **TWO_BY_THREE, sampling_ratio=2, coordinate_transformation_mode=name, cites=clause)
HALVES: dict[str, Any] = {"coordinate_transformation_mode": "half_pixel", "sampling_ratio": 1}
case("smaller_than_a_pixel", Tag.EDGE, **region([2, 2, 2.5, 2.25]), **HALVES, cites=HALF)
case("at_the_first_pixel", Tag.EDGE, **region([0, 0, 2, 1.5]), **TWO_BY_THREE, sampling_ratio=2, cites=INTERPOLATES)
LAST = region([5.5, 4.5, 7.5, 6.5], image=bumpy(1, 2, 7, 8))
case("at_the_last_pixel", Tag.EDGE, **LAST, sampling_ratio=1, cites=INTERPOLATES)
ONE_PIXEL = region([0, 0, 1, 1], image=bumpy(2, 3, 1, 1), indices=(1,))
case("one_pixel", Tag.EDGE, **ONE_PIXEL, since=16, cites=INTERPOLATES)
case(
    "no_regions",
    Tag.EDGE,
    X=IMAGE,
    rois=ramp(0, 4),
    batch_indices=typed("int64", ramp(0)),
    **TWO_BY_THREE,
    cites=OUTPUT,
)
case("dtypes", Tag.DTYPE, each="T1", **ONE, sampling_ratio=2, cites=(FLOATS, INTEGERS))

case("mode_unknown", **ONE, mode="sum", rejects=MODE)
case("transformation_unknown", **ONE, coordinate_transformation_mode="asymmetric", rejects=TRANSFORMATION)
case("image_of_rank3", **region(*ROI, image=IMAGE[0]), rejects=IMAGES)
case("rois_with_indices", X=IMAGE, rois=[[0, 1, 1, 5, 4]], batch_indices=[0], rejects=CORNERS)
case("fewer_indices", X=IMAGE, rois=REGIONS, batch_indices=[0, 1], rejects=ONE_TO_ONE)
case("more_indices", X=IMAGE, rois=ROI, batch_indices=[0, 1], rejects=ONE_TO_ONE)
case("indices_as_matrix", X=IMAGE, rois=ROI, batch_indices=[[0]], rejects=INDICES)
case("index_too_high", Tag.EDGE, **region(*ROI, indices=(2,)), rejects=INDICES)
case("index_negative", Tag.EDGE, **region(*ROI, indices=(-1,)), rejects=INDICES)
FAR = vary(high=typed("int64", [2**40]), low=typed("int64", [-(2**40)]))  # No process owns memory so far away.
case("index_far", Tag.EDGE, X=IMAGE, rois=ROI, batch_indices=FAR, rejects=INDICES)
case("indices_of_int32", Tag.DTYPE, X=IMAGE, rois=ROI, batch_indices=typed("int32", [0]), rejects=INTEGERS)

case("height_zero", Tag.EDGE, **ONE, output_height=0, unspecified=HEIGHT)
case("width_zero", Tag.EDGE, **ONE, output_width=0, unspecified=WIDTH)
case("ratio_negative", Tag.EDGE, **ONE, sampling_ratio=-1, unspecified=RATIO)
case("ends_before_it_begins", Tag.EDGE, **region([4, 1, 2, 3]), unspecified=CORNERS)
case("no_extent", Tag.EDGE, **region([1, 2, 4, 2]), unspecified=CORNERS)
OMITTED: dict[str, Any] = {"coordinate_transformation_mode": "output_half_pixel"}
case("smaller_without_shift", Tag.EDGE, **region([2, 1, 2.5, 3]), **OMITTED, unspecified=CORNERS)
case("smaller_before_16", Tag.EDGE, **region([2, 1, 4, 1.5]), before=16, unspecified=CORNERS)
case("nan_in_rois", Tag.EDGE, **region([2, np.nan, 4, 3]), unspecified=CORNERS)
case(
    "nan_in_image",
    Tag.EDGE,
    **region(*ROI, image=np.where(IMAGE[0, 0, 2, 2] == IMAGE, np.nan, IMAGE)),
    unspecified=INTERPOLATES,
)
case("above_the_image", Tag.EDGE, **region([2, -3, 4, 3]), sampling_ratio=2, unspecified=INTERPOLATES)
case("right_of_the_image", Tag.EDGE, **region([2, 1, 9, 3]), sampling_ratio=2, unspecified=INTERPOLATES)
BELOW = region([2, 1, 4, 7])
case("below_the_image", Tag.EDGE, **BELOW, sampling_ratio=4, unspecified=INTERPOLATES)
case("half_a_pixel_left", Tag.EDGE, **region([-1, 1, 1, 3]), sampling_ratio=1, cites=INTERPOLATES)
NEARLY = region([1, 1, 5 + 2**-19, 3])
case("nearly_whole", Tag.EDGE, **NEARLY, output_width=2, unspecified=ADAPTIVE)


def regions(sizes: Sizes) -> list[list[float]]:
    """Return regions inside images of h x w pixels. Their borders are between pixels."""
    h, w = sizes["h"], sizes["w"]
    return [
        [1 + i % 3 + 0.25, 1 + i % 2 + 0.375, w - 2 - i % 4 - 0.125, h - 3 + i % 2 - 0.25] for i in range(sizes["r"])
    ]


OF_REGIONS: dict[str, Any] = {
    "X": filled("b", "c", "h", "w"),
    "rois": regions,
    "batch_indices": filled("r", below="b", type_="int64"),
    "output_height": lambda sizes: sizes["p"],
    "output_width": lambda sizes: sizes["p"],
    "sampling_ratio": lambda sizes: sizes["ratio"],
}
GRIDS = grid(b=(2,), c=(3, 17), h=(14,), w=(33,), r=(1, 5), p=(1, 7, 11), ratio=(1, 2, 3))
MAPS = grid(b=(1,), c=(64,), h=(33,), w=(33,), r=(5,), p=(7,), ratio=(2,))
ALIGN.sized("average", [*GRIDS, *MAPS], each="T1", cites=(POOLS, RATIO), arguments=OF_REGIONS)
ALIGN.sized("greatest", GRIDS[::3], cites=MODE, arguments={**OF_REGIONS, "mode": "max"})
