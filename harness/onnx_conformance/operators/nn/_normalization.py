"""The formula (x - mean) / sqrt(variance + epsilon) * scale + bias, and how far an answer may lie from its value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause, Version

Array = np.ndarray[Any, Any]

COARSEST = 2.0**-7
"""The largest epsilon of the allowed types, bfloat16's: a term quadratic in an epsilon is at most this part of it."""


def per_channel(x: Array, values: Array) -> Array:
    """Return values of each channel in a shape that broadcasts to x, whose axis 1 is the channel if it has one."""
    return values.reshape(values.shape + (1,) * (x.ndim - 1 - values.ndim))


def normalized(
    x: Array, mean: Array, variance: Array, epsilon: float, scale: Array | float, bias: Array | float
) -> Array:
    """Return the formula's value; all of them broadcast to x."""
    with np.errstate(all="ignore"):
        return np.asarray((x - mean) / np.sqrt(variance + epsilon) * scale + bias)


def moments(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Return mean and population variance over `axes`, which stay as dimensions of 1; NaN of no elements."""
    terms = math.prod(x.shape[axis] for axis in axes)
    with np.errstate(all="ignore"):
        mean = x.sum(axes, keepdims=True) / terms
        return mean, ((x - mean) ** 2).sum(axes, keepdims=True) / terms


def statistics_errors(x: Array, axes: tuple[int, ...], *, by_squares: bool = False) -> tuple[Array, Array]:
    """Return the errors of mean and variance over `axes`, which stay as dimensions of 1, in epsilons.

    Each addition, in any order, rounds by half an epsilon of all magnitudes; an error of the mean enters the
    variance by its square alone, since differences from the mean cancel out. A variance computed `by_squares`, as
    the mean of the squares minus the square of the mean, has their error.
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

    The terms are those of either order of evaluation: (x - mean) * a + bias, or x * a + (bias - mean * a).
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

    Left open by `formula`: the mean of nothing, and squares beyond that type.
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
    """Return the errors of what `standardized` returns: the first in epsilons of x, the others in those of `stage`."""
    with np.errstate(all="ignore"):
        cast = x.astype(stage).astype(np.float64)
        mean, variance = moments(cast, axes)
        mean_error, variance_error = statistics_errors(cast, axes, by_squares=by_squares)
        first = normalized_error(cast, mean, variance, epsilon, 1, 0, mean_error, variance_error)
        inverse = (3 + variance_error / (variance + epsilon)) / np.sqrt(variance + epsilon)
        fine, coarse = (float(ml_dtypes.finfo(kind).eps) for kind in (x.dtype, stage))  # type: ignore[no-untyped-call]
        return first * coarse / fine, mean_error + np.abs(mean), inverse
