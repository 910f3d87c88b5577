"""Sums of many terms: how far they may be off, and where the partial ones may overflow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.partly_open import PartlyOpen

if TYPE_CHECKING:
    from onnx_conformance.declare.data import Array

DEVIATIONS = 3
"""Of many terms, how many roots of their number the roundings may add up to. Independent of one another, those of a
rising sum deviate by the root of a third of their number, of which this is five (Higham and Mary, "A new approach to
probabilistic rounding error analysis", 2019)."""


def roundings(terms: int) -> float:
    """Return by how many roundings of all magnitudes a sum may be off: by one for each of few terms."""
    return min(terms, DEVIATIONS * math.sqrt(terms))


def overflows(total: Array, magnitudes: Array, dtype: np.dtype[Any]) -> Array:
    """Return where the terms of one sign overflow, but the sum does not, or does to the other side.

    In which type partial sums are kept, and in which order terms are added, no text says. So there the sum may be
    anything; elsewhere it has one value.

    Args:
        total: the sums, exact.
        magnitudes: the sums of the absolute terms.
        dtype: of the operands.
    """
    most, size = largest(dtype), np.abs(total)
    with np.errstate(all="ignore"):
        of_one_sign = (magnitudes + np.where(size <= most, size, -size)) / 2
    return np.asarray((of_one_sign > most) & np.isfinite(magnitudes))


def largest(dtype: np.dtype[Any]) -> float:
    """Return the greatest finite number of a floating type."""
    return float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]


def finer(dtype: np.dtype[Any]) -> float:
    """Return the epsilon of sums over that of a type: those of 16 bits a careful implementation keeps in float32."""
    epsilon = float(ml_dtypes.finfo(dtype).eps)  # type: ignore[no-untyped-call]
    return min(1.0, float(np.finfo(np.float32).eps) / epsilon)


def but_where(is_open: Array, total: Array) -> Array | PartlyOpen:
    """Return sums as doubles, but anything where they are open."""
    with np.errstate(over="ignore"):
        values = total.astype(np.float64)
    return PartlyOpen(values, is_open) if is_open.any() else values


BEYOND_FLOAT16 = np.array([
    [60000, 30000, -60000, 0, 0],  # Open: 90000 or -60000 on the way.
    [-60000, 60000, -30000, 0, 0],
    [30000, 20000, -10000, 0, 0],
    [65504, 0, -65504, 0, 0],
    [65504, 30000, 0, -30000, 0],  # Open, though 65504 is a number.
    [60000, 50000, -30000, 0, 0],  # Infinity, in whatever order.
    [-60000, -50000, 30000, 0, 0],
    [65504, 65504, 65504, -65504, -1000],  # Open: either infinity.
])  # fmt: skip
"""Terms, a row for each sum, of which some are beyond 65504, where float16 ends."""
