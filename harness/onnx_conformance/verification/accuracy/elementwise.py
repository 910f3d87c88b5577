# SPDX-License-Identifier: Apache-2.0
"""Measures one elementwise function of a runtime in one type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.case.compare import times_allowed
from onnx_conformance.case.elements import ordered
from onnx_conformance.declare import NoAnswer
from onnx_conformance.tolerance.allowance import of_answer
from onnx_conformance.verification.accuracy import inputs, truth
from onnx_conformance.verification.accuracy.measured import (
    MOST_EXAMPLES,
    Elementwise,
    Errors,
    Example,
    LeftOut,
    Place,
    written,
)
from onnx_conformance.verification.accuracy.models import NoValuesError, Runner
from onnx_conformance.verification.accuracy.precise import PrecisionError
from onnx_conformance.verification.accuracy.truth import Format, Truth

if TYPE_CHECKING:
    from onnx_conformance.verification.accuracy.unary import Function

Array = np.ndarray[Any, Any]

FAITHFUL = 1.0
"""The largest error of one of the two numbers next to an exact result, in ULP, such as that of Atan for an infinity."""
BINS = 240
"""The number of parts into which the inputs are divided for a chart."""


def measured(
    runner: Runner, function: Function, dtype: np.dtype[Any], type_: str, points: int, seed: int
) -> Elementwise | LeftOut:
    """Return the errors of a function; or why it has none.

    Args:
        runner: runs models on the runtime.
        function: the function.
        dtype: the element type.
        type_: its name in ONNX.
        points: see `inputs.sweep`.
        seed: of the inputs.
    """
    draw = np.random.default_rng(seed)
    values = inputs.sweep(dtype, points, draw)
    operator = str(function.version)

    def left_out(reason: object) -> LeftOut:
        return LeftOut(operator, dict(function.attributes), type_, str(reason))

    try:
        exact = truth.of(function.op, function.version, function.attributes, values)
        actual = runner.elementwise(function, values)
        swept = len(values)
        parts = [(values, exact, actual)]
        if dtype.itemsize > inputs.NARROW:
            for number in range(inputs.ROUNDS):
                near = _next(parts, number, draw)
                if near is None:
                    break
                found = truth.of(function.op, function.version, function.attributes, near)
                parts.append((near, found, runner.elementwise(function, near)))
    except NoAnswer as no_answer:
        return left_out(f"the specification does not define the result: {no_answer}")
    except PrecisionError as error:
        return left_out(error)
    except NoValuesError as error:
        return left_out(error)
    whole = _Measurement(
        np.concatenate([part[0] for part in parts]),
        truth.joined([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )
    return Elementwise(
        operator=operator,
        attributes=dict(function.attributes),
        type=type_,
        inputs=len(whole.values),
        exhaustive=dtype.itemsize <= inputs.NARROW,
        unspecified=int(whole.exact.open.sum()),
        unknown=int((~whole.exact.known).sum()),
        normal=whole.errors_of(whole.normal, swept),
        subnormal=whole.errors_of(whole.subnormal, swept),
        flushed=whole.flushed(),
        of_bound=max(_of_bound(function, dtype, *part) for part in parts),
        bound=_bound_text(function, exact),
        special=whole.special(),
        special_count=whole.special_count(),
        disorder=whole.disorder(),
        disorder_count=whole.disorder_count(),
        chart=whole.chart(),
    )


def _next(parts: list[tuple[Array, Truth, Array]], number: int, draw: np.random.Generator) -> Array | None:
    """Return the inputs of the next round of the search; None if no input has an error."""
    values = np.concatenate([part[0] for part in parts])
    errors = np.concatenate([truth.errors(part[1], part[2]) for part in parts])
    exact = truth.joined([part[1] for part in parts])
    chosen = _normal(values, exact) & np.isfinite(errors)
    if not chosen.any() or not errors[chosen].max():
        return None
    return inputs.around(values[chosen], errors[chosen], number, draw)


def _normal(values: Array, exact: Truth) -> Array:
    """Return a mask of the elements whose input and result are both not subnormal."""
    numbers = Format.of(values.dtype)
    wide = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        small = (np.abs(wide) < numbers.smallest_normal) & (wide != 0)
        small |= (np.abs(exact.nearest) < numbers.smallest_normal) & (exact.nearest != 0)
    return np.asarray(np.isfinite(wide) & exact.judged & ~small)


class _Measurement:
    """The inputs, exact results and actual results of a function."""

    def __init__(self, values: Array, exact: Truth, actual: Array) -> None:
        self.values, self.exact, self.actual = values, exact, actual
        self.errors = truth.errors(exact, actual)
        self.normal = _normal(values, exact)
        self.subnormal = np.isfinite(values.astype(np.float64)) & exact.judged & ~self.normal
        self._codes = ordered(values)

    def errors_of(self, chosen: Array, swept: int) -> Errors | None:
        """Return the errors of some elements; the median and the percentile are those of the sweep."""
        sized = chosen & np.isfinite(self.errors)
        if not sized.any():
            return None
        index = int(np.flatnonzero(sized)[np.argmax(self.errors[sized])])
        typical = self.errors[:swept][sized[:swept]]
        return Errors(
            count=int(sized.sum()),
            median=float(np.median(typical)) if len(typical) else 0.0,
            percentile=float(np.percentile(typical, 99)) if len(typical) else 0.0,
            worst=self._place(index),
        )

    def _place(self, index: int) -> Place:
        dtype = self.values.dtype
        return Place(
            float(self.errors[index]),
            written(self.values[index], dtype),
            written(self.exact.nearest[index], np.dtype(np.float64)),
            written(self.actual[index], dtype),
        )

    def _special(self) -> Array:
        """Return the indices of elements whose result is wrongly NaN or no NaN, or, for an infinity, far from exact."""
        outside = ~np.isfinite(self.values.astype(np.float64))
        wrong = np.isnan(self.errors) | (outside & (self.errors > FAITHFUL))
        return np.flatnonzero(wrong & self.exact.judged)

    def special_count(self) -> int:
        return len(self._special())

    def special(self) -> tuple[Example, ...]:
        """Return examples of such elements."""
        places = (self._place(index) for index in self._special()[:MOST_EXAMPLES])
        return tuple(Example(place.input, place.expected, place.actual) for place in places)

    def flushed(self) -> int:
        """Return the number of results that are zero although the nearest number is subnormal."""
        numbers = Format.of(self.values.dtype)
        half = np.ldexp(1.0, numbers.least - numbers.fraction - 1)
        nonzero = self.subnormal & (np.abs(self.exact.nearest) > half)
        return int((nonzero & (self.actual.astype(np.float64) == 0)).sum())

    def _disorder(self) -> list[tuple[int, int]]:
        """Return neighbouring inputs whose results are in another order than the exact results."""
        judged = np.flatnonzero(
            np.isfinite(self.values.astype(np.float64)) & self.exact.judged & ~np.isnan(self.errors)
        )
        order = judged[np.argsort(self._codes[judged], kind="stable")]
        one, other = order[:-1], order[1:]
        step = self._codes[other] - self._codes[one]
        with np.errstate(all="ignore"):
            rise = self.exact.nearest[other] - self.exact.nearest[one] + (self.exact.rest[other] - self.exact.rest[one])
            got = self.actual[other].astype(np.float64) - self.actual[one].astype(np.float64)
            wrong = (step == 1) & (np.sign(rise) * np.sign(got) < 0)
        return list(zip(one[wrong].tolist(), other[wrong].tolist(), strict=True))

    def disorder_count(self) -> int:
        return len(self._disorder())

    def disorder(self) -> tuple[tuple[Example, Example], ...]:
        """Return examples of such neighbours."""
        return tuple((self._example(one), self._example(other)) for one, other in self._disorder()[:MOST_EXAMPLES])

    def _example(self, index: int) -> Example:
        place = self._place(index)
        return Example(place.input, place.expected, place.actual)

    def chart(self) -> tuple[tuple[str, float], ...]:
        """Return the largest error in each part of the inputs, in their order: an input and its error."""
        sized = np.flatnonzero(self.normal & np.isfinite(self.errors))
        order = sized[np.argsort(self._codes[sized], kind="stable")]
        parts = [part for part in np.array_split(order, BINS) if len(part)]
        worst = [int(part[np.argmax(self.errors[part])]) for part in parts]
        return tuple((written(self.values[index], self.values.dtype), float(self.errors[index])) for index in worst)


def _of_bound(function: Function, dtype: np.dtype[Any], values: Array, exact: Truth, actual: Array) -> float:
    """Return the largest error as a multiple of the suite's bound; see `times_allowed`."""
    del values
    with np.errstate(all="ignore"):  # A bound may be infinite for huge numbers.
        allowance = of_answer(function.op.compare, exact.answer, [dtype], [0])
        return times_allowed(exact.answer.outputs, [actual], allowance) or 0.0


def _bound_text(function: Function, exact: Truth) -> str:
    return of_answer(function.op.compare, exact.answer, [], [0]).limits
