# SPDX-License-Identifier: Apache-2.0
"""PartlyOpen: an output in which the text does not determine some elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onnx_conformance.declare.any_of import AnyOf


@dataclass(frozen=True)
class PartlyOpen:
    """The value of an output in which some elements may have any value.

    Attributes:
        value: one valid value; or an elementwise AnyOf, if other elements may have one of several values.
        open: a mask with the same shape: True for each element that the text does not determine.
    """

    value: np.ndarray[Any, Any] | AnyOf
    open: np.ndarray[Any, Any]


Result = np.ndarray[Any, Any] | AnyOf | PartlyOpen
"""The value of an output: each element has one value, one of several, or any value."""


def reshaped(result: Result, shape: tuple[int, ...]) -> Result:
    """Return a result in another shape with the same number of elements."""
    if isinstance(result, PartlyOpen):
        value = reshaped(result.value, shape)
        assert not isinstance(value, PartlyOpen)  # noqa: S101 - a mask has no mask
        return PartlyOpen(value, result.open.reshape(shape))
    if isinstance(result, AnyOf):
        return AnyOf(*(value.reshape(shape) for value in result.values), elementwise=result.elementwise)
    return result.reshape(shape)
