"""Values together with how far off each may be where every operation rounds, in whatever order it sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Measured:
    """Values and, of the same shape, their errors in epsilons; what is quadratic in an epsilon does not count.

    Attributes:
        value: the exact value.
        off: how far an implementation may lie from it that rounds each operation by half an epsilon.
    """

    value: Array
    off: Array

    @classmethod
    def exact(cls, value: Array) -> Measured:
        """Return values without an error."""
        return cls(value, np.zeros_like(value))

    def __add__(self, other: Measured) -> Measured:
        """Return the sum; of three or more, in whatever order they are added."""
        off = self.off + other.off + np.abs(self.value) + np.abs(other.value)
        return Measured(self.value + other.value, off)

    def __mul__(self, other: Measured) -> Measured:
        """Return the product element by element."""
        product = self.value * other.value
        off = self.off * np.abs(other.value) + np.abs(self.value) * other.off + np.abs(product) / 2
        return Measured(product, off)

    def __matmul__(self, weights: Array) -> Measured:
        """Return the product with an exact matrix."""
        size = np.abs(weights)
        off = self.off @ size + np.abs(self.value) @ size * ((len(weights) + 4) / 2)
        return Measured(self.value @ weights, off)

    def through(self, function: Callable[[Array], Array], slope: float) -> Measured:
        """Return a function's values; `slope` is its steepest, and it errs by two epsilons of 1 and four of itself."""
        value = function(self.value)
        return Measured(value, self.off * slope + 4 * np.abs(value) + 2 * max(1.0, slope))

    def clipped(self, threshold: float) -> Measured:
        """Return the values bounded to [-threshold, +threshold]."""
        return Measured(np.clip(self.value, -threshold, threshold), self.off)

    def where(self, chosen: Array, other: Measured) -> Measured:
        """Return these where they are `chosen`, and the `other` elsewhere."""
        return Measured(np.where(chosen, self.value, other.value), np.where(chosen, self.off, other.off))


def one_minus(values: Measured) -> Measured:
    """Return 1 - values."""
    return Measured(1 - values.value, values.off + np.abs(1 - values.value) / 2)
