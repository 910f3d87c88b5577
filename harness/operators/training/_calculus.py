"""Derivatives of graphs: numbers that carry their slope along (forward-mode differentiation), exact to float64.

A slope may itself be a number with a slope, which gives derivatives of derivatives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.clause import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from harness.declare.arguments import Call
    from harness.declare.data import Array


class Dual:
    """A number and its slope: how fast it changes with the one variable at hand."""

    __slots__ = ("slope", "value")

    def __init__(self, value: Any, slope: Any) -> None:  # noqa: ANN401 - float, or Dual
        """Take the number and its slope."""
        self.value, self.slope = value, slope

    def __add__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the sum: slopes add."""
        other = _dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the difference."""
        return self + _dual(other) * -1.0

    def __mul__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the product: (uv)' = u'v + uv'."""
        other = _dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __truediv__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the quotient: (u/v)' = (u' - u/v v') / v."""
        other = _dual(other)
        quotient = self.value / other.value
        return Dual(quotient, (self.slope - quotient * other.slope) / other.value)

    def __rsub__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the difference from a plain number."""
        return _dual(other) - self

    def __rtruediv__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the quotient of a plain number."""
        return _dual(other) / self

    __radd__, __rmul__ = __add__, __mul__


def _dual(number: Any) -> Dual:  # noqa: ANN401
    return number if isinstance(number, Dual) else Dual(number, 0.0)


def _chain(function: Callable[[float], float], slope: Callable[[Any, Any], Any]) -> Callable[[Array], Array]:
    """Return an elementwise function; `slope` gives its own slope from x and from its result."""

    def of(x: Any) -> Any:  # noqa: ANN401
        if not isinstance(x, Dual):
            return function(x)
        result = of(x.value)
        return Dual(result, slope(x.value, result) * x.slope)

    return lambda array: np.asarray(np.frompyfunc(of, 1, 1)(array), object)


def _sum(data: Array, axes: Array | None = None, keepdims: int = 1) -> Array:
    axis = None if axes is None else tuple(int(item) for item in axes)
    return np.asarray(np.sum(data, axis=axis, keepdims=bool(keepdims)), object)


MEANINGS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Identity": lambda a: a,
    "Exp": _chain(math.exp, lambda _, result: result),
    "Log": _chain(math.log, lambda x, _: 1.0 / x),
    "Sqrt": _chain(math.sqrt, lambda _, result: 0.5 / result),
    "Tanh": _chain(math.tanh, lambda _, result: 1.0 - result * result),
    "MatMul": np.matmul,
    "ReduceSum": _sum,
    "Where": np.where,
    # What follows does not change with anything that has a slope.
    "Constant": lambda *, value_float: np.array(value_float),
    "Equal": lambda a, b: np.asarray(a == b),
    "Size": lambda data: np.asarray(data.size),
    "CastLike": lambda number, _: number,
}
"""What operators mean where numbers carry slopes; those of ai.onnx that differentiable cases need."""


def leaves(nodes: Iterable[Call], name: str, stops: set[str]) -> Iterator[str]:
    """Yield every name that a value is made of: where a stop is reached, it; elsewhere what no node gives."""
    maker = next((node for node in nodes if name in node.outputs), None)
    if name in stops or maker is None:
        yield name
        return
    for given in maker.inputs:
        yield from leaves(nodes, given, stops)


def evaluate(nodes: Sequence[Call], name: str, values: dict[str, Array]) -> Array:
    """Return the value of a name; `values` holds those that are given, and keeps what is made of them.

    Raises:
        DeclarationError: nothing says how an operator is differentiated.
    """
    if name not in values:
        node = next(node for node in nodes if name in node.outputs)
        inputs = [evaluate(nodes, given, values) for given in node.inputs]
        domain, _, operator = node.operator.rpartition("/")
        if operator == "Gradient":
            attributes = node.attributes
            named = dict(zip([*attributes["xs"], *attributes.get("zs", [])], inputs, strict=True))
            results = [partial(nodes, attributes["y"], x, named) for x in attributes["xs"]]
        elif operator in MEANINGS and domain == "ai.onnx":
            results = [MEANINGS[operator](*inputs, **node.attributes)]
        else:
            raise DeclarationError(
                f"nothing says how {node.operator} is differentiated: see operators/training/_calculus.py"
            )
        values.update(zip(node.outputs, map(np.asarray, results), strict=False))
    return values[name]


def partial(nodes: Sequence[Call], y: str, x: str, values: Mapping[str, Array]) -> Array:
    """Return the partial derivatives of the one element of `y` with respect to each element of `x`, in the shape of x.

    Args:
        nodes: of the graph.
        y: the name of the result.
        x: the name of the variable.
        values: of x, and of all other names that y depends on.
    """
    shape = np.shape(values[x])
    slopes = np.empty(shape, object)
    for place in np.ndindex(shape):
        seeded = {name: _lifted(value, place if name == x else None) for name, value in values.items()}
        slopes[place] = _dual(np.asarray(evaluate(nodes, y, seeded), object).item()).slope
    return slopes


def _lifted(value: Array, place: tuple[int, ...] | None) -> Array:
    """Return numbers with a slope of 0, or of 1 at one place; what is no number has none."""
    flat = [item if isinstance(item, Dual) else float(item) for item in value.reshape(-1)] if _numbers(value) else None
    if flat is None:
        return value
    lifted = np.empty(len(flat), object)
    lifted[:] = [Dual(item, 0.0) for item in flat]
    lifted = lifted.reshape(value.shape)
    if place is not None:
        lifted[place] = Dual(lifted[place].value, 1.0)
    return lifted


def _numbers(value: Array) -> bool:
    """Tell whether these are numbers that change: floating-point, or numbers with slopes."""
    return value.dtype.kind == "f" or (value.dtype.kind == "O" and any(isinstance(x, Dual) for x in value.reshape(-1)))
