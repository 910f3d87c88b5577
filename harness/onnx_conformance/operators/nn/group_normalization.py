# SPDX-License-Identifier: Apache-2.0
"""GroupNormalization: standardize each group of channels, then scale and shift channel by channel.

    Y = GroupNormalization(X, scale, bias, num_groups, epsilon=1e-5, stash_type=1)

Versions: 18, which is deprecated (scale and bias for each group), 21 (scale and bias for each channel; stash_type).
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Rule, Tag, Version, bounded, element_type, ramp, typed, vary
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._normalization import per_channel, standardized, standardized_errors
from onnx_conformance.operators.nn._sizes import MAPS

STAGES = {1: np.dtype(np.float32), 10: np.dtype(np.float16), 11: np.dtype(np.float64), 16: np.dtype(ml_dtypes.bfloat16)}
"""The precisions of stage one, by stash_type."""


def _groups(X: Array, num_groups: int) -> Array:
    """Return X with one row for the elements of each group of each instance."""
    return X.reshape(X.shape[0] * num_groups, math.prod(X.shape[1:]) // num_groups)


def _errors(X: Array, scale: Array, bias: Array, epsilon: float, num_groups: int, stash_type: int) -> list[Array]:
    """Return the allowed error: that of stage one, then two roundings in the type of X."""
    groups = _groups(X, num_groups)
    first, _, _ = standardized_errors(groups, (1,), epsilon, STAGES[stash_type], by_squares=True)
    with np.errstate(all="ignore"):
        wide = groups.astype(np.float64)
        size = np.abs(wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + epsilon)
        factor, shift = (np.abs(per_channel(X, item.astype(np.float64))) for item in (scale, bias))
        return [(first + 2 * size).reshape(X.shape) * factor + shift]


GROUP = Op(
    "GroupNormalization",
    versions=(18, 21),
    compare=bounded(
        _errors,
        "stage one: sums round once for each element, other operations a few times; stage two: two roundings",
        steps=True,
    ),
    rank="X",
    widens=False,  # The allowed error depends on the type of X.
)
GROUP.example(X=ramp(2, 6, 4, 5), scale=ramp(6), bias=ramp(6), num_groups=3)

PAPER = GROUP.clause("Carries out group normalization as described in the paper https://arxiv.org/abs/1803.08494")
FORMULA = GROUP.clause("y = scale * (x - mean) / sqrt(variance + epsilon) + bias,")
STATISTICS = GROUP.clause(
    "where the mean and variance are computed per instance per group of channels",
    note="The text does not define the statistics of no elements, or squares that exceed the precision of stage one. "
    "The function body subtracts the square of the mean from the mean of the squares, and the tolerance must cover "
    "that.",
)
EACH_GROUP = GROUP.clause(
    "`scale` and `bias` should be specified for each group of channels.",
    before=21,
    see=("https://github.com/onnx/onnx/issues/5466",),
)
EACH_CHANNEL = GROUP.clause(
    "`scale` and `bias` should be specified for each channel.",
    since=21,
    see=("https://github.com/onnx/onnx/issues/5466",),
)
EQUAL = GROUP.clause(
    "The number of groups `num_groups` should be divisible by the number of channels so that there are an equal number "
    "of channels per group.",
    note="The sentence is read the other way round, as its stated purpose and the sentence of the attribute require.",
)
TWO_STAGES = GROUP.clause(
    "the first stage normalizes the elements to have zero mean and unit variance for each instance in each group, and "
    "the second stage scales and shifts the results of the first stage.",
    since=21,
)
PRECISION = GROUP.clause(
    "The floating-point precision used in the first stage is determined by the `stash_type` attribute.",
    since=21,
    note="The text does not define a type that is not floating-point.",
)
CASTS = GROUP.clause(
    "if `stash_type` is 1, the operator casts all input variables to 32-bit float, performs the computation, and "
    "finally casts the normalized results back to the original type of `X`. The second stage does not depend on "
    "`stash_type`.",
    since=21,
    note="Therefore a double outside the range of 32-bit float becomes an infinity.",
)
INSTANCES = GROUP.clause("this operator is equivalent to InstanceNormalization.")
LAYER = GROUP.clause("When there is only one group, this operator is equivalent to LayerNormalization.")
DIVISOR = GROUP.clause("It should be a divisor of the number of channels `C`.")
EPSILON = GROUP.clause("The epsilon value to use to avoid division by zero.")
IMAGE = GROUP.clause("Statistics are computed for every group of channels over `C`, `H`, and `W`.")
DIMENSIONS = GROUP.clause("For non-image cases, the dimensions are in the form of `(N x C x D1 x D2 ... Dn)`.")
SAME_SHAPE = GROUP.clause("The output tensor of the same shape as `X`.")


@GROUP.oracle(since=21)
def grouped(v: Version, X: Array, scale: Array, bias: Array, epsilon: float, num_groups: int, stash_type: int) -> Array:
    """Return Y in the shape of X."""
    v.require(DIMENSIONS, X.ndim > 1)
    channels = X.shape[1]
    v.require(EACH_CHANNEL, scale.shape == bias.shape == (channels,))
    v.require(DIVISOR, 0 < num_groups <= max(1, channels))
    v.require(EQUAL, channels % num_groups == 0)
    v.silent(PRECISION, stash_type not in STAGES)
    factor, shift = (per_channel(X, item.astype(np.float64)) for item in (scale, bias))
    stage_one, _, _ = standardized(v, STATISTICS, _groups(X, num_groups), (1,), epsilon, STAGES[stash_type])
    with np.errstate(all="ignore"):
        return np.asarray(factor * stage_one.reshape(X.shape) + shift)


case = GROUP.case
WAVES = np.sin(np.arange(48.0) * 1.7) * 2
IMAGES = WAVES.reshape(2, 4, 3, 2)
FACTORS: dict[str, Any] = {"scale": [1.5, -0.5, 2, 1], "bias": [0.25, 1, -3, 0.5]}

case("plain", X=IMAGES, **FACTORS, num_groups=2, cites=(PAPER, FORMULA, STATISTICS, TWO_STAGES, IMAGE, SAME_SHAPE))
case("one_group", Tag.EDGE, X=IMAGES, **FACTORS, num_groups=1, cites=LAYER)
case("every_channel", Tag.EDGE, X=IMAGES, **FACTORS, num_groups=4, cites=INSTANCES)
for count in (1, 2, 3, 6):
    case(
        f"six_channels_in_{count}",
        X=WAVES[:36].reshape(2, 6, 3),
        scale=np.arange(1, 7) / 2,
        bias=np.arange(6) - 2,
        num_groups=count,
        cites=(STATISTICS, EACH_CHANNEL),
    )
SHAPES: list[tuple[int, ...]] = [(3, 4), (2, 4, 5), (1, 4, 2, 3, 1), (2, 4, 1, 1, 3, 2)]
for shape in SHAPES:
    images = WAVES[: int(np.prod(shape))].reshape(shape)
    case(f"rank{len(shape)}", X=images, **FACTORS, num_groups=2, cites=DIMENSIONS)
case("rank1", Tag.EDGE, X=WAVES[:4], **FACTORS, num_groups=2, since=21, rejects=DIMENSIONS)
case("rank0", Tag.EDGE, X=3, scale=[1], bias=[1], num_groups=1, since=21, rejects=DIMENSIONS)
case("one_channel", Tag.EDGE, X=WAVES[:6].reshape(2, 1, 3), scale=[2], bias=[1], num_groups=1, cites=FORMULA)
case("one_element", Tag.EDGE, X=[[3, -2, 7, 5]], **FACTORS, num_groups=4, cites=EPSILON)
case("epsilon", X=IMAGES, **FACTORS, num_groups=2, epsilon=0.75, cites=EPSILON)
case("epsilon_zero", Tag.EDGE, X=IMAGES, **FACTORS, num_groups=2, epsilon=0.0, cites=EPSILON)
case("constant", Tag.EDGE, X=np.full((2, 4, 3), 3.0), **FACTORS, num_groups=2, cites=EPSILON)
case("far_from_zero", Tag.EDGE, X=IMAGES + 10, **FACTORS, num_groups=2, cites=FORMULA)
case("nan", Tag.EDGE, X=[[np.nan, 1, 2, 3], [4, 5, 7, 6]], **FACTORS, num_groups=2, cites=STATISTICS)
case("infinity", Tag.EDGE, X=[[np.inf, 1, 2, 3], [4, 5, -np.inf, 6]], **FACTORS, num_groups=2, cites=STATISTICS)
case("no_instances", Tag.EDGE, X=ramp(0, 4, 3), **FACTORS, num_groups=2, cites=DIMENSIONS)
case("no_elements", Tag.EDGE, X=ramp(2, 4, 0), **FACTORS, num_groups=2, since=21, unspecified=STATISTICS)
NO_CHANNELS: dict[str, Any] = {"X": ramp(2, 0, 3), "scale": ramp(0), "bias": ramp(0), "since": 21}
case("no_channels", Tag.EDGE, **NO_CHANNELS, num_groups=1, unspecified=STATISTICS)
case("no_channels_in_two", Tag.EDGE, **NO_CHANNELS, num_groups=2, rejects=DIVISOR)
case(
    "squares_beyond_float", Tag.EDGE, X=[[1e30, -1e30, 3, 1]], **FACTORS, num_groups=2, since=21, unspecified=STATISTICS
)

case(
    "groups",
    Tag.EDGE,
    X=IMAGES,
    **FACTORS,
    num_groups=vary(zero=0, minus_two=-2, five=5, eight=8),
    since=21,
    rejects=DIVISOR,
)
case("groups_of_one_channel", X=WAVES[:6].reshape(2, 1, 3), scale=[2], bias=[1], num_groups=2, rejects=DIVISOR)
case("groups_three", X=IMAGES, **FACTORS, num_groups=3, since=21, rejects=EQUAL)
for name in FACTORS:
    for shape in ((2,), (1,), (), (4, 1), (5,), (1, 4)):
        sizes = "x".join(map(str, shape)) or "scalar"
        other: dict[str, Any] = {**FACTORS, name: ramp(*shape)}
        case(f"{name}_not_{sizes}", X=IMAGES, **other, num_groups=2, rejects=EACH_CHANNEL)
case("by_group", Tag.CHANGE, X=IMAGES, scale=[1, 2], bias=[3, 4], num_groups=2, rejects=EACH_CHANNEL)

for type_ in ("float", "float16", "double", "bfloat16"):
    case(
        f"stash_{type_}",
        Tag.DTYPE,
        each="T",
        X=IMAGES,
        **FACTORS,
        num_groups=2,
        stash_type=element_type(type_),
        cites=PRECISION,
    )
case("stash_left_out", Tag.DTYPE, each="T", X=IMAGES, **FACTORS, num_groups=2, cites=CASTS)
for number in (0, 6):
    case(f"stash_{number}", X=IMAGES, **FACTORS, num_groups=2, stash_type=number, unspecified=PRECISION)
case(
    "float16_squares_overflow",
    Tag.EDGE,
    X=typed("float16", IMAGES * 300),
    scale=typed("float16", FACTORS["scale"]),
    bias=typed("float16", FACTORS["bias"]),
    num_groups=2,
    cites=CASTS,
)
DOUBLES: dict[str, Any] = {
    "X": typed("double", [[1e39, -1e39, 3, 1]]),
    "scale": typed("double", FACTORS["scale"]),
    "bias": typed("double", FACTORS["bias"]),
}
case("double_beyond_float", Tag.EDGE, **DOUBLES, num_groups=2, cites=CASTS)
case("double_beyond_float_stash_double", Tag.EDGE, **DOUBLES, num_groups=2, stash_type=11, cites=PRECISION)
BEYOND: dict[str, Any] = {**DOUBLES, "X": typed("double", [[1e200, -1e200, 3, 1]])}
case("squares_beyond_double", Tag.EDGE, **BEYOND, num_groups=2, stash_type=11, unspecified=STATISTICS)
case(
    "deprecated",
    Tag.CHANGE,
    deprecated=True,
    X=IMAGES,
    scale=[1, 2],
    bias=[3, 4],
    num_groups=2,
    cites=EACH_GROUP,
    rejects=Rule.DEPRECATED,
)

of_channels: dict[str, Any] = {"scale": filled("c"), "bias": filled("c"), "num_groups": lambda sizes: sizes["groups"]}
for name, (dims, _) in MAPS.items():
    chosen = [
        {"groups": groups, **sizes}
        for groups in (1, 2, 8, 32)
        for sizes in grid(b=(2,), c=(8, 32), **{dim: (7, 33) for dim in dims[2:] if isinstance(dim, str)})
        if sizes["c"] >= groups
    ]
    GROUP.sized(name, chosen, each="T", cites=(FORMULA, TWO_STAGES), arguments={"X": filled(*dims), **of_channels})
