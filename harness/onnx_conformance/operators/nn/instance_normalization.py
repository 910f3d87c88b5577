# SPDX-License-Identifier: Apache-2.0
"""InstanceNormalization: standardize each channel of each instance, then scale and shift it.

    output = InstanceNormalization(input, scale, B, epsilon=1e-5)

Versions: 1 (4-D), 6 (any number of dimensions), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import largest
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._normalization import (
    moments,
    normalized,
    normalized_error,
    per_channel,
    statistics_errors,
)
from onnx_conformance.operators.nn._sizes import MAPS


def _errors(input: Array, scale: Array, B: Array, epsilon: float) -> list[Array]:
    """Return a few roundings of each term, plus the errors of the statistics."""
    axes = tuple(range(2, input.ndim))
    mean, variance = moments(input, axes)
    factor, bias = per_channel(input, scale), per_channel(input, B)
    return [normalized_error(input, mean, variance, epsilon, factor, bias, *statistics_errors(input, axes))]


NORMALIZATION = Op(
    "InstanceNormalization",
    versions=(1, 6, 22),
    compare=bounded(_errors, "each term has a few roundings, and half a rounding for each summed element"),
    rank="input",
)
NORMALIZATION.example(input=waves(2, 3, 4, 5), scale=ramp(3), B=ramp(3))

PAPER = NORMALIZATION.clause("Carries out instance normalization as described in the paper")
FORMULA = NORMALIZATION.clause("y = scale * (x - mean) / sqrt(variance + epsilon) + B,")
PER_CHANNEL = NORMALIZATION.clause(
    "mean and variance are computed per instance per channel.",
    note="The text does not define the statistics of no values. The variance is the population variance, as in the "
    "paper.",
)
EPSILON = NORMALIZATION.clause(
    "The epsilon value to use to avoid division by zero",
    note="If the variance is 0 and epsilon is 0 or less, division by zero is not avoided, and the formula still "
    "applies.",
)
EPSILON_DEFAULT = NORMALIZATION.clause("default is 1e-5f.", before=6)
FOUR_D = NORMALIZATION.clause("The input 4-dimensional tensor of shape NCHW.", before=6)
FOUR_D_OUTPUT = NORMALIZATION.clause("The output 4-dimensional tensor of the same shape as input.", before=6)
LEGACY = NORMALIZATION.clause("legacy optimization attribute.", before=6)
IMAGE = NORMALIZATION.clause("dimensions for image case are (N x C x H x W)", since=6)
FORM = NORMALIZATION.clause(
    "the dimensions are in the form of (N x C x D1 x D2 ... Dn)",
    since=6,
    note="The text does not define whether an input without D1 is allowed.",
)
SCALE = NORMALIZATION.clause("The input 1-dimensional scale tensor of size C.")
BIAS = NORMALIZATION.clause("The input 1-dimensional bias tensor of size C.")
SAME_SHAPE = NORMALIZATION.clause("The output tensor of the same shape as input.", since=6)


@NORMALIZATION.oracle()
def standardized(v: Version, input: Array, scale: Array, B: Array, epsilon: float) -> Array:
    """Return the value of the formula, with mean and variance of each channel of each instance."""
    if FOUR_D.in_force(v.since):
        v.require(FOUR_D, input.ndim == len("NCHW"))
    else:
        v.require(FORM, input.ndim > 1)
        v.silent(FORM, input.ndim == 2)  # noqa: PLR2004 - N and C, and no D1
    v.require(SCALE, scale.shape == input.shape[1:2])
    v.require(BIAS, B.shape == input.shape[1:2])
    v.silent(PER_CHANNEL, 0 in input.shape and 0 not in input.shape[:2])
    axes = tuple(range(2, input.ndim))
    mean, variance = moments(input, axes)
    with np.errstate(all="ignore"):
        squares = ((input - mean) ** 2).sum(axes)
        v.reads(REAL_NUMBERS, bool((np.isfinite(squares) & (squares > largest(v.dtypes["T"]))).any()))
    return normalized(input, mean, variance, epsilon, per_channel(input, scale), per_channel(input, B))


case = NORMALIZATION.case
THREE: dict[str, Any] = {"scale": [1.5, -0.5, 2], "B": [0.25, 1, -3]}
PLAIN: dict[str, Any] = {"input": waves(2, 3, 4, 5), **THREE}
NO_CHANGE: dict[str, Any] = {"scale": [1], "B": [0]}

case("plain", **PLAIN, cites=(PAPER, FORMULA, PER_CHANNEL))
case("image_before_6", **PLAIN, cites=(FOUR_D, FOUR_D_OUTPUT, EPSILON_DEFAULT))
case("image", **PLAIN, cites=(IMAGE, SAME_SHAPE))
case("consumed_inputs", **PLAIN, consumed_inputs=[0, 0, 0], cites=LEGACY)
case("one_instance", input=waves(1, 3, 2, 5), **THREE, cites=PER_CHANNEL)
# Instances and channels with different means and deviations.
APART = waves(2, 3, 2, 4) * np.array([1, 4]).reshape(2, 1, 1, 1) + np.arange(3).reshape(1, 3, 1, 1) * 2
case("apart", input=APART, **THREE, cites=PER_CHANNEL)
case("one_channel", input=waves(3, 1, 4, 5), scale=[2], B=[0.5], cites=PER_CHANNEL)
for name, shape in (("line", (2, 3, 7)), ("space", (2, 3, 2, 4, 5)), ("hyperspace", (1, 3, 2, 1, 4, 2))):
    case(name, Tag.CHANGE, input=waves(*shape), **THREE, cites=(FORM, SAME_SHAPE))
    case(f"{name}_before_6", Tag.CHANGE, input=waves(*shape), **THREE, before=6, rejects=FOUR_D)
case("matrix_before_6", Tag.CHANGE, input=waves(2, 3), **THREE, before=6, rejects=FOUR_D)
case("matrix", Tag.EDGE, input=waves(2, 3), **THREE, since=6, unspecified=FORM)
case("rank1_before_6", Tag.EDGE, input=waves(3), **THREE, before=6, rejects=FOUR_D)
case("rank1", Tag.EDGE, input=waves(3), **THREE, since=6, rejects=FORM)
case("rank0", Tag.EDGE, input=waves(), **THREE, since=6, rejects=FORM)
for name, sizes in (
    ("two", (2,)),
    ("four", (4,)),
    ("one", (1,)),
    ("scalar", ()),
    ("matrix", (1, 3)),
    ("column", (3, 1)),
):
    case(f"scale_{name}", input=waves(2, 3, 4, 5), scale=ramp(*sizes), B=ramp(3), rejects=SCALE)
    case(f"bias_{name}", input=waves(2, 3, 4, 5), scale=ramp(3), B=ramp(*sizes), rejects=BIAS)

case("epsilon", **PLAIN, epsilon=0.75, cites=EPSILON)
case("epsilon_zero", Tag.EDGE, **PLAIN, epsilon=0.0, cites=EPSILON)
case("scale_zero", Tag.EDGE, input=waves(2, 3, 4, 5), scale=[0, 1, -1], B=[1, 0, 0], cites=FORMULA)
case("constant", Tag.EDGE, input=[[[[3, 3, 3, 3]], [[0, 0, 0, 0]], [[-2, -2, -2, -2]]]], **THREE, cites=EPSILON)
case("one_pixel", Tag.EDGE, input=waves(2, 3, 1, 1), **THREE, cites=EPSILON)
case("one_element", Tag.EDGE, input=[[[[7.5]]]], **NO_CHANGE, cites=EPSILON)
case("far_from_zero", Tag.EDGE, input=[[[[1000, 1001, 1003, 1004]]]], **NO_CHANGE, cites=FORMULA)
case("long", input=np.cos(np.arange(1200.0)).reshape(1, 2, 20, 30), scale=[1, -1], B=[0, 0.5], cites=PER_CHANNEL)
case("infinity", Tag.EDGE, input=[[[[np.inf, 1, 2]], [[4, 5, 7]], [[1, -np.inf, np.inf]]]], **THREE, cites=PER_CHANNEL)
case("nan", Tag.EDGE, input=[[[[np.nan, 1, 2]], [[4, 5, 7]], [[1, 3, 2]]]], **THREE, cites=PER_CHANNEL)
case("scale_not_finite", Tag.EDGE, input=waves(1, 3, 2, 2), scale=[np.inf, np.nan, 1], B=[0, 0, 1], cites=FORMULA)
case("bias_not_finite", Tag.EDGE, input=waves(1, 3, 2, 2), scale=[1, 2, 3], B=[np.inf, 1, np.nan], cites=FORMULA)
case("no_batch", Tag.EDGE, input=ramp(0, 3, 4, 5), **THREE, cites=PER_CHANNEL)
case("no_channels", Tag.EDGE, input=ramp(2, 0, 4, 5), scale=ramp(0), B=ramp(0), cites=PER_CHANNEL)
case("no_channels_and_no_pixels", Tag.EDGE, input=ramp(2, 0, 4, 0), scale=ramp(0), B=ramp(0), cites=PER_CHANNEL)
case("no_pixels", Tag.EDGE, input=ramp(2, 3, 0, 5), **THREE, unspecified=PER_CHANNEL)
case("no_batch_and_no_pixels", Tag.EDGE, input=ramp(0, 3, 4, 0), **THREE, cites=PER_CHANNEL)
case("each_type", Tag.DTYPE, each="T", **PLAIN, cites=(FORMULA, PER_CHANNEL))
SQUARES = np.array([300.0, -300, 200, -100]).reshape(1, 1, 2, 2)
case(
    "float16_squares_overflow",
    Tag.EDGE,
    input=typed("float16", SQUARES),
    scale=typed("float16", [1]),
    B=typed("float16", [0]),
    cites=FORMULA,
)

for name, (dims, chosen) in MAPS.items():
    of_sizes = {"input": filled(*dims), "scale": filled("c"), "B": filled("c")}
    NORMALIZATION.sized(name, chosen, each="T", cites=FORMULA, arguments=of_sizes)
