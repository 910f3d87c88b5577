# SPDX-License-Identifier: Apache-2.0
"""Sums of many terms: their allowed errors, and the cases in which partial sums may overflow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.partly_open import PartlyOpen

if TYPE_CHECKING:
    from onnx_conformance.base.values import Array

DEVIATIONS = 3
"""The roundings of many terms may add up to this factor times the square root of their number.

The roundings of a rising sum, if independent, deviate by the square root of a third of their number; this is five times
that (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019).
"""


def roundings(terms: int) -> float:
    """Return the allowed error of a sum, in roundings of all magnitudes. For few terms it is one rounding per term."""
    return min(terms, DEVIATIONS * math.sqrt(terms))


def overflows(total: Array, magnitudes: Array, dtype: np.dtype[Any]) -> Array:
    """Return where the terms of one sign overflow, but the sum does not, or overflows to the other side.

    No text defines the type of partial sums or the order of additions. In these places the sum is open. In all other
    places it has one value.

    Args:
        total: the exact sums.
        magnitudes: the sums of the absolute terms.
        dtype: the type of the operands.
    """
    most, size = largest(dtype), np.abs(total)
    with np.errstate(all="ignore"):
        of_one_sign = (magnitudes + np.where(size <= most, size, -size)) / 2
    return np.asarray((of_one_sign > most) & np.isfinite(magnitudes))


def largest(dtype: np.dtype[Any]) -> float:
    """Return the greatest finite number of a floating type."""
    return float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]


def but_where(is_open: Array, total: Array) -> Array | PartlyOpen:
    """Return sums as doubles. Sums in `is_open` are left open."""
    with np.errstate(over="ignore"):
        values = total.astype(np.float64)
    return PartlyOpen(values, is_open) if is_open.any() else values


BEYOND_FLOAT16 = np.array([
    [60000, 30000, -60000, 0, 0],  # Open: 90000 or -60000 on the way.
    [-60000, 60000, -30000, 0, 0],
    [30000, 20000, -10000, 0, 0],
    [65504, 0, -65504, 0, 0],
    [65504, 30000, 0, -30000, 0],  # Open, although 65504 is a number.
    [60000, 50000, -30000, 0, 0],  # Infinity in any order.
    [-60000, -50000, 30000, 0, 0],
    [65504, 65504, 65504, -65504, -1000],  # Open: either infinity.
])  # fmt: skip
"""Terms, with one row for each sum. Some exceed 65504, the greatest number of float16."""
