"""AnyOf: an output for which the text allows several values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False, init=False)
class AnyOf:
    """The values that an output may have; an answer that equals one of them passes.

    Attributes:
        values: tensors of one type; where `elementwise`, of one shape too. Nodes that take the output get the first.
        elementwise: whether each element by itself may be that of any of the values, as the index of one of several
            equal elements. Such elements are compared exactly.
    """

    values: tuple[np.ndarray[Any, Any], ...]
    elementwise: bool

    def __init__(self, *values: np.ndarray[Any, Any], elementwise: bool = False) -> None:
        """Take the values.

        Raises:
            ValueError: there is none, or the elements of one have no counterparts in another.
        """
        if not values:
            raise ValueError("an output has at least one value")
        if elementwise and len({value.shape for value in values}) > 1:
            raise ValueError("values of several shapes have no elements in common")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "elementwise", elementwise)


def any_place(places: np.ndarray[Any, Any], where: np.ndarray[Any, Any]) -> AnyOf:
    """Return for each lane along the last axis any of the places where a condition holds.

    Args:
        places: numbers of the elements.
        where: of the same shape; it holds somewhere in each lane.
    """
    first = np.argsort(~where, -1, kind="stable")
    places, count = np.take_along_axis(places, first, -1), where.sum(-1)
    values = (np.where(number < count, places[..., number], places[..., 0]) for number in range(count.max(initial=1)))
    return AnyOf(*values, elementwise=True)
