# SPDX-License-Identifier: Apache-2.0
"""Comparison of the elements of two tensors of one type and shape: whether and how far they differ."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends.protocol import element_type

if TYPE_CHECKING:
    from onnx_conformance.case.allowance import Allowance

Array = np.ndarray[Any, Any]
WIDEST = 64
"""Bits of the widest floating-point type."""


def is_float(array: Array) -> bool:
    """Return whether the elements are floating-point numbers, including complex ones."""
    return is_float_type(array.dtype)


@functools.cache
def is_float_type(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is a floating-point type, or a complex one."""
    return dtype.kind in "fc" or "float" in dtype.name


def unequal(wanted: Array, got: Array, allowance: Allowance, bound: Array | None) -> Array:
    """Return a mask of the elements outside the allowance; complex numbers are compared by their parts."""
    if bound is not None and np.isinf(bound).any():  # These elements may have any value.
        return unequal(wanted, got, allowance, np.where(np.isinf(bound), 0, bound)) & ~np.isinf(bound)
    if not is_float(wanted):
        return np.asarray(wanted != got)
    if wanted.dtype.kind == "c":
        return unequal(wanted.real, got.real, allowance, bound) | unequal(wanted.imag, got.imag, allowance, bound)
    with np.errstate(all="ignore"):
        a, b = wanted.astype(np.float64), got.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if allowance.signed_zero:
            same &= np.isnan(a) | (np.signbit(a) == np.signbit(b))
        finite = np.isfinite(a) & np.isfinite(b)
        distance = np.abs(a - b)
        near = np.zeros(a.shape, bool)
        if allowance.rtol or allowance.atol:
            near = distance <= allowance.atol + allowance.rtol * np.abs(a)
        if bound is not None:
            near = near | (distance <= bound)
        if allowance.ulp:
            near = near | (ulps(wanted, got) <= allowance.ulp)
        if allowance.signed_zero:  # The sign of zero has no distance, so no tolerance covers it.
            near = near & ~((a == 0) & (b == 0))
        if allowance.interval is not None:
            low, high = np.array(allowance.interval).astype(wanted.dtype).astype(np.float64)
            near = near & (b >= low) & (b <= high)
    return np.asarray(~(same | (finite & near)))


def greatest_excess(wanted: Array, got: Array, allowance: Allowance, bound: Array | None) -> float:
    """Return the greatest difference of two tensors of floats as a multiple of the allowed one.

    Infinity if there is a difference where none is allowed, or one without a size.
    """
    if wanted.dtype.kind == "c":
        parts = ((wanted.real, got.real), (wanted.imag, got.imag))
        return max(greatest_excess(a, b, allowance, bound) for a, b in parts)
    with np.errstate(all="ignore"):
        a, b = wanted.astype(np.float64), got.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        allowed = allowance.atol + allowance.rtol * np.abs(a)
        if bound is not None:
            same = same | np.isinf(bound)  # These elements may have any value.
            allowed = np.maximum(allowed, bound)
        times = np.abs(a - b) / allowed
        if allowance.ulp:
            times = np.minimum(times, ulps(wanted, got) / allowance.ulp)
    if (np.isnan(times) & ~same).any():
        return np.inf
    return float(np.fmax.reduce(times, axis=None, initial=0.0))  # Equal elements have 0, or NaN, which it ignores.


def ordered(array: Array) -> Array:
    """Return for each float the signed number of representable values from zero; -0 and +0 are 0.

    float8e8m0 has no sign, so its codes are ordered already. Types below a byte have their sign in the highest of the
    bits that they use.
    """
    codes = array.view(f"i{array.dtype.itemsize}").astype(np.int64)
    sign, of_size = _masks(array.dtype)
    # -1 for negative numbers. Processors negate by its bits much faster than np.where chooses between random signs.
    negative = -((codes & sign) != 0).astype(np.int64)
    return np.asarray(((codes & of_size) ^ negative) - negative)


@functools.cache
def _masks(dtype: np.dtype[Any]) -> tuple[np.int64, np.int64]:
    """Return the bit of the sign, and the bits of the magnitude."""
    if dtype.name == "float8_e8m0fnu":
        return np.int64(0), np.int64(0xFF)
    bits = min(element_type(dtype).bits, dtype.itemsize * 8)
    return np.int64(-(2**63) if bits == WIDEST else 2 ** (bits - 1)), np.int64(2 ** (bits - 1) - 1)


def ulps(wanted: Array, got: Array) -> Array:
    """Return the number of representable values between the elements, as float64 (distances over 2**63 do not wrap)."""
    a, b = ordered(np.ascontiguousarray(wanted)), ordered(np.ascontiguousarray(got))
    exact: Array = np.abs(a - b).astype(np.float64)
    if wanted.dtype.itemsize * 8 < WIDEST:  # No distance wraps.
        return exact.reshape(wanted.shape)
    distance = np.abs(a.astype(np.float64) - b.astype(np.float64))
    return np.where(distance < 2.0**52, exact, distance).reshape(wanted.shape)
