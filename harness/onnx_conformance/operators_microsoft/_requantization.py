# SPDX-License-Identifier: Apache-2.0
"""Linear quantization to 8 bits of numbers that were dequantized before, which several operators share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare.families.quantization import quantized as quantized_as
from onnx_conformance.declare.readings import ONE_ELEMENT
from onnx_conformance.operators_microsoft._scales import reads_nearest

if TYPE_CHECKING:
    from onnx_conformance.declare import Array, Clause, Result, Version

ROUNDINGS = 4 * 2.0**-23
"""The relative error of a quotient: eight roundings of the scales, their products and quotients in float32."""


def scalar(v: Version, clause: Clause, value: Array) -> Array:
    """Return a scale or a zero point of a whole tensor; the `clause` that names it does not define another shape.

    Raises:
        Unspecified: it is not a scalar or a vector of one element.
    """
    v.silent(clause, value.size != 1 or value.ndim > 1)
    v.reads(ONE_ELEMENT, value.ndim == 1)
    return value.reshape(())


def finite_scale(v: Version, clause: Clause, scale: Array) -> float:
    """Return the scale of a quantized output as a number.

    Raises:
        Unspecified: it is 0, infinite or NaN, so that a division by it has no number as its result.
    """
    number = float(scalar(v, clause, scale))
    v.silent(clause, number == 0 or not np.isfinite(number))
    return number


def dequantized(values: Array, scale: Array, zero_point: Array) -> Array:
    """Return (values - zero_point) * scale in real numbers."""
    with np.errstate(all="ignore"):
        return np.asarray((values.astype(np.float64) - zero_point.astype(np.float64)) * scale.astype(np.float64))


def requantized(v: Version, clause: Clause, values: Array, scale: float, zero_point: Array) -> Result:
    """Return saturate(round(values / scale) + zero_point), in the type of the zero point.

    If a few roundings in float32 can change an element, both numbers are allowed. Therefore a tie, whose rounding the
    texts do not define, may be rounded to either side.
    """
    zero = zero_point.astype(np.float64)
    with np.errstate(all="ignore"):
        quotient = values / scale
        quotients = [quotient, quotient * (1 - ROUNDINGS), quotient * (1 + ROUNDINGS)]
    reads_nearest(v, quotient + zero, zero_point.dtype)
    return quantized_as(v, clause, quotients, zero, zero_point.dtype)
