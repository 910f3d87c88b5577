# SPDX-License-Identifier: Apache-2.0
"""The error function, which numpy lacks."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare.rounding import rounding_as, saturated

if TYPE_CHECKING:
    from onnx_conformance.declare import Array

STEPS = 1 << 13
"""The number of points for each unit at which the standard library computes the function."""
END = 6
"""The function is 1 here and beyond: its distance from 1 is less than the last bit of a double."""
BLOCK = 1 << 14
"""The number of elements that are computed at once: temporary arrays of that size stay in a processor's cache."""


def erf(numbers: Array) -> Array:
    """Return the error function of each number, with an error of at most some units in the last place of a double.

    An array that has the function as a method computes it itself, with more digits; see
    `onnx_conformance.verification.accuracy.precise`.
    """
    if hasattr(numbers, "erf"):
        return np.asanyarray(numbers.erf())
    flat = np.asarray(numbers, np.float64).ravel()
    values = np.empty(flat.shape)
    for first in range(0, flat.size, BLOCK):
        values[first : first + BLOCK] = _erf(flat[first : first + BLOCK])
    return saturated(rounding_as(values.reshape(np.shape(numbers)), numbers))


@functools.cache
def _points() -> Array:
    """Return the function at each point from -END to END, and as imaginary part its derivative, which is read with it.

    The derivative is exp(-x**2) * 2 / sqrt(pi).
    """
    x = np.arange(-END * STEPS, END * STEPS + 1) / STEPS
    points = np.empty(x.shape, complex)
    points.real = [math.erf(number) for number in x]
    points.real[END * STEPS] = -0.0  # A sum with it has the sign of a zero that is added.
    points.imag = np.exp(-(x**2)) * (2 / math.sqrt(math.pi))
    return points


def _erf(numbers: Array) -> Array:
    """Return the first terms of the Taylor series around the nearest point x, at the distance h from it.

    erf(x + h) = erf(x) + erf'(x) * h * (1 - x h + (2 x**2 - 1) h**2 / 3 - ...)

    As h is at most 2**-14, the other terms are less than the last bit of a double.
    """
    h = np.clip(numbers, -END, END)
    x = h * STEPS
    np.rint(x, x)
    x += END * STEPS
    with np.errstate(invalid="ignore"):  # NaN has no nearest point; its distance from any point is NaN.
        near = np.take(_points(), x.astype(np.intp), mode="clip")
    x -= END * STEPS
    x *= 1 / STEPS
    h -= x
    x *= h
    terms = x * (2 / 3)
    terms -= 1
    terms *= x
    terms -= h * h * (1 / 3)
    terms += 1
    terms *= h
    terms *= near.imag
    terms += near.real
    return terms
