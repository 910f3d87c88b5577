# SPDX-License-Identifier: Apache-2.0
"""The sums of the lanes of an output, such as the probabilities of one row, which are 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class LaneSums:
    """The sum that the elements of each lane of one output must have.

    A lane contains the elements that differ only in their indices along `axes`. A lane has no sum to check if one of
    its expected elements is not finite, or may have any value.

    Attributes:
        axes: the axes of a lane, none below 0.
        total: the sum of each lane.
        within: how far the sum may be from it.
        output: the index of the output.
    """

    axes: tuple[int, ...]
    total: float
    within: float
    output: int = 0

    def of(self, values: Array) -> Array:
        """Return the sums of all lanes. The summed axes have size 1."""
        with np.errstate(all="ignore"):
            return np.asarray(values.astype(np.float64).sum(self.axes, keepdims=True))

    def far(self, wanted: Array, got: Array, bound: Array | None = None) -> Array:
        """Return how far the sum of each lane is from the total; 0 for lanes without a sum to check.

        Args:
            wanted: the expected output.
            got: the actual output, of the same type and shape.
            bound: the absolute errors allowed for its elements; infinite for those that may have any value.
        """
        known = np.isfinite(wanted.astype(np.float64))
        if bound is not None:
            known = known & ~np.isinf(bound)
        lanes = known.all(self.axes, keepdims=True) & bool(known.size)
        with np.errstate(all="ignore"):
            return np.where(lanes, np.abs(self.of(got) - self.total), 0.0)

    @property
    def members(self) -> dict[str, Any]:
        """The attributes as JSON writes them."""
        return {"axes": list(self.axes), "total": self.total, "within": self.within, "output": self.output}

    @classmethod
    def of_members(cls, members: Mapping[str, Any]) -> LaneSums:
        """Return the sums that `members` describes."""
        return cls(tuple(members["axes"]), members["total"], members["within"], members["output"])

    def __str__(self) -> str:
        """Return a phrase such as "sums along axis 1 within 6e-07 of 1"."""
        along = f"axis {self.axes[0]}" if len(self.axes) == 1 else f"axes {list(self.axes)}"
        return f"sums along {along} within {self.within:.2g} of {self.total:g}"
