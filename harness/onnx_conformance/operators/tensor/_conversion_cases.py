# SPDX-License-Identifier: Apache-2.0
"""Conversions to test: every type, from the limits of one type to those of another, and values with special rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.data import FLOATS
from onnx_conformance.operators.tensor._conversion import fixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.declare.clause import Clause
    from onnx_conformance.operators.tensor._conversion import Conversions

FIRST = {
    "float16": 6,
    "float": 6,
    "double": 6,
    "int8": 6,
    "int16": 6,
    "int32": 6,
    "int64": 6,
    "uint8": 6,
    "uint16": 6,
    "uint32": 6,
    "uint64": 6,
    "bool": 6,
    "string": 9,
    "bfloat16": 13,
    "float8e4m3fn": 19,
    "float8e4m3fnuz": 19,
    "float8e5m2": 19,
    "float8e5m2fnuz": 19,
    "int4": 21,
    "uint4": 21,
    "float4e2m1": 23,
    "float8e8m0": 24,
    "int2": 25,
    "uint2": 25,
    "float6e2m3": 28,
    "float6e3m2": 28,
}
"""Types that Cast identifies by number, and the opset that introduced each."""
RULES_SINCE = 13
"""The opset that introduced the rules among numbers. Earlier texts define little."""
ROUND_MODE_SINCE = 24
TYPES_BEFORE_9 = tuple(name for name, first in FIRST.items() if first < FIRST["string"])
TYPES_SINCE_13 = tuple(name for name, first in FIRST.items() if first >= RULES_SINCE)
UNWRITTEN = frozenset({"float16", "bfloat16", "float", "double", "int16", "uint16", "bool"})
"""Types that no sized call writes as texts: those with thousands of values, and bool, whose texts are not defined."""
FLOAT8 = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
APPLIES = {"saturate": (*FLOAT8, "float8e8m0"), "round_mode": ("float8e8m0",)}
"""The types to which the texts limit the attributes. A table has a column of `saturate` for float8e8m0, too."""
_NUMPY = {
    "float": "float32",
    "double": "float64",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
}
_CANDIDATES = (
    3,
    1,
    0,
    2,
    -2,
    6,
    -7,
    0.5,
    -1.5,
    100,
    -100,
    200,
    448,
    1000,
    -30000,
    60000,
    2.0**-7,
    2**31 - 128,
    -(2**62),
)
INF, NAN = np.inf, np.nan
SPECIAL = [0.0, -0.0, NAN, INF, -INF]
LARGEST_FLOAT16 = FLOATS["float16"].largest
HALFWAY_FLOAT16, HALFWAY_BFLOAT16 = 2.0**-11, 2.0**-8
"""Half the distance from 1 to the next greater number."""


@dataclass(frozen=True)
class Conversion:
    """A case of conversion: values of one type to another.

    Attributes:
        clause: the tested sentence.
        saturate, round_mode: the attributes; None means omitted.
        unspecified: whether that sentence leaves the result open.
        since: the first opset whose text contains the rule; without a value, the first opset with both types.
        every_version: whether to test all versions since then, and not only the first.
        before: the first opset whose text no longer contains the rule.
    """

    name: str
    source: str
    values: Any
    target: str
    clause: Clause
    saturate: int | None = None
    round_mode: str | None = None
    unspecified: bool = False
    since: int = RULES_SINCE
    every_version: bool = False
    before: int | None = None

    @property
    def first(self) -> int:
        """The first opset that has this conversion."""
        return max(self.since, FIRST[self.source], FIRST[self.target], ROUND_MODE_SINCE if self.round_mode else 1)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that are set."""
        values = {"saturate": self.saturate, "round_mode": self.round_mode}
        return {name: value for name, value in values.items() if value is not None}


def dtype(name: str) -> np.dtype[Any]:
    """Return the numpy type that stores an element type of FIRST, except string."""
    plain = _NUMPY.get(name, name)
    return np.dtype(getattr(ml_dtypes, plain, plain))


def _candidates(name: str) -> set[float]:
    """Return the candidates that a type contains."""
    kind = dtype(name)
    if name == "bool":
        return {0, 1}
    if fixed(kind):
        limits = ml_dtypes.iinfo(kind)  # type: ignore[no-untyped-call]
        return {item for item in _CANDIDATES if item == int(item) and int(limits.min) <= item <= int(limits.max)}
    with np.errstate(all="ignore"):
        return {item for item in _CANDIDATES if float(np.float64(item).astype(kind)) == item}


def _pairs(clauses: Conversions) -> Iterator[Conversion]:
    """Yield conversions that leave every value unchanged. Types since 13 are combined with only a few other types."""
    old, young = TYPES_BEFORE_9, TYPES_SINCE_13
    pairs = [(source, old[(i + step) % len(old)]) for i, source in enumerate(old) for step in (1, 4, 11)]
    for type_ in young:
        for other in ("float", "int32", "bool"):
            pairs += [(type_, other), (other, type_)]
    pairs += [(source, young[(i + step) % len(young)]) for i, source in enumerate(young) for step in (1, 5)]
    for source, target in pairs:
        common = _candidates(source) if target == "bool" else _candidates(source) & _candidates(target)
        values = [item for item in _CANDIDATES if item in common]
        yield Conversion(f"{source}_to_{target}", source, values, target, clauses.always)


def _midpoints(name: str) -> list[float]:
    """Return numbers between neighbours of a narrow type, at intervals: the middle, just below it, just above it."""
    kind = dtype(name)
    bits = {"float4e2m1": 4, "float6e2m3": 6, "float6e3m2": 6}.get(name, 8)
    codes = np.arange(1 << (bits - 1), dtype=np.uint8).view(kind).astype(np.float64)
    values = np.sort(codes[np.isfinite(codes)])
    middle = (values[1:] + values[:-1])[:: max(1, len(values) // 8)] / 2
    signs = np.where(np.arange(middle.size) % 2, -1.0, 1.0)
    return [float(item) for item in np.concatenate([middle * signs, middle * (1 - 2**-9), -middle * (1 + 2**-9)])]


def _numbers(clauses: Conversions) -> Iterator[Conversion]:
    half, tiny = HALFWAY_FLOAT16, 2.0**-25
    ties = [1 + half, 1 + 3 * half, -1 - half, 1 + half * 1.5, tiny, -1.5 * tiny, 2.0**-24, LARGEST_FLOAT16, 0.1, 1 / 3]
    brain = HALFWAY_BFLOAT16
    brain_ties = [1 + brain, 1 + 3 * brain, -1 - brain, 1 + brain + 2.0**-20, 0.1, 1 / 3, -0.0]
    for source in ("float", "double"):
        yield Conversion(
            f"rounds_{source}_float16",
            source,
            ties,
            "float16",
            clauses.always,
            every_version=source == "double",
            since=9,
        )
        yield Conversion(f"rounds_{source}_bfloat16", source, brain_ties, "bfloat16", clauses.always)
        yield Conversion(
            f"beyond_{source}_float16",
            source,
            [65536, -65520, 1e30, -7e4],
            "float16",
            clauses.infinite,
            every_version=source == "float",
        )
        name = f"almost_beyond_{source}_float16"
        yield Conversion(name, source, [1, 65519], "float16", clauses.infinite, unspecified=True)
    single = [1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 3.1415926459, 1e-45, 2e-46, -1e-40, 3.4e38]
    yield Conversion("rounds_double_float", "double", single, "float", clauses.always)
    twice = [1 + half + 2.0**-40, -1 - half - 2.0**-45, 1 + 3 * half - 2.0**-40]
    yield Conversion("rounds_once_double_float16", "double", twice, "float16", clauses.always)
    twice = [1 + brain + 2.0**-40, 1 + 3 * brain - 2.0**-40]
    yield Conversion("rounds_once_double_bfloat16", "double", twice, "bfloat16", clauses.always)
    yield Conversion("beyond_double_float", "double", [3.5e38, -1e300, 1.7e308], "float", clauses.infinite)
    yield Conversion("beyond_float_bfloat16", "float", [3.4028e38, -3.4e38], "bfloat16", clauses.infinite)
    yield Conversion("beyond_bfloat16_float16", "bfloat16", [3e38, -1e5, 65536], "float16", clauses.infinite)
    small = [6e-8, -6e-8, 6.1e-5, LARGEST_FLOAT16]
    yield Conversion("small_float16_float", "float16", small, "float", clauses.always)
    for source, target in (
        ("float16", "float"),
        ("double", "float"),
        ("float", "double"),
        ("float", "float16"),
        ("bfloat16", "float"),
        ("float", "bfloat16"),
        ("float16", "bfloat16"),
        ("bfloat16", "double"),
    ):
        yield Conversion(f"special_{source}_{target}", source, SPECIAL, target, clauses.always)


def _from_integers(clauses: Conversions) -> Iterator[Conversion]:
    for source, target, values in (
        ("int64", "float", np.array([2**24 + 1, -(2**24) - 3, 2**31 - 1, 2**40 + 2**15 + 1, 2**60 + 2**36 + 1])),
        ("int64", "double", np.array([2**53 + 1, 2**53 + 3, -(2**63), 2**63 - 1])),
        ("uint64", "double", np.array([2**53 + 1, 2**63 + 1025, 2**64 - 1], np.uint64)),
        ("uint64", "float", np.array([2**63, 2**63 + 2**39, 2**64 - 1], np.uint64)),
        ("int32", "float16", np.array([2049, 2051, -2049, 65504])),
        ("int32", "bfloat16", np.array([257, 259, -257, 2**31 - 1])),
    ):
        yield Conversion(f"rounds_{source}_{target}", source, values, target, clauses.always)
    for source, beyond in (
        ("int32", [65536, -70000, 2**31 - 1]),
        ("uint32", [65536, 2**32 - 1]),
        ("int64", [-(2**63)]),
    ):
        yield Conversion(
            f"beyond_{source}_float16",
            source,
            np.array(beyond),
            "float16",
            clauses.infinite,
            every_version=source == "int32",
        )


def _to_integers(clauses: Conversions) -> Iterator[Conversion]:
    limits: list[tuple[str, str, list[float]]] = [
        ("float", "int8", [-128, 127, -0.0]),
        ("float16", "uint8", [0, 255, -0.0]),
        ("double", "int64", [-(2.0**63)]),
        ("float", "int64", [-(2.0**63), 2.0**62]),
        ("double", "uint64", [2.0**64 - 2048, 2.0**63]),
        ("double", "int32", [-(2**31), 2**31 - 1]),
        ("float", "uint32", [2.0**32 - 256, 2.0**31]),
        ("float", "int4", [-8, 7, -1]),
        ("float16", "uint4", [15, 8, 0]),
        ("float", "uint2", [3, 2, 0]),
        ("float16", "int2", [-2, 1, -1]),
        ("bfloat16", "int16", [-32768, 32512]),
    ]
    for source, target, values in limits:
        yield Conversion(f"limits_{source}_{target}", source, values, target, clauses.always)
    for source, target, value in (
        ("float", "int8", 128),
        ("double", "int64", 2.0**63),
        ("float", "uint8", -1),
        ("float", "int4", 8),
    ):
        yield Conversion(
            f"beyond_{source}_{target}",
            source,
            [value],
            target,
            clauses.undefined,
            unspecified=True,
            every_version=target == "int8",
        )
    for name, value in (("nan", NAN), ("infinity", INF)):
        yield Conversion(f"{name}_float_int32", "float", [value], "int32", clauses.undefined, unspecified=True)
    for source, target, values in (
        ("float", "int32", [2.5, -1.7]),
        ("double", "uint8", [-0.5, 254.9]),
        ("float16", "int4", [1.5]),
    ):
        name = f"fractions_{source}_{target}"
        yield Conversion(name, source, values, target, clauses.always, unspecified=True, since=9)


def _wraps(clauses: Conversions) -> Iterator[Conversion]:
    outside: list[tuple[str, str, list[int]]] = [
        ("int16", "int8", [200, -56, 128, -129, 32767]),
        ("int64", "int32", [2**31, -(2**31) - 1, 2**32 + 5, 2**63 - 1]),
        ("int32", "uint8", [256, -1, 511, -300]),
        ("int64", "uint64", [-1, -(2**63)]),
        ("uint64", "int64", [2**64 - 1, 2**63]),
        ("int8", "uint16", [-1, -128]),
        ("uint32", "int16", [2**32 - 1, 40000]),
        ("int64", "uint32", [-1, 2**32 + 7]),
        ("int8", "int4", [8, -9, 127, -128, 23]),
        ("uint8", "int4", [200, 15, 8]),
        ("int32", "uint4", [-1, 16, 47]),
        ("int64", "int2", [2, -3, 6]),
        ("int8", "uint2", [4, -1, 7]),
        ("int4", "uint4", [-1, -8, 7]),
        ("uint4", "int2", [15, 2, 5]),
        ("int2", "uint8", [-1, -2, 1]),
    ]
    for source, target, values in outside:
        numbers = np.array(values, np.uint64 if max(values) >= 2**63 else np.int64)
        name = f"wraps_{source}_{target}"
        yield Conversion(name, source, numbers, target, clauses.wraps, every_version=source == "int16")


def _truths(clauses: Conversions) -> Iterator[Conversion]:
    truths: list[tuple[str, list[float]]] = [
        ("float", [0.0, -0.0, NAN, INF, -INF, 0.5, 1e-45, -3]),
        ("double", [1e-300, 5e-324, -0.0, 1e300]),
        ("float16", [6e-8, -0.0, NAN, -INF]),
        ("int64", [2**32, -(2**63), 0, 256]),
        ("uint8", [2, 0, 255, 128]),
        ("int32", [36, 0, 2**16, -1]),
        ("int4", [-8, 0, 2, 7]),
        ("uint2", [2, 0, 3]),
        ("float8e4m3fnuz", [NAN, 0, 0.0009765625]),
        ("float8e5m2", [-0.0, INF, NAN, 2.0**-16]),
        ("bfloat16", [1e-40, -0.0, NAN]),
        ("float4e2m1", [-0.0, 0.5, -6]),
    ]
    for source, values in truths:
        yield Conversion(f"truth_{source}", source, values, "bool", clauses.truth, every_version=source == "int32")
    for source, value in (("float", 0.5), ("int32", 36)):
        name = f"truth_{source}_before_13"
        yield Conversion(name, source, [1, value], "bool", clauses.truth, unspecified=True, since=9, before=13)
    for target in ("double", "int8", "uint64", "float16"):
        name = f"false_and_true_{target}"
        yield Conversion(name, "bool", [True, False], target, clauses.always, every_version=target == "double")


def _to_float8(clauses: Conversions) -> Iterator[Conversion]:
    clause = clauses.float8
    for target in FLOAT8:
        first = target == FLOAT8[0]
        special = [0.0, -0.0, NAN, 1e6, -1e6]
        yield Conversion(f"special_{target}", "float", special, target, clause, every_version=first)
        yield Conversion(f"infinity_{target}_before_24", "float", [INF, -INF], target, clause, before=24)
        yield Conversion(f"infinity_{target}", "float", [INF, -INF], target, clause, since=24, every_version=first)
        special = [0.0, -0.0, NAN, INF, -INF, 1e6, -1e6]
        yield Conversion(f"special_unsaturated_{target}", "float", special, target, clause, saturate=0)
        special = [LARGEST_FLOAT16, -LARGEST_FLOAT16, 1, INF]
        yield Conversion(f"special_saturated_{target}", "float16", special, target, clause, saturate=1)
        yield Conversion(f"rounds_{target}", "float", _midpoints(target), target, clause)
        limits, type_ = ml_dtypes.finfo(dtype(target)), dtype(target).type  # type: ignore[no-untyped-call]
        most = float(limits.max)
        step = most - float(np.nextafter(type_(most), type_(0)))
        near = [most + step / 4, most + step / 2, -most - step / 2, most + step * 0.75, -most - step]
        yield Conversion(f"beyond_saturated_{target}", "float", near, target, clause)
        yield Conversion(f"beyond_unsaturated_{target}", "float", near, target, clause, saturate=0)
        yield Conversion(f"beyond_int32_{target}", "int32", [10**6, -(10**6), 17], target, clause)
        half = float(limits.eps) / 2
        ties = [1 + half + 2.0**-40, -1 - half - 2.0**-45, 1 + 3 * half - 2.0**-40, 1 + half]
        yield Conversion(f"rounds_once_{target}", "double", ties, target, clause)
    for source, target in (
        ("float8e5m2", "float8e4m3fn"),
        ("float8e4m3fnuz", "float8e5m2"),
        ("bfloat16", "float8e5m2fnuz"),
    ):
        special = [0.0, NAN, INF, 96, -1.5]
        yield Conversion(f"special_{source}_{target}", source, special, target, clause, saturate=0)


def _to_powers_of_two(clauses: Conversions) -> Iterator[Conversion]:
    clause, target = clauses.float8e8m0, "float8e8m0"
    powers = [1, 1.5, 1.25, 1.75, 3, 5, 6, 0.1, 2.0**-126 * 1.1, 2.0**127, NAN]
    ends = [3e38, INF, 2.0**-130, 2.0**-127, NAN]
    for mode in ("up", "down", "nearest"):
        for saturate in (1, 0):
            in_table = (saturate, mode) in {(1, "up"), (0, "nearest")}
            yield Conversion(
                f"powers_{mode}_{saturate}",
                "float",
                powers,
                target,
                clause,
                saturate,
                mode,
                every_version=in_table and saturate == 0,
            )
            name = f"powers_beyond_{mode}_{saturate}"
            yield Conversion(name, "float", ends, target, clause, saturate, mode, unspecified=not in_table)
            name, is_open = f"powers_zero_{mode}_{saturate}", saturate == 1 or not in_table
            yield Conversion(name, "float", [2, 0.0], target, clause, saturate, mode, unspecified=is_open)
    yield Conversion("powers_default", "float", powers, target, clause, every_version=True)
    yield Conversion("powers_minus_zero", "float", [1, -0.0], target, clause, unspecified=True)
    yield Conversion("powers_negative", "float", [1, -2], target, clause, unspecified=True, every_version=True)
    yield Conversion("powers_minus_infinity", "float", [1, -INF], target, clause, unspecified=True)
    yield Conversion("powers_other_mode", "float", [1.5], target, clause, round_mode="even", unspecified=True)
    yield Conversion("powers_widen", target, [2.0**-127, 2.0**127, NAN, 1], "double", clause)


def _to_six_and_four_bits(clauses: Conversions) -> Iterator[Conversion]:
    for target, most in (("float4e2m1", 6), ("float6e2m3", 7.5), ("float6e3m2", 28)):
        values = [*_midpoints(target), 0.0, -0.0, most]
        yield Conversion(f"rounds_{target}", "float", values, target, clauses.always)
        for name, value in (("beyond", most * 2), ("nan", NAN), ("infinity", -INF)):
            yield Conversion(f"{name}_{target}", "float", [1, value], target, clauses.infinite, unspecified=True)


def _odd_counts(clauses: Conversions) -> Iterator[Conversion]:
    """Yield tensors whose last byte is only partly used."""
    for name, shape in {"vector": (5,), "matrix": (3, 3)}.items():
        for type_ in ("int4", "uint4", "float4e2m1", "uint2", "float6e2m3"):
            digits = np.resize([3, 1, 0, 2], shape)
            yield Conversion(f"odd_{name}_{type_}", "float", digits, type_, clauses.always)
            yield Conversion(f"odd_{name}_{type_}_back", type_, digits, "float", clauses.always)


def _from_text(clauses: Conversions) -> Iterator[Conversion]:
    literals = ["3.14", "1000", "1e-5", "1E8", "-2.5", "0", "-0.0", "100.5", "1.5e+3", "65504"]
    reserved = ["+INF", "INF", "-INF", "NaN", "inf", "+Inf", "nan", "NAN", "iNf"]
    for target in ("float", "double", "float16", "bfloat16"):
        yield Conversion(
            f"text_{target}",
            "string",
            [*literals[:3], "65504"] if target == "float16" else literals,
            target,
            clauses.literals,
            since=9,
            every_version=target == "float",
        )
        yield Conversion(f"text_reserved_{target}", "string", reserved, target, clauses.literals, since=9)
    for target in (*FLOAT8, "float4e2m1", "float6e2m3"):
        yield Conversion(f"text_{target}", "string", ["1.5", "-2", "1e0", "0.5"], target, clauses.literals)
    for target in FLOAT8:
        name = f"text_infinity_{target}"
        yield Conversion(name, "string", ["INF", "-INF", "NaN"], target, clauses.literals, saturate=0)
    for target, texts in (
        ("int32", ["-7", "1000"]),
        ("int64", ["9007199254740993", "-9223372036854775808"]),
        ("uint64", ["18446744073709551615"]),
        ("uint8", ["255"]),
    ):
        yield Conversion(f"text_{target}", "string", texts, target, clauses.literals, since=9)
    yield Conversion("text_int4", "string", ["-8", "7", "0"], "int4", clauses.literals)
    for name, texts, target, clause in (
        ("beyond", ["1", "1e39"], "float", clauses.literals),
        ("beyond_integer", ["255", "256"], "uint8", clauses.literals),
        ("below_integer", ["0", "-1"], "uint8", clauses.literals),
        ("truth", ["1"], "bool", clauses.literals),
        ("words", ["Hello World!"], "float", clauses.nonsense),
        ("empty", [""], "float", clauses.nonsense),
        ("space", [" 1"], "float", clauses.nonsense),
        ("minus_inf_lower", ["-inf"], "float", clauses.nonsense),
        ("words_integer", ["7", "Hello World!"], "int32", clauses.nonsense),
        ("fraction", ["2.718"], "int32", clauses.fraction),
        ("fraction_hundred", ["7", "100.5"], "int64", clauses.fraction),
    ):
        yield Conversion(
            f"text_{name}",
            "string",
            texts,
            target,
            clause,
            unspecified=True,
            since=9,
            every_version=name in {"words", "fraction"},
        )


def _to_text(clauses: Conversions) -> Iterator[Conversion]:
    yield Conversion("text_itself", "string", ["", "ä", "1e5", "日本語"], "string", clauses.always, since=9)
    for source, whole in (
        ("int32", np.array([-7, 0, 2**31 - 1])),
        ("uint64", np.array([2**64 - 1], np.uint64)),
        ("int64", np.array([-(2**63)])),
        ("int8", np.array([-128, 5])),
    ):
        yield Conversion(f"write_{source}", source, whole, "string", clauses.plain, since=9)
    for source in ("uint4", "int2"):
        yield Conversion(f"write_{source}", source, [1, 0], "string", clauses.plain)
    for source in ("float", "double", "float16", "bfloat16"):
        yield Conversion(f"write_{source}", source, [0.5, -2.25, 1.5, 0.125], "string", clauses.plain, since=9)
    for source in ("float8e4m3fn", "float8e5m2fnuz", "float4e2m1"):
        yield Conversion(f"write_{source}", source, [0.5, -1.5], "string", clauses.plain)
    small = [2.0**-20, -(2.0**-14)]
    yield Conversion("write_small_double", "double", small, "string", clauses.plain, since=9)
    for name, source, values in (
        ("whole", "float", [0.5, 1]),
        ("digits", "float", [0.5, 0.1]),
        ("seventeen_digits", "double", [0.1 + 0.2]),
        ("nan", "float", [0.5, NAN]),
        ("infinity", "float", [0.5, INF]),
        ("truth", "bool", [True]),
        ("large", "double", [1e20]),
    ):
        yield Conversion(f"write_{name}", source, values, "string", clauses.plain, unspecified=True, since=9)


def conversions(clauses: Conversions) -> Iterator[Conversion]:
    """Yield conversions from every type and to every type, and the edge cases of each kind."""
    for part in (
        _pairs,
        _numbers,
        _from_integers,
        _to_integers,
        _wraps,
        _truths,
        _to_float8,
        _to_powers_of_two,
        _to_six_and_four_bits,
        _odd_counts,
        _from_text,
        _to_text,
    ):
        yield from part(clauses)
