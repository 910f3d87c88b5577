# SPDX-License-Identifier: Apache-2.0
"""Linear models: the allowed errors of their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.operators.traditionalml._post_transform import SLACK

if TYPE_CHECKING:
    from onnx_conformance.declare import Array


def linear_rounding(X: Array, coefficients: list[float] | None, intercepts: list[float] | None, targets: int) -> Array:
    """Return the errors of scores: of conversion, products, sums and a transform.

    Args:
        X: the features, of shape (N, F).
        coefficients: the coefficients of all targets, one target after the other.
        intercepts: one for each target, or None.
        targets: the number of targets.
    """
    weights = np.abs(np.array(coefficients)).reshape(targets, -1)
    wide = np.abs(np.where(np.isfinite(X.astype(np.float64)), X.astype(np.float64), 0))
    magnitudes = wide @ weights.T + np.abs(intercepts or [0.0])
    return np.asarray(magnitudes * (roundings(X.shape[-1] + 1) / 2 + 1) + SLACK)
