# SPDX-License-Identifier: Apache-2.0
"""Values drawn at random: right generators pass, each wrong one is named."""

from __future__ import annotations

import dataclasses
import functools
import json
import runpy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case import properties
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import Drawn
from onnx_conformance.generation import plans
from onnx_conformance.repro import literals
from onnx_conformance.repro import script as repro
from onnx_conformance.specification import registry
from onnx_conformance.suites import onnx_layout
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

NORMAL = Drawn(np.zeros((40, 50), np.float32), mean=2.0, deviation=3.0, kurtosis=3)
UNIFORM = Drawn(np.zeros(2000, np.float32), low=-1.0, high=1.0, mean=0.0, deviation=1 / np.sqrt(3), kurtosis=1.8)
STEPS = np.linspace(0, 1, 600)
COIN = Drawn(
    np.zeros(600, np.float32),
    choices=(np.where(STEPS == 1, 1, 0), np.where(STEPS == 0, 0, 1)),
    mean=STEPS,
    deviation=np.sqrt(STEPS * (1 - STEPS)),
)


def draw(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def complaint(drawn: Drawn, values: Any, *others: Any) -> str:
    got = np.asarray(values).astype(drawn.example.dtype)
    return properties.broken(drawn, got, [got, *others])


@pytest.mark.parametrize("seed", range(200))
def test_right_generators_pass(seed: int) -> None:
    assert complaint(NORMAL, draw(seed).normal(2, 3, (40, 50))) == ""
    assert complaint(UNIFORM, draw(seed).uniform(-1, 1, 2000)) == ""
    assert complaint(COIN, draw(seed).random(600) < STEPS) == ""


@pytest.mark.parametrize(
    ("drawn", "values", "sentence"),
    [
        (NORMAL, draw().normal(0, 3, (40, 50)), "sigma from 2"),
        (NORMAL, draw().normal(2.6, 3, (40, 50)), "sigma from 2"),
        (NORMAL, draw().normal(2, 9, (40, 50)), "times the expected one"),
        (NORMAL, draw().normal(2, 2.4, (40, 50)), "times the expected one"),
        (NORMAL, np.full((40, 50), 2), "the variance of 2000 is 0 times the expected one"),
        (NORMAL, np.full((40, 50), np.nan), "2000 elements are NaN"),
        (UNIFORM, draw().uniform(0, 1, 2000), "sigma from 0"),
        (UNIFORM, draw().uniform(-1, 1.1, 2000), "is above 1"),
        (UNIFORM, draw().uniform(-1.1, 1, 2000), "is below -1"),
        (UNIFORM, draw().choice([-1, 1], 2000), "times the expected one"),
        (COIN, draw().random(600) > STEPS, "2 elements have none of their 2 allowed values"),
        (COIN, np.where(STEPS * (1 - STEPS) > 0, 1, STEPS), "sigma from 0.5"),
        (COIN, np.where(STEPS * (1 - STEPS) > 0, 0.5, STEPS), "598 elements have none of their 2 allowed values"),
    ],
)
def test_wrong_generators_are_named(drawn: Drawn, values: Any, sentence: str) -> None:
    assert sentence in complaint(drawn, values), complaint(drawn, values)


def test_rounding_makes_no_draw_of_two_equally_likely_values_wrong() -> None:
    halves = Drawn(np.zeros(2, np.float32), mean=0.5, deviation=0.5 + 1e-12, kurtosis=1.0)
    assert complaint(halves, [1, 0]) == ""


def test_values_without_chance_must_be_equal() -> None:
    certain = Drawn(np.zeros(3, np.float32), mean=2.0, deviation=0.0)
    assert complaint(certain, [2, 2, 2]) == ""
    assert complaint(certain, [2, 2, 3]) == "the values differ from the only possible value"


def test_the_same_seed_must_give_the_same_values() -> None:
    again = Drawn(np.zeros(3, np.float32), same_as=1)
    assert complaint(again, [1, 2, 3], np.array([1, 2, 3], np.float32)) == ""
    wanted = "the values differ from output 1, which has the same seed"
    assert complaint(again, [1, 2, 3], np.array([1, 2, 4], np.float32)) == wanted


def test_a_mask_chooses_elements() -> None:
    mask = np.array([True, False, True])
    output = Drawn(np.zeros(3, np.float32), choices=(np.zeros(3), np.array([2.0, 4.0, 6.0])), chosen_by=1)
    assert complaint(output, [2, 0, 6], mask) == ""
    assert complaint(output, [2, 4, 6], mask) == "1 elements differ from the choice in output 1"
    assert complaint(output, [2, 0, 6], mask[:2]) == "output 1, which selects the values, has another shape"


@functools.cache
def property_cases(name: str) -> tuple[Case, ...]:
    """Return a few cases of a random operator."""
    cases = [case for case in plans.cases(registry.load().named(name)) if case.outcome is Outcome.PROPERTY]
    chosen = (*cases[:3], *[case for case in cases if case.form == "again"][:2])
    assert len(chosen) == 5, name
    return chosen


each_random_operator = pytest.mark.parametrize(
    "name", ["Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomUniformLike"]
)


def answers(case: Case) -> list[Any]:
    """Return what a right runtime could give."""
    assert case.expected is not None, case.id
    values = [item.example if isinstance(item, Drawn) else item for item in case.expected]
    for index, item in enumerate(case.expected):
        if isinstance(item, Drawn) and item.same_as is not None:
            values[index] = values[item.same_as]
    return values


@pytest.mark.slow
@each_random_operator
def test_the_example_passes_and_type_shape_and_count_differ(name: str) -> None:
    for case in property_cases(name):
        assert case.expected is not None
        right = answers(case)
        assert compare(case.expected, right, case.allowance) is None, case.id
        wrong = {
            Verdict.WRONG_COUNT: [*right, right[0]],
            Verdict.WRONG_TYPE: [right[0].astype(np.complex64), *right[1:]],
            Verdict.WRONG_SHAPE: [right[0][None], *right[1:]],
            Verdict.WRONG_VALUE: [np.full_like(right[0], 77), *right[1:]],
        }
        for verdict, values in wrong.items():
            mismatch = compare(case.expected, values, case.allowance)
            assert mismatch is not None, (case.id, verdict)
            assert mismatch.verdict is verdict, (case.id, str(mismatch))


@pytest.mark.slow
@each_random_operator
def test_properties_are_stored_and_read(name: str, tmp_path: Path) -> None:
    for case in property_cases(name):
        folder = onnx_layout.write(case, tmp_path)
        (read,) = onnx_layout.read(folder, tmp_path, "suite")
        assert read.outcome is Outcome.PROPERTY
        assert case.expected is not None
        assert read.expected is not None
        assert compare(read.expected, answers(case), read.allowance) is None
        for mine, other in zip(case.expected, read.expected, strict=True):
            assert isinstance(mine, Drawn) is isinstance(other, Drawn)
            if isinstance(mine, Drawn) and isinstance(other, Drawn):
                assert properties.describe(mine) == properties.describe(other)


@pytest.mark.slow
def test_a_damaged_description_is_one_clear_line(tmp_path: Path) -> None:
    folder = onnx_layout.write(property_cases("Dropout")[0], tmp_path)
    description = json.loads((folder / "case.json").read_text())
    description["drawn"]["0"]["type"] = "float17"
    (folder / "case.json").write_text(json.dumps(description))
    with refuses("layout-invalid", kind=onnx_layout.StoreError):
        list(onnx_layout.read(folder, tmp_path, "suite"))


@pytest.mark.slow
@each_random_operator
def test_a_repro_checks_the_properties(name: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    for case in property_cases(name):
        result = Result(
            case=case.id, operator=case.operator, backend="mine", verdict=Verdict.WRONG_VALUE, outcome="property"
        )
        right = answers(case)
        wrong = [np.full_like(right[0], 77), *right[1:]]
        for values, ends in ((right, None), (wrong, AssertionError)):
            call = f"outputs = [{', '.join(map(literals.literal, values))}]"
            path.write_text(repro.script(case, result, {"repro": call, "repro_wide": call}), encoding="utf-8")
            if ends is None:
                runpy.run_path(str(path))
            else:
                with pytest.raises(ends):
                    runpy.run_path(str(path))


def test_a_drawn_output_lists_its_properties() -> None:
    assert str(NORMAL) == "drawn: mean 2, deviation 3"
    assert str(UNIFORM) == "drawn: from -1 to 1, mean 0, deviation 0.5774"
    assert str(dataclasses.replace(COIN, mean=None, deviation=None)) == "drawn: one of 2 values each"
    assert str(Drawn(np.zeros(1), same_as=0)) == "drawn: the same as output 0"
    assert str(Drawn(np.zeros(1))) == "drawn: any values"
