# SPDX-License-Identifier: Apache-2.0
"""Conversion of elements from every type to every type: numbers, booleans, text, 2- to 8-bit types."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.any_of import AnyOf
from onnx_conformance.declare.rounding import nearest

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.partly_open import Result

Array = np.ndarray[Any, Any]

E8M0_MIN, E8M0_MAX = 2.0**-127, 2.0**127
_LITERAL = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_WHOLE = re.compile(r"-?\d+")


@dataclass(frozen=True)
class Conversions:
    """The sentences of an operator on the conversion of elements.

    Attributes:
        always: a number becomes a number of any type.
        infinite: floating-point numbers outside the range of a floating-point type.
        undefined: floating-point numbers outside the range of an integer type.
        wraps: integers outside the range of an integer type.
        truth: the values that become True.
        literals: text that is a number.
        nonsense: text that is not a number.
        fraction: text of a number that is not whole, to an integer type.
        plain: conversion of numbers to text.
        float8: conversion to the other 8-bit types.
        float8e8m0: conversion to powers of two.
    """

    always: Clause
    infinite: Clause
    undefined: Clause
    wraps: Clause
    truth: Clause
    literals: Clause
    nonsense: Clause
    fraction: Clause
    plain: Clause
    float8: Clause
    float8e8m0: Clause

    def converted(
        self, v: Version, values: Array, saturate: int | None, round_mode: str | None, *, fnuz_saturates: bool
    ) -> Result:
        """Return values of T1 in T2. Elements that no sentence defines are open.

        Args:
            v: the version.
            values: the elements; floating-point elements as float64.
            saturate: the attribute; None if the version does not have it.
            round_mode: the attribute; None if the version does not have it.
            fnuz_saturates: whether an infinity becomes the limit of a FNUZ type if `saturate` is set, instead of NaN.
        """
        source, target = v.dtypes["T1"], v.dtypes["T2"]
        if target.kind == "O":
            return values if source.kind == "O" else self._written(v, values, source)
        if source.kind == "O":
            values = self._read(v, values, target)
        if target.kind == "b":
            return values.astype(bool)  # NaN and all other values except zero become True.
        if fixed(target):
            return self._to_fixed(v, values, target, floating="float" in source.name)
        return self._to_floating(v, values, saturate, round_mode, fnuz_saturates=fnuz_saturates)

    def _to_floating(
        self, v: Version, values: Array, saturate: int | None, round_mode: str | None, *, fnuz_saturates: bool
    ) -> Result:
        """Return the nearest numbers of a floating-point type; see `converted` for the parameters."""
        source, target = v.dtypes["T1"], v.dtypes["T2"]
        # numpy converts its own types directly. The other types have so few digits that float64 in between is exact
        # enough.
        direct = fixed(source) and target.kind == "f" and target.name.endswith(("16", "32", "64"))
        numbers = values if direct else values.astype(np.float64)
        if target.name == "float8_e8m0fnu":
            return self._to_powers(v, numbers, saturate, round_mode)
        rounded = nearest(numbers, target)
        limit = float(ml_dtypes.finfo(target).max)  # type: ignore[no-untyped-call]
        if "float8" in target.name:
            kept = np.isinf(numbers) & (source == target) & bool(saturate)
            result = _to_float8(numbers, rounded, limit, saturate=bool(saturate), fnuz_saturates=fnuz_saturates)
            return v.leave_open(self.float8, kept, result)
        finite, beyond = np.isfinite(numbers), np.abs(numbers.astype(np.float64)) > limit
        if target.itemsize == 1:  # The types of 4 and 6 bits have no infinities and no NaN.
            return v.leave_open(self.infinite, beyond | ~finite, rounded)
        return v.leave_open(self.infinite, beyond & finite & np.isfinite(rounded), rounded)

    def _to_fixed(self, v: Version, values: Array, target: np.dtype[Any], *, floating: bool) -> Result:
        """Return integers: the lower bits of other integers, and floating-point numbers that are integers in range."""
        limits = ml_dtypes.iinfo(target)  # type: ignore[no-untyped-call]
        low, high = int(limits.min), int(limits.max)
        wide = np.dtype(np.int64 if low else np.uint64)
        if not floating:
            return _lower_bits(values, target)
        finite = np.isfinite(values)
        # The limits of 64 bits are not doubles, so the number above the highest one is compared.
        inside = finite & (values >= low) & (values < float(high + 1))
        whole = inside & (np.trunc(values) == values)
        numbers = np.where(whole, values, 0).astype(wide).astype(target)
        return v.leave_open(self.always, inside & ~whole, v.leave_open(self.undefined, ~inside, numbers))

    def _to_powers(self, v: Version, x: Array, saturate: int | None, round_mode: str | None) -> Result:
        """Return powers of two. float8e8m0 contains no other numbers, no zero and no sign."""
        in_table = (bool(saturate), round_mode) in {(True, "up"), (False, "nearest")}
        special = (x > E8M0_MAX) | (x < E8M0_MIN)
        v.silent(self.float8e8m0, round_mode not in {"up", "down", "nearest"})
        is_open = np.signbit(x) & ~np.isnan(x)
        is_open |= (x == 0) & bool(saturate) if in_table else special
        mantissa, exponent = np.frexp(x)
        upwards = {"up": mantissa > 0.5, "nearest": mantissa >= 0.75, "down": np.zeros_like(x, bool)}  # noqa: PLR2004
        with np.errstate(all="ignore"):
            power = np.where(np.isnan(x), np.nan, np.ldexp(np.where(upwards[str(round_mode)], 1.0, 0.5), exponent))
        ends = x.clip(E8M0_MIN, E8M0_MAX) if saturate else np.nan
        powers = np.where(special, ends, power)
        return v.leave_open(self.float8e8m0, is_open, np.where(is_open, 1, powers))

    def _read(self, v: Version, texts: Array, target: np.dtype[Any]) -> Array:
        """Return the numbers of the texts. For integer types they are Python integers, which have no limits."""
        items = [str(item) for item in texts.flat]
        reserved = [item.upper() in {"+INF", "INF", "NAN"} or item == "-INF" for item in items]
        literal = [_LITERAL.fullmatch(item) is not None for item in items]
        v.silent(self.literals, target.kind == "b")
        v.silent(self.nonsense, not np.logical_or(literal, reserved).all())
        if fixed(target):
            v.silent(self.fraction, any(not _WHOLE.fullmatch(item) for item in items))
            numbers = [int(item) for item in items]
            limits = ml_dtypes.iinfo(target)  # type: ignore[no-untyped-call]
            v.silent(self.literals, any(not int(limits.min) <= number <= int(limits.max) for number in numbers))
            return np.array(numbers, object).reshape(texts.shape)
        read = np.array([float(item) for item in items], np.float64).reshape(texts.shape)
        finite = read[~np.array(reserved, bool).reshape(read.shape)]
        limit = float(ml_dtypes.finfo(target).max)  # type: ignore[no-untyped-call]
        v.silent(self.literals, bool((np.abs(finite) > limit).any()))
        return read

    def _written(self, v: Version, values: Array, source: np.dtype[Any]) -> Result:
        """Return integers with or without a point. Other numbers are open unless they can be written in one way."""
        if fixed(source):
            written = ([f"{int(item)}{point}" for item in values.flat] for point in ("", ".0", "."))
            return AnyOf(*(np.array(items, object).reshape(values.shape) for items in written), elementwise=True)
        texts = [_only_text(float(item), source) for item in values.flat]
        is_open = np.array([text is None for text in texts], bool).reshape(values.shape)
        return v.leave_open(self.plain, is_open, np.array([text or "" for text in texts], object).reshape(values.shape))


def _lower_bits(values: Array, target: np.dtype[Any]) -> Array:
    """Return the lower bits of integers in an integer type."""
    if values.dtype.kind == "O":  # Python integers.
        values = (values & (2**64 - 1)).astype(np.uint64)
    bits = values if values.dtype == np.uint64 else values.astype(np.int64).view(np.uint64)
    limits = ml_dtypes.iinfo(target)  # type: ignore[no-untyped-call]
    above = 64 - (int(limits.max) - int(limits.min)).bit_length()
    signed = bool(limits.min)
    return ((bits << np.uint64(above)).view(np.int64 if signed else np.uint64) >> above).astype(target)


def fixed(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is an integer type."""
    return "int" in dtype.name


def _to_float8(x: Array, rounded: Array, limit: float, *, saturate: bool, fnuz_saturates: bool) -> Array:
    """Return the values in the tables of Cast. `rounded` is not finite if [x] is beyond FLT_MAX."""
    result = rounded.astype(np.float64)
    if saturate:
        result = np.where(~np.isfinite(result) & ~np.isnan(x), np.copysign(limit, x), result)
        if "fnuz" in rounded.dtype.name and not fnuz_saturates:
            result = np.where(np.isinf(x), np.nan, result)
    return np.asarray(result)


def _only_text(number: float, source: np.dtype[Any]) -> str | None:
    """Return the text of a number with a fraction and few digits; None if it can be written in several ways."""
    if not math.isfinite(number) or number % 1 == 0:
        return None
    shortest = _shortest(number, source)
    return format(shortest, "f") if shortest == Decimal(number) else None


def _shortest(number: float, source: np.dtype[Any]) -> Decimal:
    """Return the shortest decimal that reads back as the same number of its type."""
    decimals = (f"{number:.{digits}g}" for digits in itertools.count(1))
    with np.errstate(all="ignore"):
        return Decimal(next(text for text in decimals if float(np.float64(text).astype(source)) == number))
