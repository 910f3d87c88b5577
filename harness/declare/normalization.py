"""The formula (x - mean) / sqrt(variance + epsilon) * scale + bias, and how far an answer may lie from it."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

COARSEST = 2.0**-7
"""Of the epsilons of the allowed types, bfloat16's: what is quadratic in an epsilon is at most so much of it."""


def per_channel(x: Array, values: Array) -> Array:
    """Return values that begin with the channel in a shape that broadcasts to x, whose axis 1 that is."""
    return values.reshape(values.shape + (1,) * (x.ndim - 1 - values.ndim)) if x.ndim > 1 else values


def normalized(
    x: Array, mean: Array, variance: Array, epsilon: float, scale: Array | float, bias: Array | float
) -> Array:
    """Return the formula's value; all of them broadcast to x."""
    with np.errstate(all="ignore"):
        return np.asarray((x - mean) / np.sqrt(variance + epsilon) * scale + bias)


def off_statistics(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the errors of mean and variance over `axes`, kept, in epsilons.

    Each addition, in any order, rounds by half an epsilon of all magnitudes; an error of the mean enters the
    variance by its square alone, since differences from the mean cancel out.
    """
    terms = max(1, int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64)))
    with np.errstate(all="ignore"):
        mean = np.abs(x).sum(axes, keepdims=True) / 2
        return mean, (terms / 2 + 3) * x.var(axes, keepdims=True) + mean**2 * COARSEST


def off_normalized(
    x: Array, mean: Array, variance: Array, epsilon: float, scale: Array | float, bias: Array | float,
    off_mean: Array | float, off_variance: Array | float,
) -> Array:  # fmt: skip
    """Return the error of the formula, in epsilons: a few roundings of every term, and what the statistics bring.

    The terms are those of either order of evaluation: (x - mean) * a + bias, or x * a + (bias - mean * a).
    """
    with np.errstate(all="ignore"):
        slope = np.abs(scale / np.sqrt(variance + epsilon))
        terms = (4 * (np.abs(x) + np.abs(mean)) + off_mean) * slope
        drift = np.abs(x - mean) * slope * off_variance / (2 * (variance + epsilon))
        return np.asarray(terms + drift + 2 * np.abs(bias))
