"""PartlyOpen: an output in which the text does not determine some elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class PartlyOpen:
    """The value of an output in which some elements may have any value.

    Attributes:
        value: one valid value.
        open: a mask with the same shape: True for each element that the text does not determine.
    """

    value: np.ndarray[Any, Any]
    open: np.ndarray[Any, Any]
