# SPDX-License-Identifier: Apache-2.0
"""Layouts of images: (N, C, D1, ..., Dn), and (N, D1, ..., Dn, C), in which the channels are last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare.any_of import AnyOf
from onnx_conformance.declare.partly_open import PartlyOpen

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Array, Result


def channels_second(images: Array) -> Array:
    """Return images of shape (N, D1, ..., Dn, C) in the shape (N, C, D1, ..., Dn)."""
    return np.moveaxis(images, -1, 1)


def channels_behind(images: Array) -> Array:
    """Return images of shape (N, C, D1, ..., Dn) in the shape (N, D1, ..., Dn, C)."""
    return np.moveaxis(images, 1, -1)


def moved(result: Result, move: Callable[[Array], Array]) -> Result:
    """Return a result whose values have their axes in another order."""
    if isinstance(result, PartlyOpen):
        value = moved(result.value, move)
        assert not isinstance(value, PartlyOpen)  # noqa: S101 - a mask has no mask
        return PartlyOpen(value, move(result.open))
    if isinstance(result, AnyOf):
        return AnyOf(*map(move, result.values), elementwise=result.elementwise)
    return move(result)
