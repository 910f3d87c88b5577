"""PartlyOpen: an output some of whose elements the text leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class PartlyOpen:
    """The value of an output, of whose elements some may be anything.

    Attributes:
        value: one valid value.
        open: of its shape, True for each element that the text does not determine.
    """

    value: np.ndarray[Any, Any]
    open: np.ndarray[Any, Any]
