# SPDX-License-Identifier: Apache-2.0
"""The formula (x - mean) / sqrt(variance + epsilon) * scale + bias, and the allowed errors of its value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause, Version

Array = np.ndarray[Any, Any]

COARSEST = 2.0**-7
"""The epsilon of bfloat16, the largest of the allowed types.

A term quadratic in an epsilon is at most this factor times epsilon.
"""


def per_channel(x: Array, values: Array) -> Array:
    """Return values of each channel in a shape that broadcasts to x. The channel is axis 1 of x, if x has an axis 1."""
    return values.reshape(values.shape + (1,) * (x.ndim - 1 - values.ndim))


def normalized(
    x: Array, mean: Array, variance: Array, epsilon: float, scale: Array | float, bias: Array | float
) -> Array:
    """Return the value of the formula. All arguments broadcast to x."""
    with np.errstate(all="ignore"):
        return np.asarray((x - mean) / np.sqrt(variance + epsilon) * scale + bias)


def moments(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Return mean and population variance over `axes`, kept as dimensions of 1. Without elements they are NaN."""
    terms = math.prod(x.shape[axis] for axis in axes)
    with np.errstate(all="ignore"):
        mean = x.sum(axes, keepdims=True) / terms
        return mean, ((x - mean) ** 2).sum(axes, keepdims=True) / terms


def statistics_errors(x: Array, axes: tuple[int, ...], *, by_squares: bool = False) -> tuple[Array, Array]:
    """Return the errors of mean and variance over `axes`, in epsilons. The axes remain as dimensions of 1.

    Each addition, in any order, rounds by half an epsilon of all magnitudes. Only the square of the error of the mean
    affects the variance, because the differences from the mean cancel out. If the variance is computed `by_squares`, as
    the mean of the squares minus the square of the mean, it has the error of the squares.
    """
    terms = max(1, int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64)))
    with np.errstate(all="ignore"):
        mean = np.abs(x).sum(axes, keepdims=True) / 2
        size = moments(x**2, axes)[0] if by_squares else moments(x, axes)[1]
        return mean, (terms / 2 + 3) * size + mean**2 * COARSEST


def normalized_error(
    x: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    scale: Array | float,
    bias: Array | float,
    mean_error: Array | float,
    variance_error: Array | float,
) -> Array:
    """Return the error of the formula, in epsilons: a few roundings of every term, and the errors of the statistics.

    The terms cover both orders of evaluation: (x - mean) * a + bias, and x * a + (bias - mean * a).
    """
    with np.errstate(all="ignore"):
        slope = np.abs(scale / np.sqrt(variance + epsilon))
        terms = (4 * (np.abs(x) + np.abs(mean)) + mean_error) * slope
        drift = np.abs(x - mean) * slope * variance_error / (2 * (variance + epsilon))
        return np.asarray(terms + drift + 2 * np.abs(bias))


def standardized(
    v: Version, formula: Clause, x: Array, axes: tuple[int, ...], epsilon: float, stage: np.dtype[Any]
) -> tuple[Array, Array, Array]:
    """Return (x - mean) / sqrt(variance + epsilon), mean and 1 / sqrt(variance + epsilon) of `x` cast to a type.

    Raise Unspecified for `formula` for the mean of no elements, and for squares outside the range of that type.
    """
    with np.errstate(all="ignore"):
        cast = x.astype(stage).astype(np.float64)
        mean, variance = moments(cast, axes)
        v.silent(formula, mean.size > x.size)
        squares = ((cast - mean) ** 2).sum(axes)
        v.silent(formula, bool(np.isinf(squares.astype(stage)).any()))
        inverse = 1 / np.sqrt(variance + epsilon)
        return (cast - mean) * inverse, mean, inverse


def standardized_errors(
    x: Array, axes: tuple[int, ...], epsilon: float, stage: np.dtype[Any], *, by_squares: bool = False
) -> tuple[Array, Array, Array]:
    """Return the errors of the results of `standardized`.

    The first is in epsilons of x, the others are in epsilons of `stage`.
    """
    with np.errstate(all="ignore"):
        cast = x.astype(stage).astype(np.float64)
        mean, variance = moments(cast, axes)
        mean_error, variance_error = statistics_errors(cast, axes, by_squares=by_squares)
        first = normalized_error(cast, mean, variance, epsilon, 1, 0, mean_error, variance_error)
        inverse = (3 + variance_error / (variance + epsilon)) / np.sqrt(variance + epsilon)
        fine, coarse = (float(ml_dtypes.finfo(kind).eps) for kind in (x.dtype, stage))  # type: ignore[no-untyped-call]
        return first * coarse / fine, mean_error + np.abs(mean), inverse
