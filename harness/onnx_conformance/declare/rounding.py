# SPDX-License-Identifier: Apache-2.0
"""Rounding once, to the nearest value of a narrower type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.base.values import Array


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is a floating-point type, and not complex."""
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)


def saturated(values: Array) -> Array:
    """Mark values of a function that numpy does not have and whose values are between -1 and 1; return them unchanged.

    Libraries approximate such a function with an error of some units of 1. If errors are measured, the values have such
    an error; see `onnx_conformance.tolerance.rounding_error`.
    """
    return values.saturated() if hasattr(values, "saturated") else values


def rounding_as(values: Array, operand: Array) -> Array:
    """Mark values that do not depend on an operand, such as tables, as computed in the type of the operator.

    If errors are measured, operations on them have an error; see `onnx_conformance.tolerance.rounding_error`.
    """
    return values.view(type(operand)) if hasattr(operand, "saturated") else values


def fourier(values: Array, count: int, *, inverse: bool) -> Array:
    """Return the sums over the last axis of values times e^(-2 pi j k n / N), for each k below `count`.

    The additions are in the order of n. A matrix product would be faster, but libraries add in an order that depends on
    the processor, and the last bits of a sum depend on the order.

    If errors are measured, every factor, its angle, and every addition in any order has an error; see
    `onnx_conformance.tolerance.rounding_error`.

    Args:
        values: complex numbers; N is the length of the last axis, and n the index along it.
        count: the number of sums, at most N.
        inverse: whether the exponents are positive.
    """
    if hasattr(values, "fourier"):
        return np.asanyarray(values.fourier(count, inverse=inverse))
    length = values.shape[-1]
    k, j = np.arange(count), (1j if inverse else -1j)
    sums = np.zeros((*values.shape[:-1], count), np.complex128)
    for n in range(length):
        value, factor = values[..., n, None], np.exp(2 * j * np.pi * (n * k / length))
        sums.real += value.real * factor.real - value.imag * factor.imag
        sums.imag += value.real * factor.imag + value.imag * factor.real
    return sums


def exponential_leaves_range(exponents: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether the exponential of one of the finite numbers is infinite or 0 in a type."""
    limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    low, high = np.log([float(limits.smallest_subnormal), float(limits.max)])
    return bool((np.isfinite(exponents) & ((exponents < low) | (exponents > high))).any())


def nearest(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Return the nearest values of a type, ties to even; numbers beyond its limits are converted as by numpy."""
    with np.errstate(all="ignore"):
        if numbers.dtype == np.float64 and is_float(dtype) and not np.issubdtype(dtype, np.floating):
            numbers = _sticky(numbers, int(ml_dtypes.finfo(dtype).nmant) + 3)  # type: ignore[no-untyped-call]
        return converted(numbers, dtype)


def converted(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Return numbers in a type, as numpy converts them. The result does not depend on the version of ml_dtypes.

    Before version 0.7, ml_dtypes rounds float64 to float32 first, and integers of fewer than 8 bits keep the lowest
    bits of a floating-point number beyond their limits. Later versions round once, and return 0 for such a number.
    """
    if numbers.dtype.kind == "f" and dtype.kind == "V":
        numbers = numbers.astype(np.float32 if is_float(dtype) else np.int64)
    return numbers.astype(dtype)


def _sticky(wide: Array, bits: int) -> Array:
    """Return float64 truncated to `bits` bits after the first. The last bit is set if any truncated bit is set.

    ml_dtypes converts float64 to its types in two steps, through float32 or float16. Both represent the returned
    numbers exactly. A returned number is a tie only if the original was one, so the second step, the only rounding,
    returns the nearest value.
    """
    mask = np.uint64((1 << (52 - bits)) - 1)
    raw = np.ascontiguousarray(wide).view(np.uint64)
    cut = (raw & ~mask) | np.where(raw & mask, mask + np.uint64(1), np.uint64(0))
    return np.where(np.isfinite(wide), cut.view(np.float64).reshape(wide.shape), wide)
