# SPDX-License-Identifier: Apache-2.0
"""LRN: divide each element by a power of the sum of the squares around it, across channels.

    Y = LRN(X, size, alpha=1e-4, beta=0.75, bias=1)

Versions: 1, 13 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import largest
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.sizes import filled, grid


def _square_sum(X: Array, size: int) -> Array:
    """Return the sum of squares of the region of each element."""
    before, after = (size - 1) // 2, -(-(size - 1) // 2)
    squares, sums = X**2, np.zeros_like(X)
    for c in range(X.shape[1]):
        sums[:, c] = squares[:, max(0, c - before) : min(X.shape[1] - 1, c + after) + 1].sum(1)
    return sums


def _errors(X: Array, size: int, alpha: float, beta: float, bias: float) -> list[Array]:
    """Return the errors of base, power and quotient, relative to the quotient."""
    with np.errstate(all="ignore"):
        part = abs(alpha) / size * _square_sum(X, size)
        # A running sum adds one square and subtracts another.
        every = abs(alpha) / size * np.where(np.isfinite(X), X**2, 0).sum(1, keepdims=True)
        base = bias + alpha / size * _square_sum(X, size)
        relative = (abs(bias) + (min(size, X.shape[1]) / 2 + 3) * part + every) / np.abs(base) * abs(beta)
        exponent = np.abs(beta * np.log(np.abs(base))) / 2
        return [np.abs(X / base**beta) * (relative + exponent + 2)]


LRN = Op(
    "LRN",
    versions=(1, 13),
    compare=bounded(_errors, "a sum rounds once for each square; base, power and quotient round a few times"),
    rank="X",
)
LRN.example(X=waves(2, 5, 3, 4), size=3)

REGIONS = LRN.clause("It normalizes over local input regions.")
CHANNELS = LRN.clause("The local region is defined across the channels.")
REGION = LRN.clause(
    "{X[n, i, d1, ..., dk] | max(0, c - floor((size - 1) / 2)) <= i <= min(C - 1, c + ceil((size - 1) / 2))}",
    note="For an even size, the region has one more channel after the element than before it.",
)
FORMULA = LRN.clause(
    "Y[n, c, d1, ..., dk] = X[n, c, d1, ..., dk] / (bias + alpha / size * square_sum[n, c, d1, ..., dk] ) ^ beta"
)
SQUARES = LRN.clause(
    "square_sum[n, c, d1, ..., dk] = sum(X[n, i, d1, ..., dk] ^ 2)",
    note="The sum is divided by size even if there are fewer channels.",
)
EXPONENT = LRN.clause("The exponent.")
SCALING = LRN.clause("Scaling parameter.")
SIZE = LRN.clause("The number of channels to sum over", note="The text does not define a size below 1.")
IMAGE = LRN.clause("dimensions for image case are (N x C x H x W)")
FORM = LRN.clause(
    "the dimensions are in the form of (N x C x D1 x D2 ... Dn)",
    note="The text does not define whether an input without D1 is allowed.",
)
SAME_SHAPE = LRN.clause("Output tensor, which has the shape and type as input tensor")


@LRN.oracle()
def normalized(v: Version, X: Array, size: int, alpha: float, beta: float, bias: float) -> Array:
    """Return each element divided by a power of the sum of squares of its region."""
    v.require(FORM, X.ndim > 1)
    v.silent(FORM, X.ndim == 2)  # noqa: PLR2004 - N and C, and no D1
    v.silent(SIZE, size < 1)
    with np.errstate(all="ignore"):
        square_sum = _square_sum(X, size)
        v.reads(REAL_NUMBERS, bool((np.isfinite(square_sum) & (square_sum > largest(v.dtypes["T"]))).any()))
        return np.asarray(X / (bias + alpha / size * square_sum) ** beta)


case = LRN.case
IMAGES = waves(2, 7, 3, 4)
STRONG: dict[str, Any] = {"alpha": 2.0, "beta": 0.5, "bias": 0.5}

case("defaults", X=IMAGES * 20, size=3, cites=(REGIONS, CHANNELS, FORMULA, IMAGE, SAME_SHAPE))
for size in (1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 30):
    case(f"size_{size}", X=IMAGES, size=size, **STRONG, cites=(REGION, SIZE, SQUARES))
# Each channel is a different power of two, so that each region has a different sum.
DIGITS = 2.0 ** np.arange(6).reshape(1, 6, 1, 1)
for size in (2, 3, 4, 5):
    case(f"region_{size}", X=DIGITS, size=size, alpha=float(size), beta=1.0, bias=0.0, cites=REGION)
case("size_of_one_channel", X=waves(2, 1, 3, 4), size=5, **STRONG, cites=SQUARES)
case("each_image_by_itself", X=waves(3, 2, 2, 5), size=3, **STRONG, cites=CHANNELS)
case("line", X=waves(2, 5, 7), size=3, **STRONG, cites=FORM)
case("line_even", X=waves(2, 5, 7), size=4, **STRONG, cites=(FORM, REGION))
case("space", X=waves(1, 5, 2, 3, 4), size=4, **STRONG, cites=FORM)
case("hyperspace", X=waves(2, 3, 2, 1, 4, 3), size=2, **STRONG, cites=FORM)
case("matrix", Tag.EDGE, X=waves(2, 5), size=3, **STRONG, unspecified=FORM)
case("rank1", Tag.EDGE, X=waves(5), size=3, rejects=FORM)
case("rank0", Tag.EDGE, X=2.5, size=3, rejects=FORM)
SIZES = vary(zero=0, negative=-1, far_below=-4)
case("size", Tag.EDGE, X=IMAGES, size=SIZES, **STRONG, unspecified=SIZE)

PLAIN: dict[str, Any] = {"X": IMAGES, "size": 3}
case("alpha", **PLAIN, alpha=vary(large=30.0, one=1.0, zero=0.0, negative=-0.01), cites=SCALING)
case("beta", **PLAIN, alpha=1.0, beta=vary(one=1.0, two=2.0, zero=0.0, third=1 / 3, negative=-0.5), cites=EXPONENT)
case("bias", **PLAIN, alpha=1.0, bias=vary(two=2.0, tenth=0.1, zero=0.0), cites=FORMULA)
case("base_below_zero", Tag.EDGE, **PLAIN, alpha=-1.0, bias=-1.0, cites=FORMULA)
case("zeros", Tag.EDGE, X=[[[0.0], [-0.0], [0.0], [0], [2]]], size=3, cites=FORMULA)
case("zeros_bias_zero", Tag.EDGE, X=[[[0.0], [0], [0], [2]]], size=3, bias=0.0, cites=FORMULA)
case("infinity", Tag.EDGE, X=[[[1], [2], [np.inf], [3], [4], [5], [-np.inf]]], size=3, cites=SQUARES)
case("nan", Tag.EDGE, X=[[[1], [2], [np.nan], [3], [4], [5], [6]]], size=4, cites=SQUARES)
case("one_element", Tag.EDGE, X=[[[-7.5]]], size=1, cites=SQUARES)
case("no_batch", Tag.EDGE, X=ramp(0, 3, 4, 5), size=3, cites=SAME_SHAPE)
case("no_channels", Tag.EDGE, X=ramp(2, 0, 4, 5), size=3, cites=SAME_SHAPE)
case("no_pixels", Tag.EDGE, X=ramp(2, 3, 0, 5), size=3, cites=SAME_SHAPE)
case("many_channels", X=np.cos(np.arange(140.0)).reshape(1, 70, 2), size=67, **STRONG, cites=REGION)
case("each_type", Tag.DTYPE, each="T", X=waves(2, 5, 2, 3), size=4, **STRONG, cites=(FORMULA, REGION))
HUNDREDS = typed("float16", [[[300], [-200], [250], [100]]])
case("float16_squares_overflow", Tag.EDGE, X=HUNDREDS, size=3, cites=FORMULA)
case("beyond_float", Tag.EDGE, X=[[[1e20], [-3e20], [2e20]]], size=3, cites=FORMULA)

PLANES: dict[str, Any] = {"X": filled("b", "c", "h", "w"), "size": lambda sizes: sizes["size"], **STRONG}
ACROSS = grid(b=(2,), c=(3, 16, 33), h=(7,), w=(5, 17, 145), size=(3, 5))
LRN.sized("planes", ACROSS, each="T", cites=(REGION, SQUARES), arguments=PLANES)
