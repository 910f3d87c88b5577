# SPDX-License-Identifier: Apache-2.0
"""How far the answer of a careful implementation may be from the exact one, measured on the actual values.

The oracle is evaluated again, with a random error in the result of each operation. The error has the size of rounding
to the operands' type. This is Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic", 1997).

The error of a sum is that of adding the terms in a random order with random roundings. It therefore grows with the
square root of the number of terms (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019),
not with the number itself. The worst case, which no implementation reaches, would let wrong answers of 16 bits pass.
"""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import NoAnswer
from onnx_conformance.declare.rounding import is_float

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Array = np.ndarray[Any, Any]

RUNS = 16
"""How often the oracle is evaluated again. The root mean square of this many errors is less than half the true one in
one of a thousand measurements."""
FACTOR = 5
"""The allowed error, as a multiple of that root mean square. An operation here has an error of one unit, and rounding
has an error of at most one unit, so all operations of a chain of up to 25 may round to the same side."""
LIMITS = frozenset({2, 4, 8})
"""After how many evaluations there is a lower limit of the allowed error."""
LESS = 1 - 2.0**-20
"""By how much that is reduced, because the squares of numbers are rounded."""
FUNCTION = 4
"""The error of an exponential, a logarithm or a power, in units. IEEE 754 bounds only the operations of ROUND_ONCE."""
SATURATING = 1
"""An additional error of functions whose values are between -1 and 1, in units of 1. Libraries bound their absolute
error, so a small value may have few correct digits."""

MOST_DRAWN = 1 << 16
"""The number of elements of the largest tensors for which all errors are drawn. It takes longer than the operations."""
REUSED = (1 << 20) + 7
"""The number of errors that are drawn once, for larger tensors. It is prime, so that a stride of a tensor does not meet
the same errors again and again."""

ROUND_ONCE = frozenset({"add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal"})
BOUNDED = frozenset({"tanh", "sin", "cos", "erf"})
EXACT = frozenset({
    "negative", "positive", "absolute", "fabs", "sign", "maximum", "minimum", "fmax", "fmin", "clip", "floor", "ceil",
    "trunc", "rint", "conjugate", "copysign", "fmod", "remainder", "nextafter", "ldexp",
})  # fmt: skip
"""Operations whose results every type can represent, or that have only the errors of their operands."""
CONTRACTIONS = frozenset({np.einsum, np.dot, np.inner, np.vdot, np.tensordot, np.outer, np.convolve})
"""Sums of products that are not ufuncs; `matmul` is one."""


@dataclass(frozen=True)
class _Arithmetic:
    """The arithmetic of one evaluation.

    Attributes:
        unit: the largest relative error of rounding once: half an epsilon.
        tiny: the smallest subnormal number.
        draw: the source of errors; they are normally distributed with a standard deviation of one unit.
    """

    unit: float
    tiny: float
    draw: np.random.Generator


_arithmetic: list[_Arithmetic] = []
"""The arithmetic of the running evaluations, with the innermost last."""


class MeasureError(Exception):
    """No error can be measured. The operator file is at fault: an oracle must not branch on computed values alone."""


class Rounded(np.ndarray[Any, Any]):
    """Values whose operations return results with a random error; see the docstring of the module."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401 - numpy's
        """Return the function's result for the exact values, with an error."""
        operands = [_exact(item) for item in inputs]
        target = options.pop("out", None)
        options = {name: _exact(value) for name, value in options.items()}
        result = getattr(ufunc, method)(*operands, **options)
        if isinstance(result, tuple):
            return result
        rounded = _result(ufunc.__name__, method, operands, options, np.asarray(result))
        if target is None:
            return rounded
        target[0][...] = rounded
        return target[0]

    def saturated(self) -> Rounded:
        """Return the values with the error of a function whose values are between -1 and 1."""
        return _with_error(_exact(self), np.full(self.shape, SATURATING))

    def fourier(self, count: int, *, inverse: bool) -> Rounded:
        """Return the sums of `declare.rounding.fourier` with errors, which a fast transform computes as well.

        A factor e^(j a) has the error of an exponential. Its angle a is rounded up to four times.
        """
        values, length = _exact(self), self.shape[-1]
        total = (np.fft.ifft(values) * length if inverse else np.fft.fft(values))[..., :count]
        sizes = np.abs(values) ** 2
        squares, turned = (np.sum(sizes * weight, -1, keepdims=True) for weight in (1, np.arange(length) ** 2.0))
        angles = 2 * np.pi * np.arange(count) / length
        of_factors = FUNCTION**2 * squares + 2 * angles**2 * turned
        return _with_error(total, np.sqrt(of_factors + _of_sum(length, squares, total, products=True) ** 2))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401 - numpy's
        """Return the result of a function that calls others or moves values. Sums of products get an error."""
        if function not in CONTRACTIONS:
            return _wrapped(super().__array_function__(function, types, args, kwargs))
        operands = [_exact(item) for item in args]

        def of(change: Callable[[Array], Array]) -> Any:  # noqa: ANN401 - numpy's
            changed = [change(item) if isinstance(item, np.ndarray) else item for item in operands]
            return function(*changed, **kwargs)

        total = np.asarray(of(lambda item: item))
        terms = of(lambda item: np.ones(item.shape))
        return _with_error(total, _of_sum(terms, of(lambda item: np.abs(item) ** 2), total, products=True))


def _exact(value: Any) -> Any:  # noqa: ANN401 - whatever numpy takes
    if isinstance(value, Rounded):
        return value.view(np.ndarray)
    return type(value)(map(_exact, value)) if type(value) in {list, tuple} else value


def _wrapped(value: Any) -> Any:  # noqa: ANN401 - whatever an oracle takes
    """Return floating arrays, also those in lists and tuples, as arrays whose operations round."""
    if isinstance(value, np.ndarray | np.inexact):
        array = np.asarray(value)
        return array.view(Rounded) if array.dtype.kind in "fc" else value
    return type(value)(map(_wrapped, value)) if type(value) in {list, tuple} else value


def _result(name: str, method: str, operands: list[Any], options: Mapping[str, Any], result: Array) -> Any:  # noqa: ANN401
    """Return the result of a ufunc, with the error for its name and method."""
    if result.dtype.kind not in "fc" or name in EXACT:
        return _wrapped(result)
    size = np.abs(result)
    if name == "matmul":
        squares = np.matmul(np.abs(operands[0]) ** 2, np.abs(operands[1]) ** 2)
        return _with_error(result, _of_sum(np.shape(operands[0])[-1], squares, result, products=True))
    if method in {"reduce", "accumulate"}:
        terms = (
            np.size(operands[0]) // max(1, result.size) if method == "reduce" else result.shape[options.get("axis", 0)]
        )
        if name == "add":
            squares = getattr(np.add, method)(np.abs(operands[0]) ** 2, **options)
            return _with_error(result, _of_sum(terms, squares, result, products=False))
        return _with_error(result, size * np.sqrt(terms))
    if name in BOUNDED:
        return _with_error(result, FUNCTION * size + SATURATING)
    if name in {"add", "subtract"} and result.dtype.kind == "c":
        size = np.abs(result.real) + 1j * np.abs(result.imag)  # The parts are added separately.
    return _with_error(result, size * (1 if name in ROUND_ONCE else FUNCTION))


def _of_sum(terms: float | Array, squares: Array, total: Array, *, products: bool) -> Array:
    """Return the standard deviation of the error of a sum, in units.

    A partial sum of k of n terms x in a random order has the mean square k (n - k) / n² · Σx² + k² / n² · (Σx)², and is
    rounded. The sum over all k is n/6 · Σx² + n/3 · (Σx)². If the terms are products, each of them is rounded as well.
    The sum of a single term is not rounded.
    """
    # A single number is a float64, as an array of numbers is: a float of Python would leave a narrow sum narrow.
    added = np.where(terms > 1, terms, 0.0) if isinstance(terms, np.ndarray) else np.float64(terms if terms > 1 else 0)
    return np.asarray(np.sqrt((added / 6 + products) * squares + added / 3 * np.abs(total) ** 2))


def _with_error(result: Array, units: Array) -> Rounded:
    arithmetic = _arithmetic[-1]

    def drawn(units: Array) -> Array:
        size = np.asarray(arithmetic.unit * units + arithmetic.tiny * (units > 0))
        deviations = _deviations(arithmetic.draw, result.shape)
        errors = np.asarray(size * deviations)
        if result.dtype.kind != "c" and np.isfinite(errors).all():
            return errors  # The sum is right without the masks below, also where the result is not finite.
        finite = np.isfinite(result) & np.isfinite(size)
        return np.asarray(np.where(finite, size, 0) * deviations)

    if result.dtype.kind != "c":
        return (result + drawn(units)).view(Rounded)
    real, imag = (units.real, units.imag) if units.dtype.kind == "c" else (units, units)
    error = drawn(real) + 1j * drawn(imag)
    return (result + error).view(Rounded)


def _deviations(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return normally distributed numbers. Those of a large tensor are a random part of numbers that are drawn once."""
    if math.prod(shape) <= MOST_DRAWN:
        return draw.standard_normal(shape)
    deviations = np.empty(math.prod(shape))
    for first in range(0, deviations.size, REUSED):
        part, start = deviations[first : first + REUSED], draw.integers(REUSED)
        part[:] = _reused()[start : start + part.size]
    return deviations.reshape(shape)


@functools.cache
def _reused() -> Array:
    """Return the numbers that are drawn once, two times in a row.

    The sum of the numbers of this seed has the size that is expected of so many: 0.9 times the root of their number.
    """
    return np.tile(np.random.default_rng(0).standard_normal(REUSED), 2)


@contextlib.contextmanager
def _rounding_to(dtype: np.dtype[Any], seed: int) -> Iterator[None]:
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    _arithmetic.append(_Arithmetic(float(info.eps) / 2, float(info.smallest_subnormal), np.random.default_rng(seed)))
    try:
        with np.errstate(all="ignore"):  # Here, because it takes as long as many an operation.
            yield
    finally:
        _arithmetic.pop()


def coarsest(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
    """Return the floating type with the largest epsilon, or None if no type is a floating type."""
    floats = [dtype for dtype in dtypes if is_float(dtype)]
    return max(floats, key=lambda dtype: float(ml_dtypes.finfo(dtype).eps), default=None)  # type: ignore[no-untyped-call]


def measure(
    oracle: Callable[[Mapping[str, Any]], Sequence[Any]],
    arguments: Mapping[str, Any],
    exact: Sequence[Array],
    dtypes: Sequence[np.dtype[Any] | None],
) -> Iterator[tuple[Array, ...]]:
    """Yield how far each element of each output may be from the exact one; before that, lower limits, which grow.

    The mean of all squares is at least the sum of the first ones over the number of evaluations, so the first
    evaluations show that an answer is near enough, if it is.

    Args:
        oracle: returns the outputs for arguments by name.
        arguments: the exact arguments of the call.
        exact: the exact outputs, in a wide type.
        dtypes: for each output, the type that operations round to; None for an exact output.

    Raises:
        MeasureError: no evaluation with an error has an answer.
    """
    wrapped = {name: _wrapped(value) for name, value in arguments.items()}
    allowed = [np.zeros(np.shape(item)) for item in exact]
    for dtype in filter(None, dict.fromkeys(dtypes)):
        own = [index for index, each in enumerate(dtypes) if each == dtype]
        distances: list[list[Array]] = []
        for seed in range(RUNS):
            with _rounding_to(dtype, seed), contextlib.suppress(NoAnswer):  # A drawn error may cross a limit.
                outputs = oracle(wrapped)
                distances.append([_distance(exact[index], outputs[index]) for index in own])
            if distances and seed + 1 in LIMITS:
                part = math.sqrt(len(distances) / RUNS) * LESS
                for index, items in zip(own, zip(*distances, strict=True), strict=True):
                    allowed[index] = part * FACTOR * _root_mean_square(items)
                yield tuple(allowed)
        if not distances:
            raise MeasureError(
                f"the oracle has no answer near these values: every rounding error of {dtype.name} crosses a limit"
            )
        for index, items in zip(own, zip(*distances, strict=True), strict=True):
            allowed[index] = FACTOR * _root_mean_square(items)
    yield tuple(allowed)


def _distance(one: Array, other: Array) -> Array:
    with np.errstate(all="ignore"):
        distance = np.abs(np.asarray(_exact(other)) - one)
    return np.where(np.isfinite(distance), distance, 0.0)


def _root_mean_square(items: Sequence[Array]) -> Array:
    """Return the root of the mean square, element by element, also of numbers whose squares no type can represent."""
    largest = np.maximum(functools.reduce(np.maximum, items), np.finfo(float).tiny)
    squares = np.zeros(largest.shape)
    for item in items:
        squares += (item / largest) ** 2
    return np.asarray(largest * np.sqrt(squares / len(items)))
