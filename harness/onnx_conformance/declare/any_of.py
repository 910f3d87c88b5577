# SPDX-License-Identifier: Apache-2.0
"""AnyOf: an output for which the text allows several values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False, init=False)
class AnyOf:
    """The values that an output may have; an answer that equals one of them passes.

    Attributes:
        values: tensors of one type and, if `elementwise`, of one shape. Nodes that use the output get the first one.
        elementwise: whether each element may independently be that of any of the values. An example is an index of one
            of several equal elements. Such elements are compared exactly.
    """

    values: tuple[np.ndarray[Any, Any], ...]
    elementwise: bool

    def __init__(self, *values: np.ndarray[Any, Any], elementwise: bool = False) -> None:
        """Store the values.

        Raises:
            ValueError: there are no values, or they are elementwise and have different shapes.
        """
        if not values:
            raise ValueError("AnyOf needs at least one value")
        if elementwise and len({value.shape for value in values}) > 1:
            raise ValueError("values that are chosen by element must have the same shape")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "elementwise", elementwise)


def any_place(places: np.ndarray[Any, Any], where: np.ndarray[Any, Any]) -> AnyOf:
    """Return, for each lane along the last axis, any of the places at which a condition is true.

    Args:
        places: the numbers of the elements.
        where: the condition, with the same shape. It must be true at least once in each lane.
    """
    first = np.argsort(~where, -1, kind="stable")
    places, count = np.take_along_axis(places, first, -1), where.sum(-1)
    values = (np.where(number < count, places[..., number], places[..., 0]) for number in range(count.max(initial=1)))
    return AnyOf(*values, elementwise=True)
