# SPDX-License-Identifier: Apache-2.0
"""GridSample: sample the input at the positions of a grid, with interpolation between pixels.

    Y = GridSample(X, grid, align_corners=0, mode="linear", padding_mode="zeros")

Versions: 16 (images; bilinear, nearest, bicubic), 20 (any number of spatial axes; linear, nearest, cubic; order of the
coordinates and halfway positions), 22 (bfloat16).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.sizes import Dims, among, filled, grid

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = {"bilinear": "linear", "bicubic": "cubic"}
"""The names of modes before version 20, and the names since version 20."""
ALPHA = -0.75
"""The coefficient of the cubic convolution in PyTorch."""


def points(*shape: int) -> Array:
    """Return odd eighths from -7/8 to 7/8.

    They are exact in every type, and never halfway between two of 2 to 5 pixels.
    """
    index = np.arange(math.prod(shape))
    return np.asarray((index * 5 + index // 8) % 8 * 2 - 7).reshape(shape) / 8


def _rounding(X: Array, grid: Array, align_corners: int, mode: str, padding_mode: str) -> list[Array]:
    """Return the errors of weights and sums. A cubic weight has an error of up to four epsilons even if small."""
    kind, rank = NAMES.get(mode, mode), X.ndim - 2
    if kind == "nearest":
        return [np.zeros(())]
    places = located(grid, X.shape[2:], at_centers=align_corners == 1)
    neighbours = terms(np.abs(X), places, kind, padding_mode, at_centers=align_corners == 1)
    factor, least = roundings(len(neighbours) + 4 * rank) / 2, 4 * (kind == "cubic")
    with np.errstate(all="ignore"):
        return [sum((term.values * (np.abs(term.weights) * factor + least) for term in neighbours), np.zeros(()))]


SAMPLE = Op(
    "GridSample",
    versions=(16, 20, 22),
    compare=bounded(_rounding, "each weight and each sum, in any order, rounds; positions in the cases are exact"),
    rank="X",
)
SAMPLE.example(X=ramp(2, 3, 4, 5), grid=points(2, 7, 6, 2), align_corners=1, mode="nearest", padding_mode="border")

COMPUTES = SAMPLE.clause(
    "Given an input `X` and a flow-field `grid`, computes the output `Y` using `X` values and pixel locations from",
    note="The text does not define a position that is not finite, an infinite pixel without weight, or an input "
    "without pixels.",
)
IMAGES = SAMPLE.clause("Currently, only spatial (4-D) inputs are supported.", before=20)
SHAPES = SAMPLE.clause(
    "for an input `X` of rank r+2 with shape (N, C, d1, d2, ..., dr), the `grid` will have shape (N, D1_out, D2_out, "
    "..., Dr_out, r)"
).reworded(
    before=20,
    text="`grid` with shape (N, H_out, W_out, 2), the output `Y` will have shape (N, C, H_out, W_out).",
    note="The text does not define that the first of the two is the position along W; the linked page does.",
)
INNERMOST = SAMPLE.clause("are listed from the innermost tensor dimension to the outermost", since=20)
RANGE = SAMPLE.clause("it should have most values in the range of [-1, 1].", result=True)
OUTSIDE = SAMPLE.clause("the corresponding outputs will be handled as defined by padding_mode.")
CENTERS = SAMPLE.clause("If align_corners=1, the extrema (-1 and 1) are considered as referring to the center points")
CORNERS = SAMPLE.clause("If align_corners=0, they are instead considered as referring to the corner points")
MODES = SAMPLE.clause(
    "Three interpolation modes: linear (default), nearest and cubic.",
    note="The text has no coefficient for the cubic mode. The page to which it links has -0.75.",
).reworded(before=20, text="Three interpolation modes: bilinear (default), nearest and bicubic.")
N_LINEAR = SAMPLE.clause('The "linear" mode includes linear and N-linear interpolation modes', since=20)
N_CUBIC = SAMPLE.clause('The "cubic" mode also includes N-cubic interpolation modes', since=20)
EVEN = SAMPLE.clause('The "nearest" mode rounds to the nearest even index', since=20)
PADDING = SAMPLE.clause(
    "Support padding modes for outside grid values: `zeros`(default), `border`, `reflection`.",
    note="The text does not define whether padding applies to the position or to each pixel around it. Elements for "
    "which the two differ are left open.",
)
ZEROS = SAMPLE.clause("zeros: use 0 for out-of-bound grid locations", note="The text does not define 0 for strings.")
BORDER = SAMPLE.clause("border: use border values for out-of-bound grid locations")
REFLECTION = SAMPLE.clause(
    "If index 0 represents the margin pixel, the reflected value at index -1 will be the same as the value at index 1.",
    note="Index 0 is the border if align_corners is 1. If it is 0, the border is half a pixel before index 0.",
)
FAR = SAMPLE.clause("For location far away from the border, it will keep being reflected until becoming in bound.")
EXAMPLE = SAMPLE.clause("If pixel location x = -3.5 reflects by border -1 and becomes x' = 1.5")
CAST = SAMPLE.clause(
    "For integer input types, intermediate values are computed as floating point and cast to integer at the end.",
    note="The text does not define how to cast a value that is not an integer, or not in the type. onnx.reference "
    "casts the weights.",
)
ALL_TYPES = SAMPLE.clause(
    "Constrain input `X` and output `Y` types to all tensor types.",
    note="The text does not define an interpolation between two strings.",
)
GRID_TYPES = SAMPLE.clause("Constrain grid types to float tensors.")


def reflected(place: Array, size: int, *, at_centers: bool) -> Array:
    """Return positions, mirrored at the border repeatedly until they are in bounds.

    A position is a number for each spatial axis: 0 is the centre of pixel 0, size - 1 is that of the last pixel.

    Args:
        place: the positions along one axis.
        size: the size of that axis.
        at_centers: whether the border is the centre of the outer pixels instead of their outer edge.
    """
    low, span = (0, size - 1) if at_centers else (-0.5, size)
    if span == 0:
        return place
    far = (place - low) % (2 * span)
    return np.asarray(low + np.minimum(far, 2 * span - far))


def located(grid: Array, sizes: Sequence[int], *, at_centers: bool) -> list[Array]:
    """Return the positions along each axis, outermost axis first. The grid has the innermost axis first.

    Args:
        grid: positions from -1 to 1, (..., axes).
        sizes: the sizes of the axes.
        at_centers: whether -1 and 1 are the centres of the outer pixels instead of their outer edges.
    """
    along = [(grid[..., -1 - axis], size) for axis, size in enumerate(sizes)]
    return [(x + 1) / 2 * (size - 1) if at_centers else ((x + 1) * size - 1) / 2 for x, size in along]


def brought_in(
    places: Sequence[Array], outside: Array, sizes: Sequence[int], padding: str, *, at_centers: bool
) -> list[Array]:
    """Return positions, with those that are `outside` reflected or moved to the border.

    `outside` has the shape (..., axes), innermost axis first.
    """
    inwards = []
    for axis, (place, size) in enumerate(zip(places, sizes, strict=True)):
        moved = reflected(place, size, at_centers=at_centers) if padding == "reflection" else place.clip(0, size - 1)
        inwards.append(np.where(outside[..., -1 - axis], moved, place))
    return inwards


def neighbours(place: Array, mode: str) -> list[tuple[Array, Array]]:
    """Return the pixels that contribute to a position along one axis, and their weights.

    Args:
        place: the positions along one axis.
        mode: nearest (the even one of two equally near pixels), linear or cubic.
    """
    if mode == "nearest":
        return [(np.rint(place), np.ones_like(place))]
    first = np.floor(place)
    t = place - first
    if mode == "linear":
        return [(first, 1 - t), (first + 1, t)]
    near = [((ALPHA + 2) * s - (ALPHA + 3)) * s * s + 1 for s in (t, 1 - t)]
    away = [((ALPHA * s - 5 * ALPHA) * s + 8 * ALPHA) * s - 4 * ALPHA for s in (1 + t, 2 - t)]
    return list(zip((first - 1, first, first + 1, first + 2), (away[0], *near, away[1]), strict=True))


@dataclass(frozen=True)
class Term:
    """One neighbour of every position.

    Attributes:
        values: (N, C, *places). If there is no such pixel, the value of some other pixel.
        weights: (N, 1, *places).
        inside: whether there is such a pixel, (N, 1, *places).
    """

    values: Array
    weights: Array
    inside: Array


def terms(data: Array, places: Sequence[Array], mode: str, padding: str, *, at_centers: bool) -> list[Term]:
    """Return all neighbours of positions in an image.

    Args:
        data: (N, C, *sizes).
        places: the positions for each axis, (N, ...).
        mode: see neighbours.
        padding: the replacement for pixels out of bounds: zeros, border or reflection.
        at_centers: see reflected.
    """
    pixels = np.moveaxis(data, 1, -1)
    batch = np.expand_dims(np.arange(len(data)), tuple(range(1, data.ndim - 1)))
    result = []
    for corner in itertools.product(*(neighbours(place, mode) for place in places)):
        shares, masks, at = [], [], []
        for (index, share), size in zip(corner, data.shape[2:], strict=True):
            pixel = reflected(index, size, at_centers=at_centers) if padding == "reflection" else index
            masks.append((padding != "zeros") | ((index >= 0) & (index < size)))
            at.append(pixel.clip(0, size - 1).astype(np.int64))
            shares.append(share)
        values = np.moveaxis(pixels[(batch, *at)], -1, 1)
        result.append(Term(values, np.prod(shares, axis=0)[:, None], np.all(masks, axis=0)[:, None]))
    return result


def _sum(X: Array, neighbours: list[Term]) -> tuple[Array, Array]:
    """Return the weighted sums of the neighbours, with 0 outside the image, and the sums of their magnitudes.

    A single neighbour is returned unchanged.
    """
    if len(neighbours) == 1:
        (pixel,) = neighbours
        inside = np.broadcast_to(pixel.inside, pixel.values.shape)
        nothing = "" if X.dtype.kind == "O" else np.zeros((), X.dtype)
        return pixel.values if inside.all() else np.where(inside, pixel.values, nothing), np.zeros(inside.shape)
    with np.errstate(all="ignore"):
        terms = [np.where(term.inside, term.values, 0) * term.weights for term in neighbours]
        return sum(terms, np.zeros(())), np.asarray(sum((np.abs(term) for term in terms), np.zeros(())))


def _without_weight(neighbours: list[Term]) -> Array:
    """Return where a pixel that is not finite has no weight."""
    lost = [~np.isfinite(term.values) & term.inside & (term.weights == 0) for term in neighbours]
    return np.asarray(np.any(lost, axis=0))


def _differ(result: Array, other: Array, magnitudes: Array) -> Array:
    """Return where two evaluations differ by more than the roundings of their doubles."""
    if result.dtype.kind not in "fc":
        return np.asarray(result != other)
    with np.errstate(all="ignore"):
        near = np.abs(result - other) <= ALMOST * magnitudes
    return np.asarray(~((result == other) | near | (np.isnan(result) & np.isnan(other))))


ALMOST = 2.0**-40
"""An upper limit of the relative error of two evaluations in double precision."""


@SAMPLE.oracle()
def sampled(v: Version, X: Array, grid: Array, align_corners: int, mode: str, padding_mode: str) -> Result:
    """Return X at each position of the grid. Elements that no sentence defines are open."""
    rank, sizes = X.ndim - 2, X.shape[2:]
    names = {"linear", "nearest", "cubic"}
    if IMAGES.in_force(v.since):
        v.require(IMAGES, rank == 2)  # noqa: PLR2004 - H and W
        names = {"bilinear", "nearest", "bicubic"}
    v.require(SHAPES, grid.shape[:1] + grid.shape[-1:] == (*X.shape[:1], rank) and grid.ndim == X.ndim)
    v.silent(SHAPES, rank == 0)
    v.require(MODES, mode in names)
    v.require(PADDING, padding_mode in {"zeros", "border", "reflection"})
    v.silent(CORNERS, align_corners not in {0, 1})
    v.silent(COMPUTES, 0 in sizes)
    kind, at_centers = NAMES.get(mode, mode), align_corners == 1
    v.silent(ALL_TYPES, kind != "nearest" and X.dtype.kind in "Ob")
    finite = np.asarray(np.isfinite(grid).all(-1))
    grid = np.where(finite[..., None], grid, 0)
    places = located(grid, sizes, at_centers=at_centers)
    found = terms(X, places, kind, padding_mode, at_centers=at_centers)
    result, magnitudes = _sum(X, found)
    outside = np.asarray(np.abs(grid) > 1)
    any_outside = np.asarray(outside.any(-1))
    # The same with the positions moved into bounds, instead of the pixels around them.
    inwards = brought_in(places, outside, sizes, padding_mode, at_centers=at_centers)
    others = terms(X, inwards, kind, padding_mode, at_centers=at_centers)
    other, _ = _sum(X, others)
    if padding_mode == "zeros":
        other = np.where(any_outside[:, None], "" if X.dtype.kind == "O" else np.zeros((), X.dtype), other)

    def everywhere(mask: Array) -> Array:
        return np.broadcast_to(mask[:, None], result.shape)

    halfway = np.any([place % 1 == 0.5 for place in places], axis=0) & (kind == "nearest")  # noqa: PLR2004 - a half
    reflects = padding_mode == "reflection" and at_centers and 1 in sizes
    beyond = np.any([~np.broadcast_to(term.inside, result.shape) for term in found], axis=0)
    undefined = [
        (EVEN, everywhere(halfway & (not EVEN.in_force(v.since)))),
        (FAR, everywhere(any_outside & reflects)),
        (ZEROS, beyond & (X.dtype.kind == "O")),
        (COMPUTES, everywhere(~finite)),
        (PADDING, _differ(result, other, magnitudes)),
    ]
    if kind != "nearest":
        undefined.append((COMPUTES, _without_weight(found) | _without_weight(others)))
    if X.dtype.kind in "iu":
        limits = np.iinfo(X.dtype)
        undefined.append((CAST, (result % 1 != 0) | (result < limits.min) | (result > limits.max)))
    answer: Result = result
    for clause, where in undefined:
        answer = v.leave_open(clause, where, answer)
    return answer


case = SAMPLE.case


def each_name(name: str, *tags: Tag, mode: str, **words: Any) -> None:  # noqa: ANN401 - see `case`
    """Declare a case with the name of its mode in version 16, and one with the name since version 20."""
    name_before_20 = {new: before for before, new in NAMES.items()}.get(mode, mode)
    case(f"{name}_{name_before_20}_before_20", *tags, mode=name_before_20, **words, before=20)
    case(f"{name}_{mode}", *tags, mode=mode, **words, since=20)


IMAGE: dict[str, Any] = {"X": waves(2, 3, 4, 5), "grid": points(2, 2, 3, 2)}
AWAY = np.array([2.625, 0.125, -0.375, -3.125, 0.625, 0.875, -2.625, 2.875, 5.125, -0.625, -0.875, 0.375])
BEYOND: dict[str, Any] = {"X": waves(2, 3, 4, 5), "grid": AWAY.reshape(2, 3, 1, 2)}
PADDINGS = {"zeros": (ZEROS,), "border": (BORDER,), "reflection": (FAR,)}
case("defaults_before_20", **IMAGE, before=20, cites=(MODES, SHAPES, IMAGES))
case("defaults", **IMAGE, since=20, cites=(MODES, SHAPES, PADDING, RANGE))
case("defaults_beyond", **BEYOND, cites=(COMPUTES, PADDING, RANGE))
for mode in ("linear", "nearest", "cubic"):
    for corners, clause in enumerate((CORNERS, CENTERS)):
        each_name(f"corners{corners}", mode=mode, **IMAGE, align_corners=corners, cites=clause)
        for padding, clauses in PADDINGS.items():
            each_name(
                f"{padding}_corners{corners}",
                mode=mode,
                **BEYOND,
                align_corners=corners,
                padding_mode=padding,
                cites=(*clauses, OUTSIDE),
            )
    case(f"line_{mode}", X=waves(2, 3, 5), grid=points(2, 4, 1), mode=mode, since=20, cites=(N_LINEAR, SHAPES))
    case(f"space_{mode}", X=waves(1, 2, 2, 3, 4), grid=points(1, 3, 1, 2, 3), mode=mode, cites=(N_CUBIC, INNERMOST))
case("hyperspace", X=waves(1, 2, 2, 3, 1, 4), grid=points(1, 2, 1, 1, 3, 4), cites=N_LINEAR)
# Hundreds and thousands of pixels outside the borders, on both sides. Floats represent the positions.
FAR_OUT = np.array([4096.125, -1000.375, -0.125, 300.625, -4096.375, 0.375, 1024.875, 2048.625])
DISTANT: dict[str, Any] = {"X": waves(1, 2, 4, 5), "grid": FAR_OUT.reshape(1, 2, 2, 2), "padding_mode": "reflection"}
for mode in ("linear", "nearest", "cubic"):
    for corners in (0, 1):
        each_name(f"far_out_corners{corners}", Tag.EDGE, mode=mode, **DISTANT, align_corners=corners, cites=FAR)
NARROW: dict[str, Any] = {"X": waves(1, 1, 2, 5), "align_corners": 1}
case("first_along_width", **NARROW, grid=[[[[-0.5, -1], [0.5, -1], [1, 1]]]], mode="nearest", cites=COMPUTES)
case("extrema_at_centers", **NARROW, grid=[[[[-1, -1], [1, -1], [1, 1]]]], cites=(CENTERS, RANGE))
case(
    "extrema_at_corners",
    X=waves(1, 1, 4, 5),
    grid=[[[[-1, -1], [1, -0.125], [0.125, 1]]]],
    padding_mode=vary(zeros="zeros", border="border", reflection="reflection"),
    cites=CORNERS,
)
case("reflection", **NARROW, grid=[[[[-3.5, -1], [-1.5, 1]]]], padding_mode="reflection", cites=(REFLECTION, EXAMPLE))
HALFWAY: dict[str, Any] = {"X": ramp(1, 1, 4, 5), "grid": [[[[0.125, y] for y in (0, -0.5, 0.5, -1, 1)]]]}
case("nearest_halfway", Tag.CHANGE, **HALFWAY, mode="nearest", cites=EVEN)
# The positions along the height are -0.5 and 3.5, the outer edges.
case(
    "nearest_halfway",
    Tag.EDGE,
    **HALFWAY,
    mode="nearest",
    padding_mode=vary(border="border", reflection="reflection"),
    cites=(EVEN, PADDING),
)
# At 4.5, out of bounds. With border the border value is used. Reflected, 4.5 becomes 2.5, or its neighbour 4 becomes 3.
PAST_EDGE: dict[str, Any] = {"X": ramp(1, 1, 4, 5), "grid": [[[[0.125, 1.5], [1.25, 0.125]]]], "mode": "nearest"}
case("nearest_halfway_beyond_border", Tag.EDGE, **PAST_EDGE, padding_mode="border", cites=(EVEN, BORDER))
case(
    "nearest_halfway_beyond_reflection", Tag.EDGE, **PAST_EDGE, padding_mode="reflection", since=20, unspecified=PADDING
)
# Half a pixel outside the centres of the outer pixels.
CENTERED: dict[str, Any] = {
    "X": ramp(1, 1, 2, 5),
    "grid": [[[[-1.25, 1], [0.25, -1], [1.25, 0]]]],
    "align_corners": 1,
    "padding_mode": "border",
}
case("nearest_halfway_centers_border", Tag.EDGE, **CENTERED, mode="nearest", cites=(EVEN, BORDER))
case("linear_halfway_centers_border", Tag.EDGE, **CENTERED, cites=BORDER)
case("nearest_halfway_before_20", Tag.CHANGE, **HALFWAY, mode="nearest", before=20, unspecified=EVEN)
case(
    "nearest_halfway_among_others_before_20",
    Tag.CHANGE,
    X=ramp(1, 1, 4, 5),
    grid=[[[[0.125, 0], [0.125, 0.125]]]],
    mode="nearest",
    before=20,
    unspecified=EVEN,
)
case("one_pixel", Tag.EDGE, X=[[[[3.5]]]], grid=points(1, 2, 3, 2), padding_mode="border", cites=BORDER)
case("no_places", Tag.EDGE, X=waves(2, 3, 4, 5), grid=ramp(2, 0, 3, 2), cites=COMPUTES)
case("no_batch", Tag.EDGE, X=ramp(0, 3, 4, 5), grid=ramp(0, 1, 3, 2), cites=COMPUTES)
GAP = waves(1, 1, 4, 5)
GAP[0, 0, 1, 2] = np.nan
case("nan_pixel", Tag.EDGE, X=GAP, grid=points(1, 2, 3, 2), cites=COMPUTES)
case("nan_pixel_without_weight", Tag.EDGE, X=GAP, grid=[[[[0, -0.75]]]], unspecified=COMPUTES)
NOWHERE: dict[str, Any] = {
    "X": IMAGE["X"][:1],
    "grid": vary(nan=[[[[np.nan, 0.25], [0.25, np.nan]]]], infinite=[[[[0.25, np.inf], [-np.inf, 0.25]]]]),
}
for padding in PADDINGS:  # A runtime must not read the pixel at such a position.
    for mode in ("linear", "cubic"):
        each_name(f"place_{padding}", Tag.EDGE, mode=mode, **NOWHERE, padding_mode=padding, unspecified=COMPUTES)
    nearest: dict[str, Any] = {"mode": "nearest", "padding_mode": padding}
    case(f"place_{padding}_nearest", Tag.EDGE, **NOWHERE, **nearest, since=20, unspecified=COMPUTES)
BAND: dict[str, Any] = {"X": waves(1, 1, 4, 5), "grid": [[[[1.125, 0.125], [0.375, -1.125]]]]}
each_name("just_beyond", Tag.EDGE, mode="linear", **BAND, unspecified=PADDING)
each_name("just_beyond_border", Tag.EDGE, mode="cubic", **BAND, padding_mode="border", unspecified=PADDING)
case("just_beyond_nearest", Tag.EDGE, **BAND, align_corners=1, mode="nearest", unspecified=PADDING)
BORDER_CUBIC: dict[str, Any] = {"X": BAND["X"], "padding_mode": "border", "mode": "cubic", "since": 20}
ONE_SIDE = vary(right=[[[[1.125, 0.125]]]], left=[[[[-1.125, 0.125]]]])
case("just_beyond_border_cubic", Tag.EDGE, **BORDER_CUBIC, grid=ONE_SIDE, unspecified=PADDING)
SPACE: dict[str, Any] = {"X": waves(1, 1, 3, 4, 5), "grid": [[[[[1.125, 0.125, 0.375]]]]], "since": 20}
case("just_beyond_border_space", Tag.EDGE, **SPACE, padding_mode="border", mode="cubic", unspecified=PADDING)
case("no_end", Tag.EDGE, X=[[[[3.5]]]], grid=BAND["grid"], align_corners=1, padding_mode="reflection", unspecified=FAR)
case("align_corners_two", **IMAGE, align_corners=2, unspecified=CORNERS)

HALVES: dict[str, Any] = {"grid": [[[[-0.75, 0.5], [0.25, -0.5], [1, 1]]]], "align_corners": 1}
# One pixel that is brighter than the errors of all weights in a type with few bits, and a position on it.
BRIGHT, ON_BRIGHT = IMAGE["X"] / 64, IMAGE["grid"].copy()
BRIGHT[0, 0, 1, 2], ON_BRIGHT[0, 0, 0] = 24, [0, -0.25]
case("grid_dtypes", Tag.DTYPE, each="T2", **IMAGE, cites=GRID_TYPES)
for mode in ("linear", "cubic"):
    for type_ in ("float16", "double", "complex64", "complex128"):
        image = typed(type_, IMAGE["X"] * (1 - 2j if "complex" in type_ else 1))
        each_name(f"dtypes_{type_}", Tag.DTYPE, mode=mode, X=image, grid=IMAGE["grid"], cites=ALL_TYPES)
    case(f"dtypes_bfloat16_{mode}", X=typed("bfloat16", BRIGHT), grid=ON_BRIGHT, mode=mode, since=22)
for type_ in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)):
    case(f"dtypes_{type_}", Tag.DTYPE, X=typed(type_, np.arange(30).reshape(1, 2, 3, 5) * 4), **HALVES, cites=CAST)
for type_ in ("string", "bool"):
    case(f"between_{type_}", Tag.DTYPE, X=typed(type_, ramp(2, 3, 4, 5)), grid=IMAGE["grid"], unspecified=ALL_TYPES)
case("dtypes_nearest_string", X=typed("string", ramp(2, 3, 4, 5)), grid=IMAGE["grid"], mode="nearest", cites=ALL_TYPES)
case(
    "limits_int8",
    Tag.EDGE,
    X=typed("int8", [[[[-128, 127], [127, -128]]]]),
    grid=[[[[-1, -1], [1, -1], [-1, 1]]]],
    align_corners=1,
    cites=CAST,
)
case(
    "between_some_integers",
    X=typed("int32", ramp(1, 1, 4, 5)),
    grid=[[[[-1, -1], [0.125, -1]]]],
    align_corners=1,
    unspecified=CAST,
)
case("between_integers", X=typed("int32", ramp(2, 3, 4, 5)), grid=IMAGE["grid"], unspecified=CAST)
case("beyond_strings", X=typed("string", ramp(2, 3, 4, 5)), grid=BEYOND["grid"], mode="nearest", unspecified=ZEROS)

for mode in ("bilinear", "bicubic", "area"):
    case(f"mode_{mode}", **IMAGE, mode=mode, since=20, rejects=MODES)
for mode in ("linear", "cubic", "Bilinear"):
    case(f"mode_{mode.lower()}_before_20", **IMAGE, mode=mode, before=20, rejects=MODES)
case("padding", **IMAGE, padding_mode=vary(zero="zero", reflect="reflect", empty=""), rejects=PADDING)
for name, shape in (("of_three", (2, 1, 3, 3)), ("of_other_batch", (1, 2, 3, 2)), ("flat", (2, 6, 2))):
    case(f"grid_{name}", X=IMAGE["X"], grid=points(*shape), rejects=SHAPES)
case("space_before_20", X=waves(1, 2, 2, 3, 4), grid=points(1, 3, 1, 2, 3), rejects=IMAGES)
case("no_pixels", Tag.EDGE, X=ramp(1, 1, 0, 5), grid=points(1, 2, 3, 2), unspecified=COMPUTES)
case("rank1", Tag.EDGE, X=ramp(3), grid=ramp(3), since=20, rejects=SHAPES)
case("no_spatial_axes", Tag.EDGE, X=ramp(2, 3), grid=ramp(2, 0), since=20, unspecified=SHAPES)
case("grid_outside", Tag.DTYPE, outside="T2", **IMAGE, rejects=GRID_TYPES)

SAMPLED: dict[str, tuple[Dims, Dims, list[dict[str, int]]]] = {
    "image": (
        ("b", "c", "h", "w"),
        ("b", "oh", "ow", 2),
        grid(b=(2,), c=(3,), h=(14,), w=(9, 33), oh=(7,), ow=(16, 33))
        + grid(b=(2,), c=(3,), h=(14,), w=(9,), oh=(70,), ow=(160,)),
    ),
    "channels": (
        ("b", "c", "h", "w"),
        ("b", "oh", "ow", 2),
        grid(b=(1,), c=(1, 17), h=(28,), w=(28,), oh=(14,), ow=(15,)),
    ),
}
"""The dimensions of the input and of the grid, and the sizes."""
INSIDE = [index / 64 for index in range(-64, 65)]
AROUND = [index / 64 for index in range(-80, 81)]
"""Positions in the image, and also around it. The computed pixels are exact in float."""
INTEGERS = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
"""The types for which the text does not define results that are not whole."""
for name, (dims, of_grid, sizes) in SAMPLED.items():
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                SAMPLE.sized(
                    f"{name}_{mode}_{padding}_{'centers' if align else 'corners'}",
                    sizes if (name, align) == ("image", 0) else sizes[:1],
                    each="T1" if (name, mode, padding, align) == ("image", "linear", "zeros", 0) else None,
                    but=("bool", "string", *INTEGERS),
                    cites=(COMPUTES, MODES, PADDING),
                    arguments={
                        "X": filled(*dims),
                        "grid": among(AROUND if padding == "border" and mode != "cubic" else INSIDE, *of_grid),
                        "mode": mode,
                        "padding_mode": padding,
                        "align_corners": align,
                    },
                )
SAMPLE.sized(
    "volume",
    grid(b=(1,), c=(3,), d=(5,), h=(7,), w=(9,), o=(4, 6)),
    cites=(COMPUTES, N_LINEAR),
    arguments={"X": filled("b", "c", "d", "h", "w"), "grid": among(INSIDE, "b", "o", "o", "o", 3)},
)
