# SPDX-License-Identifier: Apache-2.0
"""Range: output the numbers from start up to limit (exclusive), in steps of delta.

    output = Range(start, limit, delta, stash_type=float)

Versions: 11, 27 (float16 and bfloat16, computed in the type of stash_type).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Int, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import FLOATS
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.rounding import nearest
from onnx_conformance.declare.sizes import LENGTHS, grid

FLOAT = 1
"""The number of float in TensorProto.DataType."""


def _count(start: Array, limit: Array, delta: Array) -> int:
    """Return the number of elements by the formula in real numbers."""
    return max(math.ceil((Fraction(limit.item()) - Fraction(start.item())) / Fraction(delta.item())), 0)


def _rounding(v: Version, start: Array, limit: Array, delta: Array, **_: object) -> list[Array]:
    """Return the allowed error for each element, in epsilons.

    It is half an epsilon of the actual value, of the expected value, of the product, and of each preceding element,
    because onnx's function body adds delta to the last element. Types of 16 bits are computed in float, and the result
    is rounded once.
    """
    products = np.arange(_count(start, limit, delta)) * delta.item()
    elements = start.item() + products
    error = np.abs(products) / 2 + np.cumsum(np.abs(elements)) / 2
    dtype = v.dtypes["T"]
    if start.dtype.kind != "f" or dtype.itemsize > np.dtype(np.float16).itemsize:
        return [error + np.abs(elements) / 2]
    error *= float(np.finfo(np.float32).eps)
    low, high = (nearest(elements + sign * error, dtype).astype(np.float64) for sign in (-1, 1))
    return [(high - low) / float(ml_dtypes.finfo(dtype).eps)]  # type: ignore[no-untyped-call]


RANGE = Op(
    "Range",
    versions=(11, 27),
    compare=bounded(
        _rounding,
        "a product and a sum round by half an epsilon each; in onnx's body, the errors of all sums add up; integers "
        "are exact",
        steps=True,
    ),
    rank=lambda _: 1,
)
RANGE.example(start=1, limit=9, delta=3, stash_type=FLOAT)

SEQUENCE = RANGE.clause(
    "Generate a tensor containing a sequence of numbers that begin at `start` and extends by increments of `delta` up "
    "to `limit` (exclusive)."
)
NUMBER = RANGE.clause(
    "number_of_elements = max( ceil( (limit - start) / delta ) , 0 )",
    note="The formula is one of real numbers: the span and the quotient of integers are not rounded to the type or to "
    "a float, unlike in onnxruntime and onnx.reference, which round values beyond 2**53. The text does not define a "
    "delta of 0, values that are not finite, or the precision for floats. If rounding the span or the quotient changes "
    "the number, the result is left open.",
)
CONTENTS = RANGE.clause(
    "for(int i=0; i<number_of_elements; ++i) { output[i] = start + (i * delta); }",
    note="There is one product for each element. onnx's function body adds delta to the last element, and its error is "
    "allowed.",
)
EXAMPLES = (
    RANGE.clause("Inputs: start = 3, limit = 9, delta = 3 Output: [3, 6]"),
    RANGE.clause("Inputs: start = 10, limit = 4, delta = -2 Output: [10, 8, 6]"),
)
FIRST = RANGE.clause("Scalar. First entry for the range of output values.")
LIMIT = RANGE.clause("Scalar. Exclusive upper limit for the range of output values.")
STEP = RANGE.clause("Scalar. Value to step by.")
ONE_D = RANGE.clause("A 1-D tensor with same type as the inputs containing generated range of values.")
STASH = RANGE.clause(
    "the `stash_type` attribute controls the precision used for intermediate accumulation.",
    since=27,
    note="The text defines the value 1 and no other value.",
)
STASH_FLOAT = RANGE.clause(
    "Setting `stash_type` to `1` (float) causes `start`, `limit`, and `delta` to be cast to 32-bit float before the "
    "loop, with the output cast back to the original type.",
    since=27,
)
AVOIDS = RANGE.clause(
    "This avoids precision loss for large ranges where successive additions in float16 or bfloat16 would otherwise be "
    "inexact",
    since=27,
)
STASH_DEFAULT = RANGE.clause("Defaults to 1 (float).", since=27)
NO_EFFECT = RANGE.clause("Has no effect for other types.", since=27)


def _settled(span: Fraction, delta: Fraction, dtype: np.dtype[Any]) -> bool:
    """Return whether the number of elements stays the same if span and quotient are rounded to `dtype`."""
    limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    if abs(span) > Fraction(float(limits.max)):
        return False
    error = Fraction(0) if Fraction(float(dtype.type(float(span)))) == span else Fraction(float(limits.eps))
    quotients = [span * (1 - error) / delta, span * (1 + error) / delta]
    rounded = [Fraction(float(dtype.type(float(quotient)))) for quotient in quotients]
    return len({math.ceil(quotient) for quotient in quotients + rounded}) == 1


@RANGE.oracle()
def generated(v: Version, start: Array, limit: Array, delta: Array, stash_type: Int) -> Array:
    """Return start + i * delta for each i, computed exactly and rounded to the type once."""
    start, limit, delta = v.scalar(FIRST, start), v.scalar(LIMIT, limit), v.scalar(STEP, delta)
    v.silent(NUMBER, not all(np.isfinite(number) for number in (start, limit, delta)))
    v.silent(NUMBER, delta == 0)
    dtype = v.dtypes["T"]
    if dtype.itemsize == np.dtype(np.float16).itemsize and start.dtype.kind == "f":
        v.silent(STASH, stash_type != FLOAT)
        dtype = np.dtype(np.float32)
    first, last, step = (Fraction(number.item()) for number in (start, limit, delta))
    v.silent(NUMBER, start.dtype.kind == "f" and not _settled(last - first, step, dtype))
    count = _count(start, limit, delta)
    v.reads(REAL_NUMBERS, count != max(math.ceil((float(last) - float(first)) / float(step)), 0))
    elements = [first + i * step for i in range(count)]
    return np.array([start.dtype.type(element) for element in elements], start.dtype)


case = RANGE.case
RANGE.dispute(
    "The function body of onnx subtracts and divides in float for every type, and adds delta to the last element "
    "instead of multiplying it. In version 11 it does not support int16, because Sub does not allow it there.",
    "*",
)
Numbers = tuple[float, float, float]
"""start, limit and delta."""


def of(type_: str, numbers: Numbers) -> dict[str, Any]:
    """Return start, limit and delta in one element type."""
    values = [np.array(number) if "int" in type_ else float(number) for number in numbers]
    return {name: typed(type_, value) for name, value in zip(("start", "limit", "delta"), values, strict=True)}


case("example_0", **of("int32", (3, 9, 3)), cites=(EXAMPLES[0], NUMBER))
case("example_1", **of("int32", (10, 4, -2)), cites=(EXAMPLES[1], NUMBER))
SEQUENCES: dict[str, Numbers] = {
    "up": (1, 6, 1),
    "down": (6, 1, -1),
    "limit_exclusive": (1, 9, 4),
    "limit_passed": (1, 10, 4),
    "limit_nearly_passed": (1, 12, 4),
    "down_limit_exclusive": (9, 1, -4),
    "down_limit_passed": (10, 1, -4),
    "through_zero": (-5, 8, 3),
    "down_through_zero": (5, -9, -3),
    "below_zero": (-20, -11, 2),
    "one_element": (4, 5, 3),
    "one_element_exactly": (4, 7, 3),
    "one_element_down": (4, 3, -3),
    "none": (4, 4, 1),
    "none_down": (4, 4, -1),
    "none_wrong_way": (2, 9, -3),
    "none_wrong_way_down": (9, 2, 3),
    "none_nearly": (4, 3, 5),
    "none_zeros": (0, 0, 1),
    "long": (-100, 101, 3),
}
for name, numbers in SEQUENCES.items():
    for type_ in ("float", "int64"):
        case(f"{name}_{type_}", Tag.EDGE, **of(type_, numbers), cites=(SEQUENCE, NUMBER, CONTENTS, ONE_D))
for name in ("up", "down", "limit_passed", "through_zero", "none_wrong_way"):
    start, limit, delta = SEQUENCES[name]
    case(f"dtypes_{name}", Tag.DTYPE, each="T", start=start, limit=limit, delta=delta, cites=SEQUENCE)

for type_ in ("int16", "int32", "int64"):
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    quarter = high // 4 + 1
    LIMITS: dict[str, Numbers] = {
        "to_greatest": (high - 5, high, 2),
        "to_least": (low + 5, low, -2),
        "from_least": (low, low + 7, 3),
        "last_step_overflows": (high - 3, high, high),
        "span_overflows": (low, high, quarter + 3),
        "span_overflows_down": (high, low, -quarter - 3),
        "span_overflows_wrong_way": (low, high, -quarter),
        "one_more": (0, 2 * quarter - 1, quarter // 2 - 1),
        "least_delta": (high, low + 2, low),
        "whole_and_a_bit": (1, 2 * quarter - quarter % 2 - 1, quarter // 4),
    }
    for name, numbers in LIMITS.items():
        case(f"{name}_{type_}", Tag.EDGE, **of(type_, numbers), cites=NUMBER)
    case(f"delta_zero_{type_}", Tag.EDGE, **of(type_, (1, 5, 0)), unspecified=NUMBER)
case("beyond_float", Tag.EDGE, **of("int32", (2**24 + 1, 2**24 + 9, 2)), cites=(NUMBER, CONTENTS))
case("beyond_double", Tag.EDGE, **of("int64", (2**53 + 1, 2**53 + 9, 2)), cites=(NUMBER, CONTENTS))
case("count_beyond_float", Tag.EDGE, **of("int32", (0, 2**28 + 1, 2**26)), cites=(NUMBER, CONTENTS))
case("count_beyond_double", Tag.EDGE, **of("int64", (0, 2**60 + 1, 2**58)), cites=(NUMBER, CONTENTS))
case("count_below_double", Tag.EDGE, **of("int64", (1, 2**60, 2**58 - 1)), cites=(NUMBER, CONTENTS))

SINCE = {"float": None, "double": None, "float16": 27, "bfloat16": 27}
"""The version that added each floating type."""
FRACTIONS: dict[str, Numbers] = {
    "fractions": (0.5, 3.25, 0.75),
    "fractions_down": (2.25, -1.5, -0.625),
    "tenths": (0.05, 1.02, 0.1),
    "thirds": (-1, 1.2, 1 / 3),
    "many": (0.3, 6.95, 0.1),
    "tenths_to_one": (0, 1, 0.1),
    "small": (1e-4, 1.05e-3, 1e-4),
    "large": (-6e4, 5e4, 2.5e4),
    "delta_beyond": (1, 2, 6e4),
}
for type_, since in SINCE.items():
    for name, numbers in FRACTIONS.items():
        case(f"{name}_{type_}", Tag.EDGE, **of(type_, numbers), since=since, cites=(NUMBER, CONTENTS))
    far = (64, 73.3, 1.7) if type_ == "bfloat16" else (1000, 1009.3, 1.7)
    case(f"far_from_zero_{type_}", Tag.EDGE, **of(type_, far), since=since, cites=(NUMBER, CONTENTS))
OPEN: dict[str, Numbers] = {
    "delta_zero": (1, 5, 0),
    "delta_zero_none": (1, 1, 0),
    "limit_infinite": (1, math.inf, 1),
    "limit_infinite_wrong_way": (1, -math.inf, 1),
    "delta_infinite": (1, 5, math.inf),
    "start_infinite": (-math.inf, 5, 1),
    "nan": (1, math.nan, 1),
    "nan_start": (math.nan, 3, 1),
    "nan_delta": (0, 3, math.nan),
}
for type_ in ("float", "float16"):
    for name, numbers in OPEN.items():
        case(f"{name}_{type_}", Tag.EDGE, **of(type_, numbers), since=SINCE[type_], unspecified=NUMBER)
for type_, span in {"float": 3e38, "double": 1.7e308}.items():
    case(f"span_beyond_{type_}", Tag.EDGE, **of(type_, (-span, span, span * 0.8)), unspecified=NUMBER)
    case(f"span_within_{type_}", Tag.EDGE, **of(type_, (-span / 4, span / 2, span / 5)), cites=CONTENTS)
for type_ in ("float", "double"):
    greatest = FLOATS[type_].largest
    case(f"span_greatest_{type_}", Tag.EDGE, **of(type_, (0, greatest, greatest)), cites=CONTENTS)
case("number_open_float", Tag.EDGE, **of("float", (0, 0.3, 0.1)), unspecified=NUMBER)
case("number_open_double", Tag.EDGE, **of("double", (0.1, 1.1, 0.25)), unspecified=NUMBER)

# Additions in the type itself would never get beyond start.
STUCK: dict[str, Numbers] = {"float16": (2048, 2061, 0.7), "bfloat16": (256, 269, 0.7)}
SPANS: dict[str, Numbers] = {"float16": (-6e4, 6e4, 3e4), "bfloat16": (3e38, -1e37, -1e38)}
for type_, numbers in STUCK.items():
    case(f"stash_unset_{type_}", Tag.CHANGE, **of(type_, numbers), cites=(AVOIDS, STASH_DEFAULT))
    case(f"stash_float_{type_}", Tag.CHANGE, **of(type_, numbers), stash_type=FLOAT, cites=(STASH, STASH_FLOAT))
    case(f"stash_span_{type_}", Tag.EDGE, **of(type_, SPANS[type_]), cites=STASH_FLOAT)
    for number in (0, 10, 11):
        case(f"stash_{number}_{type_}", Tag.EDGE, **of(type_, numbers), stash_type=number, unspecified=STASH)
for type_ in ("float", "double", "int16", "int32", "int64"):
    for number in (0, 1, 10):
        case(f"stash_{number}_{type_}", Tag.CHANGE, **of(type_, (1, 9, 3)), stash_type=number, cites=NO_EFFECT)
case("stash_float_of_double", Tag.EDGE, **of("double", (0.1, 0.75, 0.1)), stash_type=FLOAT, cites=NO_EFFECT)
case("stash_float_of_int64", Tag.EDGE, **of("int64", (2**53 + 1, 2**53 + 9, 2)), stash_type=FLOAT, cites=NO_EFFECT)

NO_SCALAR = vary(
    of_shape_2=typed("int64", ramp(2)), of_shape_1x1=typed("int64", ramp(1, 1)), of_shape_0=typed("int64", ramp(0))
)
START, LAST, THREE = typed("int64", 1), typed("int64", 9), typed("int64", 3)
ONE: dict[str, Any] = {"start": typed("int64", [2]), "limit": typed("int64", [9]), "delta": typed("int64", [3])}
case("of_shape_1", Tag.EDGE, **ONE, cites=(FIRST, LIMIT, STEP))
case("start", Tag.EDGE, start=NO_SCALAR, limit=LAST, delta=THREE, rejects=FIRST)
case("limit", Tag.EDGE, start=START, limit=NO_SCALAR, delta=THREE, rejects=LIMIT)
case("delta", Tag.EDGE, start=START, limit=LAST, delta=NO_SCALAR, rejects=STEP)

for type_ in ("int64", "int32", "float", "double"):
    RANGE.sized(
        type_,
        grid(n=LENGTHS[: -2 : 2 if type_ in {"int64", "float"} else 6]),
        cites=(SEQUENCE, NUMBER, CONTENTS),
        arguments={
            "start": typed(type_, -3),
            "limit": lambda sizes, type_=type_: typed(type_, sizes["n"] - 3),
            "delta": typed(type_, 1),
        },
    )
RANGE.sized(
    "by_quarters",
    grid(n=(7, 64, 1025, 65_537)),
    cites=CONTENTS,
    arguments={
        "start": typed("float", 2),
        "limit": lambda sizes: typed("float", 2 + sizes["n"] / 4),
        "delta": typed("float", 0.25),
    },
)
RANGE.sized(
    "down",
    grid(n=(7, 64, 1025)),
    cites=CONTENTS,
    arguments={
        "start": lambda sizes: typed("int64", 3 * sizes["n"]),
        "limit": typed("int64", 0),
        "delta": typed("int64", -3),
    },
)
