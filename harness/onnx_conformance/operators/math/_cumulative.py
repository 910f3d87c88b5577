# SPDX-License-Identifier: Apache-2.0
"""Running sums and products, with the attributes of CumSum and CumProd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare import Array


def running(x: Array, accumulate: np.ufunc, axis: int, exclusive: int, reverse: int) -> Array:
    """Return the sums or products of the first j elements along `axis`; with `exclusive`, of the first j - 1.

    Args:
        x: the elements.
        accumulate: `np.add` or `np.multiply`.
        axis: the axis of the tensor.
        exclusive: if 1, the j-th element is left out.
        reverse: if 1, sums or products start at the end of the axis.
    """
    forward = np.flip(x, axis) if reverse == 1 else x
    results = accumulate.accumulate(forward, axis, np.longdouble if x.dtype.kind == "f" else object)
    if exclusive == 1:
        results = np.roll(results, 1, axis)
        np.moveaxis(results, axis, 0)[:1] = accumulate.identity
    return np.flip(results, axis) if reverse == 1 else results
