# SPDX-License-Identifier: Apache-2.0
"""GlobalLpPool: the Lp norm of each channel.

    Y = GlobalLpPool(X, p=2)

Versions: 1 (p may be a fraction; an output of 4 dimensions), 2 (whole p), 22 (bfloat16).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, typed, vary
from onnx_conformance.declare.data import FLOATS, waves
from onnx_conformance.declare.families.elementwise import SUBNORMAL, float_types
from onnx_conformance.declare.families.sums import largest, roundings
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._global_pooling import GlobalPool, spatial
from onnx_conformance.operators.nn._sizes import MAPS


def _norm(X: Array, p: float) -> Array:
    """Return the norm. Elements are first divided by the greatest magnitude, because powers might exceed the range."""
    magnitudes = np.abs(X)
    greatest = magnitudes.max(spatial(X), keepdims=True, initial=0)
    scale = np.where((greatest > 0) & np.isfinite(greatest), greatest, 1)
    return np.asarray(scale * ((magnitudes / scale) ** p).sum(spatial(X), keepdims=True) ** (1 / p))


def _rounding(X: Array, p: float) -> list[Array]:
    """Return the errors of powers, sum and root, relative to the norm. The root divides earlier errors by p."""
    terms = math.prod(X.shape[2:])
    with np.errstate(all="ignore"):
        norm = _norm(X.astype(np.float64), p)
        exponent = np.abs(np.log(np.where(norm > 0, norm, 1))) / 2  # 1 / p is also rounded.
        return [norm * ((p / 2 + 1 + roundings(terms) / 2) / p + exponent + 1.5)]


POOL = Op(
    "GlobalLpPool",
    versions=(1, 2, 22),
    compare=bounded(_rounding, "powers and root are within an epsilon, each addition rounds by half an epsilon"),
    rank="X",
)
POOL.example(X=waves(2, 3, 4, 5))

NORM = POOL.clause(
    "the values in the same channel",
    note="The text does not define the norm of no values; neither does that of LpPool.",
)
EQUIVALENT = POOL.clause(
    "This is equivalent to LpPool with kernel size equal to the spatial dimension of input tensor."
)
P = POOL.clause(
    "p value of the Lp norm used to pool over the input data",
    note="Below 1 it is not a norm. The text does not define an infinite p.",
    see=("https://github.com/onnx/onnx/issues/1614",),
)
P_DEFAULT = POOL.clause("default is 2.0.", before=2)
FOUR = POOL.clause(
    "Dimensions will be N x C x 1 x 1",
    before=2,
    note="For an input without 4 dimensions the text does not define the rank of the output. Version 2 defines it.",
)
GLOBAL = GlobalPool(POOL, NORM, EQUIVALENT, ranks_since=2)


@POOL.oracle()
def norm(v: Version, X: Array, p: float) -> Array:
    """Return the p-th root of the sum of the p-th powers of the magnitudes in each channel."""
    GLOBAL.require(v, X)
    v.silent(FOUR, FOUR.in_force(v.since) and X.ndim != len("NCHW"))
    v.silent(P, not 1 <= p < np.inf)
    x = X.astype(np.float64)
    powers = np.abs(x[np.isfinite(x) & (x != 0)])
    with np.errstate(all="ignore"):
        v.reads(REAL_NUMBERS, bool((np.abs(p * np.log(powers)) > math.log(largest(X.dtype))).any()))
        return _norm(x, p)


case = POOL.case
GLOBAL.cases(waves)
PLANE = waves(2, 3, 2, 4)
for power in (1, 2, 3, 4):
    case(f"p_{power}_before_2", X=PLANE, p=float(power), before=2, cites=(P, NORM))
    case(f"p_{power}", X=PLANE, p=power, since=2, cites=(P, NORM))
    case(f"p_{power}_below_zero", X=-np.abs(PLANE), p=power, since=2, cites=(P, NORM))
case("p", X=PLANE, p=vary(one_and_a_half=1.5, two_and_a_quarter=2.25), before=2, cites=P)
case("p_default_before_2", X=PLANE, cites=(P_DEFAULT, FOUR))
case("p_default", X=PLANE, since=2, cites=P)
case("p_seven", X=waves(1, 2, 2, 3), p=7, since=2, cites=P)
case("cubes_each_type", Tag.DTYPE, each="T", X=PLANE, p=3, since=2, cites=(P, NORM))
case("p", Tag.EDGE, X=PLANE, p=vary(zero=0, negative=-1), since=2, unspecified=P)
case("p", Tag.EDGE, X=PLANE, p=vary(zero_fraction=0.0, half=0.5, infinite=np.inf, nan=np.nan), before=2, unspecified=P)
for name, shape in (("line", (2, 3, 7)), ("space", (3, 2, 2, 4, 3))):
    case(f"{name}_before_2", X=waves(*shape), before=2, unspecified=FOUR)
GLOBAL.edges(
    zeros=[[0.0, -0.0, 0.0], [0, -2, 0]],
    infinities=[[1, np.inf, 2], [-np.inf, 3, 4], [np.inf, 5, -np.inf], [6, 7, 8]],
    nan=[[np.nan, 1, 2], [3, 4, np.nan], [5, 6, 8], [0, np.nan, 0]],
    right_angles=[[3, 4, 0], [5, 0, -12], [-8, -15, 0]],
)
case("long", X=np.cos(np.arange(1200.0)).reshape(1, 2, 20, 30), cites=NORM)
for type_, since in float_types(22).items():
    limits = FLOATS[type_]
    rows = [[limits.largest / 4, limits.largest / 2], [SUBNORMAL[type_][1], SUBNORMAL[type_][2]]]
    if type_ != "double":  # The bound would not fit in a double.
        case(f"squares_beyond_{type_}", Tag.EDGE, X=typed(type_, [[rows[:1]]]), since=since, cites=NORM)
    case(f"squares_below_{type_}", Tag.EDGE, X=typed(type_, [[rows[1:]]]), since=since, cites=NORM)
    ones = np.ones((1, 2, 64, 65))
    case(f"thousands_{type_}", Tag.EDGE, X=typed(type_, ones), since=since, cites=NORM)

for name, (dims, sizes) in MAPS.items():
    POOL.sized(name, sizes, each="T", cites=NORM, arguments={"X": filled(*dims)})
