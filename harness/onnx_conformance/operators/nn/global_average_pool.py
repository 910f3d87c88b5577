# SPDX-License-Identifier: Apache-2.0
"""GlobalAveragePool: the average of each channel.

    Y = GlobalAveragePool(X)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, typed
from onnx_conformance.declare.data import FLOATS, waves
from onnx_conformance.declare.families.elementwise import SUBNORMAL, float_types
from onnx_conformance.declare.families.sums import largest, roundings
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._global_pooling import GlobalPool, spatial
from onnx_conformance.operators.nn._sizes import MAPS


def _rounding(X: Array) -> list[Array]:
    """Return half a rounding of all magnitudes for each addition, and one for the quotient."""
    terms = math.prod(X.shape[2:])
    with np.errstate(all="ignore"):
        share = (roundings(terms) / 2 + 1) / terms if terms > 1 else 0
        return [np.abs(X.astype(np.float64)).sum(spatial(X), keepdims=True) * share]


POOL = Op(
    "GlobalAveragePool",
    versions=(1, 22),
    compare=bounded(
        _rounding, "each addition, in any order, rounds by half an epsilon of all magnitudes; the quotient rounds once"
    ),
    rank="X",
)
POOL.example(X=waves(2, 3, 4, 5))

AVERAGE = POOL.clause(
    "applies average pooling across the values in the same channel",
    note="The text does not define the average of no values; neither does that of AveragePool.",
)
EQUIVALENT = POOL.clause(
    "This is equivalent to AveragePool with kernel size equal to the spatial dimension of input tensor."
)
GLOBAL = GlobalPool(POOL, AVERAGE, EQUIVALENT)


@POOL.oracle()
def averaged(v: Version, X: Array) -> Array:
    """Return the sum of each channel divided by the number of its values."""
    GLOBAL.require(v, X)
    with np.errstate(all="ignore"):
        sums = X.astype(np.float64).sum(spatial(X), keepdims=True)
        v.reads(REAL_NUMBERS, bool((np.isfinite(sums) & (np.abs(sums) > largest(v.dtypes["T"]))).any()))
        return np.asarray(sums / math.prod(X.shape[2:]))


case = POOL.case
GLOBAL.cases(waves)
GLOBAL.edges(
    infinities=[[1, np.inf, 2], [-np.inf, 3, 4], [np.inf, 5, -np.inf], [6, 7, 8]],
    nan=[[np.nan, 1, 2], [3, 4, np.nan], [5, 6, 8], [np.nan, np.inf, 7]],
    cancelling=[[1e4, -9e3, 3], [0.1, 0.2, -0.25]],
    zeros=[[0.0, -0.0, 0.0], [-0.0, -0.0, -0.0]],
    equal=[[0.1] * 7, [-3] * 7],
    below_zero=[[-1, -4, -2], [-3, -7, -9]],
)
case("long", X=np.cos(np.arange(1200.0)).reshape(1, 2, 20, 30), cites=AVERAGE)
for type_, since in float_types(22).items():
    most = FLOATS[type_].largest
    # A 16-bit sum that adds one term after the other stays at 2048 (float16) or 256 (bfloat16).
    case(f"thousands_{type_}", Tag.EDGE, X=typed(type_, np.ones((1, 2, 64, 65))), since=since, cites=AVERAGE)
    ends = typed(type_, [[[most], [-most], [SUBNORMAL[type_][0]]]])
    case(f"ends_of_one_pixel_{type_}", Tag.EDGE, X=ends, since=since, cites=EQUIVALENT)
    if type_ != "double":
        beyond = typed(type_, [[[most, most, most / 2], [-most, -most / 2, most / 4]]])
        case(f"sum_beyond_{type_}", Tag.EDGE, X=beyond, since=since, cites=AVERAGE)

for name, (dims, sizes) in MAPS.items():
    POOL.sized(name, sizes, each="T", cites=AVERAGE, arguments={"X": filled(*dims)})
