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
