# SPDX-License-Identifier: Apache-2.0
"""Functions whose values have a known sum in each lane: an answer with another sum is wrong, however near it is."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare, times_allowed
from onnx_conformance.case.lane_sums import LaneSums
from onnx_conformance.generation import plans, sized
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.generation.deliveries import Plan

Array = np.ndarray[Any, Any]
SUMMING = (
    "Softmax",
    "ai.onnx.ml/LinearClassifier",
    "ai.onnx.ml/LinearRegressor",
    "ai.onnx.ml/TreeEnsemble",
    "ai.onnx.ml/TreeEnsembleClassifier",
    "ai.onnx.ml/TreeEnsembleRegressor",
)
"""The operators with a tolerance whose values in a lane are probabilities. Hardmax is exact.

An error of the logarithm of the sum shifts all values of LogSoftmax, and their tolerance allows it. So their
exponentials have no sum that is known better.
"""
ROWS = Allowance("rows", ulp=8, sums=LaneSums((1,), 1, 1e-6))
F32 = np.float32


def summing(name: str) -> Iterator[tuple[Plan, Array]]:
    """Yield the plans of an operator whose sums are known, and the values that are summed."""
    for plan in plans.plans(registry.load().named(name)):
        if plan.allowance.sums is not None and plan.expected is not None:
            values = plan.expected[plan.allowance.sums.output]
            assert isinstance(values, np.ndarray)
            yield plan, values


def test_every_operator_of_probabilities_has_their_sum() -> None:
    named = (str(op).removeprefix("ai.onnx/") for op in registry.load() if op.compare.sums is not None)
    assert sorted(named) == sorted(SUMMING)


@pytest.mark.parametrize("name", SUMMING)
def test_the_expected_values_have_their_sum(name: str) -> None:
    tried = 0
    for plan, values in summing(name):
        sums = plan.allowance.sums
        assert sums is not None
        assert (sums.far(values, values) <= sums.within).all(), plan.id
        tried += 1
    assert tried


def answers(plan: Plan, values: Array) -> tuple[Any, ...]:
    """Return the expected outputs of a plan with other values of its summed output."""
    assert plan.allowance.sums is not None
    assert plan.expected is not None
    outputs = list(plan.expected)
    outputs[plan.allowance.sums.output] = values
    return tuple(outputs)


def too_large(values: Array, epsilons: int) -> Array:
    """Return probabilities of a wrong operator: scaled, or one unit in the last place too large in types of 16 bits."""
    if values.dtype.itemsize <= np.dtype(np.float16).itemsize:
        return np.where((values > 0) & (values < 1), np.nextafter(values, values.dtype.type(1)), values)
    scale = 1 + epsilons * float(ml_dtypes.finfo(values.dtype).eps)  # type: ignore[no-untyped-call]
    return np.asarray(np.minimum(values * values.dtype.type(scale), values.dtype.type(1)))


def within_elements(plan: Plan, values: Array) -> tuple[Any, ...] | None:
    """Return an answer with wrong sums, as wrong as the tolerance of each element permits; None if there is none."""
    each = dataclasses.replace(plan.allowance, sums=None)
    wrong = (answers(plan, too_large(values, epsilons)) for epsilons in (16, 12, 9, 6))
    return next((item for item in wrong if compare(plan.expected or (), item, each) is None), None)


@pytest.mark.parametrize(("type_", "share"), [("float16", 1), ("bfloat16", 1), ("float32", 0.25)])
def test_sums_that_are_off_are_noticed_although_each_element_passes(type_: str, share: float) -> None:
    tried = noticed = 0
    for plan, values in summing("Softmax"):
        if values.dtype.name == type_ and np.isfinite(values.astype(float)).all() and values.size:
            wrong = within_elements(plan, values)
            if wrong is not None:
                tried += 1
                noticed += compare(plan.expected or (), wrong, plan.allowance) is not None
    assert tried
    assert noticed >= share * tried, (noticed, tried)


def difference(x: Array) -> Array:
    """Return the differences from the largest value of each row."""
    return np.asarray(x - x.max(-1, keepdims=True))


def one_after_the_other(x: Array) -> Array:
    """Return a softmax that adds one term after the other."""
    terms = np.exp(difference(x))
    return np.asarray(terms / np.add.accumulate(terms, -1, dtype=F32)[..., -1:])


def by_reciprocal(x: Array) -> Array:
    """Return a softmax that multiplies by the reciprocal of the sum."""
    terms = np.exp(difference(x))
    return np.asarray(terms * (F32(1) / terms.sum(-1, keepdims=True)))


def by_logarithm(x: Array) -> Array:
    """Return a softmax that subtracts the logarithm of the sum."""
    return np.asarray(np.exp(difference(x) - np.log(np.exp(difference(x)).sum(-1, keepdims=True))))


def of_a_rough_exponential(x: Array) -> Array:
    """Return a softmax whose exponentials are off by thousands of units in the last place."""
    terms = np.exp(difference(x)) * (F32(1) + F32(1e-3) * np.sin(x * F32(50)))
    return np.asarray(terms / terms.sum(-1, keepdims=True))


@pytest.mark.parametrize(
    "softmax",
    [one_after_the_other, by_reciprocal, by_logarithm, of_a_rough_exponential],
    ids=lambda item: item.__name__,
)
def test_the_sums_of_careful_implementations_pass(softmax: Callable[[Array], Array]) -> None:
    """The errors of exponentials change no sum, because they are in the terms and in the sum."""
    op = registry.load().named("Softmax")
    version = sized.version_of(op)
    assert version is not None
    tried = 0
    for item in sized.cases(op, version):
        if not item.spec.name.startswith("last"):
            continue
        plan = plans.plan(op, version, item.spec, item.types, item.suffix)
        sums, values = plan.allowance.sums, (plan.expected or ())[0]
        assert sums is not None
        assert isinstance(values, np.ndarray)
        if values.dtype.itemsize > np.dtype(F32).itemsize:
            continue
        given = plan.inputs[0][1]
        assert given is not None
        got = softmax(np.asarray(given.value).astype(F32)).astype(values.dtype)
        assert (sums.far(values, got) <= sums.within).all(), (plan.id, sums.far(values, got).max(), sums.within)
        tried += 1
    assert tried


def test_a_wrong_sum_is_described() -> None:
    wanted, got = np.array([[0.5, 0.5], [0.25, 0.75]], F32), np.array([[0.5, 0.5], [0.25, 0.75 + 2**-19]], F32)
    allowance = dataclasses.replace(ROWS, ulp=64)
    mismatch = compare((wanted,), (got,), allowance)
    assert str(mismatch) == (
        "outputs[0]: each element is near enough, but [1, :] sums to 1.00000191; expected 1 within 1e-06, because the "
        "elements of a lane add up to it"
    )
    assert mismatch is not None
    assert (mismatch.absolute, mismatch.ulp, mismatch.worst) == (2**-19, 16, (1, 0))
    assert times_allowed((wanted,), (got,), allowance) == pytest.approx(2**-19 / 1e-6)
    assert str(allowance) == "64 ULP, sums along axis 1 within 1e-06 of 1: rows"


@pytest.mark.parametrize(
    ("wanted", "bounds"),
    [([[np.nan, 0.5]], None), ([[np.inf, 0.5]], None), ([[0.5, 0.5]], np.array([[np.inf, 0]]))],
    ids=["NaN", "infinity", "any value"],
)
def test_a_lane_with_an_open_element_has_no_sum(wanted: list[list[float]], bounds: Array | None) -> None:
    allowance = dataclasses.replace(ROWS, bounds=None if bounds is None else (bounds,))
    got = np.array(wanted, F32)
    if bounds is not None:
        got[0, 0] = 7
    assert compare((np.array(wanted, F32),), (got,), allowance) is None


def test_lanes_of_several_axes_and_of_another_output() -> None:
    values = np.full((2, 2, 2), 0.25, F32)
    allowance = Allowance("matrices", ulp=8, sums=LaneSums((1, 2), 1, 1e-6, output=1))
    assert compare((values * 2, values), (values * 2, values), allowance) is None
    assert compare((values, values), (values, values * F32(1 + 2**-19)), dataclasses.replace(allowance, ulp=64))
    assert compare((values[:0], values[:0]), (values[:0], values[:0]), allowance) is None
    empty = np.zeros((2, 0, 2), F32)
    assert compare((empty, empty), (empty, empty), allowance) is None
