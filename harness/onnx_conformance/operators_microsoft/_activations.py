# SPDX-License-Identifier: Apache-2.0
"""Activation functions that fused operators apply to their result: the operators of ONNX with these names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.partly_open import PartlyOpen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.partly_open import Result

Array = np.ndarray[Any, Any]


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _softplus(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _softsign(x: Array) -> Array:
    return np.asarray(x / (1 + np.abs(x)))


def _leaky_relu(x: Array, alpha: float) -> Array:
    return np.where(x < 0, alpha * x, x)


def _elu(x: Array, alpha: float) -> Array:
    return np.where(x < 0, alpha * np.expm1(x), x)


def _hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return np.clip(alpha * x + beta, 0, 1)


def _selu(x: Array, alpha: float, gamma: float) -> Array:
    return gamma * _elu(x, alpha)


FUNCTIONS: dict[str, tuple[Callable[..., Array], tuple[str, ...]]] = {
    "Relu": (_relu, ()),
    "Tanh": (np.tanh, ()),
    "Sigmoid": (_sigmoid, ()),
    "Softplus": (_softplus, ()),
    "Softsign": (_softsign, ()),
    "LeakyRelu": (_leaky_relu, ("alpha",)),
    "Elu": (_elu, ("alpha",)),
    "HardSigmoid": (_hard_sigmoid, ("alpha", "beta")),
    "Selu": (_selu, ("alpha", "gamma")),
}
"""By name: the function of an array and the coefficients, and the names of the coefficients."""
COMPARING = frozenset({"Relu", "HardSigmoid"})
"""The operators whose texts ask for the greater or lesser of two numbers, which they do not define for NaN."""
WITHOUT_SUMS = frozenset({"Relu", "LeakyRelu"})
"""The operators whose result has no error except that of a product."""


@dataclass(frozen=True)
class Activation:
    """A function of one number, with its coefficients.

    Attributes:
        name: a name in FUNCTIONS.
        coefficients: the value of each coefficient, by name.
    """

    name: str
    coefficients: Mapping[str, float]

    def result(self, v: Version, clause: Clause, values: Result) -> Result:
        """Return the function of each value.

        Open values have open results. The result of NaN is open if the function compares. The result of a value beyond
        the range of type T is open, because no text defines whether the value is rounded to infinity first.
        """
        numbers = values.value if isinstance(values, PartlyOpen) else values
        assert isinstance(numbers, np.ndarray)  # noqa: S101 - a sum has one value
        with np.errstate(over="ignore"):
            beyond = np.isfinite(numbers) & np.isinf(numbers.astype(v.dtypes["T"]))
        is_open = beyond | (np.isnan(numbers) & (self.name in COMPARING))
        if isinstance(values, PartlyOpen):
            is_open |= values.open
        return v.leave_open(clause, is_open, self.of(numbers))

    def of(self, values: Array) -> Array:
        """Return the function of each value."""
        with np.errstate(all="ignore"):
            return np.asarray(FUNCTIONS[self.name][0](values.astype(np.float64), **self.coefficients))

    def errors(self, values: Array, errors: Array) -> Array:
        """Return the errors of the results, for values with these errors: a few roundings more.

        No function has a greater slope than the product of all coefficients above 1. The numbers that it adds on the
        way, such as the exponential, have at most that size.
        """
        scale = math.prod(max(1.0, abs(value)) for value in self.coefficients.values())
        added = 0 if self.name in WITHOUT_SUMS else 4 * scale
        with np.errstate(all="ignore"):
            return np.asarray(scale * errors + 4 * np.abs(self.of(values)) + added)


def activation_of(name: str, coefficients: Mapping[str, float | None]) -> Activation | None:
    """Return an activation, or None if no activation with this name has exactly these coefficients.

    Args:
        name: the name of an operator of ONNX.
        coefficients: by the name of an attribute of that operator, its value; None if it is omitted.
    """
    given = {key: value for key, value in coefficients.items() if value is not None}
    return Activation(name, given) if name in FUNCTIONS and set(FUNCTIONS[name][1]) == set(given) else None
