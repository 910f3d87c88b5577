# SPDX-License-Identifier: Apache-2.0
"""The values of inputs and outputs: tensors, sequences, maps, optionals, and random outputs with properties."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]
Value = Array | list["Value"] | dict[Any, "Value"] | None
"""A tensor, a sequence of values, a map, or an empty optional."""
Numbers = Array | float


@dataclass(frozen=True)
class Drawn:
    """Required properties of random values, or of values for which there are several right answers.

    Attributes:
        example: values with these properties, with the shape and type of the output.
        low, high: the limits of every element, after rounding to the type.
        choices: tensors; each element must equal the element at the same place in one of them.
        chosen_by: the index of a boolean output that selects from `choices`: False the first, True the second.
        mean, deviation: the mean and standard deviation of each element; the elements are independent.
        kurtosis: the kurtosis of each element, which determines the allowed deviation of the sample's variance. None if
            the variance is not checked.
        same_as: the index of the output that must have the same values.
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

    def among(self, named: Sequence[int]) -> Drawn:
        """Return the properties with references to outputs that count only those at the indices `named`."""
        if self.chosen_by is None:
            return self
        return dataclasses.replace(self, chosen_by=named.index(self.chosen_by) if self.chosen_by in named else None)

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
        return f"drawn: {', '.join(parts) or 'any values'}"
