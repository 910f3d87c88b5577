"""AnyOrder: outputs whose elements along an axis may come in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Order:
    """What may change places.

    Attributes:
        axis: along which it does, from 0.
        lanewise: whether each lane along the axis has an order of its own; if not, all lanes have the same one, so that
            whole rows, or slices, change places.
    """

    axis: int
    lanewise: bool

    def __str__(self) -> str:
        """Return the order in a few words."""
        return f"in any order along axis {self.axis}" + (", each lane in its own" if self.lanewise else "")


@dataclass(frozen=True, eq=False, init=False)
class AnyOrder:
    """All outputs of an operator; they are equal as a set, and what stands at one place of them stays together.

    Attributes:
        outputs: tensors, in one of the orders.
        order: what may change places.
    """

    outputs: tuple[np.ndarray[Any, Any], ...]
    order: Order

    def __init__(self, *outputs: np.ndarray[Any, Any], axis: int, lanewise: bool = False) -> None:
        """Take the outputs, and along which axis of them the order is open; `lanewise` as in Order.

        Raises:
            ValueError: an output lacks the axis, or they differ in the dimensions that they have to share.
        """
        if not all(-output.ndim <= axis < output.ndim for output in outputs):
            raise ValueError(f"the outputs have no axis {axis}")
        sizes = {output.shape if lanewise else output.shape[axis] for output in outputs}
        if len(sizes) != 1:
            raise ValueError("outputs that change places together have the same size along the axis")
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "order", Order(axis % outputs[0].ndim, lanewise))
