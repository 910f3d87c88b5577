# SPDX-License-Identifier: Apache-2.0
"""AffineGrid: the positions to which affine matrices map the pixels of an image or a volume.

    grid = AffineGrid(theta, size, align_corners=0)

Version: 20.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled

if TYPE_CHECKING:
    from collections.abc import Mapping


def _positions(size: Array, align_corners: int) -> Array:
    """Return the homogeneous positions of all pixels, (*spatial, n + 1), with x first and 1 last."""
    spatial = [int(item) for item in size[2:]]
    lines = []
    for count in spatial:
        steps = np.arange(count)
        with np.errstate(all="ignore"):
            lines.append(-1 + 2 * steps / (count - 1) if align_corners else (2 * steps + 1) / count - 1)
    axes = np.meshgrid(*lines, indexing="ij")
    return np.stack([*axes[::-1], np.ones(spatial)], -1)


def _grid(theta: Array, size: Array, align_corners: int) -> Array:
    """Return the rows of each matrix times all positions, (N, *spatial, n)."""
    return np.asarray(np.einsum("...c,nrc->n...r", _positions(size, align_corners), theta))


def _rounding(theta: Array, size: Array, align_corners: int) -> list[Array]:
    """Return a few roundings of every product: up to 2 for positions, and half of one each for products and sums."""
    lines = len(size) - 1
    magnitudes = np.abs(_positions(size, align_corners)) * 0 + 1
    with np.errstate(all="ignore"):
        return [np.einsum("...c,nrc->n...r", magnitudes, np.abs(theta)) * (2 + lines / 2)]


def _rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the grid.

    Models without an expected output must state one too.
    """
    size = arguments.get("size")
    return len(size) if size is not None and np.ndim(size) == 1 else None


GRID = Op(
    "AffineGrid",
    versions=(20,),
    compare=bounded(_rounding, "positions are rounded up to 2 times, products and sums round once each"),
    rank=_rank,
)
GRID.example(theta=waves(1, 2, 3), size=[1, 1, 2, 3])
GRID.dispute("in the body, Unsqueeze has a scalar instead of a list of axes", "test_affine_grid_*_expanded")
GRID.dispute(
    "the body for two dimensions squeezes every dimension of size 1, including that of a batch of one image",
    "default",
    "plane_*",
    "identity_*",
    "shift_*",
    "swapped_*",
    "two_pixels_*",
    "long_*",
    "no_channels_*",
    "each_type_*",
    "one_pixel_*",
    "no_pixels",
    "infinity",
    "nan",
)

FIELD = GRID.clause("Generates a 2D or 3D flow field (sampling grid), given a batch of affine matrices theta")
APPLIED = GRID.clause(
    "An affine matrix `theta` is applied to a position tensor represented in its homogeneous expression."
)
PRODUCT = GRID.clause(
    "[r00, r01, r02, t0] [x] [x'] [r10, r11, r12, t1] * [y] = [y'] [r20, r21, r22, t2] [z] [z'] [0, 0, 0, 1 ] [1] [1 ]"
)
SPACES = GRID.clause(
    "where `(x, y, z)` is the position in the original space, `(x', y', z')` is the position in the output space."
)
LAST_ROW = GRID.clause("The last row is always `[0, 0, 0, 1]` and is not stored in the affine matrix.")
THETA = GRID.clause("Therefore we have `theta` of shape `(N, 2, 3)` for 2D or `(N, 3, 4)` for 3D.")
EVENLY = GRID.clause(
    "Input `size` is used to define grid of positions evenly spaced in the original 2D or 3D space, with dimensions "
    "ranging from `-1` to `1`.",
    note="The text does not define that x belongs to the width, y to the height and z to the depth; the official cases "
    "do.",
)
OUTPUT_SPACE = GRID.clause("The output `grid` contains positions in the output space.")
CENTERS = GRID.clause(
    "When `align_corners=1`, consider `-1` and `1` to refer to the centers of the corner pixels",
    note="If there is only one pixel, -1 and 1 both refer to its center.",
)
EDGES = GRID.clause("When `align_corners=0`, consider `-1` and `1` to refer to the outer edge of the corner pixels.")
ATTRIBUTE = GRID.clause(
    "if align_corners=1, consider -1 and 1 to refer to the centers of the corner pixels. if align_corners=0, consider "
    "-1 and 1 to refer to the outer edge the corner pixels.",
    note="The text does not define values other than 0 and 1.",
)
MATRICES = GRID.clause("input batch of affine matrices with shape (N, 2, 3) for 2D or (N, 3, 4) for 3D")
TARGET = GRID.clause("the target output image size (N, C, H, W) for 2D or (N, C, D, H, W) for 3D")
SAMPLES = GRID.clause(
    "output tensor of shape (N, H, W, 2) of 2D sample coordinates or (N, D, H, W, 3) of 3D sample coordinates."
)


@GRID.oracle()
def grid(v: Version, theta: Array, size: Array, align_corners: int) -> Array:
    """Return theta times the position of each pixel."""
    v.require(TARGET, size.ndim == 1 and len(size) in {4, 5})
    dimensions = len(size) - 2
    v.require(MATRICES, theta.shape[1:] == (dimensions, dimensions + 1))
    v.require(TARGET, int(size[0]) == len(theta))
    v.require(TARGET, bool((size >= 0).all()))
    v.silent(ATTRIBUTE, align_corners not in {0, 1})
    v.silent(CENTERS, align_corners == 1 and bool((size[2:] == 1).any()))
    with np.errstate(all="ignore"):
        return _grid(theta, size, align_corners)


case = GRID.case
PLANE = np.array([[1.5, -0.25, 0.5], [0.75, 2, -1]])
SPACE = np.array([[1.5, -0.25, 0.5, 3], [0.75, 2, -1, 0.125], [-0.5, 0.375, 1.25, -2]])

for corners, clause in ((0, EDGES), (1, CENTERS)):
    name = ("edges", "centers")[corners]
    how: dict[str, Any] = {"align_corners": corners}
    case(f"plane_{name}", theta=[PLANE], size=[1, 5, 2, 3], **how, cites=(clause, APPLIED, FIELD, SAMPLES))
    case(f"space_{name}", theta=[SPACE], size=[1, 6, 2, 3, 4], **how, cites=(clause, PRODUCT, SPACES, SAMPLES))
    batch = [PLANE, -PLANE, PLANE[::-1]]
    case(f"batch_{name}", theta=batch, size=[3, 2, 4, 5], **how, cites=(MATRICES, OUTPUT_SPACE))
    spaces = [SPACE, SPACE[::-1]]
    case(f"batch_of_spaces_{name}", theta=spaces, size=[2, 7, 3, 5, 4], **how, cites=(MATRICES, THETA))
    identity, eye = [[[1, 0, 0], [0, 1, 0]]], [np.eye(3, 4)]
    case(f"identity_{name}", theta=identity, size=[1, 1, 4, 6], **how, cites=(EVENLY, ATTRIBUTE, LAST_ROW))
    case(f"identity_of_space_{name}", theta=eye, size=[1, 1, 3, 2, 5], **how, cites=(EVENLY, ATTRIBUTE))
    case(f"shift_{name}", theta=[[[0, 0, 0.5], [0, 0, -3]]], size=[1, 1, 2, 3], **how, cites=PRODUCT)
    case(f"swapped_{name}", theta=[[[0, 1, 0], [1, 0, 0]]], size=[1, 1, 2, 5], **how, cites=PRODUCT)
    case(f"two_pixels_{name}", Tag.EDGE, theta=identity, size=[1, 1, 2, 2], **how, cites=clause)
    case(f"long_{name}", theta=[PLANE], size=[1, 1, 2, 300], **how, cites=EVENLY)
    case(f"no_channels_{name}", Tag.EDGE, theta=[PLANE], size=[1, 0, 2, 3], **how, cites=TARGET)
    case(f"each_type_{name}", Tag.DTYPE, each="T1", theta=[PLANE], size=[1, 1, 4, 3], **how, cites=SAMPLES)
case("default", theta=[PLANE], size=[1, 5, 3, 2], cites=EDGES)
ONES = vary(both=[1, 1, 1, 1], height=[1, 1, 1, 3], width=[1, 1, 3, 1])
case("one_pixel", Tag.EDGE, theta=[PLANE], size=ONES, cites=EDGES)
case("one_pixel_centers", Tag.EDGE, theta=[PLANE], size=ONES, align_corners=1, unspecified=CENTERS)
case("depth_one_centers", Tag.EDGE, theta=[SPACE], size=[1, 1, 1, 2, 3], align_corners=1, unspecified=CENTERS)
case("no_pixels", Tag.EDGE, theta=[PLANE], size=[1, 2, 0, 3], cites=TARGET)
case("no_batch", Tag.EDGE, theta=np.zeros((0, 2, 3)), size=[0, 2, 4, 3], cites=TARGET)
case("infinity", Tag.EDGE, theta=[[[np.inf, 0, 1], [0, -np.inf, 2]]], size=[1, 1, 2, 4], cites=PRODUCT)
case("nan", Tag.EDGE, theta=[[[1, 0, np.nan], [0, 2, 1]]], size=[1, 1, 2, 4], cites=PRODUCT)
case(
    "align_corners",
    Tag.EDGE,
    theta=[PLANE],
    size=[1, 1, 2, 3],
    align_corners=vary(two=2, negative=-1),
    unspecified=ATTRIBUTE,
)
for name, shape in (
    ("of_space", (1, 3, 4)),
    ("square", (1, 3, 3)),
    ("transposed", (1, 3, 2)),
    ("one_column_less", (1, 2, 2)),
):
    case(f"theta_{name}_for_a_plane", theta=waves(*shape), size=[1, 1, 2, 3], rejects=MATRICES)
for name, shape in (("of_plane", (1, 2, 3)), ("homogeneous", (1, 4, 4)), ("transposed", (1, 4, 3))):
    case(f"theta_{name}_for_a_space", theta=waves(*shape), size=[1, 1, 2, 3, 4], rejects=MATRICES)
case("theta_matrix", theta=waves(2, 3), size=[1, 1, 2, 3], rejects=MATRICES)
case("theta_rank4", theta=waves(1, 1, 2, 3), size=[1, 1, 2, 3], rejects=MATRICES)
case("batch_differs", theta=[PLANE, PLANE], size=[3, 1, 2, 3], rejects=TARGET)
case("batch_of_one", theta=[PLANE], size=[2, 1, 2, 3], rejects=TARGET)
case("size_of_three", theta=[PLANE], size=[1, 2, 3], rejects=TARGET)
case("size_of_six", theta=[SPACE], size=[1, 1, 2, 3, 4, 5], rejects=TARGET)
case("size_matrix", theta=[PLANE], size=[[1, 1, 2, 3]], rejects=TARGET)
case("size_scalar", theta=[PLANE], size=4, rejects=TARGET)
NEGATIVE = vary(minus_two=[1, 1, -2, 3], minus_one=[1, 1, 4, -1])
case("size", Tag.EDGE, theta=[PLANE], size=NEGATIVE, rejects=TARGET)

for align in (0, 1):
    GRID.sized(
        f"images_{'centers' if align else 'edges'}",
        [{"b": b, "h": h, "w": w} for b in (1, 3) for h, w in ((7, 9), (14, 33), (64, 64), (181, 183))],
        each="T1" if align == 0 else None,
        cites=(APPLIED, CENTERS if align else EDGES),
        arguments={
            "theta": filled("b", 2, 3),
            "size": lambda sizes: [sizes["b"], 3, sizes["h"], sizes["w"]],
            "align_corners": align,
        },
    )
    GRID.sized(
        f"volumes_{'centers' if align else 'edges'}",
        [{"b": 2, "d": 5, "h": 7, "w": w} for w in (9, 16)],
        cites=(APPLIED, SAMPLES),
        arguments={
            "theta": filled("b", 3, 4),
            "size": lambda sizes: [sizes["b"], 3, sizes["d"], sizes["h"], sizes["w"]],
            "align_corners": align,
        },
    )
