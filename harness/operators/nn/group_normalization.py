"""GroupNormalization: groups of channels standardized, then scaled and shifted channel by channel.

Versions: 18, which is deprecated (scale and bias for each group), 21 (for each channel; stash_type).
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, bounded, element_type, ramp, typed
from harness.operators.nn._normalization import off_standardized, per_channel, standardized

STAGES = {1: np.dtype(np.float32), 10: np.dtype(np.float16), 11: np.dtype(np.float64), 16: np.dtype(ml_dtypes.bfloat16)}
"""The precisions of stage one, by stash_type."""


def _groups(X: Array, num_groups: int) -> Array:  # noqa: N803 - the text's own name
    """Return X with the elements of each group of each instance in one row."""
    return X.reshape(X.shape[0], num_groups, int(np.prod(X.shape[1:], dtype=np.int64)) // num_groups)


def _allowed(X: Array, scale: Array, bias: Array, epsilon: float, num_groups: int, stash_type: int) -> list[Array]:  # noqa: N803
    """Return the allowance: that of stage one, then two roundings in the type of X."""
    if X.size == 0:
        return [np.zeros(X.shape)]
    groups = _groups(X, num_groups)
    first, _, _ = off_standardized(groups, (2,), epsilon, STAGES[stash_type], by_squares=True)
    with np.errstate(all="ignore"):
        wide = groups.astype(np.float64)
        size = np.abs(wide - wide.mean(2, keepdims=True)) / np.sqrt(wide.var(2, keepdims=True) + epsilon)
        factor, shift = (np.abs(per_channel(X, item.astype(np.float64))) for item in (scale, bias))
        return [(first + 2 * size).reshape(X.shape) * factor + shift]


GROUP = Op(
    "GroupNormalization",
    versions=(18, 21),
    compare=bounded(_allowed, "stage one: sums round once for each element, the rest a few times; stage two: twice"),
    rank="X",
    widens=False,  # The allowance depends on the type of X.
)

PAPER = GROUP.clause("Carries out group normalization as described in the paper https://arxiv.org/abs/1803.08494")
FORMULA = GROUP.clause("y = scale * (x - mean) / sqrt(variance + epsilon) + bias,")
STATISTICS = GROUP.clause(
    "where the mean and variance are computed per instance per group of channels",
    note="Says not what they are of no elements, nor what becomes of squares beyond the precision of stage one. The "
    "function body takes the square of the mean from the mean of the squares, which the allowance has to bear.",
)
EACH_GROUP = GROUP.clause("`scale` and `bias` should be specified for each group of channels.", before=21)
EACH_CHANNEL = GROUP.clause("`scale` and `bias` should be specified for each channel.", since=21)
EQUAL = GROUP.clause(
    "The number of groups `num_groups` should be divisible by the number of channels so that there are an equal number "
    "of channels per group.",
    note="Taken the other way round, as the purpose it gives and the attribute's sentence have it.",
)
STAGES_SAID = GROUP.clause(
    "the first stage normalizes the elements to have zero mean and unit variance for each instance in each group, and "
    "the second stage scales and shifts the results of the first stage.",
    since=21,
)
PRECISION = GROUP.clause(
    "The floating-point precision used in the first stage is determined by the `stash_type` attribute.",
    since=21,
    note="Of a type that is no floating point nothing is said.",
)
CASTS = GROUP.clause(
    "if `stash_type` is 1, the operator casts all input variables to 32-bit float, performs the computation, and "
    "finally casts the normalized results back to the original type of `X`. The second stage does not depend on "
    "`stash_type`.",
    since=21,
    note="So a double beyond 32 bits is an infinity there.",
)
INSTANCES = GROUP.clause("this operator is equivalent to InstanceNormalization.")
LAYER = GROUP.clause("When there is only one group, this operator is equivalent to LayerNormalization.")
DIVISOR = GROUP.clause("It should be a divisor of the number of channels `C`.")
EPSILON = GROUP.clause("The epsilon value to use to avoid division by zero.")
IMAGE = GROUP.clause("Statistics are computed for every group of channels over `C`, `H`, and `W`.")
DIMENSIONS = GROUP.clause("For non-image cases, the dimensions are in the form of `(N x C x D1 x D2 ... Dn)`.")
SAME_SHAPE = GROUP.clause("The output tensor of the same shape as `X`.")


@GROUP.oracle(since=21)
def grouped(
    v: Version, X: Array, scale: Array, bias: Array, epsilon: float, num_groups: int, stash_type: int  # noqa: N803
) -> Array:  # fmt: skip
    """Return Y in the shape of X."""
    v.require(DIMENSIONS, X.ndim > 1)
    channels = X.shape[1]
    v.require(EACH_CHANNEL, scale.shape == bias.shape == (channels,))
    v.require(DIVISOR, 0 < num_groups <= max(1, channels))
    v.require(EQUAL, channels % num_groups == 0)
    v.silent(PRECISION, stash_type not in STAGES)
    v.silent(STATISTICS, X.size == 0 and X.shape[0] > 0)
    factor, shift = (per_channel(X, item.astype(np.float64)) for item in (scale, bias))
    if X.size == 0:
        return np.zeros(X.shape)
    stage_one, _, _ = standardized(v, STATISTICS, _groups(X, num_groups), (2,), epsilon, STAGES[stash_type])
    with np.errstate(all="ignore"):
        return np.asarray(factor * stage_one.reshape(X.shape) + shift)


case = GROUP.case
WAVES = np.sin(np.arange(48.0) * 1.7) * 2
IMAGES = WAVES.reshape(2, 4, 3, 2)
FACTORS: dict[str, Any] = {"scale": [1.5, -0.5, 2, 1], "bias": [0.25, 1, -3, 0.5]}
PLAIN: dict[str, Any] = {"X": IMAGES, **FACTORS, "num_groups": 2}
case("plain", **PLAIN, cites=(PAPER, FORMULA, STATISTICS, STAGES_SAID, IMAGE, SAME_SHAPE))
case("one_group", Tag.EDGE, **{**PLAIN, "num_groups": 1}, cites=(LAYER,))
case("every_channel", Tag.EDGE, **{**PLAIN, "num_groups": 4}, cites=(INSTANCES,))
SIX: dict[str, Any] = {"X": WAVES[:36].reshape(2, 6, 3), "scale": np.arange(1, 7) / 2, "bias": np.arange(6) - 2}
for count in (1, 2, 3, 6):
    case(f"six_channels_in_{count}", **SIX, num_groups=count, cites=(STATISTICS, EACH_CHANNEL))
SHAPES: list[tuple[int, ...]] = [(3, 4), (2, 4, 5), (1, 4, 2, 3, 1), (2, 4, 1, 1, 3, 2)]
for shape in SHAPES:
    data = WAVES[: int(np.prod(shape))].reshape(shape)
    case(f"rank{len(shape)}", X=data, **FACTORS, num_groups=2, cites=(DIMENSIONS,))
case("rank1", Tag.EDGE, X=WAVES[:4], **FACTORS, num_groups=2, since=21, rejects=DIMENSIONS)
case("rank0", Tag.EDGE, X=3, scale=[1], bias=[1], num_groups=1, since=21, rejects=DIMENSIONS)
case("one_channel", Tag.EDGE, X=WAVES[:6].reshape(2, 1, 3), scale=[2], bias=[1], num_groups=1, cites=(FORMULA,))
case("one_element", Tag.EDGE, X=[[3, -2, 7, 5]], **FACTORS, num_groups=4, cites=(EPSILON,))
case("epsilon", **PLAIN, epsilon=0.75, cites=(EPSILON,))
case("epsilon_zero", Tag.EDGE, **PLAIN, epsilon=0.0, cites=(EPSILON,))
case("constant", Tag.EDGE, **{**PLAIN, "X": np.full((2, 4, 3), 3.0)}, cites=(EPSILON,))
case("far_from_zero", Tag.EDGE, **{**PLAIN, "X": IMAGES + 10}, cites=(FORMULA,))
case("nan", Tag.EDGE, **{**PLAIN, "X": [[np.nan, 1, 2, 3], [4, 5, 7, 6]]}, cites=(STATISTICS,))
case("infinity", Tag.EDGE, **{**PLAIN, "X": [[np.inf, 1, 2, 3], [4, 5, -np.inf, 6]]}, cites=(STATISTICS,))
case("no_instances", Tag.EDGE, **{**PLAIN, "X": ramp(0, 4, 3)}, cites=(DIMENSIONS,))
case("no_elements", Tag.EDGE, **{**PLAIN, "X": ramp(2, 4, 0)}, since=21, unspecified=STATISTICS)
case("squares_beyond_float", Tag.EDGE, **{**PLAIN, "X": [[1e30, -1e30, 3, 1]]}, since=21, unspecified=STATISTICS)

for count in (0, -2, 5, 8):
    named = f"groups_{count}".replace("-", "minus_")
    case(named, Tag.EDGE, **{**PLAIN, "num_groups": count}, since=21, rejects=DIVISOR)
case("groups_3", **{**PLAIN, "num_groups": 3}, since=21, rejects=EQUAL)
for name in FACTORS:
    for shape in ((2,), (1,), (), (4, 1), (5,), (1, 4)):
        named = f"{name}_not_{'x'.join(map(str, shape)) or 'scalar'}"
        case(named, **{**PLAIN, name: ramp(*shape)}, rejects=EACH_CHANNEL)
case("by_group", Tag.CHANGE, **{**PLAIN, "scale": [1, 2], "bias": [3, 4]}, rejects=EACH_CHANNEL)

for type_ in ("float", "float16", "double", "bfloat16"):
    case(f"stash_{type_}", Tag.DTYPE, each="T", **PLAIN, stash_type=element_type(type_), cites=(PRECISION,))
case("stash_left_out", Tag.DTYPE, each="T", **PLAIN, cites=(CASTS,))
for number in (0, 6):
    case(f"stash_{number}", **PLAIN, stash_type=number, unspecified=PRECISION)
HALVES: dict[str, Any] = {name: typed("float16", values) for name, values in FACTORS.items()}
LARGE = typed("float16", IMAGES * 300)
case("float16_squares_overflow", Tag.EDGE, X=LARGE, **HALVES, num_groups=2, cites=(CASTS,))
DOUBLES: dict[str, Any] = {name: typed("double", values) for name, values in FACTORS.items()}
BEYOND = typed("double", [[1e39, -1e39, 3, 1]])
case("double_beyond_float", Tag.EDGE, X=BEYOND, **DOUBLES, num_groups=2, cites=(CASTS,))
case("double_kept", Tag.EDGE, X=BEYOND, **DOUBLES, num_groups=2, stash_type=11, cites=(PRECISION,))
case("outside", Tag.DTYPE, outside="T", **PLAIN, since=21, rejects=Rule.TYPES)
case("two_types", **{**PLAIN, "bias": typed("double", [1, 2, 3, 4])}, since=21, rejects=Rule.TYPES)
case("no_groups", X=IMAGES, **FACTORS, since=21, rejects=Rule.ATTRIBUTES)
case("attribute_axis", **PLAIN, stray={"axis": 1}, since=21, rejects=Rule.ATTRIBUTES)
case("no_bias", **{**PLAIN, "bias": None}, since=21, rejects=Rule.ARITY)
case("no_outputs", **PLAIN, n=0, since=21, rejects=Rule.ARITY)
case("two_outputs", **PLAIN, n=2, since=21, rejects=Rule.ARITY)
BY_GROUP: dict[str, Any] = {**PLAIN, "scale": [1, 2], "bias": [3, 4]}
case("deprecated", Tag.CHANGE, deprecated=True, **BY_GROUP, cites=(EACH_GROUP,), rejects=Rule.DEPRECATED)
