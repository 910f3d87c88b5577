"""Conversions to try: every type, from the limits of one to those of another, and the values that have rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from harness.operators.tensor._conversion import fixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


FIRST = dict.fromkeys(("float16", "float", "double", "int8", "int16", "int32", "int64"), 6)
FIRST |= dict.fromkeys(("uint8", "uint16", "uint32", "uint64", "bool"), 6)
FIRST |= {"string": 9, "bfloat16": 13, "float8e4m3fn": 19, "float8e4m3fnuz": 19, "float8e5m2": 19, "float8e5m2fnuz": 19}
FIRST |= {"int4": 21, "uint4": 21, "float4e2m1": 23, "float8e8m0": 24, "int2": 25, "uint2": 25}
FIRST |= {"float6e2m3": 28, "float6e3m2": 28}
"""Types that Cast names by number, and the opset that brought each; the text of 6 is poor, so old ones go with 13."""
_NUMPY = {"float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz"}
_NUMPY |= {"float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu"}
_NUMPY |= {"float4e2m1": "float4_e2m1fn", "float6e2m3": "float6_e2m3fn", "float6e3m2": "float6_e3m2fn"}
FLOAT8 = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
OLD = tuple(name for name, first in FIRST.items() if first == 6)  # noqa: PLR2004
_YOUNG = tuple(name for name, first in FIRST.items() if first > 9)  # noqa: PLR2004
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


def dtype(name: str) -> np.dtype[Any]:
    """Return what holds an element type of FIRST, other than string."""
    plain = _NUMPY.get(name, name)
    return np.dtype(getattr(ml_dtypes, plain, plain))


def _held(name: str) -> set[float]:
    """Return the candidates that a type has."""
    kind = dtype(name)
    if name == "bool":
        return {0, 1}
    if fixed(kind):
        limits = ml_dtypes.iinfo(kind)  # type: ignore[no-untyped-call]
        return {item for item in _CANDIDATES if item == int(item) and int(limits.min) <= item <= int(limits.max)}
    with np.errstate(all="ignore"):
        return {item for item in _CANDIDATES if float(np.float64(item).astype(kind)) == item}


def _pairs() -> Iterator[Row]:
    """Yield conversions in which every value stays what it is; of the young types with a few others."""
    chosen = [(a, OLD[(i + step) % len(OLD)]) for i, a in enumerate(OLD) for step in (1, 4, 11)]
    for a in _YOUNG:
        for b in ("float", "int32", "bool"):
            chosen += [(a, b), (b, a)]
    chosen += [(a, _YOUNG[(i + step) % len(_YOUNG)]) for i, a in enumerate(_YOUNG) for step in (1, 5)]
    for a, b in chosen:
        common = _held(a) if b == "bool" else _held(a) & _held(b)
        yield Row(f"{a}_to_{b}", a, [item for item in _CANDIDATES if item in common], b, kind="always")


def _midpoints(name: str) -> list[float]:
    """Return numbers between neighbours of a narrow type, every few of them: the middle, just below, just above."""
    kind = dtype(name)
    bits = {"float4e2m1": 4, "float6e2m3": 6, "float6e3m2": 6}.get(name, 8)
    codes = np.arange(1 << (bits - 1), dtype=np.uint8).view(kind).astype(np.float64)
    values = np.sort(codes[np.isfinite(codes)])
    middle = (values[1:] + values[:-1])[:: max(1, len(values) // 8)] / 2
    signs = np.where(np.arange(middle.size) % 2, -1.0, 1.0)
    return [float(item) for item in np.concatenate([middle * signs, middle * (1 - 2**-9), -middle * (1 + 2**-9)])]


@dataclass(frozen=True)
class Row:
    """A case of conversion: values of one type to another.

    Attributes:
        given: saturate and round_mode.
        kind: the sentence of Conversions that it tries.
        unspecified: that sentence leaves it open.
        since: the first opset whose text says so; as early as the types, without.
        everywhere: in every version from there on, and not in the first alone.
        before: the opset whose text says so no more.
    """

    name: str
    source: str
    values: Any
    target: str
    given: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "always"
    unspecified: bool = False
    since: int = 13
    everywhere: bool = False
    before: int | None = None

    @property
    def first(self) -> int:
        """The first opset that has it."""
        return max(self.since, FIRST[self.source], FIRST[self.target], 24 if "round_mode" in self.given else 1)


def _numbers() -> Iterator[Row]:
    inf, nan = np.inf, np.nan
    half, tiny = 2.0**-11, 2.0**-25
    ties = [1 + half, 1 + 3 * half, -1 - half, 1 + half * 1.5, tiny, -1.5 * tiny, 2.0**-24, 65504, 0.1, 1 / 3]
    brain = [1 + 2.0**-8, 1 + 3 * 2.0**-8, -1 - 2.0**-8, 1 + 2.0**-8 + 2.0**-20, 0.1, 1 / 3, -0.0]
    special = [0.0, -0.0, nan, inf, -inf]
    single = [1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 3.1415926459, 1e-45, 2e-46, -1e-40, 3.4e38]
    for a in ("float", "double"):
        yield Row(f"rounds_{a}_float16", a, ties, "float16", kind="always", everywhere=a == "double", since=9)
        yield Row(f"rounds_{a}_bfloat16", a, brain, "bfloat16")
        yield Row(
            f"beyond_{a}_float16", a, [65536, -65520, 1e30, -7e4], "float16", kind="infinite", everywhere=a == "float"
        )
        yield Row(f"almost_beyond_{a}_float16", a, [65519], "float16", kind="infinite", unspecified=True)
    yield Row("rounds_double_float", "double", single, "float")
    twice = [1 + half + 2.0**-40, -1 - half - 2.0**-45, 1 + 3 * half - 2.0**-40]
    yield Row("rounds_once_double_float16", "double", twice, "float16")
    yield Row("rounds_once_double_bfloat16", "double", [1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40], "bfloat16")
    yield Row("beyond_double_float", "double", [3.5e38, -1e300, 1.7e308], "float", kind="infinite")
    yield Row("beyond_float_bfloat16", "float", [3.4028e38, -3.4e38], "bfloat16", kind="infinite")
    yield Row("beyond_bfloat16_float16", "bfloat16", [3e38, -1e5, 65536], "float16", kind="infinite")
    yield Row("small_float16_float", "float16", [6e-8, -6e-8, 6.1e-5, 65504], "float")
    for a, b in (("float16", "float"), ("double", "float"), ("float", "double"), ("float", "float16")):
        yield Row(f"special_{a}_{b}", a, special, b)
    for a, b in (("bfloat16", "float"), ("float", "bfloat16"), ("float16", "bfloat16"), ("bfloat16", "double")):
        yield Row(f"special_{a}_{b}", a, special, b)


def _integers() -> Iterator[Row]:
    wide = [2**24 + 1, -(2**24) - 3, 2**31 - 1, 2**40 + 2**15 + 1]
    yield Row("rounds_int64_float", "int64", wide, "float")
    yield Row("rounds_int64_double", "int64", np.array([2**53 + 1, 2**53 + 3, -(2**63), 2**63 - 1]), "double")
    yield Row("rounds_uint64_double", "uint64", np.array([2**53 + 1, 2**63 + 1025, 2**64 - 1], np.uint64), "double")
    yield Row("rounds_uint64_float", "uint64", np.array([2**63, 2**63 + 2**39, 2**64 - 1], np.uint64), "float")
    yield Row("rounds_int32_float16", "int32", [2049, 2051, -2049, 65504], "float16")
    yield Row("rounds_int32_bfloat16", "int32", [257, 259, -257, 2**31 - 1], "bfloat16")
    for a, b in (("int32", [65536, -70000, 2**31 - 1]), ("uint32", [65536, 2**32 - 1]), ("int64", [-(2**63)])):
        yield Row(f"beyond_{a}_float16", a, np.array(b), "float16", kind="infinite", everywhere=a == "int32")


def _to_integers() -> Iterator[Row]:
    limits: list[tuple[str, str, list[Any]]] = [
        ("float", "int8", [-128, 127, -0.0]), ("float16", "uint8", [0, 255, -0.0]), ("double", "int64", [-(2.0**63)]),
        ("float", "int64", [-(2.0**63), 2.0**62]), ("double", "uint64", [2.0**64 - 2048, 2.0**63]),
        ("double", "int32", [-(2**31), 2**31 - 1]), ("float", "uint32", [2.0**32 - 256, 2.0**31]),
        ("float", "int4", [-8, 7, -1]), ("float16", "uint4", [15, 8, 0]), ("float", "uint2", [3, 2, 0]),
        ("float16", "int2", [-2, 1, -1]), ("bfloat16", "int16", [-32768, 32512]),
    ]  # fmt: skip
    for a, b, values in limits:
        yield Row(f"limits_{a}_{b}", a, values, b)
    for a, b, value in (
        ("float", "int8", 128),
        ("double", "int64", 2.0**63),
        ("float", "uint8", -1),
        ("float", "int4", 8),
    ):
        name = f"beyond_{a}_{b}"
        yield Row(name, a, [value], b, kind="undefined", unspecified=True, everywhere=b == "int8")
    for name, value in (("nan", np.nan), ("infinity", np.inf)):
        yield Row(f"{name}_float_int32", "float", [value], "int32", kind="undefined", unspecified=True)
    for a, b, values in (
        ("float", "int32", [2.5, -1.7]),
        ("double", "uint8", [-0.5, 254.9]),
        ("float16", "int4", [1.5]),
    ):
        yield Row(f"fractions_{a}_{b}", a, values, b, unspecified=True, since=9)


def _wraps() -> Iterator[Row]:
    wraps: list[tuple[str, str, list[Any]]] = [
        ("int16", "int8", [200, -56, 128, -129, 32767]),
        ("int64", "int32", [2**31, -(2**31) - 1, 2**32 + 5, 2**63 - 1]),
        ("int32", "uint8", [256, -1, 511, -300]), ("int64", "uint64", [-1, -(2**63)]),
        ("uint64", "int64", [2**64 - 1, 2**63]),
        ("int8", "uint16", [-1, -128]), ("uint32", "int16", [2**32 - 1, 40000]), ("int64", "uint32", [-1, 2**32 + 7]),
        ("int8", "int4", [8, -9, 127, -128, 23]), ("uint8", "int4", [200, 15, 8]), ("int32", "uint4", [-1, 16, 47]),
        ("int64", "int2", [2, -3, 6]), ("int8", "uint2", [4, -1, 7]), ("int4", "uint4", [-1, -8, 7]),
        ("uint4", "int2", [15, 2, 5]), ("int2", "uint8", [-1, -2, 1]),
    ]  # fmt: skip
    for a, b, values in wraps:
        numbers = np.array(values, np.uint64 if max(values) >= 2**63 else np.int64)
        yield Row(f"wraps_{a}_{b}", a, numbers, b, kind="wraps", everywhere=a == "int16")


def _truths() -> Iterator[Row]:
    inf, nan = np.inf, np.nan
    truths: list[tuple[str, list[Any]]] = [
        ("float", [0.0, -0.0, nan, inf, -inf, 0.5, 1e-45, -3]), ("double", [1e-300, 5e-324, -0.0, 1e300]),
        ("float16", [6e-8, -0.0, nan, -inf]), ("int64", [2**32, -(2**63), 0, 256]), ("uint8", [2, 0, 255, 128]),
        ("int32", [36, 0, 2**16, -1]), ("int4", [-8, 0, 2, 7]), ("uint2", [2, 0, 3]),
        ("float8e4m3fnuz", [nan, 0, 0.0009765625]),
        ("float8e5m2", [-0.0, inf, nan, 2.0**-16]), ("bfloat16", [1e-40, -0.0, nan]), ("float4e2m1", [-0.0, 0.5, -6]),
    ]  # fmt: skip
    for a, truth in truths:
        yield Row(f"truth_{a}", a, truth, "bool", kind="truth", everywhere=a == "int32")
    for a, value in (("float", 0.5), ("int32", 36)):
        yield Row(f"truth_old_{a}", a, [value], "bool", kind="truth", unspecified=True, since=9, before=13)
    for a in ("double", "int8", "uint64", "float16"):
        yield Row(f"false_and_true_{a}", "bool", [True, False], a, everywhere=a == "double")


def _narrow() -> Iterator[Row]:
    inf, nan = np.inf, np.nan
    for b in FLOAT8:
        yield Row(
            f"special_{b}", "float", [0.0, -0.0, nan, 1e6, -1e6], b, kind="float8", everywhere=b == "float8e4m3fn"
        )
        yield Row(f"infinity_{b}", "float", [inf, -inf], b, kind="float8", before=24)
        yield Row(f"infinity_now_{b}", "float", [inf, -inf], b, kind="float8", since=24, everywhere=b == "float8e4m3fn")
        off = [0.0, -0.0, nan, inf, -inf, 1e6, -1e6]
        yield Row(f"special_unsaturated_{b}", "float", off, b, {"saturate": 0}, kind="float8")
        yield Row(f"special_saturated_{b}", "float16", [65504, -65504, 1, inf], b, {"saturate": 1}, kind="float8")
        yield Row(f"rounds_{b}", "float", _midpoints(b), b, kind="float8")
        most = float(ml_dtypes.finfo(dtype(b)).max)  # type: ignore[no-untyped-call]
        step = most - float(np.nextafter(dtype(b).type(most), dtype(b).type(0)))
        near = [most + step / 4, most + step / 2, -most - step / 2, most + step * 0.75, -most - step]
        yield Row(f"beyond_saturated_{b}", "float", near, b, kind="float8")
        yield Row(f"beyond_unsaturated_{b}", "float", near, b, {"saturate": 0}, kind="float8")
        yield Row(f"beyond_int32_{b}", "int32", [10**6, -(10**6), 17], b, kind="float8")
        half = float(ml_dtypes.finfo(dtype(b)).eps) / 2  # type: ignore[no-untyped-call]
        ties = [1 + half + 2.0**-40, -1 - half - 2.0**-45, 1 + 3 * half - 2.0**-40, 1 + half]
        yield Row(f"rounds_once_{b}", "double", ties, b, kind="float8")
    for a, b in (("float8e5m2", "float8e4m3fn"), ("float8e4m3fnuz", "float8e5m2"), ("bfloat16", "float8e5m2fnuz")):
        yield Row(f"special_{a}_{b}", a, [0.0, nan, inf, 96, -1.5], b, {"saturate": 0}, kind="float8")
    yield Row(
        "saturate_float_float16",
        "float",
        [1e6, -1e6, 3],
        "float16",
        {"saturate": 1},
        kind="infinite",
        since=19,
        everywhere=True,
    )
    yield Row("unsaturated_int32_uint8", "int32", [256, -1, 3], "uint8", {"saturate": 0}, kind="wraps", since=19)


def _powers() -> Iterator[Row]:
    inf, nan = np.inf, np.nan
    powers = [1, 1.5, 1.25, 1.75, 3, 5, 6, 0.1, 2.0**-126 * 1.1, 2.0**127, nan]
    for mode in ("up", "down", "nearest"):
        for saturate in (1, 0):
            given: dict[str, Any] = {"saturate": saturate, "round_mode": mode}
            open_ = (saturate, mode) not in ((1, "up"), (0, "nearest"))
            yield Row(
                f"powers_{mode}_{saturate}",
                "float",
                powers,
                "float8e8m0",
                given,
                kind="float8e8m0",
                everywhere=not (open_ or saturate),
            )
            ends = [3e38, inf, 2.0**-130, 2.0**-127, nan]
            name = f"powers_beyond_{mode}_{saturate}"
            yield Row(name, "float", ends, "float8e8m0", given, kind="float8e8m0", unspecified=open_)
            yield Row(
                f"powers_zero_{mode}_{saturate}", "float", [0.0], "float8e8m0", given, kind="float8e8m0",
                unspecified=saturate == 1 or open_,
            )  # fmt: skip
    yield Row("powers_default", "float", powers, "float8e8m0", kind="float8e8m0", everywhere=True)
    for name, value in (("minus_zero", -0.0), ("negative", -2), ("minus_infinity", -inf)):
        yield Row(
            f"powers_{name}",
            "float",
            [value],
            "float8e8m0",
            kind="float8e8m0",
            unspecified=True,
            everywhere=name == "negative",
        )
    yield Row(
        "powers_other_mode", "float", [1.5], "float8e8m0", {"round_mode": "even"}, kind="float8e8m0", unspecified=True
    )
    yield Row("round_mode_unused", "float", [1 + 2.0**-11, 1.5], "float16", {"round_mode": "down"}, kind="float8e8m0")
    yield Row("powers_widen", "float8e8m0", [2.0**-127, 2.0**127, nan, 1], "double", kind="float8e8m0")


def _six_and_four() -> Iterator[Row]:
    for b, most in (("float4e2m1", 6), ("float6e2m3", 7.5), ("float6e3m2", 28)):
        yield Row(f"rounds_{b}", "float", [*_midpoints(b), 0.0, -0.0, most], b)
        for name, value in (("beyond", most * 2), ("nan", np.nan), ("infinity", -np.inf)):
            yield Row(f"{name}_{b}", "float", [value], b, kind="infinite", unspecified=True)


def _texts() -> Iterator[Row]:
    written = ["3.14", "1000", "1e-5", "1E8", "-2.5", "0", "-0.0", "100.5", "1.5e+3", "65504"]
    for b in ("float", "double", "float16", "bfloat16"):
        yield Row(
            f"text_{b}",
            "string",
            written if b != "float16" else written[:3],
            b,
            kind="literals",
            since=9,
            everywhere=b == "float",
        )
        words = ["+INF", "INF", "-INF", "NaN", "inf", "+Inf", "nan", "NAN", "iNf"]
        yield Row(f"text_reserved_{b}", "string", words, b, kind="literals", since=9)
    for b in (*FLOAT8, "float4e2m1", "float6e2m3"):
        yield Row(f"text_{b}", "string", ["1.5", "-2", "1e0", "0.5"], b, kind="literals")
    for b in FLOAT8:
        yield Row(f"text_infinity_{b}", "string", ["INF", "-INF", "NaN"], b, {"saturate": 0}, kind="literals")
    for b, numbers in (
        ("int32", [-7, 1000]),
        ("int64", [2**53 + 1, -(2**63)]),
        ("uint64", [2**64 - 1]),
        ("uint8", [255]),
    ):
        yield Row(f"text_{b}", "string", [str(item) for item in numbers], b, kind="literals", since=9)
    yield Row("text_int4", "string", ["-8", "7", "0"], "int4", kind="literals")
    opens = {
        "beyond": ("1e39", "float", "literals"), "beyond_integer": ("256", "uint8", "literals"),
        "truth": ("1", "bool", "literals"),
        "words": ("Hello World!", "float", "nonsense"), "empty": ("", "float", "nonsense"),
        "space": (" 1", "float", "nonsense"),
        "minus_inf_lower": ("-inf", "float", "nonsense"), "words_integer": ("Hello World!", "int32", "nonsense"),
        "fraction": ("2.718", "int32", "fraction"), "fraction_hundred": ("100.5", "int64", "fraction"),
    }  # fmt: skip
    for name, (text, b, kind) in opens.items():
        always = name in ("words", "fraction")
        yield Row(f"text_{name}", "string", [text], b, kind=kind, unspecified=True, since=9, everywhere=always)


def _written() -> Iterator[Row]:
    yield Row("text_itself", "string", ["", "ä", "1e5", "日本語"], "string", since=9)
    for a, whole in (
        ("int32", [-7, 0, 2**31 - 1]),
        ("uint64", [2**64 - 1]),
        ("int64", [-(2**63)]),
        ("int8", [-128, 5]),
    ):
        plain = np.array(whole, np.uint64 if a == "uint64" else np.int64)
        yield Row(f"write_{a}", a, plain, "string", kind="plain", since=9)
    for a in ("uint4", "int2"):
        yield Row(f"write_{a}", a, [1, 0], "string", kind="plain")
    for a in ("float", "double", "float16", "bfloat16"):
        yield Row(f"write_{a}", a, [0.5, -2.25, 1.5, 0.125], "string", kind="plain", since=9)
    for a in ("float8e4m3fn", "float8e5m2fnuz", "float4e2m1"):
        yield Row(f"write_{a}", a, [0.5, -1.5], "string", kind="plain")
    yield Row("write_small_double", "double", [2.0**-20, -(2.0**-14)], "string", kind="plain", since=9)
    silent = {"whole": ("float", 1), "digits": ("float", 0.1), "nan": ("float", np.nan), "truth": ("bool", True)}
    for name, (a, value) in {**silent, "large": ("double", 1e20)}.items():
        yield Row(f"write_{name}", a, [value], "string", kind="plain", unspecified=True, since=9)


def _odd_counts() -> Iterator[Row]:
    for name, shape in {"vector": (5,), "matrix": (3, 3)}.items():
        for type_ in ("int4", "uint4", "float4e2m1", "uint2", "float6e2m3"):
            digits = np.resize([3, 1, 0, 2], shape)
            yield Row(f"odd_{name}_{type_}", "float", digits, type_)
            yield Row(f"odd_{name}_{type_}_back", type_, digits, "float")


def rows() -> Iterator[Row]:
    """Yield conversions from every type and to every type, and the edges of each kind."""
    for part in (
        _pairs(), _numbers(), _integers(), _to_integers(), _wraps(), _truths(), _narrow(), _powers(), _six_and_four(),
        _odd_counts(), _texts(), _written(),
    ):  # fmt: skip
        yield from part
