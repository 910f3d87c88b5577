# SPDX-License-Identifier: Apache-2.0
"""Exact results of an elementwise operator, and the distance of actual results from them.

The result is the oracle's. Float64 is precise enough for most elements; `tolerance.rounding_error` measures for each
element how far its own result may be from the exact one. The others are evaluated with more digits.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.specification import evaluator
from onnx_conformance.specification.signature import TypedValue, type_of
from onnx_conformance.tolerance import rounding_error
from onnx_conformance.tolerance.rounding_error import MeasureError
from onnx_conformance.verification.accuracy import precise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare import Op
    from onnx_conformance.specification.evaluator import Answer
    from onnx_conformance.specification.schema import OperatorVersion

Array = np.ndarray[Any, Any]

PRECISE = 1 / 64
"""The largest error of a result that is exact enough to judge others by it, in units in the last place."""
BEYOND = 8.0
"""Results beyond this multiple of the largest power of 2 of a type are infinite in it, whatever their error is."""
LARGE = 2.0**960
"""Doubles beyond this number are scaled before they are subtracted, so that the distance from infinity is finite."""
SCALE = 2.0**-60


@dataclass(frozen=True)
class Truth:
    """The exact results for a vector.

    Attributes:
        nearest: the nearest doubles.
        rest: the difference from them.
        known: a mask of the elements whose exact result is known.
        open: a mask of the elements for which the text does not define the result.
        answer: the oracle's answer in float64.
    """

    nearest: Array
    rest: Array
    known: Array
    open: Array
    answer: Answer

    @property
    def judged(self) -> Array:
        """A mask of the elements whose result is defined and known."""
        return self.known & ~self.open


@dataclass(frozen=True)
class Format:
    """A floating-point format.

    Attributes:
        fraction: the number of bits of the fraction.
        least: the exponent of the smallest normal number.
        greatest: the exponent of the largest number.
    """

    fraction: int
    least: int
    greatest: int

    @staticmethod
    def of(dtype: np.dtype[Any]) -> Format:
        """Return the format of a floating type."""
        info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        return Format(int(info.nmant), int(info.minexp), int(info.maxexp) - 1)

    def unit(self, values: Array) -> Array:
        """Return the distance of neighbouring numbers of the format around each value: one ULP."""
        _, exponents = np.frexp(np.where(np.isfinite(values), values, np.ldexp(1.0, self.greatest)))
        bounded = np.clip(np.where(values == 0, self.least, exponents - 1), self.least, self.greatest)
        return np.asarray(np.ldexp(1.0, bounded - self.fraction))

    @property
    def smallest_normal(self) -> float:
        """The smallest positive normal number."""
        return 2.0**self.least


def of(op: Op, version: OperatorVersion, attributes: Mapping[str, Any], values: Array) -> Truth:
    """Return the exact results of an elementwise operator with one input.

    Args:
        op: the operator.
        version: its version.
        attributes: the attributes of the node.
        values: the elements, a vector of a floating type.

    Raises:
        NoAnswer: the text defines no result.
        PrecisionError: the precision of float64 is not enough, and the oracle cannot be evaluated with more.
    """
    answer = evaluator.apply(op, version, [TypedValue(values, type_of(values))], attributes, 1)
    nearest = np.array(answer.exact[0], np.float64)
    mask = answer.open[0]
    is_open = np.zeros(values.shape, bool) if mask is None else np.asarray(mask, bool)
    numbers = Format.of(values.dtype)
    wide = values.astype(np.float64)
    error = _error_of_float64(answer, nearest)
    with np.errstate(all="ignore"):
        poor = np.isfinite(wide) & (wide != 0) & ~is_open & (error > numbers.unit(nearest) * PRECISE)
        poor &= np.abs(nearest) < np.ldexp(BEYOND, numbers.greatest)
    rest, known = np.zeros(values.shape), ~poor
    if poor.any() and precise.available():
        name = version.inputs[0].name
        nearest[poor], rest[poor], known[poor] = precise.evaluated(answer, name, wide[poor], numbers.unit)
    return Truth(nearest, rest, known, is_open, answer)


def _error_of_float64(answer: Answer, exact: Array) -> Array:
    """Return how far the results of the oracle in float64 may be from the exact ones."""
    if answer.any_of[0] is not None:
        return np.zeros(exact.shape)

    def evaluate(arguments: Mapping[str, Any]) -> list[Any]:
        return [evaluator.determined(answer.evaluate(arguments)[0])]

    try:
        *_, (error,) = rounding_error.measure(evaluate, answer.arguments, [exact], [np.dtype(np.float64)])
    except MeasureError:
        return np.full(exact.shape, np.inf)
    return error


def errors(truth: Truth, actual: Array) -> Array:
    """Return the distance of results from the exact ones, in ULP of their type; NaN if it has no size.

    An infinity counts as the first power of 2 beyond the range of the type, as in rounding.
    """
    numbers = Format.of(actual.dtype)
    got = actual.astype(np.float64)
    scale = np.where((np.abs(truth.nearest) > LARGE) | (np.abs(got) > LARGE), SCALE, 1.0)
    with np.errstate(all="ignore"):
        top = np.ldexp(np.ldexp(1.0, numbers.greatest) * scale, 1)
        inside = np.abs(truth.nearest) * scale < top
        exact, given = np.clip(truth.nearest * scale, -top, top), np.clip(got * scale, -top, top)
        distance = np.abs((given - exact) - np.where(inside, truth.rest * scale, 0.0))
        unit = numbers.unit(truth.nearest) * scale
        both = np.isnan(truth.nearest) & np.isnan(got)
        return np.where(both, 0.0, distance / unit)


def joined(parts: list[Truth]) -> Truth:
    """Return the truths of several vectors as one, with the answer of the first."""
    return dataclasses.replace(
        parts[0],
        nearest=np.concatenate([item.nearest for item in parts]),
        rest=np.concatenate([item.rest for item in parts]),
        known=np.concatenate([item.known for item in parts]),
        open=np.concatenate([item.open for item in parts]),
    )
