# SPDX-License-Identifier: Apache-2.0
"""LayerNormalization: standardize the last dimensions of a tensor, then scale and shift them.

    Y, Mean, InvStdDev = LayerNormalization(X, Scale, B=None, axis=-1, epsilon=1e-5, stash_type=1)

Version: 17.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Rule, Tag, Version, attribute, axes, axes_outside, bounded, ramp, typed
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._normalization import moments, normalized, standardized, standardized_errors
from onnx_conformance.operators.nn._sizes import ROWS

STAGES = {1: np.dtype(np.float32), 16: np.dtype(ml_dtypes.bfloat16)}
"""The precisions of stage one, by stash_type."""


def _errors(X: Array, Scale: Array, B: Array | None, axis: int, epsilon: float, stash_type: int) -> list[Array]:
    """Return the allowed error: that of stage one, then two roundings in the type of X."""
    normalized_axes, stage = tuple(range(axis % X.ndim, X.ndim)), STAGES[stash_type]
    factor, bias = Scale.astype(np.float64), 0 if B is None else B.astype(np.float64)
    with np.errstate(all="ignore"):
        x = X.astype(np.float64)
        mean, variance = moments(x, normalized_axes)
        scaled = normalized(x, mean, variance, epsilon, factor, 0)
        stage_one, mean_error, inverse_error = standardized_errors(X, normalized_axes, epsilon, stage)
        return [stage_one * np.abs(factor) + 2 * np.abs(scaled) + np.abs(bias), mean_error, inverse_error]


LAYER = Op(
    "LayerNormalization",
    versions=(17,),
    compare=bounded(
        _errors,
        "stage one: sums round once for each element, other operations a few times; stage two: two roundings",
        steps=True,
    ),
    rank="X",
    derives={"U": attribute("stash_type")},
    widens=False,  # The allowed error depends on the type of X.
)
LAYER.example(X=ramp(2, 3, 4), Scale=ramp(4), B=ramp(4))

EQUATIONS = LAYER.clause("The computation required by standardization can be described by the following equations.")
STANDARDIZED = LAYER.clause(
    "Mean = ReduceMean<axes=normalized_axes>(X) D = Sub(X, Mean) DD = Mul(D, D) Var = "
    "ReduceMean<axes=normalized_axes>(DD) VarEps = Add(Var, epsilon) StdDev = Sqrt(VarEps) InvStdDev = "
    "Reciprocal(StdDev) Normalized = Mul(D, InvStdDev)",
    note="The text does not define the mean of no elements, or squares that exceed the precision of stage one.",
)
AXES = LAYER.clause("where `normalized_axes` is `[axis, ..., rank of X - 1]`.")
OUTPUTS = LAYER.clause("The second output is `Mean` and the last one is `InvStdDev`.")
PRECISION = LAYER.clause(
    "Depending on `stash_type` attribute, the actual computation must happen in different floating-point precision.",
    result=True,
)
CASTS = LAYER.clause(
    "if `stash_type` is 1, this operator casts all input variables to 32-bit float, perform the computation, and "
    "finally cast `Normalized` back to the original type of `X`.",
    note="Therefore a double outside the range of 32-bit float becomes an infinity.",
)
SHIFTED = LAYER.clause("NormalizedScaled = Mul(Normalized, Scale) Y = Add(NormalizedScaled, B)")
STAGE_TWO = LAYER.clause("The second stage doesn't depends on `stash_type`.")
DIMENSIONS = LAYER.clause("If `X`'s shape is `[d[0], ..., d[axis-1], d[axis], ..., d[rank-1]]`,")
STATISTICS = LAYER.clause("the shape of `Mean` and `InvStdDev` is `[d[0], ..., d[axis-1], 1, ..., 1]`.")
SAME_SHAPE = LAYER.clause("`Y` and `X` have the same shape.")
UNIDIRECTIONAL = LAYER.clause(
    "(tensors `Scale` and `B` should be unidirectional broadcastable to tensor `X`)",
    see=("https://github.com/onnx/onnx/issues/5666", "https://github.com/onnx/onnx/pull/5686"),
)
LAYER.dispute(
    "The function body of onnx flattens Scale and B to one row each. It supports the normalized shape and one element, "
    "and no other shapes that are broadcastable to X.",
    "rank[234]_*",
    "scale_*",
    "bias_*",
    "no_bias_*",
)
STASH = LAYER.clause(
    "Type of Mean and InvStdDev. This also specifies stage one's computation precision.",
    note="If these outputs are omitted, the text does not define a type that they cannot have.",
)
EPSILON = LAYER.clause("The epsilon value to use to avoid division by zero.")
RANGE = LAYER.clause("axis' allowed range is [-r, r). Negative value means counting dimensions from the back.")


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to `whole` without changing `whole`."""
    pairs = zip(shape[::-1], whole[::-1], strict=False)
    return len(shape) <= len(whole) and all(mine in {1, other} for mine, other in pairs)


@LAYER.oracle()
def layer(
    v: Version, X: Array, Scale: Array, B: Array | None, axis: int, epsilon: float, stash_type: int
) -> tuple[Array, Array, Array]:
    """Return Y, Mean and InvStdDev."""
    v.require(RANGE, -X.ndim <= axis < X.ndim)
    v.require(UNIDIRECTIONAL, _fits(Scale.shape, X.shape) and (B is None or _fits(B.shape, X.shape)))
    v.silent(STASH, stash_type not in STAGES)
    normalized_axes = tuple(range(axis % X.ndim, X.ndim))
    result, mean, inverse = standardized(v, STANDARDIZED, X, normalized_axes, epsilon, STAGES[stash_type])
    bias = 0 if B is None else B.astype(np.float64)
    with np.errstate(all="ignore"):
        return result * Scale.astype(np.float64) + bias, mean, inverse


case = LAYER.case
WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4) * 2
FOUR = [1.5, -0.5, 2, 1]
PLANE = np.arange(12.0).reshape(3, 4) / 4 - 1
PLAIN: dict[str, Any] = {"X": WAVES, "Scale": FOUR, "B": [0.25, 1, -3, 0.5]}

case("plain", **PLAIN, n=3, cites=(EQUATIONS, STANDARDIZED, SHIFTED, OUTPUTS, SAME_SHAPE))
case("no_bias", X=WAVES, Scale=FOUR, n=3, cites=STANDARDIZED)
case("y_alone", **PLAIN, cites=(SHIFTED, STAGE_TWO))
case("mean", **PLAIN, n=2, cites=OUTPUTS)
case("inverse_alone", **PLAIN, n=3, omits=("Mean",), cites=OUTPUTS)
for name, shape, axis in axes():
    case(
        name,
        Tag.AXIS,
        X=np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape),
        Scale=np.cos(np.arange(shape[-1])),
        B=np.arange(shape[-1]) / 4,
        axis=axis,
        n=3,
        cites=(AXES, STATISTICS, DIMENSIONS),
    )
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, X=ramp(*shape), Scale=1, axis=axis, rejects=RANGE)
case("rank0_default", Tag.EDGE, X=ramp(), Scale=1, rejects=RANGE)
case("whole_scale", X=WAVES, Scale=PLANE, B=PLANE[::-1], axis=1, n=3, cites=UNIDIRECTIONAL)
for shape in ((), (1,), (4,), (3, 1), (1, 4), (3, 4), (2, 1, 1), (1, 3, 1), (2, 3, 4)):
    sizes = "x".join(map(str, shape)) or "scalar"
    values = (np.arange(np.prod(shape, dtype=int)) / 4 + 0.5).reshape(shape)
    case(f"scale_{sizes}", X=WAVES, Scale=values, axis=1, cites=UNIDIRECTIONAL)
    case(f"bias_{sizes}", X=WAVES, Scale=FOUR, B=values, axis=2, cites=UNIDIRECTIONAL)
for shape in ((3,), (2,), (2, 4), (1, 2, 3, 4), (1, 1, 1, 1), (3, 3), (0,)):
    sizes = "x".join(map(str, shape))
    case(f"scale_not_{sizes}", X=WAVES, Scale=ramp(*shape), rejects=UNIDIRECTIONAL)
    case(f"bias_not_{sizes}", X=WAVES, Scale=1, B=ramp(*shape), rejects=UNIDIRECTIONAL)
case("scale_larger", Tag.EDGE, X=ramp(1, 4), Scale=ramp(3, 4), rejects=UNIDIRECTIONAL)

case("epsilon", **PLAIN, epsilon=0.75, n=3, cites=EPSILON)
case("epsilon_zero", Tag.EDGE, **PLAIN, epsilon=0.0, n=3, cites=EPSILON)
case("constant", Tag.EDGE, X=[[3, 3, 3, 3], [-2, -2, -2, -2]], Scale=FOUR, B=FOUR, n=3, cites=EPSILON)
case("size_one", Tag.EDGE, X=[[3], [-2], [0.5]], Scale=[2], B=[1], n=3, cites=STANDARDIZED)
case("far_from_zero", Tag.EDGE, X=[[1000, 1001, 1003, 1004]], Scale=1, epsilon=0.0, n=3, cites=STANDARDIZED)
case("long", X=np.cos(np.arange(300.0)).reshape(2, 150), Scale=1, B=0.5, n=3, cites=STANDARDIZED)
case("infinity", Tag.EDGE, X=[[np.inf, 1, 2, 3], [4, 5, 7, 6], [1, -np.inf, 2, np.inf]], Scale=1, n=3)
case("nan", Tag.EDGE, X=[[np.nan, 1, 2, 3], [4, 5, 7, 6]], Scale=1, n=3, cites=STANDARDIZED)
case("no_rows", Tag.EDGE, X=ramp(0, 4), Scale=FOUR, n=3, cites=STATISTICS)
case("no_elements", Tag.EDGE, X=ramp(3, 0), Scale=1, n=3, unspecified=STANDARDIZED)
case("no_planes", Tag.EDGE, X=ramp(0, 3, 0), Scale=1, axis=1, n=3, cites=STATISTICS)
case("no_elements_within", Tag.EDGE, X=ramp(2, 0, 3), Scale=1, axis=1, n=3, unspecified=STANDARDIZED)
case("squares_large", Tag.EDGE, X=[[1e15, -2e15, 3e15]], Scale=1, n=3, cites=STANDARDIZED)
case("squares_beyond_float", Tag.EDGE, X=[[1e30, -1e30, 3]], Scale=1, n=3, unspecified=STANDARDIZED)

case("statistics", Tag.DTYPE, each="T", **PLAIN, n=3, cites=(PRECISION, CASTS))
case("no_bias_axis", Tag.DTYPE, each="T", X=WAVES, Scale=FOUR, axis=1, cites=PRECISION)
case(
    "float16_squares_overflow",
    Tag.EDGE,
    X=typed("float16", WAVES * 300),
    Scale=typed("float16", FOUR),
    n=3,
    cites=(PRECISION, CASTS),
)
LARGE_SCALE: dict[str, Any] = {"Scale": typed("float16", [16384] * 4), "B": typed("float16", [0, 15360, -15360, 1])}
case("float16_scale_large", Tag.EDGE, X=typed("float16", [[1, 2, 3, 5]]), **LARGE_SCALE, cites=(PRECISION, CASTS))
case(
    "double_beyond_float", Tag.EDGE, X=typed("double", [[1e39, -1e39, 3, 1]]), Scale=typed("double", FOUR), cites=CASTS
)
case("stash_float", **PLAIN, stash_type=1, n=3, cites=(STASH, CASTS))
# Rows whose means and deviations differ by more than the precision.
APART = PLAIN | {"X": WAVES * [[1], [2], [4]] + [[3], [6], [12]]}
case("stash_bfloat16", Tag.DTYPE, each="T", **APART, stash_type=16, n=3, cites=(STASH, PRECISION))
for number in (0, 10, 11):
    case(f"stash_{number}", **PLAIN, stash_type=number, unspecified=STASH)
case("stash_float16_mean", **PLAIN, stash_type=10, n=2, rejects=Rule.TYPES)
case("axis_from_back", Tag.DTYPE, each="T", X=WAVES, Scale=PLANE, axis=-2, n=3, cites=STATISTICS)

for name, (dims, chosen) in ROWS.items():
    of_rows = {"X": filled(*dims), "Scale": filled("n"), "B": filled("n")}
    LAYER.sized(name, chosen, each="T", cites=(STANDARDIZED, SHIFTED), arguments=of_rows)
    statistics = {"X": filled(*dims), "Scale": filled("n")}
    LAYER.sized(f"{name}_statistics", chosen[::3], n=3, each="T", cites=(STANDARDIZED, OUTPUTS), arguments=statistics)
of_planes = {"X": filled("b", "c", "h"), "Scale": filled("c", "h"), "B": filled("c", "h"), "axis": 1}
LAYER.sized("planes", grid(b=(3,), c=(5, 16), h=(7, 33)), each="T", cites=AXES, arguments=of_planes)
