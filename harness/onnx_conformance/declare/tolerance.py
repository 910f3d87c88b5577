# SPDX-License-Identifier: Apache-2.0
"""Tolerances: how far an answer may be from the expected value, and why."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sums:
    """The sum of the elements in each lane of an output.

    Attributes:
        total: the sum.
        axes: a function of the oracle's arguments, by name, that returns the axes of a lane, none below 0. It may have
            a parameter `v`, the Version. Without axes, the elements have no known sum.
        output: the index of the output.
    """

    total: float
    axes: Callable[..., tuple[int, ...]]
    output: int = 0


@dataclass(frozen=True)
class Tolerance:
    """How far from the expected value an answer may be, and why.

    An element passes if it is within `ulp` units in the last place of its type, or within `atol + rtol * |expected|`,
    or within the error that `bound` allows. If all of these are zero, it must have the same value.

    Attributes:
        reason: the reason for the tolerance, in one line.
        ulp: the error in units in the last place. For subnormal numbers, the unit is the smallest subnormal number: a
            result that is computed in normal numbers and scaled last has an error of half a unit there, and at most
            another half from the calculation.
        narrow: the same for types of 16 bits, which a careful implementation computes in a wider type; None to use
            `ulp`.
        rtol: the error relative to the expected value.
        atol: the absolute error.
        signed_zero: whether +0 and -0 differ.
        measured: whether the error of a careful implementation is measured on the actual values, instead of a bound.
            The oracle is then evaluated with an error in every operation; see
            `onnx_conformance.tolerance.rounding_error`.
        stage: the name of the attribute that selects the type of the calculation. Without it, the type is the coarsest
            of the floating types of inputs and output.
        bound: a function of the oracle's arguments, by name, that returns the absolute error allowed for each element
            of each output, in epsilons of the output's type (integers have no error). It is for sums and products,
            whose error grows with the terms. It may have a parameter `v`, the Version.
        steps: whether the text rounds between the steps of the calculation. Otherwise, a measured error or a bound of a
            type of 16 bits is that of a calculation in float32, and one unit for the rounding of its result: careful
            implementations do so, and the error of sums in 16 bits would let wrong answers pass.
        interval: the least and the greatest value of the function. An answer beyond them is wrong, however near it is:
            models rely on them, for example when they compute the arccosine of a cosine. An end that the type of the
            output lacks is rounded to that type.
        sums: the sum of the elements of each lane, such as that of probabilities. An answer with another sum is wrong,
            although each of its elements is near enough: models rely on it, for example when they compute 1 - p. It may
            be off by the rounding of a careful implementation; see `onnx_conformance.tolerance.lane_sums`.
        limited_if: whether the values are in the interval: a function of the oracle's arguments, by name, such as
            `post_transform`. Without it, they always are.
    """

    reason: str
    ulp: float = 0
    narrow: float | None = None
    rtol: float = 0
    atol: float = 0
    signed_zero: bool = False
    bound: Callable[..., list[Array]] | None = None
    measured: bool = False
    stage: str = ""
    steps: bool = False
    interval: tuple[float, float] | None = None
    limited_if: Callable[..., bool] | None = None
    sums: Sums | None = None

    @property
    def exact(self) -> bool:
        """Whether only the very same value passes."""
        return not (self.ulp or self.rtol or self.atol or self.bound or self.measured)

    def limited(self, low: float, high: float, when: Callable[..., bool] | None = None) -> Tolerance:
        """Return the tolerance of a function whose values are between two numbers, both included.

        Args:
            low: the least value.
            high: the greatest value.
            when: see `limited_if`.
        """
        return dataclasses.replace(self, interval=(low, high), limited_if=when)

    def summing_to(self, total: float, axes: Callable[..., tuple[int, ...]], output: int = 0) -> Tolerance:
        """Return the tolerance of a function whose values in each lane of an output have a known sum.

        Args:
            total: the sum.
            axes: see `Sums`.
            output: the index of the output.
        """
        return dataclasses.replace(self, sums=Sums(total, axes, output))


EXACT = Tolerance("the operator only moves or selects data", signed_zero=True)


def ulp(count: float, reason: str, *, narrow: float | None = None) -> Tolerance:
    """Allow `count` units in the last place, `narrow` of a type of 16 bits."""
    return Tolerance(reason, ulp=count, narrow=narrow)


def bounded(bound: Callable[..., list[Array]], reason: str, *, steps: bool = False) -> Tolerance:
    """Allow each element the absolute error that `bound` returns, in epsilons; see Tolerance."""
    return Tolerance(reason, bound=bound, steps=steps)


def measured(reason: str, *, stage: str = "") -> Tolerance:
    """Allow each element the measured error of a careful implementation on these values; see Tolerance."""
    return Tolerance(reason, measured=True, stage=stage, steps=bool(stage))
