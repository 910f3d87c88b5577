# SPDX-License-Identifier: Apache-2.0
"""Models in which other operators follow a case."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnx_conformance.case.case import Outcome
from onnx_conformance.generation import plans
from onnx_conformance.generation.chains import SECONDS, chains
from onnx_conformance.specification import registry


def chained(operator: str) -> list[object]:
    op = registry.load().named(operator)
    return list(chains(op, registry.versions(op)[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["Add", "Split", "Transpose"])
def test_other_operators_follow(operator: str) -> None:
    found = chained(operator)
    assert len(found) > SECONDS
    assert len({case.id for case in found}) == len(found)
    nodes = [len(onnx.load_from_string(case.model).graph.node) for case in found]
    assert min(nodes) >= 2
    assert max(nodes) >= 3


def test_they_take_what_the_first_gives_and_have_the_values_of_the_oracle() -> None:
    for case in chained("Split"):
        model = onnx.load_from_string(case.model)
        onnx.checker.check_model(model)
        first, second = model.graph.node[:2]
        assert set(first.output) & set(second.input)
        assert case.outcome is Outcome.VALUES
        assert case.form.startswith(f"then_{second.op_type}")
        assert set(case.outputs) == {item.name for item in model.graph.output}


@pytest.mark.slow
def test_a_second_run_draws_the_same() -> None:
    assert [case.digests() for case in chained("Add")] == [case.digests() for case in chained("Add")]


@pytest.mark.slow
def test_the_model_checker_takes_models_of_old_opsets_and_of_optionals() -> None:
    op = registry.load().named("Add")
    for version in registry.versions(op):
        for case in chains(op, version):
            onnx.checker.check_model(onnx.load_from_string(case.model))


def test_nothing_follows_an_optional_that_holds_a_tensor() -> None:
    """What follows would declare its output as a tensor, which that of Identity would not be."""
    op = registry.load().named("Optional")
    (version,) = [item for item in registry.versions(op) if item.since == 28]
    cases = [case for case in plans.cases(op, (28,)) if case.outcome is Outcome.VALUES and case.form == "plain"]
    assert any(isinstance(case.expected[0], np.ndarray) for case in cases if case.expected)
    assert not list(chains(op, version))
    squeezed = [case.id for case in chained("Squeeze")]
    assert squeezed
    assert not [name for name in squeezed if "then_Optional_then" in name]
