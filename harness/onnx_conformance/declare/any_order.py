# SPDX-License-Identifier: Apache-2.0
"""AnyOrder: outputs whose elements along an axis may have any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Order:
    """The elements whose order is not determined.

    Attributes:
        axis: the axis along which the order is not determined, from 0.
        lanewise: whether the lanes along the axis may have different orders. If not, all lanes have the same order, so
            only whole rows or slices change places.
    """

    axis: int
    lanewise: bool

    def __str__(self) -> str:
        """Return the order in a few words."""
        return f"in any order along axis {self.axis}" + (", independently for each lane" if self.lanewise else "")


@dataclass(frozen=True, eq=False, init=False)
class AnyOrder:
    """All outputs of an operator, compared as a set; the elements at one place of all outputs belong together.

    Attributes:
        outputs: tensors, in one of the orders.
        order: the elements that may change places.
    """

    outputs: tuple[np.ndarray[Any, Any], ...]
    order: Order

    def __init__(self, *outputs: np.ndarray[Any, Any], axis: int, lanewise: bool = False) -> None:
        """Store the outputs and their order, with `axis` and `lanewise` of Order.

        Raises:
            ValueError: an output lacks the axis, or the outputs differ in a dimension that must be equal.
        """
        if not all(-output.ndim <= axis < output.ndim for output in outputs):
            raise ValueError(f"the outputs have no axis {axis}")
        sizes = {output.shape if lanewise else output.shape[axis] for output in outputs}
        if len(sizes) != 1:
            raise ValueError("the outputs of an AnyOrder must have the same size along its axis")
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "order", Order(axis % outputs[0].ndim, lanewise))
