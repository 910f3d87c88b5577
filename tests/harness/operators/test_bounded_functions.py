# SPDX-License-Identifier: Apache-2.0
"""Functions whose values are between two numbers: an answer beyond them is wrong, however near it is."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.base.values import Drawn
from onnx_conformance.case.compare import compare
from onnx_conformance.case.elements import is_float
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.generation.deliveries import Plan

Array = np.ndarray[Any, Any]
BOUNDED = {
    "Acos": (0, np.pi),
    "Asin": (-np.pi / 2, np.pi / 2),
    "Atan": (-np.pi / 2, np.pi / 2),
    "BlackmanWindow": (-(2.0**-25), 1 + 2.0**-25),
    "Cos": (-1, 1),
    "Erf": (-1, 1),
    "HammingWindow": (0, 1),
    "HannWindow": (0, 1),
    "HardSigmoid": (0, 1),
    "LpNormalization": (-1, 1),
    "Sigmoid": (0, 1),
    "Sin": (-1, 1),
    "Softmax": (0, 1),
    "Softsign": (-1, 1),
    "Tanh": (-1, 1),
    "ai.onnx.ml/LinearClassifier": (0, 1),
    "ai.onnx.ml/LinearRegressor": (0, 1),
    "ai.onnx.ml/Normalizer": (-1, 1),
    "ai.onnx.ml/TreeEnsemble": (0, 1),
    "ai.onnx.ml/TreeEnsembleClassifier": (0, 1),
    "ai.onnx.ml/TreeEnsembleRegressor": (0, 1),
}
"""The operators with a tolerance whose values have limits. Hardmax, Sign and Bernoulli are exact."""
RARE = {"ai.onnx.ml/LinearRegressor", "ai.onnx.ml/TreeEnsembleClassifier", "ai.onnx.ml/TreeEnsembleRegressor"}
"""Operators that no case takes near an end of the interval."""


def stepped(values: Array, place: int, towards: float) -> Array:
    """Return values whose element at a place is replaced by the next number of the type in a direction."""
    moved = values.copy()
    flat = moved.reshape(-1)
    other = np.full(1, towards, values.dtype)
    flat[place] = np.nextafter(flat[place : place + 1], other)[0]
    return moved


def answers_beyond(name: str) -> Iterator[tuple[Plan, list[Any]]]:
    """Yield plans of the newest version, and answers in which one element is one step beyond an end of the interval."""
    op = registry.load().named(name)
    for plan in plans.plans(op, (registry.versions(op)[-1].since,)):
        if plan.allowance.interval is None or plan.expected is None:
            continue
        for index, values in enumerate(plan.expected):
            if not isinstance(values, np.ndarray) or not is_float(values):
                continue
            for end, towards in zip(plan.allowance.interval, (-np.inf, np.inf), strict=True):
                at_end = np.flatnonzero(values == np.array(end).astype(values.dtype))
                if at_end.size:
                    answers = list(plan.expected)
                    answers[index] = stepped(values, int(at_end[0]), towards)
                    yield plan, answers


@functools.cache
def bounded() -> dict[str, tuple[float, float]]:
    """Return the interval of each operator that has one."""
    named = {str(op).removeprefix("ai.onnx/"): op.compare.interval for op in registry.load()}
    return {name: interval for name, interval in named.items() if interval is not None}


def test_every_bounded_function_has_its_interval() -> None:
    assert bounded() == BOUNDED


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BOUNDED.keys() - RARE))
def test_an_answer_one_step_beyond_the_interval_is_wrong(name: str) -> None:
    tried = hidden = 0
    for plan, answers in answers_beyond(name):
        tried += 1
        assert compare(plan.expected or (), answers, plan.allowance) is not None, plan.id
        hidden += compare(plan.expected or (), answers, dataclasses.replace(plan.allowance, interval=None)) is None
    assert tried, "no case has a value at an end of the interval"
    assert hidden, "the tolerance alone notices each of them"


def test_scores_without_a_transform_to_probabilities_have_no_interval() -> None:
    op = registry.load().named("ai.onnx.ml/LinearClassifier")
    allowances = {
        plan.attributes["post_transform"].s: plan for plan in plans.plans(op) if "post_transform" in plan.attributes
    }
    assert allowances[b"SOFTMAX"].allowance.interval == allowances[b"LOGISTIC"].allowance.interval == (0, 1)
    assert allowances[b"NONE"].allowance.interval is None


@pytest.mark.parametrize("type_", ["float16", "bfloat16", "float32", "float64"])
def test_an_end_is_rounded_to_the_type_of_the_output(type_: str) -> None:
    """The greatest arcsine of a float is above half of pi."""
    op = registry.load().named("Asin")
    dtype = np.dtype(ml_dtypes.bfloat16 if type_ == "bfloat16" else type_)
    plan = next(plans.plans(op, (22,)))
    end = np.full(1, np.pi / 2).astype(dtype)
    assert compare((end,), [end], plan.allowance) is None
    assert compare((end,), [np.nextafter(end, np.full(1, 9, dtype))], plan.allowance) is not None


@pytest.mark.parametrize("name", ["Bernoulli", "Dropout", "Multinomial", "RandomUniform", "RandomUniformLike"])
def test_a_drawn_value_beyond_those_of_the_distribution_is_wrong(name: str) -> None:
    op = registry.load().named(name)
    tried = 0
    for plan in plans.plans(op, (registry.versions(op)[-1].since,)):
        for index, value in enumerate(plan.expected or ()):
            if not isinstance(value, Drawn) or not value.example.size or value.example.dtype.kind == "b":
                continue
            answers = [item.example if isinstance(item, Drawn) else item for item in plan.expected or ()]
            assert compare(plan.expected or (), answers, plan.allowance) is None, plan.id
            outside = value.example.copy()
            wrong = max(item.max() for item in value.choices) + 1 if value.low is None else value.low - 1
            outside.reshape(-1)[0] = wrong
            answers[index] = outside
            assert compare(plan.expected or (), answers, plan.allowance) is not None, plan.id
            tried += 1
    assert tried
