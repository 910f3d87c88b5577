"""Rounding once: the nearest value that a narrower type has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from harness.declare.data import Array


def is_float(dtype: np.dtype[Any]) -> bool:
    """Tell whether a type holds floating-point numbers that are not complex."""
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)


def saturated(values: Array) -> Array:
    """Return the values as they are, of a function that lies within -1 and 1 and that numpy does not have.

    Libraries approximate it with an error of some units of 1. Where errors are measured, these have one; see
    `harness.spec.rounding_error`.
    """
    return values.saturated() if hasattr(values, "saturated") else values


def nearest(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Return the nearest values that a type has, ties to even; beyond its limits what numpy makes of them."""
    with np.errstate(all="ignore"):
        if numbers.dtype == np.float64 and is_float(dtype) and not np.issubdtype(dtype, np.floating):
            numbers = _sticky(numbers, int(ml_dtypes.finfo(dtype).nmant) + 3)  # type: ignore[no-untyped-call]
        return numbers.astype(dtype)


def _sticky(wide: Array, bits: int) -> Array:
    """Return float64 cut to so many bits behind the first, the last of them set where anything was cut off.

    ml_dtypes makes its types of float64 by way of float32 or float16. These hold what this returns exactly, and it is
    a tie only where the number was one: the one rounding left gives the nearest value.
    """
    mask = np.uint64((1 << (52 - bits)) - 1)
    raw = np.ascontiguousarray(wide).view(np.uint64)
    cut = (raw & ~mask) | np.where(raw & mask, mask + np.uint64(1), np.uint64(0))
    return np.where(np.isfinite(wide), cut.view(np.float64).reshape(wide.shape), wide)
