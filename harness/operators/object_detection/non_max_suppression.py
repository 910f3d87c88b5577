"""NonMaxSuppression: of boxes that overlap too much, those with the highest scores.

Versions: 10, 11 (says of iou_threshold itself that it is strict).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, ramp, typed

SUPPRESSION = Op("NonMaxSuppression", versions=(10, 11), compare=EXACT, rank=lambda _: 2)

FILTER = SUPPRESSION.clause(
    "Filter out boxes that have high intersection-over-union (IOU) overlap with previously selected boxes.",
    note="Says not that the box of the highest score is selected first, in each class of each batch: the operator's "
    "name does. Of equal scores (the official case expects the first), of NaN, of boxes without area it says nothing.",
    against=("test_nonmaxsuppression_identical_boxes",),
)
LESS = SUPPRESSION.clause("Bounding boxes with score less than score_threshold are removed.")
FORMAT = SUPPRESSION.clause("Bounding box format is indicated by attribute center_point_box.")
STRICTLY = SUPPRESSION.clause(
    "Boxes are suppressed if their IOU with a previously selected box is strictly greater than iou_threshold (i.e., "
    "boxes with IOU exactly equal to the threshold are kept).",
    note="In single precision. Where the intersection and the union have to be rounded to it, and that may decide, the "
    "answer is left open.",
)
STRICTLY_AGAIN = SUPPRESSION.clause("Boxes with IoU strictly greater than this threshold are suppressed.", since=11)
AGNOSTIC = SUPPRESSION.clause("Note that this algorithm is agnostic to where the origin is in the coordinate system")
REFLECTIONS = SUPPRESSION.clause(
    "translating or reflections of the coordinate system result in the same boxes being selected by the algorithm."
)
SET = SUPPRESSION.clause(
    "The selected_indices output is a set of integers indexing into the input collection of bounding boxes",
    note="Says not in which order; it is that of selection, class by class and batch by batch, in the official cases.",
)
CORNERS = SUPPRESSION.clause(
    "The default is 0. 0 - the box data is supplied as [y1, x1, y2, x2] where (y1, x1) and (y2, x2) are the "
    "coordinates of any diagonal pair of box corners and the coordinates can be provided as normalized (i.e., lying in "
    "the interval [0, 1]) or absolute.",
    note="Says nothing of other values than 0 and 1.",
)
CENTERS = SUPPRESSION.clause(
    "1 - the box data is supplied as [x_center, y_center, width, height].",
    note="Says nothing of a width or height below 0.",
)
BOXES = SUPPRESSION.clause("An input tensor with shape [num_batches, spatial_dimension, 4].")
SCORES = SUPPRESSION.clause("An input tensor with shape [num_batches, num_classes, spatial_dimension]")
MOST = SUPPRESSION.clause(
    "Integer representing the maximum number of boxes to be selected per batch per class. It is a scalar. Default to "
    "0, which means no output.",
    note="The official cases hand over each scalar as a vector of one element. Says nothing of a number below 0.",
)
IOU = SUPPRESSION.clause("It is scalar. Value range [0, 1]. Default to 0.")
SCORE = SUPPRESSION.clause(
    "Float representing the threshold for deciding when to remove boxes based on score. It is a scalar."
)
ROWS = SUPPRESSION.clause(
    "[num_selected_indices, 3], the selected index format is [batch_index, class_index, box_index]."
)


def _overlap(v: Version, one: Array, other: Array) -> float:
    """Return the intersection over the union of two boxes [low, low, high, high]."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    shared = float(np.prod(np.maximum(sides, 0)))
    union = float(np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2])) - shared
    v.silent(FILTER, union <= 0)
    exact = np.float32(shared) == shared and np.float32(union) == union
    return float(np.float32(shared / union)) if exact else shared / union


def _selected(v: Version, corners: Array, scores: Array, most: int, iou_threshold: float) -> list[int]:
    """Return the boxes of one class, the highest score first."""
    chosen: list[int] = []
    v.silent(FILTER, len(set(scores.tolist())) < scores.size)
    for index in np.argsort(-scores):
        if len(chosen) == most or scores[index] == -np.inf:
            break
        overlaps = [_overlap(v, corners[index], corners[before]) for before in chosen]
        close = [0 < abs(overlap - iou_threshold) <= 4 * np.finfo(np.float32).eps for overlap in overlaps]
        v.silent(STRICTLY, any(close))
        if not any(overlap > iou_threshold for overlap in overlaps):
            chosen.append(int(index))
    return chosen


@SUPPRESSION.oracle()
def selected(
    v: Version, boxes: Array, scores: Array, max_output_boxes_per_class: Array | None, iou_threshold: Array | None,
    score_threshold: Array | None, center_point_box: int,
) -> Array:  # fmt: skip
    """Return a row of batch, class and box for every box selected."""
    v.require(BOXES, boxes.ndim == scores.ndim and boxes.shape[2:] == (4,))
    v.require(SCORES, scores.shape[::2] == boxes.shape[:2])
    scalars = ((max_output_boxes_per_class, MOST), (iou_threshold, IOU), (score_threshold, SCORE))
    for scalar, clause in scalars:
        v.require(clause, scalar is None or (scalar.size == 1 and scalar.ndim <= 1))
    most = 0 if max_output_boxes_per_class is None else int(max_output_boxes_per_class.item())
    overlap = 0.0 if iou_threshold is None else float(iou_threshold.item())
    lowest = -np.inf if score_threshold is None else float(score_threshold.item())
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
    for batch, kind in np.ndindex(scores.shape[:2]):
        kept = np.flatnonzero(~(scores[batch, kind] < lowest))
        order = _selected(v, corners[batch, kept], scores[batch, kind, kept], most, overlap) if most else []
        rows += [(batch, kind, int(kept[index])) for index in order]
    return np.array(rows, np.int64).reshape(len(rows), 3)


case = SUPPRESSION.case
SIX = np.array([
    [0, 0, 1, 1], [0, 0.125, 1, 1.125], [0, -0.125, 1, 0.875], [0, 10, 1, 11], [0, 10.125, 1, 11.125], [0, 100, 1, 101]
])  # fmt: skip
GRADES = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]
PLAIN: dict[str, Any] = {"boxes": SIX[None], "scores": [[GRADES]], "max_output_boxes_per_class": 3}
PLAIN |= {"iou_threshold": 0.5, "score_threshold": 0.0}
ALL: dict[str, Any] = {**PLAIN, "max_output_boxes_per_class": 9}


def centered(boxes: Array) -> Array:
    """Return [y1, x1, y2, x2] as [x_center, y_center, width, height]."""
    low, high = boxes[..., 1::-1], boxes[..., 3:1:-1]
    return np.concatenate([(low + high) / 2, high - low], axis=-1)


case("plain", **PLAIN, cites=(FILTER, STRICTLY, ROWS, SET))
case("all", **ALL, cites=(FILTER, ROWS))
case("threshold_said_again", **PLAIN, cites=(STRICTLY_AGAIN,))
THIRD: dict[str, Any] = {"boxes": [[[0, 0, 1, 2], [0, 1, 1, 3]]], "scores": [[[2, 1]]], "iou_threshold": 1 / 3}
case("overlap_of_a_third", Tag.EDGE, **THIRD, max_output_boxes_per_class=3, cites=(STRICTLY,))
for axes, name in (([2, 1, 0, 3], "rows"), ([0, 3, 2, 1], "columns"), ([2, 3, 0, 1], "both")):
    case(f"corners_{name}", **{**PLAIN, "boxes": SIX[None][..., axes]}, cites=(CORNERS,))
case("corners_mixed", **{**PLAIN, "boxes": np.where(np.arange(6)[:, None] % 2, SIX[:, [2, 3, 0, 1]], SIX)[None]})
case("translated", **{**PLAIN, "boxes": SIX[None] - 64}, cites=(AGNOSTIC,))
case("reflected", **{**PLAIN, "boxes": -SIX[None]}, cites=(REFLECTIONS,))
case("transposed", **{**PLAIN, "boxes": SIX[None][..., [1, 0, 3, 2]]}, cites=(REFLECTIONS,))
case("centers", **{**PLAIN, "boxes": centered(SIX)[None]}, center_point_box=1, cites=(CENTERS, FORMAT))
TALL = np.array([[0, 0, 4, 1], [2, 0, 6, 1], [0, 0.5, 4, 1.5], [0, 2, 4, 3]])
OF_TALL: dict[str, Any] = {"scores": [[[0.5, 0.4, 0.3, 0.2]]], "max_output_boxes_per_class": 4, "iou_threshold": 0.25}
case("tall_corners", boxes=TALL[None], **OF_TALL, center_point_box=0, cites=(CORNERS,))
case("tall_centers", boxes=centered(TALL)[None], **OF_TALL, center_point_box=1, cites=(CENTERS,))

HALF = [[[0, 0, 1, 1], [0, 0, 1, 2], [0, 3, 1, 4]]]
for threshold, name in ((0.5, "equal"), (0.25, "above"), (0.75, "below"), (0, "zero"), (1, "one")):
    given: dict[str, Any] = {"iou_threshold": threshold, "max_output_boxes_per_class": 3}
    case(f"overlap_{name}", Tag.EDGE, boxes=HALF, scores=[[[0.5, 0.75, 0.25]]], **given, cites=(STRICTLY,))
case("same_box", Tag.EDGE, boxes=[[[0, 0, 1, 1]] * 3], scores=[[[3, 1, 2]]], **given, cites=(STRICTLY,))
case("touching", Tag.EDGE, boxes=[[[0, 0, 1, 1], [0, 1, 1, 2], [1, 0, 2, 1]]], scores=[[[3, 1, 2]]],
     max_output_boxes_per_class=3, cites=(IOU, STRICTLY))  # fmt: skip
case("contained", Tag.EDGE, boxes=[[[0, 0, 4, 4], [1, 1, 3, 3]]], scores=[[[1, 2]]], **given, cites=(FILTER,))
CHAIN = [[[0, 0, 1, 4], [0, 1, 1, 5], [0, 2, 1, 6], [0, 3, 1, 7]]]
CHAINED: dict[str, Any] = {"scores": [[[4, 3, 2, 1]]], "max_output_boxes_per_class": 4, "iou_threshold": 0.5}
case("suppressed_does_not_suppress", boxes=CHAIN, **CHAINED, cites=(FILTER,))
for threshold, name in ((0.75, "equal"), (0.8, "between"), (2, "above_all"), (-1, "below_all"), (np.inf, "infinite")):
    case(f"score_{name}", Tag.EDGE, **{**ALL, "score_threshold": threshold}, cites=(LESS, SCORE))
case("score_negative", Tag.EDGE, **{**ALL, "scores": [[np.array(GRADES) - 1]], "score_threshold": -0.3}, cites=(LESS,))
case("scores_negative_without_threshold", **{**ALL, "scores": [[np.array(GRADES) - 1]], "score_threshold": None})
for most in (0, 1, 2, 2**40):
    case(f"most_{most}", Tag.EDGE, **{**PLAIN, "max_output_boxes_per_class": most}, cites=(MOST,))
case("most_left_out", Tag.EDGE, boxes=SIX[None], scores=[[GRADES]], cites=(MOST,))
case("most_left_out_with_thresholds", **{**PLAIN, "max_output_boxes_per_class": None}, cites=(MOST,))
case("overlap_left_out", **{**PLAIN, "iou_threshold": None}, cites=(IOU,))
case("thresholds_left_out", **{**PLAIN, "iou_threshold": None, "score_threshold": None}, cites=(IOU,))
case("score_left_out", **{**PLAIN, "score_threshold": None}, cites=(SCORE,))
VECTORS: dict[str, Any] = {name: [PLAIN[name]] for name in list(PLAIN)[2:]}
case("scalars_as_vectors", boxes=SIX[None], scores=[[GRADES]], **VECTORS, cites=(MOST, IOU, SCORE))

TWO: dict[str, Any] = {**PLAIN, "boxes": np.stack([SIX, SIX[[5, 3, 0, 1, 4, 2]]])}
CLASSES = [[GRADES, GRADES[::-1], np.roll(GRADES, 2)], [np.roll(GRADES, 1), np.roll(GRADES, 3), GRADES]]
case("classes", **{**PLAIN, "scores": [CLASSES[0]]}, cites=(ROWS, MOST))
case("batches", **{**TWO, "scores": [item[:1] for item in CLASSES]}, cites=(ROWS, MOST))
case("batches_and_classes", **{**TWO, "scores": CLASSES}, cites=(ROWS, SET))
for name, shapes in (
    ("boxes", ((2, 0, 4), (2, 3, 0))),
    ("classes", ((2, 3, 4), (2, 0, 3))),
    ("batches", ((0, 3, 4), (0, 2, 3))),
):
    none: dict[str, Any] = {"boxes": ramp(*shapes[0]), "scores": ramp(*shapes[1])}
    case(f"no_{name}", Tag.EDGE, **none, max_output_boxes_per_class=3, cites=(BOXES, SCORES, ROWS))
case("one_box", Tag.EDGE, boxes=[[[0, 0, 1, 1]]], scores=[[[0.5]]], max_output_boxes_per_class=3, cites=(ROWS,))

case("equal_scores", Tag.EDGE, **{**ALL, "scores": [[[1, 1, 2, 3, 4, 5]]]}, unspecified=FILTER)
case("no_area", Tag.EDGE, **{**ALL, "boxes": [[[0, 0, 0, 1], [0, 0, 1, 0]]], "scores": [[[1, 2]]]}, unspecified=FILTER)
case("nan_box", Tag.EDGE, **{**ALL, "boxes": [[[0, 0, np.nan, 1]]], "scores": [[[1]]]}, unspecified=FILTER)
case("nan_score", Tag.EDGE, **{**ALL, "scores": [[[1, np.nan, 2, 3, 4, 5]]]}, unspecified=FILTER)
case("most_negative", Tag.EDGE, **{**PLAIN, "max_output_boxes_per_class": -1}, unspecified=MOST)
case("width_negative", Tag.EDGE, **{**PLAIN, "boxes": -centered(SIX)[None]}, center_point_box=1, unspecified=CENTERS)
case("format_two", Tag.EDGE, **PLAIN, center_point_box=2, unspecified=CORNERS)
for threshold, name in ((-0.25, "negative"), (1.5, "too_high"), (np.nan, "nan")):
    case(f"overlap_{name}", Tag.EDGE, **{**PLAIN, "iou_threshold": threshold}, rejects=IOU)
for name, clause in zip(VECTORS, (MOST, IOU, SCORE), strict=True):
    case(f"{name}_twice", **{**PLAIN, name: [0.5, 0.5]}, rejects=clause)
    case(f"{name}_matrix", Tag.EDGE, **{**PLAIN, name: [[0.5]]}, rejects=clause)
for index, shape in enumerate(((6, 4), (1, 6, 5), (1, 6), (1, 1, 6, 4), (1, 4, 6), (1, 6, 1))):
    case(f"boxes_misshapen_{index}", Tag.EDGE, **{**PLAIN, "boxes": ramp(*shape)}, rejects=BOXES)
for index, shape in enumerate(((1, 1, 5), (2, 1, 6), (1, 6, 1))):
    case(f"scores_misshapen_{index}", Tag.EDGE, **{**PLAIN, "scores": ramp(*shape)}, rejects=SCORES)
for name in PLAIN:
    wrong = typed("double" if "max" not in name else "int32", PLAIN[name])
    case(f"{name}_of_other_type", Tag.DTYPE, **{**PLAIN, name: wrong}, rejects=Rule.TYPES)
case("attribute_axis", **PLAIN, stray={"axis": 1}, rejects=Rule.ATTRIBUTES)
case("no_scores", boxes=SIX[None], rejects=Rule.ARITY)
case("no_outputs", **PLAIN, n=0, rejects=Rule.ARITY)
case("two_outputs", **PLAIN, n=2, rejects=Rule.ARITY)
