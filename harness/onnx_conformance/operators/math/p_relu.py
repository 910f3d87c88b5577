# SPDX-License-Identifier: Apache-2.0
"""PRelu: each element; elements below 0 are multiplied by the slope.

    Y = PRelu(X, slope)

Versions: 1, 6 (no consumed_inputs), 7 (slope broadcast), 9 (integers), 16 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Version, ramp, typed, ulp
from onnx_conformance.declare.families.broadcasting import have_one_shape
from onnx_conformance.declare.families.elementwise import SUBNORMAL, Unary, counted
from onnx_conformance.declare.sizes import BROADCAST, filled

PRELU = Op("PRelu", versions=(1, 6, 7, 9, 16), compare=ulp(1, "the product is rounded once"), rank="X")
PRELU.example(X=[[1, -4, 2], [0, 3, -10]], slope=[[3, 0.5, 2], [1, 0.25, 0.125]], consumed_inputs=[0])

FUNCTION = PRELU.clause(
    "where the function `f(x) = slope * x for x < 0`, `f(x) = x for x >= 0`., is applied to the data tensor "
    "elementwise.",
    note="Neither condition is true for NaN. Both formulas return NaN for it. The text does not define the result of "
    "an integer overflow.",
)
SHARED = PRELU.clause(
    "If `Slope` is of size 1, the value is sharedacross different channels",
    before=7,
    note="The text does not define other shapes, except that of X. It does not define which dimension is the channel "
    "dimension.",
)
UNIDIRECTIONAL = PRELU.clause(
    "This operator supports **unidirectional broadcasting** (tensor slope should be unidirectional broadcastable to "
    "input tensor X)",
    since=7,
)
SMALLER = PRELU.clause(
    "The shape of slope can be smaller than first input X; if so, its shape must be unidirectional broadcastable to X",
    since=7,
)
SAME_SIZE = PRELU.clause("Output tensor (same size as X)", since=7, result=True)
TAKES = PRELU.clause(
    "PRelu takes input data (Tensor<T>) and slope tensor as input, and produces one output data (Tensor<T>)"
)
UNARY = Unary(PRELU, FUNCTION, bfloat16=16)


@PRELU.oracle()
def by_slope(v: Version, X: Array, slope: Array) -> Array | PartlyOpen:
    """Return X, and the slope times X where X is below 0."""
    v.silent(SHARED, SHARED.in_force(v.since) and slope.size != 1 and slope.shape != X.shape)
    if slope.size == 1 and SHARED.in_force(v.since):
        slope = slope.reshape(())
    v.require(UNIDIRECTIONAL, slope.ndim <= X.ndim or SHARED.in_force(v.since))
    v.require(SMALLER, have_one_shape(X, slope) and np.broadcast_shapes(X.shape, slope.shape) == X.shape)
    if X.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.where(X < 0, slope * X, X)
    exact = np.asarray(np.where(X < 0, slope.astype(object) * X.astype(object), X), object)
    limits = np.iinfo(X.dtype)
    is_open = np.asarray((exact < limits.min) | (exact > limits.max), bool)
    values = np.where(is_open, 0, exact).astype(X.dtype)
    return PartlyOpen(values, is_open) if is_open.any() else values


case = PRELU.case
MIXED = [1, -1.25, 0.5, 3, -4, 2.75, -7]
TABLE = np.array([[-1, 2, -3, 4], [5, -6, -7, 8], [-9, -10, 11, -12]])
inf, nan = np.inf, np.nan

legacy = PRELU.clause("legacy optimization attribute.", before=6)
case("consumed_inputs", X=MIXED, slope=MIXED, consumed_inputs=[0], cites=legacy)
for name, shape in {"scalar": (), "one": (1,), "empty": (0,), "dim_zero": (2, 0, 3), "rank_4": (2, 3, 1, 4)}.items():
    of_shape: dict[str, Any] = {"X": np.resize(MIXED, shape), "slope": np.resize([0.5, 3, -2, 0.25, -0.75], shape)}
    case(f"same_shape_{name}", Tag.EDGE, **of_shape, cites=(FUNCTION, TAKES))
case("vector_and_tail", X=np.resize(MIXED, 67), slope=np.resize([0.5, 3, -2, 0.25], 67), cites=FUNCTION)
for name, shared in {"quarter": 0.25, "zero": 0, "one": 1, "above_one": 2.5, "negative": -0.5, "small": 1e-6}.items():
    case(f"slope_{name}", Tag.EDGE, X=MIXED, slope=np.full(7, shared), cites=FUNCTION)
for name, one in {"scalar": 0.25, "one": [0.25], "one_of_rank_2": [[0.25]], "one_of_rank_3": [[[0.25]]]}.items():
    case(f"shared_{name}", Tag.CHANGE, X=TABLE, slope=one, before=7, cites=SHARED)
for name, one in {"scalar": 0.25, "one": [0.25], "one_of_rank_2": [[0.25]]}.items():
    case(f"broadcast_{name}", Tag.CHANGE, X=TABLE, slope=one, since=7, cites=(UNIDIRECTIONAL, SMALLER, SAME_SIZE))
case("shared_of_rank_0", Tag.EDGE, X=-3, slope=[0.25], before=7, cites=SHARED)
CUBE = -1 - np.arange(24).reshape(2, 3, 4)
WITHIN: dict[str, tuple[int, ...]] = {
    "last": (4,),
    "channels": (3, 1),
    "first": (2, 1, 1),
    "last_two": (3, 4),
    "outer": (2, 1, 4),
    "inner_of_one": (1, 3, 1),
    "all": (2, 3, 4),
}
for name, shape in WITHIN.items():
    case(f"broadcast_{name}", Tag.CHANGE, X=CUBE, slope=counted(2)(*shape), since=7, cites=(UNIDIRECTIONAL, SMALLER))
case("broadcast_zero_size", Tag.EDGE, X=ramp(2, 0), slope=ramp(2, 1), since=7, cites=SMALLER)
case("broadcast_to_zero_size", Tag.EDGE, X=ramp(2, 0), slope=ramp(0), since=7, cites=SMALLER)
case("channels_before_7", Tag.CHANGE, X=CUBE, slope=[2, 3, 4], before=7, unspecified=SHARED)
case("last_before_7", Tag.CHANGE, X=CUBE, slope=[2, 3, 4, 5], before=7, unspecified=SHARED)
OUTSIDE: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "greater_rank": ((3,), (2, 3)),
    "rank_of_ones_greater": ((3,), (1, 3)),
    "greater_dimension": ((1, 3), (2, 3)),
    "other_dimension": ((2, 3), (2,)),
    "other_first_dimension": ((2, 3), (5, 3)),
    "multiple": ((6,), (3,)),
    "zero_size": ((2, 1), (2, 0)),
}
for name, (of_x, of_slope) in OUTSIDE.items():
    forbids = UNIDIRECTIONAL if len(of_slope) > len(of_x) else SMALLER
    case(f"mismatch_{name}", Tag.EDGE, X=ramp(*of_x), slope=ramp(*of_slope), since=7, rejects=forbids)

NUMBERS: dict[str, tuple[list[float], list[float]]] = {
    "fractions": ([0.1, -0.1, 1 / 3, -2 / 3, -1.1, 1e-3, -1e-3], [0.3, 0.7, -0.1, 1 / 3, -1.7, 0.9, 11.1]),
    "zeros": ([0.0, -0.0, -1, -2], [-3, -3, 0.0, -0.0]),
    "infinities": ([inf, -inf, -inf, -1, 1], [2, 3, -3, inf, inf]),
    "not_below_zero": ([0.0, -0.0, 1], [inf, -inf, nan]),
    "no_product": ([-inf, -2], [0, 0]),
    "nan": ([nan, 1, -1, -1], [1, nan, nan, 2]),
}
for type_, since in UNARY.types.items():
    for name, (numbers, slopes) in NUMBERS.items():
        operands: dict[str, Any] = {"X": typed(type_, numbers), "slope": typed(type_, slopes)}
        case(f"{name}_{type_}", Tag.EDGE, **operands, since=since, cites=FUNCTION)
    tiny = [-number for number in SUBNORMAL[type_]]
    operands = {"X": typed(type_, tiny), "slope": typed(type_, [2, 2, 2])}
    case(f"subnormal_inputs_{type_}", Tag.EDGE, **operands, since=since, cites=FUNCTION)
case("dtypes", Tag.DTYPE, each="T", X=[1, 7, 3], slope=[2, 3, 5], cites=FUNCTION)
case("to_infinity", Tag.EDGE, X=[-3e38, -1], slope=[3, 2], cites=FUNCTION)
for bits in (32, 64):
    low, high = int(np.iinfo(f"int{bits}").min), int(np.iinfo(f"int{bits}").max)
    signed = np.array([low, high, -1, low, low // 2, -3, -7], f"int{bits}")
    factors = np.array([1, 3, high, 0, 2, -5, high // 7], f"int{bits}")
    integers: dict[str, Any] = {"X": typed(f"int{bits}", signed), "slope": typed(f"int{bits}", factors)}
    case(f"limits_int{bits}", Tag.EDGE, **integers, since=9, cites=FUNCTION)
    over: dict[str, Any] = {"X": typed(f"int{bits}", [low, -2, -3]), "slope": typed(f"int{bits}", [-1, 7, 2])}
    case(f"one_overflows_int{bits}", Tag.EDGE, **over, since=9, cites=FUNCTION)
    top = np.array([2**bits - 1, 2 ** (bits - 1), 0], f"uint{bits}")
    unsigned: dict[str, Any] = {"X": typed(f"uint{bits}", top), "slope": typed(f"uint{bits}", [3, 2, 5])}
    case(f"limits_uint{bits}", Tag.EDGE, **unsigned, since=9, cites=FUNCTION)

for name in ("length", "scalar", "rows", "channels"):
    first, second, sizes = BROADCAST[name]
    of_sizes: dict[str, Any] = {"X": filled(*first), "slope": filled(*second, floats=(0, 1), integers=(0, 7))}
    PRELU.sized(
        name, [*sizes[::3], sizes[-2]] if name == "length" else sizes, each="T", cites=FUNCTION, arguments=of_sizes
    )
