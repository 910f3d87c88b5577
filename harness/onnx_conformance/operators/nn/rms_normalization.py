# SPDX-License-Identifier: Apache-2.0
"""RMSNormalization: divide the last dimensions of a tensor by their root mean square, then scale them.

    Y = RMSNormalization(X, scale, axis=-1, epsilon=1e-5, stash_type=1)

Version: 23.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, axes, axes_outside, bounded, ramp, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._sizes import ROWS

STAGES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.float32),
    10: np.dtype(np.float16),
    11: np.dtype(np.float64),
    16: np.dtype(ml_dtypes.bfloat16),
}
"""The precisions of stage one, by stash_type."""


def _stage_one(X: Array, axis: int, epsilon: float, stage: np.dtype[Any]) -> tuple[Array, Array]:
    """Return X divided by its root mean square, and the sums of its squares."""
    normalized_axes = tuple(range(axis % X.ndim, X.ndim))
    cast = X.astype(stage).astype(np.float64)
    squares = (cast**2).sum(normalized_axes, keepdims=True)
    mean = squares / math.prod(X.shape[axis % X.ndim :])
    return cast / np.sqrt(mean + epsilon), squares


def _errors(X: Array, scale: Array, axis: int, epsilon: float, stash_type: int) -> list[Array]:
    """Return the allowed error.

    It is half an epsilon of stage one for each square, halved by the root, plus a few roundings.
    """
    with np.errstate(all="ignore"):
        stage = STAGES[stash_type]
        coarse, fine = (float(ml_dtypes.finfo(kind).eps) for kind in (stage, X.dtype))  # type: ignore[no-untyped-call]
        terms = math.prod(X.shape[axis % X.ndim :])
        y = np.abs(_stage_one(X, axis, epsilon, stage)[0] * scale.astype(np.float64))
        return [y * ((terms / 4 + 3) * coarse / fine + 2)]


NORMALIZATION = Op(
    "RMSNormalization",
    versions=(23,),
    compare=bounded(
        _errors,
        "stage one: a sum rounds once for each element, other operations a few times; stage two: two roundings",
        steps=True,
    ),
    rank="X",
    widens=False,  # The allowed error depends on the type of X.
)
NORMALIZATION.example(X=ramp(2, 3, 4), scale=ramp(4))

EQUATIONS = NORMALIZATION.clause(
    "The computation required by standardization can be described by the following equations."
)
STANDARDIZED = NORMALIZATION.clause(
    "XSquared = Mul(X, X) XSquaredMean = ReduceMean<axes=normalized_axes>(XSquared) MeanSquareEpsilon = "
    "Add(XSquaredMean, epsilon) RMS = Sqrt(MeanSquareEpsilon) Normalized = Div(X, RMS)",
    note="The text does not define the mean of no elements, or squares that exceed the precision of stage one.",
)
LAST = NORMALIZATION.clause("The root mean squared norm is taken over the last D dimensions,")
EXAMPLE = NORMALIZATION.clause(
    "if normalized_shape is (3, 5) (a 2-dimensional shape), the rms norm is computed over the last 2 dimensions of the "
    "input."
)
AXES = NORMALIZATION.clause("where `normalized_axes` is `[axis, ..., rank of X - 1]`.")
PRECISION = NORMALIZATION.clause(
    "Depending on `stash_type` attribute, the actual computation must happen in different floating-point precision.",
    result=True,
)
CASTS = NORMALIZATION.clause(
    "if `stash_type` is 1, this operator casts all input variables to 32-bit float, perform the computation, and "
    "finally cast `Normalized` back to the original type of `X`.",
    note="Therefore a double outside the range of 32-bit float becomes an infinity.",
)
SCALED = NORMALIZATION.clause(
    "Y= Mul(Normalized, Scale)",
    note="Normalized has the type of X, and Y has the type of scale. The operands of Mul have one type, and the text "
    "of Mul does not define the product of two types.",
)
SAME_SHAPE = NORMALIZATION.clause("`Y` and `X` have the same shape.")
UNIDIRECTIONAL = NORMALIZATION.clause("(`Scale` should be unidirectional broadcastable to tensor `X`)")
NORMALIZED_SHAPE = NORMALIZATION.clause(
    "Scale tensor shape should be broadcastable to the normalized shape.",
    note="According to this sentence, shapes that are broadcastable to X but not to the normalized shape are not "
    "allowed.",
)
STASH = NORMALIZATION.clause(
    "The floating-point precision used in stage one of the computation.",
    note="The value is the number of the type. The text does not define numbers of other types.",
)
EPSILON = NORMALIZATION.clause("The epsilon value to use to avoid division by zero.")
RANGE = NORMALIZATION.clause(
    "If rank(X) is r, axis' allowed range is [-r, r). Negative value means counting dimensions from the back."
)


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to `whole` without changing `whole`."""
    pairs = zip(shape[::-1], whole[::-1], strict=False)
    return len(shape) <= len(whole) and all(mine in {1, other} for mine, other in pairs)


@NORMALIZATION.oracle()
def normalized(v: Version, X: Array, scale: Array, axis: int, epsilon: float, stash_type: int) -> Array:
    """Return X divided by its root mean square, times scale."""
    v.require(RANGE, -X.ndim <= axis < X.ndim)
    v.require(UNIDIRECTIONAL, _fits(scale.shape, X.shape))
    v.require(NORMALIZED_SHAPE, _fits(scale.shape, X.shape[axis % X.ndim :]))
    v.silent(SCALED, v.dtypes["T"] != v.dtypes["V"])
    v.silent(STASH, stash_type not in STAGES)
    stage = STAGES[stash_type]
    with np.errstate(all="ignore"):
        result, squares = _stage_one(X, axis, epsilon, stage)
        v.silent(STANDARDIZED, squares.size > X.size)
        finite = np.isfinite(X.astype(stage)).all(tuple(range(axis % X.ndim, X.ndim)), keepdims=True)
        v.silent(STANDARDIZED, bool((np.isinf(squares.astype(stage)) & finite).any()))
        return np.asarray(result.astype(X.dtype).astype(np.float64) * scale.astype(np.float64))


case = NORMALIZATION.case
CUBE = waves(2, 3, 4)
FOUR = [1.5, -0.5, 2, 1]
PLANE = np.arange(12.0).reshape(3, 4) / 4 - 1.3
PLAIN: dict[str, Any] = {"X": CUBE, "scale": FOUR}

case("plain", **PLAIN, cites=(EQUATIONS, STANDARDIZED, SCALED, SAME_SHAPE))
case("example", X=waves(2, 3, 5), scale=waves(3, 5), axis=1, cites=(EXAMPLE, LAST))
case("one_row", X=[3, -4, 12], scale=[1, 2, -1], cites=STANDARDIZED)
case("mean_is_not_taken_out", X=[[5, 6, 7], [-7, -6, -5]], scale=1, cites=STANDARDIZED)
for name, shape, axis in axes():
    case(name, Tag.AXIS, X=waves(*shape), scale=np.cos(np.arange(shape[-1])), axis=axis, cites=(AXES, RANGE))
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, X=ramp(*shape), scale=1, axis=axis, rejects=RANGE)
case("rank0_default", Tag.EDGE, X=ramp(), scale=1, rejects=RANGE)
for shape in ((), (1,), (4,), (3, 1), (1, 4), (3, 4), (1, 1)):
    sizes = "x".join(map(str, shape)) or "scalar"
    values = (np.arange(np.prod(shape, dtype=int)) / 4 + 0.5).reshape(shape)
    case(f"scale_{sizes}", X=CUBE, scale=values, axis=1, cites=(UNIDIRECTIONAL, NORMALIZED_SHAPE))
for shape in ((3, 4), (2, 1, 1), (1, 3, 1), (2, 3, 4), (1, 1, 4)):
    sizes = "x".join(map(str, shape))
    case(f"scale_of_more_than_the_row_{sizes}", X=CUBE, scale=ramp(*shape), rejects=NORMALIZED_SHAPE)
case("scale_of_more_than_the_plane", X=CUBE, scale=ramp(2, 3, 4), axis=1, rejects=NORMALIZED_SHAPE)
for shape in ((3,), (2,), (2, 4), (1, 2, 3, 4), (1, 1, 1, 1), (3, 3), (0,)):
    sizes = "x".join(map(str, shape))
    case(f"scale_not_{sizes}", X=CUBE, scale=ramp(*shape), rejects=UNIDIRECTIONAL)
case("scale_larger", Tag.EDGE, X=ramp(1, 4), scale=ramp(3, 4), rejects=UNIDIRECTIONAL)

case("epsilon", **PLAIN, epsilon=0.75, cites=EPSILON)
case("epsilon_zero", Tag.EDGE, **PLAIN, epsilon=0.0, cites=EPSILON)
case("epsilon_beside_little", Tag.EDGE, X=[[1e-3, -2e-3, 3e-3, 5e-4]], scale=FOUR, cites=EPSILON)
case("zeros", Tag.EDGE, X=[[0, 0, 0, 0], [-0.0, 0, 1, 0]], scale=FOUR, cites=EPSILON)
case("zeros_epsilon_zero", Tag.EDGE, X=[[0, 0, 0, 0], [1, 0, 0, 2]], scale=FOUR, epsilon=0.0, cites=STANDARDIZED)
case("size_one", Tag.EDGE, X=[[3], [-2], [0.5]], scale=[2], cites=STANDARDIZED)
case("long", X=np.cos(np.arange(300.0)).reshape(2, 150), scale=1, cites=STANDARDIZED)
infinite = [[np.inf, 1, 2, 3], [4, 5, 7, 6], [1, -np.inf, 2, np.inf]]
case("infinity", Tag.EDGE, X=infinite, scale=1, cites=STANDARDIZED)
case("nan", Tag.EDGE, X=[[np.nan, 1, 2, 3], [4, 5, 7, 6], [np.inf, 1, 2, np.nan]], scale=1, cites=STANDARDIZED)
case("scale_not_finite", Tag.EDGE, X=CUBE, scale=[np.inf, -np.inf, np.nan, 0], cites=SCALED)
case("no_rows", Tag.EDGE, X=ramp(0, 4), scale=FOUR, cites=SAME_SHAPE)
case("no_elements", Tag.EDGE, X=ramp(3, 0), scale=1, unspecified=STANDARDIZED)
case("no_planes", Tag.EDGE, X=ramp(0, 3, 0), scale=1, axis=1, cites=SAME_SHAPE)
case("no_elements_within", Tag.EDGE, X=ramp(2, 0, 3), scale=1, axis=1, unspecified=STANDARDIZED)
case("squares_large", Tag.EDGE, X=[[1e15, -2e15, 3e15]], scale=1, cites=STANDARDIZED)
case("squares_beyond_float", Tag.EDGE, X=[[1e30, -1e30, 3]], scale=1, unspecified=STANDARDIZED)

for type_ in ("float16", "bfloat16", "float", "double"):
    tensors: dict[str, Any] = {"X": typed(type_, CUBE), "scale": typed(type_, FOUR)}
    case(f"type_{type_}", Tag.DTYPE, **tensors, cites=(PRECISION, CASTS))
    for number in STAGES:
        case(f"type_{type_}_stash_{number}", Tag.DTYPE, **tensors, stash_type=number, cites=(STASH, PRECISION))
for number in (0, 7, 17):
    case(f"stash_{number}", **PLAIN, stash_type=number, unspecified=STASH)
case("two_types", X=typed("float16", CUBE), scale=typed("float", FOUR), unspecified=SCALED)
case("two_types_of_16_bits", X=typed("float16", CUBE), scale=typed("bfloat16", FOUR), unspecified=SCALED)
LARGE = typed("float16", CUBE * 300)
ONES = typed("float16", FOUR)
case("float16_squares_overflow", Tag.EDGE, X=LARGE, scale=ONES, cites=(PRECISION, CASTS))
case("float16_squares_overflow_stash_10", Tag.EDGE, X=LARGE, scale=ONES, stash_type=10, unspecified=STANDARDIZED)
WIDE = typed("double", [[1e39, -1e39, 3, 1]])
case("double_beyond_float", Tag.EDGE, X=WIDE, scale=typed("double", FOUR), cites=CASTS)
case("double_beyond_float_stash_11", Tag.EDGE, X=WIDE, scale=typed("double", FOUR), stash_type=11, cites=STASH)

for name, (dims, chosen) in ROWS.items():
    of_rows = {"X": filled(*dims), "scale": filled("n", type_="{T}")}
    NORMALIZATION.sized(name, chosen, each="T", cites=(STANDARDIZED, SCALED), arguments=of_rows)
of_planes = {"X": filled("b", "c", "h"), "scale": filled("c", "h", type_="{T}"), "axis": 1}
NORMALIZATION.sized("planes", grid(b=(3,), c=(5, 16), h=(7, 33)), each="T", cites=AXES, arguments=of_planes)
