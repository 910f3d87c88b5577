# SPDX-License-Identifier: Apache-2.0
"""Evaluates oracles with numbers of many digits, from mpmath.

An oracle computes in float64. That is not enough to judge results in float64, and those of formulas that cancel:
log(exp(x) + 1) of -20 has 7 correct digits. So this module calls the same oracle with an array whose elements are
numbers of mpmath. It doubles the precision until two results agree.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.rounding import is_float

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.specification.evaluator import Answer

Array = np.ndarray[Any, Any]

PRECISIONS = (96, 192, 384, 768, 1536, 3072)
"""Precisions in bits. The last one is enough for 1 + erf(x) where its value is the smallest double."""
ATTRIBUTE_BITS = 24
"""Attributes are float32, so a number with at most so many bits is meant exactly."""
SHORT = 9
"""A constant with at most so many digits is meant as that decimal number, such as 0.044715 in the text of Gelu."""


class PrecisionError(Exception):
    """An oracle cannot be evaluated with more digits than those of float64; the text contains the reason."""


def available() -> bool:
    """Return whether mpmath is installed."""
    return importlib.util.find_spec("mpmath") is not None


@functools.cache
def _context() -> Any:  # noqa: ANN401 - mpmath has no types
    import mpmath  # noqa: PLC0415 - optional

    return mpmath.mp.clone()


@functools.cache
def _named() -> Mapping[float, Callable[[], Any]]:
    """Return the well-known constants by their nearest double."""
    mp = _context()
    known: dict[float, Callable[[], Any]] = {
        math.sqrt(2): lambda: mp.sqrt(2),
        math.sqrt(2 / math.pi): lambda: mp.sqrt(2 / mp.pi),
        1 / math.sqrt(2): lambda: 1 / mp.sqrt(2),
        2 / math.sqrt(math.pi): lambda: 2 / mp.sqrt(mp.pi),
        math.log(2): lambda: mp.log(2),
        math.pi: lambda: +mp.pi,
        math.e: lambda: +mp.e,
        1 / 6: lambda: mp.mpf(1) / 6,
        1 / 3: lambda: mp.mpf(1) / 3,
    }
    return known


def _number(value: Any) -> Any:  # noqa: ANN401 - a number of Python, numpy or mpmath
    """Return the value of a constant as a number of mpmath.

    Raises:
        PrecisionError: it is unknown.
    """
    mp = _context()
    if isinstance(value, mp.mpf):
        return value
    number = float(value)
    if not math.isfinite(number) or number == 0:
        return mp.mpf(number)
    fraction, _ = math.frexp(number)
    if (fraction * 2**ATTRIBUTE_BITS).is_integer():
        return mp.mpf(number)
    if number in _named():
        return _named()[number]()
    digits = repr(abs(number)).partition("e")[0].replace(".", "").strip("0")
    if len(digits) <= SHORT:
        return mp.mpf(repr(number))
    raise PrecisionError(f"the oracle contains the constant {number!r}, whose exact value is unknown")


def _real(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of real numbers, which is NaN where it has no real value."""
    mp = _context()

    def of(*numbers: Any) -> Any:  # noqa: ANN401 - mpmath has no types
        try:
            value = function(*numbers)
        except ValueError:
            return mp.nan
        return mp.nan if isinstance(value, mp.mpc) else value

    return of


def _divide(one: Any, other: Any) -> Any:  # noqa: ANN401 - mpmath has no types
    mp = _context()
    if other == 0:
        return mp.nan if one == 0 or mp.isnan(one) else mp.inf * mp.sign(one)
    return one / other


def _logaddexp(one: Any, other: Any) -> Any:  # noqa: ANN401 - mpmath has no types
    mp = _context()
    return max(one, other) + mp.log1p(mp.exp(-abs(one - other)))


@functools.cache
def _functions() -> Mapping[str, Callable[..., Any]]:
    mp = _context()
    elementary = {
        "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sinh": mp.sinh,
        "cosh": mp.cosh, "tanh": mp.tanh, "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan, "arcsinh": mp.asinh,
        "arccosh": mp.acosh, "arctanh": mp.atanh, "expm1": mp.expm1, "log1p": mp.log1p, "power": mp.power,
        "erf": mp.erf, "floor": mp.floor, "ceil": mp.ceil, "rint": mp.nint,
    }  # fmt: skip
    return {name: _real(function) for name, function in elementary.items()} | {
        "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": _divide,
        "reciprocal": lambda number: _divide(1, number), "negative": operator.neg, "positive": operator.pos,
        "absolute": abs, "fabs": abs, "square": lambda number: number * number, "sign": mp.sign,
        "maximum": max, "minimum": min, "clip": lambda number, low, high: min(max(number, low), high),
        "logaddexp": _logaddexp, "remainder": lambda one, other: one - mp.floor(one / other) * other,
        "copysign": lambda size, sign: -abs(size) if sign < 0 else abs(size),
    }  # fmt: skip


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "greater": operator.gt, "greater_equal": operator.ge, "less": operator.lt, "less_equal": operator.le,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


@functools.cache
def _predicates() -> Mapping[str, Callable[[Any], bool]]:
    mp = _context()
    return {
        "isnan": mp.isnan,
        "isinf": mp.isinf,
        "isfinite": mp.isfinite,
        "signbit": lambda number: number < 0,  # mpmath has no negative zero.
    }


class Precise(np.ndarray[Any, Any]):
    """An array of numbers of mpmath, to which numpy's functions apply."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401 - numpy's
        """Return the result of a function of numpy in the present precision."""
        target = options.pop("out", None)
        name = ufunc.__name__
        compares = name in _COMPARISONS  # It does not matter how exact a limit is.
        operands = [_numbers(item, _context().mpf if compares else _number) for item in inputs]
        if method != "__call__" or name == "matmul":
            result = getattr(ufunc, method)(*operands, **options)
        elif compares:
            return np.asarray(_each(_COMPARISONS[name], operands), bool)
        elif name in _predicates():
            return np.asarray(_each(_predicates()[name], operands), bool)
        else:
            result = _each(_functions()[name], operands)
        made = _wrapped(result)
        if target is None:
            return made
        target[0][...] = made
        return target[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401 - numpy's
        """Return the result of a function that calls others or moves values."""
        return _wrapped(super().__array_function__(function, types, args, kwargs))

    def saturated(self) -> Precise:
        """Return the values unchanged; see `declare.rounding.saturated`."""
        return self

    def erf(self) -> Precise:
        """Return the error function of the values."""
        made: Precise = _wrapped(_each(_functions()["erf"], [self.view(np.ndarray)]))
        return made


def _each(function: Callable[..., Any], operands: list[Any]) -> Any:  # noqa: ANN401 - an array or a number
    return np.frompyfunc(function, len(operands), 1)(*operands)


def _numbers(value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - whatever numpy takes
    """Return an operand as numbers of mpmath, except masks.

    Args:
        value: an array or a number.
        convert: returns the number of mpmath for a number of Python.
    """
    if isinstance(value, Precise):
        return value.view(np.ndarray)
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "bO":
            return value
        return _each(lambda item: convert(float(item)), [value])
    return convert(value) if isinstance(value, float | int | np.number) and not isinstance(value, bool) else value


def _wrapped(value: Any) -> Any:  # noqa: ANN401 - whatever numpy returns
    array = np.asarray(value)
    return array.view(Precise) if array.dtype.kind == "O" else value


def evaluated(
    answer: Answer, name: str, values: Array, unit_of: Callable[[Array], Array]
) -> tuple[Array, Array, Array]:
    """Return the exact results of an elementwise oracle.

    Args:
        answer: its answer to a call, whose other arguments are used again.
        name: the argument that has the elements.
        values: the elements, finite numbers.
        unit_of: returns the units in the last place of results.

    Returns:
        For each element: the nearest double, the rest, and whether the result is known.

    Raises:
        PrecisionError: the oracle has a constant whose exact value is unknown, or functions that mpmath lacks.
    """
    mp = _context()
    nearest, rest, known = np.zeros(values.shape), np.zeros(values.shape), np.zeros(values.shape, bool)
    numbers = np.array([mp.mpf(float(item)) for item in values] or [0], object)[: len(values)]
    left = np.arange(len(values))
    before: Array | None = None
    for precision in PRECISIONS:
        if not len(left):
            break
        with mp.workprec(precision):
            result = _result(answer, name, numbers[left])
            heads = np.array([_head(item) for item in result])
            tails = np.array([_tail(item, head) for item, head in zip(result, heads, strict=True)])
            if before is not None:
                units = unit_of(heads)
                agrees = np.array([
                    _agree(one, other, unit, precision)
                    for one, other, unit in zip(before, result, units, strict=True)
                ], bool)  # fmt: skip
                nearest[left[agrees]], rest[left[agrees]] = heads[agrees], tails[agrees]
                known[left[agrees]] = True
                left, result = left[~agrees], result[~agrees]
        before = result
    return nearest, rest, known


def _result(answer: Answer, name: str, numbers: Array) -> Array:
    arguments = {
        key: _constants(value) if key != name else numbers.view(Precise) for key, value in answer.arguments.items()
    }
    try:
        value = answer.evaluate(arguments)[0]
    except (TypeError, KeyError, AttributeError) as error:
        raise PrecisionError(f"the oracle has operations that numbers of mpmath do not have: {error}") from None
    value = value.value if hasattr(value, "open") else value
    array = np.asarray(value)
    return array if array.dtype.kind == "O" else np.array([_context().mpf(float(item)) for item in array], object)


def _constants(value: Any) -> Any:  # noqa: ANN401 - any argument
    if isinstance(value, np.ndarray) and is_float(value.dtype):
        made: Precise = np.asarray(_each(_number, [value])).astype(object).view(Precise)
        return made
    return value


def _head(number: Any) -> float:  # noqa: ANN401 - mpmath has no types
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _tail(number: Any, head: float) -> float:  # noqa: ANN401 - mpmath has no types
    return float(number - head) if math.isfinite(head) else 0.0


ENOUGH = 1 / 128
"""How far apart two results of different precision may be, in units in the last place."""


def _agree(one: Any, other: Any, unit: float, precision: int) -> bool:  # noqa: ANN401 - mpmath has no types
    """Return whether a result is the same as in twice the precision."""
    mp = _context()
    if mp.isnan(one) or mp.isnan(other):
        return bool(mp.isnan(one) and mp.isnan(other))
    if mp.isinf(one) or mp.isinf(other):
        return bool(one == other)
    if other == 0 and precision < 64 - math.log2(unit):  # Terms may cancel because both precisions are too low.
        return False
    return bool(abs(one - other) <= mp.mpf(unit) * ENOUGH or (math.isinf(_head(one)) and math.isinf(_head(other))))
