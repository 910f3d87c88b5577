# SPDX-License-Identifier: Apache-2.0
"""NonMaxSuppression: among boxes that overlap too much, select those with the highest scores.

    selected_indices = NonMaxSuppression(boxes, scores, max_output_boxes_per_class=0, iou_threshold=0,
                                         score_threshold=None, center_point_box=0)

Versions: 10, 11 (the text of iou_threshold also defines that it is strict).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, AnyOrder, Array, Op, Tag, Version, ramp, vary
from onnx_conformance.declare.sizes import Sizes, fractions, grid, indices_of

SUPPRESSION = Op("NonMaxSuppression", versions=(10, 11), compare=EXACT, rank=lambda _: 2)
SUPPRESSION.example(
    boxes=ramp(2, 6, 4),
    scores=ramp(2, 3, 6),
    max_output_boxes_per_class=2,
    iou_threshold=0.25,
    score_threshold=3.5,
    center_point_box=1,
)

FILTER = SUPPRESSION.clause(
    "Filter out boxes that have high intersection-over-union (IOU) overlap with previously selected boxes.",
    note="The text does not define that the box with the highest score is selected first, in each class of each batch; "
    "the name of the operator implies it. The text does not define equal scores (the official case expects the first), "
    "NaN, or boxes without area.",
    against=("test_nonmaxsuppression_identical_boxes",),
)
LESS = SUPPRESSION.clause("Bounding boxes with score less than score_threshold are removed.")
FORMAT = SUPPRESSION.clause("Bounding box format is indicated by attribute center_point_box.")
STRICTLY = SUPPRESSION.clause(
    "Boxes are suppressed if their IOU with a previously selected box is strictly greater than iou_threshold (i.e., "
    "boxes with IOU exactly equal to the threshold are kept).",
    note="The computation is in single precision. If the intersection and the union must be rounded to it and that may "
    "change the result, the result is left open.",
    see=("https://github.com/onnx/onnx/issues/7615", "https://github.com/onnx/onnx/pull/7619"),
)
STRICTLY_AGAIN = SUPPRESSION.clause("Boxes with IoU strictly greater than this threshold are suppressed.", since=11)
AGNOSTIC = SUPPRESSION.clause("Note that this algorithm is agnostic to where the origin is in the coordinate system")
REFLECTIONS = SUPPRESSION.clause(
    "translating or reflections of the coordinate system result in the same boxes being selected by the algorithm."
)
SET = SUPPRESSION.clause(
    "The selected_indices output is a set of integers indexing into the input collection of bounding boxes",
    note="It is a set, so the rows may be in any order. In the official cases they are in the order of selection, "
    "class by class and batch by batch.",
)
CORNERS = SUPPRESSION.clause(
    "The default is 0. 0 - the box data is supplied as [y1, x1, y2, x2] where (y1, x1) and (y2, x2) are the "
    "coordinates of any diagonal pair of box corners and the coordinates can be provided as normalized (i.e., lying in "
    "the interval [0, 1]) or absolute.",
    note="The text does not define values other than 0 and 1.",
)
CENTERS = SUPPRESSION.clause(
    "1 - the box data is supplied as [x_center, y_center, width, height].",
    note="The text does not define a negative width or height.",
)
BOXES = SUPPRESSION.clause("An input tensor with shape [num_batches, spatial_dimension, 4].")
SCORES = SUPPRESSION.clause("An input tensor with shape [num_batches, num_classes, spatial_dimension]")
MOST = SUPPRESSION.clause(
    "Integer representing the maximum number of boxes to be selected per batch per class. It is a scalar. Default to "
    "0, which means no output.",
    note="The official cases pass each scalar as a vector of one element. The text does not define a negative number.",
)
IOU = SUPPRESSION.clause("It is scalar. Value range [0, 1]. Default to 0.")
SCORE = SUPPRESSION.clause(
    "Float representing the threshold for deciding when to remove boxes based on score. It is a scalar."
)
ROWS = SUPPRESSION.clause(
    "[num_selected_indices, 3], the selected index format is [batch_index, class_index, box_index]."
)


def _overlaps(one: Array, other: Array) -> tuple[Array, Array, Array]:
    """Return the intersections over the unions of boxes [low, low, high, high] and of another box.

    The second value is whether only the quotient is rounded, and the third one whether there is a union.
    """
    sides = np.minimum(one[:, 2:], other[2:]) - np.maximum(one[:, :2], other[:2])
    shared = np.prod(np.maximum(sides, 0), axis=1)
    union = np.prod(one[:, 2:] - one[:, :2], axis=1) + np.prod(other[2:] - other[:2]) - shared
    with np.errstate(all="ignore"):
        exact = (shared.astype(np.float32) == shared) & (union.astype(np.float32) == union)
        return (shared / union).astype(np.float32).astype(np.float64), exact, union > 0


def _suppressed(v: Version, before: Array, other: Array, iou_threshold: float) -> bool:
    """Return whether a box overlaps too much with one of those selected before.

    Raise Unspecified if the order of roundings can change the result. The boxes after the first one that overlaps too
    much do not matter.
    """
    overlap, exact, has_union = _overlaps(before, other)
    too_much = np.flatnonzero(has_union & (overlap > iou_threshold))
    matter = slice(int(too_much[0]) + 1 if too_much.size else None)
    v.silent(FILTER, not has_union[matter].all())
    near = np.abs(overlap - iou_threshold) <= 4 * float(np.finfo(np.float32).eps)
    v.silent(STRICTLY, bool((near & ~(exact & (overlap == iou_threshold)))[matter].any()))
    return bool(too_much.size)


def _selected(v: Version, corners: Array, scores: Array, most: int, iou_threshold: float) -> list[int]:
    """Return the boxes of one class, the highest score first."""
    chosen: list[int] = []
    v.silent(FILTER, len(set(scores.tolist())) < scores.size)
    for index in np.argsort(-scores):
        if len(chosen) == most:
            break
        if not _suppressed(v, corners[chosen], corners[index], iou_threshold):
            chosen.append(int(index))
    return chosen


@SUPPRESSION.oracle()
def selected(
    v: Version,
    *,
    boxes: Array,
    scores: Array,
    max_output_boxes_per_class: Array | None,
    iou_threshold: Array | None,
    score_threshold: Array | None,
    center_point_box: int,
) -> AnyOrder:
    """Return a row of batch, class and box for every selected box, in any order."""
    v.require(BOXES, boxes.ndim == scores.ndim and boxes.shape[2:] == (4,))
    v.require(SCORES, scores.shape[::2] == boxes.shape[:2])
    most = 0 if max_output_boxes_per_class is None else int(v.scalar(MOST, max_output_boxes_per_class))
    overlap = 0.0 if iou_threshold is None else float(v.scalar(IOU, iou_threshold))
    lowest = -np.inf if score_threshold is None else float(v.scalar(SCORE, score_threshold))
    v.require(IOU, 0 <= overlap <= 1)
    v.silent(MOST, most < 0)
    v.silent(CORNERS, center_point_box not in {0, 1})
    v.silent(FILTER, not np.isfinite(boxes).all() or not np.isfinite(scores).all() or bool(np.isnan(lowest)))
    first, second = boxes[..., :2], boxes[..., 2:]
    if center_point_box:
        v.silent(CENTERS, bool((second < 0).any()))
        first, second = first - second / 2, first + second / 2
    corners = np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)
    rows = []
    for batch, class_ in np.ndindex(scores.shape[:2]):
        remaining = np.flatnonzero(~(scores[batch, class_] < lowest))
        order = _selected(v, corners[batch, remaining], scores[batch, class_, remaining], most, overlap) if most else []
        rows += [(batch, class_, int(remaining[index])) for index in order]
    return AnyOrder(np.array(rows, np.int64).reshape(len(rows), 3), axis=0)


case = SUPPRESSION.case

SIX = np.array(
    [
        [
            [0, 0, 1, 1],
            [0, 0.125, 1, 1.125],
            [0, -0.125, 1, 0.875],
            [0, 10, 1, 11],
            [0, 10.125, 1, 11.125],
            [0, 100, 1, 101],
        ]
    ]
)
GRADES = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]])
THRESHOLDS: dict[str, Any] = {"iou_threshold": 0.5, "score_threshold": 0.0}
LIMITS: dict[str, Any] = {"max_output_boxes_per_class": 3, **THRESHOLDS}


def centered(boxes: Array) -> Array:
    """Return [y1, x1, y2, x2] as [x_center, y_center, width, height]."""
    low, high = boxes[..., 1::-1], boxes[..., 3:1:-1]
    return np.concatenate([(low + high) / 2, high - low], axis=-1)


case("plain", boxes=SIX, scores=GRADES, **LIMITS, cites=(FILTER, STRICTLY, ROWS, SET))
case("all", boxes=SIX, scores=GRADES, max_output_boxes_per_class=9, **THRESHOLDS, cites=(FILTER, ROWS))
case("threshold_again", boxes=SIX, scores=GRADES, **LIMITS, cites=STRICTLY_AGAIN)
TURNED = vary(
    rows=SIX[..., [2, 1, 0, 3]],
    columns=SIX[..., [0, 3, 2, 1]],
    both=SIX[..., [2, 3, 0, 1]],
    mixed=np.where(np.arange(6)[:, None] % 2, SIX[..., [2, 3, 0, 1]], SIX),
)
case("corners", boxes=TURNED, scores=GRADES, **LIMITS, cites=CORNERS)
case("translated", boxes=SIX - 64, scores=GRADES, **LIMITS, cites=AGNOSTIC)
case("reflected", boxes=-SIX, scores=GRADES, **LIMITS, cites=REFLECTIONS)
case("transposed", boxes=SIX[..., [1, 0, 3, 2]], scores=GRADES, **LIMITS, cites=REFLECTIONS)
case("centers", boxes=centered(SIX), scores=GRADES, **LIMITS, center_point_box=1, cites=(CENTERS, FORMAT))
TALL = np.array([[[0, 0, 4, 1], [2, 0, 6, 1], [0, 0.5, 4, 1.5], [0, 2, 4, 3]]])
OF_TALL: dict[str, Any] = {"scores": [[[0.5, 0.4, 0.3, 0.2]]], "max_output_boxes_per_class": 4, "iou_threshold": 0.25}
case("tall_corners", boxes=TALL, **OF_TALL, center_point_box=0, cites=CORNERS)
case(
    "centers_a_third",
    boxes=[[[0, 0, 4, 1], [2, 0, 4, 1]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=0.375,
    center_point_box=1,
    cites=CENTERS,
)
case(
    "centers_no_width",
    Tag.EDGE,
    boxes=[[[0, 0, 4, 1], [0, 0, 0, 1]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=0.25,
    center_point_box=1,
    cites=CENTERS,
)
case("tall_centers", boxes=centered(TALL), **OF_TALL, center_point_box=1, cites=CENTERS)

case(
    "overlap",
    Tag.EDGE,
    boxes=[[[0, 0, 1, 1], [0, 0, 1, 2], [0, 3, 1, 4]]],
    scores=[[[0.5, 0.75, 0.25]]],
    max_output_boxes_per_class=3,
    iou_threshold=vary(equal=0.5, above=0.25, below=0.75, zero=0, one=1),
    cites=STRICTLY,
)
case(
    "overlap_near_threshold",
    Tag.EDGE,
    boxes=[[[0, 0, 1, 1], [0, 0, 1, 2]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=vary(above=0.5 + 2.0**-21, below=0.5 - 2.0**-22),
    unspecified=STRICTLY,
)
case(
    "overlap_beyond_rounding",
    Tag.EDGE,
    boxes=[[[0, 0, 1, 1], [0, 0, 1, 2]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=vary(above=0.5 + 9 * 2.0**-24, below=0.5 - 9 * 2.0**-24),
    cites=STRICTLY,
)
# The area of a square with this side has more bits than single precision.
SIDE = 1 + 2.0**-13
case(
    "areas_rounded",
    Tag.EDGE,
    boxes=[[[0, 0, SIDE, SIDE], [0, 0, SIDE, 2 * SIDE]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=0.5,
    unspecified=STRICTLY,
)
case(
    "union_rounded",
    Tag.EDGE,
    boxes=[[[0, 0, 1, 1], [0, 0, SIDE, SIDE]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=float(np.float32(1 / SIDE**2)),
    unspecified=STRICTLY,
)
case(
    "apart_along_both_axes",
    boxes=[[[0, 0, 1, 1], [3, 3, 4, 4]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=0.25,
    cites=FILTER,
)
case(
    "overlap_of_a_third",
    Tag.EDGE,
    boxes=[[[0, 0, 1, 2], [0, 1, 1, 3]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    iou_threshold=1 / 3,
    cites=STRICTLY,
)
case(
    "same_box",
    Tag.EDGE,
    boxes=[[[0, 0, 1, 1]] * 3],
    scores=[[[3, 1, 2]]],
    max_output_boxes_per_class=3,
    iou_threshold=1,
    cites=STRICTLY,
)
case(
    "touching",
    Tag.EDGE,
    boxes=[[[0, 0, 1, 1], [0, 1, 1, 2], [1, 0, 2, 1]]],
    scores=[[[3, 1, 2]]],
    max_output_boxes_per_class=3,
    cites=(IOU, STRICTLY),
)
case(
    "contained",
    Tag.EDGE,
    boxes=[[[0, 0, 4, 4], [1, 1, 3, 3]]],
    scores=[[[1, 2]]],
    max_output_boxes_per_class=3,
    iou_threshold=1,
    cites=FILTER,
)
case(
    "suppressed_does_not_suppress",
    boxes=[[[0, 0, 1, 4], [0, 1, 1, 5], [0, 2, 1, 6], [0, 3, 1, 7]]],
    scores=[[[4, 3, 2, 1]]],
    max_output_boxes_per_class=4,
    iou_threshold=0.5,
    cites=FILTER,
)
UNLIMITED: dict[str, Any] = {"max_output_boxes_per_class": 9, "iou_threshold": 0.5}
LOWEST = vary(equal=0.75, equal_to_the_lowest=0.3, between=0.8, above_all=2, below_all=-1, infinite=np.inf)
case("score", Tag.EDGE, boxes=SIX, scores=GRADES, **UNLIMITED, score_threshold=LOWEST, cites=(LESS, SCORE))
case("score_negative", Tag.EDGE, boxes=SIX, scores=GRADES - 1, **UNLIMITED, score_threshold=-0.3, cites=LESS)
case("scores_negative_without_threshold", boxes=SIX, scores=GRADES - 1, **UNLIMITED, cites=SCORE)
for most in (0, 1, 2, 2**40):
    most_of: dict[str, Any] = {"max_output_boxes_per_class": most, **THRESHOLDS}
    case(f"most_{most}", Tag.EDGE, boxes=SIX, scores=GRADES, **most_of, cites=MOST)
case("most_left_out", Tag.EDGE, boxes=SIX, scores=GRADES, cites=MOST)
case("most_left_out_with_thresholds", boxes=SIX, scores=GRADES, **THRESHOLDS, cites=MOST)
case("overlap_left_out", boxes=SIX, scores=GRADES, max_output_boxes_per_class=3, score_threshold=0.0, cites=IOU)
case("thresholds_left_out", boxes=SIX, scores=GRADES, max_output_boxes_per_class=3, cites=(IOU, SCORE))
case("score_left_out", boxes=SIX, scores=GRADES, max_output_boxes_per_class=3, iou_threshold=0.5, cites=SCORE)
VECTORS: dict[str, Any] = {name: [value] for name, value in LIMITS.items()}
case("scalars_as_vectors", boxes=SIX, scores=GRADES, **VECTORS, cites=(MOST, IOU, SCORE))

PAIR = np.concatenate([SIX, SIX[:, [5, 3, 0, 1, 4, 2]]])
ROLLED = [
    [GRADES[0, 0], GRADES[0, 0, ::-1], np.roll(GRADES[0, 0], 2)],
    [np.roll(GRADES[0, 0], 1), np.roll(GRADES[0, 0], 3), GRADES[0, 0]],
]
case("classes", boxes=SIX, scores=ROLLED[:1], **LIMITS, cites=(ROWS, MOST))
case("batches", boxes=PAIR, scores=[classes[:1] for classes in ROLLED], **LIMITS, cites=(ROWS, MOST))
case("batches_and_classes", boxes=PAIR, scores=ROLLED, **LIMITS, cites=(ROWS, SET))
NOTHING: dict[str, Any] = {"max_output_boxes_per_class": 3, "cites": (BOXES, SCORES, ROWS)}
case("no_boxes", Tag.EDGE, boxes=ramp(2, 0, 4), scores=ramp(2, 3, 0), **NOTHING)
case("no_classes", Tag.EDGE, boxes=ramp(2, 3, 4), scores=ramp(2, 0, 3), **NOTHING)
case("no_batches", Tag.EDGE, boxes=ramp(0, 3, 4), scores=ramp(0, 2, 3), **NOTHING)
case("one_box", Tag.EDGE, boxes=[[[0, 0, 1, 1]]], scores=[[[0.5]]], max_output_boxes_per_class=3, cites=ROWS)

case(
    "equal_scores",
    Tag.EDGE,
    boxes=SIX,
    scores=[[[1, 1, 2, 3, 4, 5]]],
    **UNLIMITED,
    score_threshold=0.0,
    unspecified=FILTER,
)
case(
    "no_area",
    Tag.EDGE,
    boxes=[[[0, 0, 0, 1], [0, 0, 1, 0]]],
    scores=[[[1, 2]]],
    **UNLIMITED,
    score_threshold=0.0,
    unspecified=FILTER,
)
case(
    "nan_box",
    Tag.EDGE,
    boxes=[[[0, 0, np.nan, 1]]],
    scores=[[[1]]],
    **UNLIMITED,
    score_threshold=0.0,
    unspecified=FILTER,
)
case(
    "nan_score",
    Tag.EDGE,
    boxes=SIX,
    scores=[[[1, np.nan, 2, 3, 4, 5]]],
    **UNLIMITED,
    score_threshold=0.0,
    unspecified=FILTER,
)
case("most_negative", Tag.EDGE, boxes=SIX, scores=GRADES, max_output_boxes_per_class=-1, **THRESHOLDS, unspecified=MOST)
case("width_negative", Tag.EDGE, boxes=-centered(SIX), scores=GRADES, **LIMITS, center_point_box=1, unspecified=CENTERS)
case(
    "one_width_negative",
    Tag.EDGE,
    boxes=[[[0, 0, 4, 1], [9, 0, -4, 1]]],
    scores=[[[2, 1]]],
    max_output_boxes_per_class=3,
    center_point_box=1,
    unspecified=CENTERS,
)
case("format_two", Tag.EDGE, boxes=SIX, scores=GRADES, **LIMITS, center_point_box=2, unspecified=CORNERS)
NO_RATIO = vary(negative=-0.25, too_high=1.5, nan=np.nan)
case(
    "overlap",
    Tag.EDGE,
    boxes=SIX,
    scores=GRADES,
    max_output_boxes_per_class=3,
    iou_threshold=NO_RATIO,
    score_threshold=0.0,
    rejects=IOU,
)
for name, clause in {"max_output_boxes_per_class": MOST, "iou_threshold": IOU, "score_threshold": SCORE}.items():
    case(f"{name}_twice", boxes=SIX, scores=GRADES, **{**LIMITS, name: [0.5, 0.5]}, rejects=clause)
    case(f"{name}_matrix", Tag.EDGE, boxes=SIX, scores=GRADES, **{**LIMITS, name: [[0.5]]}, rejects=clause)
for index, shape in enumerate(((6, 4), (1, 6, 5), (1, 6), (1, 1, 6, 4), (1, 4, 6), (1, 6, 1))):
    case(f"boxes_misshapen_{index}", Tag.EDGE, boxes=ramp(*shape), scores=GRADES, **LIMITS, rejects=BOXES)
for index, shape in enumerate(((1, 1, 5), (2, 1, 6), (1, 6, 1))):
    case(f"scores_misshapen_{index}", Tag.EDGE, boxes=SIX, scores=ramp(*shape), **LIMITS, rejects=SCORES)


def _boxes(sizes: Sizes) -> Array:
    """Return boxes with sides from 5 to 30 in a square of 100, whose corners are in drawn places."""
    shape = (sizes["b"], sizes["n"], 2)
    first, sides = (fractions(f"{SUPPRESSION} {part} {sizes}", math.prod(shape)) for part in ("corners", "sides"))
    low, high = 100 * first, 100 * first + 5 + 25 * sides
    return np.concatenate([low.reshape(shape), high.reshape(shape)], axis=-1).astype(np.float32)


for name, threshold in {"strict": 0.1, "half": 0.5, "loose": 0.7}.items():
    SUPPRESSION.sized(
        name,
        [
            {"b": b, "c": c, "n": n, "most": most}
            for b, c, n, most in (
                (1, 1, 100, 10),
                (1, 1, 1000, 1000),
                (1, 1, 3000, 100),
                (2, 3, 300, 50),
                (1, 20, 64, 5),
                (1, 1, 16_400, 100),
            )
        ],
        cites=(FILTER, STRICTLY, ROWS),
        arguments={
            "boxes": _boxes,
            "scores": indices_of("n", "b", "c", "n", distinct=-1),
            "max_output_boxes_per_class": lambda sizes: sizes["most"],
            "iou_threshold": threshold,
            "score_threshold": lambda sizes: sizes["n"] // 4 + 0.5,
        },
    )
SUPPRESSION.sized(
    "centers",
    grid(b=(1,), c=(2,), n=(100, 1000), most=(50,)),
    cites=CENTERS,
    arguments={
        "boxes": lambda sizes: centered(_boxes(sizes)),
        "scores": indices_of("n", "b", "c", "n", distinct=-1),
        "max_output_boxes_per_class": lambda sizes: sizes["most"],
        "iou_threshold": 0.5,
        "center_point_box": 1,
    },
)
