"""Comparison of the elements of two tensors of one type and shape: whether and how far they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends.protocol import element_type

if TYPE_CHECKING:
    from onnx_conformance.case.allowance import Allowance

Array = np.ndarray[Any, Any]


def is_float(array: Array) -> bool:
    """Return whether the elements are floating-point numbers, including complex ones."""
    return array.dtype.kind in "fc" or "float" in array.dtype.name


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
        close = np.abs(a - b) <= allowance.atol + allowance.rtol * np.abs(a)
        near = close if allowance.rtol or allowance.atol else np.zeros(a.shape, bool)
        if bound is not None:
            near = near | (np.abs(a - b) <= bound)
        if allowance.ulp:
            near = near | (ulps(wanted, got) <= allowance.ulp)
        if allowance.signed_zero:  # The sign of zero has no distance, so no tolerance covers it.
            near = near & ~((a == 0) & (b == 0))
    return np.asarray(~(same | (finite & near)))


def ordered(array: Array) -> Array:
    """Return for each float the signed number of representable values from zero; -0 and +0 are 0.

    float8e8m0 has no sign, so its codes are ordered already. Types below a byte have their sign in the highest of the
    bits that they use.
    """
    width = array.dtype.itemsize * 8
    codes = array.view(f"u{array.dtype.itemsize}").astype(np.uint64)
    if array.dtype.name == "float8_e8m0fnu":
        return codes.astype(np.int64)
    bits = element_type(array.dtype).bits
    sign = np.uint64(1) << np.uint64(min(bits, width) - 1)
    magnitude = (codes & (sign - np.uint64(1))).astype(np.int64)
    return np.where(codes & sign, -magnitude, magnitude)


def ulps(wanted: Array, got: Array) -> Array:
    """Return the number of representable values between the elements, as float64 (distances over 2**63 do not wrap)."""
    a, b = np.ascontiguousarray(wanted), np.ascontiguousarray(got)
    distance = np.abs(ordered(a).astype(np.float64) - ordered(b).astype(np.float64))
    exact = np.abs(ordered(a) - ordered(b)).astype(np.float64)
    return np.where(distance < 2.0**52, exact, distance).reshape(wanted.shape)
