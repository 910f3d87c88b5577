"""Rounding once: the nearest value that a narrower type has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare.data import Array


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is a floating-point type, and not complex."""
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)


def saturated(values: Array) -> Array:
    """Return the values as they are, of a function that lies within -1 and 1 and that numpy does not have.

    Libraries approximate it with an error of some units of 1. Where errors are measured, these have one; see
    `onnx_conformance.tolerance.rounding_error`.
    """
    return values.saturated() if hasattr(values, "saturated") else values


def rounding_as(values: Array, operand: Array) -> Array:
    """Return values that do not depend on an operand, such as tables, as ones that an operator computes in its type.

    Where errors are measured, operations on them have one; see `onnx_conformance.tolerance.rounding_error`.
    """
    return values.view(type(operand)) if hasattr(operand, "saturated") else values


def exponential_leaves_range(exponents: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether the exponential of one of these numbers, where finite, is infinite or 0 in a type."""
    limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    low, high = np.log([float(limits.smallest_subnormal), float(limits.max)])
    return bool((np.isfinite(exponents) & ((exponents < low) | (exponents > high))).any())


def nearest(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Return the nearest values of a type, ties to even; numbers beyond its limits are converted as by numpy."""
    with np.errstate(all="ignore"):
        if numbers.dtype == np.float64 and is_float(dtype) and not np.issubdtype(dtype, np.floating):
            numbers = _sticky(numbers, int(ml_dtypes.finfo(dtype).nmant) + 3)  # type: ignore[no-untyped-call]
        return numbers.astype(dtype)


def _sticky(wide: Array, bits: int) -> Array:
    """Return float64 cut to `bits` bits after the first, the last of them set if any bit that is cut off is set.

    ml_dtypes converts float64 to its types by way of float32 or float16. Both represent the returned numbers exactly,
    and a returned number is a tie only if the original was: the single rounding left gives the nearest value.
    """
    mask = np.uint64((1 << (52 - bits)) - 1)
    raw = np.ascontiguousarray(wide).view(np.uint64)
    cut = (raw & ~mask) | np.where(raw & mask, mask + np.uint64(1), np.uint64(0))
    return np.where(np.isfinite(wide), cut.view(np.float64).reshape(wide.shape), wide)
