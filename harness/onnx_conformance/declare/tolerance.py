"""Tolerances: how far an answer may lie from the expected value, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Tolerance:
    """How far from the expected value an answer may lie, and why.

    An element passes when it is within `ulp` units in the last place of its own type, or within
    `atol + rtol * |expected|`, or within the error that `bound` allows. All zero: the same value.

    Attributes:
        reason: the reason for it, in one line.
        ulp: units in the last place; of a subnormal number, its smallest: what is computed in normal numbers and scaled
            last errs there by half of one and, of its own error, by a half at most.
        narrow: the same for types of 16 bits, which a careful implementation computes in a wider one; None: as `ulp`.
        rtol: relative to the expected value.
        atol: absolute.
        signed_zero: whether +0 and -0 differ.
        measured: instead of a bound, the error of a careful implementation is measured on the values at hand, by
            evaluating the oracle with an error in every operation; see `onnx_conformance.tolerance.rounding_error`.
        stage: the name of the attribute whose type the text computes in; without one, the coarsest of the floating
            types of inputs and output.
        bound: a function of the oracle's arguments, by name, that returns the absolute error allowed for each element
            of each output, in epsilons of the output's type (for integers: none); for sums and products, whose error
            grows with the terms. It may take the Version, as `v`.
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

    @property
    def exact(self) -> bool:
        """Whether only the very same value passes."""
        return not (self.ulp or self.rtol or self.atol or self.bound or self.measured)


EXACT = Tolerance("the operator only moves or selects data", signed_zero=True)


def ulp(count: float, reason: str, *, narrow: float | None = None) -> Tolerance:
    """Allow `count` units in the last place, `narrow` of a type of 16 bits."""
    return Tolerance(reason, ulp=count, narrow=narrow)


def bounded(bound: Callable[..., list[Array]], reason: str) -> Tolerance:
    """Allow each element the absolute error that `bound` returns, in epsilons; see Tolerance."""
    return Tolerance(reason, bound=bound)


def measured(reason: str, *, stage: str = "") -> Tolerance:
    """Allow each element what a careful implementation may err on these values, which is measured; see Tolerance."""
    return Tolerance(reason, measured=True, stage=stage)
