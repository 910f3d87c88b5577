# SPDX-License-Identifier: Apache-2.0
"""The severity of a finding: that of its most ordinary case."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.findings import severity
from onnx_conformance.results.severity import Nature
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import find_case


@pytest.mark.parametrize(
    ("case", "nature"),
    [
        ("ai.onnx/Softmax/13/matrix_default", Nature.TYPICAL),
        ("ai.onnx/Softmax/13/matrix_default@symbolic", Nature.TYPICAL),
        ("ai.onnx/Softmax/13/matrix_default@unranked", Nature.EDGE),
        ("ai.onnx/Split/18/other_dim_zero", Nature.DEGENERATE),
        ("ai.onnx/Split/18/both", Nature.INVALID),
    ],
)  # fmt: skip
def test_the_nature_of_a_case(case: str, nature: Nature) -> None:
    found = severity.of_case(find_case(case), Verdict.WRONG_VALUE)
    assert (found.nature, found.models > 0) == (nature, nature is Nature.TYPICAL)
    assert found.newest


def test_a_scalar_is_no_call_of_models_that_pass_tensors() -> None:
    tensor, scalar = (find_case(f"ai.onnx/Relu/14/{name}") for name in ("rank1", "scalar"))
    assert severity.callers(tensor) > 10
    assert severity.callers(scalar) < severity.callers(tensor), "only calls of unknown rank may have a scalar"


def test_a_number_that_is_not_finite_is_an_edge() -> None:
    case = find_case("ai.onnx/Softmax/13/matrix_default")
    inputs = {name: np.full_like(value, np.nan) for name, value in case.inputs.items()}
    assert severity.of_case(dataclasses.replace(case, inputs=inputs), Verdict.WRONG_VALUE).nature is Nature.EDGE
    left = dataclasses.replace(case, outcome=Outcome.UNSPECIFIED)
    assert severity.of_case(left, Verdict.CRASH).nature is Nature.EDGE


def test_the_most_ordinary_case_counts_and_the_versions_that_fail() -> None:
    names = (
        "ai.onnx/Softmax/13/matrix_default@unranked",
        "ai.onnx/Softmax/13/matrix_default",
        "ai.onnx/Softmax/13/gone",
    )
    results = [Result(name, "ai.onnx/Softmax/13", "mine", Verdict.WRONG_VALUE, "values") for name in names]
    found = severity.of_cases(results, Verdict.WRONG_VALUE, (11,), Generated())
    assert (found.nature, found.newest) == (Nature.TYPICAL, False)
    without = severity.of_cases(results, Verdict.WRONG_VALUE, (11,), Generated(), lacks=(13,))
    assert without.newest, "the runtime has no newer version"


def test_without_its_cases_the_results_decide() -> None:
    gone = Result("ai.onnx/Softmax/13/gone", "ai.onnx/Softmax/13", "mine", Verdict.WRONG_VALUE, "values")
    found = severity.of_cases([gone], Verdict.WRONG_VALUE, (13,), Generated())
    assert found.nature is Nature.TYPICAL
