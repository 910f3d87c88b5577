# SPDX-License-Identifier: Apache-2.0
"""How far an answer to a case may differ from the oracle's: the operator's tolerance, applied to the actual values."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.case.allowance import Allowance, Bounds
from onnx_conformance.case.elements import is_float
from onnx_conformance.declare import DeclarationError
from onnx_conformance.declare.rounding import nearest
from onnx_conformance.specification import evaluator, schema
from onnx_conformance.tolerance import lane_sums, rounding_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Array, Value
    from onnx_conformance.declare import Op, Tolerance
    from onnx_conformance.specification.schema import OperatorVersion


_NARROW = np.dtype(np.float16).itemsize
_MOST = float(np.finfo(np.float64).max)


def of_answer(
    tolerance: Tolerance, answer: evaluator.Answer, operands: Sequence[np.dtype[Any]], named: list[int]
) -> Allowance:
    """Return how far an answer may differ from the oracle's. Bounds are computed when they are first needed.

    Args:
        tolerance: the tolerance of the operator.
        answer: the oracle's answer.
        operands: the types that an implementation may compute in; see `operand_types`.
        named: the indices of the outputs that the node names.

    Raises:
        DeclarationError: several values or orders are allowed for an output that need not be exact.
    """
    compute = _bounds(tolerance, answer, operands, named)
    masks = [answer.open[index] for index in named]
    is_open = any(mask is not None for mask in masks)
    has_bounds = is_open or tolerance.measured or tolerance.bound
    bounds = Bounds(lambda: (_opened(limits, masks) for limits in compute())) if has_bounds else None
    any_of = tuple(answer.any_of[index] for index in named)
    several = answer.any_order is not None or any(item is not None for item in any_of)
    if several and (tolerance.measured or tolerance.bound):
        raise DeclarationError(
            "choices-not-exact", "AnyOf and AnyOrder need exact outputs, because bounds apply to one expected value"
        )
    chosen = (item.values[0] for item in any_of if item is not None and item.elementwise)
    if not tolerance.exact and any(map(is_float, chosen)):
        raise DeclarationError(
            "choices-with-tolerance",
            "an elementwise AnyOf is compared exactly and cannot apply to floats with a tolerance",
        )
    return Allowance(
        reason=tolerance.reason,
        ulp=_ulp(tolerance, [answer.outputs[index] for index in named]),
        rtol=tolerance.rtol,
        atol=tolerance.atol,
        signed_zero=tolerance.signed_zero,
        interval=tolerance.interval if tolerance.limited_if is None or _of(tolerance.limited_if, answer) else None,
        sums=lane_sums.of_answer(tolerance, answer, named, functools.partial(_computed_in, steps=tolerance.steps)),
        bounds=bounds,
        any_of=any_of if any(item is not None for item in any_of) else (),
        any_order=answer.any_order,
    )


def _ulp(tolerance: Tolerance, outputs: Sequence[Value]) -> float:
    narrow = all(map(is_narrow_float, outputs))
    return tolerance.ulp if tolerance.narrow is None or not narrow else tolerance.narrow


def is_narrow_float(value: Value) -> bool:
    """Return whether a value is a tensor of floating-point numbers of at most 16 bits."""
    return isinstance(value, np.ndarray) and is_float(value) and value.dtype.itemsize <= _NARROW


def _computed_in(dtype: np.dtype[Any], *, steps: bool) -> np.dtype[Any]:
    """Return the type in which a careful implementation computes results of a type."""
    return dtype if steps or dtype.itemsize > _NARROW else np.dtype(np.float32)


def _rounded_last(value: Array, exact: Array, error: Array) -> Array:
    """Return the error of a result that is rounded to a type of 16 bits at the end.

    It covers the results of rounding all numbers within the error of the exact one, and at least one more unit for a
    number that is not subnormal.

    Args:
        value: the exact result, rounded to the type.
        exact: the exact result.
        error: the error before the result is rounded.
    """
    limits = ml_dtypes.finfo(value.dtype)  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        wide = value.astype(np.float64)
        ends = [nearest(exact + sign * error, value.dtype).astype(np.float64) for sign in (-1, 1)]
        reached = np.maximum(*(np.nan_to_num(np.abs(end - wide), nan=0.0, posinf=_MOST) for end in ends))
        unit = np.where(np.isfinite(wide) & (error > 0), np.abs(wide) * float(limits.eps), 0.0)
    return np.asarray(np.maximum(reached, error + unit))


def _bounds(
    tolerance: Tolerance, answer: evaluator.Answer, operands: Sequence[np.dtype[Any]], named: list[int]
) -> Callable[[], Iterator[Sequence[Array]]]:
    def measured() -> Iterator[Sequence[Array]]:
        exact = [answer.exact[index] for index in named]
        dtypes = [rounding_error.coarsest([answer.outputs[index].dtype, *operands]) for index in named]
        dtypes = [dtype if dtype is None else _computed_in(dtype, steps=tolerance.steps) for dtype in dtypes]
        return rounding_error.measure(evaluate, answer.arguments, exact, dtypes)

    def evaluate(arguments: Mapping[str, Any]) -> list[Any]:
        values = answer.evaluate(arguments)
        return [evaluator.determined(values[index]) for index in named]

    def computed() -> Iterator[Sequence[Array]]:
        errors = _errors(tolerance.bound, answer) if tolerance.bound else ()
        units = (_epsilon(answer.outputs[index], steps=tolerance.steps) for index in named)
        # A bound in epsilons may exceed the largest double although the error itself does not.
        bounds = (np.asarray(errors[index], np.longdouble) * unit for index, unit in zip(named, units, strict=True))
        # An infinite bound would mark the element as undefined, so the bound of an infinite term is the largest finite.
        yield [np.nan_to_num(bound.astype(np.float64), nan=0.0, posinf=_MOST) for bound in bounds]

    def nothing() -> Iterator[Sequence[Array]]:
        yield [np.zeros(np.shape(answer.outputs[index])) for index in named]

    def rounded() -> Iterator[Sequence[Array]]:
        for errors in measured() if tolerance.measured else computed():
            yield [_of_narrow(index, error) for index, error in zip(named, errors, strict=True)]

    def _of_narrow(index: int, error: Array) -> Array:
        value = answer.outputs[index]
        narrow = not tolerance.steps and is_narrow_float(value)
        return _rounded_last(value, answer.exact[index], error) if narrow else error

    return rounded if tolerance.measured or tolerance.bound else nothing


def _errors(bound: Callable[..., list[Array]], answer: evaluator.Answer) -> list[Array]:
    takes_version = "v" in inspect.signature(bound).parameters
    return bound(**({"v": answer.version} if takes_version else {}), **answer.arguments)


def _of(condition: Callable[..., bool], answer: evaluator.Answer) -> bool:
    """Return whether a condition applies to the arguments of an answer that it names."""
    return condition(**{name: answer.arguments.get(name) for name in inspect.signature(condition).parameters})


def _opened(bounds: Iterable[Array], masks: Sequence[Array | None]) -> tuple[Array, ...]:
    """Return the bounds, which are infinite for the elements that may have any value."""
    pairs = zip(bounds, masks, strict=True)
    return tuple(bound if mask is None else np.where(mask, np.inf, bound) for bound, mask in pairs)


def _epsilon(value: Value, *, steps: bool) -> float:
    """Return the epsilon of the type in which a careful implementation computes a value; 0 for other than floats."""
    if isinstance(value, np.ndarray) and is_float(value):
        part = value.real.dtype if value.dtype.kind == "c" else value.dtype
        return float(ml_dtypes.finfo(_computed_in(part, steps=steps)).eps)  # type: ignore[no-untyped-call]
    return 0.0


def operand_types(
    op: Op, version: OperatorVersion, inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> list[np.dtype[Any]]:
    """Return the types that an implementation may compute in, in addition to the type of the output.

    Args:
        op: the operator. If its tolerance has a `stage`, only the attribute of that name determines the type.
        version: the version in force.
        inputs: the inputs, in the form that `evaluator.apply` accepts.
        attributes: the attributes that the node sets.
    """
    stage = op.compare.stage
    number = evaluator.known(version, attributes)[stage] if stage in version.attributes else None
    if number:
        return [schema.dtype_of(schema.tensor_of(number))]
    flat = (item for value in inputs for item in (value if isinstance(value, list) else [value]) if item is not None)
    return [item.value.dtype for item in flat if isinstance(item.value, np.ndarray)]
