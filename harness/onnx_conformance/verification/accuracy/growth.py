# SPDX-License-Identifier: Apache-2.0
"""Measures how the error of an operator grows with its number of terms."""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.case.compare import times_allowed
from onnx_conformance.declare import NoAnswer
from onnx_conformance.specification import evaluator, registry, schema
from onnx_conformance.specification.signature import TypedValue, gather, type_of
from onnx_conformance.tolerance.allowance import of_answer
from onnx_conformance.verification.accuracy import accumulators, truth
from onnx_conformance.verification.accuracy.measured import Growth, LeftOut, Terms
from onnx_conformance.verification.accuracy.models import NoValuesError, Runner, dtype_named
from onnx_conformance.verification.accuracy.sums import SUMS
from onnx_conformance.verification.accuracy.truth import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.verification.accuracy.sums import Sum

Array = np.ndarray[Any, Any]

COUNTS = (16, 64, 256, 1024, 4096, 16384)
"""The numbers of terms."""
TYPES = ("float", "float16", "bfloat16")
"""The measured types. The oracle adds in float64, which does not suffice to judge sums of doubles."""
ROUNDING = 1.0
"""An error of at most so many ULP is that of rounding the result, and of one more operation; it does not grow."""


def operators(wanted: Callable[[str], bool]) -> Iterator[tuple[Sum, Op, OperatorVersion]]:
    """Yield the operators of `sums` with their newest versions.

    Args:
        wanted: returns whether to include an operator version, such as ai.onnx/MatMul/13.
    """
    declared = registry.load()
    for item in SUMS:
        version = schema.versions("ai.onnx", item.operator)[-1]
        op = declared.find("ai.onnx", item.operator) if wanted(str(version)) else None
        if op is not None:
            yield item, op, version


def measured(runner: Runner, item: Sum, op: Op, version: OperatorVersion, type_: str, seed: int) -> Growth | LeftOut:
    """Return the errors of an operator over its number of terms; or why it has none.

    Args:
        runner: runs models on the runtime.
        item: how a call is built.
        op: the operator.
        version: its version.
        type_: the element type.
        seed: of the terms.
    """
    dtype = dtype_named(type_)
    draw = np.random.default_rng([seed, zlib.crc32(f"{version} {type_}".encode())])
    try:
        terms = tuple(_errors(runner, item, op, version, dtype, count, draw) for count in COUNTS)
    except NoAnswer as no_answer:
        return LeftOut(str(version), {}, type_, f"the specification does not define the result: {no_answer}")
    except NoValuesError as error:
        return LeftOut(str(version), {}, type_, str(error))
    accumulator = None
    if item.plain is not None:
        try:
            accumulator = accumulators.probed(functools.partial(_sums, runner, item, version), dtype)
        except NoValuesError:
            accumulator = None
    return Growth(str(version), type_, terms, exponent(terms), accumulator)


def _errors(
    runner: Runner, item: Sum, op: Op, version: OperatorVersion, dtype: np.dtype[Any], count: int,
    draw: np.random.Generator,
) -> Terms:  # fmt: skip
    terms = item.terms(count, dtype, draw)
    inputs = item.build(terms, draw.uniform(0.5, 1.5, count).astype(dtype))
    typed: list[TypedValue | None] = [TypedValue(value, type_of(value)) for value in inputs]
    answer = evaluator.apply(op, version, gather(version, typed), item.attributes, 1)
    actual = runner.result(version, inputs, item.attributes)
    exact = np.asarray(answer.exact[0], np.float64)
    if actual.shape != exact.shape:
        raise NoValuesError(f"it returned shape {list(actual.shape)}; expected {list(exact.shape)}")
    got = actual.astype(np.float64)
    if item.signed:
        errors = np.abs(got - exact) / Format.of(dtype).unit(np.abs(exact).max(keepdims=True))
    else:
        flat = exact.ravel()
        known = np.ones(flat.shape, bool)
        errors = truth.errors(truth.Truth(flat, np.zeros(flat.shape), known, ~known, answer), actual.ravel())
    sized = np.where(np.isnan(errors), np.inf, errors)
    allowance = of_answer(op.compare, answer, [dtype], [0])
    times = times_allowed(answer.outputs, [actual], allowance) or 0.0
    return Terms(count, float(sized.max()), float(np.median(sized)), times)


def _sums(runner: Runner, item: Sum, version: OperatorVersion, rows: Array) -> Array:
    """Return the sums of rows, as the runtime computes them."""
    assert item.plain is not None  # noqa: S101 - `measured` asks only for plain sums.
    count = rows.shape[1]
    result = runner.result(version, item.build(rows, np.ones(count, rows.dtype)), item.attributes)
    try:
        return np.asarray(item.plain(result, count), np.float64)
    except ValueError:
        raise NoValuesError(f"it returned shape {list(result.shape)}") from None


def exponent(terms: tuple[Terms, ...]) -> float | None:
    """Return the power of the number of terms with which the largest error grows; None if it is only that of rounding.

    It is the slope of a line through the logarithms, for the numbers of terms with an error above rounding.
    """
    grown = [(item.terms, item.ulp) for item in terms if ROUNDING < item.ulp < np.inf]
    if len(grown) < 3:  # noqa: PLR2004 - a slope needs three points
        return None
    counts, errors = np.log(np.array(grown)).T
    return float(np.polyfit(counts, errors, 1)[0])
