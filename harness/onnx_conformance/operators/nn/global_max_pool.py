# SPDX-License-Identifier: Apache-2.0
"""GlobalMaxPool: the greatest value of each channel.

    Y = GlobalMaxPool(X)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Result, Tag, Version, typed
from onnx_conformance.declare.data import FLOATS, waves
from onnx_conformance.declare.families.elementwise import SUBNORMAL, float_types
from onnx_conformance.declare.families.extremum import undefined_order_in
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._global_pooling import GlobalPool, spatial
from onnx_conformance.operators.nn._sizes import MAPS

POOL = Op("GlobalMaxPool", versions=(1, 22), compare=EXACT, rank="X")
POOL.example(X=waves(2, 3, 4, 5))

GREATEST = POOL.clause(
    "applies max pooling across the values in the same channel",
    note="The text does not define the maximum of NaN and a number, of +0 and -0, or of no values.",
    see=("https://github.com/onnx/onnx/issues/4716",),
)
EQUIVALENT = POOL.clause(
    "This is equivalent to MaxPool with kernel size equal to the spatial dimension of input tensor."
)
GLOBAL = GlobalPool(POOL, GREATEST, EQUIVALENT)


@POOL.oracle()
def greatest(v: Version, X: Array) -> Result:
    """Return the greatest value of each channel."""
    GLOBAL.require(v, X)
    most = X.max(spatial(X), keepdims=True, initial=-np.inf)
    if math.prod(X.shape[2:]) <= 1:
        return np.asarray(most)
    return undefined_order_in(v, GREATEST, X, spatial(X), np.asarray(most))


case = POOL.case


def below_zero(*shape: int) -> Array:
    """Return values below zero, which a padded zero would exceed."""
    return waves(*shape) - 4


GLOBAL.cases(below_zero)
inf = np.inf
GLOBAL.edges(
    both_signs=[[1, -4, 2], [-3, 7, -9], [5, 4, 6]],
    equal=[[3, 3, 3], [-2, -5, -2]],
    infinities=[[1, inf, 2], [-inf, 3, 4], [inf, 5, -inf], [-inf, -inf, -inf]],
    minus_zeros=[[-0.0, -0.0, -1], [-0.0, -0.0, -0.0], [0.0, 0.0, -2]],
    zeros_below_the_greatest=[[0.0, -0.0, 2], [-0.0, 1, 0.0]],
)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2], [3, 4, 5]]], unspecified=GREATEST)
case("nan_first", Tag.EDGE, X=[[[np.nan, 1]]], unspecified=GREATEST)
case("nan_alone", Tag.EDGE, X=[[[np.nan], [2]], [[-1], [np.nan]]], cites=EQUIVALENT)
case("two_zeros", Tag.EDGE, X=[[[0.0, -0.0, -2]]], unspecified=GREATEST)
case("long", X=np.cos(np.arange(1200.0) + 1).reshape(1, 2, 20, 30), cites=GREATEST)
for place in range(4):
    case(f"at_{place}", X=np.roll([9, -1, 3, -7], place).reshape(1, 1, 2, 2), cites=GREATEST)
for type_, since in float_types(22).items():
    limits = FLOATS[type_]
    small = SUBNORMAL[type_]
    rows = [[-limits.largest, limits.largest, 1], [-limits.largest, -np.inf, -np.inf], small, [-item for item in small]]
    case(f"ends_{type_}", Tag.EDGE, X=typed(type_, [rows]), since=since, cites=GREATEST)

for name, (dims, sizes) in MAPS.items():
    POOL.sized(name, sizes, each="T", cites=GREATEST, arguments={"X": filled(*dims)})
