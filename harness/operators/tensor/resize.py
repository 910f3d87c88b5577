"""Resize: a tensor with more or fewer elements along its dimensions.

Versions: 10 (scales), 11 (coordinates, cubic, roi, sizes), 13 (optional inputs), 18 (axes, ratio, antialias) and 19.
"""

# ruff: noqa: N803 - the names are the text's own, and many

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Clause, Ints, Op, Rule, Tag, Version, bounded, extremes, typed
from harness.operators.tensor._resampling import Resampling, exact, kept_ratio, settled


def _rounding(X: Array, mode: str, **_: object) -> list[Array]:
    """Return nothing for the nearest element; else what coordinates and weights, rounded in the type, may be off."""
    if mode == "nearest" or X.size == 0:
        return [np.zeros(())]
    return [np.asarray(sum(X.shape) * (8 if mode == "cubic" else 2) * np.abs(X.astype(complex)).max())]


RESIZE = Op(
    "Resize",
    versions=(10, 11, 13, 18, 19),
    compare=bounded(_rounding, "coordinates round by epsilons of the lengths, so do the weights; nearest only moves"),
    rank="X",
)


def _told(quote: str, since: int | None = 11, before: int | None = None, **more: Any) -> Clause:  # noqa: ANN401
    return RESIZE.clause(quote, since=since, before=before, **more)


DIMENSION_OLD = _told("output_dimension = floor(input_dimension * scale).", None, 11)
MODES_OLD = _told("Two interpolation modes: nearest (default), and linear", None, 11, note="Names no coordinates.")
DIMENSION = _told("floor(input_dimension * (roi_end - roi_start) * scale)", note="Runtimes leave roi out of it.")
AVERAGE = _told("as a weighted average of neighborhood", note="Of numbers; official cases extend the edge.")
POSITIVE = _told("It takes value greater than 0.", None)
COUNT = _told("The number of elements of 'scales' should be the same as the rank of input 'X'", None)
COUNT_SIZES = _told("The number of elements of 'sizes' should be the same as the rank of input 'X'")
EMPTY_SCALES = _told("If 'size' is needed, the user must set 'scales' to an empty tensor.", before=13)
EMPTY_ONLY = _told("May only be set if 'scales' is set to an empty tensor.", before=13)
ONE_OF = _told("One of 'scales' and 'sizes' MUST be specified and it is an error if both are specified.", 13)
ONLY_ONE = _told("Only one of 'scales' and 'sizes' can be specified.", 13)
ROI = _told("1-D tensor given as [start1, ..., startN, end1, ..., endN]")
ROI_EFFECT = _told('It only takes effect when coordinate_transformation_mode is "tf_crop_and_resize"')
SCALE = _told("scale = length_resized / length_original", against=tuple(f"test_resize_{name}" for name in (
    "downsample_scales_linear", "downsample_scales_cubic", "downsample_scales_*_outside",
    "downsample_scales_*_antialias", "*_scales_linear_half_pixel_symmetric")), note="Contradicts a given scale where a "
    "length is cut: 4 elements by 0.6 are 2, which makes 0.5. The official cases go on with 0.6.")  # fmt: skip
HALF_PIXEL = _told("x_original = (x_resized + 0.5) / scale - 0.5")
PYTORCH = _told("x_original = length_resized > 1 ? (x_resized + 0.5) / scale - 0.5 : 0")
ALIGN = _told("x_resized * (length_original - 1) / (length_resized - 1)",
    note="Lengths are whole: 4 elements by 0.6 are 2. The official cases go on with 2.4 as length_resized.",
    against=("test_resize_downsample_scales_*_align_corners",))  # fmt: skip
ASYMMETRIC = _told("x_original = x_resized / scale")
FOR_NN = _told("x_original = (x_resized + 0.5) / scale, <br/>", before=13)
SYMMETRIC = _told("x_ori = offset + (x + 0.5) / scale - 0.5", 19)
CROP = _told("x_original = length_resized > 1 ? start_x * (length_original - 1) + x_resized * (end_x - start_x)")
TRANSFORM = _told("how to transform the coordinate in the resized tensor", note="Any other mode transforms nothing.")
EXTRAPOLATION = _told("this value is used as the corresponding output value. Default is 0.0f.")
EXCLUDE = _told("the weight will be renormalized so that their sum is 1.0. The default value is 0.")
NEAREST_ONLY = _told('Only used by nearest interpolation. It indicates how to get "nearest" pixel in input tensor from')
NEAREST_FOUR = _told("Four modes: ")
CUBIC_ONLY = _told("This attribute is valid only if")
MODES = _told("Three interpolation modes: ")
APPLICABLE = _told("and it is not applicable when the `scales` input is used.", 18, note="Silent on whether an error.")
STRETCH = _told("the original aspect ratio is disregarded", 18)
NOT_LARGER = _told("so that no extent of the output is larger than the specified size", 18)
NOT_SMALLER = _told("so that no extent of the output is smaller than the specified size", 18)
HALFWAY = _told("`round_int` stands for computing the nearest integer value, rounding halfway cases up.", 18)
AXES = _told("Given a set of `sizes`, associated with a subset of `axes` (explicitly provided or default)", 18)
BACK = _told("Negative value means counting dimensions from the back.", 18, note="onnx.reference does not count.")
RANGE = _told("Accepted range is [-r, r-1], where r = rank(data).", 18)
REPEATED = _told("Behavior is undefined if an axis is repeated.", 18)
ANTIALIAS = _told("by stretching the resampling filter by a factor max(1, 1 / scale)", 18, note="Its weights sum to 1.")
TRANSFORMS = {
    "half_pixel": HALF_PIXEL, "pytorch_half_pixel": PYTORCH, "align_corners": ALIGN, "asymmetric": ASYMMETRIC,
    "tf_half_pixel_for_nn": FOR_NN, "half_pixel_symmetric": SYMMETRIC, "tf_crop_and_resize": CROP,
}  # fmt: skip


@RESIZE.oracle(before=11)
def scaled(v: Version, X: Array, mode: str, scales: Array) -> Array:
    """Return X with every dimension scaled, where every mapping of coordinates gives the same."""
    v.require(COUNT, scales.shape == (X.ndim,))
    v.require(POSITIVE, bool((scales > 0).all()))
    v.require(MODES_OLD, mode in {"nearest", "linear"})
    v.silent(MODES_OLD, mode != "nearest" and X.dtype.kind in "Ob")
    result = settled(X, list(scales), mode)
    v.silent(MODES_OLD, result is None)
    return X if result is None else result


@RESIZE.oracle(since=11)
def resized(
    v: Version, X: Array, roi: Ints, scales: Ints, sizes: Ints, *, mode: str, nearest_mode: str, axes: Ints,
    coordinate_transformation_mode: str, cubic_coeff_a: float, exclude_outside: int, extrapolation_value: float,
    antialias: int | None, keep_aspect_ratio_policy: str | None,
) -> Array:  # fmt: skip
    """Return X resized axis by axis; the last two and axes are None before version 18."""
    named, way, rounding = mode, coordinate_transformation_mode, nearest_mode
    v.require(MODES, named in {"nearest", "linear", "cubic"})
    v.require(TRANSFORM, way in TRANSFORMS and TRANSFORMS[way].in_force(v.since))
    v.require(NEAREST_FOUR, rounding in {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
    v.silent(AVERAGE, named != "nearest" and X.dtype.kind in "Ob")
    along = [int(axis) for axis in (range(X.ndim) if axes is None else axes)]
    v.require(RANGE, all(-X.ndim <= axis < X.ndim for axis in along))
    along = [axis % X.ndim for axis in along]
    v.silent(REPEATED, len(set(along)) < len(along))
    lengths, count, cropped = [X.shape[axis] for axis in along], len(along), way == "tf_crop_and_resize"
    wanted, asked = (np.asarray([] if given is None else given) for given in (scales, sizes))
    v.require(EMPTY_SCALES, ONE_OF.in_force(v.since) or not (wanted.size and asked.size))
    v.require(ONE_OF, EMPTY_SCALES.in_force(v.since) or (wanted.size > 0) is not (asked.size > 0))
    bounds = np.asarray(roi if cropped else [0] * count + [1] * count)
    v.require(ROI, bounds.shape == (2 * count,))
    crops = [exact(list(bound)) for bound in bounds.reshape(2, count).T]
    policy = keep_aspect_ratio_policy or "stretch"
    if asked.size:
        v.require(COUNT_SIZES, asked.shape == (count,))
        v.require(STRETCH, policy in {"stretch", "not_larger", "not_smaller"})
        targets = kept_ratio(list(asked), lengths, policy)
    else:
        v.require(COUNT, wanted.shape == (count,))
        v.require(POSITIVE, bool((wanted > 0).all()))
        v.silent(APPLICABLE, policy != "stretch")
        given = zip(lengths, crops, exact(list(wanted)), strict=True)
        targets = [(n * (end - start) * scale // 1, scale) for n, (start, end), scale in given]
    v.silent(ALIGN, way == "align_corners" and any(n > out == 1 for n, (out, _) in zip(lengths, targets, strict=True)))
    whole = X.dtype.kind in "iu" and named != "nearest"
    how = Resampling(named, way, rounding, cubic_coeff_a, exclude=exclude_outside == 1, antialias=antialias == 1)
    result, agreed = how.all(X.astype(float) if whole else X, along, targets, crops, extrapolation_value)
    v.silent(SCALE, not agreed)
    v.silent(AVERAGE, whole and bool((np.abs(result - np.rint(result)) > 1e-9).any()))  # noqa: PLR2004 - of float64
    return np.rint(result).astype(X.dtype) if whole else result


def case(name: str, *tags: Tag, X: Any, **declared: Any) -> None:  # noqa: ANN401 - whatever a case takes
    """Declare a case for the versions that may leave out roi and scales, and for version 11, which may not."""
    eleven, later = (all(clause.in_force(at) for clause in declared.get("cites", ())) for at in (11, 19))
    if later:
        RESIZE.case(name, *tags, X=X, **{"since": 13, **declared})
    if eleven and not {"axes", "antialias", "keep_aspect_ratio_policy", "since"} & set(declared):
        needed = {"roi": [0.0] * len(X.shape) + [1.0] * len(X.shape), "scales": []} | declared
        RESIZE.case(f"{name}_eleven", *tags, X=X, since=11, before=13, **needed)


GRID = np.sin(np.arange(1, 25) * 1.7).reshape(4, 6)
SIZES = {"larger": [8, 12], "smaller": [2, 3], "mixed": [8, 3], "odd": [7, 5], "same": [4, 6]}
QUARTER = [0.25, 0.0, 0.75, 0.5]
LAST: dict[str, Any] = {"since": 19}


def by(sizes: Any = (8, 3), mode: str = "nearest", way: str = "half_pixel", **given: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the arguments that resize a grid; no sizes where scales do."""
    kept = {"sizes": sizes} if sizes else {}
    return {"X": GRID, "mode": mode, "coordinate_transformation_mode": way, **kept, **given}


for way, clause in [item for item in TRANSFORMS.items() if item[1] not in {CROP, FOR_NN}]:
    case(f"{way}_nearest", Tag.CHANGE, **by(way=way), cites=(clause,))
    case(f"{way}_linear", Tag.CHANGE, **by(None, "linear", way, scales=[2.0, 0.5]), cites=(clause,))
    for name, sizes in SIZES.items():
        for mode in ("linear", "cubic"):
            case(f"{way}_{mode}_{name}", **by(sizes, mode, way), **LAST, cites=(AVERAGE,))
        case(f"{way}_excluded_{name}", **by(sizes, "cubic", way), exclude_outside=1, **LAST, cites=(EXCLUDE,))
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            case(f"{way}_{rounding}_{name}", **by(sizes, way=way, **LAST), nearest_mode=rounding, cites=(NEAREST_ONLY,))
        for mode in ("linear", "cubic") if clause is HALF_PIXEL else ():
            case(f"antialias_{mode}_{name}", **by(sizes, mode), antialias=1, cites=(ANTIALIAS,))
for name, roi in {"in": QUARTER, "beyond": [-0.5, 0.25, 1.5, 1.0], "turned": [1.0, 0.0, 0.0, 1.0]}.items():
    for mode in ("nearest", "linear", "cubic"):
        crop = by([3, 4], mode, "tf_crop_and_resize", roi=roi, extrapolation_value=7.5, **LAST)
        case(f"crop_{name}_{mode}", **crop, cites=(EXTRAPOLATION,))
for policy, clause in {"stretch": STRETCH, "not_larger": NOT_LARGER, "not_smaller": NOT_SMALLER}.items():
    case(f"{policy}_whole", Tag.CHANGE, **by([8, 18], "linear", keep_aspect_ratio_policy=policy), cites=(clause,))
    halfway = by([9, 5], way="align_corners", axes=[1, 0], keep_aspect_ratio_policy=policy)
    case(f"{policy}_halfway", **halfway, cites=(clause, HALFWAY))
CROPS: dict[str, Any] = {"way": "tf_crop_and_resize", "roi": QUARTER}
TABLE: list[tuple[str, dict[str, Any], Clause]] = [
    ("crop_value", by(extrapolation_value=7.5, **CROPS | {"roi": [0.0, -1.0, 1.0, 1.5]}), EXTRAPOLATION),
    ("integers_whole", by([1, 6], "linear") | {"X": typed("int32", [[0, 8, 40]]), **LAST}, AVERAGE),
    ("scales_whole", by(None, "linear", "align_corners", scales=[0.6, 1.2]), ALIGN),
    ("rank4", by([1, 2, 6, 7], "cubic") | {"X": GRID.reshape(1, 2, 3, 4)}, AVERAGE),
    ("axes_roi", by([5], **CROPS | {"roi": [0.25, 0.75]}, axes=[1]), AXES), ("roi_unused", by(roi=QUARTER), ROI_EFFECT),
    ("pytorch_one", by([1, 1], "linear", "pytorch_half_pixel"), PYTORCH), ("axes_back", by([9], axes=[-1]), BACK),
    ("dtypes", {"X": extremes(12), "sizes": [24], "each": "T1"}, MODES),
    ("crop_scales", by(None, scales=[1.5, 2.0], **CROPS), DIMENSION), ("axes", by([9, 2], "linear", axes=[1, 0]), AXES),
    ("cubic_a", by(mode="cubic", cubic_coeff_a=-0.5), CUBIC_ONLY), ("crop", by(mode="linear", each="T2", **CROPS), ROI),
    ("excluded", by(mode="linear", exclude_outside=1), EXCLUDE), ("crop_to_one", by([1, 1], "linear", **CROPS), CROP),
    ("for_nn", by(way="tf_half_pixel_for_nn"), FOR_NN), ("antialias_nearest", by(antialias=1), ANTIALIAS),
    ("default", {"X": GRID, "sizes": [8, 3]}, MODES), ("ceil", by(nearest_mode="ceil"), NEAREST_ONLY),
    ("open_policy", by(None, scales=[2.0, 2.0], keep_aspect_ratio_policy="not_larger"), APPLICABLE),
    ("open_integers", by([1, 4], "linear") | {"X": typed("int32", [[0, 1]]), **LAST}, AVERAGE),
    ("open_string", by([1, 4], "linear") | {"X": typed("string", [["a"]]), **LAST}, AVERAGE),
    ("wrong_both", by([8, 3], scales=[2.0, 2.0], since=13, cites=(ONLY_ONE,)), ONE_OF),
    ("wrong_for_nn", by(way="tf_half_pixel_for_nn", since=13), TRANSFORM), ("wrong_way", by(way="corners"), TRANSFORM),
    ("wrong_policy", by(keep_aspect_ratio_policy="fit"), STRETCH), ("wrong_type", by(outside="T1", **LAST), Rule.TYPES),
    ("open_scales", by(None, "linear", scales=[0.6, 0.6]), SCALE), ("wrong_neither", {"X": GRID, "since": 13}, ONE_OF),
    ("wrong_rounding", by(nearest_mode="round"), NEAREST_FOUR), ("wrong_scale", by(None, scales=[2.0, 0.0]), POSITIVE),
    ("open_align", by([1, 1], way="align_corners"), ALIGN), ("wrong_roi", by(**CROPS | {"roi": [0.0, 1.0]}), ROI),
    ("wrong_scales", by(None, scales=[2.0]), COUNT), ("wrong_axis_high", by([9], axes=[2]), RANGE),
    ("wrong_axis_low", by([9], axes=[-3]), RANGE), ("open_repeated", by(axes=[1, -1]), REPEATED),
    ("wrong_mode", by(mode="area"), MODES), ("wrong_sizes", by([8]), COUNT_SIZES), ("wrong_count", by(n=0), Rule.ARITY),
]  # fmt: skip
for name, arguments, clause in TABLE:
    end = {"wrong": "rejects", "open": "unspecified"}.get(name.partition("_")[0], "cites")
    case(name, **arguments, **{end: (clause,) if end == "cites" else clause})
RESIZE.case("both", **by([8, 3], scales=[2.0, 2.0], roi=[]), before=13, cites=(EMPTY_ONLY,), rejects=EMPTY_SCALES)
for mode in ("nearest", "linear"):
    equal: dict[str, Any] = {"X": np.full((4, 6), 7), "scales": [0.5625, 1.3125], "mode": mode, "before": 11}
    RESIZE.case(f"ten_floor_{mode}", **equal, cites=(DIMENSION_OLD, POSITIVE))
    RESIZE.case(f"ten_fraction_{mode}", Tag.EDGE, **equal | {"X": GRID}, unspecified=MODES_OLD)
    RESIZE.case(f"ten_zero_{mode}", Tag.EDGE, **equal | {"scales": [2.0, 0.0]}, rejects=POSITIVE)
    RESIZE.case(f"ten_scales_short_{mode}", **equal | {"scales": [2.0]}, rejects=COUNT)
RESIZE.case("ten_mode", X=GRID, scales=[2.0, 3.0], mode="cubic", before=11, rejects=MODES_OLD)
RESIZE.case("ten_dtypes", Tag.DTYPE, each="T", X=extremes(3, 4), scales=[2.0, 3.0], before=11, cites=(MODES_OLD,))
