"""Resampling as the texts of Upsample and of the first Resize have it: lengths and scales, but no coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.declare.data import Array


def scaled_shape(shape: Sequence[int], scales: Sequence[float]) -> tuple[int, ...]:
    """Return floor(input_dimension * scale) of each dimension."""
    return tuple(math.floor(dim * float(scale)) for dim, scale in zip(shape, scales, strict=True))


def settled(x: Array, scales: Sequence[float], mode: str) -> Array | None:
    """Return what every mapping of coordinates gives; None where mappings differ.

    They agree where all elements are equal; where the nearest one is taken and each is repeated a whole number of
    times; and where nothing is scaled.
    """
    shape = scaled_shape(x.shape, scales)
    if math.prod(shape) == 0 or np.unique(x).size == 1:
        return np.resize(x, shape)
    if all(scale == 1 for scale in scales):
        return x
    if mode != "nearest" or any(scale != int(scale) for scale in scales):
        return None
    for axis, scale in enumerate(scales):
        x = np.repeat(x, int(scale), axis)
    return x
