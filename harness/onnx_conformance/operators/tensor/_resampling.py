# SPDX-License-Identifier: Apache-2.0
"""Resampling as in the texts of Upsample and the first Resize: they define lengths and scales, but no coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.declare import Array


def scaled_shape(shape: Sequence[int], scales: Sequence[float]) -> tuple[int, ...]:
    """Return floor(input_dimension * scale) of each dimension."""
    return tuple(int(dim) for dim in np.floor(np.multiply(shape, np.asarray(scales, float))))


def settled(x: Array, scales: Sequence[float], mode: str) -> Array | None:
    """Return the result if all mappings of coordinates lead to the same one, otherwise None.

    They agree if all elements are equal, if each nearest element is repeated a whole number of times, and if nothing is
    scaled. No text defines how a weighted sum of integers becomes an integer: if a sum slightly below 7 is truncated,
    the result is 6.
    """
    shape = scaled_shape(x.shape, scales)
    if math.prod(shape) == 0 or all(scale == 1 for scale in scales):
        return np.resize(x, shape)
    if np.unique(x).size == 1 and (mode == "nearest" or x.dtype.kind not in "iu"):
        return np.resize(x, shape)
    if mode != "nearest" or any(scale != int(scale) for scale in scales):
        return None
    for axis, scale in enumerate(scales):
        x = np.repeat(x, int(scale), axis)
    return x
