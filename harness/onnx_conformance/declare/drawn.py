"""Drawn: an output whose values are drawn at random, and their required properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
    Numbers = Array | float


@dataclass(frozen=True)
class Drawn:
    """Required properties of values that are drawn at random, or of which several will do.

    Attributes:
        example: values with these properties, of the shape and type of the output.
        low, high: limits of every element, once rounded to the type.
        choices: each element equals the element at its place in one of these.
        chosen_by: the boolean output that chooses: False takes the first of `choices`, True the second.
        mean, deviation: of each element; the elements are independent of one another.
        kurtosis: of each element; the allowed deviation of the sample's variance depends on it. None: not checked.
        same_as: the output with the same values.
    """

    example: Array
    low: float | None = None
    high: float | None = None
    choices: tuple[Array, ...] = ()
    chosen_by: int | None = None
    mean: Numbers | None = None
    deviation: Numbers | None = None
    kurtosis: float | None = None
    same_as: int | None = None

    def __str__(self) -> str:
        """Return the properties in a few words."""
        parts = [f"from {self.low:g} to {self.high:g}"] if self.low is not None and self.high is not None else []
        if self.choices:
            parts.append(f"one of {len(self.choices)} values each")
        if self.mean is not None and self.example.size:
            parts.append(f"mean {np.mean(self.mean):.4g}")
        if self.deviation is not None and self.example.size:
            parts.append(f"deviation {np.sqrt(np.mean(np.square(self.deviation))):.4g}")
        if self.same_as is not None:
            parts.append(f"the same as output {self.same_as}")
        return f"drawn: {', '.join(parts) or 'anything'}"
