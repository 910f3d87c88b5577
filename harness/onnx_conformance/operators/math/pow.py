# SPDX-License-Identifier: Apache-2.0
"""Pow: one tensor to the power of another, element by element.

    Z = Pow(X, Y)
    Z = Pow(X, Y, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes), 12 (integers, a
separate type for the exponent), 13 and 15 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Int, Limited, Multidirectional, Op, Result, Tag, Version, ramp, typed, ulp
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.sizes import LENGTHS, filled, grid

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the result of X and Y."""
    return max(np.ndim(arguments.get(name, 0)) for name in "XY")


POW = Op(
    "Pow",
    versions=(1, 7, 12, 13, 15),
    compare=ulp(2, "a careful pow is within 1 ULP; so is the function that computes the expected value of a double"),
    rank=_rank,
)
POW.example(X=[[1, 2, 3], [4, 5, 2]], Y=[3, 0, 2], axis=1, broadcast=1)

TAKES = POW.clause("Pow takes input data (Tensor<T>) and exponent Tensor, and produces one output data (Tensor<T>)")
POWER = POW.clause(
    "where the function `f(x) = x^exponent`, is applied to the data tensor elementwise.",
    note="The text does not define a power of 0 with an exponent of 0 or less, a negative base with an exponent that "
    "is not whole, or an integer result that its type does not contain. It does not choose between pow and powr of "
    "IEEE 754 where they differ. It does define integers beyond 2**53 (onnxruntime rounds them) and inverses of 1 and "
    "-1 (onnx.reference rejects them).",
)
BROADCASTING = Limited(POW)
BROADCASTABLE = POW.clause("Input tensor of any shape broadcastable to X shape, the exponent component.", before=7)
SAME_SIZE = POW.clause("Output tensor (same size as X)", before=7)
NUMPY = Multidirectional(POW)
BASE = POW.clause("First operand, base of the exponent.", since=7)
EXPONENT = POW.clause("Second operand, power of the exponent.", since=7)
FLOATS = POW.clause("Constrain input and output types to float tensors.", before=12)
X_TYPES = POW.clause("Constrain input X and output types to float/int tensors.", since=12)
Y_TYPES = POW.clause("Constrain input Y types to float/int tensors.", since=12)


def _power_of_integer(x: int, y: float, limits: np.iinfo[Any]) -> int | None:
    """Return the exact power; None if the type does not contain it."""
    if not float(y).is_integer() or (y < 0 and abs(x) != 1) or (x == 0 and y == 0):
        return None
    if abs(x) <= 1:
        return abs(x) if int(y) % 2 == 0 else x
    power: int = x ** min(int(y), limits.bits)  # Higher powers exceed the type anyway.
    return power if limits.min <= power <= limits.max else None


def _power(v: Version, base: Array, exponent: Array) -> Result:
    """Return the powers in the shape to which numpy broadcasts both inputs."""
    x, y = base, exponent
    if x.dtype.kind == "i":
        x, y = np.broadcast_arrays(base, exponent)
        limits = np.iinfo(x.dtype)
        pairs = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
        powers = [_power_of_integer(a, b, limits) for a, b in pairs]
        without = np.array([power is None for power in powers], bool).reshape(x.shape)
        return v.leave_open(POWER, without, np.array([power or 0 for power in powers], x.dtype).reshape(x.shape))
    with np.errstate(all="ignore"):
        result, odd = np.asarray(np.power(np.abs(x), y.astype(np.float64))), y % 2 == 1
        if odd.any():
            result = np.asarray(np.where(odd, np.sign(x), 1) * result)
        is_open = np.broadcast_to(np.isneginf(x), result.shape)
        open_exponents = y <= 0, y % 1 != 0, ~np.isfinite(y), y == 0
        for bases, exponents in zip((x == 0, x < 0, x == 1, ~np.isfinite(x)), open_exponents, strict=True):
            if exponents.any():
                is_open = is_open | (bases & exponents)
        return v.leave_open(POWER, is_open, result)


@POW.oracle(before=7)
def power_before_7(v: Version, X: Array, Y: Array, axis: Int, broadcast: int) -> Result:
    """Return the powers, in the shape of X."""
    return _power(v, X, BROADCASTING.second(v, X, Y, axis, broadcast, BROADCASTING.enable))


@POW.oracle(since=7)
def power_since_7(v: Version, X: Array, Y: Array) -> Result:
    """Return the powers, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, X, Y)
    return _power(v, X, Y)


case = POW.case

case("same_shape", X=[[1, 2, 3], [4, 5, 6]], Y=[[6, 5, 4], [3, 2, 1]], cites=(POWER, TAKES))
case("operands", X=[2, 3], Y=[3, 2], cites=(BASE, EXPONENT))
case("rank0", Tag.EDGE, X=3, Y=4, cites=POWER)
case("zero_size", Tag.EDGE, X=ramp(2, 0, 3), Y=ramp(2, 0, 3), cites=POWER)


def _operands(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Any]:
    """Return bases from 1/16 on and exponents from 1/8 on. No two powers are equal, and none overflows."""
    base, exponent = (np.arange(1, np.prod(shape) + 1).reshape(shape) for shape in (left, right))
    return {"X": base / 16, "Y": exponent / 8 % 9}


BROADCASTING.cases(_operands, BROADCASTING.enable)
NUMPY.cases(_operands)
case(
    "limited_size",
    X=np.arange(1, 121).reshape(2, 3, 4, 5) / 16,
    Y=[1, 2, 3, 4, 5],
    broadcast=1,
    cites=(BROADCASTABLE, SAME_SIZE),
)

NUMBERS: dict[str, tuple[list[float], list[float]]] = {
    "fractions": ([0.5, 2, 3, 10, 0.1, 1.5, 7, 0], [0.5, -1.5, 1 / 3, -0.25, 2.5, 9.75, 0, 0.5]),
    "below_zero": ([-2, -2, -2, -2, -1, -1.5], [3, 2, -3, 0, -5, 4]),
    "near_one": ([1.0078125, 0.9921875, 1.0078125, 0.9921875], [200, 200, -200, -200.5]),
    "overflow": ([1e4, -1e4, -1e4, 1e-4, 1e-4], [99, 99, 98, 99, -99]),
    "small": ([2, 2, 2, 2], [-14, -24.5, -126, -149]),
    "infinities": ([np.inf, np.inf, 2, 2, 0.5, 0.5, 0], [2, -2, np.inf, -np.inf, np.inf, -np.inf, 3]),
    "nan": ([np.nan, np.nan, 2, 0.5], [2, -0.5, np.nan, np.nan]),
}
OPEN_NUMBERS: dict[str, tuple[list[float], list[float]]] = {
    "root_below_zero": ([-4], [0.5]),
    "zero_to_zero": ([0], [0]),
    "zero_below": ([0, -0.0], [-1, -1]),
    "nan_to_zero": ([np.nan, np.inf], [0, 0]),
    "one_to_nan": ([1, 1], [np.nan, np.inf]),
    "minus_infinity": ([-np.inf], [3]),
    "minus_one_to_infinity": ([-1], [np.inf]),
}
for type_, since in float_types(15).items():
    for name, (bases, exponents) in NUMBERS.items():
        base, exponent = typed(type_, bases), typed(type_, exponents)
        case(f"{name}_{type_}", Tag.EDGE, X=base, Y=exponent, since=since, cites=POWER)
    for name, (bases, exponents) in OPEN_NUMBERS.items():
        base, exponent = typed(type_, bases), typed(type_, exponents)
        case(f"{name}_{type_}", Tag.EDGE, X=base, Y=exponent, since=since, unspecified=POWER)
for type_, since in {"float16": 12, "float": 12, "double": 12, "bfloat16": 13, "int32": 12, "int64": 12}.items():
    base = typed(type_, [2, 3, 1, 5, 4])
    cites = (X_TYPES, Y_TYPES)
    case(f"exponent_types_{type_}", Tag.DTYPE, each="T1", X=base, Y=[3, 0, 5, 1, 2], since=since, cites=cites)
for type_, exponent_of_3 in {"int32": 19, "int64": 39}.items():
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    bits = low.bit_length()
    INTEGERS: dict[str, tuple[list[float], list[float]]] = {
        "limits": ([low, high, -2, 2], [1, 1, bits - 1, bits - 2]),
        "exact": ([3, -3, high], [exponent_of_3, exponent_of_3, 1]),
        "ones": ([1, -1, -1, 1, 0], [-3, -3, -2, high, high]),
        "minus_one_to_limit": ([-1, -1], [high, high - 1]),
    }
    for name, (bases, exponents) in INTEGERS.items():
        case(f"{name}_{type_}", Tag.EDGE, X=typed(type_, bases), Y=typed(type_, exponents), since=12, cites=POWER)
    OPEN_INTEGERS: dict[str, tuple[list[float], str, list[float]]] = {
        "overflow": ([2, high], type_, [bits - 1, 2]),
        "to_fraction": ([2, 3], type_, [-1, -2]),
        "zero_to_zero": ([0], type_, [0]),
        "zero_below": ([0], type_, [-1]),
        "root": ([2, 4], "float", [0.5, 0.5]),
        "nan": ([2], "float", [np.nan]),
    }
    for name, (bases, exponent_type, exponents) in OPEN_INTEGERS.items():
        base, exponent = typed(type_, bases), typed(exponent_type, exponents)
        case(f"{name}_{type_}", Tag.EDGE, X=base, Y=exponent, since=12, unspecified=POWER)
case("parity_beyond_double", Tag.EDGE, X=[-1, -1], Y=typed("int64", [2**53 + 1, 2**53 + 2]), since=12, cites=POWER)
case("outside_before_12", Tag.DTYPE, outside="T", X=[1, 1], Y=[1, 1], rejects=FLOATS)

POW.sized(
    "long",
    grid(n=(65_537,)),
    cites=POWER,
    arguments={"X": filled("n", floats=(0.1, 3)), "Y": filled("n", floats=(-2, 3))},
)
NUMPY.sized(
    POWER,
    lambda one, other: {
        "X": filled(*one, floats=(0.1, 3), integers=(1, 3)),
        "Y": typed("{T}", filled(*other, floats=(-2, 3), integers=(0, 3))),
    },
    step=3,
    most=10_000,
)
for name, constant in {"square": 2.0, "cube": 3.0, "root": 0.5, "reciprocal": -1.0}.items():
    POW.sized(
        name,
        grid(n=LENGTHS[:: 2 if name == "square" else 6]),
        cites=(POWER, EXPONENT),
        arguments={"X": filled("n", floats=(0.1, 3)), "Y": constant},
    )
