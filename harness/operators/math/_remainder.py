"""Remainders of real numbers, of quotients that are truncated or floored, and the pairs that try them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from harness.declare.data import Array


def remainders(dividends: Array, divisors: Array, *, floored: bool) -> Array:
    """Return x - whole(x / y) * y of every pair, exactly that of integers, rounded once that of floats.

    Args:
        dividends: x.
        divisors: y, of the same shape and type; no integer 0.
        floored: the whole number is the next below; without, the next toward zero.
    """
    of = _of_floats if dividends.dtype.kind == "f" else _of_integers
    pairs = zip(dividends.ravel().tolist(), divisors.ravel().tolist(), strict=True)
    return np.array([of(x, y, floored) for x, y in pairs], dividends.dtype).reshape(dividends.shape)


def _of_integers(x: int, y: int, floored: bool) -> int:  # noqa: FBT001 - of one pair, in the order of the formula
    below = x // y
    whole = below if floored or below >= 0 or below * y == x else below + 1
    return x - whole * y


def _of_floats(x: float, y: float, floored: bool) -> float:  # noqa: FBT001
    """Return the remainder of two floats, as IEEE 754 has them; a zero has the sign that all others have."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    if math.isinf(y):
        same = not floored or (x != 0 and (x < 0) == (y < 0))
        return x if same else math.copysign(abs(y) if x else 0, y)
    (a, under_a), (b, under_b) = x.as_integer_ratio(), y.as_integer_ratio()
    exact = _of_integers(a * under_b, b * under_a, floored)  # Both over the product of what they stand over.
    return exact / (under_a * under_b) or math.copysign(0, y if floored else x)


def rounding(divisors: Array, *, floored: bool) -> Array:
    """Return the error allowed, in epsilons: none where a type holds every remainder; else that of the divisor.

    A remainder of a floored quotient is that of a truncated one, and where their signs differ the divisor more: one
    sum, rounded to no more than the divisor.
    """
    size = np.abs(divisors.astype(np.float64))
    return np.where(np.isfinite(size) & floored, size, 0)


SIGNS = [(x, y) for x in (7, -7, 6, -6, 1, -1) for y in (3, -3)]
"""Quotients that are whole, that are not, and that are below 1, of all signs."""
_EXPONENTS = {"float16": (-24, -14, 15), "float": (-149, -126, 127), "bfloat16": (-133, -126, 127)}
_EXPONENTS["double"] = (-1074, -1022, 1023)
"""Of the least power of two, of the least normal one, and of the greatest."""

Pairs = list[tuple[Any, Any]]


def hard_integers(type_: str) -> dict[str, Pairs]:
    """Return pairs with the limits of an integer type by what is hard about them."""
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    pairs: Pairs = [(high, 7), (high, high), (high - 1, high), (high, high - 1), (5, 1), (7, 3), (7, 100)]
    if not low:
        return {"numbers": pairs}
    pairs += [*SIGNS, (low, high), (high, low), (low, 3), (low, low)]
    return {"numbers": pairs, "least_by_minus_one": [(low, -1)]}  # The type does not hold the quotient of these.


def hard_floats(type_: str) -> dict[str, Pairs]:
    """Return pairs of floats by what is hard about them."""
    small, normal, huge = (2.0**exponent for exponent in _EXPONENTS[type_])
    inf, nan = math.inf, math.nan
    return {
        "signs": list(SIGNS),
        "fractions": [(5.3, 2.1), (-5.3, 2.1), (5.3, -2.1), (-4.3, -2.1), (0.75, 0.5), (-0.75, 0.5), (2.5, 7.25)],
        "tenths": [(0.7, 0.1), (-0.7, 0.1), (1, 0.1), (-1, -0.1), (0.3, 0.1), (0.6, -0.2), (1, -1 / 3)],
        "large_quotients": [(huge, 3), (-huge, 7), (huge, -0.7), (30000, 0.1), (-60000, 0.37), (2049, 1e-3)],
        "limits": [(huge, small), (huge, -3 * small), (-huge, 3 * normal), (huge, huge * 0.75), (-huge * 0.75, huge)],
        "subnormals": [(5 * small, 3 * small), (-5 * small, 3 * small), (normal, 3 * small), (small, normal)],
        "nearly_divisor": [(-small, 1), (small, -1), (-small, huge), (1, -huge)],
        "nan": [(nan, 3), (3, nan), (nan, nan), (nan, inf), (inf, nan), (3, 2)],
        "infinity": [(inf, 3), (-inf, 3), (inf, -2), (inf, inf), (-inf, inf), (inf, -inf)],
        "by_infinity": [(3, inf), (-3, inf), (3, -inf), (-3, -inf), (small, inf), (-huge, inf)],
        "zeros": [(0.0, 3), (0.0, -3), (-0.0, -3), (0.0, inf), (0.0, -inf), (-0.0, -inf), (0.0, 0.5)],
        "by_zero": [(3, 0.0), (-3, 0.0), (3, -0.0), (0.0, 0.0), (-0.0, -0.0), (0.0, -0.0), (inf, 0.0), (nan, 0.0)],
        "minus_zero": [(-0.0, 3), (-0.0, 0.5), (-0.0, inf), (-0.0, huge)],
    }
