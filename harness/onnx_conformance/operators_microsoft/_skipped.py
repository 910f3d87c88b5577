# SPDX-License-Identifier: Apache-2.0
"""Sums that are normalized over their last axis: the residual, or skip, connections of transformers.

The operators normalize a sum of two or three tensors. The text computes it in real numbers, and an output returns it in
the type of the operator. So a careful implementation may round it to that type before it normalizes the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.operators.nn._normalization import moments, normalized_error, statistics_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]

LAST = (-1,)
"""The normalized axis."""
STAGE = float(np.finfo(np.float32).eps)
"""The epsilon of the statistics: careful implementations compute them in float32."""


def added(terms: Sequence[Array]) -> Array:
    """Return the sum of tensors that broadcast to the first, as doubles."""
    with np.errstate(all="ignore"):
        return np.asarray(sum(term.astype(np.float64) for term in terms))


def leaves_range(total: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether a sum is beyond the range of its type, or the sum of its squares beyond that of float32."""
    with np.errstate(all="ignore"):
        squares = (total**2).sum(-1)
        return bool(np.isinf(total.astype(dtype)).any() or np.isinf(squares.astype(np.float32)).any())


def standardized(total: Array, epsilon: float) -> tuple[Array, Array, Array]:
    """Return layer normalization without scale and shift, and the mean and the inverse standard deviation."""
    with np.errstate(all="ignore"):
        mean, variance = moments(total, LAST)
        inverse = 1 / np.sqrt(variance + epsilon)
        return (total - mean) * inverse, mean, inverse


def scaled_by_root(total: Array, epsilon: float) -> tuple[Array, Array]:
    """Return the sum divided by its root mean square, and the inverse of the root."""
    with np.errstate(all="ignore"):
        inverse = 1 / np.sqrt((total**2).mean(-1, keepdims=True) + epsilon)
        return total * inverse, inverse


def sum_error(terms: Sequence[Array]) -> Array:
    """Return the error of the sum, in epsilons of the operator's type: each addition rounds all magnitudes by half."""
    return np.asarray(added([np.abs(term) for term in terms]) * (len(terms) - 1) / 2)


def standardized_errors(terms: Sequence[Array], epsilon: float, gamma: Array, beta: Array | None) -> list[Array]:
    """Return the errors of layer normalization, of mean and of inverse deviation, and of the sum.

    The first and the last are in epsilons of the operator's type, the others in epsilons of float32. The error of the
    sum affects each element, its mean, and the variance by twice its product with the difference from the mean.
    """
    total, of_sum, factor = added(terms), sum_error(terms), np.abs(gamma.astype(np.float64))
    stage = STAGE / float(ml_dtypes.finfo(gamma.dtype).eps)  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        _, variance = moments(total, LAST)
        result, mean, inverse = standardized(total, epsilon)
        mean_error, variance_error = statistics_errors(total, LAST)
        mean_error, variance_error = (
            mean_error * stage + of_sum.mean(-1, keepdims=True),
            variance_error * stage + 2 * (np.abs(total - mean) * of_sum).mean(-1, keepdims=True),
        )
        shift = np.zeros(()) if beta is None else beta.astype(np.float64)
        own = normalized_error(total, mean, variance, epsilon, 1, 0, 0, 0) * stage
        drift = np.abs(result) * variance_error / (2 * (variance + epsilon))
        first = (
            (own + (of_sum + mean_error) * inverse + drift) * factor + 2 * np.abs(result * factor) + 2 * np.abs(shift)
        )
        of_inverse = (3 + variance_error / stage / (variance + epsilon)) * inverse
        return [first, mean_error / stage + np.abs(mean), of_inverse, of_sum]


def scaled_by_root_errors(terms: Sequence[Array], epsilon: float, gamma: Array) -> list[Array]:
    """Return the errors of the division by the root mean square, of the inverse root, and of the sum.

    They have the same units as those of `standardized_errors`.
    """
    total, of_sum = added(terms), sum_error(terms)
    stage = STAGE / float(ml_dtypes.finfo(gamma.dtype).eps)  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        result, inverse = scaled_by_root(total, epsilon)
        of_squares = 2 * (np.abs(total) * of_sum).mean(-1, keepdims=True) * inverse**2
        of_inverse = (total.shape[-1] / 4 + 3) * stage + of_squares / 2
        first = (np.abs(result) * (of_inverse + 2) + of_sum * inverse) * np.abs(gamma.astype(np.float64))
        return [first, of_inverse / stage * inverse, of_sum]
